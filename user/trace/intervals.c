// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * intervals.c - what changed from one snapshot to the next, kept per interval. The rows are rows.c's.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/snapshot_impl.h"
#include "util/array.h"

#define MAX_INTERVALS 512 /* then pairs are merged */

/*
 * The calls of a distribution as an interval counts them. While recording, counts and buckets are
 * read one after the other, and calls end between the two: an interval would have more calls in its
 * buckets than in all, or fewer. Counted by the buckets, each call is in one interval with both.
 */
static u64 dist_calls(const struct m_dist *d)
{
	u64 n = 0;

	if (!d->nr_buckets)
		return d->count;
	for (u32 i = 0; i < d->nr_buckets; i++)
		n += d->bucket[i].n;
	return n;
}

/* now - before, bucket by bucket; before may lack what now has. */
static int dist_delta(const struct m_dist *before, const struct m_dist *now, struct m_delta *d)
{
	struct m_bucket *fit;
	u32 k = 0;

	d->count = dist_calls(now) - (before ? dist_calls(before) : 0);
	d->sum_ns = now->sum_ns - (before ? before->sum_ns : 0);
	d->bucket = array_alloc(now->nr_buckets + 1, sizeof(*d->bucket));
	if (!d->bucket)
		return -ENOMEM;
	for (u32 i = 0; i < now->nr_buckets; i++) {
		u64 n = now->bucket[i].n;

		while (before && k < before->nr_buckets &&
		       before->bucket[k].idx < now->bucket[i].idx)
			k++;
		if (before && k < before->nr_buckets && before->bucket[k].idx == now->bucket[i].idx)
			n -= before->bucket[k].n;
		if (n)
			d->bucket[d->nr_buckets++] = (struct m_bucket){now->bucket[i].idx, n};
	}
	/* Few of a distribution's buckets change in one interval, and many intervals are kept. */
	fit = realloc(d->bucket, (d->nr_buckets + 1) * sizeof(*fit));
	if (fit)
		d->bucket = fit;
	return 0;
}

static void interval__fini(struct m_interval *iv)
{
	for (u32 i = 0; i < iv->nr_deltas; i++)
		free(iv->delta[i].bucket);
	free(iv->delta);
	free(iv->ctr);
}

static const struct m_row *row_before(const struct session *s, const struct m_row *row)
{
	for (u32 p = 0; p < s->nr_prev; p++)
		if (row_same(&s->prev[p], row))
			return &s->prev[p];
	return NULL;
}

static int add_ctr_deltas(const struct session *s, const struct m_row *rows, u32 nr,
			  struct m_interval *iv)
{
	u32 nr_ctrs = s->rec->counters.nr;

	if (!nr_ctrs)
		return 0;
	iv->ctr = array_alloc((size_t)nr * nr_ctrs + 1, sizeof(*iv->ctr));
	if (!iv->ctr)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		const struct m_row *old = row_before(s, &rows[i]);

		for (u32 k = 0; k < nr_ctrs; k++) {
			u64 calls = rows[i].ctr[k].calls - (old ? old->ctr[k].calls : 0);
			u64 sum = rows[i].ctr[k].sum - (old ? old->ctr[k].sum : 0);

			if (calls || sum)
				iv->ctr[iv->nr_ctrs++] = (struct m_ctr_delta){i, k, calls, sum};
		}
	}
	return 0;
}

static int make_interval(struct session *s, const struct m_row *rows, u32 nr, u64 now,
			 struct m_interval *iv)
{
	*iv = (struct m_interval){.begin_mono_ns = s->prev_mono_ns, .end_mono_ns = now};
	iv->delta = array_alloc((size_t)nr * HB_DIST_NR + 1, sizeof(*iv->delta));
	if (!iv->delta)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		const struct m_row *old = row_before(s, &rows[i]);

		for (u32 k = 0; k < HB_DIST_NR; k++) {
			struct m_delta *d = &iv->delta[iv->nr_deltas];

			if (dist_calls(&rows[i].dist[k]) == (old ? dist_calls(&old->dist[k]) : 0))
				continue;
			*d = (struct m_delta){.row = i, .dist = k};
			if (dist_delta(old ? &old->dist[k] : NULL, &rows[i].dist[k], d))
				return -ENOMEM;
			iv->nr_deltas++;
		}
	}
	return add_ctr_deltas(s, rows, nr, iv);
}

