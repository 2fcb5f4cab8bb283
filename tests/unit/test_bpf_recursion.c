/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_recursion.c - calls inside calls of the same codec, which have no frame of their own: their
 * returns, by depth; tail calls among them; and what becomes of them when they are left.
 */
#include "bpf_world.h"

#define D1 0x100
#define D2 0x200
#define D3 0x300

/* ---- recursion ---- */

static void test_recursion_1000_deep_is_exact_and_takes_one_frame(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), inner = w_ra(f), o_ra = w_ra(o);
	struct w_task *g = w_go(1);

	w_set_cal();
	w_call(f, 64, ra);
	for (u64 i = 1; i <= 1000; i++) {
		w_call(f, 64 + 64 * i, inner);
		w_pass(1);
		assert_int_equal(w_frames(g), 1);
	}
	w_ran(o, 64 + 64 * 1001, o_ra, 100);
	for (u64 i = 1000; i; i--) {
		w_pass(9);
		w_ret(f, 64 + 64 * i, inner);
	}
	w_ret(f, 64, ra);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 1001);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1001);
	assert_int_equal(w_n(f, HB_FN_NESTED), 1000);
	assert_int_equal(w_samples(f), 1);
	assert_int_equal(w_plain(f)->nested, 1000);
	w_check_dist(f, HB_DIST_OUTER, 1, 10100 - 10 - 20 - 7000, 3070, 3070);
	w_check_dist(f, HB_DIST_OUTER_EXC, 1, 3070 - 90, 2980, 2980);
	assert_int_equal(w_frames(g), 0);
}

static void test_a_call_nested_through_another_codec_is_no_call_of_its_row(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1), b = W_FUNC(.image = W_GO, .f.group = 2);
	u64 a_ra = w_ra(a), b_ra = w_ra(b);
	struct w_task *g = w_go(1);

	w_call(a, D1, a_ra);
	w_call(b, D2, b_ra);
	w_ran(a, D3, a_ra, 100);
	/* the outer call is still active */
	w_ran(a, D3, a_ra, 30);
	assert_int_equal(w_frames(g), 2);
	w_ret(b, D2, b_ra);
	w_pass(1);
	w_ret(a, D1, a_ra);
	assert_int_equal(w_n(a, HB_FN_ENTRIES), 3);
	assert_int_equal(w_n(a, HB_FN_EXITS), 3);
	assert_int_equal(w_n(a, HB_FN_NESTED), 2);
	assert_int_equal(w_samples(a), 1);
	w_check_dist(a, HB_DIST_OUTER, 1, 131, 131, 131);
	w_check_dist(a, HB_DIST_OUTER_EXC, 1, 1, 1, 1);
	w_check_dist(b, HB_DIST_OUTER, 1, 130, 130, 130);
	w_check_dist(b, HB_DIST_OUTER_EXC, 1, 0, 0, 0);
	/* and now it is not */
	w_ran(a, D3, a_ra, 8);
	assert_int_equal(w_samples(a), 2);
	w_check_dist(a, HB_DIST_LEAF, 1, 8, 8, 8);
}

static void test_nested_calls_that_never_return_are_abandoned_with_the_outer_one(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1);
	u64 ra = w_ra(f), inner = w_ra(f);

	w_go(1);
	w_call(f, D1, ra);
	w_call(f, D2, inner);
	w_call(f, D3, inner);
	w_pass(10);
	/* a panic, recovered in the outermost */
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 2);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
	assert_int_equal(w_plain(f)->nested, 2);
}

static void test_a_nested_return_names_the_last_nested_function_at_a_shared_site(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1), b = W_FUNC(.image = W_GO, .f.group = 1);
	u64 ra = w_ra(a), shared = w_ra_with(b, (struct w_site){.func = W_ANY});

	w_go(1);
	w_call(a, D1, ra);
	w_ran(b, D2, shared, 5);
	w_ret(a, D1, ra);
	assert_int_equal(w_n(b, HB_FN_EXITS), 1);
	assert_int_equal(w_n(b, HB_FN_NESTED), 1);
	assert_int_equal(w_n(a, HB_FN_EXITS), 1);
	assert_int_equal(w_samples(b), 0);
}

