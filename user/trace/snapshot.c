// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * snapshot.c - from the kernel's maps to the recording: rows and their changes per interval, function
 * counters, what is still in flight, drops, costs; and the orderly end.
 *
 * Gotcha: a live snapshot is not balanced, as calls go on while it is read. The final one is: it is
 * taken after recording has stopped and the probes are off, so no handler runs any more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <hbprof/version.h>

#include "trace/sampler.h"
#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define MAX_INTERVALS 512 /* then pairs are merged */

/* ---- distributions ------------------------------------------------------------------------ */

static int read_buckets(struct session *s, u32 hist, struct hb_hist *buf, struct m_dist *d)
{
	u32 nr = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.hists), &hist, buf))
		return -errno;
	for (u32 b = 0; b < HB_HIST_BUCKETS; b++)
		nr += buf->n[b] != 0;
	d->bucket = array_alloc(nr ? nr : 1, sizeof(*d->bucket));
	if (!d->bucket)
		return -ENOMEM;
	for (u32 b = 0; b < HB_HIST_BUCKETS; b++) {
		if (buf->n[b])
			d->bucket[d->nr_buckets++] = (struct m_bucket){b, buf->n[b]};
	}
	return 0;
}

static int read_dist(struct session *s, const struct hb_dist_sum *from, struct hb_hist *buf,
		     struct m_dist *d)
{
	m_dist__init(d);
	if (!from->count)
		return 0;
	d->count = from->count;
	d->sum_ns = from->sum_ns;
	d->min_ns = from->min_ns;
	d->max_ns = from->max_ns;
	return from->hist ? read_buckets(s, from->hist - 1, buf, d) : 0;
}

static void row__fini(struct m_row *r)
{
	for (u32 k = 0; k < HB_DIST_NR; k++)
		m_dist__fini(&r->dist[k]);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int read_row(struct session *s, u32 i, struct hb_hist *buf, struct m_row *out, bool *keep)
{
	struct hb_row row;
	int err = 0;

	*keep = false;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.row_stats), &i, &row))
		return -errno;
	if (!row.dist[HB_DIST_LEAF].count && !row.dist[HB_DIST_OUTER].count)
		return 0;
	if (i != HB_ROW_OVERFLOW && row.key.proc == HB_PROC_SELF)
		return 0;
	*out = (struct m_row){.func = row.key.func,
			      .target = row.key.proc,
			      .size_class = row.key.size_class,
			      .outcome = row.key.outcome,
			      .overflow = i == HB_ROW_OVERFLOW,
			      .count = row.dist[HB_DIST_LEAF].count + row.dist[HB_DIST_OUTER].count,
			      .raw_sum_ns = row.raw_sum_ns,
			      .raw_min_ns = row.raw_min_ns,
			      .raw_max_ns = row.raw_max_ns,
			      .nested = row.nested,
			      .size_sum = row.size_sum,
			      .size_min = row.size_min,
			      .size_max = row.size_max};
	memcpy(out->size_sub, row.size_sub, sizeof(out->size_sub));
	for (u32 k = 0; k < HB_DIST_NR && !err; k++)
		err = read_dist(s, &row.dist[k], buf, &out->dist[k]);
	if (err)
		row__fini(out);
	*keep = !err;
	return err;
}

/* All rows in order of their index: a row keeps its place as more are added. */
static int read_rows(struct session *s, struct m_row **out, u32 *nr_out)
{
	u32 used = s->skel->bss->next_row + 1, nr = 0;
	struct hb_hist *buf = malloc(sizeof(*buf));
	struct m_row *v;
	int err = 0;

	if (used > s->max_rows)
		used = s->max_rows;
	v = array_alloc(used, sizeof(*v));
	if (!v || !buf)
		err = -ENOMEM;
	for (u32 i = 1; i <= used && !err; i++) {
		bool keep;

		/* The overflow row comes last, as it may be added late. */
		err = read_row(s, i < used ? i : HB_ROW_OVERFLOW, buf, &v[nr], &keep);
		nr += keep;
	}
	free(buf);
	if (err) {
		for (u32 i = 0; i < nr; i++)
			row__fini(&v[i]);
		free(v);
		return err;
	}
	*out = v;
	*nr_out = nr;
	return 0;
}

