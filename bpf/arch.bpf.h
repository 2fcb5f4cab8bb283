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

/* The g of this thread as Go keeps it for code that has lost R14: in thread-local storage, in the
 * word below the thread pointer (cmd/internal/obj/x86/obj6.go), unless C code has variables there. */
static __always_inline int arch_tls_g(u64 *g)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_probe_read_user(g, sizeof(*g), (void *)(BPF_CORE_READ(task, thread.fsbase) - 8));
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

#else
#error "no probe support for this architecture"
#endif

#endif
