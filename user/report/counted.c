// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * counted.c - the section "counters per call" of the table report: one column a counter, and the
 * quotients that people read them by; below it what was not counted, and why.
 */
#include <string.h>

#include "report/ctr_cols.h"
#include "report/layout.h"

#define MAX_PARA 65536

enum { C_CODEC, C_OP, C_FUNC, C_LABEL, C_CALLS, C_FIRST };

#define MAX_COLS (C_FIRST + CTR_COLS)

struct columns {
	struct column col[MAX_COLS];
	struct ctr_cols from;
	u32 nr;
};

static void columns__init(struct columns *c, const struct recording *r)
{
	static const struct column head[C_FIRST] = {
		[C_CODEC] = {"codec", COL_NAME},   [C_OP] = {"op", COL_NAME},
		[C_FUNC] = {"function", COL_NAME}, [C_LABEL] = {"", COL_LABEL},
		[C_CALLS] = {"calls", COL_NUM},
	};

	memcpy(c->col, head, sizeof(head));
	ctr_cols__counters(&c->from, r);
	for (u32 i = 0; i < c->from.nr; i++)
		c->col[C_FIRST + i] = (struct column){c->from.v[i].title, COL_NUM};
	c->nr = C_FIRST + c->from.nr;
}

static void add_row(struct view *v, const struct columns *c, const struct group *g,
		    const struct group *names, const char *label, struct grid *grid)
{
	char text[MAX_COLS][CELL], calls[CELL];
	const char *at[MAX_COLS] = {NULL};

	if (names) {
		at[C_CODEC] = names->codec;
		at[C_OP] = names->op;
		at[C_FUNC] = names->ambiguous ? names->name : name_short(names->name);
	}
	at[C_LABEL] = label;
	at[C_CALLS] = cell_count(calls, g->calls);
	for (u32 i = C_FIRST; i < c->nr; i++)
		at[i] = ctr_col_cell(text[i], &c->from.v[i - C_FIRST], v->r, g);
	grid__row(grid, at);
}

static int add_group(struct view *v, const struct columns *c, const struct group *g,
		     struct grid *grid)
{
	char label[CELL];

	add_row(v, c, g, g, g->outcome == HB_OUTCOME_ERROR ? "errors" : NULL, grid);
	for (u32 i = 0; v->opts->by == REPORT_BY_SIZE && g->func && i < group__nr_classes(g); i++) {
		struct group one;
		int err = group__of_class(&one, g, i);

		if (err)
			return err;
		add_row(v, c, &one, NULL, cell_size_class(label, one.row[0]->size_class), grid);
		group__fini(&one);
	}
	return 0;
}

/* ---- below -------------------------------------------------------------------------------- */

static const char *const lost_reasons[HB_CTR_LOST_NR] = {
	[HB_CTR_LOST_ROOM] = "there was no room to keep what was read at the entry",
	[HB_CTR_LOST_THREAD] = "they ended on another thread than they began",
	[HB_CTR_LOST_UNVETTED] = "what this Go version does with goroutines is not known",
	[HB_CTR_LOST_GOROUTINE] = "the goroutine left its thread in between",
	[HB_CTR_LOST_SWITCH] = "the thread left the CPU, which counted on (of these only what is "
			       "counted by thread is known; --sched follows threads)",
	[HB_CTR_LOST_LAG] = "values; the counter was not on the hardware all the time",
	[HB_CTR_LOST_READ] = "values; the counter could not be read",
	[HB_CTR_LOST_ABSURD] = "values; more than that time can hold",
};

