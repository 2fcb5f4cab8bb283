// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_host_rates.c - compiles bpf/rates.bpf.c for the host, as bpf_host.c does with codec.bpf.c. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>
#include <hbprof/req.h>

/* Constants are the loader's to write; the other object has a licence already. */
#define const
#define LICENSE LICENSE_RATES
#include "rates.bpf.c"
#undef const
