// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_bpf_procs.c - bpf/proc.bpf.c: what is told of forks, execs and exits, and who is measured after them. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <hbprof/abi.h>

/* Constants are the loader's to write; the other object has a licence already. */
#define const
#define LICENSE LICENSE_PROC
#include "proc.bpf.c"
#undef const

#include "bpf_host.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PARENT 100
#define CHILD  200
#define OTHER  300

static struct mm_struct {
	int nothing;
} mm_of[4];
static struct signal_struct signal_of[4];
static struct task_struct task_of[4];

static struct task_struct *task(u32 i, u32 tgid, u32 pid)
{
	task_of[i] = (struct task_struct){
		.tgid = (pid_t)tgid, .pid = (pid_t)pid, .mm = &mm_of[i], .signal = &signal_of[i]};
	signal_of[i].live.counter = 0;
	return &task_of[i];
}

static void fork_of(struct task_struct *parent, struct task_struct *child)
{
	u64 args[2] = {(uintptr_t)parent, (uintptr_t)child};

	hb_fork(args);
}

static void exec_of(u32 tgid)
{
	u64 args[3] = {0};

	kernel.pid_tgid = (u64)tgid << 32 | tgid;
	hb_exec(args);
}

static void exit_of(struct task_struct *t)
{
	u64 args[1] = {(uintptr_t)t};

	hb_exit(args);
}

static void follow(u32 tgid)
{
	kernel__map_set(&followed, &tgid, &(u32){1});
}

static void measure(u32 tgid, u32 index)
{
	kernel__map_set(&procs, &tgid, &(struct hb_proc){.index = index});
	hot_procs[tgid & 255] = (u64)tgid << 32 | (index + 1);
}

static void check_told(enum hb_proc_what what, u32 tgid, u32 parent)
{
	struct hb_proc_event e;

	assert_int_equal(kernel__ring_take(&proc_events, &e, sizeof(e)), 0);
	assert_int_equal(e.what, what);
	assert_int_equal(e.tgid, tgid);
	assert_int_equal(e.parent, parent);
	assert_int_equal(e.mono_ns, kernel.now_ns);
}

static void check_silent(void)
{
	struct hb_proc_event e;

	assert_int_equal(kernel__ring_take(&proc_events, &e, sizeof(e)), -1);
}

static int setup(void **state)
{
	const struct kernel_map maps[] = {
		HOST_MAP_OF(procs),
		HOST_MAP_OF(followed),
		{.id = &proc_events,
		 .name = "proc_events",
		 .type = BPF_MAP_TYPE_RINGBUF,
		 .max_entries = 4096},
	};

	kernel__reset(maps, sizeof(maps) / sizeof(maps[0]));
	kernel.now_ns = 5000;
	memset(hot_procs, 0, sizeof(hot_procs));
	cfg_tgid = 0;
	cfg_all_execs = false;
	cfg_pidns_ino = 0;
	kernel.pidns_shift = 0;
	proc_events_lost = 0;
	return 0;
}

static int teardown(void **state)
{
	kernel__check_out();
	return 0;
}

static void test_a_child_of_a_followed_process_is_followed_and_told(void **state)
{
	follow(PARENT);
	fork_of(task(0, PARENT, PARENT), task(1, CHILD, CHILD));
	check_told(HB_PROC_FORK, CHILD, PARENT);
	fork_of(&task_of[1],
		task(2, OTHER, OTHER)); /* its own child, before anyone has looked at it */
	check_told(HB_PROC_FORK, OTHER, CHILD);
	check_silent();
}

/* A container's process 7 is 100 to the machine, where 7 is somebody else. */
static void test_processes_have_the_ids_of_the_namespace_that_hbprof_is_in(void **state)
{
	static struct pid_namespace first = {{1}}, own = {{99}}, inner = {{77}};
	static union {
		struct pid pid;
		u8 room[sizeof(struct pid) + 3 * sizeof(struct upid)];
	} ids[3];
	struct task_struct *parent = task(0, PARENT, PARENT), *child = task(1, CHILD, CHILD);

	for (u32 i = 0; i < 3; i++) {
		ids[i].pid.level = i < 2 ? 1 : 2;
		ids[i].pid.numbers[0] = (struct upid){(int)(PARENT + i), &first};
		ids[i].pid.numbers[1] = (struct upid){(int)(7 + i), &own};
		ids[i].pid.numbers[2] = (struct upid){1, &inner};
		task(i, PARENT + i, PARENT + i);
		task_of[i].group_leader = &task_of[i];
		task_of[i].thread_pid = &ids[i].pid;
	}
	cfg_pidns_ino = kernel.pidns_ino = 99;
	kernel.pidns_shift = PARENT - 7;
	follow(7);
	fork_of(parent, child);
	check_told(HB_PROC_FORK, 8, 7);
	fork_of(parent, &task_of[2]); /* in a namespace inside */
	check_silent();
	exec_of(PARENT + 1);
	check_told(HB_PROC_EXEC, 8, 0);
	kernel.pidns_ino = 98; /* of the same number elsewhere */
	cfg_all_execs = true;
	exec_of(PARENT + 1);
	check_silent();
	exit_of(child);
	assert_int_equal(kernel__map_nr(&followed), 1);
}

