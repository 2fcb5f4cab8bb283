// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * counters.c - see counters.h. Man page: perf_event_open(2). The names are those of perf(1),
 * tools/perf/util/parse-events.c of Linux 6.1.
 *
 * That an event can be opened says little: emulators and hypervisors offer events that never count, and
 * a raw event that the CPU does not have opens and stays at 0. So each is tried on some work first.
 */
#include "trace/counters.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hbprof.skel.h"
#include "util/array.h"
#include "util/fsutil.h"
#include "util/units.h"

#define WORK_BYTES    (8u << 20) /* more than most caches that one core has to itself */
#define LINE	      64
#define MHZ_NOT_KNOWN 6000 /* more than any CPU that is sold */
#define MAX_THREADS   16384
#define PER_CYCLE     8 /* events in one cycle: the widest cores retire 8 instructions */

#define HW(n)	      PERF_TYPE_HARDWARE, PERF_COUNT_HW_##n
#define CACHE(c, op, r)                                                                  \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				    PERF_COUNT_HW_CACHE_RESULT_##r << 16

static const struct known {
	const char *name;
	u8 kind;
	u32 type;
	u64 config;
} known[] = {
	{"cycles", HB_CTR_PERF, HW(CPU_CYCLES)},
	{"instructions", HB_CTR_PERF, HW(INSTRUCTIONS)},
	{"cache-references", HB_CTR_PERF, HW(CACHE_REFERENCES)},
	{"cache-misses", HB_CTR_PERF, HW(CACHE_MISSES)},
	{"branches", HB_CTR_PERF, HW(BRANCH_INSTRUCTIONS)},
	{"branch-misses", HB_CTR_PERF, HW(BRANCH_MISSES)},
	{"bus-cycles", HB_CTR_PERF, HW(BUS_CYCLES)},
	{"ref-cycles", HB_CTR_PERF, HW(REF_CPU_CYCLES)},
	{"stalled-cycles-frontend", HB_CTR_PERF, HW(STALLED_CYCLES_FRONTEND)},
	{"stalled-cycles-backend", HB_CTR_PERF, HW(STALLED_CYCLES_BACKEND)},
	{"L1-dcache-loads", HB_CTR_PERF, CACHE(L1D, READ, ACCESS)},
	{"L1-dcache-load-misses", HB_CTR_PERF, CACHE(L1D, READ, MISS)},
	{"L1-icache-load-misses", HB_CTR_PERF, CACHE(L1I, READ, MISS)},
	{"LLC-loads", HB_CTR_PERF, CACHE(LL, READ, ACCESS)},
	{"LLC-load-misses", HB_CTR_PERF, CACHE(LL, READ, MISS)},
	{"dTLB-load-misses", HB_CTR_PERF, CACHE(DTLB, READ, MISS)},
	{"iTLB-load-misses", HB_CTR_PERF, CACHE(ITLB, READ, MISS)},
	{"on-cpu", HB_CTR_ON_CPU, 0, 0},
	{"waiting", HB_CTR_WAITING, 0, 0},
	{"blocked", HB_CTR_BLOCKED, 0, 0},
	{"task-clock", HB_CTR_CLOCK, 0, 0},
	{"page-faults", HB_CTR_FAULTS, 0, 0},
	{"context-switches", HB_CTR_SWITCHES, 0, 0},
};

const char *counter_name(u32 i)
{
	return i < sizeof(known) / sizeof(known[0]) ? known[i].name : NULL;
}

/* ---- the list ----------------------------------------------------------------------------- */

/* "r1a8": the CPU's own number of an event, in hexadecimal. */
static bool is_raw(const char *name, u64 *config)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]) || strlen(name) > 17)
		return false;
	errno = 0;
	*config = strtoull(name + 1, &end, 16);
	return !errno && !*end;
}

static bool counter__find(struct counter *c, const char *name)
{
	for (u32 i = 0; counter_name(i); i++) {
		if (strcasecmp(name, known[i].name))
			continue;
		*c = (struct counter){
			.kind = known[i].kind, .type = known[i].type, .config = known[i].config};
		snprintf(c->name, sizeof(c->name), "%s", known[i].name);
		return true;
	}
	*c = (struct counter){.kind = HB_CTR_PERF, .type = PERF_TYPE_RAW};
	if (!is_raw(name, &c->config))
		return false;
	/* However it is written, one number is one counter: r010, r10. */
	snprintf(c->name, sizeof(c->name), "r%llx", c->config);
	return true;
}

