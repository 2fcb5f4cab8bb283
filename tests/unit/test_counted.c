/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_counted.c - counters of calls from the recording on: through the capture, merging and
 * differences, into the reports and the comparison.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>
#include "capture/capture.h"
#include "compare_sim.h"
#include "report/compare.h"
#include "report/merged.h"
#include "report/report.h"
#include "report/since.h"

#define INTERVALS 20
#define CALLS	  20000

enum { CYCLES, INSTRUCTIONS, MISSES, FAULTS, NR };

static void count(struct recording *r, u32 row, u32 ctr, struct m_interval *iv, u64 calls, u64 each)
{
	struct m_ctr part = {calls, calls * each, each, each};

	iv->ctr[iv->nr_ctrs++] = (struct m_ctr_delta){row, (u8)ctr, calls, calls * each};
	m_ctr__merge(&r->row[row].ctr[ctr], &part);
}

/* Each call has about `cycles`, half as many instructions, and a page fault; misses cannot be counted. */
static struct recording *counted(u64 seed, u64 cycles)
{
	static const char *const names[NR] = {"cycles", "instructions", "cache-misses",
					      "page-faults"};
	struct sim_model m = {.name = "flat", .median_ns = 2000, .sigma = 0.3};
	struct recording *r = sim_new(2, INTERVALS);
	struct sim_rng rng = {seed};

	r->counters.nr = NR;
	for (u32 i = 0; i < NR; i++)
		r->counters.v[i] = (struct m_counter){.name = strdup(names[i]), .bias = M_NONE};
	r->counters.v[MISSES].lack = strdup("no such counter here");
	r->counters.v[CYCLES].bias = 123;
	r->counters.lost[HB_CTR_LOST_SWITCH] = 77;
	for (u32 row = 0; row < 2; row++) {
		for (u32 k = 0; k < HB_CTRS; k++)
			m_ctr__init(&r->row[row].ctr[k]);
		sim_fill(&rng, r, row, &m, CALLS);
	}
	for (u32 i = 0; i < INTERVALS; i++) {
		struct m_interval *iv = &r->interval[i];

		iv->ctr = array_alloc(2 * NR, sizeof(*iv->ctr));
		for (u32 k = 0; k < iv->nr_deltas; k++) {
			u64 n = iv->delta[k].count, each = cycles + (i + seed) % 7;

			count(r, iv->delta[k].row, CYCLES, iv, n, each);
			count(r, iv->delta[k].row, INSTRUCTIONS, iv, n, cycles / 2);
			count(r, iv->delta[k].row, FAULTS, iv, n - 1, 1);
		}
	}
	return r;
}

static bool same_ctr(const struct m_ctr *a, const struct m_ctr *b)
{
	return a->calls == b->calls && a->sum == b->sum && a->min == b->min && a->max == b->max;
}

static struct recording *through_capture(const struct recording *r)
{
	struct recording *back;
	char why[512], *bytes;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	if (capture__read_mem(bytes, len, "counted", &back, why, sizeof(why)))
		fail_msg("%s", why);
	free(bytes);
	return back;
}

static void test_a_capture_has_every_counter_of_rows_and_intervals(void **state)
{
	struct recording *r = counted(1, 1000), *back = through_capture(r);

	assert_int_equal(back->counters.nr, NR);
	assert_string_equal(back->counters.v[MISSES].lack, "no such counter here");
	assert_null(back->counters.v[CYCLES].lack);
	assert_int_equal(back->counters.v[CYCLES].bias, 123);
	assert_int_equal(back->counters.lost[HB_CTR_LOST_SWITCH], 77);
	for (u32 i = 0; i < 2; i++)
		for (u32 k = 0; k < HB_CTRS; k++)
			assert_true(same_ctr(&r->row[i].ctr[k], &back->row[i].ctr[k]));
	for (u32 i = 0; i < INTERVALS; i++) {
		assert_int_equal(back->interval[i].nr_ctrs, r->interval[i].nr_ctrs);
		for (u32 k = 0; k < back->interval[i].nr_ctrs; k++) {
			assert_int_equal(back->interval[i].ctr[k].sum, r->interval[i].ctr[k].sum);
			assert_int_equal(back->interval[i].ctr[k].row, r->interval[i].ctr[k].row);
		}
	}
	recording__free(back);
	recording__free(r);
}

/* Is the recording, which contradicts itself, refused with that reason? */
static void refused(struct recording *r, const char *reason)
{
	struct recording *back;
	char why[512] = "", *bytes;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	if (!capture__read_mem(bytes, len, "counted", &back, why, sizeof(why)))
		fail_msg("it was read");
	if (!strstr(why, reason))
		fail_msg("\"%s\" does not say \"%s\"", why, reason);
	free(bytes);
	recording__free(r);
}

