/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * truth.h - what the C and C++ workloads share: flags, the start and end of the text protocol, exact
 * call counts, and a latency histogram kept inside the process. ../README.md describes the protocol;
 * truth.go is the same for Go. What is called, and how often, is left to the workloads.
 *
 * A workload is one program with one struct truth, and a mistake in it must not pass for a result:
 * what cannot go on ends the process. The bucket arithmetic is written here once more and not taken
 * from include/hbprof/hist.h, as it is to judge what was measured with that.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_SUB_BITS 6 /* 64 buckets an octave; values below 64 have one each */
#define TRUTH_SUB      (1 << TRUTH_SUB_BITS)
#define TRUTH_BUCKETS  (TRUTH_SUB + (64 - TRUTH_SUB_BITS) * TRUTH_SUB)
#define TRUTH_FUNCS    12

/* No inlining, no clone for constant arguments, nothing concluded by callers about registers. */
#define TRUTH_PROBED __attribute__((noipa))

struct truth_opt {
	const char *mode, *size;
	int n, g, procs; /* procs 0: as many as there are; g 0: the mode's own number */
	long ns, iters;
	double rate;
	bool nowait;
};

/* The calls of one function that a profiler may probe. Counted by all threads. */
struct truth_func {
	const char *codec, *op, *name;
	uint64_t entries;   /* every entry, nested ones included */
	uint64_t calls;	    /* outermost calls that returned */
	uint64_t errors;    /* those of calls that failed */
	uint64_t abandoned; /* outermost calls that never returned: longjmp, exception */
	uint64_t size_sum, size_max;
	uint64_t timer_ns;
	uint64_t timed, sum_ns, min_ns, max_ns;
	uint64_t bucket[TRUTH_BUCKETS];
};

struct truth {
	struct truth_opt opt;
	uint64_t timer_ns;
	uint64_t checksum;
	struct truth_func func[TRUTH_FUNCS];
	int nr_funcs;
};

struct truth_pacer {
	uint64_t period_ns, next_ns;
};

__attribute__((format(printf, 1, 2), noreturn)) static inline void truth_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "workload: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static inline uint64_t truth_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- flags ---------------------------------------------------------------------------------- */

static inline __attribute__((noreturn)) void truth_usage(const char *const *modes)
{
	fprintf(stderr, "usage: -mode M -n CALLS -g THREADS -procs N -size S -ns N -iters N "
			"-rate R -nowait\nmodes:");
	for (; *modes; modes++)
		fprintf(stderr, " %s", *modes);
	fprintf(stderr, "\nsizes: tiny heartbeat order device\n");
	exit(2);
}

static inline long truth_number(const char *s, const char *const *modes)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || end == s || *end || v < 0 || v > INT32_MAX)
		truth_usage(modes);
	return v;
}

static inline bool truth_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

/* modes ends with NULL; its first one is the default. */
static inline void truth_parse(struct truth_opt *o, int argc, char **argv, const char *const *modes)
{
	static const char *const sizes[] = {"tiny", "heartbeat", "order", "device", NULL};
	static const struct option opts[] = {
		{"mode", 1, NULL, 'm'},	 {"n", 1, NULL, 'n'},	 {"g", 1, NULL, 'g'},
		{"procs", 1, NULL, 'p'}, {"size", 1, NULL, 's'}, {"ns", 1, NULL, 'l'},
		{"iters", 1, NULL, 'i'}, {"rate", 1, NULL, 'r'}, {"nowait", 0, NULL, 'w'},
		{NULL, 0, NULL, 0},
	};
	int c;

	memset(o, 0, sizeof(*o));
	o->mode = modes[0];
	o->size = "heartbeat";
	o->n = 1000;
	while ((c = getopt_long_only(argc, argv, "", opts, NULL)) != -1) {
		if (c == 'm')
			o->mode = optarg;
		else if (c == 's')
			o->size = optarg;
		else if (c == 'w')
			o->nowait = true;
		else if (c == 'n')
			o->n = (int)truth_number(optarg, modes);
		else if (c == 'g')
			o->g = (int)truth_number(optarg, modes);
		else if (c == 'p')
			o->procs = (int)truth_number(optarg, modes);
		else if (c == 'l')
			o->ns = truth_number(optarg, modes);
		else if (c == 'i')
			o->iters = truth_number(optarg, modes);
		else if (c == 'r')
			o->rate = (double)truth_number(optarg, modes);
		else
			truth_usage(modes);
	}
	if (optind != argc || o->n < 1 || !truth_one_of(o->mode, modes) ||
	    !truth_one_of(o->size, sizes))
		truth_usage(modes);
}

/* ---- counting ------------------------------------------------------------------------------- */

