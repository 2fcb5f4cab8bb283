// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare_sim.c - are the 95 % of `compare` 95 %? Recordings drawn from known distributions, with
 * fixed seeds. HB_SIM_DRAWS=2000 is the long version, whose table is in docs/benchmarks.md; without
 * it there are fewer draws and the limits allow for what chance does to so few.
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

#define SHORT_DRAWS 60

static const struct sim_model independent = {"independent", 8000, 0.4, 0, 0, 0, 0, 0};

static u32 draws(void)
{
	const char *s = getenv("HB_SIM_DRAWS");
	int n = s ? atoi(s) : 0;

	return n > 0 ? (u32)n : SHORT_DRAWS;
}

/* The least number of hits that a true share of `p` gives but once in a thousand times. */
static u32 least(double p, u32 n)
{
	double v = n * p - 3.1 * sqrt(n * p * (1 - p));

	return v > 0 ? (u32)v : 0;
}

static struct compare_side side_of(struct compare_run *run, const struct recording *r,
				   const char *label)
{
	*run = (struct compare_run){r, label};
	return (struct compare_side){label, run, 1};
}

static void build(struct compare *c, const struct recording *a, const struct recording *b,
		  const struct compare_opts *o, struct compare_side side[2],
		  struct compare_run run[2])
{
	side[0] = side_of(&run[0], a, "A");
	side[1] = side_of(&run[1], b, "B");
	assert_int_equal(compare__build(c, side, 2, o), 0);
}

/* ---- coverage ---- */

struct covered {
	u32 nr, hit[2], none[2];
};

static void cover_once(struct sim_rng *rng, const struct sim_model *m, u64 n, u32 intervals,
		       struct covered *out)
{
	const struct compare_opts o = {.metric = {compare_metric("p50"), compare_metric("p99")},
				       .nr_metrics = 2,
				       .fail_over = -1};
	struct recording *r = sim_new(1, intervals);
	struct compare_side side;
	struct compare_run run;
	struct compare c;

	sim_fill(rng, r, 0, m, n);
	side = side_of(&run, r, "A");
	assert_int_equal(compare__build(&c, &side, 1, &o), 0);
	out->nr++;
	for (u32 k = 0; k < 2; k++) {
		const struct compare_cell *cell = compare_cell(&c, &c.row[0], k, 0);
		double truth = sim_truth(m, k ? 0.99 : 0.5);

		out->none[k] += isnan(cell->lo) || !isfinite(cell->hi);
		out->hit[k] += cell->lo <= truth && truth <= cell->hi;
	}
	compare__fini(&c);
	recording__free(r);
}

static void cover(const struct sim_model *m, u64 n, u32 intervals, double want, u32 times)
{
	struct sim_rng rng = {88172645463325252ULL + n + intervals};
	struct covered got = {0};

	for (u32 i = 0; i < times; i++)
		cover_once(&rng, m, n, intervals, &got);
	printf("%-18s %4u intervals %9llu calls: P50 %.1f%%, P99 %.1f%% (unbounded %u)\n", m->name,
	       intervals, n, 100.0 * got.hit[0] / got.nr, 100.0 * got.hit[1] / got.nr, got.none[1]);
	for (u32 k = 0; k < 2; k++)
		if (got.hit[k] < least(want, got.nr))
			fail_msg("%s: the limits of P%d hold the truth in %u of %u", m->name,
				 k ? 99 : 50, got.hit[k], got.nr);
}

static const u64 sizes[] = {1000, 10000, 100000, 1000000};
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_limits_hold_the_truth_of_independent_calls(void **state)
{
	for (size_t i = 0; i < NR_SIZES; i++)
		cover(&independent, sizes[i], 30, 0.94, draws());
}

static void test_limits_hold_the_truth_when_the_level_drifts_and_bursts(void **state)
{
	static const struct sim_model models[] = {
		{"level 10%", 8000, 0.4, 0, 0, 0.1, 0, 0},
		{"drift 2 s", 8000, 0.4, 0.6, 0.1, 0, 0, 0},
		{"drift 3 s", 8000, 0.4, 0.7, 0.1, 0, 0, 0},
		{"bursts 20%", 8000, 0.4, 0, 0, 0.05, 0.2, 0.3},
		{"drift+bursts", 8000, 0.4, 0.6, 0.05, 0.05, 0.2, 0.3},
	};

	u32 times = draws() > SHORT_DRAWS ? draws() : SHORT_DRAWS / 3;

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
		for (size_t i = 0; i < NR_SIZES; i++)
			cover(&models[m], sizes[i], 120, 0.94, times);
}

