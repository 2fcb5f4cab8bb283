// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arm64_search.c - what is looked for in A64 code: direct calls of given functions, calls and jumps
 * through given words of memory, and the place in Go's prologue where a call has begun. Decoding is
 * insn_arm64.c's.
 */
#include <errno.h>
#include <string.h>

#include "probe/insn_arch.h"

#define WORD		   4
#define COND_LS		   9
#define BTI_C		   0xd503245f
#define GO_LIMIT	   0xf9400b90 /* ldr x16, [x28, #16]: g.stackguard0 */
#define GO_LIMIT_SYS	   0xf9400f90 /* ldr x16, [x28, #24]: g.stackguard1, on a system stack */

#define GO_PROLOGUE_INSNS  12
#define GO_MORESTACK_INSNS 64 /* spills of up to 16 + 16 registers, the call, reloads, the jump */
#define SLOT_LOAD_INSNS	   4  /* from an adrp to the ldr that completes it */
#define SLOT_USE_INSNS	   8  /* from there to the br or blr */

static u32 word_at(const u8 *code, size_t off)
{
	return (u32)code[off] | (u32)code[off + 1] << 8 | (u32)code[off + 2] << 16 |
	       (u32)code[off + 3] << 24;
}

static bool is_target(u64 v, const u64 *target, size_t nr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (target[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && target[lo] == v;
}

static int decode_at(const u8 *code, size_t len, u64 vaddr, u64 at, struct insn *in)
{
	size_t off = (size_t)(at - vaddr);

	if (at < vaddr || off >= len)
		return -EILSEQ;
	return insn_arm64__ops(0)->decode(code + off, len - off, at, in);
}

int arm64_scan(const u8 *code, size_t len, u64 vaddr, const u64 *target, size_t nr_targets,
	       int (*cb)(void *arg, u64 at, u64 target), void *arg)
{
	u64 first, span;
	int err = 0;

	if (!nr_targets || vaddr % WORD)
		return 0;
	first = target[0];
	span = target[nr_targets - 1] - first;
	for (size_t off = 0; off + WORD <= len && !err; off += WORD) {
		u32 w = word_at(code, off);
		u64 to;

		if (w >> 26 != 0x25) /* bl */
			continue;
		to = vaddr + off + (u64)((s64)(s32)(w << 6) >> 4);
		if (to - first <= span && is_target(to, target, nr_targets))
			err = cb(arg, vaddr + off, to);
	}
	return err;
}

/* ---- words that code is called through ------------------------------------------------------ */

/* An adrp at `off`, and the ldr that takes a word from its page. */
struct slot_load {
	size_t end; /* behind the ldr */
	u64 slot;
	u32 reg; /* has the word */
};

static bool is_adrp(u32 w)
{
	return (w & 0x9f000000) == 0x90000000;
}

static u64 adrp_page(u32 w, u64 vaddr)
{
	u64 imm = (w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3); /* 21 bits, signed */

	return (vaddr & ~0xfffULL) + (u64)((s64)(imm << 43) >> 31);
}

static bool find_slot_load(const u8 *code, size_t len, u64 vaddr, size_t off, struct slot_load *l)
{
	u32 w = word_at(code, off), base = w & 31;
	u64 page = adrp_page(w, vaddr + off);

	for (int n = 0; n < SLOT_LOAD_INSNS; n++) {
		struct insn in;

		off += WORD;
		if (off + WORD > len)
			return false;
		w = word_at(code, off);
		if ((w & 0xffc00000) == 0xf9400000 &&
		    (w >> 5 & 31) == base) { /* ldr xt, [xn, #i] */
			l->slot = page + (w >> 10 & 0xfff) * 8;
			l->reg = w & 31;
			l->end = off + WORD;
			return true;
		}
		if (decode_at(code, len, vaddr, vaddr + off, &in) || in.kind != INSN_OTHER ||
		    in.writes >> base & 1)
			return false;
	}
	return false;
}

/* The br or blr by the loaded register that follows, on the same line; 0: none. */
static size_t find_slot_use(const u8 *code, size_t len, u64 vaddr, const struct slot_load *l,
			    bool *call)
{
	size_t off = l->end;

	for (int n = 0; n < SLOT_USE_INSNS; n++, off += WORD) {
		struct insn in;
		u32 w;

		if (off + WORD > len || decode_at(code, len, vaddr, vaddr + off, &in))
			return 0;
		w = word_at(code, off);
		*call = in.kind == INSN_CALL_IND;
		if (*call || in.kind == INSN_JMP_IND)
			return (w >> 5 & 31) == l->reg ? off : 0;
		if (in.kind != INSN_OTHER || in.writes >> l->reg & 1)
			return 0;
	}
	return 0;
}

/* A stub is entered at its adrp, or at a bti before it. */
static int report_stub(const u8 *code, size_t off, u64 vaddr, u64 slot,
		       int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg)
{
	int err = cb(arg, vaddr + off, slot, false);

	if (!err && off >= WORD && word_at(code, off - WORD) == BTI_C)
		err = cb(arg, vaddr + off - WORD, slot, false);
	return err;
}

int arm64_scan_slots(const u8 *code, size_t len, u64 vaddr, const u64 *slot, size_t nr_slots,
		     int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg)
{
	int err = 0;

	if (!nr_slots || vaddr % WORD)
		return 0;
	for (size_t off = 0; off + WORD <= len && !err; off += WORD) {
		struct slot_load l;
		bool call;
		size_t use;
		u64 page;

		if (!is_adrp(word_at(code, off)))
			continue;
		page = adrp_page(word_at(code, off), vaddr + off);
		if (page > slot[nr_slots - 1] || page + 0x8000 <= slot[0] ||
		    !find_slot_load(code, len, vaddr, off, &l) ||
		    !is_target(l.slot, slot, nr_slots))
			continue;
		use = find_slot_use(code, len, vaddr, &l, &call);
		if (use)
			err = call ? cb(arg, vaddr + use, l.slot, true)
				   : report_stub(code, off, vaddr, l.slot, cb, arg);
	}
	return err;
}

/* adrp x16; ldr x17, [x16, #n]; add x16, x16, #n; br x17, perhaps with a bti before it and an
 * autia1716 in it: elfNN_aarch64_small_plt_entry and its variants (bfd/elfnn-aarch64.c). */
bool arm64_stub(const u8 *code, size_t len, u64 vaddr, u64 *slot)
{
	struct slot_load l;
	size_t off = 0;
	bool call;

	if (len >= WORD && word_at(code, 0) == BTI_C)
		off += WORD;
	if (vaddr % WORD || off + WORD > len || (word_at(code, off) & 0x9f00001f) != 0x90000010 ||
	    !find_slot_load(code, len, vaddr, off, &l) || l.reg != 17)
		return false;
	*slot = l.slot;
	/* Signing changes X17, not where it leads. */
	if (l.end + 2 * WORD < len && word_at(code, l.end + WORD) == 0xd503219f)
		return word_at(code, l.end + 2 * WORD) == 0xd61f0220;
	return find_slot_use(code, len, vaddr, &l, &call) && !call;
}

/* ---- Go's prologue -------------------------------------------------------------------------- */

/* True if the code at `at` calls something and then begins the function anew: runtime.morestack. */
static bool is_morestack(const u8 *code, size_t len, u64 vaddr, u64 at)
{
	bool called = false;
	struct insn in;

	for (int n = 0; n < GO_MORESTACK_INSNS; n++, at += WORD) {
		if (decode_at(code, len, vaddr, at, &in))
			return false;
		if (in.kind == INSN_JMP_REL)
			return called && in.target == vaddr;
		if (in.kind == INSN_CALL_REL) {
			if (called)
				return false;
			called = true;
		} else if (in.kind != INSN_OTHER && in.kind != INSN_NOP) {
			return false;
		}
	}
	return false;
}

/* Does a branch lead to (vaddr, last]? Then that is no straight line. */
static bool line_is_entered(const u8 *code, size_t len, u64 vaddr, u64 last)
{
	struct insn in;

	for (u64 at = vaddr; at - vaddr < len; at += WORD) {
		if (decode_at(code, len, vaddr, at, &in))
			continue; /* data: look on behind it */
		if ((in.kind == INSN_JMP_REL || in.kind == INSN_JCC) && in.target > vaddr &&
		    in.target <= last)
			return true;
	}
	return false;
}

static bool is_limit(u32 w)
{
	return w == GO_LIMIT || w == GO_LIMIT_SYS;
}

/*
 * The prologue is [stack check; b.ls morestack], str x30, ... (cmd/internal/obj/arm64/obj7.go,
 * preprocess and stacksplit). After morestack the function begins anew: func+0 is hit again then, and
 * so is the b.ls, where the hit is dropped when the branch is taken: which it is by the flags. What
 * follows it is hit once a call as well, but is single-stepped. A frame of some MB has a b.lo before,
 * which leads to the same place.
 */
int arm64_go_entry(const u8 *code, size_t len, u64 vaddr, u64 *at, bool *taken)
{
	bool limit = false;
	struct insn in;
	u64 pc = vaddr;

	for (int n = 0; n < GO_PROLOGUE_INSNS; n++, pc += WORD) {
		if (decode_at(code, len, vaddr, pc, &in))
			break;
		if (in.kind == INSN_JCC) {
			if (in.cond == INSN_NO_COND || !is_morestack(code, len, vaddr, in.target))
				break;
			if (in.cond != COND_LS)
				continue;
			if (!limit || in.refused || line_is_entered(code, len, vaddr, pc))
				break;
			*at = pc;
			*taken = true;
			return 0;
		}
		if (in.kind != INSN_OTHER && in.kind != INSN_NOP)
			break;
		limit = limit || is_limit(word_at(code, (size_t)(pc - vaddr)));
	}
	return -ENOENT;
}
