// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view_columns.c - the columns of the live view: which of them fit, and what stands in a cell.
 *
 * Columns have fixed widths, so that they stand still while numbers grow. They are taken in the order
 * of their importance until the line is full; what is left goes to names and sparklines.
 */
#include "report/view_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/text.h"
#include "report/table.h"

#define MIN_FUNC  18
#define GOOD_FUNC 30
#define MAX_FUNC  48
#define MAX_CODEC 20
#define MIN_GRAPH 10
#define MIN_EXTRA 8

static const struct {
	const char *title;
	u8 width;
	bool text;
} cols[VIEW_COLS] = {
	[VIEW_CODEC] = {"codec", 0, true},	 [VIEW_OP] = {"op", 6, true},
	[VIEW_FUNC] = {"function", 0, true},	 [VIEW_CALLS] = {"calls", 11, false},
	[VIEW_COUNTED] = {"counted", 11, false}, [VIEW_RATE] = {"calls/s", 9, false},
	[VIEW_NOW] = {"now/s", 9, false},	 [VIEW_GRAPH] = {"trend", 0, true},
	[VIEW_MEAN] = {"mean", 7, false},	 [VIEW_P50] = {"P50", 7, false},
	[VIEW_P90] = {"P90", 7, false},		 [VIEW_P99] = {"P99", 7, false},
	[VIEW_P999] = {"P99.9", 7, false},	 [VIEW_MAX] = {"max", 7, false},
	[VIEW_TOTAL] = {"total", 7, false},	 [VIEW_CPU] = {"of CPU", 7, false},
	[VIEW_SIZE] = {"payload", 8, false},
};

/* Which column is worth its place more than the others. A little of the function comes first of all,
 * and then the one that rows are sorted by; here is the rest of the function. */
static const u8 by_worth[] = {
	VIEW_RATE, VIEW_P99,   VIEW_P50,   VIEW_CALLS, VIEW_TOTAL, VIEW_MAX, VIEW_MEAN, VIEW_FUNC,
	VIEW_P90,  VIEW_GRAPH, VIEW_CODEC, VIEW_OP,    VIEW_P999,  VIEW_CPU, VIEW_NOW,	VIEW_SIZE,
};

const char *view_col_title(const struct live_view *v, u32 c)
{
	return c < VIEW_COLS ? cols[c].title : v->extra.v[c - VIEW_COLS].title;
}

static double known(u64 n)
{
	return n == M_NONE ? NAN : (double)n;
}

static double now_rate(const struct view_line *l)
{
	return l->now ? group_calls_per_s(l->now) : 0;
}

double view_number(const struct live_view *v, const struct view_line *l, u32 c)
{
	const struct group *g = l->g;

	if (c >= VIEW_COLS)
		return ctr_col_value(&v->extra.v[c - VIEW_COLS], v->now, g);
	switch (c) {
	case VIEW_CALLS:
		return (double)g->calls;
	case VIEW_COUNTED:
		return known(ctr_cols_counted(&v->extra, g));
	case VIEW_RATE:
		return group_calls_per_s(g);
	case VIEW_NOW:
		return now_rate(l);
	case VIEW_MEAN:
		return dist_mean(&g->inc);
	case VIEW_P50:
		return known(dist_quantile(&g->inc, DIST_P50));
	case VIEW_P90:
		return known(dist_quantile(&g->inc, DIST_P90));
	case VIEW_P99:
		return known(dist_quantile(&g->inc, DIST_P99));
	case VIEW_P999:
		return known(dist_quantile(&g->inc, DIST_P999));
	case VIEW_MAX:
		return g->inc.count ? known(g->inc.max_ns) : NAN;
	case VIEW_SIZE:
		return known(sizes__p50(&l->g->sizes));
	default: /* total; and the share of the CPU time, which is in proportion */
		return (double)g->inc.sum_ns;
	}
}

/* ---- which columns ---- */

static u32 shown_name_width(const struct live_view *v, const struct group *g)
{
	return text_width(g->ambiguous ? g->name : name_short(g->name)) +
	       (g->outcome == HB_OUTCOME_ERROR ? 9 : 0) +
	       (v->now->nr_targets > 1 && g->target ? 8 : 0);
}

static u32 within(u32 n, u32 least, u32 most)
{
	return n < least ? least : n > most ? most : n;
}

/* Of all rows that there ever were, not only of those that are shown: scrolling, filtering and
 * resetting move no column. */
static void measure_names(struct live_view *v)
{
	u32 codec = text_width(cols[VIEW_CODEC].title), func = 0, n;

	for (u32 i = 0; i < v->all.nr; i++) {
		n = text_width(v->all.v[i].codec);
		codec = n > codec ? n : codec;
		n = shown_name_width(v, &v->all.v[i]);
		func = n > func ? n : func;
	}
	v->codec_width = within(codec, v->codec_width, MAX_CODEC);
	v->func_width = within(func, v->func_width > MIN_FUNC ? v->func_width : MIN_FUNC, MAX_FUNC);
}

