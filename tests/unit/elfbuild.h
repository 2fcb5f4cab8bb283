/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elfbuild.h - makes small 64-bit little-endian ELF files in memory, for tests that want to know
 * every byte of their input, or to damage one. It checks nothing: what is asked for is what comes
 * out. Too many headers or no memory end the test program.
 *
 *	struct elfbuild b;
 *	struct elf_blob code, file;
 *
 *	elfbuild__init(&b, ET_EXEC, EM_X86_64);
 *	code = elfbuild__data(&b, bytes, sizeof(bytes), 16);
 *	elfbuild__segment(&b, PT_LOAD, PF_R | PF_X, 0x401000, code, code.len);
 *	elfbuild__section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, code, 0, 0);
 *	elfbuild__finish(&b, &file);
 *	... elf_header(&file)->e_phnum = 0xffff; ...
 *	elf_blob__free(&file);
 *
 * The file: header, room for all program headers, the data in the order it came, the names of the
 * sections, the section headers.
 */
#ifndef HBPROF_ELFBUILD_H
#define HBPROF_ELFBUILD_H

#include "util/strbuf.h"

#include <elf.h>
#include <hbprof/types.h>

#define ELFBUILD_MAX_SEGS  16
#define ELFBUILD_MAX_SECTS 32

struct elf_blob {  /* a part of the file that is built, or the file */
	u8 *bytes; /* of the whole file only, else NULL */
	u64 off, len;
};

struct elfbuild {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[ELFBUILD_MAX_SEGS];
	Elf64_Shdr sh[ELFBUILD_MAX_SECTS]; /* [0] is the empty one that ELF wants */
	struct strbuf file, names;
	bool no_sections;    /* leave the section headers out, as after sstrip */
	bool count_in_first; /* e_shnum 0, e_shstrndx SHN_XINDEX: the numbers are in section 0 */
};

void elfbuild__init(struct elfbuild *b, u16 e_type, u16 e_machine);
/* Appends bytes (NULL: zeros) at the next multiple of align. */
struct elf_blob elfbuild__data(struct elfbuild *b, const void *bytes, size_t len, size_t align);
/* Appends one note, aligned to 4, with a name of 4 bytes ("GNU", "Go\0"); notes that follow each other
 * are one blob of their summed len. */
struct elf_blob elfbuild__note(struct elfbuild *b, const char name[4], u32 type, const void *desc,
			       size_t len);
/* A program header over a blob. */
Elf64_Phdr *elfbuild__segment(struct elfbuild *b, u32 type, u32 flags, u64 vaddr,
			      struct elf_blob data, u64 memsz);
/* A section header over a blob; its index. */
u32 elfbuild__section(struct elfbuild *b, const char *name, u32 type, u64 flags, u64 vaddr,
		      struct elf_blob data, u32 link, u64 entsize);
/* Writes the headers and hands the file over. b is empty again. */
void elfbuild__finish(struct elfbuild *b, struct elf_blob *file);

void elf_blob__free(struct elf_blob *file);
/* The headers of a finished file, to damage them. */
Elf64_Ehdr *elf_header(const struct elf_blob *file);
Elf64_Phdr *elf_segment(const struct elf_blob *file, u32 i);
Elf64_Shdr *elf_section(const struct elf_blob *file, u32 i);

#endif
