/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * group.h - the rows of a report out of the rows of a recording: those of one function and outcome
 * together, whatever their payload size, of each process or of all.
 */
#ifndef HBPROF_GROUP_H
#define HBPROF_GROUP_H

#include "report/dist.h"

struct group {
	/* Escaped for a terminal; "n/a" where the recording has no name. Owned by the group. */
	char *codec, *op, *name;
	const struct m_func *func;     /* NULL for the overflow row */
	const struct m_target *target; /* NULL for the overflow row, and of several together */
	u64 cpu_ns;		       /* CPU time of the target, or of all; M_NONE: not known */
	u8 outcome;
	bool ambiguous; /* another function of this codec and operation has the same short name */
	const struct recording *r;
	const struct m_row *
		*row; /* by size class, of all processes; points into the recording's rows */
	u32 nr_rows;
	u64 calls;
	u64 errors;	 /* failed calls of the same function and process; M_NONE: cannot be told */
	u64 measured_ns; /* M_NONE: not known */
	u64 nested;
	u64 raw_sum_ns, raw_min_ns, raw_max_ns;
	struct m_dist inc, exc; /* inclusive and exclusive latency of the calls */
	bool has_children;	/* some calls had other measured calls inside: inc and exc differ */
	struct sizes sizes;
	struct m_ctr ctr[HB_CTRS]; /* as in the recording's list */
};

struct groups {
	struct group *v; /* by total time, largest first; the overflow row last */
	u32 nr;
	const struct m_row **row; /* what the groups' rows point into */
	bool by_target;
};

/* by_target: each process has groups of its own; else those of all processes are together. 0 or -ENOMEM. The
 * recording must outlive the groups. */
int groups__build(struct groups *g, const struct recording *r, bool by_target);
void groups__fini(struct groups *g);

/* The name without the folders of its Go package: "v2.(*encMode).Marshal" is shown as
 * "cbor/v2.(*encMode).Marshal". Points into name. */
const char *name_short(const char *name);

/* The payload size classes that the calls of g are in, and the i-th of them as a group: the calls of all
 * processes of g. Names are NULL. 0 or -ENOMEM. */
u32 group__nr_classes(const struct group *g);
int group__of_class(struct group *out, const struct group *g, u32 i);
void group__fini(struct group *g);

/* NaN where not known. */
double group_calls_per_s(const struct group *g);
double dist_mean(const struct m_dist *d);
/* Of a counter, per call that has it. */
double ctr_mean(const struct m_ctr *c);
/* The mean per call of the counter of that name. */
double group_ctr(const struct group *g, const struct recording *r, const char *name);
/* The mean of one over that of another, each over the calls that have it. */
double group_ctr_ratio(const struct group *g, const struct recording *r, const char *over,
		       const char *under);

#endif
