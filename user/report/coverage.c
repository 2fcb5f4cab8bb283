// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * coverage.c - the foot of the table report: is every call accounted for, what was lost and why,
 * and what the measuring cost.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

#define MAX_PARA 65536

static const char *const drop_reasons[HB_DROP_NR] = {
	[HB_DROP_NO_SITE] = "hits whose cookie names no site",
	[HB_DROP_READ_G] = "the goroutine could not be read",
	[HB_DROP_BAD_G] = "the stack pointer lay outside the goroutine's stack",
	[HB_DROP_READ_RA] = "the return address could not be read",
	[HB_DROP_FRAMES_FULL] = "no room for another task in flight",
	[HB_DROP_FRAMES_DEEP] = "too many probed calls nested",
	[HB_DROP_STACK_SWITCH] = "the thread ran on another stack than its open calls",
	[HB_DROP_CLOCK_BACK] = "the clock went backwards within a call",
	[HB_DROP_ROWS_FULL] = "counted in the overflow row: no free row",
	[HB_DROP_HISTS_FULL] = "counted, but without a histogram: percentiles leave them out",
	[HB_DROP_RAS_FULL] = "no room to remember another return address",
	[HB_DROP_WINDOW] =
		"gopark and mcall were counted meanwhile (--sched-rates), which takes time",
	[HB_DROP_EVENT_LOST] = "ring buffer full: the return address is asked for again",
};

static void print_identity(struct view *v)
{
	const struct m_coverage *c = &v->r->coverage;
	const u64 *n = c->n;
	struct balance b;
	struct strbuf s;
	char buf[CELL];

	balance__of(&b, n, c->in_flight_end);
	strbuf__init(&s, MAX_PARA);
	strbuf__addf(&s, "entries %s", cell_count(buf, n[HB_FN_ENTRIES]));
	strbuf__addf(&s, " %s exits %s", b.holds ? "=" : "!=", cell_count(buf, n[HB_FN_EXITS]));
	strbuf__addf(&s, " + abandoned %s", cell_count(buf, n[HB_FN_ABANDONED]));
	strbuf__addf(&s, " + return site unknown %s", cell_count(buf, n[HB_FN_UNKNOWN]));
	strbuf__addf(&s, " + in flight at the end %s", cell_count(buf, c->in_flight_end));
	strbuf__addf(&s, " + dropped %s%s", cell_count(buf, n[HB_FN_DROPPED]),
		     b.holds ? " (balanced)" : "");
	table__para_buf(v, "coverage", &s);
	if (b.holds && c->balanced)
		return;
	if (!c->balanced)
		table__para(v, "", "not final: read while the probes were still on%s",
			    b.holds ? "" : ", so the counters are of different moments");
	else if (!b.known)
		table__para(v, "NOT BALANCED", "what was in flight at the end is not known");
	else
		table__para(v, "NOT BALANCED",
			    "%s %s: DO NOT TRUST THESE COUNTS; this is a fault of hbprof or a "
			    "damaged capture",
			    cell_count(buf, b.missing < 0 ? -(u64)b.missing : (u64)b.missing),
			    b.missing < 0 ? "more calls ended than began"
					  : "calls began and are nowhere");
}

static void print_rest(struct view *v)
{
	const struct m_coverage *c = &v->r->coverage;
	struct strbuf s;
	char buf[CELL];

	strbuf__init(&s, MAX_PARA);
	strbuf__addf(&s, "in flight at the start %s",
		     c->in_flight_start == M_NONE ? "n/a (not known)"
						  : cell_count(buf, c->in_flight_start));
	/* Of calls without an entry those that were dropped are known, the others began before. */
	if (c->in_flight_start == M_NONE || c->in_flight_start > c->n[HB_FN_UNSEEN])
		strbuf__addf(&s, "; exits without an entry %s",
			     cell_count(buf, c->n[HB_FN_UNSEEN]));
	else
		strbuf__addf(&s, "; exits of dropped calls %s",
			     cell_count(buf, c->n[HB_FN_UNSEEN] - c->in_flight_start));
	strbuf__addf(&s, "; recursive entries %s", cell_count(buf, c->n[HB_FN_NESTED]));
	strbuf__addf(&s, "; ended on another thread %s", cell_count(buf, c->n[HB_FN_MIGRATED]));
	strbuf__addf(&s, "; size not readable %s", cell_count(buf, c->n[HB_FN_SIZE_LOST]));
	strbuf__addf(&s, "; outcome not readable %s", cell_count(buf, c->n[HB_FN_ERR_LOST]));
	strbuf__addf(&s, "; shorter than the probe's cost %s",
		     cell_count(buf, c->n[HB_FN_CLAMPED]));
	strbuf__addf(&s, "; other hits of shared sites %s", cell_count(buf, c->unmatched));
	strbuf__addf(&s, "; measured %s", cell_pct(buf, pct_of(c->measured_ns, c->wall_ns)));
	strbuf__addf(&s, " of %s", cell_ns(buf, c->wall_ns));
	table__para_buf(v, "", &s);
}

