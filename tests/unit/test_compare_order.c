// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_compare_order.c - sides in the order of a fact of their captures (report/compare_order.c). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "tests/unit/compare_pair.h"

#define SIDES 4

/* Sides of one run, a fact of each. */
struct many {
	struct recording *r[SIDES];
	struct compare_run run[SIDES];
	struct compare_side side[SIDES];
	struct compare_axis axis;
	char why[256];
};

static const char *const names[SIDES] = {"a", "b", "c", "d"};

static void many__init(struct many *m, const char *key, const char *const *value)
{
	struct sim_rng rng = {7};

	*m = (struct many){0};
	for (u32 i = 0; i < SIDES; i++) {
		m->r[i] = sim_new(1, 10);
		sim_fill(&rng, m->r[i], 0, &pair_model, 1000);
		if (key)
			m_host__add(&m->r[i]->host, key, value[i]);
		m->run[i] = (struct compare_run){m->r[i], names[i]};
		m->side[i] = (struct compare_side){names[i], &m->run[i], 1};
	}
}

static void many__fini(struct many *m)
{
	for (u32 i = 0; i < SIDES; i++)
		recording__free(m->r[i]);
}

static int order(struct many *m, const char *fact)
{
	return compare_sides__order(m->side, SIDES, fact, &m->axis, m->why, sizeof(m->why));
}

static void assert_order(const struct many *m, const char *want)
{
	char got[SIDES + 1] = "";

	for (u32 i = 0; i < SIDES; i++)
		got[i] = m->side[i].label[0];
	assert_string_equal(got, want);
}

static void test_numbers_are_ordered_as_numbers(void **state)
{
	static const char *const procs[] = {"16", "2", "64", "1"};
	struct many m;

	many__init(&m, "run_gomaxprocs", procs);
	assert_int_equal(order(&m, "gomaxprocs"), 0);
	assert_order(&m, "dbac");
	assert_true(m.axis.numeric && m.axis.log && m.axis.moves);
	assert_true(m.axis.at[0] == 1 && m.axis.at[3] == 64);
	assert_string_equal(m.axis.text[2], "16");
	many__fini(&m);
}

static void test_versions_are_ordered_as_versions(void **state)
{
	static const char *const go[] = {"go1.9.7", "go1.26.8", "go1.22.12", "go1.22.9"};
	struct many m;

	many__init(&m, NULL, NULL);
	for (u32 i = 0; i < SIDES; i++) {
		free(m.r[i]->target[0].language);
		m.r[i]->target[0].language = strdup(go[i]);
	}
	assert_int_equal(order(&m, "go"), 0);
	assert_order(&m, "adcb");
	assert_false(m.axis.numeric);
	many__fini(&m);
}

static void test_units_count_and_other_units_make_no_axis(void **state)
{
	static const char *const memory[] = {"1.5GB", "512MB", "16GB", "900MB"};
	static const char *const quota[] = {"1.50 CPUs", "4 CPUs", "2 CPUs", "none"};
	static const char *const kernel[] = {"6.1.0-50", "6.12.3", "5.15.0", "6.1.0-9"};
	struct many m;

	many__init(&m, "memory", memory);
	assert_int_equal(order(&m, "memory"), 0);
	assert_order(&m, "bdac");
	assert_true(m.axis.numeric && m.axis.at[0] == 512 << 20);
	many__fini(&m);
	many__init(&m, "run_cpu_quota", quota);
	assert_int_equal(order(&m, "quota"), 0);
	assert_false(m.axis.numeric);
	assert_order(&m, "acbd");
	many__fini(&m);
	many__init(&m, "release", kernel);
	assert_int_equal(order(&m, "release"), 0);
	assert_false(m.axis.numeric);
	assert_order(&m, "cdab");
	many__fini(&m);
}

static void test_payload_and_rate_are_of_the_calls(void **state)
{
	static const u8 class[] = {13, 9, 15, 11};
	struct many m;

	many__init(&m, NULL, NULL);
	for (u32 i = 0; i < SIDES; i++) {
		m.r[i]->row[0].size_class = class[i];
		m.r[i]->row[0].count = 1000 * (SIDES - i);
	}
	assert_int_equal(order(&m, "payload"), 0);
	assert_order(&m, "bdac");
	assert_true(m.axis.numeric && m.axis.log);
	assert_int_equal(order(&m, "calls/s"), 0);
	assert_order(&m, "dcba");
	assert_true(m.axis.numeric && fabs(m.axis.at[3] - 400) < 1e-9);
	many__fini(&m);
}

static void test_the_same_everywhere_keeps_the_order_and_is_told(void **state)
{
	struct many m;

	many__init(&m, NULL, NULL);
	assert_int_equal(order(&m, "cpus"), 0);
	assert_order(&m, "abcd");
	assert_false(m.axis.moves);
	many__fini(&m);
}

static void test_what_is_not_known_or_contradicts_is_refused(void **state)
{
	static const char *const procs[] = {"1", "2", "n/a (stripped)", "4"};
	struct compare_side two;
	struct many m;

	many__init(&m, "run_gomaxprocs", procs);
	assert_int_equal(order(&m, "gomaxprocs"), -ENOENT);
	assert_string_equal(m.why, "c does not tell its gomaxprocs");
	assert_int_equal(order(&m, "no such thing"), -ENOENT);
	two = (struct compare_side){"x", m.run, 2};
	assert_int_equal(compare_sides__order(&two, 1, "gomaxprocs", &m.axis, m.why, sizeof(m.why)),
			 -EINVAL);
	assert_string_equal(m.why, "the captures of x differ in gomaxprocs: 1 and 2");
	many__fini(&m);
}

/* What a picture of numbers is: 16 stands two thirds of the way from 1 to 64. */
static void test_the_picture_has_the_fact_as_its_axis(void **state)
{
	static const char *const procs[] = {"16", "1", "64", "4"};
	struct compare_opts o = {.fail_over = -1};
	struct compare c;
	char *text = NULL;
	struct many m;
	size_t len;
	FILE *f;

	many__init(&m, "run_gomaxprocs", procs);
	assert_int_equal(order(&m, "gomaxprocs"), 0);
	o.axis = &m.axis;
	assert_int_equal(compare__build(&c, m.side, SIDES, &o), 0);
	f = open_memstream(&text, &len);
	assert_int_equal(compare__print(&c, COMPARE_HTML, 0, f), 0);
	fclose(f);
	/* LEFT + 760 * log(16) / log(64) */
	assert_non_null(strstr(text, "<text class=\"tick\" x=\"566.7\" y=\"262\" "
				     "text-anchor=\"middle\">16</text>"));
	assert_non_null(strstr(text, "gomaxprocs (log)</text>"));
	free(text);
	compare__fini(&c);
	many__fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_ordered_as_numbers),
		cmocka_unit_test(test_versions_are_ordered_as_versions),
		cmocka_unit_test(test_units_count_and_other_units_make_no_axis),
		cmocka_unit_test(test_payload_and_rate_are_of_the_calls),
		cmocka_unit_test(test_the_same_everywhere_keeps_the_order_and_is_told),
		cmocka_unit_test(test_what_is_not_known_or_contradicts_is_refused),
		cmocka_unit_test(test_the_picture_has_the_fact_as_its_axis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
