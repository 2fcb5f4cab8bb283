// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_stat.c - distributions by the incomplete beta function, and the variance of a time series.
 *
 * The calls of a recording are not independent: load, frequency and garbage collection move slowly or
 * come in bursts. So the unit is not the call but the interval of the recording, and the variance is
 * the largest that one of three views of the intervals shows:
 *
 *   the intervals as independent          n - 1 degrees of freedom
 *   each related to the one before        first-order autoregression, with the estimate's bias and
 *                                         half of its standard error added
 *   slow movement of the whole recording  the lowest cosine frequencies ("equally weighted cosines",
 *                                         Lazarus, Lewis, Stock and Watson, 2018); only when they
 *                                         carry more than independent intervals would by chance
 *
 * "Largest" is by the half-width of a 95 % interval: few degrees of freedom count.
 */
#include "report/compare_stat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/array.h"

#define ALPHA	  0.05
#define MAX_RHO	  0.97
#define TINY	  1e-300
#define MAX_WAVE  8  /* cosine frequencies */
#define LASTING	  20 /* what lasts a part of the recording of this size is movement, not noise */
#define FEW_WAVES 3

/* ---- distributions ---- */

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h, step;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	h = d;
	for (int m = 1; m < 2000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = fabs(c) < TINY ? TINY : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = fabs(c) < TINY ? TINY : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-13)
			break;
	}
	return h;
}

