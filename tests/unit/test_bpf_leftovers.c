/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_leftovers.c - calls that are left without a return (exceptions, longjmp, panics that no probe
 * has seen: see test_bpf_panics.c), and other ways in which a frame can outlive its call or be in the
 * way of others.
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

/* ---- a call after one that was left by a panic ---- */

static void test_a_call_at_the_same_depth_abandons_the_leftover(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_pass(1000);
	w_ran(t.a, D1, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.a, 10);
}

static void test_a_call_from_elsewhere_at_the_same_depth_abandons_the_leftover(void **state)
{
	struct two t = two_of(W_GO, W_FUNC_TAILS);

	w_call(t.a, D1, t.a_ra);
	w_ran(t.b, D1, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.b, 10);
	assert_int_equal(w_plain(t.b)->dist[HB_DIST_LEAF].count, 1);
}

static void test_a_shallower_call_abandons_all_leftovers_below_it(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D2, t.a_ra);
	w_call(t.b, D3, t.b_ra);
	assert_int_equal(w_frames(t.g), 2);
	w_ran(t.b, D1, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	check_sample(t.b, 10);
}

static void test_a_deeper_call_abandons_a_leftover_whose_slot_was_overwritten(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_push(D1, 0x1234);
	/* of the same codec: were the leftover alive, this would be a call nested in it */
	w_ran(t.a, D2, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 0);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.a, 10);
}

static void test_a_deeper_call_is_nested_while_the_slot_still_holds_the_return_address(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_pass(5);
	w_ran(t.a, D2, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 1);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 0);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 15);
}

static void test_a_leftover_whose_slot_cannot_be_read_is_abandoned(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	/* stack, goid, return address (x86), and then the slot */
	kernel__plant(KERNEL_READ_USER, NULL, 2 + REGS_RA_READS, 1, -14);
	w_ran(t.b, D2, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.b, 10);
}

static void test_only_the_dead_part_of_the_stack_is_abandoned(void **state)
{
	u16 f[4];
	u64 ra[4];

	for (int i = 0; i < 4; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	w_go(1);
	for (int i = 0; i < 3; i++) {
		w_call(f[i], D1 * (i + 1), ra[i]);
		w_pass(1);
	}
	/* recovered in the first; a new call reaches deeper than the second and the third */
	w_clobber(D1 + 8, D1 * 4);
	w_ran(f[3], D1 * 5, ra[3], 10);
	w_ret(f[0], D1, ra[0]);
	assert_int_equal(w_n(f[0], HB_FN_ABANDONED), 0);
	assert_int_equal(w_n(f[1], HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(f[2], HB_FN_ABANDONED), 1);
	check_sample(f[3], 10);
	check_sample(f[0], 13);
	assert_int_equal(w_plain(f[0])->dist[HB_DIST_OUTER_EXC].sum_ns, 3);
}

static void test_a_return_abandons_the_leftovers_below_it(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_pass(20);
	w_ret(t.a, D1, t.a_ra);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	check_sample(t.a, 20);
	assert_int_equal(w_frames(t.g), 0);
}

static void test_an_abandoned_call_frees_its_codec_for_the_next_one(void **state)
{
	struct two t = two_of(W_NATIVE, 0);

	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_call(t.a, D3, t.a_ra);
	/* longjmp to where the first came from, and on from there */
	w_ran(t.b, D1, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 2);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 1);
	check_sample(t.b, 10);
	w_ran(t.a, D3, t.a_ra, 30);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 1);
	check_sample(t.a, 30);
}

/* ---- the same depth, the same return address, another function ---- */

static void test_a_function_without_tail_jumps_at_the_same_place_is_a_leftover(void **state)
{
	struct two t = two_of(W_NATIVE, 0);
	u64 shared = w_ra_with(t.a, (struct w_site){.func = W_ANY});

	/* call *reg, left by longjmp, and then the same instruction calls another function */
	w_call(t.a, D1, shared);
	w_pass(100);
	w_ran(t.b, D1, shared, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_samples(t.a), 0);
	check_sample(t.b, 10);
	assert_int_equal(w_plain(t.b)->dist[HB_DIST_LEAF].count, 1);
}