static int counters__add(struct counters *c, const char *name, char *why, size_t len)
{
	struct counter one;

	if (!counter__find(&one, name)) {
		snprintf(why, len, "there is no counter '%.40s' (hbprof(1) lists them)", name);
		return -EINVAL;
	}
	for (u32 i = 0; i < c->nr; i++) {
		if (strcmp(c->v[i].name, one.name))
			continue;
		if (strcmp(one.name, name))
			snprintf(why, len, "the counter '%s' is named twice, once as '%.40s'",
				 one.name, name);
		else
			snprintf(why, len, "the counter '%s' is named twice", name);
		return -EINVAL;
	}
	if (c->nr == HB_CTRS) {
		snprintf(why, len, "more than %d counters at once", HB_CTRS);
		return -EINVAL;
	}
	c->v[c->nr++] = one;
	return 0;
}

int counters__parse(struct counters *c, const char *list, char *why, size_t len)
{
	char *copy = strdup(list), *rest = copy, *name;
	int err = 0;

	*c = (struct counters){0};
	if (!copy) {
		snprintf(why, len, "out of memory");
		return -ENOMEM;
	}
	if (!strcmp(list, "none"))
		rest = NULL;
	while (!err && (name = strsep(&rest, ",")))
		err = counters__add(c, name, why, len);
	free(copy);
	return err;
}

int counters__add_sched(struct counters *c, char *why, size_t len)
{
	static const char *const names[] = {"on-cpu", "waiting", "blocked"};
	int err = 0;

	for (u32 i = 0; i < 3 && !err; i++) {
		bool there = false;

		for (u32 k = 0; k < c->nr; k++)
			there |= !strcmp(c->v[k].name, names[i]);
		err = there ? 0 : counters__add(c, names[i], why, len);
	}
	return err;
}

/* ---- does it count? ----------------------------------------------------------------------- */

