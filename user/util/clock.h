/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock.h - what time it is, in ns. */
#ifndef HBPROF_CLOCK_H
#define HBPROF_CLOCK_H

#include <hbprof/types.h>

u64 mono_ns(void); /* CLOCK_MONOTONIC: what bpf_ktime_get_ns() reads */
u64 wall_ns(void); /* CLOCK_REALTIME */

#endif
