// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insn_x86.c - x86-64: decoding with Zydis, and what uprobes make of an instruction. The only file
 * that includes Zydis. Searching code is x86_search.c's business, choosing sites site_*.c's.
 *
 * How the kernel executes a probed instruction is decided in arch/x86/kernel/uprobes.c, by
 * branch_setup_xol_ops() and push_setup_xol_ops() (emulated) and is_prefix_bad(), the good_insns
 * tables and the decoder in arch/x86/lib/insn.c (attach refused). Four things there are traps:
 *
 * - A VEX instruction shows its one opcode byte as if it were a legacy opcode: vzeroupper
 *   (c5 f8 77) looks like `ja`, vmovd (.. 7e) like `jle`, vpor (.. eb) like `jmp`: they attach, and
 *   are skipped instead of executed. All VEX, EVEX and XOP instructions are refused here.
 * - Every 90 is a nop, `xchg %rax,%r8` (49 90) too: also skipped.
 * - Which longer nops are emulated differs: none in 5.15 (where 66 90 cannot even be attached, fixed
 *   in 6.2 and stable trees), a list of exact forms in 6.18, a rule (insn_is_nop() of
 *   arch/x86/lib/insn-eval.c, some moves of a register to itself included) in later ones. A wrong
 *   class would be a wrong correction of 10 or 20 us: all but a bare 90 are refused unless the
 *   kernel is known, and then only what is in that list is used.
 * - A five-byte nop may be rewritten into a call that writes below SP (6.18), which a leaf
 *   function's red zone does not survive: never a site.
 *
 * Measured on 6.18.44, x86-64 guest (AMD EPYC), uprobe_multi with a program that counts, minimum of
 * 5 runs of 2,000 calls, less the bare call; ns per hit. "bad": attached, but the result was wrong.
 *
 *   emulated                          stepped                         not usable
 *   90 nop                      706   66 0f 1f 84 .. nopw (9)  9140   0f 1f 44 00 00 nop5   440
 *   66 90, 66 66 90, 48 90      597   0f 1f c0 nop %eax        9121   66 0f 1f 40 00 nop5   439
 *   0f 1f 00, 0f 1f 40 00       597   0f 1e c0, endbr64        9179   66 2e 0f 1f ..    refused
 *   66 0f 1f 44 00 00           594   48 89 c0 mov to itself   9149   f3 90 pause (skipped) 568
 *   0f 1f 80, 0f 1f 84 (7, 8)   596   48 8d 76 00 lea itself   9125   49 90 xchg        594 bad
 *   55 push, 41 54 push r12     654   40 55, 48 55, 66 50      9190   9c pushf         9136 bad
 *   eb, e9, f2 e9 bnd jmp       595   ff f5, 6a 01 push        9159   66 eb data16 jmp  crashes
 *   76, 0f 85 jcc, f2 75, 48 75 613   e2 loop, e3 jrcxz        9131   3e 75 jne,pt      refused
 *   e8 call, f2 e8 bnd call     650   ff d0 call, ff e0 jmp    9228   3e ff e0 notrack  refused
 *                                     c3, f2 c3, f3 c3, c2     9047   f0 ff lock        refused
 *                                     pop, sub, mov, lea, test 9147   0f 05 syscall     crashes
 *                                     leave, mov %fs:0, rdtsc  9165   f3 a4 rep movsb 7 hits for 7
 *                                     movups, 0f 38 cc         9251   c5 fa 6f vmovdqu  refused
 *                                     0f ae e8 lfence          9059   c5 f8 77 vzeroupper 593 bad
 *                                     c5 f8 58 vaddps          9069   c5 f9 7e vmovd    597 bad
 *                                                                     c5 f9 eb vpor     590 bad
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "probe/insn_arch.h"

#define X86_SP	 4
#define X86_DI	 7
#define X86_GPRS 0xffffu

