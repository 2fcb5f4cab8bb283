/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_core_read.h (shim) - stands in for libbpf's header of that name, to compile bpf/ on the host.
 * Kernel structs are the test's own: their offsets need no relocation, and reading them no helper.
 */
#ifndef SHIM_BPF_CORE_READ_H
#define SHIM_BPF_CORE_READ_H

#define BPF_CORE_READ(src, member) ((src)->member)

#endif
