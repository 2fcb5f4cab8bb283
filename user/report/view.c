// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view.c - one frame of the live view: what is measured, the table, what stands below it (view_foot.c),
 * and the last line, which is for messages, the filter that is being typed, or the keys.
 */
#include "report/view_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/table.h"

#define TALL   14 /* from this height on the coverage may take two lines */
#define TALLER 20 /* from this height on the machine has a line */

/* ---- the first two lines ---- */

/* "0:07", "12:34", "1:00:00" */
static void clock_text(char buf[CELL], u64 ns)
{
	u64 s = ns / 1000000000;

	if (s < 3600)
		snprintf(buf, CELL, "%llu:%02llu", s / 60, s % 60);
	else
		snprintf(buf, CELL, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

/* Of the last interval. Rates of processes that were there for a part of it do not add up. */
static double all_calls_per_s(const struct live_view *v)
{
	const struct recording *r = &v->recent.rec;
	double calls = 0;

	for (u32 i = 0; i < v->part.nr; i++)
		calls += (double)v->part.v[i].calls;
	return r->end_mono_ns > r->begin_mono_ns
		       ? calls * 1e9 / (double)(r->end_mono_ns - r->begin_mono_ns)
		       : 0;
}

/* The command line without the folders of the program: the arguments tell programs apart. */
static const char *short_command(const char *cmdline)
{
	const char *name = cmdline;

	for (const char *s = cmdline; s && *s && *s != ' '; s++)
		if (*s == '/')
			name = s + 1;
	return name;
}

static void put_header(struct live_view *v, struct pen *p)
{
	const struct recording *r = v->now;
	char right[2 * CELL + 16], rate[CELL], time[CELL];
	u32 len;

	clock_text(time, r->end_mono_ns - r->begin_mono_ns);
	snprintf(right, sizeof(right), "%s   %s calls/s", time,
		 v->part.nr ? cell_rate(rate, all_calls_per_s(v)) : "0");
	len = text_width(right);
	pen_ink(p, INK_BOLD);
	pen_text(p, "hbprof ");
	if (r->nr_targets == 1 && pen_left(p) > len + 12) {
		snprintf(rate, sizeof(rate), "%u ", r->target[0].pid);
		pen_text(p, rate);
		pen_ink(p, INK_PLAIN);
		pen_name(p, short_command(r->target[0].cmdline), pen_left(p) - len - 2);
	} else if (r->nr_targets > 1 && pen_left(p) > len + 16) {
		snprintf(rate, sizeof(rate), "%u processes", r->nr_targets);
		pen_text(p, rate);
	}
	pen_ink(p, INK_BOLD);
	pen_space(p, pen_left(p) > len ? pen_left(p) - len : 0);
	pen_text(p, right);
	pen_newline(p);
}

static void add_filter(struct parts *ps, const struct live_view *v)
{
	struct strbuf b;

	strbuf__init(&b, sizeof(ps->v[0].text));
	text_add_escaped(&b, v->st.filter);
	parts__add(ps, INK_WARN, "%u of %u rows match \"%s\"", view_matching(v), v->all.nr,
		   b.s ? b.s : "");
	strbuf__fini(&b);
}

/* What is shown, and what the keys have changed. */
static void add_shown(struct parts *ps, const struct live_view *v)
{
	const struct recording *r = &view_scope(v)->rec;
	char buf[CELL];

	cell_ns(buf, r->end_mono_ns - r->begin_mono_ns);
	if (v->st.recent)
		parts__add(ps, INK_SORT, "the last %s alone", buf);
	else if (v->base)
		parts__add(ps, INK_SORT, "%s since the reset", buf);
	else
		parts__add(ps, INK_DIM, "since the start");
	if (*v->st.filter)
		add_filter(ps, v);
	if (v->extra_shown < v->extra.nr)
		parts__add(ps, INK_DIM, "columns %u-%u of %u", v->extra_first + 1,
			   v->extra_first + v->extra_shown, v->extra.nr);
	parts__add(ps, INK_DIM, "sorted by %s%s", view_col_title(v, v->st.sort),
		   v->st.reverse ? " (reversed)" : "");
}

/* The table must be there: it counts lines. */
static void put_status(struct live_view *v, struct pen *p)
{
	struct parts ps = {0};

	if (v->st.paused)
		parts__add(&ps, INK_WARN, "PAUSED");
	if (!v->st.page)
		add_shown(&ps, v);
	if (v->lines > v->body)
		parts__add(&ps, INK_DIM, "lines %u-%u of %u", v->st.top + 1, v->st.top + v->body,
			   v->lines);
	if (!v->st.page && v->now->nr_targets > 1)
		parts__add(&ps, INK_DIM,
			   v->st.by_process ? "a row for each process" : "processes together");
	parts__put(&ps, p, 1, 0);
}

/* ---- the last line ---- */

static void put_keys(struct pen *p)
{
	static const struct {
		const char *key, *what;
	} keys[] = {
		{"q", "quit"},	    {"h", "help"},	{"m", "machine"}, {"c", "counters"},
		{"< >", "sort"},    {"/", "filter"},	{"p", "pause"},	  {"i", "interval"},
		{"s", "sizes"},	    {"b", "processes"}, {"r", "reverse"}, {"z", "zero"},
		{"e", "exclusive"},
	};

	for (u32 i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strlen(keys[i].key) + strlen(keys[i].what) + 3 > pen_left(p) && i)
			break;
		pen_space(p, i ? 2 : 0);
		pen_ink(p, INK_BOLD);
		pen_text(p, keys[i].key);
		pen_ink(p, INK_DIM);
		pen_space(p, 1);
		pen_text(p, keys[i].what);
	}
	pen_newline(p);
}

static void put_edit(const struct live_view *v, struct pen *p)
{
	pen_ink(p, INK_BOLD);
	pen_text(p, "show rows with: ");
	pen_ink(p, INK_PLAIN);
	pen_name(p, v->st.filter, pen_left(p) ? pen_left(p) - 1 : 0);
	pen_ink(p, INK_TITLE);
	pen_text(p, p->look->style == VIEW_PLAIN ? "_" : " ");
	pen_ink(p, INK_DIM);
	if (pen_left(p) > 28)
		pen_text(p, "  Enter keeps, Esc drops it");
	pen_newline(p);
}

static void put_last(const struct live_view *v, struct pen *p)
{
	char more[64] = "";
	u32 len;

	if (v->st.editing) {
		put_edit(v, p);
	} else if (v->message) {
		if (v->nr_messages > 1)
			snprintf(more, sizeof(more), " (%u messages; all follow at the end)",
				 v->nr_messages);
		len = text_width(more) * 2 < pen_left(p) ? text_width(more) : 0;
		pen_ink(p, v->message_bad ? INK_BAD : INK_BOLD);
		pen_name(p, v->message, pen_left(p) - len);
		pen_text(p, len ? more : "");
		pen_newline(p);
	} else {
		put_keys(p);
	}
}

/* ---- a frame ---- */

/* Which parts there is room for, and how many lines are left for the table. */
struct plan_of_lines {
	bool header, host, status, requests, coverage, cost, last;
	u32 coverage_lines, body;
};

static void plan_lines(struct plan_of_lines *pl, const struct live_view *v,
		       const struct parts *coverage, const struct view_look *look)
{
	u32 left = look->height > 1 ? look->height - 1 : 0; /* without the titles */
	u32 wrapped = parts__lines(coverage, look->width, VIEW_LABEL);
	bool foot = v->st.page != VIEW_ABOUT; /* that page says it all */

	*pl = (struct plan_of_lines){0};
	pl->header = left >= 2 && left--;
	pl->last = left >= 3 && left--;
	pl->coverage = foot && left >= 3 && left--;
	pl->cost = foot && left >= 4 && left--;
	pl->requests = foot && v->now->requests && left >= 4 && left--;
	pl->status = left >= 4 && left--;
	pl->coverage_lines = 1;
	if (pl->coverage && look->height >= TALL && wrapped > 1) {
		pl->coverage_lines = 2;
		left--;
	}
	pl->host = foot && look->height >= TALLER && left--;
	pl->body = left;
}

/* The status says which lines are shown, which is known behind the table: so it is laid out first
 * into a text of its own. */
static int put_table(struct live_view *v, struct pen *p, const struct plan_of_lines *pl)
{
	struct strbuf text;
	struct pen q = {.out = &text, .look = p->look};
	int err = 0;

	strbuf__init(&text, VIEW_FRAME);
	if (v->st.page)
		err = view_page(v, &q, pl->body + 1);
	else
		err = view_table(v, &q, pl->body);
	if (!err)
		err = text.err;
	if (!err && pl->status)
		put_status(v, p);
	if (!err && text.s)
		strbuf__add(p->out, text.s, text.len);
	strbuf__fini(&text);
	return err;
}

int view__frame(struct live_view *v, const struct view_look *look, struct strbuf *out)
{
	struct pen p = {.out = out, .look = look};
	struct parts coverage = {0};
	struct plan_of_lines pl;
	int err;

	if (!v->now || !look->height || !look->width)
		return out->err;
	view_coverage_parts(v, &coverage);
	plan_lines(&pl, v, &coverage, look);
	if (pl.header)
		put_header(v, &p);
	err = put_table(v, &p, &pl);
	if (err)
		return err;
	if (pl.host)
		view_put_host(v, &p);
	if (pl.requests)
		view_put_requests(v, &p);
	if (pl.coverage) {
		pen_ink(&p, INK_DIM);
		pen_field(&p, "coverage", VIEW_LABEL, PEN_LEFT);
		parts__put(&coverage, &p, pl.coverage_lines, VIEW_LABEL);
	}
	if (pl.cost)
		view_put_cost(v, &p);
	if (pl.last)
		put_last(v, &p);
	return out->err;
}
