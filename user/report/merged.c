// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * merged.c - adds recordings up. Functions are the same when codec, operation, name, library and
 * version, image, address and the way of probing are; processes when pid and start time are.
 * Whatever is not the same stays apart, and machines that differ are refused: a sum over two of
 * them describes neither.
 */
#include "report/merged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/merged_time.h"
#include "report/overlap.h"
#include "util/array.h"

/* The top of a capture's counts: 2^63 - 1. */
#define COUNT_MAX (~0ULL >> 1)
#define MAX_INDEX 65535u /* of what a capture refers to by index */

struct merge {
	struct recording *to;
	const char *name; /* of the file that is being added */
	char *why;
	size_t len;
	u32 *target, *func;   /* where those of the added recording went */
	u32 *targets, *funcs; /* where those of all did, one recording after the other */
	u32 *image, *row;     /* where the added recording's went */
	u64 at_ns;	      /* where its time begins in the merged one */
	u64 *key;	      /* of rows, hashed to their index + 1 in slot */
	u32 *slot;
	u64 mask;
	int ctr[HB_CTRS];     /* where the added recording's counters went; -1: nowhere */
	u32 stacks, requests; /* recordings with CPU stacks and with requests, which are left out */
};

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static char *copy(const char *s, int *err)
{
	char *c = s ? strdup(s) : NULL;

	if (s && !c)
		*err = -ENOMEM;
	return c;
}

/* Exact, or an error; "not measured" makes the sum so. */
static int add(u64 *to, u64 v)
{
	if (*to == M_NONE || v == M_NONE) {
		*to = M_NONE;
		return 0;
	}
	return __builtin_add_overflow(*to, v, to) || *to > COUNT_MAX ? -EOVERFLOW : 0;
}

static int add_counts(u64 *to, const u64 *v, u32 nr)
{
	int err = 0;

	for (u32 i = 0; i < nr; i++)
		err = add(&to[i], v[i]) ? -EOVERFLOW : err;
	return err;
}

static int add_u32(u32 *to, u32 v)
{
	return __builtin_add_overflow(*to, v, to) ? -EOVERFLOW : 0;
}

/* ---- what must fit ---- */

static const char *fact(const struct recording *r, const char *key)
{
	return m_host__get(&r->host, key, "n/a");
}

static int refuse(struct merge *m, int err, const char *what, const char *a, const char *b)
{
	snprintf(m->why, m->len, "cannot merge %s: its %s is %s, that of the captures before is %s",
		 m->name, what, b ? b : "n/a", a ? a : "n/a");
	return err;
}

static int check_machine(struct merge *m, const struct recording *r)
{
	static const char *const keys[] = {"cpu_model", "arch",	  "cpus_online",   "smt",
					   "governor",	"kernel", "virtualization"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(fact(m->to, keys[i]), fact(r, keys[i])))
			return refuse(m, -EINVAL, keys[i], fact(m->to, keys[i]), fact(r, keys[i]));
	if (!same(m->to->attach, r->attach))
		return refuse(m, -EINVAL, "way of attaching", m->to->attach, r->attach);
	/* Of several lists none can be named. */
	if (!same(m->to->codecs, r->codecs)) {
		free(m->to->codecs);
		m->to->codecs = NULL;
	}
	return 0;
}

/* The same file name with another build is another program. */
static int check_images(struct merge *m, const struct recording *r)
{
	for (u32 i = 0; i < r->nr_images; i++)
		for (u32 k = 0; k < m->to->nr_images; k++)
			if (same(r->image[i].path, m->to->image[k].path) &&
			    !same(r->image[i].build_id, m->to->image[k].build_id)) {
				char what[256];

				snprintf(what, sizeof(what), "build of %.200s",
					 r->image[i].path ? r->image[i].path : "n/a");
				return refuse(m, -EINVAL, what, m->to->image[k].build_id,
					      r->image[i].build_id);
			}
	return 0;
}

