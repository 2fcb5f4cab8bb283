/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_drops.c - every reason of enum hb_drop, each brought about by a planted fault; and what a
 * call in trouble does to its neighbours: nothing. The last check is that no reason was left out.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#include <errno.h>

#define D1 0x100
#define D2 0x200
#define D3 0x300

static bool met[HB_DROP_NR];

/* The reasons given so far, and how often. */
static void check_drops(enum hb_drop why, u64 n)
{
	for (u32 d = 0; d < HB_DROP_NR; d++)
		assert_int_equal(w_drop(d), d == why ? n : 0);
	met[why] = true;
}

/* A call around one that is dropped, and one after it, are measured as if it had not been. */
struct around {
	u16 f, outer;
	u64 f_ra, outer_ra;
	struct w_task *t;
};

static struct around around_of(u32 image)
{
	struct around a;

	a.f = W_FUNC(.image = image, .f.group = 1);
	a.outer = W_FUNC(.image = image, .f.group = 2);
	a.f_ra = w_ra(a.f);
	a.outer_ra = w_ra(a.outer);
	a.t = image == W_NATIVE ? w_thread(5) : w_go(1);
	w_call(a.outer, D1, a.outer_ra);
	return a;
}

static void check_around(const struct around *a, u64 dropped)
{
	assert_int_equal(w_n(a->f, HB_FN_DROPPED), dropped);
	assert_int_equal(w_n(a->f, HB_FN_EXITS), 0);
	assert_int_equal(w_n(a->f, HB_FN_ENTRIES), dropped);
	w_ret(a->outer, D1, a->outer_ra);
	assert_int_equal(w_samples(a->outer), 1);
	assert_int_equal(w_plain(a->outer)->raw_sum_ns, kernel.now_ns - 1000000);
	w_ran(a->f, D1, a->f_ra, 77);
	assert_int_equal(w_plain(a->f)->raw_sum_ns, 77);
	assert_int_equal(w_n(a->outer, HB_FN_ABANDONED) + w_n(a->f, HB_FN_ABANDONED), 0);
}

static void test_a_cookie_without_a_site_is_said(void **state)
{
	w_thread(1);
	w_hit(1u << 31, HB_ROLE_ENTRY, HB_LANG_NATIVE, 0, 0);
	w_hit(1u << 31, HB_ROLE_RETSITE, HB_LANG_GO, 0, 0);
	check_drops(HB_DROP_NO_SITE, 2);
}

static void test_a_goroutine_that_cannot_be_read_drops_its_call(void **state)
{
	struct around a = around_of(W_GO);

	/* the stack's bounds, and then the id */
	for (u32 i = 0; i < 2; i++) {
		kernel__plant(KERNEL_READ_USER, NULL, i, 1, -EFAULT);
		w_ran(a.f, D2, a.f_ra, 10);
	}
	check_drops(HB_DROP_READ_G, 2);
	check_around(&a, 2);
}

static void test_a_goroutine_that_cannot_be_read_at_the_exit_leaves_the_call_open(void **state)
{
	struct around a = around_of(W_GO);

	kernel__plant(KERNEL_READ_USER, NULL, 0, 1, -EFAULT);
	w_ret(a.outer, D1, a.outer_ra);
	check_drops(HB_DROP_READ_G, 1);
	assert_int_equal(w_n(a.outer, HB_FN_EXITS), 0);
	w_ran(a.outer, D1, a.outer_ra, 5);
	assert_int_equal(w_n(a.outer, HB_FN_ABANDONED), 1);
	assert_int_equal(w_plain(a.outer)->raw_sum_ns, 5);
}

static void test_a_stack_pointer_outside_the_goroutine_s_stack_drops_the_call(void **state)
{
	struct around a = around_of(W_GO);

	kernel__user_add(a.t->lo - 64, 64);
	kernel__user_add(a.t->hi, 64);
	w_call(a.f, W_STACK + 8, a.f_ra);
	w_call(a.f, 0, a.f_ra);
	w_call(a.f, -8ULL, a.f_ra);
	check_drops(HB_DROP_BAD_G, 3);
	w_pass(5);
	check_around(&a, 3);
}

