// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * req.bpf.c - requests: system calls on the TCP sockets of traced processes, as exchanges on connections.
 * One program at the entry of each system call that moves data or makes connections, one at its exit
 * (which of them it is tells the cookie), and one where the kernel destroys a TCP socket. Attached
 * with --requests only: every process's calls of that name pass here, so whose it is comes first.
 *
 * A connection is the kernel's struct sock, not a descriptor: dup(), descriptors used again, and those
 * passed to another process need no care, and closing is seen where the socket ends. What is no socket
 * is told by the mode of its inode.
 *
 * What lies inside an exchange: see req.h. The first byte in is there when the system call that brought
 * it returns (or, for a client, before the one that sends it); the last byte out has left when its system
 * call returns, with all that the loopback device does in it. The programs here read the clock first and
 * last: the interval begins when the last one before it is done, and ends when the first one after it
 * begins, and what those within it take is measured each time and subtracted (conn_charge()). What is
 * left of them is the kernel's way to a program and back.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>
#include <hbprof/req.h>

#include "shared.bpf.h"
#include "arch.bpf.h"
#include "reqcgo.bpf.h"
#include "reqconn.bpf.h"
#include "reqqueue.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/linux/socket.h, include/linux/net.h, include/uapi/linux/stat.h, errno-base.h, errno.h */
#define AF_UNIX	      1
#define AF_INET	      2
#define AF_INET6      10
#define SOCK_STREAM   1
#define SOCK_DGRAM    2
#define S_IFMT	      0170000
#define S_IFSOCK      0140000
#define EINPROGRESS   115
#define IPPROTO_MPTCP 262
#define MSG_PEEK      2
#define MSG_ERRQUEUE  0x2000
#define MSG_FASTOPEN  0x20000000

/* System calls that threads are in. A full map is HB_REQ_CALLS_FULL. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64); /* process id << 32 | thread id */
	__type(value, struct hb_req_call);
} req_calls SEC(".maps");

/* Written by user space. */
bool req_go;	  /* there is Go code: a task is a goroutine, where one runs */
u32 req_goid_off; /* offset of g.goid, 0: not known */

/* Read by user space: io_urings that traced processes have set up. */
u32 req_urings;

/* The contexts, kernel/trace/trace_syscalls.c: struct syscall_tp_t of perf_call_bpf_enter(), _exit(). */
struct sys_enter {
	u64 common;
	u64 nr;
	u64 arg[6];
};

struct sys_exit {
	u64 common;
	u64 nr;
	s64 ret;
};

/* The process index, with HB_REQ_CHILD for what such a process has forked; -1 when it is not traced or
 * nothing is recorded. */
static __always_inline int req_proc(u32 tgid)
{
	int index = recording ? target_index(tgid) : -1;
	u32 *parent;

	if (index >= 0 || !cfg_req_children || !nr_req_children || !recording)
		return index;
	parent = bpf_map_lookup_elem(&req_children, &tgid);
	return parent ? (int)(*parent | HB_REQ_CHILD) : -1;
}

/* ---- sockets ------------------------------------------------------------------------------- */

/* No TCP socket: which kind is seen is counted, as the report says what it does not cover. */
static __always_inline void count_other(u32 family, u32 type)
{
	if (family == AF_UNIX)
		req_count_n(HB_REQ_UNIX, 1);
	else if (type == SOCK_DGRAM)
		req_count_n(HB_REQ_DATAGRAM, 1);
	else
		req_count_n(HB_REQ_OTHER, 1);
}

