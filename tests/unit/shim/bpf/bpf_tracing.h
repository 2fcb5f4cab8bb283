/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_tracing.h (shim) - stands in for libbpf's header of that name, to compile bpf/ on the host.
 * The programs read registers by the names of vmlinux.h: nothing of it is needed.
 */
