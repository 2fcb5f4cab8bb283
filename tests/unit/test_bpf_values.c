/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_values.c - what is read at a call boundary: payload sizes and whether the call failed.
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#include <string.h>

#define D1  0x100
#define D2  0x200
#define D3  0x300
#define MEM 0x600000000000ULL

static u16 sized(struct hb_value in, struct hb_value out)
{
	return W_FUNC(.image = W_NATIVE, .f.size_in = in, .f.size_out = out);
}

static void check_size(u16 func, u32 size)
{
	const struct hb_row *r = w_row(func, 0, hb_size_class(size), HB_OUTCOME_OK);

	assert_non_null(r);
	assert_int_equal(r->size_sum, size);
	assert_int_equal(r->size_min, size);
	assert_int_equal(r->size_max, size);
	assert_int_equal(r->size_sub[hb_size_sub(size)], 1);
	assert_int_equal(w_n(func, HB_FN_SIZE_LOST), 0);
	assert_int_equal(w_samples(func), 1);
}

static void check_size_lost(u16 func)
{
	const struct hb_row *r = w_row(func, 0, 0, HB_OUTCOME_OK);

	assert_non_null(r);
	assert_int_equal(r->size_sum, 0);
	assert_int_equal(r->size_min, ~0ULL);
	assert_int_equal(r->size_max, 0);
	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		assert_int_equal(r->size_sub[i], 0);
	assert_int_equal(w_n(func, HB_FN_SIZE_LOST), 1);
	assert_int_equal(w_samples(func), 1);
}

/* ---- where a size is read ---- */

static void test_a_size_is_read_from_a_register_at_the_entry(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_REG, W_SI, 0, 3}, (struct hb_value){});
	u64 ra = w_ra(f);

	w_thread(1);
	w.reg[W_SI] = 1000;
	w_call(f, D1, ra);
	w.reg[W_SI] = 77; /* not looked at any more */
	w_ret(f, D1, ra);
	check_size(f, 1003);
}

static void test_a_size_is_read_from_a_register_at_the_exit(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){HB_VALUE_REG, W_AX, 0, 0});
	u64 ra = w_ra(f);

	w_thread(1);
	w.reg[W_AX] = 1;
	w_call(f, D1, ra);
	w.reg[W_AX] = 500;
	w_ret(f, D1, ra);
	check_size(f, 500);
}

static void test_each_register_is_found_by_its_number(void **state)
{
	u16 f[8];

	w_thread(1);
	for (u32 r = 0; r < 8; r++) {
		f[r] = sized((struct hb_value){HB_VALUE_REG, r, 0, 0}, (struct hb_value){});
		w.reg[r] = 100 + r;
	}
	for (u32 r = 0; r < 8; r++) {
		u64 ra = w_ra(f[r]);

		w_ran(f[r], D1, ra, 10);
		if ((int)r != REGS_SP)
			check_size(f[r], 100 + r);
	}
	/* a stack pointer is no size */
	if (REGS_SP >= 0)
		check_size_lost(f[W_SP]);
}

static void test_a_register_above_the_tracked_ones_is_found_where_it_was_moved_to(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){HB_VALUE_REG, W_BX, 0, 0});
	u64 ra = w_ra_with(f, (struct w_site){.func = f, .moved = 1 + W_BX, .to = REGS_HIGH});

	w_thread(1);
	w.reg[13] = 321;
	w_ran(f, D1, ra, 10);
	check_size(f, 321);
}

static void test_a_size_is_read_from_a_stack_slot_of_the_site(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){HB_VALUE_REG, W_BX, 0, 0});
	u64 ra = w_ra_with(f,
			   (struct w_site){.func = f, .moved = 1 + W_BX, .to = HB_LOC_STACK + 3});

	w_thread(1);
	/* SP at the site is behind the return */
	w_push(D1 - REGS_RET_SP - 3 * 8, 640);
	w_ran(f, D1, ra, 10);
	check_size(f, 640);
}

