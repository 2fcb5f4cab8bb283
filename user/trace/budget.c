// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* budget.c - see budget.h. */
#include "trace/budget.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

/* The place of a site in a plan, and how early it is wanted: 0 comes first. */
struct wish {
	u32 image;
	u32 site;
	u32 rank;
};

/* Room for the probes of one function, all or none. */
struct func_need {
	u32 probes;
	u32 callers; /* return sites seen so far */
	bool left_out;
};

struct work {
	struct plan *pl;
	struct func_need *need; /* by function; the last one is SITE_NO_FUNC's */
	struct wish *wish;
	size_t nr_wishes;
	u32 room;
};

static bool of_function(const struct site *s)
{
	return s->role == HB_ROLE_ENTRY || s->role == HB_ROLE_RET;
}

static struct func_need *need_of(struct work *w, const struct site *s)
{
	u32 nr = w->pl->nr_funcs;

	return &w->need[s->func < nr ? s->func : nr];
}

static u32 take(struct work *w, u32 want)
{
	if (want > w->room)
		return 0;
	w->room -= want;
	return want;
}

/* What undoes stacks (longjmp, recovery) is a handful: it comes before everything. */
static void count_needs(struct work *w)
{
	for (u32 i = 0; i < w->pl->nr_images; i++) {
		const struct site_list *l = &w->pl->image[i].sites;

		for (size_t k = 0; k < l->nr; k++) {
			if (of_function(&l->v[k]))
				need_of(w, &l->v[k])->probes++;
			else if (l->v[k].role != HB_ROLE_RETSITE)
				take(w, 1);
		}
	}
}

static void choose_funcs(struct work *w, struct budget *out)
{
	for (u32 i = 0; i < w->pl->nr_funcs; i++) {
		struct func_need *n = &w->need[i];

		n->left_out = n->probes && !take(w, n->probes);
		out->funcs_left += n->left_out;
	}
}

static int cmp_wish(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

/* The n-th return site of a function has rank n. Those of functions left out are wanted by no one. */
static void wish_for_returns(struct work *w)
{
	for (u32 i = 0; i < w->pl->nr_images; i++) {
		const struct site_list *l = &w->pl->image[i].sites;

		for (size_t k = 0; k < l->nr; k++) {
			struct func_need *n = need_of(w, &l->v[k]);

			if (l->v[k].role == HB_ROLE_RETSITE && !n->left_out)
				w->wish[w->nr_wishes++] = (struct wish){i, (u32)k, n->callers++};
		}
	}
	qsort(w->wish, w->nr_wishes, sizeof(*w->wish), cmp_wish);
}

/* Keeps what is kept, in its order. */
static void thin_out(struct work *w, bool *const *keep)
{
	for (u32 i = 0; i < w->pl->nr_images; i++) {
		struct site_list *l = &w->pl->image[i].sites;
		size_t nr = 0;

		for (size_t k = 0; k < l->nr; k++) {
			const struct site *s = &l->v[k];
			bool stays = of_function(s) ? !need_of(w, s)->left_out
						    : s->role != HB_ROLE_RETSITE || keep[i][k];

			if (stays)
				l->v[nr++] = *s;
		}
		l->nr = nr;
	}
}

static size_t nr_sites(const struct plan *pl)
{
	size_t nr = 0;

	for (u32 i = 0; i < pl->nr_images; i++)
		nr += pl->image[i].sites.nr;
	return nr;
}

int budget__apply(struct plan *pl, u32 max, struct budget *out)
{
	struct work w = {.pl = pl, .room = max - max / 4};
	size_t total = nr_sites(pl), at = 0, chosen;
	bool *flags = array_alloc(total + 1, sizeof(*flags));
	bool **keep = array_alloc(pl->nr_images + 1, sizeof(*keep));
	int err = -ENOMEM;

	*out = (struct budget){0};
	w.need = array_alloc(pl->nr_funcs + 1, sizeof(*w.need));
	w.wish = array_alloc(total + 1, sizeof(*w.wish));
	if (!flags || !keep || !w.need || !w.wish)
		goto out;
	for (u32 i = 0; i < pl->nr_images; i++) {
		keep[i] = &flags[at];
		at += pl->image[i].sites.nr;
	}
	count_needs(&w);
	choose_funcs(&w, out);
	wish_for_returns(&w);
	chosen = w.nr_wishes < w.room ? w.nr_wishes : w.room;
	for (size_t i = 0; i < chosen; i++)
		keep[w.wish[i].image][w.wish[i].site] = true;
	out->sites_left = (u32)(w.nr_wishes - chosen);
	thin_out(&w, keep);
	err = 0;
out:
	free(flags);
	free(keep);
	free(w.need);
	free(w.wish);
	return err;
}
