// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_reqsock.c - sockets before and beside the exchanges on them, as bpf/req.bpf.c sees them: the queue
 * of who listens. */
#include "reqworld.h"

static void listen_on(u32 port)
{
	u32 one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_the_wait_for_accept_is_from_the_third_packet_to_its_return),
		T(test_of_a_connection_made_before_recording_the_wait_is_not_known),
		T(test_connections_of_ports_that_nobody_listens_on_are_not_kept),
		T(test_a_port_that_is_listened_on_later_is_known_before_its_first_accept),
		T(test_what_is_left_of_a_connection_goes_with_its_socket),
		T(test_a_queue_that_cannot_be_kept_makes_waits_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
