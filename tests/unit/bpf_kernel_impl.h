/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_kernel_impl.h - what bpf_kernel.c and bpf_usermem.c need of each other. */
#ifndef HBPROF_TESTS_BPF_KERNEL_IMPL_H
#define HBPROF_TESTS_BPF_KERNEL_IMPL_H

#include "bpf_kernel.h"

void kernel__die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The error of a fault that is due now, or 0. */
int kernel__fault(enum kernel_helper helper, const void *map);
void kernel__user_clear(void);

#endif
