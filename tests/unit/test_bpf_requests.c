// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_requests.c - exchanges on connections as bpf/req.bpf.c sees them, and what becomes of those for
 * which there is no room. */
#include "reqworld.h"

/* ---- exchanges ---- */

static void test_a_request_lasts_from_its_read_to_its_last_write(void **state)
{
	w_thread(5);
	conn_accept(1);
	w_pass(300);
	conn_read(1, 50, 100);
	w_pass(1000);
	conn_write(1, 20, 40);
	w_pass(100);
	conn_write(1, 20, 60);
	w_pass(5000);
	assert_int_equal(server()->count, 0);
	conn_read(1, 50, 10);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 1000 + 20 + 100 + 20);
	assert_int_equal(server()->bytes_in, 100);
	assert_int_equal(server()->bytes_out, 100);
	assert_int_equal(server()->write_ns, 40);
	assert_int_equal(server()->read_ns, 0);
	assert_int_equal(server()->first_sum_ns, 1020);
	assert_int_equal(server()->waited, 1);
	assert_int_equal(server()->waited_sum_ns, 350);
	assert_int_equal(server()->n[hb_hist_bucket(1140)], 1);
	check_begun(1);
	check_no_loss();
}

static void test_closing_completes_the_last_request(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(700);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 705);
	assert_int_equal(count(HB_REQ_CLOSED), 1);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
	check_begun(0);
}

static void test_a_body_in_several_reads_is_one_request(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(100);
	conn_read(1, 30, 100);
	conn_read(1, 30, -EAGAIN);
	w_pass(100);
	conn_write(1, 10, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 100 + 30 + 30 + 100 + 10);
	assert_int_equal(server()->bytes_in, 200);
	assert_int_equal(server()->read_ns, 30);
	check_begun(0);
}

static void test_an_end_of_file_and_failures_are_no_data(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, -EAGAIN);
	conn_read(1, 5, 100);
	conn_read(1, 5, 0);
	w_pass(90);
	conn_write(1, 10, 100);
	conn_write(1, 10, -EPIPE);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 105);
	check_begun(0);
}

static void test_a_request_without_an_answer_is_not_one(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	conn_gone(1);
	assert_int_equal(server()->count, 0);
	assert_int_equal(server()->unanswered, 1);
	check_begun(0);
}

static void test_a_connection_of_a_client_is_measured_from_write_to_read(void **state)
{
	w_thread(5);
	conn_connect(2, -EINPROGRESS);
	w_pass(100);
	conn_write(2, 30, 64);
	w_pass(500);
	conn_read(2, 20, 128);
	w_pass(100);
	conn_write(2, 30, 64);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->count, 1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->sum_ns, 30 + 500 + 20);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->bytes_in, 64);
	assert_int_equal(count(HB_REQ_CONNECTED), 1);
	check_begun(1);
}

/* Each reading of the clock takes 7 ns here, as if the programs did: nothing of it is the request's. */
static void test_what_the_programs_themselves_take_is_not_the_requests(void **state)
{
	w_thread(5);
	conn_accept(1);
	kernel.clock_step = 7;
	conn_read(1, 50, 100);
	w_pass(1000);
	conn_read(1, 50, 100);
	conn_says("HTTP/1.1 100 Continue\r\n");
	conn_write(1, 20, 25);
	conn_says("HTTP/1.1 200 OK\r\n");
	conn_write(1, 20, 40);
	w_pass(300);
	conn_write(1, 20, 60);
	w_pass(5000);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	/* Between two readings of different programs lies a step that is the kernel's way. */
	assert_int_equal(server()->sum_ns, 1000 + 50 + 20 + 20 + 300 + 20 + 8 * 7);
	check_no_loss();
}

static void test_what_the_programs_take_is_not_a_clients_either(void **state)
{
	w_thread(5);
	conn_connect(2, 0);
	kernel.clock_step = 7;
	conn_write(2, 30, 64);
	conn_write(2, 30, 64);
	w_pass(500);
	conn_read(2, 20, 128);
	w_pass(100);
	conn_write(2, 30, 64);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->count, 1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40002)->sum_ns, 30 + 30 + 500 + 20 + 5 * 7);
	check_no_loss();
}

static void test_a_server_that_speaks_first_pushes(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_write(1, 5, 30);
	conn_read(1, 5, 100);
	w_pass(95);
	conn_write(1, 5, 30);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_PUSHES), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 100);
}

static void test_a_pause_in_an_answer_is_said(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	conn_write(1, 5, 30);
	w_pass(HB_REQ_PAUSE_NS + 1);
	conn_write(1, 5, 30);
	conn_gone(1);
	assert_int_equal(server()->paused, 1);
	assert_int_equal(server()->sum_ns, HB_REQ_PAUSE_NS + 11);
}

/* ---- connections ---- */

