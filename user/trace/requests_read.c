// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * requests_read.c - rows of requests and their counters, out of the kernel's maps. At the end, what is
 * still open is looked at here: an exchange that has an answer and was followed by nothing is a
 * request like others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "model/request.h"
#include "trace/requests_impl.h"
#include "trace/switches.h"
#include "hbprof.skel.h"
#include "util/array.h"

/* All rows as the kernel has them. */
struct rows {
	struct hb_req_row *v;
	u32 nr;
};

static int read_counts(struct requests *r, u64 n[HB_REQ_CNT_NR])
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	u64 *v = cpus > 0 ? array_alloc(cpus, sizeof(*v)) : NULL;

	if (!v)
		return -ENOMEM;
	for (u32 k = 0; k < HB_REQ_CNT_NR && !err; k++) {
		if (bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.req_counts), &k, v))
			err = -errno;
		for (int c = 0; c < cpus; c++)
			n[k] += v[c];
	}
	free(v);
	return err;
}

static int req_rows__read(struct requests *r, struct rows *rows)
{
	u32 nr = r->skel->bss->next_req_row + 1;

	rows->nr = nr < HB_REQ_ROWS ? nr : HB_REQ_ROWS;
	rows->v = array_alloc(rows->nr, sizeof(*rows->v));
	if (!rows->v)
		return -ENOMEM;
	for (u32 i = 0; i < rows->nr; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.req_rows), &i, &rows->v[i]))
			return -errno;
	}
	return 0;
}

/* ---- what is open at the end ------------------------------------------------------------------ */

/* What hb_req_finish() in bpf/req.bpf.c does. */
static void finish(struct rows *rows, const struct hb_req_conn *c, struct m_requests *out)
{
	struct hb_req_row *r = c->row < rows->nr ? &rows->v[c->row] : &rows->v[0];
	u64 ns = c->last_ns - c->begin_ns, codec;

	out->n[HB_REQ_TIED_CALLS] -= c->late_calls;
	out->n[HB_REQ_TIED_NS] -= c->late_calls ? c->late_ns : 0;
	out->n[HB_REQ_LATE_CALLS] += c->late_calls;
	out->n[HB_REQ_LATE_NS] += c->late_calls ? c->late_ns : 0;
	if (c->flags & HB_REQ_HANDSHAKE) {
		out->n[HB_REQ_HANDSHAKES]++;
		return;
	}
	if (c->last_ns < c->begin_ns) {
		out->n[HB_REQ_CLOCK_BACK]++;
		return;
	}
	if (c->window & HB_REQ_WINDOW_MET) {
		out->n[HB_REQ_IN_WINDOW]++;
		r->in_window++;
		return;
	}
	ns -= c->probe_ns < ns ? c->probe_ns : ns;
	codec = c->codec_ns < ns ? c->codec_ns : ns;
	if (!r->count || ns < r->min_ns)
		r->min_ns = ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	r->count++;
	r->sum_ns += ns;
	r->codec_ns += codec;
	r->n[hb_hist_bucket(ns)]++;
	r->in_codec_ns[hb_hist_bucket(ns)] += codec;
	r->parallel += c->overlap_ns > 0;
	r->overlap_ns += c->overlap_ns < codec ? c->overlap_ns : codec;
	r->bytes_in += c->bytes_in;
	r->bytes_out += c->bytes_out;
	r->codec_calls += c->calls;
	r->read_ns += c->read_ns;
	r->write_ns += c->write_ns;
	r->first_sum_ns += c->first_ns;
	if (c->first_ns > r->first_max_ns)
		r->first_max_ns = c->first_ns;
	r->paused += !!(c->flags & HB_REQ_PAUSED);
	r->tls += !!(c->flags & HB_REQ_TLS);
	r->tls_doubt += (c->flags & HB_REQ_TLS) && !(c->flags & HB_REQ_TLS_SURE);
	r->stopped += !!(c->flags & HB_REQ_STOPPED);
	if (c->waited_ns == M_NONE)
		return;
	r->waited++;
	r->waited_sum_ns += c->waited_ns;
	if (c->waited_ns > r->waited_max_ns)
		r->waited_max_ns = c->waited_ns;
}

