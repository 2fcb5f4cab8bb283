// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view_rows.c - the table of the live view: which rows are shown, in which order, and the lines of
 * each. Columns and what stands in them are in view_columns.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/table.h"
#include "report/view_columns.h"
#include "util/array.h"

#define MAX_NAME 4096

static const struct group no_calls = {
	.measured_ns = M_NONE,
	.errors = M_NONE,
	.inc = {.min_ns = M_NONE},
	.exc = {.min_ns = M_NONE},
	.sizes = {.min = M_NONE, .max = M_NONE},
};

/* ---- which rows ---- */

static bool lets_through(const struct live_view *v, const struct group *g)
{
	const char *filter = v->st.filter;
	char pid[CELL] = "";

	if (v->now->nr_targets > 1 && g->target)
		snprintf(pid, sizeof(pid), "%u", g->target->pid);
	return !*filter || strcasestr(g->codec, filter) || strcasestr(g->op, filter) ||
	       strcasestr(g->name, filter) || strstr(pid, filter);
}

u32 view_matching(const struct live_view *v)
{
	u32 n = 0;

	for (u32 i = 0; i < v->all.nr; i++)
		n += lets_through(v, &v->all.v[i]);
	return n;
}

/* Of processes together there is one group, which has no target. */
static bool same_target(const struct live_view *v, const struct group *all,
			const struct group *part)
{
	if (!all->target || !part->target)
		return !all->target && !part->target;
	return all->target - v->whole.rec.target == part->target - v->recent.rec.target;
}

/* Functions are those of two copies of one recording. */
static bool same_group(const struct live_view *v, const struct group *all, const struct group *part)
{
	if (!all->func || !part->func)
		return all->func == NULL && part->func == NULL;
	return all->func - v->whole.rec.func == part->func - v->recent.rec.func &&
	       same_target(v, all, part) && all->outcome == part->outcome;
}

static struct group *find_part(const struct live_view *v, const struct group *all)
{
	for (u32 i = 0; i < v->part.nr; i++)
		if (same_group(v, all, &v->part.v[i]))
			return &v->part.v[i];
	return NULL;
}

static void set_key(const struct live_view *v, struct view_line *l)
{
	u32 by = v->st.sort;

	l->text = by == VIEW_CODEC ? l->name->codec : by == VIEW_OP ? l->name->op : NULL;
	if (by == VIEW_FUNC)
		l->text = name_short(l->name->name);
	l->num = l->text ? 0 : view_number(v, l, by);
}

/* Names ascend, numbers descend. */
static int cmp_keys(const struct view_line *a, const struct view_line *b)
{
	if (a->text)
		return strcasecmp(a->text, b->text);
	return (a->num < b->num) - (a->num > b->num);
}

/* What is not known is last, and so is the overflow row, in both directions. */
static int cmp_lines(const void *pa, const void *pb, void *reverse)
{
	const struct view_line *a = pa, *b = pb;
	int c = !a->name->func - !b->name->func;

	if (!c)
		c = isnan(a->num) - isnan(b->num);
	if (!c && !isnan(a->num))
		c = *(const bool *)reverse ? -cmp_keys(a, b) : cmp_keys(a, b);
	/* Groups are in order of their total time. */
	return c ? c : (a->name > b->name) - (a->name < b->name);
}

static int collect(struct view_table *t)
{
	struct live_view *v = t->v;

	t->none = no_calls;
	t->none.measured_ns = view_scope(v)->rec.end_mono_ns - view_scope(v)->rec.begin_mono_ns;
	t->line = array_alloc((size_t)v->all.nr + 1, sizeof(*t->line));
	if (!t->line)
		return -ENOMEM;
	for (u32 i = 0; i < v->all.nr; i++) {
		struct group *g = &v->all.v[i], *part = find_part(v, g);
		struct view_line *l = &t->line[t->nr];
		const struct bias *b;

		if (!lets_through(v, g))
			continue;
		*l = (struct view_line){.name = g, .g = g, .now = part};
		if (v->st.recent)
			l->g = part ? part : &t->none;
		b = g->func ? bias_find(v->bias, v->nr_biases, g->func) : NULL;
		l->resolution_ns = group_resolution_ns(l->g, b);
		view_trend_of(v, g, l->trend);
		set_key(v, l);
		t->nr++;
	}
	qsort_r(t->line, t->nr, sizeof(*t->line), cmp_lines, &v->st.reverse);
	return 0;
}

