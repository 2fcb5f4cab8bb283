// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqtls.c - what bpf/req.bpf.c knows of connections with TLS: what the client offers, HTTP/2 inside
 * of them, alerts, and those that were open before; and of connections that leave HTTP. */
#include "reqworld.h"

/* ---- a ClientHello ---- */

struct hello {
	u8 b[512];
	u32 len;
};

static void put(struct hello *h, const void *bytes, u32 len)
{
	if (len)
		memcpy(h->b + h->len, bytes, len);
	h->len += len;
}

static void put_u16(struct hello *h, u32 value)
{
	u8 b[2] = {(u8)(value >> 8), (u8)value};

	put(h, b, 2);
}

static void put_extension(struct hello *h, u32 type, const void *bytes, u32 len)
{
	put_u16(h, type);
	put_u16(h, len);
	put(h, bytes, len);
}

/* alpn: the protocols, each behind its length; NULL: the extension is not there. */
static struct hello client_hello(const char *alpn, bool early)
{
	struct hello h = {.len = 5 + 4}, ext = {0};
	u8 zero[35] = {0}, list[64];

	put_extension(&ext, 0, "\0\x0c\0\0\x09localhost", 14);
	if (alpn) {
		list[0] = 0;
		list[1] = (u8)strlen(alpn);
		memcpy(list + 2, alpn, strlen(alpn));
		put_extension(&ext, 16, list, 2 + (u32)strlen(alpn));
	}
	if (early)
		put_extension(&ext, 42, NULL, 0);
	put_extension(&ext, 51, zero, 35);
	put_u16(&h, 0x0303);
	put(&h, zero, 32);
	put(&h, "\x20", 1);
	put(&h, zero, 32);
	put(&h, "\0\x04\x13\x01\x13\x02\x01\0", 8);
	put_u16(&h, ext.len);
	put(&h, ext.b, ext.len);
	memcpy(h.b, "\x16\x03\x01\0", 4);
	h.b[3] = (u8)((h.len - 5) >> 8);
	h.b[4] = (u8)(h.len - 5);
	h.b[5] = 1;
	h.b[8] = (u8)(h.len - 9);
	return h;
}

static void record_says(u8 type, u32 len)
{
	u8 b[] = {type, 3, 3, (u8)(len >> 8), (u8)len};

	kernel__user_write(BUF, b, sizeof(b));
}

static void read_one(u8 type, u32 len)
{
	record_says(type, len);
	conn_read(1, 5, 5 + len);
}

static void write_one(u8 type, u32 len)
{
	record_says(type, len);
	conn_write(1, 5, 5 + len);
}

/* A connection of TLS 1.3, up to the last word of its handshake. */
static void shake_hands(const struct hello *h)
{
	w_thread(5);
	conn_accept(1);
	kernel__user_write(BUF, h->b, h->len);
	conn_read(1, 5, h->len);
	write_one(22, 122);
	tls_says(20, 1, 23, 53);
	conn_read(1, 5, 6 + 58);
	write_one(23, 250); /* a session ticket */
}

static void tls_request(void)
{
	read_one(23, 100);
	w_pass(90);
	write_one(23, 200);
}

/* ---- what is offered ---- */

static void test_requests_of_clients_that_do_not_offer_http2_are_sure(void **state)
{
	struct hello h = client_hello("\x08http/1.1", false);

	shake_hands(&h);
	tls_request();
	tls_request();
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->tls, 2);
	assert_int_equal(server()->tls_doubt, 0);
	check_begun(0);
}

static void test_no_offer_at_all_is_none_of_http2(void **state)
{
	struct hello h = client_hello(NULL, false);

	shake_hands(&h);
	tls_request();
	conn_gone(1);
	assert_int_equal(server()->tls_doubt, 0);
	assert_int_equal(server()->count, 1);
}

