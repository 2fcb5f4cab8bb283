// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switches.bpf.c - context switches of measured processes, read and not counted: an iterator over the
 * machine's threads, which trace/switches.c runs when recording begins and ends. It costs nobody a
 * switch. /proc has the same numbers of live threads, and none of those that have ended: these are in
 * signal_struct (kernel/exit.c, __exit_signal()).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>
#include <hbprof/req.h>

#include "pidns.bpf.h"
#include "shared.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By the process's index; of the last pass that saw it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HB_MAX_PROCS);
	__type(key, u32);
	__type(value, struct hb_switches);
} req_switches SEC(".maps");

u32 switches_pass; /* written by user space: which pass this is; one runs at a time */

SEC("iter/task")
int hb_switches(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u32 pass = switches_pass, key;
	struct hb_switches *sw;
	u64 gone, gone_forced;
	int proc;

	if (!task)
		return 0;
	proc = target_index(task_tgid(task));
	key = proc;
	sw = proc < 0 ? NULL : bpf_map_lookup_elem(&req_switches, &key);
	if (!sw)
		return 0;
	if (sw->pass != pass) {
		sw->voluntary = sw->involuntary = 0;
		sw->threads = 0;
		sw->pass = pass;
	}
	gone = BPF_CORE_READ(task, signal, nvcsw);
	gone_forced = BPF_CORE_READ(task, signal, nivcsw);
	sw->gone = gone + gone_forced;
	sw->threads++;
	sw->voluntary += task->nvcsw;
	sw->involuntary += task->nivcsw;
	/* Its first thread stands in the list as long as there is any. */
	if (task->pid == task->tgid) {
		sw->voluntary += gone;
		sw->involuntary += gone_forced;
	}
	return 0;
}
