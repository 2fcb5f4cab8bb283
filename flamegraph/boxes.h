/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * boxes.h - where each node of a tree lies in the picture, in units of its weight. Pixels, colours
 * and text are left to others.
 *
 * Siblings lie side by side from their parent's left edge, in the order of their names' bytes. A
 * node that is left out takes its subtree with it; what it would have covered is the free space at
 * its parent's right edge, as is what the parent has of its own.
 */
#ifndef HBPROF_BOXES_H
#define HBPROF_BOXES_H

#include "flamegraph/tree.h"

struct flame_cut {
	u64 min_weight;	 /* narrower nodes are left out; 0: those without width */
	u32 max_depth;	 /* of frames, the root not counted; 0: all */
	bool everything; /* nodes without width as well, whatever min_weight says */
};

struct flame_box {
	u32 node;
	u32 depth; /* 0: the root */
	u64 x;	   /* its width is the node's total[FLAME_WIDTH] */
};

struct flame_boxes {
	struct flame_box *box; /* depth first: a subtree is contiguous behind its root */
	u32 nr;
	u32 depth;     /* of the deepest box */
	u32 nr_narrow; /* nodes with a width that were left out: too narrow */
	u32 nr_deep;   /* too deep */
};

/* Of a tree that was summed. 0 or -ENOMEM. flame_boxes__fini() them. */
int flame_boxes__init(struct flame_boxes *b, const struct flame_tree *t,
		      const struct flame_cut *cut);
void flame_boxes__fini(struct flame_boxes *b);

#endif
