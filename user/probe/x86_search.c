// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * x86_search.c - what is looked for in x86-64 code: direct calls of given functions, calls and jumps
 * through given words of memory, and the place in Go's prologue where a call has begun. Decoding is
 * insn_x86.c's.
 */
#include <errno.h>
#include <string.h>

#include "probe/insn_arch.h"

#define CALL_LEN	   5 /* e8 rel32 */
#define SLOT_LEN	   6 /* ff 15 disp32: call *slot(%rip); ff 25 disp32: jmp */
#define COND_B		   2 /* jb */
#define COND_BE		   6 /* jbe */
#define REG_BP		   5

#define STUB_INSNS	   3 /* endbr64, mov $index,%r11d, jmp *slot */
#define GO_PROLOGUE_INSNS  8
#define GO_MORESTACK_INSNS 64 /* spills of up to 9 + 15 registers, the call, reloads, the jump */

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

/* One byte in forty of real code is e8: memchr() does the work, the range check most of the rest. */
int x86_scan(const u8 *code, size_t len, u64 vaddr, const u64 *target, size_t nr_targets,
	     int (*cb)(void *arg, u64 at, u64 target), void *arg)
{
	const u8 *p = code, *end;
	u64 first, span;

	if (len < CALL_LEN || !nr_targets)
		return 0;
	first = target[0];
	span = target[nr_targets - 1] - first;
	end = code + (len - CALL_LEN + 1); /* the last place where a call fits, and one */
	while (p < end && (p = memchr(p, 0xe8, (size_t)(end - p)))) {
		u64 at = vaddr + (u64)(p - code);
		s32 disp;
		u64 to;

		memcpy(&disp, p + 1, sizeof(disp));
		to = at + CALL_LEN + (u64)(s64)disp;
		if (to - first <= span && is_target(to, target, nr_targets)) {
			int err = cb(arg, at, to);

			if (err)
				return err;
		}
		p++;
	}
	return 0;
}

/*
 * A stub is entered at its jump or at what stands before it: a bnd prefix (ld for MPX, and of older
 * versions for CET; 2.40 has none), the `mov $index,%r11d` of mold's stubs for CET, an endbr64. Each
 * of these addresses is told: what looks like one of them may belong to the stub before, and nothing
 * calls that then.
 */
static int report_stub(const u8 *code, size_t at, u64 vaddr, u64 slot,
		       int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg)
{
	static const struct {
		u8 bytes[4], nr, len;
	} before[] = {
		{{0xf2}, 1, 1},
		{{0x41, 0xbb}, 2, 6},
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4},
	};
	int err = cb(arg, vaddr + at, slot, false);

	for (size_t i = 0; i < sizeof(before) / sizeof(*before) && !err; i++) {
		if (at < before[i].len ||
		    memcmp(code + at - before[i].len, before[i].bytes, before[i].nr) != 0)
			continue;
		at -= before[i].len;
		err = cb(arg, vaddr + at, slot, false);
	}
	return err;
}

int x86_scan_slots(const u8 *code, size_t len, u64 vaddr, const u64 *slot, size_t nr_slots,
		   int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg)
{
	const u8 *p = code, *end;
	int err = 0;

	if (len < SLOT_LEN || !nr_slots)
		return 0;
	end = code + (len - SLOT_LEN + 1);
	while (!err && p < end && (p = memchr(p, 0xff, (size_t)(end - p)))) {
		size_t at = (size_t)(p++ - code);
		s32 disp;
		u64 to;

		if (code[at + 1] != 0x15 && code[at + 1] != 0x25)
			continue;
		memcpy(&disp, code + at + 2, sizeof(disp));
		to = vaddr + at + SLOT_LEN + (u64)(s64)disp;
		if (!is_target(to, slot, nr_slots))
			continue;
		err = code[at + 1] == 0x15 ? cb(arg, vaddr + at, to, true)
					   : report_stub(code, at, vaddr, to, cb, arg);
	}
	return err;
}

