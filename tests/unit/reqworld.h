/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqworld.h - connections for the tests of requests: the kernel's structs around a socket. conn_read() and
 * the like are the system calls of the current task, with the two tracepoints that they pass.
 */
#ifndef HBPROF_TEST_REQWORLD_H
#define HBPROF_TEST_REQWORLD_H

#include "bpf_regs.h"
#include "bpf_world.h"

#include <errno.h>
#include <string.h>

#define D1		0x100
#define D2		0x200
#define BUF		0x7000000000ULL
#define BUF_LEN		4096
#define FDS		8
#define PORT		8080
#define S_IFSOCK	0140000
#define S_IFREG		0100000

#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT	2
#define TCP_SYN_RECV	3
#define TCP_CLOSE	7
#define TCP_LISTEN	10

#define IPPROTO_MPTCP	262

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

static inline int setup(void **state)
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
		c->sk.__sk_common.skc_state = TCP_ESTABLISHED;
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

static inline void run_current(void)
{
	kernel.pid_tgid = (u64)w.cur->tgid << 32 | w.cur->tid;
}

static inline void enter_call(u64 cookie, u64 fd)
{
	struct sys_enter ctx = {.arg = {fd, BUF}};

	run_current();
	kernel.cookie = cookie;
	hb_req_enter(&ctx);
}

static inline void leave_call(u64 cookie, s64 ret)
{
	struct sys_exit ctx = {.ret = ret};

	run_current();
	kernel.cookie = cookie;
	hb_req_exit(&ctx);
}

static inline void sys_call(u64 cookie, u64 fd, u64 ns, s64 ret)
{
	enter_call(cookie, fd);
	w_pass(ns);
	leave_call(cookie, ret);
}

/* Its entry is not looked at. */
static inline void conn_accept(u32 fd)
{
	w_pass(10);
	leave_call(HB_REQ_OP_ACCEPT, fd);
}

static inline void conn_connect(u32 fd, s64 ret)
{
	sys_call(HB_REQ_OP_CONNECT, fd, 10, ret);
}

static inline void conn_read(u32 fd, u64 ns, s64 ret)
{
	sys_call(HB_REQ_OP_READ | HB_REQ_OP_BUF, fd, ns, ret);
}

static inline void conn_write(u32 fd, u64 ns, s64 ret)
{
	sys_call(HB_REQ_OP_WRITE | HB_REQ_OP_BUF, fd, ns, ret);
}

static inline void conn_says(const char *bytes)
{
	kernel__user_write(BUF, bytes, strlen(bytes) + 1);
}

/* Two records, by type and length; a type 0 is none. */
static inline void tls_says(u8 a, u8 a_len, u8 b, u8 b_len)
{
	u8 first[] = {a, 3, 3, 0, a_len}, second[] = {b, 3, 3, 0, b_len};

	kernel__user_write(BUF, first, sizeof(first));
	if (b)
		kernel__user_write(BUF + sizeof(first) + a_len, second, sizeof(second));
}

static inline void conn_gone(u32 fd)
{
	struct {
		u64 sk;
	} args = {(u64)&conns[fd].sk};

	hb_req_gone((struct bpf_raw_tracepoint_args *)&args);
}

/* A socket's state changes: sock:inet_sock_set_state. */
static inline void conn_state(u32 fd, s64 from, s64 to)
{
	struct {
		u64 sk;
		s64 from, to;
	} args = {(u64)&conns[fd].sk, from, to};

	run_current();
	hb_req_state((struct bpf_raw_tracepoint_args *)&args);
}

/* The peer's third packet has come: it stands in the queue of who listens. */
static inline void conn_made(u32 fd)
{
	conn_state(fd, TCP_SYN_RECV, TCP_ESTABLISHED);
}

/* ---- results ---- */

static inline u64 count(u32 what)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += *(u64 *)kernel__map_at(HOST_MAP(REQ_COUNTS), cpu, &what);
	return n;
}

static inline struct hb_req_row *row_at(u32 i)
{
	return kernel__map_at(HOST_MAP(REQ_ROWS), 0, &i);
}

/* The row of a port; an empty one if there is none. */
static inline struct hb_req_row *row_of(u8 side, u16 port)
{
	static struct hb_req_row none;
	struct hb_req_key key = {.side = side, .port = port};
	u32 *i = kernel__map_at(HOST_MAP(REQ_ROW_IDS), 0, &key);

	return i ? row_at(*i) : &none;
}

static inline struct hb_req_row *server(void)
{
	return row_of(HB_REQ_SERVER, PORT);
}

/* Every exchange that began is accounted for, once those that are open are. */
static inline void check_begun(u64 open)
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

static inline void check_no_loss(void)
{
	for (u32 i = 0; i < HB_REQ_LOSS_NR; i++)
		assert_int_equal(count(i), 0);
}

/* ---- codec calls ---- */

struct codec {
	u16 f;
	u64 ra;
};

static inline struct codec codec_of(u32 image, u8 group)
{
	struct codec c;

	c.f = W_FUNC(.image = image, .f.group = group);
	c.ra = w_ra(c.f);
	req_codec_groups |= 1ULL << group;
	return c;
}

static inline struct hb_image *image_of_go(void)
{
	u32 i = W_GO;

	return kernel__map_at(HOST_MAP(IMAGES), 0, &i);
}

/* The system calls that follow are made on this goroutine's stack. */
static inline void in_goroutine(const struct w_task *g)
{
	struct regs_of r = {.reg = w.reg, .sp = g->hi - D1, .g = g->g};

	kernel.user = regs_make(&r);
}

/* ... or on this thread's, by C code. */
static inline void in_thread(const struct w_task *t)
{
	struct regs_of r = {.reg = w.reg, .sp = t->hi - D1};

	kernel.user = regs_make(&r);
}

static inline void call(const struct codec *c, u64 ns)
{
	w_ran(c->f, D2, c->ra, ns);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, w_fini)

#endif
