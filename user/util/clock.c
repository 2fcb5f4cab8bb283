// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* clock.c - see clock.h. */
#include "util/clock.h"

#include <time.h>

static u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

u64 wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
