/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model.h - one recording as plain data: trace/ fills it, capture/ writes and reads it, report/
 * shows it. It knows nothing of kernels, BPF or files.
 *
 * Times are ns: `mono_ns` of CLOCK_MONOTONIC, `wall_ns` of CLOCK_REALTIME. Sizes are bytes. Counts
 * are exact. A string that is not known is NULL, a number that was not measured is M_NONE and is
 * shown as "n/a", never as 0.
 *
 * Ownership: a struct recording owns everything it points to; recording__free() frees all of it.
 */
#ifndef HBPROF_MODEL_H
#define HBPROF_MODEL_H

#include <hbprof/abi.h>
#include <hbprof/types.h>

#define M_NONE (~0ULL)

struct m_requests;

struct m_bucket {
	u32 idx; /* hb_hist_bucket() */
	u64 n;
};

/* A latency distribution: exact count, sum, min and max beside a sparse histogram. */
struct m_dist {
	u64 count, sum_ns;
	u64 min_ns, max_ns;	 /* M_NONE, 0 while empty */
	struct m_bucket *bucket; /* ascending idx, n > 0; the n sum up to count, or less when
				    histograms ran out */
	u32 nr_buckets;
};

struct m_kv {
	char *key, *value;
};

#define M_RUN_FACT "run_" /* begins the keys of facts of the recording's time */

/* The machine. Facts in the order they are shown; a fact that is missing says why in its value. */
struct m_host {
	struct m_kv *fact; /* cpu_model, arch, cpus_online, sockets, numa_nodes, smt, governor,
			      frequency_mhz, kernel, clocksource, virtualization, ... */
	u32 nr_facts;
};

/* A traced process. */
struct m_target {
	u32 pid;
	u64 start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
	char *comm, *exe, *cmdline, *build_id, *language; /* language: "go1.26.8", "native" */
	u64 cpu_ns; /* CPU time used while it was measured; M_NONE: not known */
	u64 rss_bytes;
	u64 begin_mono_ns, end_mono_ns; /* it was measured in between; M_NONE: not, or not known */
	/* How long it had run before, where its beginning was seen (fork, exec); M_NONE: it was there before
	 * the recording. */
	u64 unmeasured_ns;
	char *end; /* why it was not measured to the end of the recording: "exited", "exec" (it runs another
		    * program, which is a target of its own), "not measured"; NULL: it was */
};

/* A counter of calls: "cycles". In rows it has the same index. */
struct m_counter {
	char *name; /* as perf(1) spells it */
	char *lack; /* why it was not counted; NULL: it was */
	u64 bias; /* the most that a pair of probes counts in a call, subtracted from each; M_NONE: it
		       was not measured, and is nothing for counters of the thread */
};

/* A counter in the calls of a row. */
struct m_ctr {
	u64 calls; /* that have it */
	u64 sum;
	u64 min, max; /* M_NONE, 0 while empty */
};

struct m_counters {
	struct m_counter v[HB_CTRS];
	u32 nr;			  /* 0: none were asked for */
	u64 lost[HB_CTR_LOST_NR]; /* calls, or values of calls, without: enum hb_ctr_lost */
};

enum m_exit_mode { M_EXIT_SITE, M_EXIT_RET, M_EXIT_NR };

/* A probed function. Its codec and operation are what rows are grouped by. */
struct m_func {
	char *name;    /* demangled, as shown */
	char *codec;   /* "encoding/json", "cJSON", "probe" */
	char *op;      /* "encode", "decode", "call" */
	char *library; /* shared object or Go module; NULL: the executable */
	char *library_version;
	char *note; /* NULL, or what the reader must know: "contains I/O wait" */
	char *kind; /* NULL: a codec, or the user's own; "around", "handler": see docs/codecs.md */
	u32 image;  /* index into images */
	u64 vaddr;
	u8 lang;		     /* enum hb_lang */
	u8 exit_mode;		     /* enum m_exit_mode at the end of the recording */
	u8 entry_class;		     /* enum hb_class */
	u32 exit_sites[HB_CLASS_NR]; /* exit sites by class */
	bool has_size, has_err;
	u64 n[HB_FN_NR];	   /* enum hb_fn_counter */
	u64 exits_by[HB_CLASS_NR]; /* of n[HB_FN_EXITS]: by the class of the exit's site */
	u64 in_flight_end;
	u64 off_ns; /* how long its probes were taken off, as all its calls were inside of others */
};

