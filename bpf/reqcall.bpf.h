/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqcall.bpf.h - the hook of request accounting in codec.bpf.c: whose request a finished codec call
 * belongs to, and what a finished handler call was made of.
 *
 * A codec call belongs to the exchange that its task has last read from: of a connection that was
 * accepted, if there is one that is not over, else of one that the process has made. Only calls that lie
 * in no other codec call are added, so that no time counts twice.
 */
#ifndef HBPROF_REQCALL_BPF_H
#define HBPROF_REQCALL_BPF_H

#include "reqcgo.bpf.h"
#include "reqrow.bpf.h"

/* The connection that the tie means, unless it is over or another one by now. */
static __always_inline struct hb_req_conn *tied_conn(const struct hb_req_tie *tie)
{
	u64 sk = tie->sk;
	struct hb_req_conn *c = sk ? bpf_map_lookup_elem(&req_conns, &sk) : NULL;

	return c && c->ino == tie->ino && c->seq == tie->seq ? c : NULL;
}

static __always_inline void count_call(u32 calls, u64 ns)
{
	req_count_n(calls, 1);
	req_count_n(calls + 1, ns); /* the counter of the time follows that of the calls */
}

/* How much of a call that ends now lies before the end of another one, at most: several goroutines work for
 * one request. Whoever loses the race sees the winner's end. */
static __always_inline u64 overlap(struct hb_req_conn *c, u64 begin, u64 end)
{
	u64 last = 0;

	for (int i = 0; i < 8; i++) {
		last = *(volatile u64 *)&c->codec_end_ns;
		if (last >= end || __sync_val_compare_and_swap(&c->codec_end_ns, last, end) == last)
			break;
	}
	last = last < end ? last : end;
	return last > begin ? last - begin : 0;
}

/* When a call began, or the exchange in it: a decoder on a connection waits for the request, and that is none of
 * its time. A client's waits for the answer: who is tied to that has read of it. */
static __always_inline u64 begin_within(const struct hb_req_conn *c, const struct hb_frame *fr)
{
	u64 first = c->begin_ns + (c->side == HB_REQ_CLIENT ? c->first_ns : 0);

	return fr->t0_ns > first ? fr->t0_ns : first;
}

/* What of a call's time lies in the exchange. */
static __always_inline u64 time_within(const struct hb_req_conn *c, const struct hb_frame *fr,
				       u64 now, u64 ns)
{
	u64 begin = begin_within(c, fr), most = now > begin ? now - begin : 0;

	return ns < most ? ns : most;
}

/* To the exchange of c. What lies behind its last byte out so far is late until another one follows. */
static __always_inline void conn_add_call(struct hb_req_conn *c, const struct hb_frame *fr, u64 now,
					  u64 ns, u64 probe_ns)
{
	u32 row = c->row;
	struct hb_req_row *r = req_row_at(row);
	u64 begin = begin_within(c, fr), before = c->last_ns > begin ? c->last_ns - begin : 0;
	u64 over = cfg_follow_go ? overlap(c, begin, now) : 0;

	if (over) {
		__sync_fetch_and_add(&c->overlap_ns, over < ns ? over : ns);
		probe_ns = 0; /* the other call's, at that time, is what the request waited for */
	}
	if (c->state == HB_REQ_ENDING && before) {
		/* It has written itself: an encoder on a connection. */
		if (before > ns)
			before = ns;
		__sync_fetch_and_add(&c->codec_ns, before);
		__sync_fetch_and_add(&c->calls, 1);
		ns -= before;
	} else {
		__sync_fetch_and_add(&c->late_calls, 1);
	}
	__sync_fetch_and_add(&c->late_ns, ns);
	__sync_fetch_and_add(&c->late_probe_ns, probe_ns);
	if (r && row) {
		u64 g = BOUNDED(fr->group, 63);

		__sync_fetch_and_add(&r->group_ns[g], ns + before);
		__sync_fetch_and_add(&r->group_calls[g], 1);
	}
}

/* C code that a goroutine has called runs in a thread, and what was read, the goroutine has: *key becomes its,
 * unless none has called, or what is known under its g is an earlier one's. 1: that one is in a codec call itself.
 * Static, so checked with its caller's key: Linux 6.1 takes no memory of a global function's argument for the
 * key of a map. */
