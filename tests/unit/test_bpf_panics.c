/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_panics.c - Go's panics and Goexit: what deferred functions call, which calls are dead after
 * a recovery, and which go on.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#define D1 0x100
#define D2 0x200
#define D3 0x300

/* Two functions of different groups, a goroutine, and a return address for each function. */
struct two {
	u16 a, b;
	u64 a_ra, b_ra;
	struct w_task *g;
};

static struct two two_of(u32 image, u8 a_flags)
{
	struct two t;

	t.a = W_FUNC(.image = image, .f.group = 1, .f.flags = a_flags);
	t.b = W_FUNC(.image = image, .f.group = 2);
	t.a_ra = w_ra(t.a);
	t.b_ra = w_ra(t.b);
	t.g = image == W_NATIVE ? w_thread(7) : w_go(1);
	return t;
}

static void check_sample(u16 func, u64 ns)
{
	assert_int_equal(w_samples(func), 1);
	assert_int_equal(w_plain(func)->raw_sum_ns, ns);
}

/* ---- runtime.recovery ---- */

static void recovery_abandons_exactly_the_dead(u32 image)
{
	struct two t = two_of(image, 0);

	w.recover = image;
	/* a calls a function that defers a recover (SP D2 - 8 below stack.hi), that calls b */
	w_call(t.a, D1, t.a_ra);
	w_pass(100);
	w_call(t.b, D2, t.b_ra);
	w_pass(10);
	w_recover(D2 - 8);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 0);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	assert_int_equal(w_frames(t.g), 1);
	/* the slot of b still holds its return address, yet this is a call of its own */
	w_ran(t.b, D3, t.b_ra, 10);
	check_sample(t.b, 10);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 120);
}

static void test_recovery_abandons_exactly_the_dead(void **state)
{
	recovery_abandons_exactly_the_dead(W_GO);
}

static void test_recovery_abandons_exactly_the_dead_before_go_1_22(void **state)
{
	recovery_abandons_exactly_the_dead(W_GO_OLD);
}

static void test_the_recovering_call_itself_goes_on(void **state)
{
	struct two t = two_of(W_GO, 0);

	/* a itself defers, calls at D2, and that panics */
	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_recover(D2 - 8);
	/* and so it would if its frame were empty: on arm64 that of a function with calls never is */
	if (REGS_RA_READS)
		w_recover(D1);
	w_pass(7);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 7);
}

static void test_recovery_does_nothing_where_it_cannot_see(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_recover(8);
	w_call(t.a, D1, t.a_ra);
	/* stack.hi, g._panic, _panic.sp */
	for (u32 i = 0; i < 3; i++) {
		kernel__plant(KERNEL_READ_USER, NULL, i, 1, -14);
		w_recover(8);
		assert_int_equal(w_frames(t.g), 1);
	}
	/* an image without any offsets: native */
	w.recover = W_NATIVE;
	w_recover(8);
	assert_int_equal(w_frames(t.g), 1);
	w.recover = W_GO;
	w_recover(8);
	assert_int_equal(w_frames(t.g), 0);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
}

/* ---- gopanic and Goexit ---- */

static void test_a_deferred_function_s_call_in_a_panic_has_a_row_of_its_own(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1, .f.size_out = {HB_VALUE_REG, W_SI, 0, 0});
	struct w_task *g = w_go(1);
	u64 ra = w_ra(a);

	/* json.Marshal panics; the handler, on top of it, reports that as JSON */
	w_call(a, D1, ra);
	w_pass(100);
	w_panic(D2);
	w.reg[W_SI] = 64;
	w_ran(a, D3, ra, 10);
	assert_int_equal(w_n(a, HB_FN_NESTED), 0);
	assert_int_equal(w_row(a, 0, hb_size_class(64), HB_OUTCOME_OK)->raw_sum_ns, 10);
	/* recursion in such a call is recursion */
	w_call(a, D3, ra);
	w_ran(a, D3 + D1, ra, 7);
	assert_int_equal(w_n(a, HB_FN_NESTED), 1);
	w_ret(a, D3, ra);
	assert_int_equal(w_samples(a), 2);
	/* recovered further out */
	w_recover(D1 - 8);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_frames(g), 0);
}

