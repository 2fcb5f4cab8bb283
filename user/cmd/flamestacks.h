/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flamestacks.h - the CPU stacks of a capture as a tree to draw: between model/ and flamegraph/, which
 * know nothing of each other. Part of `hbprof flamegraph`. */
#ifndef HBPROF_FLAMESTACKS_H
#define HBPROF_FLAMESTACKS_H

#include "flamegraph/tree.h"
#include "model/model.h"

#define FLAMESTACKS_NO_CALL "[no codec call]"
#define FLAMESTACKS_UNKEPT  "[no room for the stack]"

struct flamestacks_opts {
	enum flame_weight weight;
	bool reverse;  /* the innermost frame next to the root */
	bool by_codec; /* what was called, or FLAMESTACKS_NO_CALL, next to the root */
};

/*
 * Adds all stacks. Names are as in folded stacks: a semicolon in one, as in Go's struct types, becomes
 * a colon. 0, -ENOMEM, -EOVERFLOW; *left_out samples were of stacks that the tree's limits refused.
 */
int flamestacks__add(const struct recording *r, const struct flamestacks_opts *o,
		     struct flame_tree *tree, u64 *left_out);

#endif
