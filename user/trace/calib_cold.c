// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calib_cold.c - what a pair of probes costs where it is not hot: calls of the calibration's own in colder and
 * colder caches, and the curve of struct hb_cold through them. The kernel's way to the handler and back is as
 * cold as the handler's own look-ups are, whose time is measured at each hit: so a curve of the one by the
 * other, and no assumption of what the target does between its calls.
 *
 * What no calibration knows stays: what the trap takes from the caches of the code around it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/calib.h"

#define WARM	 16	    /* calls before one that is to be hot */
#define BASE	 5	    /* unprobed calls of a level */
#define SAMPLES	 32	    /* of a level, at most */
#define COLD_MAX 50000	    /* ns; a frame keeps 16 bits */
#define OTHER	 (1U << 20) /* bytes of other work, as much as a core's second cache may have */
#define LINE	 64

/*
 * us of sleep before a call; Linux makes it some 50 more. The first two levels do not sleep: hot calls, and
 * those after work on other memory, as in a server that has always something to do. While a CPU sleeps, others
 * and the hypervisor take its caches.
 */
static const u32 sleep_us[CALIB_LEVELS] = {0, 0, 20, 200, 1000};
#define LEVEL_WORK 1

static void make_ready(u32 lang, bool step, u32 level, volatile char *other)
{
	if (sleep_us[level]) {
		usleep(sleep_us[level]);
		return;
	}
	calib_call(lang, step, WARM);
	for (u32 i = 0; level == LEVEL_WORK && other && i < OTHER; i += LINE)
		other[i]++;
}

