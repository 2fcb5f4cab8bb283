// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_ehframe.c - the unwind table's ranges: of files made by hand, and of this test program, whose
 * symbols tell the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elfbuild.h"
#include "sym/ehframe.h"
#include "sym/symtab.h"

#include <stdlib.h>
#include <string.h>

#define CODE 0x401000
#define HDR  0x500000

struct fde {
	u32 len, cie;
	s32 begin; /* from here */
	u32 bytes;
};

struct eh_file {
	u8 form[4];
	s32 eh_frame;
	u32 nr;
	struct {
		s32 begin, fde; /* from the header on */
	} entry[4];
	struct fde fde[4];
};

static s32 fde_off(u32 i)
{
	return (s32)(offsetof(struct eh_file, fde) + i * sizeof(struct fde));
}

/* Functions of 0x10, 0x20, 0x30 and 0x40 bytes at CODE, CODE + 0x40, ... */
static struct eh_file good_file(void)
{
	struct eh_file f = {.form = {1, 0x1b, 0x03, 0x3b}, .nr = 4};

	for (u32 i = 0; i < 4; i++) {
		f.entry[i].begin = (s32)(CODE + 0x40 * i - HDR);
		f.entry[i].fde = fde_off(i);
		f.fde[i] = (struct fde){
			.len = 12,
			.cie = 1,
			.begin = f.entry[i].begin - fde_off(i) - (s32)offsetof(struct fde, begin),
			.bytes = 0x10 * (i + 1),
		};
	}
	return f;
}

struct ranges {
	struct eh_range *v;
	size_t nr;
};

static struct ranges ranges_of(const struct eh_file *f, size_t len)
{
	struct image *im = NULL;
	struct elf_blob data, file;
	struct ranges r = {0};
	struct elfbuild b;

	elfbuild__init(&b, ET_DYN, EM_X86_64);
	b.no_sections = true;
	data = elfbuild__data(&b, f, len, 8);
	elfbuild__segment(&b, PT_LOAD, PF_R, HDR, data, len);
	elfbuild__segment(&b, PT_GNU_EH_FRAME, PF_R, HDR, data, len);
	elfbuild__finish(&b, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	assert_int_equal(ehframe__ranges(im, &r.v, &r.nr), 0);
	image__close(im);
	elf_blob__free(&file);
	return r;
}

static size_t count_ranges(const struct eh_file *f, size_t len)
{
	struct ranges r = ranges_of(f, len);

	free(r.v);
	return r.nr;
}

static void test_each_function_has_its_range(void **state)
{
	struct eh_file f = good_file();
	struct ranges r = ranges_of(&f, sizeof(f));

	assert_int_equal(r.nr, 4);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(r.v[i].vaddr, CODE + 0x40 * i);
		assert_int_equal(r.v[i].end, CODE + 0x40 * i + 0x10 * (i + 1));
	}
	free(r.v);
}

static void test_ranges_that_overlap_or_contradict_the_table_are_left_out(void **state)
{
	struct eh_file f = good_file();
	struct ranges r;

	f.fde[0].bytes = 0x41; /* into the next: which begins too early then */
	f.fde[2].begin++;      /* in another encoding */
	r = ranges_of(&f, sizeof(f));
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.v[0].end, CODE + 0x41);
	assert_int_equal(r.v[1].vaddr, CODE + 0xc0);
	free(r.v);
	f = good_file();
	f.fde[1].bytes = 0;
	f.entry[3].fde = 1 << 20;
	assert_int_equal(count_ranges(&f, sizeof(f)), 2);
	f = good_file();
	f.entry[1].begin = f.entry[0].begin; /* not sorted */
	assert_int_equal(count_ranges(&f, sizeof(f)), 3);
}

static void test_a_table_that_is_cut_or_of_another_form_has_no_ranges(void **state)
{
	for (u32 i = 0; i < 4; i++) {
		struct eh_file f = good_file();

		f.form[i] ^= 0x10;
		assert_int_equal(count_ranges(&f, sizeof(f)), 0);
	}
	for (size_t len = 0; len < sizeof(struct eh_file); len += 4) {
		struct eh_file f = good_file();
		size_t whole = len < offsetof(struct eh_file, fde)
				       ? 0
				       : (len - offsetof(struct eh_file, fde)) / sizeof(struct fde);

		assert_int_equal(count_ranges(&f, len), whole);
	}
	struct eh_file f = good_file();

	f.nr = UINT32_MAX;
	assert_int_equal(count_ranges(&f, sizeof(f)), 0);
}

static int cmp_range(const void *a, const void *b)
{
	const struct eh_range *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static void test_ranges_of_this_program_are_those_of_its_symbols(void **state)
{
	struct image *im = NULL;
	struct symtab *t = NULL;
	struct ranges r = {0};
	size_t same = 0;
	int go_err;

	assert_int_equal(image__open("/proc/self/exe", &im), 0);
	assert_int_equal(symtab__open(im, &t, &go_err), 0);
	assert_int_equal(ehframe__ranges(im, &r.v, &r.nr), 0);
	assert_in_range(r.nr, 20, 1 << 20);
	for (size_t i = 0; i < t->nr; i++) {
		struct eh_range key = {.vaddr = t->v[i].vaddr};
		const struct eh_range *found = bsearch(&key, r.v, r.nr, sizeof(key), cmp_range);

		if (!found || !t->v[i].size)
			continue; /* of assembly */
		if (found->end != t->v[i].vaddr + t->v[i].size)
			fail_msg("%s ends at %#llx, not at %#llx", t->v[i].name,
				 t->v[i].vaddr + t->v[i].size, found->end);
		same++;
	}
	print_message("%zu symbols, %zu ranges, %zu the same\n", t->nr, r.nr, same);
	assert_in_range(same, 20, t->nr);
	free(r.v);
	symtab__close(t);
	image__close(im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_function_has_its_range),
		cmocka_unit_test(test_ranges_that_overlap_or_contradict_the_table_are_left_out),
		cmocka_unit_test(test_a_table_that_is_cut_or_of_another_form_has_no_ranges),
		cmocka_unit_test(test_ranges_of_this_program_are_those_of_its_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
