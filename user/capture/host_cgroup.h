/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_cgroup.h - the CPU quota of a process's control group and of those around it, and how often it
 * stopped the process. Version 1 and 2 of control groups: Documentation/admin-guide/cgroup-v2.rst
 * (cpu.max, cpu.stat) and Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us) of the kernel.
 */
#ifndef HBPROF_HOST_CGROUP_H
#define HBPROF_HOST_CGROUP_H

#include <sys/types.h>

#include "capture/hostfile.h"

struct cgroup_cpu {
	char dir[256]; /* below root: "/sys/fs/cgroup/system.slice/x"; "": not found */
	char top[64];  /* where the hierarchy is mounted */
	bool v2;
};

struct cgroup_quota {
	double cpus;	  /* the smallest of all levels; 0: none has a quota */
	u64 throttled;	  /* periods in which a quota stopped the group, of all levels together */
	u64 throttled_ns; /* by as many CPUs as wanted to run */
};

/* False: the process has ended, or its group is not below a known mount. */
bool cgroup_cpu__find(const struct host *h, pid_t pid, struct cgroup_cpu *out);
/* False: the group is gone. */
bool cgroup_cpu__read(const struct host *h, const struct cgroup_cpu *g, struct cgroup_quota *out);

#endif