static void free_rows(struct m_row *v, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		row__fini(&v[i]);
	free(v);
}

static bool same_row(const struct m_row *a, const struct m_row *b)
{
	return a->func == b->func && a->target == b->target && a->size_class == b->size_class &&
	       a->outcome == b->outcome && a->overflow == b->overflow;
}

/* ---- intervals ---------------------------------------------------------------------------- */

/*
 * The calls of a distribution as an interval counts them. While recording, counts and buckets are
 * read one after the other, and calls end between the two: an interval would have more calls in its
 * buckets than in all, or fewer. Counted by the buckets, each call is in one interval with both.
 */
static u64 dist_calls(const struct m_dist *d)
{
	u64 n = 0;

	if (!d->nr_buckets)
		return d->count;
	for (u32 i = 0; i < d->nr_buckets; i++)
		n += d->bucket[i].n;
	return n;
}

/* now - before, bucket by bucket; before may lack what now has. */
static int dist_delta(const struct m_dist *before, const struct m_dist *now, struct m_delta *d)
{
	u32 k = 0;

	d->count = dist_calls(now) - (before ? dist_calls(before) : 0);
	d->sum_ns = now->sum_ns - (before ? before->sum_ns : 0);
	d->bucket = array_alloc(now->nr_buckets + 1, sizeof(*d->bucket));
	if (!d->bucket)
		return -ENOMEM;
	for (u32 i = 0; i < now->nr_buckets; i++) {
		u64 n = now->bucket[i].n;

		while (before && k < before->nr_buckets &&
		       before->bucket[k].idx < now->bucket[i].idx)
			k++;
		if (before && k < before->nr_buckets && before->bucket[k].idx == now->bucket[i].idx)
			n -= before->bucket[k].n;
		if (n)
			d->bucket[d->nr_buckets++] = (struct m_bucket){now->bucket[i].idx, n};
	}
	return 0;
}

static void interval__fini(struct m_interval *iv)
{
	for (u32 i = 0; i < iv->nr_deltas; i++)
		free(iv->delta[i].bucket);
	free(iv->delta);
}

static int make_interval(struct session *s, const struct m_row *rows, u32 nr, u64 now,
			 struct m_interval *iv)
{
	*iv = (struct m_interval){.begin_mono_ns = s->prev_mono_ns, .end_mono_ns = now};
	iv->delta = array_alloc((size_t)nr * HB_DIST_NR + 1, sizeof(*iv->delta));
	if (!iv->delta)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		const struct m_row *old = NULL;

		for (u32 p = 0; p < s->nr_prev && !old; p++)
			old = same_row(&s->prev[p], &rows[i]) ? &s->prev[p] : NULL;
		for (u32 k = 0; k < HB_DIST_NR; k++) {
			struct m_delta *d = &iv->delta[iv->nr_deltas];

			if (dist_calls(&rows[i].dist[k]) == (old ? dist_calls(&old->dist[k]) : 0))
				continue;
			*d = (struct m_delta){.row = i, .dist = k};
			if (dist_delta(old ? &old->dist[k] : NULL, &rows[i].dist[k], d))
				return -ENOMEM;
			iv->nr_deltas++;
		}
	}
	return 0;
}

static int delta_merge(struct m_delta *to, const struct m_delta *from)
{
	struct m_dist a = {.bucket = to->bucket, .nr_buckets = to->nr_buckets, .min_ns = M_NONE};
	struct m_dist b = {
		.bucket = from->bucket, .nr_buckets = from->nr_buckets, .min_ns = M_NONE};
	int err = m_dist__merge(&a, &b);

	if (err)
		return err;
	to->bucket = a.bucket;
	to->nr_buckets = a.nr_buckets;
	to->count += from->count;
	to->sum_ns += from->sum_ns;
	return 0;
}

