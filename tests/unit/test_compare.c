// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare.c - which rows are compared, which are refused, and why. How good the statistics are is in
 * test_compare_sim.c, what the forms say in test_compare_print.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "tests/unit/compare_pair.h"

static void not_comparable(const struct pair *p, const char *metric, const char *why)
{
	const struct compare_cell *c = cell(p, metric);

	if (c->verdict != VERDICT_NOT || !strstr(c->why, why))
		fail_msg("%s: \"%s\" (%s), expected not comparable (%s)", metric,
			 verdict_names[c->verdict], c->why, why);
	assert_true(isnan(c->p) && isnan(c->rlo));
}

static void test_values_are_those_of_the_report(void **state)
{
	struct pair p;
	const struct m_dist *d;

	pair__init(&p, 1, 30, 5000);
	pair__build(&p, &pair_plain);
	d = &p.r[1]->row[0].dist[HB_DIST_LEAF];
	near(cell(&p, "p99")->value, (double)dist_quantile(d, DIST_P99), 0);
	near(cell(&p, "mean")->value, (double)d->sum_ns / (double)d->count, 1e-9);
	near(cell(&p, "calls/s")->value, 5000 / 30.0, 1e-9);
	assert_true(cell(&p, "p50")->effective <= 5000);
	assert_int_equal(p.c.nr_warnings, 0);
	pair__fini(&p);
}

static void test_a_latency_below_the_resolution_of_the_probe_is_not_compared(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->cal[0].in_ns = 20000;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "shorter than the probe can tell");
	assert_int_equal(cell(&p, "calls/s")->verdict, VERDICT_SAME);
	assert_false(warned(&p, "what cannot be subtracted counts"));
	pair__fini(&p);
	pair__init(&p, 1, 30, 5000);
	p.r[1]->cal[0].in_ns = 3000;
	pair__build(&p, &pair_plain);
	assert_true(warned(&p, "what cannot be subtracted counts"));
	assert_int_equal(cell(&p, "p50")->verdict, VERDICT_SAME);
	pair__fini(&p);
}

static void test_without_a_calibration_latencies_are_not_compared(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[0]->nr_cals = 0;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "mean", "the probe's cost in A is not known");
	pair__fini(&p);
}

static void test_other_payload_sizes_are_not_compared_but_by_size(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->row[0].size_class = 12;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "payload sizes");
	pair__fini(&p);
}

static void virtualized_by(struct recording *r, const char *value)
{
	for (u32 i = 0; i < r->host.nr_facts; i++)
		if (!strcmp(r->host.fact[i].key, "virtualization")) {
			free(r->host.fact[i].value);
			r->host.fact[i].value = strdup(value);
		}
}

static void test_a_hypervisor_that_may_be_an_emulator_is_warned_of(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	virtualized_by(p.r[1], "a hypervisor without a name");
	pair__build(&p, &pair_plain);
	assert_true(warned(&p, "does not tell whether it emulates the CPU"));
	pair__fini(&p);
}

static void test_an_emulated_cpu_is_not_compared_with_a_real_one(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	virtualized_by(p.r[1], "QEMU TCG (QEMU Standard PC)");
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p90", "emulated");
	not_comparable(&p, "calls/s", "emulated");
	assert_true(warned(&p, "its times are the emulator's"));
	pair__fini(&p);
}

static void test_an_unbalanced_capture_is_not_compared(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->coverage.n[HB_FN_ENTRIES] += 7;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "not balanced");
	assert_true(warned(&p, "B is NOT BALANCED"));
	pair__fini(&p);
}

static void test_a_function_that_lost_many_calls_is_not_compared(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->func[0].n[HB_FN_DROPPED] += 1000;
	p.r[1]->func[0].n[HB_FN_ENTRIES] += 1000;
	p.r[1]->coverage.n[HB_FN_DROPPED] += 1000;
	p.r[1]->coverage.n[HB_FN_ENTRIES] += 1000;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "lost 17% of the calls");
	assert_true(warned(&p, "B lost 16.7% of its calls"));
	pair__fini(&p);
}

