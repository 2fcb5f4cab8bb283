// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqtie.c - the tie of codec calls to exchanges, bpf/reqcall.bpf.h. */
#include "reqworld.h"

/* ---- the tie ---- */

static void test_a_codec_call_belongs_to_what_its_thread_last_read_from(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	conn_accept(2);
	conn_read(1, 5, 100);
	conn_read(2, 5, 100);
	call(&c, 400);
	w_pass(595);
	conn_write(1, 5, 100);
	conn_write(2, 5, 100);
	conn_gone(1);
	conn_gone(2);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->codec_calls, 1);
	assert_int_equal(server()->codec_ns, 400);
	assert_int_equal(server()->group_ns[3], 400);
	assert_int_equal(server()->group_calls[3], 1);
	/* The first has none of it; the second took 1005. */
	assert_int_equal(server()->in_codec_ns[hb_hist_bucket(1005)], 400);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_TIED_NS), 400);
}

static void test_a_goroutine_keeps_its_request_on_any_thread(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *g = w_go(17), *other;

	req_go = true;
	req_goid_off = image_of_go()->goid_off;
	in_goroutine(g);
	conn_accept(1);
	conn_read(1, 5, 100);
	/* Another goroutine on the same thread is none of it. */
	other = w_go(18);
	other->tid = g->tid;
	w_run(other);
	call(&c, 70);
	g->tid = 99;
	w_run(g);
	call(&c, 400);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 400);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_UNTIED_NS), 70);
}

static void test_a_goroutine_in_the_g_of_another_has_not_read(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *g = w_go(17);

	req_go = true;
	req_goid_off = image_of_go()->goid_off;
	in_goroutine(g);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_reuse_g(g, 18);
	call(&c, 70);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 0);
}

static void test_a_call_after_the_answer_is_not_in_its_latency(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	call(&c, 100);
	conn_write(1, 5, 100);
	call(&c, 5000);
	conn_read(1, 5, 100);
	assert_int_equal(server()->sum_ns, 105);
	assert_int_equal(server()->codec_ns, 100);
	assert_int_equal(server()->codec_calls, 1);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
	assert_int_equal(count(HB_REQ_TIED_NS), 100);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
	assert_int_equal(count(HB_REQ_LATE_NS), 5000);
	/* ... but where more of the answer follows, it was in it. */
	conn_write(1, 5, 100);
	call(&c, 300);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 400);
	assert_int_equal(server()->codec_calls, 2);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 2);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
}

static void test_an_encoder_that_writes_itself_is_in_the_request_up_to_its_last_write(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_call(c.f, D2, c.ra);
	w_pass(295);
	conn_write(1, 5, 100);
	w_pass(50);
	w_ret(c.f, D2, c.ra);
	conn_gone(1);
	assert_int_equal(server()->sum_ns, 300);
	assert_int_equal(server()->codec_ns, 300);
	assert_int_equal(server()->codec_calls, 1);
}

/* json.NewDecoder(conn).Decode(): the time until the client sends something is nobody's request. */
static void test_a_decoder_that_reads_itself_is_in_the_request_from_its_first_byte(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	for (u32 i = 0; i < 2; i++) {
		w_call(c.f, D2, c.ra);
		w_pass(100);
		conn_read(1, 50000, 100);
		w_pass(200);
		w_ret(c.f, D2, c.ra);
		w_pass(790);
		conn_write(1, 10, 50);
	}
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->sum_ns, 2 * 1000);
	assert_int_equal(server()->codec_calls, 2);
	assert_int_equal(server()->codec_ns, 2 * 200);
	assert_int_equal(server()->group_ns[3], 2 * 200);
	assert_int_equal(count(HB_REQ_TIED_NS), 2 * 200);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 0);
}

