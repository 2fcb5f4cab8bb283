/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_host.h - the programs of bpf/ compiled for the host: the entry point, the maps by name, and
 * the globals that user space writes.
 */
#ifndef HBPROF_TESTS_BPF_HOST_H
#define HBPROF_TESTS_BPF_HOST_H

#include "vmlinux.h"
#include <hbprof/abi.h>
#include <hbprof/req.h>

#include "bpf_kernel.h"

enum host_map {
	HOST_SITES,
	HOST_FUNCS,
	HOST_IMAGES,
	HOST_FN_STATS,
	HOST_DROPS,
	HOST_PROCS,
	HOST_TASKS,
	HOST_SITE_MISSES,
	HOST_RAS,
	HOST_RA_CACHE,
	HOST_ROWS,
	HOST_ROW_CACHE,
	HOST_ROW_STATS,
	HOST_HISTS,
	HOST_EVENTS,
	HOST_SCRATCH,
	HOST_CTR_TASKS,
	HOST_CTR_EVENTS,
	HOST_CTR_LOST,
	HOST_THREADS,
	HOST_REQ_CONNS,
	HOST_REQ_TASKS,
	HOST_REQ_ROW_IDS,
	HOST_REQ_ROWS,
	HOST_REQ_COUNTS,
	HOST_REQ_CHILDREN,
	HOST_REQ_QUEUE,
	HOST_REQ_WORLDS,
	HOST_REQ_SWITCHES,
	HOST_REQ_RATES,
	HOST_REQ_CALLS,
	HOST_REQ_PORTS,
	HOST_MAP_NR,
};
extern struct kernel_map host_maps[HOST_MAP_NR];

/* A map as bpf/ declares it. */
#define UINT_OF(member) (sizeof(*(member)) / sizeof(int))
#define HOST_MAP_OF(map)                                                                   \
	{                                                                                  \
		.id = &(map), .name = #map, .type = UINT_OF((map).type),                   \
		.max_entries = UINT_OF((map).max_entries), .key_size = sizeof(*(map).key), \
		.value_size = sizeof(*(map).value)                                         \
	}

#define HOST_MAP(name) (host_maps[HOST_##name].id)

int hb_probe(struct pt_regs *ctx);
int hb_switch(bool preempt, struct task_struct *prev, struct task_struct *next);
int hb_wakeup(struct task_struct *task);
struct bpf_iter__task;
int hb_switches(struct bpf_iter__task *ctx);
struct sys_enter;
struct sys_exit;
int hb_req_enter(struct sys_enter *ctx);
int hb_req_exit(struct sys_exit *ctx);
int hb_req_gone(struct bpf_raw_tracepoint_args *ctx);
int hb_req_state(struct bpf_raw_tracepoint_args *ctx);

/* The kernel has these as bpf/maps.bpf.h initialises them at each load; here a test says so. */
void host__load(void);
void host__load_req(void); /* the part of it for req.bpf.c */

extern volatile u32 cfg_tgid, cfg_self_tgid, cfg_nr_rows, cfg_nr_hists;
extern volatile u32 cfg_nr_ctrs, cfg_ctr_cpus, cfg_ctr_kind[], cfg_ctr_per_us[];
extern struct hb_ctr_bias ctr_bias;
extern volatile bool cfg_sched, cfg_ctr_own;
extern volatile u64 cfg_stack_span, cfg_pidns_dev, cfg_pidns_ino;
extern bool recording, tight;
extern struct hb_cal cal;
extern struct hb_cal_seen cal_seen;
extern u32 next_row, next_hist, row_limit;
extern u64 nr_tasks;

extern volatile bool cfg_requests;
extern volatile bool cfg_follow_go;
extern u32 switches_pass;
extern volatile bool cfg_rates;
extern struct hb_rate_window rate_window;
int hb_rate(struct pt_regs *ctx);
extern bool req_go;
extern u64 req_codec_groups, req_handler_groups;
extern u32 req_goid_off;
extern u32 next_req_row, nr_req_children;
extern volatile bool cfg_req_children;

#endif