/* What two recordings saw at once would count twice, one recording given twice above all. */
static int check_distinct(struct merge *m, const struct recording *const *r,
			  const char *const *names, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		const char *hides = recording_hides_spans(r[i])	   ? names[i]
				    : recording_hides_spans(r[nr]) ? names[nr]
								   : NULL;

		if (!recordings_overlap(r[i], r[nr]))
			continue;
		if (hides)
			snprintf(m->why, m->len,
				 "cannot merge %s with %s: which may hold its calls already is not "
				 "told; merge the captures that %s was merged from",
				 m->name, names[i], hides);
		else
			snprintf(
				m->why, m->len,
				"cannot merge %s: it was recorded at the same time as %s, of the same "
				"process: its calls would count twice",
				m->name, names[i]);
		return -EINVAL;
	}
	return 0;
}

/* ---- targets, images, functions ---- */

/* A time of the recording in the merged one, in which they follow each other without a gap. */
static u64 rebase(const struct merge *m, const struct recording *r, u64 ns)
{
	u64 since = ns > r->begin_mono_ns ? ns - r->begin_mono_ns : 0, at;

	return __builtin_add_overflow(m->at_ns, since, &at) || at > COUNT_MAX ? COUNT_MAX : at;
}

static u64 rebase_known(const struct merge *m, const struct recording *r, u64 ns)
{
	return ns == M_NONE ? M_NONE : rebase(m, r, ns);
}

static int add_targets(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;
	int err = 0;

	for (u32 i = 0; !err && i < r->nr_targets; i++) {
		const struct m_target *t = &r->target[i];
		u32 k;

		for (k = 0; k < to->nr_targets; k++)
			if (to->target[k].pid == t->pid &&
			    to->target[k].start_time == t->start_time &&
			    same(to->target[k].exe, t->exe) &&
			    same(to->target[k].build_id, t->build_id))
				break;
		m->target[i] = k;
		if (k < to->nr_targets) {
			err = add(&to->target[k].cpu_ns, t->cpu_ns);
			to->target[k].rss_bytes = t->rss_bytes;
			/* More than one span: it cannot be said in a capture. */
			to->target[k].begin_mono_ns = to->target[k].end_mono_ns = M_NONE;
			if (t->end && !to->target[k].end)
				to->target[k].end = copy(t->end, &err);
			continue;
		}
		to->target[to->nr_targets++] = (struct m_target){
			.pid = t->pid,
			.start_time = t->start_time,
			.comm = copy(t->comm, &err),
			.exe = copy(t->exe, &err),
			.cmdline = copy(t->cmdline, &err),
			.build_id = copy(t->build_id, &err),
			.language = copy(t->language, &err),
			.cpu_ns = t->cpu_ns,
			.rss_bytes = t->rss_bytes,
			.begin_mono_ns = rebase_known(m, r, t->begin_mono_ns),
			.end_mono_ns = rebase_known(m, r, t->end_mono_ns),
			.unmeasured_ns = t->unmeasured_ns,
			.end = copy(t->end, &err),
		};
	}
	return err;
}

static int add_images(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;
	int err = 0;

	for (u32 i = 0; !err && i < r->nr_images; i++) {
		const struct m_image *im = &r->image[i];
		u32 k;

		for (k = 0; k < to->nr_images; k++)
			if (same(to->image[k].path, im->path) &&
			    same(to->image[k].build_id, im->build_id))
				break;
		m->image[i] = k;
		if (k == to->nr_images)
			to->image[to->nr_images++] = (struct m_image){copy(im->path, &err),
								      copy(im->build_id, &err)};
	}
	return err;
}

static bool same_func(const struct m_func *a, const struct m_func *b, u32 image)
{
	return a->vaddr == b->vaddr && a->image == image && a->lang == b->lang &&
	       a->exit_mode == b->exit_mode && a->entry_class == b->entry_class &&
	       a->has_size == b->has_size && a->has_err == b->has_err && same(a->codec, b->codec) &&
	       same(a->op, b->op) && same(a->name, b->name) && same(a->library, b->library) &&
	       same(a->library_version, b->library_version) && same(a->kind, b->kind);
}

