/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shared.bpf.h - the maps and globals that programs in several objects use, a mask that stays, and
 * who is running. codec.bpf.c defines the maps and globals, through maps.bpf.h; everywhere else they are extern, and `bpftool gen object` makes them one. It
 * refuses maps whose declarations differ: so there is one declaration for both.
 */
#ifndef HBPROF_SHARED_BPF_H
#define HBPROF_SHARED_BPF_H

#ifndef HB_SHARED
#define HB_SHARED extern
#endif

/* clang 14 drops a plain mask when it believes the bound; the verifier does not believe it. */
#ifdef __bpf__
#define BOUNDED(i, mask)                                 \
	({                                               \
		u64 i_ = (i);                            \
		asm volatile("%0 &= " #mask : "+r"(i_)); \
		i_;                                      \
	})
#else
#define BOUNDED(i, mask) ((u64)(i) & (mask))
#endif

/* By tgid, of the targets that are measured now. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HB_MAX_PROCS);
	__type(key, u32);
	__type(value, struct hb_proc);
} procs SEC(".maps");

/*
 * Calls in flight by goroutine or thread. One entry for each task ever seen in a probed call (g
 * structs are used again, so their peak bounds it); entries that became empty stay, as deleting one
 * costs more than a call's whole handling, until user space sees the map filling and sets `tight`.
 * A full map is HB_DROP_FRAMES_FULL.
 */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct hb_frame_key);
	__type(value, struct hb_task);
} tasks SEC(".maps");

/* Threads that have been in a call, with time accounting only. The least used one makes room: its call
 * then has no such counters. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hb_thread);
} threads SEC(".maps");

/* Bit pid % 65536: there is, or was, an entry in `threads`. Words by pid / 64. */
HB_SHARED u64 thread_bits[1024];

/* Counter * cfg_ctr_cpus + CPU: the event that counts there, where there is one. */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* HB_CTRS * cfg_ctr_cpus */
	__type(key, u32);
	__type(value, u32);
} ctr_events SEC(".maps");

/* Known before load. */
HB_SHARED const volatile u32 cfg_ctr_cpus;	    /* with counters */
HB_SHARED const volatile u32 cfg_ctr_kind[HB_CTRS]; /* enum hb_ctr_kind */
/* Events are followed through context switches: there are some, and cfg_sched. */
HB_SHARED const volatile bool cfg_ctr_own;
HB_SHARED const volatile u32 cfg_tgid; /* the only target; 0: look in procs */
/* The PID namespace that process ids are of, when it is not the machine's first one; else 0. */
HB_SHARED const volatile u64 cfg_pidns_dev, cfg_pidns_ino;

/*
 * Empty for ever; that a program may tail-call through it is what matters. Since 6.13 the kernel gives
 * tracing programs stacks of their own, one for each CPU, for which their recursion check is the guard
 * (bpf_enable_priv_stack(), kernel/bpf/verifier.c). The programs of uprobes have no such check and may be
 * preempted: where kernels preempt themselves, another thread's hit on that CPU would overwrite the locals
 * of the first. A program with a tail call in it gets no such stack. (arm64: such programs with calls
 * need Linux 6.0.)
 */
HB_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} no_progs SEC(".maps");

/* Written by user space at run time. */
HB_SHARED bool recording; /* set once every site is attached, so that none starts early */
/* Direct-mapped cache of procs: tgid << 32 | index + 1. Written with it, and emptied before it. */
HB_SHARED u64 hot_procs[HB_HOT_PROCS];

/* The index of a target that is measured; -1: it is none. */
static __always_inline int target_index(u32 tgid)
{
	struct hb_proc *p;
	u64 hot;

	if (cfg_tgid)
		return tgid == cfg_tgid ? 0 : -1;
	hot = *(volatile u64 *)&hot_procs[BOUNDED(tgid, 255)];
	if (hot >> 32 == tgid)
		return (int)(u32)hot - 1;
	p = bpf_map_lookup_elem(&procs, &tgid);
	return p ? (int)(p->index & 0x7fff) : -1;
}

/* Process and thread id as user space knows them; 0 for a process of another PID namespace. */
static __always_inline u64 current_pid_tgid(void)
{
	struct bpf_pidns_info ns = {};

	if (!cfg_pidns_ino)
		return bpf_get_current_pid_tgid();
	if (bpf_get_ns_current_pid_tgid(cfg_pidns_dev, cfg_pidns_ino, &ns, sizeof(ns)))
		return 0;
	return (u64)ns.tgid << 32 | ns.pid;
}

#endif