static int delta_merge(struct m_delta *to, const struct m_delta *from)
{
	struct m_dist a = {.bucket = to->bucket, .nr_buckets = to->nr_buckets, .min_ns = M_NONE};
	struct m_dist b = {
		.bucket = from->bucket, .nr_buckets = from->nr_buckets, .min_ns = M_NONE};
	int err = m_dist__merge(&a, &b);

	if (err)
		return err;
	to->bucket = a.bucket;
	to->nr_buckets = a.nr_buckets;
	to->count += from->count;
	to->sum_ns += from->sum_ns;
	return 0;
}

static u64 ctr_key(const struct m_ctr_delta *d)
{
	return (u64)d->row << 8 | d->ctr;
}

/* Both are in order; so is the result. */
static int merge_ctrs(struct m_interval *to, const struct m_interval *from)
{
	struct m_ctr_delta *v = array_alloc((size_t)to->nr_ctrs + from->nr_ctrs + 1, sizeof(*v));
	u32 i = 0, k = 0, nr = 0;

	if (!v)
		return -ENOMEM;
	while (i < to->nr_ctrs || k < from->nr_ctrs) {
		const struct m_ctr_delta *a = i < to->nr_ctrs ? &to->ctr[i] : NULL;
		const struct m_ctr_delta *b = k < from->nr_ctrs ? &from->ctr[k] : NULL;

		if (a && b && ctr_key(a) == ctr_key(b)) {
			v[nr] = *a;
			v[nr].calls += b->calls;
			v[nr].sum += b->sum;
			i++;
			k++;
		} else if (a && (!b || ctr_key(a) < ctr_key(b))) {
			v[nr] = *a;
			i++;
		} else {
			v[nr] = *b;
			k++;
		}
		nr++;
	}
	free(to->ctr);
	to->ctr = v;
	to->nr_ctrs = nr;
	return 0;
}

/* Takes over the deltas of `from`, which is empty afterwards. */
static int interval_merge(struct m_interval *to, struct m_interval *from)
{
	struct m_delta *v = realloc(to->delta, (to->nr_deltas + from->nr_deltas + 1) * sizeof(*v));
	u32 own = to->nr_deltas;

	if (!v)
		return -ENOMEM;
	to->delta = v;
	if (merge_ctrs(to, from))
		return -ENOMEM;
	for (u32 i = 0; i < from->nr_deltas; i++) {
		struct m_delta *f = &from->delta[i], *t = NULL;

		for (u32 k = 0; k < own && !t; k++)
			t = v[k].row == f->row && v[k].dist == f->dist ? &v[k] : NULL;
		if (t) {
			if (delta_merge(t, f))
				return -ENOMEM;
			free(f->bucket);
		} else {
			v[to->nr_deltas++] = *f;
		}
		f->bucket = NULL;
	}
	to->end_mono_ns = from->end_mono_ns;
	interval__fini(from);
	return 0;
}

/* A long run keeps its whole course at half the resolution. */
static int halve_intervals(struct recording *rec)
{
	u32 n = 0;

	for (u32 i = 0; i + 1 < rec->nr_intervals; i += 2) {
		int err = interval_merge(&rec->interval[i], &rec->interval[i + 1]);

		if (err)
			return err;
		rec->interval[n++] = rec->interval[i];
	}
	rec->nr_intervals = n;
	return 0;
}

int session__add_interval(struct session *s, struct m_row *rows, u32 nr, u64 now)
{
	struct recording *rec = s->rec;
	struct m_interval iv;
	int err;

	if (!rec->interval) {
		rec->interval = array_alloc(MAX_INTERVALS, sizeof(*rec->interval));
		if (!rec->interval)
			return -ENOMEM;
	}
	if (rec->nr_intervals == MAX_INTERVALS) {
		err = halve_intervals(rec);
		if (err)
			return err;
	}
	err = make_interval(s, rows, nr, now, &iv);
	if (err) {
		interval__fini(&iv);
		return err;
	}
	rec->interval[rec->nr_intervals++] = iv;
	rows__free(s->prev, s->nr_prev);
	s->prev = rows;
	s->nr_prev = nr;
	s->prev_mono_ns = now;
	return 0;
}
