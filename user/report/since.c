// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * since.c - the difference of two recordings, number by number. Strings and calibrations are those of
 * the later one and not copied: a live view makes two of these each second.
 */
#include "report/since.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/measured.h"
#include "util/array.h"

/* The two are read one after the other from counters that only grow; still, a live reading is not
 * one moment, and a difference below 0 would be an absurd number. */
static u64 less(u64 now, u64 before)
{
	if (now == M_NONE || before == M_NONE)
		return M_NONE;
	return now > before ? now - before : 0;
}

static bool same_row(const struct m_row *a, const struct m_row *b)
{
	return a->overflow == b->overflow && a->func == b->func && a->target == b->target &&
	       a->size_class == b->size_class && a->outcome == b->outcome;
}

/* Rows keep their places while others are added: nearly always the first look finds it. */
static const struct m_row *row_before(const struct recording *before, const struct m_row *row,
				      u32 at)
{
	if (at < before->nr_rows && same_row(&before->row[at], row))
		return &before->row[at];
	for (u32 i = 0; i < before->nr_rows; i++)
		if (same_row(&before->row[i], row))
			return &before->row[i];
	return NULL;
}

static void set_extremes(struct m_dist *d, const struct m_dist *now, const struct m_dist *before)
{
	u64 lo, hi;

	if (!d->nr_buckets) /* no histogram was free: nothing is known but the sum */
		return;
	lo = hb_hist_lower(d->bucket[0].idx);
	hi = hb_hist_lower(d->bucket[d->nr_buckets - 1].idx + 1) - 1;
	d->min_ns = lo > now->min_ns ? lo : now->min_ns;
	d->max_ns = hi < now->max_ns ? hi : now->max_ns;
	if (now->min_ns < before->min_ns)
		d->min_ns = now->min_ns;
	if (now->max_ns > before->max_ns)
		d->max_ns = now->max_ns;
}

static int dist_since(struct m_dist *d, const struct m_dist *now, const struct m_dist *before)
{
	u32 k = 0;

	m_dist__init(d);
	d->count = less(now->count, before->count);
	d->sum_ns = less(now->sum_ns, before->sum_ns);
	if (!d->count)
		return 0;
	d->bucket = array_alloc(now->nr_buckets + 1, sizeof(*d->bucket));
	if (!d->bucket)
		return -ENOMEM;
	for (u32 i = 0; i < now->nr_buckets; i++) {
		u64 n = now->bucket[i].n;

		while (k < before->nr_buckets && before->bucket[k].idx < now->bucket[i].idx)
			k++;
		if (k < before->nr_buckets && before->bucket[k].idx == now->bucket[i].idx)
			n = less(n, before->bucket[k].n);
		if (n)
			d->bucket[d->nr_buckets++] = (struct m_bucket){now->bucket[i].idx, n};
	}
	d->max_ns = M_NONE;
	set_extremes(d, now, before);
	return 0;
}

static int row_since(struct m_row *to, const struct m_row *now, const struct m_row *before)
{
	static const struct m_row nothing = {.size_min = M_NONE};
	static const struct m_dist empty = {.min_ns = M_NONE};
	int err = 0;

	*to = *now;
	for (u32 k = 0; k < HB_DIST_NR; k++)
		m_dist__init(&to->dist[k]);
	for (u32 k = 0; k < HB_DIST_NR && !err; k++)
		err = dist_since(&to->dist[k], &now->dist[k], before ? &before->dist[k] : &empty);
	if (!before)
		before = &nothing;
	to->count = less(now->count, before->count);
	to->nested = less(now->nested, before->nested);
	to->raw_sum_ns = less(now->raw_sum_ns, before->raw_sum_ns);
	to->size_sum = less(now->size_sum, before->size_sum);
	for (u32 k = 0; k < HB_CTRS; k++) {
		/* The extremes of the difference are not known. */
		to->ctr[k] = (struct m_ctr){less(now->ctr[k].calls, before->ctr[k].calls),
					    less(now->ctr[k].sum, before->ctr[k].sum), M_NONE,
					    M_NONE};
	}
	for (u32 k = 0; k < HB_SIZE_SUB; k++)
		to->size_sub[k] = less(now->size_sub[k], before->size_sub[k]);
	return err;
}

/* A process that came later, or has gone, was measured for a part of the time; the others until now. */
static void clip_target(struct m_target *t, const struct recording *r)
{
	if (t->begin_mono_ns == M_NONE)
		return;
	if (t->end_mono_ns == M_NONE || t->end_mono_ns > r->end_mono_ns)
		t->end_mono_ns = r->end_mono_ns;
	if (t->begin_mono_ns < r->begin_mono_ns)
		t->begin_mono_ns = r->begin_mono_ns;
	if (t->begin_mono_ns > t->end_mono_ns)
		t->begin_mono_ns = t->end_mono_ns;
}