/* Takes over the deltas of `from`, which is empty afterwards. */
static int interval_merge(struct m_interval *to, struct m_interval *from)
{
	struct m_delta *v = realloc(to->delta, (to->nr_deltas + from->nr_deltas + 1) * sizeof(*v));
	u32 own = to->nr_deltas;

	if (!v)
		return -ENOMEM;
	to->delta = v;
	for (u32 i = 0; i < from->nr_deltas; i++) {
		struct m_delta *f = &from->delta[i], *t = NULL;

		for (u32 k = 0; k < own && !t; k++)
			t = v[k].row == f->row && v[k].dist == f->dist ? &v[k] : NULL;
		if (t) {
			if (delta_merge(t, f))
				return -ENOMEM;
			free(f->bucket);
		} else {
			v[to->nr_deltas++] = *f;
		}
		f->bucket = NULL;
	}
	to->end_mono_ns = from->end_mono_ns;
	interval__fini(from);
	return 0;
}

/* A long run keeps its whole course at half the resolution. */
static int halve_intervals(struct recording *rec)
{
	u32 n = 0;

	for (u32 i = 0; i + 1 < rec->nr_intervals; i += 2) {
		int err = interval_merge(&rec->interval[i], &rec->interval[i + 1]);

		if (err)
			return err;
		rec->interval[n++] = rec->interval[i];
	}
	rec->nr_intervals = n;
	return 0;
}

static int add_interval(struct session *s, struct m_row *rows, u32 nr)
{
	struct recording *rec = s->rec;
	u64 now = mono_ns();
	struct m_interval iv;
	int err;

	if (!rec->interval) {
		rec->interval = array_alloc(MAX_INTERVALS, sizeof(*rec->interval));
		if (!rec->interval)
			return -ENOMEM;
	}
	if (rec->nr_intervals == MAX_INTERVALS) {
		err = halve_intervals(rec);
		if (err)
			return err;
	}
	err = make_interval(s, rows, nr, now, &iv);
	if (err) {
		interval__fini(&iv);
		return err;
	}
	rec->interval[rec->nr_intervals++] = iv;
	free_rows(s->prev, s->nr_prev);
	s->prev = rows;
	s->nr_prev = nr;
	s->prev_mono_ns = now;
	return 0;
}

/* The tasks map is bounded; when it fills, entries that become empty are deleted again. */
static void watch_tasks(struct session *s)
{
	bool tight = s->skel->bss->nr_tasks > s->max_tasks / 4 * 3;

	__atomic_store_n(&s->skel->bss->tight, tight, __ATOMIC_RELAXED);
}

static void note_usage(struct session *s)
{
	struct recording *rec = s->rec;
	u64 cpu, rss;

	if (!rec->nr_targets || proc__usage(s->plan->proc, &cpu, &rss))
		return; /* it has ended: the last interval's values stand */
	if (s->cpu_begin_ns != M_NONE)
		rec->target[0].cpu_ns = cpu - s->cpu_begin_ns;
	rec->target[0].rss_bytes = rss;
}

int session__snapshot(struct session *s)
{
	struct m_row *rows;
	u32 nr;
	int err = read_rows(s, &rows, &nr);

	if (err)
		return err;
	watch_tasks(s);
	note_usage(s);
	err = add_interval(s, rows, nr);
	if (err)
		free_rows(rows, nr);
	return err;
}

/* ---- functions, coverage ------------------------------------------------------------------ */

static int fill_func_counters(struct session *s, u32 i, struct m_func *f)
{
	int cpus = libbpf_num_possible_cpus();
	struct hb_fn_stat *v;
	int err = 0;

	if (cpus < 1)
		return -EINVAL;
	v = array_alloc(cpus, sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.fn_stats), &i, v))
		err = -errno;
	for (int c = 0; c < cpus && !err; c++) {
		for (u32 k = 0; k < HB_FN_NR; k++)
			f->n[k] += v[c].n[k];
		for (u32 k = 0; k < HB_CLASS_NR; k++)
			f->exits_by[k] += v[c].exits[k];
	}
	for (u32 k = 0; k < HB_CLASS_NR; k++)
		f->n[HB_FN_EXITS] += f->exits_by[k];
	free(v);
	return err;
}

