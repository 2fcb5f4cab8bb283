// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_image.c - the ELF reader, over files whose every byte the test has written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "image_elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file must be refused with this error; frees it. */
static void assert_refused(struct elf_blob *file, int err)
{
	struct image *im = (struct image *)1;

	assert_int_equal(image__open_mem(file->bytes, file->len, &im), err);
	assert_ptr_equal(im, (struct image *)1);
	elf_blob__free(file);
}

/* ---- what a good file gives ---- */

static void test_segments_and_sections_are_read_as_written(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	struct image *im = open_mem(&file);
	const struct image_sect *s;

	assert_int_equal(im->machine, EM_X86_64);
	assert_int_equal(im->type, ET_EXEC);
	assert_int_equal(im->fd, -1);
	assert_int_equal(im->nr_segs, 2);
	assert_true(im->seg[0].exec && !im->seg[0].write);
	assert_true(!im->seg[1].exec && im->seg[1].write);
	assert_int_equal(im->seg[1].vaddr, DATA_VADDR);
	assert_int_equal(im->seg[1].off, data_at.off);
	assert_int_equal(im->seg[1].filesz, 16);
	assert_int_equal(im->seg[1].memsz, 16 + DATA_BSS);
	assert_int_equal(im->nr_sects, 5);
	assert_string_equal(im->sect[0].name, "");
	s = image__section(im, ".data");
	assert_ptr_equal(s, &im->sect[2]);
	assert_int_equal(s->type, SHT_PROGBITS);
	assert_int_equal(s->link, 1);
	assert_int_equal(s->vaddr, DATA_VADDR);
	assert_int_equal(s->off, data_at.off);
	assert_int_equal(s->size, 16);
	assert_int_equal(s->entsize, 8);
	assert_int_equal(s->flags, SHF_ALLOC | SHF_WRITE);
	assert_null(image__section(im, ".dat"));
	assert_null(im->build_id);
	image__close(im);
	elf_blob__free(&file);
}

static void test_bytes_ends_exactly_at_the_end_of_the_file(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	struct image *im = open_mem(&file);

	assert_ptr_equal(image__bytes(im, 0, im->len), im->base);
	assert_ptr_equal(image__bytes(im, im->len - 1, 1), im->base + im->len - 1);
	assert_non_null(image__bytes(im, im->len, 0));
	assert_null(image__bytes(im, im->len, 1));
	assert_null(image__bytes(im, 1, im->len));
	assert_null(image__bytes(im, im->len + 1, 0));
	assert_null(image__bytes(im, 8, UINT64_MAX - 7));
	assert_null(image__bytes(im, UINT64_MAX, 1));
	image__close(im);
	elf_blob__free(&file);
}

static void test_an_address_is_found_in_the_file_part_of_its_segment_only(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	struct image *im = open_mem(&file);
	u64 off = 1, vaddr = 1;

	assert_memory_equal(image__at(im, CODE_VADDR, sizeof(code)), code, sizeof(code));
	assert_memory_equal(image__at(im, DATA_VADDR + 15, 1), data + 15, 1);
	assert_null(image__at(im, CODE_VADDR - 1, 1));
	assert_null(image__at(im, CODE_VADDR, sizeof(code) + 1));
	assert_null(image__at(im, CODE_VADDR + 1, UINT64_MAX));
	/* .bss is in no file. */
	assert_null(image__at(im, DATA_VADDR + 16, 1));
	assert_null(image__at(im, DATA_VADDR, 17));

	assert_int_equal(image__off(im, CODE_VADDR + 5, &off), 0);
	assert_int_equal(off, code_at.off + 5);
	assert_int_equal(image__off(im, DATA_VADDR + 16, &off), -ENOENT);
	assert_int_equal(image__vaddr(im, data_at.off + 15, &vaddr), 0);
	assert_int_equal(vaddr, DATA_VADDR + 15);
	assert_int_equal(image__vaddr(im, data_at.off + 16, &vaddr), -ENOENT);
	assert_int_equal(image__vaddr(im, UINT64_MAX, &vaddr), -ENOENT);
	image__close(im);
	elf_blob__free(&file);
}

/* As lld lays them out: no padding in the file, and each segment on pages of its own in memory. */
static struct image *open_packed(struct elf_blob *file)
{
	struct elf_blob head = {.off = 0, .len = 0x828}, text = {.off = 0x830, .len = 0x5000},
			data2 = {.off = 0x5830, .len = 0x200};
	struct elfbuild b;

