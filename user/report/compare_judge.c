// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_judge.c - from samples to p-values: the ratio of each metric to the first side, its limits, and
 * how sure it is that there is one. What is said of all rows together is in compare_family.c.
 *
 * Each side has a distance from its value to its limits, in logarithms, at any critical value; the
 * limits of the difference follow by MOVER (Zou and Donner, 2008), which keeps them asymmetric. The
 * p-value is found by the critical value at which the limits just touch "no difference".
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/compare_pool.h"
#include "report/compare_side.h"
#include "util/array.h"

#define MAX_CRIT 60.0
#define HUGE_DF	 1e9

/* ---- two sides ---- */

/* Welch and Satterthwaite; the variances are those that the limits at two standard errors show. */
static double welch_df(const struct side_est *a, const struct side_est *b)
{
	double v[2], d[2];
	const struct side_est *s[2] = {a, b};

	for (u32 k = 0; k < 2; k++) {
		side_est__distance(s[k], 2, s[k]->df, d);
		v[k] = isfinite(d[0]) && isfinite(d[1]) ? (d[0] + d[1]) * (d[0] + d[1]) / 4 : 1;
	}
	if (!(v[0] + v[1] > 0))
		return fmin(a->df, b->df);
	return (v[0] + v[1]) * (v[0] + v[1]) / (v[0] * v[0] / a->df + v[1] * v[1] / b->df);
}

/* How far below (k = 0) or above (k = 1) log(B/A) its limit is. */
static double ratio_distance(const struct side_est *a, const struct side_est *b, double c,
			     double df, u32 k)
{
	double da[2], db[2];

	side_est__distance(a, c, df, da);
	side_est__distance(b, c, df, db);
	return hypot(db[k], da[1 - k]);
}

/* The two-sided p-value of a difference that is `gap` away from the limit's side k. */
static double p_of_gap(const struct side_est *a, const struct side_est *b, double df, double gap,
		       u32 k)
{
	double lo = 0, hi = MAX_CRIT;

	if (!(gap > 0) || ratio_distance(a, b, 1e-6, df, k) >= gap)
		return 1;
	for (int i = 0; i < 34 && hi - lo > 1e-5; i++) {
		double mid = (lo + hi) / 2;

		if (ratio_distance(a, b, mid, df, k) < gap)
			lo = mid;
		else
			hi = mid;
	}
	return stat_t_tail(lo, df);
}

/* ---- what the other rows tell ---- */

/* By run: what the rows of a capture know together of one metric. */
struct pools {
	struct pool of[COMPARE_MAX_RUNS];
};

static int fit_pool(const struct compare *c, const struct metric *m, u32 run, struct pool *p)
{
	struct pool_row *row = array_alloc(c->nr_rows, sizeof(*row));
	struct estimate e;
	int err = row ? 0 : -ENOMEM;
	u32 nr = 0;

	for (u32 i = 0; i < c->nr_rows && !err; i++) {
		err = metric_estimate(m, &c->row[i].sample[run], &e);
		if (!err && !e.few && e.var.plain > 0)
			row[nr++] = (struct pool_row){e.var, c->row[i].sample[run].nr_blocks};
	}
	if (!err)
		pool__fit(p, row, nr);
	free(row);
	return err;
}

static int fit_pools(const struct compare *c, const struct metric *m, struct pools *p)
{
	int err = 0;

	for (u32 side = 0; side < c->nr_sides && !err; side++)
		for (u32 i = 0; i < c->side[side].nr_runs && !err; i++)
			err = fit_pool(c, m, c->first_run[side] + i,
				       &p->of[c->first_run[side] + i]);
	return err;
}

/* A side of one run, with what the others of its capture lend it. */
static struct side_est pooled(const struct compare *c, const struct side_est *s, u32 side,
			      const struct pools *p)
{
	struct side_est out = *s;
	struct estimate *e = &out.run[0];
	struct pool_row row = {e->var, s->sample[0]->nr_blocks};
	double own = e->deff;

	if (s->nr > 1 || !(own > 0))
		return out;
	pool__apply(&p->of[c->first_run[side]], &row, &e->deff, &e->df);
	e->rel_se *= sqrt(e->deff / own);
	out.df = e->df;
	return out;
}

/* How far below and above its value a level lies for some time, by one standard deviation. */
static void lasting_distance(const struct compare *c, const struct side_est *s, u32 side,
			     const struct pools *p, double d[2])
{
	const struct pool *pool = &p->of[c->first_run[side]];
	struct side_est one = *s;
	struct estimate *e = &one.run[0];

	d[0] = d[1] = 0;
	if (s->nr > 1 || !(pool->lasting > 0))
		return;
	e->deff = e->var.plain;
	e->rel_se = e->rel_plain;
	side_est__run_distance(&one, 0, 1, HUGE_DF, d);
	for (u32 k = 0; k < 2; k++)
		d[k] *= sqrt(pool->lasting * s->sample[0]->nr_blocks);
}

/* Sets the ratio's limits and its own p-value. */
static void set_ratio(const struct compare *c, const struct side_est *a, const struct side_est *b,
		      struct compare_cell *cell)
{
	double delta = b->log - a->log, df = welch_df(a, b), t = stat_t_crit(COMPARE_LEVEL, df);
	bool better = a->m->more_better;
	double bad = log1p(c->opts->fail_over);

