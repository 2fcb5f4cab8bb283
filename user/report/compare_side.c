// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_side.c - the value of a metric at a side, and the distance from it to its lower and upper limit:
 * order statistics for quantiles, the standard error for the rest, the spread between runs where
 * there are several.
 */
#include "report/compare_side.h"

#include <math.h>

void side_est__run_distance(const struct side_est *s, u32 i, double c, double df, double d[2])
{
	const struct estimate *e = &s->run[i];
	double alpha, z, lo, hi, n;

	d[0] = d[1] = INFINITY;
	if (e->few)
		return;
	if (s->m->kind != METRIC_QUANTILE) {
		d[0] = d[1] = c * e->rel_se;
		return;
	}
	if (!(c > 0)) {
		d[0] = d[1] = 0;
		return;
	}
	/* Korn and Graubard (1998): fewer calls, for being correlated and for not knowing how. */
	alpha = stat_t_tail(c, df);
	z = alpha > 0 ? -stat_norm_quantile(alpha / 2) : c;
	n = s->sample[i]->bucketed / e->deff * (z / c) * (z / c);
	stat_rank_limits(n, s->m->q / (double)DIST_ONE, alpha, &lo, &hi);
	if (lo >= 0)
		d[0] = log(e->value / fmax(sample_at(s->sample[i], lo), 0.5));
	if (hi <= 1)
		d[1] = log(sample_at(s->sample[i], hi) / e->value);
	d[0] = d[0] < 0 ? 0 : d[0];
	d[1] = d[1] < 0 ? 0 : d[1];
}

/* One run: how its calls vary. Several: how they differ, and not less than their calls vary. */
void side_est__distance(const struct side_est *s, double c, double df, double d[2])
{
	double one[2], within[2] = {0, 0}, between;

	for (u32 i = 0; i < s->nr; i++) {
		side_est__run_distance(s, i, c, df, one);
		for (u32 k = 0; k < 2; k++)
			if (s->nr == 1 || isfinite(one[k]))
				within[k] += one[k] * one[k];
	}
	between = s->nr > 1 ? c * s->sd / sqrt(s->nr) : 0;
	for (u32 k = 0; k < 2; k++) {
		d[k] = sqrt(within[k]) / s->nr;
		d[k] = hypot(between > d[k] ? between : d[k], s->sys[k]);
	}
}

static double log_ratio(double a, double b)
{
	return a > 0 && b > 0 ? log(a / b) : 0;
}

static void note_systematic(struct side_est *s, u32 i)
{
	const struct estimate *e = &s->run[i];
	double probe, edge[2] = {0, 0}, d;

	if (s->m->kind == METRIC_RATE || s->m->kind == METRIC_COUNTER)
		return;
	probe = s->sample[i]->uncertainty_ns / e->value;
	if (s->m->kind == METRIC_QUANTILE) {
		edge[0] = log_ratio(e->value, fmax(e->edge_lo, 0.5));
		edge[1] = log_ratio(e->edge_hi, e->value);
	}
	for (u32 k = 0; k < 2; k++) {
		d = hypot(edge[k], probe);
		s->sys[k] = d > s->sys[k] ? d : s->sys[k];
	}
}

int metric_estimate(const struct metric *m, const struct sample *s, struct estimate *e)
{
	switch (m->kind) {
	case METRIC_MEAN:
		return sample_mean(s, e);
	case METRIC_QUANTILE:
		return sample_quantile(s, m->q, e);
	case METRIC_RATE:
		return sample_rate(s, e);
	case METRIC_COUNTER:
		return sample_counter(s, m, e);
	}
	*e = (struct estimate){.value = NAN};
	return 0;
}

static void combine_runs(struct side_est *s)
{
	double sum = 0, sq = 0;

	for (u32 i = 0; i < s->nr; i++)
		sum += log(s->run[i].value);
	s->log = sum / s->nr;
	for (u32 i = 0; i < s->nr; i++)
		sq += (log(s->run[i].value) - s->log) * (log(s->run[i].value) - s->log);
	s->sd = s->nr > 1 ? sqrt(sq / (s->nr - 1)) : 0;
	s->df = s->nr > 1 ? s->nr - 1 : s->run[0].df;
}

/* A run that lacks the row or the value leaves the side without one: the others are not it all. */
int side_est__init(const struct compare *c, const struct compare_row *row, const struct metric *m,
		   u32 side, struct side_est *s)
{
	u32 first = c->first_run[side];
	bool all = true;
	int err;

	*s = (struct side_est){.m = m, .nr = c->side[side].nr_runs, .log = NAN};
	for (u32 i = 0; i < s->nr; i++) {
		s->sample[i] = &row->sample[first + i];
		err = metric_estimate(m, s->sample[i], &s->run[i]);
		if (err)
			return err;
		all &= s->sample[i]->func && s->run[i].value > 0;
	}
	if (!all)
		return 0;
	combine_runs(s);
	for (u32 i = 0; i < s->nr; i++)
		note_systematic(s, i);
	return 0;
}
