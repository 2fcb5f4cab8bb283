/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist.h - the latency histogram: bucket arithmetic, the same in BPF and in user space.
 *
 * Log-linear over the whole of u64: values below 64 have a bucket each, above that every octave
 * [2^m, 2^(m+1)) is cut into 64 equal buckets. A bucket is at most 1/64 = 1.6 % of its value wide,
 * so a quantile interpolated inside one is within 0.8 %. Units are the caller's (ns here).
 *
 * The top bit is found by shifts: clang 14 exhausts memory on __builtin_clzll() in BPF code.
 */
#ifndef HBPROF_HIST_H
#define HBPROF_HIST_H

#include <hbprof/types.h>

#define HB_HIST_SUB_BITS 6
#define HB_HIST_SUB	 (1u << HB_HIST_SUB_BITS)
#define HB_HIST_BUCKETS	 (HB_HIST_SUB + (64u - HB_HIST_SUB_BITS) * HB_HIST_SUB) /* 3776 */

/* Index of the highest set bit; 0 for v < 2. */
static inline __attribute__((always_inline)) u32 hb_msb(u64 v)
{
	u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	if (v >> 1)
		r += 1;
	return r;
}

/* The bucket of a value: always below HB_HIST_BUCKETS. */
static inline __attribute__((always_inline)) u32 hb_hist_bucket(u64 v)
{
	u32 m;

	if (v < HB_HIST_SUB)
		return (u32)v;
	m = hb_msb(v);
	return (m - HB_HIST_SUB_BITS) * HB_HIST_SUB + (u32)(v >> (m - HB_HIST_SUB_BITS));
}

/* The smallest value of a bucket; the bucket after the last begins at 2^64, returned as ~0. */
static inline u64 hb_hist_lower(u32 bucket)
{
	u32 octave = bucket / HB_HIST_SUB;

	if (bucket >= HB_HIST_BUCKETS)
		return ~0ULL;
	if (octave < 2)
		return bucket;
	return (u64)(HB_HIST_SUB + bucket % HB_HIST_SUB) << (octave - 1);
}

#endif