static void test_the_lowest_word_of_a_stack_is_inside(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	w_ran(f, W_STACK, ra, 10);
	w_ran(f, 8, ra, 10);
	assert_int_equal(w_samples(f), 2);
}

static void test_a_return_from_outside_the_stack_is_said(void **state)
{
	struct around a = around_of(W_GO);

	w_site_hit(a.outer_ra, W_STACK + 0x1000);
	check_drops(HB_DROP_BAD_G, 1);
	check_around(&a, 0);
}

#if REGS_RA_READS
static void test_a_return_address_that_cannot_be_read_drops_the_call(void **state)
{
	struct around go = around_of(W_GO);

	kernel__plant(KERNEL_READ_USER, NULL, 2, 1, -EFAULT);
	w_ran(go.f, D2, go.f_ra, 10);
	check_drops(HB_DROP_READ_RA, 1);
	check_around(&go, 1);
}

static void test_a_thread_s_return_address_that_faults_drops_the_call(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	struct w_task *t = w_thread(1);

	w_enter(f, W_STACK + 0x1000);
	check_drops(HB_DROP_READ_RA, 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
	assert_null(w_frames_of(t));
}
#endif

static void test_one_task_more_than_there_is_room_for_is_dropped(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *a, *b;

	kernel__map_resize(HOST_MAP(TASKS), 1);
	a = w_go(1);
	b = w_go(2);
	w_run(a);
	w_call(f, D1, ra);
	w_pass(5);
	w_run(b);
	w_ran(f, D1, ra, 10);
	w_run(a);
	w_ret(f, D1, ra);
	check_drops(HB_DROP_FRAMES_FULL, 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 15);
	assert_int_equal(nr_tasks, 1);
}

static void test_no_memory_for_a_task_drops_its_call(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	kernel__plant(KERNEL_UPDATE, HOST_MAP(TASKS), 0, 1, -ENOMEM);
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_FRAMES_FULL, 1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 1);
}

static void test_a_17th_call_is_dropped_though_it_is_a_tail_call(void **state)
{
	u16 f[HB_FRAME_DEPTH + 1];
	u64 ra[HB_FRAME_DEPTH + 1];

	for (u32 i = 0; i <= HB_FRAME_DEPTH; i++) {
		f[i] = W_FUNC(.image = W_NATIVE, .f.group = i, .f.flags = W_FUNC_TAILS);
		ra[i] = w_ra(f[i]);
	}
	w_thread(1);
	for (u32 i = 0; i < HB_FRAME_DEPTH; i++)
		w_call(f[i], D1 * (i + 1), ra[i]);
	w_enter(f[16], D1 * 16);
	check_drops(HB_DROP_FRAMES_DEEP, 1);
	w_pass(10);
	w_site_hit(ra[15], D1 * 16);
	assert_int_equal(w_n(f[16], HB_FN_EXITS), 0);
	assert_int_equal(w_n(f[15], HB_FN_EXITS), 1);
	assert_int_equal(w_plain(f[15])->raw_sum_ns, 10);
}

static void test_a_call_on_another_stack_is_dropped(void **state)
{
	struct around a = around_of(W_NATIVE);
	u64 own = a.t->hi;

	for (int i = 0; i < 2; i++) {
		w_switch_stack(a.t, w_thread(6 + i)->hi);
		w_run(a.t);
		w_ran(a.f, D2, a.f_ra, 10);
	}
	w_switch_stack(a.t, own);
	check_drops(HB_DROP_STACK_SWITCH, 2);
	check_around(&a, 2);
}

