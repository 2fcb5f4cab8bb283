/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqconn.bpf.h - connections and the exchanges on them: what a byte in and a byte out mean, when an exchange
 * has become a request, and when a connection begins and ends. What an exchange is made of: see req.h.
 * Whose system call it was and which socket it was made on is req.bpf.c's, which alone includes this.
 *
 * Connections can be used by several threads at once; a state that has changed meanwhile is left to whoever
 * changed it.
 */
#ifndef HBPROF_REQCONN_BPF_H
#define HBPROF_REQCONN_BPF_H

#include "shared.bpf.h"
#include "reqmaps.bpf.h"
#include "reqrow.bpf.h"
#include "reqproto.bpf.h"
#include "reqhello.bpf.h"

/* A TCP socket. */
struct conn_id {
	u64 sk;
	u64 ino;
	u16 lport, rport;
};

/* Ports that are listened on: whose side a connection is of that was open before. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536); /* there are no more */
	__type(key, u32);
	__type(value, u32);
} req_ports SEC(".maps");

/* ---- exchanges ------------------------------------------------------------------------------ */

static __always_inline u32 conn_row(struct hb_req_conn *c)
{
	struct hb_req_key key = {};

	if (c->row)
		return c->row;
	key.proc = c->proc;
	key.side = c->side;
	key.port = c->side == HB_REQ_SERVER ? c->lport : c->rport;
	c->row = req_row_find(&key);
	return c->row;
}

static __always_inline void row_add_conn(struct hb_req_row *r, const struct hb_req_conn *c)
{
	__sync_fetch_and_add(&r->bytes_in, c->bytes_in);
	__sync_fetch_and_add(&r->bytes_out, c->bytes_out);
	__sync_fetch_and_add(&r->codec_calls, c->calls);
	__sync_fetch_and_add(&r->read_ns, c->read_ns);
	__sync_fetch_and_add(&r->write_ns, c->write_ns);
	__sync_fetch_and_add(&r->first_sum_ns, c->first_ns);
	req_raise(&r->first_max_ns, c->first_ns);
	if (c->flags & HB_REQ_PAUSED)
		__sync_fetch_and_add(&r->paused, 1);
	if (c->flags & HB_REQ_TLS)
		__sync_fetch_and_add(&r->tls, 1);
	if (c->flags & HB_REQ_TLS && !(c->flags & HB_REQ_TLS_SURE))
		__sync_fetch_and_add(&r->tls_doubt, 1);
	if (c->flags & HB_REQ_STOPPED)
		__sync_fetch_and_add(&r->stopped, 1);
	if (c->waited_ns == ~0ULL)
		return;
	__sync_fetch_and_add(&r->waited, 1);
	__sync_fetch_and_add(&r->waited_sum_ns, c->waited_ns);
	req_raise(&r->waited_max_ns, c->waited_ns);
}

/* Codec calls behind the last byte out were taken for the exchange's own, as more of the answer might
 * have followed. */
static __always_inline void count_late(const struct hb_req_conn *c)
{
	if (!c->late_calls)
		return;
	req_count_n(HB_REQ_TIED_CALLS, -(u64)c->late_calls);
	req_count_n(HB_REQ_TIED_NS, -c->late_ns);
	req_count_n(HB_REQ_LATE_CALLS, c->late_calls);
	req_count_n(HB_REQ_LATE_NS, c->late_ns);
}

static __always_inline void finish_in_window(struct hb_req_conn *c)
{
	u32 proc = c->proc;
	struct hb_req_rate *rate = bpf_map_lookup_elem(&req_rates, &proc);
	struct hb_req_row *r = req_row_at(conn_row(c));

	if (c->window & HB_REQ_WINDOW_MET) {
		req_count_n(HB_REQ_IN_WINDOW, 1);
		if (r)
			__sync_fetch_and_add(&r->in_window, 1);
	}
	if (rate && c->side == HB_REQ_SERVER && c->window & HB_REQ_WINDOW_ENDED)
		__sync_fetch_and_add(&rate->requests, 1);
}

