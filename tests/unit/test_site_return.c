// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a call's end is seen: after the return address, and at a function's own returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "codetest.h"

#define CALL	  0xe8, 0x00, 0x10, 0x00, 0x00 /* call somewhere; the return address is 5 */
#define RA	  (CODE_VADDR + 5)
#define TEST_AX	  0x48, 0x85, 0xc0	 /* test %rax,%rax */
#define ADD_SP_24 0x48, 0x83, 0xc4, 0x18 /* add $24,%rsp */

static const struct site_want wants_nothing;
static const struct site_want wants_ax = {.exit_regs = REG(AX)};
static const struct site_want wants_ax_bx = {.exit_regs = REG(AX) | REG(BX)};

static struct site return_of(const struct code *c, const struct site_want *want)
{
	struct site s;
	int err = site__return(c, true, RA, want, &s);

	if (err)
		fail_msg("no return site: %d", err);
	assert_int_equal(s.role, HB_ROLE_RETSITE);
	assert_int_equal(s.ra, RA);
	assert_int_equal(s.func, SITE_NO_FUNC);
	assert_int_equal(s.flags, 0); /* what is pure is known only with the callee */
	assert_memory_equal(s.bytes, c->bytes + (s.vaddr - c->vaddr), s.len);
	return s;
}

static void expect_at(const struct site *s, u64 off, enum hb_class cls, s32 sp_fix)
{
	assert_int_equal(s->vaddr, CODE_VADDR + off);
	assert_int_equal(s->cls, cls);
	assert_int_equal(s->sp_fix, sp_fix);
}

static void test_the_branch_after_the_call_is_the_site(void **state)
{
	const struct code c = CODE(CALL, TEST_AX, 0x75, 0x01, 0xc3, 0xc3); /* jne at 8 */
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 8, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[AX], AX);
	assert_int_equal(s.loc[BX], BX);
	assert_int_equal(s.len, 2);
}

static void test_an_emulated_instruction_at_the_return_address_is_the_site(void **state)
{
	const struct code nop = CODE(CALL, 0x90, 0x75, 0x00, 0xc3);
	const struct code jump = CODE(CALL, 0xeb, 0x00, 0xc3);
	const struct code call = CODE(CALL, CALL, 0xc3);
	struct site s = return_of(&nop, &wants_ax);

	expect_at(&s, 5, HB_CLASS_NOP, -8);
	s = return_of(&jump, &wants_ax);
	expect_at(&s, 5, HB_CLASS_BRANCH, -8);
	s = return_of(&call, &wants_ax);
	expect_at(&s, 5, HB_CLASS_CALL, -8);
}

static void test_sp_is_followed_to_the_site(void **state)
{
	const struct code c = CODE(CALL, ADD_SP_24, 0x5b, 0x50, 0xc3); /* add; pop %rbx; push */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 10, HB_CLASS_PUSH, -8 - 24 - 8);
}

static void test_a_push_on_the_way_lowers_sp(void **state)
{
	const struct code c = CODE(CALL, 0xff, 0x30, 0x75, 0x00, 0xc3); /* push (%rax); jne */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 7, HB_CLASS_BRANCH, 0);
}

