// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session_attach.c - sites into processes. What the kernel knows of a site is the same for every
 * process that maps its file; where it is probed is not: each process has links of its own, and one
 * that runs the same file and is no target never traps.
 *
 * A return address inside a function's image is known for all processes at once. So a process is
 * measured only when all sites of its images are probed in it, and a site that is found later is probed
 * in all of them before its address is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/requests.h"
#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

u8 session__site_lang(const struct session *s, u32 image, const struct site *site)
{
	if (site->role == HB_ROLE_LONGJMP || site->role == HB_ROLE_CATCH ||
	    site->role == HB_ROLE_SWITCH || site->role == HB_ROLE_LOADED)
		return HB_LANG_NATIVE;
	if (site->func != SITE_NO_FUNC && site->role != HB_ROLE_RECOVER &&
	    site->role != HB_ROLE_PANIC && site->role != HB_ROLE_STOP)
		return s->plan->func[site->func].f->lang;
	return s->plan->image[image].build ? HB_LANG_GO : HB_LANG_NATIVE;
}

/* May one more be probed, after n that are about to be? */
static bool room_for_probe(struct session *s, size_t n)
{
	if (!s->max_probes || s->nr_probes + n < s->max_probes)
		return true;
	if (!s->said_full)
		session__warn(s,
			      "%u sites are probed and no more (--max-sites): calls from return "
			      "sites found later are counted as 'return site not known'",
			      s->max_probes);
	s->said_full = true;
	return false;
}

/* ---- one process -------------------------------------------------------------------------- */

/* What is put together for one link. */
struct link_batch {
	struct attach_probe *p;
	u32 *id; /* of p[] */
	size_t nr;
	u32 nr_differ; /* not in it: sites that are probed elsewhere and cannot be here */
	struct code_page page;
};

static void batch__free(struct link_batch *b)
{
	if (!b)
		return;
	free(b->p);
	free(b->id);
	free(b);
}

static struct link_batch *batch__new(size_t nr)
{
	struct link_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->p = array_alloc(nr + 1, sizeof(*b->p));
	b->id = array_alloc(nr + 1, sizeof(*b->id));
	if (b->p && b->id)
		return b;
	batch__free(b);
	return NULL;
}

static void batch__add(struct session *s, u32 proc, u32 id, struct link_batch *b)
{
	struct session_site *ss = &s->site[id];
	const struct plan_image *pi = &s->plan->image[ss->image];
	u64 off;

	if (ss->refused || ss->off)
		return;
	if (!room_for_probe(s, b->nr) ||
	    !session__site_intact(s, proc, ss->image, &ss->site, &b->page) ||
	    image__off(pi->im, ss->site.vaddr, &off)) {
		b->nr_differ += ss->nr_probed > 0;
		if (ss->nr_probed)
			return;
		ss->refused = ss->differs = true;
		s->sites_refused++;
		return;
	}
	b->id[b->nr] = id;
	b->p[b->nr].off = off;
	b->p[b->nr].group = ss->group;
	b->p[b->nr++].cookie = HB_COOKIE(id, ss->site.role,
					 session__site_lang(s, ss->image, &ss->site));
}

static int batch__attach(struct session *s, u32 proc, u32 image, struct link_batch *b)
{
	const struct plan_image *pi = &s->plan->image[image];
	struct session_proc *sp = &s->proc[proc];
	size_t refused = 0, links = sp->links.nr_links;
	int err = 0;

	if (b->nr)
		err = attach__add(&sp->links, pi->im->fd, s->plan->proc[proc].proc->pid, b->p,
				  b->nr, &refused);
	if (err)
		return err;
	s->nr_links += sp->links.nr_links - links;
	sp->nr_probes += b->nr - refused;
	s->nr_probes += b->nr - refused;
	s->all_probes += b->nr - refused;
	for (size_t i = 0; i < b->nr; i++) {
		struct session_site *ss = &s->site[b->id[i]];

		if (!b->p[i].refused) {
			ss->nr_probed++;
		} else if (!ss->refused) {
			ss->refused = true;
			s->sites_refused++;
		}
	}
	return 0;
}

struct in_order {
	u32 id, group;
	bool exit;
};

