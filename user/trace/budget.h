/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * budget.h - which sites of a plan are probed where there may be only so many. Functions first, each
 * with its entry and, where its returns are probed, all of them; then return sites, in turn one of
 * each function, so that a function with a thousand callers leaves room for the others.
 *
 * A return site that is left out is not lost: the first call from it is counted as "return site not
 * known", and has it probed (discover.c), for which a quarter of the budget is kept.
 */
#ifndef HBPROF_BUDGET_H
#define HBPROF_BUDGET_H

#include "trace/plan.h"

#define BUDGET_DEFAULT 256 /* probes, where taking off 100 of them takes 4 to 10 s */

struct budget {
	u32 funcs_left, sites_left; /* functions; return sites */
};

/* Takes what is beyond max probes out of the plan's lists. 0 or -ENOMEM. */
int budget__apply(struct plan *pl, u32 max, struct budget *out);

#endif
