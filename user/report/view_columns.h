/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* view_columns.h - rows and columns of the live view's table, between the file that chooses rows and the
 * one that knows columns. */
#ifndef HBPROF_VIEW_COLUMNS_H
#define HBPROF_VIEW_COLUMNS_H

#include "report/table.h"
#include "report/view_impl.h"

#define VIEW_GAP 1

/* A row of the table: of a group of all rows, and of the last interval's rows. */
struct view_line {
	struct group *name;	 /* who it is */
	struct group *g;	 /* what is shown of it */
	const struct group *now; /* of the last interval; NULL: no calls in it */
	double trend[VIEW_TREND];
	u64 resolution_ns;
	double num; /* what it is sorted by */
	const char *text;
};

struct view_table {
	struct live_view *v;
	struct view_line *line;
	u32 nr;
	u32 width[VIEW_ALL_COLS]; /* 0: not shown */
	struct group none;	  /* what a row without calls shows */
};

/* What rows are sorted by; NaN: not known. Of columns that are text, nothing that is meaningful. */
double view_number(const struct live_view *v, const struct view_line *l, u32 c);
/* Chooses the columns of t that fit into width. */
void view_columns(struct view_table *t, u32 width);
void view_titles(struct pen *p, const struct view_table *t);
/* Texts of the columns behind the function, but for the sparkline. They may point into buf. */
const char *view_cell(char buf[CELL], const struct live_view *v, const struct view_line *l, u32 c);
/* The same without the time of probed calls inside; "" where that is no difference. */
const char *view_exclusive_cell(char buf[CELL], const struct live_view *v,
				const struct view_line *l, u32 c);
void view_graph(struct pen *p, const double rate[VIEW_TREND], u32 width);

#endif
