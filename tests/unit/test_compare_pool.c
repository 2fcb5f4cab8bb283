// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compare_pool.c - what rows lend each other of their variance (report/compare_pool.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "report/compare_pool.h"
#include "tests/unit/compare_sim.h"

#define ROWS   100
#define BLOCKS 60

/* The variance of a sum of BLOCKS deviates of that scale, each related to the one before by phi. */
static struct pool_row draw(struct sim_rng *rng, double scale, double phi)
{
	struct pool_row row = {.nr_blocks = BLOCKS};
	double z[BLOCKS], x = sim_normal(rng);

	for (u32 i = 0; i < BLOCKS; i++) {
		x = i ? phi * x + sqrt(1 - phi * phi) * sim_normal(rng) : x;
		z[i] = x * scale / sqrt(BLOCKS);
	}
	stat_sum_variance(z, BLOCKS, 0, &row.var);
	return row;
}

static void draw_all(struct pool_row *row, double scale, double phi)
{
	struct sim_rng rng = {271828};

	for (u32 i = 0; i < ROWS; i++)
		row[i] = draw(&rng, scale, phi);
}

static void assert_near(double got, double want, double off)
{
	if (!(fabs(got - want) <= off))
		fail_msg("%g is not within %g of %g", got, off, want);
}

static void test_rows_that_are_alike_know_their_variance_well(void **state)
{
	struct pool_row row[ROWS];
	struct pool p;

	draw_all(row, 1, 0);
	pool__fit(&p, row, ROWS);
	assert_near(p.plain, 1, 0.05);
	assert_near(p.factor, 1.05, 0.1);
	assert_true(p.df > 200);
}

static void test_rows_that_differ_lend_each_other_little(void **state)
{
	struct sim_rng rng = {31415};
	struct pool_row row[ROWS];
	struct pool p;

	for (u32 i = 0; i < ROWS; i++)
		row[i] = draw(&rng, exp(sim_normal(&rng)), 0);
	pool__fit(&p, row, ROWS);
	assert_true(p.df > 0 && p.df < 4);
}

static void test_correlation_over_time_is_seen_by_all_rows_together(void **state)
{
	struct pool_row row[ROWS];
	struct pool p;

	draw_all(row, 1, 0.5);
	pool__fit(&p, row, ROWS);
	/* (1 + phi) / (1 - phi), of which a finite recording shows a little less. */
	assert_true(p.factor > 2.5 && p.factor < 3.2);
}

static void test_a_few_rows_lend_nothing(void **state)
{
	struct pool_row row[ROWS];
	double deff = 1.7, df = 5;
	struct pool p;

	draw_all(row, 1, 0);
	pool__fit(&p, row, POOL_MIN_ROWS - 1);
	pool__apply(&p, &row[0], &deff, &df);
	assert_true(deff == 1.7 && df == 5);
}

static void test_a_row_gets_the_degrees_of_freedom_of_all(void **state)
{
	struct pool_row row[ROWS];
	double deff = 1.7, df = 7;
	struct pool p;

	draw_all(row, 1, 0);
	pool__fit(&p, row, ROWS);
	pool__apply(&p, &row[0], &deff, &df);
	assert_near(deff, 1.05, 0.15);
	assert_true(df > 200);
}

static void test_a_row_of_another_kind_keeps_its_own(void **state)
{
	struct pool_row row[ROWS];
	double deff = 4, df = 7;
	struct pool p;

	draw_all(row, 1, 0);
	pool__fit(&p, row, ROWS);
	row[0].var.plain = 4;
	pool__apply(&p, &row[0], &deff, &df);
	assert_true(deff == 4 && df == 7);
}

/* Of rows that are all alike one in a hundred may look unlike; those that drift among steady ones do. */
static void test_chance_makes_few_rows_another_kind_and_drift_most(void **state)
{
	struct sim_rng rng = {1414};
	struct pool_row row[ROWS];
	u32 own = 0;
	struct pool p;

	draw_all(row, 1, 0);
	pool__fit(&p, row, ROWS);
	for (u32 i = 0; i < 1000; i++) {
		double deff = 1e9, df = 7;
		struct pool_row one = draw(&rng, 1, 0);

		pool__apply(&p, &one, &deff, &df);
		own += deff == 1e9;
	}
	assert_true(own <= 10);
	for (u32 i = own = 0; i < 1000; i++) {
		double deff = 1e9, df = 7;
		struct pool_row one = draw(&rng, 1.6, 0.6);

		pool__apply(&p, &one, &deff, &df);
		own += deff == 1e9;
	}
	assert_true(own >= 950);
}

static void test_less_than_independent_calls_vary_is_not_believed(void **state)
{
	struct pool_row row[ROWS];
	double deff = 1, df = 59;
	struct pool p;

	draw_all(row, 0.5, 0);
	pool__fit(&p, row, ROWS);
	pool__apply(&p, &row[0], &deff, &df);
	assert_true(deff == 1);
}

static void test_students_tail_of_a_small_t_is_exact_with_many_degrees_of_freedom(void **state)
{
	/* 1 - 2 t phi(0) for t near 0. */
	for (double df = 5; df < 1e7; df *= 10)
		assert_near(1 - stat_t_tail(1e-6, df), 2e-6 * 0.398942, df < 100 ? 5e-8 : 1e-9);
	assert_near(stat_t_tail(0.5, 10), 0.627894, 1e-6); /* by numerical integration */
	assert_near(stat_t_tail(0.5 - 1e-9, 10), 0.627894, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_that_are_alike_know_their_variance_well),
		cmocka_unit_test(test_rows_that_differ_lend_each_other_little),
		cmocka_unit_test(test_correlation_over_time_is_seen_by_all_rows_together),
		cmocka_unit_test(test_a_few_rows_lend_nothing),
		cmocka_unit_test(test_a_row_gets_the_degrees_of_freedom_of_all),
		cmocka_unit_test(test_a_row_of_another_kind_keeps_its_own),
		cmocka_unit_test(test_chance_makes_few_rows_another_kind_and_drift_most),
		cmocka_unit_test(test_less_than_independent_calls_vary_is_not_believed),
		cmocka_unit_test(
			test_students_tail_of_a_small_t_is_exact_with_many_degrees_of_freedom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
