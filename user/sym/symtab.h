/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symtab.h - the functions of an image: from .symtab and .dynsym, or from Go's .gopclntab, which
 * survives stripping. Sorted by vaddr. Names point into the image or a pool: they live as long as
 * both symtab and image do.
 */
#ifndef HBPROF_SYMTAB_H
#define HBPROF_SYMTAB_H

#include "target/image.h"

enum sym_source { SYM_ELF, SYM_DYN, SYM_GO };

struct sym {
	const char *name; /* raw: mangled, without a version suffix ("@@VERS") */
	u64 vaddr;
	u64 size;     /* Go: to the next function, padding included; 0: not known */
	u8 source;    /* enum sym_source */
	bool ifunc;   /* STT_GNU_IFUNC: vaddr is the resolver, not the function */
	bool wrapper; /* Go: made by the compiler: ABI and method wrappers, hash functions */
	u8 go_id;     /* Go: runtime FuncID */
};

struct symtab {
	struct sym *v;
	size_t nr;
	bool go;	       /* the image has a readable gopclntab */
	u64 go_text, go_etext; /* its code */
	u8 go_min_lc;	       /* 1 x86, 4 arm64 */
	char *pool;
	u32 *index;	 /* hash table over the names: position in v + 1, 0: free */
	size_t nr_index; /* a power of two */
};

/* Reads all tables. 0 (with nr == 0 where there are none), -EBADMSG: a damaged table. A damaged
 * gopclntab beside a good ELF table is reported through *go_err (0 or -errno), not as a failure. */
int symtab__open(const struct image *im, struct symtab **out, int *go_err);
void symtab__close(struct symtab *t);
/* The number of symbols of that name, the first max of them in out, by rising vaddr. */
size_t symtab__find(const struct symtab *t, const char *name, const struct sym **out, size_t max);
/* The function that contains vaddr, or NULL. */
const struct sym *symtab__at(const struct symtab *t, u64 vaddr);
/* True if name is only imported (undefined in .dynsym). */
bool symtab__imports(const struct image *im, const char *name);
/* True, and its address, if there is an exported variable of that name. */
bool symtab__data(const struct image *im, const char *name, u64 *vaddr);

#endif