static void test_intervals_that_do_not_add_up_give_no_limits(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->interval[3].delta[0].count += 500;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "do not add up");
	pair__fini(&p);
	pair__init(&p, 1, 30, 5000);
	for (u32 i = 0; i < 30; i++)
		p.r[0]->interval[i].delta[0].nr_buckets = 0;
	pair__build(&p, &pair_plain);
	not_comparable(&p, "p50", "the intervals of A do not add up");
	pair__fini(&p);
}

static void test_few_intervals_and_few_calls_are_said_apart(void **state)
{
	struct pair p;

	pair__init(&p, 1, 5, 5000);
	pair__build(&p, &pair_plain);
	assert_int_equal(cell(&p, "p50")->verdict, VERDICT_FEW);
	assert_non_null(strstr(cell(&p, "p50")->why, "5 intervals, 8 are needed"));
	assert_true(warned(&p, "is short: 5.00s recorded"));
	pair__fini(&p);
	pair__init(&p, 1, 30, 300);
	pair__build(&p, &pair_plain);
	assert_int_equal(cell(&p, "p50")->verdict, VERDICT_SAME);
	assert_int_equal(cell(&p, "p99")->verdict, VERDICT_FEW);
	assert_true(isnan(cell(&p, "p99.9")->value));
	pair__fini(&p);
}

static void test_headers_that_differ_are_named(void **state)
{
	struct pair p;

	pair__init(&p, 2, 30, 1000);
	free(p.r[1]->target[0].language);
	p.r[1]->target[0].language = strdup("go1.23.0");
	m_host__add(&p.r[0]->host, "smt", "on");
	m_host__add(&p.r[1]->host, "smt", "off");
	m_host__add(&p.r[0]->host, "governor", "performance");
	m_host__add(&p.r[1]->host, "governor", "powersave");
	p.r[1]->func[0].library_version = strdup("v2.9.0");
	p.r[1]->func[0].exit_mode = M_EXIT_RET;
	p.r[1]->target[0].cpu_ns = 30 * 15000000000ULL;
	free(p.r[1]->func[1].name);
	p.r[1]->func[1].name = strdup("elsewhere.org/fast.Marshal");
	pair__build(&p, &pair_plain);
	assert_true(warned(&p, "Go: A has go1.26.8, B has go1.23.0"));
	assert_true(warned(&p, "SMT: A has on, B has off"));
	assert_true(warned(&p, "frequency governor: A has performance, B has powersave"));
	assert_true(warned(&p, "n/a in A, v2.9.0 in B: other code under the same name"));
	assert_true(
		warned(&p, "other probes (push, exits at sites in A; push, exits at rets in B)"));
	assert_true(warned(&p, "load: the target of B used 94% of all CPUs"));
	assert_true(warned(&p, "two implementations, not one row"));
	assert_int_equal(p.c.nr_rows, 3);
	assert_int_equal(p.c.nr_common, 1);
	pair__fini(&p);
}

static void test_a_threshold_trips_only_with_confidence(void **state)
{
	static const struct compare_opts ten = {.fail_over = 0.10}, thirty = {.fail_over = 0.30};
	struct sim_model slow = pair_model;
	struct sim_rng rng = {5};
	struct pair p;

	slow.median_ns *= 1.2;
	for (u32 k = 0; k < 2; k++) {
		pair__init(&p, 1, 30, 10000);
		recording__free(p.r[1]);
		p.r[1] = sim_new(1, 30);
		sim_fill(&rng, p.r[1], 0, &slow, 10000);
		pair__build(&p, k ? &thirty : &ten);
		assert_int_equal(cell(&p, "p50")->verdict, VERDICT_SLOWER);
		assert_true(k ? p.c.tripped == 0 : p.c.tripped >= 3);
		assert_true(p.c.judged >= 4);
		pair__fini(&p);
	}
}