/* NULL: the table has no such descriptor. */
static __always_inline struct file *fd_file(u64 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL, **table;

	if (!fdt || fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	table = BPF_CORE_READ(fdt, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &table[fd]);
	return file;
}

static __always_inline bool is_sock(const struct file *file)
{
	return file && (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK;
}

/* The TCP socket behind the file of one. 0, or -1: it is none of TCP. */
__noinline int hb_req_sock(u64 at, struct conn_id *id, u32 op)
{
	struct file *file = (void *)at;
	struct socket *sock;
	struct sock *sk;
	u32 family, type;

	if (!id)
		return -1;
	sock = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(sock, sk);
	if (!sk) {
		req_count_n(HB_REQ_UNREADABLE, 1);
		return -1;
	}
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	type = (u16)BPF_CORE_READ(sock, type);
	if ((family != AF_INET && family != AF_INET6) || type != SOCK_STREAM) {
		if (op <= HB_REQ_OP_WRITE)
			count_other(family, type);
		return -1;
	}
	id->sk = (u64)sk;
	id->ino = BPF_CORE_READ(file, f_inode, i_ino);
	id->lport = BPF_CORE_READ(sk, __sk_common.skc_num);
	id->rport = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	/* connect() without waiting: refused before it has returned. */
	return op == HB_REQ_OP_CONNECT && BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_CLOSE ? -1
												: 0;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

/* Is this a goroutine whose stack the system call was made on? */
static __always_inline bool runs_on(u64 g, u64 sp)
{
	u64 stack[2];

	return g && !bpf_probe_read_user(stack, sizeof(stack), (void *)g) && sp >= stack[0] &&
	       sp < stack[1];
}

/* The task that makes this system call, as codec.bpf.c names it: the goroutine, which Go keeps in a
 * register and in thread-local storage, where SP is on its stack; the one that has called C code; else the
 * thread. */
static __always_inline void this_task(u64 pid_tgid, struct hb_frame_key *key, u64 *goid)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	u64 sp = arch_sp(regs), g = arch_g(regs);

	key->tgid = pid_tgid >> 32;
	key->task = (u32)pid_tgid;
	*goid = 0;
	if (!req_go)
		return;
	if (!runs_on(g, sp) && (arch_tls_g(&g) || !runs_on(g, sp))) {
		g = cgo_goroutine(key->tgid, goid);
		if (g)
			key->task = g;
		return;
	}
	key->task = g;
	if (req_goid_off)
		bpf_probe_read_user(goid, sizeof(*goid), (void *)(g + req_goid_off));
}

/* Has this task read an earlier exchange of the same connection, too? Without a goroutine's id, an earlier one's
 * entry would be taken for its own. */
static __always_inline bool reads_on(const struct hb_req_task *rt, u64 goid,
				     const struct hb_req_conn *c, const struct conn_id *id)
{
	const struct hb_req_tie *tie;

	if (!rt || !goid || rt->goid != goid)
		return false;
	tie = &rt->tie[HB_REQ_SERVER];
	return tie->sk == id->sk && tie->ino == id->ino && tie->seq < c->seq;
}

/*
 * net/http reads ahead while a handler runs, in a goroutine of its own (connReader.backgroundRead()); over TLS
 * that may take all of the next request, which the other one then serves without a read. So that one, which
 * has read from this connection last, goes along to the new exchange. In the clear it is one byte, and the rest
 * is read by who serves. Nor does anybody go along with one that goes on reading: it was handed the connection.
 */
static __always_inline void take_along(struct hb_req_conn *c, const struct conn_id *id,
				       const struct hb_frame_key *by, bool own)
{
	struct hb_frame_key key = {.tgid = by->tgid, .task = c->reader};
	struct hb_req_task *rt;
	struct hb_req_tie *tie;

	if (c->side != HB_REQ_SERVER || by->task == c->reader)
		return;
	/* Threads have small numbers: none of them reads for another. */
	own |= !(c->flags & HB_REQ_TLS) || !(key.task >> 32);
	rt = own ? NULL : bpf_map_lookup_elem(&req_tasks, &key);
	tie = rt ? &rt->tie[HB_REQ_SERVER] : NULL;
	if (!tie || tie->sk != id->sk || tie->ino != id->ino || tie->seq + 1 < c->seq)
		c->reader = by->task;
	else
		tie->seq = c->seq;
}

/* What a task calls from here on belongs to the exchange of this connection. */
__noinline int hb_req_tie(struct hb_req_conn *c, const struct conn_id *id, u64 pid_tgid)
{
	struct hb_req_task empty = {}, *rt;
	struct hb_frame_key key = {};
	struct hb_req_tie *tie;
	u64 goid;

	if (!c || !id)
		return 0;
	this_task(pid_tgid, &key, &goid);
	rt = bpf_map_lookup_elem(&req_tasks, &key);
	take_along(c, id, &key, reads_on(rt, goid, c, id));
	if (!rt) {
		bpf_map_update_elem(&req_tasks, &key, &empty, BPF_NOEXIST);
		rt = bpf_map_lookup_elem(&req_tasks, &key);
	}
	if (!rt) {
		req_count_n(HB_REQ_TASKS_FULL, 1);
		return 0;
	}
	if (rt->goid != goid)
		rt->tie[0].sk = rt->tie[1].sk = rt->root = 0;
	rt->goid = goid;
	tie = &rt->tie[BOUNDED(c->side, 1)];
	tie->sk = id->sk;
	tie->ino = id->ino;
	tie->seq = c->seq;
	return 0;
}

/* ---- system calls ---------------------------------------------------------------------------- */

static __always_inline int on_data(const struct conn_id *id, struct hb_req_conn *c,
				   const struct io *io)
{
	bool in = (io->op == HB_REQ_OP_READ) == (c->side == HB_REQ_SERVER);

	bool begun = in && conn_in(c, io);

	if (!in)
		conn_out(c, io);
	if (io->op == HB_REQ_OP_READ)
		hb_req_tie(c, id, io->pid_tgid);
	conn_charge(c, io, in, begun);
	return 0;
}

static __always_inline void remember_port(u16 port)
{
	u32 key = port, one = 1;

	if (!bpf_map_lookup_elem(&req_ports, &key))
		bpf_map_update_elem(&req_ports, &key, &one, BPF_ANY);
}

/* The MSG_ flags of a system call. The fourth argument is read by a helper: a program that does so itself cannot
 * be attached where there are but three. */
static __always_inline u64 msg_flags(const struct sys_enter *ctx, u64 cookie)
{
	u64 flags = 0;

	if (cookie & HB_REQ_OP_MSG)
		bpf_probe_read_kernel(&flags, sizeof(flags), &ctx->arg[2]);
	else if (cookie & HB_REQ_OP_RECV)
		bpf_probe_read_kernel(&flags, sizeof(flags), &ctx->arg[3]);
	return flags;
}

/*
 * The socket of a system call, as its descriptor is now: another thread may put something else there before the
 * call returns, which goes on with what it has begun with. That has its file as long. false: there is no socket.
 * splice(2) has one at either end, the other is a pipe.
 */
static __always_inline bool find_sock(const struct sys_enter *ctx, u64 cookie,
				      struct hb_req_call *call)
{
	struct file *file = fd_file((u32)ctx->arg[0]);

	if (!is_sock(file) && cookie & HB_REQ_OP_SPLICE) {
		u64 out = 0;

		bpf_probe_read_kernel(&out, sizeof(out), &ctx->arg[2]);
		file = fd_file((u32)out);
		call->out = 1;
	}
	call->file = (u64)file;
	/* Without a file it fails, or was not readable: who returns with data tells. */
	return !file || is_sock(file);
}

SEC("tp")
int hb_req_enter(struct sys_enter *ctx)
{
	u64 pid_tgid = current_pid_tgid(), begin_ns, now;
	struct hb_req_call call = {}, *kept;
	u64 cookie, flags;

	if (req_proc(pid_tgid >> 32) < 0)
		return 0;
	begin_ns = bpf_ktime_get_ns();
	cookie = bpf_get_attach_cookie(ctx);
	flags = msg_flags(ctx, cookie);
	/* A look at data that stays to be read, or at what became of data sent, is no transfer. */
	if ((cookie & 3) == HB_REQ_OP_READ && flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	if (!find_sock(ctx, cookie, &call))
		return 0;
	call.opens = (cookie & 3) == HB_REQ_OP_WRITE && flags & MSG_FASTOPEN;
	if (cookie & (HB_REQ_OP_BUF | HB_REQ_OP_IOV | HB_REQ_OP_MSG | HB_REQ_OP_MMSG))
		call.buf = ctx->arg[1];
	if (bpf_map_update_elem(&req_calls, &pid_tgid, &call, BPF_ANY)) {
		req_count_n(HB_REQ_CALLS_FULL, 1);
		return 0;
	}
	kept = bpf_map_lookup_elem(&req_calls, &pid_tgid);
	if (!kept)
		return 0;
	now = bpf_ktime_get_ns();
	kept->prog_ns = now - begin_ns;
	kept->t0_ns = now;
	return 0;
}

/* Has the system call moved data, or made a connection? */
static __always_inline bool io_done(u32 op, s64 ret)
{
	if (op == HB_REQ_OP_CONNECT)
		return !ret || ret == -EINPROGRESS;
	return op == HB_REQ_OP_ACCEPT ? ret >= 0 : ret > 0;
}

/* 0, and the TCP socket of a system call; -1: it is none. */
static __always_inline int io_sock(const struct hb_req_call *call, s64 ret, struct io *io,
				   struct conn_id *id)
{
	struct file *file = (void *)call->file;

	if (io->op == HB_REQ_OP_ACCEPT)
		file = fd_file(ret);
	if (!is_sock(file)) {
		req_count_n(HB_REQ_UNREADABLE, 1);
		return -1;
	}
	if (call->out)
		io->op = HB_REQ_OP_WRITE;
	return hb_req_sock((u64)file, id, io->op);
}

/* user_msghdr, mmsghdr and iovec of include/linux/socket.h, include/uapi/linux/uio.h. */
struct user_iov {
	u64 base, len;
};
#define MSG_IOV_OFF   16
#define MMSG_LEN_OFF  56
#define MMSG_BYTES    64
#define MMSG_MESSAGES 64 /* more of them in one call are not looked at */

/* What sendmmsg(2) and recvmmsg(2) return are messages; how long each was stands behind it. */
__noinline int hb_req_mmsg(struct io *io)
{
	u64 bytes = 0;
	u32 len = 0;

	if (!io)
		return 0;
	for (u32 i = 0; i < MMSG_MESSAGES && i < io->bytes; i++) {
		void *at = (void *)(io->buf + i * MMSG_BYTES + MMSG_LEN_OFF);

		if (bpf_probe_read_user(&len, sizeof(len), at))
			break;
		bytes += len;
	}
	io->bytes = bytes;
	return 0;
}

/* Where the data is, and how much of it is in one piece: of a vector, the first part. */
static __always_inline void find_data(struct io *io, u64 cookie)
{
	struct user_iov iov = {};
	u64 at = io->buf;

	if (cookie & HB_REQ_OP_MMSG)
		hb_req_mmsg(io);
	io->have = io->bytes;
	if (!(cookie & (HB_REQ_OP_IOV | HB_REQ_OP_MSG | HB_REQ_OP_MMSG)))
		return;
	io->buf = 0;
	if (cookie & (HB_REQ_OP_MSG | HB_REQ_OP_MMSG) &&
	    bpf_probe_read_user(&at, sizeof(at), (void *)(at + MSG_IOV_OFF)))
		return;
	if (bpf_probe_read_user(&iov, sizeof(iov), (void *)at))
		return;
	io->buf = iov.base;
	if (iov.len < io->have)
		io->have = iov.len;
}

static __always_inline int on_io(const struct hb_req_call *call, u64 cookie, s64 ret, struct io *io)
{
	struct conn_id id = {};
	struct hb_req_conn *c;

	if (io_sock(call, ret, io, &id))
		return 0;
	c = call->opens ? conn_open(&id, io) : conn_get(&id, io);
	if (!c)
		return 0;
	if (io->op == HB_REQ_OP_ACCEPT) {
		remember_port(id.lport);
		queue_leave(id.sk, c, io->exit_ns);
	}
	if (io->op > HB_REQ_OP_WRITE)
		return 0;
	find_data(io, cookie);
	if (!io->bytes)
		return 0; /* messages, and none with data */
	return on_data(&id, c, io);
}

SEC("tp")
int hb_req_exit(struct sys_exit *ctx)
{
	u64 pid_tgid = current_pid_tgid(), cookie, now;
	int proc = req_proc(pid_tgid >> 32);
	struct hb_req_call *found, call = {};
	s64 ret = ctx->ret;
	struct io io = {};

	if (proc < 0)
		return 0;
	now = bpf_ktime_get_ns();
	cookie = bpf_get_attach_cookie(ctx);
	io.op = cookie & 3;
	found = bpf_map_lookup_elem(&req_calls, &pid_tgid);
	if (found) {
		call = *found;
		bpf_map_delete_elem(&req_calls, &pid_tgid);
	} else if (io.op != HB_REQ_OP_ACCEPT) {
		/* Entered before recording began, or counted as without room. What accept() returns
		 * needs no entry, and servers wait in it. */
		return 0;
	}
	if (call.opens && ret == -EINPROGRESS)
		io.op = HB_REQ_OP_CONNECT;
	if (!io_done(io.op, ret))
		return 0;
	io.exit_ns = now;
	io.enter_ns = call.t0_ns;
	io.prog_ns = call.prog_ns;
	io.buf = call.buf;
	io.bytes = ret;
	io.pid_tgid = pid_tgid;
	io.proc = proc;
	return on_io(&call, cookie, ret, &io);
}

/* Behind io_uring_setup(2): what moves by it passes none of the programs above. */
SEC("tp")
int hb_req_uring(struct sys_exit *ctx)
{
	if (ctx->ret >= 0 && req_proc(current_pid_tgid() >> 32) >= 0)
		__sync_fetch_and_add(&req_urings, 1);
	return 0;
}

/*
 * A socket of Multipath TCP is several of TCP, and tcp_destroy_sock is of those. It is over when it is closed
 * and nobody has it open any more; or closed once more, as close() does with one that was reset while it
 * was open (net/mptcp/protocol.c, __mptcp_close()).
 */
static __always_inline void on_multipath_closed(struct sock *sk, int from)
{
	u64 key = (u64)sk;
	struct hb_req_conn *c;

	if (from != TCP_CLOSE && BPF_CORE_READ(sk, sk_socket))
		return;
	queue_drop(key);
	c = bpf_map_lookup_elem(&req_conns, &key);
	if (c)
		conn_end(key, c);
}

/* connect() did not wait for it, and nobody has answered. */
static __always_inline void on_refused(struct sock *sk)
{
	u64 key = (u64)sk;

	if (!bpf_map_delete_elem(&req_conns, &key))
		req_count_n(HB_REQ_CONNECTED, -1ULL);
}

/* Args: include/trace/events/sock.h. Runs in whatever task is interrupted, but for listen(), which is the
 * caller's own: whoever starts to listen while requests are recorded. */
SEC("raw_tp/inet_sock_set_state")
int hb_req_state(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];
	int from = (int)ctx->args[1], to = (int)ctx->args[2];

	if (!recording)
		return 0;
	if (to == TCP_ESTABLISHED && (from == TCP_SYN_RECV || from == TCP_LISTEN))
		queue_add((u64)sk, BPF_CORE_READ(sk, __sk_common.skc_num));
	else if (from == TCP_SYN_SENT && to == TCP_CLOSE)
		on_refused(sk);
	else if (to == TCP_CLOSE && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_MPTCP)
		on_multipath_closed(sk, from);
	else if (to == TCP_LISTEN && req_proc(current_pid_tgid() >> 32) >= 0)
		remember_port(BPF_CORE_READ(sk, __sk_common.skc_num));
	return 0;
}

/* Args: include/trace/events/tcp.h. Runs in whatever task is interrupted, for every process's sockets. */
SEC("raw_tp/tcp_destroy_sock")
int hb_req_gone(struct bpf_raw_tracepoint_args *ctx)
{
	u64 sk = ctx->args[0];
	struct hb_req_conn *c;

	if (!recording)
		return 0;
	queue_drop(sk);
	c = bpf_map_lookup_elem(&req_conns, &sk);
	if (c)
		conn_end(sk, c);
	return 0;
}