static int targets_since(struct recording *r, const struct recording *now,
			 const struct recording *before)
{
	r->target = array_alloc((size_t)now->nr_targets + 1, sizeof(*r->target));
	if (!r->target)
		return -ENOMEM;
	r->nr_targets = now->nr_targets;
	for (u32 i = 0; i < r->nr_targets; i++) {
		r->target[i] = now->target[i];
		clip_target(&r->target[i], r);
		if (before && i < before->nr_targets)
			r->target[i].cpu_ns = less(now->target[i].cpu_ns, before->target[i].cpu_ns);
	}
	return 0;
}

static u64 row_measured_ns(const struct recording *r, const struct m_row *row)
{
	u64 ns = M_NONE;

	if (!row->overflow && row->target < r->nr_targets)
		ns = target_measured_ns(&r->target[row->target]);
	return ns == M_NONE ? r->end_mono_ns - r->begin_mono_ns : ns;
}

static int rows_since(struct recording *r, const struct recording *now,
		      const struct recording *before)
{
	int err = 0;

	r->row = array_alloc((size_t)now->nr_rows + 1, sizeof(*r->row));
	if (!r->row)
		return -ENOMEM;
	for (u32 i = 0; i < now->nr_rows && !err; i++) {
		const struct m_row *old = before ? row_before(before, &now->row[i], i) : NULL;

		r->nr_rows++;
		err = row_since(&r->row[i], &now->row[i], old);
		r->row[i].measured_ns = row_measured_ns(r, &r->row[i]);
	}
	return err;
}

static int funcs_since(struct recording *r, const struct recording *now,
		       const struct recording *before)
{
	r->func = array_alloc((size_t)now->nr_funcs + 1, sizeof(*r->func));
	if (!r->func)
		return -ENOMEM;
	r->nr_funcs = now->nr_funcs;
	for (u32 i = 0; i < r->nr_funcs; i++) {
		r->func[i] = now->func[i];
		if (!before || i >= before->nr_funcs)
			continue;
		for (u32 k = 0; k < HB_FN_NR; k++)
			r->func[i].n[k] = less(r->func[i].n[k], before->func[i].n[k]);
		for (u32 k = 0; k < HB_CLASS_NR; k++)
			r->func[i].exits_by[k] = less(r->func[i].exits_by[k],
						      before->func[i].exits_by[k]);
	}
	return 0;
}

static void sums_since(struct recording *r, const struct recording *before)
{
	struct m_coverage *c = &r->coverage;

	for (u32 k = 0; k < HB_FN_NR; k++)
		c->n[k] = less(c->n[k], before->coverage.n[k]);
	for (u32 k = 0; k < HB_DROP_NR; k++)
		c->drop[k] = less(c->drop[k], before->coverage.drop[k]);
	c->unmatched = less(c->unmatched, before->coverage.unmatched);
	c->cold = less(c->cold, before->coverage.cold);
	c->cold_in_ns = less(c->cold_in_ns, before->coverage.cold_in_ns);
	for (u32 k = 0; k < HB_CTR_LOST_NR; k++)
		r->counters.lost[k] = less(r->counters.lost[k], before->counters.lost[k]);
	c->measured_ns = less(c->measured_ns, before->coverage.measured_ns);
	c->wall_ns = less(c->wall_ns, before->coverage.wall_ns);
	r->cost.hbprof_cpu_ns = less(r->cost.hbprof_cpu_ns, before->cost.hbprof_cpu_ns);
	r->cost.probe_ns = less(r->cost.probe_ns, before->cost.probe_ns);
	r->begin_mono_ns = before->end_mono_ns;
}

int since__init(struct since *s, const struct recording *now, const struct recording *before)
{
	struct recording *r = &s->rec;
	int err;

	*r = *now;
	r->row = NULL;
	r->func = NULL;
	r->target = NULL;
	r->nr_rows = r->nr_funcs = r->nr_targets = 0;
	if (before)
		sums_since(r, before);
	err = targets_since(r, now, before);
	if (!err)
		err = rows_since(r, now, before);
	if (!err)
		err = funcs_since(r, now, before);
	if (err)
		since__fini(s);
	return err;
}

void since__fini(struct since *s)
{
	struct recording *r = &s->rec;

	for (u32 i = 0; i < r->nr_rows; i++)
		for (u32 k = 0; k < HB_DIST_NR; k++)
			m_dist__fini(&r->row[i].dist[k]);
	free(r->row);
	free(r->func);
	free(r->target);
	*s = (struct since){0};
}