static void test_a_new_thread_is_no_child(void **state)
{
	follow(PARENT);
	fork_of(task(0, PARENT, PARENT), task(1, PARENT, CHILD));
	check_silent();
	assert_int_equal(kernel__map_nr(&followed), 1);
}

static void test_a_child_in_its_parents_memory_is_told_when_it_execs(void **state)
{
	follow(PARENT);
	task(1, CHILD, CHILD)->mm = task(0, PARENT, PARENT)->mm;
	fork_of(&task_of[0], &task_of[1]);
	check_silent();
	exec_of(CHILD);
	check_told(HB_PROC_EXEC, CHILD, 0);
}

static void test_nothing_is_told_of_processes_that_are_not_followed(void **state)
{
	follow(PARENT);
	fork_of(task(0, OTHER, OTHER), task(1, CHILD, CHILD));
	exec_of(OTHER);
	exit_of(&task_of[0]);
	check_silent();
	assert_int_equal(kernel__map_nr(&followed), 1);
}

static void test_every_exec_is_told_where_it_is_asked_for(void **state)
{
	cfg_all_execs = true;
	exec_of(OTHER);
	check_told(HB_PROC_EXEC, OTHER, 0);
	assert_int_equal(kernel__map_nr(&followed), 0);
}

/* By the time that it is read of, the process may have ended, and be followed no more. */
static void test_what_is_told_says_who_it_was(void **state)
{
	struct hb_proc_event e;

	cfg_all_execs = true;
	kernel.comm = "a program";
	follow(PARENT);
	exec_of(PARENT);
	assert_int_equal(kernel__ring_take(&proc_events, &e, sizeof(e)), 0);
	assert_int_equal(e.followed, 1);
	assert_string_equal(e.comm, "a program");
	exec_of(OTHER);
	assert_int_equal(kernel__ring_take(&proc_events, &e, sizeof(e)), 0);
	assert_int_equal(e.followed, 0);
	assert_string_equal(e.comm, "a program");
}

static void test_a_process_is_not_measured_from_its_exec_on(void **state)
{
	follow(PARENT);
	measure(PARENT, 7);
	assert_int_equal(target_index(PARENT), 7);
	exec_of(PARENT);
	assert_int_equal(target_index(PARENT), -1);
	check_told(HB_PROC_EXEC, PARENT, 0);
	follow(PARENT); /* it still is */
	exec_of(PARENT);
	check_told(HB_PROC_EXEC, PARENT, 0);
}

static void test_another_process_with_the_same_slot_of_the_cache_stays_measured(void **state)
{
	follow(PARENT);
	measure(PARENT, 7);
	measure(PARENT + 256, 8);
	assert_int_equal(target_index(PARENT), 7); /* by the map */
	exec_of(PARENT);
	check_told(HB_PROC_EXEC, PARENT, 0);
	assert_int_equal(target_index(PARENT), -1);
	assert_int_equal(target_index(PARENT + 256), 8);
}

static void test_a_process_ends_with_its_last_thread(void **state)
{
	struct task_struct *first = task(0, PARENT, PARENT);

	follow(PARENT);
	measure(PARENT, 7);
	first->signal->live.counter = 1;
	exit_of(first);
	assert_int_equal(target_index(PARENT), 7);
	assert_int_equal(kernel__map_nr(&followed), 1);
	first->signal->live.counter = 0;
	exit_of(first);
	assert_int_equal(target_index(PARENT), -1);
	assert_int_equal(kernel__map_nr(&followed), 0);
	check_silent();
}

static void test_what_finds_no_room_is_counted(void **state)
{
	follow(PARENT);
	kernel__plant(KERNEL_RESERVE, &proc_events, 0, 1, -ENOMEM);
	exec_of(PARENT);
	assert_int_equal(proc_events_lost, 1);
	check_silent();
	kernel__plant(KERNEL_UPDATE, &followed, 0, 1, -E2BIG);
	fork_of(task(0, PARENT, PARENT), task(1, CHILD, CHILD));
	assert_int_equal(proc_events_lost, 2);
	check_told(HB_PROC_FORK, CHILD, PARENT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_child_of_a_followed_process_is_followed_and_told),
		T(test_processes_have_the_ids_of_the_namespace_that_hbprof_is_in),
		T(test_a_new_thread_is_no_child),
		T(test_a_child_in_its_parents_memory_is_told_when_it_execs),
		T(test_nothing_is_told_of_processes_that_are_not_followed),
		T(test_every_exec_is_told_where_it_is_asked_for),
		T(test_what_is_told_says_who_it_was),
		T(test_a_process_is_not_measured_from_its_exec_on),
		T(test_another_process_with_the_same_slot_of_the_cache_stays_measured),
		T(test_a_process_ends_with_its_last_thread),
		T(test_what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