/* The exchange is over, and had an answer: it is a request, unless it was a handshake. */
__noinline int hb_req_finish(struct hb_req_conn *c)
{
	struct hb_req_row *r;
	u64 ns, codec;

	if (!c)
		return 0;
	count_late(c);
	if (c->flags & HB_REQ_HANDSHAKE) {
		req_count_n(HB_REQ_HANDSHAKES, 1);
		return 0;
	}
	if (c->last_ns < c->begin_ns) {
		req_count_n(HB_REQ_CLOCK_BACK, 1);
		return 0;
	}
	if (cfg_rates && c->window) {
		finish_in_window(c);
		if (c->window & HB_REQ_WINDOW_MET)
			return 0;
	}
	r = req_row_at(conn_row(c));
	if (!c->row)
		req_count_n(HB_REQ_ROWS_FULL, 1);
	if (!r)
		return 0;
	ns = c->last_ns - c->begin_ns;
	ns -= c->probe_ns < ns ? c->probe_ns : ns;
	codec = c->codec_ns < ns ? c->codec_ns : ns;
	req_row_add(r, ns, codec);
	if (c->overlap_ns) {
		__sync_fetch_and_add(&r->parallel, 1);
		__sync_fetch_and_add(&r->overlap_ns, c->overlap_ns < codec ? c->overlap_ns : codec);
	}
	row_add_conn(r, c);
	return 0;
}

/* The exchange is over without a byte out. */
static __always_inline void conn_unanswered(struct hb_req_conn *c)
{
	struct hb_req_row *r;

	if (c->flags & HB_REQ_HANDSHAKE) {
		req_count_n(HB_REQ_HANDSHAKES, 1);
		return;
	}
	req_count_n(HB_REQ_UNANSWERED, 1);
	r = req_row_at(conn_row(c));
	if (r)
		__sync_fetch_and_add(&r->unanswered, 1);
}

/* io: whose exchange it is. Who accepts may leave a connection to others. */
static __always_inline void conn_begin(struct hb_req_conn *c, const struct io *io, u64 begin_ns,
				       u32 hs)
{
	req_count_n(HB_REQ_BEGUN, 1);
	if (c->proc != io->proc)
		c->row = 0;
	c->proc = io->proc;
	c->seq++;
	c->begin_ns = begin_ns;
	c->waited_ns = c->accept_ns && !hs ? begin_ns - c->accept_ns : ~0ULL;
	if (!hs)
		c->accept_ns = 0;
	c->bytes_in = c->bytes_out = 0;
	c->read_ns = c->write_ns = 0;
	c->codec_ns = c->late_ns = 0;
	c->probe_ns = c->late_probe_ns = 0;
	c->calls = c->late_calls = 0;
	c->codec_end_ns = c->overlap_ns = 0;
	c->last_ns = 0;
	c->window = 0;
	c->flags &= ~(HB_REQ_HANDSHAKE | HB_REQ_PAUSED | HB_REQ_STOPPED | HB_REQ_TLS_MAYBE |
		      HB_REQ_TLS_BYE);
	c->flags |= hs;
	conn_row(c);
}

/* Looks at the first bytes of a connection. HTTP/2's preface: RFC 9113, 3.4; a TLS record: its type, and
 * the version's high byte, RFC 8446, 5.1. */
static __always_inline void conn_peek(struct hb_req_conn *c, const struct io *io)
{
	u8 b[4] = {};

	c->flags |= HB_REQ_PEEKED;
	if (!io->buf || io->have < 3 || bpf_probe_read_user(b, 3, (void *)io->buf))
		return;
	if (b[0] == 'P' && b[1] == 'R' && b[2] == 'I') {
		c->state = HB_REQ_MULTIPLEXED;
		req_count_n(HB_REQ_MUXED, 1);
	} else if (b[0] == TLS_HANDSHAKE && b[1] == 3) {
		c->flags |= HB_REQ_TLS;
		if (io->have > TLS_HEADER)
			hb_req_hello(c, io, TLS_HEADER);
		else
			c->flags |= HB_REQ_TLS_HELLO;
	}
}

