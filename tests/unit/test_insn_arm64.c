// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What uprobes make of an A64 instruction, and what an instruction does to SP, registers and memory.
 * Each row is the assembly (GNU as) and the word that it gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "codetest.h"

#define KERNEL_5_15 (5 << 8 | 15)
#define KERNEL_6_12 (6 << 8 | 12)
#define KERNEL_6_13 (6 << 8 | 13)
#define ALL_REGS    0x7fffffffu

struct row {
	const char *text;
	u32 word;
};

static struct insn decode_on(u32 kernel, const struct row *r)
{
	const u8 code[] = {(u8)r->word, (u8)(r->word >> 8), (u8)(r->word >> 16),
			   (u8)(r->word >> 24)};
	struct insn in;

	if (insn_ops__find_on(EM_AARCH64, kernel)->decode(code, sizeof(code), CODE_VADDR, &in))
		fail_msg("%s: does not decode", r->text);
	assert_int_equal(in.len, 4);
	return in;
}

static struct insn decode(u32 word)
{
	const struct row r = {"", word};

	return decode_on(0, &r);
}

static void expect_class(const struct row *r, size_t nr, u32 kernel, enum hb_class cls,
			 bool refused)
{
	for (size_t n = 0; n < nr; n++) {
		struct insn in = decode_on(kernel, &r[n]);

		if (in.refused != refused || (!refused && in.cls != cls))
			fail_msg("%s: class %u refused %d", r[n].text, in.cls, in.refused);
	}
}
#define EXPECT_CLASS(rows, kernel, cls, refused) \
	expect_class(rows, sizeof(rows) / sizeof((rows)[0]), kernel, cls, refused)