static __noinline int hb_req_caller(struct hb_frame_key *key)
{
	struct hb_req_task *rt;
	struct hb_task *t;
	u64 thread, goid;

	if (!key)
		return 0;
	thread = key->task;
	key->task = cgo_goroutine(key->tgid, &goid);
	rt = key->task ? bpf_map_lookup_elem(&req_tasks, key) : NULL;
	if (!key->task || (rt && rt->goid && goid && rt->goid != goid)) {
		key->task = thread;
		return 0;
	}
	t = bpf_map_lookup_elem(&tasks, key);
	return t && t->nr && t->active & req_codec_groups;
}

/* The exchange of the task; NULL with *why, the counter of calls that have none. */
static __always_inline struct hb_req_conn *task_conn(const struct hb_task *t,
						     const struct hb_frame_key *key, u32 *why)
{
	struct hb_req_task *rt = bpf_map_lookup_elem(&req_tasks, key);
	struct hb_req_conn *c;

	*why = HB_REQ_UNTIED_CALLS;
	if (!rt || (rt->goid && t->goid && rt->goid != t->goid))
		return NULL;
	*why = HB_REQ_LATE_CALLS;
	c = tied_conn(&rt->tie[HB_REQ_SERVER]);
	if (!c)
		c = tied_conn(&rt->tie[HB_REQ_CLIENT]);
	if (!c)
		return NULL;
	if (c->state > HB_REQ_OLD_ANSWERED && c->state != HB_REQ_MULTIPLEXED)
		return c;
	*why = c->state == HB_REQ_MULTIPLEXED ? HB_REQ_UNTIED_CALLS : HB_REQ_OLD_CALLS;
	return NULL;
}

/* The innermost handler's call that is open, of one that began at t0_ns if that is not 0; NULL: there is none.
 * From the top down, so that it ends at the first: what is found on the way would be another state for the
 * verifier at each place, half of all instructions that it looked at. */
static __always_inline struct hb_frame *handler_frame(struct hb_task *t, u64 t0_ns)
{
	for (u32 n = HB_FRAME_DEPTH; n > 0; n--) {
		struct hb_frame *fr = frame_at(t, n - 1);

		if (n <= t->nr && req_handler_groups >> (fr->group & 63) & 1 &&
		    (!t0_ns || fr->t0_ns == t0_ns))
			return fr;
	}
	return NULL;
}

/* The handler's call that a task works for: its own, where C code runs for it, or that of a goroutine which has
 * started it. NULL: there is none, or it is over. */
static __always_inline struct hb_frame *handler_of(const struct hb_task *t,
						   struct hb_frame_key *key)
{
	struct hb_task *root = bpf_map_lookup_elem(&tasks, key);
	struct hb_req_task *rt;
	u64 t0_ns = 0;

	if (!root || !(root->active & req_handler_groups)) {
		rt = bpf_map_lookup_elem(&req_tasks, key);
		if (!rt || !rt->root || (rt->goid && t->goid && rt->goid != t->goid))
			return NULL;
		key->task = rt->root;
		t0_ns = rt->root_t0_ns;
		root = bpf_map_lookup_elem(&tasks, key);
		if (!root || (rt->root_goid && root->goid && rt->root_goid != root->goid))
			return NULL;
	}
	return handler_frame(root, t0_ns);
}

/*
 * A codec call of this task, or of C code that it has called, to the handler's call that it works for. 1; 0: there
 * is none. That call's goroutine may end it just now: then this is lost, or the next call in its frame's place
 * has it. Static for the sake of `key`, as hb_req_caller().
 */
static __noinline int hb_req_credit(const struct hb_task *t, struct hb_frame_key *key, u64 ns)
{
	struct hb_req_key row = {.side = HB_REQ_HANDLER};
	struct hb_req_row *r;
	struct hb_frame *fr;

	if (!t || !key)
		return 0;
	fr = handler_of(t, key);
	if (!fr)
		return 0;
	__sync_fetch_and_add(&fr->codec_ns, ns);
	__sync_fetch_and_add(&fr->codec_calls, 1);
	row.proc = fr->proc;
	row.func = fr->func;
	r = req_row_at(req_row_find(&row));
	if (r)
		__sync_fetch_and_add(&r->followed, 1);
	return 1;
}

static __always_inline bool is_codec(const struct hb_frame *fr)
{
	return req_codec_groups >> (fr->group & 63) & 1;
}

/* The call of the frame above the top one belongs to a request, perhaps. After hb_req_closed(), by itself: the
 * stacks of the two would be too much together, see common.bpf.h. */
