// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * layout.c - three ways to show a grid, tried from the widest to the narrowest:
 *
 *   beside   name  label  number  number  tail       one line a row
 *   stacked  name                                    the names above
 *              label  number  number  tail
 *   tailed   name                                    and the last columns below
 *              label  number  number
 *              title tail, title tail
 *
 * Where even that is too wide, the last numbers join the tails, as many as it takes.
 */
#include "report/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "util/array.h"

#define MAX_COLS 32

/* ---- paragraphs ---- */

static void add_spaces(struct strbuf *out, u32 n)
{
	while (n--)
		strbuf__addc(out, ' ');
}

/* Bytes of the word at s and its width. */
static size_t word_at(const char *s, u32 *width)
{
	size_t len = strcspn(s, " ");

	*width = 0;
	for (size_t i = 0; i < len; i++)
		*width += ((u8)s[i] & 0xc0) != 0x80;
	return len;
}

void layout_para(struct strbuf *out, u32 width, const char *label, const char *text)
{
	u32 at = LAYOUT_INDENT, len = text_width(label), word;
	bool first = true;
	size_t bytes;

	strbuf__adds(out, label);
	add_spaces(out, len < LAYOUT_INDENT ? LAYOUT_INDENT - len : 1);
	for (; *text; text += bytes) {
		text += strspn(text, " ");
		bytes = word_at(text, &word);
		if (!bytes)
			break;
		if (!first && width && at + 1 + word > width) {
			strbuf__addc(out, '\n');
			add_spaces(out, LAYOUT_INDENT);
			at = LAYOUT_INDENT;
			first = true;
		}
		if (!first)
			strbuf__addc(out, ' ');
		strbuf__add(out, text, bytes);
		at += word + !first;
		first = false;
	}
	strbuf__addc(out, '\n');
}

/* ---- grids ---- */

void grid__init(struct grid *g, const struct column *col, u32 nr_cols)
{
	*g = (struct grid){.col = col, .nr_cols = nr_cols < MAX_COLS ? nr_cols : MAX_COLS};
}

void grid__fini(struct grid *g)
{
	for (size_t i = 0; i < g->nr_cells; i++)
		free(g->cell[i]);
	free(g->cell);
	*g = (struct grid){0};
}

void grid__row(struct grid *g, const char *const *cell)
{
	for (u32 c = 0; !g->err && c < g->nr_cols; c++) {
		g->err = array_grow((void **)&g->cell, g->nr_cells, &g->cap, sizeof(*g->cell));
		if (g->err)
			return;
		g->cell[g->nr_cells] = strdup(cell[c] ? cell[c] : "");
		if (!g->cell[g->nr_cells])
			g->err = -ENOMEM;
		else
			g->nr_cells++;
	}
	if (!g->err)
		g->nr_rows++;
}

static const char *cell_at(const struct grid *g, u32 row, u32 col)
{
	return g->cell[(size_t)row * g->nr_cols + col];
}

struct shape {
	u32 width[MAX_COLS];	   /* 0: the column has no cell */
	bool loose[MAX_COLS];	   /* numbers that found no room on the line */
	u32 first_kind, last_kind; /* kinds of columns that share a line */
	u32 indent, gap;
};

static bool on_line(const struct grid *g, const struct shape *s, u32 col)
{
	return s->width[col] && !s->loose[col] && g->col[col].kind >= s->first_kind &&
	       g->col[col].kind <= s->last_kind;
}

static void measure(const struct grid *g, struct shape *s)
{
	for (u32 c = 0; c < g->nr_cols; c++) {
		u32 widest = 0, title = text_width(g->col[c].title);

		for (u32 r = 0; r < g->nr_rows; r++) {
			u32 w = text_width(cell_at(g, r, c));

			widest = w > widest ? w : widest;
		}
		s->width[c] = widest && widest < title ? title : widest;
	}
}

