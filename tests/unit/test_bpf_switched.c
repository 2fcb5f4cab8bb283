/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_switched.c - calls whose thread leaves its CPU, with time accounting: how long it waited and was
 * blocked, and which part of the CPUs' events is its own.
 */
#include "bpf_counted.h"

#include <bpf/bpf_helpers.h>
#include <errno.h>

static struct task_struct other = {.pid = 900}; /* what runs while the current thread does not */

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

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, loses_the_cpu);
	wc_check(f, WAITING, 1, 300, 300, 300);
	wc_check(f, BLOCKED, 1, 0, 0, 0);
	wc_check(f, ON_CPU, 1, 1000, 1000, 1000);
	wc_call_of(f, ra, NULL);
	wc_check(f, WAITING, 2, 300, 0, 300);
	wc_check(f, ON_CPU, 2, 2000, 1000, 1000);
}

static void test_a_call_that_blocked_has_waited_from_its_wakeup_on(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, w_ra(f), blocks);
	wc_check(f, BLOCKED, 1, 4000, 4000, 4000);
	wc_check(f, WAITING, 1, 60, 60, 60);
	wc_check(f, ON_CPU, 1, 1000, 1000, 1000);
	wc_check(f, SWITCHES, 1, 1, 1, 1);
}

static void test_what_happened_between_the_calls_is_not_theirs(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, NULL);
	blocks();
	loses_the_cpu();
	wc_call_of(f, ra, NULL);
	wc_check(f, BLOCKED, 2, 0, 0, 0);
	wc_check(f, WAITING, 2, 0, 0, 0);
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

	wc_count_time();
	w_thread(7);
	wc_call_of(f, w_ra(f), blocks_and_nobody_sees_the_wakeup);
	wc_check(f, BLOCKED, 1, 500, 500, 500);
	wc_check(f, WAITING, 1, 0, 0, 0);
}

static void test_threads_that_were_in_no_call_get_no_entry(void **state)
{
	struct task_struct a = {.pid = 7 + 65536}, b = {.pid = 8};
	u16 f = W_FUNC(.image = W_NATIVE);

	wc_count_time();
	w_thread(7);
	w_ran(f, WC_D1, w_ra(f), 10);
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

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, loses_the_cpu);
	wc_call_of(f, ra, the_entry_makes_room);
	wc_check(f, WAITING, 1, 300, 300, 300);
	wc_check(f, BLOCKED, 1, 0, 0, 0);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_lost(HB_CTR_LOST_READ), 3 + 2);
}

static void test_a_full_table_of_threads_is_counted(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(THREADS), 0, 1, -ENOMEM);
	wc_call_of(f, ra, NULL);
	wc_check(f, BLOCKED, 0, 0, 0, 0);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_READ), 3 + 2);
}

/* ---- its part of what the CPUs count ---- */

static void check_own(u16 f, u64 n)
{
	wc_check(f, CYCLES, n, 2000 * n, 2000, 2000);
	wc_check(f, INSTRUCTIONS, n, 4000 * n, 4000, 4000);
	assert_int_equal(wc_all_lost(), 0);
}

static void others_work(void)
{
	kernel.task.nivcsw++;
	hb_switch(true, &kernel.task, &other);
	wc_work(5000, 7777, 8888);
	hb_switch(false, &other, &kernel.task);
}

static void test_a_call_that_lost_the_cpu_has_nothing_of_what_ran_there_meanwhile(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, others_work);
	wc_call_of(f, ra, NULL);
	others_work();
	wc_call_of(f, ra, others_work);
	check_own(f, 3);
}

static void migrates(void)
{
	kernel.task.nivcsw++;
	hb_switch(true, &kernel.task, &other);
	wc_work(10, 10, 10);
	kernel.cpu = (kernel.cpu + 1) % KERNEL_CPUS;
	wc_work(20, 20, 20);
	hb_switch(false, &other, &kernel.task);
}

static void test_a_call_that_moved_to_another_cpu_keeps_its_events(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	wc_event(CYCLES)->counter = 1ULL << 60; /* the other CPUs' are far below */
	wc_event(CYCLES)->enabled = 12345;
	w_thread(7);
	for (u32 i = 0; i < 2 * KERNEL_CPUS; i++)
		wc_call_of(f, ra, migrates);
	check_own(f, 2 * KERNEL_CPUS);
}

static void test_switches_in_a_call_inside_another_one_spoil_neither(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1),
	    o = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	wc_count_time();
	w_thread(7);
	w_call(o, WC_D1, o_ra);
	wc_work(100, 100, 100);
	w_call(f, WC_D2, ra);
	wc_work(50, 30, 20);
	migrates();
	wc_work(50, 30, 20);
	w_ret(f, WC_D2, ra);
	wc_work(100, 100, 100);
	others_work();
	w_ret(o, WC_D1, o_ra);
	wc_check(f, CYCLES, 1, 60, 60, 60);
	wc_check(o, CYCLES, 1, 260, 260, 260);
	wc_check(o, INSTRUCTIONS, 1, 240, 240, 240);
	assert_int_equal(wc_all_lost(), 0);
}

/* The thread of `to` gets the CPU of the one that runs. */
static void hand_over(struct w_task *to)
{
	struct task_struct next = {.pid = (pid_t)to->tid};

	hb_switch(true, &kernel.task, &next);
	kernel.task.pid = next.pid;
	kernel.task.nivcsw++;
	w_run(to);
}

