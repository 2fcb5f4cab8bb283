// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_csv.c - the rows of the report as RFC 4180: one header line, lines end with CR LF, cells with
 * a comma or a quote are quoted. The columns only ever get more, at the end. An empty cell is what the
 * report calls "n/a".
 *
 * Requests are lines of the same columns, told by row_kind: their side is the op, and what they have
 * beyond calls is in columns of its own.
 *
 * Names are escaped as for a terminal, so no cell holds a line break.
 */
#include "report/export.h"

#include <math.h>
#include <string.h>

#include "model/request.h"
#include "model/text.h"
#include "report/requests_report.h"

static const char header[] =
	"codec,op,function,library,library_version,pid,outcome,overflow,class_min_bytes,"
	"class_max_bytes,calls,errors,calls_per_s,measured_ns,target_cpu_pct,latency_in_buckets,"
	"latency_sum_ns,latency_mean_ns,latency_min_ns,latency_p50_ns,latency_p90_ns,"
	"latency_p99_ns,latency_p999_ns,latency_max_ns,exclusive_in_buckets,exclusive_sum_ns,"
	"exclusive_mean_ns,exclusive_min_ns,exclusive_p50_ns,exclusive_p90_ns,exclusive_p99_ns,"
	"exclusive_p999_ns,exclusive_max_ns,raw_mean_ns,raw_min_ns,raw_max_ns,nested_per_call,"
	"size_calls,size_p50_bytes,size_min_bytes,size_max_bytes,size_sum_bytes,cycles_per_call,"
	"instructions_per_call,ipc,cache_references_per_call,cache_misses_per_call,cache_miss_pct,"
	"branch_misses_per_call,page_faults_per_call,context_switches_per_call,row_kind,port,"
	"codec_calls,codec_sum_ns,codec_share_pct,codec_share_p50_pct,codec_share_p99_pct,bytes_in,"
	"bytes_out,unanswered,queued,queued_sum_ns,queued_max_ns,stopped\r\n";

#define NR_DIST_CELLS	 9  /* cells_dist() */
#define NR_CALL_CELLS	 9  /* raw times, nesting, sizes */
#define NR_CTR_CELLS	 9  /* cells_counters() */
#define NR_REQUEST_CELLS 13 /* port and what follows it */

struct line {
	struct strbuf *b;
	bool begun;
};

static void cell(struct line *l)
{
	if (l->begun)
		strbuf__addc(l->b, ',');
	l->begun = true;
}

/* s is escaped already. */
static void cell_str(struct line *l, const char *s)
{
	cell(l);
	if (!s[strcspn(s, ",\"\r\n")]) {
		strbuf__adds(l->b, s);
		return;
	}
	strbuf__addc(l->b, '"');
	for (; *s; s++) {
		if (*s == '"')
			strbuf__addc(l->b, '"');
		strbuf__addc(l->b, *s);
	}
	strbuf__addc(l->b, '"');
}

static void cell_name(struct line *l, const char *s)
{
	struct strbuf e;

	strbuf__init(&e, l->b->max);
	if (s)
		text_add_escaped(&e, s);
	cell_str(l, e.s ? e.s : "");
	if (e.err && !l->b->err)
		l->b->err = e.err;
	strbuf__fini(&e);
}

static void cell_u64(struct line *l, u64 n)
{
	cell(l);
	if (n != M_NONE)
		strbuf__addf(l->b, "%llu", n);
}

static void cell_num(struct line *l, double n, int decimals)
{
	cell(l);
	if (isfinite(n))
		strbuf__addf(l->b, "%.*f", decimals, n);
}

static void cells_dist(struct line *l, const struct m_dist *d)
{
	cell_u64(l, dist_bucketed(d));
	cell_u64(l, d->sum_ns);
	cell_num(l, d->sum_ns == M_NONE ? NAN : dist_mean(d), 1);
	cell_u64(l, d->count ? d->min_ns : M_NONE);
	cell_u64(l, dist_quantile(d, DIST_P50));
	cell_u64(l, dist_quantile(d, DIST_P90));
	cell_u64(l, dist_quantile(d, DIST_P99));
	cell_u64(l, dist_quantile(d, DIST_P999));
	cell_u64(l, d->count ? d->max_ns : M_NONE);
}

static void cells_identity(struct line *l, const struct group *g)
{
	const struct m_func *f = g->func;

	cell_name(l, f ? f->codec : NULL);
	cell_name(l, f ? f->op : NULL);
	cell_name(l, f ? f->name : NULL);
	cell_name(l, f ? f->library : NULL);
	cell_name(l, f ? f->library_version : NULL);
	cell_u64(l, g->target ? g->target->pid : M_NONE);
	cell_str(l, f ? hb_outcome_names[g->outcome] : "");
	cell_str(l, f ? "false" : "true");
}

/* Means over the calls that have them. */
static void cells_counters(struct line *l, const struct recording *r, const struct group *g)
{
	cell_num(l, group_ctr(g, r, "cycles"), 3);
	cell_num(l, group_ctr(g, r, "instructions"), 3);
	cell_num(l, group_ctr_ratio(g, r, "instructions", "cycles"), 4);
	cell_num(l, group_ctr(g, r, "cache-references"), 3);
	cell_num(l, group_ctr(g, r, "cache-misses"), 3);
	cell_num(l, 100 * group_ctr_ratio(g, r, "cache-misses", "cache-references"), 3);
	cell_num(l, group_ctr(g, r, "branch-misses"), 3);
	cell_num(l, group_ctr(g, r, "page-faults"), 6);
	cell_num(l, group_ctr(g, r, "context-switches"), 6);
}

