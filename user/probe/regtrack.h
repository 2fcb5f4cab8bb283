/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regtrack.h - where the registers of a call boundary are some instructions later: SP's movement,
 * copies to other registers, spills to the stack. Straight-line code only. Doubt means lost.
 */
#ifndef HBPROF_REGTRACK_H
#define HBPROF_REGTRACK_H

#include "probe/insn.h"

#define REGTRACK_SLOTS 4 /* copies of one register on the stack that are remembered */

struct regtrack {
	u32 in[HB_LOC_NR]; /* bit per register that holds the boundary's register r */
	s32 slot[HB_LOC_NR][REGTRACK_SLOTS]; /* from the boundary's SP */
	u8 nr_slots[HB_LOC_NR];
	u32 read_regs; /* those that count as places: insn_ops.read_regs */
	u8 sp_reg;
	s32 sp; /* SP now - SP at the boundary */
};

/* All registers are where they are; SP is never followed: its value is what sp is for. */
void regtrack__init(struct regtrack *t, const struct insn_ops *ops);
/* Over one instruction. False: SP is not known after it, the tracking is over. */
bool regtrack__step(struct regtrack *t, const struct insn *in);
/* As hb_site.loc: a register, HB_LOC_STACK + n, or HB_LOC_LOST. */
s16 regtrack__loc(const struct regtrack *t, unsigned int r);
/* True if none of these registers (bit mask) is lost; numbers that are not tracked are. */
bool regtrack__has(const struct regtrack *t, u32 regs);

#endif