static u32 least_width(const struct live_view *v, u32 c)
{
	if (c >= VIEW_COLS) /* and the arrow */
		return within(text_width(view_col_title(v, c)) + 1, MIN_EXTRA, ~0u);
	return c == VIEW_CODEC ? v->codec_width : c == VIEW_GRAPH ? MIN_GRAPH : cols[c].width;
}

/* False: there is no room. */
static bool take(struct view_table *t, u32 c, u32 *left)
{
	u32 width = least_width(t->v, c);

	if (t->width[c])
		return true;
	if (*left < width + VIEW_GAP)
		return false;
	t->width[c] = width;
	*left -= width + VIEW_GAP;
	return true;
}

/* Up to `most`, as far as there is room. */
static void widen(struct view_table *t, u32 c, u32 most, u32 *left)
{
	u32 more = most > t->width[c] ? most - t->width[c] : 0;

	if (!t->width[c])
		return;
	more = more < *left ? more : *left;
	t->width[c] += more;
	*left -= more;
}

static void latency_columns(struct view_table *t, u32 *left)
{
	for (u32 i = 0; i < sizeof(by_worth); i++) {
		u32 c = by_worth[i];

		if (c == VIEW_FUNC)
			widen(t, c, within(t->v->func_width, 0, GOOD_FUNC), left);
		else if (c != VIEW_NOW || !t->v->st.recent) /* it would be calls/s once more */
			take(t, c, left);
	}
}

/* Of the columns of counters those from extra_first on that there is room for; it moves as far as it
 * takes to have the one that rows are sorted by among them, or none left over at the right. */
static void take_extra(struct view_table *t, u32 *left)
{
	struct live_view *v = t->v;
	u32 nr = v->extra.nr, sort = v->st.sort, first = v->extra_first < nr ? v->extra_first : 0;
	u32 last;

	if (sort >= VIEW_COLS) {
		take(t, sort, left);
		first = sort - VIEW_COLS < first ? sort - VIEW_COLS : first;
	}
	for (last = first; last < nr; last++)
		if (!take(t, VIEW_COLS + last, left))
			break;
	/* The one that was taken before the others may not be next to them: they come before it then. */
	if (sort >= VIEW_COLS && last <= sort - VIEW_COLS) {
		for (u32 i = first; i < last; i++) {
			*left += t->width[VIEW_COLS + i] + VIEW_GAP;
			t->width[VIEW_COLS + i] = 0;
		}
		first = last = sort - VIEW_COLS;
		last += t->width[sort] != 0;
	}
	while (first && take(t, VIEW_COLS + first - 1, left))
		first--;
	v->extra_first = first;
	v->extra_shown = last - first;
}

static void counter_columns(struct view_table *t, u32 *left)
{
	struct live_view *v = t->v;

	/* One of them at least, however narrow the terminal. */
	if (v->extra.nr && v->st.sort < VIEW_COLS)
		take(t, VIEW_COLS + (v->extra_first < v->extra.nr ? v->extra_first : 0), left);
	take(t, VIEW_CALLS, left);
	take(t, VIEW_COUNTED, left);
	take_extra(t, left);
	if (v->extra_shown < v->extra.nr)
		return;
	widen(t, VIEW_FUNC, within(v->func_width, 0, GOOD_FUNC), left);
	take(t, VIEW_CODEC, left);
	take(t, VIEW_OP, left);
}

void view_columns(struct view_table *t, u32 width)
{
	struct live_view *v = t->v;
	u32 left = width;

	measure_names(v);
	t->width[VIEW_FUNC] = width < MIN_FUNC ? width : MIN_FUNC;
	left -= t->width[VIEW_FUNC];
	if (v->st.sort != VIEW_FUNC && v->st.sort < VIEW_COLS)
		take(t, v->st.sort, &left);
	if (v->st.set == VIEW_LATENCY)
		latency_columns(t, &left);
	else
		counter_columns(t, &left);
	widen(t, VIEW_FUNC, v->func_width, &left);
	widen(t, VIEW_GRAPH, VIEW_TREND, &left);
	v->sortable = 0;
	for (u32 c = 0; c < VIEW_COLS + v->extra.nr; c++)
		v->sortable |= (u64)(t->width[c] != 0 || c >= VIEW_COLS) << c;
}

/* ---- cells ---- */

static const char *compact_count(char buf[CELL], u64 n, u32 width)
{
	static const char units[] = "kMGTPE";
	double v = (double)n;
	u32 unit = 0;

	if (strlen(cell_count(buf, n)) <= width || n == M_NONE)
		return n == M_NONE ? "n/a" : buf;
	for (v /= 1000; v >= 999.95 && unit < sizeof(units) - 2; v /= 1000)
		unit++;
	snprintf(buf, CELL, "%.1f%c", v, units[unit]);
	return buf;
}

static const char *compact_rate(char buf[CELL], double per_s, u32 width)
{
	const char *s = cell_rate(buf, per_s);

	return strlen(s) <= width ? s : compact_count(buf, (u64)per_s, width);
}

