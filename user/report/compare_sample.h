/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_sample.h - the calls of one row of one recording, ready for statistics: the whole
 * distribution and what happened in each interval.
 */
#ifndef HBPROF_COMPARE_SAMPLE_H
#define HBPROF_COMPARE_SAMPLE_H

#include "report/compare_stat.h"
#include "report/dist.h"

#define KEY_ANY_SIZE 0xff

/* What makes rows of two recordings the same. Strings are the recording's. */
struct compare_key {
	const char *codec, *op, *name;
	u8 outcome;
	u8 size_class; /* KEY_ANY_SIZE: all together */
};

struct sample_block {
	struct m_dist dist;
	double seconds;
};

/* A counter in the calls of a block. */
struct sample_ctr {
	u64 calls, sum;
};

struct sample {
	const struct m_func *func; /* NULL: the recording does not have the row */
	struct m_dist dist;	   /* inclusive latency */
	u64 count;
	double inside_ns;	  /* of their time, in other measured functions that they called */
	const struct m_row **row; /* of which it is; they are the recording's */
	u32 nr_rows;
	size_t cap_rows;
	u64 measured_ns; /* M_NONE: not known */
	struct sample_block *block;
	u32 nr_blocks; /* of the recording, those without calls as well */
	u32 nr_busy;   /* blocks with calls */
	bool complete; /* the blocks add up to the whole */
	u64 size_n[HB_SIZE_CLASSES];
	struct sizes sizes;
	const struct m_counters *counters; /* the recording's list; NULL: func is NULL */
	struct m_ctr ctr[HB_CTRS];
	struct sample_ctr
		*ctr_block; /* [block * counters->nr + counter]; NULL: none were asked for */
	/* of the probe, of the functions' most doubtful one */
	bool calibrated;
	double bias_ns, uncertainty_ns, resolution_ns;
	double lost; /* share of the function's entries without a sample */
	/* the distribution as a curve */
	double *edge;  /* nr_edges: lower and upper bound of each bucket in turn */
	double *below; /* calls below each edge */
	u32 nr_edges;
	double bucketed;
};

/* What an estimate is and how much it varies, of one run. */
struct estimate {
	double value;	  /* NaN: none */
	double deff;	  /* variance over that of independent calls; quantiles and means */
	double rel_se;	  /* relative standard error; means and rates */
	double rel_plain; /* the same as if intervals were independent of each other */
	double df;
	struct stat_var var;	 /* what both come from, in units of independent calls' */
	double edge_lo, edge_hi; /* the value's bucket */
	bool few;		 /* the intervals are too few for a variance */
};

void sample__init(struct sample *s);
void sample__fini(struct sample *s);
/* Adds a row's calls, before the blocks. 0 or -ENOMEM. */
int sample__add_row(struct sample *s, const struct m_row *row, const struct m_func *f);
/* Calls after all rows and deltas are in. 0 or -ENOMEM. */
int sample__finish(struct sample *s, const struct recording *r);

/* The value below which a fraction of the calls lies. */
double sample_at(const struct sample *s, double fraction);
/* Share of the calls below v: 0 to 1. */
double sample_below(const struct sample *s, double v);

/* 0 or -ENOMEM. */
int sample_quantile(const struct sample *s, u32 q, struct estimate *e);
int sample_mean(const struct sample *s, struct estimate *e);
int sample_rate(const struct sample *s, struct estimate *e);
/* The standard error of sum(y) / sum(x) over the blocks, relative to the ratio; floor: what the sum of y
 * varies by at least. 0 or -ENOMEM. */
int sample_ratio_error(const struct sample *s, const double *y, const double *x, double floor,
		       struct estimate *e);
/* Are there enough intervals to tell a variance? */
bool sample_can_vary(const struct sample *s);

#endif
