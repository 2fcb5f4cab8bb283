// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_tails.c - which planned functions may run in the place of another one that has left by a jump.
 * The jumps are followed in probe/tailgraph.c; here is what it asks for.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/tailgraph.h"
#include "sym/ehframe.h"
#include "sym/plt.h"
#include "trace/plan_impl.h"
#include "util/array.h"
#include "util/log.h"

#define TAILS_MAX 64 /* of one function; beyond, it is any */

/* What is read of an image when the first jump leads there. */
struct tail_image {
	bool read;
	struct eh_range *eh;
	size_t nr_eh;
	struct plt_slot *slot; /* by vaddr */
	size_t nr_slots, cap_slots;
};

struct tails {
	struct plan *pl;
	u32 proc; /* in whose memory slots are read */
	struct tail_image *image;
	struct plan_func *pf; /* whose are looked for */
};

static int keep_slot(void *arg, const struct plt_slot *slot)
{
	struct tail_image *ti = arg;

	if (array_grow((void **)&ti->slot, ti->nr_slots, &ti->cap_slots, sizeof(*ti->slot)))
		return -ENOMEM;
	ti->slot[ti->nr_slots++] = *slot;
	return 0;
}

static int cmp_slot(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* What cannot be read is not there: such code cannot be followed, and that is known. */
static const struct tail_image *tails__image(struct tails *t, u32 image)
{
	struct tail_image *ti = &t->image[image];
	const struct image *im = t->pl->image[image].im;

	if (ti->read)
		return ti;
	ti->read = true;
	if (ehframe__ranges(im, &ti->eh, &ti->nr_eh))
		ti->nr_eh = 0;
	if (plt__slots(im, keep_slot, ti))
		ti->nr_slots = 0;
	if (ti->nr_slots)
		qsort(ti->slot, ti->nr_slots, sizeof(*ti->slot), cmp_slot);
	return ti;
}

static int cmp_range(const void *key, const void *elem)
{
	u64 vaddr = *(const u64 *)key;
	const struct eh_range *r = elem;

	return vaddr < r->vaddr ? -1 : vaddr >= r->end;
}

static bool body_at(void *arg, const struct tail_place *at, struct code *out)
{
	struct tails *t = arg;
	const struct plan_image *pi = &t->pl->image[at->image];
	const struct tail_image *ti;
	const struct eh_range *r;
	bool bounded;

	if (!pi->ops || at->vaddr < pi->lo || at->vaddr >= pi->hi)
		return false;
	if (plan__code_at(pi, at->vaddr, out, &bounded) && bounded)
		return true;
	ti = tails__image(t, at->image);
	if (!ti->nr_eh)
		return false;
	r = bsearch(&at->vaddr, ti->eh, ti->nr_eh, sizeof(*r), cmp_range);
	if (!r)
		return false;
	*out = (struct code){.ops = pi->ops,
			     .bytes = image__at(pi->im, r->vaddr, r->end - r->vaddr),
			     .len = r->end - r->vaddr,
			     .vaddr = r->vaddr};
	return out->bytes;
}

/* The only function of that name in the process. */
static bool place_of_name(const struct plan *pl, const char *name, struct tail_place *to)
{
	bool found = false;

	for (u32 i = 0; i < pl->nr_images; i++) {
		const struct sym *s;
		size_t nr = pl->image[i].syms ? symtab__find(pl->image[i].syms, name, &s, 1) : 0;

		if (!nr)
			continue;
		if (found || nr > 1 || s->ifunc)
			return false;
		*to = (struct tail_place){.vaddr = s->vaddr, .image = i};
		found = true;
	}
	return found;
}

static bool slot_at(void *arg, const struct tail_place *slot, struct tail_place *to)
{
	struct tails *t = arg;
	const struct tail_image *ti = tails__image(t, slot->image);
	const struct plt_slot key = {.vaddr = slot->vaddr}, *s = NULL;
	const struct symtab *syms = t->pl->image[slot->image].syms;
	const struct sym *sym;
	u32 image;
	u64 vaddr;

	if (ti->nr_slots)
		s = bsearch(&key, ti->slot, ti->nr_slots, sizeof(*s), cmp_slot);
	if (!s)
		return false; /* a variable: it may change */
	if (!plan__slot_value(t->pl, t->proc, slot->image, slot->vaddr, &image, &vaddr))
		return place_of_name(t->pl, s->name, to);
	/* Back into its own image, but not to a function: not bound yet. */
	sym = image == slot->image && syms ? symtab__at(syms, vaddr) : NULL;
	if (image == slot->image && (!sym || sym->vaddr != vaddr))
		return place_of_name(t->pl, s->name, to);
	*to = (struct tail_place){.vaddr = vaddr, .image = image};
	return true;
}

static int add_tail(struct plan_func *pf, u32 func)
{
	u32 at = 0;

	while (at < pf->nr_tails_direct && pf->tails_direct[at] < func)
		at++;
	if (at < pf->nr_tails_direct && pf->tails_direct[at] == func)
		return 0;
	if (pf->nr_tails_direct == TAILS_MAX) {
		pf->tails_indirect = true;
		return 0;
	}
	if (!pf->tails_direct) {
		pf->tails_direct = array_alloc(TAILS_MAX, sizeof(*pf->tails_direct));
		if (!pf->tails_direct)
			return -ENOMEM;
	}
	for (u32 i = pf->nr_tails_direct++; i > at; i--)
		pf->tails_direct[i] = pf->tails_direct[i - 1];
	pf->tails_direct[at] = func;
	return 0;
}

/* A jump into the middle of a function counts too: its entry's site may be behind. */
static int on_target(void *arg, const struct tail_place *to)
{
	struct tails *t = arg;
	int err = 0;

	for (u32 i = 0; i < t->pl->nr_funcs && !err; i++) {
		const struct plan_func *pf = &t->pl->func[i];
		u64 size = pf->f->size ? pf->f->size : 1;

		if (pf->image == to->image && to->vaddr - pf->f->vaddr < size)
			err = add_tail(t->pf, i);
	}
	return err;
}

static int tails__func(struct tails *t, struct tailgraph *g, struct plan_func *pf)
{
	struct tail_place from = {.vaddr = pf->f->vaddr, .image = pf->image};
	bool anywhere;
	int err;

	t->pf = pf;
	err = tailgraph__reach(g, &from, on_target, t, &anywhere);
	if (!err && anywhere)
		pf->tails_indirect = true;
	log_debug("%s may leave by jumps: %u planned functions are behind them%s", pf->f->name,
		  pf->nr_tails_direct, pf->tails_indirect ? ", and what is not known" : "");
	return err;
}

int plan__tails(struct plan *pl, u32 proc, u32 first)
{
	struct tails t = {.pl = pl, .proc = proc};
	struct tail_source src = {.body = body_at, .slot = slot_at, .arg = &t};
	struct tailgraph *g = tailgraph__new(&src);
	int err = -ENOMEM;

	t.image = array_alloc(pl->nr_images + 1, sizeof(*t.image));
	if (!g || !t.image)
		goto out;
	err = 0;
	for (u32 i = first; i < pl->nr_funcs && !err; i++) {
		if (pl->func[i].tails)
			err = tails__func(&t, g, &pl->func[i]);
	}
out:
	for (u32 i = 0; t.image && i < pl->nr_images; i++) {
		free(t.image[i].eh);
		free(t.image[i].slot);
	}
	free(t.image);
	tailgraph__free(g);
	return err;
}
