/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_run.h - what the machine did during a recording: CPU time stolen by a hypervisor, suspends,
 * changes of the clock source, of the CPUs and of the limits of their frequency, throttling by the
 * targets' CPU quota, load. Facts of the recording's host, with keys that begin with "run_"; what
 * makes numbers doubtful is a warning, too.
 */
#ifndef HBPROF_HOST_RUN_H
#define HBPROF_HOST_RUN_H

#include <sys/types.h>

#include "model/model.h"

struct host_run;

/* Takes the first readings. root is "" but in tests. 0 or -ENOMEM. */
int host_run__new(const char *root, struct host_run **out);
/* From now on the CPU quota of this process's control group is watched; at most 64 groups are. A
 * process that has ended, or whose group cannot be read, is noted as that. */
void host_run__target(struct host_run *run, pid_t pid);
/* Looks at what may have changed; each second or so. */
void host_run__tick(struct host_run *run);
/* Takes readings, which wakes each CPU on some machines; adds facts and warnings of the time so far to r.
 * 0 or -ENOMEM. run may be NULL, here and below: nothing is known. */
int host_run__facts(struct host_run *run, struct recording *r);
/* Only the warnings of what had changed when it was last looked at: costs nothing. */
int host_run__warn(const struct host_run *run, struct recording *r);
void host_run__free(struct host_run *run); /* NULL is fine */

#endif