static void test_counters_that_contradict_the_rows_are_refused(void **state)
{
	struct recording *r = counted(1, 1000);

	r->row[0].ctr[CYCLES].calls = CALLS + 1;
	refused(r, "more calls than it has");
	r = counted(1, 1000);
	r->row[0].ctr[CYCLES].sum = r->row[0].ctr[CYCLES].max * CALLS + 1;
	refused(r, "not possible with its extremes");
	r = counted(1, 1000);
	r->interval[3].ctr[0].sum = r->row[0].ctr[CYCLES].sum + 1;
	refused(r, "more than the rows");
	r = counted(1, 1000);
	r->interval[3].ctr[0].row = 2;
	refused(r, "cannot be unpacked");
	r = counted(1, 1000);
	r->interval[3].ctr[1] = r->interval[3].ctr[0];
	refused(r, "cannot be unpacked");
	r = counted(1, 1000);
	free(r->counters.v[1].name);
	r->counters.v[1].name = strdup("cycles");
	refused(r, "same name");
}

static char *printed(const struct recording *r, const struct report_opts *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report__print(r, o, f), 0);
	fclose(f);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

/* Paragraphs as one line each. */
static void unwrap(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\n' && !strncmp(from + 1, "            ", 12)) {
			*to++ = ' ';
			from += 12;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static void test_the_report_shows_what_was_counted_and_why_the_rest_was_not(void **state)
{
	struct recording *r = counted(1, 1000);
	char *text = printed(r, &(struct report_opts){.width = 100});

	unwrap(text);
	has(text, "counters per call\n");
	has(text, "IPC");
	has(text, "0.50");
	has(text, "cycles, instructions in 100.0%");
	has(text, "page-faults in 99.9%");
	has(text, "123 cycles at most are the probes' own");
	has(text, "cache-misses: n/a (no such counter here)");
	has(text, "77 calls: the thread left the CPU");
	free(text);
	text = printed(r, &(struct report_opts){.format = REPORT_JSON});
	has(text, "\"ipc\": 0.49");
	has(text, "\"cache-misses\": null");
	has(text, "\"reason\": \"no such counter here\"");
	has(text, "\"context_switch\": 77");
	free(text);
	recording__free(r);
}

static void test_the_table_of_counters_fits_into_100_columns(void **state)
{
	struct recording *r = counted(1, 1000);
	char *text = printed(r, &(struct report_opts){.width = 100, .by = REPORT_BY_SIZE});

	for (char *save, *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (strlen(l) > 100)
			fail_msg("%zu columns: %s", strlen(l), l);
	free(text);
	recording__free(r);
}

static void test_the_difference_of_two_readings_has_the_counters_of_the_calls_between(void **state)
{
	struct recording *before = counted(1, 1000), *now = counted(1, 1000);
	struct m_ctr more = {100, 5000, 50, 50};
	struct since s;

	m_ctr__merge(&now->row[1].ctr[CYCLES], &more);
	assert_int_equal(since__init(&s, now, before), 0);
	assert_int_equal(s.rec.row[1].ctr[CYCLES].calls, 100);
	assert_int_equal(s.rec.row[1].ctr[CYCLES].sum, 5000);
	assert_int_equal(s.rec.row[0].ctr[CYCLES].calls, 0);
	since__fini(&s);
	recording__free(before);
	recording__free(now);
}

/* The second has one counter less, and its list in another order. */
static void test_merged_recordings_have_the_sums_of_counters_of_one_name(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)}, *all, *back;
	const char *const names[] = {"a", "b"};
	struct m_counter first = r[1]->counters.v[CYCLES];
	char why[512];

	r[1]->counters.v[CYCLES] = r[1]->counters.v[INSTRUCTIONS];
	r[1]->counters.v[INSTRUCTIONS] = first;
	r[1]->begin_wall_ns += 3600 * 1000000000ULL;
	if (recordings_merge((const struct recording *const *)r, names, 2, &all, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(all->counters.nr, NR);
	assert_int_equal(all->counters.lost[HB_CTR_LOST_SWITCH], 154);
	assert_int_equal(all->row[0].ctr[CYCLES].sum,
			 r[0]->row[0].ctr[CYCLES].sum + r[1]->row[0].ctr[INSTRUCTIONS].sum);
	back = through_capture(all);
	recording__free(back);
	recording__free(all);
	recording__free(r[0]);
	recording__free(r[1]);
}

static void test_a_process_that_came_later_has_the_rate_of_its_own_time(void **state)
{
	struct recording *r = counted(1, 1000);
	struct since s;

	r->target[0].begin_mono_ns = r->end_mono_ns - 5000000000ULL;
	r->target[0].end_mono_ns = M_NONE;
	assert_int_equal(since__init(&s, r, NULL), 0);
	assert_true(s.rec.row[0].measured_ns == 5000000000ULL);
	since__fini(&s);
	r->target[0].begin_mono_ns = M_NONE;
	assert_int_equal(since__init(&s, r, NULL), 0);
	assert_true(s.rec.row[0].measured_ns == r->end_mono_ns - r->begin_mono_ns);
	since__fini(&s);
	recording__free(r);
}

/* As of a guest that stops counting: calls have it, and it is 0 in each. */
static void test_zeros_of_a_counter_that_stood_still_are_not_merged(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)}, *all;
	const char *const names[] = {"a", "b"};
	char why[512];

	r[1]->counters.v[CYCLES].lack = strdup("it stayed at 0 in every call");
	for (u32 i = 0; i < 2; i++) {
		struct m_ctr *c = &r[1]->row[i].ctr[CYCLES];

		c->sum = c->min = c->max = 0;
	}
	r[1]->begin_wall_ns += 3600 * 1000000000ULL;
	for (u32 i = 0; i < 2; i++) {
		const struct recording *order[2] = {r[i], r[!i]};

		assert_int_equal(recordings_merge(order, names, 2, &all, why, sizeof(why)), 0);
		assert_int_equal(all->row[0].count, 2 * CALLS);
		assert_null(all->counters.v[CYCLES].lack);
		assert_int_equal(all->row[0].ctr[CYCLES].calls, r[0]->row[0].ctr[CYCLES].calls);
		assert_int_equal(all->row[0].ctr[CYCLES].sum, r[0]->row[0].ctr[CYCLES].sum);
		assert_int_equal(all->row[0].ctr[CYCLES].min, r[0]->row[0].ctr[CYCLES].min);
		recording__free(all);
	}
	recording__free(r[0]);
	recording__free(r[1]);
}