/* "cycles in 98.1%, page-faults in 100.0% of the calls": equal shares together. */
static void print_shares(struct view *v)
{
	const struct m_counters *c = &v->r->counters;
	u64 all = 0, with[HB_CTRS] = {0};
	struct strbuf b;
	char pct[CELL];

	for (u32 i = 0; i < v->groups.nr; i++) {
		all += v->groups.v[i].calls;
		for (u32 k = 0; k < c->nr; k++)
			with[k] += v->groups.v[i].ctr[k].calls;
	}
	strbuf__init(&b, MAX_PARA);
	strbuf__adds(&b, "means over the calls that have them:");
	for (u32 i = 0; i < c->nr; i++) {
		bool said = c->v[i].lack != NULL;

		for (u32 k = 0; k < i && !said; k++)
			said = !c->v[k].lack && with[k] == with[i];
		if (said)
			continue;
		strbuf__adds(&b, " ");
		for (u32 k = i; k < c->nr; k++) {
			if (c->v[k].lack || with[k] != with[i])
				continue;
			strbuf__adds(&b, k > i ? ", " : "");
			add_name(&b, c->v[k].name);
		}
		strbuf__addf(&b, " in %s of them;", cell_pct(pct, pct_of(with[i], all)));
	}
	strbuf__adds(&b, " events of the CPU are those in user mode; calls inside are "
			 "included");
	table__para_buf(v, "counters", &b);
}

static void print_bias(struct view *v)
{
	const struct m_counters *c = &v->r->counters;
	struct strbuf b;
	u32 nr = 0;
	char n[CELL];

	strbuf__init(&b, MAX_PARA);
	for (u32 i = 0; i < c->nr; i++) {
		if (c->v[i].lack || c->v[i].bias == M_NONE)
			continue;
		strbuf__addf(&b, "%s%s ", nr++ ? ", " : "", cell_count(n, c->v[i].bias));
		add_name(&b, c->v[i].name);
	}
	if (!nr) {
		strbuf__fini(&b);
		return;
	}
	strbuf__adds(&b, " at most are the probes' own in a call, and subtracted");
	table__para_buf(v, "", &b);
}

/* Those with the same reason together. */
static void print_lacks(struct view *v)
{
	const struct m_counters *c = &v->r->counters;

	for (u32 i = 0; i < c->nr; i++) {
		bool said = !c->v[i].lack;
		struct strbuf b;

		for (u32 k = 0; k < i && !said; k++)
			said = c->v[k].lack && !strcmp(c->v[k].lack, c->v[i].lack);
		if (said)
			continue;
		strbuf__init(&b, MAX_PARA);
		for (u32 k = i; k < c->nr; k++) {
			if (!c->v[k].lack || strcmp(c->v[k].lack, c->v[i].lack))
				continue;
			strbuf__adds(&b, k > i ? ", " : "");
			add_name(&b, c->v[k].name);
		}
		strbuf__adds(&b, ": n/a (");
		add_name(&b, c->v[i].lack);
		strbuf__adds(&b, ")");
		table__para_buf(v, "not counted", &b);
	}
}

static void print_lost(struct view *v)
{
	const struct m_counters *c = &v->r->counters;
	char n[CELL];
	u32 nr = 0;

	for (u32 i = 0; i < HB_CTR_LOST_NR; i++) {
		if (!c->lost[i])
			continue;
		table__para(v, nr++ ? "" : "without", "%s%s: %s", cell_count(n, c->lost[i]),
			    i >= HB_CTR_LOST_LAG ? ""
			    : c->lost[i] == 1	 ? " call"
						 : " calls",
			    lost_reasons[i]);
	}
}

void table__counters_notes(struct view *v)
{
	bool any = false;

	for (u32 i = 0; i < v->r->counters.nr; i++)
		any |= !v->r->counters.v[i].lack && !counter_is_time(v->r->counters.v[i].name);
	if (any) {
		print_shares(v);
		print_bias(v);
		print_lost(v);
	}
	print_lacks(v);
}

void table__counters(struct view *v)
{
	struct columns c;
	struct grid grid;
	int err = 0;

	if (!v->r->counters.nr || !v->groups.nr)
		return;
	strbuf__addc(v->out, '\n');
	columns__init(&c, v->r);
	if (c.nr > C_FIRST) {
		strbuf__adds(v->out, "counters per call\n");
		grid__init(&grid, c.col, c.nr);
		for (u32 i = 0; !err && i < v->groups.nr; i++)
			err = add_group(v, &c, &v->groups.v[i], &grid);
		if (err && !v->out->err)
			v->out->err = err;
		grid__render(&grid, v->opts->wide ? 0 : v->opts->width, v->out);
		grid__fini(&grid);
		strbuf__addc(v->out, '\n');
	}
	table__counters_notes(v);
}