/* It carries HTTP/2. What looked like an exchange so far was a part of that. */
static __always_inline void conn_muxed(struct hb_req_conn *c, u32 state)
{
	if (state == HB_REQ_OPEN || state == HB_REQ_ENDING) {
		count_late(c);
		req_count_n(HB_REQ_HANDSHAKES, 1);
	}
	c->state = HB_REQ_MULTIPLEXED;
	req_count_n(HB_REQ_MUXED, 1);
}

/* Of a connection that is, or may be, one of TLS: HB_REQ_HANDSHAKE, or 0 when data is in. Of what begins an
 * exchange tells the first record what the connection is. */
static __always_inline u32 conn_tls(struct hb_req_conn *c, const struct io *io, u32 state)
{
	bool begins = state != HB_REQ_OPEN && !c->tls_left;
	u64 len;
	u32 hs;

	if (!(c->flags & (HB_REQ_TLS | HB_REQ_PEEKED)) && begins && tls_record(io, &len))
		c->flags |= HB_REQ_TLS;
	if (!(c->flags & HB_REQ_TLS))
		return 0;
	if (c->flags & HB_REQ_TLS_HELLO && c->flags & HB_REQ_PEEKED && c->tls_left) {
		c->flags &= ~HB_REQ_TLS_HELLO;
		hb_req_hello(c, io, 0);
	}
	hs = hb_req_tls(c, io);
	if (begins && hs && tls_alert(io) == TLS_DATA)
		hs |= HB_REQ_TLS_MAYBE;
	if (begins && !hs && c->flags & HB_REQ_TLS_H2 && tls_is_frame(io))
		conn_muxed(c, state);
	return hs;
}

/* Data in. Has it begun an exchange? */
static __always_inline bool conn_in(struct hb_req_conn *c, const struct io *io)
{
	bool begun = false;
	u64 begin = c->side == HB_REQ_SERVER ? io->exit_ns : io->enter_ns;
	u32 state, hs;

	if (!(c->flags & HB_REQ_PEEKED) && c->state == HB_REQ_IDLE)
		conn_peek(c, io);
	state = *(volatile u32 *)&c->state;
	if (state == HB_REQ_OLD || state == HB_REQ_MULTIPLEXED)
		return false;
	if (!(c->flags & HB_REQ_PEEKED) && state != HB_REQ_OPEN && looks_multiplexed(io)) {
		if (state == HB_REQ_ENDING)
			hb_req_finish(c);
		c->state = HB_REQ_MULTIPLEXED;
		req_count_n(HB_REQ_MUXED, 1);
		return false;
	}
	hs = conn_tls(c, io, state);
	if (c->state == HB_REQ_MULTIPLEXED)
		return false;
	if (state == HB_REQ_OPEN && (hs || !(c->flags & HB_REQ_HANDSHAKE))) {
		/* More of the same. */
		c->read_ns += c->side == HB_REQ_SERVER ? io->exit_ns - io->enter_ns : 0;
	} else if (__sync_val_compare_and_swap(&c->state, state, HB_REQ_OPEN) == state) {
		if (state == HB_REQ_ENDING)
			hb_req_finish(c);
		else if (state == HB_REQ_OLD_ANSWERED)
			req_count_n(HB_REQ_OLD_EXCHANGES, 1);
		else if (state == HB_REQ_OPEN)
			req_count_n(HB_REQ_HANDSHAKES, 1); /* and now the first request */
		conn_begin(c, io, begin, hs);
		begun = true;
	}
	c->bytes_in += io->bytes;
	if (c->side == HB_REQ_CLIENT)
		c->write_ns += io->exit_ns - io->enter_ns;
	return begun;
}

/* Codec calls up to now were before this byte out. */
static __always_inline void conn_settle(struct hb_req_conn *c)
{
	c->codec_ns += __sync_fetch_and_and(&c->late_ns, 0);
	c->probe_ns += __sync_fetch_and_and(&c->late_probe_ns, 0);
	c->calls += __sync_fetch_and_and(&c->late_calls, 0);
}

