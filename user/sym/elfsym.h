/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elfsym.h - the functions that an image's ELF symbol tables define: .symtab and .dynsym. The latter
 * is found through the dynamic section when there are no section headers.
 */
#ifndef HBPROF_ELFSYM_H
#define HBPROF_ELFSYM_H

#include "sym/symtab.h"

struct elfsym_table {
	const u8 *syms; /* Elf64_Sym array, in the image; may be unaligned */
	size_t nr;
	const char *str; /* a NUL byte lies at str[str_len] */
	u64 str_len;
	enum sym_source source;
};

struct elfsym {
	struct elfsym_table table[2];
	u32 nr_tables;
};

struct elfsym_count {
	size_t nr;   /* functions */
	size_t pool; /* bytes that names without their version suffix need */
};

/* Finds the tables. 0 with nr_tables 0..2, -EBADMSG: one lies outside the file. */
int elfsym__open(const struct image *im, struct elfsym *out);
/* What elfsym__read() will make, at most. -EBADMSG: a name outside its table. */
int elfsym__count(const struct image *im, const struct elfsym *e, struct elfsym_count *out);
/*
 * Appends the functions outside [skip_lo, skip_hi) to v from *nr on, names with a version suffix cut
 * off going to pool. Never more than max->nr and max->pool, though the file may have changed.
 */
int elfsym__read(const struct image *im, const struct elfsym *e, u64 skip_lo, u64 skip_hi,
		 const struct elfsym_count *max, struct sym *v, size_t *nr, char *pool);
/* The address of a variable of that name and size, by the symbol tables; 0: they do not know it. */
u64 elfsym_data(const struct image *im, const char *name, u64 size);

#endif
