// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * timesplit.c - the section "where calls spend time" of the table report: on the CPU, waiting for one,
 * blocked, as means and as shares of the three together.
 */
#include <math.h>
#include <string.h>

#include "report/layout.h"
#include "report/table.h"

enum { C_CODEC, C_OP, C_FUNC, C_LABEL, C_CALLS, C_FIRST, C_NR = C_FIRST + 6 };

static const struct column columns[C_NR] = {
	[C_CODEC] = {"codec", COL_NAME},   [C_OP] = {"op", COL_NAME},
	[C_FUNC] = {"function", COL_NAME}, [C_LABEL] = {"", COL_LABEL},
	[C_CALLS] = {"calls", COL_NUM},	   [C_FIRST] = {"on CPU", COL_NUM},
	[C_FIRST + 1] = {"", COL_NUM},	   [C_FIRST + 2] = {"waiting", COL_NUM},
	[C_FIRST + 3] = {"", COL_NUM},	   [C_FIRST + 4] = {"blocked", COL_NUM},
	[C_FIRST + 5] = {"", COL_NUM},
};

static const char *const parts[3] = {"on-cpu", "waiting", "blocked"};

bool counter_is_time(const char *name)
{
	for (u32 i = 0; i < 3; i++)
		if (!strcmp(name, parts[i]))
			return true;
	return false;
}

static void add_row(struct view *v, const struct group *g, struct grid *grid)
{
	const char *at[C_NR] = {g->codec, g->op, g->ambiguous ? g->name : name_short(g->name)};
	char text[C_NR][CELL];
	double ns[3], all = 0;
	int i = m_counters__find(&v->r->counters, parts[0]);

	for (u32 k = 0; k < 3; k++) {
		ns[k] = group_ctr(g, v->r, parts[k]);
		all += ns[k];
	}
	if (g->outcome == HB_OUTCOME_ERROR)
		at[C_LABEL] = "errors";
	at[C_CALLS] = cell_count(text[C_CALLS], i < 0 ? M_NONE : g->ctr[i].calls);
	for (u32 k = 0; k < 3; k++) {
		u32 col = C_FIRST + 2 * k;

		at[col] = cell_ns(text[col], isfinite(ns[k]) ? (u64)(ns[k] + 0.5) : M_NONE);
		at[col + 1] = cell_pct(text[col + 1], all > 0 ? ns[k] / all * 100 : NAN);
	}
	grid__row(grid, at);
}

void table__time(struct view *v)
{
	struct grid grid;

	if (!v->groups.nr)
		return;
	for (u32 i = 0; i < 3; i++)
		if (m_counters__find(&v->r->counters, parts[i]) < 0)
			return;
	strbuf__adds(v->out, "\nwhere calls spend time\n");
	grid__init(&grid, columns, C_NR);
	for (u32 i = 0; i < v->groups.nr; i++)
		add_row(v, &v->groups.v[i], &grid);
	grid__render(&grid, v->opts->wide ? 0 : v->opts->width, v->out);
	grid__fini(&grid);
	strbuf__addc(v->out, '\n');
	table__para(
		v, "time",
		"means over the calls that have them; waiting: ready to run, without a CPU; "
		"blocked: until somebody woke the thread; calls whose goroutine left its thread "
		"have none");
}
