/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* listcost.h - for `hbprof list`: where the ends of calls would be seen, and what a call would cost. */
#ifndef HBPROF_LISTCOST_H
#define HBPROF_LISTCOST_H

#include "cmd/listview.h"
#include "model/jsonw.h"

/* Where the ends of a function's calls will be seen. */
struct ends {
	u32 nr, by_class[HB_CLASS_NR];
};

/* What a call adds to its caller, by the place that calls, as a recording on this host has measured it. */
struct cost_ns {
	u32 min, max;
	u64 wall_ns; /* when the oldest of them was measured; 0: not known for all of the places */
};

struct ends listcost__ends(const struct plan *pl, u32 func);
/* Whether the kernel emulates the probed instructions or must single-step them: "low", "raised", ... */
const char *listcost__word(const struct plan_func *pf, const struct ends *e);
struct cost_ns listcost__of(const struct listview *v, const struct plan_func *pf,
			    const struct ends *e);
/* "1480", "1480 to 10412", "n/a" */
void listcost__format(const struct cost_ns *c, char *buf, size_t len);
/* The member "cost_ns". */
void listcost__json(struct jsonw *w, const struct cost_ns *c);
/* Where the numbers come from, or why there are none: lines of text. */
void listcost__explain(const struct listview *v, struct strbuf *out);

#endif
