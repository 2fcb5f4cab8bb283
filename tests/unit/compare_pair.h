/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_pair.h - two recordings of one program, side by side: what the tests of comparing and merging
 * change one thing in. Include after cmocka.h.
 */
#ifndef HBPROF_TEST_COMPARE_PAIR_H
#define HBPROF_TEST_COMPARE_PAIR_H

#include "report/compare.h"
#include "tests/unit/compare_sim.h"

static const struct sim_model pair_model = {"", 8000, 0.4, 0, 0, 0, 0, 0};
static const struct compare_opts pair_plain = {.fail_over = -1};

static inline void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g is not %.9g", got, want);
}

struct pair {
	struct recording *r[2];
	struct compare_run run[2];
	struct compare_side side[2];
	struct compare c;
	bool built;
};

static inline void pair__init(struct pair *p, u32 rows, u32 intervals, u64 calls)
{
	struct sim_rng rng = {99 + calls};

	*p = (struct pair){0};
	for (u32 k = 0; k < 2; k++) {
		p->r[k] = sim_new(rows, intervals);
		p->r[k]->begin_wall_ns += k * 1000000000000ULL;
		for (u32 i = 0; i < rows; i++)
			sim_fill(&rng, p->r[k], i, &pair_model, calls);
	}
}

static inline void pair__build(struct pair *p, const struct compare_opts *o)
{
	for (u32 k = 0; k < 2; k++) {
		p->run[k] = (struct compare_run){p->r[k], k ? "b.hbp" : "a.hbp"};
		p->side[k] = (struct compare_side){k ? "B" : "A", &p->run[k], 1};
	}
	assert_int_equal(compare__build(&p->c, p->side, 2, o), 0);
	p->built = true;
}

static inline void pair__fini(struct pair *p)
{
	if (p->built)
		compare__fini(&p->c);
	recording__free(p->r[0]);
	recording__free(p->r[1]);
}

static inline const struct compare_cell *cell(const struct pair *p, const char *metric)
{
	for (u32 m = 0; m < p->c.nr_metrics; m++)
		if (!strcmp(p->c.metric[m]->name, metric))
			return compare_cell(&p->c, &p->c.row[0], m, 1);
	fail_msg("no metric %s", metric);
	return NULL;
}

static inline bool warned(const struct pair *p, const char *what)
{
	for (u32 i = 0; i < p->c.nr_warnings; i++)
		if (strstr(p->c.warning[i], what))
			return true;
	return false;
}

#endif
