// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site_stack.c - what code tells of the stack: where the return address comes in a register, where a function
 * keeps it and where a stack is undone; where a thread goes over to another stack.
 */
#include <errno.h>

#include "probe/site_impl.h"

#define PROLOGUE_INSNS \
	32 /* Go's stack check, saved registers, what a compiler has moved before them */
#define LANDING_INSNS 8	 /* between setting SP and leaving */
#define SWITCH_INSNS  48 /* ... when all registers are loaded, too */

static int count_saves(const struct code *c)
{
	struct insn in;
	int nr = 0;

	for (u64 at = c->vaddr; code__contains(c, at); at += c->ops->min_len)
		if (!code__decode(c, at, &in) && in.saves_ra)
			nr++;
	return nr;
}

/* A line goes on behind a branch that is not taken: a stack check, a test for a short cut. */
static bool prologue_ends(const struct insn *in)
{
	return in->kind != INSN_JCC && site_line_ends(in);
}

u16 site__ra_words(const struct code *body)
{
	u64 at = body->vaddr;
	struct regtrack t;
	struct insn in;

	if (body->ops->ra_reg == INSN_NO_REG)
		return 0;
	/* Saved in two places, it may be in either. */
	if (count_saves(body) != 1)
		return HB_RA_NOWHERE;
	regtrack__init(&t, body->ops);
	for (int n = 0; n < PROLOGUE_INSNS && !code__decode(body, at, &in); n++) {
		if (in.saves_ra) {
			s64 below = -((s64)t.sp + in.ra_off);

			return below > 0 && below % 8 == 0 && below / 8 < HB_RA_NOWHERE
				       ? (u16)(below / 8)
				       : HB_RA_NOWHERE;
		}
		if (prologue_ends(&in) || !regtrack__step(&t, &in))
			break;
		at += in.len;
	}
	return HB_RA_NOWHERE;
}

/* The jump or return that follows the setting of SP at `at`. */
static bool landing_behind(const struct code *c, u64 at, struct site *out)
{
	struct regtrack t;
	struct insn in;

	regtrack__init(&t, c->ops);
	for (int n = 0; n < LANDING_INSNS && !code__decode(c, at, &in); n++, at += in.len) {
		if (in.kind == INSN_JMP_IND || in.kind == INSN_RET) {
			site__set(out, c, at, &in, &t, 0);
			return !in.refused;
		}
		if (site_line_ends(&in) || !in.sp_known)
			return false;
	}
	return false;
}

int site__landings(const struct code *body, struct site_list *out)
{
	struct site s;
	struct insn in;
	int err = 0;

	for (u64 at = body->vaddr; code__contains(body, at) && !err; at += body->ops->min_len) {
		if (code__decode(body, at, &in) || in.kind != INSN_OTHER || in.sp_known)
			continue;
		if (!landing_behind(body, at + in.len, &s))
			continue;
		s.role = HB_ROLE_CATCH;
		err = site_list__add(out, &s);
	}
	return err;
}

/* The first emulated instruction behind the setting of SP. */
static bool switched_behind(const struct code *c, u64 at, struct site *out)
{
	struct regtrack t;
	struct insn in;

	regtrack__init(&t, c->ops);
	for (int n = 0; n < SWITCH_INSNS && !code__decode(c, at, &in); n++, at += in.len) {
		if (in.cls != HB_CLASS_STEP && !in.refused) {
			site__set(out, c, at, &in, &t, 0);
			return true;
		}
		if (site_line_ends(&in) || !regtrack__step(&t, &in))
			return false;
	}
	return false;
}

int site__switches(const struct code *body, struct site_list *out)
{
	struct site s;
	struct insn in;
	int err = 0;

	/* From the beginning, as instructions are of any length. */
	for (u64 at = body->vaddr; !err && !code__decode(body, at, &in); at += in.len) {
		if (in.kind != INSN_OTHER || in.sp_known || !switched_behind(body, at + in.len, &s))
			continue;
		s.role = HB_ROLE_SWITCH;
		err = site_list__add(out, &s);
	}
	return err;
}
