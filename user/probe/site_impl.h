/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site_impl.h - shared by the site_*.c files, private to them. */
#ifndef HBPROF_SITE_IMPL_H
#define HBPROF_SITE_IMPL_H

#include "probe/codemap.h"
#include "probe/regtrack.h"

/* How good an instruction is as a site; the first one of the best rank is taken. */
enum site_rank {
	SITE_RANK_NONE,	 /* refused */
	SITE_RANK_LOST,	 /* a wanted register is gone */
	SITE_RANK_STEP,	 /* exact, single-stepped */
	SITE_RANK_CHEAP, /* exact, emulated */
};

enum site_rank site_rank(const struct insn *in, const struct regtrack *t, u32 regs);
/* True if nothing after this instruction is on the same straight line, or not soon. */
bool site_line_ends(const struct insn *in);
/*
 * Instructions of a line that are looked at. What stands between a call's boundary and its site is time
 * that is counted on the wrong side, so a site far off is no good one. Of 104,061 calls in the go
 * command 67.9 % have an emulated instruction within 16, and 68.7 % within 64; of libprotobuf's 37,064
 * it is 91.1 and 91.3 %.
 */
#define SITE_LINE_INSNS 16
/* Fills all but role, func, flags and ra: `in` stands at vaddr in c, t says where things are, and
 * sp_fix = sp_base - t->sp. */
void site__set(struct site *s, const struct code *c, u64 vaddr, const struct insn *in,
	       const struct regtrack *t, s32 sp_base);
int site_list__add(struct site_list *l, const struct site *s); /* -ENOMEM */

/* A jump out of c, or one that may be; w has followed the instructions before. */
bool code__jumps_out(const struct code *c, const struct jump_watch *w, const struct insn *in);

/* site__return() over a map that is at hand; m may be NULL (joins not known). *straight: no path
 * joins from the return address to the site, both included. */
int site__return_in(const struct code *c, const struct codemap *m, u64 ra,
		    const struct site_want *want, struct site *out, bool *straight);

#endif
