/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_pool.h - what the rows of one capture tell of each other's variance. A row with few
 * intervals knows badly by how much its calls vary more than independent ones, and pays for it at the
 * levels that a correction for many rows asks for: Student's t with 7 degrees of freedom is 6.1 where
 * the normal distribution is 3.5. A hundred rows of one capture know it well together, as far as they
 * are alike. How alike they are is estimated, too; a row that is not like the others is left alone.
 *
 * docs/compare.md says what this rests on, and what holds when it does not.
 */
#ifndef HBPROF_COMPARE_POOL_H
#define HBPROF_COMPARE_POOL_H

#include "report/compare_stat.h"

#define POOL_MIN_ROWS 10 /* fewer do not tell how alike they are */

/* One row: its variance in units of that of independent calls, from so many intervals. */
struct pool_row {
	struct stat_var var;
	double nr_blocks;
};

/* What is known of a row before it is looked at. */
struct pool {
	double plain, df; /* df 0: nothing; very large: all rows are alike */
	double rho;	  /* mean correlation of an interval with the one before */
	double factor;	  /* by which correlation over time makes it more, at least 1 */
	double lasting;	  /* share of the variance between intervals that is movement which lasts */
};

void pool__fit(struct pool *p, const struct pool_row *row, u32 nr);
/* The row's variance with what the others lend it, or as it was. */
void pool__apply(const struct pool *p, const struct pool_row *row, double *deff, double *df);

#endif
