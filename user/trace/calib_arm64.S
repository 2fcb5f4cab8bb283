/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calib_arm64.S - functions that do nothing, one for each kind of entry site, and loops that call them,
 * one for each kind of exit site: calib_x86.S says what each is for, and the names and the order of the
 * kinds are the same. Here 0 is any instruction that the kernel simulates; 1 is what saves the frame
 * record and 2 a call, which are classes of their own only on x86, but are measured alike where a kernel
 * makes them so.
 *
 * hb_cal_loop_L_K(fn, n, g): X28 = g. outer, around and tail are entered at an instruction of kind 0.
 */
	.text

	.macro	label name
	.globl	\name
	.hidden	\name
\name:
	.endm

	.macro	function name
	.balign	16
	.type	\name, %function
	label	\name
	.endm

	function hb_cal_leaf
	ret

	.macro	loop_begin l, k
	function hb_cal_loop_\l\()_\k
	stp	x29, x30, [sp, #-48]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	str	x28, [sp, #32]
	mov	x19, x0
	mov	x20, x1
	mov	x28, x2
	.balign	16
2:	blr	x19
	label	hb_cal_ra_\l\()_\k
	.endm

	.macro	loop_end
	subs	x20, x20, #1
	b.ne	2b
	ldr	x28, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
	.endm

	.macro	language l
	function hb_cal_entry_\l\()_0
	cmp	sp, #0
	label	hb_cal_at_entry_\l\()_0
	b.eq	1f
1:	ret

	function hb_cal_entry_\l\()_1
	label	hb_cal_at_entry_\l\()_1
	stp	x29, x30, [sp, #-16]!
	ldp	x29, x30, [sp], #16
	ret

	function hb_cal_entry_\l\()_2
	mov	x9, x30
	label	hb_cal_at_entry_\l\()_2
	bl	hb_cal_leaf
	ret	x9

	function hb_cal_entry_\l\()_3
	label	hb_cal_at_entry_\l\()_3
	nop
	ret

	function hb_cal_entry_\l\()_4
	label	hb_cal_at_entry_\l\()_4
	mov	x9, sp
	ret

	function hb_cal_outer_\l
	cmp	sp, #0
	label	hb_cal_at_outer_\l
	b.eq	1f
1:	stp	x29, x30, [sp, #-16]!
	bl	hb_cal_entry_\l\()_0
	label	hb_cal_ra_inner_\l
	cmp	sp, #0
	label	hb_cal_at_inner_\l
	b.eq	1f
1:	ldp	x29, x30, [sp], #16
	ret

	function hb_cal_tail_\l
	cmp	sp, #0
	label	hb_cal_at_tail_\l
	b.eq	1f
1:	b	hb_cal_entry_\l\()_0

	function hb_cal_around_\l
	cmp	sp, #0
	label	hb_cal_at_around_\l
	b.eq	1f
1:	stp	x29, x30, [sp, #-16]!
	bl	hb_cal_leaf
	label	hb_cal_ra_miss_\l
	cmp	sp, #0
	label	hb_cal_at_miss_\l
	b.eq	1f
1:	ldp	x29, x30, [sp], #16
	ret

	loop_begin \l, 0
	cmp	sp, #0
	label	hb_cal_at_exit_\l\()_0
	b.eq	3f
3:	loop_end

	loop_begin \l, 1
	label	hb_cal_at_exit_\l\()_1
	stp	x29, x30, [sp, #-16]!
	ldp	x29, x30, [sp], #16
	loop_end

	loop_begin \l, 2
	label	hb_cal_at_exit_\l\()_2
	bl	hb_cal_leaf
	loop_end

	loop_begin \l, 3
	label	hb_cal_at_exit_\l\()_3
	nop
	loop_end

	loop_begin \l, 4
	label	hb_cal_at_exit_\l\()_4
	mov	x9, sp
	loop_end
	.endm

	language 0
	language 1

	.section .rodata
	.balign	4
	label	hb_cal_ret_sp
	.long	0
	label	hb_cal_inside_class
	.long	0

	.section .note.GNU-stack, "", %progbits
