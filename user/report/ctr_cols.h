/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctr_cols.h - what is shown of counters, column by column: means per call, the quotients that people
 * read them by, and the parts of a call's time. The report and the live view have the same ones.
 */
#ifndef HBPROF_CTR_COLS_H
#define HBPROF_CTR_COLS_H

#include "report/group.h"
#include "report/table.h"

#define CTR_COLS (HB_CTRS + 6) /* counters, quotients */

struct ctr_quotient;

struct ctr_col {
	const char *title;		 /* of the recording's strings, or static */
	int ctr;			 /* in the recording's list */
	const struct ctr_quotient *over; /* NULL: the counter itself */
	bool share;			 /* of the three parts of the time */
};

struct ctr_cols {
	struct ctr_col v[CTR_COLS];
	u32 nr;
};

/* What was counted, but for the parts of the time; a quotient stands behind the counter that is named
 * first. None: nothing was counted. */
void ctr_cols__counters(struct ctr_cols *c, const struct recording *r);
/* On the CPU, waiting, blocked, each followed by its share of the three; none, if they were not counted. */
void ctr_cols__time(struct ctr_cols *c, const struct recording *r);

/* NaN where not known. */
double ctr_col_value(const struct ctr_col *c, const struct recording *r, const struct group *g);
const char *ctr_col_cell(char buf[CELL], const struct ctr_col *c, const struct recording *r,
			 const struct group *g);
/* Calls of g that have a value in every column. */
u64 ctr_cols_counted(const struct ctr_cols *c, const struct group *g);

/* One of the counters of ctr_cols__time(). */
bool counter_is_time(const char *name);

#endif
