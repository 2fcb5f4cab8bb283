/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pidns.bpf.h - the ids of processes other than the running one as user space knows them: hbprof may run in
 * a PID namespace of its own, a container's, and the kernel's own ids mean other processes there. Of the
 * running one: current_pid_tgid() in shared.bpf.h.
 */
#ifndef HBPROF_PIDNS_BPF_H
#define HBPROF_PIDNS_BPF_H

#include "shared.bpf.h"

/* The process of a task; 0: it is in another PID namespace than hbprof, as with current_pid_tgid(). */
static __always_inline u32 task_tgid(struct task_struct *task)
{
	struct upid id = {};
	struct upid *ids;
	struct pid *pid;
	u32 level;

	if (!cfg_pidns_ino)
		return BPF_CORE_READ(task, tgid);
	pid = BPF_CORE_READ(task, group_leader, thread_pid);
	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	ids = (void *)__builtin_preserve_access_index(&pid->numbers);
	if (bpf_probe_read_kernel(&id, sizeof(id), &ids[level]) || !id.ns)
		return 0;
	return BPF_CORE_READ(id.ns, ns.inum) == cfg_pidns_ino ? id.nr : 0;
}

#endif
