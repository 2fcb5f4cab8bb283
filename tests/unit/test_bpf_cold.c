// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_bpf_cold.c - calls whose entries found the caches cold: what is subtracted from them, and from the calls
 * around them, by the time that the entry's look-ups took. Here that is kernel.clock_step, as the clock is read
 * before and behind them.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#define D1   0x100
#define D2   0x200

#define HOT  2 /* steps of the clock */
#define COLD 10

/* Hot up to 4 ns, and flat from 8 ns on. */
static void set_curve(void)
{
	w_set_cal();
	for (u32 l = 0; l < HB_LANG_NR; l++) {
		struct hb_cold *k = cal.cold[l];

		for (u32 i = 0; i < HB_COLD_KNOTS; i++)
			k[i].seen_ns = ~0u;
		k[0] = (struct hb_cold){.seen_ns = 4, .slope = {10 << 10, 25 << 10, 100 << 10}};
		k[1] = (struct hb_cold){.seen_ns = 8, .at = {40, 100, 400}};
	}
}

/* A call of that length, by the clock: the entry's last reading is a step after it, the exit's another one. */
static void ran(u16 f, u64 depth, u64 ra, u64 step, u64 ns)
{
	kernel.clock_step = step;
	w_ran(f, depth, ra, ns - step);
	kernel.clock_step = 0;
}

/* What runs has passed a probe, long enough ago for caches to be cold. */
static void seasoned(void)
{
	u16 f = W_FUNC(.image = w.cur->go ? W_GO : W_NATIVE, .f.group = 2);

	w_ran(f, D1, w_ra(f), 10);
	w_pass(HB_COLD_GAP_NS);
}

static void test_an_entry_that_took_long_has_more_subtracted(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	set_curve();
	w_go(1);
	seasoned();
	ran(f, D1, ra, HOT, 1000);
	w_check_dist(f, HB_DIST_LEAF, 1, 1000 - 10, 990, 990);
	w_pass(HB_COLD_GAP_NS);
	ran(f, D1, ra, 6, 1000);
	w_check_dist(f, HB_DIST_LEAF, 2, 990 + 990 - 20, 970, 990);
	w_pass(HB_COLD_GAP_NS);
	ran(f, D1, ra, COLD, 1000);
	w_check_dist(f, HB_DIST_LEAF, 3, 990 + 970 + 950, 950, 990);
	assert_int_equal(w_plain(f)->raw_sum_ns, 3000);
	assert_int_equal(w_drop(HB_CNT_COLD), 2);
	assert_int_equal(w_drop(HB_CNT_COLD_IN), 20 + 40);
	assert_int_equal(w_drop(HB_CNT_COLD_TOTAL), 50 + 100);
}

static void test_without_a_curve_all_calls_are_hot(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	w_set_cal();
	w_thread(1);
	seasoned();
	ran(f, D1, ra, 500, 1000);
	w_check_dist(f, HB_DIST_LEAF, 1, 990, 990, 990);
	assert_int_equal(w_drop(HB_CNT_COLD), 0);
}

static void test_a_hot_call_behind_a_cold_one_is_hot(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	set_curve();
	w_thread(1);
	seasoned();
	ran(f, D1, ra, COLD, 1000);
	ran(f, D1, ra, HOT, 1000);
	w_check_dist(f, HB_DIST_LEAF, 2, 950 + 990, 950, 990);
}

static void test_look_ups_soon_after_another_hit_are_not_cold(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	set_curve();
	w_thread(1);
	seasoned();
	ran(f, D1, ra, HOT, 1000);
	w_pass(HB_COLD_GAP_NS - 2 * COLD);
	ran(f, D1, ra, COLD, 1000);
	w_check_dist(f, HB_DIST_LEAF, 2, 990 + 990, 990, 990);
	assert_int_equal(w_drop(HB_CNT_COLD), 0);
	w_pass(HB_COLD_GAP_NS);
	ran(f, D1, ra, COLD, 1000);
	assert_int_equal(w_drop(HB_CNT_COLD), 1);
}

/* As MarshalIndent does: what it calls at once finds other sites, and the same trap. */
static void test_a_pair_at_the_begin_of_a_call_is_not_cold(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f), inner = w_ra(f), ns;

	set_curve();
	w_thread(1);
	seasoned();
	w_call(f, D1, ra);
	ran(f, D2, inner, COLD, 500);
	w_ret(f, D1, ra);
	ns = 500 + 2 * COLD - 10 - cal.nested_ns[HB_LANG_NATIVE][0];
	w_check_dist(f, HB_DIST_OUTER, 1, ns, ns, ns);
}

