// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_run.c - readings at the start, each second and at the end, and what differs between them.
 *
 * A suspend is what CLOCK_BOOTTIME has and CLOCK_MONOTONIC has not (clock_gettime(2)). A hypervisor
 * that stops the whole guest is in neither: it shows at most as stolen time, /proc/stat's eighth
 * number (proc(5)), where the hypervisor tells it.
 */
#include "capture/host_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/host_cgroup.h"
#include "capture/hostfile.h"
#include "util/units.h"

#define MAX_GROUPS     64
#define STAT_FIELDS    8  /* user nice system idle iowait irq softirq steal */
#define MIN_TICKS      50 /* of all CPUs: below, a share of them is noise */
#define STEAL_DOUBTFUL 0.01
#define SUSPEND_NS     1000000 /* the two clocks are read one after the other */

enum stat_field { STAT_IDLE = 3, STAT_IOWAIT = 4, STAT_STEAL = 7 };

/* What should stay as it is. */
struct watched {
	char first[128], last[128]; /* "": not there */
	u32 changes;
};

static const struct {
	const char *name, *path, *unit;
} watched_files[] = {
	{"clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", ""},
	{"CPUs online", HOST_CPU_DIR "/online", ""},
	{"governor", HOST_CPU_DIR "/cpu0/cpufreq/scaling_governor", ""},
	{"frequency limit", HOST_CPU_DIR "/cpu0/cpufreq/scaling_max_freq", " kHz"},
};

#define NR_WATCHED  (sizeof(watched_files) / sizeof(watched_files[0]))
#define CLOCKSOURCE 0 /* of these */

struct group {
	struct cgroup_cpu at;
	struct cgroup_quota first, last;
};

struct reading {
	u64 ticks[STAT_FIELDS];
	bool has_ticks;
	u64 asleep_ns;
	char load[32]; /* "": not there */
	struct text mhz;
};

struct host_run {
	struct host host;
	struct reading begin;
	struct watched watched[NR_WATCHED];
	struct group group[MAX_GROUPS];
	u32 nr_groups;
	u32 lost_groups; /* processes whose group was not found, or found no room */
};

/* ---- readings ---- */

static bool read_ticks(const struct host *h, u64 out[STAT_FIELDS])
{
	char *s = host__line(h, "/proc/stat"), *at = s, *end;
	bool ok = s && !strncmp(s, "cpu ", 4);

	at = ok ? s + 4 : NULL;
	for (u32 i = 0; ok && i < STAT_FIELDS; i++) {
		out[i] = strtoull(at, &end, 10);
		ok = end != at;
		at = end;
	}
	free(s);
	return ok;
}

static u64 clock_ns(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void read_all(struct host_run *run, struct reading *out)
{
	struct host fresh = run->host;
	char *load = host__line(&fresh, "/proc/loadavg");
	u64 mono = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);

	*out = (struct reading){.asleep_ns = boot > mono ? boot - mono : 0};
	out->has_ticks = read_ticks(&fresh, out->ticks);
	if (load)
		snprintf(out->load, sizeof(out->load), "%.*s", (int)strcspn(load, " "), load);
	free(load);
	/* The frequency in it is that of the moment. */
	fresh.cpuinfo = host__text(&fresh, "/proc/cpuinfo");
	host__frequency_now(&fresh, &out->mhz);
	free(fresh.cpuinfo);
}

static void watch(struct host_run *run, bool first)
{
	for (size_t i = 0; i < NR_WATCHED; i++) {
		struct watched *w = &run->watched[i];
		char *s = host__line(&run->host, "%s", watched_files[i].path), now[128];

		snprintf(now, sizeof(now), "%s", s ? s : "");
		free(s);
		if (first)
			memcpy(w->first, now, sizeof(now));
		else if (strcmp(w->last, now))
			w->changes++;
		memcpy(w->last, now, sizeof(now));
	}
}

int host_run__new(const char *root, struct host_run **out)
{
	struct host_run *run = calloc(1, sizeof(*run));

	if (!run)
		return -ENOMEM;
	host__open(&run->host, root);
	read_all(run, &run->begin);
	watch(run, true);
	*out = run;
	return 0;
}