static void test_a_clock_that_goes_back_drops_the_call(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u16 in = W_FUNC(.image = W_GO, .f.group = 3);
	u64 ra = w_ra(f), o_ra = w_ra(o), in_ra = w_ra(in);

	cal.total_ns[HB_LANG_GO][0][0] = 4;
	w_go(1);
	w_call(o, D1, o_ra);
	w_pass(100);
	w_call(f, D2, ra);
	w_ran(in, D3, in_ra, 10);
	kernel.now_ns -= 11;
	w_ret(f, D2, ra);
	check_drops(HB_DROP_CLOCK_BACK, 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
	assert_int_equal(w_n(f, HB_FN_EXITS), 0);
	assert_int_equal(w_samples(f), 0);
	w_ret(o, D1, o_ra);
	/* the innermost call was inside the outermost */
	assert_int_equal(w_plain(o)->raw_sum_ns, 99);
	assert_int_equal(w_plain(o)->dist[HB_DIST_OUTER].sum_ns, 95);
	assert_int_equal(w_plain(o)->dist[HB_DIST_OUTER_EXC].sum_ns, 85);
	/* standing still is not going back */
	w_ran(f, D1, ra, 0);
	assert_int_equal(w_samples(f), 1);
}

static void test_a_sample_without_a_row_goes_to_the_overflow_row(void **state)
{
	u16 f = W_FUNC(.image = W_GO), o = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	cfg_nr_rows = 2;
	w_go(1);
	w_ran(f, D1, ra, 10);
	w_ran(o, D1, o_ra, 100);
	w_ran(o, D1, o_ra, 300);
	check_drops(HB_DROP_ROWS_FULL, 2);
	assert_int_equal(w_n(o, HB_FN_EXITS), 2);
	assert_int_equal(w_samples(o), 0);
	assert_int_equal(w_overflow()->dist[HB_DIST_LEAF].count, 2);
	assert_int_equal(w_overflow()->dist[HB_DIST_LEAF].sum_ns, 400);
	assert_int_equal(w_plain(f)->raw_sum_ns, 10);
	/* the row that there is is found as before */
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_ROWS_FULL, 2);
	assert_int_equal(next_row, 1);
}

static void test_a_sample_without_a_histogram_is_counted_still(void **state)
{
	u16 f = W_FUNC(.image = W_GO), o = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	cfg_nr_hists = 1;
	w_go(1);
	w_ran(f, D1, ra, 10);
	w_ran(o, D1, o_ra, 100);
	w_ran(o, D1, o_ra, 300);
	check_drops(HB_DROP_HISTS_FULL, 2);
	assert_int_equal(w_samples(o), 2);
	assert_int_equal(w_plain(o)->dist[HB_DIST_LEAF].sum_ns, 400);
	assert_int_equal(w_plain(o)->dist[HB_DIST_LEAF].hist, 0);
	assert_int_equal(w_bucket(&w_plain(f)->dist[HB_DIST_LEAF], 10), 1);
	assert_int_equal(next_hist, 1);
}

static void test_no_histograms_at_all_lose_no_count(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o);

	cfg_nr_hists = 0;
	w_go(1);
	w_call(o, D1, o_ra);
	w_ran(f, D2, ra, 10);
	w_ret(o, D1, o_ra);
	check_drops(HB_DROP_HISTS_FULL, 3);
	assert_int_equal(w_plain(o)->dist[HB_DIST_OUTER].sum_ns, 10);
}

static void test_no_room_for_a_return_address_is_said(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO), other = w_ra_unknown(W_GO);
	struct hb_event e;

	kernel__map_resize(HOST_MAP(RAS), 1);
	w_go(1);
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_RAS_FULL, 0);
	w_ran(f, D1, other, 10);
	w_ran(f, D1, other, 10);
	check_drops(HB_DROP_RAS_FULL, 2);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 3);
	assert_int_equal(w_event(&e), 0);
	assert_int_equal(w_event(&e), -1);
}

static void test_no_memory_for_a_return_address_is_said_and_asked_again(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO);
	struct hb_event e;

	kernel__plant(KERNEL_UPDATE, HOST_MAP(RAS), 0, 1, -ENOMEM);
	w_go(1);
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_RAS_FULL, 1);
	assert_int_equal(w_event(&e), -1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_event(&e), 0);
}

static void test_the_dynamic_linker_s_word_is_passed_on(void **state)
{
	struct hb_event e;

	w_run(w_thread(7));
	for (s32 fix = 0; fix <= 8;
	     fix += 8) { /* not known where its state is, and not readable there */
		w_loaded(fix);
		assert_int_equal(w_event(&e), 0);
		assert_int_equal(e.func, HB_FUNC_NONE);
		assert_int_equal(e.tgid, w.cur->tgid);
		assert_int_equal(e.ra, ~0U);
		assert_int_equal(w_event(&e), -1);
	}
	recording = false;
	w_loaded(0);
	assert_int_equal(w_event(&e), -1);
}

