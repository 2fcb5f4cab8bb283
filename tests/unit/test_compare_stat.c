// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare_stat.c - tail probabilities, ranks and corrections against published tables, and what
 * correlation does to a variance (report/compare_stat.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "report/compare_stat.h"

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g is not %.9g", got, want);
}

static void test_distributions_agree_with_published_tables(void **state)
{
	near(stat_t_crit(0.05, 1), 12.7062, 1e-4);
	near(stat_t_crit(0.05, 10), 2.22814, 1e-5);
	near(stat_t_crit(0.001, 30), 3.64596, 1e-5);
	near(stat_t_crit(0.05, 1e9), 1.95996, 1e-5);
	near(stat_norm_quantile(0.975), 1.959964, 1e-6);
	near(stat_norm_quantile(1e-6), -4.753424, 1e-6);
	near(stat_binom_cdf(10, 0.5, 2), 0.0546875, 1e-12);
	near(stat_binom_cdf(20, 0.1, 20), 1, 0);
	near(stat_binom_cdf(20, 0.1, -1), 0, 0);
	near(stat_binom_cdf(1000, 0.99, 980), 0.0033, 1e-3);
}

static void test_p99_needs_some_400_calls_for_two_limits(void **state)
{
	double lo, hi;

	/* 0.99^n <= 0.025 from n = 368 on. */
	stat_rank_limits(367, 0.99, 0.05, &lo, &hi);
	assert_true(hi > 1);
	stat_rank_limits(368, 0.99, 0.05, &lo, &hi);
	assert_true(hi <= 1 && lo > 0);
	stat_rank_limits(5, 0.5, 0.05, &lo, &hi);
	assert_true(lo < 0 && hi > 1);
	/* Of 100 calls the median lies between the 40th and the 61st. */
	stat_rank_limits(100, 0.5, 0.05, &lo, &hi);
	near(lo * 101, 40, 1e-9);
	near(hi * 101, 61, 1e-9);
}

static void test_large_and_small_samples_use_the_same_ranks(void **state)
{
	double n = 4 * 1600.0 + 8, lo, hi,
	       z = stat_norm_quantile(0.975); /* just above the change */

	stat_rank_limits(n, 0.5, 0.05, &lo, &hi);
	near(lo * (n + 1), n / 2 - z * sqrt(n) / 2, 1.5);
	near(hi * (n + 1), n / 2 + z * sqrt(n) / 2 + 1, 1.5);
	assert_true(stat_binom_cdf(n, 0.5, floor(lo * (n + 1) + 0.5) - 2) <= 0.025);
}

static void test_holm_is_as_in_the_textbook(void **state)
{
	double p[] = {0.01, NAN, 0.04, 0.03, 0.005};

	assert_int_equal(stat_holm(p, 5), 0);
	near(p[4], 0.02, 1e-12);
	near(p[0], 0.03, 1e-12);
	near(p[3], 0.06, 1e-12);
	near(p[2], 0.06, 1e-12); /* not below the one before */
	assert_true(isnan(p[1]));
}

static void test_correlated_intervals_vary_more_than_independent_ones(void **state)
{
	double alternating[64], drifting[64];
	struct stat_var a, d;

	for (u32 i = 0; i < 64; i++) {
		alternating[i] = i % 2 ? 1 : -1;
		drifting[i] = i < 32 ? 1 : -1;
	}
	stat_sum_variance(alternating, 64, 10, &a);
	stat_sum_variance(drifting, 64, 10, &d);
	assert_true(a.v < 70 && a.df >= 50);
	assert_true(d.v > 10 * a.v && d.df < 10);
	stat_sum_variance(alternating, 64, 500, &a);
	assert_true(a.v >= 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions_agree_with_published_tables),
		cmocka_unit_test(test_p99_needs_some_400_calls_for_two_limits),
		cmocka_unit_test(test_large_and_small_samples_use_the_same_ranks),
		cmocka_unit_test(test_holm_is_as_in_the_textbook),
		cmocka_unit_test(test_correlated_intervals_vary_more_than_independent_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
