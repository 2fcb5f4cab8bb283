// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hotsites.c - return sites that are mostly passed in vain. Where paths join behind a call, or its callee
 * varies, a loop may pass the probe many times for each call that it ends: each turn pays for a
 * hit. Where that costs more than probing the returns of the function would (single-stepped on x86), its
 * exits are seen there instead, and the sites are taken off.
 *
 * Both are measured: the hits in vain are counted by site in the kernel, the costs are the calibration's.
 * The returns are probed, and the function is switched to them, before the sites go: a call that is
 * open meanwhile ends at whichever it meets first, and once. Other functions may return to the same place:
 * its address is forgotten, their next call from there asks for a site again, is counted as 'return
 * site not known', and may find the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/cover.h"
#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "trace/snapshot_impl.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define MIN_COST_PCT 1 /* of one CPU that hits in vain take; less is not worth a change */
#define WORTH	     2 /* times what the returns would cost more */

static bool is_joined(const struct session_site *ss)
{
	return ss->site.role == HB_ROLE_RETSITE && !(ss->site.flags & HB_SITE_PURE) && !ss->off &&
	       !ss->refused;
}

/* By function: what hits in vain have cost since the last look. Guards are cover.c's matter. */
static void count_waste(struct session *s)
{
	const struct hb_cal *cal = &s->skel->bss->cal;

	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];
		u64 hits = s->cover.misses[i] - s->cover.last[i];
		struct hot_waste *w;

		s->cover.last[i] += hits;
		if (!hits || !is_joined(ss) || ss->guard || ss->site.func >= s->plan->nr_funcs)
			continue;
		w = &s->cover.waste[ss->site.func];
		w->hits += hits;
		w->ns += hits * cal->miss_ns[s->plan->func[ss->site.func].f->lang][ss->site.cls];
	}
}

/* How much more its calls of the last interval would have cost with their ends at the returns. */
static int returns_ns(struct session *s, u32 func, u64 *ns)
{
	const struct plan_func *pf = &s->plan->func[func];
	const u32 *pair = s->skel->bss->cal.total_ns[pf->f->lang][pf->entry_class];
	u32 ret = pair[HB_CLASS_STEP], site = pair[HB_CLASS_BRANCH];
	struct hb_fn_stat n;
	int err = session__fn_stat(s, func, &n);

	if (err)
		return err;
	*ns = (n.n[HB_FN_EXITS] - s->cover.last_exits[func]) * (u64)(ret > site ? ret - site : 0);
	s->cover.last_exits[func] = n.n[HB_FN_EXITS];
	return 0;
}

/* Sites of other functions in these groups, of one image, get a link of their own. For a moment they have
 * two: the second hit of a return finds that it has ended its call already. */
static int spare_mates(struct session *s, u32 func, u32 image, const u32 *groups, u32 nr_groups)
{
	u32 *ids = array_alloc((size_t)s->nr_sites + 1, sizeof(*ids)), nr = 0;
	int err = 0;

	if (!ids)
		return -ENOMEM;
	for (u32 i = 0; i < s->nr_sites; i++) {
		struct session_site *ss = &s->site[i];

		if (ss->image != image || ss->site.func == func || !is_joined(ss) ||
		    !cover__is_among(ss->group, groups, nr_groups))
			continue;
		ss->group = ATTACH_KEPT;
		ids[nr++] = i;
	}
	if (nr)
		err = session__probe(s, image, ids, nr);
	for (u32 i = 0; i < s->nr_procs && nr && !err; i++) {
		const struct plan_map *map = plan__map(s->plan, i, image);

		if (!map || !map->probed || session__proc_ended(s, i))
			continue;
		s->proc[i].nr_probes -= nr;
		s->nr_probes -= nr;
	}
	free(ids);
	return err;
}

/* Its joined sites. Addresses first: a call from there asks for a site again. */
static int take_sites_off(struct session *s, u32 func)
{
	u32 groups[COVER_JOINED], nr = 0;
	int err = 0;

	for (u32 i = 0; i < s->nr_sites && !err; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.func != func || !is_joined(ss))
			continue;
		err = session__ra_forget(s, i);
		if (nr < COVER_JOINED && ss->group != ATTACH_KEPT &&
		    !cover__is_among(ss->group, groups, nr))
			groups[nr++] = ss->group;
	}
	for (u32 i = 0; i < s->plan->nr_images && !err; i++)
		err = spare_mates(s, func, i, groups, nr);
	if (!err)
		err = mapped__flush(s);
	if (err)
		return err;
	cover__drop(s, groups, nr);
	/* A handler may have been about to put an address into the cache. */
	return mapped__flush(s);
}

static int judge(struct session *s, u32 func, u64 interval_ns)
{
	const struct hot_waste w = s->cover.waste[func];
	char why[160], hits[32], cost[16];
	u64 other = 0;
	int err;

	err = returns_ns(s, func, &other);
	if (err || w.ns < interval_ns / 100 * MIN_COST_PCT || w.ns < WORTH * other ||
	    s->cover.hot_tried[func])
		return err;
	snprintf(why, sizeof(why),
		 "is called from a hot path that mostly does something else (%s hits of its return "
		 "sites ended no call in the last second and cost %s)",
		 format_count(hits, sizeof(hits), w.hits), format_ns(cost, sizeof(cost), w.ns));
	s->cover.hot_tried[func] = true;
	if (s->plan->func[func].exit_ret || !session__switch_to_ret(s, func, why)) {
		s->cover.hot_switched = true;
		return take_sites_off(s, func);
	}
	log_debug("%s %s; its returns cannot be probed", s->plan->func[func].f->name, why);
	return 0;
}

int hotsites__tick(struct session *s)
{
	u64 now = mono_ns(), last = s->cover.last_ns ? s->cover.last_ns : s->begin_mono_ns;
	int err = 0;

	count_waste(s);
	for (u32 i = 0; i < s->plan->nr_funcs && !err; i++) {
		if (s->cover.waste[i].hits && !cover__is_off(s, i))
			err = judge(s, i, now - last);
		s->cover.waste[i] = (struct hot_waste){0};
	}
	s->cover.last_ns = now;
	return err;
}
