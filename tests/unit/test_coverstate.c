/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_coverstate.c - when a function's probes are taken off, put back, and left for good. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/coverstate.c"

static struct cover_func c;
static struct cover_seen seen;

static int fresh(void **state)
{
	c = (struct cover_func){0};
	seen = (struct cover_seen){0};
	return 0;
}

static void calls(u64 nested, u64 alone)
{
	seen.entries += nested + alone;
	seen.nested += nested;
}

/* A function that is off. */
static void leave(void)
{
	calls(COVER_ENOUGH, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_ENTRY);
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_EXITS);
	assert_int_equal(c.state, COVER_OFF);
}

static void test_a_function_that_is_always_nested_is_left_out_entry_first(void **state)
{
	leave();
	assert_false(c.alone);
	assert_int_equal(c.nr_looks, 1);
}

static void test_a_few_calls_prove_nothing(void **state)
{
	calls(COVER_ENOUGH - 1, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	calls(1, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_ENTRY);
}

static void test_one_call_of_its_own_keeps_it_for_good(void **state)
{
	calls(100000, 1);
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_KEPT);
	assert_true(c.alone);
	seen.nested = seen.entries;
	for (int i = 0; i < 30; i++)
		assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
}

static void test_calls_that_were_not_followed_keep_it(void **state)
{
	calls(COVER_ENOUGH, 0);
	seen.unknown = 1;
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_KEPT);
	assert_false(c.alone);
	fresh(NULL);
	calls(COVER_ENOUGH, 0);
	seen.dropped = 1;
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_KEPT);
}

static void test_what_another_learns_its_sizes_from_stays_as_long_as_it_does(void **state)
{
	seen.needed = true;
	calls(COVER_ENOUGH, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_WATCHED);
	seen.needed = false;
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_ENTRY);
}

static void test_a_guard_takes_it_back_at_once_and_for_good(void **state)
{
	leave();
	seen.outside = 1;
	assert_int_equal(cover_step(&c, &seen), COVER_TAKE_BACK);
	assert_true(c.alone);
	assert_int_equal(c.state, COVER_KEPT);
	calls(COVER_ENOUGH, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
}

static void test_a_guard_counts_while_it_is_leaving_too(void **state)
{
	calls(COVER_ENOUGH, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_ENTRY);
	seen.outside = 1;
	assert_int_equal(cover_step(&c, &seen), COVER_TAKE_BACK);
}

static void test_guards_that_are_passed_all_the_time_are_none(void **state)
{
	leave();
	seen.passed = COVER_PASSED - 1;
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	seen.passed = COVER_PASSED;
	assert_int_equal(cover_step(&c, &seen), COVER_TAKE_BACK);
	assert_false(c.alone);
	assert_int_equal(c.state, COVER_KEPT);
}

static void test_it_is_looked_at_again_and_leaves_again(void **state)
{
	leave();
	for (int i = 1; i < COVER_RECHECK; i++)
		assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(cover_step(&c, &seen), COVER_LOOK_AGAIN);
	assert_int_equal(c.state, COVER_WATCHED);
	/* What it had before that look does not count for it. */
	calls(COVER_ENOUGH - 1, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	calls(1, 0);
	assert_int_equal(cover_step(&c, &seen), COVER_CLOSE_ENTRY);
	assert_int_equal(c.nr_looks, 2);
}

static void test_a_look_that_finds_it_called_alone_keeps_it(void **state)
{
	leave();
	for (int i = 0; i < COVER_RECHECK; i++)
		cover_step(&c, &seen);
	calls(1000, 1);
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_KEPT);
	assert_true(c.alone);
}

static void test_returns_that_guards_saw_before_it_left_are_not_news(void **state)
{
	seen.outside = 7;
	leave();
	assert_int_equal(cover_step(&c, &seen), COVER_NOTHING);
	assert_int_equal(c.state, COVER_OFF);
}

#define T(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_function_that_is_always_nested_is_left_out_entry_first),
		T(test_a_few_calls_prove_nothing),
		T(test_one_call_of_its_own_keeps_it_for_good),
		T(test_calls_that_were_not_followed_keep_it),
		T(test_what_another_learns_its_sizes_from_stays_as_long_as_it_does),
		T(test_a_guard_takes_it_back_at_once_and_for_good),
		T(test_a_guard_counts_while_it_is_leaving_too),
		T(test_guards_that_are_passed_all_the_time_are_none),
		T(test_it_is_looked_at_again_and_leaves_again),
		T(test_a_look_that_finds_it_called_alone_keeps_it),
		T(test_returns_that_guards_saw_before_it_left_are_not_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
