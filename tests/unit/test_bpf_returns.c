/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_returns.c - return addresses that are not known yet, and returns that end no call or are
 * seen at the function's own return.
 */
#include "bpf_world.h"

#include <string.h>

#define D1 0x100
#define D2 0x200
#define D3 0x300

static void check_no_event(void)
{
	struct hb_event e;

	assert_int_equal(w_event(&e), -1);
}

static void check_event(u16 func, u64 ra, const struct hb_ra_key *key, u32 tgid, u16 proc)
{
	struct hb_event e;

	assert_int_equal(w_event(&e), 0);
	assert_memory_equal(&e.key, key, sizeof(*key));
	assert_int_equal(e.ra, ra);
	assert_int_equal(e.func, func);
	assert_int_equal(e.tgid, tgid);
	assert_int_equal(e.proc, proc);
	check_no_event();
}

/* ---- return addresses ---- */

static void test_an_unknown_return_address_is_told_once(void **state)
{
	u16 other = W_FUNC(.image = W_GO), f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO);
	struct hb_ra_key key = {ra, W_GO, HB_RA_IMAGE};

	w_go(1);
	w_ran(other, D1, w_ra(other), 10);
	w_ran(f, D1, ra, 10);
	check_event(f, ra, &key, W_TGID, 0);
	w_ran(f, D1, ra, 10);
	w_go(2);
	w_ran(f, D2, ra, 10);
	check_no_event();
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 3);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 3);
	assert_int_equal(w_n(f, HB_FN_EXITS), 0);
	assert_int_equal(w_samples(f), 0);
	assert_int_equal(*(u32 *)kernel__map_at(HOST_MAP(RAS), 0, &key), HB_RA_REQUESTED);
	/* user space has found a site */
	w_attach(ra, (struct w_site){.func = f, .delta = -7});
	w_ran(f, D1, ra, 25);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 3);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 25);
}

static void test_a_refused_return_address_stays_unknown(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO);

	w_set_state(ra, HB_RA_REFUSED);
	w_go(1);
	w_ran(f, D1, ra, 10);
	check_no_event();
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
}

static void test_code_outside_the_image_is_known_by_process(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra_foreign();
	struct hb_ra_key key = {ra, 0, HB_RA_PROCESS};

	w_thread(1);
	w_ran(f, D1, ra, 10);
	check_event(f, ra, &key, W_TGID, 0);
	w_attach(ra, (struct w_site){.func = f});
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 1);
}

static void test_an_image_s_code_ends_before_its_end(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 first = w_addr(W_NATIVE, W_CODE), before = first - 1;
	u64 end = w_addr(W_NATIVE, W_CODE_END), last = end - 1;
	struct hb_ra_key k_first = {W_CODE, W_NATIVE, HB_RA_IMAGE};
	struct hb_ra_key k_last = {W_CODE_END - 1, W_NATIVE, HB_RA_IMAGE};
	struct hb_ra_key k_before = {before, 0, HB_RA_PROCESS};
	struct hb_ra_key k_end = {end, 0, HB_RA_PROCESS};

	w_thread(1);
	w_ran(f, D1, first, 1);
	check_event(f, first, &k_first, W_TGID, 0);
	w_ran(f, D1, last, 1);
	check_event(f, last, &k_last, W_TGID, 0);
	w_ran(f, D1, before, 1);
	check_event(f, before, &k_before, W_TGID, 0);
	w_ran(f, D1, end, 1);
	check_event(f, end, &k_end, W_TGID, 0);
}

/* Two processes run the same image at different addresses. */
static void two_procs(struct w_task *p[2])
{
	cfg_tgid = 0;
	for (u32 i = 0; i < 2; i++) {
		p[i] = w_thread(100 + i);
		p[i]->tgid = 1000 + i;
		p[i]->slide = i * 0x1000000000ULL;
		kernel__map_set(HOST_MAP(PROCS), &p[i]->tgid, &(struct hb_proc){.index = i});
	}
}

