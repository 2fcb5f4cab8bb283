// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_pauses.c - stops of the Go world, bpf/pause.bpf.h, and which requests met one. */
#include "reqworld.h"

#define STOP_RA	   0x11110000ULL
#define STARTED_RA 0x22220000ULL

static u32 stop_site, started_site;

/* Any sites will do: the role is in the cookie. */
static int setup_pauses(void **state)
{
	int err = setup(state);
	u16 f = W_FUNC(.image = W_GO, .f.group = 1);

	stop_site = w_attach(w_ra_unknown(W_GO), (struct w_site){.func = f, .delta = -4});
	started_site = w_attach(w_ra_unknown(W_GO), (struct w_site){.func = f, .delta = -4});
	return err;
}

/* On a thread's own stack: nothing of the task is looked at. */
static void stop_world(void)
{
	w_hit(stop_site, HB_ROLE_STOP, HB_LANG_GO, w_addr(W_GO, STOP_RA), w.cur->hi - D1);
}

static void start_world(void)
{
	w_hit(started_site, HB_ROLE_STARTED, HB_LANG_GO, w_addr(W_GO, STARTED_RA), w.cur->hi - D1);
}

static struct hb_req_row *pauses(void)
{
	return row_of(HB_REQ_PAUSES, 0);
}

static struct hb_req_world *world(void)
{
	u32 proc = 0;

	return kernel__map_at(HOST_MAP(REQ_WORLDS), 0, &proc);
}

static void request(u64 ns)
{
	conn_read(1, 5, 100);
	w_pass(ns - 10);
	conn_write(1, 10, 100);
}

static void test_a_pause_lasts_until_the_world_is_started(void **state)
{
	w_go(1);
	stop_world();
	w_pass(700);
	start_world();
	w_pass(50);
	stop_world();
	w_pass(30);
	start_world();
	assert_int_equal(pauses()->count, 2);
	assert_int_equal(pauses()->sum_ns, 730);
	assert_int_equal(pauses()->min_ns, 30);
	assert_int_equal(pauses()->max_ns, 700);
	assert_int_equal(world()->no_begin + world()->no_end + world()->no_row, 0);
}

static void test_what_a_pair_of_probes_costs_is_no_part_of_it(void **state)
{
	w_go(1);
	cal.total_ns[HB_LANG_GO][0][HB_CLASS_PUSH] = 200;
	cal.total_ns[HB_LANG_GO][0][HB_CLASS_STEP] = 900;
	stop_world();
	w_pass(700);
	start_world();
	stop_world();
	w_pass(100);
	start_world();
	assert_int_equal(pauses()->count, 2);
	assert_int_equal(pauses()->sum_ns, 500);
	assert_int_equal(pauses()->min_ns, 0);
}

static void test_ends_that_do_not_fit_are_counted_as_such(void **state)
{
	w_go(1);
	start_world();
	assert_int_equal(world()->no_begin, 1);
	stop_world();
	w_pass(100);
	stop_world();
	w_pass(10);
	start_world();
	assert_int_equal(world()->no_end, 1);
	assert_int_equal(pauses()->count, 1);
	assert_int_equal(pauses()->sum_ns, 10);
}

static void test_a_pause_that_finds_no_row_is_counted_and_no_request(void **state)
{
	w_go(1);
	next_req_row = HB_REQ_ROWS;
	stop_world();
	w_pass(100);
	start_world();
	assert_int_equal(world()->no_row, 1);
	assert_int_equal(row_at(0)->count, 0);
	next_req_row = 0; /* for what checks the rows */
}

static void test_pauses_are_of_their_process(void **state)
{
	struct w_task *g = w_go(1);
	u32 other = 1;

	stop_world();
	g->tgid = W_TGID + 1;
	w_pass(100);
	start_world();
	assert_int_equal(pauses()->count, 0);
	assert_int_equal(
		((struct hb_req_world *)kernel__map_at(HOST_MAP(REQ_WORLDS), 0, &other))->no_begin,
		0); /* it is none that is measured */
	g->tgid = W_TGID;
	start_world();
	assert_int_equal(pauses()->sum_ns, 100);
}

static void test_without_requests_nothing_is_kept(void **state)
{
	w_go(1);
	cfg_requests = false;
	stop_world();
	start_world();
	assert_int_equal(world()->begin_ns + world()->end_ns + world()->no_begin, 0);
}

/* ---- requests ---- */

static void stop_for(u64 ns)
{
	stop_world();
	w_pass(ns);
	start_world();
}

static void test_a_request_with_a_pause_inside_met_it(void **state)
{
	w_go(1);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(10);
	stop_for(100);
	w_pass(10);
	conn_write(1, 10, 100);
	request(50); /* and the one after it did not */
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->stopped, 1);
}

static void test_one_that_begins_or_ends_in_a_pause_met_it(void **state)
{
	w_go(1);
	conn_accept(1);
	stop_world();
	w_pass(10);
	conn_read(1, 5, 100);
	w_pass(10);
	start_world();
	w_pass(500);
	conn_write(1, 10, 100);
	conn_read(1, 5, 100);
	w_pass(10);
	stop_world();
	conn_write(1, 10, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->stopped, 2);
	start_world();
}

static void test_one_between_two_pauses_did_not(void **state)
{
	w_go(1);
	conn_accept(1);
	stop_for(100);
	w_pass(10);
	request(50);
	w_pass(10);
	stop_for(100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->stopped, 0);
}

static void test_a_pause_between_two_parts_of_an_answer_is_met(void **state)
{
	w_go(1);
	conn_accept(1);
	request(50);
	stop_for(100);
	w_pass(10);
	conn_write(1, 10, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->stopped, 1);
}

static void test_handlers_meet_pauses_as_well(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 5, .f.flags = HB_FUNC_HANDLER);
	u64 ra = w_ra(f);
	struct hb_req_key key = {.side = HB_REQ_HANDLER, .func = f};
	u32 *row;

	req_handler_groups = 1ULL << 5;
	w_go(1);
	w_call(f, D1, ra);
	w_pass(10);
	stop_for(100);
	w_pass(10);
	w_ret(f, D1, ra);
	w_pass(10);
	w_ran(f, D1, ra, 50);
	row = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);
	assert_non_null(row);
	assert_int_equal(row_at(*row)->count, 2);
	assert_int_equal(row_at(*row)->stopped, 1);
}

#undef T
#define T(name) cmocka_unit_test_setup_teardown(name, setup_pauses, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_pause_lasts_until_the_world_is_started),
		T(test_what_a_pair_of_probes_costs_is_no_part_of_it),
		T(test_ends_that_do_not_fit_are_counted_as_such),
		T(test_a_pause_that_finds_no_row_is_counted_and_no_request),
		T(test_pauses_are_of_their_process),
		T(test_without_requests_nothing_is_kept),
		T(test_a_request_with_a_pause_inside_met_it),
		T(test_one_that_begins_or_ends_in_a_pause_met_it),
		T(test_one_between_two_pauses_did_not),
		T(test_a_pause_between_two_parts_of_an_answer_is_met),
		T(test_handlers_meet_pauses_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
