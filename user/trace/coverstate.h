/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * coverstate.h - when a function need not be probed, as all its calls are inside of others of its codec
 * and operation: the decision alone, out of counters that are read once a second. Pure. What is done
 * about it, and why that cannot go unnoticed when it becomes wrong, is cover.c's.
 */
#ifndef HBPROF_COVERSTATE_H
#define HBPROF_COVERSTATE_H

#include <hbprof/types.h>

#define COVER_ENOUGH  64 /* entries of a look, all of them nested */
#define COVER_PASSED  16 /* hits of guards in a second: they are no guards then */
#define COVER_RECHECK 10 /* seconds after which it is looked at again */

enum cover_state {
	COVER_WATCHED, /* probed, and looked at */
	COVER_LEAVING, /* its entry is off, calls that are open still end */
	COVER_OFF,
	COVER_KEPT, /* probed to the end */
};

enum cover_do {
	COVER_NOTHING,
	COVER_CLOSE_ENTRY,
	COVER_CLOSE_EXITS,
	COVER_LOOK_AGAIN, /* probe it, to see whether it is still so */
	COVER_TAKE_BACK,  /* probe it for good: a call was seen that was not inside (`alone`), or it
			     cannot be guarded */
};

struct cover_func {
	u8 state;     /* enum cover_state */
	bool alone;   /* a call of it was seen that was not inside another */
	u32 seconds;  /* in this state */
	u64 entries;  /* when this look began */
	u64 outside;  /* as last seen */
	u32 nr_looks; /* that have found all calls nested */
};

/* The counters of hb_fn_stat, sums over the CPUs, and what else matters. */
struct cover_seen {
	u64 entries, nested, unknown, dropped, outside;
	u64 passed;  /* hits of guards in the last second */
	bool needed; /* another one learns its payload sizes from it */
};

/* A second has passed. Changes the state; the caller does what is returned. */
enum cover_do cover_step(struct cover_func *c, const struct cover_seen *now);

#endif
