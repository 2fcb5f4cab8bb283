// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cover.c - functions that are always inside of others of their codec and operation are not probed.
 *
 * Such a function has no rows: its calls are part of the outer ones. What it would have had is counters
 * and a cost. So its absence changes no number but those, as long as it stays so; when it is called on its
 * own, calls would be missed. Three things keep that from going unnoticed:
 *
 *   - Only functions whose return sites are all known from the code are left out. Those return sites that do
 *     not lie in a function of the same codec and operation stay probed as guards (HB_SITE_GUARD): nothing
 *     passes them, so they cost nothing; a hit with no call of the codec open is counted, and the
 *     function is probed again, for good.
 *   - Every COVER_RECHECK seconds it is probed for a second and looked at: calls through pointers and
 *     jumps, which have no guard, are found then.
 *   - The report says what was left out, for how long, and what was seen.
 *
 * The entry goes first and the return sites a second later: calls that are open meanwhile end in order.
 */
#include "trace/cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define JOINED_GROUPS 0x80000000u

static u32 entry_group(u32 func)
{
	return 1 + 2 * func;
}

static u32 exits_group(u32 func)
{
	return 2 + 2 * func;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* Are there others of its codec and operation, and not too many? */
static bool has_company(const struct session *s, u32 func)
{
	const struct plan *pl = s->plan;
	u32 nr = 0;

	if (s->cover.keep_all || !strcmp(pl->func[func].f->codec, "probe"))
		return false;
	for (u32 i = 0; i < pl->nr_funcs; i++)
		nr += pl->func[i].group == pl->func[func].group;
	return nr > 1 && nr <= COVER_FUNCS;
}

/* Does the address lie in a function of the same codec and operation as `func`? */
static bool is_inside(const struct session *s, u32 func, u32 image, u64 vaddr)
{
	const struct plan *pl = s->plan;

	for (u32 i = 0; i < pl->nr_funcs; i++) {
		const struct plan_func *pf = &pl->func[i];

		if (pf->group == pl->func[func].group && pf->image == image &&
		    vaddr - pf->f->vaddr < pf->f->size)
			return true;
	}
	return false;
}

u32 cover__group(struct session *s, u32 image, const struct site *site)
{
	u32 func = site->func;

	if (site->role == HB_ROLE_RETSITE && !(site->flags & HB_SITE_PURE))
		return JOINED_GROUPS | s->cover.nr_joined++ % COVER_JOINED;
	if (func >= s->plan->nr_funcs || !has_company(s, func))
		return ATTACH_KEPT;
	if (site->role == HB_ROLE_ENTRY)
		return entry_group(func);
	if (site->role == HB_ROLE_RET ||
	    (site->role == HB_ROLE_RETSITE && is_inside(s, func, image, site->ra)))
		return exits_group(func);
	return ATTACH_KEPT;
}

bool cover__is_among(u32 group, const u32 *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (groups[i] == group)
			return true;
	return false;
}

void cover__drop(struct session *s, const u32 *groups, size_t nr)
{
	struct attach all = {.kind = s->kind, .prog_fd = -1};

	for (u32 i = 0; i < s->nr_procs; i++) {
		struct session_proc *sp = &s->proc[i];
		u32 gone = 0;

		attach__move(&all, &sp->links, groups, nr);
		for (u32 k = 0; k < s->nr_sites && !session__proc_ended(s, i); k++) {
			const struct session_site *ss = &s->site[k];
			const struct plan_map *map;

			if (ss->off || ss->refused || !cover__is_among(ss->group, groups, nr))
				continue;
			map = plan__map(s->plan, i, ss->image);
			gone += map && map->probed;
		}
		sp->nr_probes -= gone;
		s->nr_probes -= gone;
	}
	for (u32 k = 0; k < s->nr_sites; k++)
		if (cover__is_among(s->site[k].group, groups, nr))
			s->site[k].off = true;
	attach__fini(&all);
}

/* ---- one function ------------------------------------------------------------------------- */

static bool returns_from(const struct session_site *ss, u32 func)
{
	return ss->site.role == HB_ROLE_RETSITE && ss->site.func == func && !ss->refused;
}

/* Is all that leads to it known, and can its probes be taken off alone? */
static bool may_leave(const struct session *s, u32 func)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.func != func || ss->image == s->max_images)
			continue;
		/* Called through a pointer, or its entry was known before it had company. */
		if (returns_from(ss, func) && ss->found)
			return false;
		if (ss->site.role == HB_ROLE_ENTRY && (ss->refused || ss->group == ATTACH_KEPT))
			return false;
	}
	return true;
}

/* A jump out of it may end in a call that returns to its own return sites: then these stay. */
static bool keeps_exits(const struct session *s, u32 func)
{
	return s->plan->func[func].tails;
}

