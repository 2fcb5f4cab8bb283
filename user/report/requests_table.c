// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * requests_table.c - requests for people: a row for each port and handler, what told one request from
 * the next, and what of the traffic is not in the rows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/layout.h"
#include "report/requests_report.h"

#define MAX_PARA 65536

enum {
	C_SIDE,
	C_WHERE,
	C_PID,
	C_COUNT,
	C_RATE,
	C_P50,
	C_P90,
	C_P99,
	C_P999,
	C_MAX,
	C_SHARE,
	C_SHARE50,
	C_SHARE99,
	C_CALLS,
	C_STOPPED,
	C_IN,
	C_OUT,
	C_NR,
};

static const struct column columns[C_NR] = {
	[C_SIDE] = {"requests", COL_NAME},   [C_WHERE] = {"of", COL_NAME},
	[C_PID] = {"process", COL_NAME},     [C_COUNT] = {"count", COL_NUM},
	[C_RATE] = {"per s", COL_NUM},	     [C_P50] = {"P50", COL_NUM},
	[C_P90] = {"P90", COL_NUM},	     [C_P99] = {"P99", COL_NUM},
	[C_P999] = {"P99.9", COL_NUM},	     [C_MAX] = {"max", COL_NUM},
	[C_SHARE] = {"in codecs", COL_NUM},  [C_SHARE50] = {"at P50", COL_NUM},
	[C_SHARE99] = {"at P99", COL_NUM},   [C_CALLS] = {"calls each", COL_TAIL},
	[C_STOPPED] = {"stopped", COL_TAIL}, [C_IN] = {"bytes in", COL_TAIL},
	[C_OUT] = {"bytes out", COL_TAIL},
};

const char *const request_losses[HB_REQ_LOSS_NR] = {
	[HB_REQ_CONNS_FULL] =
		"system calls on connections that there was no room for (--max-conns)",
	[HB_REQ_CALLS_FULL] = "system calls that there was no room for",
	[HB_REQ_TASKS_FULL] = "reads whose task could not be remembered",
	[HB_REQ_ROWS_FULL] = "requests without a row of their own",
	[HB_REQ_UNREADABLE] = "system calls whose socket could not be told",
	[HB_REQ_CLOCK_BACK] = "requests that ended before they began",
	[HB_REQ_CHILDREN_FULL] = "forked processes whose requests are not counted",
	[HB_REQ_START_UNREAD] = "goroutines whose starter could not be told",
};

static void where_text(const struct view *v, const struct m_request *q, struct strbuf *b)
{
	if (q->overflow)
		strbuf__adds(b, "(no row free)");
	else if (q->side == HB_REQ_HANDLER)
		add_name(b, q->func < v->r->nr_funcs && v->r->func[q->func].name
				    ? name_short(v->r->func[q->func].name)
				    : NULL);
	else
		strbuf__addf(b, q->children ? "port %u, children" : "port %u", q->port);
}

/* Are there handlers' calls in the requests of connections? */
static bool has_handlers(const struct view *v)
{
	const struct m_requests *r = v->r->requests;

	for (u32 i = 0; i < r->nr_rows; i++)
		if (r->row[i].side == HB_REQ_HANDLER)
			return true;
	return false;
}

/* Below this a request's latency is what subtracting left: half of what probes in one cost on average.
 * That is a mean, and of the calibration, so that it is some tenths off on a busy machine. */
static u64 resolution_ns(const struct view *v, const struct m_request *q)
{
	const struct m_dist *d = &q->latency;
	double calls = (double)q->codec_calls + (has_handlers(v) ? (double)d->count : 0);
	const struct bias *b = v->bias;
	u64 own;

	if (!v->nr_biases || !b->calibrated || !d->count)
		return 0;
	own = q->side == HB_REQ_HANDLER ? bias_resolution_ns(b) : 0;
	return own + (u64)(b->total_ns * calls / (double)d->count / 2);
}

/* A latency, marked "~" below that. */
static const char *cell_latency(char buf[CELL], u64 ns, u64 resolution)
{
	char plain[CELL];

	snprintf(buf, CELL, "%s%s", ns != M_NONE && ns < resolution ? "~" : "", cell_ns(plain, ns));
	return buf;
}

