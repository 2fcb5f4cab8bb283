/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_requests.c - exchanges on connections as bpf/req.bpf.c sees them, the tie of codec calls to
 * them (bpf/reqcall.bpf.h), and what becomes of those for which there is no room.
 *
 * A connection here is the kernel's structs around a socket; conn_read() and the like are the system
 * calls of the current task, with the two tracepoints that they pass.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#include <errno.h>
#include <string.h>

#define D1	 0x100
#define D2	 0x200
#define BUF	 0x7000000000ULL
#define BUF_LEN	 4096
#define FDS	 8
#define PORT	 8080
#define S_IFSOCK 0140000
#define S_IFREG	 0100000

/* The contexts, as req.bpf.c has them. */
struct sys_enter {
	u64 common, nr, arg[6];
};
struct sys_exit {
	u64 common, nr;
	s64 ret;
};

/* A descriptor's file and what is behind it. */
struct conn {
	struct inode inode;
	struct file file;
	struct socket socket;
	struct sock sk;
};

static struct conn conns[FDS];
static struct file *fd_table[FDS];
static struct fdtable fdt = {.max_fds = FDS, .fd = fd_table};
static struct files_struct files = {.fdt = &fdt};

static int setup(void **state)
{
	static u64 ino = 100;
	int err = w_init(state);

	memset(conns, 0, sizeof(conns));
	for (u32 i = 0; i < FDS; i++) {
		struct conn *c = &conns[i];

		c->inode.i_mode = S_IFSOCK;
		c->inode.i_ino = ++ino;
		c->file.f_inode = &c->inode;
		c->file.private_data = &c->socket;
		c->socket.type = 1;
		c->socket.sk = &c->sk;
		c->sk.__sk_common.skc_family = 2;
		c->sk.__sk_common.skc_num = PORT;
		c->sk.__sk_common.skc_dport = __builtin_bswap16((u16)(40000 + i));
		fd_table[i] = &c->file;
	}
	kernel.task.files = &files;
	kernel__user_add(BUF, BUF_LEN);
	kernel__user_write(BUF, "POST / HTTP/1.1", 16);
	cfg_requests = true;
	return err;
}

/* ---- system calls ---- */

static void run_current(void)
{
	kernel.pid_tgid = (u64)w.cur->tgid << 32 | w.cur->tid;
}

static void enter_call(u64 cookie, u64 fd)
{
	struct sys_enter ctx = {.arg = {fd, BUF}};

	run_current();
	kernel.cookie = cookie;
	hb_req_enter(&ctx);
}

static void leave_call(u64 cookie, s64 ret)
{
	struct sys_exit ctx = {.ret = ret};

	run_current();
	kernel.cookie = cookie;
	hb_req_exit(&ctx);
}

static void sys_call(u64 cookie, u64 fd, u64 ns, s64 ret)
{
	enter_call(cookie, fd);
	w_pass(ns);
	leave_call(cookie, ret);
}

/* Its entry is not looked at. */
static void conn_accept(u32 fd)
{
	w_pass(10);
	leave_call(HB_REQ_OP_ACCEPT, fd);
}

static void conn_connect(u32 fd, s64 ret)
{
	sys_call(HB_REQ_OP_CONNECT, fd, 10, ret);
}

static void conn_read(u32 fd, u64 ns, s64 ret)
{
	sys_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, fd, ns, ret);
}

static void conn_write(u32 fd, u64 ns, s64 ret)
{
	sys_call(HB_REQ_OP_WRITE | HB_REQ_OP_BUF, fd, ns, ret);
}

static void conn_says(const char *bytes)
{
	kernel__user_write(BUF, bytes, strlen(bytes) + 1);
}

/* Two records, by type and length; a type 0 is none. */
static void tls_says(u8 a, u8 a_len, u8 b, u8 b_len)
{
	u8 first[] = {a, 3, 3, 0, a_len}, second[] = {b, 3, 3, 0, b_len};

	kernel__user_write(BUF, first, sizeof(first));
	if (b)
		kernel__user_write(BUF + sizeof(first) + a_len, second, sizeof(second));
}

static void conn_gone(u32 fd)
{
	struct {
		u64 sk;
	} args = {(u64)&conns[fd].sk};

	hb_req_gone((struct bpf_raw_tracepoint_args *)&args);
}

/* ---- results ---- */

static u64 count(u32 what)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += *(u64 *)kernel__map_at(HOST_MAP(REQ_COUNTS), cpu, &what);
	return n;
}

