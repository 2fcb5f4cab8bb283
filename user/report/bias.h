/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bias.h - what the probes added to the times they measured, how well that is known, and whether
 * every call is accounted for: the figures by which the rest of a report is to be judged.
 */
#ifndef HBPROF_BIAS_H
#define HBPROF_BIAS_H

#include "report/group.h"

/* Cost of a pair of probes of two classes, from the calibrations of the recording. */
struct bias {
	u8 lang, entry, exit; /* exit == HB_CLASS_NR: no exit site is known */
	bool calibrated;
	bool pair;	     /* total_ns is of this exit class */
	u32 in_ns, total_ns; /* the last calibration */
	u32 uncertainty_ns;  /* the larger of: its spread, half of what it drifted by */
	u32 nr_cals;
	u64 calls; /* that were measured with it */
};

/* Latencies below this are more probe than call; 0 when not calibrated. */
u64 bias_resolution_ns(const struct bias *b);
/*
 * The same for the calls of a group: also below a tenth of what the hits inside a call cost on
 * average (nested calls, sites passed in vain). That much was subtracted, and is not known better.
 */
u64 group_resolution_ns(const struct group *g, const struct bias *b);
/* Each pair of classes that a function uses, the one with the most calls first. *out is malloced. */
int bias_list(const struct recording *r, const struct groups *g, struct bias **out, u32 *nr);
/* The one of such a list that f was measured with, or NULL. */
const struct bias *bias_find(const struct bias *v, u32 nr, const struct m_func *f);

/* entries = exits + abandoned + unknown return site + dropped + in flight at the end */
struct balance {
	bool known; /* false: what was in flight at the end is not known */
	bool holds;
	s64 missing; /* entries that are nowhere; negative: more ends than entries */
	u64 lost;    /* calls without a sample: unknown return site or dropped */
};

void balance__of(struct balance *b, const u64 n[HB_FN_NR], u64 in_flight_end);

#endif
