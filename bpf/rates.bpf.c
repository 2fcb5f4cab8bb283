// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rates.bpf.c - how often goroutines give up their thread: hits of functions of the Go runtime, counted and
 * nothing else. There are tens in each request, so these are probed for short times only (trace/rates.c);
 * what was measured meanwhile is slower by it, and left out by whoever measures (rate_window).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <hbprof/abi.h>
#include <hbprof/req.h>

#include "shared.bpf.h"
#include "reqmaps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe")
int hb_rate(struct pt_regs *ctx)
{
	u64 what = bpf_get_attach_cookie(ctx);
	int proc = target_index(current_pid_tgid() >> 32);
	struct hb_req_rate *rate;
	u32 key = proc;

	if (proc < 0 || !window_counts(bpf_ktime_get_ns()))
		return 0;
	rate = bpf_map_lookup_elem(&req_rates, &key);
	if (rate && what < HB_RATE_NR)
		__sync_fetch_and_add(&rate->n[BOUNDED(what, 1)], 1);
	return 0;
}
