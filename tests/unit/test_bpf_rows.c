/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_rows.c - into which row a call goes, which processes are measured and when, and what is
 * kept of a task that has no call open.
 */
#include "bpf_world.h"

#include <errno.h>

#define D1 0x100
#define D2 0x200
#define D3 0x300

/* ---- rows and histograms ---- */

static void test_rows_are_made_in_the_order_of_their_first_call(void **state)
{
	u16 a = W_FUNC(.image = W_GO), b = W_FUNC(.image = W_GO);
	u64 a_ra = w_ra(a), b_ra = w_ra(b);
	struct hb_row *r;

	w_go(1);
	w_ran(b, D1, b_ra, 10);
	w_ran(a, D1, a_ra, 10);
	w_ran(b, D1, b_ra, 10);
	assert_int_equal(next_row, 2);
	assert_int_equal(next_hist, 2);
	r = w_plain(b);
	assert_ptr_equal(r, kernel__map_at(HOST_MAP(ROW_STATS), 0, &(u32){1}));
	assert_int_equal(r->key.func, b);
	assert_int_equal(r->key.proc, 0);
	assert_int_equal(r->key.size_class, 0);
	assert_int_equal(r->key.outcome, HB_OUTCOME_OK);
	assert_int_equal(r->dist[HB_DIST_LEAF].hist, 1);
	assert_int_equal(w_plain(a)->dist[HB_DIST_LEAF].hist, 2);
}

static void test_extremes_are_of_all_calls_in_any_order(void **state)
{
	static const u64 ns[] = {50, 7, 900, 8, 899, 50};
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	for (u32 i = 0; i < 6; i++)
		w_ran(f, D1, ra, ns[i]);
	assert_int_equal(w_plain(f)->raw_min_ns, 7);
	assert_int_equal(w_plain(f)->raw_max_ns, 900);
	assert_int_equal(w_plain(f)->dist[HB_DIST_LEAF].min_ns, 7);
	assert_int_equal(w_plain(f)->dist[HB_DIST_LEAF].max_ns, 900);
	assert_int_equal(w_bucket(&w_plain(f)->dist[HB_DIST_LEAF], 50), 2);
}

static void test_latencies_of_any_length_have_a_bucket(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), sum = 0;

	w_go(1);
	for (u32 bit = 0; bit < 63; bit++) {
		w_ran(f, D1, ra, 1ULL << bit);
		sum += 1ULL << bit;
	}
	for (u32 bit = 0; bit < 63; bit++)
		assert_int_equal(w_bucket(&w_plain(f)->dist[HB_DIST_LEAF], 1ULL << bit), 1);
	assert_int_equal(w_plain(f)->dist[HB_DIST_LEAF].sum_ns, sum);
	assert_int_equal(w_drop(HB_DROP_HISTS_FULL), 0);
}

static void test_a_row_that_another_cpu_made_first_is_used(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	w_ran(f, D1, ra, 10);
	/* as it looks to the CPU that was too late */
	kernel__plant(KERNEL_LOOKUP, HOST_MAP(ROW_CACHE), 0, 1, -1);
	kernel__plant(KERNEL_LOOKUP, HOST_MAP(ROWS), 0, 1, -1);
	w_ran(f, D1, ra, 20);
	assert_int_equal(w_plain(f)->raw_sum_ns, 30);
	assert_int_equal(w_drop(HB_DROP_ROWS_FULL), 0);
	/* its own stays empty */
	assert_int_equal(next_row, 2);
	assert_int_equal(w_samples(f), 2);
}

static void test_a_row_that_cannot_be_remembered_is_the_overflow_row(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(ROWS), 0, 1, -ENOMEM);
	w_ran(f, D1, ra, 20);
	assert_int_equal(w_drop(HB_DROP_ROWS_FULL), 1);
	assert_int_equal(w_overflow()->raw_sum_ns, 20);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_plain(f)->raw_sum_ns, 10);
}

static void test_without_rows_of_their_own_all_calls_go_to_the_overflow_row(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	cfg_nr_rows = 1;
	w_go(1);
	w_call(o, D1, o_ra);
	w_ran(f, D2, ra, 20);
	w_pass(5);
	w_ret(o, D1, o_ra);
	assert_int_equal(w_drop(HB_DROP_ROWS_FULL), 2);
	assert_int_equal(w_overflow()->raw_sum_ns, 45);
	assert_int_equal(w_overflow()->dist[HB_DIST_LEAF].sum_ns, 20);
	assert_int_equal(w_overflow()->dist[HB_DIST_OUTER].sum_ns, 25);
	assert_int_equal(w_overflow()->dist[HB_DIST_OUTER_EXC].sum_ns, 5);
	assert_int_equal(next_row, 0);
}