static void test_a_lost_register_is_a_lost_size(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){HB_VALUE_REG, W_BX, 0, 0});
	u64 ra = w_ra_with(f, (struct w_site){.func = f, .lost = 1 << W_BX});

	w_thread(1);
	w.reg[W_BX] = 5;
	w_ran(f, D1, ra, 10);
	check_size_lost(f);
}

static void test_a_stack_slot_that_faults_is_a_lost_size(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){HB_VALUE_REG, W_BX, 0, 0});
	u64 ra = w_ra_with(f,
			   (struct w_site){.func = f, .moved = 1 + W_BX, .to = HB_LOC_STACK + 100});

	w_thread(1);
	w_ran(f, D1, ra, 10);
	check_size_lost(f);
}

static void test_a_size_is_read_from_memory(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_MEM, W_DI, -16, -2}, (struct hb_value){});
	u64 ra = w_ra(f);

	w_thread(1);
	kernel__user_add(MEM, 64);
	kernel__user_write64(MEM + 16, 4098);
	w.reg[W_DI] = MEM + 32;
	w_ran(f, D1, ra, 10);
	check_size(f, 4096);
}

static void test_a_size_in_memory_that_faults_is_lost(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_MEM, W_DI, 60, 0}, (struct hb_value){});
	u64 ra = w_ra(f);

	w_thread(1);
	kernel__user_add(MEM, 64);
	w.reg[W_DI] = MEM;
	w_ran(f, D1, ra, 10);
	check_size_lost(f);
}

static void test_a_function_without_a_size_loses_none(void **state)
{
	u16 f = sized((struct hb_value){}, (struct hb_value){});
	u64 ra = w_ra(f);

	w_thread(1);
	w_ran(f, D1, ra, 10);
	assert_int_equal(w_n(f, HB_FN_SIZE_LOST), 0);
	assert_int_equal(w_plain(f)->size_min, ~0ULL);
}

static void test_sizes_that_no_u32_holds_are_lost(void **state)
{
	static const u64 value[] = {HB_SIZE_UNKNOWN, 1ULL << 32, ~0ULL, 1ULL << 63};
	u64 n = 0;

	w_thread(1);
	for (u32 i = 0; i < 4; i++) {
		u16 f = sized((struct hb_value){HB_VALUE_REG, W_SI, 0, 0}, (struct hb_value){});

		w.reg[W_SI] = value[i];
		w_ran(f, D1, w_ra(f), 10);
		check_size_lost(f);
		n += w_samples(f);
	}
	assert_int_equal(n, 4);
}

static void test_a_size_that_its_addend_makes_negative_is_lost(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_REG, W_SI, 0, -1}, (struct hb_value){});

	w_thread(1);
	w.reg[W_SI] = 0;
	w_ran(f, D1, w_ra(f), 10);
	check_size_lost(f);
}

static void test_the_largest_size_is_kept(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_REG, W_SI, 0, 0}, (struct hb_value){});

	w_thread(1);
	w.reg[W_SI] = HB_SIZE_UNKNOWN - 1;
	w_ran(f, D1, w_ra(f), 10);
	check_size(f, HB_SIZE_UNKNOWN - 1);
}

/* ---- lengths of strings ---- */

static void string_of(u64 addr, u64 len)
{
	static const u8 x[512] = {[0 ... 511] = 'x'};

	for (u64 i = 0; i < len; i += sizeof(x))
		kernel__user_write(addr + i, x, len - i < sizeof(x) ? len - i : sizeof(x));
	kernel__user_write(addr + len, "", 1);
}

static void check_strlen(u64 len)
{
	u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

	/* The string ends where the memory does: a byte too many would fault. */
	kernel__user_add(MEM, len + 1);
	string_of(MEM, len);
	w.reg[W_DI] = MEM;
	w_ran(f, D1, w_ra(f), 10);
	check_size(f, len);
	kernel__user_remove(MEM);
}

static void test_strings_of_every_length_are_measured(void **state)
{
	static const u64 len[] = {0,	1,    7,    8,	  4093,	 4094,	4095,	4096,
				  4097, 8189, 8190, 8191, 12285, 65520, 257984, 262079};

	w_thread(1);
	for (u32 i = 0; i < sizeof(len) / sizeof(*len); i++)
		check_strlen(len[i]);
}

