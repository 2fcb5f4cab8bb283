/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* listview.h - a plan as `hbprof list` shows it. */
#ifndef HBPROF_LISTVIEW_H
#define HBPROF_LISTVIEW_H

#include "trace/plan.h"
#include "util/strbuf.h"

struct recording;

struct listview {
	const struct plan *plan;
	const char *target;	     /* "process 4242", "./server" */
	bool all;		     /* entries of codecs that were not seen, too */
	const struct recording *cal; /* calibrations (capture/calstore.h), or NULL: */
	const char *cal_why;	     /* why there are none */
};

/* Appends the list. Errors stay in the strbuf. */
void listview__table(const struct listview *v, struct strbuf *out);
void listview__json(const struct listview *v, struct strbuf *out);

#endif
