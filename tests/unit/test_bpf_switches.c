// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_switches.c - the sum over a process's threads, bpf/switches.bpf.c. */
#include "bpf_world.h"

static struct signal_struct signal_of;

/* A pass comes by a thread; tid W_TGID is the first one. */
static void pass_by(u32 tgid, u32 tid, u64 voluntary, u64 involuntary)
{
	struct task_struct task = {.tgid = tgid,
				   .pid = tid,
				   .nvcsw = voluntary,
				   .nivcsw = involuntary,
				   .signal = &signal_of};
	struct bpf_iter__task ctx = {.task = &task};

	hb_switches(&ctx);
}

static struct hb_switches *result(void)
{
	u32 proc = 0;

	return kernel__map_at(HOST_MAP(REQ_SWITCHES), 0, &proc);
}

static int begin(void **state)
{
	signal_of = (struct signal_struct){.nvcsw = 1000, .nivcsw = 200};
	switches_pass = 1;
	return w_init(state);
}

static void test_live_threads_and_ended_ones_are_summed_up(void **state)
{
	struct bpf_iter__task end = {.task = NULL};

	pass_by(W_TGID, W_TGID, 7, 3);
	pass_by(W_TGID, W_TGID + 1, 70, 30);
	hb_switches(&end);
	assert_int_equal(result()->voluntary, 1077);
	assert_int_equal(result()->involuntary, 233);
	assert_int_equal(result()->threads, 2);
	assert_int_equal(result()->gone, 1200);
}

static void test_each_pass_begins_anew(void **state)
{
	pass_by(W_TGID, W_TGID, 7, 3);
	switches_pass = 2;
	pass_by(W_TGID, W_TGID, 8, 4);
	assert_int_equal(result()->voluntary, 1008);
	assert_int_equal(result()->involuntary, 204);
	assert_int_equal(result()->threads, 1);
	assert_int_equal(result()->pass, 2);
}

static void test_threads_of_other_processes_are_passed_by(void **state)
{
	pass_by(W_TGID + 1, W_TGID + 1, 7, 3);
	assert_int_equal(result()->pass, 0);
	assert_int_equal(result()->voluntary, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, w_fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_live_threads_and_ended_ones_are_summed_up),
		T(test_each_pass_begins_anew),
		T(test_threads_of_other_processes_are_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
