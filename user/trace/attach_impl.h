/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* attach_impl.h - what attach.c, attach_multi.c and attach_perf.c share. */
#ifndef HBPROF_ATTACH_IMPL_H
#define HBPROF_ATTACH_IMPL_H

#include "trace/attach.h"

#define ATTACH_PATH	  64	     /* bytes for "/proc/self/fd/N" */
#define ATTACH_PROBES_MAX (1u << 20) /* of one call */

/* Does the kernel have this way? A program of 2 instructions is loaded, and no probe is made. 0,
 * -EOPNOTSUPP, or why it could not be loaded. */
int attach_multi__probe(void);
int attach_perf__probe(void);

/* The parts of attach__add(). All links of a failed call are left to the caller, from the first. */
int attach_multi__add(struct attach *a, const char *path, pid_t pid, struct attach_probe *p,
		      size_t nr, size_t *nr_refused);
int attach_perf__add(struct attach *a, const char *path, pid_t pid, struct attach_probe *p,
		     size_t nr, size_t *nr_refused);

/* Takes a link into the list; on failure it is closed. 0 or -ENOMEM. */
int attach__keep(struct attach *a, struct attach_link link);
/* Is it an instruction that the kernel refuses? All other errors are about the whole call. */
bool attach_refuses_site(int err);
/* The fd of a program that does nothing, with this expected attach type, or -errno. */
int attach_try_prog(u32 expected_attach_type);

#endif
