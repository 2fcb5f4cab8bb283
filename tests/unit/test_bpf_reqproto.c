// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqproto.c - what bpf/req.bpf.c knows of protocols: TLS, HTTP/2, answers that ask for the rest. */
#include "reqworld.h"

/* ---- protocols ---- */

static void test_a_tls_handshake_is_no_request(void **state)
{
	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 200);
	conn_write(1, 5, 900);
	tls_says(20, 1, 23, 69);
	conn_read(1, 5, 80);
	conn_write(1, 5, 100); /* session tickets */
	tls_says(23, 75, 0, 0);
	conn_read(1, 5, 80);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 2);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->tls, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_begun(0);
}

static void test_a_request_in_the_same_read_as_the_handshakes_end_is_one(void **state)
{
	static const u8 request[] = {23, 3, 3, 0, 200};

	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 200);
	conn_write(1, 5, 900);
	tls_says(20, 1, 23, 69);
	kernel__user_write(BUF + 6 + 74, request, sizeof(request));
	conn_read(1, 5, 6 + 74 + 205);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_begun(0);
}

static void test_a_tls_alert_is_no_request(void **state)
{
	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 200);
	conn_write(1, 5, 900);
	tls_says(21, 26, 0, 0);
	conn_read(1, 5, 31);
	conn_write(1, 5, 31);
	tls_says(23, 19, 0, 0); /* the same in TLS 1.3 */
	conn_read(1, 5, 24);
	conn_write(1, 5, 24);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 3);
	assert_int_equal(server()->count, 0);
	check_begun(0);
}

static void test_a_request_right_behind_the_handshake_is_one(void **state)
{
	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 200);
	conn_write(1, 5, 900);
	tls_says(20, 1, 23, 69);
	conn_read(1, 5, 80);
	tls_says(23, 75, 0, 0);
	conn_read(1, 5, 80);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 2);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_begun(0);
}

static void test_http2_is_left_to_the_handlers(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_says("PRI * HTTP/2.0\r\n");
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	conn_read(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	assert_int_equal(count(HB_REQ_BEGUN), 0);
}

static void test_http2_on_a_connection_found_open_is_told_by_its_frames(void **state)
{
	static const u8 frame[] = {0, 0, 40, 1, 4, 0, 0, 0, 3};

	w_thread(5);
	kernel__user_write(BUF, frame, sizeof(frame));
	conn_write(1, 5, 100);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	assert_int_equal(count(HB_REQ_BEGUN), 0);
}

static void test_http2_that_was_cut_where_recording_began_is_told_by_a_later_frame(void **state)
{
	static const u8 frame[] = {0, 0, 4, 8, 0, 0, 0, 0, 0};
	u32 port = PORT, one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
	w_thread(5);
	conn_write(1, 5, 100);
	conn_says("the rest of a frame");
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	kernel__user_write(BUF, frame, sizeof(frame));
	conn_read(1, 5, 13);
	conn_write(1, 5, 100);
	conn_read(1, 5, 13);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	assert_int_equal(server()->count, 1);
	check_begun(0);
}

static void test_messages_with_their_length_in_front_are_not_http2(void **state)
{
	static const u8 says[][9] = {
		{0, 0, 0, 8, 'p', 'i', 'n', 'g', '1'},
		{0, 0, 0, 12, 8, 1, 16, 2, 26},
		{0, 0, 1, 1, 'i', 'n', 'g', '1', '1'},
		{0, 0, 0, 4, 0, 0, 0, 1, 0},
	};
	u32 port = PORT, one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
	w_thread(5);
	for (u32 i = 0; i < 4; i++) {
		conn_write(1 + i, 5, 100);
		kernel__user_write(BUF, says[i], sizeof(says[i]));
		conn_read(1 + i, 5, 100);
		conn_write(1 + i, 5, 100);
		conn_gone(1 + i);
	}
	assert_int_equal(count(HB_REQ_MUXED), 0);
	assert_int_equal(server()->count, 4);
	check_begun(0);
}

static void test_a_preface_in_a_message_or_a_vector_is_seen_too(void **state)
{
	static const u64 cookie[] = {HB_REQ_OP_READ | HB_REQ_OP_MSG,
				     HB_REQ_OP_READ | HB_REQ_OP_IOV};
	u64 iov[2] = {BUF + 1024, 64}, msg[4] = {0, 0, BUF + 2048, 1};

	w_thread(5);
	kernel__user_write(BUF + 1024, "PRI * HTTP/2.0", 15);
	kernel__user_write(BUF + 2048, iov, sizeof(iov));
	for (u32 i = 0; i < 2; i++) {
		if (i)
			kernel__user_write(BUF, iov, sizeof(iov));
		else
			kernel__user_write(BUF, msg, sizeof(msg));
		conn_accept(1 + i);
		sys_call(cookie[i], 1 + i, 5, 100);
		conn_write(1 + i, 5, 100);
		conn_gone(1 + i);
	}
	assert_int_equal(count(HB_REQ_MUXED), 2);
	assert_int_equal(count(HB_REQ_BEGUN), 0);
}

/* As OpenSSL reads: the header, and then what it says. */
static void read_record(u8 type, u8 len)
{
	tls_says(type, len, 0, 0);
	conn_read(1, 5, 5);
	kernel__user_write(BUF, "\x01no header\x17\x03", 12);
	conn_read(1, 5, len);
}

static void test_tls_records_read_in_parts_are_followed(void **state)
{
	w_thread(5);
	conn_accept(1);
	read_record(22, 195);
	conn_write(1, 5, 900);
	read_record(20, 1);
	read_record(23, 69);
	conn_write(1, 5, 100); /* session tickets */
	for (u32 i = 0; i < 2; i++) {
		read_record(23, 75);
		w_pass(40);
		conn_write(1, 5, 100);
	}
	read_record(23, 19); /* an alert */
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 3);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->tls, 2);
	assert_int_equal(server()->sum_ns, 2 * (5 + 40 + 5));
	check_begun(0);
}

