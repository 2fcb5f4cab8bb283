/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cover.h - the covering set: of the functions of a codec and operation, those stay probed that are
 * needed to see each call once. And return sites that are passed in vain (hotsites.c). Both take probes
 * off before the end; which sites go together is decided when they are given to the kernel.
 *
 *   entry, exits of a function   if its codec and operation has others: its entry; its RET sites, and
 *                                return sites that only its return leads to, inside of functions of the
 *                                same codec and operation
 *   joined return sites          each its own group, up to COVER_JOINED of them: paths meet there, or
 *                                the callee varies, so a loop may pass it without a call
 *   everything else              ATTACH_KEPT, one link a file
 */
#ifndef HBPROF_COVER_H
#define HBPROF_COVER_H

#include "probe/site.h"
#include "trace/coverstate.h"

struct session;

#define COVER_FUNCS  64 /* of a codec and operation; generated methods of all types are more */
#define COVER_JOINED 64 /* groups; with more sites than that, several share one */

/* Of one function. */
struct cover_slot {
	struct cover_func state;
	u64 off_since_ns, off_ns;
	bool said;
};

/* What hits in vain of a function's return sites have cost. */
struct hot_waste {
	u64 hits, ns;
};

struct cover {
	bool keep_all;		 /* --functions */
	struct cover_slot *slot; /* by function */
	u32 nr_joined;		 /* groups given away */
	u64 *misses;		 /* bpf: site_misses, by site; NULL: not mapped */
	u64 *last;		 /* what was there a second ago */
	u64 last_ns;
	struct hot_waste *waste; /* by function, of one look */
	u64 *last_exits;	 /* by function, likewise */
	bool *hot_tried;	 /* by function: it is followed by its returns, or cannot be */
	bool hot_switched;	 /* one of them is */
};

int cover__init(struct session *s, bool keep_all);
void cover__fini(struct session *s);
/* The group that a site is attached in. */
u32 cover__group(struct session *s, u32 image, const struct site *site);
/* Once a second. 0 or -errno. */
int cover__tick(struct session *s);
int hotsites__tick(struct session *s);
/* Is its entry not probed at the moment? */
bool cover__is_off(const struct session *s, u32 func);
/* For how long a function's probes have been off; 0: never. */
u64 cover__off_ns(const struct session *s, u32 func, u64 now);
bool cover__is_among(u32 group, const u32 *groups, size_t nr);
/* Takes all sites of these groups off, in all processes, and marks them. */
void cover__drop(struct session *s, const u32 *groups, size_t nr);

#endif
