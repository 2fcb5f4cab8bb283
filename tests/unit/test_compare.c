// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare.c - which rows are compared and which are refused, what the forms say, and merging.
 * How good the statistics are is in test_compare_sim.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "capture/capture.h"
#include "model/request.h"
#include "report/compare.h"
#include "report/group.h"
#include "report/merged.h"
#include "tests/unit/compare_sim.h"

static const struct sim_model model = {"", 8000, 0.4, 0, 0, 0, 0, 0};
static const struct compare_opts plain = {.fail_over = -1};

/* ---- arithmetic ---- */

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g is not %.9g", got, want);
}

/* From tables of Student's t, the normal and the binomial distribution. */
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

/* ---- two recordings ---- */

struct pair {
	struct recording *r[2];
	struct compare_run run[2];
	struct compare_side side[2];
	struct compare c;
	bool built;
};

static void pair__init(struct pair *p, u32 rows, u32 intervals, u64 calls)
{
	struct sim_rng rng = {99 + calls};

	*p = (struct pair){0};
	for (u32 k = 0; k < 2; k++) {
		p->r[k] = sim_new(rows, intervals);
		p->r[k]->begin_wall_ns += k * 1000000000000ULL;
		for (u32 i = 0; i < rows; i++)
			sim_fill(&rng, p->r[k], i, &model, calls);
	}
}

static void pair__build(struct pair *p, const struct compare_opts *o)
{
	for (u32 k = 0; k < 2; k++) {
		p->run[k] = (struct compare_run){p->r[k], k ? "b.hbp" : "a.hbp"};
		p->side[k] = (struct compare_side){k ? "B" : "A", &p->run[k], 1};
	}
	assert_int_equal(compare__build(&p->c, p->side, 2, o), 0);
	p->built = true;
}

static void pair__fini(struct pair *p)
{
	if (p->built)
		compare__fini(&p->c);
	recording__free(p->r[0]);
	recording__free(p->r[1]);
}

static const struct compare_cell *cell(const struct pair *p, const char *metric)
{
	for (u32 m = 0; m < p->c.nr_metrics; m++)
		if (!strcmp(p->c.metric[m]->name, metric))
			return compare_cell(&p->c, &p->c.row[0], m, 1);
	fail_msg("no metric %s", metric);
	return NULL;
}

static bool warned(const struct pair *p, const char *what)
{
	for (u32 i = 0; i < p->c.nr_warnings; i++)
		if (strstr(p->c.warning[i], what))
			return true;
	return false;
}

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
	pair__build(&p, &plain);
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
	pair__build(&p, &plain);
	not_comparable(&p, "p50", "shorter than the probe can tell");
	assert_int_equal(cell(&p, "calls/s")->verdict, VERDICT_SAME);
	assert_false(warned(&p, "what cannot be subtracted counts"));
	pair__fini(&p);
	pair__init(&p, 1, 30, 5000);
	p.r[1]->cal[0].in_ns = 3000;
	pair__build(&p, &plain);
	assert_true(warned(&p, "what cannot be subtracted counts"));
	assert_int_equal(cell(&p, "p50")->verdict, VERDICT_SAME);
	pair__fini(&p);
}

static void test_without_a_calibration_latencies_are_not_compared(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[0]->nr_cals = 0;
	pair__build(&p, &plain);
	not_comparable(&p, "mean", "the probe's cost in A is not known");
	pair__fini(&p);
}

static void test_other_payload_sizes_are_not_compared_but_by_size(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->row[0].size_class = 12;
	pair__build(&p, &plain);
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
	pair__build(&p, &plain);
	assert_true(warned(&p, "does not tell whether it emulates the CPU"));
	pair__fini(&p);
}

static void test_an_emulated_cpu_is_not_compared_with_a_real_one(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	virtualized_by(p.r[1], "QEMU TCG (QEMU Standard PC)");
	pair__build(&p, &plain);
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
	pair__build(&p, &plain);
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
	pair__build(&p, &plain);
	not_comparable(&p, "p50", "lost 17% of the calls");
	assert_true(warned(&p, "B lost 16.7% of its calls"));
	pair__fini(&p);
}