static void test_what_a_handler_encodes_is_not_the_size_of_what_panicked(void **state)
{
	u16 a = W_FUNC(.image = W_GO, .f.group = 1);
	u16 b = W_FUNC(.image = W_GO, .f.group = 1, .f.size_in = {HB_VALUE_REG, W_SI, 0, 0});
	u64 a_ra = w_ra(a), b_ra = w_ra(b);

	w_go(1);
	w.reg[W_SI] = 64;
	w_call(a, D1, a_ra);
	w_panic(D2);
	w_ran(b, D3, b_ra, 10);
	w_recover(D2 - 8);
	w_ret(a, D1, a_ra);
	assert_int_equal(w_plain(a)->size_sum, 0);
	assert_int_equal(w_row(b, 0, hb_size_class(64), HB_OUTCOME_OK)->size_sum, 64);
}

static void test_calls_of_deferred_functions_in_goexit_are_calls_of_their_own(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_panic(D2 + D1);
	w_ran(t.a, D3 + D1, t.a_ra, 10);
	w_ran(t.b, D3 + D1, t.b_ra, 20);
	check_sample(t.a, 10);
	check_sample(t.b, 20);
	assert_int_equal(w_n(t.a, HB_FN_NESTED) + w_n(t.b, HB_FN_NESTED), 0);
	w_reuse_g(t.g, 2);
	w_ran(t.a, D1, t.a_ra, 5);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	assert_int_equal(w_samples(t.a), 2);
}

static void test_a_recovered_panic_lets_the_calls_further_out_go_on(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_panic(D3);
	w_recover(D2 - 8);
	w_pass(50);
	/* alive again: recursion is recursion */
	w_ran(t.a, D2, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 1);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 60);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
}

static void test_a_panic_recovered_within_a_deferred_function_leaves_the_outer_one_going(
	void **state)
{
	struct two t = two_of(W_GO, 0);
	u64 handler = D3, inner = handler + D1, recovered = inner + D1;

	w_call(t.a, D1, t.a_ra);
	w_panic(D2);
	/* the handler calls b, and what b calls panics, too, and is recovered in b */
	w_call(t.b, handler, t.b_ra);
	w_call(t.a, inner, t.a_ra);
	w_panic(recovered);
	w_recover(inner - 8);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	w_pass(10);
	/* b lives, the first a still dies: this is no recursion, and then that is */
	w_ran(t.a, inner, t.a_ra, 30);
	w_ran(t.b, inner, t.b_ra, 5);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 0);
	assert_int_equal(w_n(t.b, HB_FN_NESTED), 1);
	check_sample(t.a, 30);
	w_ret(t.b, handler, t.b_ra);
	check_sample(t.b, 45);
	/* the outer one is recovered in a: it goes on */
	w_recover(D2 - 8);
	w_pass(1);
	w_ret(t.a, D1, t.a_ra);
	assert_int_equal(w_samples(t.a), 2);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
}

static void test_hits_on_the_way_of_a_panic_are_taken_off_the_call_around_them(void **state)
{
	struct two t = two_of(W_GO, 0);

	cal.miss_ns[HB_LANG_GO][0] = 9;
	cal.tail_ns[HB_LANG_GO][0] = 4;
	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_pass(100);
	w_panic(D3);
	w_recover(D2 - 8);
	w_ret(t.a, D1, t.a_ra);
	/* b's entry, gopanic, recovery */
	assert_int_equal(w_plain(t.a)->dist[HB_DIST_OUTER].sum_ns, 100 - 4 - 2 * 9);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_recovery_abandons_exactly_the_dead),
		T(test_recovery_abandons_exactly_the_dead_before_go_1_22),
		T(test_the_recovering_call_itself_goes_on),
		T(test_recovery_does_nothing_where_it_cannot_see),
		T(test_a_deferred_function_s_call_in_a_panic_has_a_row_of_its_own),
		T(test_what_a_handler_encodes_is_not_the_size_of_what_panicked),
		T(test_calls_of_deferred_functions_in_goexit_are_calls_of_their_own),
		T(test_a_recovered_panic_lets_the_calls_further_out_go_on),
		T(test_a_panic_recovered_within_a_deferred_function_leaves_the_outer_one_going),
		T(test_hits_on_the_way_of_a_panic_are_taken_off_the_call_around_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