/* The answer was that another protocol follows, whose messages are no requests and answers. */
static __always_inline void conn_upgraded(struct hb_req_conn *c)
{
	hb_req_finish(c);
	c->state = HB_REQ_MULTIPLEXED;
	req_count_n(HB_REQ_UPGRADED, 1);
}

/* Data out that TLS may have said itself. false: it is nothing that ends an exchange later than now. */
static __always_inline bool conn_out_tls(struct hb_req_conn *c, const struct io *io, u32 state)
{
	u8 alert = tls_alert(io);

	if (c->flags & HB_REQ_HANDSHAKE) {
		/* Data for what could have been an alert: so it was a request. */
		if (c->flags & HB_REQ_TLS_MAYBE && !alert) {
			c->flags &= ~(HB_REQ_HANDSHAKE | HB_REQ_TLS_MAYBE);
			c->accept_ns = 0;
		}
		return true;
	}
	if (state == HB_REQ_OPEN && c->flags & HB_REQ_TLS_H2 && tls_is_frame(io)) {
		conn_muxed(c, state);
		return false;
	}
	if (state == HB_REQ_OPEN && alert == TLS_DATA)
		c->flags |= HB_REQ_TLS_BYE;
	else if (alert)
		return false;
	else
		c->flags &= ~HB_REQ_TLS_BYE;
	return true;
}

/* Up to this byte out. */
static __always_inline void conn_window(struct hb_req_conn *c, u64 now)
{
	c->window &= HB_REQ_WINDOW_MET;
	if (in_window(c->begin_ns, now))
		c->window |= HB_REQ_WINDOW_MET;
	if (window_counts(now))
		c->window |= HB_REQ_WINDOW_ENDED;
}

/* Data out. */
static __always_inline void conn_out(struct hb_req_conn *c, const struct io *io)
{
	u32 state = *(volatile u32 *)&c->state, status = 0;

	if (state == HB_REQ_OPEN || state == HB_REQ_OLD)
		status = interim_status(io);
	if (status == 100) {
		c->bytes_out += io->bytes;
		__sync_fetch_and_add(&c->late_probe_ns, io->prog_ns);
		return;
	}
	if (state == HB_REQ_OLD)
		c->state = HB_REQ_OLD_ANSWERED;
	if (state == HB_REQ_IDLE) {
		if (!(c->flags & HB_REQ_PEEKED) && c->side == HB_REQ_SERVER)
			req_count_n(HB_REQ_PUSHES, 1);
		return;
	}
	if (state != HB_REQ_OPEN && state != HB_REQ_ENDING)
		return;
	if (c->flags & HB_REQ_TLS && !conn_out_tls(c, io, state))
		return;
	if (state == HB_REQ_OPEN)
		c->first_ns = io->exit_ns - c->begin_ns;
	else if (io->enter_ns > c->last_ns + HB_REQ_PAUSE_NS)
		c->flags |= HB_REQ_PAUSED;
	if (world_stopped(c->proc, c->begin_ns, io->exit_ns))
		c->flags |= HB_REQ_STOPPED;
	if (cfg_rates)
		conn_window(c, io->exit_ns);
	c->last_ns = io->exit_ns;
	c->bytes_out += io->bytes;
	if (c->side == HB_REQ_SERVER)
		c->write_ns += io->exit_ns - io->enter_ns;
	else
		c->read_ns += io->exit_ns - io->enter_ns;
	/* The program at the entry was before this byte, the one that runs now is not. */
	__sync_fetch_and_add(&c->late_probe_ns, io->prog_ns);
	conn_settle(c);
	c->state = HB_REQ_ENDING;
	if (status == 101)
		conn_upgraded(c);
}

/*
 * What the two programs of this system call have taken, up to here, is not the request's. Called last. Where
 * it has begun an exchange of a server, that begins now; where it was one of a client, that had begun
 * behind the program at the entry. What follows the last byte out so far is late like calls, see reqcall.bpf.h.
 */