struct m_image {
	char *path, *build_id;
};

/* Outermost calls of one function in one process, of one size class and outcome. */
struct m_row {
	u32 func, target; /* indices */
	u8 size_class;	  /* hb_size_class() */
	u8 outcome;	  /* enum hb_outcome */
	bool overflow;	  /* the row that took what found no row of its own: func, target unset */
	u64 count;
	u64 measured_ns; /* how long this row's calls could be seen */
	u64 raw_sum_ns, raw_min_ns, raw_max_ns;
	u64 nested;
	u64 size_sum, size_min, size_max; /* M_NONE min while empty */
	u64 size_sub[HB_SIZE_SUB];
	struct m_dist dist[HB_DIST_NR];
	struct m_ctr ctr[HB_CTRS];
};

/* What changed in one interval: counts per row and their buckets. Rows that did not change are
 * absent. */
struct m_delta {
	u32 row;
	u8 dist; /* enum hb_dist */
	u64 count, sum_ns;
	struct m_bucket *bucket;
	u32 nr_buckets;
};

/* The same of a counter. */
struct m_ctr_delta {
	u32 row;
	u8 ctr;
	u64 calls, sum;
};

struct m_interval {
	u64 begin_mono_ns, end_mono_ns;
	struct m_delta *delta;
	u32 nr_deltas;
	struct m_ctr_delta *ctr; /* by row, then by counter */
	u32 nr_ctrs;
};

/* One calibration: what a probe pair of a class costs at that time. */
struct m_cal {
	u64 mono_ns;
	u8 lang, entry_class, exit_class;
	u32 in_ns, total_ns; /* inside the interval; whole pair as the enclosing call sees it */
	u32 spread_in_ns, spread_total_ns; /* half the middle 80 % of the batch medians */
};

struct m_coverage {
	u64 n[HB_FN_NR]; /* sums over the functions */
	u64 in_flight_start, in_flight_end;
	u64 unmatched; /* hits of return sites that ended no open call: their cost is in cost.probe_ns */
	u64 cold;      /* entries that found the caches cold: probes cost more there */
	u64 cold_in_ns; /* subtracted for that from the intervals, beside the calibrated cost */
	u64 drop[HB_DROP_NR];
	bool balanced; /* read after the probes were off: the identity must hold */
	u64 measured_ns, wall_ns;
	u32 sites, sites_refused, links;
	u32 ras_discovered, ras_refused;
};

struct m_cost {
	u64 hbprof_cpu_ns, rss_bytes;
	u64 kernel_map_bytes;
	u64 probe_ns; /* calls x calibrated total: what the target paid */
};

#define M_NO_FUNC (~0u)

/* Samples with the same frames that were taken in the same codec call. */
struct m_stack {
	u64 count;
	u32 func; /* of the innermost open codec call; M_NO_FUNC: in none */
	u32 target;
	u32 first, nr_frames; /* in m_stacks.frame; 0 frames: there was no room to keep them */
};

/* CPU samples. Their sum is `samples`; each stands for 1 / frequency_hz s of one CPU. */
struct m_stacks {
	char *event; /* "cycles", "cpu-clock"; NULL: no samples were taken */
	char *unit;  /* what counts are of: "samples" */
	u32 frequency_hz;
	u64 samples;
	u64 lost;      /* taken by the kernel, and found no room */
	u64 truncated; /* of the samples: the outermost frame is not where a stack begins */
	u64 unkept;    /* of the samples: without frames, see m_stack */
	char **name;   /* of frames, sorted: kernel functions end in "_[k]" */
	u32 nr_names;
	u32 *frame; /* indices of names; of a stack the outermost frame comes first */
	u32 nr_frames;
	struct m_stack *stack;
	u32 nr_stacks;
};