static void test_a_connection_found_open_is_set_apart_until_a_clean_boundary(void **state)
{
	u32 port = PORT, one = 1;

	kernel__map_set(HOST_MAP(REQ_PORTS), &port, &one);
	w_thread(5);
	conn_read(1, 5, 100); /* the middle of a body, perhaps */
	w_pass(100);
	conn_write(1, 5, 100);
	conn_read(1, 5, 100);
	w_pass(100);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_FOUND), 1);
	assert_int_equal(count(HB_REQ_OLD_EXCHANGES), 1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 105);
	check_begun(0);
}

static void test_a_connection_found_open_from_a_port_nobody_listens_on_is_a_clients(void **state)
{
	w_thread(5);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	w_pass(80);
	conn_read(1, 5, 100);
	conn_write(1, 5, 100);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40001)->count, 1);
	assert_int_equal(row_of(HB_REQ_CLIENT, 40001)->sum_ns, 90);
	assert_int_equal(server()->count, 0);
}

static void test_a_duplicated_descriptor_is_the_same_connection(void **state)
{
	w_thread(5);
	conn_accept(1);
	fd_table[3] = fd_table[1];
	conn_read(1, 5, 100);
	w_pass(95);
	conn_write(3, 5, 100);
	conn_read(3, 5, 100);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 100);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
	check_begun(1);
}

/* dup2() or close() in another thread, which then has it for something else. */
static void test_a_call_is_of_the_descriptor_as_it_was_at_its_begin(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_accept(2);
	enter_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, 1);
	w_pass(5000);
	fd_table[1] = &conns[2].file;
	leave_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, 100);
	fd_table[3] = &conns[1].file;
	w_pass(45);
	enter_call(HB_REQ_OP_WRITE | HB_REQ_OP_BUF, 3);
	fd_table[3] = NULL;
	w_pass(5);
	leave_call(HB_REQ_OP_WRITE | HB_REQ_OP_BUF, 100);
	conn_gone(2);
	assert_int_equal(server()->unanswered, 0);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_no_loss();
	check_begun(0);
}

static void test_what_has_no_socket_is_not_kept_until_it_returns(void **state)
{
	w_thread(5);
	conns[1].inode.i_mode = S_IFREG;
	enter_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, 1);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CALLS)), 0);
	leave_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, 100);
	check_no_loss();
}

static void test_a_descriptor_used_again_is_another_connection(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	fd_table[1] = &conns[2].file;
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	conn_gone(2);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	assert_int_equal(server()->unanswered, 1);
	check_begun(0);
}

static void test_a_socket_at_the_address_of_one_whose_end_was_not_seen_is_new(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(45);
	conn_write(1, 5, 100);
	conns[1].inode.i_ino += 1000;
	conn_accept(1);
	assert_int_equal(count(HB_REQ_CLOSED), 1);
	assert_int_equal(server()->count, 1);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_CLOSED), 2);
	check_begun(0);
}

static void test_files_and_other_sockets_are_no_connections(void **state)
{
	w_thread(5);
	conns[1].inode.i_mode = S_IFREG;
	conns[2].sk.__sk_common.skc_family = 1;
	conns[3].socket.type = 2;
	conns[4].sk.__sk_common.skc_family = 16;
	for (u32 fd = 1; fd <= 4; fd++) {
		conn_read(fd, 5, 10);
		conn_write(fd, 5, 10);
	}
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
	assert_int_equal(count(HB_REQ_UNIX), 2);
	assert_int_equal(count(HB_REQ_DATAGRAM), 2);
	assert_int_equal(count(HB_REQ_OTHER), 2);
	conn_accept(2); /* no data */
	conn_connect(3, 0);
	assert_int_equal(count(HB_REQ_UNIX), 2);
	assert_int_equal(count(HB_REQ_DATAGRAM), 2);
	check_no_loss();
}

static void test_splice_goes_to_the_socket_at_either_end(void **state)
{
	struct sys_enter in = {.arg = {1, 0, 4}}, out = {.arg = {4, 0, 1}};
	u64 cookie = HB_REQ_OP_READ | HB_REQ_OP_SPLICE;

	w_thread(5);
	conns[4].inode.i_mode = 0010000; /* a pipe */
	conn_accept(1);
	run_current();
	kernel.cookie = cookie;
	hb_req_enter(&in);
	leave_call(cookie, 100);
	w_pass(60);
	run_current();
	kernel.cookie = cookie;
	hb_req_enter(&out);
	leave_call(cookie, 30);
	conn_gone(1);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 60);
	assert_int_equal(server()->bytes_in, 100);
	assert_int_equal(server()->bytes_out, 30);
}

static void test_other_processes_are_not_looked_at(void **state)
{
	w_thread(5)->tgid = W_TGID + 1;
	conn_accept(1);
	conn_read(1, 5, 100);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CALLS)), 0);
}