static void test_another_codec_s_unseen_return_is_not_taken_for_a_nested_one(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1), b = W_FUNC(.image = W_GO, .f.group = 2);
	u64 a_ra = w_ra(a), inner = w_ra(a), b_ra = w_ra(b);

	w_go(1);
	w_call(a, D1, a_ra);
	w_call(a, D2, inner);
	/* its entry is lost: the goroutine's id cannot be read */
	kernel__plant(KERNEL_READ_USER, NULL, 1, 1, -14);
	w_ran(b, D3, b_ra, 10);
	assert_int_equal(w_n(b, HB_FN_DROPPED), 1);
	assert_int_equal(w_n(b, HB_FN_EXITS), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	w_ret(a, D2, inner);
	w_ret(a, D1, a_ra);
	assert_int_equal(w_n(a, HB_FN_EXITS), 2);
	assert_int_equal(w_n(a, HB_FN_UNSEEN), 0);
}

static void test_recursion_20_deep_is_exact_with_misses_on_the_way(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1),
	    g = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});
	u64 other = w_ra_with(g, (struct w_site){.func = W_ANY});
	struct w_task *t = w_thread(1);

	w_set_cal();
	cal.miss_ns[HB_LANG_NATIVE][0] = 3;
	w_call(f, 64, ra);
	for (u64 i = 1; i <= 20; i++)
		w_call(i % 2 ? f : g, 64 + 64 * i, shared);
	assert_int_equal(w_frames_of(t)->frame[0].kept, HB_NESTED_KEPT);
	assert_int_equal(w_frames_of(t)->frame[0].beyond, 12);
	w_pass(10000);
	for (u64 i = 20; i; i--) {
		w_site_hit(shared, 64 + 64 * i);
		/* a path that joins there, in the caller: its depth is no open call's */
		if (i <= HB_NESTED_KEPT)
			w_site_hit(other, 64 + 64 * i - 8);
	}
	w_ret(f, 64, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS) + w_n(g, HB_FN_EXITS), 21);
	assert_int_equal(w_n(f, HB_FN_ABANDONED) + w_n(g, HB_FN_ABANDONED), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 8);
	w_check_dist(f, HB_DIST_OUTER, 1, 10000 - 10 - 20 * 7 - 8 * 3, 9826, 9826);
	/* of those beyond, only the last function is known */
	w.counts_by_group = true;
}

static void test_a_recursive_return_at_a_shared_site_is_that_of_its_own_function(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), g = W_FUNC(.image = W_GO, .f.group = 1);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});

	w_go(1);
	w_call(f, D1, ra);
	w_call(f, D2, shared);
	w_call(g, D3, shared);
	w_site_hit(shared, D3);
	assert_int_equal(w_n(g, HB_FN_EXITS), 1);
	w_site_hit(shared, D2);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	w_ret(f, D1, ra);
}

static void test_a_recursive_call_that_ends_in_a_tail_call_ends_with_it(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 o = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra(a), inner = w_ra(a);

	w_set_cal();
	w_thread(1);
	w_call(a, D1, ra);
	/* to one of the same codec */
	w_call(a, D2, inner);
	w_enter(b, D2);
	w_pass(100);
	w_site_hit(inner, D2);
	assert_int_equal(w_n(a, HB_FN_EXITS), 1);
	assert_int_equal(w_n(b, HB_FN_EXITS), 1);
	/* and to one that has a frame */
	w_call(a, D2, inner);
	w_enter(o, D2);
	w_pass(100);
	w_site_hit(inner, D2);
	assert_int_equal(w_n(a, HB_FN_EXITS), 2);
	assert_int_equal(w_n(o, HB_FN_EXITS), 1);
	w_ret(a, D1, ra);
	assert_int_equal(w_n(a, HB_FN_EXITS), 3);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 0);
	/* in; a recursive pair and an entry; a pair and an entry */
	w_check_dist(a, HB_DIST_OUTER, 1, 200 - 10 - (7 + 13) - (20 + 13), 137, 137);
}

static void test_tail_calls_without_end_in_recursion_take_one_depth(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u64 ra = w_ra(a), inner = w_ra(a);
	struct w_task *t = w_thread(1);

	w_call(a, D1, ra);
	w_call(a, D2, inner);
	for (int i = 0; i < 100; i++)
		w_enter(b, D2);
	assert_int_equal(w_frames_of(t)->frame[0].kept, 1);
	w_site_hit(inner, D2);
	w_ret(a, D1, ra);
	assert_int_equal(w_n(a, HB_FN_EXITS), 2);
	assert_int_equal(w_n(b, HB_FN_EXITS), 100);
	assert_int_equal(w_n(b, HB_FN_ABANDONED), 0);
}

