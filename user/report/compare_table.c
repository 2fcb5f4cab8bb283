// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_table.c - a comparison for people. Two sides: a line per metric with the ratio, its limits
 * and the verdict. More: a column per side, or a line per side where the columns do not fit.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/compare_print.h"
#include "report/group.h"
#include "report/layout.h"
#include "util/units.h"

#define MAX_NAME     200
#define MAX_WHY	     64
#define MAX_ONLY     20
#define COLUMN_WIDTH 26 /* of a side with value, ratio and verdict */
#define MAX_CELL     96

struct tab {
	const struct compare *c;
	u32 width;
	struct strbuf *out;
	char *label[COMPARE_MAX_SIDES]; /* escaped */
	char why[MAX_WHY][COMPARE_WHY]; /* footnotes */
	u32 nr_why;
};

static char *escaped(const char *s, size_t max)
{
	struct strbuf b;

	strbuf__init(&b, max);
	text_add_escaped(&b, s);
	if (b.err == -EFBIG) { /* what fits of it */
		b.err = 0;
		strbuf__adds(&b, "");
	}
	return strbuf__take(&b);
}

static void para(struct tab *t, const char *label, const char *text)
{
	layout_para(t->out, t->width && t->width < 100 ? t->width : 100, label, text);
}

static void para_escaped(struct tab *t, const char *label, const char *text)
{
	char *s = escaped(text, 65536);

	if (s)
		para(t, label, s);
	else if (!t->out->err)
		t->out->err = -ENOMEM;
	free(s);
}

/* The number of a footnote; 0: there are too many. */
static u32 footnote(struct tab *t, const char *why)
{
	u32 i;

	for (i = 0; i < t->nr_why; i++)
		if (!strcmp(t->why[i], why))
			return i + 1;
	if (i == MAX_WHY)
		return 0;
	snprintf(t->why[t->nr_why++], COMPARE_WHY, "%s", why);
	return t->nr_why;
}

static const char *verdict_text(struct tab *t, const struct compare_cell *cell, char buf[MAX_CELL])
{
	u32 note = *cell->why ? footnote(t, cell->why) : 0;

	if (note)
		snprintf(buf, MAX_CELL, "%s [%u]", verdict_names[cell->verdict], note);
	else
		snprintf(buf, MAX_CELL, "%s", verdict_names[cell->verdict]);
	return buf;
}

static const char *value_text(struct tab *t, const struct metric *m,
			      const struct compare_cell *cell, char buf[MAX_CELL])
{
	char v[CMP_TEXT];
	u32 note = 0;

	if (isnan(cell->value) && *cell->why && cell->verdict == VERDICT_NONE)
		note = footnote(t, cell->why);
	if (note)
		snprintf(buf, MAX_CELL, "n/a [%u]", note);
	else
		snprintf(buf, MAX_CELL, "%s", cmp_value(v, m, cell->value));
	return buf;
}

/* ---- names ---- */

struct row_names {
	char *codec, *op, *func;
	char label[CMP_TEXT];
};

static void row_names__fini(struct row_names *n)
{
	free(n->codec);
	free(n->op);
	free(n->func);
}

static int row_names__init(struct row_names *n, const struct compare_row *row)
{
	n->codec = escaped(row->key.codec, MAX_NAME);
	n->op = escaped(row->key.op, MAX_NAME);
	n->func = escaped(name_short(row->key.name), MAX_NAME);
	cmp_label(n->label, &row->key);
	if (n->codec && n->op && n->func)
		return 0;
	row_names__fini(n);
	return -ENOMEM;
}

static bool shown(const struct compare_row *row, u32 nr_sides)
{
	u32 in = 0;

	for (u32 i = 0; i < nr_sides; i++)
		in += row->in[i];
	return row->in[0] && in > 1;
}

/* ---- a line per metric and side ---- */

enum {
	L_CODEC,
	L_OP,
	L_FUNC,
	L_LABEL,
	L_METRIC,
	L_SIDE,
	L_A,
	L_B,
	L_RATIO,
	L_LIMITS,
	L_VERDICT,
	L_NR
};