/* Its return sites elsewhere become guards, or are none any more. */
static int set_guards(struct session *s, u32 func, bool on)
{
	int err = 0;

	for (u32 i = 0; i < s->nr_sites && !err; i++) {
		const struct session_site *ss = &s->site[i];

		if (returns_from(ss, func) && !is_inside(s, func, ss->image, ss->site.ra))
			err = session__site_guard(s, i, on);
	}
	return err;
}

/* Joined sites inside of its company that are in no group with another function's. */
static u32 own_joined(const struct session *s, u32 func, u32 *groups, u32 max)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr_sites && nr < max; i++) {
		const struct session_site *ss = &s->site[i];
		bool own = (ss->group & JOINED_GROUPS) && returns_from(ss, func) && !ss->off &&
			   is_inside(s, func, ss->image, ss->site.ra);

		for (u32 k = 0; k < s->nr_sites && own; k++)
			own = s->site[k].group != ss->group || s->site[k].site.func == func;
		if (own)
			groups[nr++] = ss->group;
	}
	return nr;
}

static int close_entry(struct session *s, u32 func)
{
	u32 group = entry_group(func);
	int err = set_guards(s, func, true);

	if (err)
		return err;
	cover__drop(s, &group, 1);
	s->cover.slot[func].off_since_ns = mono_ns();
	return 0;
}

static int close_exits(struct session *s, u32 func)
{
	u32 groups[COVER_JOINED + 1] = {exits_group(func)}, nr;

	if (keeps_exits(s, func))
		return 0;
	nr = 1 + own_joined(s, func, groups + 1, COVER_JOINED);
	cover__drop(s, groups, nr);
	return 0;
}

/* What is off of its sites. The guards stay until it is probed: a call in between is one too many. */
static int open_again(struct session *s, u32 func)
{
	struct cover_slot *c = &s->cover.slot[func];
	u32 *ids = array_alloc((size_t)s->nr_sites + 1, sizeof(*ids));
	int err = ids ? 0 : -ENOMEM;

	for (u32 image = 0; image < s->plan->nr_images && !err; image++) {
		size_t nr = 0;

		for (u32 i = 0; i < s->nr_sites; i++) {
			struct session_site *ss = &s->site[i];

			if (ss->image != image || ss->site.func != func || !ss->off)
				continue;
			ss->off = false;
			ids[nr++] = i;
		}
		if (nr)
			err = session__probe(s, image, ids, nr);
	}
	free(ids);
	if (!err)
		err = set_guards(s, func, false);
	c->off_ns += mono_ns() - c->off_since_ns;
	c->off_since_ns = 0;
	return err;
}

/* ---- each second -------------------------------------------------------------------------- */

static void say_left_out(struct session *s, u32 func)
{
	const struct func *f = s->plan->func[func].f;
	struct cover_slot *c = &s->cover.slot[func];

	if (c->said)
		return;
	c->said = true;
	log_info("%s is not probed any more: all its calls are inside of other calls of %s %s",
		 f->name, f->codec, f->op);
}

static void say_alone(struct session *s, u32 func, u64 returned)
{
	const struct func *f = s->plan->func[func].f;
	char off[16], nr[32];

	format_ns(off, sizeof(off), s->cover.slot[func].off_ns);
	if (returned)
		session__warn(
			s,
			"%s was not probed for %s, as all its calls had been inside of others "
			"of %s %s; then up to %s were not: these are not in the numbers, and it "
			"is probed since",
			f->name, off, f->codec, f->op, format_count(nr, sizeof(nr), returned));
	else
		session__warn(
			s,
			"%s was not probed for %s, as all its calls had been inside of others "
			"of %s %s; when it was looked at again, it was called on its own: such "
			"calls may be missing until then (--functions probes all, always)",
			f->name, off, f->codec, f->op);
}

static bool has_size(const struct session *s, u32 func)
{
	const struct func *f = s->plan->func[func].f;

	return f->size_in.kind != HB_VALUE_NONE || f->size_out.kind != HB_VALUE_NONE;
}

/* Is there one that has calls of its own, and learns their sizes from those inside? */
static int is_needed(struct session *s, u32 func, bool *needed)
{
	*needed = false;
	for (u32 i = 0; i < s->plan->nr_funcs && has_size(s, func); i++) {
		struct hb_fn_stat n;
		int err;

		if (s->plan->func[i].group != s->plan->func[func].group || has_size(s, i))
			continue;
		err = session__fn_stat(s, i, &n);
		if (err)
			return err;
		if (n.n[HB_FN_ENTRIES] > n.n[HB_FN_NESTED])
			*needed = true;
	}
	return 0;
}

