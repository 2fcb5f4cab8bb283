/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_counters.c - counters of calls over a faked performance monitoring unit: which differences
 * are a call's own, and which are counted as not known.
 */
#include "bpf_counted.h"

#include <bpf/bpf_helpers.h>
#include <errno.h>
#include <string.h>

static void test_differences_of_each_call_are_added_to_its_row(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	wc_count();
	w_go(1);
	wc_work(10000, 7, 7); /* between the calls */
	w_call(f, WC_D1, ra);
	wc_work(1000, 2000, 5000);
	kernel.task.min_flt += 3;
	kernel.task.maj_flt += 1;
	w_ret(f, WC_D1, ra);
	wc_work(10000, 7, 7);
	w_call(f, WC_D1, ra);
	wc_work(2000, 3000, 4000);
	w_ret(f, WC_D1, ra);
	wc_check(f, CYCLES, 2, 5000, 2000, 3000);
	wc_check(f, INSTRUCTIONS, 2, 9000, 4000, 5000);
	wc_check(f, FAULTS, 2, 4, 0, 4);
	wc_check(f, SWITCHES, 2, 0, 0, 0);
	wc_check(f, CLOCK, 2, 3000, 1000, 2000);
	assert_int_equal(wc_all_lost(), 0);
}

static void test_without_counters_nothing_is_read_or_kept(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	w_go(1);
	w_ran(f, WC_D1, w_ra(f), 100);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(CTR_TASKS)), 0);
	assert_int_equal(wc_all_lost(), 0);
}

static void test_an_enclosing_call_has_what_is_counted_in_calls_inside(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	wc_count();
	w_go(1);
	w_call(o, WC_D1, o_ra);
	wc_work(100, 100, 100);
	w_call(f, WC_D2, ra);
	wc_work(50, 30, 20);
	w_ret(f, WC_D2, ra);
	wc_work(100, 100, 100);
	w_ret(o, WC_D1, o_ra);
	wc_check(f, CYCLES, 1, 30, 30, 30);
	wc_check(o, CYCLES, 1, 230, 230, 230);
	wc_check(o, INSTRUCTIONS, 1, 220, 220, 220);
}

static void moves_to_another_cpu(void)
{
	kernel.cpu = 1;
	kernel.task.nivcsw++;
}

static void test_a_call_that_moved_to_another_cpu_has_only_its_threads_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	wc_event(CYCLES)->counter = 1ULL << 60; /* the other CPU's is far below */
	w_go(1);
	wc_call_of(f, w_ra(f), moves_to_another_cpu);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, CLOCK, 0, 0, 0, 0);
	wc_check(f, FAULTS, 1, 0, 0, 0);
	wc_check(f, SWITCHES, 1, 1, 1, 1);
	assert_int_equal(wc_lost(HB_CTR_LOST_SWITCH), 1);
	assert_int_equal(wc_all_lost(), 1);
}

static void sleeps(void)
{
	kernel.task.nvcsw++;
	wc_work(500, 1000, 1000); /* of another thread */
}

static void test_a_call_that_slept_and_woke_on_the_same_cpu_has_no_events(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	wc_count();
	w_thread(7);
	wc_call_of(f, w_ra(f), sleeps);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, SWITCHES, 1, 1, 1, 1);
	assert_int_equal(wc_lost(HB_CTR_LOST_SWITCH), 1);
}

static void stops_and_goes_on(void)
{
	u64 at = w.cur->g + W_SEQ_OFF;
	u8 seq = 0xff;

	kernel__user_write(at, &seq, sizeof(seq));
}

static void is_scanned(void)
{
	u8 done = 1;

	kernel__user_write(w.cur->g + W_SCAN_OFF, &done, sizeof(done));
}

static void test_a_goroutine_that_stopped_running_in_between_has_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	wc_count();
	w_go(1);
	wc_call_of(f, ra, stops_and_goes_on);
	wc_call_of(f, ra, is_scanned);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_GOROUTINE), 2);
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_all_lost(), 2);
}

static void test_a_go_version_that_is_not_known_has_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO_OLD);

	wc_count();
	w_go(1);
	wc_call_of(f, w_ra(f), NULL);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_UNVETTED), 1);
}

static void goes_to_another_thread(void)
{
	kernel.pid_tgid = (u64)W_TGID << 32 | 4242;
	w.cur->tid = 4242;
}

static void test_a_call_that_ended_on_another_thread_has_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	w_go(1);
	wc_call_of(f, w_ra(f), goes_to_another_thread);
	assert_int_equal(w_n(f, HB_FN_MIGRATED), 1);
	wc_check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_THREAD), 1);
	assert_int_equal(wc_all_lost(), 1);
}

static void others_get_the_counter(void)
{
	wc_event(CYCLES)->enabled += 100;
}

static void test_an_event_that_was_off_the_hardware_is_left_out_and_not_scaled(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	w_go(1);
	wc_call_of(f, w_ra(f), others_get_the_counter);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(wc_lost(HB_CTR_LOST_LAG), 1);
	assert_int_equal(wc_all_lost(), 1);
}

static void test_an_event_that_was_off_before_the_call_is_no_loss(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	wc_event(CYCLES)->enabled = 1ULL << 40;
	w_go(1);
	wc_call_of(f, w_ra(f), NULL);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_all_lost(), 0);
}

static void the_counter_jumps(void)
{
	wc_event(CYCLES)->counter += 1600000000;
}