/* Two lists of ten that have four names in common. */
static void test_counters_that_find_no_room_in_a_merged_recording_refuse_it(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)}, *all;
	const char *const names[] = {"a", "b"};
	char why[512], name[16];

	for (u32 i = 0; i < 2; i++) {
		for (u32 k = NR; k < 10; k++) {
			snprintf(name, sizeof(name), "r%u%u", i, k);
			r[i]->counters.v[k] = (struct m_counter){.name = strdup(name),
								 .bias = M_NONE};
		}
		r[i]->counters.nr = 10;
	}
	r[1]->begin_wall_ns += 3600 * 1000000000ULL;
	assert_int_equal(recordings_merge((const struct recording *const *)r, names, 2, &all, why,
					  sizeof(why)),
			 -E2BIG);
	assert_non_null(strstr(why, "cannot merge b: with its r18 there are more than 14"));
	recording__free(r[0]);
	recording__free(r[1]);
}

static const struct compare_cell *cell_of(struct compare *c, struct recording *const r[2],
					  const char *metric)
{
	static struct compare_run run[2];
	static struct compare_side side[2];
	static struct compare_opts o;

	for (u32 i = 0; i < 2; i++) {
		run[i] = (struct compare_run){r[i], i ? "b" : "a"};
		side[i] = (struct compare_side){i ? "b" : "a", &run[i], 1};
	}
	o = (struct compare_opts){
		.metric = {compare_metric(metric)}, .nr_metrics = 1, .fail_over = -1};
	assert_non_null(o.metric[0]);
	assert_int_equal(compare__build(c, side, 2, &o), 0);
	return compare_cell(c, &c->row[0], 0, 1);
}

static void test_twice_the_cycles_are_more_and_the_same_instructions_no_difference(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 2000)};
	const struct compare_cell *cell;
	struct compare c;

	r[1]->row[0].ctr[INSTRUCTIONS] = r[0]->row[0].ctr[INSTRUCTIONS];
	cell = cell_of(&c, r, "cycles");
	assert_string_equal(verdict_names[cell->verdict], "more");
	assert_true(fabs(cell->ratio - 2) < 0.01);
	assert_true(cell->rlo > 1.98 && cell->rhi < 2.02);
	compare__fini(&c);
	cell = cell_of(&c, r, "ipc");
	assert_true(fabs(cell->value - 0.25) < 0.26);
	compare__fini(&c);
	recording__free(r[1]);
	r[1] = counted(8, 1000);
	cell = cell_of(&c, r, "cycles");
	assert_string_equal(verdict_names[cell->verdict], "no difference shown");
	compare__fini(&c);
	recording__free(r[0]);
	recording__free(r[1]);
}