static __always_inline void conn_charge(struct hb_req_conn *c, const struct io *io, bool in,
					bool begun)
{
	u64 now = bpf_ktime_get_ns(), prog_ns = now - io->exit_ns;

	if (begun && c->side == HB_REQ_SERVER) {
		c->begin_ns = now;
		return;
	}
	if (in && !begun)
		prog_ns += io->prog_ns;
	__sync_fetch_and_add(&c->late_probe_ns, prog_ns);
}

/* ---- connections ---------------------------------------------------------------------------- */

static const struct hb_req_conn empty_conn;

/* A connection is gone, or its socket is another one's by now. */
static __always_inline void conn_end(u64 sk, struct hb_req_conn *c)
{
	u32 state = *(volatile u32 *)&c->state;

	if (__sync_val_compare_and_swap(&c->state, state, HB_REQ_MULTIPLEXED) == state) {
		if (state == HB_REQ_ENDING && !(c->flags & HB_REQ_TLS_BYE))
			hb_req_finish(c);
		else if (state == HB_REQ_OPEN || state == HB_REQ_ENDING)
			conn_unanswered(c);
		else if (state == HB_REQ_OLD_ANSWERED)
			req_count_n(HB_REQ_OLD_EXCHANGES, 1);
	}
	req_count_n(HB_REQ_CLOSED, 1);
	bpf_map_delete_elem(&req_conns, &sk);
}

static __always_inline bool is_listening(u16 port)
{
	u32 key = port;

	return bpf_map_lookup_elem(&req_ports, &key) != NULL;
}

static __always_inline struct hb_req_conn *conn_new(const struct conn_id *id, const struct io *io)
{
	struct hb_req_conn *c;
	u64 sk = id->sk;

	if (bpf_map_update_elem(&req_conns, &sk, &empty_conn, BPF_ANY))
		return NULL;
	c = bpf_map_lookup_elem(&req_conns, &sk);
	if (!c)
		return NULL;
	c->ino = id->ino;
	c->lport = id->lport;
	c->rport = id->rport;
	c->proc = io->proc;
	c->waited_ns = ~0ULL;
	if (io->op == HB_REQ_OP_ACCEPT || io->op == HB_REQ_OP_CONNECT) {
		c->side = io->op == HB_REQ_OP_ACCEPT ? HB_REQ_SERVER : HB_REQ_CLIENT;
		c->accept_ns = io->exit_ns;
		c->state = HB_REQ_IDLE;
		req_count_n(io->op == HB_REQ_OP_ACCEPT ? HB_REQ_ACCEPTED : HB_REQ_CONNECTED, 1);
	} else {
		c->side = is_listening(id->lport) ? HB_REQ_SERVER : HB_REQ_CLIENT;
		c->state = HB_REQ_OLD;
		req_count_n(HB_REQ_FOUND, 1);
	}
	return c;
}

/* The connection of a system call; NULL: there is no room for it. */
static __always_inline struct hb_req_conn *conn_get(const struct conn_id *id, const struct io *io)
{
	u64 sk = id->sk;
	struct hb_req_conn *c = bpf_map_lookup_elem(&req_conns, &sk);

	/* A socket can be connected again, to somewhere else, where that has failed or was taken back. */
	if (c && (c->ino != id->ino || (io->op == HB_REQ_OP_CONNECT && c->rport != id->rport))) {
		conn_end(sk, c);
		c = NULL;
	}
	if (!c)
		c = conn_new(id, io);
	if (!c)
		req_count_n(HB_REQ_CONNS_FULL, 1);
	return c;
}

/* The same where the system call that has sent data has made the connection as well, unless it was there. */
static __always_inline struct hb_req_conn *conn_open(const struct conn_id *id, struct io *io)
{
	struct hb_req_conn *c;
	u64 sk = id->sk;
	u32 op = io->op;

	c = bpf_map_lookup_elem(&req_conns, &sk);
	if (c && c->ino == id->ino)
		return c;
	io->op = HB_REQ_OP_CONNECT;
	c = conn_get(id, io);
	io->op = op;
	if (c && op == HB_REQ_OP_WRITE)
		c->accept_ns = 0; /* its first request has not waited for it */
	return c;
}

#endif