static void test_a_function_with_tail_jumps_at_the_same_place_is_taken_to_have_jumped(void **state)
{
	struct two t = two_of(W_NATIVE, W_FUNC_TAILS);
	u64 shared = w_ra_with(t.a, (struct w_site){.func = W_ANY});

	w_call(t.a, D1, shared);
	w_pass(100);
	w_ran(t.b, D1, shared, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 0);
	check_sample(t.b, 10);
	check_sample(t.a, 110);
}

static void test_a_chain_of_tail_calls_that_cannot_come_back_begins_anew(void **state)
{
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.tails = 1ULL << b);
	u64 ra = w_ra(a);
	struct w_task *t = w_thread(1);

	w_call(a, D1, ra);
	w_enter(b, D1);
	w_pass(1000);
	assert_int_equal(w_frames(t), 2);
	/* longjmp, and the same again: b does not jump to a */
	w_call(a, D1, ra);
	assert_int_equal(w_frames(t), 1);
	w_pass(10);
	w_enter(b, D1);
	w_pass(1);
	w_site_hit(ra, D1);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(b, HB_FN_ABANDONED), 1);
	check_sample(a, 11);
	check_sample(b, 1);
}

static void test_a_chain_of_tail_calls_comes_back_to_its_first_function(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = W_FUNC_TAILS);
	u64 ra = w_ra(a);
	struct w_task *t = w_thread(1);

	w_call(a, D1, ra);
	for (u32 i = 0; i < 50; i++) {
		w_pass(10);
		w_enter(b, D1);
		w_pass(10);
		w_enter(a, D1);
	}
	assert_int_equal(w_frames(t), 2);
	w_site_hit(ra, D1);
	assert_int_equal(w_n(a, HB_FN_EXITS), 51);
	assert_int_equal(w_n(b, HB_FN_EXITS), 50);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 0);
	check_sample(a, 1000);
	check_sample(b, 990);
}

static void test_a_chain_whose_end_is_not_seen_does_not_come_back(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = W_FUNC_TAILS);
	u64 ra = w_ra_unknown(W_NATIVE);
	struct w_task *t = w_thread(1);

	for (u32 i = 0; i < 20; i++) {
		w_call(a, D1, ra);
		w_enter(b, D1);
		assert_int_equal(w_frames(t), 2);
	}
	assert_int_equal(w_n(a, HB_FN_UNKNOWN), 20);
	assert_int_equal(w_n(b, HB_FN_UNKNOWN), 20);
	assert_int_equal(w_drop(HB_DROP_FRAMES_DEEP), 0);
}

static void test_a_chain_that_came_back_may_go_on_from_any_function_it_holds(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.tails = 1ULL << a);
	u16 c = W_FUNC(.image = W_NATIVE, .f.group = 3);
	u64 ra = w_ra(a);

	/* a jumps to b and c, b to a only */
	w_func_at(a)->f.tails = 1ULL << b | 1ULL << c;
	kernel__map_set(HOST_MAP(FUNCS), &(u32){a}, &w_func_at(a)->f);
	w_thread(1);
	w_call(a, D1, ra);
	w_enter(b, D1);
	w_enter(a, D1);
	w_pass(10);
	w_enter(c, D1);
	w_pass(5);
	w_site_hit(ra, D1);
	assert_int_equal(w_n(a, HB_FN_EXITS), 2);
	assert_int_equal(w_n(b, HB_FN_ABANDONED), 0);
	check_sample(a, 15);
	check_sample(b, 15);
	check_sample(c, 5);
}

static void test_a_chain_that_came_back_and_is_lost_is_abandoned_whole(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = W_FUNC_TAILS);
	u64 ra = w_ra(a);

	w_thread(1);
	w_call(a, D2, ra);
	w_enter(b, D2);
	w_enter(a, D2);
	w_enter(a, D2);
	w_longjmp(D3, D1, 0);
	assert_int_equal(w_n(a, HB_FN_ABANDONED), 3);
	assert_int_equal(w_n(b, HB_FN_ABANDONED), 1);
}

