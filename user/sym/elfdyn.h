/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elfdyn.h - the dynamic section of an image, reached through PT_DYNAMIC as the dynamic linker does
 * it: it is there when the section headers are not. Addresses are vaddrs; 0: absent.
 */
#ifndef HBPROF_ELFDYN_H
#define HBPROF_ELFDYN_H

#include "target/image.h"

#include <string.h>

/* Little-endian fields of a file, at any alignment; image__open() refuses other byte orders. */
static inline u32 load_u32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u64 load_u64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

struct elfdyn {
	const u8 *dyn; /* the Elf64_Dyn array, in the image */
	size_t nr;
	u64 symtab, hash, gnu_hash;
	const char *str; /* names, NULL: none; a NUL byte lies at str[str_len] */
	u64 str_len;
	const u8 *rela; /* Elf64_Rela array, NULL: none */
	size_t nr_rela;
	u64 nr_relative;  /* the first ones that are R_*_RELATIVE, as the file claims */
	const u8 *jmprel; /* Elf64_Rela array of the PLT, NULL: none */
	size_t nr_jmprel;
	const char *soname; /* NULL: none */
	bool pie, interp;   /* DF_1_PIE is set; the image names a dynamic linker */
};

/* 0, -ENOENT: not dynamically linked (interp may still be set), -EBADMSG: it lies outside the file. */
int elfdyn__read(const struct image *im, struct elfdyn *out);
/* The n-th needed library, or NULL after the last; a name outside the string table is "". */
const char *elfdyn__needed(const struct elfdyn *d, size_t n);
/* True for something that is started, not loaded by another: executables, PIE ones included. */
bool elfdyn__is_program(const struct image *im, const struct elfdyn *d);

/* Shortens a string table to its last NUL byte, so that every name below *len ends inside. False: it
 * holds no string at all. */
bool strtab_bound(const char *str, u64 *len);

#endif