static int add_func(const struct m_func *f, u32 image, struct m_func *to, bool known)
{
	int err = 0;

	if (known) {
		/* The most sites that were attached at a time: they are the same ones. */
		for (u32 c = 0; c < HB_CLASS_NR; c++)
			if (f->exit_sites[c] > to->exit_sites[c])
				to->exit_sites[c] = f->exit_sites[c];
		err = add_counts(to->n, f->n, HB_FN_NR);
		err = err ? err : add_counts(to->exits_by, f->exits_by, HB_CLASS_NR);
		err = err ? err : add(&to->in_flight_end, f->in_flight_end);
		return err ? err : add(&to->off_ns, f->off_ns);
	}
	*to = *f;
	to->image = image;
	to->name = copy(f->name, &err);
	to->codec = copy(f->codec, &err);
	to->op = copy(f->op, &err);
	to->library = copy(f->library, &err);
	to->library_version = copy(f->library_version, &err);
	to->note = copy(f->note, &err);
	to->kind = copy(f->kind, &err);
	return err;
}

static int add_funcs(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;
	int err = 0;

	for (u32 i = 0; !err && i < r->nr_funcs; i++) {
		const struct m_func *f = &r->func[i];
		u32 image = f->image < r->nr_images ? m->image[f->image] : f->image, k;

		for (k = 0; k < to->nr_funcs; k++)
			if (same_func(&to->func[k], f, image))
				break;
		m->func[i] = k;
		err = add_func(f, image, &to->func[k], k < to->nr_funcs);
		to->nr_funcs += k == to->nr_funcs;
	}
	return err;
}

/* ---- rows, intervals ---- */

static u64 row_key(const struct m_row *row, u32 func, u32 target)
{
	if (row->overflow)
		return ~0ULL;
	return (u64)func << 32 | (u64)target << 16 | (u64)row->size_class << 8 | row->outcome;
}

/* The slot of a key: its own or a free one. There are twice as many as rows. */
static u64 row_slot(const struct merge *m, u64 key)
{
	u64 i = (key * 0x9e3779b97f4a7c15ULL) >> 20;

	for (i &= m->mask; m->slot[i] && m->key[i] != key; i = (i + 1) & m->mask)
		;
	return i;
}

static void least(u64 *to, u64 v)
{
	*to = v < *to ? v : *to;
}

/* One that finds no room would be missing in the sums without a word. What was not counted adds nothing:
 * rows may have zeros of a counter that was found to stand still. */
static int add_counters(struct merge *m, const struct recording *r)
{
	int err = m_counters__join(&m->to->counters, &r->counters, m->ctr);

	for (u32 i = 0; !err && i < r->counters.nr; i++) {
		if (r->counters.v[i].lack)
			m->ctr[i] = -1;
		if (m->ctr[i] >= 0 || r->counters.v[i].lack)
			continue;
		snprintf(
			m->why, m->len,
			"cannot merge %s: with its %s there are more than %d counters; record with "
			"the same --counters",
			m->name, r->counters.v[i].name, HB_CTRS);
		err = -E2BIG;
	}
	return err;
}

static int add_ctrs(const struct merge *m, struct m_row *to, const struct m_row *row, u32 nr)
{
	int err = 0;

	for (u32 i = 0; i < nr; i++) {
		struct m_ctr *c = m->ctr[i] < 0 ? NULL : &to->ctr[m->ctr[i]];
		u64 sum;

		if (!c)
			continue;
		sum = c->sum;
		/* Merging stops at the top instead of failing. */
		err = add(&sum, row->ctr[i].sum) ? -EOVERFLOW : err;
		m_ctr__merge(c, &row->ctr[i]);
	}
	return err;
}

static int add_row(struct m_row *to, const struct m_row *row)
{
	int err = 0;

	err = add(&to->count, row->count);
	err = add(&to->raw_sum_ns, row->raw_sum_ns) ? -EOVERFLOW : err;
	err = add(&to->nested, row->nested) ? -EOVERFLOW : err;
	err = add(&to->size_sum, row->size_sum) ? -EOVERFLOW : err;
	err = add_counts(to->size_sub, row->size_sub, HB_SIZE_SUB) ? -EOVERFLOW : err;
	if (row->count) {
		least(&to->raw_min_ns, row->raw_min_ns);
		to->raw_max_ns = row->raw_max_ns > to->raw_max_ns ? row->raw_max_ns
								  : to->raw_max_ns;
	}
	if (row->size_min != M_NONE) {
		least(&to->size_min, row->size_min);
		to->size_max = row->size_max > to->size_max ? row->size_max : to->size_max;
	}
	for (u32 i = 0; !err && i < HB_DIST_NR; i++) {
		u64 sum = to->dist[i].sum_ns;

		/* Merging of distributions stops at the top instead of failing. */
		err = add(&sum, row->dist[i].sum_ns);
		if (!err)
			err = m_dist__merge(&to->dist[i], &row->dist[i]);
	}
	return err;
}

