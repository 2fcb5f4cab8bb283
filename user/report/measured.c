// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* measured.c - see measured.h. */
#include "report/measured.h"

#include <stdlib.h>

#include "util/array.h"

u64 target_measured_ns(const struct m_target *t)
{
	bool known = t->begin_mono_ns != M_NONE && t->end_mono_ns != M_NONE &&
		     t->end_mono_ns >= t->begin_mono_ns;

	return known ? t->end_mono_ns - t->begin_mono_ns : M_NONE;
}

struct span {
	u64 begin, end;
};

static int cmp_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Of the time on the clock of the recording, whatever overlaps once. */
static u64 covered(struct span *s, u32 nr)
{
	u64 ns = 0, at = 0;

	qsort(s, nr, sizeof(*s), cmp_spans);
	for (u32 i = 0; i < nr; i++) {
		u64 from = s[i].begin > at ? s[i].begin : at;

		if (s[i].end <= from)
			continue;
		ns += s[i].end - from;
		at = s[i].end;
	}
	return ns;
}

/* Processes whose times are not known, as in merged recordings: how they lie to each other is not either. */
static u64 time_together(const struct recording *r, const struct m_row *const *row, u32 nr)
{
	struct span *s = array_alloc(nr, sizeof(*s));
	u64 ns = M_NONE;
	u32 i;

	for (i = 0; s && i < nr; i++) {
		const struct m_target *t = &r->target[row[i]->target];

		if (t->begin_mono_ns == M_NONE || t->end_mono_ns == M_NONE)
			break;
		s[i] = (struct span){t->begin_mono_ns, t->end_mono_ns};
	}
	if (s && i == nr)
		ns = covered(s, nr);
	free(s);
	return ns;
}

u64 rows_measured_ns(const struct recording *r, const struct m_row *const *row, u32 nr)
{
	u64 most = M_NONE, together;
	bool several = false;

	for (u32 i = 0; i < nr; i++) {
		if (row[i]->measured_ns != M_NONE && (most == M_NONE || row[i]->measured_ns > most))
			most = row[i]->measured_ns;
		several |= row[i]->target != row[0]->target;
	}
	/* All of the time is all of it. */
	if (!several || most == M_NONE || most >= r->end_mono_ns - r->begin_mono_ns)
		return most;
	together = time_together(r, row, nr);
	return together != M_NONE && together < most ? most : together;
}
