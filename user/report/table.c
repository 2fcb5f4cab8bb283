// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * table.c - the rows of the report for people: one per codec, operation, function, process and
 * outcome; under it the exclusive times where probed calls nest, or the size classes; below the
 * table a legend of the marks that occur in it, and what must be known of single rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/layout.h"
#include "report/table.h"

#define MAX_FUNC_COL 44 /* of a function's name, unless --wide */
#define MAX_PARA     65536

enum {
	C_CODEC,
	C_OP,
	C_FUNC,
	C_PID,
	C_LABEL,
	C_CALLS,
	C_RATE,
	C_MEAN,
	C_P50,
	C_P90,
	C_P99,
	C_P999,
	C_MAX,
	C_TOTAL,
	C_CPU,
	C_SIZE,
	C_NR,
};

static const struct column columns[C_NR] = {
	[C_CODEC] = {"codec", COL_NAME},   [C_OP] = {"op", COL_NAME},
	[C_FUNC] = {"function", COL_NAME}, [C_PID] = {"process", COL_NAME},
	[C_LABEL] = {"", COL_LABEL},	   [C_CALLS] = {"calls", COL_NUM},
	[C_RATE] = {"calls/s", COL_NUM},   [C_MEAN] = {"mean", COL_NUM},
	[C_P50] = {"P50", COL_NUM},	   [C_P90] = {"P90", COL_NUM},
	[C_P99] = {"P99", COL_NUM},	   [C_P999] = {"P99.9", COL_NUM},
	[C_MAX] = {"max", COL_NUM},	   [C_TOTAL] = {"total", COL_TAIL},
	[C_CPU] = {"of CPU", COL_TAIL},	   [C_SIZE] = {"payload", COL_TAIL},
};

/* Marks that occurred: only these are explained. */
struct legend {
	bool below, few, no_cpu, no_size, exclusive, sizes;
	bool brief; /* the recording is too short for shares of CPU time */
};

struct cells {
	char text[C_NR][CELL + 2];
	const char *at[C_NR];
};

static void set(struct cells *c, u32 col, const char *text)
{
	snprintf(c->text[col], sizeof(c->text[col]), "%s", text);
	c->at[col] = c->text[col];
}

/* A latency, marked when it is less than what the probe itself can tell apart. */
static void set_ns(struct cells *c, u32 col, u64 ns, u64 resolution, struct legend *l)
{
	char buf[CELL];
	bool below = ns != M_NONE && ns < resolution;

	snprintf(c->text[col], sizeof(c->text[col]), "%s%s", below ? "~" : "", cell_ns(buf, ns));
	c->at[col] = c->text[col];
	l->below |= below;
}

static void set_dist(struct cells *c, const struct m_dist *d, const struct group *g, u64 resolution,
		     struct legend *l)
{
	static const struct {
		u32 col, q;
	} quantiles[] = {
		{C_P50, DIST_P50},
		{C_P90, DIST_P90},
		{C_P99, DIST_P99},
		{C_P999, DIST_P999},
	};
	double mean = dist_mean(d);
	char buf[CELL];

	set_ns(c, C_MEAN, isfinite(mean) ? (u64)(mean + 0.5) : M_NONE, resolution, l);
	for (u32 i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		u64 ns = dist_quantile(d, quantiles[i].q);

		set_ns(c, quantiles[i].col, ns, resolution, l);
		l->few |= ns == M_NONE;
	}
	set_ns(c, C_MAX, d->count ? d->max_ns : M_NONE, resolution, l);
	set(c, C_TOTAL, cell_ns(buf, d->sum_ns));
	if (!g->func)
		return;
	set(c, C_CPU, cell_pct(buf, l->brief ? NAN : pct_of(d->sum_ns, g->cpu_ns)));
	l->no_cpu |= g->cpu_ns == M_NONE || !g->cpu_ns || l->brief;
}

static void set_calls(struct cells *c, struct group *g, struct legend *l)
{
	char buf[CELL];
	u64 p50 = sizes__p50(&g->sizes);

	set(c, C_CALLS, cell_count(buf, g->calls));
	set(c, C_RATE, cell_rate(buf, group_calls_per_s(g)));
	set(c, C_SIZE, cell_bytes(buf, p50));
	l->no_size |= p50 == M_NONE;
}

/* ---- names ---- */

/* At most max code points: the end of a long name is what tells functions apart. */
static void add_tail(struct strbuf *b, const char *name, u32 max)
{
	u32 width = text_width(name);

	if (width > max) {
		strbuf__adds(b, "...");
		for (width -= max - 3; width; width--)
			do
				name++;
			while (((u8)*name & 0xc0) == 0x80);
	}
	strbuf__adds(b, name);
}

