/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_frames.c - what becomes of a call's time: its own, that of calls inside it, that of the
 * probes, tail calls, and stacks that move. Recursion is in test_bpf_recursion.c, leftovers are in
 * test_bpf_leftovers.c.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#define D1 0x100 /* depths of calls inside one another */
#define D2 0x200
#define D3 0x300

static const struct hb_dist_sum *dist(u16 func, enum hb_dist d)
{
	return &w_plain(func)->dist[d];
}

static void check_no_dist(u16 func, enum hb_dist d)
{
	const struct hb_dist_sum *s = dist(func, d);

	assert_int_equal(s->count, 0);
	assert_int_equal(s->sum_ns, 0);
	assert_int_equal(s->min_ns, ~0ULL);
	assert_int_equal(s->max_ns, 0);
	assert_int_equal(s->hist, 0);
}

/* ---- one call ---- */

static void test_a_call_lasts_from_the_end_of_its_entry_to_its_exit(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	w_ran(f, D1, ra, 700);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 1);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_samples(f), 1);
	w_check_dist(f, HB_DIST_LEAF, 1, 700, 700, 700);
	check_no_dist(f, HB_DIST_OUTER);
	check_no_dist(f, HB_DIST_OUTER_EXC);
	assert_int_equal(w_plain(f)->raw_sum_ns, 700);
	assert_int_equal(w_plain(f)->nested, 0);
	for (u32 d = 0; d < HB_DROP_NR; d++)
		assert_int_equal(w_drop(d), 0);
}

static void test_a_thread_s_call_is_measured_alike(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .sp_fix = 24);
	u64 ra = w_ra(f);

	w_thread(77);
	w_ran(f, D1, ra, 1500);
	w_ran(f, D2, ra, 500);
	w_check_dist(f, HB_DIST_LEAF, 2, 2000, 500, 1500);
	assert_int_equal(w_n(f, HB_FN_EXITS), 2);
}

static void test_the_clock_is_read_last_by_an_entry_and_first_by_an_exit(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	kernel.clock_step = 3;
	w_ran(f, D1, ra, 100);
	assert_int_equal(kernel.nr_clock_reads,
			 4); /* by the entry at its begin, too, and behind its look-ups */
	w_check_dist(f, HB_DIST_LEAF, 1, 103, 103, 103);
}

static void test_the_bias_of_the_entry_s_class_and_language_is_taken_off(void **state)
{
	u16 go = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);
	u16 native = W_FUNC(.image = W_NATIVE, .cls = HB_CLASS_STEP);
	u64 go_ra = w_ra(go), native_ra = w_ra(native);

	cal.in_ns[HB_LANG_GO][HB_CLASS_PUSH] = 300;
	cal.in_ns[HB_LANG_NATIVE][HB_CLASS_STEP] = 25;
	w_go(1);
	w_ran(go, D1, go_ra, 1000);
	w_thread(7);
	w_ran(native, D1, native_ra, 1000);
	w_check_dist(go, HB_DIST_LEAF, 1, 700, 700, 700);
	w_check_dist(native, HB_DIST_LEAF, 1, 975, 975, 975);
	assert_int_equal(w_plain(go)->raw_sum_ns, 1000);
	assert_int_equal(w_plain(go)->raw_min_ns, 1000);
	assert_int_equal(w_plain(go)->raw_max_ns, 1000);
}

static void test_a_call_shorter_than_its_bias_is_counted_as_0_ns(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	cal.in_ns[HB_LANG_GO][HB_CLASS_BRANCH] = 100;
	w_go(1);
	w_ran(f, D1, ra, 99);
	assert_int_equal(w_n(f, HB_FN_CLAMPED), 1);
	w_ran(f, D1, ra, 100);
	assert_int_equal(w_n(f, HB_FN_CLAMPED), 1);
	w_ran(f, D1, ra, 101);
	w_check_dist(f, HB_DIST_LEAF, 3, 1, 0, 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 300);
}

static void test_a_calibration_function_keeps_its_raw_time(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_RAW);
	u64 ra = w_ra(f);

	cal.in_ns[HB_LANG_NATIVE][HB_CLASS_BRANCH] = 60;
	w_thread(1);
	w_ran(f, D1, ra, 50);
	w_check_dist(f, HB_DIST_LEAF, 1, 50, 50, 50);
	assert_int_equal(w_n(f, HB_FN_CLAMPED), 0);
}