static void test_a_return_or_an_indirect_branch_leaves_the_return_address(void **state)
{
	const struct code ret = CODE(CALL, ADD_SP_24, 0xc3, 0x90);
	const struct code call = CODE(CALL, TEST_AX, 0xff, 0xd0, 0x90, 0xc3);
	const struct code jump = CODE(CALL, TEST_AX, 0xff, 0xe0, 0x90, 0xc3);
	const struct code trap = CODE(CALL, TEST_AX, 0x0f, 0x0b, 0x90, 0xc3);
	struct site s = return_of(&ret, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&call, &wants_ax);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&jump, &wants_ax);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&trap, &wants_ax);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_an_unknown_sp_leaves_the_return_address(void **state)
{
	const struct code c = CODE(CALL, 0xc9, 0x75, 0x00, 0xc3);		/* leave; jne */
	const struct code sys = CODE(CALL, 0x89, 0xc0, 0x0f, 0x05, 0x90, 0xc3); /* syscall */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&sys, &wants_nothing);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_nothing_behind_an_instruction_that_may_take_long_is_the_site(void **state)
{
	const struct code copy = CODE(CALL, TEST_AX, 0xf3, 0x48, 0xa5, 0x75, 0x00, 0xc3);
	const struct code fill = CODE(CALL, TEST_AX, 0xf3, 0xaa, 0x75, 0x00, 0xc3);
	const struct code scan = CODE(CALL, TEST_AX, 0xf2, 0xae, 0x75, 0x00, 0xc3);
	const struct code id = CODE(CALL, TEST_AX, 0x0f, 0xa2, 0x75, 0x00, 0xc3); /* cpuid */
	const struct code pause = CODE(CALL, TEST_AX, 0xf3, 0x90, 0x75, 0x00, 0xc3);
	const struct code one = CODE(CALL, TEST_AX, 0x48, 0xa5, 0x75, 0x00, 0xc3); /* movsq */
	const struct code *slow[] = {&copy, &fill, &scan, &id, &pause};
	struct site s;

	for (size_t n = 0; n < sizeof(slow) / sizeof(*slow); n++) {
		s = return_of(slow[n], &wants_nothing);
		expect_at(&s, 5, HB_CLASS_STEP, -8);
	}
	s = return_of(&one, &wants_nothing);
	expect_at(&s, 10, HB_CLASS_BRANCH, -8);
}

static void test_a_site_far_behind_the_return_is_none(void **state)
{
	u8 bytes[5 + 3 * 16 + 3] = {CALL};
	struct code c = CODE(CALL);
	struct site s;

	for (size_t n = 0; n < 16; n++)
		memcpy(bytes + 5 + 3 * n, (const u8[]){TEST_AX}, 3);
	memcpy(bytes + 5 + 3 * 16, (const u8[]){0x75, 0x00, 0xc3}, 3);
	c.bytes = bytes;
	c.len = sizeof(bytes);
	s = return_of(&c, &wants_nothing);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
	/* One instruction less between. */
	memcpy(bytes + 5 + 3 * 15, (const u8[]){0x75, 0x00, 0xc3}, 3);
	c.len = 5 + 3 * 15 + 3;
	s = return_of(&c, &wants_nothing);
	expect_at(&s, 5 + 3 * 15, HB_CLASS_BRANCH, -8);
}

#define XORPS_15   0x45, 0x0f, 0x57, 0xff				/* xorps %xmm15,%xmm15 */
#define LOAD_G	   0x64, 0x4c, 0x8b, 0x34, 0x25, 0xf8, 0xff, 0xff, 0xff /* mov %fs:-8,%r14 */
#define LOAD_G_PIE 0x49, 0xc7, 0xc6, 0xf8, 0xff, 0xff, 0xff, 0x64, 0x4d, 0x8b, 0x36

/* Assembly may leave anything in the goroutine's register; a call of it is followed by a load. */
static void test_a_go_site_is_behind_the_load_of_the_goroutine(void **state)
{
	const struct code nop = CODE(CALL, 0x90, XORPS_15, LOAD_G, TEST_AX, 0x75, 0x00, 0xc3);
	const struct code pie = CODE(CALL, XORPS_15, LOAD_G_PIE, TEST_AX, 0x75, 0x00, 0xc3);
	const struct code ret = CODE(CALL, XORPS_15, LOAD_G, ADD_SP_24, 0x5d, 0xc3);
	const struct code other = CODE(CALL, 0x90, 0x64, 0x4c, 0x8b, 0x2c, 0x25, 0xf8, 0xff, 0xff,
				       0xff, 0x75, 0x00, 0xc3); /* mov %fs:-8,%r13 */
	const struct site_want go = {.lang = HB_LANG_GO};
	struct site s = return_of(&nop, &go);

	expect_at(&s, 5 + 1 + 4 + 9 + 3, HB_CLASS_BRANCH, -8);
	s = return_of(&pie, &go);
	expect_at(&s, 5 + 4 + 11 + 3, HB_CLASS_BRANCH, -8);
	s = return_of(&ret, &go); /* single-stepped, but not at the return address */
	expect_at(&s, 5 + 4 + 9, HB_CLASS_STEP, -8);
	s = return_of(&other, &go);
	expect_at(&s, 5, HB_CLASS_NOP, -8);
	s = return_of(&nop, &wants_nothing); /* C has threads */
	expect_at(&s, 5, HB_CLASS_NOP, -8);
}

