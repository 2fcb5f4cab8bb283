// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_metric.c - from samples to verdicts: the value of each metric at each side, its limits,
 * the ratio to the first side, and what may be said of it.
 *
 * Everything is in logarithms, in which a ratio is a difference. Each side has a distance from its
 * value to its lower and to its upper limit, at any critical value; the limits of the difference
 * follow by MOVER (Zou and Donner, 2008), which keeps them asymmetric. The p-value is found by the
 * critical value at which the limits just touch "no difference".
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "report/compare_pool.h"
#include "util/array.h"

#define MAX_CRIT   60.0
#define HUGE_DF	   1e9
#define SIZE_SHIFT 0.25 /* share of calls in other size classes that forbids a comparison */
#define MAX_LOST   0.10 /* share of calls without a sample that forbids one */

#define LATENCY(name, title, kind, q)                             \
	{                                                         \
		name, title, kind, q, false, false, NULL, NULL, 0 \
	}
#define COUNTER(name, title, asked)                                         \
	{                                                                   \
		name, title, METRIC_COUNTER, 0, asked, false, name, NULL, 0 \
	}
#define QUOTIENT(name, title, asked, better, over, under, scale)                  \
	{                                                                         \
		name, title, METRIC_COUNTER, 0, asked, better, over, under, scale \
	}

const struct metric compare_metrics[] = {
	LATENCY("mean", "mean", METRIC_MEAN, 0),
	LATENCY("p50", "P50", METRIC_QUANTILE, DIST_P50),
	LATENCY("p90", "P90", METRIC_QUANTILE, DIST_P90),
	LATENCY("p99", "P99", METRIC_QUANTILE, DIST_P99),
	LATENCY("p99.9", "P99.9", METRIC_QUANTILE, DIST_P999),
	{"calls/s", "calls/s", METRIC_RATE, 0, false, true, NULL, NULL, 0},
	COUNTER("cycles", "cycles", false),
	COUNTER("instructions", "instructions", false),
	QUOTIENT("ipc", "IPC", false, true, "instructions", "cycles", 1),
	COUNTER("cache-misses", "cache misses", false),
	COUNTER("cache-references", "cache references", true),
	QUOTIENT("cache-miss-rate", "cache miss rate", true, false, "cache-misses",
		 "cache-references", 100),
	COUNTER("branches", "branches", true),
	COUNTER("branch-misses", "branch misses", true),
	COUNTER("L1-dcache-load-misses", "L1d misses", true),
	COUNTER("LLC-load-misses", "LLC misses", true),
	COUNTER("dTLB-load-misses", "dTLB misses", true),
	COUNTER("page-faults", "page faults", true),
	COUNTER("context-switches", "context switches", true),
	QUOTIENT("task-clock", "task clock", true, false, "task-clock", NULL, METRIC_NS),
	QUOTIENT("on-cpu", "on CPU", true, false, "on-cpu", NULL, METRIC_NS),
	QUOTIENT("waiting", "waiting", true, false, "waiting", NULL, METRIC_NS),
	QUOTIENT("blocked", "blocked", true, false, "blocked", NULL, METRIC_NS),
};
const u32 compare_nr_metrics = sizeof(compare_metrics) / sizeof(compare_metrics[0]);

const char *const verdict_names[VERDICT_NR] = {
	[VERDICT_NONE] = "",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_MORE] = "more",
	[VERDICT_FEWER] = "fewer",
	[VERDICT_SAME] = "no difference shown",
	[VERDICT_FEW] = "too few calls",
	[VERDICT_NOT] = "not comparable",
};

const struct metric *compare_metric(const char *name)
{
	for (u32 i = 0; i < compare_nr_metrics; i++)
		if (!strcasecmp(compare_metrics[i].name, name))
			return &compare_metrics[i];
	return NULL;
}

/* ---- one side ---- */

struct side_est {
	const struct metric *m;
	const struct sample *sample[COMPARE_MAX_RUNS];
	struct estimate run[COMPARE_MAX_RUNS];
	u32 nr;
	double log;    /* mean of the runs' logarithms; NaN: no value */
	double sd, df; /* of the runs' logarithms, when there are several; else the run's df */
	double sys[2]; /* below and above: bucket and probe, which no number of calls makes less */
};

