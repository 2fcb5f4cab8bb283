// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* requests_json.c - requests as JSON, unrounded; and what both forms of the report need of a row. */
#include <math.h>

#include "report/measured.h"
#include "report/requests_report.h"

const char *request_rule(const struct m_request *q)
{
	return q->side == HB_REQ_HANDLER ? "handler" : "connection";
}

double share_pct(u64 share)
{
	return share == M_NONE ? NAN : (double)share / 100;
}

double lost_calls_pct(const struct recording *r)
{
	const u64 *n = r->coverage.n;
	double entries = (double)n[HB_FN_ENTRIES];
	/* What overlaps windows of counting is missing in requests as well, as these overlap them, too. */
	double lost = (double)n[HB_FN_UNKNOWN] + (double)n[HB_FN_DROPPED] -
		      (double)r->coverage.drop[HB_DROP_WINDOW];

	return entries > 0 ? fmax(lost, 0) / entries * 100 : NAN;
}

double codec_share_pct(const struct recording *r, u64 share)
{
	return lost_calls_pct(r) > REQUESTS_MAX_LOST_PCT ? NAN : share_pct(share);
}

double stopped_pct(const struct m_request *q)
{
	return pct_of(q->stopped, q->latency.count);
}

double requests_per_s(const struct recording *r, const struct m_request *q)
{
	u64 ns = M_NONE;

	/* A server may have come later, or gone. */
	if (!q->overflow && q->target < r->nr_targets)
		ns = target_measured_ns(&r->target[q->target]);
	if (ns == M_NONE)
		ns = r->coverage.measured_ns;
	return ns && ns != M_NONE ? (double)(q->latency.count + q->in_window) * 1e9 / (double)ns
				  : NAN;
}

static void print_dist(struct jsonw *w, const char *key, const struct m_dist *d)
{
	jsonw__object(w, key);
	jsonw__u64(w, "count", d->count);
	jsonw__u64(w, "sum_ns", d->sum_ns);
	jsonw__num(w, "mean_ns", dist_mean(d), 1);
	jsonw__u64(w, "min_ns", d->count ? d->min_ns : M_NONE);
	jsonw__u64(w, "p50_ns", dist_quantile(d, DIST_P50));
	jsonw__u64(w, "p90_ns", dist_quantile(d, DIST_P90));
	jsonw__u64(w, "p99_ns", dist_quantile(d, DIST_P99));
	jsonw__u64(w, "p999_ns", dist_quantile(d, DIST_P999));
	jsonw__u64(w, "max_ns", d->count ? d->max_ns : M_NONE);
	jsonw__end_object(w);
}