static const struct row branches[] = {
	{"b .+64", 0x14000010},
	{"bl .-64", 0x97fffff0},
	{"b.ls .+8", 0x54000049},
	{"b.al .+8", 0x5400004e},
	{"cbz x0, .+16", 0xb4000080},
	{"cbnz w1, .-16", 0x35ffff81},
	{"tbz x3, #40, .+12", 0xb6400063},
	{"tbnz w3, #4, .-12", 0x3727ffa3},
	{"br x17", 0xd61f0220},
	{"blr x8", 0xd63f0100},
	{"ret", 0xd65f03c0},
	{"ret x20", 0xd65f0280},
	{"adr x0, .+4", 0x10000020},
	{"adrp x16, .+0x1000", 0x90000010},
};
static const struct row steps[] = {
	{"bti c", 0xd503245f},
	{"bti j", 0xd503249f},
	{"paciasp", 0xd503233f},
	{"pacibsp", 0xd503237f},
	{"paciaz", 0xd503231f},
	{"xpaclri", 0xd50320ff},
	{"mrs x9, tpidr_el0", 0xd53bd049},
	{"dmb ish", 0xd5033bbf},
	{"isb", 0xd5033fdf},
	{"sub sp, sp, #48", 0xd100c3ff},
	{"add sp, sp, #1, lsl #12", 0x914007ff},
	{"mov x29, sp", 0x910003fd},
	{"mov sp, x20", 0x9100029f},
	{"sub x17, sp, #64", 0xd10103f1},
	{"cmp sp, x16", 0xeb3063ff},
	{"ldr x16, [x28, #16]", 0xf9400b90},
	{"str x30, [sp, #-64]!", 0xf81c0ffe},
	{"ldr x30, [sp], #64", 0xf84407fe},
	{"stp x29, x30, [sp, #16]", 0xa9017bfd},
	{"ldp x29, x30, [sp], #112", 0xa8c77bfd},
	{"ldar x0, [x1]", 0xc8dffc20},
	{"stlr x0, [x1]", 0xc89ffc20},
	{"cas x0, x1, [x2]", 0xc8a07c41},
	{"ldadd x0, x1, [x2]", 0xf8200041},
	{"mov x0, #5", 0xd28000a0},
	{"mul x0, x1, x2", 0x9b027c20},
	{"fmov d0, x1", 0x9e670020},
	{"ldr q0, [sp, #32]", 0x3dc00be0},
	{"stp d8, d9, [sp, #16]", 0x6d0127e8},
	{"ld1 {v0.16b}, [x0], #16", 0x4cdf7000},
	{"clrex", 0xd5033f5f},
};
static const struct row refused[] = {
	{"autiasp", 0xd50323bf},
	{"autibsp", 0xd50323ff},
	{"autiaz", 0xd503239f},
	{"retaa", 0xd65f0bff},
	{"retab", 0xd65f0fff},
	{"braa x1, x2", 0xd71f0822},
	{"brab x1, x2", 0xd71f0c22},
	{"braaz x3", 0xd61f087f},
	{"blraa x1, x2", 0xd73f0822},
	{"blraaz x1", 0xd63f083f},
	{"ldr x0, .+16", 0x58000080},
	{"ldr w0, .+16", 0x18000080},
	{"ldr d0, .+16", 0x5c000080},
	{"ldrsw x0, .+16", 0x98000080},
	{"prfm pldl1keep, .+16", 0xd8000080},
	{"ldxr x0, [x1]", 0xc85f7c20},
	{"ldaxr w0, [x1]", 0x885ffc20},
	{"stxr w2, x0, [x1]", 0xc8027c20},
	{"stlxp w2, x0, x3, [x1]", 0xc8228c20},
	{"ldxp x0, x1, [x2]", 0xc87f0440},
	{"casp x0, x1, x2, x3, [x4]", 0x48207c82},
	{"svc #0", 0xd4000001},
	{"hvc #0", 0xd4000002},
	{"brk #0", 0xd4200000},
	{"hlt #0", 0xd4400000},
	{"udf #0", 0x00000000},
	{"yield", 0xd503203f},
	{"wfe", 0xd503205f},
	{"csdb", 0xd503229f},
	{"esb", 0xd503221f},
	{"chkfeat x16", 0xd503251f},
	{"clrbhb", 0xd50322df},
	{"msr daifset, #2", 0xd50342df},
	{"msr tpidr_el0, x0", 0xd51bd040},
	{"mrs x0, daif", 0xd53b4220},
	{"dc zva, x0", 0xd50b7420},
	{"ldraa x0, [x1]", 0xf8200420},
	{"st2g x0, [x1], #16", 0xd9a01420},
	{"stg sp, [sp], #16", 0xd92017ff},
	{"bc.eq .+0", 0x54000010},
	{"cpyfp [x0]!, [x0]!, x0!", 0x19000400},
	{"cbgt w0, w0, .+0", 0x74000000},
	{"eret", 0xd69f03e0},
	{"addvl sp, sp, #-1", 0x043f57ff},
	{"ptrue p0.b", 0x2518e3e0},
	{"udf #1", 0x00000001},
};
static const struct row nops[] = {
	{"nop", 0xd503201f},
};
static const struct row pushes[] = {
	{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd},
	{"stp x29, x30, [sp, #-512]!", 0xa9a07bfd},
};
static const u32 kernels[] = {0, KERNEL_5_15, KERNEL_6_12, KERNEL_6_13};

static void test_branches_and_addresses_are_simulated(void **state)
{
	for (size_t k = 0; k < 4; k++)
		EXPECT_CLASS(branches, kernels[k], HB_CLASS_BRANCH, false);
}

static void test_other_instructions_are_single_stepped(void **state)
{
	for (size_t k = 0; k < 4; k++)
		EXPECT_CLASS(steps, kernels[k], HB_CLASS_STEP, false);
}

static void test_what_the_kernel_refuses_or_breaks_is_no_site(void **state)
{
	for (size_t k = 0; k < 4; k++)
		EXPECT_CLASS(refused, kernels[k], 0, true);
}

static void test_what_kernels_treat_differently_is_no_site_unless_the_kernel_is_known(void **state)
{
	EXPECT_CLASS(nops, 0, 0, true);
	EXPECT_CLASS(nops, KERNEL_6_12, HB_CLASS_STEP, false);
	EXPECT_CLASS(nops, KERNEL_6_13, HB_CLASS_NOP, false);
	EXPECT_CLASS(pushes, 0, 0, true);
	EXPECT_CLASS(pushes, KERNEL_6_12, HB_CLASS_STEP, false);
	EXPECT_CLASS(pushes, KERNEL_6_13, 0, true);
}

static void test_cut_and_misaligned_code_does_not_decode(void **state)
{
	static const u8 ret[] = {0xc0, 0x03, 0x5f, 0xd6};
	const struct insn_ops *ops = insn_ops__find(EM_AARCH64);
	struct insn in;

	assert_int_equal(ops->decode(ret, 3, CODE_VADDR, &in), -EILSEQ);
	assert_int_equal(ops->decode(ret, 4, CODE_VADDR + 2, &in), -EILSEQ);
	assert_int_equal(ops->decode(ret, 4, CODE_VADDR, &in), 0);
}

