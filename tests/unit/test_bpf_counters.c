/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_counters.c - counters of calls over a faked performance monitoring unit: which differences
 * are a call's own, and which are counted as not known.
 */
#include "bpf_world.h"

#include <bpf/bpf_helpers.h>
#include <errno.h>
#include <string.h>

#define D1 0x100
#define D2 0x200

enum { CYCLES, INSTRUCTIONS, FAULTS, SWITCHES, CLOCK, NR };

static void count_all(void)
{
	cfg_nr_ctrs = NR;
	cfg_ctr_kind[CYCLES] = cfg_ctr_kind[INSTRUCTIONS] = HB_CTR_PERF;
	cfg_ctr_kind[FAULTS] = HB_CTR_FAULTS;
	cfg_ctr_kind[SWITCHES] = HB_CTR_SWITCHES;
	cfg_ctr_kind[CLOCK] = HB_CTR_CLOCK;
	cfg_ctr_per_us[CYCLES] = 4000;
	cfg_ctr_per_us[INSTRUCTIONS] = 32000;
	kernel__map_resize(HOST_MAP(CTR_EVENTS), NR * KERNEL_CPUS);
	kernel__map_resize(HOST_MAP(CTR_TASKS), 16);
}

static struct bpf_perf_event_value *event(u32 ctr)
{
	return &kernel.event[ctr * KERNEL_CPUS + kernel.cpu];
}

/* The current CPU works for that long. */
static void work(u64 ns, u64 cycles, u64 instructions)
{
	w_pass(ns);
	event(CYCLES)->counter += cycles;
	event(INSTRUCTIONS)->counter += instructions;
	for (u32 i = CYCLES; i <= INSTRUCTIONS; i++) {
		event(i)->enabled += ns;
		event(i)->running += ns;
	}
}

static u64 lost(enum hb_ctr_lost why)
{
	u32 key = why;
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += *(u64 *)kernel__map_at(HOST_MAP(CTR_LOST), cpu, &key);
	return n;
}

static u64 all_lost(void)
{
	u64 n = 0;

	for (u32 i = 0; i < HB_CTR_LOST_NR; i++)
		n += lost(i);
	return n;
}

static void check(u16 f, u32 ctr, u64 n, u64 sum, u64 min, u64 max)
{
	const struct hb_ctr_sum *c = &w_plain(f)->ctr[ctr];

	assert_int_equal(c->n, n);
	assert_int_equal(c->sum, sum);
	assert_int_equal(c->max, max);
	assert_int_equal(~c->not_min, n ? min : ~0ULL);
}

/* Counted for as long as the call takes: what a test does in between makes the difference. */
static void a_call_of(u16 f, u64 ra, void (*in_between)(void))
{
	w_call(f, D1, ra);
	work(500, 1000, 2000);
	if (in_between)
		in_between();
	work(500, 1000, 2000);
	w_ret(f, D1, ra);
}

static void test_differences_of_each_call_are_added_to_its_row(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	count_all();
	w_go(1);
	work(10000, 7, 7); /* between the calls */
	w_call(f, D1, ra);
	work(1000, 2000, 5000);
	kernel.task.min_flt += 3;
	kernel.task.maj_flt += 1;
	w_ret(f, D1, ra);
	work(10000, 7, 7);
	w_call(f, D1, ra);
	work(2000, 3000, 4000);
	w_ret(f, D1, ra);
	check(f, CYCLES, 2, 5000, 2000, 3000);
	check(f, INSTRUCTIONS, 2, 9000, 4000, 5000);
	check(f, FAULTS, 2, 4, 0, 4);
	check(f, SWITCHES, 2, 0, 0, 0);
	check(f, CLOCK, 2, 3000, 1000, 2000);
	assert_int_equal(all_lost(), 0);
}

static void test_without_counters_nothing_is_read_or_kept(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	w_go(1);
	w_ran(f, D1, w_ra(f), 100);
	check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(CTR_TASKS)), 0);
	assert_int_equal(all_lost(), 0);
}