/* What the method cannot do is printed, not asserted: see the limits in docs/compare.md. */
static void test_limits_of_the_method_are_shown_by_the_long_version(void **state)
{
	static const struct sim_model hard[] = {
		{"drift 3 s", 8000, 0.4, 0.7, 0.1, 0, 0, 0},
		{"drift 10 s", 8000, 0.4, 0.9, 0.1, 0, 0, 0},
		{"bursts 10%", 8000, 0.4, 0, 0, 0.05, 0.1, 0.3},
	};
	static const u32 intervals[] = {10, 30, 60, 300};

	for (size_t m = 0; m < sizeof(hard) / sizeof(hard[0]); m++)
		for (size_t i = 0; i < 4; i++)
			cover(&hard[m], 100000, intervals[i], 0, draws());
}

/* ---- verdicts ---- */

static u32 count_verdicts(const struct compare *c, u32 metric, bool faster, bool slower)
{
	u32 n = 0;

	for (u32 i = 0; i < c->nr_rows; i++) {
		enum verdict v = compare_cell(c, &c->row[i], metric, 1)->verdict;

		n += (faster && v == VERDICT_FASTER) || (slower && v == VERDICT_SLOWER);
	}
	return n;
}

static const struct compare_opts all_metrics = {.fail_over = -1};

static void test_the_same_program_twice_is_hardly_ever_called_different(void **state)
{
	static const struct sim_model drifting = {"drift", 8000, 0.4, 0.6, 0.05, 0, 0, 0};
	struct sim_rng rng = {4711};
	u32 times = draws() / 50 + 1, flagged = 0, worst = 0;

	for (u32 t = 0; t < times; t++) {
		struct recording *a = sim_new(100, 60), *b = sim_new(100, 60);
		struct compare_side side[2];
		struct compare_run run[2];
		struct compare c;

		for (u32 i = 0; i < 100; i++) {
			sim_fill(&rng, a, i, t % 2 ? &drifting : &independent, 10000);
			sim_fill(&rng, b, i, t % 2 ? &drifting : &independent, 10000);
		}
		build(&c, a, b, &all_metrics, side, run);
		for (u32 m = 0; m < c.nr_metrics; m++) {
			u32 n = count_verdicts(&c, m, true, true);

			flagged += n > 0;
			worst = n > worst ? n : worst;
		}
		compare__fini(&c);
		recording__free(a);
		recording__free(b);
	}
	printf("A/A, 100 rows, 6 metrics: a row called different in %u of %u; at most %u rows\n",
	       flagged, times * 6, worst);
	assert_true(worst <= 5);
}

/* How the rows of a capture move: each by itself, all as one, or one in five and the others not. */
enum together { APART, AS_ONE, ONE_IN_FIVE };

static struct recording *draw_rows(struct sim_rng *rng, const struct sim_model *m,
				   enum together how)
{
	struct recording *r = sim_new(100, 60);
	double *level = sim_levels(rng, m, 60);

	for (u32 i = 0; i < 100; i++) {
		if (how == AS_ONE)
			sim_fill_at(rng, r, i, m, 10000, level);
		else
			sim_fill(rng, r, i, how == ONE_IN_FIVE && i % 5 ? &independent : m, 10000);
	}
	free(level);
	return r;
}

