/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare.h - two or more captures side by side: which rows are the same, how large the ratio of
 * each metric is, between which limits, and what may be said about it. docs/compare.md explains the
 * statistics and the JSON.
 *
 * A side is what is compared: one machine, version or setting. It has one run (capture) or several
 * of the same kind. Side 0 is what the others are compared with. Latencies are ns, inclusive.
 */
#ifndef HBPROF_COMPARE_H
#define HBPROF_COMPARE_H

#include <stdio.h>

#include "model/model.h"
#include "report/compare_sample.h"

#define COMPARE_MAX_SIDES 16
#define COMPARE_MAX_RUNS  128 /* of all sides together */
#define COMPARE_LEVEL	  0.05
#define COMPARE_FEW_ROWS  5 /* more than these that agree are one finding about the captures */

struct compare_run {
	const struct recording *r;
	const char *file;
};

struct compare_side {
	const char *label;
	struct compare_run *run;
	u32 nr_runs;
};

/* ---- the order of the sides ---- */

#define COMPARE_AXIS_TEXT 64

/* The fact that they are ordered by. */
struct compare_axis {
	const char *fact;
	bool numeric, log; /* at[] are numbers; they span so much that their logarithms are shown */
	bool moves;	   /* it is not the same of all */
	double at[COMPARE_MAX_SIDES]; /* by side */
	char text[COMPARE_MAX_SIDES][COMPARE_AXIS_TEXT];
};

/*
 * Sorts the sides by a fact, the least first: the others are compared with that one. 0; -ENOENT: a capture
 * does not have it, -EINVAL: the captures of one side differ in it, and why says which. fact must outlive
 * the axis.
 */
int compare_sides__order(struct compare_side *side, u32 nr, const char *fact,
			 struct compare_axis *axis, char *why, size_t len);

/* ---- metrics ---- */

enum metric_kind {
	METRIC_MEAN,
	METRIC_QUANTILE,
	METRIC_RATE,
	METRIC_COUNTER, /* of the calls that have it; or the quotient of two */
};

#define METRIC_NS (-1)

struct metric {
	const char *name;  /* of --metric and JSON: "p99" */
	const char *title; /* of tables: "P99" */
	enum metric_kind kind;
	u32 q;		 /* in 1/10,000 */
	bool asked_only; /* shown when named only; other counters where every run has them */
	bool more_better;
	/* of counters: their names, as in captures */
	const char *over, *under; /* under NULL: per call */
	double scale;		  /* of quotients, 100: percent; METRIC_NS: the counter is ns */
};

extern const struct metric compare_metrics[];
extern const u32 compare_nr_metrics;
#define COMPARE_MAX_METRICS 32
/* NULL: there is no such metric. */
const struct metric *compare_metric(const char *name);

/* ---- results ---- */

enum verdict {
	VERDICT_NONE, /* the first side, or the row is not in one of both */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_MORE, /* of rates, which depend on the load that was offered */
	VERDICT_FEWER,
	VERDICT_SAME, /* no difference shown, which is not "equal" */
	VERDICT_FEW,
	VERDICT_NOT,
	VERDICT_NR,
};

extern const char *const verdict_names[VERDICT_NR];

#define COMPARE_WHY 160

/* One metric of one row at one side. NaN: there is none. */
struct compare_cell {
	double value, lo, hi;	/* 95 % limits; hi may be infinite */
	double ratio, rlo, rhi; /* to side 0 */
	double p, p_holm;	/* of "there is no difference"; after correction for the rows */
	double worse_p;		/* of "not worse by more than fail_over", corrected */
	double p_pooled, worse_pooled; /* before: with what the other rows know of the variance */
	double lasting; /* what a level moves by for some time, of both sides, in the logarithm */
	double effective, df; /* calls that independent ones would be worth; of a single run */
	enum verdict verdict;
	char why[COMPARE_WHY]; /* of VERDICT_FEW, VERDICT_NOT, or why there is no value */
};

struct compare_row {
	struct compare_key key;
	struct sample *sample;	   /* by run, in the order of sides and runs */
	struct compare_cell *cell; /* [metric * nr_sides + side] */
	bool *in;		   /* by side: some run has calls */
	u32 missing;		   /* sides that lack it; all of them when side 0 does */
	double weight;		   /* total time of its function, all sides together */
};

struct compare_opts {
	bool by_size;
	const struct metric *metric[COMPARE_MAX_METRICS];
	u32 nr_metrics; /* 0: those that are not asked_only */
	const char *const *codec;
	u32 nr_codecs;			 /* 0: all */
	double fail_over;		 /* 0.10 of "10%"; negative: not asked for */
	const struct compare_axis *axis; /* NULL: sides are in the order in which they were named */
};

struct compare {
	const struct compare_side *side;
	u32 nr_sides, nr_runs;
	const struct compare_opts *opts;
	const struct metric *metric[COMPARE_MAX_METRICS];
	u32 nr_metrics;
	struct compare_row *row; /* in all sides first, by time */
	u32 nr_rows;
	u32 nr_common; /* rows that are at side 0 and at another one */
	char **warning;
	u32 nr_warnings;
	char *forbid[COMPARE_MAX_SIDES]; /* why nothing of this side may be compared */
	u32 first_run[COMPARE_MAX_SIDES];
	/* of fail_over */
	u32 judged, not_judged, tripped;
};

/* 0 or -ENOMEM. Sides, recordings and options must outlive c. */
int compare__build(struct compare *c, const struct compare_side *side, u32 nr_sides,
		   const struct compare_opts *opts);
void compare__fini(struct compare *c);

static inline struct compare_cell *compare_cell(const struct compare *c,
						const struct compare_row *row, u32 metric, u32 side)
{
	return &row->cell[metric * c->nr_sides + side];
}

/* compare_warn.c: adds a sentence, each once. 0 or -ENOMEM. */
int __attribute__((format(printf, 2, 3))) compare__warn(struct compare *c, const char *fmt, ...);
/* What the headers of the captures say about the comparison. 0 or -ENOMEM. */
int compare__warn_headers(struct compare *c);
/* NULL, or why nothing of these sides may be compared. */
static inline const char *compare_forbids(const struct compare *c, u32 side)
{
	return c->forbid[side] ? c->forbid[side] : c->forbid[0];
}
/* Half the sum of differences between the shares of the size classes: 0 the same, 1 disjoint. */
double compare_size_shift(const struct compare *c, const struct compare_row *row, u32 side);

/* compare_counter.c: 0 or -ENOMEM; false, and why there is no value that may be compared. */
int sample_counter(const struct sample *s, const struct metric *m, struct estimate *e);
bool sample_counter_allowed(const struct sample *s, const struct metric *m, const char *label,
			    char *why, size_t len);

/* The share of the calls that have it; of a quotient, the smaller one. NaN: it was not counted. */
double sample_counter_share(const struct sample *s, const struct metric *m);

/* compare_judge.c: fills the cells. 0 or -ENOMEM. */
int compare__judge(struct compare *c);
/* compare_family.c: from the p-values in the cells to the verdicts. 0 or -ENOMEM. */
int compare__correct(struct compare *c);

enum compare_format { COMPARE_TABLE, COMPARE_JSON, COMPARE_HTML };

/* Writes to f and flushes it. width: columns, 0: no limit. 0 or -errno as report__print(). */
int compare__print(const struct compare *c, enum compare_format format, u32 width, FILE *f);

#endif
