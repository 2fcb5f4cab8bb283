// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a call's beginning is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "codetest.h"

#define STACK_CHECK 0x49, 0x3b, 0x66, 0x10 /* cmp 0x10(%r14),%rsp */
#define MOV_RBP_RSP 0x48, 0x89, 0xe5	   /* mov %rsp,%rbp */

static const struct site_want c_wants_nothing = {.lang = HB_LANG_NATIVE};
static const struct site_want c_wants_di_si = {.lang = HB_LANG_NATIVE,
					       .entry_regs = REG(DI) | REG(SI)};
static const struct site_want go_wants_bx = {.lang = HB_LANG_GO, .entry_regs = REG(BX)};

static struct site entry_of(const struct code *c, const struct site_want *want)
{
	const char *why = NULL;
	struct site s;
	int err = site__entry(c, want, 7, &s, &why);

	if (err)
		fail_msg("no entry site: %d, %s", err, why);
	assert_int_equal(s.role, HB_ROLE_ENTRY);
	assert_int_equal(s.func, 7);
	assert_memory_equal(s.bytes, c->bytes + (s.vaddr - c->vaddr), s.len);
	return s;
}

static void expect_at(const struct site *s, u64 off, enum hb_class cls, s32 sp_fix, u8 flags)
{
	assert_int_equal(s->vaddr, CODE_VADDR + off);
	assert_int_equal(s->cls, cls);
	assert_int_equal(s->sp_fix, sp_fix);
	assert_int_equal(s->flags, flags);
}

/* ---- Go ---- */

static void test_go_enters_at_the_push_after_the_stack_check(void **state)
{
	const struct code c = CODE(STACK_CHECK,		   /* 0 */
				   0x76, 0x08,		   /* 4  jbe 14 */
				   0x55, MOV_RBP_RSP,	   /* 6  push %rbp */
				   0x5d, 0xc3,		   /* 10 pop %rbp; ret */
				   0x90, 0x90,		   /* 12 */
				   0xe8, 0x00, 0x10, 0, 0, /* 14 call morestack */
				   0xeb, 0xeb);		   /* 19 jmp 0 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 6, HB_CLASS_PUSH, 0, 0);
	assert_int_equal(s.len, 1);
	assert_int_equal(s.loc[BX], BX);
}

static void test_go_enters_at_the_push_after_the_check_of_a_large_frame(void **state)
{
	const struct code c = CODE(0x4c, 0x8d, 0x64, 0x24, 0xc8,  /* 0  lea -0x38(%rsp),%r12 */
				   0x4d, 0x3b, 0x66, 0x10,	  /* 5  cmp 0x10(%r14),%r12 */
				   0x0f, 0x86, 0x06, 0, 0, 0,	  /* 9  jbe 21 */
				   0x55, MOV_RBP_RSP, 0x5d, 0xc3, /* 15 push %rbp; mov; pop; ret */
				   0xe8, 0x00, 0x10, 0, 0,	  /* 21 call morestack */
				   0xeb, 0xe4);			  /* 26 jmp 0 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 15, HB_CLASS_PUSH, 0, 0);
}

static void test_go_enters_at_the_push_after_the_two_checks_of_a_huge_frame(void **state)
{
	const struct code c = CODE(0x49, 0x89, 0xe4,			/* 0  mov %rsp,%r12 */
				   0x49, 0x81, 0xec, 0, 0, 0x10, 0,	/* 3  sub $1M,%r12 */
				   0x72, 0x0c,				/* 10 jb 24 */
				   0x4d, 0x3b, 0x66, 0x10,		/* 12 cmp */
				   0x76, 0x06,				/* 16 jbe 24 */
				   0x55, MOV_RBP_RSP, 0x5d, 0xc3,	/* 18 push %rbp */
				   0xe8, 0x00, 0x10, 0, 0, 0xeb, 0xe1); /* 24 morestack; jmp 0 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 18, HB_CLASS_PUSH, 0, 0);
}

static void test_go_without_a_stack_check_enters_at_its_push(void **state)
{
	const struct code c = CODE(0x55, MOV_RBP_RSP, 0x5d, 0xc3); /* push %rbp; ...; ret */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 0, HB_CLASS_PUSH, 0, 0);
}