/* Distances to the limits at critical value c of Student's t with df. */
static void run_distance(const struct side_est *s, u32 i, double c, double df, double d[2])
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
static void side_distance(const struct side_est *s, double c, double df, double d[2])
{
	double one[2], within[2] = {0, 0}, between;

	for (u32 i = 0; i < s->nr; i++) {
		run_distance(s, i, c, df, one);
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

static int run_estimate(const struct metric *m, const struct sample *s, struct estimate *e)
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
static int side_estimate(const struct compare *c, const struct compare_row *row,
			 const struct metric *m, u32 side, struct side_est *s)
{
	u32 first = c->first_run[side];
	bool all = true;
	int err;

	*s = (struct side_est){.m = m, .nr = c->side[side].nr_runs, .log = NAN};
	for (u32 i = 0; i < s->nr; i++) {
		s->sample[i] = &row->sample[first + i];
		err = run_estimate(m, s->sample[i], &s->run[i]);
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

/* ---- two sides ---- */

/* Welch and Satterthwaite; the variances are those that the limits at two standard errors show. */
static double welch_df(const struct side_est *a, const struct side_est *b)
{
	double v[2], d[2];
	const struct side_est *s[2] = {a, b};

	for (u32 k = 0; k < 2; k++) {
		side_distance(s[k], 2, s[k]->df, d);
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

	side_distance(a, c, df, da);
	side_distance(b, c, df, db);
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
		err = run_estimate(m, &c->row[i].sample[run], &e);
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
	run_distance(&one, 0, 1, HUGE_DF, d);
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

/* ---- what forbids a verdict ---- */

static void forbid(struct compare_cell *cell, enum verdict v, const char *why)
{
	cell->verdict = v;
	snprintf(cell->why, sizeof(cell->why), "%s", why);
}

double compare_size_shift(const struct compare *c, const struct compare_row *row, u32 side)
{
	double n[2][HB_SIZE_CLASSES] = {{0}}, all[2] = {0}, shift = 0;
	u32 which[2] = {0, side};

	for (u32 k = 0; k < 2; k++) {
		for (u32 i = 0; i < c->side[which[k]].nr_runs; i++)
			for (u32 s = 0; s < HB_SIZE_CLASSES; s++)
				n[k][s] +=
					(double)row->sample[c->first_run[which[k]] + i].size_n[s];
		for (u32 s = 0; s < HB_SIZE_CLASSES; s++)
			all[k] += n[k][s];
	}
	if (!(all[0] > 0) || !(all[1] > 0))
		return 0;
	for (u32 s = 0; s < HB_SIZE_CLASSES; s++)
		shift += fabs(n[0][s] / all[0] - n[1][s] / all[1]) / 2;
	return shift;
}

/* Of the run's probe; false and a reason when its times say nothing. */
static bool probe_allows(const struct sample *s, double value, const char *label, char *why,
			 size_t len)
{
	if (!s->calibrated)
		snprintf(why, len, "the probe's cost in %s is not known", label);
	else if (value < s->resolution_ns)
		snprintf(why, len, "%s is shorter than the probe can tell", label);
	else if (s->bucketed < 0.99 * (double)s->dist.count)
		snprintf(why, len, "%s has no histogram of a part of the calls", label);
	else
		return true;
	return false;
}

/* What is wrong with a whole side, or with the calls that it has. */
static bool side_allowed(const struct compare *c, const struct side_est *a,
			 const struct side_est *b, u32 side, struct compare_cell *cell)
{
	const struct side_est *both[2] = {a, b};
	const char *why = compare_forbids(c, side);
	char text[COMPARE_WHY];

	if (why) {
		forbid(cell, VERDICT_NOT, why);
		return false;
	}
	for (u32 k = 0; k < 2; k++) {
		for (u32 i = 0; i < both[k]->nr; i++) {
			if (!(both[k]->sample[i]->lost > MAX_LOST))
				continue;
			snprintf(text, sizeof(text), "%s lost %.0f%% of the calls",
				 c->side[k ? side : 0].label, both[k]->sample[i]->lost * 100);
			forbid(cell, VERDICT_NOT, text);
			return false;
		}
	}
	return true;
}

static bool run_allowed(const struct side_est *s, u32 run, const char *label, char *why, size_t len)
{
	if (s->m->kind == METRIC_COUNTER)
		return sample_counter_allowed(s->sample[run], s->m, label, why, len);
	return probe_allows(s->sample[run], s->run[run].value, label, why, len);
}

static bool value_allowed(const struct compare *c, const struct compare_row *row,
			  const struct side_est *a, const struct side_est *b, u32 side,
			  struct compare_cell *cell)
{
	const struct side_est *both[2] = {a, b};
	char text[COMPARE_WHY];

	for (u32 k = 0; k < 2; k++) {
		for (u32 i = 0; i < both[k]->nr; i++) {
			if (run_allowed(both[k], i, c->side[k ? side : 0].label, text,
					sizeof(text)))
				continue;
			forbid(cell, VERDICT_NOT, text);
			return false;
		}
	}
	if (compare_size_shift(c, row, side) > SIZE_SHIFT) {
		forbid(cell, VERDICT_NOT, "other payload sizes: see --by size");
		return false;
	}
	return true;
}

static bool enough_intervals(const struct compare *c, const struct side_est *s, const char *label,
			     struct compare_cell *cell)
{
	char text[COMPARE_WHY];

	if (s->nr > 1 || !s->run[0].few)
		return true;
	if (!s->sample[0]->complete) {
		snprintf(text, sizeof(text), "the intervals of %s do not add up to its calls",
			 label);
		forbid(cell, VERDICT_NOT, text);
	} else {
		snprintf(text, sizeof(text), "%s has calls in %u intervals, %u are needed", label,
			 s->sample[0]->nr_busy, STAT_MIN_BLOCKS);
		forbid(cell, VERDICT_FEW, text);
	}
	return false;
}

/* A side without a logarithm: a value is 0, not known, or not there in every run. */
static void explain_no_value(const struct compare *c, const struct side_est *a,
			     const struct side_est *b, u32 side, struct compare_cell *cell)
{
	const struct side_est *both[2] = {a, b};
	char text[COMPARE_WHY];

	for (u32 k = 0; k < 2; k++) {
		const char *label = c->side[k ? side : 0].label;

		for (u32 i = 0; i < both[k]->nr; i++) {
			double value = both[k]->run[i].value;

			if (!both[k]->sample[i]->func)
				continue;
			if (value == 0)
				snprintf(text, sizeof(text),
					 "%s of %s: 0, to which there is no ratio", a->m->name,
					 label);
			else if (isnan(value) && a->m->kind == METRIC_RATE)
				snprintf(text, sizeof(text),
					 "how long %s was measured in all is not known", label);
			else
				continue;
			forbid(cell, VERDICT_NOT, text);
			return;
		}
	}
	forbid(cell, VERDICT_FEW,
	       a->m->kind == METRIC_QUANTILE ? "no such percentile, or not in every run"
					     : "not in every run");
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
	side_distance(s, t, s->df, d);
	cell->lo = cell->value * exp(-d[0]);
	cell->hi = cell->value * exp(d[1]);
}

static void judge(const struct compare *c, const struct compare_row *row, const struct side_est *a,
		  const struct side_est *b, u32 side, const struct pools *pools,
		  struct compare_cell *cell)
{
	if (!row->in[0] || !row->in[side])
		return;
	if (a->nr != b->nr && (a->nr == 1 || b->nr == 1)) {
		forbid(cell, VERDICT_NOT, "one run against several: its spread is not known");
		return;
	}
	if (a->m->kind == METRIC_COUNTER && !value_allowed(c, row, a, b, side, cell))
		return;
	if (isnan(a->log) || isnan(b->log)) {
		explain_no_value(c, a, b, side, cell);
		return;
	}
	if (!side_allowed(c, a, b, side, cell))
		return;
	if (a->m->kind != METRIC_RATE && !value_allowed(c, row, a, b, side, cell))
		return;
	cell->ratio = exp(b->log - a->log);
	if (!enough_intervals(c, a, c->side[0].label, cell) ||
	    !enough_intervals(c, b, c->side[side].label, cell))
		return;
	set_ratio(c, a, b, cell);
	set_pooled(c, a, b, side, pools, cell);
	if (isnan(cell->p)) {
		cell->rlo = cell->rhi = NAN;
		forbid(cell, VERDICT_FEW, "no 95% limits of this percentile");
		return;
	}
	cell->verdict = VERDICT_SAME;
}

static int judge_row(struct compare *c, struct compare_row *row, u32 metric,
		     const struct pools *pools, struct side_est *a, struct side_est *b)
{
	int err = side_estimate(c, row, c->metric[metric], 0, a);

	for (u32 side = 0; !err && side < c->nr_sides; side++) {
		struct compare_cell *cell = compare_cell(c, row, metric, side);

		cell__init(cell);
		err = side_estimate(c, row, c->metric[metric], side, b);
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
