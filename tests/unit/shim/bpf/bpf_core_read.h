/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_core_read.h (shim) - stands in for libbpf's header of that name, to compile bpf/ on the host.
 * Kernel structs are the test's own: their offsets need no relocation, and reading them no helper.
 */
#ifndef SHIM_BPF_CORE_READ_H
#define SHIM_BPF_CORE_READ_H

/* Up to three members: BPF_CORE_READ(task, files, fdt) is task->files->fdt. A null pointer on the way
 * reads as 0 in the kernel; here a test has to provide what is read. */
#define CORE_READ_1(src, a)		((src)->a)
#define CORE_READ_2(src, a, b)		((src)->a->b)
#define CORE_READ_3(src, a, b, c)	((src)->a->b->c)
#define CORE_READ_N(_1, _2, _3, n, ...) CORE_READ_##n
#define BPF_CORE_READ(src, ...)		CORE_READ_N(__VA_ARGS__, 3, 2, 1, 0)(src, __VA_ARGS__)

/* The BPF compiler's own: an address that is to be relocated. */
#define __builtin_preserve_access_index(at) (at)

#endif