static void test_intervals_that_do_not_add_up_give_no_limits(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	p.r[1]->interval[3].delta[0].count += 500;
	pair__build(&p, &plain);
	not_comparable(&p, "p50", "do not add up");
	pair__fini(&p);
	pair__init(&p, 1, 30, 5000);
	for (u32 i = 0; i < 30; i++)
		p.r[0]->interval[i].delta[0].nr_buckets = 0;
	pair__build(&p, &plain);
	not_comparable(&p, "p50", "the intervals of A do not add up");
	pair__fini(&p);
}

static void test_few_intervals_and_few_calls_are_said_apart(void **state)
{
	struct pair p;

	pair__init(&p, 1, 5, 5000);
	pair__build(&p, &plain);
	assert_int_equal(cell(&p, "p50")->verdict, VERDICT_FEW);
	assert_non_null(strstr(cell(&p, "p50")->why, "5 intervals, 8 are needed"));
	assert_true(warned(&p, "is short: 5.00s recorded"));
	pair__fini(&p);
	pair__init(&p, 1, 30, 300);
	pair__build(&p, &plain);
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
	pair__build(&p, &plain);
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
	struct sim_model slow = model;
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
		struct sim_model m = model;

		m.median_ns *= exp(level[i]);
		r[i] = sim_new(1, 30);
		sim_fill(&rng, r[i], 0, &m, 100000);
		run[i] = (struct compare_run){r[i], "x"};
	}
	assert_int_equal(compare__build(&c, side, 2, &plain), 0);
	p50 = compare_cell(&c, &c.row[0], 1, 1);
	assert_int_equal(p50->verdict, VERDICT_SAME);
	/* Welch's t over the runs: about +-13 %; the calls alone would give below 2 %. */
	assert_true(p50->rhi / p50->ratio > 1.08 && p50->rhi / p50->ratio < 1.25);
	compare__fini(&c);
	for (u32 i = 0; i < 6; i++)
		recording__free(r[i]);
}

/* ---- forms ---- */

static char *print(const struct compare *c, enum compare_format format, u32 width)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(compare__print(c, format, width, f), 0);
	fclose(f);
	return text;
}

static void test_rows_of_both_come_first_and_the_dearest_of_them(void **state)
{
	struct pair p;

	pair__init(&p, 4, 30, 1000);
	free(p.r[1]->func[3].name);
	p.r[1]->func[3].name = strdup("elsewhere.org/fast.Marshal");
	m_dist__fini(&p.r[1]->row[2].dist[HB_DIST_LEAF]);
	p.r[1]->row[2].dist[HB_DIST_LEAF] = (struct m_dist){1000,	1ULL << 40, 1,
							    1ULL << 40, NULL,	    0};
	pair__build(&p, &plain);
	assert_string_equal(p.c.row[0].key.name, "example.com/codec.Marshal002");
	assert_string_equal(p.c.row[3].key.name, "example.com/codec.Marshal003");
	assert_int_equal(p.c.nr_common, 3);
	pair__fini(&p);
}

static void test_json_has_what_the_table_has(void **state)
{
	const cJSON *row, *metric, *side;
	struct pair p;
	cJSON *doc;
	char *text;

	pair__init(&p, 1, 30, 5000);
	pair__build(&p, &plain);
	text = print(&p.c, COMPARE_JSON, 0);
	doc = cJSON_Parse(text);
	assert_non_null(doc);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(doc, "rows"), 0);
	metric = cJSON_GetArrayItem(cJSON_GetObjectItem(row, "metrics"), 1);
	assert_string_equal(cJSON_GetObjectItem(metric, "metric")->valuestring, "p50");
	side = cJSON_GetArrayItem(cJSON_GetObjectItem(metric, "sides"), 1);
	near(cJSON_GetObjectItem(side, "ratio")->valuedouble, cell(&p, "p50")->ratio, 1e-6);
	assert_string_equal(cJSON_GetObjectItem(side, "verdict")->valuestring,
			    "no difference shown");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(doc, "fail_over")));
	cJSON_Delete(doc);
	free(text);
	pair__fini(&p);
}

static void test_html_escapes_names_and_needs_nothing_else(void **state)
{
	struct pair p;
	char *text;

	pair__init(&p, 1, 30, 5000);
	for (u32 k = 0; k < 2; k++) {
		free(p.r[k]->func[0].name);
		p.r[k]->func[0].name = strdup("<script>alert('\"&\x1b\xff\")</script>");
	}
	pair__build(&p, &plain);
	text = print(&p.c, COMPARE_HTML, 0);
	assert_null(strstr(text, "<script"));
	assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;&quot;&amp;\\x1b\\xff&quot;)"));
	assert_null(strstr(text, "http"));
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "</html>\n"));
	free(text);
	pair__fini(&p);
}