void host_run__target(struct host_run *run, pid_t pid)
{
	struct group g = {0};

	if (!cgroup_cpu__find(&run->host, pid, &g.at) ||
	    !cgroup_cpu__read(&run->host, &g.at, &g.first)) {
		run->lost_groups++;
		return;
	}
	for (u32 i = 0; i < run->nr_groups; i++)
		if (!strcmp(run->group[i].at.dir, g.at.dir))
			return;
	if (run->nr_groups == MAX_GROUPS) {
		run->lost_groups++;
		return;
	}
	g.last = g.first;
	run->group[run->nr_groups++] = g;
}

void host_run__tick(struct host_run *run)
{
	struct cgroup_quota now;

	watch(run, false);
	/* A group that has gone keeps its last numbers. */
	for (u32 i = 0; i < run->nr_groups; i++)
		if (cgroup_cpu__read(&run->host, &run->group[i].at, &now))
			run->group[i].last = now;
}

/* ---- facts ---- */

static void fact_clocks(const struct host_run *run, struct text *t)
{
	const struct watched *w = &run->watched[CLOCKSOURCE];

	if (!*w->first || !*w->last)
		text_set(t, "n/a (no clocksource in /sys)");
	else if (w->changes)
		text_set(t, "%s at the start, %s at the end, %u change%s", w->first, w->last,
			 w->changes, w->changes == 1 ? "" : "s");
	else
		text_set(t, "%s from start to end", w->first);
}

static void add_change(const struct host_run *run, size_t i, struct text *t)
{
	const struct watched *w = &run->watched[i];
	const char *unit = watched_files[i].unit;
	const char *last = *w->last ? w->last : "none";

	text_append(t, "%s%s", *t->s ? "; " : "", watched_files[i].name);
	if (!strcmp(w->first, w->last))
		text_append(t, " changed and came back to %s%s", last, unit);
	else
		text_append(t, " changed from %s%s to %s%s", *w->first ? w->first : "none", unit,
			    last, unit);
}

static void fact_changes(const struct host_run *run, struct text *t)
{
	t->s[0] = '\0';
	for (size_t i = 0; i < NR_WATCHED; i++)
		if (run->watched[i].changes)
			add_change(run, i, t);
	if (!*t->s)
		text_set(t, "none seen of clock source, CPUs online, governor, frequency limit");
}

/* The shares of the CPUs' time that were not idle, and that were stolen. False: too short a time. */
static bool shares(const struct reading *a, const struct reading *b, double *busy, double *steal)
{
	u64 d[STAT_FIELDS], all = 0;

	if (!a->has_ticks || !b->has_ticks)
		return false;
	for (u32 i = 0; i < STAT_FIELDS; i++) {
		/* The counters of a CPU that goes off may step back. */
		d[i] = b->ticks[i] > a->ticks[i] ? b->ticks[i] - a->ticks[i] : 0;
		all += d[i];
	}
	if (all < MIN_TICKS)
		return false;
	*busy = (double)(all - d[STAT_IDLE] - d[STAT_IOWAIT] - d[STAT_STEAL]) / (double)all;
	*steal = (double)d[STAT_STEAL] / (double)all;
	return true;
}

static void fact_load(const struct reading *a, const struct reading *b, struct text *t)
{
	if (*a->load && *b->load)
		text_set(t, "%s at the start, %s at the end (average of a minute)", a->load,
			 b->load);
	else
		text_set(t, "n/a (no /proc/loadavg)");
}

static void fact_quota(const struct host_run *run, struct text *t)
{
	t->s[0] = '\0';
	for (u32 i = 0; i < run->nr_groups; i++) {
		const struct group *g = &run->group[i];

		if (g->last.cpus > 0)
			text_append(t, "%s%.2f CPUs%s", *t->s ? "; " : "", g->last.cpus,
				    g->first.cpus == g->last.cpus ? "" : " (changed)");
	}
	if (*t->s)
		return;
	if (run->lost_groups || !run->nr_groups)
		text_set(t, "n/a (the target's control group was not found)");
	else
		text_set(t, "none");
}

/* Of all groups. False: none has a quota. */
static bool throttling(const struct host_run *run, u64 *times, u64 *ns)
{
	bool any = false;

	*times = *ns = 0;
	for (u32 i = 0; i < run->nr_groups; i++) {
		const struct group *g = &run->group[i];

		any |= g->last.cpus > 0;
		if (g->last.throttled > g->first.throttled)
			*times += g->last.throttled - g->first.throttled;
		if (g->last.throttled_ns > g->first.throttled_ns)
			*ns += g->last.throttled_ns - g->first.throttled_ns;
	}
	return any;
}

