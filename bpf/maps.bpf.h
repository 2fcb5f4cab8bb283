/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * maps.bpf.h - every map and global of codec.bpf.c: key, value, what sizes it, what a full one means.
 * User space sizes them before load (trace/session.c). Those that other programs read, too, are in
 * shared.bpf.h; this file is what defines them.
 */
#ifndef HBPROF_MAPS_BPF_H
#define HBPROF_MAPS_BPF_H

#define HB_SHARED /* defined here */
#include "shared.bpf.h"
#include "reqmaps.bpf.h"

#define HB_SCRATCH 4096

/* What a probe at an offset does; by site id. Read-only for the programs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* sites known at start, and room for discovered ones */
	__type(key, u32);
	__type(value, struct hb_site);
} sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* functions */
	__type(key, u32);
	__type(value, struct hb_func);
} funcs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* images */
	__type(key, u32);
	__type(value, struct hb_image);
} images SEC(".maps");

/* Per CPU against cache line bouncing; the programs are preemptible, so adds are atomic anyway. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1); /* functions */
	__type(key, u32);
	__type(value, struct hb_fn_stat);
} fn_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HB_CNT_NR);
	__type(key, u32);
	__type(value, u64);
} drops SEC(".maps");

/* Hits of a return site that paths join at, or whose callee varies, or of a guard, which ended no call; by
 * site id.
 * User space maps it and looks once a second (trace/hotsites.c). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as sites */
	__type(key, u32);
	__type(value, u64);
} site_misses SEC(".maps");

/* Return addresses: enum hb_ra_state. A full map is HB_DROP_RAS_FULL. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct hb_ra_key);
	__type(value, u32);
} ras SEC(".maps");

/* Direct-mapped cache of `ras`: run-time address | process index << 48 of attached ones. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HB_RA_CACHE);
	__type(key, u32);
	__type(value, u64);
} ra_cache SEC(".maps");

/* Row index by key; the index is what row_cache and row_stats use. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* cfg_nr_rows */
	__type(key, struct hb_row_key);
	__type(value, u32);
} rows SEC(".maps");

/* Cache of `rows` by {function, size class, outcome}: (process index + 1) << 32 | row. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* functions * HB_SIZE_CLASSES * HB_OUTCOME_NR */
	__type(key, u32);
	__type(value, u64);
} row_cache SEC(".maps");

/* Row 0 is the overflow row. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* cfg_nr_rows */
	__type(key, u32);
	__type(value, struct hb_row);
} row_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* cfg_nr_hists */
	__type(key, u32);
	__type(value, struct hb_hist);
} hists SEC(".maps");

/* struct hb_event. A full ring is HB_DROP_EVENT_LOST: the address is asked for again. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

/* Where string lengths are read to; the bytes are never used. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8[HB_SCRATCH]);
} scratch SEC(".maps");

/* Counters of the calls in `tasks`, by the same key; used with counters only. As large as `tasks`: a full
 * map is HB_CTR_LOST_ROOM. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct hb_frame_key);
	__type(value, struct hb_ctr_task);
} ctr_tasks SEC(".maps");

/* enum hb_ctr_lost */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HB_CTR_LOST_NR);
	__type(key, u32);
	__type(value, u64);
} ctr_lost SEC(".maps");

/* Known before load. */
const volatile u32 cfg_nr_ctrs;		    /* 0: none, and nothing of counters.bpf.h is run */
const volatile bool cfg_sched;		    /* one of them is of kind HB_CTR_ON_CPU or above */
const volatile u32 cfg_ctr_per_us[HB_CTRS]; /* events that a microsecond can hold at most */
const volatile u32 cfg_self_tgid; /* hbprof itself: its calibration calls are always measured */
const volatile u32 cfg_nr_rows = 1;
const volatile u32 cfg_nr_hists;
const volatile u64 cfg_stack_span = 8ULL << 20; /* two calls further apart are on two stacks */

/* Written by user space at run time. */
bool tight; /* the tasks map is filling: delete entries that become empty */
struct hb_cal cal;
struct hb_cal_seen cal_seen; /* read by user space */
struct hb_ctr_bias ctr_bias;

/* Rows of the target end here, not to use what was kept for the calibration and is not needed. */
u32 row_limit = ~0u;

/* Written here. */
u32 next_row;  /* + 1 is the next free row */
u32 next_hist; /* the next free histogram */
u64 nr_tasks;  /* entries in `tasks` */

#endif