static void test_counters_that_are_not_there_or_of_few_calls_are_not_compared(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)};
	const struct compare_cell *cell;
	struct compare c;

	cell = cell_of(&c, r, "cache-misses");
	assert_string_equal(verdict_names[cell->verdict], "not comparable");
	assert_string_equal(cell->why, "cache-misses of a: n/a (no such counter here)");
	compare__fini(&c);
	cell = cell_of(&c, r, "branch-misses");
	assert_string_equal(cell->why, "branch-misses of a: n/a (it was not asked for)");
	compare__fini(&c);
	r[1]->row[0].ctr[CYCLES].calls = r[1]->row[1].ctr[CYCLES].calls = CALLS / 3;
	cell = cell_of(&c, r, "cycles");
	assert_string_equal(verdict_names[cell->verdict], "not comparable");
	assert_string_equal(cell->why, "cycles of b are known of 33.3% of the calls only");
	compare__fini(&c);
	recording__free(r[0]);
	recording__free(r[1]);
}

/* Of the second recording's calls, so many have the counter: the shorter ones, as it is. */
static void set_share(struct recording *r, u32 ctr, double share)
{
	for (u32 i = 0; i < 2; i++) {
		struct m_ctr *c = &r->row[i].ctr[ctr];

		c->calls = (u64)(share * (double)r->row[i].count);
	}
}

static bool warns(const struct compare *c, const char *what)
{
	for (u32 i = 0; i < c->nr_warnings; i++)
		if (strstr(c->warning[i], what))
			return true;
	return false;
}

static void test_counters_of_other_parts_of_the_calls_are_not_compared(void **state)
{
	static const double share[] = {0.85, 0.95, 1};
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)};
	const struct compare_cell *cell;
	struct compare c;

	set_share(r[0], CYCLES, 1);
	for (u32 i = 0; i < 3; i++) {
		set_share(r[1], CYCLES, share[i]);
		cell = cell_of(&c, r, "cycles");
		assert_int_equal(!strcmp(cell->why,
					 "cycles of other parts of the calls: 100% in a, 85% in b"),
				 i == 0);
		assert_int_equal(warns(&c, "cycles are known of 100.0% of the calls in a and of"),
				 i < 2);
		compare__fini(&c);
	}
	recording__free(r[0]);
	recording__free(r[1]);
}

static void test_nothing_is_a_ratio_to_a_counter_that_stayed_at_0(void **state)
{
	struct recording *r[2] = {counted(1, 1000), counted(2, 1000)};
	const struct compare_cell *cell;
	struct compare c;

	for (u32 row = 0; row < 2; row++)
		r[0]->row[row].ctr[FAULTS].sum = r[0]->row[row].ctr[FAULTS].min =
			r[0]->row[row].ctr[FAULTS].max = 0;
	for (u32 i = 0; i < INTERVALS; i++)
		for (u32 k = 0; k < r[0]->interval[i].nr_ctrs; k++)
			if (r[0]->interval[i].ctr[k].ctr == FAULTS)
				r[0]->interval[i].ctr[k].sum = 0;
	cell = cell_of(&c, r, "page-faults");
	assert_string_equal(verdict_names[cell->verdict], "not comparable");
	assert_string_equal(cell->why, "page-faults of a: 0, to which there is no ratio");
	compare__fini(&c);
	recording__free(r[0]);
	recording__free(r[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_capture_has_every_counter_of_rows_and_intervals),
		cmocka_unit_test(test_counters_that_contradict_the_rows_are_refused),
		cmocka_unit_test(test_the_report_shows_what_was_counted_and_why_the_rest_was_not),
		cmocka_unit_test(test_the_table_of_counters_fits_into_100_columns),
		cmocka_unit_test(
			test_the_difference_of_two_readings_has_the_counters_of_the_calls_between),
		cmocka_unit_test(test_counters_of_other_parts_of_the_calls_are_not_compared),
		cmocka_unit_test(test_nothing_is_a_ratio_to_a_counter_that_stayed_at_0),
		cmocka_unit_test(test_a_process_that_came_later_has_the_rate_of_its_own_time),
		cmocka_unit_test(test_zeros_of_a_counter_that_stood_still_are_not_merged),
		cmocka_unit_test(test_counters_that_find_no_room_in_a_merged_recording_refuse_it),
		cmocka_unit_test(test_merged_recordings_have_the_sums_of_counters_of_one_name),
		cmocka_unit_test(
			test_twice_the_cycles_are_more_and_the_same_instructions_no_difference),
		cmocka_unit_test(test_counters_that_are_not_there_or_of_few_calls_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
