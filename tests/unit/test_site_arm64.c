// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where calls are seen in A64 code: Go's and C's entries, returns, return sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "codetest.h"

#define CODE64(...)                                                             \
	{                                                                       \
		.ops = insn_ops__find_on(EM_AARCH64, 6 << 8 | 1),               \
		.bytes = (const u8 *)(const u32[]){__VA_ARGS__},                \
		.len = sizeof((const u32[]){__VA_ARGS__}), .vaddr = CODE_VADDR, \
	}
#define X(n)  (1u << (n))
#define RET   0xd65f03c0
#define NOP   0xd503201f
#define LIMIT 0xf9400b90 /* ldr x16, [x28, #16] */
#define CMP   0xeb3063ff /* cmp sp, x16 */
#define STP32 0xa9be7bfd /* stp x29, x30, [sp, #-32]! */
#define LDP32 0xa8c27bfd /* ldp x29, x30, [sp], #32 */

static const struct site_want go_wants = {.lang = HB_LANG_GO, .entry_regs = X(1)};
static const struct site_want go_results = {.lang = HB_LANG_GO, .exit_regs = X(0) | X(1)};
static const struct site_want c_wants = {.lang = HB_LANG_NATIVE, .entry_regs = X(1)};
static const struct site_want c_results = {.lang = HB_LANG_NATIVE, .exit_regs = X(0)};

static struct site entry_of(const struct code *c, const struct site_want *want)
{
	const char *why = NULL;
	struct site s;
	int err = site__entry(c, want, 7, &s, &why);

	if (err)
		fail_msg("no entry site: %d, %s", err, why);
	assert_int_equal(s.len, 4);
	assert_memory_equal(s.bytes, c->bytes + (s.vaddr - c->vaddr), 4);
	return s;
}

static struct site return_of(const struct code *c, const struct site_want *want, u64 ra)
{
	struct site s;

	assert_int_equal(site__return(c, true, CODE_VADDR + ra, want, &s), 0);
	assert_int_equal(s.ra, CODE_VADDR + ra);
	return s;
}

static void expect_at(const struct site *s, u64 off, enum hb_class cls, s32 sp_fix, u8 flags)
{
	assert_int_equal(s->vaddr, CODE_VADDR + off);
	assert_int_equal(s->cls, cls);
	assert_int_equal(s->sp_fix, sp_fix);
	assert_int_equal(s->flags, flags);
}

/* ---- Go's entry ---- */

static void test_go_enters_at_the_branch_of_the_stack_check(void **state)
{
	const struct code c = CODE64(LIMIT,		      /* 0 */
				     0xd10103f1,	      /* 4  sub x17, sp, #64 */
				     0xeb10023f,	      /* 8  cmp x17, x16 */
				     0x54000089,	      /* 12 b.ls 28 */
				     0xf81c0ffe,	      /* 16 str x30, [sp, #-64]! */
				     0xf84407fe, RET,	      /* 20 ldr x30, [sp], #64 */
				     0xa90087e0,	      /* 28 stp x0, x1, [sp, #8] */
				     0xaa1e03e3, 0x94000400,  /* 32 mov x3, x30; bl */
				     0xa94087e0, 0x17fffff5); /* 40 ldp; b 0 */
	struct site s = entry_of(&c, &go_wants);

	expect_at(&s, 12, HB_CLASS_BRANCH, 0, HB_SITE_TAKEN);
	assert_int_equal(s.loc[1], 1);
}

static void test_go_enters_at_the_last_branch_of_the_check_of_a_huge_frame(void **state)
{
	const struct code c = CODE64(LIMIT,	 /* 0 */
				     0xd2a0021b, /* 4  mov x27, #0x100000 */
				     0xeb3b63f1, /* 8  subs x17, sp, x27 */
				     0x540000a3, /* 12 b.lo 32 */
				     0xeb10023f, /* 16 cmp x17, x16 */
				     0x54000069, /* 20 b.ls 32 */
				     NOP, RET,	 /* 24 */
				     0xaa1e03e3, 0x94000400, 0x17fffff6); /* 32 mov; bl; b 0 */
	struct site s = entry_of(&c, &go_wants);

	expect_at(&s, 20, HB_CLASS_BRANCH, 0, HB_SITE_TAKEN);
}

