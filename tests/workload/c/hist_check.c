// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hist_check.c - is the histogram of truth.h right? No workload: it calls nothing.
 */
#include "../lib/truth.h"

static struct truth_func f;

static void expect(bool good, const char *what)
{
	if (!good)
		truth_die("the histogram is wrong: %s", what);
}

static void check_buckets(void)
{
	int last = -1;

	for (int m = 0; m < 64; m++) {
		uint64_t v = 1ull << m;

		expect(truth_bucket(v) > last, "buckets do not rise");
		expect(truth_bucket(v - 1) < truth_bucket(v), "a power of two shares a bucket");
		last = truth_bucket(v);
	}
	expect(truth_bucket(UINT64_MAX) == TRUTH_BUCKETS - 1, "the last value's bucket");
}

/* Of the ramp 1..100000 every quantile is known. */
static void check_ramp(void)
{
	static const uint64_t permille[] = {1, 500, 900, 990, 999};
	const uint64_t n = 100000;

	f.min_ns = UINT64_MAX;
	for (uint64_t v = 1; v <= n; v++)
		truth_return(&f, v, 3, v % 4 == 0);
	expect(f.calls == n && f.timed == n && f.errors == n / 4, "counts");
	expect(f.size_sum == 3 * n && f.size_max == 3, "sizes");
	expect(f.sum_ns == n * (n + 1) / 2 && f.min_ns == 1 && f.max_ns == n, "sum, min or max");
	for (size_t i = 0; i < sizeof(permille) / sizeof(permille[0]); i++) {
		double want = (double)(permille[i] * n) / 1000, got;

		got = truth_quantile(&f, permille[i]);
		expect(got > want - want / 128 - 1 && got < want + want / 128 + 1, "a quantile");
	}
}

int main(void)
{
	check_buckets();
	check_ramp();
	return 0;
}
