// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* perfev.c - see perfev.h. Man page: perf_event_open(2). */
#include "trace/perfev.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/fsutil.h"
#include "util/log.h"
#include "util/units.h"

#define TRY_NS 200000 /* of counting: does this machine count cycles? */

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

u64 perfev_sysctl(const char *name)
{
	char path[96], *text;
	size_t len;
	u64 n = 0;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (fs_read_file(path, 64, &text, &len))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (parse_u64(text, ~0u, &n))
		n = 0;
	free(text);
	return n;
}

/* Some hypervisors offer the event and never count. */
static bool cycles_count(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = event_open(&attr, 0, -1);
	u64 n = 0, begin = mono_ns();

	if (fd < 0)
		return false;
	while (mono_ns() - begin < TRY_NS)
		;
	if (read(fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	close(fd);
	return n > 0;
}

static void event_attr(struct perf_event_attr *attr, bool cycles, u32 hz)
{
	*attr = (struct perf_event_attr){
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(*attr),
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
		.exclude_idle = !cycles, /* an idle CPU has no cycles, but its clock goes on */
	};
}

static const char *remedy(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return " (it needs root, or CAP_PERFMON)";
	case -EMFILE:
		return " (raise the limit of open files: ulimit -n)";
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return " (this kernel has no perf events: CONFIG_PERF_EVENTS)";
	default:
		return "";
	}
}

static void complain(struct recording *rec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void complain(struct recording *rec, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	log_warn("%s", buf);
	recording__warn(rec, "%s", buf);
}

/* One CPU. The kernel refuses a rate above its own limit, which it lowers itself when sampling takes
 * too long: then that limit is the rate. */
static int open_cpu(struct perfev *ev, struct perf_event_attr *attr, int cpu, struct recording *rec)
{
	u64 max = perfev_sysctl("perf_event_max_sample_rate");
	int fd = event_open(attr, -1, cpu);

	if (fd != -EINVAL || !max || max >= attr->sample_freq)
		return fd;
	complain(rec,
		 "CPU samples are taken at %llu Hz, not at %u: kernel.perf_event_max_sample_rate "
		 "does not allow more",
		 max, ev->hz);
	ev->hz = (u32)max;
	attr->sample_freq = max;
	return event_open(attr, -1, cpu);
}

static int attach_cpu(struct perfev *ev, const struct bpf_program *prog, int fd)
{
	struct bpf_link *l = bpf_program__attach_perf_event(prog, fd);

	if (!l) {
		int err = -errno;

		close(fd);
		return err;
	}
	ev->link[ev->nr_links++] = l; /* the fd is the link's */
	return 0;
}

/* All CPUs; the first error, and how many had one. Those that are offline have none. */
static int open_all(struct perfev *ev, const struct bpf_program *prog, bool cycles, int cpus,
		    u32 *failed, struct recording *rec)
{
	struct perf_event_attr attr;
	int first = 0;

	*failed = 0;
	event_attr(&attr, cycles, ev->hz);
	for (int cpu = 0; cpu < cpus; cpu++) {
		int err = open_cpu(ev, &attr, cpu, rec);

		if (err == -ENODEV)
			continue;
		if (err >= 0)
			err = attach_cpu(ev, prog, err);
		first = first ? first : err;
		*failed += err != 0;
	}
	return first;
}

void perfev__init(struct perfev *ev)
{
	*ev = (struct perfev){0};
}

int perfev__open(struct perfev *ev, const struct bpf_program *prog, u32 hz, struct recording *rec)
{
	int cpus = libbpf_num_possible_cpus(), err;
	bool cycles = cycles_count();
	u32 failed;

	ev->link = cpus > 0 ? array_alloc((size_t)cpus, sizeof(*ev->link)) : NULL;
	if (!ev->link)
		return -ENOMEM;
	ev->hz = hz;
	err = open_all(ev, prog, cycles, cpus, &failed, rec);
	if (cycles && !ev->nr_links) {
		/* Others hold the counters. */
		log_info("cycles cannot be sampled (%s): taking the CPU clock", strerror(-err));
		cycles = false;
		err = open_all(ev, prog, cycles, cpus, &failed, rec);
	}
	if (ev->nr_links)
		ev->name = cycles ? "cycles" : "cpu-clock";
	if (ev->nr_links && failed)
		complain(rec, "no CPU samples of %u CPUs: %s%s", failed, strerror(-err),
			 remedy(err));
	else if (failed)
		complain(rec, "no CPU samples: %s%s", strerror(-err), remedy(err));
	return 0;
}

void perfev__close(struct perfev *ev)
{
	for (u32 i = 0; i < ev->nr_links; i++)
		bpf_link__destroy(ev->link[i]);
	free(ev->link);
	ev->link = NULL;
	ev->nr_links = 0;
}