static void test_unallocated_words_do_not_decode(void **state)
{
	static const u8 word[] = {0xff, 0xff, 0xff, 0x03};
	struct insn in;

	assert_int_equal(insn_ops__find(EM_AARCH64)->decode(word, 4, CODE_VADDR, &in), -EILSEQ);
}

/* ---- kinds and targets ---- */

static void expect_branch(u32 word, u8 kind, s64 disp)
{
	struct insn in = decode(word);

	assert_int_equal(in.kind, kind);
	assert_int_equal(in.target, CODE_VADDR + (u64)disp);
}

static void test_direct_branches_have_targets(void **state)
{
	expect_branch(0x14000010, INSN_JMP_REL, 64);	     /* b .+64 */
	expect_branch(0x16000000, INSN_JMP_REL, -134217728); /* b .-128M */
	expect_branch(0x97fffff0, INSN_CALL_REL, -64);	     /* bl .-64 */
	expect_branch(0x54000049, INSN_JCC, 8);		     /* b.ls .+8 */
	expect_branch(0x54800009, INSN_JCC, -1048576);	     /* b.ls .-1M */
	expect_branch(0x35ffff81, INSN_JCC, -16);	     /* cbnz w1, .-16 */
	expect_branch(0xb6400063, INSN_JCC, 12);	     /* tbz x3, #40, .+12 */
	expect_branch(0x3727ffa3, INSN_JCC, -12);	     /* tbnz w3, #4, .-12 */
	assert_int_equal(decode(0x54000049).cond, 9);
	assert_int_equal(decode(0x35ffff81).cond, INSN_NO_COND);
}

static void test_indirect_branches_returns_and_traps_have_kinds(void **state)
{
	assert_int_equal(decode(0xd61f0220).kind, INSN_JMP_IND); /* br x17 */
	assert_int_equal(decode(0xd61f0220).move_src, 17);
	assert_int_equal(decode(0xd63f0100).kind, INSN_CALL_IND); /* blr x8 */
	assert_int_equal(decode(0xd65f03c0).kind, INSN_RET);
	assert_int_equal(decode(0xd65f0bff).kind, INSN_RET);	  /* retaa */
	assert_int_equal(decode(0xd71f0822).kind, INSN_JMP_IND);  /* braa x1, x2 */
	assert_int_equal(decode(0xd73f0822).kind, INSN_CALL_IND); /* blraa x1, x2 */
	assert_int_equal(decode(0x00000000).kind, INSN_TRAP);	  /* udf #0 */
	assert_int_equal(decode(0xd4200000).kind, INSN_TRAP);	  /* brk #0 */
	assert_int_equal(decode(0xd503201f).kind, INSN_NOP);
}

/* ---- SP ---- */

static void expect_sp(u32 word, bool known, s32 delta)
{
	struct insn in = decode(word);

	assert_int_equal(in.sp_known, known);
	if (known)
		assert_int_equal(in.sp_delta, delta);
}

static void test_sp_is_followed(void **state)
{
	expect_sp(0xd100c3ff, true, -48);  /* sub sp, sp, #48 */
	expect_sp(0x914007ff, true, 4096); /* add sp, sp, #1, lsl #12 */
	expect_sp(0xf81c0ffe, true, -64);  /* str x30, [sp, #-64]! */
	expect_sp(0xf84407fe, true, 64);   /* ldr x30, [sp], #64 */
	expect_sp(0xa9bc7bfd, true, -64);  /* stp x29, x30, [sp, #-64]! */
	expect_sp(0xa8c77bfd, true, 112);  /* ldp x29, x30, [sp], #112 */
	expect_sp(0x6dbf27e8, true, -16);  /* stp d8, d9, [sp, #-16]! */
	expect_sp(0x3c9f0fe0, true, -16);  /* str q0, [sp, #-16]! */
	expect_sp(0xa9017bfd, true, 0);	   /* stp x29, x30, [sp, #16] */
	expect_sp(0x910003fd, true, 0);	   /* mov x29, sp */
	expect_sp(0xd10103f1, true, 0);	   /* sub x17, sp, #64 */
	expect_sp(0xeb3063ff, true, 0);	   /* cmp sp, x16 */
	expect_sp(0xf100c3ff, true, 0);	   /* subs xzr, sp, #48 */
	expect_sp(0xf2400bff, true, 0);	   /* tst xzr, #7: ands xzr */
	expect_sp(0x94000000, true, 0);	   /* bl */
}

