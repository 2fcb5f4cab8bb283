// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_view_pages.c - what the live view shows beside latencies: processes apart or together, counters,
 * the parts of the time, and the page of the machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/view_impl.h"
#include "tests/unit/viewtest.h"

static void update(struct live_view *v, struct recording *r)
{
	assert_int_equal(view__update(v, r), 0);
}

/* ---- processes ---- */

/* json.Marshal in the second process as well: `calls` of them. */
static struct recording *two_of_one_program(u32 second, u64 calls)
{
	struct recording *r = view_reading(second);
	struct m_row *row = sample_row(r, 0, 1, 139, HB_OUTCOME_OK);

	sample_calls(row, 2000, 2000, 139, calls);
	return r;
}

static void test_processes_are_together_until_they_are_asked_for(void **state)
{
	struct live_view v;

	view__init(&v);
	update(&v, two_of_one_program(0, 10));
	update(&v, two_of_one_program(1, 510));
	assert_shows(&v, &wide, "processes together");
	assert_hides(&v, &wide, "json.Marshal 4");
	assert_line_has(&v, 3, " 103,011 "); /* 102,501 and 510 */
	view_keys(&v, "b");
	assert_shows(&v, &wide, "a row for each process");
	assert_shows(&v, &wide, "json.Marshal 4242 ");
	assert_shows(&v, &wide, "json.Marshal 4300 ");
	assert_line_has(&v, 3, " 102,501 ");
	view_keys(&v, "b");
	assert_hides(&v, &wide, "json.Marshal 4");
	view__fini(&v);
}

static void test_one_process_is_not_told_apart(void **state)
{
	struct recording *r = view_reading(0);
	struct live_view v;

	r->row[4].target = 0;
	r->nr_targets = 1;
	view__init(&v);
	update(&v, r);
	view_keys(&v, "b");
	assert_hides(&v, &wide, "a row for each process");
	assert_hides(&v, &wide, "json.Marshal 4242");
	r->nr_targets = 2; /* what is to be freed */
	view__fini(&v);
}

static void test_the_trend_of_processes_together_is_their_sum_and_not_forgotten(void **state)
{
	double rate[VIEW_TREND];
	struct live_view v;

	view__init(&v);
	update(&v, two_of_one_program(0, 10));
	update(&v, two_of_one_program(1, 510));
	view_trend_of(&v, &v.all.v[0], rate);
	assert_int_equal(rate[VIEW_TREND - 1], 2000);
	view_keys(&v, "b");
	view_trend_of(&v, &v.all.v[0], rate);
	assert_int_equal(rate[VIEW_TREND - 1], 1500);
	update(&v, two_of_one_program(2, 510));
	view_keys(&v, "b");
	view_trend_of(&v, &v.all.v[0], rate);
	assert_int_equal(rate[VIEW_TREND - 2], 2000);
	assert_int_equal(rate[VIEW_TREND - 1], 1500);
	view__fini(&v);
}

static void test_the_filter_knows_processes_while_they_are_apart(void **state)
{
	struct live_view v;

	view_with_readings(&v, 1);
	view_keys(&v, "/4300\r");
	assert_shows(&v, &wide, "0 of 4 rows match");
	view_keys(&v, "b");
	assert_shows(&v, &wide, "1 of 4 rows match");
	assert_line_has(&v, 3, "cJSON_Parse 4300");
	view__fini(&v);
}

static void test_the_share_of_the_cpu_is_of_all_processes_together(void **state)
{
	struct recording *r = two_of_one_program(0, 10);
	struct live_view v;

	r->target[1].cpu_ns = 10 * SAMPLE_SECOND; /* and 40 s of the first */
	view__init(&v);
	update(&v, r);
	view_keys(&v, "/json\r");
	assert_line_has(&v, 3, " 2.3%"); /* 1.16 s of 50 s */
	view_keys(&v, "b");
	assert_line_has(&v, 3, " 2.9%"); /* of 40 s */
	view__fini(&v);
}

/* ---- counters ---- */

enum { CYCLES, INSTRUCTIONS, REFERENCES, MISSES, BRANCHES, FAULTS, NR_COUNTERS };

/* 4,000 cycles and 10,000 instructions in each of all but 101 calls of json.Marshal, a miss rate of 12.5 %,
 * and what more a second is. */
static struct recording *counted(u32 second)
{
	static const char *const names[NR_COUNTERS] = {
		"cycles",	"instructions",	 "cache-references",
		"cache-misses", "branch-misses", "page-faults",
	};
	static const u64 each[NR_COUNTERS] = {4000, 10000, 80, 10, 0, 0};
	struct recording *r = view_reading(second);
	struct m_row *row = &r->row[0];

