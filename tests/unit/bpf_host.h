/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_host.h - the programs of bpf/ compiled for the host: the entry point, the maps by name, and
 * the globals that user space writes.
 */
#ifndef HBPROF_TESTS_BPF_HOST_H
#define HBPROF_TESTS_BPF_HOST_H

#include "vmlinux.h"
#include <hbprof/abi.h>

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
	HOST_MAP_NR,
};
extern const struct kernel_map host_maps[HOST_MAP_NR];

#define HOST_MAP(name) (host_maps[HOST_##name].id)

int hb_probe(struct pt_regs *ctx);

/* The kernel has these as bpf/maps.bpf.h initialises them at each load; here a test says so. */
void host__load(void);

extern volatile u32 cfg_tgid, cfg_self_tgid, cfg_nr_rows, cfg_nr_hists;
extern volatile u32 cfg_nr_ctrs, cfg_ctr_cpus, cfg_ctr_kind[], cfg_ctr_per_us[];
extern struct hb_ctr_bias ctr_bias;
extern volatile u64 cfg_stack_span, cfg_pidns_dev, cfg_pidns_ino;
extern bool recording, tight;
extern struct hb_cal cal;
extern u32 next_row, next_hist, row_limit;
extern u64 nr_tasks;

#endif