static int event_open(const struct counter *c, pid_t pid, int cpu, int leader)
{
	struct perf_event_attr attr = {
		.type = c->type,
		.size = sizeof(attr),
		.config = c->config,
		.exclude_kernel = 1, /* hbprof's handlers run there */
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Something for each event: lines that are in no cache yet, and branches that nobody can foretell. */
static void work(void)
{
	static volatile u8 mem[WORK_BYTES];
	u32 x = 1;

	for (u32 i = 0; i < WORK_BYTES; i += LINE) {
		x = x * 1664525 + 1013904223;
		if (x & 1u << 30)
			mem[x % WORK_BYTES]++;
		else
			mem[i]--;
	}
}

static void lacks(struct counter *c, const char *why)
{
	c->kind = HB_CTR_NONE;
	snprintf(c->lack, sizeof(c->lack), "%s", why);
}

static void explain(struct counter *c, int err)
{
	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP || err == -EINVAL)
		lacks(c, "this CPU, or the hypervisor, has no such counter");
	else if (err == -EACCES || err == -EPERM)
		lacks(c, "not permitted: needs root, or CAP_PERFMON");
	else if (err == -EMFILE)
		lacks(c, "too many open files: raise the limit, ulimit -n");
	else
		lacks(c, strerror(-err));
}

void counter_try(struct counter *c)
{
	struct {
		u64 value, enabled, running;
	} got = {0};
	int fd;

	if (c->kind != HB_CTR_PERF)
		return;
	fd = event_open(c, 0, -1, -1);
	if (fd < 0) {
		explain(c, fd);
		return;
	}
	work();
	if (read(fd, &got, sizeof(got)) != sizeof(got))
		lacks(c, "opens, but cannot be read");
	else if (!got.running)
		lacks(c, "never got onto the CPU: others hold the counters");
	else if (!got.value)
		lacks(c, "opens, but stays at 0: not counted here");
	close(fd);
}

/* ---- the events of each CPU --------------------------------------------------------------- */

static u32 max_mhz(void)
{
	u64 khz = 0;
	char *text;
	size_t len;

	if (fs_read_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", 64, &text, &len))
		return MHZ_NOT_KNOWN;
	text[strcspn(text, "\n")] = '\0';
	if (parse_u64(text, 20000000, &khz) || khz < 100000)
		khz = MHZ_NOT_KNOWN * 1000;
	free(text);
	/* Some drivers leave the turbo out of it. */
	return (u32)(khz / 1000 + khz / 2000);
}

static bool is_cycles(const struct counter *c)
{
	return c->type == PERF_TYPE_HARDWARE && c->config == PERF_COUNT_HW_CPU_CYCLES;
}

/* The soft limit of open files is for who still uses select(). */
static void raise_nofile(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

static void drop_counter(struct counters *c, u32 i)
{
	for (u32 cpu = 0; cpu < c->nr_cpus; cpu++) {
		int *fd = &c->fd[i * c->nr_cpus + cpu];

		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

/* CPUs that are offline have none. Instructions go onto the hardware together with cycles, where that is
 * possible: their quotient is then one of the same calls. */
static void open_cpus(struct counters *c, u32 i)
{
	struct counter *k = &c->v[i];
	bool follows = i && k->type == PERF_TYPE_HARDWARE &&
		       k->config == PERF_COUNT_HW_INSTRUCTIONS && is_cycles(&c->v[i - 1]) &&
		       c->v[i - 1].kind == HB_CTR_PERF;
	u32 nr = 0;
	int err = 0;

	for (u32 cpu = 0; cpu < c->nr_cpus && !err; cpu++) {
		int leader = follows ? c->fd[(i - 1) * c->nr_cpus + cpu] : -1;
		int fd = event_open(k, -1, (int)cpu, leader);

		if (fd < 0 && leader >= 0)
			fd = event_open(k, -1, (int)cpu, -1);
		if (fd == -ENODEV)
			continue;
		if (fd < 0) {
			err = fd;
			break;
		}
		c->fd[i * c->nr_cpus + cpu] = fd;
		nr++;
	}
	if (!err && nr)
		return;
	drop_counter(c, i);
	explain(k, err ? err : -ENODEV);
}

int counters__open(struct counters *c)
{
	int cpus = libbpf_num_possible_cpus();
	u32 mhz = max_mhz();

	c->nr_cpus = cpus > 0 ? (u32)cpus : 1;
	c->fd = array_alloc((size_t)c->nr_cpus * HB_CTRS, sizeof(*c->fd));
	if (!c->fd)
		return -ENOMEM;
	memset(c->fd, 0xff, (size_t)c->nr_cpus * HB_CTRS * sizeof(*c->fd));
	raise_nofile();
	for (u32 i = 0; i < c->nr; i++) {
		struct counter *k = &c->v[i];

		k->per_us = is_cycles(k) ? mhz : mhz * PER_CYCLE;
		counter_try(k);
		if (k->kind == HB_CTR_PERF)
			open_cpus(c, i);
	}
	return 0;
}

/* The programs that see context switches are loaded where something asks for them. */
static void prepare_sched(const struct counters *c, struct hbprof_bpf *skel)
{
	bool sched = false, events = false;

	for (u32 i = 0; i < c->nr; i++) {
		sched |= c->v[i].kind >= HB_CTR_ON_CPU;
		events |= c->v[i].kind == HB_CTR_PERF;
	}
	skel->rodata->cfg_sched = sched;
	skel->rodata->cfg_ctr_own = sched && events;
	bpf_program__set_autoload(skel->progs.hb_switch, sched);
	bpf_program__set_autoload(skel->progs.hb_wakeup, sched);
	bpf_map__set_max_entries(skel->maps.threads, sched ? MAX_THREADS : 1);
	/* Where the thread's time on the CPU is known, it is the task's clock in every call. */
	for (u32 i = 0; sched && i < c->nr; i++)
		if (c->v[i].kind == HB_CTR_CLOCK)
			skel->rodata->cfg_ctr_kind[i] = HB_CTR_ON_CPU;
}

void counters__prepare(const struct counters *c, struct hbprof_bpf *skel, u32 max_tasks)
{
	bool any = false;

	for (u32 i = 0; i < c->nr; i++) {
		skel->rodata->cfg_ctr_kind[i] = c->v[i].kind;
		skel->rodata->cfg_ctr_per_us[i] = c->v[i].per_us;
		any |= c->v[i].kind != HB_CTR_NONE;
	}
	prepare_sched(c, skel);
	if (!any)
		return;
	skel->rodata->cfg_nr_ctrs = c->nr;
	skel->rodata->cfg_ctr_cpus = c->nr_cpus;
	bpf_map__set_max_entries(skel->maps.ctr_tasks, max_tasks);
	bpf_map__set_max_entries(skel->maps.ctr_events, HB_CTRS * c->nr_cpus);
}

static int attach_sched(struct counters *c, struct hbprof_bpf *skel)
{
	const struct bpf_program *prog[] = {skel->progs.hb_switch, skel->progs.hb_wakeup};

	for (u32 i = 0; i < 2; i++) {
		c->link[i] = bpf_program__attach(prog[i]);
		if (!c->link[i])
			return -errno;
	}
	return 0;
}

int counters__install(struct counters *c, struct hbprof_bpf *skel)
{
	int map = bpf_map__fd(skel->maps.ctr_events);

	for (u32 i = 0; c->fd && i < c->nr * c->nr_cpus; i++)
		if (c->fd[i] >= 0 && bpf_map_update_elem(map, &i, &c->fd[i], BPF_ANY))
			return -errno;
	return skel->rodata->cfg_sched ? attach_sched(c, skel) : 0;
}

void counters__close(struct counters *c)
{
	for (u32 i = 0; c->fd && i < c->nr; i++)
		drop_counter(c, i);
	for (u32 i = 0; i < 2; i++)
		bpf_link__destroy(c->link[i]);
	free(c->fd);
	*c = (struct counters){0};
}
