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

#include "report/compare.h"
#include "tests/unit/compare_sim.h"

static const struct sim_model model = {"", 8000, 0.4, 0, 0, 0, 0, 0};
static const struct compare_opts plain = {.fail_over = -1};

struct pair {
	struct recording *r[2];
	struct compare_run run[2];
	struct compare_side side[2];
	struct compare c;
};

static void pair__init(struct pair *p)
{
	struct sim_rng rng = {99};

	for (u32 k = 0; k < 2; k++) {
		p->r[k] = sim_new(1, 30);
		p->r[k]->begin_wall_ns += k;
		sim_fill(&rng, p->r[k], 0, &model, 5000);
	}
}

static void pair__build(struct pair *p)
{
	for (u32 k = 0; k < 2; k++) {
		p->run[k] = (struct compare_run){p->r[k], k ? "b.hbp" : "a.hbp"};
		p->side[k] = (struct compare_side){k ? "B" : "A", &p->run[k], 1};
	}
	assert_int_equal(compare__build(&p->c, p->side, 2, &plain), 0);
}

static void pair__fini(struct pair *p)
{
	compare__fini(&p->c);
	recording__free(p->r[0]);
	recording__free(p->r[1]);
}

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

	pair__init(&p);
	set(&p.r[0]->func[0].name, "simdjson::haswell::dom_parser_implementation::parse");
	set(&p.r[1]->func[0].name, "simdjson::fallback::dom_parser_implementation::parse");
	pair__build(&p);
	assert_warns(&p, "simdjson::haswell::dom_parser_implementation::parse in A and "
			 "simdjson::fallback::dom_parser_implementation::parse in B: two "
			 "implementations, not one row");
	pair__fini(&p);
}

/* As sonic's fallback to encoding/json, and encoding/json on top of its second version. */
static void test_a_codec_that_calls_another_one_on_one_side_only_is_told(void **state)
{
	struct m_dist empty;
	struct m_row *row;
	struct pair p;

	pair__init(&p);
	row = &p.r[1]->row[0];
	m_dist__init(&empty);
	row->dist[HB_DIST_OUTER] = row->dist[HB_DIST_LEAF];
	row->dist[HB_DIST_LEAF] = empty;
	pair__build(&p);
	assert_warns(&p, "Marshal000: 0% of its calls in A and 100% in B contain calls of other "
			 "measured functions: another implementation under the same name");
	pair__fini(&p);
}

static void test_another_version_of_a_library_is_told(void **state)
{
	struct pair p;

	pair__init(&p);
	set(&p.r[0]->func[0].library_version, "v1.12.1");
	set(&p.r[1]->func[0].library_version, "v1.13.0");
	pair__build(&p);
	assert_warns(&p, "v1.12.1 in A, v1.13.0 in B: other code under the same name");
	pair__fini(&p);
}

static void test_other_lists_of_codecs_and_other_releases_are_told(void **state)
{
	struct pair p;

	pair__init(&p);
	set(&p.r[0]->codecs, "00000000000000aa");
	set(&p.r[1]->codecs, "00000000000000bb");
	set(&p.r[1]->version, "0.2.0");
	pair__build(&p);
	assert_warns(&p, "A and B looked for other lists of codecs (00000000000000aa, "
			 "00000000000000bb;");
	assert_warns(&p, "hbprof: A by 0.1.0, B by 0.2.0");
	pair__fini(&p);
}

static void test_the_same_implementation_and_list_need_no_warning(void **state)
{
	struct pair p;

	pair__init(&p);
	set(&p.r[0]->codecs, "00000000000000aa");
	set(&p.r[1]->codecs, "00000000000000aa");
	pair__build(&p);
	assert_int_equal(p.c.nr_warnings, 0);
	pair__fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_kernels_of_simdjson_are_two_implementations),
		cmocka_unit_test(test_a_codec_that_calls_another_one_on_one_side_only_is_told),
		cmocka_unit_test(test_another_version_of_a_library_is_told),
		cmocka_unit_test(test_other_lists_of_codecs_and_other_releases_are_told),
		cmocka_unit_test(test_the_same_implementation_and_list_need_no_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