/* Handlers run meanwhile: one may have counted an entry, and not yet that it is nested. */
static int look(struct session *s, u32 func, struct cover_seen *seen)
{
	struct hb_fn_stat n;
	int err = 0;

	for (int tries = 0; tries < 4; tries++) {
		err = session__fn_stat(s, func, &n);
		if (err || n.n[HB_FN_ENTRIES] == n.n[HB_FN_NESTED])
			break;
	}
	*seen = (struct cover_seen){.entries = n.n[HB_FN_ENTRIES],
				    .nested = n.n[HB_FN_NESTED],
				    .unknown = n.n[HB_FN_UNKNOWN],
				    .dropped = n.n[HB_FN_DROPPED],
				    .outside = n.outside};
	return err ? err : is_needed(s, func, &seen->needed);
}

/* Guards that are passed all the time are not where nothing passes: something lies between. */
static u64 guards_passed(const struct session *s, u32 func)
{
	u64 nr = 0;

	for (u32 i = 0; i < s->nr_sites && s->cover.misses; i++)
		if (s->site[i].guard && s->site[i].site.func == func)
			nr += s->cover.misses[i] - s->cover.last[i];
	return nr;
}

static int take_back(struct session *s, u32 func, u64 outside)
{
	struct hb_fn_stat n;
	int err = open_again(s, func);

	if (!err)
		err = session__fn_stat(s, func, &n);
	if (!err && s->cover.slot[func].state.alone)
		say_alone(s, func, n.outside - outside);
	return err;
}

/* outside: what was known of it a second ago. */
static int act(struct session *s, u32 func, enum cover_do what, u64 outside)
{

	switch (what) {
	case COVER_CLOSE_ENTRY:
		return close_entry(s, func);
	case COVER_CLOSE_EXITS:
		say_left_out(s, func);
		return close_exits(s, func);
	case COVER_LOOK_AGAIN:
		return open_again(s, func);
	case COVER_TAKE_BACK:
		return take_back(s, func, outside);
	default:
		return 0;
	}
}

static int step(struct session *s, u32 func)
{
	struct cover_slot *c = &s->cover.slot[func];
	u64 outside = c->state.outside;
	struct cover_seen seen;
	enum cover_do what;
	int err;

	err = look(s, func, &seen);
	if (err)
		return err;
	if (c->state.state == COVER_WATCHED && (!has_company(s, func) || !may_leave(s, func))) {
		c->state.state = COVER_KEPT;
		c->state.alone = seen.entries != seen.nested;
		if (c->off_ns && c->state.alone)
			say_alone(s, func, 0);
		return 0;
	}
	seen.passed = guards_passed(s, func);
	what = cover_step(&c->state, &seen);
	if (what == COVER_NOTHING && c->state.alone && c->off_ns)
		say_alone(s, func, 0);
	return act(s, func, what, outside);
}

int cover__tick(struct session *s)
{
	int err = 0;

	for (u32 i = 0; i < s->plan->nr_funcs && !err; i++)
		if (s->cover.slot[i].state.state != COVER_KEPT)
			err = step(s, i);
	return err;
}

bool cover__is_off(const struct session *s, u32 func)
{
	return s->cover.slot[func].off_since_ns;
}

u64 cover__off_ns(const struct session *s, u32 func, u64 now)
{
	const struct cover_slot *c = &s->cover.slot[func];

	return c->off_ns + (c->off_since_ns ? now - c->off_since_ns : 0);
}

/* ---- life --------------------------------------------------------------------------------- */

int cover__init(struct session *s, bool keep_all)
{
	struct cover *c = &s->cover;
	size_t len = (size_t)s->max_sites * sizeof(u64);
	void *p;

	c->keep_all = keep_all;
	c->slot = array_alloc(s->max_funcs, sizeof(*c->slot));
	c->last_exits = array_alloc(s->max_funcs, sizeof(*c->last_exits));
	c->hot_tried = array_alloc(s->max_funcs, sizeof(*c->hot_tried));
	c->last = array_alloc(s->max_sites, sizeof(*c->last));
	c->waste = array_alloc(s->max_funcs, sizeof(*c->waste));
	if (!c->slot || !c->last_exits || !c->hot_tried || !c->last || !c->waste)
		return -ENOMEM;
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, bpf_map__fd(s->skel->maps.site_misses), 0);
	if (p == MAP_FAILED)
		return -errno;
	c->misses = p;
	return 0;
}

void cover__fini(struct session *s)
{
	struct cover *c = &s->cover;

	if (c->misses)
		munmap(c->misses, (size_t)s->max_sites * sizeof(u64));
	free(c->slot);
	free(c->last_exits);
	free(c->hot_tried);
	free(c->waste);
	free(c->last);
}
