/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqrow.bpf.h - rows of requests: found or made by their key, and what a finished request adds.
 * Used by both objects that finish requests, and so in static functions of each.
 */
#ifndef HBPROF_REQROW_BPF_H
#define HBPROF_REQROW_BPF_H

#include "reqmaps.bpf.h"

/* The index of the key's row; 0, the overflow row, when there is no free one. */
static __always_inline u32 req_row_find(const struct hb_req_key *k)
{
	struct hb_req_key key = *k;
	u32 *found = bpf_map_lookup_elem(&req_row_ids, &key);
	struct hb_req_row *r;
	u32 i;

	if (found)
		return *found;
	/* Looked at first: a counter that only grows would wrap. */
	i = *(volatile u32 *)&next_req_row;
	if (i + 1 >= HB_REQ_ROWS)
		return 0;
	i = __sync_fetch_and_add(&next_req_row, 1) + 1;
	r = i < HB_REQ_ROWS ? req_row_at(i) : NULL;
	if (!r)
		return 0;
	r->key = key;
	r->min_ns = ~0ULL;
	if (!bpf_map_update_elem(&req_row_ids, &key, &i, BPF_NOEXIST))
		return i;
	/* Another CPU was first; this row stays empty. */
	found = bpf_map_lookup_elem(&req_row_ids, &key);
	return found ? *found : 0;
}

/* One lost race of several is an extreme that is a little off; see lower_to() in common.bpf.h. */
static __always_inline void req_lower(u64 *at, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)at;

		if (v >= old || __sync_val_compare_and_swap(at, old, v) == old)
			break;
	}
}

static __always_inline void req_raise(u64 *at, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)at;

		if (v <= old || __sync_val_compare_and_swap(at, old, v) == old)
			break;
	}
}

/* Was the process's world stopped at any time from begin to end, which has just been? Pauses follow each
 * other, so the one that is on and the last one that is over tell. */
static __always_inline bool world_stopped(u32 proc, u64 begin_ns, u64 end_ns)
{
	struct hb_req_world *world = bpf_map_lookup_elem(&req_worlds, &proc);
	u64 since;

	if (!world)
		return false;
	since = *(volatile u64 *)&world->begin_ns;
	return (since && since <= end_ns) || *(volatile u64 *)&world->end_ns >= begin_ns;
}

/* A request of this latency, with so much codec time in it, is over. */
static __always_inline void req_row_add(struct hb_req_row *r, u64 ns, u64 codec_ns)
{
	u32 b = hb_hist_bucket(ns);

	__sync_fetch_and_add(&r->count, 1);
	__sync_fetch_and_add(&r->sum_ns, ns);
	__sync_fetch_and_add(&r->codec_ns, codec_ns);
	req_lower(&r->min_ns, ns);
	req_raise(&r->max_ns, ns);
	if (b >= HB_HIST_BUCKETS)
		return;
	__sync_fetch_and_add(&r->n[b], 1);
	__sync_fetch_and_add(&r->in_codec_ns[b], codec_ns);
}

#endif