static int decode_at(const u8 *code, size_t len, u64 vaddr, u64 at, struct insn *in)
{
	size_t off = (size_t)(at - vaddr);

	if (at < vaddr || off >= len)
		return -EILSEQ;
	return insn_x86__ops(0)->decode(code + off, len - off, at, in);
}

bool x86_stub(const u8 *code, size_t len, u64 vaddr, u64 *slot)
{
	struct insn in;
	u64 at = vaddr;

	for (int n = 0; n < STUB_INSNS; n++, at += in.len) {
		if (decode_at(code, len, vaddr, at, &in))
			return false;
		if (in.kind == INSN_JMP_IND) {
			*slot = in.slot;
			return in.slot;
		}
		/* Whatever a stub does first, it touches neither SP nor what arguments are in. */
		if (in.kind != INSN_OTHER || in.sp_delta || in.stores || in.sp_store_len ||
		    in.writes & ~(1u << 11))
			return false;
	}
	return false;
}

/* True if the code at `at` calls something and then begins the function anew: runtime.morestack. */
static bool is_morestack(const u8 *code, size_t len, u64 vaddr, u64 at)
{
	bool called = false;
	struct insn in;

	for (int n = 0; n < GO_MORESTACK_INSNS; n++) {
		if (decode_at(code, len, vaddr, at, &in))
			return false;
		if (in.kind == INSN_JMP_REL)
			return called && in.target == vaddr;
		if (in.kind == INSN_CALL_REL) {
			if (called)
				return false;
			called = true;
		} else if (in.kind != INSN_OTHER && in.kind != INSN_NOP && in.kind != INSN_PUSH) {
			return false;
		}
		at += in.len;
	}
	return false;
}

/* Does a branch within the first bytes lead to (vaddr, last]? Then that is no straight line. */
static bool line_is_entered(const u8 *code, size_t len, u64 vaddr, u64 last)
{
	struct insn in;

	for (u64 at = vaddr; at - vaddr < len; at += in.len) {
		if (decode_at(code, len, vaddr, at, &in)) {
			in.len = 1; /* padding or data: look on behind it */
			continue;
		}
		if ((in.kind == INSN_JMP_REL || in.kind == INSN_JCC) && in.target > vaddr &&
		    in.target <= last)
			return true;
	}
	return false;
}

/*
 * The prologue is [stack check; jbe morestack], push rbp, mov rbp,rsp, sub rsp; up to 1.20 the
 * frame is made first and rbp stored into it (cmd/internal/obj/x86/obj6.go, preprocess and
 * stacksplit). After morestack the function begins anew: func+0 is hit again then, `push rbp` is
 * not, and at the jbe the hit is dropped when the branch is taken. A frame of some MB has a `jb`
 * before the jbe, which leads to the same place.
 */
int x86_go_entry(const u8 *code, size_t len, u64 vaddr, u64 *at, bool *taken)
{
	u64 pc = vaddr, jbe = 0;
	struct insn in;

	for (int n = 0; n < GO_PROLOGUE_INSNS; n++, pc += in.len) {
		if (decode_at(code, len, vaddr, pc, &in))
			break;
		if (in.kind == INSN_PUSH) {
			if (in.move != INSN_MOVE_STORE || in.move_src != REG_BP || in.refused ||
			    in.cls != HB_CLASS_PUSH || line_is_entered(code, len, vaddr, pc))
				break;
			*at = pc;
			*taken = false;
			return 0;
		}
		if (in.kind == INSN_JCC) {
			if ((in.cond != COND_B && in.cond != COND_BE) ||
			    !is_morestack(code, len, vaddr, in.target))
				break;
			if (in.cond == COND_BE && !in.refused)
				jbe = pc;
		} else if (in.kind != INSN_OTHER && in.kind != INSN_NOP) {
			break;
		}
	}
	if (!jbe || line_is_entered(code, len, vaddr, jbe))
		return -ENOENT;
	*at = jbe;
	*taken = true;
	return 0;
}