static void print_codecs(struct jsonw *w, const struct m_request *q)
{
	jsonw__array(w, "codecs");
	for (u32 i = 0; i < q->nr_codecs; i++) {
		jsonw__object(w, NULL);
		jsonw__str(w, "codec", q->codec[i].codec);
		jsonw__str(w, "op", q->codec[i].op);
		jsonw__u64(w, "calls", q->codec[i].calls);
		jsonw__u64(w, "sum_ns", q->codec[i].ns);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
}

/* What only connections have. */
static void print_io(struct jsonw *w, const struct m_request *q)
{
	bool io = q->side != HB_REQ_HANDLER;

	jsonw__u64(w, "bytes_in", io ? q->bytes_in : M_NONE);
	jsonw__u64(w, "bytes_out", io ? q->bytes_out : M_NONE);
	jsonw__u64(w, "read_ns", io ? q->read_ns : M_NONE);
	jsonw__u64(w, "write_ns", io ? q->write_ns : M_NONE);
	jsonw__u64(w, "first_byte_sum_ns", io ? q->first_sum_ns : M_NONE);
	jsonw__u64(w, "first_byte_max_ns", io ? q->first_max_ns : M_NONE);
	jsonw__u64(w, "waited", io ? q->waited : M_NONE);
	jsonw__u64(w, "waited_sum_ns", io ? q->waited_sum_ns : M_NONE);
	jsonw__u64(w, "waited_max_ns", io ? q->waited_max_ns : M_NONE);
	jsonw__u64(w, "queued", io ? q->queued : M_NONE);
	jsonw__u64(w, "queued_sum_ns", io && q->queued ? q->queued_sum_ns : M_NONE);
	jsonw__u64(w, "queued_max_ns", io && q->queued ? q->queued_max_ns : M_NONE);
	jsonw__u64(w, "unanswered", io ? q->unanswered : M_NONE);
	jsonw__u64(w, "paused", io ? q->paused : M_NONE);
	jsonw__u64(w, "tls", io ? q->tls : M_NONE);
	jsonw__u64(w, "tls_doubt", io ? q->tls_doubt : M_NONE);
	jsonw__u64(w, "parallel", io ? q->parallel : M_NONE);
	jsonw__u64(w, "overlap_ns", io ? q->overlap_ns : M_NONE);
	jsonw__u64(w, "followed_calls", io ? M_NONE : q->followed);
}

static void print_request(struct view *v, struct jsonw *w, const struct m_request *q)
{
	const struct recording *r = v->r;
	bool io = q->side != HB_REQ_HANDLER;

	jsonw__object(w, NULL);
	jsonw__bool(w, "overflow", q->overflow);
	jsonw__str(w, "side", q->overflow ? NULL : hb_req_side_names[q->side]);
	jsonw__str(w, "rule", q->overflow ? NULL : request_rule(q));
	jsonw__u64(w, "pid",
		   !q->overflow && q->target < r->nr_targets ? r->target[q->target].pid : M_NONE);
	jsonw__bool(w, "children", q->children);
	jsonw__u64(w, "port", q->overflow || q->side == HB_REQ_HANDLER ? M_NONE : q->port);
	jsonw__str(w, "function", q->func < r->nr_funcs ? r->func[q->func].name : NULL);
	jsonw__u64(w, "count", q->latency.count);
	jsonw__u64(w, "in_window", q->in_window);
	jsonw__num(w, "per_s", requests_per_s(r, q), 3);
	print_dist(w, "latency", &q->latency);
	jsonw__u64(w, "codec_calls", q->children ? M_NONE : q->codec_calls);
	jsonw__u64(w, "codec_ns", q->children ? M_NONE : q->codec_ns);
	jsonw__num(w, "codec_share_pct", codec_share_pct(r, m_request__share(q)), 2);
	jsonw__num(w, "codec_share_min_pct", io ? codec_share_pct(r, m_request__share_min(q)) : NAN,
		   2);
	jsonw__num(w, "codec_share_p50_pct", codec_share_pct(r, m_request__share_p50(q)), 2);
	jsonw__num(w, "codec_share_p99_pct", codec_share_pct(r, m_request__share_p99(q)), 2);
	print_io(w, q);
	jsonw__u64(w, "stopped", q->stopped);
	jsonw__num(w, "stopped_pct", stopped_pct(q), 3);
	print_codecs(w, q);
	jsonw__end_object(w);
}

static void print_rates(struct jsonw *w, const struct recording *r, const struct m_request_proc *p)
{
	if (!p->windows) {
		jsonw__null(w, "rates");
		return;
	}
	jsonw__object(w, "rates");
	jsonw__u64(w, "windows", p->windows);
	jsonw__u64(w, "window_ns", p->window_ns);
	jsonw__num(w, "window_pct", windows_pct(r, p), 3);
	jsonw__u64(w, "gopark", p->gopark);
	jsonw__u64(w, "mcall", p->mcall);
	jsonw__num(w, "gopark_per_s", window_rate(p, p->gopark), 1);
	jsonw__num(w, "mcall_per_s", window_rate(p, p->mcall), 1);
	jsonw__u64(w, "requests", p->window_requests);
	jsonw__num(w, "gopark_per_request", per_request(p->gopark, p->window_requests), 3);
	jsonw__num(w, "mcall_per_request", per_request(p->mcall, p->window_requests), 3);
	jsonw__end_object(w);
}

static void print_proc(struct jsonw *w, const struct recording *r, const struct m_request_proc *p)
{
	u64 requests = m_requests__of_process(r->requests, p->target);

	jsonw__object(w, NULL);
	jsonw__u64(w, "pid", r->target[p->target].pid);
	if (p->stops_seen) {
		print_dist(w, "pauses", &p->pauses);
		jsonw__num(w, "stopped_pct", pauses_pct(r, p), 4);
	} else {
		jsonw__null(w, "pauses");
		jsonw__null(w, "stopped_pct");
	}
	jsonw__u64(w, "pauses_without_begin", p->stops_seen ? p->no_begin : M_NONE);
	jsonw__u64(w, "pauses_without_end", p->stops_seen ? p->no_end : M_NONE);
	jsonw__u64(w, "pauses_without_row", p->stops_seen ? p->no_row : M_NONE);
	print_rates(w, r, p);
	jsonw__u64(w, "requests", requests);
	jsonw__u64(w, "voluntary_switches", p->voluntary);
	jsonw__u64(w, "involuntary_switches", p->involuntary);
	jsonw__num(w, "voluntary_per_request", per_request(p->voluntary, requests), 4);
	jsonw__num(w, "involuntary_per_request", per_request(p->involuntary, requests), 4);
	jsonw__end_object(w);
}

void requests_json(struct view *v, struct jsonw *w)
{
	const struct m_requests *r = v->r->requests;

	if (!r) {
		jsonw__null(w, "requests");
		jsonw__null(w, "request_coverage");
		jsonw__null(w, "request_processes");
		return;
	}
	jsonw__array(w, "requests");
	for (u32 i = 0; i < r->nr_rows; i++)
		print_request(v, w, &r->row[i]);
	jsonw__end_array(w);
	jsonw__object(w, "request_coverage");
	for (u32 i = 0; i < HB_REQ_CNT_NR; i++)
		jsonw__u64(w, hb_req_counter_names[i], r->n[i]);
	jsonw__u64(w, "open_at_end", r->open_at_end);
	jsonw__u64(w, "rates_probed_ns", r->probed_ns);
	jsonw__num(w, "tied_pct", share_pct(m_requests__tied(r)), 2);
	jsonw__str(w, "follow_go", r->follow_go);
	jsonw__end_object(w);
	jsonw__array(w, "request_processes");
	for (u32 i = 0; i < r->nr_procs; i++)
		print_proc(w, v->r, &r->proc[i]);
	jsonw__end_array(w);
}
