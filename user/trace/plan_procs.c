// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_procs.c - which processes a plan is for, and what each has mapped. A file is read once, however
 * many processes map it; where it is mapped is each one's own. What is then made of the functions
 * found is plan.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/plan_impl.h"
#include "util/array.h"
#include "util/log.h"

/* ---- processes ---------------------------------------------------------------------------- */

static void plan_proc__fini(struct plan_proc *pp)
{
	free(pp->map);
	free(pp->language);
}

static int proc_append(struct plan *pl, struct proc *p)
{
	if (array_grow((void **)&pl->proc, pl->nr_procs, &pl->cap_procs, sizeof(*pl->proc)))
		return -ENOMEM;
	pl->proc[pl->nr_procs++] = (struct plan_proc){.proc = p};
	return 0;
}

void plan__free_procs(struct plan *pl)
{
	for (u32 i = 0; i < pl->nr_procs; i++)
		plan_proc__fini(&pl->proc[i]);
	free(pl->proc);
}

struct plan_map *plan__map(const struct plan *pl, u32 proc, u32 image)
{
	const struct plan_proc *pp = &pl->proc[proc];

	for (u32 i = 0; i < pp->nr_maps; i++)
		if (pp->map[i].image == image)
			return &pp->map[i];
	return NULL;
}

/* A file that is mapped again elsewhere (dlclose, dlopen) is the same image at another place. */
static int note_map(struct plan *pl, u32 proc, u32 image, u64 bias)
{
	struct plan_proc *pp = &pl->proc[proc];
	struct plan_map *known = plan__map(pl, proc, image);

	if (known) {
		known->bias = bias;
		return 0;
	}
	if (array_grow((void **)&pp->map, pp->nr_maps, &pp->cap_maps, sizeof(*pp->map)))
		return -ENOMEM;
	pp->map[pp->nr_maps++] = (struct plan_map){.image = image, .bias = bias};
	return 0;
}

/* ---- images ------------------------------------------------------------------------------- */

/* The same file: what identifies it is in the kernel's map, not its name. */
static bool find_image(const struct plan *pl, const struct proc_map *m, u32 *image, u64 *vaddr)
{
	for (u32 i = 0; i < pl->nr_images; i++) {
		const struct plan_image *known = &pl->image[i];

		if (known->map_ino != m->ino || known->map_dev != m->dev)
			continue;
		*image = i;
		if (!image__map_vaddr(known->im, m->off, m->end - m->begin, vaddr))
			return true;
	}
	return false;
}

int plan__image_of(struct plan *pl, u32 proc, const struct proc_map *m, u32 *image)
{
	struct plan_image pi = {0};
	u64 vaddr;
	int err;

	if (find_image(pl, m, image, &vaddr))
		return note_map(pl, proc, *image, m->begin - vaddr);
	if (pl->max_images && pl->nr_images >= pl->max_images)
		return -ENOSPC;
	site_list__init(&pi.sites);
	err = plan_image__load(pl->proc[proc].proc, m, &pi, &vaddr);
	if (!err &&
	    array_grow((void **)&pl->image, pl->nr_images, &pl->cap_images, sizeof(*pl->image)))
		err = -ENOMEM;
	if (err) {
		plan_image__fini(&pi);
		return err;
	}
	*image = pl->nr_images;
	pl->image[pl->nr_images++] = pi;
	return note_map(pl, proc, *image, m->begin - vaddr);
}

/* ---- functions ---------------------------------------------------------------------------- */

static int gather_probes(struct plan *pl, u32 image)
{
	const struct plan_opts *o = &pl->opts;
	struct plan_image *pi = &pl->image[image];

	for (size_t i = 0; i < o->nr_probes; i++) {
		char shown[PLAN_SHOWN];
		u32 nr = 0;
		int err = registry__probe(pi->im, pi->syms, o->probe[i], &pl->list, &nr);

		if (err == -ENOTSUP)
			pl->probe_unsupported[i] = true;
		else if (err && err != -EINVAL)
			return err;
		pl->probe_hits[i] += nr;
		if (pl->list.nr > PLAN_MAX_FUNCS) {
			log_err("--probe '%s' matches more than %d functions; name one of them",
				plan_shown(o->probe[i], shown), PLAN_MAX_FUNCS);
			return -E2BIG;
		}
	}
	return 0;
}

static int gather_image(struct plan *pl, u32 proc, const struct proc_map *m, struct gather *g)
{
	struct registry_report rep = {.alt = pl->alt};
	struct found f;
	int err = plan__image_of(pl, proc, m, &f.image);
	struct plan_image *pi;

	if (err == -ENOMEM)
		return err;
	if (err) {
		log_info("%s: not looked at: %s", m->path, strerror(-err));
		return 0;
	}
	pi = &pl->image[f.image];
	if (pi->gathered || !pi->syms || !pi->ops)
		return 0;
	pi->gathered = true;
	f.from = pl->list.nr;
	err = registry__match(pl->registry, pi->im, pi->syms, pi->build, &pl->list, &rep);
	if (err && err != -ENOTSUP)
		return err;
	if (rep.linked[0])
		g->rep = rep;
	err = gather_probes(pl, f.image);
	if (err)
		return err;
	f.to = pl->list.nr;
	if (f.from == f.to)
		return 0;
	if (array_grow((void **)&g->v, g->nr, &g->cap, sizeof(*g->v)))
		return -ENOMEM;
	g->v[g->nr++] = f;
	return 0;
}

