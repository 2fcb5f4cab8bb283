// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_counter.c - counters of calls as metrics: the mean of one over the calls that have it, and the
 * quotient of two such means. How much they vary is told by the intervals, as for the mean latency;
 * what a variance means is in compare_stat.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "util/array.h"

#define LEAST_SHARE \
	0.5 /* of the calls that must have a counter: the others are longer ones, often */

/* Its place in the recording's list; -1: it was not counted there. */
static int place(const struct sample *s, const char *name)
{
	return s->counters && name ? m_counters__find(s->counters, name) : -1;
}

static double blocks_calls(const struct sample *s, int ctr)
{
	double n = 0;

	for (u32 i = 0; i < s->nr_blocks; i++)
		n += (double)s->ctr_block[i * s->counters->nr + (u32)ctr].calls;
	return n;
}

/* Do the intervals hold what the rows do? */
static bool complete(const struct sample *s, int ctr)
{
	double all = (double)s->ctr[ctr].calls;

	return s->ctr_block && fabs(blocks_calls(s, ctr) - all) <= 0.001 * all;
}

/* Sums over the blocks of one counter, and what they are divided by: the calls, or the other's sums as
 * if as many calls had it. */
static int ratio(const struct sample *s, int over, int under, struct estimate *e)
{
	double *y = array_alloc(s->nr_blocks, sizeof(*y)), *x, scale = 1;
	int err = -ENOMEM;

	x = array_alloc(s->nr_blocks, sizeof(*x));
	if (!y || !x)
		goto out;
	if (under >= 0)
		scale = (double)s->ctr[over].calls / (double)s->ctr[under].calls;
	for (u32 i = 0; i < s->nr_blocks; i++) {
		const struct sample_ctr *b = &s->ctr_block[i * s->counters->nr];

		y[i] = (double)b[over].sum;
		x[i] = under >= 0 ? scale * (double)b[under].sum : (double)b[over].calls;
	}
	err = sample_ratio_error(s, y, x, 0, e);
out:
	free(y);
	free(x);
	return err;
}

static double mean(const struct m_ctr *c)
{
	return c->calls ? (double)c->sum / (double)c->calls : NAN;
}

int sample_counter(const struct sample *s, const struct metric *m, struct estimate *e)
{
	int over = place(s, m->over), under = m->under ? place(s, m->under) : -1;

	*e = (struct estimate){.value = NAN, .deff = NAN, .rel_se = NAN, .df = NAN};
	if (over < 0 || (m->under && under < 0))
		return 0;
	e->value = mean(&s->ctr[over]);
	if (m->under)
		e->value *= m->scale / mean(&s->ctr[under]);
	if (!isfinite(e->value)) {
		e->value = NAN;
		return 0;
	}
	e->few = !sample_can_vary(s) || !complete(s, over) || (under >= 0 && !complete(s, under));
	return e->few ? 0 : ratio(s, over, under, e);
}

static double share_of(const struct sample *s, int ctr)
{
	return ctr < 0 || !s->count ? NAN : (double)s->ctr[ctr].calls / (double)s->count;
}

double sample_counter_share(const struct sample *s, const struct metric *m)
{
	double over = share_of(s, place(s, m->over)), under;

	if (!m->under)
		return over;
	under = share_of(s, place(s, m->under));
	return isnan(over) || isnan(under) ? NAN : fmin(over, under);
}

/* Of one counter. */
static bool counter_allowed(const struct sample *s, const char *name, const char *label, char *why,
			    size_t len)
{
	int at = place(s, name);
	double share;

	if (at < 0) {
		const char *lack = "it was not asked for";

		for (u32 i = 0; s->counters && i < s->counters->nr; i++)
			if (!strcmp(s->counters->v[i].name, name) && s->counters->v[i].lack)
				lack = s->counters->v[i].lack;
		snprintf(why, len, "%s of %s: n/a (%s)", name, label, lack);
		return false;
	}
	share = share_of(s, at);
	if (share >= LEAST_SHARE)
		return true;
	snprintf(why, len, "%s of %s are known of %.1f%% of the calls only", name, label,
		 share * 100);
	return false;
}

bool sample_counter_allowed(const struct sample *s, const struct metric *m, const char *label,
			    char *why, size_t len)
{
	return counter_allowed(s, m->over, label, why, len) &&
	       (!m->under || counter_allowed(s, m->under, label, why, len));
}