/* lgamma() writes a global; the sign is always + here. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularized incomplete beta function. */
static double beta_inc(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stat_t_tail(double t, double df)
{
	if (df > 1e6)
		return erfc(fabs(t) / M_SQRT2);
	if (fabs(t) < 0.5) /* the other tail: df / (df + t * t) may round to 1 */
		return 1 - beta_inc(0.5, df / 2, t * t / (df + t * t));
	return beta_inc(df / 2, 0.5, df / (df + t * t));
}

double stat_t_crit(double alpha, double df)
{
	double lo = 0, hi = 2;

	while (stat_t_tail(hi, df) > alpha && hi < 1e12)
		hi *= 2;
	for (int i = 0; i < 60 && hi - lo > 1e-10 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (stat_t_tail(mid, df) > alpha)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

double stat_norm_quantile(double p)
{
	double lo = -40, hi = 40;

	for (int i = 0; i < 70 && hi - lo > 1e-12; i++) {
		double mid = (lo + hi) / 2;

		if (erfc(-mid / M_SQRT2) / 2 < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

double stat_binom_cdf(double n, double p, double k)
{
	k = floor(k);
	if (k < 0)
		return 0;
	if (k >= n)
		return 1;
	return beta_inc(n - k, k + 1, 1 - p);
}

/* ---- the variance of a sum over time ---- */

static double mean_of(const double *z, u32 n)
{
	double sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += z[i];
	return sum / n;
}

/* Autocorrelation at lag 1, without its bias (1 + 3 rho) / n (Marriott and Pope, 1954). */
static double correlation(const double *z, u32 n, double mean)
{
	double all = 0, lag = 0, rho;

	for (u32 i = 0; i < n; i++) {
		all += (z[i] - mean) * (z[i] - mean);
		lag += i ? (z[i] - mean) * (z[i - 1] - mean) : 0;
	}
	rho = all > 0 ? lag / all : 0;
	rho += (1 + 3 * rho) / n;
	return rho < MAX_RHO ? rho : MAX_RHO;
}

static double lagged(const double *z, u32 n, double mean, u32 lag)
{
	double all = 0, with = 0;

	for (u32 i = 0; i < n; i++) {
		all += (z[i] - mean) * (z[i] - mean);
		with += i >= lag ? (z[i] - mean) * (z[i - lag] - mean) : 0;
	}
	return all > 0 ? with / all : 0;
}

/* Variance of the sum by its lowest `waves` frequencies. */
static double slow_variance(const double *z, u32 n, double mean, u32 waves)
{
	double sum = 0;

	for (u32 j = 1; j <= waves; j++) {
		double c = 0;

		for (u32 i = 0; i < n; i++)
			c += (z[i] - mean) * cos(M_PI * j * (i + 0.5) / n);
		sum += 2 * c * c;
	}
	return sum / waves;
}

/* By Wilson and Hilferty. */
double stat_chi2_above(double df, double z)
{
	double t = 1 - 2 / (9 * df) + z * sqrt(2 / (9 * df));

	return df * t * t * t;
}

static void take_wider(struct stat_var *best, double v, double df)
{
	df = df < 2 ? 2 : df;
	if (sqrt(v) * stat_t_crit(ALPHA, df) > sqrt(best->v) * stat_t_crit(ALPHA, best->df)) {
		best->v = v;
		best->df = df;
	}
}

void stat_sum_variance(const double *z, u32 n, double floor, struct stat_var *out)
{
	u32 waves = n / 8 < FEW_WAVES ? FEW_WAVES : n / 8 > MAX_WAVE ? MAX_WAVE : n / 8;
	double mean = mean_of(z, n), v = 0, plain, rho, slow;

	for (u32 i = 0; i < n; i++)
		v += (z[i] - mean) * (z[i] - mean);
	plain = v * n / (n - 1);
	v = plain > floor ? plain : floor;
	*out = (struct stat_var){.v = v, .df = n - 1, .plain = plain};
	if (!(v > 0))
		return;
	out->rho = correlation(z, n, mean);
	out->lasting = lagged(z, n, mean, n < 2 * LASTING ? 1 : n / LASTING);
	/* Half a standard error: what is too small here makes intervals that are too narrow. */
	rho = fmin(out->rho + 0.5 / sqrt(n), MAX_RHO);
	if (rho > 0)
		take_wider(out, v * (1 + rho) / (1 - rho), n * (1 - rho) / (1 + rho) - 1);
	out->slow = slow_variance(z, n, mean, FEW_WAVES);
	slow = slow_variance(z, n, mean, waves);
	/* The 70 % quantile. */
	if (waves * slow > v * stat_chi2_above(waves, 0.5))
		take_wider(out, slow, waves);
}

/* ---- ranks ---- */

/* The largest r with P(X < r) <= tail: the r-th smallest call is below the quantile that often. */
static double lower_rank(double n, double q, double tail)
{
	double r = floor(n * q + stat_norm_quantile(tail) * sqrt(n * q * (1 - q)));

	r = r < 0 ? 0 : r;
	while (r > 0 && stat_binom_cdf(n, q, r - 1) > tail)
		r--;
	while (r < n && stat_binom_cdf(n, q, r) <= tail)
		r++;
	return r;
}

void stat_rank_limits(double n, double q, double alpha, double *lo, double *hi)
{
	double sd = sqrt(n * q * (1 - q)), z, skew, r, s;

	*lo = -1;
	*hi = 2;
	if (!(n >= 1))
		return;
	if (sd >
	    40) { /* the exact sum and its Cornish-Fisher expansion agree to less than a rank */
		z = stat_norm_quantile(1 - alpha / 2);
		skew = (1 - 2 * q) * (z * z - 1) / 6;
		r = floor(n * q - z * sd + skew);
		s = ceil(n * q + z * sd + skew) + 1;
	} else {
		r = lower_rank(n, q, alpha / 2);
		/* From above it is the same question of the other tail. */
		s = n + 1 - lower_rank(n, 1 - q, alpha / 2);
	}
	if (r >= 1)
		*lo = r / (n + 1);
	if (s <= n)
		*hi = s / (n + 1);
}

/* ---- many tests ---- */

struct ranked {
	double p;
	u32 at;
};

static int cmp_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->p != b->p)
		return a->p < b->p ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

int stat_holm(double *p, u32 n)
{
	struct ranked *v = array_alloc(n, sizeof(*v));
	double most = 0;
	u32 nr = 0;

	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++)
		if (!isnan(p[i]))
			v[nr++] = (struct ranked){p[i], i};
	qsort(v, nr, sizeof(*v), cmp_ranked);
	for (u32 i = 0; i < nr; i++) {
		double adjusted = v[i].p * (nr - i);

		most = adjusted > most ? adjusted : most;
		p[v[i].at] = most < 1 ? most : 1;
	}
	free(v);
	return 0;
}