static void test_sp_out_of_a_register_is_not_known(void **state)
{
	expect_sp(0x9100029f, false, 0); /* mov sp, x20 */
	expect_sp(0x910003bf, false, 0); /* mov sp, x29 */
	expect_sp(0x8b3063ff, false, 0); /* add sp, sp, x16 */
	expect_sp(0x927cec1f, false, 0); /* and sp, x0, #-16 */
	expect_sp(0x043f57ff, false, 0); /* addvl sp, sp, #-1 */
	expect_sp(0x91800bff, false, 0); /* addg sp, sp, #0, #2 */
	expect_sp(0x110043ff, false, 0); /* add wsp, wsp, #16 */
	expect_sp(0x4cdf73e0, false, 0); /* ld1 {v0.16b}, [sp], #16 */
	expect_sp(0xd4000001, false, 0); /* svc #0 */
}

/* ---- registers and memory ---- */

static void expect_writes(u32 word, u32 regs)
{
	assert_int_equal(decode(word).writes, regs);
}

static void test_registers_that_change_are_known(void **state)
{
	expect_writes(0xf81c0ffe, 0);		      /* str x30, [sp, #-64]! */
	expect_writes(0xa8c77bfd, REG(29) | REG(30)); /* ldp x29, x30, [sp], #112 */
	expect_writes(0xf8408c41, REG(1) | REG(2));   /* ldr x1, [x2, #8]! */
	expect_writes(0xf8008c41, REG(2));	      /* str x1, [x2, #8]! */
	expect_writes(0xaa0103e0, REG(0));	      /* mov x0, x1 */
	expect_writes(0xeb01001f, 0);		      /* cmp x0, x1 */
	expect_writes(0x90000010, REG(16));	      /* adrp x16 */
	expect_writes(0x97fffff0, ALL_REGS);	      /* bl */
	expect_writes(0xd63f0100, ALL_REGS);	      /* blr x8 */
	expect_writes(0x3dc00be0, 0);		      /* ldr q0, [sp, #32] */
	expect_writes(0x9e660001, REG(1));	      /* fmov x1, d0 */
	expect_writes(0xd53bd049, REG(9));	      /* mrs x9, tpidr_el0 */
	expect_writes(0xf8e00041, REG(1));	      /* ldaddal x0, x1, [x2] */
	expect_writes(0xd503233f, 0);		      /* paciasp: the same address, signed */
	expect_writes(0xf9800000, 0);		      /* prfm pldl1keep, [x0] */
}

static void expect_store(u32 word, bool stores, u8 len, s32 off)
{
	struct insn in = decode(word);

	assert_int_equal(in.stores, stores);
	assert_int_equal(in.sp_store_len, len);
	if (len)
		assert_int_equal(in.sp_store_off, off);
}

static void test_stores_beside_sp_say_where(void **state)
{
	expect_store(0xf81c0ffe, false, 8, -64);  /* str x30, [sp, #-64]! */
	expect_store(0xf90017e0, false, 8, 40);	  /* str x0, [sp, #40] */
	expect_store(0xb9002fe0, false, 4, 44);	  /* str w0, [sp, #44] */
	expect_store(0xa9bc7bfd, false, 16, -64); /* stp x29, x30, [sp, #-64]! */
	expect_store(0xad0103e0, false, 32, 32);  /* stp q0, q0, [sp, #32] */
	expect_store(0xf81f83fd, false, 8, -8);	  /* stur x29, [sp, #-8] */
	expect_store(0xf80087e0, false, 8, 0);	  /* str x0, [sp], #8 */
	expect_store(0xf9000020, true, 0, 0);	  /* str x0, [x1] */
	expect_store(0xf82268e0, true, 0, 0);	  /* str x0, [x7, x2] */
	expect_store(0xa9000440, true, 0, 0);	  /* stp x0, x1, [x2] */
	expect_store(0xf94017e0, false, 0, 0);	  /* ldr x0, [sp, #40] */
	expect_store(0xc89ffc20, true, 0, 0);	  /* stlr x0, [x1] */
}