static void add_line(struct tab *t, const struct compare_row *row, u32 metric, u32 side,
		     const struct row_names *names, bool first, struct grid *g)
{
	const struct compare *c = t->c;
	const struct metric *m = c->metric[metric];
	const struct compare_cell *a = compare_cell(c, row, metric, 0);
	const struct compare_cell *b = compare_cell(c, row, metric, side);
	char va[MAX_CELL], vb[MAX_CELL], verdict[MAX_CELL], ratio[CMP_TEXT], limits[CMP_TEXT];
	const char *cell[L_NR] = {
		[L_CODEC] = first ? names->codec : "",
		[L_OP] = first ? names->op : "",
		[L_FUNC] = first ? names->func : "",
		[L_LABEL] = names->label,
		[L_METRIC] = m->title,
		[L_SIDE] = c->nr_sides > 2 ? t->label[side] : "",
		[L_A] = value_text(t, m, a, va),
		[L_B] = value_text(t, m, b, vb),
		[L_RATIO] = cmp_ratio(ratio, b->ratio),
		[L_LIMITS] = cmp_limits(limits, b),
		[L_VERDICT] = verdict_text(t, b, verdict),
	};

	grid__row(g, cell);
}

static void print_lines(struct tab *t)
{
	const struct compare *c = t->c;
	struct column col[L_NR] = {
		[L_CODEC] = {"codec", COL_NAME},      [L_OP] = {"op", COL_NAME},
		[L_FUNC] = {"function", COL_NAME},    [L_LABEL] = {"", COL_LABEL},
		[L_METRIC] = {"metric", COL_LABEL},   [L_SIDE] = {"side", COL_LABEL},
		[L_A] = {t->label[0], COL_NUM},	      [L_B] = {"value", COL_NUM},
		[L_RATIO] = {"ratio", COL_NUM},	      [L_LIMITS] = {"95% limits", COL_NUM},
		[L_VERDICT] = {"verdict", COL_LABEL},
	};
	struct grid g;

	if (c->nr_sides == 2)
		col[L_B].title = t->label[1];
	grid__init(&g, col, L_NR);
	for (u32 i = 0; i < c->nr_rows && !t->out->err; i++) {
		struct row_names names;
		bool first;

		if (!shown(&c->row[i], c->nr_sides))
			continue;
		if (row_names__init(&names, &c->row[i])) {
			t->out->err = -ENOMEM;
			break;
		}
		first = true;
		for (u32 m = 0; m < c->nr_metrics; m++) {
			for (u32 s = 1; s < c->nr_sides; s++) {
				if (!c->row[i].in[s])
					continue;
				add_line(t, &c->row[i], m, s, &names, first, &g);
				first = false;
			}
		}
		row_names__fini(&names);
	}
	grid__render(&g, t->width, t->out);
	grid__fini(&g);
}

/* ---- a column per side ---- */

enum { S_CODEC, S_OP, S_FUNC, S_LABEL, S_METRIC, S_SIDES };

static void side_text(struct tab *t, const struct compare_row *row, u32 metric, u32 side,
		      char buf[MAX_CELL])
{
	static const char *const marks[VERDICT_NR] = {
		[VERDICT_NONE] = "",	   [VERDICT_FASTER] = "faster", [VERDICT_SLOWER] = "slower",
		[VERDICT_MORE] = "more",   [VERDICT_FEWER] = "fewer",	[VERDICT_SAME] = "no diff.",
		[VERDICT_FEW] = "too few", [VERDICT_NOT] = "not comp.",
	};
	const struct compare_cell *cell = compare_cell(t->c, row, metric, side);
	char v[MAX_CELL], r[CMP_TEXT], note[16] = "";
	u32 nr;

	if (!row->in[side]) {
		snprintf(buf, MAX_CELL, "-");
		return;
	}
	value_text(t, t->c->metric[metric], cell, v);
	if (!side) {
		snprintf(buf, MAX_CELL, "%s", v);
		return;
	}
	nr = *cell->why ? footnote(t, cell->why) : 0;
	if (nr)
		snprintf(note, sizeof(note), " [%u]", nr);
	snprintf(buf, MAX_CELL, "%.16s x%.10s %s%s", v, cmp_ratio(r, cell->ratio),
		 marks[cell->verdict], note);
}

static void add_columns(struct tab *t, const struct compare_row *row, u32 metric,
			const struct row_names *names, struct grid *g)
{
	char text[COMPARE_MAX_SIDES][MAX_CELL];
	const char *cell[S_SIDES + COMPARE_MAX_SIDES] = {
		[S_CODEC] = metric ? "" : names->codec,	  [S_OP] = metric ? "" : names->op,
		[S_FUNC] = metric ? "" : names->func,	  [S_LABEL] = names->label,
		[S_METRIC] = t->c->metric[metric]->title,
	};

	for (u32 s = 0; s < t->c->nr_sides; s++) {
		side_text(t, row, metric, s, text[s]);
		cell[S_SIDES + s] = text[s];
	}
	grid__row(g, cell);
}

