// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_plt.c - import slots: of files made by hand, and of this test program itself, where the
 * dynamic linker has filled them and dlsym() tells with what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elfbuild.h"
#include "probe/insn.h"
#include "sym/plt.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* ---- files made by hand ---- */

#define DYN  0x700000
#define SLOT 0x600000

static const char names[] = "\0cJSON_Parse\0cJSON_Print";
#define PARSE 1
#define PRINT 13

/* Everything at DYN, in this order. */
struct dyn_file {
	Elf64_Sym sym[4];
	Elf64_Rela rela[4], jmprel[3];
	char str[sizeof(names)];
	Elf64_Dyn dyn[10];
};

static const struct dyn_file good = {
	.sym = {[1] = {.st_name = PARSE}, [2] = {.st_name = PRINT, .st_shndx = 1}},
	.rela =
		{
			{SLOT, R_X86_64_RELATIVE, 0x1234},
			{SLOT + 8, ELF64_R_INFO(1, R_X86_64_64), 0}, /* a pointer: no slot */
			{SLOT + 16, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0},
			{SLOT + 24, ELF64_R_INFO(3, R_X86_64_GLOB_DAT), 0}, /* nameless */
		},
	.jmprel =
		{
			{SLOT + 32, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0},
			{SLOT + 40, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0x1234},
			{SLOT + 48, ELF64_R_INFO(0, R_X86_64_JUMP_SLOT), 0}, /* no symbol */
		},
	.dyn =
		{
			{DT_SYMTAB, {DYN + offsetof(struct dyn_file, sym)}},
			{DT_STRTAB, {DYN + offsetof(struct dyn_file, str)}},
			{DT_STRSZ, {sizeof(names)}},
			{DT_RELA, {DYN + offsetof(struct dyn_file, rela)}},
			{DT_RELASZ, {sizeof(good.rela)}},
			{DT_RELACOUNT, {1}},
			{DT_JMPREL, {DYN + offsetof(struct dyn_file, jmprel)}},
			{DT_PLTRELSZ, {sizeof(good.jmprel)}},
			{DT_NULL, {0}},
		},
};

static struct image *open_file(const struct dyn_file *f, u16 machine)
{
	struct elf_blob all, part, file;
	struct image *im = NULL;
	struct dyn_file copy = *f;
	struct elfbuild b;

	memcpy(copy.str, names, sizeof(names));
	elfbuild__init(&b, ET_DYN, machine);
	b.no_sections = true;
	all = elfbuild__data(&b, &copy, sizeof(copy), 8);
	part = (struct elf_blob){.off = all.off + offsetof(struct dyn_file, dyn),
				 .len = sizeof(copy.dyn)};
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_W, DYN, all, all.len);
	elfbuild__segment(&b, PT_DYNAMIC, PF_R, DYN + offsetof(struct dyn_file, dyn), part,
			  part.len);
	elfbuild__finish(&b, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	elf_blob__free(&file);
	return im;
}

struct seen {
	u64 vaddr[8];
	char name[8][16];
	size_t nr, stop_at;
};

static int see(void *arg, const struct plt_slot *slot)
{
	struct seen *s = arg;

	assert_in_range(s->nr, 0, 7);
	s->vaddr[s->nr] = slot->vaddr;
	strncpy(s->name[s->nr], slot->name, 15);
	s->nr++;
	return s->nr == s->stop_at ? -EINTR : 0;
}

static struct seen slots_of(const struct dyn_file *f, u16 machine)
{
	struct image *im = open_file(f, machine);
	struct seen s = {0};

	assert_int_equal(plt__slots(im, see, &s), 0);
	image__close(im);
	return s;
}

static void test_slots_of_both_tables_are_found_by_name(void **state)
{
	struct seen s = slots_of(&good, EM_X86_64);

	assert_int_equal(s.nr, 2);
	assert_int_equal(s.vaddr[0], SLOT + 32);
	assert_string_equal(s.name[0], "cJSON_Parse");
	assert_int_equal(s.vaddr[1], SLOT + 16);
	assert_string_equal(s.name[1], "cJSON_Print");
}

static void test_types_are_those_of_the_machine(void **state)
{
	struct dyn_file f = good;
	struct seen s;

	assert_int_equal(slots_of(&good, EM_AARCH64).nr, 0);
	f.rela[2].r_info = ELF64_R_INFO(2, R_AARCH64_GLOB_DAT);
	f.jmprel[0].r_info = ELF64_R_INFO(1, R_AARCH64_JUMP_SLOT);
	s = slots_of(&f, EM_AARCH64);
	assert_int_equal(s.nr, 2);
	assert_string_equal(s.name[0], "cJSON_Parse");
	assert_string_equal(s.name[1], "cJSON_Print");
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 0);
	assert_int_equal(slots_of(&f, EM_RISCV).nr, 0);
}

static void test_the_first_error_of_the_callback_ends_it(void **state)
{
	struct image *im = open_file(&good, EM_X86_64);

	for (size_t stop = 1; stop <= 2; stop++) {
		struct seen s = {.stop_at = stop};

		assert_int_equal(plt__slots(im, see, &s), -EINTR);
		assert_int_equal(s.nr, stop);
	}
	image__close(im);
}