static void test_a_chain_that_became_known_on_the_way_comes_back_unknown(void **state)
{
	u16 a = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.flags = W_FUNC_TAILS);
	u16 b = W_FUNC(.image = W_NATIVE, .f.group = 2, .f.flags = W_FUNC_TAILS);
	u64 ra = w_ra_unknown(W_NATIVE);

	w_thread(1);
	w_call(a, D1, ra);
	w_attach(ra, (struct w_site){.func = a});
	w_enter(b, D1);
	w_enter(a, D1);
	w_pass(10);
	w_site_hit(ra, D1);
	/* its first time was, and it has one frame */
	assert_int_equal(w_n(a, HB_FN_UNKNOWN), 2);
	assert_int_equal(w_n(a, HB_FN_EXITS), 0);
	check_sample(b, 10);
}

static void test_a_function_followed_by_its_returns_does_not_come_back(void **state)
{
	struct two t = two_of(W_NATIVE, W_FUNC_TAILS | HB_FUNC_EXIT_RET);

	/* left without passing its return, and called again from the same place */
	w_call(t.a, D1, t.a_ra);
	w_pass(1000);
	w_ran(t.a, D1, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.a, 10);
}

/* ---- other tools ---- */

static void test_a_call_whose_return_address_another_tool_replaced_is_alive(void **state)
{
	struct two t = two_of(W_NATIVE, 0);

	w_call(t.a, D1, t.a_ra);
	/* a uretprobe's trampoline: the last page of the process */
	w_push(D1, REGS_TRAMPOLINE);
	w_ran(t.b, D2, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 0);
	w_pass(5);
	w_site_hit(t.a_ra, D1);
	check_sample(t.a, 15);
	/* the pages around it are none */
	for (int i = -1; i < 2; i += 2) {
		w_call(t.a, D1, t.a_ra);
		w_push(D1, REGS_TRAMPOLINE + i * 0x1000);
		w_ran(t.b, D2, t.b_ra, 10);
	}
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 2);
}

/* ---- goroutines that end, g structs that are used again ---- */

static void test_another_goroutine_in_the_same_g_starts_without_frames(void **state)
{
	struct two t = two_of(W_GO, W_FUNC_TAILS);

	/* runtime.Goexit; the slots of both calls stay as they were */
	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_reuse_g(t.g, 2);
	w_ran(t.a, D3, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 0);
	check_sample(t.a, 10);
	assert_int_equal(w_plain(t.a)->dist[HB_DIST_LEAF].count, 1);
}

static void test_a_goroutine_id_of_0_is_as_good_as_any(void **state)
{
	struct two t = two_of(W_GO, 0);

	w_reuse_g(t.g, 0);
	w_call(t.a, D1, t.a_ra);
	w_call(t.a, D2, t.a_ra);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 1);
	w_reuse_g(t.g, 9);
	w_ran(t.b, D3, t.b_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 2);
	check_sample(t.b, 10);
}

static void test_a_call_at_the_very_end_of_a_stack_does_not_outlive_its_goroutine(void **state)
{
	struct two t = two_of(W_GO, 0);

	/* A stack pointer at stack.hi: there is no room for a return address above it. */
	kernel__user_add(t.g->hi, 64);
	w_call(t.a, 0, t.a_ra);
	w_reuse_g(t.g, 2);
	w_ran(t.a, D1, t.a_ra, 10);
	assert_int_equal(w_n(t.a, HB_FN_NESTED), 0);
	assert_int_equal(w_drop(HB_DROP_BAD_G), 1);
	check_sample(t.a, 10);
}

/* ---- longjmp and catch ---- */

static void check_longjmp(u64 guard)
{
	struct two t = two_of(W_NATIVE, 0);

	/* a calls setjmp (SP at D2 - 8) and b; b calls longjmp */
	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_pass(10);
	w_longjmp(D3, D2 - 8, guard);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 0);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	/* the slot of b still holds its return address */
	w_ran(t.b, D3, t.b_ra, 10);
	check_sample(t.b, 10);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 20);
}