static void test_no_line_of_the_table_is_wider_than_the_terminal(void **state)
{
	struct pair p;
	char *text, *save = NULL;

	pair__init(&p, 3, 30, 5000);
	p.r[1]->row[0].size_class = 12;
	pair__build(&p, &plain);
	for (u32 width = 80; width <= 200; width += 40) {
		text = print(&p.c, COMPARE_TABLE, width);
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			if (strlen(l) > width)
				fail_msg("%u columns: %s", width, l);
		free(text);
	}
	pair__fini(&p);
}

/* Two processes of the same calls, one after the other, beside each other, or at times not known. */
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
	pair__build(&p, &plain);
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

/* ---- merging ---- */

static void test_merging_adds_up_exactly_and_is_a_capture(void **state)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all, *back;
	char why[512] = "", *bytes;
	struct pair p;
	size_t len;

	pair__init(&p, 2, 10, 5000);
	assert_int_equal(recordings_merge((const struct recording *const *)p.r, names, 2, &all, why,
					  sizeof(why)),
			 0);
	assert_int_equal(all->nr_rows, 2);
	assert_int_equal(all->nr_funcs, 2);
	assert_int_equal(all->nr_targets, 1);
	assert_int_equal(all->nr_intervals, 20);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(all->row[i].count, 10000);
		assert_true(all->row[i].dist[0].sum_ns ==
			    p.r[0]->row[i].dist[0].sum_ns + p.r[1]->row[i].dist[0].sum_ns);
		assert_true(all->func[i].n[HB_FN_ENTRIES] == 10000);
		assert_true(all->row[i].measured_ns == 20 * 1000000000ULL);
	}
	assert_true(all->end_mono_ns - all->begin_mono_ns == 20 * 1000000000ULL);
	assert_int_equal(capture__write_mem(all, &bytes, &len), 0);
	if (capture__read_mem(bytes, len, "all", &back, why, sizeof(why)))
		fail_msg("%s", why);
	assert_non_null(strstr(back->warning[0], "merged from 2 captures (a.hbp, b.hbp)"));
	free(bytes);
	recording__free(back);
	recording__free(all);
	pair__fini(&p);
}

static struct recording *merged(struct pair *p)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all = NULL;
	char why[512] = "";

	if (recordings_merge((const struct recording *const *)p->r, names, 2, &all, why,
			     sizeof(why)))
		fail_msg("%s", why);
	return all;
}

/* 10 s with calls and 10 s without are 20 s. */
static void test_merged_rates_are_over_the_time_without_calls_too(void **state)
{
	struct recording *all;
	struct pair p;

	pair__init(&p, 2, 10, 5000);
	p.r[1]->row[1].size_class = 12;
	p.r[1]->nr_rows = 1;
	all = merged(&p);
	assert_int_equal(all->nr_rows, 2);
	assert_int_equal(all->row[1].count, 5000);
	assert_true(all->row[1].measured_ns == 20 * 1000000000ULL);
	recording__free(all);
	p.r[1]->nr_rows = 2;
	pair__fini(&p);
}

/* Three runs of a benchmark do not make three times as many calls a second. */
static void test_merged_runs_of_a_program_have_the_rate_of_a_run(void **state)
{
	struct recording *all;
	struct groups groups;
	struct pair p;

	pair__init(&p, 1, 10, 5000);
	for (u32 i = 0; i < 2; i++) {
		struct m_target *t = &p.r[i]->target[0];

		t->start_time += i;
		t->begin_mono_ns = p.r[i]->begin_mono_ns;
		t->end_mono_ns = p.r[i]->end_mono_ns;
	}
	all = merged(&p);
	assert_int_equal(all->nr_targets, 2);
	assert_int_equal(groups__build(&groups, all, false), 0);
	assert_int_equal(groups.nr, 1);
	assert_true(groups.v[0].calls == 10000);
	assert_true(groups.v[0].measured_ns == 20 * 1000000000ULL);
	assert_int_equal(group__nr_classes(&groups.v[0]), 1);
	groups__fini(&groups);
	recording__free(all);
	pair__fini(&p);
}

