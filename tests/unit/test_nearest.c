// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_nearest.c - edit distance and what counts as a typing mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/nearest.h"

static void test_equal_words_are_at_distance_0(void **state)
{
	assert_int_equal(nearest_distance("", ""), 0);
	assert_int_equal(nearest_distance("report", "report"), 0);
}

static void test_each_kind_of_change_counts_one(void **state)
{
	assert_int_equal(nearest_distance("repor", "report"), 1);
	assert_int_equal(nearest_distance("reportt", "report"), 1);
	assert_int_equal(nearest_distance("repost", "report"), 1);
	assert_int_equal(nearest_distance("erport", "report"), 1);
	assert_int_equal(nearest_distance("", "report"), 6);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
}

static void test_a_word_over_the_limit_is_far_from_everything(void **state)
{
	char fits[NEAREST_MAX + 1], longer[NEAREST_MAX + 2];

	for (size_t i = 0; i <= NEAREST_MAX; i++)
		fits[i] = longer[i] = 'a';
	fits[NEAREST_MAX] = 0;
	longer[NEAREST_MAX + 1] = 0;
	assert_int_equal(nearest_distance(fits, fits), 0);
	assert_int_equal(nearest_distance(longer, longer), NEAREST_MAX + 1);
	assert_int_equal(nearest_distance(fits, longer), NEAREST_MAX + 1);
}

static void test_beginnings_and_slips_match_and_other_words_do_not(void **state)
{
	assert_true(nearest_match("re", "report"));
	assert_true(nearest_match("reprot", "report"));
	assert_true(nearest_match("rceodr", "record"));
	assert_true(nearest_match("hlep", "help"));
	assert_false(nearest_match("r", "report"));
	assert_false(nearest_match("heal", "help"));
	assert_false(nearest_match("compare", "report"));
	assert_false(nearest_match("", "help"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_words_are_at_distance_0),
		cmocka_unit_test(test_each_kind_of_change_counts_one),
		cmocka_unit_test(test_a_word_over_the_limit_is_far_from_everything),
		cmocka_unit_test(test_beginnings_and_slips_match_and_other_words_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