static void test_a_load_of_the_goroutine_on_another_line_is_another_s(void **state)
{
	const struct code branch = CODE(CALL, TEST_AX, 0x75, 0x0a, LOAD_G, 0x90, 0xc3);
	const struct code join = CODE(CALL, 0x90,	  /* 0, 5 */
				      LOAD_G, 0x75, 0xf5, /* 6, 15: jne 6 */
				      0xc3);
	const struct site_want go = {.lang = HB_LANG_GO};
	struct site s = return_of(&branch, &go);

	expect_at(&s, 8, HB_CLASS_BRANCH, -8);
	s = return_of(&join, &go);
	expect_at(&s, 5, HB_CLASS_NOP, -8);
}

static void test_a_site_at_a_jump_target_is_avoided(void **state)
{
	const struct code c = CODE(CALL, TEST_AX,     /* 0, 5 */
				   0x90,	      /* 8  nop, the loop's head */
				   0x75, 0xfd, 0xc3); /* 9  jne 8 */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_jump_target_on_the_way_is_not_crossed(void **state)
{
	const struct code c = CODE(CALL, TEST_AX,     /* 0, 5 */
				   TEST_AX,	      /* 8  the loop's head */
				   0x75, 0xfb, 0xc3); /* 11 jne 8 */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_return_address_that_is_a_jump_target_changes_nothing(void **state)
{
	/* Every site behind it is joined as well: the cheap one is no worse than the dear one. */
	const struct code c = CODE(CALL, TEST_AX, 0x75, 0xfb, 0xc3); /* jne 5 at 8 */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 8, HB_CLASS_BRANCH, -8);
}

static void test_joins_are_not_known_where_the_function_is_not(void **state)
{
	/* As above with the loop's head at 8, but the code is known from 5 on only. */
	const struct code whole = CODE(CALL, TEST_AX, 0x90, 0x75, 0xfd, 0xc3);
	const struct code c = {
		.ops = whole.ops, .bytes = whole.bytes + 5, .len = whole.len - 5, .vaddr = RA};
	struct site s;

	assert_int_equal(site__return(&c, false, RA, &wants_ax, &s), 0);
	expect_at(&s, 8, HB_CLASS_NOP, -8);
}

static void test_a_wanted_register_that_is_overwritten_leaves_the_return_address(void **state)
{
	const struct code c = CODE(CALL, 0x31, 0xdb, 0x75, 0x00, 0xc3); /* xor %ebx,%ebx; jne */
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
	assert_int_equal(s.loc[BX], BX);
	s = return_of(&c, &wants_ax);
	expect_at(&s, 7, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[BX], HB_LOC_LOST);
}

static void test_a_hidden_write_counts_as_one(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x99, 0x75, 0x00, 0xc3); /* cqto; jne */
	const struct site_want wants_dx = {.exit_regs = REG(DX)};
	struct site s = return_of(&c, &wants_dx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_copy_is_followed_through_further_copies(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0xc1, /* 5  mov %rax,%rcx */
				   0x49, 0x89, 0xc9,	   /* 8  mov %rcx,%r9 */
				   0x31, 0xc0, 0x31, 0xc9, /* 11 xor %eax,%eax; xor %ecx,%ecx */
				   0x75, 0x00, 0xc3);	   /* 15 jne */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 15, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[AX], 9);
}

