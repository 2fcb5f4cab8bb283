/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_side.h - one metric of one row at one side: its value over the runs, and how far from it
 * its limits are at any critical value. Everything is in logarithms, in which a ratio is a difference.
 */
#ifndef HBPROF_COMPARE_SIDE_H
#define HBPROF_COMPARE_SIDE_H

#include "report/compare.h"

struct side_est {
	const struct metric *m;
	const struct sample *sample[COMPARE_MAX_RUNS];
	struct estimate run[COMPARE_MAX_RUNS];
	u32 nr;
	double log;    /* mean of the runs' logarithms; NaN: no value */
	double sd, df; /* of the runs' logarithms, when there are several; else the run's df */
	double sys[2]; /* below and above: bucket and probe, which no number of calls makes less */
};

/* Of one run. 0 or -ENOMEM. */
int metric_estimate(const struct metric *m, const struct sample *s, struct estimate *e);
/* 0 or -ENOMEM; log is NaN where a run lacks the row or the value. */
int side_est__init(const struct compare *c, const struct compare_row *row, const struct metric *m,
		   u32 side, struct side_est *s);
/* Distances below and above the value at critical value crit of Student's t with df. */
void side_est__distance(const struct side_est *s, double crit, double df, double d[2]);
/* Of its run i, and without what no number of calls makes less. */
void side_est__run_distance(const struct side_est *s, u32 i, double crit, double df, double d[2]);

/* compare_allow.c: may the second be divided by the first? False, and the verdict with its reason. */
bool compare_may_divide(const struct compare *c, const struct compare_row *row,
			const struct side_est *a, const struct side_est *b, u32 side,
			struct compare_cell *cell);
/* Do both have intervals enough for limits? */
bool compare_may_limit(const struct compare *c, const struct side_est *a, const struct side_est *b,
		       u32 side, struct compare_cell *cell);
void compare_cell__forbid(struct compare_cell *cell, enum verdict v, const char *why);

#endif
