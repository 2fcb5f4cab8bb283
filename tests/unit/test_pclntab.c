// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_pclntab.c - Go's function table, written by hand in every form the linkers make, and damaged
 * in every field. Real programs are read in test_symtab.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/pclntab.h"
#include "symfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct symfile_go funcs[] = {
	{"runtime.text", 0x20, 0},
	{"main.main", 0x140, 0},
	{"main.F[go.shape.struct { A int \"json:\\\"a\\\"\" }]", 0x60, 0},
	{"main.main", 0x20, 23}, /* its ABI wrapper */
};
#define NR_FUNCS (sizeof(funcs) / sizeof(funcs[0]))

/* Header words, from byte 8. */
enum { NFUNC, NFILES, TEXT_START, NAMES, CU, FILETAB, PCTAB, FUNCTAB, NR_WORDS };

struct read {
	int err;
	struct pclntab t;
	struct sym v[NR_FUNCS];
};

/* Finds and reads the table of a file; what was read must be within the image. */
static struct read read_file(const struct elf_blob *file)
{
	struct read r = {0};
	struct image *im;
	struct sym *v;

	r.err = image__open_mem(file->bytes, file->len, &im);
	if (r.err)
		return r;
	r.err = pclntab__find(im, &r.t);
	if (r.err) {
		image__close(im);
		return r;
	}
	v = calloc(r.t.nr, sizeof(*v));
	assert_non_null(v);
	r.err = pclntab__read(&r.t, v);
	for (u32 i = 0; !r.err && i < r.t.nr; i++) {
		assert_true(v[i].vaddr >= r.t.text);
		assert_true(v[i].size <= r.t.etext - v[i].vaddr);
		assert_in_range((uintptr_t)v[i].name + strlen(v[i].name), (uintptr_t)im->base,
				(uintptr_t)im->base + im->len - 1);
		assert_true(!i || v[i].vaddr >= v[i - 1].vaddr);
	}
	memcpy(r.v, v, sizeof(*v) * (r.t.nr < NR_FUNCS ? r.t.nr : NR_FUNCS));
	for (u32 i = 0; i < NR_FUNCS; i++)
		r.v[i].name = NULL; /* dies with the image */
	free(v);
	image__close(im);
	return r;
}

static struct read read_symfile(struct symfile *s)
{
	struct elf_blob file;
	struct read r;

	s->go = funcs;
	s->nr_go = NR_FUNCS;
	symfile__build(s, &file);
	r = read_file(&file);
	elf_blob__free(&file);
	return r;
}

static void assert_all_read(const struct read *r)
{
	u64 vaddr = SYMFILE_CODE;

	assert_int_equal(r->err, 0);
	assert_int_equal(r->t.nr, NR_FUNCS);
	assert_int_equal(r->t.text, SYMFILE_CODE);
	for (u32 i = 0; i < NR_FUNCS; i++) {
		assert_int_equal(r->v[i].vaddr, vaddr);
		assert_int_equal(r->v[i].size, funcs[i].size);
		assert_int_equal(r->v[i].source, SYM_GO);
		vaddr += funcs[i].size;
	}
	assert_int_equal(r->t.etext, vaddr);
}

/* ---- forms ---- */