/* Codec calls of several goroutines at once are added up: their part of a request's time is no more. */
static const char *cell_share(char buf[CELL], const struct view *v, const struct m_request *q,
			      u64 share)
{
	bool at_most = q->parallel || q->followed;
	double pct = codec_share_pct(v->r, share);
	char plain[CELL];

	snprintf(buf, CELL, "%s%s", at_most && pct > 0 ? "<" : "", cell_pct(plain, pct));
	return buf;
}

/* Is there a process whose stops of the world are known? Else there is no such column. */
static bool sees_stops(const struct m_requests *r)
{
	for (u32 i = 0; i < r->nr_procs; i++)
		if (r->proc[i].stops_seen)
			return true;
	return false;
}

static void add_row(struct view *v, const struct m_request *q, struct grid *grid)
{
	const struct recording *r = v->r;
	const struct m_dist *d = &q->latency;
	char text[C_NR][CELL] = {{0}};
	const char *at[C_NR] = {0};
	u64 n = d->count ? d->count : 1, res = resolution_ns(v, q);
	bool io = q->side != HB_REQ_HANDLER;
	struct strbuf where;

	strbuf__init(&where, MAX_PARA);
	where_text(v, q, &where);
	at[C_SIDE] = q->overflow ? "overflow" : hb_req_side_names[q->side];
	at[C_WHERE] = where.s ? where.s : "n/a";
	if (r->nr_targets > 1 && !q->overflow && q->target < r->nr_targets) {
		snprintf(text[C_PID], CELL, "%u", r->target[q->target].pid);
		at[C_PID] = text[C_PID];
	}
	at[C_COUNT] = cell_count(text[C_COUNT], d->count);
	at[C_RATE] = cell_rate(text[C_RATE], requests_per_s(r, q));
	at[C_P50] = cell_latency(text[C_P50], dist_quantile(d, DIST_P50), res);
	at[C_P90] = cell_latency(text[C_P90], dist_quantile(d, DIST_P90), res);
	at[C_P99] = cell_latency(text[C_P99], dist_quantile(d, DIST_P99), res);
	at[C_P999] = cell_latency(text[C_P999], dist_quantile(d, DIST_P999), res);
	at[C_MAX] = cell_ns(text[C_MAX], d->count ? d->max_ns : M_NONE);
	at[C_SHARE] = cell_share(text[C_SHARE], v, q, m_request__share(q));
	at[C_SHARE50] = cell_share(text[C_SHARE50], v, q, m_request__share_p50(q));
	at[C_SHARE99] = cell_share(text[C_SHARE99], v, q, m_request__share_p99(q));
	snprintf(text[C_CALLS], CELL, "%.3g", (double)q->codec_calls / (double)n);
	at[C_CALLS] = q->children || lost_calls_pct(r) > REQUESTS_MAX_LOST_PCT ? "n/a"
									       : text[C_CALLS];
	if (sees_stops(r->requests))
		at[C_STOPPED] = cell_pct(text[C_STOPPED], stopped_pct(q));
	at[C_IN] = io ? cell_bytes(text[C_IN], q->bytes_in) : NULL;
	at[C_OUT] = io ? cell_bytes(text[C_OUT], q->bytes_out) : NULL;
	grid__row(grid, at);
	strbuf__fini(&where);
}

/* Codecs by their part of all codec time that is tied to the requests: that is not the part of it within
 * them, which the table has, as a call behind the last byte out is in here, too. */
static void add_codecs(struct strbuf *s, const struct m_request *q)
{
	char buf[CELL], pct[CELL];
	double sum = 0;

	for (u32 i = 0; i < q->nr_codecs; i++)
		sum += (double)q->codec[i].ns;
	for (u32 i = 0; i < q->nr_codecs; i++) {
		strbuf__adds(s, i ? ", " : " of the codec time tied to it ");
		add_name(s, q->codec[i].codec);
		strbuf__addc(s, ' ');
		add_name(s, q->codec[i].op);
		strbuf__addf(s, " %s (%s calls)",
			     cell_pct(pct, sum > 0 ? (double)q->codec[i].ns / sum * 100 : NAN),
			     cell_count(buf, q->codec[i].calls));
	}
	if (q->nr_codecs)
		strbuf__addc(s, ';');
}

