// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calib.c - see calib.h. Batches are short and their medians are used, so that a batch during which
 * this thread was preempted does not count. The stubs are in calib_x86.S and
 * calib_arm64.S.
 */
#include "trace/calib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

#define TURNS	   16 /* calls of a batch */
#define TURNS_STEP 6  /* where a site is single-stepped: tens of us a call */
#define BASE_TURNS 256

typedef void (*cal_fn)(void);
typedef void (*cal_loop)(cal_fn fn, u64 n, const void *g);

#define EACH_CLASS(X, l) X(l, 0) X(l, 1) X(l, 2) X(l, 3) X(l, 4)
#define DECLARE(l, k)                                                         \
	void hb_cal_entry_##l##_##k(void);                                    \
	void hb_cal_loop_##l##_##k(cal_fn fn, u64 n, const void *g);          \
	extern const char hb_cal_at_entry_##l##_##k[], hb_cal_ra_##l##_##k[], \
		hb_cal_at_exit_##l##_##k[];
#define DECLARE_OUTER(l)                                                                       \
	EACH_CLASS(DECLARE, l)                                                                 \
	void hb_cal_outer_##l(void);                                                           \
	void hb_cal_tail_##l(void);                                                            \
	void hb_cal_around_##l(void);                                                          \
	extern const char hb_cal_at_outer_##l[], hb_cal_ra_inner_##l[], hb_cal_at_inner_##l[], \
		hb_cal_at_tail_##l[], hb_cal_at_around_##l[], hb_cal_ra_miss_##l[],            \
		hb_cal_at_miss_##l[];
DECLARE_OUTER(0)
DECLARE_OUTER(1)

struct stub {
	cal_fn entry;
	cal_loop loop;
	const char *at_entry, *ra, *at_exit;
};

struct stub_set {
	struct stub k[HB_CLASS_NR];
	cal_fn outer, tail, around;
	const char *at_outer, *ra_inner, *at_inner, *at_tail, *at_around, *ra_miss, *at_miss;
};