static void row__start(struct m_row *to, const struct m_row *row, u32 func, u32 target)
{
	*to = (struct m_row){.func = func,
			     .target = target,
			     .size_class = row->size_class,
			     .outcome = row->outcome,
			     .overflow = row->overflow,
			     .raw_min_ns = M_NONE,
			     .size_min = M_NONE};
	for (u32 i = 0; i < HB_DIST_NR; i++)
		m_dist__init(&to->dist[i]);
	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__init(&to->ctr[i]);
}

static int add_rows(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;
	int err = 0;

	for (u32 i = 0; !err && i < r->nr_rows; i++) {
		const struct m_row *row = &r->row[i];
		u32 func = row->overflow ? 0 : m->func[row->func];
		u32 target = row->overflow ? 0 : m->target[row->target];
		u64 key = row_key(row, func, target), at = row_slot(m, key);

		if (!m->slot[at]) {
			row__start(&to->row[to->nr_rows++], row, func, target);
			m->key[at] = key;
			m->slot[at] = to->nr_rows;
		}
		m->row[i] = m->slot[at] - 1;
		err = add_row(&to->row[m->row[i]], row);
		if (!err)
			err = add_ctrs(m, &to->row[m->row[i]], row, r->counters.nr);
	}
	return err;
}

static int cmp_ctr_delta(const void *pa, const void *pb)
{
	const struct m_ctr_delta *a = pa, *b = pb;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->ctr < b->ctr ? -1 : a->ctr > b->ctr;
}

/* Rows and counters have other places in the merged recording. */
static int add_ctr_deltas(const struct merge *m, const struct m_interval *from,
			  struct m_interval *to)
{
	to->ctr = array_alloc((size_t)from->nr_ctrs + 1, sizeof(*to->ctr));
	if (!to->ctr)
		return -ENOMEM;
	for (u32 i = 0; i < from->nr_ctrs; i++) {
		const struct m_ctr_delta *d = &from->ctr[i];

		if (m->ctr[d->ctr] < 0)
			continue;
		to->ctr[to->nr_ctrs] = *d;
		to->ctr[to->nr_ctrs].row = m->row[d->row];
		to->ctr[to->nr_ctrs++].ctr = (u8)m->ctr[d->ctr];
	}
	qsort(to->ctr, to->nr_ctrs, sizeof(*to->ctr), cmp_ctr_delta);
	return 0;
}