/* A latency; "~": less than what the probe itself can tell apart. */
static const char *latency(char buf[CELL], u64 ns, u64 resolution)
{
	char num[CELL];

	if (ns == M_NONE || ns >= resolution)
		return cell_ns(buf, ns);
	snprintf(buf, CELL, "~%s", cell_ns(num, ns));
	return buf;
}

static const char *dist_cell(char buf[CELL], const struct view_line *l, const struct m_dist *d,
			     u32 c)
{
	double mean = dist_mean(d);

	switch (c) {
	case VIEW_MEAN:
		return latency(buf, isfinite(mean) ? (u64)(mean + 0.5) : M_NONE, l->resolution_ns);
	case VIEW_P50:
		return latency(buf, dist_quantile(d, DIST_P50), l->resolution_ns);
	case VIEW_P90:
		return latency(buf, dist_quantile(d, DIST_P90), l->resolution_ns);
	case VIEW_P99:
		return latency(buf, dist_quantile(d, DIST_P99), l->resolution_ns);
	case VIEW_P999:
		return latency(buf, dist_quantile(d, DIST_P999), l->resolution_ns);
	case VIEW_MAX:
		return latency(buf, d->count ? d->max_ns : M_NONE, l->resolution_ns);
	case VIEW_TOTAL:
		return cell_ns(buf, d->sum_ns);
	case VIEW_CPU:
		return cell_pct(buf, l->g->func ? pct_of(d->sum_ns, l->g->cpu_ns) : NAN);
	default:
		return "";
	}
}

static const char *extra_cell(char buf[CELL], const struct live_view *v, const struct view_line *l,
			      u32 c)
{
	const struct ctr_col *col = &v->extra.v[c - VIEW_COLS];
	const char *s = ctr_col_cell(buf, col, v->now, l->g);
	double x = ctr_col_value(col, v->now, l->g);
	u32 width = least_width(v, c);

	return strlen(s) <= width || !(x < 1e19) ? s : compact_count(buf, (u64)x, width);
}

const char *view_cell(char buf[CELL], const struct live_view *v, const struct view_line *l, u32 c)
{
	if (c >= VIEW_COLS)
		return extra_cell(buf, v, l, c);
	switch (c) {
	case VIEW_CALLS:
		return compact_count(buf, l->g->calls, cols[c].width);
	case VIEW_COUNTED:
		return compact_count(buf, ctr_cols_counted(&v->extra, l->g), cols[c].width);
	case VIEW_RATE:
		return l->g->calls ? compact_rate(buf, group_calls_per_s(l->g), cols[c].width)
				   : "0";
	case VIEW_NOW:
		return l->now ? compact_rate(buf, now_rate(l), cols[c].width) : "0";
	case VIEW_SIZE:
		return cell_bytes(buf, sizes__p50(&l->g->sizes));
	default:
		return dist_cell(buf, l, &l->g->inc, c);
	}
}

const char *view_exclusive_cell(char buf[CELL], const struct live_view *v,
				const struct view_line *l, u32 c)
{
	return dist_cell(buf, l, &l->g->exc, c);
}

/* The highest reading that is shown has the full height; one without calls has none. */
void view_graph(struct pen *p, const double rate[VIEW_TREND], u32 width)
{
	static const char *const bars[] = {" ",	     "\u2581", "\u2582", "\u2583", "\u2584",
					   "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const marks[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
	double top = 0;

	for (u32 i = VIEW_TREND - width; i < VIEW_TREND; i++)
		top = rate[i] > top ? rate[i] : top;
	for (u32 i = VIEW_TREND - width; i < VIEW_TREND; i++) {
		u32 level = rate[i] > 0 ? (u32)ceil(rate[i] / top * 8) : 0;

		pen_text(p, p->look->utf8 ? bars[level] : marks[level]);
	}
}

void view_titles(struct pen *p, const struct view_table *t)
{
	const struct view_state *st = &t->v->st;
	bool text = st->sort < VIEW_COLS && cols[st->sort].text, up = st->reverse != text;
	const char *arrow = p->look->utf8 ? (up ? "\u25b2" : "\u25bc") : (up ? "^" : "v");
	char buf[CELL];

	for (u32 c = 0; c < VIEW_ALL_COLS; c++) {
		bool left = c <= VIEW_FUNC, sorted = c == st->sort;

		if (!t->width[c])
			continue;
		pen_ink(p, INK_TITLE);
		if (p->at)
			pen_space(p, VIEW_GAP);
		if (sorted)
			pen_ink(p, INK_SORT_TITLE);
		snprintf(buf, sizeof(buf), "%s%s%s", sorted && !left ? arrow : "",
			 view_col_title(t->v, c), sorted && left ? arrow : "");
		pen_field(p, buf, t->width[c], left ? PEN_LEFT : PEN_RIGHT);
	}
	pen_ink(p, INK_TITLE);
	pen_newline(p);
}