static void test_a_call_that_ends_on_another_thread_is_marked(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *g = w_go(1);

	w_call(f, D1, ra);
	w_pass(10);
	g->tid++;
	kernel.cpu = 3;
	w_ret(f, D1, ra);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_MIGRATED), 1);
	assert_int_equal(w_samples(f), 2);
}

static void test_goroutines_and_threads_do_not_disturb_each_other(void **state)
{
	u16 f = W_FUNC(.image = W_GO), c = W_FUNC(.image = W_NATIVE);
	u64 f_ra = w_ra(f), c_ra = w_ra(c);
	struct w_task *a = w_go(1), *b = w_go(2), *t = w_thread(5);

	w_run(a);
	w_call(f, D1, f_ra);
	w_pass(10);
	w_run(b);
	w_call(f, D1, f_ra);
	w_pass(10);
	w_run(t);
	w_call(c, D1, c_ra);
	w_pass(10);
	w_run(a);
	w_ret(f, D1, f_ra);
	w_run(b);
	w_pass(100);
	w_ret(f, D1, f_ra);
	w_run(t);
	w_ret(c, D1, c_ra);
	w_check_dist(f, HB_DIST_LEAF, 2, 30 + 120, 30, 120);
	w_check_dist(c, HB_DIST_LEAF, 1, 110, 110, 110);
	assert_int_equal(nr_tasks, 3);
}

/* ---- calls inside calls ---- */

static void test_time_and_probes_of_a_call_inside_are_taken_off_the_outer_one(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1);
	u16 b = W_FUNC(.image = W_GO, .f.group = 2, .cls = HB_CLASS_PUSH);
	u64 a_ra = w_ra(a);
	u64 b_ra = w_ra_with(b, (struct w_site){.func = b, .cls = HB_CLASS_NOP});

	w_set_cal();
	w_go(1);
	w_call(a, D1, a_ra);
	w_pass(100);
	w_ran(b, D2, b_ra, 200);
	w_pass(50);
	w_ret(a, D1, a_ra);
	/* b: class 1 in, pair 1 with 3; a: class 0 in */
	w_check_dist(b, HB_DIST_LEAF, 1, 200 - 11, 189, 189);
	w_check_dist(a, HB_DIST_OUTER, 1, 350 - 10 - 33, 307, 307);
	w_check_dist(a, HB_DIST_OUTER_EXC, 1, 307 - 189, 118, 118);
	check_no_dist(a, HB_DIST_LEAF);
	assert_int_equal(w_plain(a)->raw_sum_ns, 350);
}

static void test_probes_of_calls_at_all_levels_are_taken_off(void **state)
{
	u16 f[3];
	u64 ra[3];

	for (int i = 0; i < 3; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	w_set_cal();
	w_go(1);
	w_call(f[0], D1, ra[0]);
	w_call(f[1], D2, ra[1]);
	for (int i = 0; i < 3; i++)
		w_ran(f[2], D3, ra[2], 100);
	w_ret(f[1], D2, ra[1]);
	w_ret(f[0], D1, ra[0]);
	w_check_dist(f[2], HB_DIST_LEAF, 3, 3 * 90, 90, 90);
	w_check_dist(f[1], HB_DIST_OUTER, 1, 300 - 10 - 60, 230, 230);
	w_check_dist(f[1], HB_DIST_OUTER_EXC, 1, 0, 0, 0);
	w_check_dist(f[0], HB_DIST_OUTER, 1, 300 - 10 - 80, 210, 210);
	w_check_dist(f[0], HB_DIST_OUTER_EXC, 1, 0, 0, 0);
}

static void test_a_row_s_distributions_add_up(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1), b = W_FUNC(.image = W_GO, .f.group = 2);
	u64 a_ra = w_ra(a), b_ra = w_ra(b);

	w_go(1);
	w_ran(a, D1, a_ra, 70);
	for (int i = 0; i < 2; i++) {
		w_call(a, D1, a_ra);
		w_ran(b, D2, b_ra, 300);
		w_pass(40);
		w_ret(a, D1, a_ra);
	}
	w_check_dist(a, HB_DIST_LEAF, 1, 70, 70, 70);
	w_check_dist(a, HB_DIST_OUTER, 2, 680, 340, 340);
	w_check_dist(a, HB_DIST_OUTER_EXC, 2, 80, 40, 40);
	assert_int_equal(w_bucket(dist(a, HB_DIST_OUTER), 340), 2);
	assert_int_equal(w_plain(a)->raw_sum_ns, 750);
	assert_int_equal(w_samples(a), 3);
	assert_int_equal(w_samples(b), 2);
}

