/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* codetest.h - hand-assembled x86-64 functions for the tests of probe/. Every row of bytes carries
 * its assembly (AT&T operand order, as objdump prints it). */
#ifndef HBPROF_CODETEST_H
#define HBPROF_CODETEST_H

#include <elf.h>

#include "probe/site.h"

#define CODE_VADDR  0x401000ULL
#define KERNEL_6_18 (6 << 8 | 18)
#define REG(r)	    (1u << (r))
#define AX	    0
#define CX	    1
#define DX	    2
#define BX	    3
#define BP	    5
#define SI	    6
#define DI	    7
#define ALL_BUT_SP  (0xffffu & ~REG(4))
#define IN_SLOT(n)  (HB_LOC_STACK + (n))

/* struct code over the bytes given, at CODE_VADDR. */
#define CODE(...)                                                                     \
	{                                                                             \
		.ops = insn_ops__find(EM_X86_64), .bytes = (const u8[]){__VA_ARGS__}, \
		.len = sizeof((const u8[]){__VA_ARGS__}), .vaddr = CODE_VADDR,        \
	}

#endif
