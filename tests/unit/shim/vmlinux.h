/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vmlinux.h (shim) - the real vmlinux/vmlinux.h, read by the host's compiler: so the tests fill the
 * same struct pt_regs as the kernel does. All that is in the way is clang's pragma for relocations.
 *
 * The files of this folder stand in for headers of other projects when bpf/ is compiled natively.
 * They keep those names, and declare only what bpf/ uses; the functions are in bpf_kernel.c.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include_next "vmlinux.h"
#pragma GCC diagnostic pop