static void test_a_32_bit_copy_is_none(void **state)
{
	const struct code c = CODE(CALL, 0x89, 0xc1, 0x31, 0xc0, 0x75, 0, 0xc3); /* mov %eax,%ecx */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_spill_is_found_relative_to_sp_at_the_site(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x28, /* 5  mov %rbx,40(%rsp) */
				   0x31, 0xdb,			       /* 10 xor %ebx,%ebx */
				   ADD_SP_24,			       /* 12 */
				   0x75, 0x00, 0xc3);		       /* 16 jne */
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 16, HB_CLASS_BRANCH, -8 - 24);
	assert_int_equal(s.loc[BX], IN_SLOT(2)); /* 40 - 24 = 2 * 8 */
	assert_int_equal(s.loc[AX], AX);
}

static void test_a_reload_brings_a_spilled_register_back(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x08, /* 5  mov %rbx,8(%rsp) */
				   0x31, 0xdb,			       /* 10 xor %ebx,%ebx */
				   0x48, 0x8b, 0x54, 0x24, 0x08,       /* 12 mov 8(%rsp),%rdx */
				   0x48, 0x89, 0x44, 0x24, 0x08,       /* 17 mov %rax,8(%rsp) */
				   0x75, 0x00, 0xc3);		       /* 22 jne */
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 22, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[BX], DX);
}

static void test_an_overwritten_slot_is_lost(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x08,	  /* mov %rbx,8(%rsp) */
				   0x31, 0xdb,				  /* xor %ebx,%ebx */
				   0xc7, 0x44, 0x24, 0x0c, 0x01, 0, 0, 0, /* movl $1,12(%rsp) */
				   0x75, 0x00, 0xc3);
	const struct code beside = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x08, /* mov %rbx,8(%rsp) */
					0x31, 0xdb, 0x0f, 0x11, 0x44, 0x24,
					0x10, /* movups %xmm0,16(%rsp) */
					0x75, 0x00, 0xc3);
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&beside, &wants_ax_bx);
	expect_at(&s, 17, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[BX], IN_SLOT(1));
}