static void test_an_offer_of_http2_is_a_doubt_where_nothing_tells(void **state)
{
	struct hello h = client_hello("\x02h2\x08http/1.1", false);

	shake_hands(&h);
	tls_request();
	tls_request();
	conn_gone(1);
	assert_int_equal(server()->count, 2);
	assert_int_equal(server()->tls_doubt, 2);
	assert_int_equal(count(HB_REQ_MUXED), 0);
	check_begun(0);
}

static void test_early_data_is_a_doubt(void **state)
{
	struct hello h = client_hello(NULL, true);

	shake_hands(&h);
	tls_request();
	conn_gone(1);
	assert_int_equal(server()->tls_doubt, server()->count);
}

static void test_a_hello_that_is_cut_is_a_doubt(void **state)
{
	struct hello h = client_hello("\x08http/1.1", false);

	h.len -= 30;
	shake_hands(&h);
	tls_request();
	conn_gone(1);
	assert_in_range(server()->count, 1, 2);
	assert_int_equal(server()->tls_doubt, server()->count);
}

/* As OpenSSL reads it. */
static void test_a_hello_that_is_read_in_two_parts_is_looked_at(void **state)
{
	struct hello h = client_hello("\x08http/1.1", false);

	w_thread(5);
	conn_accept(1);
	kernel__user_write(BUF, h.b, 5);
	conn_read(1, 5, 5);
	kernel__user_write(BUF, h.b + 5, h.len - 5);
	conn_read(1, 5, h.len - 5);
	write_one(22, 122);
	tls_says(20, 1, 23, 53);
	conn_read(1, 5, 6 + 58);
	tls_request();
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->tls_doubt, 0);
}

/* Lengths that lie: nothing behind the message is looked at. */
static void test_a_hello_of_any_bytes_is_no_more_than_a_doubt(void **state)
{
	w_thread(5);
	for (u32 at = 5; at < 120; at++) {
		struct hello h = client_hello("\x08http/1.1", false);

		h.b[at] = 0xff;
		conns[1].inode.i_ino++;
		conn_accept(1);
		kernel__user_write(BUF, h.b, h.len);
		conn_read(1, 5, h.len);
		conn_gone(1);
	}
	check_begun(0);
}

/* ---- HTTP/2 ---- */

static void test_http2_inside_of_tls_is_told_by_what_is_too_short_for_http1(void **state)
{
	struct hello h = client_hello("\x02h2\x08http/1.1", false);

	shake_hands(&h);
	read_one(23, 90);  /* the preface and settings */
	write_one(23, 26); /* settings are acknowledged: 9 bytes */
	read_one(23, 120);
	w_pass(90);
	write_one(23, 200);
	read_one(23, 120);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	assert_int_equal(server()->count, 0);
	assert_int_equal(server()->unanswered, 0);
	check_begun(0);
}

static void test_or_by_what_the_client_acknowledges(void **state)
{
	struct hello h = client_hello("\x02h2", false);

	shake_hands(&h);
	read_one(23, 90);
	write_one(23, 120);
	read_one(23, 26);
	tls_request();
	conn_gone(1);
	assert_int_equal(count(HB_REQ_MUXED), 1);
	assert_int_equal(server()->count, 0);
	check_begun(0);
}

/* Of a protocol that is not HTTP. */
static void test_short_messages_without_the_offer_are_requests(void **state)
{
	struct hello h = client_hello(NULL, false);

	shake_hands(&h);
	for (u32 i = 0; i < 3; i++) {
		read_one(23, 26);
		write_one(23, 26);
	}
	conn_gone(1);
	assert_int_equal(count(HB_REQ_MUXED), 0);
	assert_int_equal(server()->count, 3);
	check_begun(0);
}

/* ---- alerts ---- */

