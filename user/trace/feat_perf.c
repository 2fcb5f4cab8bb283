// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * feat_perf.c - do the hardware counters count? That one can be opened says little: in emulators it
 * opens and stays at 0.
 */
#include "trace/feat.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORK_BYTES (8u << 20) /* more than most caches that one core has to itself */
#define LINE	   64

static int counter_open(u64 config)
{
	struct perf_event_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = config;
	attr.disabled = 1;
	attr.exclude_kernel = 1; /* what a user may count with perf_event_paranoid = 2 */
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* Something to count: cycles, instructions, and lines that are in no cache yet. */
static void work(void)
{
	static volatile char mem[WORK_BYTES];

	for (size_t i = 0; i < WORK_BYTES; i += LINE)
		mem[i]++;
}

static void explain(struct feat_item *it, int err)
{
	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP) {
		feat_set(it, FEAT_WARN, "this CPU, or the hypervisor, has no such counter");
		feat_remedy(
			it,
			"in a guest: let the hypervisor pass the PMU on (QEMU -cpu host,pmu=on; "
			"in clouds: metal or large instances)");
	} else if (err == -EACCES || err == -EPERM) {
		feat_set(it, FEAT_WARN, "not permitted: %s", strerror(-err));
		feat_remedy(it, "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2; in a "
				"container, a seccomp profile that lets perf_event_open() pass");
		it->as_root = true;
	} else {
		feat_set(it, FEAT_WARN, "perf_event_open: %s", strerror(-err));
	}
}

static void counter(struct feat_item *it, u64 config)
{
	struct {
		u64 value, enabled, running;
	} got = {0};
	int fd = counter_open(config);

	if (fd < 0) {
		explain(it, fd);
		return;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &got, sizeof(got)) != sizeof(got))
		feat_set(it, FEAT_WARN, "opens, but cannot be read: %s", strerror(errno));
	else if (!got.running)
		feat_set(it, FEAT_WARN,
			 "opens, but never got onto the CPU: others hold the counters");
	else if (!got.value)
		feat_set(it, FEAT_WARN, "opens, but stays at 0: an emulated counter");
	else
		feat_set(it, FEAT_OK, "counts");
	close(fd);
}

void feat_cycles(const struct feat_env *env, struct feat_item *it)
{
	counter(it, PERF_COUNT_HW_CPU_CYCLES);
}

void feat_instructions(const struct feat_env *env, struct feat_item *it)
{
	counter(it, PERF_COUNT_HW_INSTRUCTIONS);
}

void feat_cache_refs(const struct feat_env *env, struct feat_item *it)
{
	counter(it, PERF_COUNT_HW_CACHE_REFERENCES);
}

void feat_branch_misses(const struct feat_env *env, struct feat_item *it)
{
	counter(it, PERF_COUNT_HW_BRANCH_MISSES);
}

void feat_cache_misses(const struct feat_env *env, struct feat_item *it)
{
	counter(it, PERF_COUNT_HW_CACHE_MISSES);
}
