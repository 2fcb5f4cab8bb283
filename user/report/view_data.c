// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view_data.c - the readings that a live view keeps, and what it makes of each new one. */
#include "report/view_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define MESSAGE_READINGS 8

void view__init(struct live_view *v)
{
	*v = (struct live_view){.st.sort = VIEW_TOTAL};
}

/* What was made of the readings, not they themselves. */
static void derived__fini(struct live_view *v)
{
	groups__fini(&v->all);
	groups__fini(&v->part);
	since__fini(&v->whole);
	since__fini(&v->recent);
	free(v->bias);
	v->bias = NULL;
	v->nr_biases = 0;
}

/* A reading that is perhaps none of those that are kept any more. */
static void release(struct live_view *v, struct recording *r)
{
	if (r != v->now && r != v->last && r != v->base)
		recording__free(r);
}

void view__fini(struct live_view *v)
{
	struct recording *now = v->now, *last = v->last, *base = v->base;

	derived__fini(v);
	v->now = v->last = v->base = NULL;
	recording__free(now);
	if (last != now)
		recording__free(last);
	if (base != now && base != last)
		recording__free(base);
	free(v->trend);
	free(v->message);
	*v = (struct live_view){0};
}

/* From readings to rows. On failure v has none. */
static int derive(struct live_view *v)
{
	int err;

	derived__fini(v);
	err = since__init(&v->whole, v->now, v->base);
	if (!err)
		err = since__init(&v->recent, v->now, v->last);
	if (!err)
		err = groups__build(&v->all, &v->whole.rec, true);
	if (!err)
		err = groups__build(&v->part, &v->recent.rec, true);
	if (!err)
		err = bias_list(&v->whole.rec, &v->all, &v->bias, &v->nr_biases);
	if (err)
		derived__fini(v);
	return err;
}

/* ---- trends ---- */

static bool is_trend_of(const struct view_trend *t, const struct recording *r,
			const struct group *g)
{
	if (!g->func)
		return t->overflow;
	return !t->overflow && t->func == (u32)(g->func - r->func) &&
	       t->target == (u32)(g->target - r->target) && t->outcome == g->outcome;
}

const struct view_trend *view_trend_of(const struct live_view *v, const struct recording *r,
				       const struct group *g)
{
	for (size_t i = 0; i < v->nr_trends; i++)
		if (is_trend_of(&v->trend[i], r, g))
			return &v->trend[i];
	return NULL;
}

static int add_trend(struct live_view *v, const struct group *g)
{
	struct recording *r = &v->recent.rec;
	struct view_trend *t = (struct view_trend *)view_trend_of(v, r, g);

	if (!t) {
		if (array_grow((void **)&v->trend, v->nr_trends, &v->cap_trends, sizeof(*t)))
			return -ENOMEM;
		t = &v->trend[v->nr_trends++];
		*t = (struct view_trend){.outcome = g->outcome, .overflow = !g->func};
		if (g->func) {
			t->func = g->func - r->func;
			t->target = g->target - r->target;
		}
	}
	t->rate[VIEW_TREND - 1] = group_calls_per_s(g);
	return 0;
}

static int add_trends(struct live_view *v)
{
	int err = 0;

	for (size_t i = 0; i < v->nr_trends; i++) {
		double *rate = v->trend[i].rate;

		memmove(rate, rate + 1, (VIEW_TREND - 1) * sizeof(*rate));
		rate[VIEW_TREND - 1] = 0;
	}
	for (u32 i = 0; i < v->part.nr && !err; i++)
		err = add_trend(v, &v->part.v[i]);
	return err;
}

/* ---- readings ---- */

static void note_warnings(struct live_view *v)
{
	if (v->message_left && !--v->message_left) {
		free(v->message);
		v->message = NULL;
	}
	if (v->now->nr_warnings > v->warnings_seen)
		view__message(v, true, v->now->warning[v->now->nr_warnings - 1]);
	v->warnings_seen = v->now->nr_warnings;
}

int view__update(struct live_view *v, struct recording *now)
{
	struct recording *old = v->last;
	int err;

	v->last = v->now;
	v->now = now;
	release(v, old);
	err = derive(v);
	if (!err)
		err = add_trends(v);
	if (!err)
		note_warnings(v);
	return err;
}

int view_reset(struct live_view *v, bool to_beginning)
{
	struct recording *old = v->base;

	v->base = to_beginning ? NULL : v->now;
	release(v, old);
	return v->now ? derive(v) : 0;
}

void view__message(struct live_view *v, bool bad, const char *text)
{
	char *copy = strdup(text);

	v->nr_messages++;
	if (!copy)
		return;
	free(v->message);
	v->message = copy;
	v->message_left = MESSAGE_READINGS;
	v->message_bad = bad;
}
