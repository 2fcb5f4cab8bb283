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

static u64 process_ns(const struct recording *r, const struct m_request_proc *p)
{
	u64 ns = target_measured_ns(&r->target[p->target]);

	return ns == M_NONE ? r->coverage.measured_ns : ns;
}

double pauses_pct(const struct recording *r, const struct m_request_proc *p)
{
	return pct_of(p->pauses.sum_ns, process_ns(r, p));
}

double window_rate(const struct m_request_proc *p, u64 n)
{
	return p->window_ns ? (double)n * 1e9 / (double)p->window_ns : NAN;
}

double windows_pct(const struct recording *r, const struct m_request_proc *p)
{
	return pct_of(p->window_ns, process_ns(r, p));
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

static void print_rates(struct view *v, const struct m_request_proc *p)
{
	const struct m_requests *r = v->r->requests;
	char n[CELL], a[CELL], b[CELL], c[CELL], d[CELL];
	struct strbuf s;

	strbuf__init(&s, MAX_PARA);
	add_process(&s, v->r, p);
	strbuf__addf(
		&s, "runtime.gopark %s a second, runtime.mcall %s, in %s windows of %s in all,",
		cell_rate(a, window_rate(p, p->gopark)), cell_rate(b, window_rate(p, p->mcall)),
		cell_count(n, p->windows), cell_ns(c, p->window_ns));
	strbuf__addf(&s, " %s of the time; ", cell_pct(d, windows_pct(v->r, p)));
	if (p->window_requests)
		strbuf__addf(&s, "%.3g and %.3g for each of the %s requests that it served then",
			     per_request(p->gopark, p->window_requests),
			     per_request(p->mcall, p->window_requests),
			     cell_count(n, p->window_requests));
	else
		strbuf__adds(&s, "for each request n/a (none on a connection ended then)");
	strbuf__addf(
		&s,
		". Their probes were there for %s and slow the process down: requests (%s) and "
		"calls that overlap that are in no latency",
		cell_ns(a, r->probed_ns), cell_count(b, r->n[HB_REQ_IN_WINDOW]));
	table__para_buf(v, "rates", &s);
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
	for (u32 i = 0; i < r->nr_procs; i++)
		if (r->proc[i].windows)
			print_rates(v, &r->proc[i]);
}
