// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_freq.c - governor, the limits of the frequency, and what the CPUs run at. CPUs may differ
 * (small and large cores, a limit on some): ranges are over all of them. Documentation/admin-guide/pm/
 * cpufreq.rst names the files; they are in kHz.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/hostfile.h"
#include "util/units.h"

struct range {
	u64 lo, hi; /* lo > hi: empty */
};

#define RANGE_EMPTY      \
	{                \
		~0ULL, 0 \
	}

static void range_add(struct range *r, u64 v)
{
	r->lo = v < r->lo ? v : r->lo;
	r->hi = v > r->hi ? v : r->hi;
}

/* Of one file of cpufreq, over all CPUs, in MHz. */
static struct range mhz_of(const struct host *h, const char *file)
{
	struct range r = RANGE_EMPTY;
	u32 missing = 0;
	u64 khz;

	for (u32 cpu = 0; cpu < HOST_MAX_CPUS && missing < HOST_CPU_HOLES; cpu++) {
		if (!host__u64(h, &khz, HOST_CPU_DIR "/cpu%u/cpufreq/%s", cpu, file)) {
			missing++;
			continue;
		}
		missing = 0;
		range_add(&r, khz / 1000);
	}
	return r;
}

void fact_governor(const struct host *h, struct text *t)
{
	char *s = host__line(h, HOST_CPU_DIR "/cpu0/cpufreq/scaling_governor"), *other;
	u32 missing = 0;
	bool differ = false;

	for (u32 cpu = 1; s && cpu < HOST_MAX_CPUS && missing < HOST_CPU_HOLES; cpu++) {
		other = host__line(h, HOST_CPU_DIR "/cpu%u/cpufreq/scaling_governor", cpu);
		missing = other ? 0 : missing + 1;
		differ |= other && strcmp(other, s) != 0;
		free(other);
	}
	if (s)
		text_set(t, "%s%s", s, differ ? " (some CPUs have another one)" : "");
	else
		text_set(t, "n/a (%s)",
			 h->guest ? "a guest does not set the frequency" : "no cpufreq driver");
	free(s);
}

void fact_frequency(const struct host *h, struct text *t)
{
	struct range max = mhz_of(h, "cpuinfo_max_freq"), min = mhz_of(h, "cpuinfo_min_freq");
	struct range limit = mhz_of(h, "scaling_max_freq");

	if (max.lo > max.hi) {
		text_set(t, "n/a (%s)",
			 h->guest ? "a guest does not see the frequency" : "no cpufreq driver");
		return;
	}
	if (min.lo <= min.hi)
		text_set(t, "%llu to %llu", min.lo, max.hi);
	else
		text_set(t, "%llu (maximum)", max.hi);
	if (limit.lo <= limit.hi && limit.lo < max.lo)
		text_append(t, ", limited to %llu", limit.lo);
}

/* "3100" or "2400 to 3100"; the parser of the reader is a person. */
static void text_range(struct text *t, const struct range *r)
{
	if (r->lo == r->hi)
		text_set(t, "%llu", r->lo);
	else
		text_set(t, "%llu to %llu", r->lo, r->hi);
}

void host__frequency_now(const struct host *h, struct text *t)
{
	struct range r = mhz_of(h, "scaling_cur_freq");
	const char *at = h->cpuinfo;
	char s[32];

	if (r.lo <= r.hi) {
		text_range(t, &r);
		return;
	}
	/* x86 without cpufreq: what the kernel takes the time stamp counter to run at. */
	while (at && cpuinfo_next(h, &at, "cpu MHz", s, sizeof(s)))
		range_add(&r, strtoull(s, NULL, 10));
	if (r.lo > r.hi) {
		text_set(t, "n/a (no frequency in /sys or /proc/cpuinfo)");
		return;
	}
	text_range(t, &r);
	text_append(t, " (nominal)");
}