static void test_nothing_is_seen_before_recording_begins(void **state)
{
	w_thread(5);
	recording = false;
	enter_call(HB_REQ_OP_READ, 1);
	recording = true;
	leave_call(HB_REQ_OP_READ, 100); /* of a call that has no entry */
	assert_int_equal(kernel__map_nr(HOST_MAP(REQ_CONNS)), 0);
	check_no_loss();
}

static void test_an_accept_that_waited_before_recording_began_is_one(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(45);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
	assert_int_equal(count(HB_REQ_FOUND), 0);
	assert_int_equal(server()->count, 1);
	assert_int_equal(server()->sum_ns, 50);
	check_begun(0);
}

/* ---- losses ---- */

static void test_full_connections_are_counted(void **state)
{
	w_thread(5);
	kernel__map_resize(HOST_MAP(REQ_CONNS), 1);
	conn_accept(1);
	conn_accept(2);
	conn_read(2, 5, 100);
	assert_int_equal(count(HB_REQ_CONNS_FULL), 2);
	assert_int_equal(count(HB_REQ_ACCEPTED), 1);
}

static void test_full_calls_are_counted(void **state)
{
	w_thread(5);
	kernel__map_resize(HOST_MAP(REQ_CALLS), 0);
	conn_accept(1);
	conn_read(1, 5, 100);
	assert_int_equal(count(HB_REQ_CALLS_FULL), 1);
	assert_int_equal(count(HB_REQ_BEGUN), 0);
}

static void test_a_task_that_cannot_be_remembered_is_counted(void **state)
{
	struct codec c = codec_of(W_NATIVE, 3);

	w_thread(5);
	conn_accept(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(REQ_TASKS), 0, 1, -ENOMEM);
	conn_read(1, 5, 100);
	call(&c, 100);
	assert_int_equal(count(HB_REQ_TASKS_FULL), 1);
	assert_int_equal(count(HB_REQ_UNTIED_CALLS), 1);
}

static void test_requests_without_a_row_go_to_the_common_one(void **state)
{
	w_thread(5);
	next_req_row = HB_REQ_ROWS - 1;
	conn_accept(1);
	conn_read(1, 5, 100);
	w_pass(95);
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_ROWS_FULL), 1);
	assert_int_equal(row_at(0)->count, 1);
	assert_int_equal(row_at(0)->sum_ns, 100);
}

static void test_a_table_of_files_that_does_not_have_the_descriptor_is_counted(void **state)
{
	w_thread(5);
	conn_accept(1);
	fdt.max_fds = 0;
	conn_read(1, 5, 100);
	fdt.max_fds = FDS;
	fd_table[1] = NULL;
	conn_read(1, 5, 100);
	assert_int_equal(count(HB_REQ_UNREADABLE), 2);
}

static void test_a_clock_that_goes_back_is_counted(void **state)
{
	w_thread(5);
	conn_accept(1);
	conn_read(1, 5, 100);
	kernel.now_ns -= 1000;
	conn_write(1, 5, 100);
	conn_gone(1);
	assert_int_equal(count(HB_REQ_CLOCK_BACK), 1);
	assert_int_equal(server()->count, 0);
	check_begun(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_request_lasts_from_its_read_to_its_last_write),
		T(test_closing_completes_the_last_request),
		T(test_a_body_in_several_reads_is_one_request),
		T(test_an_end_of_file_and_failures_are_no_data),
		T(test_a_request_without_an_answer_is_not_one),
		T(test_a_connection_of_a_client_is_measured_from_write_to_read),
		T(test_what_the_programs_themselves_take_is_not_the_requests),
		T(test_what_the_programs_take_is_not_a_clients_either),
		T(test_a_server_that_speaks_first_pushes),
		T(test_a_pause_in_an_answer_is_said),
		T(test_a_connection_found_open_is_set_apart_until_a_clean_boundary),
		T(test_a_connection_found_open_from_a_port_nobody_listens_on_is_a_clients),
		T(test_a_duplicated_descriptor_is_the_same_connection),
		T(test_a_call_is_of_the_descriptor_as_it_was_at_its_begin),
		T(test_what_has_no_socket_is_not_kept_until_it_returns),
		T(test_a_descriptor_used_again_is_another_connection),
		T(test_a_socket_at_the_address_of_one_whose_end_was_not_seen_is_new),
		T(test_files_and_other_sockets_are_no_connections),
		T(test_splice_goes_to_the_socket_at_either_end),
		T(test_other_processes_are_not_looked_at),
		T(test_nothing_is_seen_before_recording_begins),
		T(test_an_accept_that_waited_before_recording_began_is_one),
		T(test_full_connections_are_counted),
		T(test_full_calls_are_counted),
		T(test_a_task_that_cannot_be_remembered_is_counted),
		T(test_requests_without_a_row_go_to_the_common_one),
		T(test_a_table_of_files_that_does_not_have_the_descriptor_is_counted),
		T(test_a_clock_that_goes_back_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