struct x86_insn {
	const u8 *code;
	ZydisDecodedInstruction i;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* The number of the 64-bit register that contains r, or -1. */
static int gpr(ZydisRegister r)
{
	ZydisRegister big = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (ZydisRegisterGetClass(big) != ZYDIS_REGCLASS_GPR64)
		return -1;
	return ZydisRegisterGetId(big);
}

static bool is_gpr64(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR64;
}

static bool is_sp(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_RSP;
}

/* [rsp + const] that is really accessed, with a 64-bit address. */
static bool is_sp_mem(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP &&
	       op->mem.index == ZYDIS_REGISTER_NONE && op->mem.segment != ZYDIS_REGISTER_FS &&
	       op->mem.segment != ZYDIS_REGISTER_GS && op->mem.disp.value >= INT32_MIN &&
	       op->mem.disp.value <= INT32_MAX;
}

static bool has_prefix(const struct x86_insn *x, u8 value)
{
	for (u8 n = 0; n < x->i.raw.prefix_count; n++)
		if (x->i.raw.prefixes[n].value == value)
			return true;
	return false;
}

static bool legacy(const struct x86_insn *x, ZydisOpcodeMap map, u8 opcode)
{
	return x->i.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && x->i.opcode_map == map &&
	       x->i.opcode == opcode;
}

/* ---- what it is ---- */

static u8 branch_kind(const struct x86_insn *x)
{
	bool direct = x->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (x->i.mnemonic == ZYDIS_MNEMONIC_CALL)
		return direct ? INSN_CALL_REL : INSN_CALL_IND;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_JMP)
		return direct ? INSN_JMP_REL : INSN_JMP_IND;
	return INSN_JCC;
}

static u8 insn_kind(const struct x86_insn *x)
{
	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return INSN_TRAP;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return INSN_RET;
	case ZYDIS_MNEMONIC_PUSH:
		return INSN_PUSH;
	case ZYDIS_MNEMONIC_NOP:
		return INSN_NOP;
	default:
		break;
	}
	switch (x->i.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
		return branch_kind(x);
	default:
		return INSN_OTHER;
	}
}

/* jmp *slot(%rip), jmp *slot. */
static u64 fixed_slot(const struct x86_insn *x, u64 vaddr)
{
	const ZydisDecodedOperand *op = &x->op[0];

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE ||
	    op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return 0;
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		return vaddr + x->i.length + (u64)op->mem.disp.value;
	return op->mem.base == ZYDIS_REGISTER_NONE ? (u64)op->mem.disp.value : 0;
}

static void fill_branch(const struct x86_insn *x, u64 vaddr, struct insn *out)
{
	const ZydisDecodedOperand *op = &x->op[0];

	switch (out->kind) {
	case INSN_JCC:
		if (x->i.opcode_map == ZYDIS_OPCODE_MAP_0F || x->i.opcode >> 4 == 7)
			out->cond = x->i.opcode & 15; /* else loop, jrcxz, xbegin */
						      /* fallthrough */
	case INSN_CALL_REL:
	case INSN_JMP_REL:
		if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative)
			out->target = vaddr + x->i.length + (u64)op->imm.value.s;
		break;
	case INSN_CALL_IND:
		out->slot = fixed_slot(x, vaddr);
		break;
	case INSN_JMP_IND:
		out->slot = fixed_slot(x, vaddr);
		if (x->i.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
			out->table = INSN_TABLE_SURE;
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			 op->mem.index != ZYDIS_REGISTER_NONE)
			out->table = INSN_TABLE_PTR;
		out->move_src = is_gpr64(op) ? (u8)gpr(op->reg.value) : INSN_NO_REG;
		break;
	default:
		break;
	}
}

/* ---- what the kernel makes of it ---- */

/* Opcodes of the one-byte map that good_insns_64 leaves out, and what single-stepping out of line
 * breaks: pushf and popf see the trap flag, a far branch leaves the copy for good. */
static bool refused_onebyte(const struct x86_insn *x)
{
	switch (x->i.opcode) {
	case 0x06 ... 0x07:
	case 0x0e:
	case 0x16 ... 0x17:
	case 0x1e ... 0x1f:
	case 0x27:
	case 0x2f:
	case 0x37:
	case 0x3f:
	case 0x60 ... 0x62:
	case 0x6c ... 0x6f:
	case 0x82:
	case 0x9a:
	case 0x9c ... 0x9d:
	case 0xca ... 0xcf:
	case 0xd4 ... 0xd6:
	case 0xe4 ... 0xe7:
	case 0xea:
	case 0xec ... 0xef:
	case 0xf1:
	case 0xf4:
	case 0xfa ... 0xfb:
		return true;
	case 0x8e: /* mov to SS masks the single-step exception; the others do not come up */
		return true;
	case 0xc6 ... 0xc7: /* xabort, xbegin */
		return x->i.raw.modrm.reg == 7;
	case 0xff: /* far call and jump */
		return x->i.raw.modrm.reg == 3 || x->i.raw.modrm.reg == 5;
	default:
		return false;
	}
}

/* good_2byte_insns is never asked (0f itself counts as good), so these would attach: instructions
 * that enter the kernel, trap, or have a meaning that depends on where they stand. */
