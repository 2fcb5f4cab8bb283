// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqsock.c - sockets before and beside the exchanges on them, as bpf/req.bpf.c sees them: the queue
 * of who listens, and the processes that share a connection. */
#include "reqworld.h"

#define MSG_FASTOPEN 0x20000000

static void listen_on(u32 port)
{
	u32 one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
}

static void one_request(void)
{
	conn_read(1, 5, 100);
	w_pass(90);
	conn_write(1, 10, 50);
}

/* ---- the queue ---- */

static void test_the_wait_for_accept_is_from_the_third_packet_to_its_return(void **state)
{
	listen_on(PORT);
	w_thread(5);
	conn_made(1);
	w_pass(7000);
	conn_made(2);
	w_pass(490);
	conn_accept(2); /* takes 10 */
	conn_accept(1);
	assert_int_equal(server()->queued, 2);
	assert_int_equal(server()->queued_sum_ns, 500 + 7510);
	assert_int_equal(server()->queued_max_ns, 7510);
	assert_int_equal(server()->count, 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_QUEUE)), 0);
	check_no_loss();
}

static void test_of_a_connection_made_before_recording_the_wait_is_not_known(void **state)
{
	listen_on(PORT);
	w_thread(5);
	recording = false;
	conn_made(1);
	recording = true;
	conn_accept(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
	assert_int_equal(server()->queued, 0);
}

static void test_connections_of_ports_that_nobody_listens_on_are_not_kept(void **state)
{
	listen_on(PORT + 1);
	w_thread(5);
	conn_made(1);
	conn_state(2, TCP_ESTABLISHED, TCP_ESTABLISHED + 3);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_QUEUE)), 0);
}

static void test_a_port_that_is_listened_on_later_is_known_before_its_first_accept(void **state)
{
	w_thread(5);
	conn_state(3, 7, TCP_LISTEN);
	conn_made(1);
	w_pass(90);
	conn_accept(1);
	assert_int_equal(server()->queued, 1);
	assert_int_equal(server()->queued_sum_ns, 100);
}

/* TCP Fast Open: accepted before the third packet. Its entry must not be the next one's at that address. */
static void test_what_is_left_of_a_connection_goes_with_its_socket(void **state)
{
	listen_on(PORT);
	w_thread(5);
	conn_accept(1);
	conn_made(1);
	conn_gone(1);
	w_pass(100000);
	conns[1].inode.i_ino += 1000;
	conn_accept(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 2);
	assert_int_equal(server()->queued, 0);
}

static void test_a_queue_that_cannot_be_kept_makes_waits_unknown(void **state)
{
	listen_on(PORT);
	w_thread(5);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(REQ_QUEUE), 0, 1, -ENOMEM);
	conn_made(1);
	conn_accept(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
	assert_int_equal(server()->queued, 0);
}

/* ---- connections that are made ---- */

static void test_a_connection_that_is_refused_at_once_is_none(void **state)
{
	w_thread(5);
	conns[1].sk.__sk_common.skc_state = TCP_CLOSE;
	conn_connect(1, -EINPROGRESS);
	assert_int_equal(count(HB_REQ_CONNECTED), 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
}

static void test_one_that_is_refused_later_was_none(void **state)
{
	w_thread(5);
	conns[1].sk.__sk_common.skc_state = TCP_SYN_SENT;
	conn_connect(1, -EINPROGRESS);
	conn_state(1, TCP_SYN_SENT, TCP_CLOSE);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_CONNECTED), 0);
	assert_int_equal(count(HB_REQ_CLOSED), 0);
	check_no_loss();
}

/* TCP Fast Open: there is no connect(). */
static void sends_to(u32 fd, u64 flags, s64 ret)
{
	u64 cookie = HB_REQ_OP_WRITE | HB_REQ_OP_BUF | HB_REQ_OP_RECV;
	struct sys_enter ctx = {.arg = {fd, BUF, 100, flags}};

	run_current();
	kernel.cookie = cookie;
	hb_req_enter(&ctx);
	w_pass(5);
	leave_call(cookie, ret);
}