static void test_a_string_of_262080_bytes_is_too_long_to_measure(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

	w_thread(1);
	kernel__user_add(MEM, 262081);
	string_of(MEM, 262080);
	w.reg[W_DI] = MEM;
	w_ran(f, D1, w_ra(f), 10);
	check_size_lost(f);
}

static void test_a_string_without_an_end_is_lost(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

	w_thread(1);
	kernel__user_add(MEM, 9001);
	string_of(MEM, 9000);
	kernel__user_write(MEM + 9000, "y", 1);
	w.reg[W_DI] = MEM;
	w_ran(f, D1, w_ra(f), 10);
	check_size_lost(f);
}

static void test_a_string_that_faults_or_is_null_is_lost(void **state)
{
	static const u64 addr[] = {0, 8, MEM, ~0ULL};

	w_thread(1);
	for (u32 i = 0; i < 4; i++) {
		u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

		w.reg[W_DI] = addr[i];
		w_ran(f, D1, w_ra(f), 10);
		check_size_lost(f);
	}
}

static void test_a_string_is_lost_without_room_to_read_it(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

	w_thread(1);
	kernel__user_add(MEM, 8);
	w.reg[W_DI] = MEM;
	kernel__plant(KERNEL_LOOKUP, HOST_MAP(SCRATCH), 0, 1, -1);
	w_ran(f, D1, w_ra(f), 10);
	check_size_lost(f);
}

static void test_a_second_part_of_a_string_that_faults_loses_it(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_STRLEN, W_DI, 0, 0}, (struct hb_value){});

	w_thread(1);
	kernel__user_add(MEM, 5001);
	string_of(MEM, 5000);
	w.reg[W_DI] = MEM;
	kernel__plant(KERNEL_READ_USER_STR, NULL, 1, 1, -14);
	w_ran(f, D1, w_ra(f), 10);
	check_size_lost(f);
}

/* ---- classes ---- */

static void test_a_size_class_is_an_octave_in_sixteen_parts(void **state)
{
	static const struct {
		u32 size, class, sub;
	} c[] = {
		{HB_SIZE_UNKNOWN, 0, 15},
		{0, 1, 0},
		{1, 2, 0},
		{2, 3, 0},
		{3, 3, 8},
		{4, 4, 0},
		{7, 4, 12},
		{15, 5, 14},
		{16, 6, 0},
		{17, 6, 1},
		{31, 6, 15},
		{32, 7, 0},
		{33, 7, 0},
		{34, 7, 1},
		{63, 7, 15},
		{1023, 11, 15},
		{1024, 12, 0},
		{1087, 12, 0},
		{1088, 12, 1},
		{(1u << 28) - 1, 29, 15},
		{1u << 28, 30, 0},
		{1u << 29, 31, 0},
		/* the last class has no upper end */
		{1u << 30, 31, 0},
		{3u << 30, 31, 8},
		{HB_SIZE_UNKNOWN - 1, 31, 15},
	};

	for (u32 i = 0; i < sizeof(c) / sizeof(*c); i++) {
		assert_int_equal(hb_size_class(c[i].size), c[i].class);
		if (c[i].class)
			assert_int_equal(hb_size_sub(c[i].size), c[i].sub);
	}
}

static void test_each_size_class_is_a_row(void **state)
{
	u16 f = sized((struct hb_value){HB_VALUE_REG, W_SI, 0, 0}, (struct hb_value){});
	u64 ra = w_ra(f);
	struct hb_row *r;

	w_thread(1);
	for (u32 size = 0; size < 40; size++) {
		w.reg[W_SI] = size;
		w_ran(f, D1, ra, 100 + size);
	}
	for (u32 c = 1; c <= 7; c++)
		assert_non_null(w_row(f, 0, c, HB_OUTCOME_OK));
	assert_null(w_row(f, 0, 0, HB_OUTCOME_OK));
	assert_null(w_row(f, 0, 8, HB_OUTCOME_OK));
	r = w_row(f, 0, 6, HB_OUTCOME_OK);
	assert_int_equal(r->dist[HB_DIST_LEAF].count, 16);
	assert_int_equal(r->size_min, 16);
	assert_int_equal(r->size_max, 31);
	assert_int_equal(r->raw_min_ns, 116);
	assert_int_equal(r->raw_max_ns, 131);
	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		assert_int_equal(r->size_sub[i], 1);
	assert_int_equal(w_samples(f), 40);
}