	r->counters.nr = NR_COUNTERS;
	for (u32 i = 0; i < NR_COUNTERS; i++) {
		r->counters.v[i] = (struct m_counter){.name = strdup(names[i]), .bias = M_NONE};
		row->ctr[i] = (struct m_ctr){row->count - 101, (row->count - 101) * each[i], 0, 0};
	}
	r->counters.v[BRANCHES].lack = strdup("this CPU is emulated");
	r->counters.lost[HB_CTR_LOST_SWITCH] = 101;
	return r;
}

static void view_counted(struct live_view *v, const char *keys)
{
	view__init(v);
	update(v, counted(0));
	update(v, counted(1));
	view_keys(v, keys);
}

static void test_counters_of_a_call_have_columns_of_their_own(void **state)
{
	struct live_view v;
	char *line;

	view_counted(&v, "c");
	line = line_of(&v, &wide, 2);
	for (const char *title = strtok(line, " "); title; title = strtok(NULL, " "))
		assert_string_not_equal(title, "P50");
	free(line);
	assert_shows(&v, &wide, "counted");
	assert_line_has(&v, 2, "cycles");
	assert_line_has(&v, 2, "CPI");
	assert_line_has(&v, 2, "IPC");
	assert_line_has(&v, 2, "miss rate");
	assert_line_has(&v, 3, " 102,501 "); /* calls, */
	assert_line_has(&v, 3,
			" 101,399 "); /* of the two size classes together those with counters */
	assert_line_has(&v, 3, " 4,000 ");
	assert_line_has(&v, 3, " 0.40 ");
	assert_line_has(&v, 3, " 10,000 ");
	assert_line_has(&v, 3, " 2.5 ");
	assert_line_has(&v, 3, " 12.5%");
	view__fini(&v);
}

static void test_what_was_not_counted_is_told_below_the_counters_with_its_reason(void **state)
{
	struct live_view v;

	view_counted(&v, "c");
	assert_shows(&v, &wide, "not counted branch-misses: n/a (this CPU is emulated)");
	assert_shows(&v, &wide, "without     101 calls: the thread left the CPU");
	assert_hides(&v, &wide, "br.misses");
	assert_line_has(&v, 4, "cJSON_Parse");
	assert_line_has(&v, 4, " n/a "); /* a row without counters has none, not 0 */
	view_keys(&v, "c");
	assert_hides(&v, &wide, "not counted");
	view__fini(&v);
}

static void test_the_last_interval_has_its_own_counters(void **state)
{
	struct recording *r = counted(1);
	struct live_view v;

	view__init(&v);
	update(&v, counted(0));
	r->row[0].ctr[CYCLES].sum = 99899ull * 4000 + 1500ull * 6000;
	update(&v, r);
	view_keys(&v, "c");
	assert_line_has(&v, 3, " 4,030 ");
	view_keys(&v, "i");
	assert_line_has(&v, 3, " 6,000 ");
	assert_line_has(&v, 3, " 1,500 ");
	view__fini(&v);
}

static void test_without_counters_the_page_says_why(void **state)
{
	struct live_view v;

	view_with_readings(&v, 1);
	view_keys(&v, "c");
	assert_shows(&v, &wide, "counters    none: --counters=none");
	view_keys(&v, "c"); /* no --sched either: back to latencies */
	assert_shows(&v, &wide, "P99.9");
	view__fini(&v);
}

static void test_rows_can_be_sorted_by_a_counter_and_what_has_none_is_last(void **state)
{
	struct live_view v;

	view_counted(&v, "c");
	free(view_text(&v, &wide));
	v.st.sort = VIEW_COLS; /* cycles */
	assert_shows(&v, &wide, "sorted by cycles");
	assert_line_has(&v, 2, "\u25bccycles");
	assert_line_has(&v, 3, "json.Marshal");
	view_keys(&v, "r");
	assert_line_has(&v, 3, "json.Marshal");
	view_keys(&v, "cc"); /* a column that is not there any more */
	assert_int_equal(v.st.sort, VIEW_TOTAL);
	view__fini(&v);
}