static void test_a_go_function_without_a_check_is_entered_as_a_c_function(void **state)
{
	const struct code leaf = CODE64(0x8b010000, RET); /* add x0, x0, x1; ret */
	const struct code other = CODE64(0xeb01001f,	  /* 0 cmp x0, x1 */
					 0x54000049,	  /* 4 b.ls 12: the program's own */
					 RET, 0xd2800000, RET);
	struct site s = entry_of(&leaf, &go_wants);

	expect_at(&s, 4, HB_CLASS_BRANCH, 0, 0);
	s = entry_of(&other, &go_wants);
	expect_at(&s, 4, HB_CLASS_BRANCH, 0, 0);
}

/* ---- C's entry ---- */

static void test_c_enters_at_the_first_simulated_instruction_with_sp_corrected(void **state)
{
	const struct code c = CODE64(0xd503233f,	      /* 0  paciasp */
				     STP32,		      /* 4 */
				     0x910003fd,	      /* 8  mov x29, sp */
				     0x90000000,	      /* 12 adrp x0 */
				     0x94000400,	      /* 16 bl */
				     LDP32, 0xd50323bf, RET); /* 20 ldp; autiasp; ret */
	struct site s = entry_of(&c, &c_wants);

	expect_at(&s, 12, HB_CLASS_BRANCH, 32, 0);
}