/* ---- sizes that only a nested call knows ---- */

static u16 grouped(u8 flags, struct hb_value in)
{
	return W_FUNC(.image = W_NATIVE, .f.group = 3, .f.flags = flags, .f.size_in = in);
}

static void test_a_nested_call_hands_its_size_up_to_the_outermost(void **state)
{
	/* as cJSON_Parse, which calls cJSON_ParseWithLengthOpts with the length plus 1 */
	u16 outer = grouped(0, (struct hb_value){.add = -1});
	u16 inner = grouped(0, (struct hb_value){HB_VALUE_REG, W_SI, 0, 0});
	u64 outer_ra = w_ra(outer), inner_ra = w_ra(inner);

	w_thread(1);
	w_call(outer, D1, outer_ra);
	w.reg[W_SI] = 101;
	w_ran(inner, D2, inner_ra, 10);
	/* the first one counts */
	w.reg[W_SI] = 9;
	w_ran(inner, D2, inner_ra, 10);
	w_ret(outer, D1, outer_ra);
	check_size(outer, 100);
	assert_int_equal(w_samples(inner), 0);
}

static void test_a_chain_of_tail_calls_hands_the_size_up_once(void **state)
{
	u16 first = grouped(W_FUNC_TAILS, (struct hb_value){.add = -1});
	u16 second = grouped(W_FUNC_TAILS, (struct hb_value){.add = -50});
	u16 third = grouped(0, (struct hb_value){HB_VALUE_REG, W_SI, 0, 0});
	u64 ra = w_ra(first);

	w_thread(1);
	w.reg[W_SI] = 101;
	w_call(first, D1, ra);
	w_enter(second, D1);
	w_enter(third, D1);
	w_pass(10);
	w_site_hit(ra, D1);
	check_size(first, 100);
	assert_int_equal(w_n(second, HB_FN_EXITS), 1);
	assert_int_equal(w_n(third, HB_FN_EXITS), 1);
	assert_int_equal(w_n(third, HB_FN_NESTED), 1);
	assert_int_equal(w_samples(second) + w_samples(third), 0);
}

static void test_a_call_nested_in_a_tail_call_hands_its_size_up(void **state)
{
	u16 first = grouped(W_FUNC_TAILS, (struct hb_value){.add = -1});
	u16 second = grouped(W_FUNC_TAILS, (struct hb_value){.add = -50});
	u16 third = grouped(0, (struct hb_value){HB_VALUE_REG, W_SI, 0, 0});
	u64 ra = w_ra(first), third_ra = w_ra(third);

	w_thread(1);
	w.reg[W_SI] = 101;
	w_call(first, D1, ra);
	w_enter(second, D1);
	w_ran(third, D2, third_ra, 10);
	w_site_hit(ra, D1);
	check_size(first, 100);
}

static void test_another_codec_s_size_is_not_handed_up(void **state)
{
	u16 outer = grouped(0, (struct hb_value){.add = -1});
	u16 other = W_FUNC(.image = W_NATIVE, .f.group = 4,
			   .f.size_in = {HB_VALUE_REG, W_SI, 0, 0});
	u16 inner = grouped(0, (struct hb_value){HB_VALUE_REG, W_SI, 0, 0});
	u64 outer_ra = w_ra(outer), other_ra = w_ra(other), inner_ra = w_ra(inner);

	w_thread(1);
	w_call(outer, D1, outer_ra);
	w.reg[W_SI] = 101;
	w_call(other, D2, other_ra);
	w_ran(inner, D3, inner_ra, 10);
	w_ret(other, D2, other_ra);
	w_ret(outer, D1, outer_ra);
	check_size(other, 101);
	assert_int_equal(w_plain(outer)->size_sum, 0);
}