static void expect_move(u32 word, u8 move, u8 dst, u8 src, s32 off)
{
	struct insn in = decode(word);

	assert_int_equal(in.move, move);
	if (move == INSN_MOVE_NONE)
		return;
	if (move != INSN_MOVE_STORE)
		assert_int_equal(in.move_dst, dst);
	if (move != INSN_MOVE_LOAD)
		assert_int_equal(in.move_src, src);
	if (move != INSN_MOVE_REG)
		assert_int_equal(in.move_off, off);
}

static void test_plain_copies_are_known(void **state)
{
	expect_move(0xaa0103f3, INSN_MOVE_REG, 19, 1, 0);   /* mov x19, x1 */
	expect_move(0xf90017e1, INSN_MOVE_STORE, 0, 1, 40); /* str x1, [sp, #40] */
	expect_move(0xf94017e1, INSN_MOVE_LOAD, 1, 0, 40);  /* ldr x1, [sp, #40] */
	expect_move(0xf81f8fe1, INSN_MOVE_STORE, 0, 1, -8); /* str x1, [sp, #-8]! */
	expect_move(0xf84087e1, INSN_MOVE_LOAD, 1, 0, 0);   /* ldr x1, [sp], #8 */
	expect_move(0xb90017e1, INSN_MOVE_NONE, 0, 0, 0);   /* str w1, [sp, #20] */
	expect_move(0x2a0103f3, INSN_MOVE_NONE, 0, 0, 0);   /* mov w19, w1 */
	expect_move(0xaa1f03e0, INSN_MOVE_NONE, 0, 0, 0);   /* mov x0, xzr */
	expect_move(0xaa0107f3, INSN_MOVE_NONE, 0, 0, 0);   /* orr x19, xzr, x1, lsl #1 */
	expect_move(0xf9000041, INSN_MOVE_NONE, 0, 0, 0);   /* str x1, [x2] */
}

static void test_steps_of_a_switch_are_known(void **state)
{
	assert_int_equal(decode(0xf8607820).table, INSN_TABLE_PTR); /* ldr x0, [x1, x0, lsl #3] */
	assert_int_equal(decode(0x38604820).table, INSN_TABLE_REL); /* ldrb w0, [x1, w0, uxtw] */
	assert_int_equal(decode(0xb8a07820).table, INSN_TABLE_REL); /* ldrsw x0, [x1, x0, lsl #2] */
	assert_int_equal(decode(0x8b20c820).table, INSN_TABLE_ADD); /* add x0, x1, w0, sxtw #2 */
	assert_int_equal(decode(0x8b000020).table, INSN_TABLE_ADD); /* add x0, x1, x0 */
	assert_int_equal(decode(0xd61f0360).table, INSN_TABLE_SURE); /* br x27: Go */
	assert_int_equal(decode(0xd61f0000).table, INSN_TABLE_NONE); /* br x0 */
}

/* A probe between them would make the loop around them endless. */
static void test_nothing_on_a_line_is_behind_a_load_exclusive(void **state)
{
	assert_true(decode(0xc85f7c20).slow);  /* ldxr x0, [x1] */
	assert_true(decode(0x885ffc20).slow);  /* ldaxr w0, [x1] */
	assert_false(decode(0xc8dffc20).slow); /* ldar x0, [x1] */
}

/* ---- searching ---- */

struct hits {
	u64 at[8], to[8];
	bool call[8];
	size_t nr;
};

static int note_call(void *arg, u64 at, u64 target)
{
	struct hits *h = arg;

	h->at[h->nr] = at;
	h->to[h->nr++] = target;
	return 0;
}

static int note_slot(void *arg, u64 at, u64 slot, bool call)
{
	struct hits *h = arg;

	h->call[h->nr] = call;
	return note_call(arg, at, slot);
}

static void test_direct_calls_are_found(void **state)
{
	static const u32 code[] = {0x94000003, 0xd503201f, 0x14000001, 0x97fffffd, 0xd65f03c0};
	const u64 target[] = {CODE_VADDR, CODE_VADDR + 12};
	struct hits h = {0};

	assert_int_equal(insn_ops__find(EM_AARCH64)
				 ->scan((const u8 *)code, sizeof(code), CODE_VADDR, target, 2,
					note_call, &h),
			 0);
	assert_int_equal(h.nr, 2);
	assert_int_equal(h.at[0], CODE_VADDR);
	assert_int_equal(h.to[0], CODE_VADDR + 12);
	assert_int_equal(h.at[1], CODE_VADDR + 12);
	assert_int_equal(h.to[1], CODE_VADDR);
}