/* When a recording was made, by the real-time clock. */
struct m_span {
	u64 begin_wall_ns, len_ns;
};

struct recording {
	char *version; /* of hbprof */
	char *attach;  /* "uprobe_multi" */
	char *codecs;  /* a hash of the list of codecs that were looked for */
	u64 begin_wall_ns, begin_mono_ns, end_mono_ns;
	char *stop_reason;   /* "interrupted", "duration", "target exited", "merged" */
	struct m_span *span; /* of a merged one: when what it was merged from was recorded */
	u32 nr_spans;	     /* 0: not merged, or by a version that did not tell */
	struct m_host host;
	struct m_target *target;
	u32 nr_targets;
	struct m_image *image;
	u32 nr_images;
	struct m_func *func;
	u32 nr_funcs;
	struct m_row *row;
	u32 nr_rows;
	struct m_interval *interval;
	u32 nr_intervals;
	struct m_cal *cal; /* in order of time */
	u32 nr_cals;
	char **warning; /* each a sentence that every report prints */
	u32 nr_warnings;
	struct m_coverage coverage;
	struct m_cost cost;
	struct m_stacks stacks;
	struct m_counters counters;
	struct m_requests *requests; /* NULL: not accounted for; see request.h */
};

struct recording *recording__new(void); /* NULL: no memory */
void recording__free(struct recording *r);

/* Adds a printf-formatted warning once (a repeated sentence is kept once). */
int recording__warn(struct recording *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void m_dist__init(struct m_dist *d);
void m_dist__fini(struct m_dist *d);
/* Adds src to dst, bucket by bucket. 0 or -ENOMEM, and dst is as before. Sums that would not fit
 * stay at the top of u64. */
int m_dist__merge(struct m_dist *dst, const struct m_dist *src);

void m_ctr__init(struct m_ctr *c);
/* Adds src to dst; sums that would not fit stay at the top of u64. */
void m_ctr__merge(struct m_ctr *dst, const struct m_ctr *src);
void m_counters__fini(struct m_counters *c);
/* 0 or -ENOMEM. */
int m_counters__copy(struct m_counters *to, const struct m_counters *from);
/* Adds the list of another recording: at[i] is where its i-th counter is now, -1 where there was no
 * room. 0 or -ENOMEM. */
int m_counters__join(struct m_counters *to, const struct m_counters *from, int at[HB_CTRS]);
/* The index of a counter that was counted; -1: there is none of that name. */
int m_counters__find(const struct m_counters *c, const char *name);

void m_stacks__fini(struct m_stacks *s);
/* Samples taken in any codec call, not in others; and in those of a function in a process, where its call was the
 * innermost one that is measured. M_NONE: no samples were taken. */
u64 m_stacks__in_calls(const struct recording *r);
u64 m_stacks__in_func(const struct m_stacks *s, u32 func, u32 target);

/* Appends a fact; both strings are copied. 0 or -ENOMEM. */
int m_host__add(struct m_host *h, const char *key, const char *value);
/* The value of the first fact with that key; `none` where there is none. */
const char *m_host__get(const struct m_host *h, const char *key, const char *none);
/* Is it of what the machine did while recording, not of what it is? */
bool m_is_run_fact(const char *key);

/* Names, in the order of the enums, as they stand in captures and JSON. */
extern const char *const hb_lang_names[HB_LANG_NR];
extern const char *const hb_class_names[HB_CLASS_NR];
extern const char *const hb_outcome_names[HB_OUTCOME_NR];
extern const char *const m_exit_mode_names[M_EXIT_NR];
extern const char *const hb_drop_names[HB_DROP_NR];
extern const char *const hb_fn_counter_names[HB_FN_NR];
extern const char *const hb_ctr_lost_names[HB_CTR_LOST_NR];

#endif