static void test_a_tail_call_ends_with_the_call_that_made_it(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 g = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra(f);

	w_set_cal();
	w_thread(1);
	w_call(f, D1, ra);
	w_pass(100);
	w_enter(g, D1);
	w_pass(200);
	w_site_hit(ra, D1);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_n(g, HB_FN_EXITS), 1);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 0);
	w_check_dist(g, HB_DIST_LEAF, 1, 190, 190, 190);
	/* one exit serves both: the entry alone */
	w_check_dist(f, HB_DIST_OUTER, 1, 300 - 10 - 13, 277, 277);
	w_check_dist(f, HB_DIST_OUTER_EXC, 1, 87, 87, 87);
}

/* ---- hits that are no call ---- */

static void test_misses_inside_an_open_call_are_taken_off_it(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1);
	u64 ra = w_ra(a);
	u64 step = w_ra_with(a, (struct w_site){.func = W_ANY, .cls = HB_CLASS_STEP});
	u64 call = w_ra_with(a, (struct w_site){.func = a, .cls = HB_CLASS_CALL});

	w_set_cal();
	cal.miss_ns[HB_LANG_GO][HB_CLASS_STEP] = 300;
	cal.miss_ns[HB_LANG_GO][HB_CLASS_CALL] = 5;
	cal.miss_ns[HB_LANG_NATIVE][HB_CLASS_STEP] = 1000000;
	w_go(1);
	/* outside, there is nothing to take it off */
	w_site_hit(step, D2);
	w_call(a, D1, ra);
	w_pass(1000);
	w_site_hit(step, D2);
	w_site_hit(step, D3);
	w_site_hit(call, D2);
	w_ret(a, D1, ra);
	w_check_dist(a, HB_DIST_OUTER, 1, 1000 - 10 - 2 * 300 - 5, 385, 385);
	w_check_dist(a, HB_DIST_OUTER_EXC, 1, 385, 385, 385);
	assert_int_equal(w_n(a, HB_FN_EXITS), 1);
}

static void test_entries_inside_that_are_not_followed_are_taken_off_by_their_class(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1);
	u16 again = W_FUNC(.image = W_GO, .f.group = 1, .cls = HB_CLASS_STEP);
	u16 b = W_FUNC(.image = W_GO, .f.group = 2, .cls = HB_CLASS_PUSH);
	u64 ra = w_ra(a), unknown = w_ra_unknown(W_GO);

	w_set_cal();
	w_go(1);
	w_call(a, D1, ra);
	w_pass(1000);
	/* of the same codec, of another one; their returns are not seen */
	w_call(again, D2, unknown);
	w_call(b, D2, unknown);
	w_ret(a, D1, ra);
	w_check_dist(a, HB_DIST_OUTER, 1, 1000 - 10 - (13 + HB_CLASS_STEP) - (13 + HB_CLASS_PUSH),
		     959, 959);
	assert_int_equal(w_n(again, HB_FN_UNKNOWN), 1);
	assert_int_equal(w_n(b, HB_FN_UNKNOWN), 1);
}

static void test_a_17th_call_s_entry_and_miss_are_taken_off_the_16th(void **state)
{
	u16 f[HB_FRAME_DEPTH + 1];
	u64 ra[HB_FRAME_DEPTH + 1];

	for (u32 i = 0; i <= HB_FRAME_DEPTH; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i, .cls = HB_CLASS_NOP);
		ra[i] = w_ra(f[i]);
	}
	cal.tail_ns[HB_LANG_GO][HB_CLASS_NOP] = 40;
	cal.miss_ns[HB_LANG_GO][HB_CLASS_BRANCH] = 2;
	w_go(1);
	for (u32 i = 0; i < HB_FRAME_DEPTH; i++)
		w_call(f[i], D1 * (i + 1), ra[i]);
	w_ran(f[16], D1 * 17, ra[16], 1000);
	for (u32 i = HB_FRAME_DEPTH; i--;) {
		w_ret(f[i], D1 * (i + 1), ra[i]);
		w_check_dist(f[i], HB_DIST_OUTER, 1, 958, 958, 958);
	}
	assert_int_equal(w_drop(HB_DROP_FRAMES_DEEP), 1);
}