static void test_a_connection_that_data_makes_is_a_new_one(void **state)
{
	struct hb_req_row *client;

	w_thread(5);
	sends_to(1, MSG_FASTOPEN, 100);
	w_pass(90);
	conn_read(1, 5, 100);
	sends_to(1, 0, 100);
	conn_read(1, 5, 100);
	conn_gone(1);
	client = row_of(HB_REQ_CLIENT, 40001);
	assert_int_equal(client->count, 2);
	assert_int_equal(client->sum_ns, 100 + 10);
	assert_int_equal(client->waited, 0);
	assert_int_equal(count(HB_REQ_CONNECTED), 1);
	assert_int_equal(count(HB_REQ_FOUND), 0);
	check_begun(0);
}

/* Without a cookie of the other side, and without waiting, only the connection is begun. */
static void test_one_that_is_still_being_made_is_known(void **state)
{
	w_thread(5);
	conns[1].sk.__sk_common.skc_state = TCP_SYN_SENT;
	sends_to(1, MSG_FASTOPEN, -EINPROGRESS);
	sends_to(1, 0, 100);
	conn_read(1, 5, 100);
	conn_gone(1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40001)->count, 1);
	assert_int_equal(count(HB_REQ_CONNECTED), 1);
	check_begun(0);
}

static void ask_port(u16 port)
{
	conns[1].sk.__sk_common.skc_dport = __builtin_bswap16(port);
	conn_connect(1, 0);
	conn_write(1, 5, 100);
	conn_read(1, 5, 100);
}

static void test_a_socket_that_is_connected_again_is_another_connection(void **state)
{
	w_thread(5);
	ask_port(7001);
	ask_port(7002);
	conn_gone(1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 7001)->count, 1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 7002)->count, 1);
	assert_int_equal(count(HB_REQ_CONNECTED), 2);
	assert_int_equal(count(HB_REQ_CLOSED), 2);
	check_begun(0);
}

/* ---- Multipath TCP ---- */

static void test_a_connection_of_multipath_tcp_waits_and_ends_like_others(void **state)
{
	listen_on(PORT);
	w_thread(5);
	conns[1].sk.sk_protocol = IPPROTO_MPTCP;
	conns[1].sk.sk_socket = &conns[1].socket;
	conn_state(1, TCP_LISTEN, TCP_ESTABLISHED);
	w_pass(90);
	conn_accept(1);
	one_request();
	conn_state(1, TCP_ESTABLISHED, TCP_CLOSE); /* reset, and still open */
	assert_int_equal(count(HB_REQ_CLOSED), 0);
	conn_state(1, TCP_CLOSE, TCP_CLOSE); /* close() */
	assert_int_equal(count(HB_REQ_CLOSED), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->queued, 1);
	assert_int_equal(server()->queued_sum_ns, 100);
	check_begun(0);
}

static void test_one_that_was_closed_first_ends_when_its_last_byte_has_arrived(void **state)
{
	w_thread(5);
	conns[1].sk.sk_protocol = IPPROTO_MPTCP;
	conn_accept(1);
	one_request();
	conn_state(1, 5, TCP_CLOSE);
	assert_int_equal(count(HB_REQ_CLOSED), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
}

static void test_the_close_of_a_plain_socket_is_left_to_its_end(void **state)
{
	w_thread(5);
	conns[1].sk.sk_protocol = 6;
	conn_accept(1);
	one_request();
	conn_state(1, TCP_CLOSE, TCP_CLOSE);
	assert_int_equal(count(HB_REQ_CLOSED), 0);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_CLOSED), 1);
}

/* ---- several messages ---- */

static void says_messages(u32 nr, u32 len)
{
	for (u32 i = 0; i < nr; i++)
		kernel__user_write(BUF + i * 64 + 56, &len, sizeof(len));
}

static void test_messages_count_by_their_bytes(void **state)
{
	w_thread(5);
	conn_accept(1);
	says_messages(3, 70);
	sys_call(HB_REQ_OP_READ | HB_REQ_OP_MMSG | HB_REQ_OP_RECV, 1, 5, 3);
	says_messages(2, 40);
	sys_call(HB_REQ_OP_WRITE | HB_REQ_OP_MMSG, 1, 5, 2);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->bytes_in, 210);
	assert_int_equal(server()->bytes_out, 80);
	check_begun(0);
}