static void test_an_enclosing_call_has_what_is_counted_in_calls_inside(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	count_all();
	w_go(1);
	w_call(o, D1, o_ra);
	work(100, 100, 100);
	w_call(f, D2, ra);
	work(50, 30, 20);
	w_ret(f, D2, ra);
	work(100, 100, 100);
	w_ret(o, D1, o_ra);
	check(f, CYCLES, 1, 30, 30, 30);
	check(o, CYCLES, 1, 230, 230, 230);
	check(o, INSTRUCTIONS, 1, 220, 220, 220);
}

static void moves_to_another_cpu(void)
{
	kernel.cpu = 1;
	kernel.task.nivcsw++;
}

static void test_a_call_that_moved_to_another_cpu_has_only_its_threads_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	event(CYCLES)->counter = 1ULL << 60; /* the other CPU's is far below */
	w_go(1);
	a_call_of(f, w_ra(f), moves_to_another_cpu);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, CLOCK, 0, 0, 0, 0);
	check(f, FAULTS, 1, 0, 0, 0);
	check(f, SWITCHES, 1, 1, 1, 1);
	assert_int_equal(lost(HB_CTR_LOST_SWITCH), 1);
	assert_int_equal(all_lost(), 1);
}

static void sleeps(void)
{
	kernel.task.nvcsw++;
	work(500, 1000, 1000); /* of another thread */
}

static void test_a_call_that_slept_and_woke_on_the_same_cpu_has_no_events(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	count_all();
	w_thread(7);
	a_call_of(f, w_ra(f), sleeps);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, SWITCHES, 1, 1, 1, 1);
	assert_int_equal(lost(HB_CTR_LOST_SWITCH), 1);
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

	count_all();
	w_go(1);
	a_call_of(f, ra, stops_and_goes_on);
	a_call_of(f, ra, is_scanned);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_GOROUTINE), 2);
	a_call_of(f, ra, NULL);
	check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(all_lost(), 2);
}

static void test_a_go_version_that_is_not_known_has_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO_OLD);

	count_all();
	w_go(1);
	a_call_of(f, w_ra(f), NULL);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_UNVETTED), 1);
}

static void goes_to_another_thread(void)
{
	kernel.pid_tgid = (u64)W_TGID << 32 | 4242;
	w.cur->tid = 4242;
}

static void test_a_call_that_ended_on_another_thread_has_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	w_go(1);
	a_call_of(f, w_ra(f), goes_to_another_thread);
	assert_int_equal(w_n(f, HB_FN_MIGRATED), 1);
	check(f, FAULTS, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_THREAD), 1);
	assert_int_equal(all_lost(), 1);
}

static void others_get_the_counter(void)
{
	event(CYCLES)->enabled += 100;
}

static void test_an_event_that_was_off_the_hardware_is_left_out_and_not_scaled(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	w_go(1);
	a_call_of(f, w_ra(f), others_get_the_counter);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(lost(HB_CTR_LOST_LAG), 1);
	assert_int_equal(all_lost(), 1);
}

static void test_an_event_that_was_off_before_the_call_is_no_loss(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	event(CYCLES)->enabled = 1ULL << 40;
	w_go(1);
	a_call_of(f, w_ra(f), NULL);
	check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(all_lost(), 0);
}

static void the_counter_jumps(void)
{
	event(CYCLES)->counter += 1600000000;
}

static void test_more_cycles_than_the_time_can_hold_are_dropped_and_counted(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	w_go(1);
	a_call_of(f, w_ra(f), the_counter_jumps);
	check(f, CYCLES, 0, 0, 0, 0);
	check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(lost(HB_CTR_LOST_ABSURD), 1);
}

static void test_a_counter_that_ran_backwards_is_absurd(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	count_all();
	event(INSTRUCTIONS)->counter = 1000;
	w_thread(7);
	w_call(f, D1, ra);
	event(INSTRUCTIONS)->counter = 990;
	w_pass(100);
	w_ret(f, D1, ra);
	check(f, INSTRUCTIONS, 0, 0, 0, 0);
	check(f, CYCLES, 1, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_ABSURD), 1);
}