static void test_processes_share_the_return_addresses_of_an_image(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra_unknown(W_NATIVE);
	struct hb_ra_key key = {ra - w_addr(W_NATIVE, 0), W_NATIVE, HB_RA_IMAGE};
	struct w_task *p[2];

	two_procs(p);
	w_run(p[1]);
	w_ran(f, D1, ra, 10);
	check_event(f, ra + p[1]->slide, &key, 1001, 1);
	w_run(p[0]);
	w_ran(f, D1, ra, 10);
	check_no_event();
	w_attach(ra, (struct w_site){.func = f});
	for (u32 i = 0; i < 2; i++) {
		w_run(p[i]);
		w_ran(f, D1, ra, 10);
		w_ran(f, D1, ra, 20 + i);
		assert_int_equal(w_row(f, i, 0, HB_OUTCOME_OK)->raw_sum_ns, 30 + i);
	}
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 2);
}

static void test_processes_do_not_share_other_code(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra_foreign();
	struct w_task *p[2];

	two_procs(p);
	for (u32 i = 0; i < 2; i++) {
		struct hb_ra_key key = {ra, i, HB_RA_PROCESS};

		w_run(p[i]);
		w_ran(f, D1, ra, 10);
		check_event(f, ra, &key, 1000 + i, i);
	}
	/* attached in the first only: not even the cache may tell the second */
	w_attach(ra, (struct w_site){.func = f});
	for (u32 i = 0; i < 4; i++) {
		w_run(p[i & 1]);
		w_call(f, D1, ra);
		w_pass(10);
		if (!(i & 1))
			w_ret(f, D1, ra);
	}
	assert_int_equal(w_row(f, 0, 0, HB_OUTCOME_OK)->raw_sum_ns, 20);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 4);
}

static u32 cache_slot(u64 tag)
{
	return tag * 0x9e3779b97f4a7c15ULL >> 52 & (HB_RA_CACHE - 1);
}

static void test_return_addresses_that_share_a_cache_slot_stay_apart(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 known = w_ra(f), other = known + 1;
	u32 slot = cache_slot(known);

	while (cache_slot(other) != slot)
		other++;
	w_go(1);
	for (int i = 0; i < 3; i++) {
		w_ran(f, D1, known, 10);
		assert_int_equal(*(u64 *)kernel__map_at(HOST_MAP(RA_CACHE), 0, &slot), known);
		w_ran(f, D1, other, 10);
	}
	assert_int_equal(w_samples(f), 3);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 3);
	w_attach(other, (struct w_site){.func = f});
	for (int i = 0; i < 3; i++) {
		w_ran(f, D1, other, 10);
		assert_int_equal(*(u64 *)kernel__map_at(HOST_MAP(RA_CACHE), 0, &slot), other);
		w_ran(f, D1, known, 10);
	}
	assert_int_equal(w_samples(f), 9);
}

static void test_an_attached_address_is_looked_up_once(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	w_go(1);
	w_ran(f, D1, ra, 10);
	/* the cache has it: what the map says does not matter any more */
	w_set_state(ra, HB_RA_REFUSED);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 2);
}

static void test_the_cache_is_not_needed(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);

	kernel__plant(KERNEL_LOOKUP, HOST_MAP(RA_CACHE), 0, 2, -1);
	w_go(1);
	w_ran(f, D1, ra, 10);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_samples(f), 2);
}

static void test_a_return_address_of_0_is_not_known(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);

	w_thread(1);
	w_call(f, D1, 0);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
}

/* ---- calls whose return is not seen ---- */

static void test_calls_inside_a_call_of_unknown_return_are_nested(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra(f), o_ra = w_ra(o), unknown = w_ra_unknown(W_GO);

	w_go(1);
	w_call(f, D1, unknown);
	w_ran(f, D2, ra, 10);
	w_call(o, D2, o_ra);
	w_ran(f, D3, ra, 10);
	w_ret(o, D2, o_ra);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
	assert_int_equal(w_n(f, HB_FN_NESTED), 2);
	assert_int_equal(w_n(f, HB_FN_EXITS), 2);
	assert_int_equal(w_samples(f), 0);
	assert_int_equal(w_samples(o), 1);
	/* its end is seen by the next call only; nothing is said twice */
	w_ran(f, D1, ra, 30);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 0);
	assert_int_equal(w_plain(f)->raw_sum_ns, 30);
}

