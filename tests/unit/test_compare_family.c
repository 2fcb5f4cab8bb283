// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare_family.c - what is said of a hundred rows at once (report/compare_family.c): one
 * program recorded twice, whose levels are steady, or move slowly, each by itself or all as
 * one; and captures that differ by one factor. HB_SIM_PAIRS=50 is the long version, for
 * docs/benchmarks.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "report/compare.h"
#include "tests/unit/compare_sim.h"

#define ROWS	    100
#define INTERVALS   60
#define SHORT_PAIRS 3

static const struct sim_model steady = {"", 8000, 0.4, 0, 0, 0, 0, 0};
static const struct sim_model slow = {"", 8000, 0.4, 0.9, 0.05, 0, 0, 0}; /* 10 s, 5 % */

static u32 pairs(void)
{
	const char *s = getenv("HB_SIM_PAIRS");
	int n = s ? atoi(s) : 0;

	return n > 0 ? (u32)n : SHORT_PAIRS;
}

/* Of each row 100,000 calls; the first `changed` of them last `factor` times as long. */
struct program {
	const struct sim_model *model;
	bool as_one;
	u32 changed;
	double factor;
};

static struct recording *record(struct sim_rng *rng, const struct program *p, bool changed)
{
	struct recording *r = sim_new(ROWS, INTERVALS);
	double *shared = sim_levels(rng, p->model, INTERVALS);

	for (u32 i = 0; i < ROWS; i++) {
		struct sim_model m = *p->model;

		if (changed && i < p->changed)
			m.median_ns *= p->factor;
		if (p->as_one)
			sim_fill_at(rng, r, i, &m, 100000, shared);
		else
			sim_fill(rng, r, i, &m, 100000);
	}
	free(shared);
	return r;
}

struct pair {
	struct recording *r[2];
	struct compare_run run[2];
	struct compare_side side[2];
	struct compare c;
};

static void pair__init(struct pair *p, struct sim_rng *rng, const struct program *of,
		       const struct compare_opts *o)
{
	static const char *const labels[] = {"A", "B"};

	for (u32 k = 0; k < 2; k++) {
		p->r[k] = record(rng, of, k);
		p->r[k]->begin_wall_ns += k;
		p->run[k] = (struct compare_run){p->r[k], labels[k]};
		p->side[k] = (struct compare_side){labels[k], &p->run[k], 1};
	}
	assert_int_equal(compare__build(&p->c, p->side, 2, o), 0);
}

static void pair__fini(struct pair *p)
{
	compare__fini(&p->c);
	recording__free(p->r[0]);
	recording__free(p->r[1]);
}

static const struct compare_opts *of_metric(const char *name, double fail_over)
{
	static struct compare_opts o;

	o = (struct compare_opts){
		.metric = {compare_metric(name)}, .nr_metrics = 1, .fail_over = fail_over};
	return &o;
}

static bool differs(const struct compare_cell *cell)
{
	return cell->verdict == VERDICT_FASTER || cell->verdict == VERDICT_SLOWER;
}

/* Rows that are called different, and those that would have been but for the movement of levels. */
static u32 count(const struct compare *c, u32 *withheld)
{
	u32 n = 0;

	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_cell *cell = compare_cell(c, &c->row[i], 0, 1);

		n += differs(cell);
		*withheld += !isnan(cell->p) && isnan(cell->p_holm);
	}
	return n;
}

static bool warned(const struct compare *c, const char *what)
{
	for (u32 i = 0; i < c->nr_warnings; i++)
		if (strstr(c->warning[i], what))
			return true;
	return false;
}

/* ---- one program, twice ---- */

static void twice(const char *name, const struct program *of, const char *metric, u64 seed,
		  u32 *most_withheld)
{
	struct sim_rng rng = {seed};
	u32 any = 0, worst = 0, most = 0;

	for (u32 t = 0; t < pairs(); t++) {
		u32 n, withheld = 0;
		struct pair p;

		pair__init(&p, &rng, of, of_metric(metric, -1));
		n = count(&p.c, &withheld);
		any += n > 0;
		worst = n > worst ? n : worst;
		most = withheld > most ? withheld : most;
		assert_int_equal(warned(&p.c, "than levels move"), withheld > COMPARE_FEW_ROWS);
		pair__fini(&p);
	}
	printf("A/A of 100 rows, %s, %s: a row called different in %u of %u pairs, %u rows at most; "
	       "withheld %u rows at most\n",
	       name, metric, any, pairs(), worst, most);
	assert_true(worst <= COMPARE_FEW_ROWS);
	if (most_withheld)
		*most_withheld = most;
}

