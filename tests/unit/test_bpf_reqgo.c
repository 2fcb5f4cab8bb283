// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqgo.c - goroutines that a request's start, bpf/reqgo.bpf.h, and C code that they call, reqcgo.bpf.h. */
#include "reqworld.h"

static int setup_go(void **state)
{
	int err = setup(state);

	req_go = true;
	req_goid_off = image_of_go()->goid_off;
	cfg_follow_go = true;
	return err;
}

/* A goroutine that has read a request from connection 1. */
static struct w_task *reader(u64 goid)
{
	struct w_task *g = w_go(goid);

	in_goroutine(g);
	conn_accept(1);
	conn_read(1, 5, 100);
	return g;
}

static void runs(struct w_task *g)
{
	w_run(g);
	in_goroutine(g);
}

static void test_what_a_started_goroutine_calls_is_of_its_starters_request(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18), *g = reader(17);

	w_start(child);
	runs(child);
	call(&c, 400);
	runs(g);
	call(&c, 50);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 450);
	assert_int_equal(server()->codec_calls, 2);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 2);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 0);
	assert_int_equal(count(HB_REQ_STARTED), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 1);
	check_no_loss();
}

static void test_without_the_option_it_is_not(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18);

	cfg_follow_go = false;
	reader(17);
	w_start(child);
	runs(child);
	call(&c, 400);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_STARTED), 0);
}

static void test_grandchildren_are_of_it_too(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *grandchild = w_go(19), *child = w_go(18);

	reader(17);
	w_start(child);
	runs(child);
	w_start(grandchild);
	runs(grandchild);
	call(&c, 400);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 2);
}

static void test_a_goroutine_that_lives_longer_than_the_request_is_late(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18), *g = reader(17);

	w_start(child);
	conn_write(1, 5, 100);
	conn_read(1, 5, 100); /* the next request, of the starter alone */
	runs(child);
	call(&c, 400);
	runs(g);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->codec_ns, 0);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 0);
}

static void test_who_has_no_request_has_none_to_give(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18), *g = w_go(17);

	runs(g);
	conn_accept(1); /* an accept loop, which starts a goroutine for the connection */
	w_start(child);
	runs(child);
	call(&c, 400);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_STARTED), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
	check_no_loss();
}

static void test_a_request_that_is_over_is_not_given_on(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18);

	reader(17);
	conn_write(1, 5, 100);
	conn_gone(1);
	w_start(child);
	runs(child);
	call(&c, 400);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
}

static void test_a_g_that_is_used_again_has_the_request_of_its_new_goroutine(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18), *other = w_go(20);

	reader(17);
	w_start(child);
	runs(child);
	call(&c, 10);
	/* It ends; a goroutine without a request starts another one in its g. */
	w_reuse_g(child, 21);
	runs(other);
	w_start(child);
	runs(child);
	call(&c, 400);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_UNTIED_NS), 400);
}

static void test_a_goroutine_in_the_g_of_another_gives_on_nothing(void **state)
{
	struct w_task *child = w_go(18), *g = reader(17);

	w_reuse_g(g, 30);
	runs(g);
	w_start(child);
	assert_int_equal(count(HB_REQ_STARTED), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
}

static void test_a_connection_of_http2_gives_on_nothing(void **state)
{
	struct w_task *child = w_go(18), *g = w_go(17);

	in_goroutine(g);
	conn_says("PRI * HTTP/2.0");
	conn_accept(1);
	conn_read(1, 5, 100);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	w_start(child);
	assert_int_equal(count(HB_REQ_STARTED), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
}

static void test_both_sides_are_given_on_and_the_servers_comes_first(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18);

	conns[2].sk.__sk_common.skc_num = 50000;
	reader(17);
	conn_connect(2, 0);
	conn_write(2, 5, 10);
	conn_read(2, 5, 10);
	w_start(child);
	runs(child);
	call(&c, 100);
	conn_write(1, 5, 100);
	conn_gone(1); /* now there is only the client's */
	call(&c, 70);
	conn_write(2, 5, 10);
	assert_int_equal(server()->codec_ns, 100);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
	assert_int_equal(count(HB_REQ_LATE_NS), 70);
}

static void test_what_a_started_goroutine_reads_itself_does_not_take_it_from_the_request(
	void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18);

	conns[2].sk.__sk_common.skc_num = 50000;
	reader(17);
	w_start(child);
	runs(child);
	conn_connect(2, 0);
	conn_write(2, 5, 10);
	conn_read(2, 5, 10);
	call(&c, 100);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 100);
}

