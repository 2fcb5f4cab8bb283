// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_compare_warn.c - is another implementation under one codec's name told? By function names, by
 * versions, by the calls inside, and by which codecs were looked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/compare_pair.h"

static void set(char **to, const char *s)
{
	free(*to);
	*to = strdup(s);
	assert_non_null(*to);
}

static void assert_warns(const struct pair *p, const char *what)
{
	for (u32 i = 0; i < p->c.nr_warnings; i++)
		if (strstr(p->c.warning[i], what))
			return;
	fail_msg("no warning says \"%s\"", what);
}

static void test_two_kernels_of_simdjson_are_two_implementations(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	set(&p.r[0]->func[0].name, "simdjson::haswell::dom_parser_implementation::parse");
	set(&p.r[1]->func[0].name, "simdjson::fallback::dom_parser_implementation::parse");
	pair__build(&p, &pair_plain);
	assert_warns(&p, "simdjson::haswell::dom_parser_implementation::parse in A and "
			 "simdjson::fallback::dom_parser_implementation::parse in B: two "
			 "implementations, not one row");
	pair__fini(&p);
}

/* All calls of the row have others inside, which take that share of their time. */
static void put_inside(struct m_row *row, double share)
{
	struct m_dist *leaf = &row->dist[HB_DIST_LEAF], *exc = &row->dist[HB_DIST_OUTER_EXC];

	row->dist[HB_DIST_OUTER] = *leaf;
	m_dist__init(leaf);
	exc->count = row->count;
	exc->sum_ns = (u64)((1 - share) * (double)row->dist[HB_DIST_OUTER].sum_ns);
}

/* As sonic's fallback to encoding/json, and encoding/json on top of its second version. */
static void test_a_codec_that_calls_another_one_on_one_side_only_is_told(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	put_inside(&p.r[1]->row[0], 0.67);
	pair__build(&p, &pair_plain);
	assert_warns(&p, "Marshal000: 0% of its time in A and 67% in B is in calls of other "
			 "measured functions: another implementation under the same name");
	pair__fini(&p);
}

/* As sonic's JIT: all of its calls have calls inside, and in the fallback, too. */
static void test_entries_of_the_same_codec_inside_do_not_hide_another_one(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	put_inside(&p.r[0]->row[0], 0);
	put_inside(&p.r[1]->row[0], 0.67);
	pair__build(&p, &pair_plain);
	assert_warns(&p, "Marshal000: 0% of its time in A and 67% in B is in calls");
	pair__fini(&p);
	pair__init(&p, 1, 30, 5000);
	put_inside(&p.r[1]->row[0], 0);
	pair__build(&p, &pair_plain);
	assert_int_equal(p.c.nr_warnings, 0);
	pair__fini(&p);
}

static void test_another_version_of_a_library_is_told(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	set(&p.r[0]->func[0].library_version, "v1.12.1");
	set(&p.r[1]->func[0].library_version, "v1.13.0");
	pair__build(&p, &pair_plain);
	assert_warns(&p, "v1.12.1 in A, v1.13.0 in B: other code under the same name");
	pair__fini(&p);
}

static void test_other_lists_of_codecs_and_other_releases_are_told(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	set(&p.r[0]->codecs, "00000000000000aa");
	set(&p.r[1]->codecs, "00000000000000bb");
	set(&p.r[1]->version, "0.2.0");
	pair__build(&p, &pair_plain);
	assert_warns(&p, "A and B looked for other lists of codecs (00000000000000aa, "
			 "00000000000000bb;");
	assert_warns(&p, "hbprof: A by 0.1.0, B by 0.2.0");
	pair__fini(&p);
}

static void test_the_same_implementation_and_list_need_no_warning(void **state)
{
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	set(&p.r[0]->codecs, "00000000000000aa");
	set(&p.r[1]->codecs, "00000000000000aa");
	pair__build(&p, &pair_plain);
	assert_int_equal(p.c.nr_warnings, 0);
	pair__fini(&p);
}

/* Two runs at a side, the second of which may be the first again. */
static void build_twins(struct compare *c, const struct pair *p, bool again)
{
	static struct compare_run run[4];
	static struct compare_side side[2];

	for (u32 k = 0; k < 4; k++)
		run[k] = (struct compare_run){p->r[k / 2], "x.hbp"};
	if (!again) {
		run[1].r = p->r[1];
		run[2].r = p->r[0];
	}
	side[0] = (struct compare_side){"A", run, 2};
	side[1] = (struct compare_side){"B", run + 2, 2};
	assert_int_equal(compare__build(c, side, 2, &pair_plain), 0);
}

static void test_a_recording_given_twice_is_not_two_runs(void **state)
{
	struct compare c;
	struct pair p;

	pair__init(&p, 1, 30, 5000);
	build_twins(&c, &p, true);
	for (u32 m = 0; m < c.nr_metrics; m++)
		assert_int_equal(compare_cell(&c, &c.row[0], m, 1)->verdict, VERDICT_NOT);
	assert_non_null(strstr(compare_cell(&c, &c.row[0], 0, 1)->why, "hold the same calls"));
	compare__fini(&c);
	/* The same calls at both sides are strange, and their ratio is true. */
	build_twins(&c, &p, false);
	assert_null(c.forbid[0]);
	assert_null(c.forbid[1]);
	assert_int_equal(compare_cell(&c, &c.row[0], 0, 1)->verdict, VERDICT_SAME);
	p.c = c;
	assert_warns(&p, "A and B were recorded at the same time, of the same process");
	compare__fini(&c);
	pair__fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_kernels_of_simdjson_are_two_implementations),
		cmocka_unit_test(test_a_codec_that_calls_another_one_on_one_side_only_is_told),
		cmocka_unit_test(test_entries_of_the_same_codec_inside_do_not_hide_another_one),
		cmocka_unit_test(test_another_version_of_a_library_is_told),
		cmocka_unit_test(test_other_lists_of_codecs_and_other_releases_are_told),
		cmocka_unit_test(test_the_same_implementation_and_list_need_no_warning),
		cmocka_unit_test(test_a_recording_given_twice_is_not_two_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
