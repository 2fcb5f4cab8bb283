// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* request.c - see request.h. */
#include "model/request.h"

#include <stdlib.h>

const char *const hb_req_side_names[HB_REQ_SIDE_NR] = {
	[HB_REQ_SERVER] = "server",
	[HB_REQ_CLIENT] = "client",
	[HB_REQ_HANDLER] = "handler",
};

const char *const hb_req_counter_names[HB_REQ_CNT_NR] = {
	[HB_REQ_CONNS_FULL] = "conns_full",
	[HB_REQ_CALLS_FULL] = "calls_full",
	[HB_REQ_TASKS_FULL] = "tasks_full",
	[HB_REQ_ROWS_FULL] = "rows_full",
	[HB_REQ_UNREADABLE] = "unreadable",
	[HB_REQ_CLOCK_BACK] = "clock_back",
	[HB_REQ_CHILDREN_FULL] = "children_full",
	[HB_REQ_START_UNREAD] = "start_unread",
	[HB_REQ_ACCEPTED] = "accepted",
	[HB_REQ_CONNECTED] = "connected",
	[HB_REQ_FOUND] = "found_open",
	[HB_REQ_CLOSED] = "closed",
	[HB_REQ_BEGUN] = "begun",
	[HB_REQ_OLD_EXCHANGES] = "apart",
	[HB_REQ_HANDSHAKES] = "handshakes",
	[HB_REQ_UNANSWERED] = "unanswered",
	[HB_REQ_PUSHES] = "pushes",
	[HB_REQ_MUXED] = "multiplexed",
	[HB_REQ_UPGRADED] = "upgraded",
	[HB_REQ_IN_WINDOW] = "in_window",
	[HB_REQ_UNIX] = "unix",
	[HB_REQ_DATAGRAM] = "datagram",
	[HB_REQ_OTHER] = "other_sockets",
	[HB_REQ_TIED_CALLS] = "tied_calls",
	[HB_REQ_TIED_NS] = "tied_ns",
	[HB_REQ_OLD_CALLS] = "apart_calls",
	[HB_REQ_OLD_NS] = "apart_ns",
	[HB_REQ_LATE_CALLS] = "late_calls",
	[HB_REQ_LATE_NS] = "late_ns",
	[HB_REQ_UNTIED_CALLS] = "untied_calls",
	[HB_REQ_UNTIED_NS] = "untied_ns",
	[HB_REQ_STARTED] = "goroutines_started",
	[HB_REQ_INHERITED] = "goroutines_inherited",
};

void m_request__init(struct m_request *r)
{
	*r = (struct m_request){.func = M_NO_FUNC, .stopped = M_NONE};
	m_dist__init(&r->latency);
}

void m_request__fini(struct m_request *r)
{
	m_dist__fini(&r->latency);
	free(r->bucket_codec_ns);
	for (u32 i = 0; r->codec && i < r->nr_codecs; i++) {
		free(r->codec[i].codec);
		free(r->codec[i].op);
	}
	free(r->codec);
}

void m_request_proc__init(struct m_request_proc *p)
{
	*p = (struct m_request_proc){.voluntary = M_NONE, .involuntary = M_NONE};
	m_dist__init(&p->pauses);
}

void m_requests__free(struct m_requests *r)
{
	if (!r)
		return;
	for (u32 i = 0; r->row && i < r->nr_rows; i++)
		m_request__fini(&r->row[i]);
	free(r->row);
	for (u32 i = 0; r->proc && i < r->nr_procs; i++)
		m_dist__fini(&r->proc[i].pauses);
	free(r->proc);
	free(r->follow_go);
	free(r);
}

u64 m_requests__of_process(const struct m_requests *r, u32 target)
{
	u64 n[HB_REQ_SIDE_NR] = {0};

	for (u32 i = 0; i < r->nr_rows; i++) {
		const struct m_request *q = &r->row[i];
		u64 count = q->latency.count + q->in_window;

		if (q->overflow || q->target != target || q->side >= HB_REQ_SIDE_NR)
			continue;
		if (q->side != HB_REQ_HANDLER)
			n[q->side] += count;
		else if (count > n[q->side])
			n[q->side] = count;
	}
	if (n[HB_REQ_SERVER])
		return n[HB_REQ_SERVER];
	return n[HB_REQ_HANDLER] ? n[HB_REQ_HANDLER] : n[HB_REQ_CLIENT];
}

/* part of whole in 1/10,000. Sums of times over years of requests do not overflow a double's range. */
static u64 share(double part, double whole)
{
	return whole > 0 ? (u64)(part / whole * 10000 + 0.5) : M_NONE;
}

u64 m_request__share(const struct m_request *r)
{
	if (r->children)
		return M_NONE;
	return share((double)r->codec_ns, (double)r->latency.sum_ns);
}

u64 m_request__share_min(const struct m_request *r)
{
	u64 over = r->overlap_ns < r->codec_ns ? r->overlap_ns : r->codec_ns;

	return share((double)(r->codec_ns - over), (double)r->latency.sum_ns);
}

/* The middle of a bucket, as far as it lies between the extremes. */
static double bucket_mid(const struct m_dist *d, u32 idx)
{
	u64 lo = hb_hist_lower(idx), hi = hb_hist_lower(idx + 1) - 1;

	lo = lo < d->min_ns ? d->min_ns : lo;
	hi = hi > d->max_ns ? d->max_ns : hi;
	return ((double)lo + (double)hi) / 2;
}

u64 m_request__share_between(const struct m_request *r, u32 from, u32 to)
{
	const struct m_dist *d = &r->latency;
	double total = 0, lo, hi, at = 0, codec = 0, ns = 0;

	if (r->children)
		return M_NONE;
	for (u32 i = 0; i < d->nr_buckets; i++)
		total += (double)d->bucket[i].n;
	lo = total * from / 10000;
	hi = total * to / 10000;
	for (u32 i = 0; i < d->nr_buckets && r->bucket_codec_ns; i++) {
		double n = (double)d->bucket[i].n;
		double begin = at > lo ? at : lo, end = at + n < hi ? at + n : hi;

		at += n;
		if (end <= begin)
			continue;
		codec += (double)r->bucket_codec_ns[i] * (end - begin) / n;
		ns += bucket_mid(d, d->bucket[i].idx) * (end - begin);
	}
	return share(codec, ns);
}

u64 m_request__share_p50(const struct m_request *r)
{
	return r->latency.count < 20 ? M_NONE : m_request__share_between(r, 4500, 5500);
}

u64 m_request__share_p99(const struct m_request *r)
{
	return r->latency.count < 100 ? M_NONE : m_request__share_between(r, 9900, 10000);
}

u64 m_requests__tied(const struct m_requests *r)
{
	u64 tied = r->n[HB_REQ_TIED_CALLS] + r->n[HB_REQ_OLD_CALLS];

	return share((double)tied, (double)tied + (double)r->n[HB_REQ_LATE_CALLS] +
					   (double)r->n[HB_REQ_UNTIED_CALLS]);
}
