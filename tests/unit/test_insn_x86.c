// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What uprobes make of an instruction, and what an instruction does to SP, registers and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codetest.h"
#include "target/image.h"

struct row {
	const char *text;
	u8 len;
	u8 bytes[15];
};
#define ROW(text, ...)                                   \
	{                                                \
		text, sizeof((const u8[]){__VA_ARGS__}), \
		{                                        \
			__VA_ARGS__                      \
		}                                        \
	}

static struct insn decode_on(u32 kernel, const struct row *r)
{
	const struct insn_ops *ops = insn_ops__find_on(EM_X86_64, kernel);
	struct insn in;

	if (ops->decode(r->bytes, r->len, CODE_VADDR, &in))
		fail_msg("%s: does not decode", r->text);
	if (in.len != r->len)
		fail_msg("%s: length %u, expected %u", r->text, in.len, r->len);
	return in;
}

static struct insn decode(const struct row *r)
{
	return decode_on(0, r);
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
	ROW("jmp rel8", 0xeb, 0x10),
	ROW("jmp rel32", 0xe9, 0x10, 0, 0, 0),
	ROW("bnd jmp rel32", 0xf2, 0xe9, 0x10, 0, 0, 0),
	ROW("jo rel8", 0x70, 0x10),
	ROW("jg rel8", 0x7f, 0x10),
	ROW("jo rel32", 0x0f, 0x80, 0x10, 0, 0, 0),
	ROW("jg rel32", 0x0f, 0x8f, 0x10, 0, 0, 0),
	ROW("bnd jne", 0xf2, 0x75, 0x10),
	ROW("rex.W jne", 0x48, 0x75, 0x10),
};
static const struct row pushes[] = {
	ROW("push %rax", 0x50), ROW("push %rsp", 0x54),	     ROW("push %rbp", 0x55),
	ROW("push %rdi", 0x57), ROW("push %r8", 0x41, 0x50), ROW("push %r15", 0x41, 0x57),
};
static const struct row calls[] = {
	ROW("call rel32", 0xe8, 0x10, 0, 0, 0),
	ROW("bnd call rel32", 0xf2, 0xe8, 0x10, 0, 0, 0),
};
static const struct row steps[] = {
	ROW("ret", 0xc3),
	ROW("bnd ret", 0xf2, 0xc3),
	ROW("rep ret", 0xf3, 0xc3),
	ROW("ret $16", 0xc2, 0x10, 0x00),
	ROW("pop %rbp", 0x5d),
	ROW("endbr64", 0xf3, 0x0f, 0x1e, 0xfa),
	ROW("sub $24,%rsp", 0x48, 0x83, 0xec, 0x18),
	ROW("mov %rsp,%rbp", 0x48, 0x89, 0xe5),
	ROW("lea 8(%rsp),%rax", 0x48, 0x8d, 0x44, 0x24, 0x08),
	ROW("test %eax,%eax", 0x85, 0xc0),
	ROW("leave", 0xc9),
	ROW("call *%rax", 0xff, 0xd0),
	ROW("jmp *%rax", 0xff, 0xe0),
	ROW("loop", 0xe2, 0x10),
	ROW("jrcxz", 0xe3, 0x10),
	ROW("rex push %rbp", 0x40, 0x55),
	ROW("rex.W push %rbp", 0x48, 0x55),
	ROW("push %ax", 0x66, 0x50),
	ROW("push $1", 0x6a, 0x01),
	ROW("push %rbp, long form", 0xff, 0xf5),
	ROW("push 8(%rbp)", 0xff, 0x75, 0x08),
	ROW("mov %fs:0,%rax", 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0),
	ROW("movups %xmm0,(%rsp)", 0x0f, 0x11, 0x04, 0x24),
	ROW("hint nop 0f 1e c0", 0x0f, 0x1e, 0xc0),
	ROW("movsb", 0xa4),
	ROW("mov %ss,%eax", 0x8c, 0xd0),
	ROW("rdtsc", 0x0f, 0x31),
	ROW("movq $1,(%rsp)", 0x48, 0xc7, 0x04, 0x24, 1, 0, 0, 0),
};
static const struct row refused[] = {
	ROW("nop5", 0x0f, 0x1f, 0x44, 0x00, 0x00),
	ROW("nopw 0(%rax), five bytes", 0x66, 0x0f, 0x1f, 0x40, 0x00),
	ROW("66 66 66 66 90, five bytes", 0x66, 0x66, 0x66, 0x66, 0x90),
	ROW("cs nopw", 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	ROW("nopw, nine bytes", 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	ROW("nop %eax", 0x0f, 0x1f, 0xc0),
	ROW("nopl 1(%rax)", 0x0f, 0x1f, 0x40, 0x01),
	ROW("pause", 0xf3, 0x90),
	ROW("xchg %rax,%r8", 0x49, 0x90),
	ROW("xchg %eax,%r8d", 0x41, 0x90),
	ROW("mov %rax,%rax", 0x48, 0x89, 0xc0),
	ROW("lea 0(%rsi),%rsi", 0x48, 0x8d, 0x76, 0x00),
	ROW("lock incl (%rax)", 0xf0, 0xff, 0x00),
	ROW("jne,pt", 0x3e, 0x75, 0x10),
	ROW("jne,pn", 0x2e, 0x75, 0x10),
	ROW("data16 jne", 0x66, 0x75, 0x10),
	ROW("notrack jmp *%rax", 0x3e, 0xff, 0xe0),
	ROW("int3", 0xcc),
	ROW("int $0x80", 0xcd, 0x80),
	ROW("int1", 0xf1),
	ROW("hlt", 0xf4),
	ROW("ud2", 0x0f, 0x0b),
	ROW("in (%dx),%al", 0xec),
	ROW("out %al,(%dx)", 0xee),
	ROW("cli", 0xfa),
	ROW("iretq", 0x48, 0xcf),
	ROW("lret", 0xcb),
	ROW("ljmp *(%rax)", 0xff, 0x28),
	ROW("syscall", 0x0f, 0x05),
	ROW("pushf", 0x9c),
	ROW("popf", 0x9d),
	ROW("rep movsb", 0xf3, 0xa4),
	ROW("repne scasb", 0xf2, 0xae),
	ROW("xbegin", 0xc7, 0xf8, 0, 0, 0, 0),
	ROW("vzeroupper", 0xc5, 0xf8, 0x77),
	ROW("vmovd %xmm0,%eax", 0xc5, 0xf9, 0x7e, 0xc0),
	ROW("vpor", 0xc5, 0xf9, 0xeb, 0xc1),
	ROW("vaddps", 0xc5, 0xf8, 0x58, 0xc0),
	ROW("vmovdqu64 %zmm0,(%rax)", 0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x00),
};
/* Emulated by 6.18, stepped or refused by older kernels. */
static const struct row nops_6_18[] = {
	ROW("66 90", 0x66, 0x90),
	ROW("66 66 90", 0x66, 0x66, 0x90),
	ROW("rex.W nop", 0x48, 0x90),
	ROW("nopl (%rax)", 0x0f, 0x1f, 0x00),
	ROW("nopl 0(%rax)", 0x0f, 0x1f, 0x40, 0x00),
	ROW("nopw, six bytes", 0x66, 0x0f, 0x1f, 0x44, 0, 0),
	ROW("nopl, seven bytes", 0x0f, 0x1f, 0x80, 0, 0, 0, 0),
	ROW("nopl, eight bytes", 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
};
static const struct row bare_nop[] = {ROW("nop", 0x90)};

static void test_relative_jumps_pushes_calls_and_nop_are_emulated(void **state)
{
	EXPECT_CLASS(branches, 0, HB_CLASS_BRANCH, false);
	EXPECT_CLASS(pushes, 0, HB_CLASS_PUSH, false);
	EXPECT_CLASS(calls, 0, HB_CLASS_CALL, false);
	EXPECT_CLASS(bare_nop, 0, HB_CLASS_NOP, false);
}

static void test_everything_else_is_single_stepped(void **state)
{
	EXPECT_CLASS(steps, 0, HB_CLASS_STEP, false);
	EXPECT_CLASS(steps, KERNEL_6_18, HB_CLASS_STEP, false);
}

static void test_what_the_kernel_refuses_or_gets_wrong_is_refused(void **state)
{
	EXPECT_CLASS(refused, 0, HB_CLASS_STEP, true);
	EXPECT_CLASS(refused, KERNEL_6_18, HB_CLASS_STEP, true);
}

static void test_longer_nops_are_used_only_on_a_kernel_that_emulates_them(void **state)
{
	EXPECT_CLASS(nops_6_18, 0, HB_CLASS_NOP, true);
	EXPECT_CLASS(nops_6_18, 6 << 8 | 1, HB_CLASS_NOP, true);
	EXPECT_CLASS(nops_6_18, KERNEL_6_18, HB_CLASS_NOP, false);
	EXPECT_CLASS(bare_nop, KERNEL_6_18, HB_CLASS_NOP, false);
}

static void test_kinds_are_told_apart(void **state)
{
	static const struct {
		u8 kind;
		struct row r;
	} t[] = {
		{INSN_NOP, ROW("nop", 0x90)},
		{INSN_NOP, ROW("nopl", 0x0f, 0x1f, 0x40, 0x00)},
		{INSN_OTHER, ROW("endbr64", 0xf3, 0x0f, 0x1e, 0xfa)},
		{INSN_PUSH, ROW("push %rbx", 0x53)},
		{INSN_CALL_REL, ROW("call", 0xe8, 0, 0, 0, 0)},
		{INSN_CALL_IND, ROW("call *(%rax)", 0xff, 0x10)},
		{INSN_JMP_REL, ROW("jmp", 0xeb, 0xfe)},
		{INSN_JMP_IND, ROW("jmp *(%rax)", 0xff, 0x20)},
		{INSN_JCC, ROW("je", 0x74, 0x00)},
		{INSN_JCC, ROW("loop", 0xe2, 0x00)},
		{INSN_RET, ROW("ret", 0xc3)},
		{INSN_RET, ROW("bnd ret", 0xf2, 0xc3)},
		{INSN_RET, ROW("ret $8", 0xc2, 8, 0)},
		{INSN_TRAP, ROW("int3", 0xcc)},
		{INSN_TRAP, ROW("ud2", 0x0f, 0x0b)},
		{INSN_TRAP, ROW("hlt", 0xf4)},
		{INSN_OTHER, ROW("mov", 0x89, 0xd8)},
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++)
		if (decode(&t[n].r).kind != t[n].kind)
			fail_msg("%s: kind %u", t[n].r.text, decode(&t[n].r).kind);
}

static void test_branch_targets_and_conditions_are_decoded(void **state)
{
	static const struct row jmp = ROW("jmp .-14", 0xeb, 0xf0);
	static const struct row call = ROW("call .+0x105", 0xe8, 0x00, 0x01, 0, 0);
	static const struct row jbe8 = ROW("jbe", 0x76, 0x02);
	static const struct row jbe32 = ROW("jbe", 0x0f, 0x86, 0x00, 0x00, 0x00, 0x80);
	static const struct row loop = ROW("loop", 0xe2, 0x02);

	assert_int_equal(decode(&jmp).target, CODE_VADDR - 14);
	assert_int_equal(decode(&call).target, CODE_VADDR + 0x105);
	assert_int_equal(decode(&jbe8).cond, 6);
	assert_int_equal(decode(&jbe8).target, CODE_VADDR + 4);
	assert_int_equal(decode(&jbe32).cond, 6);
	assert_int_equal(decode(&jbe32).target, CODE_VADDR + 6 - 0x80000000ULL);
	assert_int_equal(decode(&loop).cond, INSN_NO_COND);
	assert_int_equal(decode(&loop).target, CODE_VADDR + 4);
}

static void test_sp_is_followed_where_it_can_be(void **state)
{
	static const struct {
		s32 delta;
		struct row r;
	} t[] = {
		{-8, ROW("push %rbx", 0x53)},
		{-2, ROW("push %ax", 0x66, 0x50)},
		{-8, ROW("push $1", 0x6a, 1)},
		{-8, ROW("push (%rax)", 0xff, 0x30)},
		{-8, ROW("pushf", 0x9c)},
		{8, ROW("pop %rbx", 0x5b)},
		{8, ROW("popf", 0x9d)},
		{-24, ROW("sub $24,%rsp", 0x48, 0x83, 0xec, 0x18)},
		{24, ROW("sub $-24,%rsp", 0x48, 0x83, 0xec, 0xe8)},
		{0x1000, ROW("add $0x1000,%rsp", 0x48, 0x81, 0xc4, 0, 0x10, 0, 0)},
		{-128, ROW("add $-128,%rsp", 0x48, 0x83, 0xc4, 0x80)},
		{-0x88,
		 ROW("lea -0x88(%rsp),%rsp", 0x48, 0x8d, 0xa4, 0x24, 0x78, 0xff, 0xff, 0xff)},
		{8, ROW("ret", 0xc3)},
		{24, ROW("ret $16", 0xc2, 0x10, 0)},
		{-8, ROW("call", 0xe8, 0, 0, 0, 0)},
		{-8, ROW("call *%rax", 0xff, 0xd0)},
		{0, ROW("mov %rsp,%rax", 0x48, 0x89, 0xe0)},
		{0, ROW("cmp %rsp,%rax", 0x48, 0x39, 0xe0)},
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++) {
		struct insn in = decode(&t[n].r);

		if (!in.sp_known || in.sp_delta != t[n].delta)
			fail_msg("%s: sp %+d known %d", t[n].r.text, in.sp_delta, in.sp_known);
	}
}

static void test_other_writes_of_sp_make_it_unknown(void **state)
{
	static const struct row t[] = {
		ROW("leave", 0xc9),
		ROW("mov %rbp,%rsp", 0x48, 0x89, 0xec),
		ROW("and $-16,%rsp", 0x48, 0x83, 0xe4, 0xf0),
		ROW("lea -8(%rbp),%rsp", 0x48, 0x8d, 0x65, 0xf8),
		ROW("lea (%rsp,%rax),%rsp", 0x48, 0x8d, 0x24, 0x04),
		ROW("sub %rax,%rsp", 0x48, 0x29, 0xc4),
		ROW("pop %rsp", 0x5c),
		ROW("xchg %rax,%rsp", 0x48, 0x94),
		ROW("enter $16,$0", 0xc8, 0x10, 0, 0),
		ROW("add $8,%esp", 0x83, 0xc4, 0x08),
		ROW("syscall", 0x0f, 0x05),
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++)
		if (decode(&t[n]).sp_known)
			fail_msg("%s: SP taken for known", t[n].text);
}

static void test_all_written_registers_are_known_hidden_ones_too(void **state)
{
	static const struct {
		u32 writes;
		struct row r;
	} t[] = {
		{REG(AX), ROW("mov %ebx,%eax", 0x89, 0xd8)},
		{REG(AX), ROW("mov $1,%al", 0xb0, 1)},
		{REG(AX), ROW("mov $1,%ah", 0xb4, 1)},
		{REG(BX), ROW("mov %ax,%bx", 0x66, 0x89, 0xc3)},
		{REG(AX) | REG(DX), ROW("mul %rcx", 0x48, 0xf7, 0xe1)},
		{REG(AX) | REG(DX), ROW("idiv %ecx", 0xf7, 0xf9)},
		{REG(DX), ROW("cqto", 0x48, 0x99)},
		{REG(DX), ROW("cltd", 0x99)},
		{REG(AX), ROW("cltq", 0x48, 0x98)},
		{REG(AX) | REG(BX), ROW("xchg %rax,%rbx", 0x48, 0x93)},
		{REG(AX), ROW("cmpxchg %rcx,(%rdx)", 0x48, 0x0f, 0xb1, 0x0a)},
		{REG(AX) | REG(DX), ROW("cmpxchg16b (%rdi)", 0x48, 0x0f, 0xc7, 0x0f)},
		{REG(CX), ROW("xadd %rcx,(%rdx)", 0x48, 0x0f, 0xc1, 0x0a)},
		{REG(CX) | REG(SI) | REG(DI), ROW("rep movsq", 0xf3, 0x48, 0xa5)},
		{REG(CX) | REG(DI), ROW("rep stosq", 0xf3, 0x48, 0xab)},
		{REG(SI) | REG(AX), ROW("lodsb", 0xac)},
		{REG(AX) | REG(BX) | REG(CX) | REG(DX), ROW("cpuid", 0x0f, 0xa2)},
		{REG(AX) | REG(DX), ROW("rdtsc", 0x0f, 0x31)},
		{REG(CX), ROW("loop", 0xe2, 0)},
		{REG(AX), ROW("cmove %rbx,%rax", 0x48, 0x0f, 0x44, 0xc3)},
		{REG(AX), ROW("sete %al", 0x0f, 0x94, 0xc0)},
		{REG(BP), ROW("leave", 0xc9)},
		{REG(BX), ROW("pop %rbx", 0x5b)},
		{REG(13), ROW("pop %r13", 0x41, 0x5d)},
		{REG(AX), ROW("movd %xmm0,%eax", 0x66, 0x0f, 0x7e, 0xc0)},
		{0, ROW("push %rbx", 0x53)},
		{0, ROW("test %rax,%rax", 0x48, 0x85, 0xc0)},
		{0, ROW("mov %rax,(%rbx)", 0x48, 0x89, 0x03)},
		{0, ROW("nopl (%rax)", 0x0f, 0x1f, 0x00)},
		{0, ROW("sub $8,%rsp", 0x48, 0x83, 0xec, 8)},
		{ALL_BUT_SP, ROW("call", 0xe8, 0, 0, 0, 0)},
		{ALL_BUT_SP, ROW("call *%rax", 0xff, 0xd0)},
		{ALL_BUT_SP, ROW("syscall", 0x0f, 0x05)},
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++) {
		struct insn in = decode(&t[n].r);

		if (in.writes != t[n].writes)
			fail_msg("%s: writes %#x, not %#x", t[n].r.text, in.writes, t[n].writes);
	}
}

static void test_stores_to_the_stack_and_elsewhere_are_told_apart(void **state)
{
	static const struct {
		bool stores;
		u8 len;
		s32 off;
		struct row r;
	} t[] = {
		{false, 8, 16, ROW("mov %rax,16(%rsp)", 0x48, 0x89, 0x44, 0x24, 0x10)},
		{false, 4, 8, ROW("movl $1,8(%rsp)", 0xc7, 0x44, 0x24, 0x08, 1, 0, 0, 0)},
		{false, 16, 0, ROW("movups %xmm0,(%rsp)", 0x0f, 0x11, 0x04, 0x24)},
		{false, 8, -8, ROW("push %rbx", 0x53)},
		{false, 8, -8, ROW("push (%rax)", 0xff, 0x30)},
		{false, 8, 8, ROW("incq 8(%rsp)", 0x48, 0xff, 0x44, 0x24, 0x08)},
		{true, 0, 0, ROW("mov %rax,(%rbx)", 0x48, 0x89, 0x03)},
		{true, 0, 0, ROW("mov %rax,(%rsp,%rcx,8)", 0x48, 0x89, 0x04, 0xcc)},
		{true, 0, 0, ROW("mov %rax,8(%rbp)", 0x48, 0x89, 0x45, 0x08)},
		{true, 0, 0, ROW("mov %rax,8(%esp)", 0x67, 0x48, 0x89, 0x44, 0x24, 0x08)},
		{true, 0, 0, ROW("pop 8(%rsp)", 0x8f, 0x44, 0x24, 0x08)},
		{true, 0, 0, ROW("movsb", 0xa4)},
		{true, 0, 0, ROW("mov %rax,%fs:0(%rsp)", 0x64, 0x48, 0x89, 0x04, 0x24)},
		{false, 0, 0, ROW("mov (%rbx),%rax", 0x48, 0x8b, 0x03)},
		{false, 0, 0, ROW("lea 8(%rsp),%rax", 0x48, 0x8d, 0x44, 0x24, 0x08)},
		{false, 0, 0, ROW("cmpq $0,8(%rsp)", 0x48, 0x83, 0x7c, 0x24, 0x08, 0)},
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++) {
		struct insn in = decode(&t[n].r);

		if (in.stores != t[n].stores || in.sp_store_len != t[n].len ||
		    (t[n].len && in.sp_store_off != t[n].off))
			fail_msg("%s: stores %d, %u at %d", t[n].r.text, in.stores, in.sp_store_len,
				 in.sp_store_off);
	}
}

static void test_only_plain_64_bit_copies_are_moves(void **state)
{
	static const struct {
		u8 move, dst, src;
		s32 off;
		struct row r;
	} t[] = {
		{INSN_MOVE_REG, BX, AX, 0, ROW("mov %rax,%rbx", 0x48, 0x89, 0xc3)},
		{INSN_MOVE_REG, 12, DI, 0, ROW("mov %rdi,%r12", 0x49, 0x89, 0xfc)},
		{INSN_MOVE_REG, AX, BX, 0, ROW("mov %rbx,%rax (8b)", 0x48, 0x8b, 0xc3)},
		{INSN_MOVE_STORE, 0, BX, 24,
		 ROW("mov %rbx,24(%rsp)", 0x48, 0x89, 0x5c, 0x24, 0x18)},
		{INSN_MOVE_STORE, 0, BX, -8, ROW("push %rbx", 0x53)},
		{INSN_MOVE_LOAD, BX, 0, 24, ROW("mov 24(%rsp),%rbx", 0x48, 0x8b, 0x5c, 0x24, 0x18)},
		{INSN_MOVE_LOAD, BX, 0, 0, ROW("pop %rbx", 0x5b)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("mov %eax,%ebx", 0x89, 0xc3)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("movslq %eax,%rbx", 0x48, 0x63, 0xd8)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("mov %rsp,%rbp", 0x48, 0x89, 0xe5)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("mov %rbx,(%rax)", 0x48, 0x89, 0x18)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("mov %ebx,8(%rsp)", 0x89, 0x5c, 0x24, 0x08)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("xchg %rax,%rbx", 0x48, 0x93)},
		{INSN_MOVE_NONE, 0, 0, 0,
		 ROW("movq $1,8(%rsp)", 0x48, 0xc7, 0x44, 0x24, 8, 1, 0, 0, 0)},
		{INSN_MOVE_NONE, 0, 0, 0, ROW("push $1", 0x6a, 1)},
	};

	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++) {
		struct insn in = decode(&t[n].r);

		if (in.move != t[n].move ||
		    (in.move && (in.move_dst != t[n].dst || in.move_src != t[n].src ||
				 in.move_off != t[n].off)))
			fail_msg("%s: move %u %u<-%u %d", t[n].r.text, in.move, in.move_dst,
				 in.move_src, in.move_off);
	}
}

static void test_bytes_that_are_no_instruction_or_cut_are_refused(void **state)
{
	const struct insn_ops *ops = insn_ops__find(EM_X86_64);
	static const u8 call[] = {0xe8, 0, 0, 0, 0}, bad[] = {0x06, 0x06};
	struct insn in;

	for (size_t max = 0; max < sizeof(call); max++)
		assert_int_equal(ops->decode(call, max, CODE_VADDR, &in), -EILSEQ);
	assert_int_equal(ops->decode(call, sizeof(call), CODE_VADDR, &in), 0);
	assert_int_equal(ops->decode(bad, sizeof(bad), CODE_VADDR, &in), -EILSEQ);
}

static void test_a_machine_without_support_has_no_table(void **state)
{
	assert_null(insn_ops__find(EM_RISCV));
	assert_string_equal(insn_ops__find(EM_X86_64)->name, "x86-64");
}

static int take_hit(void *arg, u64 at, u64 target)
{
	u64 *seen = arg;

	seen[0]++;
	seen[1] = at;
	seen[2] = target;
	return seen[0] == seen[3] ? -ECANCELED : 0;
}

static void test_scan_finds_calls_of_the_targets_only(void **state)
{
	/* call +0x100; call +0x100 (another place, another target); mov $0xe8,%al; call cut off */
	static const u8 code[] = {0xe8, 0x00, 0x01, 0,	  0,	0xe8, 0x00, 0x01,
				  0,	0,    0xb0, 0xe8, 0xe8, 0,    0,    0};
	const struct insn_ops *ops = insn_ops__find(EM_X86_64);
	u64 one[] = {CODE_VADDR + 10 + 0x100};
	u64 both[] = {CODE_VADDR - 7, CODE_VADDR + 0x105, CODE_VADDR + 0x10a, CODE_VADDR + 0x999};
	u64 seen[4] = {0};

	assert_int_equal(ops->scan(code, sizeof(code), CODE_VADDR, one, 1, take_hit, seen), 0);
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], CODE_VADDR + 5);
	assert_int_equal(seen[2], one[0]);

	memset(seen, 0, sizeof(seen));
	assert_int_equal(ops->scan(code, sizeof(code), CODE_VADDR, both, 4, take_hit, seen), 0);
	assert_int_equal(seen[0], 2);

	seen[0] = 0;
	seen[3] = 1; /* stops at the first */
	assert_int_equal(ops->scan(code, sizeof(code), CODE_VADDR, both, 4, take_hit, seen),
			 -ECANCELED);
	assert_int_equal(seen[0], 1);
	assert_int_equal(ops->scan(code, 4, CODE_VADDR, both, 4, take_hit, seen), 0);
	assert_int_equal(ops->scan(code, sizeof(code), CODE_VADDR, both, 0, take_hit, seen), 0);
	assert_int_equal(seen[0], 1);
}