static void test_a_nested_call_of_unknown_return_is_not_waited_for(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), unknown = w_ra_unknown(W_GO);
	struct w_task *g = w_go(1);

	w_call(f, D1, ra);
	w_call(f, D2, unknown);
	assert_int_equal(w_frames_of(g)->frame[0].kept, 0);
	w_pass(10);
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_NESTED), 1);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 0);
	assert_int_equal(w_samples(f), 1);
}

static void test_a_site_attached_during_the_call_ends_it_without_a_sample(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra_unknown(W_GO);
	struct w_task *g = w_go(1);

	w_call(f, D1, ra);
	w_attach(ra, (struct w_site){.func = f});
	w_pass(10);
	w_ret(f, D1, ra);
	assert_int_equal(w_frames(g), 0);
	assert_int_equal(w_samples(f), 0);
	assert_int_equal(w_n(f, HB_FN_UNKNOWN), 1);
	assert_int_equal(w_n(f, HB_FN_EXITS), 0);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
}

static void test_time_inside_a_call_of_unknown_return_goes_to_the_outer_one(void **state)
{
	u16 f[3];
	u64 ra[3], unknown = w_ra_unknown(W_GO);

	for (int i = 0; i < 3; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	cal.total_ns[HB_LANG_GO][0][0] = 20;
	w_go(1);
	for (int i = 0; i < 2; i++) {
		w_call(f[0], D1, ra[0]);
		w_call(f[1], D2, unknown);
		w_ran(f[2], D3, ra[2], 120);
		if (i)
			w_attach(unknown, (struct w_site){.func = f[1]});
		w_ret(f[1], D2, unknown);
		w_pass(30);
		w_ret(f[0], D1, ra[0]);
	}
	assert_int_equal(w_plain(f[0])->dist[HB_DIST_OUTER].sum_ns, 2 * (150 - 20));
	assert_int_equal(w_plain(f[0])->dist[HB_DIST_OUTER_EXC].sum_ns, 2 * (130 - 120));
}

/* ---- returns that end no call ---- */

static void test_calls_in_flight_when_recording_began_are_counted_at_their_return(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});

	recording = false;
	w_go(1);
	w_call(f, D1, shared);
	w_call(f, D2, ra);
	w_call(f, D3, ra);
	assert_int_equal(w_n(f, HB_FN_ENTRIES), 0);
	recording = true;
	w_ran(f, D3 + 8, ra, 10);
	w_ret(f, D3, ra);
	w_ret(f, D2, ra);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 2);
	/* at a shared site there is no telling */
	w_ret(f, D1, shared);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 2);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	assert_int_equal(w_samples(f), 1);
}

static void test_a_return_from_further_in_than_a_seen_call_was_not_in_flight(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f);
	struct w_task *g = w_go(1);

	w_ran(f, D2, ra, 10);
	w_site_hit(ra, D2);
	w_site_hit(ra, D3);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 2);
	w_site_hit(ra, D1);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 1);
	/* once each */
	w_site_hit(ra, D1);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 1);
	/* and nothing of a goroutine that began later */
	w_reuse_g(g, 2);
	w_ran(f, D2, ra, 10);
	w_site_hit(ra, 8);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 1);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 4);
}

static void test_a_call_dropped_on_another_stack_does_not_hide_one_in_flight(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra(f);
	struct w_task *t = w_thread(1);
	u64 own, other;

	own = w_thread(2)->hi;
	other = t->hi;
	assert_true(own > other);
	/* the own stack is the upper one: its depths are the smaller ones */
	w_run(t);
	w_switch_stack(t, other);
	recording = false;
	w_call(f, D1, ra);
	recording = true;
	w_call(f, D2, ra);
	w_switch_stack(t, own);
	w_ran(f, D2, ra, 10);
	assert_int_equal(w_drop(HB_DROP_STACK_SWITCH), 1);
	w_switch_stack(t, other);
	w_ret(f, D2, ra);
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 1);
	assert_int_equal(w_samples(f), 1);
}

static void test_another_path_past_a_return_site_ends_nothing(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.group = 1), o = W_FUNC(.image = W_GO, .f.group = 2);
	u64 ra = w_ra_with(f, (struct w_site){.func = W_ANY}), o_ra = w_ra(o);

	w_go(1);
	w_site_hit(ra, D1);
	w_call(f, D1, ra);
	/* deeper, as in a recursion of the caller; and from another call at the same depth */
	w_site_hit(ra, D2);
	w_call(o, D2, o_ra);
	w_site_hit(ra, D2);
	w_pass(10);
	w_ret(o, D2, o_ra);
	w_ret(f, D1, ra);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 3);
	assert_int_equal(w_samples(f), 1);
	assert_int_equal(w_samples(o), 1);
}

