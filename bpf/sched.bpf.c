// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sched.bpf.c - how long threads were not on a CPU, and why: waiting for one, or blocked until somebody
 * woke them. Only of threads that have been in a measured call: codec.bpf.c makes their entries, and reads
 * them at both ends of a call (counters.bpf.h). Loaded with --sched only, as every context switch of the
 * machine comes by here; a bit per thread id keeps it short for those of others.
 *
 * The scheduler orders what happens to one thread: it is switched out on one CPU, woken, switched in on
 * another, one after the other. So its entry needs no lock.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>

#include "shared.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* NULL for a thread that has not been in a call. */
static __always_inline struct hb_thread *thread_of(const struct task_struct *task)
{
	u32 pid = task->pid;

	if (!(thread_bits[BOUNDED(pid >> 6, 1023)] >> (pid & 63) & 1))
		return NULL;
	return bpf_map_lookup_elem(&threads, &pid);
}

static __always_inline void thread_out(struct hb_thread *t, u64 now, bool runnable)
{
	t->out_ns = now;
	t->wake_ns = 0;
	t->blocked = !runnable;
}

static __always_inline void thread_in(struct hb_thread *t, u64 now)
{
	u64 ready = t->out_ns;

	if (!t->out_ns)
		return;
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
	struct hb_thread *out = thread_of(prev), *in = thread_of(next);

	if (out)
		thread_out(out, bpf_ktime_get_ns(), preempt || !prev->__state);
	if (in)
		thread_in(in, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(hb_wakeup, struct task_struct *task)
{
	struct hb_thread *t = thread_of(task);

	if (t && t->out_ns && t->blocked && !t->wake_ns)
		t->wake_ns = bpf_ktime_get_ns();
	return 0;
}
