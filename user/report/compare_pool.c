// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_pool.c - empirical Bayes over the logarithms of design effects. If the true ones are drawn
 * from a scaled inverse chi-square distribution, the mean and the spread of the observed ones give its
 * scale and its degrees of freedom in closed form (Smyth, Statistical Applications in Genetics and
 * Molecular Biology 3, 2004, section 6.2).
 */
#include "report/compare_pool.h"

#include <math.h>

#define MAX_DF 1e9
#define UNLIKE 2.88 /* deviate: 1 in 500, of each of three signs */
#define WAVES  3    /* of stat_var.slow */

/* By recurrence up to where the asymptotic series is exact to 1e-10. */
static double digamma(double x)
{
	double sum = 0, r;

	for (; x < 10; x++)
		sum -= 1 / x;
	r = 1 / (x * x);
	return sum + log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r / 252));
}

static double trigamma(double x)
{
	double sum = 0, r;

	for (; x < 10; x++)
		sum += 1 / (x * x);
	r = 1 / (x * x);
	return sum + 1 / x + r / 2 + r / x * (1.0 / 6 - r * (1.0 / 30 - r / 42));
}

/* trigamma falls from infinity to 0. */
static double trigamma_inverse(double y)
{
	double lo = 1e-6, hi = MAX_DF;

	for (int i = 0; i < 100 && hi - lo > 1e-9 * hi; i++) {
		double mid = sqrt(lo * hi);

		if (trigamma(mid) > y)
			lo = mid;
		else
			hi = mid;
	}
	return sqrt(lo * hi);
}

/* The logarithm without the bias that few degrees of freedom give it. */
static double centred_log(double v, double df)
{
	return log(v) - digamma(df / 2) + log(df / 2);
}

/* The variance between intervals: its mean over the rows, and how much they differ in it. */
static void fit_plain(struct pool *p, const struct pool_row *row, u32 nr)
{
	double mean = 0, spread = 0, by_chance = 0, d;

	for (u32 i = 0; i < nr; i++) {
		mean += centred_log(row[i].var.plain, row[i].nr_blocks - 1) / nr;
		by_chance += trigamma((row[i].nr_blocks - 1) / 2) / nr;
	}
	for (u32 i = 0; i < nr; i++) {
		d = centred_log(row[i].var.plain, row[i].nr_blocks - 1) - mean;
		spread += d * d / (nr - 1);
	}
	p->df = spread > by_chance ? 2 * trigamma_inverse(spread - by_chance) : MAX_DF;
	p->plain = exp(mean + digamma(p->df / 2) - log(p->df / 2));
}

/* Correlation over time: of two estimates, each of which misses what the other sees, the larger. */
static void fit_factor(struct pool *p, const struct pool_row *row, u32 nr)
{
	double slow = 0, plain = 0, ar;

	p->rho = 0;
	for (u32 i = 0; i < nr; i++) {
		p->rho += row[i].var.rho / nr;
		slow += row[i].var.slow;
		plain += row[i].var.plain;
	}
	ar = (1 + p->rho) / (1 - p->rho);
	p->factor = fmax(1, fmax(ar, slow / plain));
}

/*
 * The mean of the sum has 1 / n of the factor of the terms' variance; so much does subtracting it take from
 * the correlation at any lag. Less a standard error of rows that are independent of each other: steady rows
 * would have a level that moves by what chance makes of ten correlations.
 */
static double fit_lasting(const struct pool_row *row, u32 nr, double factor)
{
	double sum = 0, terms = 0;

	for (u32 i = 0; i < nr; i++) {
		sum += (row[i].var.lasting + factor / row[i].nr_blocks) / nr;
		terms += row[i].nr_blocks;
	}
	return fmin(fmax(sum - 1 / sqrt(terms), 0), 1);
}

void pool__fit(struct pool *p, const struct pool_row *row, u32 nr)
{
	*p = (struct pool){.plain = 1, .factor = 1};
	if (nr < POOL_MIN_ROWS)
		return;
	fit_plain(p, row, nr);
	fit_factor(p, row, nr);
	p->lasting = fit_lasting(row, nr, p->factor);
}

/*
 * Is the row of another kind than the others? By what its variance is made of, before anything was made
 * larger to be on the safe side: of rows that are all alike, the variance that its limits have is above the
 * others' by "once in a hundred" in eight of a hundred.
 */
static bool unlike(const struct pool *p, const struct pool_row *row)
{
	double plain = fmax(p->plain, 1), own = row->nr_blocks - 1;

	return row->var.plain > plain * stat_chi2_above(own, UNLIKE) / own ||
	       row->var.rho > p->rho + UNLIKE / sqrt(row->nr_blocks) ||
	       row->var.slow > plain * p->factor * stat_chi2_above(WAVES, UNLIKE) / WAVES;
}

void pool__apply(const struct pool *p, const struct pool_row *row, double *deff, double *df)
{
	double own = row->nr_blocks - 1, v;

	if (!(p->df > 0) || !(row->var.plain > 0) || unlike(p, row))
		return;
	v = p->factor * (p->df * p->plain + own * row->var.plain) / (p->df + own);
	*deff = fmax(v, 1);
	*df = fmax((p->df + own) / p->factor, *df);
}
