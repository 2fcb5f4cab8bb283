// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* readcheck.c - see readcheck.h. Counts are below 2^63 (FIELD_COUNT_MAX), sums use all 64 bits. */
#include "capture/readcheck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"

static void damaged(struct readval *rd, const char *what)
{
	readval__fail(rd, -EBADMSG, "damaged capture: %s %s", rd->where, what);
}

/* ---- rows ---- */

/* Can n values from min to max have this sum? One that stands at the top of u64 was cut there. */
static bool sum_possible(u64 n, u64 sum, u64 min, u64 max)
{
	if (!n)
		return !sum;
	if (sum == ~0ULL)
		return true;
	return min <= max && (unsigned __int128)n * min <= sum && (unsigned __int128)n * max >= sum;
}

static u64 in_buckets(const struct m_dist *d)
{
	u64 n = 0;

	for (u32 i = 0; i < d->nr_buckets; i++)
		n += d->bucket[i].n; /* at most count, as they were unpacked */
	return n;
}

/* The extremes lie in the outermost buckets; outside of them if not every call has a bucket. */
static bool extremes_fit(const struct m_dist *d)
{
	u32 first, last, lo, hi;

	if (!d->nr_buckets)
		return true;
	first = d->bucket[0].idx;
	last = d->bucket[d->nr_buckets - 1].idx;
	lo = hb_hist_bucket(d->min_ns);
	hi = hb_hist_bucket(d->max_ns);
	if (in_buckets(d) < d->count)
		return lo <= first && hi >= last;
	return lo == first && hi == last;
}

static void check_dist(struct readval *rd, const struct m_dist *d)
{
	if (!sum_possible(d->count, d->sum_ns, d->min_ns, d->max_ns))
		damaged(rd, "has latencies whose sum is not possible with their extremes");
	else if (!extremes_fit(d))
		damaged(rd, "has a least or largest latency that is not in its histogram");
}

static void check_sizes(struct readval *rd, const struct m_row *row)
{
	bool over = false;
	u64 sizes = 0;

	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		over |= __builtin_add_overflow(sizes, row->size_sub[i], &sizes);
	if (over || sizes > row->count)
		damaged(rd, "has more sizes than calls");
	else if (row->size_min != M_NONE && row->size_min > row->size_max)
		damaged(rd, "has a least size above its largest");
	else if (!sum_possible(sizes, row->size_sum, row->size_min, row->size_max))
		damaged(rd, "has sizes whose sum is not possible with their extremes");
}

static void check_ctr(struct readval *rd, const struct m_row *row, const struct m_ctr *c)
{
	if (c->calls > row->count)
		damaged(rd, "has a counter in more calls than it has");
	else if (!sum_possible(c->calls, c->sum, c->min, c->max))
		damaged(rd, "has a counter whose sum is not possible with its extremes");
}

void readcheck__row(struct readval *rd, const struct m_row *row)
{
	const struct m_dist *leaf = &row->dist[HB_DIST_LEAF], *outer = &row->dist[HB_DIST_OUTER],
			    *exc = &row->dist[HB_DIST_OUTER_EXC];

	check_sizes(rd, row);
	/* Counts are below 2^63: this does not wrap. */
	if (leaf->count + outer->count != row->count)
		damaged(rd, "has another number of latencies than of calls");
	if (exc->count != outer->count || exc->sum_ns > outer->sum_ns)
		damaged(rd, "has exclusive latencies that do not fit the inclusive ones");
	for (u32 k = 0; k < HB_DIST_NR; k++)
		check_dist(rd, &row->dist[k]);
	for (u32 k = 0; k < HB_CTRS; k++)
		check_ctr(rd, row, &row->ctr[k]);
	if (!sum_possible(row->count, row->raw_sum_ns, row->raw_min_ns, row->raw_max_ns))
		damaged(rd, "has raw latencies whose sum is not possible with their extremes");
}

