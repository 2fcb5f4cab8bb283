// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * regtrack.c - following registers along straight-line code; see regtrack.h.
 */
#include <string.h>

#include "probe/regtrack.h"

#define SP_MAX	 (1 << 26) /* no frame is larger; keeps sums of deltas far from overflow */
#define MAX_SLOT (INT16_MAX - HB_LOC_STACK)

void regtrack__init(struct regtrack *t, const struct insn_ops *ops)
{
	memset(t, 0, sizeof(*t));
	t->sp_reg = ops->sp_reg;
	t->read_regs = ops->read_regs;
	for (unsigned int r = 0; r < HB_LOC_NR; r++)
		if (r != t->sp_reg)
			t->in[r] = 1u << r;
}

static void drop_slot(struct regtrack *t, unsigned int r, unsigned int n)
{
	t->slot[r][n] = t->slot[r][--t->nr_slots[r]];
}

/* Forgets the slots that [from, to) touches. */
static void drop_slots(struct regtrack *t, unsigned int r, s64 from, s64 to)
{
	for (unsigned int n = t->nr_slots[r]; n--;)
		if (t->slot[r][n] < to && t->slot[r][n] + 8LL > from)
			drop_slot(t, r, n);
}

static bool has_slot(const struct regtrack *t, unsigned int r, s32 off)
{
	for (unsigned int n = 0; n < t->nr_slots[r]; n++)
		if (t->slot[r][n] == off)
			return true;
	return false;
}

static void step_one(struct regtrack *t, unsigned int r, const struct insn *in)
{
	u32 held = t->in[r];
	bool copy = in->move != INSN_MOVE_NONE && in->move_src < 32 && held >> in->move_src & 1;
	s64 off = (s64)t->sp + in->move_off;
	bool load = in->move == INSN_MOVE_LOAD && off == (s32)off && has_slot(t, r, (s32)off);

	t->in[r] &= ~in->writes;
	if (((in->move == INSN_MOVE_REG && copy) || load) && in->move_dst < 32)
		t->in[r] |= 1u << in->move_dst;

	if (in->stores)
		t->nr_slots[r] = 0;
	if (in->sp_store_len) {
		s64 from = (s64)t->sp + in->sp_store_off;

		drop_slots(t, r, from, from + in->sp_store_len);
	}
	if (in->move == INSN_MOVE_STORE && copy && off == (s32)off &&
	    t->nr_slots[r] < REGTRACK_SLOTS)
		t->slot[r][t->nr_slots[r]++] = (s32)off;
}

bool regtrack__step(struct regtrack *t, const struct insn *in)
{
	s64 sp = (s64)t->sp + in->sp_delta;

	for (unsigned int r = 0; r < HB_LOC_NR; r++)
		if (r != t->sp_reg)
			step_one(t, r, in);
	if (!in->sp_known || sp < -SP_MAX || sp > SP_MAX)
		return false;
	t->sp = (s32)sp;
	for (unsigned int r = 0; r < HB_LOC_NR; r++)
		drop_slots(t, r, INT64_MIN, sp); /* below SP: free for a signal handler to use */
	return true;
}

s16 regtrack__loc(const struct regtrack *t, unsigned int r)
{
	u32 held;

	if (r >= HB_LOC_NR)
		return HB_LOC_LOST;
	held = t->in[r] & t->read_regs;
	if (held >> r & 1)
		return (s16)r;
	for (int reg = 0; reg < 32; reg++)
		if (held >> reg & 1)
			return (s16)reg;
	for (unsigned int n = 0; n < t->nr_slots[r]; n++) {
		s64 d = (s64)t->slot[r][n] - t->sp;

		if (d >= 0 && d % 8 == 0 && d / 8 <= MAX_SLOT)
			return (s16)(HB_LOC_STACK + d / 8);
	}
	return HB_LOC_LOST;
}

bool regtrack__has(const struct regtrack *t, u32 regs)
{
	for (unsigned int r = 0; r < 32; r++)
		if (regs >> r & 1 && regtrack__loc(t, r) == HB_LOC_LOST)
			return false;
	return true;
}
