// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_host_switches.c - compiles bpf/switches.bpf.c for the host, as bpf_host.c does with codec.bpf.c. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>
#include <hbprof/req.h>

/* Constants are the loader's to write; the other object has a licence already. */
#define const
#define LICENSE LICENSE_SWITCHES
#include "switches.bpf.c"
#undef const

#include "bpf_host.h"

__attribute__((constructor)) static void fill_maps(void)
{
	host_maps[HOST_REQ_SWITCHES] = (struct kernel_map)HOST_MAP_OF(req_switches);
}