static bool has_notes(const struct group *g)
{
	return g->func && (g->nested || g->func->note || dist_bucketed(&g->inc) < g->inc.count);
}

static void add_func_name(const struct view *v, const struct group *g, struct strbuf *b)
{
	const char *name = g->name;

	if (!v->opts->wide && !g->ambiguous)
		name = name_short(name);
	add_tail(b, name, v->opts->wide ? ~0u : MAX_FUNC_COL);
	if (has_notes(g))
		strbuf__adds(b, " *");
}

/* ---- rows ---- */

static const char *outcome_label(const struct view *v, const struct group *g)
{
	if (g->outcome == HB_OUTCOME_ERROR)
		return "errors";
	return g->errors != M_NONE && g->errors ? "ok" : "";
}

static u64 resolution_of(const struct view *v, const struct group *g)
{
	const struct bias *b = g->func ? bias_find(v->bias, v->nr_biases, g->func) : NULL;

	return group_resolution_ns(g, b);
}

static void add_exclusive(struct view *v, const struct group *g, struct grid *grid,
			  struct legend *l)
{
	struct cells c = {0};

	set(&c, C_LABEL, "exclusive");
	set_dist(&c, &g->exc, g, resolution_of(v, g), l);
	grid__row(grid, c.at);
	l->exclusive = true;
}

const char *cell_size_class(char buf[CELL], u32 size_class)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	u64 lo, hi;
	u32 unit = 0;

	size_class_range(size_class, &lo, &hi);
	if (lo == M_NONE)
		return "size n/a";
	for (; lo >= 1024; lo >>= 10, hi = (hi + 1) >> 10)
		unit++;
	if (!hi)
		return "empty";
	if (lo == hi)
		snprintf(buf, CELL, "%llu%s", lo, units[unit]);
	else
		snprintf(buf, CELL, "%llu-%llu%s", lo, hi, units[unit]);
	return buf;
}

static int add_sizes(struct view *v, const struct group *g, struct grid *grid, struct legend *l)
{
	u64 resolution = resolution_of(v, g);
	char label[CELL];

	for (u32 i = 0; g->func && i < group__nr_classes(g); i++) {
		struct cells c = {0};
		struct group one;
		int err;

		err = group__of_class(&one, g, i);
		if (err)
			return err;
		set(&c, C_LABEL, cell_size_class(label, one.row[0]->size_class));
		set_calls(&c, &one, l);
		set_dist(&c, &one.inc, &one, resolution, l);
		grid__row(grid, c.at);
		group__fini(&one);
		l->sizes = true;
	}
	return 0;
}

static int add_group(struct view *v, struct group *g, struct grid *grid, struct legend *l)
{
	struct cells c = {0};
	struct strbuf name;
	char pid[CELL];

	strbuf__init(&name, MAX_PARA);
	add_func_name(v, g, &name);
	c.at[C_CODEC] = g->codec;
	c.at[C_OP] = g->op;
	c.at[C_FUNC] = name.s;
	if (v->r->nr_targets > 1 && g->target) {
		snprintf(pid, sizeof(pid), "pid %u", g->target->pid);
		set(&c, C_PID, pid);
	}
	set(&c, C_LABEL, outcome_label(v, g));
	set_calls(&c, g, l);
	set_dist(&c, &g->inc, g, resolution_of(v, g), l);
	grid__row(grid, c.at);
	strbuf__fini(&name);
	if (v->opts->by == REPORT_BY_SIZE)
		return add_sizes(v, g, grid, l);
	if (g->has_children)
		add_exclusive(v, g, grid, l);
	return 0;
}

/* ---- below the table ---- */

static void print_legend(struct view *v, const struct legend *l)
{
	table__para(v, "percentiles", "nearest rank, exact below 128ns, else within 0.8%%");
	if (l->few)
		table__para(
			v, "n/a",
			"a percentile with no call above it: P50 needs 2 calls, P90 10, P99 100, "
			"P99.9 1,000");
	if (l->below)
		table__para(
			v, "~",
			"less than the probe can tell: below its own cost inside a call, below "
			"twice the uncertainty of it, or below a tenth of what other hits inside "
			"the call cost");
	table__para(v, "total",
		    "time between the begin and end of these calls, by the clock: "
		    "waiting is included");
	table__para(v, "of CPU",
		    "total in percent of the CPU time that the target used%s; more than 100%% "
		    "means waiting%s",
		    v->groups.by_target ? "" : " (all processes that made such calls)",
		    l->brief	? "; n/a: that time comes in steps of 10 ms, and the recording is "
				  "below 100 ms"
		    : l->no_cpu ? "; n/a where that time is not known"
				: "");
	if (l->exclusive)
		table__para(
			v, "exclusive",
			"the same calls as in the line above, less the time of the measured calls "
			"inside them; without such a line there were none of another row inside");
	table__para(v, "payload", "median size of a call's data%s",
		    l->no_size ? "; n/a where the function does not show it" : "");
	if (l->sizes)
		table__para(v, "sizes",
			    "classes between powers of two: 1-2KB is 1,024 to 2,047 bytes");
}

