/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_sim.h - recordings drawn from known distributions: log-normal latencies whose level moves
 * from interval to interval, so that the true quantiles are known and what `compare` says of them
 * can be checked. Many calls are drawn as bucket counts: a million cost little more than a
 * thousand.
 */
#ifndef HBPROF_TEST_COMPARE_SIM_H
#define HBPROF_TEST_COMPARE_SIM_H

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "util/array.h"

struct sim_rng {
	u64 s;
};

static inline double sim_uniform(struct sim_rng *r)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return ((double)(r->s >> 11) + 0.5) / 9007199254740992.0;
}

static inline double sim_normal(struct sim_rng *r)
{
	return sqrt(-2 * log(sim_uniform(r))) * cos(2 * M_PI * sim_uniform(r));
}

/* By inversion while the mean is small, else by the normal approximation. */
static inline u64 sim_binomial(struct sim_rng *r, u64 n, double p)
{
	double mean = (double)n * p, x, u, pmf;
	u64 k = 0;

	if (!n || !(p > 0))
		return 0;
	if (p >= 1)
		return n;
	if (p > 0.5)
		return n - sim_binomial(r, n, 1 - p);
	if (mean > 30) {
		x = floor(mean + sqrt(mean * (1 - p)) * sim_normal(r) + 0.5);
		return x < 0 ? 0 : x > (double)n ? n : (u64)x;
	}
	u = sim_uniform(r);
	pmf = exp((double)n * log1p(-p));
	while (u > pmf && k < n) {
		u -= pmf;
		pmf *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
		k++;
	}
	return k;
}

/* How latencies are distributed and how their level moves. */
struct sim_model {
	const char *name;
	double median_ns, sigma;
	double phi, drift;    /* autoregression of the level: coefficient, standard deviation */
	double noise;	      /* independent from interval to interval */
	double burst, height; /* chance of an interval to be a burst, its level */
};

static inline double sim_phi(double x)
{
	return erfc(-x / M_SQRT2) / 2;
}

/* The true quantile over all time. */
static inline double sim_truth(const struct sim_model *m, double q)
{
	double sd = sqrt(m->sigma * m->sigma + m->drift * m->drift + m->noise * m->noise);
	double lo = -10, hi = 10;

	for (int i = 0; i < 80; i++) {
		double mid = (lo + hi) / 2;
		double p = (1 - m->burst) * sim_phi(mid / sd) +
			   m->burst * sim_phi((mid - m->height) / sd);

		if (p < q)
			lo = mid;
		else
			hi = mid;
	}
	return m->median_ns * exp(lo);
}

#define SIM_FEW 256

/* One by one while they are few: half of the buckets would get none. */
static inline void sim_few_calls(struct sim_rng *r, double mu, double sigma, u64 n, u32 first,
				 u32 last, struct m_delta *d)
{
	u32 *nr = (u32 *)calloc(last - first + 1, sizeof(*nr));

	assert(nr);
	for (u64 i = 0; i < n; i++) {
		u32 b = hb_hist_bucket((u64)exp(mu + sigma * sim_normal(r)));

		nr[b < first ? 0 : b > last ? last - first : b - first]++;
	}
	for (u32 b = first; b <= last; b++) {
		if (!nr[b - first])
			continue;
		d->sum_ns += nr[b - first] * ((hb_hist_lower(b) + hb_hist_lower(b + 1)) / 2);
		d->bucket[d->nr_buckets++] = (struct m_bucket){b, nr[b - first]};
	}
	free(nr);
}

/* n calls around a level (logarithmic), added to d. The sum is that of the buckets' middles. */
static inline void sim_calls(struct sim_rng *r, const struct sim_model *m, double level, u64 n,
			     struct m_delta *d)
{
	double mu = log(m->median_ns) + level, before = 0, upto;
	u32 first = hb_hist_bucket((u64)exp(mu - 6 * m->sigma));
	u32 last = hb_hist_bucket((u64)exp(mu + 6 * m->sigma));

