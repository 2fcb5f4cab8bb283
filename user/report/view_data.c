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
		err = groups__build(&v->all, &v->whole.rec, v->st.by_process);
	if (!err)
		err = groups__build(&v->part, &v->recent.rec, v->st.by_process);
	if (!err)
		err = bias_list(&v->whole.rec, &v->all, &v->bias, &v->nr_biases);
	if (err)
		derived__fini(v);
	return err;
}

/* ---- trends ---- */

/* Kept by process, whatever is shown: folding them must not forget what was. */
static struct view_trend *find_trend(const struct live_view *v, const struct m_row *row)
{
	for (size_t i = 0; i < v->nr_trends; i++) {
		struct view_trend *t = &v->trend[i];

		if (t->overflow ? row->overflow
				: !row->overflow && t->func == row->func &&
					  t->target == row->target && t->outcome == row->outcome)
			return t;
	}
	return NULL;
}

static int add_trend(struct live_view *v, const struct m_row *row, u64 interval_ns)
{
	struct view_trend *t = find_trend(v, row);

	if (!t) {
		if (array_grow((void **)&v->trend, v->nr_trends, &v->cap_trends, sizeof(*t)))
			return -ENOMEM;
		t = &v->trend[v->nr_trends++];
		*t = (struct view_trend){.func = row->func,
					 .target = row->target,
					 .outcome = row->outcome,
					 .overflow = row->overflow};
	}
	t->rate[VIEW_TREND - 1] += (double)row->count * 1e9 / (double)interval_ns;
	return 0;
}

static int add_trends(struct live_view *v)
{
	const struct recording *r = &v->recent.rec;
	u64 ns = r->end_mono_ns - r->begin_mono_ns;
	int err = 0;

	for (size_t i = 0; i < v->nr_trends; i++) {
		double *rate = v->trend[i].rate;

		memmove(rate, rate + 1, (VIEW_TREND - 1) * sizeof(*rate));
		rate[VIEW_TREND - 1] = 0;
	}
	for (u32 i = 0; i < r->nr_rows && ns && !err; i++)
		if (r->row[i].count)
			err = add_trend(v, &r->row[i], ns);
	return err;
}

static bool is_trend_of(const struct live_view *v, const struct view_trend *t,
			const struct group *g)
{
	if (!g->func || t->overflow)
		return !g->func && t->overflow;
	return t->func == (u32)(g->func - v->whole.rec.func) && t->outcome == g->outcome &&
	       (!g->target || t->target == (u32)(g->target - v->whole.rec.target));
}

void view_trend_of(const struct live_view *v, const struct group *g, double rate[VIEW_TREND])
{
	memset(rate, 0, VIEW_TREND * sizeof(*rate));
	for (size_t i = 0; i < v->nr_trends; i++)
		for (u32 k = 0; k < VIEW_TREND && is_trend_of(v, &v->trend[i], g); k++)
			rate[k] += v->trend[i].rate[k];
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

int view_regroup(struct live_view *v, bool by_process)
{
	v->st.by_process = by_process;
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
