/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layout.h - text that fits the reader's terminal: labelled paragraphs, and a grid of cells that
 * stacks its columns when they do not fit side by side. Widths are in code points; 0 is no limit.
 */
#ifndef HBPROF_LAYOUT_H
#define HBPROF_LAYOUT_H

#include <hbprof/types.h>

#include "util/strbuf.h"

#define LAYOUT_INDENT 12 /* where the text of a paragraph begins */

/* "label       text", wrapped at spaces. An empty label continues the paragraph above. */
void layout_para(struct strbuf *out, u32 width, const char *label, const char *text);

enum column_kind {
	COL_NAME,  /* left-aligned; on a line of its own when stacked */
	COL_LABEL, /* left-aligned; stays with the numbers */
	COL_NUM,
	COL_TAIL, /* a number that goes to a line below, with its title, when still too wide */
};

struct column {
	const char *title;
	enum column_kind kind;
};

struct grid {
	const struct column *col;
	u32 nr_cols, nr_rows;
	char **cell;
	size_t nr_cells, cap;
	int err; /* -ENOMEM stays */
};

void grid__init(struct grid *g, const struct column *col, u32 nr_cols);
void grid__fini(struct grid *g);
/* A row of nr_cols strings, which are copied; NULL is an empty cell. A column without a single
 * cell is not shown. */
void grid__row(struct grid *g, const char *const *cell);
/* Appends the whole. A failure of the grid becomes one of out. */
void grid__render(const struct grid *g, u32 width, struct strbuf *out);

#endif