static void test_the_end_of_a_handshake_in_bits_and_the_request_behind_it(void **state)
{
	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 150);
	conn_read(1, 5, 50);
	conn_write(1, 5, 900);
	tls_says(20, 1, 23, 69);
	conn_read(1, 5, 20);
	tls_says(23, 75, 0, 0);
	kernel__user_write(BUF, "rest", 4);
	conn_read(1, 5, 60);
	tls_says(23, 75, 0, 0);
	conn_read(1, 5, 80);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 2);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_begun(0);
}

static void test_plain_data_behind_a_handshake_is_data(void **state)
{
	w_thread(5);
	conn_accept(1);
	tls_says(22, 195, 0, 0);
	conn_read(1, 5, 200);
	conn_write(1, 5, 900);
	for (u32 i = 0; i < 2; i++) { /* the kernel has taken over TLS */
		conn_says("GET / HTTP/1.1");
		conn_read(1, 5, 80);
		w_pass(45);
		conn_write(1, 5, 100);
	}
	conn_gone(1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 1);
	assert_int_equal(server()->count, 2);
	check_begun(0);
}

static void test_an_answer_that_asks_for_the_rest_is_none(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	conn_says("HTTP/1.1 100 Continue\r\n\r\n");
	conn_write(1, 5, 25);
	w_pass(1000);
	conn_read(1, 5, 200);
	w_pass(80);
	conn_says("HTTP/1.1 200 OK\r\n");
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 5 + 1000 + 5 + 80 + 5);
	assert_int_equal(server()->bytes_in, 300);
	assert_int_equal(server()->bytes_out, 125);
	check_begun(0);
}

static void test_a_client_that_is_asked_for_the_rest_makes_one_request(void **state)
{
	w_thread(5);
	conn_connect(2, 0);
	conn_write(2, 5, 100);
	conn_says("HTTP/1.1 100 Continue\r\n\r\n");
	conn_read(2, 5, 25);
	conn_write(2, 5, 200);
	conn_says("HTTP/1.1 200 OK\r\n");
	conn_read(2, 85, 100);
	conn_gone(2);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->count, 1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->sum_ns, 100);
	check_begun(0);
}

static void test_a_look_at_data_is_no_transfer(void **state)
{
	static const u64 cookie[] = {HB_REQ_OP_READ | HB_REQ_OP_MSG,
				     HB_REQ_OP_READ | HB_REQ_OP_BUF | HB_REQ_OP_RECV};
	struct sys_enter peek[] = {{.arg = {1, BUF, 2}}, {.arg = {1, BUF, 100, 2}}};

	w_thread(5);
	conn_accept(1);
	for (u32 i = 0; i < 2; i++) {
		run_current();
		kernel.cookie = cookie[i];
		hb_req_enter(&peek[i]);
		leave_call(cookie[i], 100);
	}
	assert_int_equal(count(HB_REQ_BEGUN), 0);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->bytes_in, 100);
	check_begun(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_tls_handshake_is_no_request),
		T(test_a_tls_alert_is_no_request),
		T(test_a_request_in_the_same_read_as_the_handshakes_end_is_one),
		T(test_a_request_right_behind_the_handshake_is_one),
		T(test_http2_is_left_to_the_handlers),
		T(test_http2_on_a_connection_found_open_is_told_by_its_frames),
		T(test_http2_that_was_cut_where_recording_began_is_told_by_a_later_frame),
		T(test_messages_with_their_length_in_front_are_not_http2),
		T(test_a_preface_in_a_message_or_a_vector_is_seen_too),
		T(test_tls_records_read_in_parts_are_followed),
		T(test_the_end_of_a_handshake_in_bits_and_the_request_behind_it),
		T(test_plain_data_behind_a_handshake_is_data),
		T(test_an_answer_that_asks_for_the_rest_is_none),
		T(test_a_client_that_is_asked_for_the_rest_makes_one_request),
		T(test_a_look_at_data_is_no_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