static void test_another_cpu_that_asks_first_is_no_loss(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO);
	struct hb_event e;

	kernel__plant(KERNEL_UPDATE, HOST_MAP(RAS), 0, 1, -EEXIST);
	w_go(1);
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_RAS_FULL, 0);
	assert_int_equal(w_event(&e), -1);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
}

static void test_a_full_ring_asks_again_later(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO), other = w_ra_unknown(W_GO);
	struct hb_event e;

	/* room for one */
	kernel__map_resize(HOST_MAP(EVENTS), sizeof(e) + 8);
	w_go(1);
	w_ran(f, D1, ra, 10);
	w_ran(f, D1, other, 10);
	w_ran(f, D1, other, 10);
	check_drops(HB_DROP_EVENT_LOST, 2);
	assert_int_equal(w_event(&e), 0);
	assert_int_equal(e.ra, ra);
	w_ran(f, D1, other, 10);
	assert_int_equal(w_event(&e), 0);
	assert_int_equal(e.ra, other);
	check_drops(HB_DROP_EVENT_LOST, 2);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 4);
}

static void test_a_call_during_which_others_were_counted_is_dropped(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	cfg_rates = true;
	rate_window = (struct hb_rate_window){kernel.now_ns, ~0ULL, ~0ULL, ~0ULL};
	w_go(1);
	w_ran(f, D1, ra, 10);
	check_drops(HB_DROP_WINDOW, 1);
	assert_int_equal(w_n(f, HB_FN_DROPPED), 1);
	assert_int_equal(w_samples(f), 0);
}

static void test_a_site_of_a_missing_function_or_image_is_left_alone(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	kernel__plant(KERNEL_LOOKUP, HOST_MAP(FUNCS), 0, 1, -1);
	w_call(f, D1, ra);
	kernel__plant(KERNEL_LOOKUP, HOST_MAP(IMAGES), 0, 1, -1);
	w_call(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 0);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 1);
}

static int every_reason_was_met(void **state)
{
	for (u32 d = 0; d < HB_DROP_NR; d++)
		if (!met[d] && (d != HB_DROP_READ_RA || REGS_RA_READS))
			fail_msg("drop reason %u has no test", d);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_cookie_without_a_site_is_said),
		T(test_a_goroutine_that_cannot_be_read_drops_its_call),
		T(test_a_goroutine_that_cannot_be_read_at_the_exit_leaves_the_call_open),
		T(test_a_stack_pointer_outside_the_goroutine_s_stack_drops_the_call),
		T(test_the_lowest_word_of_a_stack_is_inside),
		T(test_a_return_from_outside_the_stack_is_said),
#if REGS_RA_READS
		T(test_a_return_address_that_cannot_be_read_drops_the_call),
		T(test_a_thread_s_return_address_that_faults_drops_the_call),
#endif
		T(test_one_task_more_than_there_is_room_for_is_dropped),
		T(test_no_memory_for_a_task_drops_its_call),
		T(test_a_17th_call_is_dropped_though_it_is_a_tail_call),
		T(test_a_call_on_another_stack_is_dropped),
		T(test_a_clock_that_goes_back_drops_the_call),
		T(test_a_sample_without_a_row_goes_to_the_overflow_row),
		T(test_a_sample_without_a_histogram_is_counted_still),
		T(test_no_histograms_at_all_lose_no_count),
		T(test_no_room_for_a_return_address_is_said),
		T(test_no_memory_for_a_return_address_is_said_and_asked_again),
		T(test_the_dynamic_linker_s_word_is_passed_on),
		T(test_another_cpu_that_asks_first_is_no_loss),
		T(test_a_full_ring_asks_again_later),
		T(test_a_call_during_which_others_were_counted_is_dropped),
		T(test_a_site_of_a_missing_function_or_image_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, every_reason_was_met);
}
