/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfev.h - a sampling perf event on every CPU that is online, with a BPF program on each: CPU cycles
 * where the hardware counts them (many virtual machines do not), else the clock of each CPU.
 */
#ifndef HBPROF_PERFEV_H
#define HBPROF_PERFEV_H

#include "model/model.h"

struct bpf_link;
struct bpf_program;

struct perfev {
	const char *name; /* "cycles", "cpu-clock"; NULL: never opened */
	u32 hz;		  /* as it came out */
	struct bpf_link **link;
	u32 nr_links;
};

void perfev__init(struct perfev *ev);
/*
 * 0 or -ENOMEM. What else fails is logged with its remedy and recorded as a warning: name stays NULL
 * if there is no event at all.
 */
int perfev__open(struct perfev *ev, const struct bpf_program *prog, u32 hz, struct recording *rec);
/* Closes the events; name and hz stay. */
void perfev__close(struct perfev *ev);

/* /proc/sys/kernel/NAME; 0: not to be had. */
u64 perfev_sysctl(const char *name);

#endif