static void test_go_of_the_old_prologue_enters_at_the_jbe_unless_taken(void **state)
{
	const struct code c = CODE(STACK_CHECK, 0x76, 0x11,		/* 0, 4  jbe 23 */
				   0x48, 0x83, 0xec, 0x18,		/* 6  sub $24,%rsp */
				   0x48, 0x89, 0x6c, 0x24, 0x10,	/* 10 mov %rbp,16(%rsp) */
				   0x48, 0x83, 0xc4, 0x18, 0xc3,	/* 15 add $24,%rsp; ret */
				   0x90, 0x90, 0x90,			/* 20 */
				   0xe8, 0x00, 0x10, 0, 0, 0xeb, 0xe2); /* 23 morestack; jmp 0 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 4, HB_CLASS_BRANCH, 0, HB_SITE_TAKEN);
}

static void test_go_push_behind_another_branch_is_not_the_prologue(void **state)
{
	/* The jbe leads to no morestack: calls that take it would never be seen at the push. */
	const struct code c = CODE(0x48, 0x85, 0xc0,  /* 0  test %rax,%rax */
				   0x76, 0x03,	      /* 3  jbe 8 */
				   0x55, 0x5d, 0xc3,  /* 5  push %rbp; pop %rbp; ret */
				   0x31, 0xc0, 0xc3); /* 8  xor %eax,%eax; ret */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 3, HB_CLASS_BRANCH, 0, 0);
}

static void test_go_push_of_another_register_is_not_the_prologue(void **state)
{
	const struct code c = CODE(0x48, 0x85, 0xc0, 0x53, 0x5b, 0xc3); /* test; push %rbx; .. */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 3, HB_CLASS_PUSH, 0, 0); /* by the rule for C */
}

static void test_go_push_that_a_loop_leads_to_is_not_the_prologue(void **state)
{
	const struct code c = CODE(0x31, 0xc9, /* 0  xor %ecx,%ecx */
				   0x55, 0x5d, /* 2  push %rbp; pop %rbp */
				   0xff, 0xc1, /* 4  inc %ecx */
				   0x75, 0xfa, /* 6  jne 2 */
				   0xc3);      /* 8 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_go_push_after_a_call_is_not_the_prologue(void **state)
{
	const struct code c = CODE(0x31, 0xc9,		   /* 0  xor %ecx,%ecx */
				   0xe8, 0x00, 0x10, 0, 0, /* 2  call */
				   0x55, 0x5d, 0xc3);	   /* 7 */
	struct site s = entry_of(&c, &go_wants_bx);

	expect_at(&s, 2, HB_CLASS_CALL, 0, 0);
}

static void test_go_push_too_far_down_is_not_the_prologue(void **state)
{
	const struct code c = CODE(0x31, 0xc9, 0x31, 0xc9, 0x31, 0xc9, 0x31, 0xc9, /* 8 x xor */
				   0x31, 0xc9, 0x31, 0xc9, 0x31, 0xc9, 0x31, 0xc9, 0x55, 0x5d,
				   0xc3);
	u64 at;
	bool taken;

	assert_int_equal(c.ops->go_entry(c.bytes, c.len, c.vaddr, &at, &taken), -ENOENT);
}

/* ---- C ---- */

static void test_what_an_entry_block_fills_or_waits_for_is_part_of_the_call(void **state)
{
	const struct code fill = CODE(0x48, 0x81, 0xec, 0x00, 0x00, 0x04, 0x00, /* sub $256K,%rsp */
				      0xf3, 0xaa, 0x75, 0x00, 0xc3);		/* rep stosb; jne */
	const struct code id = CODE(0x31, 0xc0, 0x0f, 0xa2, 0x75, 0x00, 0xc3); /* xor; cpuid; jne */
	struct site s = entry_of(&fill, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
	s = entry_of(&id, &c_wants_nothing);
	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_endbr64_is_passed_over(void **state)
{
	const struct code c = CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x5d, 0xc3); /* push at 4 */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 4, HB_CLASS_PUSH, 0, 0);
}

