// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_calib_cold.c - curves of cold calls, through calls that are made up: user/trace/calib_cold.c needs nothing
 * of the kernel but what calib_call() runs, which is here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../user/trace/calib_cold.c"

/* ---- a machine ---- */

static struct hb_cal_seen seen;
static bool used[HB_LANG_NR];
static u32 nr_calls[HB_LANG_NR][2];

bool calib_lang_used(const struct calib *c, u32 lang)
{
	return used[lang];
}

/* After a loop all is hot; every other call is colder than the one before, as far as it goes. */
u64 calib_call(u32 lang, bool step, u32 n)
{
	static u32 cold;

	nr_calls[lang][step] += n;
	cold = n > 1 ? 0 : cold < 5 ? cold + 1 : 5;
	seen.seen_ns = 300 + 100 * cold;
	seen.raw_ns = 700 + 50 * cold;
	return (step ? 10000 + 800 * cold : 2000 + 400 * cold) * (u64)n;
}

/* ---- curves ---- */

#define SAME(n, s, i, t)                                        \
	for (u32 k_ = 0; k_ < (n); k_++)                        \
		*v++ = (struct calib_cold)                      \
		{                                               \
			.seen_ns = s, .in_ns = i, .total_ns = t \
		}

static struct calib_cold hot[8], cold[16], hot_step[8], cold_step[16];
static struct hb_cold curve[HB_COLD_KNOTS];

static struct calib_calls branch_calls(void)
{
	return (struct calib_calls){.hot = hot, .cold = cold, .nr_hot = 8, .nr_cold = 16};
}

static struct calib_calls step_calls(void)
{
	return (struct calib_calls){.hot = hot_step, .cold = cold_step, .nr_hot = 8, .nr_cold = 16};
}

/* In no order of their look-ups. */
static void fill(void)
{
	struct calib_cold *v = hot;

	SAME(8, 160, 700, 2000);
	v = cold;
	SAME(4, 600, 1000, 4000);
	SAME(4, 280, 800, 2500);
	SAME(4, 1000, 1100, 5000);
	SAME(4, 380, 900, 3000);
	v = hot_step;
	SAME(8, 200, 800, 11000);
	v = cold_step;
	SAME(4, 325, 900, 12000);
	SAME(4, 425, 950, 13000);
	SAME(8, 900, 1200, 16000);
}

static void check_at(u32 seen_ns, bool is_cold, u32 in, u32 total, u32 step)
{
	struct hb_cold_more m = {0};

	assert_int_equal(hb_cold_at(curve, seen_ns, &m), is_cold);
	assert_int_equal(m.in_ns, in);
	assert_int_equal(m.total_ns, total);
	assert_int_equal(m.step_ns, step);
}

static void test_a_curve_goes_through_the_middles_of_cold_calls(void **state)
{
	struct calib_calls b = branch_calls();

	fill();
	calib_curve(&b, NULL, curve);
	check_at(0, false, 0, 0, 0);
	check_at(160, false, 0, 0, 0);
	check_at(180, false, 0, 0, 0); /* an eighth above hot */
	check_at(230, true, 50, 250, 250);
	check_at(280, true, 100, 500, 500);
	check_at(330, true, 150, 750, 750);
	check_at(380, true, 200, 1000, 1000);
	check_at(600, true, 300, 2000, 2000);
	check_at(800, true, 350, 2500, 2500);
	check_at(1000, true, 400, 3000, 3000);
	check_at(60000, true, 400, 3000, 3000);
	check_at(~0u, true, 400, 3000, 3000);
}

static void test_calls_with_a_stepped_exit_have_a_total_of_their_own(void **state)
{
	struct calib_calls b = branch_calls(), s = step_calls();

	fill();
	calib_curve(&b, &s, curve);
	/* Theirs: 225: 0, 325: 1000, 425: 2000, 900: 5000; the knots are the others'. */
	check_at(280, true, 100, 500, 550);
	check_at(380, true, 200, 1000, 1550);
	check_at(1000, true, 400, 3000, 5000);
}

static void test_a_curve_does_not_fall(void **state)
{
	struct calib_calls b = branch_calls();

	fill();
	for (u32 i = 0; i < 16; i++)
		if (cold[i].seen_ns == 600)
			cold[i] = (struct calib_cold){600, 300, 1000};
	calib_curve(&b, NULL, curve);
	check_at(380, true, 200, 1000, 1000);
	check_at(600, true, 200, 1000, 1000);
	check_at(1000, true, 400, 3000, 3000);
}

static void test_where_nothing_gets_cold_nothing_is_subtracted(void **state)
{
	struct calib_calls b = branch_calls(), s = step_calls();
	struct calib_cold *v = cold;

	fill();
	SAME(16, 160, 700, 2000);
	calib_curve(&b, &s, curve);
	check_at(170, false, 0, 0, 0);
	check_at(5000, true, 0, 0, 0);
}

static void test_without_calls_there_is_no_curve(void **state)
{
	struct calib_calls b = branch_calls();

	fill();
	b.nr_cold = 3;
	calib_curve(&b, NULL, curve);
	check_at(5000, false, 0, 0, 0);
	b = branch_calls();
	b.nr_hot = 0;
	calib_curve(&b, NULL, curve);
	check_at(5000, false, 0, 0, 0);
}

static void test_what_a_frame_has_no_room_for_is_bounded(void **state)
{
	struct calib_calls b = branch_calls();
	struct calib_cold *v = cold + 4;

	fill();
	SAME(12, 4000000000u, 4000000000u, 4000000000u);
	calib_curve(&b, NULL, curve);
	check_at(4000000000u, true, COLD_MAX, COLD_MAX, COLD_MAX);
	assert_true(COLD_MAX <= 0xffff);
}

/* ---- a session's ---- */

static void test_the_languages_that_are_used_have_curves(void **state)
{
	static struct calib c;
	static struct hb_cal cal;
	struct hb_cold_more m;

	memset(nr_calls, 0, sizeof(nr_calls));
	used[HB_LANG_GO] = true;
	c.seen = &seen;
	c.used[HB_LANG_GO][HB_CLASS_PUSH][HB_CLASS_STEP] = true;
	calib__cold_baseline(&c);
	assert_int_equal(nr_calls[HB_LANG_GO][1], 0);
	calib__cold(&c, 6, &cal);
	assert_true(nr_calls[HB_LANG_GO][1] > 0);
	assert_int_equal(nr_calls[HB_LANG_NATIVE][0] + nr_calls[HB_LANG_NATIVE][1], 0);
	assert_int_equal(cal.cold[HB_LANG_NATIVE][0].seen_ns, 0);
	/* One call after a loop is a little cold here, and taken for hot. */
	assert_int_equal(cal.cold[HB_LANG_GO][0].seen_ns, 450);
	assert_true(hb_cold_at(cal.cold[HB_LANG_GO], 800, &m));
	assert_int_equal(m.in_ns, 200);
	assert_true(m.step_ns > m.total_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_curve_goes_through_the_middles_of_cold_calls),
		cmocka_unit_test(test_calls_with_a_stepped_exit_have_a_total_of_their_own),
		cmocka_unit_test(test_a_curve_does_not_fall),
		cmocka_unit_test(test_where_nothing_gets_cold_nothing_is_subtracted),
		cmocka_unit_test(test_without_calls_there_is_no_curve),
		cmocka_unit_test(test_what_a_frame_has_no_room_for_is_bounded),
		cmocka_unit_test(test_the_languages_that_are_used_have_curves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