static void test_more_cycles_than_the_time_can_hold_are_dropped_and_counted(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	w_go(1);
	wc_call_of(f, w_ra(f), the_counter_jumps);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(wc_lost(HB_CTR_LOST_ABSURD), 1);
}

static void test_a_counter_that_ran_backwards_is_absurd(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count();
	wc_event(INSTRUCTIONS)->counter = 1000;
	w_thread(7);
	w_call(f, WC_D1, ra);
	wc_event(INSTRUCTIONS)->counter = 990;
	w_pass(100);
	w_ret(f, WC_D1, ra);
	wc_check(f, INSTRUCTIONS, 0, 0, 0, 0);
	wc_check(f, CYCLES, 1, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_ABSURD), 1);
}

static void test_an_event_that_cannot_be_read_at_either_end_is_counted(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	wc_count();
	w_go(1);
	kernel__plant(KERNEL_READ_EVENT, HOST_MAP(CTR_EVENTS), 0, 1, -ENOENT); /* entry's cycles */
	wc_call_of(f, ra, NULL);
	kernel__plant(KERNEL_READ_EVENT, HOST_MAP(CTR_EVENTS), 3, 1,
		      -ENOENT); /* exit's instructions */
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	wc_check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(wc_lost(HB_CTR_LOST_READ), 2);
	assert_int_equal(wc_all_lost(), 2);
}

static void test_without_room_a_call_has_its_time_and_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	wc_count();
	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(CTR_TASKS), 0, 1, -E2BIG);
	wc_call_of(f, ra, NULL);
	assert_int_equal(w_samples(f), 1);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_ROOM), 1);
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
}

/* The inner call's entry found room, so there is an element, but nothing in it of the outer one. */
static void test_room_that_was_found_too_late_is_of_no_use_to_the_outer_call(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	wc_count();
	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(CTR_TASKS), 0, 1, -E2BIG);
	w_call(o, WC_D1, o_ra);
	w_call(f, WC_D2, ra);
	wc_work(50, 30, 20);
	w_ret(f, WC_D2, ra);
	w_ret(o, WC_D1, o_ra);
	wc_check(f, CYCLES, 1, 30, 30, 30);
	wc_check(o, CYCLES, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_ROOM), 1);
}

static void test_what_the_probes_count_themselves_is_subtracted_by_class(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);
	u16 n = W_FUNC(.image = W_NATIVE, .cls = HB_CLASS_STEP);
	u64 ra = w_ra(f);

	wc_count();
	ctr_bias.v[HB_LANG_GO][HB_CLASS_PUSH][CYCLES] = 300;
	ctr_bias.v[HB_LANG_GO][HB_CLASS_PUSH][INSTRUCTIONS] = 4001;
	ctr_bias.v[HB_LANG_NATIVE][HB_CLASS_STEP][CYCLES] = 900;
	w_go(1);
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 1, 1700, 1700, 1700);
	wc_check(f, INSTRUCTIONS, 1, 0, 0, 0); /* no less than nothing */
	w_thread(7);
	wc_call_of(n, w_ra(n), NULL);
	wc_check(n, CYCLES, 1, 1100, 1100, 1100);
}

static void test_the_clock_counter_is_the_corrected_time(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);

	wc_count();
	w_set_cal();
	w_go(1);
	wc_call_of(f, w_ra(f), NULL);
	wc_check(f, CLOCK, 1, 1000 - 11, 989, 989);
}

static void test_counters_of_tasks_are_dropped_with_them_when_the_map_fills(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	wc_count();
	tight = true;
	w_go(1);
	wc_call_of(f, w_ra(f), NULL);
	assert_int_equal(kernel__map_nr(HOST_MAP(TASKS)), 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(CTR_TASKS)), 0);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
}

static void test_calls_of_the_calibration_are_no_losses(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_RAW);
	struct w_task *t;

	wc_count();
	t = w_thread(7);
	t->tgid = W_SELF;
	w_run(t);
	wc_call_of(f, w_ra(f), sleeps);
	assert_int_equal(wc_all_lost(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_differences_of_each_call_are_added_to_its_row),
		TEST(test_without_counters_nothing_is_read_or_kept),
		TEST(test_an_enclosing_call_has_what_is_counted_in_calls_inside),
		TEST(test_a_call_that_moved_to_another_cpu_has_only_its_threads_counters),
		TEST(test_a_call_that_slept_and_woke_on_the_same_cpu_has_no_events),
		TEST(test_a_goroutine_that_stopped_running_in_between_has_no_counters),
		TEST(test_a_go_version_that_is_not_known_has_no_counters),
		TEST(test_a_call_that_ended_on_another_thread_has_no_counters),
		TEST(test_an_event_that_was_off_the_hardware_is_left_out_and_not_scaled),
		TEST(test_an_event_that_was_off_before_the_call_is_no_loss),
		TEST(test_more_cycles_than_the_time_can_hold_are_dropped_and_counted),
		TEST(test_a_counter_that_ran_backwards_is_absurd),
		TEST(test_an_event_that_cannot_be_read_at_either_end_is_counted),
		TEST(test_without_room_a_call_has_its_time_and_no_counters),
		TEST(test_room_that_was_found_too_late_is_of_no_use_to_the_outer_call),
		TEST(test_what_the_probes_count_themselves_is_subtracted_by_class),
		TEST(test_the_clock_counter_is_the_corrected_time),
		TEST(test_counters_of_tasks_are_dropped_with_them_when_the_map_fills),
		TEST(test_calls_of_the_calibration_are_no_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
