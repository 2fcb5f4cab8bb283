/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqmaps.bpf.h - maps and globals of request accounting. codec.bpf.c defines them, as it always
 * contains the hook that uses them (reqcall.bpf.h); in req.bpf.c they are extern, see shared.bpf.h.
 * Without --requests user space gives each map one entry, and nothing touches them.
 */
#ifndef HBPROF_REQMAPS_BPF_H
#define HBPROF_REQMAPS_BPF_H

#include <hbprof/req.h>

#include "shared.bpf.h"

/* Connections by the address of their struct sock. A full map is HB_REQ_CONNS_FULL. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct hb_req_conn);
} req_conns SEC(".maps");

/* What tasks have last read from. The oldest go when it is full: their codec calls are then counted
 * as untied. Goroutines are reused, threads are not: their entries are never deleted otherwise. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct hb_frame_key);
	__type(value, struct hb_req_task);
} req_tasks SEC(".maps");

/* Row index by key. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HB_REQ_ROWS);
	__type(key, struct hb_req_key);
	__type(value, u32);
} req_row_ids SEC(".maps");

/* Shared by all CPUs: see row.bpf.h. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HB_REQ_ROWS);
	__type(key, u32);
	__type(value, struct hb_req_row);
} req_rows SEC(".maps");

/* Stops of the world, by the process's index. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HB_MAX_PROCS);
	__type(key, u32);
	__type(value, struct hb_req_world);
} req_worlds SEC(".maps");

HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HB_REQ_CNT_NR);
	__type(key, u32);
	__type(value, u64);
} req_counts SEC(".maps");

/* Processes that those which are measured have forked, until user space measures them itself or they end or
 * exec: the index of the one that they come from. What they serve is known by it; see HB_REQ_CHILD. A full
 * map is HB_REQ_CHILDREN_FULL. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32); /* process id */
	__type(value, u32);
} req_children SEC(".maps");

/* By the process's index. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HB_MAX_PROCS);
	__type(key, u32);
	__type(value, struct hb_req_rate);
} req_rates SEC(".maps");

/* Known before load. */
HB_SHARED const volatile bool cfg_rates; /* there may be windows */
HB_SHARED const volatile bool cfg_requests;
HB_SHARED const volatile bool cfg_req_children; /* processes are followed, and so is what they fork */

HB_SHARED u32 nr_req_children;		     /* in the map: 0 saves others the look */
HB_SHARED const volatile bool cfg_follow_go; /* goroutines that a request's starts are its own */

/* Written by user space, when functions are added, too. */
HB_SHARED u64 req_codec_groups;	  /* bit g: calls of group g are serialization */
HB_SHARED u64 req_handler_groups; /* those of handlers, see HB_FUNC_HANDLER */

/* Written by user space. */
HB_SHARED struct hb_rate_window rate_window;

HB_SHARED u32 next_req_row; /* + 1 is the next free one */

static __always_inline void req_count_n(u32 what, u64 add)
{
	u64 *n = bpf_map_lookup_elem(&req_counts, &what);

	if (n)
		__sync_fetch_and_add(n, add);
}

static __always_inline struct hb_req_row *req_row_at(u32 i)
{
	return bpf_map_lookup_elem(&req_rows, &i);
}

/* Was what is measured slowed down by counting at any time from begin to end, which has just been? Who
 * overlaps an earlier window and ends now overlaps the last one, too. */
static __always_inline bool in_window(u64 begin_ns, u64 end_ns)
{
	u64 from = *(volatile u64 *)&rate_window.probed_ns;

	return from && end_ns >= from && begin_ns < *(volatile u64 *)&rate_window.clean_ns;
}

/* Is counted what happens at t? */
static __always_inline bool window_counts(u64 t)
{
	return t >= *(volatile u64 *)&rate_window.on_ns && t < *(volatile u64 *)&rate_window.off_ns;
}

#endif