__noinline int hb_req_tied(struct hb_task *t, const struct hit *h)
{
	struct hb_frame_key key = {};
	const struct hb_frame *fr;
	struct hb_req_conn *c;
	bool handled;
	u64 ns, probe_ns;
	u32 why;

	if (!t || !h || t->nr >= HB_FRAME_DEPTH)
		return 0;
	fr = frame_at(t, t->nr);
	ns = fr->child_ns;
	probe_ns = fr->cost_ns;
	handled = t->active & req_handler_groups;
	key = h->key;
	if (h->lang == HB_LANG_NATIVE && hb_req_caller(&key))
		return 0;
	c = task_conn(t, &key, &why);
	if (!is_codec(fr)) {
		if (c)
			__sync_fetch_and_add(&c->late_probe_ns, probe_ns);
		return 0;
	}
	probe_ns += fr->probe_ns;
	if (!handled && (cfg_follow_go || key.task != h->key.task))
		handled = hb_req_credit(t, &key, ns);
	if (c)
		ns = time_within(c, fr, h->now, ns);
	/* HTTP/2: the handler's row has it. */
	count_call(c || handled ? HB_REQ_TIED_CALLS : why, ns);
	if (c)
		conn_add_call(c, fr, h->now, ns, probe_ns);
	return 0;
}

/* The call of a handler, the frame above the top one, is a request of its own row, where connections carry
 * several at once. Not inlined: with what is, its caller's stack would be too large. */
__noinline int hb_req_handled(struct hb_task *t, const struct hit *h)
{
	struct hb_req_key key = {.side = HB_REQ_HANDLER};
	const struct hb_frame *fr;
	struct hb_req_row *r;
	u64 ns;
	u32 row;

	if (!t || !h || t->nr >= HB_FRAME_DEPTH)
		return 0;
	fr = frame_at(t, t->nr);
	ns = fr->child_ns;
	key.proc = h->proc;
	key.func = fr->func;
	row = req_row_find(&key);
	r = req_row_at(row);
	if (!row)
		req_count_n(HB_REQ_ROWS_FULL, 1);
	if (!r)
		return 0;
	req_row_add(r, ns, fr->codec_ns < ns ? fr->codec_ns : ns);
	__sync_fetch_and_add(&r->codec_calls, fr->codec_calls);
	if (world_stopped(h->proc, fr->t0_ns, h->now))
		__sync_fetch_and_add(&r->stopped, 1);
	return 0;
}

/* A handler's call that overlaps a window of counting: not in its row's count. */
__noinline int hb_req_missed(const struct hb_frame *fr)
{
	struct hb_req_key key = {.side = HB_REQ_HANDLER};
	struct hb_req_row *r;

	if (!fr || !(fr->flags & HB_FRAME_OWNS))
		return 0;
	key.proc = fr->proc;
	key.func = fr->func;
	r = req_row_at(req_row_find(&key));
	if (r)
		__sync_fetch_and_add(&r->in_window, 1);
	return 0;
}

/*
 * The call of the frame above the top one has ended; hb_frame_close() has left its time in child_ns, and
 * hb_close_all() what its probes cost in cost_ns. Not called by the former: the stacks of the two would be too
 * much together, see common.bpf.h. 1: hb_req_tied() is next.
 */
__noinline int hb_req_closed(struct hb_task *t, const struct hit *h)
{
	struct hb_frame *fr, *up;
	struct hb_func *f;
	bool codec;
	u64 ns;
	u32 fn;

	if (!t || !h || t->nr >= HB_FRAME_DEPTH)
		return 0;
	fr = frame_at(t, t->nr);
	fn = fr->func;
	f = bpf_map_lookup_elem(&funcs, &fn);
	/* Those that were not measured: see there. */
	if (!f || (fr->flags & HB_FRAME_UNKNOWN) || h->now < fr->t0_ns)
		return 0;
	if (cfg_rates && in_window(fr->t0_ns, h->now))
		return f->flags & HB_FUNC_HANDLER ? hb_req_missed(fr) : 0;
	ns = fr->child_ns;
	codec = is_codec(fr);
	if (t->nr) {
		up = frame_at(t, t->nr - 1);
		/* Other goroutines may add to it: hb_req_credit(). */
		__sync_fetch_and_add(&up->codec_ns, codec ? ns : fr->codec_ns);
		__sync_fetch_and_add(&up->codec_calls, codec ? 1 : fr->codec_calls);
	}
	if (!(fr->flags & HB_FRAME_OWNS))
		return 0;
	if (f->flags & HB_FUNC_HANDLER)
		hb_req_handled(t, h);
	return !(t->active & req_codec_groups);
}

#endif