	d->count = n;
	d->bucket = (struct m_bucket *)array_alloc(last - first + 2, sizeof(*d->bucket));
	assert(d->bucket);
	if (n < SIM_FEW) {
		sim_few_calls(r, mu, m->sigma, n, first, last, d);
		return;
	}
	for (u32 b = first; n && b <= last; b++) {
		double edge = (double)hb_hist_lower(b + 1);
		u64 k;

		upto = b == last ? 1 : sim_phi((log(edge) - mu) / m->sigma);
		k = sim_binomial(r, n, (upto - before) / (1 - before));
		before = upto;
		if (!k)
			continue;
		n -= k;
		d->sum_ns += k * ((hb_hist_lower(b) + hb_hist_lower(b + 1)) / 2);
		d->bucket[d->nr_buckets++] = (struct m_bucket){b, k};
	}
}

static inline void sim_facts(struct recording *r, u32 nr_intervals)
{
	r->version = strdup("0.1.0");
	r->attach = strdup("uprobe_multi");
	r->stop_reason = strdup("duration");
	r->begin_wall_ns = 1767225600000000000ULL;
	r->end_mono_ns = nr_intervals * 1000000000ULL;
	m_host__add(&r->host, "cpu_model", "Example CPU");
	m_host__add(&r->host, "arch", "x86_64");
	m_host__add(&r->host, "cpus_online", "16");
	m_host__add(&r->host, "kernel", "6.12.0 #1");
	m_host__add(&r->host, "virtualization", "none");
	r->nr_targets = 1;
	r->target = (struct m_target *)array_alloc(1, sizeof(*r->target));
	r->target[0] = (struct m_target){.pid = 42,
					 .exe = strdup("/srv/bench"),
					 .cmdline = strdup("./bench"),
					 .language = strdup("go1.26.8"),
					 .cpu_ns = r->end_mono_ns,
					 .rss_bytes = 1 << 20,
					 .begin_mono_ns = M_NONE,
					 .end_mono_ns = M_NONE,
					 .unmeasured_ns = M_NONE};
	r->nr_images = 1;
	r->image = (struct m_image *)array_alloc(1, sizeof(*r->image));
	r->image[0].path = strdup("/srv/bench");
	r->nr_cals = 1;
	r->cal = (struct m_cal *)array_alloc(1, sizeof(*r->cal));
	r->cal[0] = (struct m_cal){1, HB_LANG_GO, HB_CLASS_PUSH, HB_CLASS_BRANCH, 600, 1200, 4, 9};
	r->coverage.balanced = true;
	r->coverage.in_flight_start = 0;
	r->coverage.measured_ns = r->coverage.wall_ns = r->end_mono_ns;
}

/* nr_rows functions without a call yet, one second an interval. */
static inline struct recording *sim_new(u32 nr_rows, u32 nr_intervals)
{
	struct recording *r = recording__new();
	char name[64];

	assert(r);
	sim_facts(r, nr_intervals);
	r->nr_funcs = r->nr_rows = nr_rows;
	r->func = (struct m_func *)array_alloc(nr_rows, sizeof(*r->func));
	r->row = (struct m_row *)array_alloc(nr_rows, sizeof(*r->row));
	for (u32 i = 0; i < nr_rows; i++) {
		snprintf(name, sizeof(name), "example.com/codec.Marshal%03u", i);
		r->func[i] = (struct m_func){.name = strdup(name),
					     .codec = strdup("example"),
					     .op = strdup("encode"),
					     .lang = HB_LANG_GO,
					     .entry_class = HB_CLASS_PUSH,
					     .has_size = true};
		r->func[i].exit_sites[HB_CLASS_BRANCH] = 1;
		r->row[i] = (struct m_row){.func = i,
					   .measured_ns = r->end_mono_ns,
					   .size_class = 9,
					   .raw_min_ns = M_NONE,
					   .size_min = M_NONE};
		for (u32 k = 0; k < HB_DIST_NR; k++)
			m_dist__init(&r->row[i].dist[k]);
	}
	r->nr_intervals = nr_intervals;
	r->interval = (struct m_interval *)array_alloc(nr_intervals, sizeof(*r->interval));
	for (u32 i = 0; i < nr_intervals; i++) {
		r->interval[i].begin_mono_ns = i * 1000000000ULL;
		r->interval[i].end_mono_ns = (i + 1) * 1000000000ULL;
		r->interval[i].delta = (struct m_delta *)array_alloc(nr_rows,
								     sizeof(struct m_delta));
	}
	return r;
}

