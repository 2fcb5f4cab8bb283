/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codemap.h - one pass over a function: where instructions begin, where paths join, by what it can
 * be left. Private to probe/.
 */
#ifndef HBPROF_CODEMAP_H
#define HBPROF_CODEMAP_H

#include "probe/site.h"

/* What an indirect jump is. */
enum codemap_jump {
	CODEMAP_EXIT,  /* out of the function: a tail call */
	CODEMAP_TABLE, /* through a switch's table: inside the function */
	CODEMAP_DOUBT, /* an array of 64-bit pointers: labels or functions, not to be told */
};

struct codemap {
	const struct code *code;
	u8 *start;     /* bit per byte: an instruction begins here */
	u8 *join;      /* bit per byte: a branch inside the body leads here */
	bool unsure;   /* bytes that are no instructions, or a branch into the middle of one:
			     data, or not compiled; joins may be missing */
	bool indirect; /* any indirect jump */
	bool table;    /* an indirect jump that is not surely an exit: joins are missing */
	bool leaves;   /* direct jumps or branches out: code elsewhere may jump back in */
};

/* The map refers to code. -ENOMEM. */
int codemap__init(struct codemap *m, const struct code *code);
void codemap__fini(struct codemap *m);
bool codemap__is_insn(const struct codemap *m, u64 vaddr);
bool codemap__is_join(const struct codemap *m, u64 vaddr);

/* Decodes at vaddr, bounded by the code. 0, -EILSEQ. */
int code__decode(const struct code *c, u64 vaddr, struct insn *in);
bool code__contains(const struct code *c, u64 vaddr);

/* Follows what leads to an indirect jump, instruction by instruction in order of address. */
struct jump_watch {
	u32 rel, ptr; /* registers with an element of a table of offsets, of pointers */
};
/* Call for every instruction; the verdict for an INSN_JMP_IND is given before it is taken in. */
enum codemap_jump jump_watch__verdict(const struct jump_watch *w, const struct insn *in);
void jump_watch__step(struct jump_watch *w, const struct insn *in);

#endif