static void test_an_alert_long_after_the_answer_is_no_part_of_it(void **state)
{
	static const u8 type[] = {21, 23};

	for (u32 i = 0; i < 2; i++) {
		struct hello h = client_hello(NULL, false);

		conns[1].inode.i_ino++;
		shake_hands(&h);
		tls_request();
		w_pass(300000);
		write_one(type[i], 19);
		conn_gone(1);
		assert_int_equal(server()->count, i + 1);
		assert_int_equal(server()->sum_ns, 95 * (i + 1));
		assert_int_equal(server()->paused, 0);
	}
	check_begun(0);
}

static void test_a_request_that_an_alert_alone_follows_has_no_answer(void **state)
{
	struct hello h = client_hello(NULL, false);

	shake_hands(&h);
	read_one(23, 100);
	write_one(23, 19);
	conn_gone(1);
	assert_int_equal(server()->count, 0);
	assert_int_equal(server()->unanswered, 1);
	check_begun(0);
}

static void test_messages_of_two_bytes_are_requests_where_they_are_answered(void **state)
{
	struct hello h = client_hello(NULL, false);

	shake_hands(&h);
	for (u32 i = 0; i < 3; i++) {
		read_one(23, 19);
		w_pass(90);
		write_one(23, 60);
	}
	read_one(23, 19); /* and this is an alert */
	write_one(23, 19);
	conn_gone(1);
	assert_int_equal(server()->count, 3);
	assert_int_equal(server()->sum_ns, 3 * 95);
	check_begun(0);
}

static void test_answers_of_two_bytes_end_requests(void **state)
{
	struct hello h = client_hello(NULL, false);

	shake_hands(&h);
	for (u32 i = 0; i < 3; i++) {
		read_one(23, 60);
		w_pass(90);
		write_one(23, 19);
	}
	read_one(23, 60);
	conn_gone(1);
	assert_int_equal(server()->count, 3);
	assert_int_equal(server()->unanswered, 1);
	check_begun(0);
}

/* ---- others ---- */

static void test_tls_on_a_connection_found_open_is_told_by_its_records(void **state)
{
	u32 port = PORT, one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
	w_thread(5);
	tls_request(); /* apart */
	tls_request();
	read_one(23, 19);
	write_one(23, 19);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_FOUND), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->tls, 1);
	assert_int_equal(server()->tls_doubt, 1);
	assert_int_equal(count(HB_REQ_HANDSHAKES), 1);
	check_begun(0);
}

static void test_what_follows_an_upgrade_are_no_requests(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_says("GET /chat HTTP/1.1");
	conn_read(1, 5, 100);
	w_pass(90);
	conn_says("HTTP/1.1 101 Switching Protocols");
	conn_write(1, 10, 129);
	conn_says("\x81\x85");
	for (u32 i = 0; i < 3; i++) {
		conn_read(1, 5, 11);
		conn_write(1, 5, 7);
	}
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 100);
	assert_int_equal(count(HB_REQ_UPGRADED), 1);
	check_begun(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_requests_of_clients_that_do_not_offer_http2_are_sure),
		T(test_no_offer_at_all_is_none_of_http2),
		T(test_an_offer_of_http2_is_a_doubt_where_nothing_tells),
		T(test_early_data_is_a_doubt),
		T(test_a_hello_that_is_cut_is_a_doubt),
		T(test_a_hello_that_is_read_in_two_parts_is_looked_at),
		T(test_a_hello_of_any_bytes_is_no_more_than_a_doubt),
		T(test_http2_inside_of_tls_is_told_by_what_is_too_short_for_http1),
		T(test_or_by_what_the_client_acknowledges),
		T(test_short_messages_without_the_offer_are_requests),
		T(test_an_alert_long_after_the_answer_is_no_part_of_it),
		T(test_a_request_that_an_alert_alone_follows_has_no_answer),
		T(test_messages_of_two_bytes_are_requests_where_they_are_answered),
		T(test_answers_of_two_bytes_end_requests),
		T(test_tls_on_a_connection_found_open_is_told_by_its_records),
		T(test_what_follows_an_upgrade_are_no_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
