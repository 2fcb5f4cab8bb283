/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree.h - stacks of any source, merged into a tree: what a flame graph is drawn from.
 *
 * Equal paths are one node and equal names one string: memory follows the tree, not the length of
 * the input. Each node has two weights. The first is the width of the picture; the second, if there
 * is one, its colour: the base of a differential graph, or another dimension of the same stacks.
 *
 *	flame_tree__new(NULL, &t);
 *	flame_tree__add(t, frames, nr, FLAME_WIDTH, count);	for each stack
 *	flame_tree__sum(t);					before drawing
 */
#ifndef HBPROF_TREE_H
#define HBPROF_TREE_H

#include <stddef.h>

#include <hbprof/types.h>

#define FLAME_NONE (~0u)

enum flame_weight { FLAME_WIDTH, FLAME_COLOR, FLAME_WEIGHTS };

struct flame_limits {
	u32 max_depth;	  /* frames of a stack */
	u32 max_nodes;	  /* of the tree, the root included */
	size_t max_names; /* bytes of all different names together */
};
extern const struct flame_limits flame_default_limits;

struct flame_node {
	u32 name;   /* see flame_tree__name() */
	u32 parent; /* FLAME_NONE for the root */
	/* First child, next sibling, in the order of their numbers; FLAME_NONE: none, and before
	 * flame_tree__sum(). */
	u32 child, next;
};

struct flame_index;
struct flame_tree {
	struct flame_node *node; /* [0] is the root; a parent comes before its children */
	u32 nr_nodes;
	u32 depth;		   /* of the deepest stack */
	u64 sum[FLAME_WEIGHTS];	   /* of all stacks */
	u64 *self[FLAME_WEIGHTS];  /* by node: what ends there */
	u64 *total[FLAME_WEIGHTS]; /* that and all below; NULL before flame_tree__sum() */
	struct flame_limits limits;
	struct flame_index *index;
};

struct flame_frame {
	const char *name; /* need not be terminated; no 0 bytes in it */
	size_t len;
};

/* 0 or -ENOMEM. limits NULL: the default ones. The caller's; flame_tree__free() it. */
int flame_tree__new(const struct flame_limits *limits, struct flame_tree **out);
void flame_tree__free(struct flame_tree *t); /* NULL is fine */

/*
 * Adds a stack, the frame that is to be next to the root first. 0 or -ENOMEM; -E2BIG: deeper than
 * the limit; -ENOSPC: needs more nodes or names than the limits allow; -EOVERFLOW: the sum of all
 * counts is above u64. A stack that does not fit leaves nothing behind.
 */
int flame_tree__add(struct flame_tree *t, const struct flame_frame *frames, u32 nr,
		    enum flame_weight weight, u64 count);

/*
 * The same in two steps, for a reader that knows the beginning of the path already. _walk finds or
 * makes the nodes of `frames` below `at` and writes their numbers to path[0..nr-1]; it does not look
 * at max_depth. _count adds to a node that is `depth` frames deep.
 */
int flame_tree__walk(struct flame_tree *t, u32 at, const struct flame_frame *frames, u32 nr,
		     u32 *path);
int flame_tree__count(struct flame_tree *t, u32 node, u32 depth, enum flame_weight weight,
		      u64 count);

/* Computes total[], child and next anew. 0 or -ENOMEM. */
int flame_tree__sum(struct flame_tree *t);

/* The name of a node, terminated; "" for the root. Valid until the next addition. */
const char *flame_tree__name(const struct flame_tree *t, u32 node);

#endif
