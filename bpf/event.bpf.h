/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event.bpf.h - reading the events of the CPU that a program runs on, for calls (counters.bpf.h) and for
 * threads that leave a CPU or get one (sched.bpf.c).
 */
#ifndef HBPROF_EVENT_BPF_H
#define HBPROF_EVENT_BPF_H

#include "shared.bpf.h"

/* Kinds are known before load: unrolled, a loop over the counters is the code of those that are read. */
#ifdef __bpf__
#define EACH_CTR(i) _Pragma("unroll") for (u32 i = 0; i < HB_CTRS; i++)
#else
#define EACH_CTR(i) for (u32 i = 0; i < HB_CTRS; i++)
#endif

/* Of the counter in that slot: 0 and what it has counted, and the time that it was not on the hardware, its
 * low half; or -1. */
static __always_inline int event_read(u32 slot, struct bpf_perf_event_value *v, u32 *lag)
{
	u64 index = slot * cfg_ctr_cpus + bpf_get_smp_processor_id();

	if (bpf_perf_event_read_value(&ctr_events, index, v, sizeof(*v)))
		return -1;
	*lag = (u32)(v->enabled - v->running);
	return 0;
}

#endif