static void test_counters_that_do_not_fit_are_reached_by_sorting_on(void **state)
{
	const struct view_look narrow = {60, 20, VIEW_PLAIN, true};
	u32 first = ~0u, last = 0;
	struct live_view v;

	view_counted(&v, "c");
	free(view_text(&v, &narrow));
	assert_in_range(v.extra_shown, 1, v.extra.nr - 1);
	assert_shows(&v, &narrow, "columns 1-");
	for (u32 i = 0; i < 2 * VIEW_ALL_COLS; i++) {
		view_keys(&v, ">");
		check_frame(&v, &narrow);
		if (v.st.sort < VIEW_COLS)
			continue;
		assert_in_range(v.st.sort - VIEW_COLS, v.extra_first,
				v.extra_first + v.extra_shown - 1);
		first = v.st.sort < first ? v.st.sort : first;
		last = v.st.sort > last ? v.st.sort : last;
	}
	assert_int_equal(first, VIEW_COLS);
	assert_int_equal(last, VIEW_COLS + v.extra.nr - 1);
	for (u32 i = 0; i < 2 * VIEW_ALL_COLS; i++) {
		view_keys(&v, "<");
		check_frame(&v, &narrow);
	}
	view_keys(&v, "t");
	assert_shows(&v, &(struct view_look){40, 10, VIEW_PLAIN, true}, "\u25bctotal");
	assert_int_equal(v.extra_shown, 1);
	view__fini(&v);
}

static void test_time_on_and_off_the_cpu_is_the_third_set_of_columns(void **state)
{
	static const char *const names[3] = {"on-cpu", "waiting", "blocked"};
	static const u64 each[3] = {2000, 500, 7500};
	struct recording *r = view_reading(0);
	struct live_view v;

	r->counters.nr = 3;
	for (u32 i = 0; i < 3; i++) {
		r->counters.v[i] = (struct m_counter){.name = strdup(names[i]), .bias = M_NONE};
		r->row[0].ctr[i] = (struct m_ctr){1000, 1000 * each[i], 0, 0};
	}
	view__init(&v);
	update(&v, r);
	view_keys(&v, "c");
	assert_shows(&v, &wide, "counters    none: --counters=none");
	view_keys(&v, "c");
	assert_line_has(&v, 2, "on CPU");
	assert_line_has(&v, 3, " 1,000 ");
	assert_line_has(&v, 3, " 2.00us");
	assert_line_has(&v, 3, " 20.0%");
	assert_line_has(&v, 3, " 500ns");
	assert_line_has(&v, 3, " 5.0%");
	assert_line_has(&v, 3, " 7.50us");
	assert_line_has(&v, 3, " 75.0%");
	assert_shows(&v, &wide, "waiting: ready to run, without a CPU");
	view_keys(&v, "c");
	assert_shows(&v, &wide, "P99.9");
	view__fini(&v);
}

static void test_notes_below_counters_scroll_with_their_rows(void **state)
{
	const struct view_look shallow = {80, 9, VIEW_PLAIN, true};
	struct live_view v;

	view_counted(&v, "c");
	assert_shows(&v, &shallow, "json.Marshal");
	assert_hides(&v, &shallow, "this CPU is emulated");
	view__key(&v, VIEW_KEY_END);
	assert_hides(&v, &shallow, "json.Marshal");
	assert_shows(&v, &shallow, "this CPU is emulated");
	check_frame(&v, &shallow);
	view__fini(&v);
}

/* ---- the machine ---- */

static void test_the_machine_has_a_line_where_there_is_room(void **state)
{
	const struct view_look tall = {120, 24, VIEW_PLAIN, true},
			       low = {120, 16, VIEW_PLAIN, true};
	struct recording *r = view_reading(0);
	struct live_view v;

	m_host__add(&r->host, "cpu_generation", "AMD EPYC 7B13 Milan (Zen 3), family 25");
	m_host__add(&r->host, "cpus_online", "96");
	m_host__add(&r->host, "kernel", "6.1.0-18-amd64 #1 SMP");
	m_host__add(&r->host, "virtualization", "none");
	view__init(&v);
	update(&v, r);
	assert_shows(
		&v, &tall,
		"\nmachine   AMD EPYC 7B13 Milan (Zen 3), 96 CPUs, virtualization none, Linux 6.1.0-18-amd64");
	assert_hides(&v, &low, "AMD EPYC");
	view__fini(&v);
}

static void test_the_cost_line_tells_what_is_subtracted_and_how_much_more_of_cold_calls(void **state)
{
	struct recording *r = view_reading(0);
	struct live_view v;

	r->coverage.cold = 50000;
	r->coverage.cold_in_ns = 50000ull * 400;
	view__init(&v);
	update(&v, r);
	assert_shows(&v, &wide,
		     "push+branch 613ns +-12ns a call subtracted, 400ns more of cold ones");
	update(&v, view_reading(1));
	assert_hides(&v, &wide, "of cold ones");
	view__fini(&v);
}