static void test_exits_are_counted_by_the_class_of_their_site(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .cls = HB_CLASS_PUSH);
	u16 r = W_FUNC(.image = W_GO, .f.flags = HB_FUNC_EXIT_RET, .ret_cls = HB_CLASS_STEP);
	u64 nop = w_ra_with(f, (struct w_site){.func = f, .cls = HB_CLASS_NOP});
	u64 call = w_ra_with(f, (struct w_site){.func = f, .cls = HB_CLASS_CALL});

	w_go(1);
	w_ran(f, D1, nop, 10);
	w_call(f, D1, nop);
	/* recursive ones, too */
	w_ran(f, D2, call, 10);
	w_ran(r, D2, w_ra_foreign(), 10);
	w_ret(f, D1, nop);
	for (u32 c = 0; c < HB_CLASS_DIM; c++) {
		assert_int_equal(w_exits(f, c), c == HB_CLASS_NOP ? 2 : c == HB_CLASS_CALL);
		assert_int_equal(w_exits(r, c), c == HB_CLASS_STEP);
	}
}

static void test_a_path_at_the_depth_of_a_lost_call_is_no_return_of_one_nested_in_it(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), shared = w_ra_with(f, (struct w_site){.func = W_ANY});

	w_go(1);
	w_call(f, D1, ra);
	w_call(f, D2, ra);
	/* both are left by a panic, and their caller goes on past another call's return site */
	w_site_hit(shared, D1);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_ABANDONED), 2);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
}

/* ---- exits at the function's own return ---- */

static void test_a_function_may_be_followed_by_its_own_returns(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_EXIT_RET, .ret_cls = HB_CLASS_STEP);
	u16 o = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra_foreign(), o_ra = w_ra(o);

	cal.total_ns[HB_LANG_NATIVE][0][HB_CLASS_STEP] = 40;
	w_thread(1);
	w_call(o, D1, o_ra);
	w_ran(f, D2, ra, 100);
	w_ret(o, D1, o_ra);
	/* its return address is nobody's business */
	check_no_event();
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 100);
	assert_int_equal(w_plain(o)->dist[HB_DIST_OUTER].sum_ns, 60);
}

static void test_a_function_followed_by_its_returns_passes_its_return_sites_in_vain(void **state)
{
	u16 f = W_FUNC(.image = W_GO, .f.flags = HB_FUNC_EXIT_RET);
	u64 ra = w_ra(f);

	w_go(1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	w_site_hit(ra, 16);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 2);
	/* its own return without a call seen is a call in flight */
	w_jump_out(f, 8);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 1);
}

static void test_a_tail_jump_out_of_a_function_followed_by_its_returns_ends_it(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = HB_FUNC_EXIT_RET | W_FUNC_TAILS);
	u16 o = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = HB_FUNC_EXIT_RET);
	u64 ra = w_ra_foreign();

	w_thread(1);
	w_call(f, D1, ra);
	w_pass(10);
	w_jump_out(f, D1);
	w_enter(o, D1);
	w_pass(100);
	w_ret(o, D1, ra);
	assert_int_equal(w_plain(f)->raw_sum_ns, 10);
	assert_int_equal(w_plain(f)->dist[HB_DIST_LEAF].count, 1);
	assert_int_equal(w_plain(o)->raw_sum_ns, 100);
}

static void test_a_return_ends_only_its_own_function_and_only_at_its_depth(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = HB_FUNC_EXIT_RET);
	u16 o = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = HB_FUNC_EXIT_RET);
	u64 ra = w_ra_foreign();
	struct w_task *t = w_thread(1);

	w_call(f, D1, ra);
	w_jump_out(o, D1);
	w_jump_out(f, D2);
	assert_int_equal(w_frames(t), 1);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 2);
	w_pass(5);
	w_jump_out(f, D1);
	assert_int_equal(w_samples(f), 1);
	assert_int_equal(w_samples(o), 0);
}

