/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_stat.h - the arithmetic of comparisons: tail probabilities, the variance of a sum of
 * correlated terms, order-statistic limits of a quantile, Holm's correction. Pure functions over
 * numbers; docs/compare.md has the theory and what it is worth.
 */
#ifndef HBPROF_COMPARE_STAT_H
#define HBPROF_COMPARE_STAT_H

#include <hbprof/types.h>

#define STAT_MIN_BLOCKS 8 /* below these a variance between blocks is a guess */

/* P(|T| > t) of Student's t; df may be fractional, >= 1. */
double stat_t_tail(double t, double df);
/* The t for which that is alpha; alpha in (0, 1). */
double stat_t_crit(double alpha, double df);
double stat_norm_quantile(double p);
/* P(X <= k) of a binomial; n may be fractional. */
double stat_binom_cdf(double n, double p, double k);

/* The variance of a sum, and how well it is known. */
struct stat_var {
	double v;
	double df;
	/* What it comes from, before anything was made larger to be on the safe side. */
	double plain;	/* as if the terms were independent of each other */
	double rho;	/* their correlation at lag 1, without its bias */
	double lasting; /* at the lag of a twentieth of the terms, with its bias */
	double slow;	/* by the three slowest movements: what is least biased, and known worst */
};

/*
 * Of the sum of z[0..n), whose terms follow each other in time and add up to about 0; n >=
 * STAT_MIN_BLOCKS. Never below `floor`, the variance that independent calls would give.
 */
void stat_sum_variance(const double *z, u32 n, double floor, struct stat_var *out);

/*
 * Limits of the q quantile of n (effective, fractional) calls as fractions of the ordered sample, at
 * the two-sided level alpha. *lo < 0 or *hi > 1: there is no such limit, the calls are too few.
 */
void stat_rank_limits(double n, double q, double alpha, double *lo, double *hi);

/* The value that chi-square of df exceeds with the chance of a normal deviate above z; about. */
double stat_chi2_above(double df, double z);

/* Adjusts p-values in place for being n of them, by Holm's method. NaN are no tests. 0 or -ENOMEM. */
int stat_holm(double *p, u32 n);

#endif