static void test_longjmp_abandons_exactly_the_dead(void **state)
{
	check_longjmp(0x3141592653589793ULL);
}

static void test_longjmp_of_musl_abandons_exactly_the_dead(void **state)
{
	check_longjmp(0);
}

#if REGS_JMPBUF
static void test_a_longjmp_that_cannot_be_read_changes_nothing(void **state)
{
	struct two t = two_of(W_NATIVE, 0);

	w_longjmp(D2, D1 - 8, 1);
	w_call(t.a, D1, t.a_ra);
	/* the word in the jmp_buf, and then the guard */
	for (u32 i = 0; i < 2; i++) {
		kernel__plant(KERNEL_READ_USER, NULL, i, 1, -14);
		w_longjmp(D2, D1 - 8, 1);
		assert_int_equal(w_frames(t.g), 1);
	}
	/* down the stack, not up: no jmp_buf that we know */
	w_longjmp(D2, D3, 1);
	assert_int_equal(w_frames(t.g), 1);
	w_longjmp(D2, D1 - 8, 1);
	assert_int_equal(w_frames(t.g), 0);
}
#endif

static void test_a_catch_abandons_what_was_thrown_through(void **state)
{
	struct two t = two_of(W_NATIVE, 0);

	w_catch(D3);
	w_call(t.a, D1, t.a_ra);
	w_call(t.b, D2, t.b_ra);
	w_pass(10);
	/* caught in a, whose calls are all at D2 */
	w_catch(D2);
	assert_int_equal(w_n(t.b, HB_FN_ABANDONED), 1);
	assert_int_equal(w_frames(t.g), 1);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 10);
}

static void test_a_catch_on_another_stack_is_not_this_one_s(void **state)
{
	struct two t = two_of(W_NATIVE, 0);
	u64 own = t.g->hi, other = w_thread(8)->hi;

	w_run(t.g);
	w_call(t.a, D1, t.a_ra);
	w_switch_stack(t.g, other);
	w_catch(D2);
	w_longjmp(D2, D1, 1);
	w_switch_stack(t.g, own);
	w_pass(10);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 10);
}

/* ---- swapcontext ---- */

/* The other stack is deeper, then less deep: calls on it are in no call of the first one. */
static void test_a_call_whose_stack_is_switched_away_from_is_left(void **state)
{
	struct two t = two_of(W_NATIVE, 0);
	u64 stack[2] = {t.g->hi, w_thread(8)->hi};

	w_run(t.g);
	cfg_stack_span = 1ULL << 40; /* so that addresses do not tell */
	for (int i = 0; i < 2; i++) {
		w_switch_stack(t.g, stack[i]);
		w_call(t.a, D2, t.a_ra);
		w_switch_stack(t.g, stack[!i]);
		w_swapped();
		w_ran(t.b, D1, t.b_ra, 10);
		w_switch_stack(t.g, stack[i]);
		w_swapped();
		w_ret(t.a, D2, t.a_ra);
		assert_int_equal(w_samples(t.a), 0);
		assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1 + i);
		assert_int_equal(w_n(t.b, HB_FN_NESTED), 0);
		assert_int_equal(w_n(t.a, HB_FN_UNSEEN), 0);
	}
	assert_int_equal(w_samples(t.b), 2);
	assert_int_equal(w_plain(t.b)->raw_sum_ns, 20);
}

/* ---- what a lost call has measured ---- */

