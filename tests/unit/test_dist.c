// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_dist.c - quantiles from histograms against those of the sorted samples themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/dist.h"
#include "tests/unit/sample.h"

static u64 seed;

static u64 next(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 16;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The histogram of the samples, and the samples in order. */
static void fill(struct m_dist *d, u64 *v, u32 n)
{
	m_dist__init(d);
	for (u32 i = 0; i < n; i++)
		sample_add(d, v[i], 1);
	qsort(v, n, sizeof(*v), cmp_u64);
}

static u64 exact(const u64 *sorted, u32 n, u32 q)
{
	u32 rank = (u32)(((u64)n * q + DIST_ONE - 1) / DIST_ONE);

	return sorted[rank - 1];
}

static void check_all_quantiles(const u64 *sorted, u32 n, const struct m_dist *d)
{
	static const u32 quantiles[] = {DIST_P50, DIST_P90, DIST_P99, DIST_P999};

	for (u32 i = 0; i < 4; i++) {
		u64 want = exact(sorted, n, quantiles[i]), got = dist_quantile(d, quantiles[i]);
		u64 off = got > want ? got - want : want - got;

		if ((u64)n * (DIST_ONE - quantiles[i]) < DIST_ONE) {
			assert_true(got == M_NONE);
			continue;
		}
		assert_int_equal(hb_hist_bucket(got), hb_hist_bucket(want));
		if (want < 128)
			assert_int_equal(got, want);
		else
			assert_true(off * 64 <= want);
	}
}

static void test_quantiles_lie_in_the_bucket_of_the_nearest_rank_sample(void **state)
{
	static const u32 sizes[] = {1, 2, 3, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 5000};
	u64 *v = malloc(5000 * sizeof(*v));
	struct m_dist d;

	assert_non_null(v);
	seed = 1;
	for (u32 shift = 4; shift <= 46; shift += 6) {
		for (u32 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			for (u32 k = 0; k < sizes[i]; k++)
				v[k] = next() >> (48 - shift);
			fill(&d, v, sizes[i]);
			check_all_quantiles(v, sizes[i], &d);
			m_dist__fini(&d);
		}
	}
	free(v);
}

static void test_evenly_spread_samples_give_quantiles_within_a_thousandth(void **state)
{
	u64 *v = malloc(100000 * sizeof(*v));
	struct m_dist d;

	assert_non_null(v);
	for (u32 i = 0; i < 100000; i++)
		v[i] = 100000 + i;
	fill(&d, v, 100000);
	assert_in_range(dist_quantile(&d, DIST_P50), 149999 - 1, 149999 + 1);
	assert_in_range(dist_quantile(&d, DIST_P99), 198999 - 20, 198999 + 20);
	m_dist__fini(&d);
	free(v);
}

static void test_equal_samples_give_exactly_their_value(void **state)
{
	struct m_dist d;

	m_dist__init(&d);
	sample_add(&d, 123457, 5000);
	assert_int_equal(dist_quantile(&d, DIST_P50), 123457);
	assert_int_equal(dist_quantile(&d, DIST_P999), 123457);
	m_dist__fini(&d);
}

static void test_a_quantile_without_a_call_above_it_is_not_given(void **state)
{
	static const struct {
		u32 q, calls;
	} need[] = {{DIST_P50, 2}, {DIST_P90, 10}, {DIST_P99, 100}, {DIST_P999, 1000}};
	struct m_dist d;

	for (u32 i = 0; i < 4; i++) {
		m_dist__init(&d);
		sample_add(&d, 50, need[i].calls - 1);
		assert_true(dist_quantile(&d, need[i].q) == M_NONE);
		sample_add(&d, 50, 1);
		assert_int_equal(dist_quantile(&d, need[i].q), 50);
		m_dist__fini(&d);
	}
	m_dist__init(&d);
	assert_true(dist_quantile(&d, DIST_P50) == M_NONE);
}

static void test_counts_near_2_to_64_do_not_overflow(void **state)
{
	struct m_bucket b[2] = {{hb_hist_bucket(100), 1ULL << 63},
				{HB_HIST_BUCKETS - 1, 1ULL << 63}};
	struct m_dist d = {~0ULL, ~0ULL, 100, ~0ULL - 1, b, 2};

	assert_int_equal(dist_quantile(&d, DIST_P50), 100);
	assert_true(dist_quantile(&d, DIST_P99) >= hb_hist_lower(HB_HIST_BUCKETS - 1));
	assert_true(dist_bucketed(&d) == ~0ULL);
}

static void test_merging_is_the_same_as_counting_together(void **state)
{
	u64 a[300], b[200], all[500];
	struct m_dist da, db, dall;

	seed = 7;
	for (u32 i = 0; i < 500; i++)
		all[i] = (i < 300 ? a : b)[i < 300 ? i : i - 300] = next() >> 30;
	fill(&da, a, 300);
	fill(&db, b, 200);
	fill(&dall, all, 500);
	assert_int_equal(m_dist__merge(&da, &db), 0);
	assert_int_equal(da.nr_buckets, dall.nr_buckets);
	for (u32 i = 0; i < da.nr_buckets; i++) {
		assert_int_equal(da.bucket[i].idx, dall.bucket[i].idx);
		assert_int_equal(da.bucket[i].n, dall.bucket[i].n);
	}
	assert_int_equal(da.count, 500);
	assert_int_equal(da.sum_ns, dall.sum_ns);
	assert_int_equal(da.min_ns, dall.min_ns);
	assert_int_equal(da.max_ns, dall.max_ns);
	m_dist__fini(&da);
	m_dist__fini(&db);
	m_dist__fini(&dall);
}

/* ---- sizes ---- */

static struct m_row *row_of(struct recording *r, const u32 *size, u32 n)
{
	struct m_row *row = sample_row(r, 0, 0, size[0], HB_OUTCOME_OK);

	for (u32 i = 0; i < n; i++)
		sample_calls(row, 100, 100, size[i], 1);
	return row;
}

static u64 p50_of_rows(const struct recording *r)
{
	struct sizes s;
	u64 p50;

	sizes__init(&s);
	for (u32 i = 0; i < r->nr_rows; i++)
		assert_int_equal(sizes__add(&s, &r->row[i]), 0);
	p50 = sizes__p50(&s);
	sizes__fini(&s);
	return p50;
}

static void test_one_size_gives_an_exact_median(void **state)
{
	struct recording *r = recording__new();
	u32 size[] = {8972, 8972, 8972};

	row_of(r, size, 3);
	assert_int_equal(p50_of_rows(r), 8972);
	recording__free(r);
}

static void test_median_size_is_within_a_16th_across_classes(void **state)
{
	static const u32 octaves[] = {1, 2, 4, 8, 16, 128, 1024, 65536, 1u << 28};

	seed = 3;
	for (u32 o = 0; o < sizeof(octaves) / sizeof(octaves[0]); o++) {
		struct recording *r = recording__new();
		u32 base = octaves[o], size[101];
		u64 sorted[101], p50, off;

		for (u32 i = 0; i < 101; i++)
			sorted[i] = size[i] = base + (u32)(next() % base);
		qsort(sorted, 101, sizeof(sorted[0]), cmp_u64);
		row_of(r, size, 101);
		p50 = p50_of_rows(r);
		off = p50 > sorted[50] ? p50 - sorted[50] : sorted[50] - p50;
		assert_true(off * 16 <= sorted[50]);
		if (base <= 16)
			assert_int_equal(p50, sorted[50]);
		recording__free(r);
	}
}

static void test_unknown_sizes_do_not_count_and_empty_ones_do(void **state)
{
	struct recording *r = recording__new();
	u32 unknown[] = {HB_SIZE_UNKNOWN, HB_SIZE_UNKNOWN, HB_SIZE_UNKNOWN}, empty[] = {0};
	u32 some[] = {500};

	row_of(r, unknown, 3);
	assert_true(p50_of_rows(r) == M_NONE);
	row_of(r, some, 1);
	assert_int_equal(p50_of_rows(r), 500);
	row_of(r, empty, 1);
	assert_int_equal(p50_of_rows(r), 0);
	recording__free(r);
}

static void test_sizes_of_the_last_class_stay_between_its_extremes(void **state)
{
	struct recording *r = recording__new();
	u32 size[] = {600u << 20, 3000u << 20, 2000u << 20};

	row_of(r, size, 3);
	assert_in_range(p50_of_rows(r), 600u << 20, 3000u << 20);
	recording__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles_lie_in_the_bucket_of_the_nearest_rank_sample),
		cmocka_unit_test(test_evenly_spread_samples_give_quantiles_within_a_thousandth),
		cmocka_unit_test(test_equal_samples_give_exactly_their_value),
		cmocka_unit_test(test_a_quantile_without_a_call_above_it_is_not_given),
		cmocka_unit_test(test_counts_near_2_to_64_do_not_overflow),
		cmocka_unit_test(test_merging_is_the_same_as_counting_together),
		cmocka_unit_test(test_one_size_gives_an_exact_median),
		cmocka_unit_test(test_median_size_is_within_a_16th_across_classes),
		cmocka_unit_test(test_unknown_sizes_do_not_count_and_empty_ones_do),
		cmocka_unit_test(test_sizes_of_the_last_class_stay_between_its_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
