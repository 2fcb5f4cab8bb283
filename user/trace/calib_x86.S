/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calib_x86.S - functions that do nothing, one for each kind of entry site, and loops that call them,
 * one for each kind of exit site. Written out, so that the probed instruction is the one that is
 * meant: a probe's cost depends on it. One set for each language L (0 native, 1 Go), as a probe's
 * cookie says how its task is found.
 *
 * hb_cal_entry_L_K: the probed instruction is at the label hb_cal_at_entry_L_K.
 * hb_cal_loop_L_K(fn, n, g): calls fn n times with R14 = g; the return address is hb_cal_ra_L_K and
 * the probed instruction hb_cal_at_exit_L_K. K: 0 branch, 1 push, 2 call, 3 nop, 4 single-stepped:
 * the order of enum hb_class.
 * hb_cal_outer_L: a call of hb_cal_entry_L_1 inside another probed call: what recursion costs.
 * hb_cal_around_L: passes an exit site that ends no call: what such a hit costs.
 * hb_cal_tail_L: leaves by a jump to hb_cal_entry_L_1: what a tail call costs.
 * hb_cal_ret_sp, hb_cal_inside_class: see calib.c.
 */
	.text

	.macro	label name
	.globl	\name
	.hidden	\name
\name:
	.endm

	.macro	function name
	.balign	16
	.type	\name, @function
	label	\name
	.endm

	function hb_cal_leaf
	ret

	.macro	loop_begin l, k
	function hb_cal_loop_\l\()_\k
	pushq	%rbx
	pushq	%rbp
	pushq	%r14
	movq	%rdi, %rbp
	movq	%rsi, %rbx
	movq	%rdx, %r14
	.balign	16
2:	call	*%rbp
	label	hb_cal_ra_\l\()_\k
	.endm

	.macro	loop_end
	decq	%rbx
	jnz	2b
	popq	%r14
	popq	%rbp
	popq	%rbx
	ret
	.endm

	.macro	language l
	function hb_cal_entry_\l\()_0
	cmpq	$-1, %rsp
	label	hb_cal_at_entry_\l\()_0
	ja	1f
	ret
1:	ret

	function hb_cal_entry_\l\()_1
	label	hb_cal_at_entry_\l\()_1
	pushq	%rbp
	movq	%rsp, %rbp
	popq	%rbp
	ret

	function hb_cal_entry_\l\()_2
	label	hb_cal_at_entry_\l\()_2
	call	hb_cal_leaf
	ret

	function hb_cal_entry_\l\()_3
	label	hb_cal_at_entry_\l\()_3
	nop
	ret

	function hb_cal_entry_\l\()_4
	label	hb_cal_at_entry_\l\()_4
	leaq	-8(%rsp), %rax
	ret

	function hb_cal_outer_\l
	label	hb_cal_at_outer_\l
	pushq	%rbp
	movq	%rsp, %rbp
	call	hb_cal_entry_\l\()_1
	label	hb_cal_ra_inner_\l
	testq	%rsp, %rsp
	label	hb_cal_at_inner_\l
	je	1f
1:	popq	%rbp
	ret

	function hb_cal_tail_\l
	label	hb_cal_at_tail_\l
	pushq	%rbp
	popq	%rbp
	jmp	hb_cal_entry_\l\()_1

	function hb_cal_around_\l
	label	hb_cal_at_around_\l
	pushq	%rbp
	movq	%rsp, %rbp
	call	hb_cal_leaf
	label	hb_cal_ra_miss_\l
	testq	%rsp, %rsp
	label	hb_cal_at_miss_\l
	je	1f
1:	popq	%rbp
	ret

	loop_begin \l, 0
	testq	%rsp, %rsp
	label	hb_cal_at_exit_\l\()_0
	je	3f
3:	loop_end

	loop_begin \l, 1
	label	hb_cal_at_exit_\l\()_1
	pushq	%rax
	popq	%rax
	loop_end

	loop_begin \l, 2
	label	hb_cal_at_exit_\l\()_2
	call	hb_cal_leaf
	loop_end

	loop_begin \l, 3
	label	hb_cal_at_exit_\l\()_3
	nop
	loop_end

	loop_begin \l, 4
	label	hb_cal_at_exit_\l\()_4
	movq	%rsp, %rax
	loop_end
	.endm

	language 0
	language 1

	.section .rodata
	.balign	4
	label	hb_cal_ret_sp
	.long	8
	label	hb_cal_inside_class
	.long	1

	.section .note.GNU-stack, "", @progbits