static void test_an_event_that_cannot_be_read_at_either_end_is_counted(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	count_all();
	w_go(1);
	kernel__plant(KERNEL_READ_EVENT, HOST_MAP(CTR_EVENTS), 0, 1, -ENOENT); /* entry's cycles */
	a_call_of(f, ra, NULL);
	kernel__plant(KERNEL_READ_EVENT, HOST_MAP(CTR_EVENTS), 3, 1,
		      -ENOENT); /* exit's instructions */
	a_call_of(f, ra, NULL);
	check(f, CYCLES, 1, 2000, 2000, 2000);
	check(f, INSTRUCTIONS, 1, 4000, 4000, 4000);
	assert_int_equal(lost(HB_CTR_LOST_READ), 2);
	assert_int_equal(all_lost(), 2);
}

static void test_without_room_a_call_has_its_time_and_no_counters(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	count_all();
	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(CTR_TASKS), 0, 1, -E2BIG);
	a_call_of(f, ra, NULL);
	assert_int_equal(w_samples(f), 1);
	check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_ROOM), 1);
	a_call_of(f, ra, NULL);
	check(f, CYCLES, 1, 2000, 2000, 2000);
}

/* The inner call's entry found room, so there is an element, but nothing in it of the outer one. */
static void test_room_that_was_found_too_late_is_of_no_use_to_the_outer_call(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	count_all();
	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(CTR_TASKS), 0, 1, -E2BIG);
	w_call(o, D1, o_ra);
	w_call(f, D2, ra);
	work(50, 30, 20);
	w_ret(f, D2, ra);
	w_ret(o, D1, o_ra);
	check(f, CYCLES, 1, 30, 30, 30);
	check(o, CYCLES, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_ROOM), 1);
}

static void test_what_the_probes_count_themselves_is_subtracted_by_class(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);
	u16 n = W_FUNC(.image = W_NATIVE, .cls = HB_CLASS_STEP);
	u64 ra = w_ra(f);

	count_all();
	ctr_bias.v[HB_LANG_GO][HB_CLASS_PUSH][CYCLES] = 300;
	ctr_bias.v[HB_LANG_GO][HB_CLASS_PUSH][INSTRUCTIONS] = 4001;
	ctr_bias.v[HB_LANG_NATIVE][HB_CLASS_STEP][CYCLES] = 900;
	w_go(1);
	a_call_of(f, ra, NULL);
	check(f, CYCLES, 1, 1700, 1700, 1700);
	check(f, INSTRUCTIONS, 1, 0, 0, 0); /* no less than nothing */
	w_thread(7);
	a_call_of(n, w_ra(n), NULL);
	check(n, CYCLES, 1, 1100, 1100, 1100);
}

static void test_the_clock_counter_is_the_corrected_time(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);

	count_all();
	w_set_cal();
	w_go(1);
	a_call_of(f, w_ra(f), NULL);
	check(f, CLOCK, 1, 1000 - 11, 989, 989);
}

static void test_counters_of_tasks_are_dropped_with_them_when_the_map_fills(void **state)
{
	u16 f = W_FUNC(.image = W_GO);

	count_all();
	tight = true;
	w_go(1);
	a_call_of(f, w_ra(f), NULL);
	assert_int_equal(kernel__map_nr(HOST_MAP(TASKS)), 0);
	assert_int_equal(kernel__map_nr(HOST_MAP(CTR_TASKS)), 0);
	check(f, CYCLES, 1, 2000, 2000, 2000);
}

static void test_calls_of_the_calibration_are_no_losses(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_RAW);
	struct w_task *t;

	count_all();
	t = w_thread(7);
	t->tgid = W_SELF;
	w_run(t);
	a_call_of(f, w_ra(f), sleeps);
	assert_int_equal(all_lost(), 0);
}

/* ---- the thread's time ---- */

enum { ON_CPU = NR, WAITING, BLOCKED };

static struct task_struct other = {.pid = 900}; /* what runs while the current thread does not */

static void count_time(void)
{
	count_all();
	cfg_nr_ctrs = BLOCKED + 1;
	cfg_ctr_kind[ON_CPU] = HB_CTR_ON_CPU;
	cfg_ctr_kind[WAITING] = HB_CTR_WAITING;
	cfg_ctr_kind[BLOCKED] = HB_CTR_BLOCKED;
	cfg_sched = true;
	kernel__map_resize(HOST_MAP(THREADS), 8);
	kernel.task.pid = 7;
}

static void loses_the_cpu(void)
{
	kernel.task.nivcsw++;
	hb_switch(true, &kernel.task, &other);
	w_pass(300);
	hb_switch(false, &other, &kernel.task);
}