static void test_a_size_handed_up_does_not_wrap(void **state)
{
	u16 less = grouped(0, (struct hb_value){.add = -8});
	u16 more = grouped(0, (struct hb_value){.add = 8});
	u16 inner = grouped(0, (struct hb_value){HB_VALUE_REG, W_SI, 0, 0});
	u64 less_ra = w_ra(less), more_ra = w_ra(more), inner_ra = w_ra(inner);

	w_thread(1);
	w_call(less, D1, less_ra);
	w.reg[W_SI] = 5;
	w_ran(inner, D2, inner_ra, 10);
	w_ret(less, D1, less_ra);
	w_call(more, D1, more_ra);
	w.reg[W_SI] = HB_SIZE_UNKNOWN - 2;
	w_ran(inner, D2, inner_ra, 10);
	w_ret(more, D1, more_ra);
	assert_int_equal(w_plain(less)->size_sum, 0);
	assert_int_equal(w_plain(more)->size_sum, 0);
}

/* ---- outcomes ---- */

static void check_outcomes(u8 kind, const u64 *ok, const u64 *failed)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.err_kind = kind, .f.err = {HB_VALUE_REG, W_AX, 0, 0});
	u64 ra = w_ra(f);

	w_thread(1);
	for (u32 i = 0; i < 3; i++) {
		w.reg[W_AX] = ok[i];
		w_ran(f, D1, ra, 100);
		w.reg[W_AX] = failed[i];
		w_ran(f, D1, ra, 7);
	}
	assert_int_equal(w_n(f, HB_FN_ERR_LOST), 0);
	assert_int_equal(w_plain(f)->raw_sum_ns, 300);
	assert_int_equal(w_row(f, 0, 0, HB_OUTCOME_ERROR)->raw_sum_ns, 21);
}

static void test_an_error_value_that_is_not_0_is_a_failure(void **state)
{
	static const u64 ok[] = {0, 0, 0}, failed[] = {1, 1ULL << 32, ~0ULL};

	check_outcomes(HB_ERR_NONZERO, ok, failed);
}

static void test_a_null_result_is_a_failure(void **state)
{
	static const u64 ok[] = {1, 1ULL << 32, ~0ULL}, failed[] = {0, 0, 0};

	check_outcomes(HB_ERR_ZERO, ok, failed);
}

static void test_a_false_result_is_a_failure_whatever_stands_above_it(void **state)
{
	static const u64 ok[] = {1, 0xff00000001ULL, 0x80000000ULL};
	static const u64 failed[] = {0, 1ULL << 32, 0xffffffff00000000ULL};

	check_outcomes(HB_ERR_ZERO32, ok, failed);
}

static void test_a_negative_result_is_a_failure_whatever_stands_above_it(void **state)
{
	static const u64 ok[] = {0, 0x7fffffff, 0xffffffff00000001ULL};
	static const u64 failed[] = {0xffffffff, 0x80000000, ~0ULL};

	check_outcomes(HB_ERR_NEGATIVE, ok, failed);
}

static void test_a_function_that_shows_no_error_does_not_fail(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.err = {HB_VALUE_REG, W_AX, 0, 0});

	w_thread(1);
	w.reg[W_AX] = 1;
	w_ran(f, D1, w_ra(f), 10);
	assert_int_equal(w_plain(f)->raw_sum_ns, 10);
}

static void test_an_error_value_may_stand_in_a_stack_slot(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.err_kind = HB_ERR_NONZERO,
		       .f.err = {HB_VALUE_REG, W_DI, 0, 0});
	u64 ra = w_ra_with(f,
			   (struct w_site){.func = f, .moved = 1 + W_DI, .to = HB_LOC_STACK + 1});

	w_thread(1);
	w_push(D1 - REGS_RET_SP - 8, 1);
	w_ran(f, D1, ra, 10);
	w_push(D1 - REGS_RET_SP - 8, 0);
	w_ran(f, D1, ra, 100);
	assert_int_equal(w_plain(f)->raw_sum_ns, 100);
	assert_int_equal(w_row(f, 0, 0, HB_OUTCOME_ERROR)->raw_sum_ns, 10);
}

