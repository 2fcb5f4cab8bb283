/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* image_elf.h - the small executable that the tests of images read: code, data, build ids. */
#ifndef HBPROF_TEST_IMAGE_ELF_H
#define HBPROF_TEST_IMAGE_ELF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elfbuild.h"
#include "target/image.h"
#define CODE_VADDR 0x401000
#define DATA_VADDR 0x600000
#define DATA_BSS   64

static const u8 code[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x90, 0x90};
static const u8 data[] = "sixteen bytes ..";
static const u8 gnu_id[] = {0xde, 0xad, 0xbe, 0xef, 0x00, 0x7f};
static const char go_id[] = "abc_-1/def/ghi/jkl";

struct want {
	bool gnu, go;		/* build ids, in PT_NOTE segments */
	bool gnu_sect, go_sect; /* in sections only */
	bool no_sections, count_in_first;
};

static struct elf_blob code_at, data_at; /* where make_elf() put them */

/* header, code, data, notes; the sections .text (1), .data (2), .bss (3) and those of the notes. */
static inline struct elf_blob make_elf(struct want w)
{
	struct elf_blob gnu = {0}, go = {0}, file;
	struct elfbuild b;

	elfbuild__init(&b, ET_EXEC, EM_X86_64);
	b.no_sections = w.no_sections;
	b.count_in_first = w.count_in_first;
	code_at = elfbuild__data(&b, code, sizeof(code), 16);
	data_at = elfbuild__data(&b, data, 16, 16);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_X, CODE_VADDR, code_at, code_at.len);
	elfbuild__segment(&b, PT_LOAD, PF_R | PF_W, DATA_VADDR, data_at, data_at.len + DATA_BSS);
	elfbuild__section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_VADDR, code_at,
			  0, 0);
	elfbuild__section(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA_VADDR, data_at, 1,
			  8);
	elfbuild__section(&b, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, DATA_VADDR + 16,
			  (struct elf_blob){.off = 0, .len = DATA_BSS}, 0, 0);
	if (w.go || w.go_sect)
		go = elfbuild__note(&b, "Go\0", 4, go_id, strlen(go_id));
	if (w.gnu || w.gnu_sect)
		gnu = elfbuild__note(&b, "GNU", NT_GNU_BUILD_ID, gnu_id, sizeof(gnu_id));
	if (w.go)
		elfbuild__segment(&b, PT_NOTE, PF_R, 0, go, go.len);
	if (w.gnu)
		elfbuild__segment(&b, PT_NOTE, PF_R, 0, gnu, gnu.len);
	if (w.go_sect)
		elfbuild__section(&b, ".note.go.buildid", SHT_NOTE, SHF_ALLOC, 0, go, 0, 0);
	if (w.gnu_sect)
		elfbuild__section(&b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, gnu, 0, 0);
	elfbuild__finish(&b, &file);
	return file;
}

static inline struct image *open_mem(const struct elf_blob *file)
{
	struct image *im = NULL;

	assert_int_equal(image__open_mem(file->bytes, file->len, &im), 0);
	assert_non_null(im);
	return im;
}

#endif