static void test_numbers_that_lead_outside_lead_to_no_slot(void **state)
{
	struct dyn_file f = good;

	f.jmprel[0].r_info = ELF64_R_INFO(0xffffffff, R_X86_64_JUMP_SLOT);
	f.sym[2].st_name = sizeof(names);
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 0);
	f = good;
	f.dyn[0].d_un.d_val = UINT64_MAX - 8; /* the symbols */
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 0);
	f = good;
	f.dyn[2].d_un.d_val = UINT64_MAX; /* the names */
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 0);
	f = good;
	f.dyn[4].d_un.d_val = UINT64_MAX; /* one table: the other is still read */
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 1);
	f = good;
	f.dyn[7].d_un.d_val = 1 << 20;
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 1);
}

static void test_a_lie_about_relative_relocations_costs_slots_only(void **state)
{
	struct dyn_file f = good;

	f.dyn[5].d_un.d_val = 4;
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 1);
	f.dyn[5].d_un.d_val = UINT64_MAX;
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 1);
	f.dyn[5].d_tag = DT_DEBUG; /* not told */
	assert_int_equal(slots_of(&f, EM_X86_64).nr, 2);
}

static void test_a_file_without_dynamic_section_has_no_slots(void **state)
{
	struct image *im = NULL;
	struct elf_blob file;
	struct seen s = {0};
	struct elfbuild b;

	elfbuild__init(&b, ET_EXEC, EM_X86_64);
	elfbuild__finish(&b, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	assert_int_equal(plt__slots(im, see, &s), 0);
	assert_int_equal(s.nr, 0);
	image__close(im);
	elf_blob__free(&file);
}

/* ---- this program ---- */

#define MAX_OWN 512

struct own {
	struct image *im;
	u64 bias;
	u64 slot[MAX_OWN];
	size_t nr, right;
	u64 stub[MAX_OWN];
	size_t nr_stubs;
	u64 wanted; /* of the slot whose stubs are kept */
};

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(u64 *)arg = info->dlpi_addr;
	return 1;
}

static int check_slot(void *arg, const struct plt_slot *slot)
{
	void *f = dlsym(RTLD_DEFAULT, slot->name);
	struct own *o = arg;
	u64 value;

	memcpy(&value, (void *)(uintptr_t)(slot->vaddr + o->bias), sizeof(value));
	assert_in_range(o->nr, 0, MAX_OWN - 1);
	o->slot[o->nr++] = slot->vaddr;
	o->right += f && value == (uintptr_t)f;
	if (!strcmp(slot->name, "strtoull"))
		o->wanted = slot->vaddr;
	return 0;
}

static int keep_stub(void *arg, u64 at, u64 slot, bool call)
{
	struct own *o = arg;

	if (!call && slot == o->wanted && o->nr_stubs < MAX_OWN)
		o->stub[o->nr_stubs++] = at + o->bias;
	return 0;
}

static struct own open_own(void)
{
	struct own o = {0};

	dl_iterate_phdr(first_object, &o.bias);
	assert_int_equal(image__open("/proc/self/exe", &o.im), 0);
	assert_int_equal(plt__slots(o.im, check_slot, &o), 0);
	return o;
}

static void test_slots_of_this_program_hold_what_their_names_say(void **state)
{
	struct own o = open_own();

	/* Those not called so far may not be bound yet, and some names have several versions. */
	print_message("%zu slots, %zu hold the function of their name\n", o.nr, o.right);
	assert_in_range(o.nr, 5, MAX_OWN);
	assert_in_range(o.right, 5, o.nr);
	image__close(o.im);
}

static void test_a_stub_of_this_program_calls_the_function_of_its_slot(void **state)
{
	const struct insn_ops *ops = insn_ops__find(EM_X86_64);
	struct own o = open_own();

	if (o.im->machine != EM_X86_64) {
		image__close(o.im);
		skip();
	}
	/* Called here, so that it is imported. */
	assert_int_equal(strtoull(getenv("HOME") ? "12" : "12 ", NULL, 10), 12);
	assert_int_not_equal(o.wanted, 0);
	for (u32 i = 0; i < o.im->nr_segs; i++) {
		const struct image_seg *s = &o.im->seg[i];
		const u8 *code = s->exec ? image__at(o.im, s->vaddr, s->filesz) : NULL;

		if (code)
			assert_int_equal(ops->scan_slots(code, s->filesz, s->vaddr, &o.wanted, 1,
							 keep_stub, &o),
					 0);
	}
	assert_in_range(o.nr_stubs, 1, 3);
	for (size_t i = 0; i < o.nr_stubs; i++) {
		unsigned long long (*f)(const char *, char **, int) = NULL;

		memcpy(&f, &o.stub[i], sizeof(f));
		assert_int_equal(f("4711", NULL, 10), 4711);
	}
	image__close(o.im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_of_both_tables_are_found_by_name),
		cmocka_unit_test(test_types_are_those_of_the_machine),
		cmocka_unit_test(test_the_first_error_of_the_callback_ends_it),
		cmocka_unit_test(test_numbers_that_lead_outside_lead_to_no_slot),
		cmocka_unit_test(test_a_lie_about_relative_relocations_costs_slots_only),
		cmocka_unit_test(test_a_file_without_dynamic_section_has_no_slots),
		cmocka_unit_test(test_slots_of_this_program_hold_what_their_names_say),
		cmocka_unit_test(test_a_stub_of_this_program_calls_the_function_of_its_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