#define STUB(l, k)                                                                 \
	{hb_cal_entry_##l##_##k, hb_cal_loop_##l##_##k, hb_cal_at_entry_##l##_##k, \
	 hb_cal_ra_##l##_##k, hb_cal_at_exit_##l##_##k},
#define STUB_SET(l)                                                                           \
	{{EACH_CLASS(STUB, l)}, hb_cal_outer_##l,    hb_cal_tail_##l,	  hb_cal_around_##l,  \
	 hb_cal_at_outer_##l,	hb_cal_ra_inner_##l, hb_cal_at_inner_##l, hb_cal_at_tail_##l, \
	 hb_cal_at_around_##l,	hb_cal_ra_miss_##l,  hb_cal_at_miss_##l},
static const struct stub_set stubs[HB_LANG_NR] = {STUB_SET(0) STUB_SET(1)};

/* Of the stubs: SP behind a return from that at the entry; the class of the entries of outer, tail and
 * around, and of what outer and tail lead to. */
extern const s32 hb_cal_ret_sp, hb_cal_inside_class;

_Static_assert(HB_CLASS_BRANCH == 0 && HB_CLASS_PUSH == 1 && HB_CLASS_CALL == 2 &&
		       HB_CLASS_NOP == 3 && HB_CLASS_STEP == 4 && HB_CLASS_NR == 5,
	       "the stubs are written in this order");

/*
 * What the handler takes for a g: stack.lo, stack.hi, at CALIB_GOID_OFF an id, at CALIB_SCAN_OFF what
 * changes when it stops. Every stack lies within it.
 */
static const u64 fake_g[5] = {0, 1ULL << 48, 1};

_Static_assert(CALIB_SCAN_OFF + HB_STOPS_BYTES <= sizeof(fake_g), "it is read as a whole");

static u32 func_id(u32 lang, u32 cls)
{
	return lang * CALIB_LANG_FUNCS + cls;
}

void calib__sites(struct calib_site *s)
{
	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		for (u32 k = 0; k < HB_CLASS_NR; k++) {
			*s++ = (struct calib_site){.at = stubs[lang].k[k].at_entry,
						   .func = func_id(lang, k),
						   .role = HB_ROLE_ENTRY,
						   .cls = k,
						   .lang = lang};
			*s++ = (struct calib_site){.at = stubs[lang].k[k].at_exit,
						   .ra = stubs[lang].k[k].ra,
						   .func = HB_FUNC_NONE,
						   .role = HB_ROLE_RETSITE,
						   .cls = k,
						   .lang = lang,
						   .sp_fix = -hb_cal_ret_sp};
		}
		*s++ = (struct calib_site){.at = stubs[lang].at_outer,
					   .func = func_id(lang, HB_CLASS_NR),
					   .role = HB_ROLE_ENTRY,
					   .cls = hb_cal_inside_class,
					   .lang = lang};
		*s++ = (struct calib_site){.at = stubs[lang].at_inner,
					   .ra = stubs[lang].ra_inner,
					   .func = HB_FUNC_NONE,
					   .role = HB_ROLE_RETSITE,
					   .cls = HB_CLASS_BRANCH,
					   .lang = lang,
					   .sp_fix = -hb_cal_ret_sp};
		*s++ = (struct calib_site){.at = stubs[lang].at_tail,
					   .func = func_id(lang, HB_CLASS_NR + 1),
					   .role = HB_ROLE_ENTRY,
					   .cls = hb_cal_inside_class,
					   .lang = lang};
		*s++ = (struct calib_site){.at = stubs[lang].at_around,
					   .func = func_id(lang, HB_CLASS_NR + 2),
					   .role = HB_ROLE_ENTRY,
					   .cls = hb_cal_inside_class,
					   .lang = lang};
		*s++ = (struct calib_site){.at = stubs[lang].at_miss,
					   .ra = stubs[lang].ra_miss,
					   .func = HB_FUNC_NONE,
					   .role = HB_ROLE_RETSITE,
					   .cls = HB_CLASS_BRANCH,
					   .lang = lang,
					   .sp_fix = -hb_cal_ret_sp};
	}
}

static u64 time_loop(cal_loop loop, cal_fn fn, u64 n)
{
	u64 t0 = mono_ns();

	loop(fn, n, fake_g);
	return mono_ns() - t0;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

void calib__baseline(struct calib *c)
{
	/* The handler reads it and may not fault: bring the page in. */
	(void)*(const volatile u64 *)fake_g;
	for (u32 e = 0; e < HB_CLASS_NR; e++) {
		for (u32 x = 0; x < HB_CLASS_NR; x++) {
			u64 best = ~0ULL;

			for (int i = 0; i < 5; i++) {
				u64 t = time_loop(stubs[0].k[x].loop, stubs[0].k[e].entry,
						  BASE_TURNS);

				best = t < best ? t : best;
			}
			c->base_ps[e][x] = best * 1000 / BASE_TURNS;
		}
	}
}

u64 calib_call(u32 lang, bool step, u32 n)
{
	const struct stub_set *s = &stubs[lang];

	return time_loop(s->k[step ? HB_CLASS_STEP : HB_CLASS_BRANCH].loop,
			 s->k[hb_cal_inside_class].entry, n);
}

bool calib_lang_used(const struct calib *c, u32 lang)
{
	for (u32 e = 0; e < HB_CLASS_NR; e++)
		if (c->used[lang][e][HB_CLASS_BRANCH])
			return true;
	return false;
}

/* Median in ns, and half the distance between the 10th and 90th percentile. v is sorted. */
static void summarize(u64 *v, u32 n, u32 *median, u32 *spread)
{
	qsort(v, n, sizeof(*v), cmp_u64);
	*median = v[n / 2];
	*spread = (v[n - 1 - n / 10] - v[n / 10] + 1) / 2;
}

/* ns of one turn of a loop over fn, per batch; sorted, with its median and spread. */
static void measure(cal_loop loop, cal_fn fn, u32 turns, u32 batches, u32 *median, u32 *spread)
{
	u64 v[4 * CALIB_BATCHES];

	if (batches > 4 * CALIB_BATCHES)
		batches = 4 * CALIB_BATCHES;
	for (u32 i = 0; i < batches; i++)
		v[i] = time_loop(loop, fn, turns) / turns;
	summarize(v, batches, median, spread);
}

/* The value below which a share q of the histogram lies, interpolated. */
static u64 hist_quantile(const struct hb_hist *h, u64 total, double q)
{
	double want = q * (double)total, seen = 0;

	for (u32 b = 0; b < HB_HIST_BUCKETS; b++) {
		double n = (double)h->n[b];

		if (n > 0 && seen + n >= want) {
			double lo = (double)hb_hist_lower(b), hi = (double)hb_hist_lower(b + 1);

			return (u64)(lo + (hi - lo) * (want - seen) / n);
		}
		seen += n;
	}
	return 0;
}

/* One kind of call: what it is made by, and where the BPF side puts what it measured of it. */
struct kind {
	u32 func;
	enum hb_dist dist;
	cal_loop loop;
	cal_fn fn;
	u32 turns;
};

struct cost {
	u32 in_ns, spread_in_ns;     /* median of the measured intervals, half of the middle 80 % */
	u32 turn_ns, spread_turn_ns; /* of a turn of the loop */
};

static int measure_kind(struct calib *c, const struct kind *k, u32 batches, struct cost *out)
{
	struct hb_hist *before = malloc(sizeof(*before)), *after = malloc(sizeof(*after));
	u64 total = 0;
	int err = -ENOMEM;

	if (!before || !after)
		goto out;
	err = c->read_hist(c->arg, k->func, k->dist, before);
	if (err)
		goto out;
	measure(k->loop, k->fn, k->turns, batches, &out->turn_ns, &out->spread_turn_ns);
	err = c->read_hist(c->arg, k->func, k->dist, after);
	if (err)
		goto out;
	for (u32 b = 0; b < HB_HIST_BUCKETS; b++) {
		after->n[b] -= before->n[b];
		total += after->n[b];
	}
	if (!total) {
		err = -ENODATA;
		goto out;
	}
	out->in_ns = hist_quantile(after, total, 0.5);
	out->spread_in_ns = (hist_quantile(after, total, 0.9) - hist_quantile(after, total, 0.1)) /
			    2;
out:
	free(before);
	free(after);
	return err;
}

static u32 less(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

static int measure_pair(struct calib *c, u32 lang, u32 e, u32 x, u32 batches,
			struct calib_result *r)
{
	bool step = e == HB_CLASS_STEP || x == HB_CLASS_STEP;
	struct kind k = {.func = func_id(lang, e),
			 .dist = HB_DIST_LEAF,
			 .loop = stubs[lang].k[x].loop,
			 .fn = stubs[lang].k[e].entry,
			 .turns = step ? TURNS_STEP : TURNS};
	struct cost cost;
	int err = measure_kind(c, &k, batches, &cost);

	if (err)
		return err;
	*r = (struct calib_result){.lang = lang,
				   .entry_class = e,
				   .exit_class = x,
				   .in_ns = cost.in_ns,
				   .spread_in_ns = cost.spread_in_ns,
				   .total_ns = less(cost.turn_ns, c->base_ps[e][x] / 1000),
				   .spread_total_ns = cost.spread_turn_ns};
	return 0;
}

/* By how much hits of this exit class cost more, or less, than those of a branch; 0 where that was
 * not measured. */
static s64 exit_shift(const struct calib *c, const struct hb_cal *cal, u32 lang, u32 x)
{
	for (u32 e = 0; e < HB_CLASS_NR; e++) {
		u32 branch = cal->total_ns[lang][e][HB_CLASS_BRANCH],
		    other = cal->total_ns[lang][e][x];

		if (c->used[lang][e][HB_CLASS_BRANCH] && branch && other)
			return (s64)other - branch;
	}
	return 0;
}

static u32 positive(s64 v)
{
	return v > 0 ? (u32)v : 0;
}

/*
 * What hits cost that have no pair of their own. A recursive call without a frame, and a hit of an
 * exit site that ends nothing: the time that it adds to a turn. An entry alone (a tail call): what it
 * adds inside the interval of the call that made it. They are measured with one class of entries and a
 * branch, and shifted by what pairs of other classes differ by.
 */
static int measure_inside(struct calib *c, u32 lang, u32 batches, struct hb_cal *cal)
{
	const struct stub_set *s = &stubs[lang];
	struct kind k = {.func = func_id(lang, HB_CLASS_NR + 1),
			 .dist = HB_DIST_OUTER,
			 .loop = s->k[0].loop,
			 .fn = s->tail,
			 .turns = TURNS};
	struct calib_result pair; /* of which the insides are made */
	struct cost tail;
	u32 outer, around, spread, turn;
	int err = measure_pair(c, lang, hb_cal_inside_class, HB_CLASS_BRANCH, batches, &pair);

	if (!err)
		err = measure_kind(c, &k, batches, &tail);
	if (err)
		return err;
	measure(s->k[0].loop, s->outer, TURNS, batches, &outer, &spread);
	measure(s->k[0].loop, s->around, TURNS, batches, &around, &spread);
	turn = pair.total_ns + c->base_ps[hb_cal_inside_class][HB_CLASS_BRANCH] / 1000;
	for (u32 i = 0; i < HB_CLASS_NR; i++) {
		s64 entry = c->used[lang][i][HB_CLASS_BRANCH]
				    ? (s64)cal->total_ns[lang][i][HB_CLASS_BRANCH] - pair.total_ns
				    : 0;

		cal->nested_ns[lang][i] = positive((s64)outer - turn + exit_shift(c, cal, lang, i));
		cal->tail_ns[lang][i] = positive((s64)tail.in_ns - pair.in_ns + entry);
		cal->miss_ns[lang][i] = positive((s64)around - turn + exit_shift(c, cal, lang, i));
	}
	return 0;
}

int calib__run(struct calib *c, u32 batches, struct hb_cal *cal, struct calib_result *out, u32 max,
	       u32 *nr_out)
{
	*nr_out = 0;
	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		bool any = false;
		int err;

		for (u32 e = 0; e < HB_CLASS_NR; e++) {
			u64 in_sum = 0, in_nr = 0;

			for (u32 x = 0; x < HB_CLASS_NR; x++) {
				struct calib_result r;

				if (!c->used[lang][e][x])
					continue;
				err = measure_pair(c, lang, e, x, batches, &r);
				if (err)
					return err;
				cal->total_ns[lang][e][x] = r.total_ns;
				in_sum += r.in_ns;
				in_nr++;
				if (*nr_out < max)
					out[(*nr_out)++] = r;
			}
			if (in_nr)
				cal->in_ns[lang][e] = in_sum / in_nr;
			any = any || in_nr;
		}
		err = any ? measure_inside(c, lang, batches, cal) : 0;
		if (err)
			return err;
	}
	return 0;
}
