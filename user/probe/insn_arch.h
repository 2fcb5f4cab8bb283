/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* insn_arch.h - what each insn_*.c gives to insn.c; nobody else includes it. */
#ifndef HBPROF_INSN_ARCH_H
#define HBPROF_INSN_ARCH_H

#include "probe/insn.h"

#define INSN_KERNEL(major, minor) ((major) << 8 | (minor))

const struct insn_ops *insn_x86__ops(u32 kernel);
const struct insn_ops *insn_arm64__ops(u32 kernel);

/* x86_search.c, for the tables in insn_x86.c. */
int x86_scan(const u8 *code, size_t len, u64 vaddr, const u64 *target, size_t nr_targets,
	     int (*cb)(void *arg, u64 at, u64 target), void *arg);
int x86_scan_slots(const u8 *code, size_t len, u64 vaddr, const u64 *slot, size_t nr_slots,
		   int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg);
bool x86_stub(const u8 *code, size_t len, u64 vaddr, u64 *slot);
int x86_go_entry(const u8 *code, size_t len, u64 vaddr, u64 *at, bool *taken);

/* arm64_search.c, for the tables in insn_arm64.c. */
int arm64_scan(const u8 *code, size_t len, u64 vaddr, const u64 *target, size_t nr_targets,
	       int (*cb)(void *arg, u64 at, u64 target), void *arg);
int arm64_scan_slots(const u8 *code, size_t len, u64 vaddr, const u64 *slot, size_t nr_slots,
		     int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg);
bool arm64_stub(const u8 *code, size_t len, u64 vaddr, u64 *slot);
int arm64_go_entry(const u8 *code, size_t len, u64 vaddr, u64 *at, bool *taken);

#endif