static void test_a_recursive_call_followed_by_its_returns_ends_itself_only(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 r = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = HB_FUNC_EXIT_RET,
		       .ret_cls = HB_CLASS_STEP);
	u64 ra = w_ra(a), inner = w_ra(a);

	w_thread(1);
	w_call(a, D1, ra);
	w_call(a, D2, inner);
	w_enter(r, D2);
	w_jump_out(r, D2);
	assert_int_equal(w_n(r, HB_FN_EXITS), 1);
	assert_int_equal(w_n(a, HB_FN_EXITS), 0);
	w_site_hit(inner, D2);
	assert_int_equal(w_n(a, HB_FN_EXITS), 1);
	assert_int_equal(w_exits(a, HB_CLASS_STEP), 0);
	w_ret(a, D1, ra);
}

/* ---- recursion that is left ---- */

static void test_longjmp_in_recursion_through_function_pointers_counts_exactly(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1),
	    g = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});
	u64 d = 0x100;

	cal.nested_ns[HB_LANG_NATIVE][HB_CLASS_BRANCH] = 5;
	cal.tail_ns[HB_LANG_NATIVE][0] = 3;
	cal.miss_ns[HB_LANG_NATIVE][0] = 1;
	w_thread(7);
	w_call(f, d, ra);
	for (u32 i = 1; i <= 6; i++)
		w_call(i % 2 ? f : g, d * (1 + i), shared);
	w_pass(1000);
	/* to the third, where two more are called and return; then they all return */
	w_longjmp(d * 8, d * 4 + 0x20, 0);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(g, HB_FN_ABANDONED), 2);
	w_ran(g, d * 5, shared, 0);
	w_ran(g, d * 5, shared, 0);
	for (u32 i = 3; i; i--)
		w_site_hit(shared, d * (1 + i));
	w_ret(f, d, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS), 3);
	assert_int_equal(w_n(g, HB_FN_EXITS), 3);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(g, HB_FN_ABANDONED), 2);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 0);
	/* five pairs, three entries, longjmp */
	assert_int_equal(w_plain(f)->dist[HB_DIST_OUTER].sum_ns, 1000 - 5 * 5 - 3 * 3 - 1);
}

static void test_longjmp_out_of_more_recursion_than_is_kept_abandons_it_all(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});
	u64 d = 0x100;

	w_thread(7);
	w_call(f, d, ra);
	for (u32 i = 1; i <= 20; i++)
		w_call(f, d * (1 + i), shared);
	/* to the 5th */
	w_longjmp(d * 22, d * 6 + 0x20, 0);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 15);
	for (u32 i = 5; i; i--)
		w_site_hit(shared, d * (1 + i));
	w_ret(f, d, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS), 6);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 15);
}

static void test_recursion_left_unseen_ends_when_code_runs_above_it(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 a_ra = w_ra(a), inner = w_ra(a), b_ra = w_ra(b);

	w_thread(7);
	w_call(a, D1, a_ra);
	w_call(a, D3, inner);
	/* a call less deep, as deep as the lost one, deeper than a lost one */
	w_ran(b, D2, b_ra, 10);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 1);
	w_call(a, D3, inner);
	w_ran(a, D3, inner, 10);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 2);
	assert_int_equal(w_n(a, HB_FN_EXITS), 1);
	w_call(a, D2, inner);
	w_ran(a, D3, inner, 10);
	w_ret(a, D1, a_ra);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 3);
	assert_int_equal(w_n(a, HB_FN_EXITS), 3);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_recursion_1000_deep_is_exact_and_takes_one_frame),
		T(test_a_call_nested_through_another_codec_is_no_call_of_its_row),
		T(test_nested_calls_that_never_return_are_abandoned_with_the_outer_one),
		T(test_a_nested_return_names_the_last_nested_function_at_a_shared_site),
		T(test_another_codec_s_unseen_return_is_not_taken_for_a_nested_one),
		T(test_recursion_20_deep_is_exact_with_misses_on_the_way),
		T(test_a_recursive_return_at_a_shared_site_is_that_of_its_own_function),
		T(test_a_recursive_call_that_ends_in_a_tail_call_ends_with_it),
		T(test_tail_calls_without_end_in_recursion_take_one_depth),
		T(test_a_recursive_call_followed_by_its_returns_ends_itself_only),
		T(test_longjmp_in_recursion_through_function_pointers_counts_exactly),
		T(test_longjmp_out_of_more_recursion_than_is_kept_abandons_it_all),
		T(test_recursion_left_unseen_ends_when_code_runs_above_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
