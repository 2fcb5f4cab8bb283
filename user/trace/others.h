/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * others.h - who else probes or stops the code that is measured: another hbprof, bpftrace, perf, a
 * debugger. Their time is inside the latencies, and no calibration knows it. Looked for before the
 * first probe is placed and after the last one is off, when every breakpoint in the code is somebody
 * else's.
 *
 * The kernel tells of probes in three places, none of which has all: its BPF links, the perf events
 * of each process with a BPF program (/proc/PID/fd), the uprobe_events of tracefs. A probe counts
 * where its breakpoint stands in the memory of a measured process; a breakpoint that none of the
 * three explains is told as that. One that came and went in between is not seen.
 */
#ifndef HBPROF_OTHERS_H
#define HBPROF_OTHERS_H

#include "trace/plan.h"

struct recording;

enum other_kind {
	OTHER_PROBES,	/* uprobes, by a known tracer */
	OTHER_BREAKS,	/* breakpoints of somebody unknown */
	OTHER_DEBUGGER, /* a ptrace tracer: it may stop the process at any time */
	OTHER_MCOUNT,	/* uftrace: its library is loaded into the process */
};

/* One who looks at the code. */
struct other {
	u8 kind;	/* enum other_kind */
	char who[96];	/* "bpftrace, process 99" */
	char func[128]; /* the first function that it probes */
	u32 nr_funcs;
	u8 has[PLAN_MAX_FUNCS / 8]; /* bits: of the plan's functions */
};

struct others {
	struct other *v;
	size_t nr, cap;
	u32 blind; /* processes whose memory could not be read, or that have ended */
	bool cut;  /* there were too many links or open files to look at all */
};

/* Looks at all processes of the plan. 0 or -ENOMEM: o holds what was found. o must be zeros or what
 * others__fini() left. */
int others__look(const struct plan *pl, struct others *o);
void others__fini(struct others *o);

/* A warning of the recording for each: who was there from the start, who came, who went. 0 or -ENOMEM. */
int others__tell(const struct others *before, const struct others *after, struct recording *r);
/* Logs who is there now. */
void others__log(const struct others *now);

#endif