static void test_functions_are_read_with_names_and_sizes(void **state)
{
	struct symfile s = {.go = funcs, .nr_go = NR_FUNCS};
	struct sym v[NR_FUNCS];
	struct elf_blob file;
	struct pclntab t;
	struct image *im;

	symfile__build(&s, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	assert_int_equal(pclntab__find(im, &t), 0);
	assert_int_equal(t.nr, NR_FUNCS);
	assert_int_equal(t.min_lc, 1);
	assert_int_equal(pclntab__read(&t, v), 0);
	for (u32 i = 0; i < NR_FUNCS; i++)
		assert_string_equal(v[i].name, funcs[i].name);
	assert_false(v[1].wrapper);
	assert_true(v[3].wrapper);
	image__close(im);
	elf_blob__free(&file);
}

static void test_table_is_found_without_section_headers(void **state)
{
	struct symfile s = {.no_sections = true};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
}

static void test_arm64_table_is_found_without_section_headers(void **state)
{
	struct symfile s = {.no_sections = true, .machine = EM_AARCH64};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
	assert_int_equal(r.t.min_lc, 4);
}

static void test_moduledata_is_found_in_relocations(void **state)
{
	struct symfile s = {.type = ET_DYN, .moduledata = MODULEDATA_RELA};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
	s = (struct symfile){.type = ET_DYN, .moduledata = MODULEDATA_RELA, .no_sections = true};
	r = read_symfile(&s);
	assert_all_read(&r);
	s = (struct symfile){.type = ET_DYN, .moduledata = MODULEDATA_RELA, .machine = EM_AARCH64};
	r = read_symfile(&s);
	assert_all_read(&r);
}

static void test_relocations_of_another_machine_are_not_read(void **state)
{
	struct symfile s = {.type = ET_DYN, .moduledata = MODULEDATA_RELA, .go = funcs, .nr_go = 1};
	struct elf_blob file;

	symfile__build(&s, &file);
	elf_header(&file)->e_machine = EM_AARCH64;
	assert_int_equal(read_file(&file).err, -EBADMSG);
	elf_blob__free(&file);
}

static void test_table_of_go_1_18_is_read(void **state)
{
	struct symfile s = {.magic = SYMFILE_MAGIC_1_18};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
}

static void test_table_of_go_1_16_is_refused_as_too_old(void **state)
{
	struct symfile s = {.magic = 0xfffffffa};

	assert_int_equal(read_symfile(&s).err, -ENOTSUP);
}

static void test_header_does_not_override_moduledata(void **state)
{
	struct symfile s = {.text_start = SYMFILE_CODE + 0x100};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
}

static void test_header_gives_the_text_where_moduledata_is_missing(void **state)
{
	struct symfile s = {.text_start = SYMFILE_CODE, .moduledata = MODULEDATA_NONE};
	struct read r = read_symfile(&s);

	assert_all_read(&r);
}

static void test_no_text_base_at_all_is_an_error(void **state)
{
	struct symfile s = {.moduledata = MODULEDATA_NONE};

	assert_int_equal(read_symfile(&s).err, -EBADMSG);
}

static void test_text_outside_the_code_is_an_error(void **state)
{
	struct symfile s = {.text = SYMFILE_DATA};

	assert_int_equal(read_symfile(&s).err, -EBADMSG);
	s = (struct symfile){.text = SYMFILE_CODE + SYMFILE_CODE_BYTES - 0x100};
	assert_int_equal(read_symfile(&s).err, -EBADMSG);
}

static void test_file_without_a_table_is_no_go_program(void **state)
{
	struct symfile s = {0};
	struct elf_blob file;

	symfile__build(&s, &file);
	assert_int_equal(read_file(&file).err, -ENOENT);
	elf_blob__free(&file);
}

/* ---- damage ---- */

/* A file with one table, and what is done to it. */
struct damage {
	struct symfile s;
	struct elf_blob file;
	u8 *tab;
};

static struct damage damage__begin(void)
{
	struct damage d = {.s = {.go = funcs, .nr_go = NR_FUNCS}};

	symfile__build(&d.s, &d.file);
	d.tab = d.file.bytes + d.s.tab.off;
	return d;
}

static int damage__end(struct damage *d)
{
	int err = read_file(&d->file).err;

	elf_blob__free(&d->file);
	return err;
}

static void put_u32(u8 *at, u32 v)
{
	memcpy(at, &v, sizeof(v));
}

static void put_u64(u8 *at, u64 v)
{
	memcpy(at, &v, sizeof(v));
}

static void test_no_value_of_a_header_word_leads_outside(void **state)
{
	struct symfile probe = {.go = funcs, .nr_go = NR_FUNCS};
	struct elf_blob file;
	u64 len;

	symfile__build(&probe, &file);
	len = probe.tab.len;
	elf_blob__free(&file);
	for (u32 word = 0; word < NR_WORDS; word++) {
		const u64 values[] = {
			0,	    1,	       len - 1,	       len,	   len + 1,    71,
			72,	    1 << 20,   UINT32_MAX / 8, UINT32_MAX, 1ULL << 32, 1ULL << 61,
			1ULL << 63, ~0ULL - 7, ~0ULL};

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct damage d = damage__begin();

			put_u64(d.tab + 8 + 8 * word, values[i]);
			damage__end(&d); /* the checks are in read_file(), and the sanitizers' */
		}
	}
}

static void test_no_value_of_any_byte_leads_outside(void **state)
{
	struct damage d = damage__begin();
	struct elf_blob parts[] = {d.s.tab, d.s.moduledata_at};

	for (size_t p = 0; p < 2; p++) {
		for (u64 i = 0; i < parts[p].len; i++) {
			u8 *at = d.file.bytes + parts[p].off + i, old = *at;

			for (u32 flip = 1; flip < 256; flip = flip * 2 + 1) {
				*at = (u8)(old ^ flip);
				read_file(&d.file);
			}
			*at = old;
		}
	}
	assert_int_equal(damage__end(&d), 0);
}

static void test_cut_file_is_never_read_past_its_end(void **state)
{
	struct damage d = damage__begin();
	Elf64_Phdr *ph = elf_segment(&d.file, 1);

	for (u64 len = 0; len < d.s.tab.len; len += 4) {
		ph->p_filesz = len;
		assert_int_not_equal(read_file(&d.file).err, 0);
	}
	ph->p_filesz = d.s.tab.len;
	assert_int_equal(damage__end(&d), 0);
}