/* From the kernel's word that a connection is there to accept()'s return. */
static void add_queued(struct strbuf *s, const struct m_request *q)
{
	char n[CELL], mean[CELL], max[CELL];

	if (q->queued)
		strbuf__addf(s, "; %s connections waited to be accepted %s on average, at most %s",
			     cell_count(n, q->queued), cell_ns(mean, q->queued_sum_ns / q->queued),
			     cell_ns(max, q->queued_max_ns));
}

static void add_system_calls(struct strbuf *s, const struct m_request *q)
{
	const struct m_dist *d = &q->latency;
	char buf[CELL], pct[CELL];

	strbuf__addf(s, " of a request's time read %s,",
		     cell_pct(pct, pct_of(q->read_ns, d->sum_ns)));
	strbuf__addf(s, " write %s;", cell_pct(pct, pct_of(q->write_ns, d->sum_ns)));
	strbuf__addf(s, " to the first byte of the answer %s on average, at most %s",
		     cell_ns(buf, q->first_sum_ns / d->count), cell_ns(pct, q->first_max_ns));
	if (q->waited)
		strbuf__addf(s, "; of %s new connections the first request came after %s",
			     cell_count(buf, q->waited),
			     cell_ns(pct, q->waited_sum_ns / q->waited));
}

/* What in the row may be other than it seems. */
static void add_doubts(struct strbuf *s, const struct m_request *q)
{
	char buf[CELL], of[CELL];

	if (q->paused)
		strbuf__addf(
			s,
			"; %s had a pause of over 1s in the answer (a stream, or a server's own "
			"message): they last until its end",
			cell_count(buf, q->paused));
	if (q->tls)
		strbuf__addf(s, "; %s on connections with TLS", cell_count(buf, q->tls));
	if (q->tls_doubt)
		strbuf__addf(s,
			     ", %s of them of clients that may speak HTTP/2, which cannot always "
			     "be told: if they do, trust the handlers' rows",
			     cell_count(of, q->tls_doubt));
	if (q->unanswered)
		strbuf__addf(s, "; %s without an answer are not counted",
			     cell_count(buf, q->unanswered));
}

static void add_parallel(struct strbuf *s, const struct recording *r, const struct m_request *q)
{
	char buf[CELL], pct[CELL];

	if (q->parallel)
		strbuf__addf(s,
			     "; in %s codec calls of several goroutines ran at the same time, and "
			     "are added up: of all requests' time they are at least %s",
			     cell_count(buf, q->parallel),
			     cell_pct(pct, codec_share_pct(r, m_request__share_min(q))));
}

static void print_followed_calls(struct view *v, const struct m_request *q)
{
	char buf[CELL];
	struct strbuf s;

	strbuf__init(&s, MAX_PARA);
	where_text(v, q, &s);
	strbuf__addf(
		&s,
		": %s of the codec calls were made in goroutines that it has started; what ran at "
		"the same time is added up, and what probes cost there is not subtracted",
		cell_count(buf, q->followed));
	table__para_buf(v, "", &s);
}

/* Which codec, and the system calls: for each row that has requests. One without them may have accepted
 * what others serve. */
static void print_parts(struct view *v, const struct m_request *q)
{
	struct strbuf s;

	if (q->side == HB_REQ_HANDLER && q->followed)
		print_followed_calls(v, q);
	if (q->side == HB_REQ_HANDLER || (!q->latency.count && !q->queued))
		return;
	strbuf__init(&s, MAX_PARA);
	where_text(v, q, &s);
	strbuf__addc(&s, ',');
	if (q->children)
		strbuf__adds(&s, " served by processes that this one had forked and that were not "
				 "measured (yet), so that codec calls in them are not known;");
	else
		add_codecs(&s, q);
	if (q->latency.count)
		add_system_calls(&s, q);
	else
		strbuf__adds(&s, " no request by the rule of connections");
	add_queued(&s, q);
	add_parallel(&s, v->r, q);
	add_doubts(&s, q);
	table__para_buf(v, "", &s);
}

static void print_rule(struct view *v)
{
	table__para(
		v, "rule",
		"server, client: TCP connections, by system call tracepoints: from the return of "
		"the read that brings the first byte to that of the last write before the next "
		"one (client: from its first write to the last read); handler: calls of the "
		"function. What probes in a request cost was subtracted, and what the programs "
		"at its system calls took; the kernel's way to these was not; ~: less than "
		"half of what was subtracted, so that shares there say little");
}