static const u32 plt_stub[] = {
	0xd503245f, /* bti c */
	0xb0000050, /* adrp x16, 0x40a000 */
	0xf9401211, /* ldr x17, [x16, #32] */
	0x91008210, /* add x16, x16, #32 */
	0xd61f0220, /* br x17 */
};
#define PLT_SLOT 0x40a020ULL

static void test_stubs_and_calls_through_slots_are_found(void **state)
{
	static const u32 call[] = {
		0xb0000040, /* adrp x0, 0x40a000 */
		0xf9401001, /* ldr x1, [x0, #32] */
		0xaa1303e0, /* mov x0, x19 */
		0xd63f0020, /* blr x1 */
		0xb0000040, /* adrp x0, 0x40a000 */
		0xf9401001, /* ldr x1, [x0, #32] */
		0xaa1303e1, /* mov x1, x19 */
		0xd63f0020, /* blr x1: another value */
	};
	const u64 slot[] = {PLT_SLOT};
	const struct insn_ops *ops = insn_ops__find(EM_AARCH64);
	struct hits h = {0};

	/* The words are for 0x401000 as that is: adrp counts in pages. */
	assert_int_equal(ops->scan_slots((const u8 *)plt_stub, sizeof(plt_stub), CODE_VADDR, slot,
					 1, note_slot, &h),
			 0);
	assert_int_equal(h.nr, 2);
	assert_int_equal(h.at[0], CODE_VADDR + 4);
	assert_int_equal(h.at[1], CODE_VADDR);
	assert_false(h.call[0]);
	assert_int_equal(
		ops->scan_slots((const u8 *)call, sizeof(call), CODE_VADDR, slot, 1, note_slot, &h),
		0);
	assert_int_equal(h.nr, 3);
	assert_int_equal(h.at[2], CODE_VADDR + 12);
	assert_true(h.call[2]);
}

static void test_a_stub_is_known_by_its_code(void **state)
{
	const struct insn_ops *ops = insn_ops__find(EM_AARCH64);
	static const u32 other[] = {0xb0000040, 0xf9401000, 0xd61f0000}; /* a tail call by x0 */
	u64 slot = 0;

	assert_true(ops->stub((const u8 *)plt_stub, sizeof(plt_stub), CODE_VADDR, &slot));
	assert_int_equal(slot, PLT_SLOT);
	assert_true(ops->stub((const u8 *)(plt_stub + 1), sizeof(plt_stub) - 4, CODE_VADDR, &slot));
	assert_false(ops->stub((const u8 *)plt_stub, sizeof(plt_stub) - 4, CODE_VADDR, &slot));
	assert_false(ops->stub((const u8 *)other, sizeof(other), CODE_VADDR, &slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches_and_addresses_are_simulated),
		cmocka_unit_test(test_other_instructions_are_single_stepped),
		cmocka_unit_test(test_what_the_kernel_refuses_or_breaks_is_no_site),
		cmocka_unit_test(
			test_what_kernels_treat_differently_is_no_site_unless_the_kernel_is_known),
		cmocka_unit_test(test_cut_and_misaligned_code_does_not_decode),
		cmocka_unit_test(test_unallocated_words_do_not_decode),
		cmocka_unit_test(test_direct_branches_have_targets),
		cmocka_unit_test(test_indirect_branches_returns_and_traps_have_kinds),
		cmocka_unit_test(test_sp_is_followed),
		cmocka_unit_test(test_sp_out_of_a_register_is_not_known),
		cmocka_unit_test(test_registers_that_change_are_known),
		cmocka_unit_test(test_stores_beside_sp_say_where),
		cmocka_unit_test(test_plain_copies_are_known),
		cmocka_unit_test(test_steps_of_a_switch_are_known),
		cmocka_unit_test(test_nothing_on_a_line_is_behind_a_load_exclusive),
		cmocka_unit_test(test_direct_calls_are_found),
		cmocka_unit_test(test_stubs_and_calls_through_slots_are_found),
		cmocka_unit_test(test_a_stub_is_known_by_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
