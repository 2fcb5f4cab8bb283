// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_rates.c - what is counted in a window, bpf/rates.bpf.c, and that nothing which overlaps one is in a
 * latency. */
#include "reqworld.h"

static int begin(void **state)
{
	int err = setup(state);

	cfg_rates = true;
	w_go(1);
	return err;
}

static void hit(u32 what)
{
	struct pt_regs regs = {};

	run_current();
	kernel.cookie = what;
	hb_rate(&regs);
}

/* As trace/rates.c has it: probes, counting, no counting, no probes. */
static void window_probed(void)
{
	rate_window.on_ns = rate_window.off_ns = ~0ULL;
	rate_window.probed_ns = kernel.now_ns;
	rate_window.clean_ns = ~0ULL;
}

static void window(u64 ns)
{
	window_probed();
	w_pass(ns);
	rate_window.on_ns = kernel.now_ns;
	w_pass(ns);
	rate_window.off_ns = kernel.now_ns;
	w_pass(ns);
	rate_window.clean_ns = kernel.now_ns;
	w_pass(1);
}

static struct hb_req_rate *counted(void)
{
	u32 proc = 0;

	return kernel__map_at(HOST_MAP(REQ_RATES), 0, &proc);
}

/* ---- counting ---- */

static void test_hits_count_between_the_two_times_only(void **state)
{
	hit(HB_RATE_GOPARK); /* no window yet */
	window_probed();
	hit(HB_RATE_GOPARK);
	w_pass(10);
	rate_window.on_ns = kernel.now_ns;
	hit(HB_RATE_GOPARK);
	hit(HB_RATE_MCALL);
	hit(HB_RATE_MCALL);
	hit(HB_RATE_NR); /* no such function */
	w_pass(10);
	rate_window.off_ns = kernel.now_ns;
	hit(HB_RATE_MCALL);
	assert_int_equal(counted()->n[HB_RATE_GOPARK], 1);
	assert_int_equal(counted()->n[HB_RATE_MCALL], 2);
}

static void test_hits_of_other_processes_do_not(void **state)
{
	rate_window = (struct hb_rate_window){1, 1, ~0ULL, ~0ULL};
	w_pass(10);
	w.cur->tgid = W_TGID + 1;
	hit(HB_RATE_GOPARK);
	assert_int_equal(counted()->n[HB_RATE_GOPARK], 0);
}

/* ---- calls ---- */

static void test_calls_that_overlap_a_window_are_dropped_and_counted_as_such(void **state)
{
	struct codec c = codec_of(W_GO, 3);

	call(&c, 10);
	w_call(c.f, D2, c.ra); /* around the window */
	w_pass(5);
	window(100);
	w_ret(c.f, D2, c.ra);
	w_pass(1);
	w_call(c.f, D2, c.ra); /* begins in it */
	window_probed();
	w_pass(5);
	w_ret(c.f, D2, c.ra);
	w_pass(1);
	w_call(c.f, D2, c.ra); /* ends behind it */
	rate_window.clean_ns = kernel.now_ns;
	w_pass(5);
	w_ret(c.f, D2, c.ra);
	assert_int_equal(w_samples(c.f), 2);
	assert_int_equal(w_plain(c.f)->raw_sum_ns, 15);
	assert_int_equal(w_n(c.f, HB_FN_DROPPED), 2);
	assert_int_equal(w_drop(HB_DROP_WINDOW), 2);
	assert_int_equal(w_n(c.f, HB_FN_ENTRIES), 4);
}

static void test_the_calibration_is_not_dropped(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 3, .f.flags = HB_FUNC_RAW);
	u64 ra = w_ra(f);

	w_call(f, D2, ra);
	window(100);
	w_ret(f, D2, ra);
	assert_int_equal(w_samples(f), 1);
}

static void test_a_dropped_call_takes_its_time_out_of_nothing(void **state)
{
	u16 outer = W_FUNC(.image = W_GO, .f.group = 2);
	struct codec c = codec_of(W_GO, 3);
	u64 ra = w_ra(outer);

	window(100);
	w_call(outer, D1, ra);
	w_pass(10);
	call(&c, 7);
	w_ret(outer, D1, ra);
	assert_int_equal(w_samples(outer), 1);
	assert_int_equal(w_plain(outer)->raw_sum_ns, 17);
	assert_int_equal(w_drop(HB_DROP_WINDOW), 0);
}

/* ---- requests ---- */

static void answer_after(u64 ns)
{
	w_pass(ns);
	conn_write(1, 10, 100);
}

static void test_requests_that_overlap_a_window_are_in_no_latency(void **state)
{
	conn_accept(1);
	conn_read(1, 5, 100);
	answer_after(50);
	conn_read(1, 5, 100);
	window(100);
	answer_after(50);
	conn_read(1, 5, 100);
	answer_after(50);
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->sum_ns, 120);
	assert_int_equal(server()->in_window, 1);
	assert_int_equal(count(HB_REQ_IN_WINDOW), 1);
	assert_int_equal(count(HB_REQ_BEGUN), 3);
}

/* It was over before a later window began, but not known to be. */
static void test_an_exchange_that_is_completed_late_is_still_of_its_window(void **state)
{
	conn_accept(1);
	conn_read(1, 5, 100);
	window(100);
	answer_after(50);
	w_pass(1000);
	window(100);
	conn_gone(1);
	assert_int_equal(server()->count, 0);
	assert_int_equal(count(HB_REQ_IN_WINDOW), 1);
}

static void test_requests_that_end_while_it_counts_are_what_rates_are_divided_by(void **state)
{
	conn_accept(1);
	conn_read(1, 5, 100);
	window_probed();
	w_pass(5);
	rate_window.on_ns = kernel.now_ns;
	answer_after(50);
	conn_read(1, 5, 100);
	answer_after(50); /* and goes on after that */
	rate_window.off_ns = kernel.now_ns;
	answer_after(50);
	rate_window.clean_ns = kernel.now_ns;
	conn_gone(1);
	assert_int_equal(counted()->requests, 1);
	assert_int_equal(count(HB_REQ_IN_WINDOW), 2);
}

static void test_handlers_that_overlap_a_window_are_in_no_latency(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 5, .f.flags = HB_FUNC_HANDLER);
	u64 ra = w_ra(f);

	req_handler_groups = 1ULL << 5;
	w_call(f, D1, ra);
	window(100);
	w_ret(f, D1, ra);
	assert_int_equal(row_at(1)->count, 0);
	assert_int_equal(row_at(1)->in_window, 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
	w_pass(10);
	w_ran(f, D1, ra, 50);
	assert_int_equal(row_at(1)->count, 1);
	assert_int_equal(row_at(1)->in_window, 1);
}

#undef T
#define T(name) cmocka_unit_test_setup_teardown(name, begin, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_hits_count_between_the_two_times_only),
		T(test_hits_of_other_processes_do_not),
		T(test_calls_that_overlap_a_window_are_dropped_and_counted_as_such),
		T(test_the_calibration_is_not_dropped),
		T(test_a_dropped_call_takes_its_time_out_of_nothing),
		T(test_requests_that_overlap_a_window_are_in_no_latency),
		T(test_an_exchange_that_is_completed_late_is_still_of_its_window),
		T(test_requests_that_end_while_it_counts_are_what_rates_are_divided_by),
		T(test_handlers_that_overlap_a_window_are_in_no_latency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