static void test_a_timers_goroutine_has_no_starter(void **state)
{
	struct w_task *child = w_go(18);

	reader(17);
	w.no_curg = true;
	w_start(child);
	assert_int_equal(count(HB_REQ_STARTED), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
	check_no_loss();
}

static void test_a_starter_that_cannot_be_told_is_counted(void **state)
{
	struct w_task *child = w_go(18);

	reader(17);
	w.m_lost = true;
	w_start(child);
	w.m_lost = false;
	image_of_go()->curg_off = 0;
	w_start(child);
	assert_int_equal(count(HB_REQ_STARTED), 2);
	assert_int_equal(count(HB_REQ_START_UNREAD), 2);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
}

static void test_no_room_for_the_tie_is_counted(void **state)
{
	struct w_task *child = w_go(18);

	kernel__map_resize(HOST_MAP(REQ_TASKS), 1);
	reader(17);
	w_start(child);
	assert_int_equal(count(HB_REQ_TASKS_FULL), 1);
	assert_int_equal(count(HB_REQ_INHERITED), 0);
}

static void test_what_the_start_costs_is_not_in_the_request(void **state)
{
	struct w_task *child = w_go(18);

	cal.miss_ns[HB_LANG_GO][0] = 700;
	reader(17);
	w_pass(5000);
	w_start(child);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->sum_ns, 5005 - 700);
}

static void test_nor_is_it_in_a_call_and_it_is_subtracted_once(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *child = w_go(18);

	cal.miss_ns[HB_LANG_GO][0] = 700;
	reader(17);
	w_call(c.f, D2, c.ra);
	w_pass(5000);
	w_start(child);
	w_ret(c.f, D2, c.ra);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 5000 - 700);
	assert_int_equal(server()->sum_ns, 5005 - 700);
}

/* ---- at the same time ---- */

static void test_calls_that_run_at_the_same_time_are_counted_as_such(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *a = w_go(18), *b = w_go(19), *g = reader(17);

	w_start(a);
	w_start(b);
	w_run(a);
	w_call(c.f, D2, c.ra);
	w_pass(100);
	w_run(b);
	w_call(c.f, D2, c.ra);
	w_pass(300);
	w_ret(c.f, D2, c.ra);
	w_pass(50);
	w_run(a);
	w_ret(c.f, D2, c.ra);
	runs(g);
	conn_write(1, 5, 100);
	conn_gone(1);
	/* 100..400 and 0..450: 750 in a request of 455 */
	assert_int_equal(server()->sum_ns, 455);
	assert_int_equal(server()->codec_calls, 2);
	assert_int_equal(server()->codec_ns, 455);
	assert_int_equal(server()->parallel, 1);
	assert_int_equal(server()->overlap_ns, 400);
}

static void test_calls_one_after_the_other_are_not(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *a = w_go(18), *g = reader(17);

	w_start(a);
	runs(a);
	call(&c, 100);
	runs(g);
	call(&c, 100);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 200);
	assert_int_equal(server()->parallel, 0);
	assert_int_equal(server()->overlap_ns, 0);
}

/* ---- handlers ---- */

struct handler {
	u16 f;
	u64 ra;
};

static struct handler handler(void)
{
	struct handler h;

	h.f = W_FUNC(.image = W_GO, .f.group = 5, .f.flags = HB_FUNC_HANDLER);
	h.ra = w_ra(h.f);
	req_handler_groups = 1ULL << 5;
	return h;
}

static struct hb_req_row *row_of_handler(const struct handler *h)
{
	struct hb_req_key key = {.side = HB_REQ_HANDLER, .func = h->f};
	u32 *i = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);

	assert_non_null(i);
	return row_at(*i);
}