	cell->rlo = exp(delta - ratio_distance(a, b, t, df, 0));
	cell->rhi = exp(delta + ratio_distance(a, b, t, df, 1));
	if (!(cell->rlo > 0) || !isfinite(cell->rhi))
		return;
	cell->p = p_of_gap(a, b, df, fabs(delta), delta > 0 ? 0 : 1);
	if (c->opts->fail_over < 0)
		return;
	/* One-sided: only worse counts. */
	cell->worse_p = p_of_gap(a, b, df, (better ? -delta : delta) - bad, better ? 1 : 0) / 2;
}

/* The same p-values with what other rows know: those that are corrected for their number. */
static void set_pooled(const struct compare *c, const struct side_est *a, const struct side_est *b,
		       u32 side, const struct pools *pools, struct compare_cell *cell)
{
	struct side_est pa = pooled(c, a, 0, pools), pb = pooled(c, b, side, pools);
	struct compare_cell with = *cell;
	double delta = b->log - a->log, da[2], db[2];

	set_ratio(c, &pa, &pb, &with);
	cell->p_pooled = with.p;
	cell->worse_pooled = with.worse_p;
	lasting_distance(c, a, 0, pools, da);
	lasting_distance(c, b, side, pools, db);
	cell->lasting = delta > 0 ? hypot(db[0], da[1]) : hypot(db[1], da[0]);
}

/* ---- cells ---- */

static void cell__init(struct compare_cell *cell)
{
	*cell = (struct compare_cell){
		.value = NAN,
		.lo = NAN,
		.hi = NAN,
		.ratio = NAN,
		.rlo = NAN,
		.rhi = NAN,
		.p = NAN,
		.p_holm = NAN,
		.worse_p = NAN,
		.p_pooled = NAN,
		.worse_pooled = NAN,
		.effective = NAN,
		.df = NAN,
		.verdict = VERDICT_NONE,
	};
}

static void set_value(const struct side_est *s, const char *label, struct compare_cell *cell)
{
	double d[2], t;

	if (isnan(s->log)) {
		/* A mean of 0 ns is a value, though nothing can be divided by it. */
		if (s->nr == 1 && s->sample[0]->func)
			cell->value = s->run[0].value;
		for (u32 i = 0; s->m->kind == METRIC_COUNTER && i < s->nr; i++)
			if (s->sample[i]->func &&
			    !sample_counter_allowed(s->sample[i], s->m, label, cell->why,
						    sizeof(cell->why)))
				break;
		return;
	}
	cell->value = exp(s->log);
	if (s->nr == 1) {
		cell->value = s->run[0].value;
		if (s->run[0].few)
			return;
		cell->df = s->run[0].df;
		if (s->m->kind == METRIC_QUANTILE)
			cell->effective = s->sample[0]->bucketed / s->run[0].deff;
	}
	t = stat_t_crit(COMPARE_LEVEL, s->df);
	side_est__distance(s, t, s->df, d);
	cell->lo = cell->value * exp(-d[0]);
	cell->hi = cell->value * exp(d[1]);
}

static void judge(const struct compare *c, const struct compare_row *row, const struct side_est *a,
		  const struct side_est *b, u32 side, const struct pools *pools,
		  struct compare_cell *cell)
{
	if (!row->in[0] || !row->in[side])
		return;
	if (!compare_may_divide(c, row, a, b, side, cell))
		return;
	cell->ratio = exp(b->log - a->log);
	if (!compare_may_limit(c, a, b, side, cell))
		return;
	set_ratio(c, a, b, cell);
	set_pooled(c, a, b, side, pools, cell);
	if (isnan(cell->p)) {
		cell->rlo = cell->rhi = NAN;
		compare_cell__forbid(cell, VERDICT_FEW, "no 95% limits of this percentile");
		return;
	}
	cell->verdict = VERDICT_SAME;
}

static int judge_row(struct compare *c, struct compare_row *row, u32 metric,
		     const struct pools *pools, struct side_est *a, struct side_est *b)
{
	int err = side_est__init(c, row, c->metric[metric], 0, a);

	for (u32 side = 0; !err && side < c->nr_sides; side++) {
		struct compare_cell *cell = compare_cell(c, row, metric, side);

		cell__init(cell);
		err = side_est__init(c, row, c->metric[metric], side, b);
		if (err)
			break;
		set_value(b, c->side[side].label, cell);
		if (side)
			judge(c, row, a, b, side, pools, cell);
	}
	return err;
}

int compare__judge(struct compare *c)
{
	struct side_est *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct pools *pools = calloc(1, sizeof(*pools));
	int err = a && b && pools ? 0 : -ENOMEM;

	for (u32 m = 0; !err && m < c->nr_metrics; m++) {
		err = fit_pools(c, c->metric[m], pools);
		for (u32 i = 0; !err && i < c->nr_rows; i++)
			err = judge_row(c, &c->row[i], m, pools, a, b);
	}
	if (!err)
		err = compare__correct(c);
	free(pools);
	free(a);
	free(b);
	return err;
}
