/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_guard.c - hits of return sites that end no call: counted by site where paths join, and as
 * a sign of calls made where nobody looked, where a function's own probes have been taken off.
 */
#include "bpf_world.h"

#define D1 0x100
#define D2 0x200
#define D3 0x300

static u64 misses(u32 site)
{
	return *(u64 *)kernel__map_at(HOST_MAP(SITE_MISSES), 0, &site);
}

static u64 outside(u16 func)
{
	u64 sum = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		sum += ((struct hb_fn_stat *)kernel__map_at(HOST_MAP(FN_STATS), cpu, &(u32){func}))
			       ->outside;
	return sum;
}

/* What user space does to a return site of a function whose probes it takes off. */
static void make_guard(u32 site, u16 callee)
{
	struct hb_site *s = kernel__map_at(HOST_MAP(SITES), 0, &site);

	s->flags |= HB_SITE_GUARD;
	s->callee = callee;
}

/* ---- misses by site ---- */

static void test_misses_of_a_joined_site_are_counted_by_site(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 a = w_ra_unknown(W_NATIVE), b = w_ra_unknown(W_NATIVE);
	u32 site_a = w_attach(a, (struct w_site){.func = W_ANY});
	u32 site_b = w_attach(b, (struct w_site){.func = W_ANY});

	w_thread(1);
	w_site_hit(a, D1);
	w_site_hit(a, D1);
	w_ran(f, D1, a, 10);
	w_ran(f, D1, b, 10);
	assert_int_equal(misses(site_a), 2);
	assert_int_equal(misses(site_b), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED + HB_CLASS_BRANCH), 2);
	assert_int_equal(w_n(f, HB_FN_EXITS), 2);
}

static void test_misses_of_a_pure_site_are_counted_in_sum_only(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE);
	u64 ra = w_ra_unknown(W_NATIVE);
	u32 site = w_attach(ra, (struct w_site){.func = f});

	w_thread(1);
	w_ran(f, D1, ra, 10);
	w_site_hit(ra, D2);
	assert_int_equal(misses(site), 0);
	assert_int_equal(w_drop(HB_CNT_UNMATCHED + HB_CLASS_BRANCH), 1);
}

/* ---- guards ---- */

static void test_a_return_with_no_call_of_its_group_open_is_seen_by_the_guard(void **state)
{
	u16 inner = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 other = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra_unknown(W_NATIVE), other_ra = w_ra(other);

	make_guard(w_attach(ra, (struct w_site){.func = inner}), inner);
	w_thread(1);
	w_site_hit(ra, D1); /* a task that has had no call */
	assert_int_equal(outside(inner), 1);
	w_call(other, D1, other_ra);
	w_site_hit(ra, D2); /* inside of another codec's call */
	assert_int_equal(outside(inner), 2);
	w_ret(other, D1, other_ra);
	w_site_hit(ra, D1);
	assert_int_equal(outside(inner), 3);
	assert_int_equal(w_n(inner, HB_FN_ENTRIES), 0);
}

static void test_a_return_inside_a_call_of_its_group_is_none_of_the_guard_s_business(void **state)
{
	u16 outer = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 inner = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 other = W_FUNC(.image = W_NATIVE, .f.group = 2);
	u64 ra = w_ra_unknown(W_NATIVE), outer_ra = w_ra(outer), other_ra = w_ra(other);

	make_guard(w_attach(ra, (struct w_site){.func = inner}), inner);
	w_thread(1);
	w_call(outer, D1, outer_ra);
	w_site_hit(ra, D2);
	w_call(other, D2, other_ra);
	w_site_hit(ra, D3);
	w_ret(other, D2, other_ra);
	w_ret(outer, D1, outer_ra);
	assert_int_equal(outside(inner), 0);
	assert_int_equal(w_samples(outer), 1);
}

static void test_a_call_that_the_guarded_one_jumped_to_does_not_deceive_the_guard(void **state)
{
	u16 inner = W_FUNC(.image = W_NATIVE, .f.group = 1, .f.tails = W_FUNC_TAILS);
	u16 last = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra_unknown(W_NATIVE);

	make_guard(w_attach(ra, (struct w_site){.func = W_ANY}), inner);
	w_thread(1);
	/* The entry of `inner` is not probed: what is seen is a call of `last`. */
	w_ran(last, D1, ra, 10);
	assert_int_equal(w_samples(last), 1);
	assert_int_equal(outside(inner), 1);
}

static void test_a_guard_on_another_stack_cannot_tell_and_says_so(void **state)
{
	u16 outer = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u16 inner = W_FUNC(.image = W_NATIVE, .f.group = 1);
	u64 ra = w_ra_unknown(W_NATIVE), outer_ra = w_ra(outer);
	struct w_task *t = w_thread(1);
	u64 hi = t->hi;

	make_guard(w_attach(ra, (struct w_site){.func = W_ANY}), inner);
	w_call(outer, D1, outer_ra);
	w_switch_stack(t, w_thread(2)->hi);
	w_run(t);
	w_site_hit(ra, D2);
	assert_int_equal(outside(inner), 1);
	w_switch_stack(t, hi);
	w_ret(outer, D1, outer_ra);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, w_init, w_fini)
	const struct CMUnitTest tests[] = {
		T(test_misses_of_a_joined_site_are_counted_by_site),
		T(test_misses_of_a_pure_site_are_counted_in_sum_only),
		T(test_a_return_with_no_call_of_its_group_open_is_seen_by_the_guard),
		T(test_a_return_inside_a_call_of_its_group_is_none_of_the_guard_s_business),
		T(test_a_call_that_the_guarded_one_jumped_to_does_not_deceive_the_guard),
		T(test_a_guard_on_another_stack_cannot_tell_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