static void test_a_cpu_that_lies_about_its_name_does_not_reach_the_terminal_raw(void **state)
{
	struct recording *r = view_reading(0);
	struct live_view v;

	free(r->host.fact[0].value);
	r->host.fact[0].value = strdup("\033[31mred");
	view__init(&v);
	update(&v, r);
	assert_shows(&v, &wide, "machine   \\x1b[31mred");
	view_keys(&v, "m");
	assert_hides(&v, &wide, "\033");
	view__fini(&v);
}

static void test_the_page_of_the_machine_has_what_the_report_says_but_for_rows(void **state)
{
	static const char *const said[] = {
		"\nhost        cpu model AMD EPYC 7B13; arch x86_64",
		"governor n/a (a guest does not set the frequency)",
		"\nmeanwhile   load 0.10 at the start, 2.00 at the end",
		"\nprobes      uprobe_multi: 15 sites in 3 functions",
		"\nprobe cost  go push+branch (calls: ",
		"\nlost        7 calls without a sample",
		"\nWARNING     child 4300 was not measured",
		"\ncost        to the target: ",
	};
	const struct view_look tall = {200, 100, VIEW_PLAIN, true};
	struct recording *r = view_reading(0);
	struct live_view v;

	m_host__add(&r->host, "run_load", "0.10 at the start, 2.00 at the end");
	view__init(&v);
	update(&v, r);
	view_keys(&v, "zm"); /* a reset changes nothing here */
	for (u32 i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		assert_shows(&v, &tall, said[i]);
	assert_hides(&v, &tall, "P99.9");
	view__fini(&v);
}

static void test_the_page_of_the_machine_scrolls_and_any_other_key_leaves_it(void **state)
{
	const struct view_look small = {80, 12, VIEW_PLAIN, true};
	struct live_view v;

	view_with_readings(&v, 1);
	view_keys(&v, "m");
	assert_shows(&v, &small, "any key goes back");
	assert_hides(&v, &small, "sorted by");
	assert_shows(&v, &small, "\ntarget ");
	assert_true(v.lines > v.body);
	view__key(&v, VIEW_KEY_END);
	assert_hides(&v, &small, "\ntarget ");
	assert_shows(&v, &small, "of hbprof: ");
	check_frame(&v, &small);
	view_keys(&v, "m");
	assert_int_equal(v.st.page, VIEW_NO_PAGE);
	assert_int_equal(v.st.top, 0);
	view_keys(&v, "mh");
	assert_int_equal(v.st.page, VIEW_NO_PAGE);
	view_keys(&v, "m");
	assert_int_equal(view__key(&v, 'q'), VIEW_QUIT);
	view__fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_are_together_until_they_are_asked_for),
		cmocka_unit_test(test_one_process_is_not_told_apart),
		cmocka_unit_test(
			test_the_trend_of_processes_together_is_their_sum_and_not_forgotten),
		cmocka_unit_test(test_the_filter_knows_processes_while_they_are_apart),
		cmocka_unit_test(test_the_share_of_the_cpu_is_of_all_processes_together),
		cmocka_unit_test(test_counters_of_a_call_have_columns_of_their_own),
		cmocka_unit_test(
			test_what_was_not_counted_is_told_below_the_counters_with_its_reason),
		cmocka_unit_test(test_the_last_interval_has_its_own_counters),
		cmocka_unit_test(test_without_counters_the_page_says_why),
		cmocka_unit_test(test_rows_can_be_sorted_by_a_counter_and_what_has_none_is_last),
		cmocka_unit_test(test_counters_that_do_not_fit_are_reached_by_sorting_on),
		cmocka_unit_test(test_time_on_and_off_the_cpu_is_the_third_set_of_columns),
		cmocka_unit_test(test_notes_below_counters_scroll_with_their_rows),
		cmocka_unit_test(test_the_machine_has_a_line_where_there_is_room),
		cmocka_unit_test(
			test_the_cost_line_tells_what_is_subtracted_and_how_much_more_of_cold_calls),
		cmocka_unit_test(
			test_a_cpu_that_lies_about_its_name_does_not_reach_the_terminal_raw),
		cmocka_unit_test(
			test_the_page_of_the_machine_has_what_the_report_says_but_for_rows),
		cmocka_unit_test(test_the_page_of_the_machine_scrolls_and_any_other_key_leaves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
