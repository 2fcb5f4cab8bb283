// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bias.c - calibrations into one figure per class pair; the identity of the counters. */
#include "report/bias.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

/* Where most of its calls ended; before the first has, where most of its sites are. */
static u8 main_exit_class(const struct m_func *f)
{
	u8 best = HB_CLASS_NR;
	u64 most = 0;

	for (u8 c = 0; c < HB_CLASS_NR; c++) {
		u64 n = f->n[HB_FN_EXITS] ? f->exits_by[c] : f->exit_sites[c];

		if (n > most) {
			most = n;
			best = c;
		}
	}
	return best;
}

/* Over the calibrations of this language and entry class; those of another exit class tell what is
 * inside the interval as well, as that depends on the entry alone. */
static void calibrate(struct bias *b, const struct recording *r, bool any_exit)
{
	u32 least = ~0u, most = 0, spread = 0;

	for (u32 i = 0; i < r->nr_cals; i++) {
		const struct m_cal *c = &r->cal[i];

		if (c->lang != b->lang || c->entry_class != b->entry ||
		    (!any_exit && c->exit_class != b->exit))
			continue;
		b->nr_cals++;
		b->in_ns = c->in_ns;
		b->total_ns = c->total_ns;
		least = c->in_ns < least ? c->in_ns : least;
		most = c->in_ns > most ? c->in_ns : most;
		spread = c->spread_in_ns > spread ? c->spread_in_ns : spread;
	}
	if (!b->nr_cals)
		return;
	b->calibrated = true;
	b->pair = !any_exit;
	b->uncertainty_ns = (most - least) / 2 + (most - least) % 2;
	if (spread > b->uncertainty_ns)
		b->uncertainty_ns = spread;
}

static void bias__init(struct bias *b, const struct recording *r, const struct m_func *f)
{
	*b = (struct bias){.lang = f->lang, .entry = f->entry_class, .exit = main_exit_class(f)};
	calibrate(b, r, false);
	if (!b->calibrated)
		calibrate(b, r, true);
}

u64 bias_resolution_ns(const struct bias *b)
{
	u64 twice = 2 * (u64)b->uncertainty_ns;

	if (!b->calibrated)
		return 0;
	return twice > b->in_ns ? twice : b->in_ns;
}

u64 group_resolution_ns(const struct group *g, const struct bias *b)
{
	u64 own = b ? bias_resolution_ns(b) : 0;
	double inside;

	if (!b || !b->calibrated || !g->calls)
		return own;
	inside = ((double)g->raw_sum_ns - (double)g->inc.sum_ns) / (double)g->calls - b->in_ns;
	return inside > 10.0 * (double)own ? (u64)(inside / 10) : own;
}

static int cmp_bias(const void *pa, const void *pb)
{
	const struct bias *a = pa, *b = pb;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->lang != b->lang)
		return a->lang - b->lang;
	return a->entry != b->entry ? a->entry - b->entry : a->exit - b->exit;
}

const struct bias *bias_find(const struct bias *v, u32 nr, const struct m_func *f)
{
	u8 exit = main_exit_class(f);

	for (u32 i = 0; i < nr; i++)
		if (v[i].lang == f->lang && v[i].entry == f->entry_class && v[i].exit == exit)
			return &v[i];
	return NULL;
}

int bias_list(const struct recording *r, const struct groups *g, struct bias **out, u32 *nr)
{
	/* There are only so many pairs, whatever the number of functions. */
	struct bias *v = array_alloc(HB_LANG_NR * HB_CLASS_NR * (HB_CLASS_NR + 1), sizeof(*v)), *b;
	u32 n = 0;

	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < r->nr_funcs; i++)
		if (!bias_find(v, n, &r->func[i]))
			bias__init(&v[n++], r, &r->func[i]);
	for (u32 i = 0; i < g->nr; i++) {
		if (!g->v[i].func)
			continue;
		b = (struct bias *)bias_find(v, n, g->v[i].func);
		if (__builtin_add_overflow(b->calls, g->v[i].calls, &b->calls))
			b->calls = ~0ULL;
	}
	qsort(v, n, sizeof(*v), cmp_bias);
	*nr = n;
	*out = v;
	return 0;
}

void balance__of(struct balance *b, const u64 n[HB_FN_NR], u64 in_flight_end)
{
	__int128 missing;

	*b = (struct balance){.known = in_flight_end != M_NONE};
	missing = (__int128)n[HB_FN_ENTRIES] - n[HB_FN_EXITS] - n[HB_FN_ABANDONED] -
		  n[HB_FN_UNKNOWN] - n[HB_FN_DROPPED];
	if (b->known)
		missing -= in_flight_end;
	b->missing = missing > INT64_MAX   ? INT64_MAX
		     : missing < INT64_MIN ? INT64_MIN
					   : (s64)missing;
	b->holds = b->known && !missing;
	if (__builtin_add_overflow(n[HB_FN_UNKNOWN], n[HB_FN_DROPPED], &b->lost))
		b->lost = ~0ULL;
}
