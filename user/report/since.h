/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * since.h - what happened between two recordings of one session, as a recording: counts, sums and
 * buckets are exact differences. Extremes are not known of a difference: the least and the most are
 * the ends of its outermost buckets (1/64 of the value at most), unless the later recording has an
 * extreme that the earlier one has not, which is then exact.
 */
#ifndef HBPROF_SINCE_H
#define HBPROF_SINCE_H

#include "model/model.h"

struct since {
	struct recording rec; /* rows, functions and targets; what else there is belongs to `now` */
};

/* Both must outlive it. before NULL: from the beginning. 0 or -ENOMEM. */
int since__init(struct since *s, const struct recording *now, const struct recording *before);
void since__fini(struct since *s);

#endif