/* A task is made at its first call, which takes long in hot caches, too. */
static void test_the_first_call_of_a_task_is_not_cold(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	set_curve();
	for (u32 tid = 1; tid <= 3; tid++) {
		w_run(w_thread(tid));
		ran(f, D1, ra, COLD, 1000);
	}
	w_check_dist(f, HB_DIST_LEAF, 3, 3 * 990, 990, 990);
	assert_int_equal(w_drop(HB_CNT_COLD), 0);
}

/* A thread whose id another one had. */
static void test_the_first_call_of_a_thread_with_a_used_id_is_not_cold(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	set_curve();
	w_run(w_thread(1));
	seasoned();
	kernel.task.start_time = kernel.now_ns;
	ran(f, D1, ra, COLD, 1000);
	w_check_dist(f, HB_DIST_LEAF, 1, 990, 990, 990);
	assert_int_equal(w_drop(HB_CNT_COLD), 0);
	w_pass(HB_COLD_GAP_NS); /* its second one may be */
	ran(f, D1, ra, COLD, 1000);
	assert_int_equal(w_drop(HB_CNT_COLD), 1);
}

/* The pair inside is cold, the call around it is not. */
static void around(u8 exit_class, u64 less)
{
	u16 out = W_FUNC(.image = W_NATIVE), in = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra(out), inner = w_ra_with(in, (struct w_site){.func = in, .cls = exit_class});
	u64 ns, pair;

	set_curve();
	pair = cal.total_ns[HB_LANG_NATIVE][0][exit_class];
	w_thread(1);
	w_call(out, D1, ra);
	w_pass(HB_COLD_GAP_NS);
	ran(in, D2, inner, COLD, 500);
	w_pass(5000);
	w_ret(out, D1, ra);
	/* Readings of the clock in the two programs inside: begin, look-ups, t0; begin. */
	ns = HB_COLD_GAP_NS + 5000 + 500 + 3 * COLD - 10 - pair - less;
	w_check_dist(out, HB_DIST_OUTER, 1, ns, ns, ns);
}

static void test_a_cold_pair_inside_costs_its_caller_more(void **state)
{
	around(HB_CLASS_BRANCH, 100);
}

static void test_a_cold_pair_with_a_stepped_exit_costs_most(void **state)
{
	around(HB_CLASS_STEP, 400);
}

static void test_a_cold_recursive_entry_costs_the_call_that_it_is_in(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f), inner = w_ra(f), ns;

	set_curve();
	w_thread(1);
	w_call(f, D1, ra);
	w_pass(HB_COLD_GAP_NS);
	ran(f, D2, inner, COLD, 500);
	w_pass(5000);
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_NESTED), 1);
	/* No frame: the clock is read at the begin, behind the look-ups, and by the exit. */
	ns = HB_COLD_GAP_NS + 5000 + 500 + 2 * COLD - 10 - cal.nested_ns[HB_LANG_NATIVE][0] - 100;
	w_check_dist(f, HB_DIST_OUTER, 1, ns, ns, ns);
}

static void test_the_calibration_is_told_what_it_measures_and_not_counted(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_RAW);
	struct w_task *t = w_thread(W_SELF);
	u64 ra = w_ra(f);

	t->tgid = W_SELF;
	w_run(t);
	set_curve();
	ran(f, D1, ra, COLD, 1000);
	assert_int_equal(cal_seen.seen_ns, COLD);
	assert_int_equal(cal_seen.raw_ns, 1000);
	assert_int_equal(w_drop(HB_CNT_COLD), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)
	const struct CMUnitTest tests[] = {
		T(test_an_entry_that_took_long_has_more_subtracted),
		T(test_without_a_curve_all_calls_are_hot),
		T(test_a_hot_call_behind_a_cold_one_is_hot),
		T(test_look_ups_soon_after_another_hit_are_not_cold),
		T(test_a_pair_at_the_begin_of_a_call_is_not_cold),
		T(test_the_first_call_of_a_task_is_not_cold),
		T(test_the_first_call_of_a_thread_with_a_used_id_is_not_cold),
		T(test_a_cold_pair_inside_costs_its_caller_more),
		T(test_a_cold_pair_with_a_stepped_exit_costs_most),
		T(test_a_cold_recursive_entry_costs_the_call_that_it_is_in),
		T(test_the_calibration_is_told_what_it_measures_and_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