/* Nothing runs any more: what is in the map is final. */
static void finish_open(struct requests *r, struct rows *rows, struct m_requests *out)
{
	int fd = bpf_map__fd(r->skel->maps.req_conns);
	u64 key, *prev = NULL, at;
	struct hb_req_conn c;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		at = key;
		prev = &at;
		if (bpf_map_lookup_elem(fd, &key, &c))
			continue;
		if (c.state == HB_REQ_ENDING && !(c.flags & HB_REQ_TLS_BYE))
			finish(rows, &c, out);
		else if (c.state == HB_REQ_OPEN || c.state == HB_REQ_ENDING)
			out->open_at_end++;
		else if (c.state == HB_REQ_OLD_ANSWERED)
			out->n[HB_REQ_OLD_EXCHANGES]++;
	}
}

/* ---- into the model --------------------------------------------------------------------------- */

static int fill_dist(const struct hb_req_row *from, struct m_dist *d)
{
	u32 nr = 0;

	for (u32 b = 0; b < HB_HIST_BUCKETS; b++)
		nr += from->n[b] != 0;
	d->bucket = array_alloc(nr + 1, sizeof(*d->bucket));
	if (!d->bucket)
		return -ENOMEM;
	for (u32 b = 0; b < HB_HIST_BUCKETS; b++)
		if (from->n[b])
			d->bucket[d->nr_buckets++] = (struct m_bucket){b, from->n[b]};
	d->count = from->count;
	d->sum_ns = from->sum_ns;
	if (from->count) {
		d->min_ns = from->min_ns;
		d->max_ns = from->max_ns;
	}
	return 0;
}

static int fill_latency(const struct hb_req_row *from, struct m_request *to)
{
	int err = fill_dist(from, &to->latency);

	if (err)
		return err;
	to->bucket_codec_ns = array_alloc((size_t)to->latency.nr_buckets + 1,
					  sizeof(*to->bucket_codec_ns));
	if (!to->bucket_codec_ns)
		return -ENOMEM;
	for (u32 i = 0; i < to->latency.nr_buckets; i++)
		to->bucket_codec_ns[i] = from->in_codec_ns[to->latency.bucket[i].idx];
	return 0;
}

static int fill_codecs(const struct plan *pl, const struct hb_req_row *from, struct m_request *to)
{
	to->codec = array_alloc(HB_REQ_CODEC_DIM, sizeof(*to->codec));
	if (!to->codec)
		return -ENOMEM;
	for (u32 g = 0; g < HB_REQ_CODEC_DIM; g++) {
		struct m_request_codec *c = &to->codec[to->nr_codecs];

		for (u32 i = 0; i < pl->nr_funcs && from->group_calls[g]; i++) {
			if (pl->func[i].group != g)
				continue;
			c->codec = strdup(pl->func[i].f->codec);
			c->op = strdup(pl->func[i].f->op);
			c->calls = from->group_calls[g];
			c->ns = from->group_ns[g];
			to->nr_codecs++;
			if (!c->codec || !c->op)
				return -ENOMEM;
			break;
		}
	}
	return 0;
}

/* Has the process a Go runtime whose stops of the world are probed? */
static bool sees_stops(const struct plan *pl, u32 proc)
{
	const struct plan_proc *pp = proc < pl->nr_procs && proc < HB_MAX_PROCS ? &pl->proc[proc]
										: NULL;

	for (u32 i = 0; pp && i < pp->nr_maps; i++)
		if (pl->image[pp->map[i].image].world)
			return true;
	return false;
}

static int fill_row(const struct plan *pl, const struct hb_req_row *from, bool overflow,
		    struct m_request *to)
{
	bool client = from->key.side == HB_REQ_CLIENT;
	int err;

	m_request__init(to);
	to->overflow = overflow;
	if (!overflow) {
		to->target = from->key.proc & ~HB_REQ_CHILD;
		to->children = from->key.proc & HB_REQ_CHILD;
		to->side = from->key.side < HB_REQ_SIDE_NR ? from->key.side : HB_REQ_SERVER;
		to->port = from->key.port;
		if (to->side == HB_REQ_HANDLER)
			to->func = from->key.func;
	}
	/* Of an exchange, "in" begins it: what a client sends. */
	to->bytes_in = client ? from->bytes_out : from->bytes_in;
	to->bytes_out = client ? from->bytes_in : from->bytes_out;
	to->codec_ns = from->codec_ns;
	to->codec_calls = from->codec_calls;
	to->read_ns = from->read_ns;
	to->write_ns = from->write_ns;
	to->first_sum_ns = from->first_sum_ns;
	to->first_max_ns = from->first_max_ns;
	to->waited = from->waited;
	to->waited_sum_ns = from->waited_sum_ns;
	to->waited_max_ns = from->waited_max_ns;
	to->queued = from->queued;
	to->queued_sum_ns = from->queued_sum_ns;
	to->queued_max_ns = from->queued_max_ns;
	to->unanswered = from->unanswered;
	to->paused = from->paused;
	to->tls = from->tls;
	to->tls_doubt = from->tls_doubt;
	to->parallel = from->parallel;
	to->overlap_ns = from->overlap_ns;
	to->followed = from->followed;
	to->in_window = from->in_window;
	if (!overflow && !to->children && sees_stops(pl, to->target))
		to->stopped = from->stopped;
	err = fill_latency(from, to);
	return err ? err : fill_codecs(pl, from, to);
}