static void test_merged_handlers_stay_such_and_requests_are_said_to_be_left_out(void **state)
{
	struct recording *all;
	bool said = false;
	struct pair p;

	pair__init(&p, 2, 10, 100);
	for (u32 i = 0; i < 2; i++) {
		p.r[i]->func[0].kind = strdup("handler");
		p.r[i]->requests = calloc(1, sizeof(*p.r[i]->requests));
	}
	all = merged(&p);
	assert_int_equal(all->nr_funcs, 2);
	assert_string_equal(all->func[0].kind, "handler");
	assert_ptr_not_equal(all->func[0].kind, p.r[0]->func[0].kind);
	for (u32 i = 0; i < all->nr_warnings; i++)
		said |= strstr(all->warning[i], "requests of 2 of the merged captures") != NULL;
	assert_true(said);
	recording__free(all);
	pair__fini(&p);
}

static void merge_refused(struct pair *p, const char *reason)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all;
	char why[512] = "";
	int err;

	err = recordings_merge((const struct recording *const *)p->r, names, 2, &all, why,
			       sizeof(why));
	if (!err || !strstr(why, reason) || !strstr(why, "b.hbp"))
		fail_msg("%d: \"%s\", expected \"%s\"", err, why, reason);
	pair__fini(p);
}

static void test_what_does_not_fit_is_not_merged(void **state)
{
	struct pair p;

	pair__init(&p, 1, 10, 100);
	free(p.r[1]->host.fact[0].value);
	p.r[1]->host.fact[0].value = strdup("Other CPU");
	merge_refused(&p, "its cpu_model is Other CPU");
	pair__init(&p, 1, 10, 100);
	p.r[1]->image[0].build_id = strdup("abcd");
	merge_refused(&p, "its build of /srv/bench is abcd");
	pair__init(&p, 1, 10, 100);
	p.r[1]->begin_wall_ns = p.r[0]->begin_wall_ns + 5000000000ULL;
	merge_refused(&p, "its calls would count twice");
	pair__init(&p, 1, 10, 100);
	p.r[1]->row[0].count = p.r[0]->row[0].count = ~0ULL >> 1;
	merge_refused(&p, "too large to be exact");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions_agree_with_published_tables),
		cmocka_unit_test(test_p99_needs_some_400_calls_for_two_limits),
		cmocka_unit_test(test_large_and_small_samples_use_the_same_ranks),
		cmocka_unit_test(test_holm_is_as_in_the_textbook),
		cmocka_unit_test(test_correlated_intervals_vary_more_than_independent_ones),
		cmocka_unit_test(test_values_are_those_of_the_report),
		cmocka_unit_test(test_a_latency_below_the_resolution_of_the_probe_is_not_compared),
		cmocka_unit_test(test_without_a_calibration_latencies_are_not_compared),
		cmocka_unit_test(test_other_payload_sizes_are_not_compared_but_by_size),
		cmocka_unit_test(test_an_emulated_cpu_is_not_compared_with_a_real_one),
		cmocka_unit_test(test_a_hypervisor_that_may_be_an_emulator_is_warned_of),
		cmocka_unit_test(test_an_unbalanced_capture_is_not_compared),
		cmocka_unit_test(test_a_function_that_lost_many_calls_is_not_compared),
		cmocka_unit_test(test_intervals_that_do_not_add_up_give_no_limits),
		cmocka_unit_test(test_few_intervals_and_few_calls_are_said_apart),
		cmocka_unit_test(test_headers_that_differ_are_named),
		cmocka_unit_test(test_a_threshold_trips_only_with_confidence),
		cmocka_unit_test(test_runs_that_differ_make_wider_limits_than_one_run),
		cmocka_unit_test(test_rows_of_both_come_first_and_the_dearest_of_them),
		cmocka_unit_test(test_json_has_what_the_table_has),
		cmocka_unit_test(test_html_escapes_names_and_needs_nothing_else),
		cmocka_unit_test(test_no_line_of_the_table_is_wider_than_the_terminal),
		cmocka_unit_test(test_merging_adds_up_exactly_and_is_a_capture),
		cmocka_unit_test(test_calls_a_second_are_over_the_time_of_all_processes_together),
		cmocka_unit_test(test_merged_rates_are_over_the_time_without_calls_too),
		cmocka_unit_test(test_merged_runs_of_a_program_have_the_rate_of_a_run),
		cmocka_unit_test(
			test_merged_handlers_stay_such_and_requests_are_said_to_be_left_out),
		cmocka_unit_test(test_what_does_not_fit_is_not_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
