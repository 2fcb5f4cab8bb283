// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_cgroup.c - from /proc/PID/cgroup to quota and throttling. A quota of any level around a process
 * stops it, so all levels up to the mount are read; the root has none.
 */
#include "capture/host_cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"

/* Where the hierarchies are mounted. Beside version 1, version 2 has no controllers. */
static const char *const v2_tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
static const char *const v1_tops[] = {"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"};

/* Is `name` among the comma separated controllers in [s, end)? */
static bool has_controller(const char *s, const char *end, const char *name)
{
	size_t len = strlen(name);

	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);

		if (n == len && !memcmp(s, name, n))
			return true;
		s = comma ? comma + 1 : end;
	}
	return false;
}

/* The path of the line "ID:CONTROLLERS:PATH" of the hierarchy; controller "" is version 2's. */
static bool path_of(const char *text, const char *controller, char *out, size_t len)
{
	for (const char *line = text; *line;) {
		const char *end = line + strcspn(line, "\n");
		const char *a = memchr(line, ':', (size_t)(end - line));
		const char *b = a ? memchr(a + 1, ':', (size_t)(end - a - 1)) : NULL;

		if (b && (*controller ? has_controller(a + 1, b, controller) : b == a + 1)) {
			int n = snprintf(out, len, "%.*s", (int)(end - b - 1), b + 1);

			return n > 0 && (size_t)n < len && *out == '/';
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

/* The group's folder, if it is there. "/" is the mount itself. */
static bool try_top(const struct host *h, const char *top, const char *path, const char *file,
		    struct cgroup_cpu *out)
{
	char probe[400];
	int n = snprintf(out->dir, sizeof(out->dir), "%s%s", top, path[1] ? path : "");

	if (n < 0 || (size_t)n >= sizeof(out->dir))
		return false;
	snprintf(out->top, sizeof(out->top), "%s", top);
	snprintf(probe, sizeof(probe), "%s/%s", out->dir, file);
	return host__exists(h, probe);
}

static bool find_in(const struct host *h, const char *text, struct cgroup_cpu *out)
{
	char path[192];

	out->v2 = false;
	if (path_of(text, "cpu", path, sizeof(path)))
		for (size_t i = 0; i < sizeof(v1_tops) / sizeof(v1_tops[0]); i++)
			if (try_top(h, v1_tops[i], path, "cpu.cfs_quota_us", out) ||
			    try_top(h, v1_tops[i], path, "cgroup.procs", out))
				return true;
	out->v2 = true;
	if (path_of(text, "", path, sizeof(path)))
		for (size_t i = 0; i < sizeof(v2_tops) / sizeof(v2_tops[0]); i++)
			if (try_top(h, v2_tops[i], path, "cgroup.procs", out))
				return true;
	return false;
}

bool cgroup_cpu__find(const struct host *h, pid_t pid, struct cgroup_cpu *out)
{
	char *text = host__text(h, "/proc/%d/cgroup", (int)pid);
	bool found;

	*out = (struct cgroup_cpu){0};
	found = text && find_in(h, text, out);
	if (!found)
		out->dir[0] = '\0';
	free(text);
	return found;
}

/* "max 100000", "150000 100000". False: no quota. */
static bool quota_v2(const struct host *h, const char *dir, double *cpus)
{
	char *s = host__line(h, "%s/cpu.max", dir), *blank = s ? strchr(s, ' ') : NULL;
	u64 quota, period;
	bool ok = false;

	if (blank) {
		*blank = '\0';
		ok = !parse_u64(s, ~0ULL, &quota) && !parse_u64(blank + 1, ~0ULL, &period) &&
		     period;
		if (ok)
			*cpus = (double)quota / (double)period;
	}
	free(s);
	return ok;
}

/* -1 is no quota, and no number that parse_u64() takes. */
static bool quota_v1(const struct host *h, const char *dir, double *cpus)
{
	u64 quota, period;

	if (!host__u64(h, &quota, "%s/cpu.cfs_quota_us", dir) ||
	    !host__u64(h, &period, "%s/cpu.cfs_period_us", dir) || !period)
		return false;
	*cpus = (double)quota / (double)period;
	return true;
}

/* The number behind "key " at the beginning of a line. */
static u64 stat_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; *line;) {
		const char *end = line + strcspn(line, "\n");

		if (!strncmp(line, key, len) && line[len] == ' ')
			return strtoull(line + len + 1, NULL, 10);
		line = *end ? end + 1 : end;
	}
	return 0;
}

static u64 add_capped(u64 a, u64 b)
{
	return a > ~0ULL - b ? ~0ULL : a + b;
}

static void add_level(const struct host *h, const struct cgroup_cpu *g, const char *dir,
		      struct cgroup_quota *out)
{
	double cpus;
	char *stat;
	u64 usec;

	if (!(g->v2 ? quota_v2(h, dir, &cpus) : quota_v1(h, dir, &cpus)))
		return;
	if (!(out->cpus > 0) || cpus < out->cpus)
		out->cpus = cpus;
	stat = host__text(h, "%s/cpu.stat", dir);
	if (!stat)
		return;
	out->throttled = add_capped(out->throttled, stat_value(stat, "nr_throttled"));
	usec = stat_value(stat, "throttled_usec");
	out->throttled_ns = add_capped(out->throttled_ns,
				       usec > ~0ULL / 1000 ? ~0ULL : usec * 1000);
	out->throttled_ns = add_capped(out->throttled_ns, stat_value(stat, "throttled_time"));
	free(stat);
}

bool cgroup_cpu__read(const struct host *h, const struct cgroup_cpu *g, struct cgroup_quota *out)
{
	char dir[sizeof(g->dir)];
	size_t top = strlen(g->top);

	*out = (struct cgroup_quota){0};
	if (!*g->dir || !host__exists(h, g->dir))
		return false;
	snprintf(dir, sizeof(dir), "%s", g->dir);
	while (strlen(dir) > top) {
		char *slash = strrchr(dir, '/');

		add_level(h, g, dir, out);
		if (!slash)
			break;
		*slash = '\0';
	}
	return true;
}