static inline void truth_add(uint64_t *to, uint64_t v)
{
	__atomic_fetch_add(to, v, __ATOMIC_RELAXED);
}

static inline void truth_raise(uint64_t *to, uint64_t v)
{
	uint64_t old = __atomic_load_n(to, __ATOMIC_RELAXED);

	while (v > old &&
	       !__atomic_compare_exchange_n(to, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline void truth_lower(uint64_t *to, uint64_t v)
{
	uint64_t old = __atomic_load_n(to, __ATOMIC_RELAXED);

	while (v < old &&
	       !__atomic_compare_exchange_n(to, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline int truth_bucket(uint64_t v)
{
	int m;

	if (v < TRUTH_SUB)
		return (int)v;
	m = 63 - __builtin_clzll(v);
	return (m - TRUTH_SUB_BITS) * TRUTH_SUB + (int)(v >> (m - TRUTH_SUB_BITS));
}

/* An entry that is about to happen. */
static inline void truth_enter(struct truth_func *f)
{
	truth_add(&f->entries, 1);
}

/* An outermost call that came back but could not be timed without other work in the interval. */
static inline void truth_count(struct truth_func *f, size_t size, bool failed)
{
	truth_add(&f->calls, 1);
	truth_add(&f->errors, failed);
	truth_add(&f->size_sum, size);
	truth_raise(&f->size_max, size);
}

/* An outermost call that came back, with what it took between two truth_now() around it. */
static inline void truth_return(struct truth_func *f, uint64_t ns, size_t size, bool failed)
{
	ns = ns > f->timer_ns ? ns - f->timer_ns : 0;
	truth_count(f, size, failed);
	truth_add(&f->timed, 1);
	truth_add(&f->sum_ns, ns);
	truth_raise(&f->max_ns, ns);
	truth_lower(&f->min_ns, ns);
	truth_add(&f->bucket[truth_bucket(ns)], 1);
}

/* An outermost call that was left by another way than its return. */
static inline void truth_abandon(struct truth_func *f)
{
	truth_add(&f->abandoned, 1);
}

/* A checksum that costs little beside a codec: 8 bytes a step. */
static inline uint64_t truth_hash(const void *data, size_t len)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	const unsigned char *p = (const unsigned char *)data;
	uint64_t h = len * k, w;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * k;
		h ^= h >> 32;
	}
	for (; len; len--, p++)
		h = (h ^ *p) * k;
	return h ^ h >> 29;
}

/* ---- the run -------------------------------------------------------------------------------- */

static inline int truth_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median of empty pairs. */
static inline uint64_t truth_timer_cost(void)
{
	static uint64_t d[10001];
	const size_t n = sizeof(d) / sizeof(d[0]);
	uint64_t t0;

	for (size_t i = 0; i < n; i++) {
		t0 = truth_now();
		d[i] = truth_now() - t0;
	}
	qsort(d, n, sizeof(d[0]), truth_cmp);
	return d[n / 2];
}

static inline void truth_init(struct truth *t, int argc, char **argv, const char *const *modes)
{
	cpu_set_t cpus;

	memset(t, 0, sizeof(*t));
	truth_parse(&t->opt, argc, argv, modes);
	if (t->opt.procs) {
		CPU_ZERO(&cpus);
		for (int i = 0; i < t->opt.procs && i < CPU_SETSIZE; i++)
			CPU_SET(i, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			truth_die("cannot run on %d CPUs: %s", t->opt.procs, strerror(errno));
	}
	t->timer_ns = truth_timer_cost();
}

/* A function under the name that the profiler shows. */
static inline struct truth_func *truth_func_new(struct truth *t, const char *codec, const char *op,
						const char *name)
{
	struct truth_func *f;

	if (t->nr_funcs == TRUTH_FUNCS)
		truth_die("more than %d functions", TRUTH_FUNCS);
	f = &t->func[t->nr_funcs++];
	f->codec = codec;
	f->op = op;
	f->name = name;
	f->timer_ns = t->timer_ns;
	f->min_ns = UINT64_MAX;
	return f;
}

/* Returns at a line or at the end of stdin. Plain reads: a seccomp filter allows no more. */
static inline void truth_wait(const struct truth *t)
{
	char c;

	while (!t->opt.nowait && read(0, &c, 1) == 1 && c != '\n')
		;
}

static inline void truth_start(const struct truth *t)
{
	printf("PID %d\nREADY\n", (int)getpid());
	fflush(stdout);
	truth_wait(t);
}

/* The c values of a bucket are taken to stand in the middle of c equal parts of it. */
static inline double truth_quantile(const struct truth_func *f, uint64_t permille)
{
	uint64_t rank = (f->timed * permille + 999) / 1000, seen = 0;
	double lower, width, v;

	if (!rank)
		rank = 1;
	for (int i = 0; i < TRUTH_BUCKETS; i++) {
		if (seen + f->bucket[i] < rank) {
			seen += f->bucket[i];
			continue;
		}
		width = i < 2 * TRUTH_SUB ? 1 : (double)(1ull << (i / TRUTH_SUB - 1));
		lower = i < 2 * TRUTH_SUB ? i : (TRUTH_SUB + i % TRUTH_SUB) * width;
		v = lower + width * ((double)(rank - seen) - 0.5) / (double)f->bucket[i];
		if (v < (double)f->min_ns)
			return (double)f->min_ns;
		return v > (double)f->max_ns ? (double)f->max_ns : v;
	}
	return (double)f->max_ns;
}

static inline void truth_print_latency(const struct truth_func *f)
{
	printf("LATENCY %s count=%llu mean=%.1f min=%llu p50=%.1f p90=%.1f p99=%.1f p999=%.1f "
	       "max=%llu\n",
	       f->name, (unsigned long long)f->timed, (double)f->sum_ns / (double)f->timed,
	       (unsigned long long)f->min_ns, truth_quantile(f, 500), truth_quantile(f, 900),
	       truth_quantile(f, 990), truth_quantile(f, 999), (unsigned long long)f->max_ns);
}

/* Prints the truth and keeps the process alive until the profiler has seen it. */
static inline void truth_finish(const struct truth *t)
{
	const struct truth_func *f;

	for (f = t->func; f < t->func + t->nr_funcs; f++)
		printf("TRUTH %s %s %s calls=%llu entries=%llu errors=%llu size_sum=%llu "
		       "size_max=%llu abandoned=%llu\n",
		       f->codec, f->op, f->name, (unsigned long long)f->calls,
		       (unsigned long long)f->entries, (unsigned long long)f->errors,
		       (unsigned long long)f->size_sum, (unsigned long long)f->size_max,
		       (unsigned long long)f->abandoned);
	for (f = t->func; f < t->func + t->nr_funcs; f++)
		if (f->timed)
			truth_print_latency(f);
	printf("CHECKSUM %llu\nTIMER ns=%llu\nDONE\n", (unsigned long long)t->checksum,
	       (unsigned long long)t->timer_ns);
	if (fflush(stdout))
		truth_die("cannot write the result: %s", strerror(errno));
	truth_wait(t);
}

/* ---- pacing and threads --------------------------------------------------------------------- */

/* Spreads calls evenly over time; late ones are not left out. */
static inline struct truth_pacer truth_pacer_new(const struct truth *t, int workers)
{
	struct truth_pacer p = {0, 0};

	if (t->opt.rate > 0) {
		p.period_ns = (uint64_t)(1e9 * workers / t->opt.rate);
		p.next_ns = truth_now();
	}
	return p;
}

static inline void truth_pace(struct truth_pacer *p)
{
	struct timespec ts;

	if (!p->period_ns)
		return;
	ts.tv_sec = (time_t)(p->next_ns / 1000000000u);
	ts.tv_nsec = (long)(p->next_ns % 1000000000u);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	p->next_ns += p->period_ns;
}

/* One call of the mode; its result is added to the checksum. */
typedef uint64_t (*truth_step)(struct truth *t, int i);

struct truth_worker {
	struct truth *t;
	truth_step step;
	int workers;
	pthread_t thread;
};

static inline void *truth_work(void *arg)
{
	struct truth_worker *w = (struct truth_worker *)arg;
	struct truth_pacer p = truth_pacer_new(w->t, w->workers);
	uint64_t sum = 0;

	for (int i = 0; i < w->t->opt.n; i++) {
		truth_pace(&p);
		sum += w->step(w->t, i);
	}
	truth_add(&w->t->checksum, sum);
	return NULL;
}

/* Runs the step n times in each of g threads (0: in none but this one). */
static inline void truth_run(struct truth *t, int g, truth_step step)
{
	struct truth_worker self = {t, step, 1, pthread_self()}, *w;
	int err;

	if (g < 2) {
		truth_work(&self);
		return;
	}
	w = (struct truth_worker *)calloc((size_t)g, sizeof(*w));
	if (!w)
		truth_die("out of memory");
	for (int i = 0; i < g; i++) {
		w[i] = self;
		w[i].workers = g;
		err = pthread_create(&w[i].thread, NULL, truth_work, &w[i]);
		if (err)
			truth_die("cannot start thread %d: %s", i, strerror(err));
	}
	for (int i = 0; i < g; i++)
		pthread_join(w[i].thread, NULL);
	free(w);
}

#endif
