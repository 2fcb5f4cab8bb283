// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insn.c - which architectures there are. Everything about one is in its own insn_*.c.
 */
#include <elf.h>

#include "probe/insn_arch.h"

const struct insn_ops *insn_ops__find_on(u16 e_machine, u32 kernel)
{
	switch (e_machine) {
#if HB_HAVE_ZYDIS
	case EM_X86_64:
		return insn_x86__ops(kernel);
#endif
	case EM_AARCH64:
		return insn_arm64__ops(kernel);
	default:
		return NULL;
	}
}

const struct insn_ops *insn_ops__find(u16 e_machine)
{
	return insn_ops__find_on(e_machine, 0);
}
