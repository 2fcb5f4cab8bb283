// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rows.c - the rows of the result and their distributions, out of the kernel's maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"

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

static void read_ctrs(const struct hb_row *row, struct m_row *out)
{
	for (u32 i = 0; i < HB_CTRS; i++) {
		const struct hb_ctr_sum *c = &row->ctr[i];

		m_ctr__init(&out->ctr[i]);
		if (c->n)
			out->ctr[i] = (struct m_ctr){c->n, c->sum, ~c->not_min, c->max};
	}
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
	read_ctrs(&row, out);
	for (u32 k = 0; k < HB_DIST_NR && !err; k++)
		err = read_dist(s, &row.dist[k], buf, &out->dist[k]);
	if (err)
		row__fini(out);
	*keep = !err;
	return err;
}

/* All rows in order of their index: a row keeps its place as more are added. */
int rows__read(struct session *s, struct m_row **out, u32 *nr_out)
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

void rows__free(struct m_row *v, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		row__fini(&v[i]);
	free(v);
}

bool row_same(const struct m_row *a, const struct m_row *b)
{
	return a->func == b->func && a->target == b->target && a->size_class == b->size_class &&
	       a->outcome == b->outcome && a->overflow == b->overflow;
}