static void print_lost_function(struct view *v, const struct m_func *f)
{
	struct balance b;
	struct strbuf s;
	char buf[CELL];

	balance__of(&b, f->n, f->in_flight_end);
	if (!b.lost && (b.holds || !v->r->coverage.balanced))
		return;
	strbuf__init(&s, MAX_PARA);
	add_name(&s, f->name);
	strbuf__addf(&s, ": dropped %s", cell_count(buf, f->n[HB_FN_DROPPED]));
	strbuf__addf(&s, ", return site unknown %s", cell_count(buf, f->n[HB_FN_UNKNOWN]));
	strbuf__addf(&s, " of %s entries", cell_count(buf, f->n[HB_FN_ENTRIES]));
	if (b.known && !b.holds)
		strbuf__addf(&s, "; NOT BALANCED by %lld", b.missing);
	table__para_buf(v, "", &s);
}

static void print_lost(struct view *v)
{
	const struct m_coverage *c = &v->r->coverage;
	char buf[CELL], pct[CELL];
	struct balance b;
	u32 nr = 0;

	balance__of(&b, c->n, c->in_flight_end);
	if (!b.lost)
		table__para(v, "lost", "0 lost: every call that returned has its sample");
	else
		table__para(v, "lost", "%s calls without a sample, %s of all entries",
			    cell_count(buf, b.lost),
			    cell_pct(pct, pct_of(b.lost, c->n[HB_FN_ENTRIES])));
	for (u32 i = 0; i < v->r->nr_funcs; i++)
		print_lost_function(v, &v->r->func[i]);
	for (u32 i = 0; i < HB_DROP_NR; i++)
		if (c->drop[i])
			table__para(v, nr++ ? "" : "drops", "%s %s: %s", hb_drop_names[i],
				    cell_count(buf, c->drop[i]), drop_reasons[i]);
	if (!nr)
		table__para(v, "drops", "0 for each of the %u reasons", (u32)HB_DROP_NR);
}

static void print_samples(struct view *v)
{
	const struct m_stacks *s = &v->r->stacks;
	char buf[CELL];
	struct strbuf b;

	if (!s->event)
		return; /* not asked for, or a warning says why there are none */
	strbuf__init(&b, MAX_PARA);
	strbuf__addf(&b, "%s of ", cell_count(buf, s->samples));
	add_name(&b, s->event);
	strbuf__addf(&b, " at %u Hz, %s lost", s->frequency_hz, cell_count(buf, s->lost));
	strbuf__addf(&b, "; in the calls above %s",
		     cell_pct(buf, pct_of(m_stacks__in_calls(v->r), s->samples)));
	strbuf__addf(&b, "; with a cut stack %s", cell_pct(buf, pct_of(s->truncated, s->samples)));
	if (s->unkept)
		strbuf__addf(&b, "; without one, as there was no room, %s",
			     cell_count(buf, s->unkept));
	table__para_buf(v, "CPU samples", &b);
}

static void print_cost(struct view *v)
{
	const struct m_cost *c = &v->r->cost;
	u64 wall = v->r->coverage.wall_ns, cpu = targets_cpu_ns(v->r);
	char spent[CELL], one[CELL], own[CELL], hb[CELL], rss[CELL], maps[CELL];

	if (c->probe_ns == M_NONE)
		table__para(v, "cost", "to the target: n/a (the probes were not calibrated)");
	else
		table__para(
			v, "cost",
			"to the target: %s, which is %s of one CPU and %s of the CPU time it used",
			cell_ns(spent, c->probe_ns), cell_pct(one, pct_of(c->probe_ns, wall)),
			too_short_for_shares(v->r) ? "n/a (recorded for less than 100 ms)"
			: cpu == M_NONE || !cpu	   ? "n/a (not known)"
						   : cell_pct(own, pct_of(c->probe_ns, cpu)));
	table__para(v, "", "of hbprof: %s of one CPU, resident %s, kernel maps %s",
		    cell_pct(hb, cpu_share(v->r, c->hbprof_cpu_ns, wall)),
		    cell_bytes(rss, c->rss_bytes), cell_bytes(maps, c->kernel_map_bytes));
}

static void print_warnings(struct view *v)
{
	struct strbuf s;

	for (u32 i = 0; i < v->r->nr_warnings; i++) {
		strbuf__init(&s, MAX_PARA);
		add_name(&s, v->r->warning[i]);
		table__para_buf(v, "WARNING", &s);
	}
}

void table__coverage(struct view *v)
{
	strbuf__addc(v->out, '\n');
	print_identity(v);
	print_rest(v);
	print_lost(v);
	print_samples(v);
	print_warnings(v);
	print_cost(v);
}