static int add_intervals(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;

	for (u32 i = 0; i < r->nr_intervals; i++) {
		const struct m_interval *from = &r->interval[i];
		struct m_interval *iv = &to->interval[to->nr_intervals++];

		*iv = (struct m_interval){.begin_mono_ns = rebase(m, r, from->begin_mono_ns),
					  .end_mono_ns = rebase(m, r, from->end_mono_ns)};
		iv->delta = array_alloc(from->nr_deltas, sizeof(*iv->delta));
		if (!iv->delta)
			return -ENOMEM;
		for (u32 k = 0; k < from->nr_deltas; k++) {
			const struct m_delta *f = &from->delta[k];
			struct m_delta *d = &iv->delta[iv->nr_deltas++];

			*d = *f;
			d->row = m->row[f->row];
			d->bucket = array_alloc(f->nr_buckets, sizeof(*d->bucket));
			if (!d->bucket)
				return -ENOMEM;
			if (f->nr_buckets)
				memcpy(d->bucket, f->bucket, f->nr_buckets * sizeof(*d->bucket));
		}
		if (add_ctr_deltas(m, from, iv))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the rest ---- */

static int add_coverage(struct m_coverage *to, const struct m_coverage *c)
{
	int err = add_counts(to->n, c->n, HB_FN_NR);

	err = add(&to->in_flight_start, c->in_flight_start) ? -EOVERFLOW : err;
	err = add(&to->in_flight_end, c->in_flight_end) ? -EOVERFLOW : err;
	err = add(&to->unmatched, c->unmatched) ? -EOVERFLOW : err;
	err = add(&to->cold, c->cold) ? -EOVERFLOW : err;
	err = add(&to->cold_in_ns, c->cold_in_ns) ? -EOVERFLOW : err;
	err = add_counts(to->drop, c->drop, HB_DROP_NR) ? -EOVERFLOW : err;
	err = add(&to->measured_ns, c->measured_ns) ? -EOVERFLOW : err;
	err = add(&to->wall_ns, c->wall_ns) ? -EOVERFLOW : err;
	err = add_u32(&to->sites, c->sites) ? -EOVERFLOW : err;
	err = add_u32(&to->sites_refused, c->sites_refused) ? -EOVERFLOW : err;
	err = add_u32(&to->links, c->links) ? -EOVERFLOW : err;
	err = add_u32(&to->ras_discovered, c->ras_discovered) ? -EOVERFLOW : err;
	err = add_u32(&to->ras_refused, c->ras_refused) ? -EOVERFLOW : err;
	to->balanced &= c->balanced;
	return err;
}

static int add_cost(struct m_cost *to, const struct m_cost *c)
{
	int err = add(&to->hbprof_cpu_ns, c->hbprof_cpu_ns);

	err = add(&to->probe_ns, c->probe_ns) ? -EOVERFLOW : err;
	if (c->rss_bytes == M_NONE || c->rss_bytes > to->rss_bytes)
		to->rss_bytes = c->rss_bytes;
	if (c->kernel_map_bytes == M_NONE || c->kernel_map_bytes > to->kernel_map_bytes)
		to->kernel_map_bytes = c->kernel_map_bytes;
	return err;
}

static int add_recording(struct merge *m, const struct recording *r)
{
	struct recording *to = m->to;
	int err;

	err = add_targets(m, r);
	err = err ? err : add_images(m, r);
	err = err ? err : add_funcs(m, r);
	err = err ? err : add_counters(m, r);
	err = err ? err : add_rows(m, r);
	err = err ? err : add_intervals(m, r);
	err = err ? err : add_coverage(&to->coverage, &r->coverage);
	err = err ? err : add_cost(&to->cost, &r->cost);
	for (u32 i = 0; i < r->nr_cals; i++) {
		u64 at = rebase(m, r, r->cal[i].mono_ns);

		to->cal[to->nr_cals] = r->cal[i];
		if (to->nr_cals && to->cal[to->nr_cals - 1].mono_ns > at)
			at = to->cal[to->nr_cals - 1].mono_ns;
		to->cal[to->nr_cals++].mono_ns = at;
	}
	m->stacks += r->stacks.event != NULL;
	m->requests += r->requests != NULL;
	for (u32 i = 0; !err && i < r->nr_warnings; i++)
		err = recording__warn(to, "%s", r->warning[i]);
	return err;
}

/* ---- the whole ---- */

static int start(struct merge *m, const struct recording *const *r, u32 nr)
{
	size_t targets = 0, images = 0, funcs = 0, rows = 0, intervals = 0, cals = 0, slots = 4;
	struct recording *to = m->to;

	for (u32 i = 0; i < nr; i++) {
		targets += r[i]->nr_targets;
		images += r[i]->nr_images;
		funcs += r[i]->nr_funcs;
		rows += r[i]->nr_rows;
		intervals += r[i]->nr_intervals;
		cals += r[i]->nr_cals;
	}
	while (slots < 2 * rows)
		slots *= 2;
	m->mask = slots - 1;
	to->target = array_alloc(targets, sizeof(*to->target));
	to->image = array_alloc(images, sizeof(*to->image));
	to->func = array_alloc(funcs, sizeof(*to->func));
	to->row = array_alloc(rows, sizeof(*to->row));
	to->interval = array_alloc(intervals, sizeof(*to->interval));
	to->cal = array_alloc(cals, sizeof(*to->cal));
	/* Each at most as many as there are in all recordings together. */
	m->target = m->targets = array_alloc(targets, sizeof(*m->target));
	m->image = array_alloc(images, sizeof(*m->image));
	m->func = m->funcs = array_alloc(funcs, sizeof(*m->func));
	m->row = array_alloc(rows, sizeof(*m->row));
	m->key = array_alloc(slots, sizeof(*m->key));
	m->slot = array_alloc(slots, sizeof(*m->slot));
	return to->target && to->image && to->func && to->row && to->interval && to->cal &&
			       m->target && m->image && m->func && m->row && m->key && m->slot
		       ? 0
		       : -ENOMEM;
}

static int start_header(struct recording *to, const struct recording *r)
{
	int err = 0;

	to->version = copy(r->version, &err);
	to->attach = copy(r->attach, &err);
	to->codecs = copy(r->codecs, &err);
	to->stop_reason = copy("merged", &err);
	to->begin_wall_ns = r->begin_wall_ns;
	to->coverage.balanced = true;
	to->coverage.in_flight_start = 0;
	to->coverage.cold = to->coverage.cold_in_ns = 0;
	to->cost = (struct m_cost){0};
	/* What the machine did is of one recording only; the warnings of all are kept. */
	for (u32 i = 0; !err && i < r->host.nr_facts; i++)
		if (!m_is_run_fact(r->host.fact[i].key))
			err = m_host__add(&to->host, r->host.fact[i].key, r->host.fact[i].value);
	return err;
}

static int note_merge(struct merge *m, const char *const *names, u32 nr)
{
	char list[1024] = "";
	int err;

	for (u32 i = 0; i < nr; i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", names[i]);
	}
	err = recording__warn(m->to,
			      "merged from %u captures (%s): times follow each other without the "
			      "pauses between them",
			      nr, list);
	if (!err && m->stacks)
		err = recording__warn(m->to,
				      "the CPU stacks of %u of the merged captures are left out",
				      m->stacks);
	if (!err && m->requests)
		err = recording__warn(
			m->to,
			"the requests of %u of the merged captures are left out: report "
			"each by itself",
			m->requests);
	return err;
}

static int add_all(struct merge *m, const struct recording *const *r, const char *const *names,
		   u32 nr)
{
	int err = 0;

	for (u32 i = 0; !err && i < nr; i++) {
		m->name = names[i];
		err = check_machine(m, r[i]);
		err = err ? err : check_images(m, r[i]);
		err = err ? err : check_distinct(m, r, names, i);
		err = err ? err : add_recording(m, r[i]);
		if (r[i]->begin_wall_ns < m->to->begin_wall_ns)
			m->to->begin_wall_ns = r[i]->begin_wall_ns;
		m->at_ns = rebase(m, r[i], r[i]->end_mono_ns);
		m->target += r[i]->nr_targets;
		m->func += r[i]->nr_funcs;
	}
	m->to->end_mono_ns = m->at_ns;
	err = err ? err : merged_measured(m->to, r, nr, m->targets, m->funcs);
	if (!err && (m->to->nr_targets > MAX_INDEX || m->to->nr_images > MAX_INDEX ||
		     m->to->nr_funcs > MAX_INDEX)) {
		snprintf(m->why, m->len,
			 "cannot merge: there are more than %u processes, files or functions",
			 MAX_INDEX);
		err = -E2BIG;
	}
	return err;
}

int recordings_merge(const struct recording *const *r, const char *const *names, u32 nr,
		     struct recording **out, char *why, size_t len)
{
	struct merge m = {.to = recording__new(), .why = why, .len = len};
	int err = -ENOMEM;

	*why = '\0';
	if (!m.to)
		goto out;
	err = start(&m, r, nr);
	err = err ? err : start_header(m.to, r[0]);
	err = err ? err : add_all(&m, r, names, nr);
	err = err ? err : recordings_spans(m.to, r, nr);
	err = err ? err : note_merge(&m, names, nr);
out:
	if (err == -EOVERFLOW)
		snprintf(why, len, "cannot merge %s: the sums are too large to be exact", m.name);
	else if (err && !*why)
		snprintf(why, len, "cannot merge: %s", strerror(-err));
	free(m.targets);
	free(m.image);
	free(m.funcs);
	free(m.row);
	free(m.key);
	free(m.slot);
	if (err)
		recording__free(m.to);
	else
		*out = m.to;
	return err;
}
