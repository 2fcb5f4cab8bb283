/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_host.c - compiles bpf/codec.bpf.c for the host, over the headers in shim/; bpf_host_req.c does
 * so with bpf/req.bpf.c.
 *
 * The loader writes the cfg_ constants before it loads a program, and a test has to, too: so they
 * are read here without their const.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <hbprof/abi.h>

#define const
#include "maps.bpf.h"
#undef const

#include "codec.bpf.c"
#define LICENSE sched_license
#include "sched.bpf.c"
#undef LICENSE

#include "bpf_host.h"

#define MAP HOST_MAP_OF

/* Those of bpf_host_req.c are filled in before a test resets the kernel. */
struct kernel_map host_maps[HOST_MAP_NR] = {
	[HOST_SITES] = MAP(sites),
	[HOST_FUNCS] = MAP(funcs),
	[HOST_IMAGES] = MAP(images),
	[HOST_FN_STATS] = MAP(fn_stats),
	[HOST_DROPS] = MAP(drops),
	[HOST_PROCS] = MAP(procs),
	[HOST_TASKS] = MAP(tasks),
	[HOST_SITE_MISSES] = MAP(site_misses),
	[HOST_RAS] = MAP(ras),
	[HOST_RA_CACHE] = MAP(ra_cache),
	[HOST_ROWS] = MAP(rows),
	[HOST_ROW_CACHE] = MAP(row_cache),
	[HOST_ROW_STATS] = MAP(row_stats),
	[HOST_HISTS] = MAP(hists),
	[HOST_EVENTS] = {.id = &events,
			 .name = "events",
			 .type = UINT_OF(events.type),
			 .max_entries = UINT_OF(events.max_entries)},
	[HOST_SCRATCH] = MAP(scratch),
	[HOST_CTR_TASKS] = MAP(ctr_tasks),
	[HOST_CTR_EVENTS] = MAP(ctr_events),
	[HOST_CTR_LOST] = MAP(ctr_lost),
	[HOST_THREADS] = MAP(threads),
	[HOST_REQ_CONNS] = MAP(req_conns),
	[HOST_REQ_TASKS] = MAP(req_tasks),
	[HOST_REQ_ROW_IDS] = MAP(req_row_ids),
	[HOST_REQ_ROWS] = MAP(req_rows),
	[HOST_REQ_COUNTS] = MAP(req_counts),
	[HOST_REQ_CHILDREN] = MAP(req_children),
	[HOST_REQ_WORLDS] = MAP(req_worlds),
	[HOST_REQ_RATES] = MAP(req_rates),
};

void host__load(void)
{
	cfg_tgid = cfg_self_tgid = 0;
	cfg_pidns_dev = cfg_pidns_ino = 0;
	cfg_nr_rows = 1;
	row_limit = ~0u;
	cfg_nr_hists = 0;
	cfg_stack_span = 8ULL << 20;
	recording = tight = false;
	cal = (struct hb_cal){};
	cfg_nr_ctrs = 0;
	cfg_sched = cfg_ctr_own = false;
	for (u32 i = 0; i < 1024; i++)
		thread_bits[i] = 0;
	cfg_ctr_cpus = KERNEL_CPUS;
	for (u32 i = 0; i < HB_CTRS; i++)
		cfg_ctr_kind[i] = cfg_ctr_per_us[i] = 0;
	ctr_bias = (struct hb_ctr_bias){};
	next_row = next_hist = 0;
	nr_tasks = 0;
	cfg_requests = cfg_rates = false;
	rate_window = (struct hb_rate_window){};
	cfg_follow_go = false;
	req_codec_groups = req_handler_groups = 0;
	next_req_row = 0;
	host__load_req();
}