static inline void sim_account(struct recording *r, u32 row, struct m_delta *d)
{
	struct m_row *to = &r->row[row];
	struct m_dist part = {d->count, d->sum_ns, M_NONE, 0, d->bucket, d->nr_buckets};
	int err;

	if (d->nr_buckets) {
		part.min_ns = hb_hist_lower(d->bucket[0].idx);
		part.max_ns = hb_hist_lower(d->bucket[d->nr_buckets - 1].idx + 1) - 1;
	}
	err = m_dist__merge(&to->dist[HB_DIST_LEAF], &part);
	assert(!err);
	(void)err;
	to->count += d->count;
	/* Probes that cost nothing. */
	to->raw_sum_ns = to->dist[HB_DIST_LEAF].sum_ns;
	to->raw_min_ns = to->dist[HB_DIST_LEAF].min_ns;
	to->raw_max_ns = to->dist[HB_DIST_LEAF].max_ns;
	r->func[row].exits_by[HB_CLASS_BRANCH] += d->count;
	r->func[row].n[HB_FN_ENTRIES] += d->count;
	r->func[row].n[HB_FN_EXITS] += d->count;
	r->coverage.n[HB_FN_ENTRIES] += d->count;
	r->coverage.n[HB_FN_EXITS] += d->count;
}

/* How the level of a row moves: what is added to the logarithm in each interval. The caller's. */
static inline double *sim_levels(struct sim_rng *rng, const struct sim_model *m, u32 nr_intervals)
{
	double *at = (double *)array_alloc(nr_intervals, sizeof(*at));
	double level = m->drift * sim_normal(rng);

	assert(at);
	for (u32 i = 0; i < nr_intervals; i++) {
		level = i ? m->phi * level + sqrt(1 - m->phi * m->phi) * m->drift * sim_normal(rng)
			  : level;
		at[i] = level + (m->noise > 0 ? m->noise * sim_normal(rng) : 0);
		at[i] += sim_uniform(rng) < m->burst ? m->height : 0;
	}
	return at;
}

/* About n calls of a row at these levels, spread over the intervals at random. */
static inline void sim_fill_at(struct sim_rng *rng, struct recording *r, u32 row,
			       const struct sim_model *m, u64 n, const double *level)
{
	u64 left = n, calls;

	for (u32 i = 0; i < r->nr_intervals; i++) {
		struct m_interval *iv = &r->interval[i];
		struct m_delta *d = &iv->delta[iv->nr_deltas];

		calls = sim_binomial(rng, left, 1.0 / (r->nr_intervals - i));
		left -= calls;
		if (!calls)
			continue;
		*d = (struct m_delta){.row = row, .dist = HB_DIST_LEAF};
		sim_calls(rng, m, level[i], calls, d);
		sim_account(r, row, d);
		iv->nr_deltas++;
	}
}

/* The same at levels of its own. */
static inline void sim_fill(struct sim_rng *rng, struct recording *r, u32 row,
			    const struct sim_model *m, u64 n)
{
	double *level = sim_levels(rng, m, r->nr_intervals);

	sim_fill_at(rng, r, row, m, n, level);
	free(level);
}

#endif