	elfbuild__init(&b, ET_DYN, EM_X86_64);
	elfbuild__data(&b, NULL, 0x6000 - sizeof(b.eh) - sizeof(b.ph), 1);
	elfbuild__segment(&b, PT_LOAD, PF_R, 0, head, head.len);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_X, 0x1830, text, text.len);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_W, 0x7830, data2, data2.len);
	elfbuild__finish(&b, file);
	return open_mem(file);
}

static void test_a_mapping_of_code_is_its_segment_s_though_others_share_its_page(void **state)
{
	struct elf_blob file;
	struct image *im = open_packed(&file);
	u64 vaddr;

	/* Byte 0x1836 of the code is at offset 0x836; its mapping begins with the file's first page. */
	assert_int_equal(image__map_vaddr(im, 0, 0x6000, &vaddr), 0);
	assert_int_equal(vaddr, 0x1000);
	/* One page of it, as long as that of the headers: mprotect() has cut the mapping. */
	assert_int_equal(image__map_vaddr(im, 0, 0x1000, &vaddr), 0);
	assert_int_equal(vaddr, 0x1000);
	assert_int_equal(image__map_vaddr(im, 0x2000, 0x1000, &vaddr), 0);
	assert_int_equal(vaddr, 0x3000);
	/* The last page has the beginning of the data too. */
	assert_int_equal(image__map_vaddr(im, 0x5000, 0x1000, &vaddr), 0);
	assert_int_equal(vaddr, 0x6000);
	assert_int_equal(image__map_vaddr(im, 0x6000, 0x1000, &vaddr), -ENOENT);
	assert_int_equal(image__map_vaddr(im, UINT64_MAX - 0xfff, 0x1000, &vaddr), -ENOENT);
	image__close(im);
	elf_blob__free(&file);
}

static void test_of_two_segments_with_code_the_one_that_is_as_long_is_mapped(void **state)
{
	struct elf_blob first = {.off = 0x100, .len = 0x900},
			second = {.off = 0xa00, .len = 0x2000}, file;
	struct elfbuild b;
	struct image *im;
	u64 vaddr;

	elfbuild__init(&b, ET_EXEC, EM_X86_64);
	elfbuild__data(&b, NULL, 0x3000 - sizeof(b.eh) - sizeof(b.ph), 1);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_X, 0x400100, first, first.len);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_W | PF_X, 0x600a00, second, second.len);
	elfbuild__finish(&b, &file);
	im = open_mem(&file);
	assert_int_equal(image__map_vaddr(im, 0, 0x1000, &vaddr), 0);
	assert_int_equal(vaddr, 0x400000);
	assert_int_equal(image__map_vaddr(im, 0, 0x3000, &vaddr), 0);
	assert_int_equal(vaddr, 0x600000);
	image__close(im);
	elf_blob__free(&file);
}

