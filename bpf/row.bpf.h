/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row.bpf.h - where a finished call is recorded: row allocation, histograms, sizes.
 *
 * Rows and histograms are shared by all CPUs and updated by atomic adds: per-CPU copies of a 30 KB
 * histogram would make gigabytes on a large machine, and the trap itself serialises more than the
 * adds do.
 */
#ifndef HBPROF_ROW_BPF_H
#define HBPROF_ROW_BPF_H

/* A call that has ended, corrected. */
struct sample {
	u64 raw_ns, inc_ns, exc_ns;
	u32 size; /* HB_SIZE_UNKNOWN */
	u32 nested;
	bool has_children;
};

static __always_inline struct hb_row *row_at(u32 i)
{
	return bpf_map_lookup_elem(&row_stats, &i);
}

/* The index of a row that the cache did not know: found, made, or the overflow row. */
__noinline int hb_row_find(const struct hb_row_key *k)
{
	struct hb_row_key key;
	struct hb_row *r;
	u32 *found;
	u32 i;

	if (!k)
		return HB_ROW_OVERFLOW;
	key = *k;
	found = bpf_map_lookup_elem(&rows, &key);
	if (found)
		return *found;
	/* Looked at first: a counter that only grows would wrap in a long run with full rows. */
	i = *(volatile u32 *)&next_row;
	if (i + 1 >= cfg_nr_rows || i + 1 >= *(volatile u32 *)&row_limit)
		return HB_ROW_OVERFLOW;
	i = __sync_fetch_and_add(&next_row, 1) + 1;
	r = i < cfg_nr_rows ? row_at(i) : NULL;
	if (!r)
		return HB_ROW_OVERFLOW;
	r->key = key;
	r->raw_min_ns = r->size_min = ~0ULL;
	for (int d = 0; d < HB_DIST_NR; d++)
		r->dist[d].min_ns = ~0ULL;
	if (!bpf_map_update_elem(&rows, &key, &i, BPF_NOEXIST))
		return i;
	/* Another CPU was first; this row stays empty. */
	found = bpf_map_lookup_elem(&rows, &key);
	return found ? *found : HB_ROW_OVERFLOW;
}

/* The index of the row of that key. */
static __always_inline u32 row_get(u32 fn, u32 proc, u32 size_class, u32 outcome)
{
	u32 slot = (fn * HB_SIZE_CLASSES + size_class) * HB_OUTCOME_NR + outcome;
	u64 *cached = bpf_map_lookup_elem(&row_cache, &slot);
	u64 c = cached ? *(volatile u64 *)cached : 0;
	struct hb_row_key key = {};
	u32 i;

	if (c >> 32 == proc + 1)
		return (u32)c;
	key.func = fn;
	key.proc = proc;
	key.size_class = size_class;
	key.outcome = outcome;
	i = hb_row_find(&key);
	if (i == HB_ROW_OVERFLOW)
		count_n(HB_DROP_ROWS_FULL, 1);
	else if (cached)
		*(volatile u64 *)cached = (u64)(proc + 1) << 32 | i;
	return i;
}

/* The histogram of a distribution, allocated on first use. */
static __always_inline struct hb_hist *dist_hist(struct hb_dist_sum *d)
{
	u32 i = *(volatile u32 *)&d->hist;

	if (!i) {
		u32 next = *(volatile u32 *)&next_hist;

		if (next >= cfg_nr_hists)
			return NULL;
		next = __sync_fetch_and_add(&next_hist, 1) + 1;
		if (next > cfg_nr_hists)
			return NULL;
		/* The loser of a race uses the winner's; its own stays empty. */
		i = __sync_val_compare_and_swap(&d->hist, 0, next);
		if (!i)
			i = next;
	}
	i--;
	return bpf_map_lookup_elem(&hists, &i);
}

__noinline int hb_dist_add(struct hb_dist_sum *d, u64 ns)
{
	u32 b = hb_hist_bucket(ns);
	struct hb_hist *h;

	if (!d)
		return 0;
	h = dist_hist(d);
	__sync_fetch_and_add(&d->count, 1);
	__sync_fetch_and_add(&d->sum_ns, ns);
	/* In place: a call more would be too deep for the stack. */
	lower_to(&d->min_ns, ns);
	raise_to(&d->max_ns, ns);
	if (h && b < HB_HIST_BUCKETS)
		__sync_fetch_and_add(&h->n[b], 1);
	else
		count_n(HB_DROP_HISTS_FULL, 1);
	return 0;
}

static __always_inline void row_add(struct hb_row *r, const struct sample *s)
{
	__sync_fetch_and_add(&r->raw_sum_ns, s->raw_ns);
	update_min(&r->raw_min_ns, s->raw_ns);
	update_max(&r->raw_max_ns, s->raw_ns);
	if (s->nested)
		__sync_fetch_and_add(&r->nested, s->nested);
	if (s->size != HB_SIZE_UNKNOWN) {
		__sync_fetch_and_add(&r->size_sum, s->size);
		__sync_fetch_and_add(&r->size_sub[hb_size_sub(s->size) & (HB_SIZE_SUB - 1)], 1);
		update_min(&r->size_min, s->size);
		update_max(&r->size_max, s->size);
	}
	if (s->has_children) {
		hb_dist_add(&r->dist[HB_DIST_OUTER], s->inc_ns);
		hb_dist_add(&r->dist[HB_DIST_OUTER_EXC], s->exc_ns);
	} else {
		hb_dist_add(&r->dist[HB_DIST_LEAF], s->inc_ns);
	}
}

#endif
