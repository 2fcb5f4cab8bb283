// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * timesplit.c - the section "where calls spend time" of the table report: on the CPU, waiting for one,
 * blocked, as means and as shares of the three together.
 */
#include "report/ctr_cols.h"
#include "report/layout.h"

enum { C_CODEC, C_OP, C_FUNC, C_LABEL, C_CALLS, C_FIRST, C_NR = C_FIRST + 6 };

static const struct column columns[C_NR] = {
	[C_CODEC] = {"codec", COL_NAME},   [C_OP] = {"op", COL_NAME},
	[C_FUNC] = {"function", COL_NAME}, [C_LABEL] = {"", COL_LABEL},
	[C_CALLS] = {"calls", COL_NUM},	   [C_FIRST] = {"on CPU", COL_NUM},
	[C_FIRST + 1] = {"", COL_NUM},	   [C_FIRST + 2] = {"waiting", COL_NUM},
	[C_FIRST + 3] = {"", COL_NUM},	   [C_FIRST + 4] = {"blocked", COL_NUM},
	[C_FIRST + 5] = {"", COL_NUM},
};

static void add_row(struct view *v, const struct ctr_cols *c, const struct group *g,
		    struct grid *grid)
{
	const char *at[C_NR] = {g->codec, g->op, g->ambiguous ? g->name : name_short(g->name)};
	char text[C_NR][CELL];

	if (g->outcome == HB_OUTCOME_ERROR)
		at[C_LABEL] = "errors";
	at[C_CALLS] = cell_count(text[C_CALLS], ctr_cols_counted(c, g));
	for (u32 i = 0; i < c->nr; i++)
		at[C_FIRST + i] = ctr_col_cell(text[C_FIRST + i], &c->v[i], v->r, g);
	grid__row(grid, at);
}

void table__time_notes(struct view *v)
{
	table__para(
		v, "time",
		"means over the calls that have them; waiting: ready to run, without a CPU; "
		"blocked: until somebody woke the thread; calls whose goroutine left its thread "
		"have none");
}

void table__time(struct view *v)
{
	struct ctr_cols c;
	struct grid grid;

	ctr_cols__time(&c, v->r);
	if (!v->groups.nr || !c.nr)
		return;
	strbuf__adds(v->out, "\nwhere calls spend time\n");
	grid__init(&grid, columns, C_NR);
	for (u32 i = 0; i < v->groups.nr; i++)
		add_row(v, &c, &v->groups.v[i], &grid);
	grid__render(&grid, v->opts->wide ? 0 : v->opts->width, v->out);
	grid__fini(&grid);
	strbuf__addc(v->out, '\n');
	table__time_notes(v);
}