static void test_a_lost_error_value_is_said_and_the_call_counts_as_done(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.err_kind = HB_ERR_NONZERO,
		       .f.err = {HB_VALUE_REG, W_DI, 0, 0});
	u64 lost = w_ra_with(f, (struct w_site){.func = f, .lost = 1 << W_DI});
	u64 far = w_ra_with(
		f, (struct w_site){.func = f, .moved = 1 + W_DI, .to = HB_LOC_STACK + 1000});

	w_thread(1);
	w.reg[W_DI] = 1;
	w_ran(f, D1, lost, 10);
	w_ran(f, D1, far, 10);
	assert_int_equal(w_n(f, HB_FN_ERR_LOST), 2);
	assert_int_equal(w_plain(f)->raw_sum_ns, 20);
	assert_null(w_row(f, 0, 0, HB_OUTCOME_ERROR));
}

static void test_size_and_outcome_select_the_row_together(void **state)
{
	u16 f = W_FUNC(.image = W_NATIVE, .f.err_kind = HB_ERR_ZERO,
		       .f.err = {HB_VALUE_REG, W_AX, 0, 0},
		       .f.size_out = {HB_VALUE_REG, W_BX, 0, 0});
	u64 ra = w_ra(f);

	w_thread(1);
	for (u32 i = 0; i < 4; i++) {
		w.reg[W_AX] = i & 1;
		w.reg[W_BX] = i & 2 ? 100 : 5000;
		w_ran(f, D1, ra, 10 + i);
	}
	assert_int_equal(w_row(f, 0, hb_size_class(5000), HB_OUTCOME_ERROR)->raw_sum_ns, 10);
	assert_int_equal(w_row(f, 0, hb_size_class(5000), HB_OUTCOME_OK)->raw_sum_ns, 11);
	assert_int_equal(w_row(f, 0, hb_size_class(100), HB_OUTCOME_ERROR)->raw_sum_ns, 12);
	assert_int_equal(w_row(f, 0, hb_size_class(100), HB_OUTCOME_OK)->raw_sum_ns, 13);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_size_is_read_from_a_register_at_the_entry),
		T(test_a_size_is_read_from_a_register_at_the_exit),
		T(test_each_register_is_found_by_its_number),
		T(test_a_register_above_the_tracked_ones_is_found_where_it_was_moved_to),
		T(test_a_size_is_read_from_a_stack_slot_of_the_site),
		T(test_a_lost_register_is_a_lost_size),
		T(test_a_stack_slot_that_faults_is_a_lost_size),
		T(test_a_size_is_read_from_memory),
		T(test_a_size_in_memory_that_faults_is_lost),
		T(test_a_function_without_a_size_loses_none),
		T(test_sizes_that_no_u32_holds_are_lost),
		T(test_a_size_that_its_addend_makes_negative_is_lost),
		T(test_the_largest_size_is_kept),
		T(test_strings_of_every_length_are_measured),
		T(test_a_string_of_262080_bytes_is_too_long_to_measure),
		T(test_a_string_without_an_end_is_lost),
		T(test_a_string_that_faults_or_is_null_is_lost),
		T(test_a_string_is_lost_without_room_to_read_it),
		T(test_a_second_part_of_a_string_that_faults_loses_it),
		T(test_a_size_class_is_an_octave_in_sixteen_parts),
		T(test_each_size_class_is_a_row),
		T(test_a_nested_call_hands_its_size_up_to_the_outermost),
		T(test_a_chain_of_tail_calls_hands_the_size_up_once),
		T(test_a_call_nested_in_a_tail_call_hands_its_size_up),
		T(test_another_codec_s_size_is_not_handed_up),
		T(test_a_size_handed_up_does_not_wrap),
		T(test_an_error_value_that_is_not_0_is_a_failure),
		T(test_a_null_result_is_a_failure),
		T(test_a_false_result_is_a_failure_whatever_stands_above_it),
		T(test_a_negative_result_is_a_failure_whatever_stands_above_it),
		T(test_a_function_that_shows_no_error_does_not_fail),
		T(test_an_error_value_may_stand_in_a_stack_slot),
		T(test_a_lost_error_value_is_said_and_the_call_counts_as_done),
		T(test_size_and_outcome_select_the_row_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