static void blocks(void)
{
	kernel.task.nvcsw++;
	kernel.task.__state = 1;
	hb_switch(false, &kernel.task, &other);
	w_pass(4000);
	hb_wakeup(&kernel.task);
	w_pass(60);
	kernel.task.__state = 0;
	hb_switch(false, &other, &kernel.task);
}

static void test_a_call_that_lost_the_cpu_has_waited_for_it(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	count_time();
	w_thread(7);
	a_call_of(f, ra, loses_the_cpu);
	check(f, WAITING, 1, 300, 300, 300);
	check(f, BLOCKED, 1, 0, 0, 0);
	check(f, ON_CPU, 1, 1000, 1000, 1000);
	check(f, CYCLES, 0, 0, 0, 0);
	a_call_of(f, ra, NULL);
	check(f, WAITING, 2, 300, 0, 300);
	check(f, ON_CPU, 2, 2000, 1000, 1000);
}

static void test_a_call_that_blocked_has_waited_from_its_wakeup_on(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	count_time();
	w_thread(7);
	a_call_of(f, w_ra(f), blocks);
	check(f, BLOCKED, 1, 4000, 4000, 4000);
	check(f, WAITING, 1, 60, 60, 60);
	check(f, ON_CPU, 1, 1000, 1000, 1000);
	check(f, SWITCHES, 1, 1, 1, 1);
}

static void test_what_happened_between_the_calls_is_not_theirs(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	count_time();
	w_thread(7);
	a_call_of(f, ra, NULL);
	blocks();
	loses_the_cpu();
	a_call_of(f, ra, NULL);
	check(f, BLOCKED, 2, 0, 0, 0);
	check(f, WAITING, 2, 0, 0, 0);
}

static void blocks_and_nobody_sees_the_wakeup(void)
{
	kernel.task.__state = 1;
	hb_switch(false, &kernel.task, &other);
	w_pass(500);
	hb_switch(false, &other, &kernel.task);
}

static void test_a_wakeup_that_was_not_seen_leaves_no_time_to_wait(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	count_time();
	w_thread(7);
	a_call_of(f, w_ra(f), blocks_and_nobody_sees_the_wakeup);
	check(f, BLOCKED, 1, 500, 500, 500);
	check(f, WAITING, 1, 0, 0, 0);
}

static void test_threads_that_were_in_no_call_get_no_entry(void **state)
{
	struct task_struct a = {.pid = 7 + 65536}, b = {.pid = 8};
	u16 f = W_FUNC(.image = W_NATIVE);

	count_time();
	w_thread(7);
	w_ran(f, D1, w_ra(f), 10);
	hb_switch(false, &a, &b); /* the first has the same bit */
	hb_switch(false, &b, &a);
	hb_wakeup(&a);
	assert_int_equal(kernel__map_nr(HOST_MAP(THREADS)), 1);
}

static void the_entry_makes_room(void)
{
	u32 pid = 7;

	bpf_map_delete_elem(HOST_MAP(THREADS), &pid);
	w_pass(1);
}

static void test_a_thread_whose_entry_made_room_for_others_has_no_such_time(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	count_time();
	w_thread(7);
	a_call_of(f, ra, loses_the_cpu);
	a_call_of(f, ra, the_entry_makes_room);
	check(f, WAITING, 1, 300, 300, 300);
	check(f, BLOCKED, 1, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_READ), 3);
}

static void test_a_full_table_of_threads_is_counted(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	count_time();
	w_thread(7);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(THREADS), 0, 1, -ENOMEM);
	a_call_of(f, ra, NULL);
	check(f, BLOCKED, 0, 0, 0, 0);
	assert_int_equal(lost(HB_CTR_LOST_READ), 3);
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
		TEST(test_a_call_that_lost_the_cpu_has_waited_for_it),
		TEST(test_a_call_that_blocked_has_waited_from_its_wakeup_on),
		TEST(test_what_happened_between_the_calls_is_not_theirs),
		TEST(test_a_wakeup_that_was_not_seen_leaves_no_time_to_wait),
		TEST(test_threads_that_were_in_no_call_get_no_entry),
		TEST(test_a_thread_whose_entry_made_room_for_others_has_no_such_time),
		TEST(test_a_full_table_of_threads_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
