// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view_pages.c - what is text in the live view: the page that explains the keys, the page of what is
 * measured where and how, and the notes below counters. All but the keys is the report's own text.
 */
#include "report/view_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"

static const struct {
	const char *keys, *what;
} help[] = {
	{"< >", "or left and right: sort by the column to the left or right"},
	{"r", "reverse the order"},
	{"t", "sort by total time, the largest first"},
	{"/", "show only rows whose codec, operation, function or pid has a text; Esc: all"},
	{"p", "or space: pause the view; measuring goes on"},
	{"i", "the last interval alone, or everything; now/s and trend are always the last ones"},
	{"c", "counters of each call, its time on and off the CPU (--sched), latencies again"},
	{"m", "the machine, the processes, the probes and what they cost, warnings"},
	{"b", "by process: a row for each, or all processes together"},
	{"s", "payload size classes below each row"},
	{"e", "exclusive: below rows with probed calls inside, the times without these"},
	{"z", "zero: count from now on; the report will have everything"},
	{"Z", "count from the start again"},
	{"Up Down", "scroll; PgUp, PgDn, Home, End too"},
	{"Ctrl-L", "draw the screen again"},
	{"q", "or Ctrl-C: end the recording, write the capture, print the report"},
	{"", ""},
	{"~", "less than the probe can tell"},
	{"n/a", "not known; a percentile with no call above it"},
	{"max",
	 "after a reset, or of the last interval alone, within 1.6 % above the largest call"},
	{"total", "time between the begin and end of the calls, by the clock: waiting is included"},
	{"of CPU",
	 "total in percent of the CPU time that the target used; above 100 % means waiting"},
	{"exclusive", "the line above, less the time of the measured calls inside its calls"},
	{"counted", "calls whose counters are known; the means are those of these calls"},
};

#define NR_HELP ((u32)(sizeof(help) / sizeof(help[0])))

/* Fits the first line to what there is of a page of so many lines. */
static void scroll_to(struct live_view *v, u32 lines, u32 height)
{
	v->body = height;
	v->lines = lines;
	if (v->st.top + height > lines)
		v->st.top = lines > height ? lines - height : 0;
}

static void put_help(struct live_view *v, struct pen *p, u32 height)
{
	scroll_to(v, NR_HELP, height);
	for (u32 i = 0; i < height; i++) {
		u32 at = v->st.top + i;

		if (at < NR_HELP && *help[at].keys) {
			pen_ink(p, INK_BOLD);
			pen_field(p, help[at].keys, 9, PEN_LEFT);
			pen_ink(p, INK_PLAIN);
			pen_space(p, 1);
			pen_field(p, help[at].what, pen_left(p), PEN_LEFT);
		}
		pen_newline(p);
	}
}

/* ---- text of the report ---- */

u32 view_count_lines(const struct strbuf *text)
{
	u32 n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->s[i] == '\n';
	return n;
}

/* A label is what stands before the text's column, with a gap; it comes with a paragraph's first line. */
static void put_line(struct pen *p, const char *line, size_t len)
{
	char label[LAYOUT_INDENT + 1] = "";
	struct strbuf b;

	if (len > LAYOUT_INDENT && *line != ' ' && line[LAYOUT_INDENT - 1] == ' ') {
		memcpy(label, line, LAYOUT_INDENT);
		pen_ink(p, INK_BOLD);
		pen_text(p, label);
		pen_ink(p, INK_PLAIN);
		line += LAYOUT_INDENT;
		len -= LAYOUT_INDENT;
	}
	strbuf__init(&b, VIEW_FRAME);
	strbuf__add(&b, line, len);
	strbuf__adds(&b, "");
	if (b.err && !p->out->err)
		p->out->err = b.err;
	if (b.s)
		pen_field(p, b.s, pen_left(p), PEN_LEFT);
	pen_newline(p);
	strbuf__fini(&b);
}

void view_text_lines(struct pen *p, const char *text, u32 from, u32 nr)
{
	for (; *text && nr; text += *text == '\n') {
		size_t len = strcspn(text, "\n");

		if (from) {
			from--;
		} else {
			put_line(p, text, len);
			nr--;
		}
		text += len;
	}
	for (; nr; nr--)
		pen_newline(p);
}

static bool asked_for_counters(const struct recording *r)
{
	for (u32 i = 0; i < r->counters.nr; i++)
		if (!counter_is_time(r->counters.v[i].name))
			return true;
	return false;
}

void view_notes(const struct live_view *v, u32 width, struct strbuf *out)
{
	const struct report_opts opts = {.width = width};
	struct view r = {.r = &view_scope(v)->rec, .opts = &opts, .groups = v->all, .out = out};

	if (v->st.recent)
		r.groups = v->part;
	if (v->st.set == VIEW_LATENCY)
		return;
	strbuf__addc(out, '\n');
	if (v->st.set == VIEW_TIME)
		table__time_notes(&r);
	else if (asked_for_counters(r.r))
		table__counters_notes(&r);
	else
		table__para(&r, "counters", "none: --counters=none");
}

/* Since the start, whatever the table shows: as the report will say it. */
static int put_about(struct live_view *v, struct pen *p, u32 height)
{
	const struct report_opts opts = {.width = p->look->width};
	struct strbuf text;
	struct view r = {.r = v->now, .opts = &opts, .out = &text};
	int err = groups__build(&r.groups, v->now, false);

	strbuf__init(&text, VIEW_FRAME);
	if (!err)
		err = bias_list(v->now, &r.groups, &r.bias, &r.nr_biases);
	if (!err) {
		table__facts(&r);
		table__coverage(&r);
		err = text.err;
	}
	if (!err) {
		scroll_to(v, view_count_lines(&text), height);
		view_text_lines(p, text.s ? text.s : "", v->st.top, height);
	}
	free(r.bias);
	groups__fini(&r.groups);
	strbuf__fini(&text);
	return err;
}

int view_page(struct live_view *v, struct pen *p, u32 height)
{
	bool about = v->st.page == VIEW_ABOUT;

	pen_ink(p, INK_TITLE);
	pen_text(p, about ? "what is measured, where and how; any key goes back"
			  : "keys; any other key goes back");
	pen_newline(p);
	if (height)
		height--;
	if (about)
		return put_about(v, p, height);
	put_help(v, p, height);
	return 0;
}