static void test_a_lost_argument_is_read_at_an_earlier_dearer_site(void **state)
{
	const struct code c = CODE64(STP32,	 /* 0 */
				     0xd2800001, /* 4 mov x1, #0 */
				     0x90000000, /* 8 adrp x0 */
				     LDP32, RET);
	struct site s = entry_of(&c, &c_wants);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_an_argument_is_followed_only_to_registers_that_are_read(void **state)
{
	const struct code kept = CODE64(STP32, 0xaa0103f3,	/* 4 mov x19, x1 */
					0xd2800001, 0x90000000, /* 8 mov x1, #0; adrp x0 */
					LDP32, RET);
	const struct code gone = CODE64(STP32, 0xaa0103e9, /* 4 mov x9, x1 */
					0xd2800001, 0x90000000, LDP32, RET);
	struct site s = entry_of(&kept, &c_wants);

	expect_at(&s, 12, HB_CLASS_BRANCH, 32, 0);
	assert_int_equal(s.loc[1], 19);
	s = entry_of(&gone, &c_wants);
	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_no_entry_site_is_behind_the_loss_of_the_return_address(void **state)
{
	const struct code c = CODE64(0xaa1e03f4,  /* 0 mov x20, x30 */
				     0xd280001e,  /* 4 mov x30, #0 */
				     0x90000000,  /* 8 adrp x0 */
				     0xd61f0280); /* 12 br x20 */
	struct site s = entry_of(&c, &c_wants);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

/* ---- returns ---- */

static void test_every_return_is_a_site_and_sp_is_the_entrys(void **state)
{
	const struct code c = CODE64(0xb4000080, STP32, LDP32, RET, /* 0 cbz x0, 16 */
				     0xd2800000, RET);
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(&c, 3, &l), 0);
	assert_int_equal(l.nr, 2);
	expect_at(&l.v[0], 12, HB_CLASS_BRANCH, 0, 0);
	expect_at(&l.v[1], 20, HB_CLASS_BRANCH, 0, 0);
	assert_int_equal(l.v[0].role, HB_ROLE_RET);
	assert_int_equal(l.v[0].loc[0], 0);
	site_list__fini(&l);
}

static void test_an_authenticated_return_cannot_be_probed(void **state)
{
	const struct code retaa = CODE64(0xd503233f, STP32, LDP32, 0xd65f0bff);
	const struct code plain = CODE64(0xd503233f, STP32, LDP32, 0xd50323bf, RET);
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(&retaa, 3, &l), -ENOTSUP);
	assert_int_equal(l.nr, 0);
	assert_int_equal(site__rets(&plain, 3, &l), 0); /* autiasp; ret */
	assert_int_equal(l.nr, 1);
	site_list__fini(&l);
}

static void test_jumps_out_are_told_from_switches(void **state)
{
	const struct code go_switch = CODE64(0xf861781b, 0xd61f0360, RET); /* ldr x27, [x0, x1,
									      lsl #3]; br x27 */
	const struct code gcc_switch = CODE64(0x38604820, /* ldrb w0, [x1, w0, uxtw] */
					      0x10000061, /* adr x1, .+12 */
					      0x8b208820, /* add x0, x1, w0, sxtb #2 */
					      0xd61f0000, RET);
	const struct code tail = CODE64(0xf9400401, 0xd61f0020);  /* ldr x1, [x0, #8]; br x1 */
	const struct code array = CODE64(0xf8617801, 0xd61f0020); /* ldr x1, [x0, x1, lsl #3] */
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__rets(&go_switch, 0, &l), 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(site__rets(&gcc_switch, 0, &l), 0);
	assert_int_equal(l.nr, 2);
	assert_int_equal(site__rets(&tail, 0, &l), 0);
	assert_int_equal(l.nr, 3);
	assert_int_equal(site__rets(&array, 0, &l), -ENOTSUP);
	assert_false(site__has_tails(&go_switch));
	assert_true(site__has_tails(&tail));
	site_list__fini(&l);
}

/* ---- return sites ---- */

static void test_the_callers_epilogue_is_a_return_site_with_its_frame_subtracted(void **state)
{
	const struct code c = CODE64(STP32, 0x94000400, /* 0 stp; bl */
				     LDP32, RET);	/* 8 */
	struct site s = return_of(&c, &go_results, 8);

	expect_at(&s, 12, HB_CLASS_BRANCH, -32, 0);
	assert_int_equal(s.loc[0], 0);
	assert_int_equal(s.loc[1], 1);
}

static void test_the_return_address_itself_is_probed_where_nothing_simulated_follows(void **state)
{
	const struct code c = CODE64(STP32, 0x94000400,	      /* 0 */
				     0xd2800000,	      /* 8  mov x0, #0 */
				     0x9100029f, LDP32, RET); /* 12 mov sp, x20 */
	struct site s = return_of(&c, &c_results, 8);

	expect_at(&s, 8, HB_CLASS_STEP, 0, 0);
}

static void test_a_spilled_result_is_found_on_the_stack(void **state)
{
	const struct code c = CODE64(STP32, 0x94000400,	      /* 0 */
				     0xf9000be0, 0xd2800000,  /* 8 str x0, [sp, #16]; mov x0, #0 */
				     0x14000001, LDP32, RET); /* 16 b 20 */
	struct site s = return_of(&c, &c_results, 8);

	expect_at(&s, 16, HB_CLASS_BRANCH, 0, 0);
	assert_int_equal(s.loc[0], IN_SLOT(2));
}

/* ---- where the return address is kept ---- */

static void test_the_place_of_the_return_address_is_found_in_the_prologue(void **state)
{
	const struct code c = CODE64(0xd503233f, STP32, 0x94000400, LDP32, 0xd50323bf, RET);
	const struct code go = CODE64(LIMIT, CMP, 0x54000069, /* 8 b.ls 20 */
				      0xf81c0ffe,	      /* 12 str x30, [sp, #-64]! */
				      RET, 0x94000400, 0x17fffffa);
	const struct code debug = CODE64(0xd10103ff, /* sub sp, sp, #64 */
					 0xa9037bfd, /* stp x29, x30, [sp, #48] */
					 0x94000400, RET);
	const struct code short_cut = CODE64(0xb4000080, STP32, 0x94000400, LDP32, RET);

	assert_int_equal(site__ra_words(&c), 3);
	assert_int_equal(site__ra_words(&go), 8);
	assert_int_equal(site__ra_words(&debug), 1);
	assert_int_equal(site__ra_words(&short_cut), 3);
}

static void test_a_place_that_is_not_sure_is_not_known(void **state)
{
	const struct code leaf = CODE64(0x8b010000, RET);
	const struct code twice = CODE64(0xb4000080, STP32, LDP32, RET, /* two paths, two frames */
					 0xa9bc7bfd, 0x94000400, RET);
	const struct code big = CODE64(0xd14007f4, /* sub x20, sp, #4096 */
				       0xa93ffa9d, /* stp x29, x30, [x20, #-8] */
				       0x9100029f, /* mov sp, x20 */
				       0x94000400, RET);
	const struct code late = CODE64(0x94000400, STP32, RET); /* a call comes first */

	assert_int_equal(site__ra_words(&leaf), HB_RA_NOWHERE);
	assert_int_equal(site__ra_words(&twice), HB_RA_NOWHERE);
	assert_int_equal(site__ra_words(&big), HB_RA_NOWHERE);
	assert_int_equal(site__ra_words(&late), HB_RA_NOWHERE);
}

/* ---- undone stacks ---- */

static void test_longjmp_lands_where_it_has_set_sp(void **state)
{
	const struct code c = CODE64(0xa9405013,  /* 0  ldp x19, x20, [x0] */
				     0xf9403405,  /* 4  ldr x5, [x0, #104] */
				     0x910000bf,  /* 8  mov sp, x5 */
				     0xf100003f,  /* 12 cmp x1, #0 */
				     0xd2800020,  /* 16 mov x0, #1 */
				     0x9a801020,  /* 20 csel x0, x1, x0, ne */
				     0xd61f03c0); /* 24 br x30 */
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__landings(&c, &l), 0);
	assert_int_equal(l.nr, 1);
	expect_at(&l.v[0], 24, HB_CLASS_BRANCH, 0, 0);
	assert_int_equal(l.v[0].role, HB_ROLE_CATCH);
	site_list__fini(&l);
}