static void print_tied(struct view *v, const struct m_requests *r)
{
	char pct[CELL], a[CELL], b[CELL], c[CELL];

	table__para(v, "tied",
		    "%s of the codec calls belong to a request: by a task that had read from no "
		    "connection %s, after its request %s, on connections found open %s",
		    cell_pct(pct, share_pct(m_requests__tied(r))),
		    cell_count(a, r->n[HB_REQ_UNTIED_CALLS]),
		    cell_count(b, r->n[HB_REQ_LATE_CALLS]), cell_count(c, r->n[HB_REQ_OLD_CALLS]));
	if (lost_calls_pct(v->r) > REQUESTS_MAX_LOST_PCT)
		table__para(v, "",
			    "%s of all calls have no time (see lost): what part of requests they "
			    "are is n/a",
			    cell_pct(pct, lost_calls_pct(v->r)));
}

/* Have calls of this operation been measured that contain what a reader or writer waits? */
static bool contains_waiting(const struct recording *r, const struct m_request_codec *c)
{
	for (u32 i = 0; i < r->nr_rows; i++) {
		const struct m_func *f = r->row[i].func < r->nr_funcs ? &r->func[r->row[i].func]
								      : NULL;

		if (f && f->note && strstr(f->note, "waiting time") &&
		    !strcmp(f->codec, c->codec) && !strcmp(f->op, c->op))
			return true;
	}
	return false;
}

static void print_waiting(struct view *v, const struct m_requests *r)
{
	for (u32 i = 0; i < r->nr_rows; i++)
		for (u32 k = 0; k < r->row[i].nr_codecs; k++) {
			const struct m_request_codec *c = &r->row[i].codec[k];

			if (!contains_waiting(v->r, c))
				continue;
			table__para(v, "waiting",
				    "calls marked with * contain what they wait for data, and so "
				    "do the parts of requests: where the other side sends its "
				    "data slowly, these are no work of codecs");
			return;
		}
}

static void print_followed(struct view *v, const struct m_requests *r)
{
	char a[CELL], b[CELL];

	if (!r->follow_go)
		return;
	if (strcmp(r->follow_go, REQUESTS_FOLLOWED) != 0)
		table__para(v, "followed", "goroutines: %s", r->follow_go);
	else
		table__para(
			v, "followed",
			"goroutines: %s were started, %s of them by one with a request, which is "
			"theirs as well; those that were there before and get work (a pool of "
			"workers) are not followed",
			cell_count(a, r->n[HB_REQ_STARTED]), cell_count(b, r->n[HB_REQ_INHERITED]));
}

static void add_if(struct strbuf *s, u64 n, const char *what)
{
	char buf[CELL];

	if (n)
		strbuf__addf(s, "; %s %s", what, cell_count(buf, n));
}

static void print_connections(struct view *v, const struct m_requests *r)
{
	char a[CELL], b[CELL], c[CELL], d[CELL];
	struct strbuf s;

	strbuf__init(&s, MAX_PARA);
	strbuf__addf(&s, "accepted %s, made %s, found open %s, closed %s",
		     cell_count(a, r->n[HB_REQ_ACCEPTED]), cell_count(b, r->n[HB_REQ_CONNECTED]),
		     cell_count(c, r->n[HB_REQ_FOUND]), cell_count(d, r->n[HB_REQ_CLOSED]));
	add_if(&s, r->n[HB_REQ_OLD_EXCHANGES],
	       "requests set apart, as their connection was found open in the middle of them");
	add_if(&s, r->open_at_end, "without an answer yet at the end");
	add_if(&s, r->n[HB_REQ_HANDSHAKES],
	       "exchanges of TLS itself (handshakes, alerts), no requests");
	add_if(&s, r->n[HB_REQ_MUXED], "HTTP/2 connections, see handlers");
	add_if(&s, r->n[HB_REQ_UPGRADED],
	       "connections that left HTTP for another protocol (WebSocket), whose messages are no "
	       "requests");
	add_if(&s, r->n[HB_REQ_PUSHES], "writes before anything was read");
	table__para_buf(v, "connections", &s);
	if (!r->n[HB_REQ_UNIX] && !r->n[HB_REQ_DATAGRAM] && !r->n[HB_REQ_OTHER])
		return;
	table__para(
		v, "not seen",
		"system calls with data on sockets that are not TCP: unix %s, datagrams %s, others "
		"%s; their requests are in no row",
		cell_count(a, r->n[HB_REQ_UNIX]), cell_count(b, r->n[HB_REQ_DATAGRAM]),
		cell_count(c, r->n[HB_REQ_OTHER]));
}