/*
 * Real code: the lengths in this program's own .text against objdump's. Runs of zero bytes are left
 * out: objdump prints them as "...".
 */
static void test_lengths_agree_with_objdump(void **state)
{
	const struct insn_ops *ops = insn_ops__find(EM_X86_64);
	u64 vaddr, prev = 0;
	const u8 *code = NULL;
	struct image *im;
	struct insn in;
	char line[512], colon;
	u32 nr = 0;
	FILE *p;

	if (system("objdump --version >/dev/null 2>&1")) {
		print_message("skipped: objdump is not installed\n");
		skip();
	}
	snprintf(line, sizeof(line), "objdump -d -j .text --no-show-raw-insn /proc/%d/exe",
		 (int)getpid());
	assert_int_equal(image__open("/proc/self/exe", &im), 0);
	p = popen(line, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		if (strstr(line, "(bad)") || sscanf(line, " %llx%c", &vaddr, &colon) != 2 ||
		    colon != ':') {
			prev = 0; /* a label, a gap: what follows is no continuation */
			continue;
		}
		if (prev && code && vaddr - prev <= 15) {
			assert_int_equal(ops->decode(code, 15, prev, &in), 0);
			if (in.len != vaddr - prev)
				fail_msg("at %#llx: %u bytes, objdump %llu", prev, in.len,
					 vaddr - prev);
			nr++;
		}
		prev = vaddr;
		code = image__at(im, vaddr, 15);
	}
	pclose(p);
	image__close(im);
	print_message("%u instructions compared\n", nr);
	assert_true(nr > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relative_jumps_pushes_calls_and_nop_are_emulated),
		cmocka_unit_test(test_everything_else_is_single_stepped),
		cmocka_unit_test(test_what_the_kernel_refuses_or_gets_wrong_is_refused),
		cmocka_unit_test(test_longer_nops_are_used_only_on_a_kernel_that_emulates_them),
		cmocka_unit_test(test_kinds_are_told_apart),
		cmocka_unit_test(test_branch_targets_and_conditions_are_decoded),
		cmocka_unit_test(test_sp_is_followed_where_it_can_be),
		cmocka_unit_test(test_other_writes_of_sp_make_it_unknown),
		cmocka_unit_test(test_all_written_registers_are_known_hidden_ones_too),
		cmocka_unit_test(test_stores_to_the_stack_and_elsewhere_are_told_apart),
		cmocka_unit_test(test_only_plain_64_bit_copies_are_moves),
		cmocka_unit_test(test_bytes_that_are_no_instruction_or_cut_are_refused),
		cmocka_unit_test(test_a_machine_without_support_has_no_table),
		cmocka_unit_test(test_scan_finds_calls_of_the_targets_only),
		cmocka_unit_test(test_lengths_agree_with_objdump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