static void test_sp_is_corrected_for_what_the_prologue_has_done(void **state)
{
	const struct code c = CODE(0x48, 0x83, 0xec, 0x18,	 /* 0  sub $24,%rsp */
				   0x48, 0x85, 0xff,		 /* 4  test %rdi,%rdi */
				   0x74, 0x05,			 /* 7  je 14 */
				   0x48, 0x83, 0xc4, 0x18, 0xc3, /* 9  add; ret */
				   0x0f, 0x0b);			 /* 14 ud2 */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 7, HB_CLASS_BRANCH, 24, 0);
	assert_int_equal(s.loc[DI], DI);
	assert_int_equal(s.loc[4], HB_LOC_LOST); /* SP is what sp_fix is for */
}

static void test_a_call_or_a_tail_jump_closes_the_entry_block_and_will_do(void **state)
{
	const struct code call = CODE(0x48, 0x83, 0xec, 0x08, 0xe8, 0, 0x10, 0, 0, 0xc3);
	const struct code jump = CODE(0x31, 0xf6, 0xe9, 0, 0x10, 0, 0); /* xor %esi,%esi; jmp */
	struct site s = entry_of(&call, &c_wants_di_si);

	expect_at(&s, 4, HB_CLASS_CALL, 8, 0);
	s = entry_of(&jump, &c_wants_nothing);
	expect_at(&s, 2, HB_CLASS_BRANCH, 0, 0);
}

static void test_a_copied_argument_is_found_in_its_copy(void **state)
{
	const struct code c = CODE(0x49, 0x89, 0xf8,  /* 0  mov %rdi,%r8 */
				   0x31, 0xff,	      /* 3  xor %edi,%edi */
				   0x53, 0x5b, 0xc3); /* 5  push %rbx */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 5, HB_CLASS_PUSH, 0, 0);
	assert_int_equal(s.loc[DI], 8);
	assert_int_equal(s.loc[SI], SI);
}

static void test_a_spilled_argument_is_found_in_its_slot(void **state)
{
	const struct code c = CODE(0x48, 0x83, 0xec, 0x28,	 /* 0  sub $40,%rsp */
				   0x48, 0x89, 0x7c, 0x24, 0x18, /* 4  mov %rdi,24(%rsp) */
				   0x31, 0xff,			 /* 9  xor %edi,%edi */
				   0x74, 0x00, 0xc3);		 /* 11 je */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 11, HB_CLASS_BRANCH, 40, 0);
	assert_int_equal(s.loc[DI], IN_SLOT(3));
}

static void test_a_lost_argument_sends_the_site_to_the_first_instruction(void **state)
{
	const struct code c = CODE(0x8b, 0x7f, 0x08,  /* 0  mov 8(%rdi),%edi */
				   0x53, 0x5b, 0xc3); /* 3  push %rbx */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
	assert_int_equal(s.loc[DI], DI);
	s = entry_of(&c, &c_wants_nothing); /* nobody reads it: the push is as good */
	expect_at(&s, 3, HB_CLASS_PUSH, 0, 0);
	assert_int_equal(s.loc[DI], HB_LOC_LOST);
}

