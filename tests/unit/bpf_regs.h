/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_regs.h - the registers of a probe hit, as each architecture has them, for the handlers that are
 * compiled on the host. A test's registers are numbered as x86's are; on arm64 the number is the same,
 * and what is in memory at SP on x86, the return address, is in X30.
 */
#ifndef HBPROF_TESTS_BPF_REGS_H
#define HBPROF_TESTS_BPF_REGS_H

#include "vmlinux.h"

/* A conditional branch at the entry, and how its flags come out. */
enum regs_branch { REGS_NOT_TAKEN, REGS_BELOW, REGS_EQUAL };

struct regs_of {
	const u64 *reg; /* 16 */
	u64 ip, sp, g, ra;
	enum regs_branch branch;
};

#if defined(__TARGET_ARCH_x86)

#define REGS_RET_SP	8  /* SP behind a return - SP at the entry */
#define REGS_RA_READS	1  /* reads of user memory that an entry takes for its return address */
#define REGS_JMPBUF	1  /* SP is read from longjmp()'s argument */
#define REGS_SP		4  /* its number; -1: it has none */
#define REGS_HIGH	13 /* where register 13 of a test is found */
#define REGS_G_IN_TLS	1  /* the goroutine is in thread-local storage, too */
#define REGS_TRAMPOLINE 0x7fffffffe000ULL /* where other tools' return probes lead */

static inline struct pt_regs regs_make(const struct regs_of *r)
{
	static const u64 flags[] = {0x202, 0x202 | 0x01, 0x202 | 0x40};

	return (struct pt_regs){
		.ax = r->reg[0],
		.cx = r->reg[1],
		.dx = r->reg[2],
		.bx = r->reg[3],
		.sp = r->sp,
		.bp = r->reg[5],
		.si = r->reg[6],
		.di = r->reg[7],
		.r8 = r->reg[8],
		.r9 = r->reg[9],
		.r10 = r->reg[10],
		.r11 = r->reg[11],
		.r12 = r->reg[12],
		.r13 = r->reg[13],
		.r14 = r->g,
		.r15 = r->reg[15],
		.ip = r->ip,
		.flags = flags[r->branch],
	};
}

#elif defined(__TARGET_ARCH_arm64)

#define REGS_RET_SP	0
#define REGS_RA_READS	0
#define REGS_G_IN_TLS	0
#define REGS_JMPBUF	0
#define REGS_SP		-1
#define REGS_HIGH	19
#define REGS_TRAMPOLINE 0xfffffffff000ULL

static inline struct pt_regs regs_make(const struct regs_of *r)
{
	/* N Z C V: cmp leaves C set when it did not borrow. */
	static const u64 pstate[] = {1ULL << 29, 0, 3ULL << 29};
	struct pt_regs regs = {0};

	for (int n = 0; n < 16; n++)
		regs.regs[n] = r->reg[n];
	regs.regs[REGS_HIGH] = r->reg[13];
	regs.regs[28] = r->g;
	regs.regs[30] = r->ra | 0x2aULL << 48; /* signed */
	regs.sp = r->sp;
	regs.pc = r->ip;
	regs.pstate = pstate[r->branch];
	return regs;
}

#endif

#endif
