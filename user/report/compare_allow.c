// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* compare_allow.c - what forbids a ratio, limits or a verdict, and the reason that is printed for it. */
#include <math.h>
#include <stdio.h>

#include "report/compare_side.h"

#define SIZE_SHIFT 0.25 /* share of calls in other size classes that forbids a comparison */
#define SHARE_GAP  0.10 /* in how many more of its calls one side has a counter than another */
#define MAX_LOST   0.10 /* share of calls without a sample that forbids one */

void compare_cell__forbid(struct compare_cell *cell, enum verdict v, const char *why)
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
		compare_cell__forbid(cell, VERDICT_NOT, why);
		return false;
	}
	for (u32 k = 0; k < 2; k++) {
		for (u32 i = 0; i < both[k]->nr; i++) {
			if (!(both[k]->sample[i]->lost > MAX_LOST))
				continue;
			snprintf(text, sizeof(text), "%s lost %.0f%% of the calls",
				 c->side[k ? side : 0].label, both[k]->sample[i]->lost * 100);
			compare_cell__forbid(cell, VERDICT_NOT, text);
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

static void counter_shares(const struct side_est *s, double *least, double *most)
{
	*least = 1;
	*most = 0;
	for (u32 i = 0; i < s->nr; i++) {
		double share = sample_counter_share(s->sample[i], s->m);

		*least = fmin(*least, share);
		*most = fmax(*most, share);
	}
}

/* Calls without a counter are the longer ones: means of other parts of the calls are no comparison. */
static bool shares_alike(const struct compare *c, const struct side_est *a,
			 const struct side_est *b, u32 side, char *why, size_t len)
{
	double a_least, a_most, b_least, b_most;

	counter_shares(a, &a_least, &a_most);
	counter_shares(b, &b_least, &b_most);
	if (a_most - b_least <= SHARE_GAP && b_most - a_least <= SHARE_GAP)
		return true;
	snprintf(why, len, "%s of other parts of the calls: %.0f%% in %s, %.0f%% in %s", a->m->name,
		 a_least * 100, c->side[0].label, b_least * 100, c->side[side].label);
	return false;
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
			compare_cell__forbid(cell, VERDICT_NOT, text);
			return false;
		}
	}
	if (a->m->kind == METRIC_COUNTER && !shares_alike(c, a, b, side, text, sizeof(text))) {
		compare_cell__forbid(cell, VERDICT_NOT, text);
		return false;
	}
	if (compare_size_shift(c, row, side) > SIZE_SHIFT) {
		compare_cell__forbid(cell, VERDICT_NOT, "other payload sizes: see --by size");
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
		compare_cell__forbid(cell, VERDICT_NOT, text);
	} else {
		snprintf(text, sizeof(text), "%s has calls in %u intervals, %u are needed", label,
			 s->sample[0]->nr_busy, STAT_MIN_BLOCKS);
		compare_cell__forbid(cell, VERDICT_FEW, text);
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
			compare_cell__forbid(cell, VERDICT_NOT, text);
			return;
		}
	}
	compare_cell__forbid(cell, VERDICT_FEW,
			     a->m->kind == METRIC_QUANTILE
				     ? "no such percentile, or not in every run"
				     : "not in every run");
}

bool compare_may_divide(const struct compare *c, const struct compare_row *row,
			const struct side_est *a, const struct side_est *b, u32 side,
			struct compare_cell *cell)
{
	if (a->nr != b->nr && (a->nr == 1 || b->nr == 1)) {
		compare_cell__forbid(cell, VERDICT_NOT,
				     "one run against several: its spread is not known");
		return false;
	}
	if (a->m->kind == METRIC_COUNTER && !value_allowed(c, row, a, b, side, cell))
		return false;
	if (isnan(a->log) || isnan(b->log)) {
		explain_no_value(c, a, b, side, cell);
		return false;
	}
	if (!side_allowed(c, a, b, side, cell))
		return false;
	return a->m->kind == METRIC_RATE || value_allowed(c, row, a, b, side, cell);
}

bool compare_may_limit(const struct compare *c, const struct side_est *a, const struct side_est *b,
		       u32 side, struct compare_cell *cell)
{
	return enough_intervals(c, a, c->side[0].label, cell) &&
	       enough_intervals(c, b, c->side[side].label, cell);
}
