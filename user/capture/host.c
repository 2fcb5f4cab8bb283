// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host.c - facts of the machine from /proc and /sys. Each fact is a small function that fills a
 * text; whatever it cannot find it says in the text. Documentation/ABI of the kernel and proc(5)
 * name the files.
 */
#include "capture/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/hostfile.h"
#include "util/units.h"

static void fact_arch(const struct host *h, struct text *t)
{
	struct utsname u;

	if (uname(&u))
		text_set(t, "n/a (%s)", strerror(errno));
	else
		text_set(t, "%s", u.machine);
}

static void fact_list(const struct host *h, struct text *t, const char *path)
{
	char *s = host__line(h, "%s", path);
	u32 first, n = s ? cpulist_count(s, &first) : 0;

	if (n)
		text_set(t, "%u", n);
	else
		text_set(t, "n/a (%s cannot be read)", path);
	free(s);
}

static void fact_cpus_online(const struct host *h, struct text *t)
{
	fact_list(h, t, "/sys/devices/system/cpu/online");
}

static void fact_numa_nodes(const struct host *h, struct text *t)
{
	fact_list(h, t, "/sys/devices/system/node/online");
}

/* ---- kernel ---- */

static void fact_kernel(const struct host *h, struct text *t)
{
	char *release = host__line(h, "/proc/sys/kernel/osrelease");
	char *version = host__line(h, "/proc/sys/kernel/version");

	if (release)
		text_set(t, "%s%s%s", release, version ? " " : "", version ? version : "");
	else
		text_set(t, "n/a (/proc/sys/kernel/osrelease cannot be read)");
	free(release);
	free(version);
}

static void fact_clocksource(const struct host *h, struct text *t)
{
	char *s = host__line(h, "/sys/devices/system/clocksource/clocksource0/current_clocksource");

	text_set(t, "%s", s ? s : "n/a (no clocksource in /sys)");
	free(s);
}

static void fact_memory(const struct host *h, struct text *t)
{
	char *s = host__line(h, "/proc/meminfo"), buf[32];
	const char *digits;
	u64 kb;

	digits = s && !strncmp(s, "MemTotal:", 9) ? s + 9 + strspn(s + 9, " ") : "";
	kb = strtoull(digits, NULL, 10);
	if (kb && kb < ~0ULL / 1024)
		text_set(t, "%s", format_bytes(buf, sizeof(buf), kb * 1024));
	else
		text_set(t, "n/a (no MemTotal in /proc/meminfo)");
	free(s);
}

static const struct {
	const char *key;
	void (*fill)(const struct host *h, struct text *t);
} facts[] = {
	{"cpu_model", fact_cpu_model},
	{"cpu_generation", fact_cpu_generation},
	{"arch", fact_arch},
	{"cpus_online", fact_cpus_online},
	{"cores", fact_cores},
	{"sockets", fact_sockets},
	{"numa_nodes", fact_numa_nodes},
	{"smt", fact_smt},
	{"caches", fact_caches},
	{"governor", fact_governor},
	{"frequency_mhz", fact_frequency},
	{"memory", fact_memory},
	{"kernel", fact_kernel},
	{"clocksource", fact_clocksource},
	{"virtualization", fact_virtualization},
};

int host__read(const char *root, struct m_host *out)
{
	struct host h;
	struct text t;
	int err = 0;

	host__open(&h, root);
	for (size_t i = 0; !err && i < sizeof(facts) / sizeof(facts[0]); i++) {
		facts[i].fill(&h, &t);
		err = m_host__add(out, facts[i].key, t.s);
	}
	host__close(&h);
	return err;
}
