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
#define ARCH_SP_SLOT 4	/* of SP in what arch_regs() fills */
/* SP behind a return, from that at the entry: the return address has been popped. */
#define ARCH_RET_SP 8
/* Depth of a function from that of code with the SP which it was called at, at least. */
#define ARCH_CALLEE_DEPTH 8

#define arch_sp(ctx)	  ((u64)(ctx)->sp)
#define arch_ip(ctx)	  ((u64)(ctx)->ip)
#define arch_g(ctx)	  ((u64)(ctx)->r14)

/* jbe is taken when CF or ZF is set: the goroutine is about to grow its stack and comes back. */
static __always_inline bool arch_taken(struct pt_regs *ctx)
{
	return ctx->flags & 0x41;
}

/* The g of this thread as Go keeps it for code that has lost R14: in thread-local storage, in the
 * word below the thread pointer (cmd/internal/obj/x86/obj6.go), unless C code has variables there. */
static __always_inline int arch_tls_g(u64 *g)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_probe_read_user(g, sizeof(*g), (void *)(BPF_CORE_READ(task, thread.fsbase) - 8));
}

/* At a function's entry, with that SP: its return address. 0 or -EFAULT. */
static __always_inline int arch_ra(struct pt_regs *ctx, u64 sp, u64 *ra)
{
	return bpf_probe_read_user(ra, sizeof(*ra), (void *)sp);
}

/* Where an open call has its return address: at SP. It may be another one's by now. */
#define arch_ra_known(frame)	true
#define arch_ra_addr(frame, sp) (sp)
#define arch_ra_plain(word)	(word)

/* What returns of a leaf without a frame lead to: the word at SP. */
static __always_inline int arch_leaf_ra(struct pt_regs *regs, u64 *ra)
{
	return bpf_probe_read_user(ra, sizeof(*ra), (void *)arch_sp(regs));
}

/* A register's place in what arch_regs() fills, or -1. */
#define arch_slot(reg) ((reg)&15)

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

/* The page that return probes of other tools return through: create_xol_area() takes the highest
 * one of the process, kernel/events/uprobes.c. */
#define ARCH_IS_TRAMPOLINE(ra) ((ra) >> 12 == 0x7fffffffeULL)

#define ARCH_ARG1	       7 /* DI, of a native function */

/*
 * SP in a jmp_buf. glibc keeps it at 6 * 8 (sysdeps/x86_64/jmpbuf-offsets.h), XORed with the
 * thread's pointer guard at fs:0x30 and rotated left by 17 (PTR_MANGLE, sysdeps/unix/sysv/linux/x86_64/
 * pointer_guard.h, glibc 2.36); musl keeps it at the same place, plain. It must lie above SP.
 */
static __always_inline int arch_jmpbuf_sp(u64 buf, u64 sp, u64 span, u64 *out)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 word, fs, guard = 0;

	if (bpf_probe_read_user(&word, sizeof(word), (void *)(buf + 48)))
		return -1;
	*out = word;
	if (word - sp < span)
		return 0;
	fs = BPF_CORE_READ(task, thread.fsbase);
	if (bpf_probe_read_user(&guard, sizeof(guard), (void *)(fs + 0x30)))
		return -1;
	*out = (word >> 17 | word << 47) ^ guard;
	return *out - sp < span ? 0 : -1;
}

#elif defined(__TARGET_ARCH_arm64)

#define HB_REGS			16
#define ARCH_SP_SLOT		15
#define ARCH_RET_SP		0
#define ARCH_CALLEE_DEPTH	0

#define arch_sp(ctx)		((u64)(ctx)->sp)
#define arch_ip(ctx)		((u64)(ctx)->pc)
#define arch_g(ctx)		((u64)(ctx)->regs[28])

/* b.ls is taken when C is clear or Z set: the goroutine is about to grow its stack and comes back. */
static __always_inline bool arch_taken(struct pt_regs *ctx)
{
	return !(ctx->pstate & 1 << 29) || (ctx->pstate & 1 << 30);
}

/* Go has no copy of g in thread-local storage but with cgo, at an offset that the linker chooses
 * (runtime.tls_g, runtime/tls_arm64.s); assembly keeps it in X28 (cmd/internal/obj/arm64/a.out.go, REGG). */
static __always_inline int arch_tls_g(u64 *g)
{
	return -1;
}

/* Pointers have 48 bits; above them may be a signature (paciasp) or a tag. */
#define arch_ra_plain(word)	((word)&0xffffffffffffULL)

static __always_inline int arch_ra(struct pt_regs *ctx, u64 sp, u64 *ra)
{
	*ra = arch_ra_plain(ctx->regs[30]);
	return 0;
}

/* A function that makes calls has saved its return address in its frame, where user space has seen. */
#define arch_ra_known(frame)	((frame)->ra_words != HB_RA_NOWHERE)
#define arch_ra_addr(frame, sp) ((sp)-8 * (u64)(frame)->ra_words)

static __always_inline int arch_leaf_ra(struct pt_regs *regs, u64 *ra)
{
	*ra = arch_ra_plain(regs->regs[30]);
	return 0;
}

/*
 * There is no room for 31 registers on the stack of the handlers. What matters: those of arguments and
 * results, and of those that calls leave alone, where compilers keep arguments, the first that gcc and
 * clang take. Keep insn_arm64.c's READ equal.
 */
static __always_inline int arch_slot(int reg)
{
	if (reg < 8)
		return reg;
	return reg >= 19 && reg <= 25 ? reg - 11 : -1;
}

static __always_inline void arch_regs(struct pt_regs *ctx, u64 r[HB_REGS])
{
	r[0] = ctx->regs[0];
	r[1] = ctx->regs[1];
	r[2] = ctx->regs[2];
	r[3] = ctx->regs[3];
	r[4] = ctx->regs[4];
	r[5] = ctx->regs[5];
	r[6] = ctx->regs[6];
	r[7] = ctx->regs[7];
	r[8] = ctx->regs[19];
	r[9] = ctx->regs[20];
	r[10] = ctx->regs[21];
	r[11] = ctx->regs[22];
	r[12] = ctx->regs[23];
	r[13] = ctx->regs[24];
	r[14] = ctx->regs[25];
	r[ARCH_SP_SLOT] = ctx->sp;
}

/* The highest page of a process with 48-bit addresses. */
#define ARCH_IS_TRAMPOLINE(ra)	((ra) >> 12 == 0xfffffffffULL)

#define ARCH_ARG1		0

/* Not needed: the probe is where longjmp() has set SP already (user/probe/site_stack.c). glibc hides SP
 * in the jmp_buf by a word of its loader's (sysdeps/aarch64/setjmp.S, 2.36), which is not at hand. */
static __always_inline int arch_jmpbuf_sp(u64 buf, u64 sp, u64 span, u64 *out)
{
	return -1;
}

#else
#error "no probe support for this architecture"
#endif

#endif