static bool refused_twobyte(u8 opcode)
{
	switch (opcode) {
	case 0x00 ... 0x01:
	case 0x05 ... 0x0c:
	case 0x30:
	case 0x34 ... 0x37:
	case 0x78 ... 0x79:
	case 0xae:
	case 0xb9:
	case 0xff:
		return true;
	default:
		return false;
	}
}

static bool refused_prefix(const struct x86_insn *x, u8 kind)
{
	static const u8 bad[] = {0xf0, 0x26, 0x2e, 0x36, 0x3e}; /* lock, and the dead segments */

	for (size_t n = 0; n < sizeof(bad); n++)
		if (has_prefix(x, bad[n]))
			return true;
	/* Intel and AMD disagree on the length of a branch with a 16-bit operand. */
	if (has_prefix(x, 0x66) &&
	    (kind == INSN_JCC || kind == INSN_JMP_REL || kind == INSN_CALL_REL))
		return true;
	/* A repeated string instruction traps after every round: one call would be many hits. */
	return (x->i.attributes &
		(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

/* Moves of a register to itself: a nop for 6.18, single-stepped before. */
static bool is_self_move(const struct x86_insn *x)
{
	const ZydisDecodedOperand *a = &x->op[0], *b = &x->op[1];

	if (x->i.mnemonic == ZYDIS_MNEMONIC_MOV)
		return is_gpr64(a) && is_gpr64(b) && a->reg.value == b->reg.value;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_LEA)
		return is_gpr64(a) && b->mem.base == a->reg.value && !b->mem.disp.value &&
		       b->mem.index == ZYDIS_REGISTER_NONE;
	return false;
}

static bool is_refused(const struct x86_insn *x, u8 kind)
{
	if (x->i.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || refused_prefix(x, kind) ||
	    is_self_move(x))
		return true;
	switch (x->i.opcode_map) {
	case ZYDIS_OPCODE_MAP_DEFAULT:
		return refused_onebyte(x);
	case ZYDIS_OPCODE_MAP_0F:
		return refused_twobyte(x->i.opcode);
	default:
		return false;
	}
}

/* x86_nops[] of 6.18 (arch/x86/include/asm/nops.h), compared byte by byte there; not the 5th. */
static bool is_listed_nop(const struct x86_insn *x)
{
	static const u8 nops[][8] = {
		[3] = {0x0f, 0x1f, 0x00},
		[4] = {0x0f, 0x1f, 0x40, 0x00},
		[6] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		[7] = {0x0f, 0x1f, 0x80},
	};
	static const u8 nop8[8] = {0x0f, 0x1f, 0x84};

	switch (x->i.length) {
	case 3:
	case 4:
	case 6:
	case 7:
		return !memcmp(x->code, nops[x->i.length], x->i.length);
	case 8:
		return !memcmp(x->code, nop8, sizeof(nop8));
	default:
		return false;
	}
}

/* 0x90 in all its forms, and 0f 1f. */
static void classify_nop(const struct x86_insn *x, bool long_nops, struct insn *out)
{
	bool short_nop = x->i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && x->i.length != 5 &&
			 x->i.mnemonic == ZYDIS_MNEMONIC_NOP; /* not pause, not xchg */

	out->cls = HB_CLASS_NOP;
	if (short_nop && x->i.length == 1)
		return;
	if (!long_nops || !(short_nop || is_listed_nop(x)))
		out->refused = true;
}

static void classify(const struct x86_insn *x, bool long_nops, struct insn *out)
{
	out->refused = is_refused(x, out->kind);
	out->cls = HB_CLASS_STEP;
	switch (out->kind) {
	case INSN_JMP_REL:
		out->cls = HB_CLASS_BRANCH;
		break;
	case INSN_JCC:
		if (out->cond != INSN_NO_COND)
			out->cls = HB_CLASS_BRANCH;
		break;
	case INSN_CALL_REL:
		out->cls = HB_CLASS_CALL;
		break;
	case INSN_PUSH: /* 50..57 alone or after a bare REX.B: see push_setup_xol_ops() */
		if (x->i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && x->i.opcode >> 3 == 0x50 >> 3 &&
		    (x->i.length == 1 || (x->i.length == 2 && has_prefix(x, 0x41))))
			out->cls = HB_CLASS_PUSH;
		break;
	default:
		break;
	}
	/* endbr64 (f3 0f 1e) and the other hint nops are ordinary stepped instructions. */
	if (legacy(x, ZYDIS_OPCODE_MAP_DEFAULT, 0x90) || legacy(x, ZYDIS_OPCODE_MAP_0F, 0x1f))
		classify_nop(x, long_nops, out);
}

/* Without a bound that is small beside a call. What enters the kernel ends a line anyway: SP is not
 * followed over it. */
static bool is_slow(const struct x86_insn *x)
{
	if (x->i.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return true;
	switch (x->i.meta.category) {
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_RDRAND:
	case ZYDIS_CATEGORY_RDSEED:
	case ZYDIS_CATEGORY_WAITPKG:
		return true;
	default:
		break;
	}
	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_CPUID: /* traps in every guest */
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_FWAIT:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_SERIALIZE:
	case ZYDIS_MNEMONIC_RDPMC:
		return true;
	default:
		return false;
	}
}

/* mov %fs:-8,%r14, or through a register in a PIE: getgFromTLS() of Go's compiler
 * (cmd/compile/internal/amd64/ssa.go), which has it behind calls of assembly (ABI0). */
static bool loads_g(const struct x86_insn *x)
{
	return x->i.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       x->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       x->op[0].reg.value == ZYDIS_REGISTER_R14 &&
	       x->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       x->op[1].mem.segment == ZYDIS_REGISTER_FS;
}

/* ---- what it does to SP, registers and memory ---- */

static bool add_sp(const struct x86_insn *x, s32 *delta)
{
	const ZydisDecodedOperand *a = &x->op[0], *b = &x->op[1];
	s64 v;

	if (!is_sp(a))
		return false;
	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (b->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		v = b->imm.value.s;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (!is_sp_mem(b))
			return false;
		v = b->mem.disp.value;
		break;
	default:
		return false;
	}
	if (x->i.mnemonic == ZYDIS_MNEMONIC_SUB)
		v = -v;
	*delta = (s32)v; /* an immediate has 32 bits at most; -INT32_MIN is not a frame */
	return v >= -INT32_MAX && v <= INT32_MAX;
}

static void fill_sp(const struct x86_insn *x, struct insn *out)
{
	s32 width = x->i.operand_width / 8;
	bool written = false;

	for (u8 n = 0; n < x->i.operand_count; n++)
		if (x->op[n].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (x->op[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    gpr(x->op[n].reg.value) == X86_SP)
			written = true;
	out->sp_known = true;
	switch (x->i.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		out->sp_delta = -width;
		return;
	case ZYDIS_MNEMONIC_POP:
		out->sp_delta = width;
		out->sp_known = !is_sp(&x->op[0]);
		return;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		out->sp_delta = width;
		return;
	case ZYDIS_MNEMONIC_CALL:
		out->sp_delta = -8;
		return;
	case ZYDIS_MNEMONIC_RET:
		out->sp_delta = 8;
		if (x->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			out->sp_delta += (u16)x->op[0].imm.value.u;
		return;
	default:
		if (written)
			out->sp_known = add_sp(x, &out->sp_delta);
	}
}

static void fill_store(const ZydisDecodedOperand *op, struct insn *out)
{
	if (is_sp_mem(op) && op->size && op->size / 8 <= 64 && !out->sp_store_len) {
		out->sp_store_off = (s32)op->mem.disp.value;
		out->sp_store_len = (u8)((op->size + 7) / 8);
	} else {
		out->stores = true;
	}
}

/* Every operand, the hidden ones included: mul, cpuid, movs and so on name theirs. */
static void fill_effects(const struct x86_insn *x, struct insn *out)
{
	for (u8 n = 0; n < x->i.operand_count; n++) {
		const ZydisDecodedOperand *op = &x->op[n];
		int r;

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			fill_store(op, out);
		} else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			r = gpr(op->reg.value);
			if (r >= 0 && r != X86_SP)
				out->writes |= 1u << r;
		}
	}
	switch (x->i.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		out->writes = X86_GPRS & ~(1u << X86_SP);
		out->stores = true;
		break;
	case ZYDIS_CATEGORY_SYSCALL: /* and anything else may be the kernel's to change */
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_VTX:
		out->writes = X86_GPRS & ~(1u << X86_SP);
		out->stores = true;
		out->sp_known = false;
		break;
	default:
		break;
	}
}

/* A push is a copy to the stack, a pop one from there. */
static void fill_push_pop(const struct x86_insn *x, struct insn *out)
{
	const ZydisDecodedOperand *op = &x->op[0];

	if (x->i.meta.category == ZYDIS_CATEGORY_POP) {
		if (is_gpr64(op) && !is_sp(op)) {
			out->move = INSN_MOVE_LOAD;
			out->move_dst = (u8)gpr(op->reg.value);
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			out->sp_store_len = 0; /* [rsp + d] there counts from the new SP */
			out->stores = true;
		}
		return;
	}
	if (x->i.meta.category != ZYDIS_CATEGORY_PUSH)
		return;
	out->sp_store_off = out->sp_delta; /* Zydis's hidden [rsp] is the slot below it */
	out->sp_store_len = (u8)-out->sp_delta;
	if (is_gpr64(op) && !is_sp(op)) {
		out->move = INSN_MOVE_STORE;
		out->move_src = (u8)gpr(op->reg.value);
		out->move_off = out->sp_delta;
	}
}

static void fill_move(const struct x86_insn *x, struct insn *out)
{
	const ZydisDecodedOperand *a = &x->op[0], *b = &x->op[1];

	if (x->i.mnemonic != ZYDIS_MNEMONIC_MOV || is_sp(a) || is_sp(b))
		return;
	if (is_gpr64(a) && is_gpr64(b)) {
		out->move = INSN_MOVE_REG;
		out->move_dst = (u8)gpr(a->reg.value);
		out->move_src = (u8)gpr(b->reg.value);
	} else if (is_sp_mem(a) && is_gpr64(b)) {
		out->move = INSN_MOVE_STORE;
		out->move_src = (u8)gpr(b->reg.value);
		out->move_off = (s32)a->mem.disp.value;
	} else if (is_gpr64(a) && is_sp_mem(b)) {
		out->move = INSN_MOVE_LOAD;
		out->move_dst = (u8)gpr(a->reg.value);
		out->move_off = (s32)b->mem.disp.value;
	}
}

static void fill_table(const struct x86_insn *x, struct insn *out)
{
	const ZydisDecodedOperand *a = &x->op[0], *b = &x->op[1];
	bool element = b->type == ZYDIS_OPERAND_TYPE_MEMORY && b->mem.index != ZYDIS_REGISTER_NONE;

	if (!is_gpr64(a))
		return;
	if (x->i.mnemonic == ZYDIS_MNEMONIC_MOVSXD && element) {
		out->table = INSN_TABLE_REL;
	} else if (x->i.mnemonic == ZYDIS_MNEMONIC_MOV && element) {
		out->table = INSN_TABLE_PTR;
	} else if (x->i.mnemonic == ZYDIS_MNEMONIC_ADD && is_gpr64(b)) {
		out->table = INSN_TABLE_ADD;
		out->move_src = (u8)gpr(b->reg.value);
	} else {
		return;
	}
	out->move_dst = (u8)gpr(a->reg.value);
}

static int x86_decode(const u8 *code, size_t max, u64 vaddr, bool long_nops, struct insn *out)
{
	ZydisDecoder d;
	struct x86_insn x;

	memset(out, 0, sizeof(*out));
	if (ZYAN_FAILED(ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -EILSEQ;
	x.code = code;
	memset(x.op, 0, 2 * sizeof(x.op[0])); /* operands 0 and 1 are looked at unasked */
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&d, code, max, &x.i, x.op)))
		return -EILSEQ;
	out->len = x.i.length;
	out->kind = insn_kind(&x);
	out->cond = INSN_NO_COND;
	fill_branch(&x, vaddr, out);
	classify(&x, long_nops, out);
	out->slow = is_slow(&x);
	out->loads_g = loads_g(&x);
	fill_sp(&x, out);
	fill_effects(&x, out);
	fill_push_pop(&x, out);
	fill_move(&x, out);
	fill_table(&x, out);
	return 0;
}

static int decode_any(const u8 *code, size_t max, u64 vaddr, struct insn *out)
{
	return x86_decode(code, max, vaddr, false, out);
}

static int decode_6_18(const u8 *code, size_t max, u64 vaddr, struct insn *out)
{
	return x86_decode(code, max, vaddr, true, out);
}

#define X86_OPS(fn)                                                                           \
	{                                                                                     \
		.e_machine = EM_X86_64, .name = "x86-64", .min_len = 1, .sp_reg = X86_SP,     \
		.ra_reg = INSN_NO_REG, .arg_reg = X86_DI, .read_regs = X86_GPRS, .ret_sp = 8, \
		.breakpoint = {0xcc}, .breakpoint_len = 1, .decode = fn, .scan = x86_scan,    \
		.scan_slots = x86_scan_slots, .stub = x86_stub, .go_entry = x86_go_entry,     \
	}

static const struct insn_ops ops_any = X86_OPS(decode_any);
static const struct insn_ops ops_6_18 = X86_OPS(decode_6_18);

const struct insn_ops *insn_x86__ops(u32 kernel)
{
	return kernel >= INSN_KERNEL(6, 18) ? &ops_6_18 : &ops_any;
}