static void test_rows_end_at_the_limit(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	row_limit = 2;
	w_go(1);
	w_ran(f, D1, ra, 20);
	w_ran(o, D1, o_ra, 30);
	assert_int_equal(w_drop(HB_DROP_ROWS_FULL), 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 20);
	assert_int_equal(w_overflow()->raw_sum_ns, 30);
}

static void test_the_last_function_and_class_have_a_place_in_the_row_cache(void **state)
{
	u16 f;
	u64 ra;

	for (u32 i = 1; i < W_FUNCS; i++)
		W_FUNC(.image = W_NATIVE);
	f = W_FUNC(.image = W_NATIVE, .f.size_in = {HB_VALUE_REG, W_SI, 0, 0},
		   .f.err_kind = HB_ERR_NONZERO, .f.err = {HB_VALUE_REG, W_AX, 0, 0});
	ra = w_ra(f);
	w_thread(1);
	w.reg[W_SI] = HB_SIZE_UNKNOWN - 1;
	w.reg[W_AX] = 1;
	w_ran(f, D1, ra, 10);
	/* the second time it is found there: the map of rows is not asked */
	w_ran(f, D1, ra, 10);
	assert_int_equal(
		*(u64 *)kernel__map_at(HOST_MAP(ROW_CACHE), 0,
				       &(u32){W_FUNCS * HB_SIZE_CLASSES * HB_OUTCOME_NR - 1}),
		1ULL << 32 | 1);
	assert_int_equal(w_row(f, 0, 31, HB_OUTCOME_ERROR)->raw_sum_ns, 20);
}

/* ---- processes ---- */

static void test_in_a_pid_namespace_its_own_ids_are_compared(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);
	struct w_task *t = w_thread(1);

	cfg_pidns_dev = 4;
	cfg_pidns_ino = kernel.pidns_ino = 99;
	kernel.pidns_shift = 5;
	cfg_tgid = t->tgid - 5;
	w_ran(f, D1, ra, 10);
	kernel.pidns_ino = 98; /* a process of the same number elsewhere */
	w_ran(f, D1, ra, 10);
	cfg_pidns_ino = 0;
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 1);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
}

static void test_two_processes_have_rows_of_their_own_though_they_share_the_cache(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *p[3];

	cfg_tgid = 0;
	for (u32 i = 0; i < 3; i++) {
		p[i] = w_go(1);
		p[i]->tgid = 500 + i;
		if (i < 2)
			kernel__map_set(HOST_MAP(PROCS), &p[i]->tgid,
					&(struct hb_proc){.index = i * 0x7fff});
	}
	for (u32 i = 0; i < 9; i++) {
		w_run(p[i % 3]);
		w_ran(f, D1, ra, 10 + i % 3);
	}
	assert_int_equal(w_row(f, 0, 0, HB_OUTCOME_OK)->raw_sum_ns, 30);
	assert_int_equal(w_row(f, 0x7fff, 0, HB_OUTCOME_OK)->raw_sum_ns, 33);
	/* the third is no target */
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 6);
	assert_null(w_frames_of(p[2]));
}

static void test_another_process_than_the_only_target_is_ignored(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	t->tgid = W_TGID + 1;
	/* whatever the map of processes says */
	kernel__map_set(HOST_MAP(PROCS), &t->tgid, &(struct hb_proc){.index = 3});
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 0);
	assert_int_equal(nr_tasks, 0);
}

static void test_the_same_goroutine_address_in_two_processes_is_two_tasks(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	cfg_tgid = 0;
	kernel__map_set(HOST_MAP(PROCS), &(u32){1}, &(struct hb_proc){.index = 1});
	kernel__map_set(HOST_MAP(PROCS), &(u32){2}, &(struct hb_proc){.index = 2});
	t->tgid = 1;
	w_call(f, D1, ra);
	w_pass(3);
	t->tgid = 2;
	w_call(f, D1, ra);
	assert_int_equal(w_frames_of(t)->frame[0].proc, 2);
	w_pass(4);
	t->tgid = 1;
	w_ret(f, D1, ra);
	t->tgid = 2;
	w_ret(f, D1, ra);
	assert_int_equal(w_row(f, 1, 0, HB_OUTCOME_OK)->raw_sum_ns, 7);
	assert_int_equal(w_row(f, 2, 0, HB_OUTCOME_OK)->raw_sum_ns, 4);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 0);
}