static int fill_drops(struct session *s, struct recording *rec)
{
	int cpus = libbpf_num_possible_cpus();
	u64 *v = cpus > 0 ? array_alloc(cpus, sizeof(*v)) : NULL;
	int err = 0;

	if (!v)
		return -ENOMEM;
	for (u32 k = 0; k < HB_CNT_NR && !err; k++) {
		u64 sum = 0;

		if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.drops), &k, v))
			err = -errno;
		for (int c = 0; c < cpus; c++)
			sum += v[c];
		if (k == HB_CNT_UNMATCHED)
			rec->coverage.unmatched = sum;
		else
			rec->coverage.drop[k] = sum;
	}
	free(v);
	return err;
}

static void count_in_flight(struct session *s, const struct hb_task *t)
{
	for (u32 i = 0; i < t->nr && i < HB_FRAME_DEPTH; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (f->func < s->rec->nr_funcs && !(f->flags & HB_FRAME_UNKNOWN))
			s->rec->func[f->func].in_flight_end++;
		if (f->pending && f->nested_func < s->rec->nr_funcs)
			s->rec->func[f->nested_func].in_flight_end += f->pending;
	}
}

static int fill_in_flight(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.tasks);
	struct hb_frame_key key, next;
	struct hb_task t;
	void *prev = NULL;

	while (!bpf_map_get_next_key(fd, prev, &next)) {
		if (!bpf_map_lookup_elem(fd, &next, &t))
			count_in_flight(s, &t);
		key = next;
		prev = &key;
	}
	return errno == ENOENT ? 0 : -errno;
}

static char *dup_or_null(const char *s)
{
	return s ? strdup(s) : NULL;
}

static void fill_exit_sites(const struct session *s, u32 func, struct m_func *m)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->func == func && !ss->refused &&
		    (ss->role == HB_ROLE_RETSITE || ss->role == HB_ROLE_RET))
			m->exit_sites[ss->cls]++;
	}
}

static int fill_funcs(struct session *s, struct recording *rec)
{
	rec->func = array_alloc(s->nr_funcs, sizeof(*rec->func));
	if (!rec->func)
		return -ENOMEM;
	rec->nr_funcs = s->nr_funcs;
	for (u32 i = 0; i < s->nr_funcs; i++) {
		const struct plan_func *pf = &s->plan->func[i];
		struct m_func *m = &rec->func[i];
		int err = fill_func_counters(s, i, m);

		if (err)
			return err;
		m->name = dup_or_null(pf->f->name);
		m->codec = dup_or_null(pf->f->codec);
		m->op = dup_or_null(pf->f->op);
		m->library = dup_or_null(pf->f->library);
		m->library_version = dup_or_null(pf->f->library_version);
		m->note = dup_or_null(pf->f->note);
		m->image = pf->image;
		m->vaddr = pf->f->vaddr;
		m->lang = pf->f->lang;
		m->exit_mode = pf->exit_ret ? M_EXIT_RET : M_EXIT_SITE;
		m->entry_class = pf->entry_class;
		m->has_size = pf->f->size_in.kind || pf->f->size_out.kind;
		m->has_err = pf->f->err_kind != HB_ERR_NONE;
		fill_exit_sites(s, i, m);
		if (!m->name || !m->codec || !m->op)
			return -ENOMEM;
	}
	return 0;
}

static int fill_images(struct session *s, struct recording *rec)
{
	rec->image = array_alloc(s->plan->nr_images, sizeof(*rec->image));
	if (!rec->image)
		return -ENOMEM;
	rec->nr_images = s->plan->nr_images;
	for (u32 i = 0; i < rec->nr_images; i++) {
		rec->image[i].path = dup_or_null(s->plan->image[i].path);
		rec->image[i].build_id = dup_or_null(s->plan->image[i].im->build_id);
	}
	return 0;
}

int session__describe_target(struct session *s)
{
	struct recording *rec = s->rec;
	const struct proc *p = s->plan->proc;
	struct m_target *t = array_alloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct m_target){.pid = p->pid,
			       .start_time = p->start_time,
			       .exe = dup_or_null(p->exe),
			       .cmdline = dup_or_null(p->cmdline),
			       .language = dup_or_null(s->plan->language),
			       .cpu_ns = M_NONE,
			       .rss_bytes = M_NONE};
	if (s->plan->nr_images)
		t->build_id = dup_or_null(s->plan->image[0].im->build_id);
	rec->target = t;
	rec->nr_targets = 1;
	return 0;
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Sums over the functions. An exit whose entry was dropped is unseen too: those are not "in flight
 * when recording began". */