/* The server works meanwhile. */
static void test_a_clients_decoder_has_no_part_in_the_wait_for_the_answer(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	struct hb_req_row *client;

	w_thread(5);
	conn_connect(1, 0);
	conn_write(1, 5, 100);
	w_call(c.f, D2, c.ra);
	conn_read(1, 50000, 100);
	w_pass(200);
	conn_read(1, 5, 100);
	w_pass(70);
	w_ret(c.f, D2, c.ra);
	conn_gone(1);
	client = row_of(HB_REQ_CLIENT, 40001);
	assert_int_equal(client->count, 1);
	assert_int_equal(client->sum_ns, 5 + 50000 + 205);
	assert_int_equal(client->codec_ns, 205);
	assert_int_equal(client->codec_calls, 1);
	assert_int_equal(client->group_ns[3], 275);
}

/* It waits, decodes, and has the answer written before it returns: of nothing else. */
static void test_a_call_around_the_whole_request_is_no_longer_than_that(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	w_call(c.f, D2, c.ra);
	conn_read(1, 50000, 100);
	w_pass(290);
	conn_write(1, 10, 50);
	w_pass(7);
	w_ret(c.f, D2, c.ra);
	conn_gone(1);
	assert_int_equal(server()->sum_ns, 300);
	assert_int_equal(server()->codec_ns, 300);
	assert_int_equal(server()->group_ns[3], 307);
}

static void test_a_codec_inside_a_codec_counts_once(void **state)
{
	struct codec outer = codec_of(W_NATIVE, 3), inner = codec_of(W_NATIVE, 4);

	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_call(outer.f, D1, outer.ra);
	w_pass(100);
	call(&inner, 200);
	w_pass(100);
	w_ret(outer.f, D1, outer.ra);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->codec_ns, 400);
	assert_int_equal(server()->codec_calls, 1);
	assert_int_equal(server()->group_calls[4], 0);
}

/* ---- one connection, several goroutines ---- */

static void reads(struct w_task *g, u32 fd)
{
	w_run(g);
	in_goroutine(g);
	conn_read(fd, 5, 100);
}

/* A connection with a handshake behind it. */
static void in_tls(void)
{
	u8 hello[] = {22, 3, 1, 0, 95}, data[] = {23, 3, 3, 0, 95};

	kernel__user_write(BUF, hello, sizeof(hello));
	conn_accept(1);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	kernel__user_write(BUF, data, sizeof(data));
}

static void go_requests(void)
{
	req_go = true;
	req_goid_off = image_of_go()->goid_off;
}

/* It has read a request of the connection, and another one those that follow. */
static u64 late_of_one_that_has_handed_it_on(bool tls, u32 requests)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *first = w_go(17), *next = w_go(18);

	w_run(first);
	in_goroutine(first);
	if (tls)
		in_tls();
	else
		conn_accept(1);
	reads(first, 1);
	conn_write(1, 5, 100);
	for (u32 i = 0; i < requests; i++) {
		reads(next, 1);
		w_run(first);
		call(&c, 400);
		w_run(next);
		conn_write(1, 5, 100);
	}
	return count(HB_REQ_LATE_CALLS);
}

static void test_who_hands_a_connection_on_has_no_part_in_its_later_requests(void **state)
{
	go_requests();
	assert_int_equal(late_of_one_that_has_handed_it_on(false, 5), 5);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 0);
}

/* The first of them may have been read ahead. */
static void test_over_tls_it_has_none_in_those_behind_the_next(void **state)
{
	go_requests();
	assert_int_equal(late_of_one_that_has_handed_it_on(true, 5), 4);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 1);
}

/* ---- other ties ---- */

static void test_a_request_to_another_server_does_not_take_the_calls_of_its_own(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	conns[2].sk.__sk_common.skc_num = 50000;
	conn_connect(2, 0);
	conn_write(2, 5, 10);
	conn_read(2, 5, 10);
	call(&c, 100);
	conn_write(1, 5, 100);
	conn_gone(1);
	conn_gone(2);
	assert_int_equal(server()->codec_ns, 100);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->codec_ns, 0);
}

static void test_calls_of_a_request_that_is_over_are_late(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	struct w_task *a = w_thread(5), *b = w_thread(6);

	w_run(a);
	conn_accept(1);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	w_run(b);
	conn_read(1, 5, 100); /* another thread has the connection now */
	w_run(a);
	call(&c, 100);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 1);
	assert_int_equal(count(HB_REQ_LATE_NS), 100);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 0);
}

