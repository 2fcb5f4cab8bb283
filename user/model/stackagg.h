/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stackagg.h - equal stacks together: counts by (frames, tag). Frames are numbers that mean something
 * to the caller; names come at the end. Memory is bounded: a stack for which there is no room any
 * more is counted without its frames, under its tag, and in nr_overflow.
 */
#ifndef HBPROF_STACKAGG_H
#define HBPROF_STACKAGG_H

#include "model/model.h"

struct stackagg_limits {
	u32 max_stacks;
	u32 max_frames; /* different ones */
	u32 max_refs;	/* frames of all different stacks together */
};
extern const struct stackagg_limits stackagg_default_limits; /* 5 MB when full */

struct stackagg_stack {
	u64 count;
	u32 func; /* the tag; M_NO_FUNC: none */
	u32 target;
	u32 first, nr; /* in ref[] */
};

struct stackagg {
	struct stackagg_limits max;
	u64 *frame; /* the different ones */
	u32 nr_frames;
	u32 *ref; /* indices into frame */
	u32 nr_refs;
	struct stackagg_stack *stack;
	u32 nr_stacks;
	u64 samples, nr_overflow;
	/* capacities, and hash tables of index + 1 */
	size_t cap_frames, cap_refs, cap_stacks;
	u32 *frame_slot, *stack_slot;
	u32 nr_frame_slots, nr_stack_slots;
};

void stackagg__init(struct stackagg *a, const struct stackagg_limits *max); /* NULL: the default */
void stackagg__fini(struct stackagg *a);

/* Adds a stack of nr frames, in the order that the caller uses for all. 0 or -ENOMEM: not added. */
int stackagg__add(struct stackagg *a, const u64 *frame, u32 nr, u32 func, u32 target, u64 count);

/*
 * The stacks by name, into the lists of out: name[i] is that of a->frame[i]. Stacks whose names are
 * equal become one; they are sorted by frames, then by tag, so that the same samples make the same
 * capture. 0 or -ENOMEM; what is in out then is for m_stacks__fini().
 */
int stackagg__name(const struct stackagg *a, char *const *name, struct m_stacks *out);

#endif
