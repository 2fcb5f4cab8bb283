// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* merged_time.c - see merged_time.h. */
#include "report/merged_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/measured.h"
#include "util/array.h"

/* "Not measured" makes the sum so. */
static int add_time(u64 *to, u64 ns)
{
	if (*to == M_NONE || ns == M_NONE) {
		*to = M_NONE;
		return 0;
	}
	return __builtin_add_overflow(*to, ns, to) || *to > ~0ULL >> 1 ? -EOVERFLOW : 0;
}

/* How long each of the recording's processes was measured in it. All rows of a process have that time;
 * without a row it is the process's own, or the recording's in files that do not tell. */
static void target_times(const struct recording *r, u64 *ns)
{
	for (u32 i = 0; i < r->nr_targets; i++) {
		const struct m_target *t = &r->target[i];

		ns[i] = target_measured_ns(t);
		if (ns[i] == M_NONE)
			ns[i] = t->end ? 0 : r->coverage.measured_ns;
	}
	for (u32 i = 0; i < r->nr_rows; i++)
		if (!r->row[i].overflow)
			ns[r->row[i].target] = r->row[i].measured_ns;
}

struct seen {
	u64 *ns;     /* of the recording's processes */
	u64 *target; /* of the merged ones, in this recording; 0: it is not there */
	bool *func;  /* of the merged functions: it is there */
};

/* What one recording adds: to all rows of functions and processes that it has, with calls or without. A rate is
 * over the time without calls as well. */
static int add_measured(struct recording *to, const struct recording *r, const u32 *target,
			const u32 *func, struct seen *s)
{
	int err = 0;

	memset(s->target, 0, to->nr_targets * sizeof(*s->target));
	memset(s->func, 0, to->nr_funcs * sizeof(*s->func));
	target_times(r, s->ns);
	for (u32 i = 0; i < r->nr_targets; i++)
		err = add_time(&s->target[target[i]], s->ns[i]) ? -EOVERFLOW : err;
	for (u32 i = 0; i < r->nr_funcs; i++)
		s->func[func[i]] = true;
	for (u32 i = 0; i < to->nr_rows; i++) {
		struct m_row *row = &to->row[i];
		u64 ns = row->overflow	      ? r->coverage.measured_ns
			 : s->func[row->func] ? s->target[row->target]
					      : 0;

		err = add_time(&row->measured_ns, ns) ? -EOVERFLOW : err;
	}
	return err;
}

int merged_measured(struct recording *to, const struct recording *const *r, u32 nr,
		    const u32 *target, const u32 *func)
{
	struct seen s = {0};
	u32 most = 0;
	int err = 0;

	for (u32 i = 0; i < nr; i++)
		most = r[i]->nr_targets > most ? r[i]->nr_targets : most;
	s.ns = array_alloc(most, sizeof(*s.ns));
	s.target = array_alloc(to->nr_targets, sizeof(*s.target));
	s.func = array_alloc(to->nr_funcs, sizeof(*s.func));
	if (!s.ns || !s.target || !s.func)
		err = -ENOMEM;
	for (u32 i = 0; !err && i < nr; i++) {
		err = add_measured(to, r[i], target, func, &s);
		target += r[i]->nr_targets;
		func += r[i]->nr_funcs;
	}
	free(s.ns);
	free(s.target);
	free(s.func);
	return err;
}