static void test_recursion_is_exact_with_exits_at_returns(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.flags = HB_FUNC_EXIT_RET);
	u64 ra = w_ra_foreign();

	w_thread(1);
	for (u64 i = 1; i <= 300; i++)
		w_call(f, 64 * i, ra);
	for (u64 i = 300; i; i--) {
		w_pass(1);
		w_ret(f, 64 * i, ra);
	}
	assert_int_equal(w_n(f, HB_FN_EXITS), 300);
	assert_int_equal(w_n(f, HB_FN_NESTED), 299);
	assert_int_equal(w_samples(f), 1);
	assert_int_equal(w_plain(f)->raw_sum_ns, 300);
}

static void test_a_return_site_passed_in_vain_is_no_nested_return(void **state)
{
	u16 f = W_FUNC(.image = W_GO), r = W_FUNC(.image = W_GO, .f.flags = HB_FUNC_EXIT_RET);
	u64 ra = w_ra(f), inner = w_ra(f), r_ra = w_ra(r);

	w_go(1);
	w_call(f, D1, ra);
	w_call(f, D2, inner);
	/* both its own return and its return site are passed: it returns once */
	w_ran(r, D3, r_ra, 10);
	assert_int_equal(w_n(r, HB_FN_EXITS), 1);
	w_ret(f, D2, inner);
	w_ret(f, D1, ra);
	assert_int_equal(w_n(f, HB_FN_EXITS), 2);
	assert_int_equal(w_n(f, HB_FN_UNSEEN), 0);
}

static void test_hits_that_end_no_call_are_counted_by_the_class_of_the_site(void **state)
{
	u16 f = W_FUNC(.image = W_GO);
	u64 ra = w_ra(f), at[HB_CLASS_NR];

	for (u32 c = 0; c < HB_CLASS_NR; c++)
		at[c] = w_ra_with(f, (struct w_site){.func = W_ANY, .cls = c});
	w_go(1);
	w_call(f, D1, ra);
	for (u32 c = 0; c < HB_CLASS_NR; c++)
		for (u32 i = 0; i <= c; i++)
			w_site_hit(at[c], D2);
	w_ret(f, D1, ra);
	for (u32 c = 0; c < HB_CLASS_DIM; c++)
		assert_int_equal(w_drop(HB_CNT_UNMATCHED + c), c < HB_CLASS_NR ? c + 1 : 0);
	assert_int_equal(w_n(f, HB_FN_EXITS), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_an_unknown_return_address_is_told_once),
		T(test_a_refused_return_address_stays_unknown),
		T(test_code_outside_the_image_is_known_by_process),
		T(test_an_image_s_code_ends_before_its_end),
		T(test_processes_share_the_return_addresses_of_an_image),
		T(test_processes_do_not_share_other_code),
		T(test_return_addresses_that_share_a_cache_slot_stay_apart),
		T(test_an_attached_address_is_looked_up_once),
		T(test_the_cache_is_not_needed),
		T(test_a_return_address_of_0_is_not_known),
		T(test_calls_inside_a_call_of_unknown_return_are_nested),
		T(test_a_nested_call_of_unknown_return_is_not_waited_for),
		T(test_a_site_attached_during_the_call_ends_it_without_a_sample),
		T(test_time_inside_a_call_of_unknown_return_goes_to_the_outer_one),
		T(test_calls_in_flight_when_recording_began_are_counted_at_their_return),
		T(test_a_return_from_further_in_than_a_seen_call_was_not_in_flight),
		T(test_a_call_dropped_on_another_stack_does_not_hide_one_in_flight),
		T(test_another_path_past_a_return_site_ends_nothing),
		T(test_a_path_at_the_depth_of_a_lost_call_is_no_return_of_one_nested_in_it),
		T(test_exits_are_counted_by_the_class_of_their_site),
		T(test_a_function_may_be_followed_by_its_own_returns),
		T(test_a_function_followed_by_its_returns_passes_its_return_sites_in_vain),
		T(test_a_return_site_passed_in_vain_is_no_nested_return),
		T(test_a_tail_jump_out_of_a_function_followed_by_its_returns_ends_it),
		T(test_a_return_ends_only_its_own_function_and_only_at_its_depth),
		T(test_recursion_is_exact_with_exits_at_returns),
		T(test_hits_that_end_no_call_are_counted_by_the_class_of_the_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