/* As of HTTP/2, where connections tell nothing. */
static void test_calls_in_goroutines_of_a_handler_are_of_its_row(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct handler h = handler();
	struct w_task *grandchild = w_go(19), *child = w_go(18), *g = w_go(17);

	w_call(h.f, D1, h.ra);
	w_start(child);
	w_run(child);
	w_start(grandchild);
	call(&c, 200);
	w_run(grandchild);
	call(&c, 300);
	w_run(g);
	call(&c, 50);
	w_ret(h.f, D1, h.ra);
	assert_int_equal(row_of_handler(&h)->count, 1);
	assert_int_equal(row_of_handler(&h)->sum_ns, 550);
	assert_int_equal(row_of_handler(&h)->codec_ns, 550);
	assert_int_equal(row_of_handler(&h)->codec_calls, 3);
	assert_int_equal(row_of_handler(&h)->followed, 2);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 3);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 0);
	assert_int_equal(count(HB_REQ_INHERITED), 2);
	check_no_loss();
}

static void test_a_handler_that_has_returned_gets_no_more_calls(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct handler h = handler();
	struct w_task *child = w_go(18), *g = w_go(17);

	w_call(h.f, D1, h.ra);
	w_start(child);
	w_pass(100);
	w_ret(h.f, D1, h.ra);
	w_call(h.f, D1, h.ra); /* the next request */
	w_run(child);
	call(&c, 200);
	w_run(g);
	w_ret(h.f, D1, h.ra);
	assert_int_equal(row_of_handler(&h)->count, 2);
	assert_int_equal(row_of_handler(&h)->codec_calls, 0);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
}

static void test_a_handlers_g_that_is_used_again_gets_no_calls(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct handler h = handler();
	struct w_task *child = w_go(18), *g = w_go(17);

	w_call(h.f, D1, h.ra);
	w_start(child);
	/* It ends in a Goexit, and its g is another goroutine's. */
	w_reuse_g(g, 30);
	w_call(h.f, D1, h.ra);
	w_run(child);
	call(&c, 200);
	w_run(g);
	w_ret(h.f, D1, h.ra);
	assert_int_equal(row_of_handler(&h)->codec_calls, 0);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
}

static void test_of_two_handlers_the_inner_one_gets_them_and_the_outer_one_with_it(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct handler outer = handler(), inner = {.f = W_FUNC(.image = W_GO, .f.group = 6,
							       .f.flags = HB_FUNC_HANDLER)};
	struct w_task *child = w_go(18), *g = w_go(17);

	inner.ra = w_ra(inner.f);
	req_handler_groups |= 1ULL << 6;
	w_call(outer.f, D1, outer.ra);
	w_call(inner.f, D2, inner.ra);
	w_start(child);
	w_run(child);
	call(&c, 200);
	w_run(g);
	w_ret(inner.f, D2, inner.ra);
	w_ret(outer.f, D1, outer.ra);
	assert_int_equal(row_of_handler(&inner)->codec_calls, 1);
	assert_int_equal(row_of_handler(&outer)->codec_calls, 1);
	assert_int_equal(row_of_handler(&outer)->codec_ns, 200);
}

static void test_a_call_of_a_requests_goroutine_is_in_both_rows(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct handler h = handler();
	struct w_task *child = w_go(18), *g = reader(17);

	w_call(h.f, D1, h.ra);
	w_start(child);
	runs(child);
	call(&c, 200);
	runs(g);
	conn_write(1, 5, 100);
	w_ret(h.f, D1, h.ra);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 200);
	assert_int_equal(row_of_handler(&h)->codec_ns, 200);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
}

/* ---- C code that goroutines call ---- */

/* The process as user space tells of it; the thread's word has g0 while C code runs for `by`. */
static void in_c(const struct w_task *by)
{
	const struct hb_image *im = image_of_go();
	struct hb_proc p = {.go = true,
			    .goid_off = (u16)im->goid_off,
			    .m_off = (u16)im->m_off,
			    .curg_off = (u16)im->curg_off};
	u32 tgid = W_TGID;

	kernel__map_set(HOST_MAP(PROCS), &tgid, &p);
	w_in_c(by);
}

static void test_c_code_that_a_goroutine_calls_is_of_its_request(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	struct w_task *thread = w_thread(7), *g = reader(17);

	in_c(g);
	w_run(thread);
	call(&c, 200);
	in_c(NULL);
	call(&c, 30); /* on a thread of C's own */
	runs(g);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, REGS_G_IN_TLS ? 200 : 0);
	assert_int_equal(count(HB_REQ_TIED_CALLS), REGS_G_IN_TLS ? 1 : 0);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), REGS_G_IN_TLS ? 1 : 2);
}

