// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* overlap.c - see overlap.h. */
#include "report/overlap.h"

#include <errno.h>
#include <string.h>

#include "util/array.h"

#define MAX_SPANS 16384 /* each is held against each of another recording */

bool recording_hides_spans(const struct recording *r)
{
	return !r->nr_spans && r->stop_reason && !strcmp(r->stop_reason, "merged");
}

static u32 nr_spans(const struct recording *r)
{
	return r->nr_spans ? r->nr_spans : 1;
}

static struct m_span span_at(const struct recording *r, u32 i)
{
	u64 len = recording_hides_spans(r) ? M_NONE : r->end_mono_ns - r->begin_mono_ns;

	return r->nr_spans ? r->span[i] : (struct m_span){r->begin_wall_ns, len};
}

static bool spans_overlap(struct m_span a, struct m_span b)
{
	if (a.begin_wall_ns == M_NONE || b.begin_wall_ns == M_NONE)
		return false;
	return a.begin_wall_ns <= b.begin_wall_ns ? b.begin_wall_ns - a.begin_wall_ns < a.len_ns
						  : a.begin_wall_ns - b.begin_wall_ns < b.len_ns;
}

static bool share_time(const struct recording *a, const struct recording *b)
{
	for (u32 i = 0; i < nr_spans(a); i++)
		for (u32 k = 0; k < nr_spans(b); k++)
			if (spans_overlap(span_at(a, i), span_at(b, k)))
				return true;
	return false;
}

static bool share_target(const struct recording *a, const struct recording *b)
{
	for (u32 i = 0; i < a->nr_targets; i++)
		for (u32 k = 0; k < b->nr_targets; k++)
			if (a->target[i].pid == b->target[k].pid &&
			    a->target[i].start_time == b->target[k].start_time)
				return true;
	return false;
}

bool recordings_overlap(const struct recording *a, const struct recording *b)
{
	return share_time(a, b) && share_target(a, b);
}

int recordings_spans(struct recording *to, const struct recording *const *r, u32 nr)
{
	size_t all = 0;

	for (u32 i = 0; i < nr; i++) {
		if (recording_hides_spans(r[i]) || r[i]->begin_wall_ns == M_NONE)
			return 0;
		all += nr_spans(r[i]);
	}
	if (all > MAX_SPANS)
		return 0;
	to->span = array_alloc(all, sizeof(*to->span));
	if (!to->span)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++)
		for (u32 k = 0; k < nr_spans(r[i]); k++)
			to->span[to->nr_spans++] = span_at(r[i], k);
	return 0;
}
