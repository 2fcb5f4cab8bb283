/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stubs.h - the functions of stubs.S.
 */
#ifndef STUBS_H
#define STUBS_H

/* n iterations; returns n. */
long spin_push(long n);
long spin_endbr(long n);
long spin_lea(long n);
long spin_unprobed(long n);

void nop_push(void);
void nop_endbr(void);
void nop_lea(void);
void nop_lea_branch(void);
void nop_ret(void);
void call_nop_ret(void);

/* n + 3, + 2, + 1. */
long tail_a(long n);
long tail_b(long n);
long tail_c(long n);

#endif