/* Functions and targets are below 2^16, see reader.c; all overflow rows are the same row. */
static u64 row_key(const struct m_row *row)
{
	if (row->overflow)
		return ~0ULL;
	return (u64)row->func << 32 | (u64)row->target << 16 | (u64)row->size_class << 8 |
	       row->outcome;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void check_keys(struct readval *rd, const struct recording *r)
{
	u64 *key, calls = 0;

	if (rd->rc || !r->nr_rows)
		return;
	key = array_alloc(r->nr_rows, sizeof(*key));
	if (!key) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	for (u32 i = 0; i < r->nr_rows; i++) {
		key[i] = row_key(&r->row[i]);
		if (__builtin_add_overflow(calls, r->row[i].count, &calls) ||
		    calls > FIELD_COUNT_MAX)
			readval__fail(rd, -EBADMSG,
				      "damaged capture: the calls of its rows do not add up to a "
				      "possible number");
	}
	qsort(key, r->nr_rows, sizeof(*key), cmp_u64);
	for (u32 i = 1; i < r->nr_rows; i++)
		if (key[i] == key[i - 1])
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: two rows are of the same function, target, size "
				"class and outcome");
	free(key);
}

/* ---- functions ---- */

/* Exact; M_NONE where a part is not known, or the sum is not possible. */
static u64 add(u64 a, u64 b)
{
	return a == M_NONE || b == M_NONE || __builtin_add_overflow(a, b, &a) ? M_NONE : a;
}

static void check_exits(struct readval *rd, const struct recording *r)
{
	for (u32 i = 0; i < r->nr_funcs && !rd->rc; i++) {
		const struct m_func *f = &r->func[i];
		u64 exits = 0;

		for (u32 k = 0; k < HB_CLASS_NR; k++)
			exits = add(exits, f->exits_by[k]);
		readval__at(rd, "functions", i);
		if (f->image >= r->nr_images)
			readval__fail(rd, -EBADMSG,
				      "damaged capture: %s is of image %u, and there are %u",
				      rd->where, f->image, r->nr_images);
		else if (exits != f->n[HB_FN_EXITS])
			damaged(rd, "has exits by class that do not add up to its exits");
	}
}

/* Rows hold the calls that have returned, and not those that were nested. */
static void check_returned(struct readval *rd, const struct recording *r)
{
	u64 *calls = array_alloc(r->nr_funcs + 1, sizeof(*calls));

	if (!calls)
		readval__fail(rd, -ENOMEM, "out of memory");
	for (u32 i = 0; i < r->nr_rows && !rd->rc; i++)
		if (!r->row[i].overflow)
			calls[r->row[i].func] += r->row[i].count; /* see check_keys() */
	for (u32 i = 0; i < r->nr_funcs && !rd->rc; i++) {
		readval__at(rd, "functions", i);
		if (calls[i] > r->func[i].n[HB_FN_EXITS])
			damaged(rd, "has more calls in its rows than exits");
	}
	free(calls);
}

static void check_coverage(struct readval *rd, const struct recording *r)
{
	u64 n[HB_FN_NR] = {0}, in_flight = 0;

	for (u32 i = 0; i < r->nr_funcs; i++) {
		for (u32 k = 0; k < HB_FN_NR; k++)
			n[k] = add(n[k], r->func[i].n[k]);
		in_flight = add(in_flight, r->func[i].in_flight_end);
	}
	for (u32 k = 0; k < HB_FN_NR; k++)
		if (n[k] != r->coverage.n[k])
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: \"%s\" of coverage is not the sum over the functions",
				hb_fn_counter_names[k]);
	if (r->coverage.in_flight_end != M_NONE && in_flight != r->coverage.in_flight_end)
		readval__fail(rd, -EBADMSG,
			      "damaged capture: \"in_flight_end\" of coverage is not the sum over "
			      "the functions");
}

/* ---- time ---- */