static void test_two_measured_threads_on_one_cpu_have_each_their_own(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE), o = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);
	struct w_task *a, *b;

	wc_count_time();
	b = w_thread(8);
	a = w_thread(7);
	w_call(f, WC_D1, ra);
	wc_work(100, 100, 1000);
	hand_over(b);
	wc_work(1, 1, 1);
	w_call(o, WC_D1, o_ra);
	wc_work(100, 30, 300);
	hand_over(a);
	wc_work(100, 100, 1000);
	hand_over(b);
	wc_work(100, 30, 300);
	w_ret(o, WC_D1, o_ra);
	hand_over(a);
	w_ret(f, WC_D1, ra);
	wc_check(f, CYCLES, 1, 200, 200, 200);
	wc_check(f, INSTRUCTIONS, 1, 2000, 2000, 2000);
	wc_check(o, CYCLES, 1, 60, 60, 60);
	wc_check(o, INSTRUCTIONS, 1, 600, 600, 600);
	assert_int_equal(wc_all_lost(), 0);
}

static void is_not_read_at_a_switch(void)
{
	kernel__plant(KERNEL_READ_EVENT, HOST_MAP(CTR_EVENTS), 0, 1, -ENOENT); /* cycles */
	others_work();
}

static void test_an_event_that_is_not_read_at_a_switch_leaves_the_open_calls_without(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, is_not_read_at_a_switch);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	wc_check(f, INSTRUCTIONS, 0, 0, 0, 0);
	wc_check(f, WAITING, 1, 5000, 5000, 5000);
	assert_int_equal(wc_lost(HB_CTR_LOST_READ), 2);
	wc_call_of(f, ra, others_work);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_all_lost(), 2);
}

/* While that thread is off the CPU, or on it. */
static void others_lack_the_counter(void)
{
	hb_switch(true, &kernel.task, &other);
	wc_event(CYCLES)->enabled += 100;
	hb_switch(false, &other, &kernel.task);
}

static void it_lacks_the_counter(void)
{
	others_lack_the_counter();
	wc_event(CYCLES)->enabled += 100;
	others_lack_the_counter();
}

static void test_an_event_is_missed_only_while_the_thread_is_on_a_cpu(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, others_lack_the_counter);
	check_own(f, 1);
	wc_call_of(f, ra, it_lacks_the_counter);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	wc_check(f, INSTRUCTIONS, 2, 8000, 4000, 4000);
	assert_int_equal(wc_lost(HB_CTR_LOST_LAG), 1);
	assert_int_equal(wc_all_lost(), 1);
}

static void comes_back_without_having_left(void)
{
	hb_switch(false, &other, &kernel.task);
}

static void test_a_thread_that_was_not_seen_leaving_has_not_left(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	wc_count_time();
	w_thread(7);
	wc_work(50, 50, 50);
	wc_call_of(f, w_ra(f), comes_back_without_having_left);
	check_own(f, 1);
	wc_check(f, WAITING, 1, 0, 0, 0);
}

static void loses_the_cpu_as_they_are_read(void)
{
	kernel.interrupt = others_work;
}

/* The handlers can be preempted: between a thread's own values and the CPU's. */
static void test_a_switch_while_events_are_read_leaves_the_call_without(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);

	wc_count_time();
	w_thread(7);
	wc_call_of(f, ra, loses_the_cpu_as_they_are_read); /* at the exit */
	wc_check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_SWITCH), 1);
	kernel.interrupt = others_work; /* at the entry */
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 0, 0, 0, 0);
	assert_int_equal(wc_lost(HB_CTR_LOST_SWITCH), 2);
	wc_call_of(f, ra, NULL);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_all_lost(), 2);
}

static void stops_and_loses_the_cpu(void)
{
	u8 seq = 0xff;

	kernel__user_write(w.cur->g + W_SEQ_OFF, &seq, sizeof(seq));
	others_work();
}

static void test_a_goroutine_keeps_its_events_only_while_it_stays_on_its_thread(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	wc_count_time();
	w_go(1);
	wc_call_of(f, ra, others_work);
	check_own(f, 1);
	wc_call_of(f, ra, stops_and_loses_the_cpu);
	wc_check(f, CYCLES, 1, 2000, 2000, 2000);
	assert_int_equal(wc_lost(HB_CTR_LOST_GOROUTINE), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_call_that_lost_the_cpu_has_waited_for_it),
		TEST(test_a_call_that_blocked_has_waited_from_its_wakeup_on),
		TEST(test_what_happened_between_the_calls_is_not_theirs),
		TEST(test_a_wakeup_that_was_not_seen_leaves_no_time_to_wait),
		TEST(test_threads_that_were_in_no_call_get_no_entry),
		TEST(test_a_thread_whose_entry_made_room_for_others_has_no_such_time),
		TEST(test_a_full_table_of_threads_is_counted),
		TEST(test_a_call_that_lost_the_cpu_has_nothing_of_what_ran_there_meanwhile),
		TEST(test_a_call_that_moved_to_another_cpu_keeps_its_events),
		TEST(test_switches_in_a_call_inside_another_one_spoil_neither),
		TEST(test_two_measured_threads_on_one_cpu_have_each_their_own),
		TEST(test_an_event_that_is_not_read_at_a_switch_leaves_the_open_calls_without),
		TEST(test_an_event_is_missed_only_while_the_thread_is_on_a_cpu),
		TEST(test_a_thread_that_was_not_seen_leaving_has_not_left),
		TEST(test_a_switch_while_events_are_read_leaves_the_call_without),
		TEST(test_a_goroutine_keeps_its_events_only_while_it_stays_on_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
