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

#define PARTS_MAX 24

struct part {
	enum pen_ink ink;
	char text[96];
};

struct parts {
	struct part v[PARTS_MAX];
	u32 nr;
};

/* More than there is room for are left out. */
void parts__add(struct parts *ps, enum pen_ink ink, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As many as fit into some lines, with commas; each line after the first is indented. */
void parts__put(const struct parts *ps, struct pen *p, u32 lines, u32 indent);
u32 parts__lines(const struct parts *ps, u32 width, u32 indent);

/* view_foot.c: lines with a label of so many columns. */
#define VIEW_LABEL 10
void view_put_host(const struct live_view *v, struct pen *p);
void view_put_requests(const struct live_view *v, struct pen *p);
void view_coverage_parts(const struct live_view *v, struct parts *ps);
void view_put_cost(const struct live_view *v, struct pen *p);

/* view_data.c: what was measured so far is subtracted from here on, or nothing is any more. 0 or
 * -ENOMEM, and there are no rows until the next reading. */
int view_reset(struct live_view *v, bool to_beginning);
/* Others that are to be shown as rows of their own, or together. The same. */
int view_regroup(struct live_view *v, bool by_process);
/* Of the rows of a group of v->all, its processes together; all 0 where it had no calls while anyone
 * looked. */
void view_trend_of(const struct live_view *v, const struct group *g, double rate[VIEW_TREND]);

/* view_rows.c: titles and `height` lines of rows. 0 or -ENOMEM. */
int view_table(struct live_view *v, struct pen *p, u32 height);
/* What the status line says of the rows: those that the filter lets through. */
u32 view_matching(const struct live_view *v);
const char *view_col_title(const struct live_view *v, u32 c);

/* view_pages.c: the page instead of titles and `height - 1` lines of the table; 0 or -ENOMEM. */
int view_page(struct live_view *v, struct pen *p, u32 height);
/* What must be known of the columns, below their rows: paragraphs for that width. */
void view_notes(const struct live_view *v, u32 width, struct strbuf *out);
/* Lines [from, from + nr) of a text, labels apart from what they are of. */
void view_text_lines(struct pen *p, const char *text, u32 from, u32 nr);
u32 view_count_lines(const struct strbuf *text);

/* Rows shown: of the last interval or since the beginning. */
static inline const struct since *view_scope(const struct live_view *v)
{
	return v->st.recent ? &v->recent : &v->whole;
}

#endif
