/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tailgraph.h - what may run in the place of a function once that has left by a jump: the targets of
 * its direct jumps out, of theirs, and so on. A call of two functions at the same depth and with the
 * same return address is one tail call only if the second is among those.
 *
 * Which code is where, and what import slots hold, is asked of the caller. An image is a number of
 * the caller's.
 */
#ifndef HBPROF_TAILGRAPH_H
#define HBPROF_TAILGRAPH_H

#include "probe/insn.h"
#include "probe/site.h"

struct tail_place {
	u64 vaddr;
	u32 image;
};

struct tail_source {
	/* The whole function that holds the place. False: it is not known where that begins or ends. */
	bool (*body)(void *arg, const struct tail_place *at, struct code *out);
	/* Where a jump through the word at `slot` leads for good. False: nowhere, or not known. */
	bool (*slot)(void *arg, const struct tail_place *slot, struct tail_place *to);
	void *arg;
};

struct tailgraph;

struct tailgraph *tailgraph__new(const struct tail_source *src); /* NULL: no memory */
void tailgraph__free(struct tailgraph *g);			 /* NULL is fine */
/*
 * cb for the target of each jump that may be made in the place of the function at `from`; one may come
 * twice, and some lie inside their function. *anywhere: an indirect jump is among them, or code that
 * cannot be followed, so that the targets are not all. A cb return other than 0 stops and is returned.
 * 0 or -ENOMEM.
 */
int tailgraph__reach(struct tailgraph *g, const struct tail_place *from,
		     int (*cb)(void *arg, const struct tail_place *to), void *arg, bool *anywhere);

#endif