/* Executable file mappings, each file once: a file is mapped in several pieces. */
static bool map_is_code(const struct proc *p, u32 i)
{
	const struct proc_map *m = &p->map[i];

	if (!m->exec || !m->ino || !m->path[0])
		return false;
	for (u32 k = 0; k < i; k++) {
		if (p->map[k].exec && p->map[k].ino == m->ino && !strcmp(p->map[k].path, m->path))
			return false;
	}
	return true;
}

static int gather_all(struct plan *pl, u32 proc, struct gather *g)
{
	const struct proc *p = pl->proc[proc].proc;

	for (u32 i = 0; i < p->nr_maps; i++) {
		int err = map_is_code(p, i) ? gather_image(pl, proc, &p->map[i], g) : 0;

		if (err)
			return err;
	}
	return 0;
}

static int set_language(struct plan *pl, u32 proc)
{
	struct plan_proc *pp = &pl->proc[proc];
	const char *lang = "native";

	for (u32 i = 0; i < pp->nr_maps; i++) {
		const struct plan_image *pi = &pl->image[pp->map[i].image];

		if (pi->build) {
			lang = pi->build->go_version;
			break;
		}
	}
	free(pp->language);
	pp->language = strdup(lang);
	return pp->language ? 0 : -ENOMEM;
}

static int look_at(struct plan *pl, u32 proc, struct gather *g)
{
	int err = gather_all(pl, proc, g);

	if (!err)
		err = plan__grow(pl, proc, g);
	return err ? err : set_language(pl, proc);
}

static bool has_funcs(const struct plan *pl, u32 proc)
{
	for (u32 i = 0; i < pl->nr_funcs; i++)
		if (plan__map(pl, proc, pl->func[i].image))
			return true;
	return false;
}

int plan__add(struct plan *pl, struct proc *p, u32 *index)
{
	struct gather g = {0};
	u32 proc = pl->nr_procs;
	int err = proc_append(pl, p);

	if (err)
		return err;
	err = look_at(pl, proc, &g);
	free(g.v);
	if (!err && !has_funcs(pl, proc))
		err = -ENODATA;
	if (err)
		plan_proc__fini(&pl->proc[--pl->nr_procs]);
	else
		*index = proc;
	return err;
}

void plan__drop_last(struct plan *pl)
{
	plan_proc__fini(&pl->proc[--pl->nr_procs]);
}

int plan__look_again(struct plan *pl, u32 index)
{
	struct gather g = {0};
	int err = look_at(pl, index, &g);

	free(g.v);
	return err;
}

/* ---- the first of them -------------------------------------------------------------------- */

static int plan__registry(struct plan *pl)
{
	const struct plan_opts *o = &pl->opts;
	int err = o->registry ? 0 : registry__open(&pl->own_registry);

	if (err)
		return err;
	pl->registry = o->registry ? o->registry : pl->own_registry;
	pl->alt = array_alloc(registry__size(pl->registry) + 1, sizeof(*pl->alt));
	pl->probe_hits = array_alloc(o->nr_probes + 1, sizeof(*pl->probe_hits));
	pl->probe_unsupported = array_alloc(o->nr_probes + 1, sizeof(*pl->probe_unsupported));
	return pl->alt && pl->probe_hits && pl->probe_unsupported ? 0 : -ENOMEM;
}

static void leave_out(struct plan *pl, u32 nr, bool *left_out)
{
	u32 kept = 0;

	for (u32 i = 0; i < nr; i++) {
		left_out[i] = !has_funcs(pl, i);
		if (left_out[i])
			plan_proc__fini(&pl->proc[i]);
	}
	for (u32 i = 0; i < nr; i++)
		if (!left_out[i])
			pl->proc[kept++] = pl->proc[i];
	pl->nr_procs = kept;
}

int plan__build_many(struct proc *const *p, u32 nr, const struct plan_opts *o, bool *left_out,
		     struct plan **out)
{
	struct plan *pl = calloc(1, sizeof(*pl));
	struct gather g = {0};
	int err = -ENOMEM;

	if (!pl)
		return -ENOMEM;
	pl->opts = *o;
	func_list__init(&pl->list);
	err = plan__registry(pl);
	for (u32 i = 0; i < nr && !err; i++) {
		err = proc_append(pl, p[i]);
		g.nr = 0;
		if (!err)
			err = look_at(pl, i, &g);
	}
	if (!err)
		err = plan__explain(pl, &g.rep);
	if (!err && left_out)
		leave_out(pl, nr, left_out);
	free(g.v);
	if (err)
		plan__free(pl);
	else
		*out = pl;
	return err;
}

int plan__build(struct proc *p, const struct plan_opts *o, struct plan **out)
{
	return plan__build_many(&p, 1, o, NULL, out);
}