static void test_steady_rows_are_called_different_in_five_of_a_hundred_at_most(void **state)
{
	const struct program p = {.model = &steady};
	u32 withheld;

	twice("steady", &p, "p50", 1001, &withheld);
	assert_true(withheld <= 1);
	twice("steady", &p, "p99", 1002, NULL);
}

static void test_rows_that_drift_by_themselves_are_so_in_five_at_most(void **state)
{
	const struct program p = {.model = &slow};

	twice("each drifting, 10 s, 5 %", &p, "p50", 1003, NULL);
	twice("each drifting, 10 s, 5 %", &p, "p99", 1004, NULL);
}

/* In some of these pairs the p-values alone would call dozens of rows different. */
static void test_rows_that_drift_as_one_are_so_in_five_at_most(void **state)
{
	const struct program p = {.model = &slow, .as_one = true};
	u32 withheld;

	twice("drifting as one, 10 s, 5 %", &p, "p50", 1005, NULL);
	twice("drifting as one, 10 s, 5 %", &p, "p99", 2004, &withheld);
	assert_true(withheld > COMPARE_FEW_ROWS);
}

/* ---- what did change ---- */

static void test_all_rows_slower_by_one_factor_is_said_as_one_finding(void **state)
{
	const struct program of = {&steady, false, ROWS, 1.05};
	struct sim_rng rng = {1007};
	u32 withheld = 0;
	struct pair p;

	pair__init(&p, &rng, &of, of_metric("p50", -1));
	assert_true(count(&p.c, &withheld) >= 95);
	assert_int_equal(withheld, 0);
	assert_true(warned(&p.c, "of B are slower than in A by about one factor, 1.05"));
	assert_true(warned(&p.c, "not one codec"));
	pair__fini(&p);
}

static void test_some_rows_slower_are_no_common_finding(void **state)
{
	const struct program of = {&steady, false, 20, 1.05};
	struct sim_rng rng = {1008};
	u32 withheld = 0, n;
	struct pair p;

	pair__init(&p, &rng, &of, of_metric("p50", -1));
	n = count(&p.c, &withheld);
	assert_true(n >= 19 && n <= 22);
	assert_false(warned(&p.c, "one factor"));
	pair__fini(&p);
}

static void test_a_row_far_beyond_what_levels_move_is_still_found(void **state)
{
	const struct program of = {&slow, true, 1, 2};
	struct sim_rng rng = {1009};
	u32 found = 0;

	for (u32 t = 0; t < 3; t++) {
		struct pair p;

		pair__init(&p, &rng, &of, of_metric("p50", -1));
		for (u32 i = 0; i < ROWS; i++) {
			const struct compare_cell *cell = compare_cell(&p.c, &p.c.row[i], 0, 1);

			if (!strstr(p.c.row[i].key.name, "Marshal000"))
				continue;
			assert_false(isnan(cell->p_holm));
			found += cell->verdict == VERDICT_SLOWER;
		}
		pair__fini(&p);
	}
	/* In one of them its own limits, with few degrees of freedom, say that it is not shown. */
	assert_true(found >= 2);
}

/* A shift that may be movement trips nothing, and is counted as not judged. */
static void test_fail_over_does_not_trip_on_what_levels_move_by(void **state)
{
	const struct program of = {&slow, true, 0, 1};
	struct sim_rng rng = {2004};
	u32 hidden = 0;

	for (u32 t = 0; t < SHORT_PAIRS; t++) {
		struct pair p;

		pair__init(&p, &rng, &of, of_metric("p99", 0));
		assert_true(p.c.tripped <= COMPARE_FEW_ROWS);
		assert_int_equal(p.c.judged + p.c.not_judged, ROWS);
		hidden += p.c.not_judged;
		pair__fini(&p);
	}
	assert_true(hidden > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_steady_rows_are_called_different_in_five_of_a_hundred_at_most),
		cmocka_unit_test(test_rows_that_drift_by_themselves_are_so_in_five_at_most),
		cmocka_unit_test(test_rows_that_drift_as_one_are_so_in_five_at_most),
		cmocka_unit_test(test_all_rows_slower_by_one_factor_is_said_as_one_finding),
		cmocka_unit_test(test_some_rows_slower_are_no_common_finding),
		cmocka_unit_test(test_a_row_far_beyond_what_levels_move_is_still_found),
		cmocka_unit_test(test_fail_over_does_not_trip_on_what_levels_move_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