static void test_a_partial_write_loses_the_argument(void **state)
{
	const struct code c = CODE(0x40, 0xb7, 0x01, 0x53, 0x5b, 0xc3); /* mov $1,%dil; push */
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_a_jump_target_ends_the_search(void **state)
{
	const struct code c = CODE(0x31, 0xc0,	      /* 0  xor %eax,%eax */
				   0xff, 0xc0,	      /* 2  inc %eax: the loop's head */
				   0x53, 0x5b,	      /* 4  push %rbx; pop %rbx */
				   0x75, 0xfa, 0xc3); /* 6  jne 2 */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_an_emulated_instruction_at_a_jump_target_is_not_taken(void **state)
{
	const struct code c = CODE(0x31, 0xc0,	      /* 0  xor %eax,%eax */
				   0x53, 0x5b,	      /* 2  push %rbx: the loop's head */
				   0x75, 0xfc, 0xc3); /* 4  jne 2 */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_a_call_into_the_middle_is_a_jump_target_too(void **state)
{
	const struct code c = CODE(0x31, 0xc0,	     /* 0  xor %eax,%eax */
				   0x53, 0x5b, 0xc3, /* 2  push: called from below */
				   0xe8, 0xf8, 0xff, 0xff, 0xff, 0xc3); /* 5  call 2 */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_a_recursive_call_is_a_call_not_a_loop(void **state)
{
	const struct code c = CODE(0x53,			 /* 0  push %rbx */
				   0xe8, 0xfa, 0xff, 0xff, 0xff, /* 1  call 0 */
				   0x5b, 0xc3);
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_PUSH, 0, 0);
}

static void test_a_loop_to_the_first_instruction_is_refused_and_said(void **state)
{
	const struct code c = CODE(0x53, 0x5b, 0x75, 0xfc, 0xc3); /* push; pop; jne 0; ret */
	const char *why = NULL;
	struct site s;

	assert_int_equal(site__entry(&c, &c_wants_nothing, 0, &s, &why), -ENOTSUP);
	assert_non_null(strstr(why, "loop"));
}

static void test_a_loop_to_behind_endbr64_leaves_endbr64(void **state)
{
	const struct code c = CODE(0xf3, 0x0f, 0x1e, 0xfa,	  /* 0  endbr64 */
				   0x53, 0x5b, 0x75, 0xfc, 0xc3); /* 4  push; pop; jne 4; ret */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_nothing_behind_the_first_branch_is_looked_at(void **state)
{
	/* jrcxz is stepped and ends the block: the push behind is not reached by every call. */
	const struct code c = CODE(0x31, 0xc0, 0xe3, 0x02, 0x53, 0x5b, 0xc3);
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_an_unknown_sp_ends_the_search(void **state)
{
	const struct code c = CODE(0x48, 0x89, 0xe0,	   /* 0  mov %rsp,%rax */
				   0x48, 0x83, 0xe4, 0xf0, /* 3  and $-16,%rsp */
				   0x50, 0xc3);		   /* 7  push %rax */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_a_nop5_is_never_the_site(void **state)
{
	const struct code c = CODE(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x89, 0xf8, 0x53, 0x5b, 0xc3);
	const struct code leaf = CODE(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x89, 0xf8, 0xc3);
	struct site s = entry_of(&c, &c_wants_di_si);

	expect_at(&s, 7, HB_CLASS_PUSH, 0, 0);
	s = entry_of(&leaf, &c_wants_di_si); /* nop5; mov %edi,%eax; ret: the mov */
	expect_at(&s, 5, HB_CLASS_STEP, 0, 0);
}

static void test_refused_first_instructions_are_passed_over_even_at_a_loss(void **state)
{
	/* vmovd %edi,%xmm0; ud2: nothing to take. lock incl (%rdi); xor %edi,%edi; ret: the xor,
	 * with %rdi intact; want it gone and the ret is worse, so the xor it is. */
	const struct code none = CODE(0xc5, 0xf9, 0x6e, 0xc7, 0x0f, 0x0b);
	const struct code some = CODE(0xf0, 0xff, 0x07, 0x31, 0xff, 0xc3);
	const char *why = NULL;
	struct site s;

	assert_int_equal(site__entry(&none, &c_wants_nothing, 0, &s, &why), -ENOTSUP);
	assert_non_null(why);
	s = entry_of(&some, &c_wants_di_si);
	expect_at(&s, 3, HB_CLASS_STEP, 0, 0);
	assert_int_equal(s.loc[DI], DI);
}

static void test_a_long_nop_is_an_entry_only_where_the_kernel_emulates_it(void **state)
{
	struct code c = CODE(0x31, 0xc0, 0x0f, 0x1f, 0x00, 0xc3); /* xor; nopl (%rax); ret */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
	c.ops = insn_ops__find_on(EM_X86_64, KERNEL_6_18);
	s = entry_of(&c, &c_wants_nothing);
	expect_at(&s, 2, HB_CLASS_NOP, 0, 0);
}

#define SWITCH                                                    \
	0x48, 0x63, 0x04, 0x82,	  /* movslq (%rdx,%rax,4),%rax */ \
		0x48, 0x01, 0xd0, /* add %rdx,%rax */             \
		0xff, 0xe0	  /* jmp *%rax */

static void test_with_a_jump_table_only_the_frame_setup_is_trusted(void **state)
{
	/* xor %ecx,%ecx; je ..; the je may be the head of the loop around the switch. */
	const struct code bare = CODE(0x31, 0xc9, 0x74, 0x09, SWITCH, 0xc3);
	/* xor; push %rbx; je ..: no loop leads to before a push. */
	const struct code framed = CODE(0x31, 0xc9, 0x53, 0x74, 0x09, SWITCH, 0x5b, 0xc3);
	struct site s = entry_of(&bare, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
	s = entry_of(&framed, &c_wants_nothing);
	expect_at(&s, 2, HB_CLASS_PUSH, 0, 0);
}

static void test_an_indirect_tail_call_is_no_jump_table(void **state)
{
	const struct code c = CODE(0x48, 0x85, 0xff,  /* 0  test %rdi,%rdi */
				   0x74, 0x05,	      /* 3  je 10 */
				   0x48, 0x8b, 0x07,  /* 5  mov (%rdi),%rax */
				   0xff, 0x20, 0xc3); /* 8  jmp *(%rax); ret */
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 3, HB_CLASS_BRANCH, 0, 0);
}

static void test_data_among_the_code_is_treated_like_a_jump_table(void **state)
{
	/* xor; je; ret; a branch into the middle of an instruction */
	const struct code c = CODE(0x31, 0xc9, 0x74, 0x02, 0xeb, 0x01, 0xb8, 0, 0, 0, 0, 0xc3);
	struct site s = entry_of(&c, &c_wants_nothing);

	expect_at(&s, 0, HB_CLASS_STEP, 0, 0);
}

static void test_bytes_that_are_no_code_are_said_to_be_none(void **state)
{
	const struct code bad = CODE(0x06, 0x06);
	const struct code cut = CODE(0xe8, 0x00, 0x00);
	const struct code empty = {.ops = bad.ops, .bytes = bad.bytes, .vaddr = CODE_VADDR};
	const char *why = NULL;
	struct site s;

	assert_int_equal(site__entry(&bad, &c_wants_nothing, 0, &s, &why), -EILSEQ);
	assert_non_null(why);
	assert_int_equal(site__entry(&cut, &c_wants_nothing, 0, &s, &why), -EILSEQ);
	assert_int_equal(site__entry(&empty, &go_wants_bx, 0, &s, &why), -EILSEQ);
}

/* ---- other stacks ---- */

static void test_swapcontext_is_seen_at_the_push_behind_the_new_sp(void **state)
{
	const struct code c = CODE(0x48, 0x89, 0x5f, 0x08, /* 0  mov %rbx,8(%rdi) */
				   0x53, 0x5b,		   /* 4  push %rbx; pop %rbx */
				   0x48, 0x8b, 0x62, 0x50, /* 6  mov 0x50(%rdx),%rsp */
				   0x48, 0x8b, 0x5a, 0x48, /* 10 mov 0x48(%rdx),%rbx */
				   0x51,		   /* 14 push %rcx */
				   0x31, 0xc0, 0xc3);	   /* 15 xor %eax,%eax; ret */
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__switches(&c, &l), 0);
	assert_int_equal(l.nr, 1);
	expect_at(&l.v[0], 14, HB_CLASS_PUSH, 0, 0);
	assert_int_equal(l.v[0].role, HB_ROLE_SWITCH);
	site_list__fini(&l);
}

/* A return there is single-stepped: for a coroutine of some ns that would be a lot. */
static void test_a_switch_that_only_steps_would_show_is_not_probed(void **state)
{
	const struct code c = CODE(0x48, 0x89, 0xf4,  /* 0 mov %rsi,%rsp */
				   0x5b, 0x5d, 0xc3); /* 3 pop %rbx; pop %rbp; ret */
	struct site_list l;

	site_list__init(&l);
	assert_int_equal(site__switches(&c, &l), 0);
	assert_int_equal(l.nr, 0);
	site_list__fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_enters_at_the_push_after_the_stack_check),
		cmocka_unit_test(test_go_enters_at_the_push_after_the_check_of_a_large_frame),
		cmocka_unit_test(test_go_enters_at_the_push_after_the_two_checks_of_a_huge_frame),
		cmocka_unit_test(test_go_without_a_stack_check_enters_at_its_push),
		cmocka_unit_test(test_go_of_the_old_prologue_enters_at_the_jbe_unless_taken),
		cmocka_unit_test(test_go_push_behind_another_branch_is_not_the_prologue),
		cmocka_unit_test(test_go_push_of_another_register_is_not_the_prologue),
		cmocka_unit_test(test_go_push_that_a_loop_leads_to_is_not_the_prologue),
		cmocka_unit_test(test_go_push_after_a_call_is_not_the_prologue),
		cmocka_unit_test(test_go_push_too_far_down_is_not_the_prologue),
		cmocka_unit_test(test_what_an_entry_block_fills_or_waits_for_is_part_of_the_call),
		cmocka_unit_test(test_endbr64_is_passed_over),
		cmocka_unit_test(test_sp_is_corrected_for_what_the_prologue_has_done),
		cmocka_unit_test(test_a_call_or_a_tail_jump_closes_the_entry_block_and_will_do),
		cmocka_unit_test(test_a_copied_argument_is_found_in_its_copy),
		cmocka_unit_test(test_a_spilled_argument_is_found_in_its_slot),
		cmocka_unit_test(test_a_lost_argument_sends_the_site_to_the_first_instruction),
		cmocka_unit_test(test_a_partial_write_loses_the_argument),
		cmocka_unit_test(test_a_jump_target_ends_the_search),
		cmocka_unit_test(test_an_emulated_instruction_at_a_jump_target_is_not_taken),
		cmocka_unit_test(test_a_call_into_the_middle_is_a_jump_target_too),
		cmocka_unit_test(test_a_recursive_call_is_a_call_not_a_loop),
		cmocka_unit_test(test_a_loop_to_the_first_instruction_is_refused_and_said),
		cmocka_unit_test(test_a_loop_to_behind_endbr64_leaves_endbr64),
		cmocka_unit_test(test_nothing_behind_the_first_branch_is_looked_at),
		cmocka_unit_test(test_an_unknown_sp_ends_the_search),
		cmocka_unit_test(test_a_nop5_is_never_the_site),
		cmocka_unit_test(test_refused_first_instructions_are_passed_over_even_at_a_loss),
		cmocka_unit_test(test_a_long_nop_is_an_entry_only_where_the_kernel_emulates_it),
		cmocka_unit_test(test_with_a_jump_table_only_the_frame_setup_is_trusted),
		cmocka_unit_test(test_an_indirect_tail_call_is_no_jump_table),
		cmocka_unit_test(test_data_among_the_code_is_treated_like_a_jump_table),
		cmocka_unit_test(test_bytes_that_are_no_code_are_said_to_be_none),
		cmocka_unit_test(test_swapcontext_is_seen_at_the_push_behind_the_new_sp),
		cmocka_unit_test(test_a_switch_that_only_steps_would_show_is_not_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