static void print_notes(struct view *v, const struct group *g)
{
	u64 bucketed = dist_bucketed(&g->inc);
	char a[CELL], b[CELL];
	struct strbuf s;

	if (!has_notes(g))
		return;
	strbuf__init(&s, MAX_PARA);
	strbuf__addf(&s, "%s %s %s%s:", g->codec, g->op, name_short(g->name),
		     g->outcome == HB_OUTCOME_ERROR ? " (errors)" : "");
	if (g->func->note) {
		strbuf__addc(&s, ' ');
		add_name(&s, g->func->note);
		strbuf__addc(&s, ';');
	}
	if (g->nested)
		strbuf__addf(&s, " perturbed %.*f nested probes per call;",
			     g->nested < g->calls ? 3 : 1, (double)g->nested / (double)g->calls);
	if (bucketed < g->inc.count)
		strbuf__addf(&s, " percentiles are of %s of its %s calls: no histogram was free;",
			     cell_count(a, bucketed), cell_count(b, g->inc.count));
	if (!s.err && s.len)
		s.s[--s.len] = '\0'; /* the last semicolon */
	table__para_buf(v, "*", &s);
}

/* Named by the user: of the codec "probe". A capture need not say either. */
static bool is_own(const struct m_func *f)
{
	return f->name && f->codec && !strcmp(f->codec, "probe");
}

/* Of functions of one name (copies that a compiler has made) the first, if none was called. */
static bool is_uncalled(const struct recording *r, u32 func)
{
	if (!is_own(&r->func[func]))
		return false;
	for (u32 i = 0; i < r->nr_funcs; i++) {
		const struct m_func *f = &r->func[i];

		if (!is_own(f) || strcmp(f->name, r->func[func].name))
			continue;
		if (i < func || f->n[HB_FN_ENTRIES] || f->n[HB_FN_UNSEEN])
			return false;
	}
	return true;
}

/* What the user has named is not passed over: 0 is a result. */
static void print_uncalled(struct view *v)
{
	struct strbuf s;
	u32 nr = 0;

	strbuf__init(&s, MAX_PARA);
	for (u32 i = 0; i < v->r->nr_funcs; i++) {
		if (!is_uncalled(v->r, i))
			continue;
		strbuf__adds(&s, nr++ ? ", " : "0 of ");
		add_name(&s, v->r->func[i].name);
	}
	if (nr)
		strbuf__adds(&s, " (where a compiler has inlined a function, it is not called)");
	if (nr)
		table__para_buf(v, "calls", &s);
	else
		strbuf__fini(&s);
}

static bool is_around(const struct group *g)
{
	return g->func && g->func->kind;
}

/* The groups of codecs, or those of what is around them. */
static void print_groups(struct view *v, bool around, struct legend *l)
{
	struct grid grid;
	u32 nr = 0;
	int err = 0;

	grid__init(&grid, columns, C_NR);
	for (u32 i = 0; !err && i < v->groups.nr; i++) {
		if (is_around(&v->groups.v[i]) != around)
			continue;
		err = add_group(v, &v->groups.v[i], &grid, l);
		nr++;
	}
	if (err && !v->out->err)
		v->out->err = err;
	if (nr && around)
		strbuf__adds(v->out, "around codecs (their time is not the codecs')\n");
	if (nr) {
		grid__render(&grid, v->opts->wide ? 0 : v->opts->width, v->out);
		strbuf__addc(v->out, '\n');
	}
	grid__fini(&grid);
}

void table__rows(struct view *v)
{
	struct legend l = {.brief = too_short_for_shares(v->r)};
	char buf[CELL];

	strbuf__addc(v->out, '\n');
	if (!v->groups.nr) {
		table__para(v, "rows", "none: no probed function returned within %s",
			    cell_ns(buf, v->r->end_mono_ns - v->r->begin_mono_ns));
		print_uncalled(v);
		return;
	}
	print_groups(v, false, &l);
	print_groups(v, true, &l);
	print_uncalled(v);
	for (u32 i = 0; i < v->groups.nr; i++)
		print_notes(v, &v->groups.v[i]);
	print_legend(v, &l);
}