static void test_calls_inside_a_lost_one_belong_to_the_next_one_out(void **state)
{
	u16 f[3];
	u64 ra[3];

	for (int i = 0; i < 3; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	cal.total_ns[HB_LANG_GO][0][0] = 20;
	w_go(1);
	w_call(f[0], D1, ra[0]);
	w_call(f[1], D2, ra[1]);
	w_ran(f[2], D3, ra[2], 120);
	/* f[1] panics, f[0] recovers */
	w_pass(30);
	w_ret(f[0], D1, ra[0]);
	assert_int_equal(w_n(f[1], HB_FN_ABANDONED), 1);
	assert_int_equal(w_plain(f[2])->dist[HB_DIST_LEAF].sum_ns, 120);
	assert_int_equal(w_plain(f[0])->raw_sum_ns, 150);
	assert_int_equal(w_plain(f[0])->dist[HB_DIST_OUTER].sum_ns, 130);
	assert_int_equal(w_plain(f[0])->dist[HB_DIST_OUTER_EXC].sum_ns, 10);
}

/* ---- 16 frames ---- */

static void test_the_17th_call_is_dropped_and_its_return_ends_no_other(void **state)
{
	u16 f[HB_FRAME_DEPTH + 1];
	u64 ra[HB_FRAME_DEPTH + 1];
	struct w_task *g;

	for (u32 i = 0; i <= HB_FRAME_DEPTH; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	g = w_go(1);
	for (u32 i = 0; i < HB_FRAME_DEPTH; i++)
		w_call(f[i], D1 * (i + 1), ra[i]);
	assert_int_equal(w_frames(g), HB_FRAME_DEPTH);
	w_ran(f[16], D1 * 17, ra[16], 1000);
	assert_int_equal(w_frames(g), HB_FRAME_DEPTH);
	assert_int_equal(w_drop(HB_DROP_FRAMES_DEEP), 1);
	assert_int_equal(w_n(f[16], HB_FN_DROPPED), 1);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	/* recursion in the 16th needs no frame */
	w_ran(f[15], D1 * 17, ra[15], 10);
	for (u32 i = HB_FRAME_DEPTH; i--;) {
		w_pass(1);
		w_ret(f[i], D1 * (i + 1), ra[i]);
		assert_int_equal(w_samples(f[i]), 1);
		assert_int_equal(w_plain(f[i])->raw_sum_ns, 1010 + HB_FRAME_DEPTH - i);
	}
	/* and there is room again */
	w_ran(f[16], D1, ra[16], 5);
	check_sample(f[16], 5);
}

static void test_leftovers_make_room_before_a_call_is_dropped(void **state)
{
	u16 f[HB_FRAME_DEPTH + 1];
	u64 ra[HB_FRAME_DEPTH + 1];

	for (u32 i = 0; i <= HB_FRAME_DEPTH; i++) {
		f[i] = W_FUNC(.image = W_GO, .f.group = i);
		ra[i] = w_ra(f[i]);
	}
	w_go(1);
	for (u32 i = 0; i < HB_FRAME_DEPTH; i++)
		w_call(f[i], D1 * (i + 1), ra[i]);
	w_clobber(D1, D1 * 17);
	w_ran(f[16], D1 * 20, ra[16], 5);
	assert_int_equal(w_drop(HB_DROP_FRAMES_DEEP), 0);
	check_sample(f[16], 5);
}

/* ---- other stacks of a thread ---- */

static void test_calls_on_another_stack_are_dropped_while_one_is_open(void **state)
{
	struct two t = two_of(W_NATIVE, 0);
	u64 own = t.g->hi, other = w_thread(8)->hi;

	w_run(t.g);
	w_call(t.a, D1, t.a_ra);
	w_pass(10);
	/* a signal handler on its own stack; far above or below makes no difference */
	w_switch_stack(t.g, other);
	w_ran(t.b, D1, t.b_ra, 10);
	assert_int_equal(w_drop(HB_DROP_STACK_SWITCH), 1);
	assert_int_equal(w_n(t.b, HB_FN_DROPPED), 1);
	assert_int_equal(w_n(t.b, HB_FN_UNSEEN), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED), 1);
	w_switch_stack(t.g, own);
	w_ret(t.a, D1, t.a_ra);
	check_sample(t.a, 20);
	/* with nothing open, the other stack is as good */
	w_switch_stack(t.g, other);
	w_ran(t.b, D1, t.b_ra, 10);
	check_sample(t.b, 10);
}

static void test_a_dead_call_on_another_stack_does_not_block_the_thread(void **state)
{
	struct two t = two_of(W_NATIVE, 0);
	u64 own = t.g->hi, other = w_thread(8)->hi;

	w_run(t.g);
	w_switch_stack(t.g, other);
	w_call(t.a, D1, t.a_ra);
	/* siglongjmp; the other stack is used for something else */
	w_push(D1, 0);
	w_switch_stack(t.g, own);
	w_ran(t.b, D1, t.b_ra, 10);
	w_ran(t.a, D1, t.a_ra, 10);
	assert_int_equal(w_drop(HB_DROP_STACK_SWITCH), 0);
	assert_int_equal(w_n(t.a, HB_FN_ABANDONED), 1);
	check_sample(t.b, 10);
	check_sample(t.a, 10);
}

static void test_a_call_just_within_the_stack_span_is_on_the_same_stack(void **state)
{
	struct two t = two_of(W_NATIVE, 0);

	cfg_stack_span = 0x1000;
	w_call(t.a, D1, t.a_ra);
	w_ran(t.b, D1 + 0x1000, t.b_ra, 10);
	assert_int_equal(w_drop(HB_DROP_STACK_SWITCH), 0);
	check_sample(t.b, 10);
	w_ran(t.b, D1 + 0x1008, t.b_ra, 10);
	assert_int_equal(w_drop(HB_DROP_STACK_SWITCH), 1);
	w_ret(t.a, D1, t.a_ra);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_call_at_the_same_depth_abandons_the_leftover),
		T(test_a_call_from_elsewhere_at_the_same_depth_abandons_the_leftover),
		T(test_a_shallower_call_abandons_all_leftovers_below_it),
		T(test_a_deeper_call_abandons_a_leftover_whose_slot_was_overwritten),
		T(test_a_deeper_call_is_nested_while_the_slot_still_holds_the_return_address),
		T(test_a_leftover_whose_slot_cannot_be_read_is_abandoned),
		T(test_only_the_dead_part_of_the_stack_is_abandoned),
		T(test_a_return_abandons_the_leftovers_below_it),
		T(test_an_abandoned_call_frees_its_codec_for_the_next_one),
		T(test_a_function_without_tail_jumps_at_the_same_place_is_a_leftover),
		T(test_a_function_with_tail_jumps_at_the_same_place_is_taken_to_have_jumped),
		T(test_a_chain_of_tail_calls_that_cannot_come_back_begins_anew),
		T(test_a_chain_of_tail_calls_comes_back_to_its_first_function),
		T(test_a_chain_whose_end_is_not_seen_does_not_come_back),
		T(test_another_goroutine_in_the_same_g_starts_without_frames),
		T(test_a_goroutine_id_of_0_is_as_good_as_any),
		T(test_a_call_at_the_very_end_of_a_stack_does_not_outlive_its_goroutine),
		T(test_longjmp_abandons_exactly_the_dead),
		T(test_longjmp_of_musl_abandons_exactly_the_dead),
#if REGS_JMPBUF
		T(test_a_longjmp_that_cannot_be_read_changes_nothing),
#endif
		T(test_a_catch_abandons_what_was_thrown_through),
		T(test_a_catch_on_another_stack_is_not_this_one_s),
		T(test_a_call_whose_stack_is_switched_away_from_is_left),
		T(test_calls_inside_a_lost_one_belong_to_the_next_one_out),
		T(test_the_17th_call_is_dropped_and_its_return_ends_no_other),
		T(test_leftovers_make_room_before_a_call_is_dropped),
		T(test_calls_on_another_stack_are_dropped_while_one_is_open),
		T(test_a_dead_call_on_another_stack_does_not_block_the_thread),
		T(test_a_call_just_within_the_stack_span_is_on_the_same_stack),
		T(test_a_chain_that_came_back_may_go_on_from_any_function_it_holds),
		T(test_a_chain_that_came_back_and_is_lost_is_abandoned_whole),
		T(test_a_chain_that_became_known_on_the_way_comes_back_unknown),
		T(test_a_function_followed_by_its_returns_does_not_come_back),
		T(test_a_call_whose_return_address_another_tool_replaced_is_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