static void test_what_the_probes_cost_is_not_in_a_requests_latency(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);
	u64 total;

	w_set_cal();
	total = cal.total_ns[HB_LANG_NATIVE][0][0];
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(50000);
	call(&c, 10000);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_true(total > 0);
	assert_int_equal(server()->sum_ns, 60005 - total);
	assert_int_equal(server()->codec_ns, 10000 - cal.in_ns[HB_LANG_NATIVE][0]);
}

static void test_a_handlers_call_is_a_request_of_its_own_row(void **state)
{
	struct hb_req_key key = {.side = HB_REQ_HANDLER};
	struct codec c = codec_of(W_NATIVE, 3);
	u16 h = W_FUNC(.image = W_NATIVE, .f.group = 5, .f.flags = HB_FUNC_HANDLER);
	u64 ra = w_ra(h);
	struct hb_req_row *r;
	u32 *i;

	req_handler_groups = 1ULL << 5;
	w_thread(5);
	w_call(h, D1, ra);
	w_pass(100);
	call(&c, 200);
	call(&c, 300);
	w_pass(400);
	w_ret(h, D1, ra);
	key.func = h;
	i = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);
	assert_non_null(i);
	r = row_at(*i);
	assert_int_equal(r->count, 1);
	assert_int_equal(r->sum_ns, 1000);
	assert_int_equal(r->codec_ns, 500);
	assert_int_equal(r->codec_calls, 2);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 2); /* to the handler: nothing was read */
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 0);
}

/* net/http over TLS: another goroutine has read all of the next request. */
static void test_who_handles_a_request_need_not_have_read_it(void **state)
{
	struct codec c = codec_of(W_GO, 3);
	struct w_task *serves = w_go(17);
	u16 h = W_FUNC(.image = W_GO, .f.group = 5, .f.flags = HB_FUNC_HANDLER);
	u64 ra = w_ra(h);

	go_requests();
	req_handler_groups = 1ULL << 5;
	in_goroutine(serves);
	in_tls();
	for (u32 i = 0; i < 3; i++) {
		/* In a goroutine that ends then. */
		reads(i ? w_go(17 + i) : serves, 1);
		w_run(serves);
		in_goroutine(serves);
		w_call(h, D1, ra);
		call(&c, 200);
		w_ret(h, D1, ra);
		conn_write(1, 5, 50);
		call(&c, 70); /* outside of the handler: of the one that is over */
	}
	conn_gone(1);
	assert_int_equal(server()->count, 3);
	assert_int_equal(server()->codec_calls, 3);
	assert_int_equal(server()->codec_ns, 600);
	assert_int_equal(count(HB_REQ_LATE_CALLS), 3);
	assert_int_equal(count(HB_REQ_TIED_CALLS), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_codec_call_belongs_to_what_its_thread_last_read_from),
		T(test_a_goroutine_keeps_its_request_on_any_thread),
		T(test_a_goroutine_in_the_g_of_another_has_not_read),
		T(test_a_call_after_the_answer_is_not_in_its_latency),
		T(test_an_encoder_that_writes_itself_is_in_the_request_up_to_its_last_write),
		T(test_a_decoder_that_reads_itself_is_in_the_request_from_its_first_byte),
		T(test_a_clients_decoder_has_no_part_in_the_wait_for_the_answer),
		T(test_a_call_around_the_whole_request_is_no_longer_than_that),
		T(test_a_codec_inside_a_codec_counts_once),
		T(test_who_hands_a_connection_on_has_no_part_in_its_later_requests),
		T(test_over_tls_it_has_none_in_those_behind_the_next),
		T(test_a_request_to_another_server_does_not_take_the_calls_of_its_own),
		T(test_calls_of_a_request_that_is_over_are_late),
		T(test_what_the_probes_cost_is_not_in_a_requests_latency),
		T(test_a_handlers_call_is_a_request_of_its_own_row),
		T(test_who_handles_a_request_need_not_have_read_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