static void test_runs_that_differ_make_wider_limits_than_one_run(void **state)
{
	struct compare_run run[6];
	struct compare_side side[2] = {{"A", run, 3}, {"B", run + 3, 3}};
	static const double level[] = {0, 0.05, -0.05, 0.02, 0.08, -0.06};
	struct recording *r[6];
	struct sim_rng rng = {77};
	struct compare c;
	const struct compare_cell *p50;

	for (u32 i = 0; i < 6; i++) {
		struct sim_model m = pair_model;

		m.median_ns *= exp(level[i]);
		r[i] = sim_new(1, 30);
		r[i]->begin_wall_ns += i * 60000000000ULL;
		sim_fill(&rng, r[i], 0, &m, 100000);
		run[i] = (struct compare_run){r[i], "x"};
	}
	assert_int_equal(compare__build(&c, side, 2, &pair_plain), 0);
	p50 = compare_cell(&c, &c.row[0], 1, 1);
	assert_int_equal(p50->verdict, VERDICT_SAME);
	/* Welch's t over the runs: about +-13 %; the calls alone would give below 2 %. */
	assert_true(p50->rhi / p50->ratio > 1.08 && p50->rhi / p50->ratio < 1.25);
	compare__fini(&c);
	for (u32 i = 0; i < 6; i++)
		recording__free(r[i]);
}

static double rate_of_two(u64 begin, u64 end)
{
	struct pair p;
	double rate;

	pair__init(&p, 2, 30, 5000);
	for (u32 i = 0; i < 2; i++) {
		struct recording *r = p.r[i];

		r->target = reallocarray(r->target, 2, sizeof(*r->target));
		r->nr_targets = 2;
		r->target[1] = (struct m_target){.pid = 7};
		r->target[0].begin_mono_ns = r->begin_mono_ns;
		r->target[0].end_mono_ns = r->begin_mono_ns + 10000000000ULL;
		r->target[1].begin_mono_ns = begin == M_NONE ? M_NONE : r->begin_mono_ns + begin;
		r->target[1].end_mono_ns = end == M_NONE ? M_NONE : r->begin_mono_ns + end;
		r->row[1].func = 0;
		r->row[1].target = 1;
		r->row[0].measured_ns = r->row[1].measured_ns = 10000000000ULL;
	}
	pair__build(&p, &pair_plain);
	rate = p.c.row[0].cell[5 * p.c.nr_sides].value;
	pair__fini(&p);
	return rate;
}

static void test_calls_a_second_are_over_the_time_of_all_processes_together(void **state)
{
	assert_true(fabs(rate_of_two(10000000000ULL, 20000000000ULL) - 500) < 1e-6);
	assert_true(fabs(rate_of_two(0, 10000000000ULL) - 1000) < 1e-6);
	assert_true(fabs(rate_of_two(5000000000ULL, 15000000000ULL) - 10000 / 15.0) < 1e-6);
	assert_true(isnan(rate_of_two(M_NONE, M_NONE)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_those_of_the_report),
		cmocka_unit_test(test_a_latency_below_the_resolution_of_the_probe_is_not_compared),
		cmocka_unit_test(test_without_a_calibration_latencies_are_not_compared),
		cmocka_unit_test(test_other_payload_sizes_are_not_compared_but_by_size),
		cmocka_unit_test(test_a_hypervisor_that_may_be_an_emulator_is_warned_of),
		cmocka_unit_test(test_an_emulated_cpu_is_not_compared_with_a_real_one),
		cmocka_unit_test(test_an_unbalanced_capture_is_not_compared),
		cmocka_unit_test(test_a_function_that_lost_many_calls_is_not_compared),
		cmocka_unit_test(test_intervals_that_do_not_add_up_give_no_limits),
		cmocka_unit_test(test_few_intervals_and_few_calls_are_said_apart),
		cmocka_unit_test(test_headers_that_differ_are_named),
		cmocka_unit_test(test_a_threshold_trips_only_with_confidence),
		cmocka_unit_test(test_runs_that_differ_make_wider_limits_than_one_run),
		cmocka_unit_test(test_calls_a_second_are_over_the_time_of_all_processes_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