static void cells_empty(struct line *l, u32 nr)
{
	while (nr--)
		cell(l);
}

/* lo, hi: of the size class; M_NONE where the line has all classes. */
static void add_line(struct view *v, struct group *g, u64 errors, u64 lo, u64 hi)
{
	struct line l = {.b = v->out};
	u64 cpu_ns = g->target ? g->target->cpu_ns : M_NONE;

	cells_identity(&l, g);
	cell_u64(&l, lo);
	cell_u64(&l, hi);
	cell_u64(&l, g->calls);
	cell_u64(&l, errors);
	cell_num(&l, group_calls_per_s(g), 3);
	cell_u64(&l, g->measured_ns);
	cell_num(&l, cpu_share(v->r, g->inc.sum_ns, cpu_ns), 3);
	cells_dist(&l, &g->inc);
	cells_dist(&l, &g->exc);
	cell_num(&l, g->raw_sum_ns == M_NONE ? NAN : (double)g->raw_sum_ns / (double)g->calls, 1);
	cell_u64(&l, g->raw_min_ns);
	cell_u64(&l, g->raw_max_ns);
	cell_num(&l, (double)g->nested / (double)g->calls, 3);
	cell_u64(&l, g->sizes.n);
	cell_u64(&l, sizes__p50(&g->sizes));
	cell_u64(&l, g->sizes.n ? g->sizes.min : M_NONE);
	cell_u64(&l, g->sizes.n ? g->sizes.max : M_NONE);
	cell_u64(&l, g->sizes.n ? g->sizes.sum : M_NONE);
	cells_counters(&l, v->r, g);
	cell_str(&l, "calls");
	cells_empty(&l, NR_REQUEST_CELLS);
	strbuf__adds(v->out, "\r\n");
}

/* As cells_identity(). A codec's name cannot be mistaken for this one's: row_kind tells. */
static void cells_request(struct line *l, const struct recording *r, const struct m_request *q)
{
	bool handler = q->side == HB_REQ_HANDLER && !q->overflow;

	cell_str(l, "requests");
	cell_str(l, q->overflow ? "" : hb_req_side_names[q->side]);
	cell_name(l, handler && q->func < r->nr_funcs ? r->func[q->func].name : NULL);
	cells_empty(l, 2);
	cell_u64(l, !q->overflow && q->target < r->nr_targets ? r->target[q->target].pid : M_NONE);
	cell_str(l, "");
	cell_str(l, q->overflow ? "true" : "false");
}

static void add_request(struct view *v, const struct m_request *q)
{
	bool handler = q->side == HB_REQ_HANDLER && !q->overflow;
	struct line l = {.b = v->out};

	cells_request(&l, v->r, q);
	cells_empty(&l, 2);
	cell_u64(&l, q->latency.count);
	cells_empty(&l, 1);
	cell_num(&l, requests_per_s(v->r, q), 3);
	cells_empty(&l, 2);
	cells_dist(&l, &q->latency);
	cells_empty(&l, NR_DIST_CELLS + NR_CALL_CELLS + NR_CTR_CELLS);
	cell_str(&l, "requests");
	cell_u64(&l, handler || q->overflow ? M_NONE : q->port);
	cell_u64(&l, q->children ? M_NONE : q->codec_calls);
	cell_u64(&l, q->children ? M_NONE : q->codec_ns);
	cell_num(&l, codec_share_pct(v->r, m_request__share(q)), 2);
	cell_num(&l, codec_share_pct(v->r, m_request__share_p50(q)), 2);
	cell_num(&l, codec_share_pct(v->r, m_request__share_p99(q)), 2);
	cell_u64(&l, handler ? M_NONE : q->bytes_in);
	cell_u64(&l, handler ? M_NONE : q->bytes_out);
	cell_u64(&l, handler ? M_NONE : q->unanswered);
	cell_u64(&l, handler ? M_NONE : q->queued);
	cell_u64(&l, handler || !q->queued ? M_NONE : q->queued_sum_ns);
	cell_u64(&l, handler || !q->queued ? M_NONE : q->queued_max_ns);
	cell_u64(&l, q->stopped);
	strbuf__adds(v->out, "\r\n");
}

static int add_classes(struct view *v, const struct group *g)
{
	struct group one;
	u64 lo, hi;

	for (u32 i = 0; i < group__nr_classes(g); i++) {
		int err = group__of_class(&one, g, i);

		if (err)
			return err;
		size_class_range(one.row[0]->size_class, &lo, &hi);
		/* Failed calls have no size class in common with those that did not fail. */
		add_line(v, &one, M_NONE, lo, hi);
		group__fini(&one);
	}
	return 0;
}

int export_csv(struct view *v)
{
	int err = 0;

	strbuf__adds(v->out, header);
	for (u32 i = 0; !err && i < v->groups.nr; i++) {
		struct group *g = &v->groups.v[i];

		if (v->opts->by == REPORT_BY_SIZE)
			err = add_classes(v, g);
		else
			add_line(v, g, g->errors, M_NONE, M_NONE);
	}
	for (u32 i = 0; !err && v->r->requests && i < v->r->requests->nr_rows; i++)
		add_request(v, &v->r->requests->row[i]);
	return err;
}