static void test_nothing_is_measured_before_recording_begins_and_after_it_ends(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	recording = false;
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 0);
	assert_int_equal(nr_tasks, 0);
	recording = true;
	w_ran(f, D1, ra, 20);
	w_call(f, D1, ra);
	recording = false;
	w_ret(f, D1, ra);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 2);
	assert_int_equal(w_plain(f)->raw_sum_ns, 20);
	/* in flight at the end */
	assert_int_equal(w_frames(t), 1);
	assert_int_equal(w_in_flight(f), 1);
}

static void test_the_profiler_s_own_calls_are_measured_always(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);
	struct w_task *t = w_thread(W_SELF);

	t->tgid = W_SELF;
	recording = false;
	w_ran(f, D1, ra, 10);
	recording = true;
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_row(f, HB_PROC_SELF, 0, HB_OUTCOME_OK)->raw_sum_ns, 20);
}

/* ---- tasks without an open call ---- */

static void test_a_task_is_kept_for_its_next_call(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	w_ran(f, D1, ra, 10);
	w_ran(f, D1, ra, 10);
	assert_non_null(w_frames_of(t));
	assert_int_equal(nr_tasks, 1);
}

static void test_a_task_is_deleted_at_its_last_return_when_room_is_tight(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);
	struct w_task *t = w_go(1);

	tight = true;
	kernel__map_resize(HOST_MAP(TASKS), 1);
	w_call(o, D1, o_ra);
	w_ran(f, D2, ra, 10);
	assert_non_null(w_frames_of(t));
	w_ret(o, D1, o_ra);
	assert_null(w_frames_of(t));
	assert_int_equal(nr_tasks, 0);
	t = w_go(2);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 2);
	assert_int_equal(w_drop(HB_DROP_FRAMES_FULL), 0);
}

static void test_a_task_that_user_space_has_deleted_is_counted_once(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	tight = true;
	kernel__plant(KERNEL_DELETE, HOST_MAP(TASKS), 0, 1, -ENOENT);
	w_ran(f, D1, ra, 10);
	assert_int_equal(nr_tasks, 1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(nr_tasks, 0);
	assert_null(w_frames_of(t));
}

static void test_a_recovery_that_leaves_nothing_deletes_the_task_when_room_is_tight(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *t = w_go(1);

	tight = true;
	w_call(f, D2, ra);
	w_recover(D1);
	assert_null(w_frames_of(t));
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 1);
}

static void test_a_return_that_leaves_only_the_dead_deletes_the_task_when_room_is_tight(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});
	struct w_task *t = w_go(1);

	tight = true;
	w_call(f, D2, ra);
	w_site_hit(shared, D1);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 1);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	assert_null(w_frames_of(t));
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_rows_are_made_in_the_order_of_their_first_call),
		T(test_extremes_are_of_all_calls_in_any_order),
		T(test_latencies_of_any_length_have_a_bucket),
		T(test_a_row_that_another_cpu_made_first_is_used),
		T(test_a_row_that_cannot_be_remembered_is_the_overflow_row),
		T(test_without_rows_of_their_own_all_calls_go_to_the_overflow_row),
		T(test_rows_end_at_the_limit),
		T(test_the_last_function_and_class_have_a_place_in_the_row_cache),
		T(test_in_a_pid_namespace_its_own_ids_are_compared),
		T(test_two_processes_have_rows_of_their_own_though_they_share_the_cache),
		T(test_another_process_than_the_only_target_is_ignored),
		T(test_the_same_goroutine_address_in_two_processes_is_two_tasks),
		T(test_nothing_is_measured_before_recording_begins_and_after_it_ends),
		T(test_the_profiler_s_own_calls_are_measured_always),
		T(test_a_task_is_kept_for_its_next_call),
		T(test_a_task_is_deleted_at_its_last_return_when_room_is_tight),
		T(test_a_task_that_user_space_has_deleted_is_counted_once),
		T(test_a_recovery_that_leaves_nothing_deletes_the_task_when_room_is_tight),
		T(test_a_return_that_leaves_only_the_dead_deletes_the_task_when_room_is_tight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