/* ---- lines ---- */

static void put_func(struct pen *p, const struct view_table *t, const struct view_line *l)
{
	const struct group *g = l->name;
	char pid[CELL] = "";
	struct strbuf b;

	if (t->v->now->nr_targets > 1 && g->target)
		snprintf(pid, sizeof(pid), " %u", g->target->pid);
	strbuf__init(&b, MAX_NAME);
	strbuf__addf(&b, "%s%s%s", g->ambiguous ? g->name : name_short(g->name), pid,
		     g->outcome == HB_OUTCOME_ERROR ? " (errors)" : "");
	if (b.err)
		pen_field(p, name_short(g->name), t->width[VIEW_FUNC], PEN_TAIL);
	else
		pen_field(p, b.s, t->width[VIEW_FUNC], PEN_TAIL);
	strbuf__fini(&b);
}

static void put_cells(struct pen *p, const struct view_table *t, const struct view_line *l,
		      const char *(*cell)(char *buf, const struct live_view *v,
					  const struct view_line *l, u32 c))
{
	enum pen_ink ink = p->ink;
	char buf[CELL];

	for (u32 c = VIEW_FUNC + 1; c < VIEW_ALL_COLS; c++) {
		const char *s;

		if (!t->width[c])
			continue;
		pen_space(p, VIEW_GAP);
		if (c == VIEW_GRAPH) {
			if (cell == view_cell)
				view_graph(p, l->trend, t->width[c]);
			else
				pen_space(p, t->width[c]);
			continue;
		}
		s = cell(buf, t->v, l, c);
		pen_ink(p, !strcmp(s, "n/a")			    ? INK_DIM
			   : c == t->v->st.sort && ink == INK_PLAIN ? INK_SORT
								    : ink);
		pen_field(p, s, t->width[c], PEN_RIGHT);
		pen_ink(p, ink);
	}
	pen_ink(p, INK_PLAIN);
	pen_newline(p);
}

static void put_group(struct pen *p, const struct view_table *t, const struct view_line *l)
{
	if (!l->g->calls)
		pen_ink(p, INK_DIM);
	else if (l->name->outcome == HB_OUTCOME_ERROR)
		pen_ink(p, INK_WARN);
	if (t->width[VIEW_CODEC]) {
		pen_field(p, l->name->codec, t->width[VIEW_CODEC], PEN_TAIL);
		pen_space(p, VIEW_GAP);
	}
	if (t->width[VIEW_OP]) {
		pen_field(p, l->name->op, t->width[VIEW_OP], PEN_LEFT);
		pen_space(p, VIEW_GAP);
	}
	put_func(p, t, l);
	put_cells(p, t, l, view_cell);
}

/* The label of a line that belongs to the row above. */
static void put_label(struct pen *p, const struct view_table *t, const char *label)
{
	u32 width = t->width[VIEW_FUNC];

	for (u32 c = VIEW_CODEC; c < VIEW_FUNC; c++)
		if (t->width[c])
			pen_space(p, t->width[c] + VIEW_GAP);
	pen_space(p, width > 2 ? 2 : 0);
	pen_field(p, label, width > 2 ? width - 2 : width, PEN_LEFT);
}

static const char *size_cell(char *buf, const struct live_view *v, const struct view_line *l, u32 c)
{
	return c == VIEW_NOW ? "" : view_cell(buf, v, l, c);
}

