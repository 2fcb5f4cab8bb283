// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insn_arm64.c - A64: decoding by masks, and what uprobes make of an instruction. Searching code is
 * arm64_search.c's business, choosing sites site_*.c's. The groups are those of the Arm Architecture
 * Reference Manual (DDI 0487), "A64 instruction set encoding"; an encoding that is in none of them is
 * taken to change everything and is never a site.
 *
 * How the kernel executes a probed instruction is decided in arch/arm64/kernel/probes/decode-insn.c,
 * arm_probe_decode_insn(): simulated, single-stepped out of line, or attach refused. What it takes and
 * may not: data at udf, bc.cond (a branch that it does not know as one, so it would be stepped
 * elsewhere), copies by MOPS on kernels before they were known; all refused here. So are:
 *
 * - ldr and ldrsw of a literal: simulated wrongly up to 6.11 (compat addresses), refused since.
 * - nop: stepped up to 6.12, simulated since. Refused unless the kernel is known.
 * - stp x29,x30,[sp,#-N]!: stepped up to 6.12; a simulation of it has been on its way since, so its cost
 *   is not known there. Refused unless the kernel is known to be older.
 *
 * Between a load-exclusive and its store-exclusive nothing may be probed: the trap clears the monitor,
 * the store fails each time, and the loop around them never ends. The kernel does not look for that in
 * uprobes; here a load-exclusive ends the line.
 *
 * Measured on 6.1 and 6.12 (Debian's, under QEMU 7.2, -cpu neoverse-n1 and max), instructions per hit above
 * the bare loop: simulated 887 to 1428, all alike; stepped 1652 to 2197, all alike, and a second
 * exception. Attach refused, errno 22: autiasp, retaa, retab, blraa, ldr and ldrsw of a literal,
 * prfm of one, ldxr, ldaxr, svc, brk, yield, csdb, esb, chkfeat, clrbhb.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "probe/insn_arch.h"

#define ZR		 31 /* in most fields that number is the zero register, in some SP */
#define LR		 30
#define ALL		 0x7fffffffu /* X0 to X30 */
#define READ		 0x03f800ffu /* arch_regs() reads X0 to X7, X19 to X25 */

#define FIELD(w, lo, nr) ((w) >> (lo) & ((1u << (nr)) - 1))
#define RD(w)		 FIELD(w, 0, 5)
#define RN(w)		 FIELD(w, 5, 5)
#define RT2(w)		 FIELD(w, 10, 5)
#define RM(w)		 FIELD(w, 16, 5)

static s64 sign_extend(u32 v, int bits)
{
	return (s64)((u64)v << (64 - bits)) >> (64 - bits);
}

static u32 bit_of(u32 reg)
{
	return reg == ZR ? 0 : 1u << reg;
}

/* Nothing is known of it but its length. */
static void anything(struct insn *out)
{
	out->refused = true;
	out->sp_known = false;
	out->writes = ALL;
	out->stores = true;
}

/* A called function changes what it likes, but not SP. */
static void call(struct insn *out)
{
	out->writes = ALL;
	out->stores = true;
}

/* ---- branches, exceptions, system ---------------------------------------------------------- */

/* br, blr, ret and their authenticated forms; the rest of the group is eret and drps. */
static void branch_register(u32 w, struct insn *out)
{
	out->cls = HB_CLASS_BRANCH;
	out->refused = (w & 0xff9ffc1f) != 0xd61f0000; /* with authentication */
	switch (FIELD(w, 21, 4)) {
	case 0:
	case 8:
		out->kind = INSN_JMP_IND;
		out->move_src = (u8)RN(w);
		/* Go's REGTMP, which no tail call is left by: cmd/internal/obj/arm64/a.out.go. In C it
		 * is callee-saved, and so restored before one. */
		if (RN(w) == 27)
			out->table = INSN_TABLE_SURE;
		break;
	case 1:
	case 9:
		out->kind = INSN_CALL_IND;
		call(out);
		break;
	case 2:
		out->kind = INSN_RET;
		break;
	default:
		out->kind = INSN_TRAP;
		anything(out);
	}
}

/* The hints that aarch64_insn_is_steppable_hint() lists: xpaclri, paciasp and the like, bti. */
static bool steppable_hint(u32 number)
{
	switch (number) {
	case 7:		/* xpaclri */
	case 8:		/* pacia1716 */
	case 10:	/* pacib1716 */
	case 24 ... 25: /* paciaz, paciasp */
	case 26 ... 27: /* pacibz, pacibsp */
	case 32:	/* bti */
	case 34:	/* bti c */
	case 36:	/* bti j */
	case 38:	/* bti jc */
		return true;
	default:
		return false;
	}
}

static void hint(u32 w, u32 kernel, struct insn *out)
{
	u32 number = FIELD(w, 5, 7);

	if (!number) {
		out->kind = INSN_NOP;
		out->refused = !kernel;
		out->cls = kernel >= INSN_KERNEL(6, 13) ? HB_CLASS_NOP : HB_CLASS_STEP;
		return;
	}
	out->refused = !steppable_hint(number);
	switch (number) {
	case 1 ... 3: /* yield, wfe, wfi */
		out->slow = true;
		break;
	case 8: /* those of the 1716 forms sign or check X17 */
	case 10:
	case 12:
	case 14:
		out->writes = 1u << 17;
		break;
	default:
		break; /* the return address stays what it is, signed or not */
	}
}

static void exception(u32 w, struct insn *out)
{
	out->refused = true;
	switch (FIELD(w, 21, 3) << 2 | FIELD(w, 0, 2)) {
	case 1: /* svc: the kernel changes what it likes */
	case 2:
	case 3:
		anything(out);
		break;
	default: /* brk, hlt, dcps */
		out->kind = INSN_TRAP;
	}
}

/* 0xd5......: hints, barriers, system registers and instructions. */
static void system_insn(u32 w, u32 kernel, struct insn *out)
{
	if ((w & 0xfffff01f) == 0xd503201f) {
		hint(w, kernel, out);
	} else if ((w & 0xfffff01f) == 0xd503301f) {
		out->cls = HB_CLASS_STEP; /* clrex, dsb, dmb, isb, sb */
	} else if ((w & 0xfff00000) == 0xd5300000) {
		out->writes = bit_of(RD(w));		       /* mrs */
		out->refused = (w & 0xffffffe0) == 0xd53b4220; /* DAIF shows the step itself */
	} else {
		/* msr; sys and sysl: caches, translations, and whatever else there will be. */
		anything(out);
		out->sp_known = (w & 0xffc00000) == 0xd5000000;
	}
}

static void branch(u32 w, u64 vaddr, u32 kernel, struct insn *out)
{
	if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		out->kind = w >> 31 ? INSN_CALL_REL : INSN_JMP_REL;
		out->target = vaddr + (u64)(sign_extend(FIELD(w, 0, 26), 26) * 4);
		out->cls = HB_CLASS_BRANCH;
		if (w >> 31)
			call(out);
	} else if ((w & 0xff000000) == 0x54000000) { /* b.cond; with bit 4 bc.cond */
		out->kind = INSN_JCC;
		out->cond = (u8)FIELD(w, 0, 4);
		out->target = vaddr + (u64)(sign_extend(FIELD(w, 5, 19), 19) * 4);
		out->cls = HB_CLASS_BRANCH;
		out->refused = w >> 4 & 1;
	} else if ((w & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		out->kind = INSN_JCC;
		out->target = vaddr + (u64)(sign_extend(FIELD(w, 5, 19), 19) * 4);
		out->cls = HB_CLASS_BRANCH;
	} else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		out->kind = INSN_JCC;
		out->target = vaddr + (u64)(sign_extend(FIELD(w, 5, 14), 14) * 4);
		out->cls = HB_CLASS_BRANCH;
	} else if ((w & 0xff000000) == 0xd4000000) {
		exception(w, out);
	} else if ((w & 0xff000000) == 0xd5000000) {
		system_insn(w, kernel, out);
	} else if ((w & 0xfe000000) == 0xd6000000) {
		branch_register(w, out);
	} else {
		anything(out); /* 0x74, 0xf4: compare and branch of Armv9.6 */
		out->kind = INSN_TRAP;
	}
}

/* ---- data processing ------------------------------------------------------------------------ */

/* add and sub of an immediate: the only arithmetic on SP that compilers use, but for large frames. */
static void add_immediate(u32 w, struct insn *out)
{
	bool flags = w >> 29 & 1, wide = w >> 31;
	s32 v = (s32)(FIELD(w, 10, 12) << (w >> 22 & 1 ? 12 : 0));

	if (RD(w) != ZR || flags) {
		out->writes = bit_of(RD(w));
		return;
	}
	out->sp_known = wide && RN(w) == ZR;
	if (out->sp_known)
		out->sp_delta = w >> 30 & 1 ? -v : v;
}

static void data_immediate(u32 w, struct insn *out)
{
	switch (FIELD(w, 23, 3)) {
	case 0: /* adr, adrp */
	case 1:
		out->cls = HB_CLASS_BRANCH;
		out->writes = bit_of(RD(w));
		break;
	case 2:
		add_immediate(w, out);
		break;
	case 3: /* addg, subg: SP where the number is 31; min and max of Armv8.9 */
		out->writes = bit_of(RD(w));
		out->sp_known = RD(w) != ZR;
		break;
	case 4: /* and, orr, eor may write SP, ands not */
		out->writes = bit_of(RD(w));
		out->sp_known = RD(w) != ZR || FIELD(w, 29, 2) == 3;
		break;
	default: /* mov, bit fields, extr */
		out->writes = bit_of(RD(w));
	}
}

static void data_register(u32 w, struct insn *out)
{
	bool extended = (w & 0x1fe00000) == 0x0b200000; /* add, sub xd|sp, xn|sp, wm, ext #n */

	out->writes = bit_of(RD(w));
	if (extended && RD(w) == ZR && !(w >> 29 & 1))
		out->sp_known = false;
	if ((w & 0xffe0ffe0) == 0xaa0003e0) { /* mov xd, xm */
		out->move = INSN_MOVE_REG;
		out->move_dst = (u8)RD(w);
		out->move_src = (u8)RM(w);
		if (RD(w) == ZR || RM(w) == ZR)
			out->move = INSN_MOVE_NONE;
	}
	/* Either is how a switch finds its code: add x0, x1, w0, sxtw #2; add x0, x1, x0, lsl #2. */
	if ((w & 0xffe00000) == 0x8b200000 || (w & 0xff200000) == 0x8b000000) {
		out->table = INSN_TABLE_ADD;
		out->move_dst = (u8)RD(w);
		out->move_src = (u8)RM(w);
	}
}

/* ---- loads and stores ----------------------------------------------------------------------- */

struct access {
	bool load, vector;
	u32 bytes; /* of all registers together */
	s32 off;   /* of the access from the base, before the instruction */
	s32 delta; /* added to the base */
};

/* What an access at base + constant does. */
static void based(u32 w, const struct access *a, struct insn *out)
{
	bool sp = RN(w) == ZR;

	if (a->delta && sp)
		out->sp_delta = a->delta;
	else if (a->delta)
		out->writes |= bit_of(RN(w));
	if (a->load) {
		if (!a->vector)
			out->writes |= bit_of(RD(w));
	} else if (sp) {
		out->sp_store_off = a->off;
		out->sp_store_len = (u8)a->bytes;
	} else {
		out->stores = true;
	}
}

static void pair(u32 w, u32 kernel, struct insn *out)
{
	u32 opc = w >> 30, mode = FIELD(w, 23, 2); /* 0 no-allocate, 1 post, 2 offset, 3 pre */
	struct access a = {.load = w >> 22 & 1, .vector = w >> 26 & 1};
	bool tag = opc == 1 && !a.vector && !a.load; /* stgp */
	u32 size = a.vector ? 4u << opc : opc == 2 ? 8 : 4;
	s32 imm = (s32)sign_extend(FIELD(w, 15, 7), 7) * (s32)(tag ? 16 : size);

	if (opc == 3) {
		anything(out);
		return;
	}
	a.bytes = tag ? 16 : 2 * size;
	a.off = mode == 1 ? 0 : imm;
	a.delta = mode & 1 ? imm : 0;
	based(w, &a, out);
	if (!a.load && !a.vector && opc == 2 && RN(w) == ZR && (RD(w) == LR || RT2(w) == LR)) {
		out->saves_ra = true;
		out->ra_off = a.off + (RD(w) == LR ? 0 : 8);
	}
	if (a.load && !a.vector)
		out->writes |= bit_of(RT2(w));
	if ((w & 0xffc07fff) == 0xa9807bfd && kernel < INSN_KERNEL(6, 13) && kernel)
		return;
	out->refused = (w & 0xffc07fff) == 0xa9807bfd; /* stp x29,x30,[sp,#-N]!: see above */
}

/* A plain 64-bit copy between a register and the stack. */
static void fill_move(u32 w, const struct access *a, struct insn *out)
{
	if (a->vector || a->bytes != 8 || RN(w) != ZR || RD(w) == ZR)
		return;
	out->move = a->load ? INSN_MOVE_LOAD : INSN_MOVE_STORE;
	out->move_off = a->off;
	out->saves_ra = !a->load && RD(w) == LR;
	out->ra_off = a->off;
	if (a->load)
		out->move_dst = (u8)RD(w);
	else
		out->move_src = (u8)RD(w);
}

/* Elements of a switch's table, by [xn, xm, lsl #s]: 64-bit ones are addresses. */
static void fill_table(u32 w, const struct access *a, struct insn *out)
{
	if (!a->load || a->vector)
		return;
	out->table = a->bytes == 8 ? INSN_TABLE_PTR : INSN_TABLE_REL;
	out->move_dst = (u8)RD(w);
}

/* ld<op>, st<op>, swp and the like of Armv8.1; ldapr. */
static void atomic(u32 w, struct insn *out)
{
	out->writes = bit_of(RD(w));
	out->stores = true;
	if (w >> 26 & 1)
		anything(out);
}

/* One register, base and unsigned 12 bits, signed 9, or a register. */
static void single(u32 w, struct insn *out)
{
	u32 size = w >> 30, opc = FIELD(w, 22, 2), mode = FIELD(w, 10, 2);
	struct access a = {.vector = w >> 26 & 1};
	bool wide = a.vector && opc >> 1;
	bool prefetch = !a.vector && size == 3 && opc == 2;

	a.load = a.vector ? opc & 1 : opc != 0;
	a.bytes = 1u << (wide ? 4 : size);
	if (w >> 24 & 1) {
		a.off = (s32)(FIELD(w, 10, 12) * a.bytes);
	} else if (!(w >> 21 & 1)) {
		a.off = (s32)sign_extend(FIELD(w, 12, 9), 9);
		a.delta = mode & 1 ? a.off : 0; /* 1 post, 3 pre */
		if (mode == 1)
			a.off = 0;
	} else if (mode == 2) {
		out->stores = !a.load;
		if (a.load && !a.vector && !prefetch)
			out->writes = bit_of(RD(w));
		if (!prefetch)
			fill_table(w, &a, out);
		return;
	} else if (mode == 0) {
		atomic(w, out);
		return;
	} else { /* ldraa, ldrab */
		out->writes = bit_of(RD(w)) | bit_of(RN(w));
		out->sp_known = RN(w) != ZR || !(w >> 11 & 1);
		out->refused = true;
		return;
	}
	if (prefetch)
		return;
	based(w, &a, out);
	fill_move(w, &a, out);
}

/* ldxr, stxr, casp (bit 23 clear: refused by the kernel); ldar, stlr, cas. */
static void exclusive(u32 w, struct insn *out)
{
	out->writes = bit_of(RD(w)) | bit_of(RT2(w)) | bit_of(RM(w));
	out->stores = true;
	if (w >> 23 & 1)
		return;
	out->refused = true;
	out->slow = true; /* nothing behind it on this line either */
}

static void load_store(u32 w, u32 kernel, struct insn *out)
{
	bool vector = w >> 26 & 1;

	switch (FIELD(w, 28, 2)) {
	case 0:
		if (vector) { /* ld1 and the like: several registers; the base may be changed by a register */
			out->stores = !(w >> 22 & 1);
			if (w >> 23 & 1) {
				out->writes = bit_of(RN(w));
				out->sp_known = RN(w) != ZR;
			}
		} else if (!(w >> 24 & 1)) {
			exclusive(w, out);
		} else {
			anything(out);
		}
		break;
	case 1:
		if (!(w >> 24 & 1)) { /* of a literal */
			out->refused = true;
			if (!vector && w >> 30 != 3)
				out->writes = bit_of(RD(w));
		} else if (!vector && (w >> 30 != 3 || !(w >> 21 & 1)) && !(FIELD(w, 10, 2))) {
			out->writes = bit_of(RD(w)); /* ldapur, stlur */
			out->stores = true;
		} else { /* tags; copies and fills by MOPS */
			anything(out);
			out->slow = true;
		}
		break;
	case 2:
		pair(w, kernel, out);
		break;
	default:
		single(w, out);
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

static void decode_group(u32 w, u64 vaddr, u32 kernel, struct insn *out)
{
	switch (FIELD(w, 25, 4)) {
	case 8:
	case 9:
		data_immediate(w, out);
		break;
	case 10:
	case 11:
		branch(w, vaddr, kernel, out);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		load_store(w, kernel, out);
		break;
	case 5:
	case 13:
		data_register(w, out);
		break;
	case 7:
	case 15: /* floating point and vectors: some have a general register as their result */
		out->writes = bit_of(RD(w));
		break;
	default: /* SVE, SME: some change SP */
		anything(out);
	}
}

static int decode(const u8 *code, size_t max, u64 vaddr, u32 kernel, struct insn *out)
{
	u32 w;

	memset(out, 0, sizeof(*out));
	if (max < sizeof(w) || vaddr % sizeof(w))
		return -EILSEQ;
	w = (u32)code[0] | (u32)code[1] << 8 | (u32)code[2] << 16 | (u32)code[3] << 24;
	out->len = sizeof(w);
	out->kind = INSN_OTHER;
	out->cls = HB_CLASS_STEP;
	out->cond = INSN_NO_COND;
	out->move_src = INSN_NO_REG;
	out->move_dst = INSN_NO_REG;
	out->sp_known = true;
	if (!(w >> 16)) { /* udf: data, and what stands behind a call that does not return */
		out->kind = INSN_TRAP;
		out->refused = true;
		return 0;
	}
	if (FIELD(w, 25, 4) == 1 || FIELD(w, 25, 4) == 3)
		return -EILSEQ;
	decode_group(w, vaddr, kernel, out);
	return 0;
}

static int decode_any(const u8 *code, size_t max, u64 vaddr, struct insn *out)
{
	return decode(code, max, vaddr, 0, out);
}

static int decode_5_15(const u8 *code, size_t max, u64 vaddr, struct insn *out)
{
	return decode(code, max, vaddr, INSN_KERNEL(5, 15), out);
}

static int decode_6_13(const u8 *code, size_t max, u64 vaddr, struct insn *out)
{
	return decode(code, max, vaddr, INSN_KERNEL(6, 13), out);
}

#define ARM64_OPS(fn)                                                                           \
	{                                                                                       \
		.e_machine = EM_AARCH64, .name = "arm64", .min_len = 4, .sp_reg = INSN_NO_REG,  \
		.ra_reg = LR, .ret_cheap = true, .arg_reg = 0, .read_regs = READ, .decode = fn, \
		.scan = arm64_scan, .scan_slots = arm64_scan_slots, .stub = arm64_stub,         \
		.go_entry = arm64_go_entry, .breakpoint = {0xa0, 0x00, 0x20, 0xd4},             \
		.breakpoint_len = 4,                                                            \
	}

static const struct insn_ops ops_any = ARM64_OPS(decode_any);
static const struct insn_ops ops_5_15 = ARM64_OPS(decode_5_15);
static const struct insn_ops ops_6_13 = ARM64_OPS(decode_6_13);

const struct insn_ops *insn_arm64__ops(u32 kernel)
{
	if (!kernel)
		return &ops_any;
	return kernel < INSN_KERNEL(6, 13) ? &ops_5_15 : &ops_6_13;
}