/* What rows lend each other must not make them sure of what none of them can know. */
static void test_rows_that_move_together_or_unlike_are_hardly_ever_called_different(void **state)
{
	static const struct sim_model drifting = {"drift", 8000, 0.4, 0.6, 0.05, 0, 0, 0};
	static const char *const names[] = {"apart", "as one", "one in five"};
	const struct compare_opts o = {.metric = {compare_metric("p50"), compare_metric("p99")},
				       .nr_metrics = 2,
				       .fail_over = -1};
	u32 times = draws() / 20, worst = 0, any;

	for (u32 how = APART; how <= ONE_IN_FIVE; how++) {
		struct sim_rng rng = {1618 + how};

		any = 0;
		for (u32 t = 0; t < times; t++) {
			struct recording *a = draw_rows(&rng, &drifting, how);
			struct recording *b = draw_rows(&rng, &drifting, how);
			struct compare_side side[2];
			struct compare_run run[2];
			struct compare c;

			build(&c, a, b, &o, side, run);
			for (u32 m = 0; m < 2; m++) {
				u32 n = count_verdicts(&c, m, true, true);

				any += n > 0;
				worst = how != AS_ONE && n > worst ? n : worst;
			}
			compare__fini(&c);
			recording__free(a);
			recording__free(b);
		}
		printf("A/A, 100 rows that drift %s: a row called different in %u of %u\n",
		       names[how], any, times * 2);
		/* 5 %, and what chance makes of it. */
		assert_true(times * 2 - any >= least(0.95, times * 2));
	}
	assert_true(worst <= 5);
}

/* One of nr_rows rows is 5 % slower. */
static u32 find_shift(u32 nr_rows, u32 intervals, double sigma, u32 times, u32 *wrong)
{
	const struct compare_opts o = {
		.metric = {compare_metric("p50")}, .nr_metrics = 1, .fail_over = -1};
	struct sim_rng rng = {31337 + nr_rows};
	struct sim_model m = {"", 8000, sigma, 0, 0, 0, 0, 0}, slow = m;
	u32 found = 0;

	slow.median_ns *= 1.05;
	for (u32 t = 0; t < times; t++) {
		struct recording *a = sim_new(nr_rows, intervals), *b = sim_new(nr_rows, intervals);
		struct compare_side side[2];
		struct compare_run run[2];
		struct compare c;
		bool hit = false;

		for (u32 i = 0; i < nr_rows; i++) {
			sim_fill(&rng, a, i, &m, 10000);
			sim_fill(&rng, b, i, i ? &m : &slow, 10000);
		}
		build(&c, a, b, &o, side, run);
		for (u32 i = 0; i < nr_rows; i++)
			hit |= !strcmp(c.row[i].key.name, "example.com/codec.Marshal000") &&
			       compare_cell(&c, &c.row[i], 0, 1)->verdict == VERDICT_SLOWER;
		found += hit;
		*wrong += count_verdicts(&c, 0, true, true) - hit;
		compare__fini(&c);
		recording__free(a);
		recording__free(b);
	}
	printf("5%% slower P50, sigma %.1f, 10,000 calls, %u intervals, 1 of %u rows: found in %u of "
	       "%u, %u other rows called different\n",
	       sigma, intervals, nr_rows, found, times, *wrong);
	return found;
}

static void test_a_shift_of_5_percent_is_found(void **state)
{
	u32 times = draws(), wrong = 0, found;

	found = find_shift(1, 60, 0.5, times, &wrong);
	assert_true(found >= least(0.92, times));
	wrong = 0;
	found = find_shift(10, 60, 0.5, times, &wrong);
	assert_true(found >= least(0.95, times));
	wrong = 0;
	times = draws() > SHORT_DRAWS ? draws() / 4 : SHORT_DRAWS / 2;
	found = find_shift(100, 60, 0.5, times, &wrong);
	assert_true(found * 10 >= times * 9);
	/* A wrong verdict of even one of 99 rows in 5 of 100 tables. */
	assert_true(wrong <= times / 20 + 3.1 * sqrt(0.05 * times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_hold_the_truth_of_independent_calls),
		cmocka_unit_test(test_limits_hold_the_truth_when_the_level_drifts_and_bursts),
		cmocka_unit_test(test_the_same_program_twice_is_hardly_ever_called_different),
		cmocka_unit_test(
			test_rows_that_move_together_or_unlike_are_hardly_ever_called_different),
		cmocka_unit_test(test_a_shift_of_5_percent_is_found),
	};

	const struct CMUnitTest more[] = {
		cmocka_unit_test(test_limits_of_the_method_are_shown_by_the_long_version),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	if (draws() > SHORT_DRAWS)
		failed += cmocka_run_group_tests(more, NULL, NULL);
	return failed;
}