/* ---- a goroutine whose register is in use ---- */

#if REGS_G_IN_TLS
static void test_a_goroutine_that_is_not_in_its_register_is_in_thread_local_storage(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *g = w_go(1), *other = w_go(2);

	w_run(g);
	w.g_lost = true;
	/* nothing; another goroutine, on whose stack SP is not */
	for (int i = 0; i < 2; i++) {
		w.reg[14] = i ? other->g : 0;
		w_ran(f, D1, ra, 50);
	}
	w_check_dist(f, HB_DIST_LEAF, 2, 100, 50, 50);
	w.g_lost = false;
	w_call(f, D1, ra);
	w.g_lost = true;
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS), 3);
	assert_int_equal(nr_tasks, 1);
	for (u32 d = 0; d < HB_DROP_NR; d++)
		assert_int_equal(w_drop(d), 0);
}
#endif

static void test_a_goroutine_that_is_nowhere_is_a_drop(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
#if defined(__TARGET_ARCH_x86)
	kernel.task.thread.fsbase = 0;
#endif
	w.g_lost = true;
	w_call(f, D1, ra);
	assert_int_equal(w_drop(HB_DROP_READ_G), 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
}

/* ---- stacks that move ---- */

static void test_a_call_is_counted_once_though_its_entry_grows_the_stack(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .jbe = true);
	u64 ra = w_ra(f);
	struct w_task *g = w_go(1);

	w_grow(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 0);
	w_move_stack(g, 2 * W_STACK);
	w_ran(f, D1, ra, 90);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 1);
	w_check_dist(f, HB_DIST_LEAF, 1, 90, 90, 90);
}

static void test_calls_survive_a_copy_of_their_stack(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1), b = W_FUNC(.image = W_GO, .f.group = 2);
	u64 a_ra = w_ra(a), b_ra = w_ra(b);
	struct w_task *g = w_go(1);

	w_call(a, D1, a_ra);
	w_pass(5);
	w_move_stack(g, 4 * W_STACK);
	/* the outer call is found alive in the new memory */
	w_call(b, D2, b_ra);
	w_pass(5);
	w_move_stack(g, W_STACK);
	w_ret(b, D2, b_ra);
	w_ret(a, D1, a_ra);
	w_check_dist(a, HB_DIST_OUTER, 1, 10, 10, 10);
	w_check_dist(b, HB_DIST_LEAF, 1, 5, 5, 5);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 0);
}

static void test_the_jbe_s_flags_do_not_matter_at_other_entries(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	w_grow(f, D1, ra);
	/* both of its hits are entries, the second evicting the first */
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 2);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_call_lasts_from_the_end_of_its_entry_to_its_exit),
		T(test_a_thread_s_call_is_measured_alike),
		T(test_the_clock_is_read_last_by_an_entry_and_first_by_an_exit),
		T(test_the_bias_of_the_entry_s_class_and_language_is_taken_off),
		T(test_a_call_shorter_than_its_bias_is_counted_as_0_ns),
		T(test_a_calibration_function_keeps_its_raw_time),
		T(test_a_call_that_ends_on_another_thread_is_marked),
		T(test_goroutines_and_threads_do_not_disturb_each_other),
		T(test_time_and_probes_of_a_call_inside_are_taken_off_the_outer_one),
		T(test_probes_of_calls_at_all_levels_are_taken_off),
		T(test_a_row_s_distributions_add_up),
		T(test_a_tail_call_ends_with_the_call_that_made_it),
		T(test_a_call_is_counted_once_though_its_entry_grows_the_stack),
		T(test_calls_survive_a_copy_of_their_stack),
		T(test_the_jbe_s_flags_do_not_matter_at_other_entries),
		T(test_misses_inside_an_open_call_are_taken_off_it),
		T(test_entries_inside_that_are_not_followed_are_taken_off_by_their_class),
		T(test_a_17th_call_s_entry_and_miss_are_taken_off_the_16th),
#if REGS_G_IN_TLS
		T(test_a_goroutine_that_is_not_in_its_register_is_in_thread_local_storage),
#endif
		T(test_a_goroutine_that_is_nowhere_is_a_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
