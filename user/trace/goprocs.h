/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * goprocs.h - GOMAXPROCS of the Go programs that are measured, as their runtimes have it. It decides how
 * a program scales, may change at any time (runtime.GOMAXPROCS, and from Go 1.25 on with the CPU quota),
 * and no file of /proc tells it: the variable is read from the process's memory.
 */
#ifndef HBPROF_GOPROCS_H
#define HBPROF_GOPROCS_H

#include "model/model.h"
#include "trace/session.h"

struct goprocs {
	u32 least, most; /* of all that were read; 0: none was */
	bool go;	 /* there is a Go program */
	u64 *vaddr;	 /* by the plan's images; 0: it does not say where the variable is */
	u32 nr_images;
	size_t cap_images;
};

/* Before the first probe, each second and at the end; g begins as zeros. A process that has ended, or has
 * not set it yet, is passed over. 0 or -ENOMEM. */
int goprocs__look(struct goprocs *g, const struct session *s);
/* Adds the fact to h, if there is a Go program. 0 or -ENOMEM. */
int goprocs__tell(const struct goprocs *g, struct m_host *h);
void goprocs__fini(struct goprocs *g);

#endif
