// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * requests_procs.c - what the Go runtime did to the processes whose requests were recorded, in the report
 * for people: how long it stopped the world. Which requests met that is in their rows
 * (requests_table.c).
 */
#include <math.h>
#include <stdio.h>

#include "report/measured.h"
#include "report/requests_report.h"

#define MAX_PARA 65536

double pauses_pct(const struct recording *r, const struct m_request_proc *p)
{
	u64 ns = target_measured_ns(&r->target[p->target]);

	return pct_of(p->pauses.sum_ns, ns == M_NONE ? r->coverage.measured_ns : ns);
}

double per_request(u64 n, u64 requests)
{
	return n != M_NONE && requests ? (double)n / (double)requests : NAN;
}

/* "process 12: ", where there are several. */
static void add_process(struct strbuf *s, const struct recording *r, const struct m_request_proc *p)
{
	if (r->nr_targets > 1)
		strbuf__addf(s, "process %u: ", r->target[p->target].pid);
}

static void print_pauses(struct view *v, const struct m_request_proc *p)
{
	const struct m_dist *d = &p->pauses;
	char n[CELL], a[CELL], b[CELL], c[CELL], e[CELL], f[CELL];
	struct strbuf s;

	strbuf__init(&s, MAX_PARA);
	add_process(&s, v->r, p);
	if (!d->count)
		strbuf__adds(&s, "the Go runtime did not stop the world");
	else
		strbuf__addf(&s,
			     "the Go runtime stopped the world %s times: P50 %s, P90 %s, P99 %s, "
			     "max %s, %s of the time, from when it asks goroutines to stop "
			     "until it lets them run",
			     cell_count(n, d->count), cell_ns(a, dist_quantile(d, DIST_P50)),
			     cell_ns(b, dist_quantile(d, DIST_P90)),
			     cell_ns(c, dist_quantile(d, DIST_P99)), cell_ns(e, d->max_ns),
			     cell_pct(f, pauses_pct(v->r, p)));
	if (p->no_begin || p->no_end)
		strbuf__addf(&s, "; without their time, as only one end was seen: %s",
			     cell_count(n, p->no_begin + p->no_end));
	if (p->no_row)
		strbuf__addf(&s, "; without their time, as there was no room: %s",
			     cell_count(n, p->no_row));
	table__para_buf(v, "pauses", &s);
}

/* Of the whole process, whatever its threads did then. */
static void print_switches(struct view *v, const struct m_request_proc *p)
{
	u64 requests = m_requests__of_process(v->r->requests, p->target);
	char n[CELL], a[CELL], b[CELL];
	struct strbuf s;

	strbuf__init(&s, MAX_PARA);
	add_process(&s, v->r, p);
	if (p->voluntary == M_NONE)
		strbuf__adds(&s, "n/a (the process had ended when they were to be read, or this "
				 "kernel cannot tell them)");
	else
		strbuf__addf(&s,
			     "all threads of the process gave up the CPU %s times and lost it "
			     "%s times",
			     cell_count(a, p->voluntary), cell_count(b, p->involuntary));
	if (p->voluntary != M_NONE && requests)
		strbuf__addf(&s, ": %.3g and %.3g for each of its %s requests",
			     per_request(p->voluntary, requests),
			     per_request(p->involuntary, requests), cell_count(n, requests));
	table__para_buf(v, "switches", &s);
}

/* Of several processes those that have requests. */
static bool is_told(const struct m_requests *r, const struct m_request_proc *p)
{
	return r->nr_procs == 1 || m_requests__of_process(r, p->target);
}

void table__request_procs(struct view *v)
{
	const struct m_requests *r = v->r->requests;

	for (u32 i = 0; i < r->nr_procs; i++)
		if (is_told(r, &r->proc[i]) && r->proc[i].stops_seen)
			print_pauses(v, &r->proc[i]);
	for (u32 i = 0; i < r->nr_procs; i++)
		if (is_told(r, &r->proc[i]))
			print_switches(v, &r->proc[i]);
}
