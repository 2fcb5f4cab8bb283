// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_units.c - counters with their units.
 *
 * benchstat: the event's name over "op", as package perfbench of github.com/aclements/go-perfevent
 * reports what it counts in benchmarks of Go ("cpu-cycles/op"), so that both go into one table.
 *
 * OpenMetrics: the unit ends the family's name (OpenMetrics 1.0, "Unit"). A counter that is not known
 * here, a raw event of the CPU, is a series of the one family that has the counter as a label.
 */
#include "report/export_units.h"

#include <stdio.h>
#include <string.h>

#define FAMILY "hbprof_call_"

static const struct unit {
	const char *counter;
	const char *family; /* behind FAMILY */
	const char *unit;   /* how it ends; "seconds": the counter is ns */
	const char *help;
} units[] = {
	{"cycles", "cpu_cycles", "cycles", "CPU cycles in calls."},
	{"instructions", "instructions", "instructions", "Instructions in calls."},
	{"cache-references", "cache_references", "references", "Cache references in calls."},
	{"cache-misses", "cache_misses", "misses", "Cache misses in calls."},
	{"branches", "branches", "branches", "Branches in calls."},
	{"branch-misses", "branch_misses", "misses", "Mispredicted branches in calls."},
	{"bus-cycles", "bus_cycles", "cycles", "Bus cycles in calls."},
	{"ref-cycles", "ref_cycles", "cycles", "Cycles of constant frequency in calls."},
	{"stalled-cycles-frontend", "stalled_frontend_cycles", "cycles",
	 "Cycles in calls that waited for instructions."},
	{"stalled-cycles-backend", "stalled_backend_cycles", "cycles",
	 "Cycles in calls that waited for resources."},
	{"L1-dcache-loads", "l1_dcache_loads", "loads", "Loads from L1 in calls."},
	{"L1-dcache-load-misses", "l1_dcache_load_misses", "misses", "Loads not in L1 in calls."},
	{"L1-icache-load-misses", "l1_icache_load_misses", "misses",
	 "Instructions not in L1 in calls."},
	{"LLC-loads", "llc_loads", "loads", "Loads from the last cache in calls."},
	{"LLC-load-misses", "llc_load_misses", "misses", "Loads not in the last cache in calls."},
	{"dTLB-load-misses", "dtlb_load_misses", "misses", "Loads not in the data TLB in calls."},
	{"iTLB-load-misses", "itlb_load_misses", "misses",
	 "Instructions not in their TLB in calls."},
	{"page-faults", "page_faults", "faults", "Page faults in calls."},
	{"context-switches", "context_switches", "switches", "Context switches in calls."},
	{"task-clock", "task_clock_seconds", "seconds", "CPU time of the thread in calls."},
	{"on-cpu", "on_cpu_seconds", "seconds", "Time in calls on a CPU."},
	{"waiting", "waiting_seconds", "seconds", "Time in calls waiting for a CPU."},
	{"blocked", "blocked_seconds", "seconds", "Time in calls blocked."},
};
#define NR_UNITS (sizeof(units) / sizeof(units[0]))

static const struct unit *find_unit(const char *counter)
{
	for (size_t i = 0; i < NR_UNITS; i++)
		if (!strcmp(units[i].counter, counter))
			return &units[i];
	return NULL;
}

static bool is_seconds(const struct unit *u)
{
	return u && !strcmp(u->unit, "seconds");
}

const char *export_benchstat_unit(char buf[EXPORT_MAX_UNIT], const char *counter)
{
	const char *name = strcmp(counter, "cycles") ? counter : "cpu-cycles";
	size_t n;

	/* The name is the capture's; a unit ends at a space, and a slash begins what it is per. */
	n = (size_t)snprintf(buf, EXPORT_MAX_UNIT, "%.40s", name);
	for (size_t i = 0; i < n; i++)
		if (buf[i] <= ' ' || buf[i] >= 0x7f || buf[i] == '/')
			buf[i] = '_';
	snprintf(buf + n, EXPORT_MAX_UNIT - n, "%s/op",
		 is_seconds(find_unit(counter)) ? "-ns" : "");
	return buf;
}

/* ---- OpenMetrics ---- */

static void add_series(struct strbuf *b, const char *family, const char *label, const char *more)
{
	strbuf__addf(b, "%s_total{%s%s%s} ", family, label, *label && *more ? "," : "", more);
}

static void add_values(struct view *v, u32 ctr, const char *family, const struct unit *u,
		       const char *more, char *const *label)
{
	for (u32 i = 0; i < v->groups.nr; i++) {
		const struct m_ctr *c = &v->groups.v[i].ctr[ctr];

		if (!c->calls)
			continue;
		add_series(v->out, family, label[i], more);
		if (is_seconds(u))
			strbuf__addf(v->out, "%llu.%09llu\n", c->sum / 1000000000,
				     c->sum % 1000000000);
		else
			strbuf__addf(v->out, "%llu\n", c->sum);
	}
}

static void add_known(struct view *v, const struct unit *u, u32 ctr, char *const *label)
{
	char family[2 * EXPORT_MAX_UNIT];

	snprintf(family, sizeof(family), FAMILY "%s", u->family);
	strbuf__addf(v->out, "# HELP %s %s\n# TYPE %s counter\n# UNIT %s %s\n", family, u->help,
		     family, family, u->unit);
	add_values(v, ctr, family, u, "", label);
}

static void counter_label(struct strbuf *b, const char *name)
{
	strbuf__reset(b);
	openmetrics_label(b, "counter", name);
}

/* Counters that are not in the table: one family. */
static void add_raw(struct view *v, struct strbuf *more, char *const *label)
{
	static const char family[] = FAMILY "events";
	bool any = false;

	for (u32 i = 0; i < v->r->counters.nr; i++) {
		const struct m_counter *k = &v->r->counters.v[i];

		if (k->lack || find_unit(k->name))
			continue;
		if (!any)
			strbuf__addf(v->out,
				     "# HELP %s Other events in calls, by the counter's name.\n"
				     "# TYPE %s counter\n# UNIT %s events\n",
				     family, family, family);
		any = true;
		counter_label(more, k->name);
		add_values(v, i, family, NULL, more->s ? more->s : "", label);
	}
}

/* What the sums are divided by for a mean: not all calls have every counter. */
static void add_counted(struct view *v, struct strbuf *more, char *const *label)
{
	static const char family[] = "hbprof_counted_calls";

	strbuf__addf(v->out,
		     "# HELP %s Calls that have the counter; the sums are over these.\n"
		     "# TYPE %s counter\n# UNIT %s calls\n",
		     family, family, family);
	for (u32 i = 0; i < v->r->counters.nr; i++) {
		if (v->r->counters.v[i].lack)
			continue;
		counter_label(more, v->r->counters.v[i].name);
		for (u32 g = 0; g < v->groups.nr; g++) {
			add_series(v->out, family, label[g], more->s ? more->s : "");
			strbuf__addf(v->out, "%llu\n", v->groups.v[g].ctr[i].calls);
		}
	}
}

void export_openmetrics_counters(struct view *v, char *const *label)
{
	struct strbuf more;
	int at;

	if (!v->r->counters.nr)
		return;
	strbuf__init(&more, 1u << 20);
	for (size_t i = 0; i < NR_UNITS; i++) {
		at = m_counters__find(&v->r->counters, units[i].counter);
		if (at >= 0)
			add_known(v, &units[i], (u32)at, label);
	}
	add_raw(v, &more, label);
	add_counted(v, &more, label);
	if (more.err && !v->out->err)
		v->out->err = more.err;
	strbuf__fini(&more);
}