/* At the end of the data a message is there, of no bytes. */
static void test_messages_without_bytes_are_no_data(void **state)
{
	w_thread(5);
	conn_accept(1);
	says_messages(1, 0);
	sys_call(HB_REQ_OP_READ | HB_REQ_OP_MMSG | HB_REQ_OP_RECV, 1, 5, 1);
	assert_int_equal(count(HB_REQ_BEGUN), 0);
}

/* ---- processes ---- */

#define PARENT 0
#define CHILD  (PARENT | HB_REQ_CHILD)

/* As bpf/proc.bpf.c says of a fork. */
static struct w_task *forked(u32 tid)
{
	struct w_task *child = w_thread(tid);
	u32 parent = PARENT;

	child->tgid = W_TGID + 7;
	kernel__map_set(HOST_MAP(REQ_CHILDREN), &child->tgid, &parent);
	nr_req_children = 1;
	cfg_req_children = true;
	return child;
}

static void measured_itself(const struct w_task *child, u32 index)
{
	struct hb_proc p = {.index = (u16)index};

	cfg_tgid = 0;
	kernel__map_set(HOST_MAP(PROCS), &child->tgid, &p);
}

static struct hb_req_row *server_of(u16 proc)
{
	static struct hb_req_row none;
	struct hb_req_key key = {.side = HB_REQ_SERVER, .port = PORT, .proc = proc};
	u32 *i = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);

	return i ? row_at(*i) : &none;
}

static void test_a_request_is_of_the_process_that_reads_it_not_of_who_accepts(void **state)
{
	struct w_task *parent = w_thread(5);

	conn_accept(1);
	measured_itself(forked(6), 2);
	one_request();
	one_request();
	conn_gone(1);
	w_run(parent);
	assert_int_equal(server_of(PARENT)->count, 0);
	assert_int_equal(server_of(CHILD)->count, 0);
	assert_int_equal(server_of(2)->count, 2);
	assert_int_equal(server_of(2)->waited, 1);
	assert_int_equal(server_of(2)->sum_ns, 200);
	check_begun(0);
}

static void test_a_child_that_is_not_measured_yet_is_its_parents(void **state)
{
	struct w_task *child;

	w_thread(5);
	conn_accept(1);
	child = forked(6);
	one_request();
	measured_itself(child, 3);
	one_request();
	conn_gone(1);
	assert_int_equal(server_of(CHILD)->count, 1);
	assert_int_equal(server_of(3)->count, 1);
	assert_int_equal(count(HB_REQ_PUSHES), 0);
	assert_int_equal(count(HB_REQ_FOUND), 0);
	check_begun(0);
}

static void test_children_are_looked_for_only_where_there_are_any(void **state)
{
	w_thread(5);
	forked(6);
	nr_req_children = 0;
	conn_accept(1);
	nr_req_children = 1;
	cfg_req_children = false;
	conn_accept(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 0);
	cfg_req_children = true;
	conn_accept(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_the_wait_for_accept_is_from_the_third_packet_to_its_return),
		T(test_of_a_connection_made_before_recording_the_wait_is_not_known),
		T(test_connections_of_ports_that_nobody_listens_on_are_not_kept),
		T(test_a_port_that_is_listened_on_later_is_known_before_its_first_accept),
		T(test_what_is_left_of_a_connection_goes_with_its_socket),
		T(test_a_queue_that_cannot_be_kept_makes_waits_unknown),
		T(test_a_connection_that_is_refused_at_once_is_none),
		T(test_one_that_is_refused_later_was_none),
		T(test_a_connection_that_data_makes_is_a_new_one),
		T(test_one_that_is_still_being_made_is_known),
		T(test_a_socket_that_is_connected_again_is_another_connection),
		T(test_a_connection_of_multipath_tcp_waits_and_ends_like_others),
		T(test_one_that_was_closed_first_ends_when_its_last_byte_has_arrived),
		T(test_the_close_of_a_plain_socket_is_left_to_its_end),
		T(test_messages_count_by_their_bytes),
		T(test_messages_without_bytes_are_no_data),
		T(test_a_request_is_of_the_process_that_reads_it_not_of_who_accepts),
		T(test_a_child_that_is_not_measured_yet_is_its_parents),
		T(test_children_are_looked_for_only_where_there_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