static void test_swapcontext_is_seen_where_it_leaves_for_the_other_stack(void **state)
{
	const struct code c = CODE64(0xa9405013,  /* 0  ldp x19, x20, [x0] */
				     0x9100005f,  /* 4  mov sp, x2 */
				     0xa9415815,  /* 8  ldp x21, x22, [x0, #16] */
				     0xd61f0200); /* 12 br x16 */
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__switches(&c, &l), 0);
	assert_int_equal(l.nr, 1);
	expect_at(&l.v[0], 12, HB_CLASS_BRANCH, 0, 0);
	assert_int_equal(l.v[0].role, HB_ROLE_SWITCH);
	site_list__fini(&l);
}

static void test_code_that_leaves_sp_alone_has_no_landing(void **state)
{
	const struct code c = CODE64(STP32, 0x910003fd, 0x94000400, LDP32, RET);
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__landings(&c, &l), 0);
	assert_int_equal(l.nr, 0);
	site_list__fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_enters_at_the_branch_of_the_stack_check),
		cmocka_unit_test(test_go_enters_at_the_last_branch_of_the_check_of_a_huge_frame),
		cmocka_unit_test(test_a_go_function_without_a_check_is_entered_as_a_c_function),
		cmocka_unit_test(
			test_c_enters_at_the_first_simulated_instruction_with_sp_corrected),
		cmocka_unit_test(test_a_lost_argument_is_read_at_an_earlier_dearer_site),
		cmocka_unit_test(test_an_argument_is_followed_only_to_registers_that_are_read),
		cmocka_unit_test(test_no_entry_site_is_behind_the_loss_of_the_return_address),
		cmocka_unit_test(test_every_return_is_a_site_and_sp_is_the_entrys),
		cmocka_unit_test(test_an_authenticated_return_cannot_be_probed),
		cmocka_unit_test(test_jumps_out_are_told_from_switches),
		cmocka_unit_test(
			test_the_callers_epilogue_is_a_return_site_with_its_frame_subtracted),
		cmocka_unit_test(
			test_the_return_address_itself_is_probed_where_nothing_simulated_follows),
		cmocka_unit_test(test_a_spilled_result_is_found_on_the_stack),
		cmocka_unit_test(test_the_place_of_the_return_address_is_found_in_the_prologue),
		cmocka_unit_test(test_a_place_that_is_not_sure_is_not_known),
		cmocka_unit_test(test_longjmp_lands_where_it_has_set_sp),
		cmocka_unit_test(test_swapcontext_is_seen_where_it_leaves_for_the_other_stack),
		cmocka_unit_test(test_code_that_leaves_sp_alone_has_no_landing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