static void test_the_gnu_build_id_wins_over_go_s(void **state)
{
	static const struct {
		struct want w;
		const char *id;
	} t[] = {
		{{.gnu = true}, "deadbeef007f"},
		{{.go = true}, go_id},
		{{.go = true, .gnu = true}, "deadbeef007f"},
		{{.gnu = true, .go = true, .no_sections = true}, "deadbeef007f"},
		{{.go = true, .no_sections = true}, go_id},
		{{.gnu_sect = true}, "deadbeef007f"},
		{{.go_sect = true}, go_id},
		{{.go_sect = true, .gnu_sect = true}, "deadbeef007f"},
		{{.go = true, .gnu_sect = true}, "deadbeef007f"},
		{{.gnu_sect = true, .count_in_first = true}, "deadbeef007f"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct elf_blob file = make_elf(t[i].w);
		struct image *im = open_mem(&file);

		assert_non_null(im->build_id);
		assert_string_equal(im->build_id, t[i].id);
		image__close(im);
		elf_blob__free(&file);
	}
}

/* ---- notes that lie ---- */

static char *id_of_notes(const void *notes, size_t len, u64 align)
{
	struct elf_blob at, file;
	struct elfbuild b;
	struct image *im;
	char *id;

	elfbuild__init(&b, ET_EXEC, EM_X86_64);
	at = elfbuild__data(&b, notes, len, 8);
	elfbuild__segment(&b, PT_NOTE, PF_R, 0, at, len)->p_align = align;
	elfbuild__finish(&b, &file);
	im = open_mem(&file);
	id = im->build_id ? strdup(im->build_id) : NULL;
	image__close(im);
	elf_blob__free(&file);
	return id;
}

static void test_notes_are_walked_with_the_alignment_of_their_segment(void **state)
{
	/* A property note of 4 + 4 + 1 bytes, then the build id: the padding decides. */
	const u32 by_4[] = {4, 1, 5, 0x554e47, 0xaa, 4, 2, NT_GNU_BUILD_ID, 0x554e47, 0x2211};
	const u32 by_8[] = {4, 9, 5, 0x554e47, 1, 1, 1, 0, 4, 2, NT_GNU_BUILD_ID, 0x554e47, 0x4433};
	char *id;

	id = id_of_notes(by_4, sizeof(by_4), 4);
	assert_string_equal(id, "1122");
	free(id);
	id = id_of_notes(by_8, sizeof(by_8), 8);
	assert_string_equal(id, "3344");
	free(id);
	/* The same bytes walked by 4 come out at another place. */
	assert_null(id_of_notes(by_8, sizeof(by_8), 4));
}

static void test_a_note_that_reaches_beyond_its_segment_is_no_id(void **state)
{
	const u32 long_desc[] = {4, 9, NT_GNU_BUILD_ID, 0x554e47, 0x11111111, 0x22222222};
	const u32 long_name[] = {UINT32_MAX, 4, NT_GNU_BUILD_ID, 0x554e47, 0x11111111};
	const u32 huge_desc[] = {4, UINT32_MAX, NT_GNU_BUILD_ID, 0x554e47, 0x11111111};
	const u32 empty[] = {4, 0, NT_GNU_BUILD_ID, 0x554e47};
	const u32 other[] = {4, 4, NT_GNU_BUILD_ID, 0x555555, 0x11111111};

	assert_null(id_of_notes(long_desc, sizeof(long_desc), 4));
	assert_null(id_of_notes(long_name, sizeof(long_name), 4));
	assert_null(id_of_notes(huge_desc, sizeof(huge_desc), 4));
	assert_null(id_of_notes(empty, sizeof(empty), 4));
	assert_null(id_of_notes(other, sizeof(other), 4));
	assert_null(id_of_notes(empty, 11, 4));
}

static void test_a_go_build_id_that_is_not_text_is_not_shown(void **state)
{
	const u32 escape[] = {4, 4, 4, 0x6f47, 0x6d5b1b};
	const u32 text[] = {4, 4, 4, 0x6f47, 0x64636261};
	char *id = id_of_notes(text, sizeof(text), 4);

	assert_string_equal(id, "abcd");
	free(id);
	assert_null(id_of_notes(escape, sizeof(escape), 4));
}

static void test_an_overlong_id_is_not_taken(void **state)
{
	u32 gnu[4 + 17] = {4, 68, NT_GNU_BUILD_ID, 0x554e47};
	u32 fits[4 + 16] = {4, 64, NT_GNU_BUILD_ID, 0x554e47};
	char *id = id_of_notes(fits, sizeof(fits), 4);

	assert_int_equal(strlen(id), 128);
	free(id);
	assert_null(id_of_notes(gnu, sizeof(gnu), 4));
}

/* ---- section headers that lie: the file is used without them ---- */

static void test_a_file_without_section_headers_has_its_segments(void **state)
{
	struct elf_blob file = make_elf((struct want){.no_sections = true});
	struct image *im = open_mem(&file);

	assert_int_equal(im->nr_sects, 0);
	assert_null(image__section(im, ".text"));
	assert_int_equal(im->nr_segs, 2);
	assert_non_null(image__at(im, CODE_VADDR, 1));
	image__close(im);
	elf_blob__free(&file);
}

static void test_the_number_of_sections_may_be_in_section_0(void **state)
{
	struct elf_blob file = make_elf((struct want){.count_in_first = true});
	struct image *im;

	assert_int_equal(elf_header(&file)->e_shnum, 0);
	assert_int_equal(elf_header(&file)->e_shstrndx, SHN_XINDEX);
	im = open_mem(&file);
	assert_int_equal(im->nr_sects, 5);
	assert_non_null(image__section(im, ".data"));
	image__close(im);
	elf_blob__free(&file);
}

static void assert_no_sections(struct elf_blob *file)
{
	struct image *im = open_mem(file);

	assert_int_equal(im->nr_sects, 0);
	assert_int_equal(im->nr_segs, 2);
	image__close(im);
	elf_blob__free(file);
}

static void test_damaged_section_headers_leave_the_file_usable(void **state)
{
	struct elf_blob file;

	file = make_elf((struct want){0});
	elf_header(&file)->e_shoff = file.len - 1;
	assert_no_sections(&file);
	file = make_elf((struct want){0});
	elf_header(&file)->e_shoff = UINT64_MAX - 8;
	assert_no_sections(&file);
	file = make_elf((struct want){0});
	elf_header(&file)->e_shnum = 6; /* one more than there are */
	assert_no_sections(&file);
	file = make_elf((struct want){0});
	elf_header(&file)->e_shentsize = 40;
	assert_no_sections(&file);
	file = make_elf((struct want){.count_in_first = true});
	elf_section(&file, 0)->sh_size = UINT64_MAX / 64 + 2; /* * 64 wraps to 64 */
	assert_no_sections(&file);
	file = make_elf((struct want){.count_in_first = true});
	elf_section(&file, 0)->sh_size = 0;
	assert_no_sections(&file);
}

static void test_sections_without_good_names_are_nameless(void **state)
{
	for (int damage = 0; damage < 5; damage++) {
		struct elf_blob file = make_elf((struct want){0});
		struct image *im;

		if (damage == 0)
			elf_header(&file)->e_shstrndx = 0;
		else if (damage == 1)
			elf_header(&file)->e_shstrndx = 77;
		else if (damage == 2)
			elf_section(&file, 4)->sh_offset = file.len;
		else if (damage == 3)
			elf_section(&file, 4)->sh_size = UINT64_MAX;
		else
			elf_section(&file, 1)->sh_name = UINT32_MAX;
		im = open_mem(&file);
		assert_int_equal(im->nr_sects, 5);
		assert_string_equal(im->sect[1].name, "");
		assert_int_equal(im->sect[1].size, sizeof(code));
		image__close(im);
		elf_blob__free(&file);
	}
}

static void test_a_name_without_end_stops_at_the_end_of_its_table(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	struct image *im;

	/* "\0.text\0.data...": cut in the middle of ".text". */
	elf_section(&file, 4)->sh_size = 4;
	im = open_mem(&file);
	assert_string_equal(im->sect[1].name, ".te");
	assert_string_equal(im->sect[2].name, "");
	image__close(im);
	elf_blob__free(&file);
}

static void test_a_section_outside_the_file_is_listed_but_has_no_bytes(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	const struct image_sect *s;
	struct image *im;

	elf_section(&file, 1)->sh_offset = UINT64_MAX - 3;
	im = open_mem(&file);
	s = image__section(im, ".text");
	assert_non_null(s);
	assert_null(image__bytes(im, s->off, s->size));
	image__close(im);
	elf_blob__free(&file);
}

/* ---- headers and program headers that lie: refused ---- */

static void test_what_is_not_elf_is_told_from_what_is_damaged(void **state)
{
	struct elf_blob file;
	struct image *im;

	assert_int_equal(image__open_mem("", 0, &im), -ENOEXEC);
	assert_int_equal(image__open_mem("\177EL", 3, &im), -ENOEXEC);
	assert_int_equal(image__open_mem("#!/bin/sh\n", 10, &im), -ENOEXEC);
	assert_int_equal(image__open_mem("\177ELF", 4, &im), -EBADMSG);
	file = make_elf((struct want){0});
	file.len = 63;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_header(&file)->e_ident[EI_CLASS] = ELFCLASS32;
	assert_refused(&file, -ENOTSUP);
	file = make_elf((struct want){0});
	elf_header(&file)->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_refused(&file, -ENOTSUP);
	file = make_elf((struct want){0});
	elf_header(&file)->e_ident[EI_CLASS] = 3;
	assert_refused(&file, -EBADMSG);
}

static void test_program_headers_outside_the_file_are_refused(void **state)
{
	struct elf_blob file;

	file = make_elf((struct want){0});
	elf_header(&file)->e_phoff = file.len - 10;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_header(&file)->e_phoff = UINT64_MAX - 10;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_header(&file)->e_phentsize = 32;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_header(&file)->e_phnum = 0xffff;
	assert_refused(&file, -EBADMSG);
}

static void test_a_segment_that_cannot_be_loaded_is_refused(void **state)
{
	struct elf_blob file;

	file = make_elf((struct want){0});
	elf_segment(&file, 0)->p_filesz = elf_segment(&file, 0)->p_memsz = UINT64_MAX;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_segment(&file, 0)->p_offset = UINT64_MAX;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_segment(&file, 1)->p_memsz = 15;
	assert_refused(&file, -EBADMSG);
	file = make_elf((struct want){0});
	elf_segment(&file, 1)->p_vaddr = UINT64_MAX - 20;
	assert_refused(&file, -EBADMSG);
	/* Cut in the data segment, as by a broken download. */
	file = make_elf((struct want){0});
	file.len = data_at.off + 8;
	assert_refused(&file, -EBADMSG);
}

static void test_of_overlapping_segments_the_later_one_counts(void **state)
{
	struct elf_blob file = make_elf((struct want){0});
	struct image *im;
	u64 vaddr;

	elf_segment(&file, 1)->p_vaddr = CODE_VADDR + 4;
	im = open_mem(&file);
	assert_memory_equal(image__at(im, CODE_VADDR, 4), code, 4);
	assert_memory_equal(image__at(im, CODE_VADDR + 4, 4), data, 4);
	image__close(im);

	/* The same bytes mapped twice: code is what one looks for. */
	*elf_segment(&file, 1) = *elf_segment(&file, 0);
	elf_segment(&file, 0)->p_flags = PF_R;
	elf_segment(&file, 1)->p_vaddr = 0x700000;
	im = open_mem(&file);
	assert_int_equal(image__vaddr(im, code_at.off + 1, &vaddr), 0);
	assert_int_equal(vaddr, 0x700001);
	image__close(im);
	elf_blob__free(&file);
}

static void test_every_truncation_is_an_answer_and_not_a_crash(void **state)
{
	struct elf_blob file = make_elf((struct want){.gnu = true, .go = true});
	u64 nr_ok = 0;

	for (u64 len = 0; len < file.len; len++) {
		struct image *im = NULL;
		int err = image__open_mem(file.bytes, len, &im);

		assert_true(!err || err == -EBADMSG || err == -ENOEXEC);
		assert_true(!err == !!im);
		nr_ok += !err;
		image__close(im);
	}
	/* What is cut off behind the last segment are section headers only. */
	assert_in_range(nr_ok, 1, file.len - data_at.off - data_at.len);
	elf_blob__free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments_and_sections_are_read_as_written),
		cmocka_unit_test(test_bytes_ends_exactly_at_the_end_of_the_file),
		cmocka_unit_test(test_an_address_is_found_in_the_file_part_of_its_segment_only),
		cmocka_unit_test(
			test_a_mapping_of_code_is_its_segment_s_though_others_share_its_page),
		cmocka_unit_test(test_of_two_segments_with_code_the_one_that_is_as_long_is_mapped),
		cmocka_unit_test(test_the_gnu_build_id_wins_over_go_s),
		cmocka_unit_test(test_notes_are_walked_with_the_alignment_of_their_segment),
		cmocka_unit_test(test_a_note_that_reaches_beyond_its_segment_is_no_id),
		cmocka_unit_test(test_a_go_build_id_that_is_not_text_is_not_shown),
		cmocka_unit_test(test_an_overlong_id_is_not_taken),
		cmocka_unit_test(test_a_file_without_section_headers_has_its_segments),
		cmocka_unit_test(test_the_number_of_sections_may_be_in_section_0),
		cmocka_unit_test(test_damaged_section_headers_leave_the_file_usable),
		cmocka_unit_test(test_sections_without_good_names_are_nameless),
		cmocka_unit_test(test_a_name_without_end_stops_at_the_end_of_its_table),
		cmocka_unit_test(test_a_section_outside_the_file_is_listed_but_has_no_bytes),
		cmocka_unit_test(test_what_is_not_elf_is_told_from_what_is_damaged),
		cmocka_unit_test(test_program_headers_outside_the_file_are_refused),
		cmocka_unit_test(test_a_segment_that_cannot_be_loaded_is_refused),
		cmocka_unit_test(test_of_overlapping_segments_the_later_one_counts),
		cmocka_unit_test(test_every_truncation_is_an_answer_and_not_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