static void test_what_c_code_reads_its_goroutine_has_read(void **state)
{
	struct codec in_go = codec_of(W_GO, 3), c = codec_of(W_NATIVE, 4);
	struct w_task *thread = w_thread(7), *other = w_go(20), *g = w_go(17);

	in_c(g);
	w_run(thread);
	in_thread(thread);
	conn_accept(1);
	conn_read(1, 5, 100);
	call(&c, 100);
	/* The thread goes on with another goroutine's call. */
	in_c(other);
	call(&c, 70);
	in_c(NULL);
	runs(g);
	call(&in_go, 200);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, REGS_G_IN_TLS ? 300 : 170);
	assert_int_equal(count(HB_REQ_UNTIED_NS), REGS_G_IN_TLS ? 70 : 200);
}

static void test_c_code_that_a_handler_calls_is_in_its_row(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	struct handler h = handler();
	struct w_task *thread = w_thread(7), *g = w_go(17);

	cfg_follow_go = false;
	w_call(h.f, D1, h.ra);
	in_c(g);
	w_run(thread);
	call(&c, 200);
	in_c(NULL);
	w_run(g);
	w_ret(h.f, D1, h.ra);
	assert_int_equal(row_of_handler(&h)->codec_ns, REGS_G_IN_TLS ? 200 : 0);
	assert_int_equal(count(HB_REQ_TIED_CALLS), REGS_G_IN_TLS);
}

static void test_c_code_that_a_codec_calls_is_in_that_call(void **state)
{
	struct codec outer = codec_of(W_GO, 3), c = codec_of(W_NATIVE, 4);
	struct w_task *thread = w_thread(7), *g = reader(17);

	w_call(outer.f, D2, outer.ra);
	in_c(g);
	w_run(thread);
	call(&c, 200);
	in_c(NULL);
	runs(g);
	w_ret(outer.f, D2, outer.ra);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 200);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), !REGS_G_IN_TLS);
}

static void test_c_code_in_a_g_that_is_used_again_is_untied(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	struct w_task *thread = w_thread(7), *g = reader(17);

	w_reuse_g(g, 30);
	in_c(g);
	w_run(thread);
	call(&c, 200);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 0);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
}

#define G(name) cmocka_unit_test_setup_teardown(name, setup_go, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		G(test_what_a_started_goroutine_calls_is_of_its_starters_request),
		G(test_without_the_option_it_is_not),
		G(test_grandchildren_are_of_it_too),
		G(test_a_goroutine_that_lives_longer_than_the_request_is_late),
		G(test_who_has_no_request_has_none_to_give),
		G(test_a_request_that_is_over_is_not_given_on),
		G(test_a_g_that_is_used_again_has_the_request_of_its_new_goroutine),
		G(test_a_goroutine_in_the_g_of_another_gives_on_nothing),
		G(test_a_connection_of_http2_gives_on_nothing),
		G(test_both_sides_are_given_on_and_the_servers_comes_first),
		G(test_what_a_started_goroutine_reads_itself_does_not_take_it_from_the_request),
		G(test_a_timers_goroutine_has_no_starter),
		G(test_a_starter_that_cannot_be_told_is_counted),
		G(test_no_room_for_the_tie_is_counted),
		G(test_what_the_start_costs_is_not_in_the_request),
		G(test_nor_is_it_in_a_call_and_it_is_subtracted_once),
		G(test_calls_that_run_at_the_same_time_are_counted_as_such),
		G(test_calls_one_after_the_other_are_not),
		G(test_calls_in_goroutines_of_a_handler_are_of_its_row),
		G(test_a_handler_that_has_returned_gets_no_more_calls),
		G(test_a_handlers_g_that_is_used_again_gets_no_calls),
		G(test_of_two_handlers_the_inner_one_gets_them_and_the_outer_one_with_it),
		G(test_a_call_of_a_requests_goroutine_is_in_both_rows),
		G(test_c_code_that_a_goroutine_calls_is_of_its_request),
		G(test_what_c_code_reads_its_goroutine_has_read),
		G(test_c_code_that_a_handler_calls_is_in_its_row),
		G(test_c_code_that_a_codec_calls_is_in_that_call),
		G(test_c_code_in_a_g_that_is_used_again_is_untied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
