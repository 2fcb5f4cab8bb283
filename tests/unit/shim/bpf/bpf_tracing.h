/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_tracing.h (shim) - stands in for libbpf's header of that name, to compile bpf/ on the host.
 * The programs read registers by the names of vmlinux.h.
 */
#ifndef SHIM_BPF_TRACING_H
#define SHIM_BPF_TRACING_H

/* Arguments are arguments, and not words of the context. */
#define BPF_PROG(name, args...) name(args)

#endif