static void print_columns(struct tab *t)
{
	const struct compare *c = t->c;
	struct column col[S_SIDES + COMPARE_MAX_SIDES] = {
		[S_CODEC] = {"codec", COL_NAME},    [S_OP] = {"op", COL_NAME},
		[S_FUNC] = {"function", COL_NAME},  [S_LABEL] = {"", COL_LABEL},
		[S_METRIC] = {"metric", COL_LABEL},
	};
	struct grid g;

	for (u32 s = 0; s < c->nr_sides; s++)
		col[S_SIDES + s] = (struct column){t->label[s], COL_NUM};
	grid__init(&g, col, S_SIDES + c->nr_sides);
	for (u32 i = 0; i < c->nr_rows && !t->out->err; i++) {
		struct row_names names;

		if (!shown(&c->row[i], c->nr_sides))
			continue;
		if (row_names__init(&names, &c->row[i])) {
			t->out->err = -ENOMEM;
			break;
		}
		for (u32 m = 0; m < c->nr_metrics; m++)
			add_columns(t, &c->row[i], m, &names, &g);
		row_names__fini(&names);
	}
	grid__render(&g, t->width, t->out);
	grid__fini(&g);
}

/* ---- around the rows ---- */

static void print_sides(struct tab *t)
{
	struct strbuf b;

	for (u32 i = 0; i < t->c->nr_sides; i++) {
		strbuf__init(&b, 65536);
		strbuf__addf(&b, "%s = ", t->c->side[i].label);
		cmp_describe(t->c, i, &b);
		if (b.err == -ENOMEM && !t->out->err)
			t->out->err = b.err;
		para_escaped(t, i ? "" : "compared", b.s ? b.s : "n/a");
		strbuf__fini(&b);
	}
}

static void print_only(struct tab *t)
{
	const struct compare *c = t->c;
	u32 nr = 0;

	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->row[i];
		char label[CMP_TEXT], where[512] = "", n[32];
		struct strbuf b;

		if (shown(row, c->nr_sides) || row->key.size_class != KEY_ANY_SIZE ||
		    ++nr > MAX_ONLY)
			continue;
		for (u32 s = 0; s < c->nr_sides; s++) {
			size_t len = strlen(where);

			if (row->in[s])
				snprintf(where + len, sizeof(where) - len, "%s%.40s (%s calls)",
					 len ? ", " : "", c->side[s].label,
					 format_count(n, sizeof(n), cmp_calls(c, row, s)));
		}
		strbuf__init(&b, 65536);
		cmp_label(label, &row->key);
		strbuf__addf(&b, "%s %s %s%s%s: %s", row->key.codec, row->key.op, row->key.name,
			     *label ? ", " : "", label, where);
		para_escaped(t, nr == 1 ? "only in" : "", b.s ? b.s : "n/a");
		strbuf__fini(&b);
	}
	if (nr > MAX_ONLY) {
		char more[64];

		snprintf(more, sizeof(more), "and %u more rows; JSON has them all", nr - MAX_ONLY);
		para(t, "", more);
	}
}

static void add_note(void *ctx, const char *label, const char *text)
{
	para(ctx, label, text);
}

static void print_foot(struct tab *t)
{
	char label[16];

	for (u32 i = 0; i < t->nr_why; i++) {
		snprintf(label, sizeof(label), "[%u]", i + 1);
		para_escaped(t, label, t->why[i]);
	}
	print_only(t);
	cmp_notes(t->c, add_note, t);
	for (u32 i = 0; i < t->c->nr_warnings; i++)
		para_escaped(t, "WARNING", t->c->warning[i]);
	if (!t->c->nr_warnings)
		para(t, "warnings",
		     "none: the headers do not differ in what would explain a ratio");
}

void compare__table(const struct compare *c, u32 width, struct strbuf *out)
{
	struct tab *t = calloc(1, sizeof(*t));
	bool fits;

	if (!t) {
		out->err = -ENOMEM;
		return;
	}
	*t = (struct tab){.c = c, .width = width, .out = out};
	for (u32 i = 0; i < c->nr_sides; i++) {
		t->label[i] = escaped(c->side[i].label, 40);
		if (!t->label[i])
			out->err = -ENOMEM;
	}
	if (!out->err) {
		print_sides(t);
		strbuf__addc(out, '\n');
		fits = !width || 30 + COLUMN_WIDTH * c->nr_sides <= width;
		if (c->nr_sides > 2 && fits)
			print_columns(t);
		else
			print_lines(t);
		strbuf__addc(out, '\n');
		print_foot(t);
	}
	for (u32 i = 0; i < c->nr_sides; i++)
		free(t->label[i]);
	free(t);
}