static void test_a_store_through_a_pointer_may_hit_any_slot(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x08, /* mov %rbx,8(%rsp) */
				   0x31, 0xdb,			       /* xor %ebx,%ebx */
				   0x48, 0x89, 0x01,		       /* mov %rax,(%rcx) */
				   0x75, 0x00, 0xc3);
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_slot_that_was_below_sp_is_lost_for_good(void **state)
{
	const struct code below = CODE(CALL, 0x48, 0x89, 0x1c, 0x24, /* mov %rbx,(%rsp) */
				       0x31, 0xdb, ADD_SP_24, 0x75, 0x00, 0xc3);
	const struct code again = CODE(CALL, 0x48, 0x89, 0x1c, 0x24, 0x31, 0xdb, ADD_SP_24, 0x48,
				       0x83, 0xec, 0x18, /* sub $24,%rsp */
				       0x75, 0x00, 0xc3);
	struct site s = return_of(&below, &wants_ax_bx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
	s = return_of(&again, &wants_ax_bx);
	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_slot_off_the_8_byte_grid_is_lost(void **state)
{
	const struct code c = CODE(CALL, 0x48, 0x89, 0x5c, 0x24, 0x0c, /* mov %rbx,12(%rsp) */
				   0x31, 0xdb, 0x75, 0x00, 0xc3);
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_push_and_pop_carry_a_register_along(void **state)
{
	const struct code c = CODE(CALL, 0xff, 0xf3, /* 5  push %rbx (long form, stepped) */
				   0x31, 0xdb, 0x75, 0x00, 0xc3); /* 7  xor; 9 jne */
	const struct code back = CODE(CALL, 0xff, 0xf3,		  /* 5  push %rbx */
				      0x31, 0xdb, 0x59,		  /* 7  xor; 9 pop %rcx */
				      0x75, 0x00, 0xc3);	  /* 10 jne */
	struct site s = return_of(&c, &wants_ax_bx);

	expect_at(&s, 9, HB_CLASS_BRANCH, 0);
	assert_int_equal(s.loc[BX], IN_SLOT(0));
	s = return_of(&back, &wants_ax_bx);
	expect_at(&s, 10, HB_CLASS_BRANCH, -8);
	assert_int_equal(s.loc[BX], CX);
}

static void test_a_nop5_is_passed_over(void **state)
{
	const struct code c = CODE(CALL, 0x0f, 0x1f, 0x44, 0, 0, 0x90, 0xc3); /* nop5; nop */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 10, HB_CLASS_NOP, -8);
}

static void test_after_a_nop5_any_other_instruction_will_do(void **state)
{
	const struct code c = CODE(CALL, 0x0f, 0x1f, 0x44, 0, 0, ADD_SP_24, 0xc3);
	const struct code ret = CODE(CALL, 0x0f, 0x1f, 0x44, 0, 0, 0xc3);
	const struct code none = CODE(CALL, 0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x0b);
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 10, HB_CLASS_STEP, -8);
	s = return_of(&ret, &wants_ax);
	expect_at(&s, 10, HB_CLASS_STEP, -8);
	assert_int_equal(site__return(&none, true, RA, &wants_ax, &s), -ENOTSUP);
}

static void test_an_instruction_that_uprobes_would_skip_is_passed_over(void **state)
{
	const struct code c = CODE(CALL, 0xc5, 0xf8, 0x77, 0xc3); /* vzeroupper; ret */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 8, HB_CLASS_STEP, -8);
}

static void test_the_code_behind_a_call_that_never_returns_is_no_site(void **state)
{
	const struct code end = CODE(CALL);
	const struct code bad = CODE(CALL, 0x06);
	struct site s;

	assert_int_equal(site__return(&end, true, RA, &wants_ax, &s), -EILSEQ);
	assert_int_equal(site__return(&bad, true, RA, &wants_ax, &s), -EILSEQ);
	assert_int_equal(site__return(&bad, true, CODE_VADDR - 1, &wants_ax, &s), -EILSEQ);
}

static void test_an_address_inside_an_instruction_is_no_return_address(void **state)
{
	const struct code c = CODE(0xb8, 0, 0, 0, 0x90, 0x90, 0x90, 0xc3); /* mov $..,%eax */
	struct site s;

	assert_int_equal(site__return(&c, true, CODE_VADDR + 4, &wants_ax, &s), -EILSEQ);
	assert_int_equal(site__return(&c, true, CODE_VADDR + 5, &wants_ax, &s), 0);
}

static void test_an_undecodable_byte_ends_the_line(void **state)
{
	const struct code c = CODE(CALL, TEST_AX, 0x06, 0x90);
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

static void test_a_refused_branch_ends_the_line(void **state)
{
	const struct code c = CODE(CALL, TEST_AX, 0x3e, 0x75, 0x01, 0x90, 0xc3); /* jne,pt */
	struct site s = return_of(&c, &wants_ax);

	expect_at(&s, 5, HB_CLASS_STEP, -8);
}

/* ---- returns of the function ---- */

static void test_every_form_of_ret_is_found_past_the_padding(void **state)
{
	const struct code c = CODE(0x74, 0x01, 0xc3,		  /* 0  je 3; ret */
				   0x74, 0x02, 0xf2, 0xc3,	  /* 3  je 7; bnd ret */
				   0x74, 0x02, 0xf3, 0xc3,	  /* 7  je 11; rep ret */
				   0xc2, 0x08, 0x00,		  /* 11 ret $8 */
				   0x66, 0x90, 0xcc, 0xcc, 0x06); /* padding */
	static const u64 at[] = {2, 5, 9, 11};
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(&c, 3, &l), 0);
	assert_int_equal(l.nr, 4);
	for (size_t n = 0; n < l.nr; n++) {
		assert_int_equal(l.v[n].vaddr, CODE_VADDR + at[n]);
		assert_int_equal(l.v[n].role, HB_ROLE_RET);
		assert_int_equal(l.v[n].cls, HB_CLASS_STEP);
		assert_int_equal(l.v[n].func, 3);
		assert_int_equal(l.v[n].sp_fix, 0);
		assert_int_equal(l.v[n].loc[AX], AX);
		assert_memory_equal(l.v[n].bytes, c.bytes + at[n], l.v[n].len);
	}
	assert_false(site__has_tails(&c));
	site_list__fini(&l);
}

