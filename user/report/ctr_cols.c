// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ctr_cols.c - which columns a recording's counters make, and what stands in a cell. */
#include "report/ctr_cols.h"

#include <math.h>
#include <string.h>

static const struct ctr_quotient {
	const char *over, *under, *title;
	double scale;
} quotients[] = {
	{"instructions", "cycles", "IPC", 1},
	{"cycles", "instructions", "CPI", 1},
	{"cache-misses", "cache-references", "miss rate", 100},
	{"branch-misses", "branches", "missed", 100},
	{"L1-dcache-load-misses", "L1-dcache-loads", "L1 missed", 100},
	{"LLC-load-misses", "LLC-loads", "LLC missed", 100},
};

#define NR_QUOTIENTS (sizeof(quotients) / sizeof(quotients[0]))
_Static_assert(CTR_COLS == HB_CTRS + NR_QUOTIENTS, "room for all columns");

static const struct {
	const char *name, *title;
} short_names[] = {
	{"instructions", "instr."},
	{"cache-references", "cache refs"},
	{"cache-misses", "misses"},
	{"branch-misses", "br.misses"},
	{"L1-dcache-loads", "L1d loads"},
	{"L1-dcache-load-misses", "L1d misses"},
	{"page-faults", "faults"},
	{"context-switches", "switches"},
	{"stalled-cycles-frontend", "stalled front"},
	{"stalled-cycles-backend", "stalled back"},
};

static const struct {
	const char *name, *title, *share;
} parts[] = {
	{"on-cpu", "on CPU", "CPU %"},
	{"waiting", "waiting", "wait %"},
	{"blocked", "blocked", "block %"},
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

bool counter_is_time(const char *name)
{
	for (size_t i = 0; i < NR_PARTS; i++)
		if (!strcmp(name, parts[i].name))
			return true;
	return false;
}

static const char *short_name(const char *name)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++)
		if (!strcmp(short_names[i].name, name))
			return short_names[i].title;
	return name;
}

static void add(struct ctr_cols *c, struct ctr_col col)
{
	if (c->nr < CTR_COLS)
		c->v[c->nr++] = col;
}

void ctr_cols__counters(struct ctr_cols *c, const struct recording *r)
{
	c->nr = 0;
	for (u32 i = 0; i < r->counters.nr; i++) {
		const struct m_counter *k = &r->counters.v[i];

		if (k->lack || counter_is_time(k->name))
			continue;
		add(c, (struct ctr_col){.title = short_name(k->name), .ctr = (int)i});
		for (size_t q = 0; q < NR_QUOTIENTS; q++)
			if (!strcmp(quotients[q].over, k->name) &&
			    m_counters__find(&r->counters, quotients[q].under) >= 0)
				add(c, (struct ctr_col){.title = quotients[q].title,
							.ctr = (int)i,
							.over = &quotients[q]});
	}
}

void ctr_cols__time(struct ctr_cols *c, const struct recording *r)
{
	c->nr = 0;
	for (size_t i = 0; i < NR_PARTS; i++) {
		int at = m_counters__find(&r->counters, parts[i].name);

		if (at < 0) {
			c->nr = 0;
			return;
		}
		add(c, (struct ctr_col){.title = parts[i].title, .ctr = at});
		add(c, (struct ctr_col){.title = parts[i].share, .ctr = at, .share = true});
	}
}

static double share_pct(const struct ctr_col *c, const struct recording *r, const struct group *g)
{
	double all = 0;

	for (size_t i = 0; i < NR_PARTS; i++)
		all += group_ctr(g, r, parts[i].name);
	return all > 0 ? ctr_mean(&g->ctr[c->ctr]) / all * 100 : NAN;
}

double ctr_col_value(const struct ctr_col *c, const struct recording *r, const struct group *g)
{
	if (c->share)
		return share_pct(c, r, g);
	if (c->over)
		return c->over->scale * group_ctr_ratio(g, r, c->over->over, c->over->under);
	return ctr_mean(&g->ctr[c->ctr]);
}

static bool in_ns(const char *name)
{
	return counter_is_time(name) || !strcmp(name, "task-clock");
}

const char *ctr_col_cell(char buf[CELL], const struct ctr_col *c, const struct recording *r,
			 const struct group *g)
{
	double x = ctr_col_value(c, r, g);

	if (c->share || (c->over && c->over->scale > 1))
		return cell_pct(buf, x);
	if (!c->over && in_ns(r->counters.v[c->ctr].name))
		return cell_ns(buf, isfinite(x) ? (u64)(x + 0.5) : M_NONE);
	return cell_rate(buf, x);
}

u64 ctr_cols_counted(const struct ctr_cols *c, const struct group *g)
{
	u64 least = M_NONE;

	for (u32 i = 0; i < c->nr; i++) {
		u64 n = g->ctr[c->v[i].ctr].calls;

		least = n < least ? n : least;
	}
	return least;
}