/* The i-th size class of a row. 0 or -ENOMEM. */
static int put_size(struct pen *p, const struct view_table *t, const struct view_line *l, u32 i)
{
	struct view_line one = *l;
	char label[CELL];
	struct group g;
	int err;

	err = group__of_class(&g, l->g, i);
	if (err)
		return err;
	one.g = &g;
	put_label(p, t, cell_size_class(label, g.row[0]->size_class));
	put_cells(p, t, &one, size_cell);
	group__fini(&g);
	return 0;
}

static u32 nr_sizes(const struct view_table *t, const struct view_line *l)
{
	return t->v->st.by_size && l->g->func ? group__nr_classes(l->g) : 0;
}

static u32 nr_lines(const struct view_table *t, const struct view_line *l)
{
	bool exclusive = t->v->st.exclusive && t->v->st.set == VIEW_LATENCY;

	return 1 + nr_sizes(t, l) + (exclusive && l->g->has_children);
}

/* Line `at` of a row's lines. */
static int put_line(struct pen *p, const struct view_table *t, const struct view_line *l, u32 at)
{
	if (!at) {
		put_group(p, t, l);
		return 0;
	}
	if (at <= nr_sizes(t, l))
		return put_size(p, t, l, at - 1);
	put_label(p, t, "exclusive");
	put_cells(p, t, l, view_exclusive_cell);
	return 0;
}

static void put_nothing(struct pen *p, const struct live_view *v)
{
	if (v->all.nr)
		pen_text(p, "no row matches the filter; Esc shows all");
	else if (v->base)
		pen_text(p, "no call has returned since the reset");
	else
		pen_text(p, "no probed function has returned yet");
	pen_newline(p);
}

/* Lines [v->st.top, + height) of all rows, as far as there are any. How many there are: *put. */
static int put_rows(struct pen *p, struct view_table *t, u32 height, u32 *put)
{
	u32 seen = 0;
	int err = 0;

	for (u32 i = 0; i < t->nr && *put < height && !err; i++) {
		u32 n = nr_lines(t, &t->line[i]);

		for (u32 k = 0; k < n && *put < height && !err; k++, seen++) {
			if (seen < t->v->st.top)
				continue;
			err = put_line(p, t, &t->line[i], k);
			(*put)++;
		}
	}
	return err;
}

static int put_body(struct pen *p, struct view_table *t, u32 height)
{
	struct live_view *v = t->v;
	u32 rows = 0, notes_lines, put = 0;
	struct strbuf notes;
	int err;

	for (u32 i = 0; i < t->nr; i++)
		rows += nr_lines(t, &t->line[i]);
	strbuf__init(&notes, VIEW_FRAME);
	view_notes(v, p->look->width, &notes);
	notes_lines = view_count_lines(&notes);
	v->lines = rows + (rows ? notes_lines : 0);
	v->body = height;
	if (v->st.top + height > v->lines)
		v->st.top = v->lines > height ? v->lines - height : 0;
	err = put_rows(p, t, height, &put);
	if (!rows && height) {
		put_nothing(p, v);
		put++;
	}
	if (!err && put < height && notes_lines)
		view_text_lines(p, notes.s, rows && v->st.top > rows ? v->st.top - rows : 0,
				height - put);
	else
		for (; put < height; put++)
			pen_newline(p);
	strbuf__fini(&notes);
	return err;
}

static void choose_extra(struct live_view *v)
{
	if (v->st.set == VIEW_COUNTERS)
		ctr_cols__counters(&v->extra, v->now);
	else if (v->st.set == VIEW_TIME)
		ctr_cols__time(&v->extra, v->now);
	else
		v->extra.nr = 0;
	if (v->st.sort >= VIEW_COLS + v->extra.nr)
		v->st.sort = VIEW_TOTAL;
}

int view_table(struct live_view *v, struct pen *p, u32 height)
{
	struct view_table t = {.v = v};
	int err;

	choose_extra(v);
	err = collect(&t);
	if (!err) {
		view_columns(&t, p->look->width);
		view_titles(p, &t);
		err = put_body(p, &t, height);
	}
	free(t.line);
	return err;
}