static void expect_rets(const struct code *c, int err, size_t nr, bool tails)
{
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(c, 0, &l), err);
	assert_int_equal(l.nr, nr);
	assert_int_equal(site__has_tails(c), tails);
	site_list__fini(&l);
}

static void test_a_jump_out_is_an_exit_and_one_inside_is_not(void **state)
{
	const struct code out = CODE(0xe9, 0x00, 0x10, 0, 0);
	const struct code in = CODE(0xeb, 0x00, 0xeb, 0xfc); /* jmp 2; jmp 0 */

	expect_rets(&out, 0, 1, true);
	expect_rets(&in, 0, 0, false);
}

static void test_an_indirect_tail_call_is_an_exit(void **state)
{
	const struct code mem = CODE(0x48, 0x8b, 0x07, 0xff, 0x60, 0x18); /* mov; jmp *24(%rax) */
	const struct code reg = CODE(0x48, 0x8b, 0x07, 0xff, 0xe0); /* mov (%rdi); jmp *%rax */

	expect_rets(&mem, 0, 1, true);
	expect_rets(&reg, 0, 1, true);
}

static void test_a_jump_through_a_switch_table_is_no_exit(void **state)
{
	/* movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; ret */
	const struct code pic = CODE(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3);
	/* the same, added the other way round and copied: jmp *%rcx */
	const struct code copied = CODE(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xc2, 0x48, 0x89, 0xd1,
					0xff, 0xe1, 0xc3);
	const struct code go = CODE(0xff, 0x24, 0xc1, 0xc3); /* jmp *(%rcx,%rax,8) */

	expect_rets(&pic, 0, 1, false);
	expect_rets(&copied, 0, 1, false);
	expect_rets(&go, 0, 1, false);
}

static void test_an_overwritten_table_element_is_forgotten(void **state)
{
	const struct code c = CODE(0x48, 0x63, 0x04, 0x82, /* movslq (%rdx,%rax,4),%rax */
				   0x48, 0x8b, 0x07,	   /* mov (%rdi),%rax */
				   0xff, 0xe0);		   /* jmp *%rax: a tail call */

	expect_rets(&c, 0, 1, true);
}

static void test_exits_that_cannot_be_told_are_refused(void **state)
{
	/* mov (%rdx,%rax,8),%rax; jmp *%rax: labels, or functions? */
	const struct code array = CODE(0x48, 0x8b, 0x04, 0xc2, 0xff, 0xe0, 0xc3);
	/* je out: hit whether it leaves or not */
	const struct code cond = CODE(0x0f, 0x84, 0x00, 0x10, 0, 0, 0xc3);
	/* notrack jmp is a switch, but lret cannot be probed */
	const struct code lret = CODE(0xcb);
	/* jmp over data that is no code to its end */
	const struct code data = CODE(0xeb, 0x01, 0xb8, 0x31, 0xc0, 0xc3, 0x90, 0xc3);

	expect_rets(&array, -ENOTSUP, 0, true);
	expect_rets(&cond, -ENOTSUP, 0, true);
	expect_rets(&lret, -ENOTSUP, 0, false);
	expect_rets(&data, -ENOTSUP, 0, false);
}

