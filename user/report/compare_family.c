// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_family.c - the rows of one metric and side as one family of tests: corrected p-values, the
 * verdicts, and what many rows say together. How each p-value comes about is in compare_judge.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/compare.h"
#include "report/compare_pool.h"
#include "util/array.h"

#define OWN_AGREES 5   /* a row's own p-value counts so many times */
#define BEYOND	   3.0 /* times what levels move by within the recordings */
#define ALIKE	   0.2 /* of the middle: quartiles that are so near are one factor */

/*
 * One p-value of each row, corrected for the number of rows. own: with the row's own variance; shared: with
 * the other rows' knowledge of it, which is worth nothing where the rows move together. So the own
 * p-value has to agree, at a fifth of the level: where all rows are right or wrong at once it alone
 * keeps the level, as far as a row's own limits do, and those of slow movement are too narrow. What the
 * own p-values show by themselves needs no sharing.
 */
static int correct_family(double *own, double *shared, u32 nr, double *out)
{
	int err;

	for (u32 i = 0; i < nr; i++)
		out[i] = own[i] * OWN_AGREES < 1 ? own[i] * OWN_AGREES : 1;
	err = stat_holm(own, nr);
	if (!err)
		err = stat_holm(shared, nr);
	for (u32 i = 0; i < nr && !err; i++) {
		out[i] = shared[i] > out[i] ? shared[i] : out[i];
		out[i] = own[i] < out[i] ? own[i] : out[i];
		if (isnan(own[i]))
			out[i] = NAN;
	}
	return err;
}

static enum verdict verdict_of(const struct compare_cell *cell, enum metric_kind kind)
{
	if (!(cell->p_holm <= COMPARE_LEVEL))
		return VERDICT_SAME;
	if (kind == METRIC_RATE || kind == METRIC_COUNTER)
		return cell->ratio > 1 ? VERDICT_MORE : VERDICT_FEWER;
	return cell->ratio > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
}

/*
 * What moves slowly against the recording makes every p-value too small, in all rows at once where they share
 * it. So a verdict needs more than the distance over which levels are seen to move.
 */
static void withhold(const struct compare *c, const struct metric *m, struct compare_cell *cell)
{
	double shift = log(cell->ratio), bad = log1p(c->opts->fail_over);
	double least = BEYOND * cell->lasting;
	bool hidden = cell->p_holm <= COMPARE_LEVEL && !(fabs(shift) > least);

	if (hidden)
		cell->p_holm = NAN;
	if (cell->worse_p <= COMPARE_LEVEL && !((m->more_better ? -shift : shift) - bad > least)) {
		cell->worse_p = NAN;
		hidden = true;
	}
	if (hidden)
		snprintf(
			cell->why, sizeof(cell->why),
			"levels move as far within these recordings, for a while: record longer, or "
			"several runs");
}

static void set_verdict(struct compare *c, const struct metric *m, struct compare_cell *cell)
{
	bool asked = !isnan(cell->worse_p);

	if (cell->verdict == VERDICT_SAME) {
		withhold(c, m, cell);
		cell->verdict = verdict_of(cell, m->kind);
	}
	c->judged += !isnan(cell->worse_p);
	c->not_judged += cell->verdict == VERDICT_FEW || cell->verdict == VERDICT_NOT ||
			 (asked && isnan(cell->worse_p));
	c->tripped += cell->worse_p <= COMPARE_LEVEL;
}

/* ---- what many rows say together ---- */

static int cmp_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static int say_withheld(struct compare *c, u32 side, const struct metric *m, u32 nr)
{
	return compare__warn(
		c,
		"%s: in %u rows %s and %s differ by no more than levels move within the "
		"recordings, for seconds and longer: they are not called different; record "
		"for minutes, or several runs",
		m->title, nr, c->side[0].label, c->side[side].label);
}

/* One factor in nearly all rows has one cause. nr logarithms of ratios, which are sorted. */
static int say_common(struct compare *c, u32 side, const struct metric *m, double *shift, u32 nr,
		      u32 tested)
{
	double q1, mid, q3;

	qsort(shift, nr, sizeof(*shift), cmp_double);
	q1 = shift[nr / 4];
	mid = shift[nr / 2];
	q3 = shift[nr - 1 - nr / 4];
	if (q3 - q1 > ALIKE * fabs(mid))
		return 0;
	return compare__warn(
		c,
		"%s: %u of %u rows of %s are %s than in %s by about one factor, %.3g (half of "
		"them %.3g..%.3g): that is the machine, the build or the run, not one codec",
		m->title, nr, tested, c->side[side].label,
		verdict_names[shift[0] > 0 ? VERDICT_SLOWER : VERDICT_FASTER], c->side[0].label,
		exp(mid), exp(q1), exp(q3));
}

/* More than a few rows that agree are one finding about the captures. */
static int say_findings(struct compare *c, u32 metric, u32 side, double *shift)
{
	const struct metric *m = c->metric[metric];
	u32 nr[VERDICT_NR] = {0}, tested = 0, withheld = 0, most = 0;
	enum verdict common;

	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_cell *cell = compare_cell(c, &c->row[i], metric, side);

		nr[cell->verdict]++;
		tested += !isnan(cell->p);
		withheld += !isnan(cell->p) && isnan(cell->p_holm);
	}
	if (withheld > COMPARE_FEW_ROWS)
		return say_withheld(c, side, m, withheld);
	common = nr[VERDICT_SLOWER] > nr[VERDICT_FASTER] ? VERDICT_SLOWER : VERDICT_FASTER;
	if (tested < POOL_MIN_ROWS || nr[common] * 4 < tested * 3)
		return 0;
	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_cell *cell = compare_cell(c, &c->row[i], metric, side);

		if (cell->verdict == common)
			shift[most++] = log(cell->ratio);
	}
	return say_common(c, side, m, shift, most, tested);
}

/* The rows of one metric and side are one family of tests. */
static int correct(struct compare *c, u32 metric, u32 side)
{
	u32 nr = c->nr_rows;
	double *v = array_alloc(6 * (size_t)nr, sizeof(*v));
	double *own = v, *shared = v + nr, *p = v + 2 * nr;
	double *worse = v + 3 * nr, *worse_shared = v + 4 * nr, *worse_p = v + 5 * nr;
	struct compare_cell *cell;
	int err;

	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		cell = compare_cell(c, &c->row[i], metric, side);
		own[i] = cell->p;
		shared[i] = cell->p_pooled;
		worse[i] = cell->worse_p;
		worse_shared[i] = cell->worse_pooled;
	}
	err = correct_family(own, shared, nr, p);
	if (!err)
		err = correct_family(worse, worse_shared, nr, worse_p);
	for (u32 i = 0; i < nr && !err; i++) {
		cell = compare_cell(c, &c->row[i], metric, side);
		cell->p_holm = p[i];
		cell->worse_p = worse_p[i];
		set_verdict(c, c->metric[metric], cell);
	}
	if (!err)
		err = say_findings(c, metric, side, own);
	free(v);
	return err;
}

int compare__correct(struct compare *c)
{
	int err = 0;

	for (u32 m = 0; m < c->nr_metrics; m++)
		for (u32 side = 1; !err && side < c->nr_sides; side++)
			err = correct(c, m, side);
	return err;
}