static int fill_rows(struct requests *r, const struct rows *rows, struct m_requests *out)
{
	out->row = array_alloc(rows->nr + 1, sizeof(*out->row));
	if (!out->row)
		return -ENOMEM;
	/* The overflow row comes last. */
	for (u32 i = 1; i <= rows->nr; i++) {
		const struct hb_req_row *from = &rows->v[i < rows->nr ? i : 0];
		int err;

		if ((!from->count && !from->unanswered && !from->queued && !from->in_window) ||
		    from->key.side == HB_REQ_PAUSES)
			continue;
		err = fill_row(r->plan, from, i == rows->nr, &out->row[out->nr_rows++]);
		if (err)
			return err;
	}
	return 0;
}

/* ---- processes -------------------------------------------------------------------------------- */

static int fill_pauses(struct requests *r, const struct rows *rows, struct m_request_proc *p)
{
	struct hb_req_world world;
	int err = 0;

	p->stops_seen = sees_stops(r->plan, p->target);
	if (!p->stops_seen)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.req_worlds), &p->target, &world))
		return -errno;
	p->no_begin = world.no_begin;
	p->no_end = world.no_end;
	p->no_row = world.no_row;
	for (u32 i = 1; i < rows->nr && !err; i++)
		if (rows->v[i].key.side == HB_REQ_PAUSES && rows->v[i].key.proc == p->target &&
		    rows->v[i].count)
			err = fill_dist(&rows->v[i], &p->pauses);
	return err;
}

static int fill_procs(struct requests *r, const struct rows *rows, u32 nr, struct m_requests *out)
{
	int err = 0;

	out->proc = array_alloc((size_t)nr + 1, sizeof(*out->proc));
	if (!out->proc)
		return -ENOMEM;
	for (u32 i = 0; i < nr && !err; i++) {
		struct m_request_proc *p = &out->proc[out->nr_procs++];

		m_request_proc__init(p);
		p->target = i;
		if (!switches__of(r->switches, i, &p->voluntary, &p->involuntary))
			p->voluntary = p->involuntary = M_NONE;
		err = fill_pauses(r, rows, p);
	}
	return err;
}

static int fill_follow(const struct plan *pl, struct m_requests *out)
{
	bool starts = false;

	if (!pl->opts.follow_go)
		return 0;
	for (u32 i = 0; i < pl->nr_images; i++)
		starts |= pl->image[i].starts;
	out->follow_go = strdup(starts ? REQUESTS_FOLLOWED
				       : "n/a (no Go program in which their start is known)");
	return out->follow_go ? 0 : -ENOMEM;
}

int requests__read(struct requests *r, bool final, struct recording *rec)
{
	struct m_requests *out;
	struct rows rows = {0};
	int err;

	if (!r)
		return 0;
	out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	err = read_counts(r, out->n);
	if (!err)
		err = req_rows__read(r, &rows);
	if (!err && final)
		finish_open(r, &rows, out);
	if (!err)
		err = fill_rows(r, &rows, out);
	if (!err)
		err = fill_procs(r, &rows, rec->nr_targets, out);
	if (!err)
		err = fill_follow(r->plan, out);
	free(rows.v);
	if (!err && final && r->skel->bss->req_urings && !r->said_uring)
		recording__warn(
			rec,
			"io_uring was set up while requests were recorded (%u times): what is "
			"read and written by it is not seen, and requests served so are missing",
			r->skel->bss->req_urings);
	if (err)
		m_requests__free(out);
	else
		rec->requests = out;
	return err;
}
