// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_sample.c - histograms as curves, and estimates with their variance over the intervals of
 * the recording. What a variance means is in compare_stat.c.
 */
#include "report/compare_sample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/measured.h"
#include "util/array.h"

void sample__init(struct sample *s)
{
	*s = (struct sample){.measured_ns = M_NONE};
	m_dist__init(&s->dist);
	sizes__init(&s->sizes);
	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__init(&s->ctr[i]);
}

void sample__fini(struct sample *s)
{
	for (u32 i = 0; s->block && i < s->nr_blocks; i++)
		m_dist__fini(&s->block[i].dist);
	free(s->block);
	free(s->ctr_block);
	free(s->row);
	m_dist__fini(&s->dist);
	sizes__fini(&s->sizes);
	free(s->edge);
	free(s->below);
	sample__init(s);
}

int sample__add_row(struct sample *s, const struct m_row *row, const struct m_func *f)
{
	if (array_grow((void **)&s->row, s->nr_rows, &s->cap_rows, sizeof(*s->row)))
		return -ENOMEM;
	s->row[s->nr_rows++] = row;
	if (!s->func)
		s->func = f;
	if (__builtin_add_overflow(s->count, row->count, &s->count))
		s->count = M_NONE - 1;
	/* Entries of the same codec are inside as well, and take nothing from what is its own. */
	s->inside_ns += (double)row->dist[HB_DIST_OUTER].sum_ns -
			(double)row->dist[HB_DIST_OUTER_EXC].sum_ns;
	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__merge(&s->ctr[i], &row->ctr[i]);
	if (row->size_class < HB_SIZE_CLASSES)
		s->size_n[row->size_class] += row->count;
	if (m_dist__merge(&s->dist, &row->dist[HB_DIST_LEAF]) ||
	    m_dist__merge(&s->dist, &row->dist[HB_DIST_OUTER]))
		return -ENOMEM;
	return sizes__add(&s->sizes, row);
}

/* ---- the curve ---- */

static double clamped(const struct m_dist *d, u32 idx, bool upper)
{
	double v = (double)hb_hist_lower(idx + upper), most = (double)d->max_ns + 1;

	if (d->min_ns != M_NONE && v < (double)d->min_ns)
		v = (double)d->min_ns;
	return d->max_ns != M_NONE && v > most ? most : v;
}

static int build_curve(struct sample *s)
{
	const struct m_dist *d = &s->dist;
	double n = 0;

	s->edge = array_alloc(2 * (size_t)d->nr_buckets + 1, sizeof(*s->edge));
	s->below = array_alloc(2 * (size_t)d->nr_buckets + 1, sizeof(*s->below));
	if (!s->edge || !s->below)
		return -ENOMEM;
	for (u32 i = 0; i < d->nr_buckets; i++) {
		s->edge[2 * i] = clamped(d, d->bucket[i].idx, false);
		s->edge[2 * i + 1] = clamped(d, d->bucket[i].idx, true);
		s->below[2 * i] = n;
		n += (double)d->bucket[i].n;
		s->below[2 * i + 1] = n;
	}
	s->nr_edges = 2 * d->nr_buckets;
	s->bucketed = n;
	return 0;
}

/* The blocks are all of it, give or take what a last reading can differ by. */
static bool blocks_complete(const struct sample *s)
{
	double n = 0, sum = 0, kept = 0, all = (double)s->dist.count, time = (double)s->dist.sum_ns;
	double kept_all = (double)dist_bucketed(&s->dist);

	for (u32 i = 0; i < s->nr_blocks; i++) {
		n += (double)s->block[i].dist.count;
		sum += (double)s->block[i].dist.sum_ns;
		kept += (double)dist_bucketed(&s->block[i].dist);
	}
	return fabs(n - all) <= 0.001 * all && fabs(sum - time) <= 0.01 * time + 1 &&
	       fabs(kept - kept_all) <= 0.001 * kept_all;
}

