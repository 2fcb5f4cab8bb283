// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* compare_metric.c - the metrics that can be compared, and the words of the verdicts. */
#include <string.h>
#include <strings.h>

#include "report/compare.h"

#define LATENCY(name, title, kind, q)                             \
	{                                                         \
		name, title, kind, q, false, false, NULL, NULL, 0 \
	}
#define COUNTER(name, title, asked)                                         \
	{                                                                   \
		name, title, METRIC_COUNTER, 0, asked, false, name, NULL, 0 \
	}
#define QUOTIENT(name, title, asked, better, over, under, scale)                  \
	{                                                                         \
		name, title, METRIC_COUNTER, 0, asked, better, over, under, scale \
	}

const struct metric compare_metrics[] = {
	LATENCY("mean", "mean", METRIC_MEAN, 0),
	LATENCY("p50", "P50", METRIC_QUANTILE, DIST_P50),
	LATENCY("p90", "P90", METRIC_QUANTILE, DIST_P90),
	LATENCY("p99", "P99", METRIC_QUANTILE, DIST_P99),
	LATENCY("p99.9", "P99.9", METRIC_QUANTILE, DIST_P999),
	{"calls/s", "calls/s", METRIC_RATE, 0, false, true, NULL, NULL, 0},
	COUNTER("cycles", "cycles", false),
	COUNTER("instructions", "instructions", false),
	QUOTIENT("ipc", "IPC", false, true, "instructions", "cycles", 1),
	COUNTER("cache-misses", "cache misses", false),
	COUNTER("cache-references", "cache references", true),
	QUOTIENT("cache-miss-rate", "cache miss rate", true, false, "cache-misses",
		 "cache-references", 100),
	COUNTER("branches", "branches", true),
	COUNTER("branch-misses", "branch misses", true),
	COUNTER("L1-dcache-load-misses", "L1d misses", true),
	COUNTER("LLC-load-misses", "LLC misses", true),
	COUNTER("dTLB-load-misses", "dTLB misses", true),
	COUNTER("page-faults", "page faults", true),
	COUNTER("context-switches", "context switches", true),
	QUOTIENT("task-clock", "task clock", true, false, "task-clock", NULL, METRIC_NS),
	QUOTIENT("on-cpu", "on CPU", true, false, "on-cpu", NULL, METRIC_NS),
	QUOTIENT("waiting", "waiting", true, false, "waiting", NULL, METRIC_NS),
	QUOTIENT("blocked", "blocked", true, false, "blocked", NULL, METRIC_NS),
};
const u32 compare_nr_metrics = sizeof(compare_metrics) / sizeof(compare_metrics[0]);

const char *const verdict_names[VERDICT_NR] = {
	[VERDICT_NONE] = "",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_MORE] = "more",
	[VERDICT_FEWER] = "fewer",
	[VERDICT_SAME] = "no difference shown",
	[VERDICT_FEW] = "too few calls",
	[VERDICT_NOT] = "not comparable",
};

const struct metric *compare_metric(const char *name)
{
	for (u32 i = 0; i < compare_nr_metrics; i++)
		if (!strcasecmp(compare_metrics[i].name, name))
			return &compare_metrics[i];
	return NULL;
}
