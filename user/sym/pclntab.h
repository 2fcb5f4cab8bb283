/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pclntab.h - Go's table of functions, .gopclntab, of Go 1.18 and later. The runtime needs it for
 * stack traces, so it survives -s -w and strip.
 *
 * Format: cmd/link/internal/ld/pcln.go, runtime/symtab.go (struct pcHeader, functab, moduledata).
 */
#ifndef HBPROF_PCLNTAB_H
#define HBPROF_PCLNTAB_H

#include "sym/symtab.h"

struct pclntab {
	const u8 *tab; /* its first byte, in the image */
	u64 len;       /* bytes from there to the end of the segment */
	u64 vaddr;
	u8 min_lc;	   /* 1 x86, 4 arm64 */
	u32 nr;		   /* functions */
	const char *names; /* a NUL byte lies at names[names_len] */
	u64 names_len;
	u64 names_off;	 /* of names from tab */
	const u8 *funcs; /* functab; the _func structs are counted from here too */
	u64 funcs_len;
	const u8 *pctab; /* tables of values by pc */
	u64 pctab_len;
	u64 gofunc;	 /* vaddr that funcdata counts from; 0: not known, or before Go 1.20 */
	u64 text, etext; /* vaddr range that the functions' offsets count from */
};

/* 0; -ENOENT: not a Go program; -ENOTSUP: of a Go before 1.18; -EBADMSG: a damaged table. *out is
 * written only on success, and points into the image. */
int pclntab__find(const struct image *im, struct pclntab *out);
/* Fills v[0..t->nr), sorted by vaddr; names point into the image. 0 or -EBADMSG. */
int pclntab__read(const struct pclntab *t, struct sym *v);

#endif