static void sum_coverage(struct session *s, struct recording *rec, u64 end_mono_ns)
{
	struct m_coverage *c = &rec->coverage;

	c->in_flight_start = 0;
	for (u32 i = 0; i < rec->nr_funcs; i++) {
		const struct m_func *f = &rec->func[i];

		for (u32 k = 0; k < HB_FN_NR; k++)
			c->n[k] += f->n[k];
		c->in_flight_end += f->in_flight_end;
		c->in_flight_start += f->n[HB_FN_UNSEEN] -
				      min_u64(f->n[HB_FN_UNSEEN], f->n[HB_FN_DROPPED]);
	}
	c->measured_ns = c->wall_ns = end_mono_ns - s->begin_mono_ns;
	c->sites = s->nr_sites - CALIB_SITES - s->sites_refused;
	c->sites_refused = s->sites_refused;
	for (u32 i = 0; i < s->plan->nr_images; i++)
		c->sites_refused += s->plan->image[i].refused;
	c->ras_discovered = s->ras_discovered;
	c->ras_refused = s->ras_refused;
}

/* ---- cost --------------------------------------------------------------------------------- */

/* The last calibration of a pair of classes; 0: none. */
static u64 pair_ns(const struct recording *rec, u8 lang, u8 entry_class, u8 exit_class)
{
	for (u32 i = rec->nr_cals; i-- > 0;) {
		const struct m_cal *c = &rec->cal[i];

		if (c->lang == lang && c->entry_class == entry_class && c->exit_class == exit_class)
			return c->total_ns;
	}
	return 0;
}

/* What the target paid for a function's calls. Those whose end was not seen, for want of a site or
 * of a return, paid for an entry: half a pair. */
static u64 func_cost_ns(const struct recording *rec, const struct m_func *f)
{
	u64 ns = 0, ended = f->n[HB_FN_EXITS];
	u8 most = HB_CLASS_BRANCH;

	for (u8 k = 0; k < HB_CLASS_NR; k++) {
		ns += f->exits_by[k] * pair_ns(rec, f->lang, f->entry_class, k);
		if (f->exits_by[k] > f->exits_by[most])
			most = k;
	}
	if (f->n[HB_FN_ENTRIES] > ended)
		ns += (f->n[HB_FN_ENTRIES] - ended) * pair_ns(rec, f->lang, f->entry_class, most) /
		      2;
	return ns;
}

static u64 own_cpu_ns(const struct rusage *ru)
{
	return ((u64)ru->ru_utime.tv_sec + (u64)ru->ru_stime.tv_sec) * 1000000000 +
	       ((u64)ru->ru_utime.tv_usec + (u64)ru->ru_stime.tv_usec) * 1000;
}

void session__mark_own_cpu(struct session *s)
{
	struct rusage ru;

	s->own_cpu_begin_ns = getrusage(RUSAGE_SELF, &ru) ? M_NONE : own_cpu_ns(&ru);
}