static struct hb_req_row *row_at(u32 i)
{
	return kernel__map_at(HOST_MAP(REQ_ROWS), 0, &i);
}

/* The row of a port; an empty one if there is none. */
static struct hb_req_row *row_of(u8 side, u16 port)
{
	static struct hb_req_row none;
	struct hb_req_key key = {.side = side, .port = port};
	u32 *i = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);

	return i ? row_at(*i) : &none;
}

static struct hb_req_row *server(void)
{
	return row_of(HB_REQ_SERVER, PORT);
}

/* Every exchange that began is accounted for, once those that are open are. */
static void check_begun(u64 open)
{
	u64 requests = 0, unanswered = 0;

	for (u32 i = 0; i <= next_req_row; i++) {
		requests += row_at(i)->count;
		unanswered += row_at(i)->unanswered;
	}
	assert_int_equal(count(HB_REQ_UNANSWERED), unanswered);
	assert_int_equal(count(HB_REQ_BEGUN), requests + unanswered + count(HB_REQ_HANDSHAKES) +
						      count(HB_REQ_CLOCK_BACK) + open);
}

static void check_no_loss(void)
{
	for (u32 i = 0; i < HB_REQ_LOSS_NR; i++)
		assert_int_equal(count(i), 0);
}

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

/* ---- the tie ---- */

struct codec {
	u16 f;
	u64 ra;
};

static struct codec codec_of(u32 image, u8 group)
{
	struct codec c;

	c.f = W_FUNC(.image = image, .f.group = group);
	c.ra = w_ra(c.f);
	req_codec_groups |= 1ULL << group;
	return c;
}

static struct hb_image *image_of_go(void)
{
	u32 i = W_GO;

	return kernel__map_at(HOST_MAP(IMAGES), 0, &i);
}

/* The system calls that follow are made on this goroutine's stack. */
static void in_goroutine(const struct w_task *g)
{
	struct regs_of r = {.reg = w.reg, .sp = g->hi - D1, .g = g->g};

	kernel.user = regs_make(&r);
}

static void call(const struct codec *c, u64 ns)
{
	w_ran(c->f, D2, c->ra, ns);
}

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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_request_lasts_from_its_read_to_its_last_write),
		T(test_closing_completes_the_last_request),
		T(test_a_body_in_several_reads_is_one_request),
		T(test_an_end_of_file_and_failures_are_no_data),
		T(test_a_request_without_an_answer_is_not_one),
		T(test_a_connection_of_a_client_is_measured_from_write_to_read),
		T(test_a_server_that_speaks_first_pushes),
		T(test_a_pause_in_an_answer_is_said),
		T(test_a_connection_found_open_is_set_apart_until_a_clean_boundary),
		T(test_a_connection_found_open_from_a_port_nobody_listens_on_is_a_clients),
		T(test_a_duplicated_descriptor_is_the_same_connection),
		T(test_a_descriptor_used_again_is_another_connection),
		T(test_a_socket_at_the_address_of_one_whose_end_was_not_seen_is_new),
		T(test_files_and_other_sockets_are_no_connections),
		T(test_splice_goes_to_the_socket_at_either_end),
		T(test_other_processes_are_not_looked_at),
		T(test_nothing_is_seen_before_recording_begins),
		T(test_an_accept_that_waited_before_recording_began_is_one),
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
		T(test_a_codec_call_belongs_to_what_its_thread_last_read_from),
		T(test_a_goroutine_keeps_its_request_on_any_thread),
		T(test_a_goroutine_in_the_g_of_another_has_not_read),
		T(test_a_call_after_the_answer_is_not_in_its_latency),
		T(test_an_encoder_that_writes_itself_is_in_the_request_up_to_its_last_write),
		T(test_a_codec_inside_a_codec_counts_once),
		T(test_a_request_to_another_server_does_not_take_the_calls_of_its_own),
		T(test_calls_of_a_request_that_is_over_are_late),
		T(test_what_the_probes_cost_is_not_in_a_requests_latency),
		T(test_a_handlers_call_is_a_request_of_its_own_row),
		T(test_full_connections_are_counted),
		T(test_full_calls_are_counted),
		T(test_a_task_that_cannot_be_remembered_is_counted),
		T(test_requests_without_a_row_go_to_the_common_one),
		T(test_a_table_of_files_that_does_not_have_the_descriptor_is_counted),
		T(test_a_clock_that_goes_back_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
