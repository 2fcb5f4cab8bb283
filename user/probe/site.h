/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * site.h - where to probe a function. Pure: bytes in, sites out.
 *
 * A site is an instruction; its cost is decided by how the kernel executes that instruction under
 * a probe. The rules, with their measurements, are in docs/design.md ("Sites").
 */
#ifndef HBPROF_SITE_H
#define HBPROF_SITE_H

#include "probe/insn.h"

#define SITE_BYTES 16

struct site {
	u64 vaddr;  /* of the probed instruction */
	u64 ra;	    /* RETSITE: the return address, vaddr */
	u32 func;   /* ENTRY, RET: index of the function; RETSITE: the callee, SITE_NO_FUNC if not
			   the only one */
	s32 sp_fix; /* as hb_site.sp_fix */
	u8 role;    /* enum hb_role */
	u8 cls;	    /* enum hb_class */
	u8 flags;   /* HB_SITE_* */
	u8 len;	    /* of the instruction */
	u8 bytes[SITE_BYTES]; /* the instruction, to be compared right before attach */
	s16 loc[HB_LOC_NR];   /* as hb_site.loc */
};
#define SITE_NO_FUNC 0xffffffffu

struct site_list {
	struct site *v;
	size_t nr, cap;
};
void site_list__init(struct site_list *l);
void site_list__fini(struct site_list *l);

/* Code as the finder sees it: one function, or what is known of the text around an address. */
struct code {
	const struct insn_ops *ops;
	const u8 *bytes; /* at vaddr */
	size_t len;
	u64 vaddr;
};

/* What a function is probed for: the registers (bit mask) whose values are read at its entry and
 * after its return. A site where one of them is lost is passed over for one where it is not. */
struct site_want {
	u32 entry_regs, exit_regs;
	enum hb_lang lang;
};

/*
 * The entry site of the function that is `body`. 0, or -EILSEQ: the code cannot be decoded,
 * -ENOTSUP: no instruction of it can be probed. *why (static text) says what was found when not 0.
 */
int site__entry(const struct code *body, const struct site_want *want, u32 func, struct site *out,
		const char **why);

/*
 * The site for the return address ra, which lies inside `body` (a whole function when its bounds
 * are known; else bounded = false and body begins at ra). 0, -EILSEQ, -ENOTSUP.
 */
int site__return(const struct code *body, bool bounded, u64 ra, const struct site_want *want,
		 struct site *out);

/* Every instruction by which the function leaves: its returns and jumps out. Appends RET sites.
 * -ENOTSUP: one of them cannot be probed. */
int site__rets(const struct code *body, u32 func, struct site_list *out);

/*
 * Where the function keeps its return address while it has calls open: words below its entry SP.
 * HB_RA_NOWHERE: not known. `body` is the whole function; a jump out of it has restored it before.
 */
u16 site__ra_words(const struct code *body);

/*
 * Where longjmp() and the like go on at another place of the stack: the jump or return that closely
 * follows the setting of SP from a register. SP is there that of the place. Appends CATCH sites. It is
 * no mistake if one is the end of an ordinary function: what lies deeper than its SP is dead as well.
 */
int site__landings(const struct code *body, struct site_list *out);

/*
 * Where swapcontext() and the like go on on another stack: the first instruction behind the setting of
 * SP from memory or a register that the kernel emulates, as coroutines pass there often. Appends SWITCH sites.
 */
int site__switches(const struct code *body, struct site_list *out);

/* True if the body has direct or indirect jumps out of it (a tail call may happen). */
bool site__has_tails(const struct code *body);

/* A function whose bounds are known: where calls may come from. */
struct code_range {
	u64 vaddr, end;
};

/* How a callee is called. What does not lead there by itself may lead elsewhere at run time: no site
 * of it is HB_SITE_PURE. */
enum site_via {
	SITE_VIA_CODE, /* vaddr is the function */
	SITE_VIA_STUB, /* vaddr is code that jumps to it through a slot */
	SITE_VIA_SLOT, /* vaddr is the slot: a word with its address, for indirect calls */
};

struct site_callee {
	u64 vaddr;
	u32 func;
	struct site_want want;
	u8 via; /* enum site_via */
};

/*
 * All return sites of direct calls to the callees, and of indirect ones through their slots, one pass
 * over the text for each of the two. `ranges` are sorted by
 * vaddr; calls outside them are left to discovery. `bytes_at` returns the code of [vaddr, vaddr +
 * len) or NULL. Appends RETSITE sites; a call site that cannot be probed is counted in *refused.
 */
int site__calls(const struct insn_ops *ops, const struct code_range *ranges, size_t nr_ranges,
		const u8 *(*bytes_at)(void *arg, u64 vaddr, size_t len), void *arg,
		const struct site_callee *callees, size_t nr_callees, struct site_list *out,
		u32 *refused);

#endif
