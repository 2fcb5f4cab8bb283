/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stubs.S - functions whose first instructions are exactly these, whatever the compiler likes.
 *
 *   spin_push, spin_endbr, spin_lea   long f(long n): n iterations of one sub and one branch
 *   nop_push, nop_endbr, nop_lea      void f(void): as little as can begin that way
 *   nop_lea_branch                    as nop_lea, and its first block ends in a branch, as in nearly
 *                                     every function that does something
 *   nop_ret, call_nop_ret             as nop_push, and its only caller, which after the call has
 *                                     nothing but an add and its own return
 *   spin_unprobed                     as spin_push, for the calibration
 *   tail_a, tail_b, tail_c            long f(long n): a and b leave by a jump to the next
 *
 * x86: push is emulated by the kernel's uprobes, endbr64 and lea are single-stepped. arm64: nothing
 * like it exists; the shapes are a frame, a landing pad before it, and a frame by sub alone.
 */
	.text

	.macro	function name
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.endm

	.macro	end name
	.size	\name, . - \name
	.endm

#if defined(__x86_64__)

	.macro	loop
	mov	%rdi, %rax
	test	%rdi, %rdi
	jle	2f
	.p2align 4
1:	sub	$1, %rdi
	jnz	1b
2:
	.endm

	function spin_push
	push	%rbp
	mov	%rsp, %rbp
	loop
	pop	%rbp
	ret
	end	spin_push

	function spin_unprobed
	push	%rbp
	mov	%rsp, %rbp
	loop
	pop	%rbp
	ret
	end	spin_unprobed

	function spin_endbr
	endbr64
	push	%rbp
	mov	%rsp, %rbp
	loop
	pop	%rbp
	ret
	end	spin_endbr

	function spin_lea
	lea	(%rdi), %rsi
	mov	%rsi, %rdi
	sub	$24, %rsp
	loop
	add	$24, %rsp
	ret
	end	spin_lea

	function nop_push
	push	%rbp
	pop	%rbp
	ret
	end	nop_push

	function nop_endbr
	endbr64
	push	%rbp
	pop	%rbp
	ret
	end	nop_endbr

	function nop_lea
	lea	(%rdi), %rax
	ret
	end	nop_lea

	function nop_lea_branch
	lea	(%rdi), %rax
	test	%rax, %rax
	jle	1f
	mov	%rax, %rdx
1:	ret
	end	nop_lea_branch

	function nop_ret
	push	%rbp
	pop	%rbp
	ret
	end	nop_ret

	function call_nop_ret
	sub	$8, %rsp
	call	nop_ret
	add	$8, %rsp
	ret
	end	call_nop_ret

	function tail_a
	push	%rbx
	lea	1(%rdi), %rbx
	mov	%rbx, %rdi
	pop	%rbx
	jmp	tail_b
	end	tail_a

	function tail_b
	push	%rbp
	mov	%rsp, %rbp
	add	$1, %rdi
	pop	%rbp
	jmp	tail_c
	end	tail_b

	function tail_c
	push	%rbp
	mov	%rsp, %rbp
	lea	1(%rdi), %rax
	pop	%rbp
	ret
	end	tail_c

#elif defined(__aarch64__)

	.macro	loop
	mov	x1, x0
	cmp	x1, #0
	b.le	2f
	.p2align 4
1:	subs	x1, x1, #1
	b.ne	1b
2:
	.endm

	.macro	frame
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	.endm

	.macro	unframe
	ldp	x29, x30, [sp], #16
	.endm

	function spin_push
	frame
	loop
	unframe
	ret
	end	spin_push

	function spin_unprobed
	frame
	loop
	unframe
	ret
	end	spin_unprobed

	function spin_endbr
	hint	#34 /* bti c */
	frame
	loop
	unframe
	ret
	end	spin_endbr

	function spin_lea
	add	x2, x0, #0
	mov	x0, x2
	sub	sp, sp, #32
	loop
	add	sp, sp, #32
	ret
	end	spin_lea

	function nop_push
	frame
	unframe
	ret
	end	nop_push

	function nop_endbr
	hint	#34
	frame
	unframe
	ret
	end	nop_endbr

	function nop_lea
	add	x0, x0, #0
	ret
	end	nop_lea

	function nop_lea_branch
	add	x0, x0, #0
	cmp	x0, #0
	b.le	1f
	mov	x1, x0
1:	ret
	end	nop_lea_branch

	function nop_ret
	frame
	unframe
	ret
	end	nop_ret

	function call_nop_ret
	frame
	bl	nop_ret
	unframe
	ret
	end	call_nop_ret

	function tail_a
	add	x0, x0, #1
	b	tail_b
	end	tail_a

	function tail_b
	frame
	add	x0, x0, #1
	unframe
	b	tail_c
	end	tail_b

	function tail_c
	frame
	add	x0, x0, #1
	unframe
	ret
	end	tail_c

#else
#error "stubs.S is written for x86-64 and arm64"
#endif

	.section .note.GNU-stack, "", %progbits
