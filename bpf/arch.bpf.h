/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arch.bpf.h - what differs between architectures in a probe hit: stack pointer, return address,
 * the goroutine's register, the outcome of the stack check's branch, registers by number.
 *
 * Go keeps g in R14 (amd64) and X28 (arm64): cmd/compile/abi-internal.md of Go 1.17 and later.
 */
#ifndef HBPROF_ARCH_BPF_H
#define HBPROF_ARCH_BPF_H

#if defined(__TARGET_ARCH_x86)

#define HB_REGS	     16 /* a power of two: the index is masked */

#define arch_sp(ctx) ((u64)(ctx)->sp)
#define arch_ip(ctx) ((u64)(ctx)->ip)
#define arch_g(ctx)  ((u64)(ctx)->r14)

/* jbe is taken when CF or ZF is set: the goroutine is about to grow its stack and comes back. */
static __always_inline bool arch_taken(struct pt_regs *ctx)
{
	return ctx->flags & 0x41;
}

/* The return address of the call whose entry SP is sp. 0 or -EFAULT. */
static __always_inline int arch_ra(struct pt_regs *ctx, u64 sp, u64 *ra)
{
	return bpf_probe_read_user(ra, sizeof(*ra), (void *)sp);
}

/* The general registers by the architecture's number: 0 AX, 1 CX, 2 DX, 3 BX, 4 SP, ... */
static __always_inline void arch_regs(struct pt_regs *ctx, u64 r[HB_REGS])
{
	r[0] = ctx->ax;
	r[1] = ctx->cx;
	r[2] = ctx->dx;
	r[3] = ctx->bx;
	r[4] = ctx->sp;
	r[5] = ctx->bp;
	r[6] = ctx->si;
	r[7] = ctx->di;
	r[8] = ctx->r8;
	r[9] = ctx->r9;
	r[10] = ctx->r10;
	r[11] = ctx->r11;
	r[12] = ctx->r12;
	r[13] = ctx->r13;
	r[14] = ctx->r14;
	r[15] = ctx->r15;
}

#else
#error "no probe support for this architecture"
#endif

#endif
