// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * proc.bpf.c - what becomes of the processes that are followed: fork, exec, exit. User space hears of it
 * and adds what is to be measured (trace/follow.c). Loaded only when something is followed.
 *
 * All of it is system-wide, some hundred ns for each fork, exec and exit. The first thing done is to
 * stop counting: a process that runs another program is none that is known, until user space has looked
 * at it.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>

#include "pidns.bpf.h"
#include "reqmaps.bpf.h"
#include "shared.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Process ids whose forks and execs are told: those that are measured, and what they have made. A full map
 * is proc_events_lost. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32); /* not used */
} followed SEC(".maps");

/* struct hb_proc_event. A full ring is proc_events_lost. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} proc_events SEC(".maps");

/* Known before load. */
const volatile bool cfg_all_execs; /* of any process, not only of those that are followed */

u64 proc_events_lost;

static __always_inline bool is_followed(u32 tgid)
{
	return bpf_map_lookup_elem(&followed, &tgid);
}

static __always_inline void lost(void)
{
	__sync_fetch_and_add(&proc_events_lost, 1);
}

static __always_inline void tell(enum hb_proc_what what, u32 tgid, u32 parent, bool follow)
{
	struct hb_proc_event *e = bpf_ringbuf_reserve(&proc_events, sizeof(*e), 0);

	if (!e) {
		lost();
		return;
	}
	e->mono_ns = bpf_ktime_get_ns();
	e->what = what;
	e->tgid = tgid;
	e->parent = parent;
	e->followed = follow;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
}

static __always_inline void measured_no_more(u32 tgid)
{
	u64 *hot = &hot_procs[BOUNDED(tgid, 255)];

	if (*(volatile u64 *)hot >> 32 == tgid)
		*(volatile u64 *)hot = 0;
	bpf_map_delete_elem(&procs, &tgid);
}

/* What a child serves of its parent's connections is seen from its first instruction on, long before user
 * space has heard of it. */
static __always_inline void child_begins(u32 parent, u32 child)
{
	int index = target_index(parent);
	u32 *heir = NULL, value;

	if (index < 0)
		heir = bpf_map_lookup_elem(&req_children, &parent);
	if (index < 0 && !heir)
		return;
	value = heir ? *heir : (u32)index;
	if (bpf_map_update_elem(&req_children, &child, &value, BPF_NOEXIST))
		req_count_n(HB_REQ_CHILDREN_FULL, 1);
	else
		__sync_fetch_and_add(&nr_req_children, 1);
}

static __always_inline void child_ends(u32 tgid)
{
	if (cfg_req_children && !bpf_map_delete_elem(&req_children, &tgid))
		__sync_fetch_and_add(&nr_req_children, -1);
}

/*
 * trace_sched_process_fork(parent, child), kernel/fork.c. A child that shares its parent's memory (vfork,
 * posix_spawn) has nothing of its own to measure before it execs.
 */
SEC("raw_tp/sched_process_fork")
int hb_fork(u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	u32 from = task_tgid(parent), to = task_tgid(child), yes = 1;

	/* A child in a namespace inside of hbprof's is no target, see session.c. */
	if (from == to || !to || !is_followed(from))
		return 0;
	if (bpf_map_update_elem(&followed, &to, &yes, BPF_ANY))
		lost();
	if (BPF_CORE_READ(parent, mm) == BPF_CORE_READ(child, mm))
		return 0;
	if (cfg_req_children)
		child_begins(from, to);
	tell(HB_PROC_FORK, to, from, true);
	return 0;
}

/* trace_sched_process_exec(p, old_pid, bprm), fs/exec.c: of the running task, once its new memory is
 * there and before anything has run in it. */
SEC("raw_tp/sched_process_exec")
int hb_exec(u64 *ctx)
{
	u32 tgid = current_pid_tgid() >> 32;
	bool follow = is_followed(tgid);

	if (!tgid)
		return 0;
	if (follow) {
		measured_no_more(tgid);
		child_ends(tgid);
	}
	if (follow || cfg_all_execs)
		tell(HB_PROC_EXEC, tgid, 0, follow);
	return 0;
}

/* trace_sched_process_exit(p), kernel/exit.c, of each thread: the last one has counted itself out. */
SEC("raw_tp/sched_process_exit")
int hb_exit(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 tgid = task_tgid(p);

	if (!is_followed(tgid) || BPF_CORE_READ(p, signal, live.counter) > 0)
		return 0;
	measured_no_more(tgid);
	child_ends(tgid);
	bpf_map_delete_elem(&followed, &tgid);
	return 0;
}
