// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sched.bpf.c - how long threads were not on a CPU, and why: waiting for one, or blocked until somebody
 * woke them; and which part of what the CPUs' events count is theirs. Only of threads that have been in
 * a measured call: codec.bpf.c makes their entries, and reads them at both ends of a call
 * (counters.bpf.h). Loaded with --sched only, as every context switch of the machine comes by here; a bit
 * per thread id keeps it short for those of others.
 *
 * The scheduler orders what happens to one thread: it is switched out on one CPU, woken, switched in on
 * another, one after the other. So its entry needs no lock.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>

#include "event.bpf.h"
#include "shared.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Most threads of a machine are in no call, ever, and are done with here. */
static __always_inline bool is_known(u32 pid)
{
	return thread_bits[BOUNDED(pid >> 6, 1023)] >> (pid & 63) & 1;
}

/*
 * The thread leaves a CPU, or gets one. What the CPU's events have counted in user mode until here is
 * prev's. A value that cannot be read leaves the thread's open calls without.
 */
static __always_inline void events_switch(struct hb_thread *t)
{
	struct bpf_perf_event_value v = {};
	u32 lag = 0;

	EACH_CTR(i)
	{
		if (cfg_ctr_kind[i] != HB_CTR_PERF)
			continue;
		if (event_read(i, &v, &lag)) {
			t->gaps++;
			continue;
		}
		t->own[i] = v.counter - t->own[i];
		t->own_lag[i] = lag - t->own_lag[i];
	}
}

static __always_inline void thread_out(u32 pid, u64 now, bool runnable)
{
	struct hb_thread *t = bpf_map_lookup_elem(&threads, &pid);

	if (!t)
		return;
	if (cfg_ctr_own)
		events_switch(t);
	t->out_ns = now;
	t->wake_ns = 0;
	t->blocked = !runnable;
}

static __always_inline void thread_in(u32 pid, u64 now)
{
	struct hb_thread *t = bpf_map_lookup_elem(&threads, &pid);
	u64 ready;

	/* 0: it was not seen leaving, as it was not known then. */
	if (!t || !t->out_ns)
		return;
	if (cfg_ctr_own)
		events_switch(t);
	ready = t->out_ns;
	if (t->blocked) {
		/* Not seen being woken: it was just now. */
		ready = t->wake_ns ? t->wake_ns : now;
		t->blocked_ns += ready - t->out_ns;
	}
	t->waiting_ns += now - ready;
	t->out_ns = 0;
}

/* Linux 5.18 adds an argument, behind these. A task that is preempted, or whose state says "running"
 * (a signal came), goes on as soon as there is a CPU for it. */
SEC("tp_btf/sched_switch")
int BPF_PROG(hb_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 out = prev->pid, in = next->pid;

	if (is_known(out))
		thread_out(out, bpf_ktime_get_ns(), preempt || !prev->__state);
	if (is_known(in))
		thread_in(in, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(hb_wakeup, struct task_struct *task)
{
	u32 pid = task->pid;
	struct hb_thread *t;

	if (!is_known(pid))
		return 0;
	t = bpf_map_lookup_elem(&threads, &pid);
	if (t && t->out_ns && t->blocked && !t->wake_ns)
		t->wake_ns = bpf_ktime_get_ns();
	return 0;
}