int sample__finish(struct sample *s, const struct recording *r)
{
	s->measured_ns = rows_measured_ns(r, s->row, s->nr_rows);
	for (u32 i = 0; i < s->nr_blocks; i++)
		s->nr_busy += s->block[i].dist.count > 0;
	s->complete = blocks_complete(s);
	return build_curve(s);
}

/* The bucket that holds the call of that number; the outermost ones for what is beyond. */
static u32 bucket_of_rank(const struct sample *s, double rank)
{
	u32 lo = 0, hi = s->nr_edges / 2 - 1;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (s->below[2 * mid + 1] < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double sample_at(const struct sample *s, double fraction)
{
	double rank = fraction * s->bucketed, part;
	u32 b;

	if (!s->nr_edges)
		return NAN;
	b = 2 * bucket_of_rank(s, rank);
	part = (rank - s->below[b]) / (s->below[b + 1] - s->below[b]);
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return s->edge[b] + part * (s->edge[b + 1] - s->edge[b]);
}

/* The first bucket that ends above v. */
static u32 bucket_of_value(const struct sample *s, double v)
{
	u32 lo = 0, hi = s->nr_edges / 2;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (s->edge[2 * mid + 1] <= v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double part_below(const struct sample *s, u32 b, double v)
{
	double width = s->edge[2 * b + 1] - s->edge[2 * b], part;

	part = width > 0 ? (v - s->edge[2 * b]) / width : 0;
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

double sample_below(const struct sample *s, double v)
{
	u32 b = bucket_of_value(s, v);

	if (!s->nr_edges || !(s->bucketed > 0))
		return NAN;
	if (b == s->nr_edges / 2)
		return 1;
	return (s->below[2 * b] + part_below(s, b, v) * (double)s->dist.bucket[b].n) / s->bucketed;
}

/* ---- estimates ---- */

/* Calls of a block below a value that lies in bucket idx, `part` of which is below it. */
static double block_below(const struct m_dist *d, u32 idx, double part, double *all)
{
	double below = 0;

	*all = 0;
	for (u32 i = 0; i < d->nr_buckets; i++) {
		double n = (double)d->bucket[i].n;

		*all += n;
		if (d->bucket[i].idx < idx)
			below += n;
		else if (d->bucket[i].idx == idx)
			below += n * part;
	}
	return below;
}

bool sample_can_vary(const struct sample *s)
{
	return s->complete && s->nr_busy >= STAT_MIN_BLOCKS;
}

/* floor: the variance of independent calls; 0: not known, and the parts are in units of their own. */
static void set_variance(struct estimate *e, const struct stat_var *var, double floor)
{
	double unit = floor > 0 ? floor : var->plain;

	e->df = var->df;
	if (!(unit > 0))
		return;
	if (floor > 0)
		e->deff = var->v / floor;
	e->var = *var;
	e->var.v /= unit;
	e->var.plain /= unit;
	e->var.slow /= unit;
}

static int quantile_deff(const struct sample *s, double v, u32 b, struct estimate *e)
{
	double *z = array_alloc(s->nr_blocks, sizeof(*z)), *n, below = 0, all = 0, p, floor;
	double part = part_below(s, b, v);
	struct stat_var var;

	n = array_alloc(s->nr_blocks, sizeof(*n));
	if (!z || !n) {
		free(z);
		free(n);
		return -ENOMEM;
	}
	for (u32 i = 0; i < s->nr_blocks; i++) {
		z[i] = block_below(&s->block[i].dist, s->dist.bucket[b].idx, part, &n[i]);
		below += z[i];
		all += n[i];
	}
	p = below / all;
	for (u32 i = 0; i < s->nr_blocks; i++)
		z[i] -= p * n[i];
	floor = all * p * (1 - p);
	stat_sum_variance(z, s->nr_blocks, floor, &var);
	set_variance(e, &var, floor);
	if (!(e->deff > 0))
		e->deff = 1;
	free(z);
	free(n);
	return 0;
}

int sample_quantile(const struct sample *s, u32 q, struct estimate *e)
{
	u64 v = dist_quantile(&s->dist, q);
	u32 b;

	*e = (struct estimate){.value = NAN, .deff = NAN, .rel_se = NAN, .df = NAN};
	if (v == M_NONE || !s->nr_edges)
		return 0;
	e->value = (double)v;
	b = bucket_of_value(s, e->value);
	b = b < s->nr_edges / 2 ? b : s->nr_edges / 2 - 1;
	e->edge_lo = s->edge[2 * b];
	e->edge_hi = s->edge[2 * b + 1];
	if (!sample_can_vary(s)) {
		e->few = true;
		return 0;
	}
	return quantile_deff(s, e->value, b, e);
}

int sample_ratio_error(const struct sample *s, const double *y, const double *x, double floor,
		       struct estimate *e)
{
	double *z = array_alloc(s->nr_blocks, sizeof(*z)), sy = 0, sx = 0;
	struct stat_var var;

	if (!z)
		return -ENOMEM;
	for (u32 i = 0; i < s->nr_blocks; i++) {
		sy += y[i];
		sx += x[i];
	}
	for (u32 i = 0; i < s->nr_blocks; i++)
		z[i] = y[i] - sy / sx * x[i];
	stat_sum_variance(z, s->nr_blocks, floor, &var);
	e->rel_se = sy > 0 ? sqrt(var.v) / sy : NAN;
	e->rel_plain = sy > 0 ? sqrt(var.plain) / sy : NAN;
	set_variance(e, &var, floor);
	free(z);
	return 0;
}

/* What the sum would vary by if the calls were independent. */
static double independent_variance(const struct sample *s, double mean)
{
	double v = 0;

	for (u32 i = 0; i < s->dist.nr_buckets; i++) {
		double at = (s->edge[2 * i] + s->edge[2 * i + 1]) / 2 - mean;

		v += (double)s->dist.bucket[i].n * at * at;
	}
	return v;
}

static int blocks_error(const struct sample *s, bool rate, double mean, struct estimate *e)
{
	double *y = array_alloc(s->nr_blocks, sizeof(*y));
	double *x = array_alloc(s->nr_blocks, sizeof(*x));
	int err = -ENOMEM;

	if (!y || !x)
		goto out;
	for (u32 i = 0; i < s->nr_blocks; i++) {
		const struct sample_block *b = &s->block[i];

		y[i] = (double)(rate ? b->dist.count : b->dist.sum_ns);
		x[i] = rate ? b->seconds : (double)b->dist.count;
	}
	err = sample_ratio_error(s, y, x, rate ? 0 : independent_variance(s, mean), e);
out:
	free(y);
	free(x);
	return err;
}

int sample_mean(const struct sample *s, struct estimate *e)
{
	*e = (struct estimate){.value = NAN, .deff = NAN, .rel_se = NAN, .df = NAN};
	if (!s->dist.count)
		return 0;
	e->value = (double)s->dist.sum_ns / (double)s->dist.count;
	e->few = !sample_can_vary(s);
	return e->few ? 0 : blocks_error(s, false, e->value, e);
}

int sample_rate(const struct sample *s, struct estimate *e)
{
	double seconds = 0;

	*e = (struct estimate){.value = NAN, .deff = NAN, .rel_se = NAN, .df = NAN};
	if (!s->measured_ns || s->measured_ns == M_NONE)
		return 0;
	e->value = (double)s->count * 1e9 / (double)s->measured_ns;
	for (u32 i = 0; i < s->nr_blocks; i++)
		seconds += s->block[i].seconds;
	e->few = !sample_can_vary(s) || !(seconds > 0);
	return e->few ? 0 : blocks_error(s, true, 0, e);
}