/* NULL: without it. It is there only meanwhile: resident memory is counted. */
static volatile char *other_memory(void)
{
	void *p = mmap(NULL, OTHER, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void other_free(volatile char *p)
{
	if (p)
		munmap((void *)p, OTHER);
}

static int cmp_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static int cmp_seen(const void *a, const void *b)
{
	const struct calib_cold *x = a, *y = b;

	return cmp_u32(&x->seen_ns, &y->seen_ns);
}

void calib__cold_baseline(struct calib *c)
{
	volatile char *other = other_memory();

	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		for (u32 level = 0; level < CALIB_LEVELS && calib_lang_used(c, lang); level++) {
			u32 v[BASE];

			for (u32 i = 0; i < BASE; i++) {
				make_ready(lang, false, level, other);
				v[i] = calib_call(lang, false, 1);
			}
			qsort(v, BASE, sizeof(*v), cmp_u32);
			c->cold_base_ns[lang][level] = v[BASE / 2];
		}
	}
	other_free(other);
}

static u32 less(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

static void sample(struct calib *c, u32 lang, bool step, u32 level, volatile char *other,
		   struct calib_cold *v, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		u64 ns;

		make_ready(lang, step, level, other);
		ns = calib_call(lang, step, 1);
		v[i].seen_ns = c->seen->seen_ns;
		v[i].in_ns = c->seen->raw_ns;
		v[i].total_ns = less(ns < 2 * COLD_MAX ? ns : 2 * COLD_MAX,
				     c->cold_base_ns[lang][level]);
	}
}

/* ---- curves --------------------------------------------------------------------------------- */

/* The median of each value by itself: a call during which this thread was preempted does not count. */
static struct calib_cold middle(const struct calib_cold *v, u32 nr)
{
	u32 x[3][CALIB_LEVELS * SAMPLES];

	for (u32 i = 0; i < nr; i++) {
		x[0][i] = v[i].seen_ns;
		x[1][i] = v[i].in_ns;
		x[2][i] = v[i].total_ns;
	}
	for (u32 k = 0; k < 3; k++)
		qsort(x[k], nr, sizeof(x[k][0]), cmp_u32);
	return (struct calib_cold){x[0][nr / 2], x[1][nr / 2], x[2][nr / 2]};
}

/*
 * Points of rising look-ups and what calls took more than hot ones; [0] is the hot one. The cold calls, however
 * they came about, are cut into equal parts. Their number: what tells nothing new is left out.
 */
static u32 points(struct calib_calls *c, struct calib_cold out[HB_COLD_KNOTS])
{
	u32 n = 1, part = c->nr_cold / (HB_COLD_KNOTS - 1);
	struct calib_cold hot, m;

	if (!c->nr_hot || !part)
		return 0;
	qsort(c->cold, c->nr_cold, sizeof(*c->cold), cmp_seen);
	hot = middle(c->hot, c->nr_hot);
	/* Up to an eighth more all are hot: in loops nothing changes. */
	out[0] = (struct calib_cold){hot.seen_ns + hot.seen_ns / 8, 0, 0};
	for (u32 i = 0; i < HB_COLD_KNOTS - 1; i++) {
		u32 in, total;

		m = middle(c->cold + i * part, part);
		if (m.seen_ns <= out[n - 1].seen_ns)
			continue;
		in = less(m.in_ns, hot.in_ns);
		total = less(m.total_ns, hot.total_ns);
		out[n].seen_ns = m.seen_ns;
		out[n].in_ns = in > out[n - 1].in_ns ? in : out[n - 1].in_ns;
		out[n].total_ns = total > out[n - 1].total_ns ? total : out[n - 1].total_ns;
		n++;
	}
	return n;
}

/* total_ns of a curve at seen_ns. */
static u32 total_at(const struct calib_cold *p, u32 nr, u32 seen_ns)
{
	u32 i = 0;

	while (i < nr && p[i].seen_ns <= seen_ns)
		i++;
	if (!i || i == nr)
		return i ? p[nr - 1].total_ns : 0;
	return p[i - 1].total_ns + (u64)(p[i].total_ns - p[i - 1].total_ns) *
					   (seen_ns - p[i - 1].seen_ns) /
					   (p[i].seen_ns - p[i - 1].seen_ns);
}

static u32 slope(u32 from, u32 to, u32 over)
{
	return (u32)(((u64)(to - from) << 10) / over);
}

static u32 bounded(u32 ns)
{
	return ns < COLD_MAX ? ns : COLD_MAX;
}

void calib_curve(struct calib_calls *branch, struct calib_calls *step,
		 struct hb_cold out[HB_COLD_KNOTS])
{
	struct calib_cold p[HB_COLD_KNOTS], q[HB_COLD_KNOTS];
	u32 n = points(branch, p), nr_q = step ? points(step, q) : 0;

	memset(out, 0, HB_COLD_KNOTS * sizeof(*out));
	for (u32 i = 0; i < HB_COLD_KNOTS && n; i++) {
		struct hb_cold *k = &out[i];

		k->seen_ns = ~0u;
		if (i >= n)
			continue;
		k->seen_ns = p[i].seen_ns;
		k->at.in_ns = bounded(p[i].in_ns);
		k->at.total_ns = bounded(p[i].total_ns);
		k->at.step_ns = nr_q ? bounded(total_at(q, nr_q, p[i].seen_ns)) : k->at.total_ns;
	}
	for (u32 i = 1; i < n; i++) {
		const struct hb_cold *to = &out[i];
		struct hb_cold *k = &out[i - 1];
		u32 over = to->seen_ns - k->seen_ns;

		k->slope.in_ns = slope(k->at.in_ns, to->at.in_ns, over);
		k->slope.total_ns = slope(k->at.total_ns, to->at.total_ns, over);
		k->slope.step_ns = slope(k->at.step_ns, to->at.step_ns, over);
	}
}

/* ---- of a session --------------------------------------------------------------------------- */

static bool steps(const struct calib *c, u32 lang)
{
	for (u32 e = 0; e < HB_CLASS_NR; e++)
		if (c->used[lang][e][HB_CLASS_STEP])
			return true;
	return false;
}

/* All levels; v has room for them. */
static void sample_all(struct calib *c, u32 lang, bool step, u32 nr, volatile char *other,
		       struct calib_cold *v, struct calib_calls *out)
{
	for (u32 level = 0; level < CALIB_LEVELS; level++)
		sample(c, lang, step, level, other, v + level * nr, nr);
	*out = (struct calib_calls){
		.hot = v, .nr_hot = nr, .cold = v + nr, .nr_cold = (CALIB_LEVELS - 1) * nr};
}

void calib__cold(struct calib *c, u32 calls, struct hb_cal *cal)
{
	struct calib_cold v[2][CALIB_LEVELS * SAMPLES];
	struct calib_calls branch, step;
	u32 nr = calls < SAMPLES ? calls : SAMPLES;
	volatile char *other = other_memory();

	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		bool too = steps(c, lang);

		if (!calib_lang_used(c, lang))
			continue;
		sample_all(c, lang, false, nr, other, v[0], &branch);
		if (too)
			sample_all(c, lang, true, nr, other, v[1], &step);
		calib_curve(&branch, too ? &step : NULL, cal->cold[lang]);
	}
	other_free(other);
}
