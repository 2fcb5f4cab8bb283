/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqqueue.bpf.h - connections that the kernel has made for a listener and that nobody has accepted yet: how
 * long they stood in its queue. Whose accept() took one is req.bpf.c's, which alone includes this.
 *
 * A socket that was accepted has the address that it had in the queue, but not yet an inode: the address
 * alone is the key, and its entry goes with the socket.
 */
#ifndef HBPROF_REQQUEUE_BPF_H
#define HBPROF_REQQUEUE_BPF_H

#include "reqconn.bpf.h"

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT	2
#define TCP_SYN_RECV	3
#define TCP_CLOSE	7
#define TCP_LISTEN	10

/* When a connection was made, by its struct sock. The oldest makes room: its wait is not known then. No
 * listener's queue is longer than net.core.somaxconn, 4,096 unless changed. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u64); /* ns of CLOCK_MONOTONIC */
} req_queue SEC(".maps");

/* The handshake of TCP is over: accept() may take it from here on. A socket of Multipath TCP comes there from the
 * state of who listens, which it was copied from. */
static __always_inline void queue_add(u64 sk, u16 port)
{
	u64 now = bpf_ktime_get_ns();

	if (is_listening(port))
		bpf_map_update_elem(&req_queue, &sk, &now, BPF_ANY);
}

static __always_inline void queue_drop(u64 sk)
{
	bpf_map_delete_elem(&req_queue, &sk);
}

/* accept() has returned it. Of one that was made before recording began, nothing is known. */
static __always_inline void queue_leave(u64 sk, struct hb_req_conn *c, u64 now)
{
	u64 *made = bpf_map_lookup_elem(&req_queue, &sk), ns;
	struct hb_req_row *r;

	if (!made)
		return;
	ns = now > *made ? now - *made : 0;
	bpf_map_delete_elem(&req_queue, &sk);
	r = req_row_at(conn_row(c));
	if (!r)
		return;
	__sync_fetch_and_add(&r->queued, 1);
	__sync_fetch_and_add(&r->queued_sum_ns, ns);
	req_raise(&r->queued_max_ns, ns);
}

#endif
