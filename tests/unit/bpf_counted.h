/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_counted.h - the world of bpf_world.h on CPUs that count cycles and instructions, for tests of what
 * calls have of them.
 */
#ifndef HBPROF_TESTS_BPF_COUNTED_H
#define HBPROF_TESTS_BPF_COUNTED_H

#include "bpf_world.h"

/* Depths of a call, and of one inside. */
#define WC_D1 0x100
#define WC_D2 0x200

/* The counters, by index; the last three, and the events of threads, with wc_count_time() only. */
enum { CYCLES, INSTRUCTIONS, FAULTS, SWITCHES, CLOCK, NR, ON_CPU = NR, WAITING, BLOCKED };

void wc_count(void);
/* As with --sched: the current thread is 7. */
void wc_count_time(void);

/* The event that counts it on the current CPU. */
struct bpf_perf_event_value *wc_event(u32 ctr);
/* The current CPU works for that long. */
void wc_work(u64 ns, u64 cycles, u64 instructions);
/* A call of 2,000 cycles and 4,000 instructions in 1,000 ns, and what happens in the middle of it. */
void wc_call_of(u16 f, u64 ra, void (*in_between)(void));

u64 wc_lost(enum hb_ctr_lost why);
u64 wc_all_lost(void);
void wc_check(u16 f, u32 ctr, u64 n, u64 sum, u64 min, u64 max);

#endif
