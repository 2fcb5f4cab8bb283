/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dist.h - quantiles out of histograms.
 *
 * A quantile is the nearest-rank one: of N samples in order, number ceil(q N). It lies in a known
 * bucket; inside it, as far as it lies between the exact minimum and maximum, the samples are taken
 * as evenly spread. A bucket is at most 1/64 of its value wide: of samples that are spread so, the
 * error stays below 0.8 %, and below 128 ns there is none.
 */
#ifndef HBPROF_DIST_H
#define HBPROF_DIST_H

#include "model/model.h"

/* Quantiles in 1/10,000. */
enum { DIST_P50 = 5000, DIST_P90 = 9000, DIST_P99 = 9900, DIST_P999 = 9990, DIST_ONE = 10000 };

/* M_NONE when fewer calls than one lie above it (P99 needs 100), or no bucket was kept. */
u64 dist_quantile(const struct m_dist *d, u32 q);
/* Samples in the buckets: fewer than count where histograms ran out. */
u64 dist_bucketed(const struct m_dist *d);

/* Payload sizes of rows of the result: sum, extremes and the median. */
struct size_bin {
	u64 lo, hi; /* the samples lie in [lo, hi] */
	u64 n;
};

struct sizes {
	struct size_bin *bin;
	size_t nr, cap;
	u64 n, sum, min, max; /* calls with a known size; M_NONE min and max while there are none */
};

void sizes__init(struct sizes *s);
void sizes__fini(struct sizes *s);
int sizes__add(struct sizes *s, const struct m_row *row); /* 0 or -ENOMEM */
/* Exact when all calls of the median's class had one size, else within 1/16. M_NONE: no sizes. */
u64 sizes__p50(struct sizes *s);

/* Least and largest size of a class; M_NONE both for class 0, whose sizes are not known. */
void size_class_range(u32 size_class, u64 *least, u64 *largest);

#endif