static void fill_cost(struct session *s, struct recording *rec)
{
	struct rusage ru;

	rec->cost.probe_ns = 0;
	for (u32 i = 0; i < rec->nr_funcs; i++)
		rec->cost.probe_ns += func_cost_ns(s->rec, &rec->func[i]);
	if (!getrusage(RUSAGE_SELF, &ru)) {
		if (s->own_cpu_begin_ns != M_NONE)
			rec->cost.hbprof_cpu_ns = own_cpu_ns(&ru) - s->own_cpu_begin_ns;
		rec->cost.rss_bytes = (u64)ru.ru_maxrss * 1024;
	}
	rec->cost.kernel_map_bytes = s->map_bytes + s->skel->bss->nr_tasks * sizeof(struct hb_task);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* Names take long, and are needed by no other number. */
static int take_samples(struct session *s)
{
	int n;

	if (!s->sampler)
		return 0;
	sampler__stop(s->sampler);
	n = ring_buffer__consume(s->ring);
	return n < 0 ? n : sampler__finish(s->sampler, s->rec);
}

static int take_rows(struct session *s)
{
	struct recording *rec = s->rec;

	/* The last snapshot's rows are final: nothing ran after it. */
	rec->row = s->prev;
	rec->nr_rows = s->nr_prev;
	s->prev = NULL;
	s->nr_prev = 0;
	for (u32 i = 0; i < rec->nr_rows; i++)
		rec->row[i].measured_ns = s->end_mono_ns - s->begin_mono_ns;
	return 0;
}

int session__stop(struct session *s, const char *reason)
{
	struct recording *rec = s->rec;
	char took[16];
	int err;

	note_usage(s);
	__atomic_store_n(&s->skel->bss->recording, false, __ATOMIC_SEQ_CST);
	s->end_mono_ns = mono_ns();
	rec->coverage.links = s->target.nr_links;
	attach__fini(&s->target);
	log_info("detached in %s", format_ns(took, sizeof(took), mono_ns() - s->end_mono_ns));
	if (!proc__alive(s->plan->proc) && rec->nr_targets)
		rec->target[0].end = strdup("exited");
	err = session__snapshot(s);
	if (!err)
		err = take_rows(s);
	if (!err)
		err = fill_funcs(s, rec);
	if (!err)
		err = fill_images(s, rec);
	if (!err)
		err = fill_drops(s, rec);
	if (!err)
		err = fill_in_flight(s);
	if (!err)
		err = take_samples(s);
	if (err) {
		log_err("cannot read the results: %s", strerror(-err));
		return err;
	}
	sum_coverage(s, rec, s->end_mono_ns);
	rec->coverage.balanced = true;
	rec->version = strdup(HBPROF_VERSION);
	rec->attach = strdup("uprobe_multi");
	rec->stop_reason = strdup(reason);
	rec->begin_wall_ns = s->begin_wall_ns;
	rec->begin_mono_ns = s->begin_mono_ns;
	rec->end_mono_ns = s->end_mono_ns;
	fill_cost(s, rec);
	return rec->version && rec->attach && rec->stop_reason ? 0 : -ENOMEM;
}

/* ---- while it goes on --------------------------------------------------------------------- */

static int dup_target(const struct m_target *from, struct recording *rec)
{
	struct m_target *t = array_alloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = *from;
	t->exe = dup_or_null(from->exe);
	t->cmdline = dup_or_null(from->cmdline);
	t->build_id = dup_or_null(from->build_id);
	t->language = dup_or_null(from->language);
	t->end = NULL;
	rec->target = t;
	rec->nr_targets = 1;
	return 0;
}

static int dup_cals(const struct recording *from, struct recording *rec)
{
	rec->cal = array_alloc(from->nr_cals + 1, sizeof(*rec->cal));
	if (!rec->cal)
		return -ENOMEM;
	memcpy(rec->cal, from->cal, from->nr_cals * sizeof(*rec->cal));
	rec->nr_cals = from->nr_cals;
	return 0;
}

int session__live(struct session *s, struct recording **out)
{
	struct recording *rec = recording__new();
	u64 now = mono_ns();
	int err;

	if (!rec)
		return -ENOMEM;
	err = read_rows(s, &rec->row, &rec->nr_rows);
	for (u32 i = 0; i < rec->nr_rows && !err; i++)
		rec->row[i].measured_ns = now - s->begin_mono_ns;
	if (!err)
		err = fill_funcs(s, rec);
	if (!err)
		err = fill_images(s, rec);
	if (!err)
		err = fill_drops(s, rec);
	if (!err && s->rec->nr_targets)
		err = dup_target(&s->rec->target[0], rec);
	if (!err)
		err = dup_cals(s->rec, rec);
	for (u32 i = 0; i < s->rec->nr_warnings && !err; i++)
		err = recording__warn(rec, "%s", s->rec->warning[i]);
	if (err) {
		recording__free(rec);
		return err;
	}
	sum_coverage(s, rec, now);
	rec->coverage.in_flight_end = M_NONE;
	rec->coverage.links = s->target.nr_links;
	rec->begin_wall_ns = s->begin_wall_ns;
	rec->begin_mono_ns = s->begin_mono_ns;
	rec->end_mono_ns = now;
	fill_cost(s, rec);
	*out = rec;
	return 0;
}