static int add_shares(const struct host_run *run, const struct reading *end, struct recording *r)
{
	double busy, steal;
	struct text t;
	int err;

	if (!shares(&run->begin, end, &busy, &steal)) {
		text_set(&t, "n/a (%s)",
			 end->has_ticks ? "the recording is too short" : "no /proc/stat");
		err = m_host__add(&r->host, "run_busy", t.s);
		return err ? err : m_host__add(&r->host, "run_steal", t.s);
	}
	text_set(&t, "%.1f%% of all CPUs", busy * 100);
	err = m_host__add(&r->host, "run_busy", t.s);
	text_set(&t, "%.1f%%%s", steal * 100,
		 run->host.guest ? " (as far as the hypervisor tells)" : "");
	if (!err)
		err = m_host__add(&r->host, "run_steal", t.s);
	if (!err && steal > STEAL_DOUBTFUL)
		err = recording__warn(
			r,
			"the hypervisor gave %.1f%% of the CPUs' time to others while "
			"recording: latencies contain it",
			steal * 100);
	return err;
}

static int add_suspend(const struct host_run *run, const struct reading *end, struct recording *r)
{
	u64 ns = end->asleep_ns > run->begin.asleep_ns ? end->asleep_ns - run->begin.asleep_ns : 0;
	char buf[32];
	int err;

	if (ns < SUSPEND_NS)
		return m_host__add(&r->host, "run_suspended", "no");
	format_ns(buf, sizeof(buf), ns);
	err = m_host__add(&r->host, "run_suspended", buf);
	if (err)
		return err;
	return recording__warn(r,
			       "the machine was suspended for %s while recording: frequency and "
			       "caches are others before and after",
			       buf);
}

static int add_quota(const struct host_run *run, struct recording *r)
{
	char ns_text[32], count[32];
	struct text t;
	u64 times, ns;
	int err;

	fact_quota(run, &t);
	err = m_host__add(&r->host, "run_cpu_quota", t.s);
	if (err || !throttling(run, &times, &ns))
		return err;
	text_set(&t, "%s times, %s", format_count(count, sizeof(count), times),
		 format_ns(ns_text, sizeof(ns_text), ns));
	err = m_host__add(&r->host, "run_throttled", t.s);
	if (err || !times)
		return err;
	return recording__warn(
		r,
		"the target's CPU quota stopped it %s times, for %s in all: latencies "
		"contain it",
		count, ns_text);
}

int host_run__warn(const struct host_run *run, struct recording *r)
{
	struct text t;
	int err = 0;

	for (size_t i = 0; run && !err && i < NR_WATCHED; i++) {
		if (!run->watched[i].changes)
			continue;
		text_set(&t, "%s", "");
		add_change(run, i, &t);
		err = recording__warn(
			r, "%s while recording: what was measured before and after is not the same",
			t.s);
	}
	return err;
}

static int add_changes(const struct host_run *run, struct recording *r)
{
	struct text t;
	int err;

	fact_clocks(run, &t);
	err = m_host__add(&r->host, "run_clocksource", t.s);
	fact_changes(run, &t);
	if (!err)
		err = m_host__add(&r->host, "run_changes", t.s);
	return err ? err : host_run__warn(run, r);
}

int host_run__facts(struct host_run *run, struct recording *r)
{
	struct reading end;
	struct text t;
	int err;

	if (!run)
		return 0;
	host_run__tick(run);
	read_all(run, &end);
	err = add_changes(run, r);
	text_set(&t, "%s at the start, %s at the end", run->begin.mhz.s, end.mhz.s);
	if (!strcmp(run->begin.mhz.s, end.mhz.s))
		t = end.mhz;
	if (!err)
		err = m_host__add(&r->host, "run_frequency_mhz", t.s);
	fact_load(&run->begin, &end, &t);
	if (!err)
		err = m_host__add(&r->host, "run_load", t.s);
	err = err ? err : add_shares(run, &end, r);
	err = err ? err : add_suspend(run, &end, r);
	return err ? err : add_quota(run, r);
}

void host_run__free(struct host_run *run)
{
	if (run)
		host__close(&run->host);
	free(run);
}