static void test_too_many_functions_are_damage(void **state)
{
	struct damage d = damage__begin();

	put_u64(d.tab + 8 + 8 * NFUNC, (1ULL << 61) + NR_FUNCS);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_no_functions_are_damage(void **state)
{
	struct damage d = damage__begin();

	put_u64(d.tab + 8 + 8 * NFUNC, 0);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_falling_addresses_are_damage(void **state)
{
	struct damage d = damage__begin();

	put_u32(d.file.bytes + d.s.funcs.off + 8, 0xffff);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_function_that_disagrees_with_its_table_entry_is_damage(void **state)
{
	struct damage d = damage__begin();

	put_u32(d.file.bytes + d.s.funcs.off + 8 * NR_FUNCS + 4, 4);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_function_struct_outside_the_table_is_damage(void **state)
{
	struct damage d = damage__begin();

	put_u32(d.file.bytes + d.s.funcs.off + 4, (u32)d.s.funcs.len - 43);
	assert_int_equal(damage__end(&d), -EBADMSG);
	d = damage__begin();
	put_u32(d.file.bytes + d.s.funcs.off + 4, ~0u);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_name_outside_the_names_is_damage(void **state)
{
	struct damage d = damage__begin();
	u8 *name = d.file.bytes + d.s.funcs.off + 8 * NR_FUNCS + 4 + 4;

	put_u32(name, (u32)d.s.names.len);
	assert_int_equal(damage__end(&d), -EBADMSG);
	d = damage__begin();
	put_u32(d.file.bytes + d.s.funcs.off + 8 * NR_FUNCS + 4 + 4, ~0u);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_names_without_an_end_are_damage(void **state)
{
	struct damage d = damage__begin();

	memset(d.file.bytes + d.s.names.off, 'x', d.s.names.len);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_code_beyond_etext_is_damage(void **state)
{
	struct damage d = damage__begin();

	put_u64(d.file.bytes + d.s.moduledata_at.off + 8 * 23, SYMFILE_CODE + 0x100);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_words_that_only_begin_like_moduledata_are_not_taken(void **state)
{
	struct damage d = damage__begin();

	put_u64(d.file.bytes + d.s.moduledata_at.off + 8 * 20, SYMFILE_CODE + 8);
	assert_int_equal(damage__end(&d), -EBADMSG);
}

static void test_misplaced_section_does_not_hide_the_table(void **state)
{
	struct damage d = damage__begin();

	/* Section 1 is .gopclntab. */
	elf_section(&d.file, 1)->sh_offset += 8;
	assert_int_equal(damage__end(&d), 0);
}

static void test_look_alike_before_the_table_does_not_hide_it(void **state)
{
	struct damage d = damage__begin();

	elf_section(&d.file, 1)->sh_offset = 0;
	memcpy(d.file.bytes + elf_segment(&d.file, 0)->p_offset + 64, d.tab, 8);
	assert_int_equal(damage__end(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_read_with_names_and_sizes),
		cmocka_unit_test(test_table_is_found_without_section_headers),
		cmocka_unit_test(test_arm64_table_is_found_without_section_headers),
		cmocka_unit_test(test_moduledata_is_found_in_relocations),
		cmocka_unit_test(test_relocations_of_another_machine_are_not_read),
		cmocka_unit_test(test_table_of_go_1_18_is_read),
		cmocka_unit_test(test_table_of_go_1_16_is_refused_as_too_old),
		cmocka_unit_test(test_header_does_not_override_moduledata),
		cmocka_unit_test(test_header_gives_the_text_where_moduledata_is_missing),
		cmocka_unit_test(test_no_text_base_at_all_is_an_error),
		cmocka_unit_test(test_text_outside_the_code_is_an_error),
		cmocka_unit_test(test_file_without_a_table_is_no_go_program),
		cmocka_unit_test(test_no_value_of_a_header_word_leads_outside),
		cmocka_unit_test(test_no_value_of_any_byte_leads_outside),
		cmocka_unit_test(test_cut_file_is_never_read_past_its_end),
		cmocka_unit_test(test_too_many_functions_are_damage),
		cmocka_unit_test(test_no_functions_are_damage),
		cmocka_unit_test(test_falling_addresses_are_damage),
		cmocka_unit_test(test_function_that_disagrees_with_its_table_entry_is_damage),
		cmocka_unit_test(test_function_struct_outside_the_table_is_damage),
		cmocka_unit_test(test_name_outside_the_names_is_damage),
		cmocka_unit_test(test_names_without_an_end_are_damage),
		cmocka_unit_test(test_code_beyond_etext_is_damage),
		cmocka_unit_test(test_words_that_only_begin_like_moduledata_are_not_taken),
		cmocka_unit_test(test_misplaced_section_does_not_hide_the_table),
		cmocka_unit_test(test_look_alike_before_the_table_does_not_hide_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
