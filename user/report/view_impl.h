/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* view_impl.h - what the files of the view share: a pen that never leaves its line, and the table. */
#ifndef HBPROF_VIEW_IMPL_H
#define HBPROF_VIEW_IMPL_H

#include "report/view.h"

enum pen_ink {
	INK_PLAIN,
	INK_BOLD,
	INK_DIM,
	INK_TITLE,
	INK_SORT,
	INK_SORT_TITLE,
	INK_WARN,
	INK_BAD
};

struct pen {
	struct strbuf *out;
	const struct view_look *look;
	u32 at;	     /* columns that are written of the line, or pending */
	u32 pending; /* spaces that a text may follow */
	enum pen_ink ink;
};

void pen_ink(struct pen *p, enum pen_ink ink);
/* Text that is fit for a terminal; what does not fit into the line is cut. */
void pen_text(struct pen *p, const char *s);
void pen_space(struct pen *p, u32 n);
/* In a field of width columns. What is too long loses its end, or its beginning (tail). */
enum pen_side { PEN_LEFT, PEN_RIGHT, PEN_TAIL };
void pen_field(struct pen *p, const char *s, u32 width, enum pen_side side);
/* A foreign name, escaped, of at most max columns. */
void pen_name(struct pen *p, const char *s, u32 max);
void pen_newline(struct pen *p);
static inline u32 pen_left(const struct pen *p)
{
	return p->look->width > p->at ? p->look->width - p->at : 0;
}

/* view_data.c: what was measured so far is subtracted from here on, or nothing is any more. 0 or
 * -ENOMEM, and there are no rows until the next reading. */
int view_reset(struct live_view *v, bool to_beginning);
/* r: what g's function and target belong to. NULL: it had no calls while anyone looked. */
const struct view_trend *view_trend_of(const struct live_view *v, const struct recording *r,
				       const struct group *g);

/* view_rows.c: titles and `height` lines of rows. 0 or -ENOMEM. */
int view_table(struct live_view *v, struct pen *p, u32 height);
/* What the status line says of the rows: those that the filter lets through. */
u32 view_matching(const struct live_view *v);
const char *view_col_title(enum view_col c);
/* view_keys.c */
void view_help(struct live_view *v, struct pen *p, u32 height);
bool view_col_is_text(enum view_col c);

/* Rows shown: of the last interval or since the beginning. */
static inline const struct since *view_scope(const struct live_view *v)
{
	return v->st.recent ? &v->recent : &v->whole;
}

#endif