/* Handlers of HTTP/1 are called once for each request: several requests in one read are taken for one. */
static void print_pipelined(struct view *v, const struct m_requests *r)
{
	u64 exchanges = 0, handled = 0;
	char a[CELL], b[CELL];

	if (r->n[HB_REQ_MUXED])
		return;
	for (u32 i = 0; i < r->nr_rows; i++) {
		const struct m_request *q = &r->row[i];

		if (q->side == HB_REQ_SERVER)
			exchanges += q->latency.count;
		else if (q->side == HB_REQ_HANDLER && q->latency.count > handled)
			handled = q->latency.count;
	}
	exchanges += r->n[HB_REQ_OLD_EXCHANGES] + r->open_at_end;
	if (exchanges && handled > exchanges + exchanges / 100)
		table__para(v, "pipelined",
			    "handlers were called %s times in %s requests: clients send several at "
			    "once, or other sockets are served; trust the handlers' rows",
			    cell_count(a, handled), cell_count(b, exchanges));
}

/* From this part of the fastest row's P50 on, what probes cost is said: docs/benchmarks.md has how much of
 * it stays in requests of that length. */
#define DISTURBED_PCT 10.0

/* What probes have cost is known of the recording, not of each request. */
static void print_disturbed(struct view *v, const struct m_requests *r)
{
	u64 cost_ns = v->r->cost.probe_ns, requests = 0, handled = 0, p50_ns = M_NONE, each_ns;
	char a[CELL], b[CELL];

	for (u32 i = 0; i < r->nr_rows; i++) {
		const struct m_request *q = &r->row[i];
		u64 p50 = dist_quantile(&q->latency, DIST_P50);

		if (q->side == HB_REQ_SERVER)
			requests += q->latency.count;
		else if (q->side == HB_REQ_HANDLER && q->latency.count > handled)
			handled = q->latency.count;
		if (p50 < p50_ns)
			p50_ns = p50;
	}
	requests = requests ? requests : handled;
	if (cost_ns == M_NONE || !requests || p50_ns == M_NONE)
		return;
	each_ns = cost_ns / requests;
	if (pct_of(each_ns, p50_ns) < DISTURBED_PCT)
		return;
	table__para(v, "disturbed",
		    "probes cost a request %s on average, %s of the least P50 above; that was "
		    "subtracted as a mean, and what it slows down beyond that was not: take such "
		    "latencies for rough",
		    cell_ns(a, each_ns), cell_pct(b, pct_of(each_ns, p50_ns)));
}

static void print_losses(struct view *v, const struct m_requests *r)
{
	char buf[CELL];

	for (u32 i = 0; i < HB_REQ_LOSS_NR; i++)
		if (r->n[i])
			table__para(v, "lost", "%s %s: %s", hb_req_counter_names[i],
				    cell_count(buf, r->n[i]), request_losses[i]);
}

void table__requests(struct view *v)
{
	const struct m_requests *r = v->r->requests;
	struct grid grid;

	if (!r)
		return;
	strbuf__addc(v->out, '\n');
	if (!r->nr_rows)
		table__para(v, "requests", "none: no request was answered on a TCP connection");
	grid__init(&grid, columns, C_NR);
	for (u32 i = 0; i < r->nr_rows; i++)
		add_row(v, &r->row[i], &grid);
	if (r->nr_rows)
		grid__render(&grid, v->opts->wide ? 0 : v->opts->width, v->out);
	grid__fini(&grid);
	strbuf__addc(v->out, '\n');
	for (u32 i = 0; i < r->nr_rows; i++)
		print_parts(v, &r->row[i]);
	print_rule(v);
	print_tied(v, r);
	print_waiting(v, r);
	print_followed(v, r);
	print_connections(v, r);
	table__request_procs(v);
	print_pipelined(v, r);
	print_disturbed(v, r);
	print_losses(v, r);
}