static void test_a_refused_body_leaves_the_list_as_it_was(void **state)
{
	const struct code good = CODE(0xc3);
	const struct code bad = CODE(0xc3, 0x0f, 0x84, 0x00, 0x10, 0, 0, 0xc3);
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(&good, 0, &l), 0);
	assert_int_equal(site__rets(&bad, 0, &l), -ENOTSUP);
	assert_int_equal(l.nr, 1);
	site_list__fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_branch_after_the_call_is_the_site),
		cmocka_unit_test(test_an_emulated_instruction_at_the_return_address_is_the_site),
		cmocka_unit_test(test_sp_is_followed_to_the_site),
		cmocka_unit_test(test_a_push_on_the_way_lowers_sp),
		cmocka_unit_test(test_a_return_or_an_indirect_branch_leaves_the_return_address),
		cmocka_unit_test(test_an_unknown_sp_leaves_the_return_address),
		cmocka_unit_test(test_nothing_behind_an_instruction_that_may_take_long_is_the_site),
		cmocka_unit_test(test_a_site_far_behind_the_return_is_none),
		cmocka_unit_test(test_a_go_site_is_behind_the_load_of_the_goroutine),
		cmocka_unit_test(test_a_load_of_the_goroutine_on_another_line_is_another_s),
		cmocka_unit_test(test_a_site_at_a_jump_target_is_avoided),
		cmocka_unit_test(test_a_jump_target_on_the_way_is_not_crossed),
		cmocka_unit_test(test_a_return_address_that_is_a_jump_target_changes_nothing),
		cmocka_unit_test(test_joins_are_not_known_where_the_function_is_not),
		cmocka_unit_test(
			test_a_wanted_register_that_is_overwritten_leaves_the_return_address),
		cmocka_unit_test(test_a_hidden_write_counts_as_one),
		cmocka_unit_test(test_a_copy_is_followed_through_further_copies),
		cmocka_unit_test(test_a_32_bit_copy_is_none),
		cmocka_unit_test(test_a_spill_is_found_relative_to_sp_at_the_site),
		cmocka_unit_test(test_a_reload_brings_a_spilled_register_back),
		cmocka_unit_test(test_an_overwritten_slot_is_lost),
		cmocka_unit_test(test_a_store_through_a_pointer_may_hit_any_slot),
		cmocka_unit_test(test_a_slot_that_was_below_sp_is_lost_for_good),
		cmocka_unit_test(test_a_slot_off_the_8_byte_grid_is_lost),
		cmocka_unit_test(test_push_and_pop_carry_a_register_along),
		cmocka_unit_test(test_a_nop5_is_passed_over),
		cmocka_unit_test(test_after_a_nop5_any_other_instruction_will_do),
		cmocka_unit_test(test_an_instruction_that_uprobes_would_skip_is_passed_over),
		cmocka_unit_test(test_the_code_behind_a_call_that_never_returns_is_no_site),
		cmocka_unit_test(test_an_address_inside_an_instruction_is_no_return_address),
		cmocka_unit_test(test_an_undecodable_byte_ends_the_line),
		cmocka_unit_test(test_a_refused_branch_ends_the_line),
		cmocka_unit_test(test_every_form_of_ret_is_found_past_the_padding),
		cmocka_unit_test(test_a_jump_out_is_an_exit_and_one_inside_is_not),
		cmocka_unit_test(test_an_indirect_tail_call_is_an_exit),
		cmocka_unit_test(test_a_jump_through_a_switch_table_is_no_exit),
		cmocka_unit_test(test_an_overwritten_table_element_is_forgotten),
		cmocka_unit_test(test_exits_that_cannot_be_told_are_refused),
		cmocka_unit_test(test_a_refused_body_leaves_the_list_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
