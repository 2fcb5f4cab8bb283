// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dist.c - ranks into values. Products of counts and widths need 128 bits. */
#include "report/dist.h"

#include <stdlib.h>

#include "util/array.h"

typedef unsigned __int128 u128;

/* Sample number `rank` (from 1) of n that are evenly spread over `width` values from lo on. */
static u64 interpolate(u64 lo, u64 width, u128 rank, u64 n)
{
	return lo + (u64)((u128)width * (2 * rank - 1) / ((u128)n * 2));
}

u64 dist_bucketed(const struct m_dist *d)
{
	u64 sum = 0;

	for (u32 i = 0; i < d->nr_buckets; i++)
		if (__builtin_add_overflow(sum, d->bucket[i].n, &sum))
			return ~0ULL;
	return sum;
}

static u64 clamp(const struct m_dist *d, u64 v)
{
	if (d->max_ns != M_NONE && v > d->max_ns)
		v = d->max_ns;
	return d->min_ns != M_NONE && v < d->min_ns ? d->min_ns : v;
}

u64 dist_quantile(const struct m_dist *d, u32 q)
{
	u128 n = dist_bucketed(d), rank, before = 0;
	u64 lo, hi;
	u32 i;

	if (n * (DIST_ONE - q) < DIST_ONE)
		return M_NONE;
	rank = (n * q + DIST_ONE - 1) / DIST_ONE;
	if (!rank)
		rank = 1;
	for (i = 0; i + 1 < d->nr_buckets && before + d->bucket[i].n < rank; i++)
		before += d->bucket[i].n;
	if (rank - before > d->bucket[i].n)
		rank = before + d->bucket[i].n;
	/* The outermost buckets hold samples only up to the extremes. */
	lo = clamp(d, hb_hist_lower(d->bucket[i].idx));
	hi = clamp(d, hb_hist_lower(d->bucket[i].idx + 1) - 1);
	return interpolate(lo, hi - lo + 1, rank - before, d->bucket[i].n);
}

/* ---- sizes ---- */

void size_class_range(u32 size_class, u64 *least, u64 *largest)
{
	*least = *largest = size_class ? 0 : M_NONE;
	if (size_class < 2)
		return;
	*least = 1ULL << (size_class - 2);
	/* The last class takes all that is left of u32; HB_SIZE_UNKNOWN is no size. */
	*largest = size_class < HB_SIZE_CLASSES - 1 ? 2 * *least - 1 : HB_SIZE_UNKNOWN - 1;
}

/* The sizes of a 16th of a class: the inverse of hb_size_sub(). */
static void sub_range(u32 size_class, u32 sub, u64 *lo, u64 *hi)
{
	u32 m = size_class - 2;

	if (m < 4) {
		*lo = *hi = (HB_SIZE_SUB + sub) >> (4 - m);
	} else {
		*lo = (u64)(HB_SIZE_SUB + sub) << (m - 4);
		*hi = *lo + (1ULL << (m - 4)) - 1;
	}
}

void sizes__init(struct sizes *s)
{
	*s = (struct sizes){.min = M_NONE, .max = M_NONE};
}

void sizes__fini(struct sizes *s)
{
	free(s->bin);
	sizes__init(s);
}

static int add_bin(struct sizes *s, u64 lo, u64 hi, u64 n, const struct m_row *row)
{
	int err;

	if (!n)
		return 0;
	err = array_grow((void **)&s->bin, s->nr, &s->cap, sizeof(*s->bin));
	if (err)
		return err;
	if (row->size_min != M_NONE) {
		lo = lo < row->size_min ? row->size_min : lo;
		hi = hi > row->size_max ? row->size_max : hi;
	}
	if (hi < lo)
		hi = lo;
	s->bin[s->nr++] = (struct size_bin){lo, hi, n};
	if (__builtin_add_overflow(s->n, n, &s->n))
		s->n = ~0ULL;
	return 0;
}

int sizes__add(struct sizes *s, const struct m_row *row)
{
	u64 lo, hi, n = 0;
	int err = 0;

	if (!row->size_class || row->size_class >= HB_SIZE_CLASSES || !row->count)
		return 0;
	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		n += row->size_sub[i];
	size_class_range(row->size_class, &lo, &hi);
	/* The last class spans several octaves, in which a 16th means different sizes. */
	if (row->size_class == 1 || row->size_class == HB_SIZE_CLASSES - 1 || !n ||
	    row->size_min == row->size_max)
		err = add_bin(s, lo, hi, n ? n : row->count, row);
	else
		for (u32 i = 0; !err && i < HB_SIZE_SUB; i++) {
			sub_range(row->size_class, i, &lo, &hi);
			err = add_bin(s, lo, hi, row->size_sub[i], row);
		}
	if (err)
		return err;
	if (row->size_sum != M_NONE && __builtin_add_overflow(s->sum, row->size_sum, &s->sum))
		s->sum = ~0ULL - 1;
	if (row->size_min != M_NONE && row->size_min < s->min)
		s->min = row->size_min;
	if (row->size_min != M_NONE && (s->max == M_NONE || row->size_max > s->max))
		s->max = row->size_max;
	return 0;
}

static int cmp_bin(const void *a, const void *b)
{
	const struct size_bin *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi < y->hi ? -1 : x->hi > y->hi;
}

u64 sizes__p50(struct sizes *s)
{
	u128 rank = ((u128)s->n + 1) / 2, before = 0;
	size_t i;

	if (!s->nr)
		return M_NONE;
	qsort(s->bin, s->nr, sizeof(*s->bin), cmp_bin);
	for (i = 0; i + 1 < s->nr && before + s->bin[i].n < rank; i++)
		before += s->bin[i].n;
	if (rank - before > s->bin[i].n)
		rank = before + s->bin[i].n;
	return interpolate(s->bin[i].lo, s->bin[i].hi - s->bin[i].lo + 1, rank - before,
			   s->bin[i].n);
}
