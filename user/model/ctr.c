// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ctr.c - the counters of a recording: names, sums, and one list out of two. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

const char *const hb_ctr_lost_names[HB_CTR_LOST_NR] = {
	[HB_CTR_LOST_ROOM] = "no_room",
	[HB_CTR_LOST_THREAD] = "other_thread",
	[HB_CTR_LOST_UNVETTED] = "unknown_go_version",
	[HB_CTR_LOST_GOROUTINE] = "goroutine_switch",
	[HB_CTR_LOST_SWITCH] = "context_switch",
	[HB_CTR_LOST_LAG] = "multiplexed",
	[HB_CTR_LOST_READ] = "unreadable",
	[HB_CTR_LOST_ABSURD] = "absurd",
};

static u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

void m_ctr__init(struct m_ctr *c)
{
	*c = (struct m_ctr){.min = M_NONE};
}

void m_counters__fini(struct m_counters *c)
{
	for (u32 i = 0; i < HB_CTRS; i++) {
		free(c->v[i].name);
		free(c->v[i].lack);
	}
	*c = (struct m_counters){0};
}

int m_counters__find(const struct m_counters *c, const char *name)
{
	for (u32 i = 0; i < c->nr; i++)
		if (!c->v[i].lack && c->v[i].name && !strcmp(c->v[i].name, name))
			return (int)i;
	return -1;
}

void m_ctr__merge(struct m_ctr *dst, const struct m_ctr *src)
{
	dst->calls = add_saturating(dst->calls, src->calls);
	dst->sum = add_saturating(dst->sum, src->sum);
	if (src->min < dst->min)
		dst->min = src->min;
	if (src->max > dst->max)
		dst->max = src->max;
}

static int counter__copy(struct m_counter *to, const struct m_counter *from)
{
	*to = (struct m_counter){.bias = from->bias};
	to->name = strdup(from->name);
	to->lack = from->lack ? strdup(from->lack) : NULL;
	if (to->name && (to->lack || !from->lack))
		return 0;
	free(to->name);
	free(to->lack);
	*to = (struct m_counter){0};
	return -ENOMEM;
}

/* One that was counted at one time and not at another was counted. */
static void counter__join(struct m_counter *to, const struct m_counter *from)
{
	if (!from->lack) {
		free(to->lack);
		to->lack = NULL;
	}
	if (to->bias == M_NONE || (from->bias != M_NONE && from->bias > to->bias))
		to->bias = from->bias;
}

int m_counters__join(struct m_counters *to, const struct m_counters *from, int at[HB_CTRS])
{
	for (u32 i = 0; i < from->nr; i++) {
		u32 k = 0;

		while (k < to->nr && strcmp(to->v[k].name, from->v[i].name))
			k++;
		at[i] = k < HB_CTRS ? (int)k : -1;
		if (k == to->nr && k < HB_CTRS) {
			if (counter__copy(&to->v[k], &from->v[i]))
				return -ENOMEM;
			to->nr++;
		} else if (k < to->nr) {
			counter__join(&to->v[k], &from->v[i]);
		}
	}
	for (u32 i = 0; i < HB_CTR_LOST_NR; i++)
		to->lost[i] = add_saturating(to->lost[i], from->lost[i]);
	return 0;
}

int m_counters__copy(struct m_counters *to, const struct m_counters *from)
{
	int at[HB_CTRS], err;

	*to = (struct m_counters){0};
	err = m_counters__join(to, from, at);
	if (err)
		m_counters__fini(to);
	return err;
}