static bool fits(const struct grid *g, const struct shape *s, u32 width)
{
	u32 sum = s->indent;
	bool any = false;

	for (u32 c = 0; c < g->nr_cols; c++) {
		if (!on_line(g, s, c))
			continue;
		sum += s->width[c] + (any ? s->gap : 0);
		any = true;
	}
	return !width || sum <= width;
}

static void choose(const struct grid *g, struct shape *s, u32 width)
{
	static const struct {
		u32 first, last, indent, gap;
	} shapes[] = {
		{COL_NAME, COL_TAIL, 0, 2},  {COL_LABEL, COL_TAIL, 2, 2},
		{COL_LABEL, COL_TAIL, 2, 1}, {COL_LABEL, COL_NUM, 2, 2},
		{COL_LABEL, COL_NUM, 2, 1},
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		s->first_kind = shapes[i].first;
		s->last_kind = shapes[i].last;
		s->indent = shapes[i].indent;
		s->gap = shapes[i].gap;
		if (fits(g, s, width))
			return;
	}
	/* The first number stays: a line of labels alone is none. */
	for (u32 c = g->nr_cols; c-- > 1 && !fits(g, s, width);)
		s->loose[c] = g->col[c].kind == COL_NUM && g->col[c - 1].kind == COL_NUM;
}

static void render_line(const struct grid *g, const struct shape *s, const char *const *cell,
			struct strbuf *out)
{
	u32 pending = s->indent; /* spaces are written only before a text: none at the line's end */
	bool any = false;

	for (u32 c = 0; c < g->nr_cols; c++) {
		const char *text = cell ? cell[c] : g->col[c].title;
		u32 len = text_width(text), pad;

		if (!on_line(g, s, c))
			continue;
		pending += any ? s->gap : 0;
		any = true;
		pad = s->width[c] > len ? s->width[c] - len : 0;
		if (g->col[c].kind >= COL_NUM)
			pending += pad;
		if (len) {
			add_spaces(out, pending);
			strbuf__adds(out, text);
			pending = 0;
		}
		if (g->col[c].kind < COL_NUM)
			pending += pad;
	}
	strbuf__addc(out, '\n');
}

static void render_names(const struct grid *g, u32 row, struct strbuf *out)
{
	bool any = false;

	for (u32 c = 0; c < g->nr_cols; c++) {
		const char *text = cell_at(g, row, c);

		if (g->col[c].kind != COL_NAME || !*text)
			continue;
		strbuf__adds(out, any ? "  " : "");
		strbuf__adds(out, text);
		any = true;
	}
	if (any)
		strbuf__addc(out, '\n');
}

/* What is not on the line, with its title. */
static void render_tails(const struct grid *g, const struct shape *s, u32 row, u32 width,
			 struct strbuf *out)
{
	bool tails = s->last_kind < COL_TAIL;
	u32 at = 0;

	for (u32 c = 0; c < g->nr_cols; c++) {
		const char *text = cell_at(g, row, c);
		u32 len = text_width(g->col[c].title) + 1 + text_width(text);

		if (!*text || !(s->loose[c] || (tails && g->col[c].kind == COL_TAIL)))
			continue;
		if (at && width && at + 2 + len + 1 > width) {
			strbuf__adds(out, ",\n");
			at = 0;
		}
		if (at)
			strbuf__adds(out, ", ");
		else
			add_spaces(out, s->indent + 2);
		at += (at ? 2 : s->indent + 2) + len;
		strbuf__addf(out, "%s %s", g->col[c].title, text);
	}
	if (at)
		strbuf__addc(out, '\n');
}

void grid__render(const struct grid *g, u32 width, struct strbuf *out)
{
	struct shape s = {0};

	if (g->err && !out->err)
		out->err = g->err;
	if (g->err || !g->nr_rows)
		return;
	measure(g, &s);
	choose(g, &s, width);
	render_line(g, &s, NULL, out);
	for (u32 r = 0; r < g->nr_rows; r++) {
		if (s.first_kind > COL_NAME)
			render_names(g, r, out);
		render_line(g, &s, (const char *const *)&g->cell[(size_t)r * g->nr_cols], out);
		render_tails(g, &s, r, width, out);
	}
}