static void check_order(struct readval *rd, const struct recording *r)
{
	u64 at = r->begin_mono_ns;

	if (r->end_mono_ns < r->begin_mono_ns)
		readval__fail(rd, -EBADMSG, "damaged capture: the recording ends before it begins");
	for (u32 i = 0; i < r->nr_intervals && !rd->rc; i++) {
		const struct m_interval *iv = &r->interval[i];

		readval__at(rd, "intervals", i);
		if (iv->end_mono_ns < iv->begin_mono_ns)
			damaged(rd, "ends before it begins");
		else if (iv->begin_mono_ns < at)
			damaged(rd, i ? "begins before the end of the one before it"
				      : "begins before the recording");
		else if (iv->end_mono_ns > r->end_mono_ns)
			damaged(rd, "ends after the recording");
		at = iv->end_mono_ns;
	}
	for (u32 i = 1; i < r->nr_cals && !rd->rc; i++) {
		readval__at(rd, "calibration", i);
		if (r->cal[i].mono_ns < r->cal[i - 1].mono_ns)
			damaged(rd, "is older than the one before it");
	}
}

/* Intervals share out what the rows have: no distribution changes by more than it holds. */
static void check_deltas(struct readval *rd, const struct recording *r)
{
	struct {
		u64 count, sum_ns;
	} *left = array_alloc((size_t)r->nr_rows * HB_DIST_NR + 1, sizeof(*left));

	if (!left)
		readval__fail(rd, -ENOMEM, "out of memory");
	for (u32 i = 0; i < r->nr_rows * HB_DIST_NR && !rd->rc; i++) {
		const struct m_dist *d = &r->row[i / HB_DIST_NR].dist[i % HB_DIST_NR];

		left[i].count = d->count;
		left[i].sum_ns = d->sum_ns;
	}
	for (u32 i = 0; i < r->nr_intervals && !rd->rc; i++) {
		readval__at(rd, "intervals", i);
		for (u32 k = 0; k < r->interval[i].nr_deltas && !rd->rc; k++) {
			const struct m_delta *d = &r->interval[i].delta[k];
			u32 at = d->row * HB_DIST_NR + d->dist;

			if (d->count > left[at].count || d->sum_ns > left[at].sum_ns) {
				damaged(rd, "has, with those before it, more than the rows");
				break;
			}
			left[at].count -= d->count;
			left[at].sum_ns -= d->sum_ns;
		}
	}
	free(left);
}

/* The same of counters. */
static void check_ctr_deltas(struct readval *rd, const struct recording *r)
{
	struct m_ctr *left = array_alloc((size_t)r->nr_rows * HB_CTRS + 1, sizeof(*left));

	if (!left)
		readval__fail(rd, -ENOMEM, "out of memory");
	for (u32 i = 0; i < r->nr_rows && !rd->rc; i++)
		for (u32 k = 0; k < HB_CTRS; k++)
			left[i * HB_CTRS + k] = r->row[i].ctr[k];
	for (u32 i = 0; i < r->nr_intervals && !rd->rc; i++) {
		readval__at(rd, "intervals", i);
		for (u32 k = 0; k < r->interval[i].nr_ctrs && !rd->rc; k++) {
			const struct m_ctr_delta *d = &r->interval[i].ctr[k];
			struct m_ctr *l = &left[d->row * HB_CTRS + d->ctr];

			if (d->calls > l->calls || d->sum > l->sum) {
				damaged(rd, "has, with those before it, more than the rows");
				break;
			}
			l->calls -= d->calls;
			l->sum -= d->sum;
		}
	}
	free(left);
}

void readcheck__recording(struct readval *rd, const struct recording *r)
{
	if (rd->rc)
		return;
	check_keys(rd, r);
	check_exits(rd, r);
	if (!rd->rc)
		check_coverage(rd, r);
	if (!rd->rc && r->coverage.balanced)
		check_returned(rd, r);
	check_order(rd, r);
	if (!rd->rc)
		check_deltas(rd, r);
	if (!rd->rc)
		check_ctr_deltas(rd, r);
}