/* Entries first, and each group together: see site_order(). */
static int cmp_in_order(const void *a, const void *b)
{
	const struct in_order *x = a, *y = b;

	if (x->exit != y->exit)
		return x->exit - y->exit;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int batch__fill(struct session *s, u32 proc, const u32 *ids, size_t nr, struct link_batch *b)
{
	struct in_order *v = array_alloc(nr + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		v[i] = (struct in_order){ids[i], s->site[ids[i]].group,
					 s->site[ids[i]].site.role != HB_ROLE_ENTRY};
	qsort(v, nr, sizeof(*v), cmp_in_order);
	for (size_t i = 0; i < nr; i++)
		batch__add(s, proc, v[i].id, b);
	free(v);
	return 0;
}

/* Probes sites of one image in one process. -ESTALE: the file has changed, or a site that is probed
 * elsewhere is other code here. */
static int probe_in(struct session *s, u32 proc, u32 image, const u32 *ids, size_t nr)
{
	const struct plan_image *pi = &s->plan->image[image];
	struct link_batch *b;
	int err;

	if (!image__unchanged(pi->im)) {
		log_err("%s has changed since the process mapped it; it is not probed", pi->path);
		return -ESTALE;
	}
	b = batch__new(nr);
	if (!b)
		return -ENOMEM;
	err = batch__fill(s, proc, ids, nr, b);
	if (!err)
		err = b->nr_differ ? -ESTALE : batch__attach(s, proc, image, b);
	batch__free(b);
	return err;
}

/* ---- one image ---------------------------------------------------------------------------- */

/* Entries first: of two probes at one offset the later one fires first, and exits must. */
static int site_order(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int ex = x->role != HB_ROLE_ENTRY, ey = y->role != HB_ROLE_ENTRY;

	return ex != ey ? ex - ey : (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static void warn_refused(struct session *s, const struct site *site, bool differs)
{
	if (site->role == HB_ROLE_ENTRY && differs)
		session__warn(
			s,
			"%s is not measured: its code in memory differs from that in %s (changed "
			"by the process itself, or by another tool?)",
			s->plan->func[site->func].f->name,
			s->plan->image[s->plan->func[site->func].image].path);
	else if (site->role == HB_ROLE_ENTRY)
		session__warn(s, "%s is not measured: the kernel refused the probe on its entry",
			      s->plan->func[site->func].f->name);
	else if (site->role == HB_ROLE_GO)
		session__warn(s,
			      "work handed to goroutines is not followed: where they are started "
			      "cannot be probed");
	else if (site->role == HB_ROLE_RET)
		session__warn(s,
			      "%s: a return of it cannot be probed; calls that end there count as "
			      "abandoned",
			      s->plan->func[site->func].f->name);
}

/* Return addresses with a probe are known, inside the function's own image by vaddr. */
static int settle_image_ras(struct session *s, u32 first, u32 nr)
{
	struct hb_ra_key *key = array_alloc(nr + 1, sizeof(*key));
	u32 *state = array_alloc(nr + 1, sizeof(*state)), n = 0;
	int err = -ENOMEM;

	for (u32 i = first; key && state && i < first + nr; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.role != HB_ROLE_RETSITE)
			continue;
		key[n] = (struct hb_ra_key){
			.where = ss->site.ra, .owner = ss->image, .space = HB_RA_IMAGE};
		state[n++] = ss->refused ? HB_RA_REFUSED : HB_RA_ATTACHED;
	}
	if (key && state)
		err = map_put_batch(s->skel->maps.ras, key, state, n);
	free(key);
	free(state);
	return err;
}

/* Those of functions of other images are looked up by process and address. */
static int settle_proc_ras(struct session *s, u32 proc, u32 image, u32 first)
{
	const struct plan_map *map = plan__map(s->plan, proc, image);
	int err = 0;

	for (u32 i = first; i < s->nr_sites && !err; i++) {
		const struct session_site *ss = &s->site[i];
		u32 func = ss->site.func;
		struct hb_ra_key key = {
			.where = ss->site.ra + map->bias, .owner = proc, .space = HB_RA_PROCESS};

		if (ss->image != image || ss->site.role != HB_ROLE_RETSITE ||
		    func >= s->plan->nr_funcs || s->plan->func[func].image == image)
			continue;
		err = session__ra_set(s, &key, ss->refused ? HB_RA_REFUSED : HB_RA_ATTACHED);
	}
	return err;
}

/* The kernel's ids of the sites of an image, in the order in which they are to be probed. */
static int ids_of_image(const struct session *s, u32 image, u32 **out, size_t *nr)
{
	size_t n = 0;

	for (u32 i = 0; i < s->nr_sites; i++)
		n += s->site[i].image == image;
	*out = array_alloc(n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	*nr = 0;
	for (u32 i = 0; i < s->nr_sites; i++)
		if (s->site[i].image == image)
			(*out)[(*nr)++] = i;
	return 0;
}

int session__probe(struct session *s, u32 image, const u32 *ids, size_t nr)
{
	int err = 0;

	for (u32 i = 0; i < s->nr_procs && !err; i++) {
		const struct plan_map *map = plan__map(s->plan, i, image);

		if (!map || !map->probed || session__proc_ended(s, i))
			continue;
		err = probe_in(s, i, image, ids, nr);
		if (err == -ESRCH)
			err = 0; /* its end is noticed elsewhere */
	}
	return err;
}

/* A return site of several functions is one: it may be there for another function, or have been found. */
static bool is_given(const struct session *s, u32 image, const struct site *site)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (site->role == HB_ROLE_RETSITE && ss->site.role == HB_ROLE_RETSITE &&
		    ss->image == image && ss->site.ra == site->ra)
			return true;
	}
	return false;
}

static void drop_given(const struct session *s, u32 image)
{
	struct site_list *l = &s->plan->image[image].sites;
	size_t nr = s->given[image];
	bool any = false;

	for (u32 i = 0; i < s->nr_sites && !any; i++)
		any = s->site[i].image == image;
	if (!any)
		return;
	for (size_t i = s->given[image]; i < l->nr; i++)
		if (!is_given(s, image, &l->v[i]))
			l->v[nr++] = l->v[i];
	l->nr = nr;
}

/* The plan's sites that the kernel does not have yet; processes that have the image get them too. */
static int give_sites(struct session *s, u32 image)
{
	struct plan_image *pi = &s->plan->image[image];
	struct site_list l;
	u32 *ids;
	int err;

	drop_given(s, image);
	if (pi->sites.nr == s->given[image])
		return 0;
	l = (struct site_list){.v = pi->sites.v + s->given[image],
			       .nr = pi->sites.nr - s->given[image]};
	qsort(l.v, l.nr, sizeof(*l.v), site_order);
	ids = array_alloc(l.nr, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	err = session__sites_add(s, image, &l, ids);
	if (!err) {
		s->given[image] = pi->sites.nr;
		err = session__probe(s, image, ids, l.nr);
	}
	free(ids);
	return err;
}

static int attach_whole(struct session *s, u32 proc, struct plan_map *map)
{
	u32 *ids = NULL;
	size_t nr;
	int err = ids_of_image(s, map->image, &ids, &nr);

	if (!err && nr)
		err = probe_in(s, proc, map->image, ids, nr);
	if (!err) {
		map->probed = true;
		err = settle_proc_ras(s, proc, map->image, 0);
	}
	free(ids);
	return err;
}

/* Sites from `first` on are new in all other processes that have the image. */
static int settle_others(struct session *s, u32 proc, u32 image, u32 first)
{
	int err = 0;

	for (u32 i = 0; i < s->nr_procs && !err; i++) {
		const struct plan_map *map = plan__map(s->plan, i, image);

		if (map && map->probed && i != proc && !session__proc_ended(s, i))
			err = settle_proc_ras(s, i, image, first);
	}
	return err;
}

int session__attach_image(struct session *s, u32 proc, struct plan_map *map)
{
	u32 image = map->image, first = s->nr_sites, given;
	bool known = map->probed;
	int err = give_sites(s, image);

	given = s->nr_sites - first;
	if (!err && !known)
		err = attach_whole(s, proc, map);
	if (!err && given)
		err = settle_image_ras(s, first, given);
	if (!err && given)
		err = settle_others(s, known ? SESSION_NO_PROC : proc, image, first);
	for (u32 i = first; i < first + given && !err; i++)
		if (s->site[i].refused)
			warn_refused(s, &s->site[i].site, s->site[i].differs);
	return err;
}

/* How many probes a process takes: it is measured with all of them, or not at all. */
static u32 probes_wanted(const struct session *s, u32 proc)
{
	const struct plan_proc *pp = &s->plan->proc[proc];
	u32 n = 0;

	for (u32 i = 0; i < pp->nr_maps; i++) {
		u32 image = pp->map[i].image;

		if (pp->map[i].probed)
			continue;
		n += s->plan->image[image].sites.nr - s->given[image];
		for (u32 k = 0; k < s->nr_sites; k++)
			n += s->site[k].image == image && !s->site[k].refused && !s->site[k].off;
	}
	return n;
}

int session__attach_proc(struct session *s, u32 proc)
{
	struct plan_proc *pp = &s->plan->proc[proc];
	int err = 0;

	if (proc && s->max_probes && s->nr_probes + probes_wanted(s, proc) > s->max_probes)
		return -ENOSPC;
	for (u32 i = 0; i < pp->nr_maps && !err; i++) {
		u32 image = pp->map[i].image;

		if (!pp->map[i].probed || s->plan->image[image].sites.nr > s->given[image])
			err = session__attach_image(s, proc, &pp->map[i]);
	}
	if (err && !proc__alive(pp->proc))
		err = -ESRCH;
	return err;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* -ENODATA if not one function's calls will be seen. */
static int check_entries(const struct session *s)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.role == HB_ROLE_ENTRY && ss->image != s->max_images &&
		    ss->site.func != SITE_NO_FUNC && !ss->refused)
			return 0;
	}
	return -ENODATA;
}

static void say_warnings(const struct session *s)
{
	for (u32 i = 0; i < s->rec->nr_warnings; i++)
		log_err("%s", s->rec->warning[i]);
}

int session__attach(struct session *s)
{
	u64 t0 = mono_ns();
	u32 attached = 0;
	char took[16];
	int err = 0;

	for (u32 i = 0; i < s->nr_procs && (!err || s->nr_procs > 1); i++) {
		err = session__attach_proc(s, i);
		if (err == -ENOMEM)
			break;
		if (err)
			session__not_measured(s, i, err);
		attached += !err;
	}
	if (attached)
		err = check_entries(s);
	if ((err == -ENODATA || err == -ESRCH) && s->follow.meant)
		err = 0; /* what comes may have functions, and live longer */
	if (err)
		say_warnings(s);
	if (!err && s->requests)
		err = requests__attach(s->requests);
	if (!err)
		log_info("attached %u sites in %s", s->nr_probes,
			 format_ns(took, sizeof(took), mono_ns() - t0));
	return err;
}

int session__switch_to_ret(struct session *s, u32 func, const char *why)
{
	struct plan_func *pf = &s->plan->func[func];
	struct site_list l;
	struct hb_func f;
	u32 *ids = NULL;
	int err;

	if (pf->exit_ret)
		return 0;
	site_list__init(&l);
	err = plan__ret_sites(s->plan, func, &l);
	if (err)
		goto out;
	ids = array_alloc(l.nr, sizeof(*ids));
	if (!ids) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < l.nr && !err; i++)
		err = session__site_add(s, pf->image, &l.v[i], &ids[i]);
	if (!err)
		err = session__probe(s, pf->image, ids, l.nr);
	for (size_t i = 0; i < l.nr && !err; i++)
		err = s->site[ids[i]].refused ? -ENOTSUP : 0;
	if (!err)
		err = bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.funcs), &func, &f) ? -errno : 0;
	if (!err) {
		f.flags |= HB_FUNC_EXIT_RET;
		err = session__put_func(s, func, &f);
	}
	if (!err) {
		pf->exit_ret = true;
		session__warn(s, "%s %s; its returns are probed instead of its return sites",
			      pf->f->name, why);
	}
out:
	free(ids);
	site_list__fini(&l);
	return err;
}
