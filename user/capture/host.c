// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host.c - facts of the machine from /proc and /sys. Each fact is a small function that fills a
 * text; whatever it cannot find it says in the text. Documentation/ABI of the kernel and proc(5)
 * name the files.
 */
#include "capture/host.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "util/fsutil.h"
#include "util/units.h"

#define MAX_FACT_FILE (4u << 20) /* cpuinfo has some 1.5 KB a CPU */
#define MAX_CPUS      8192
#define MAX_SOCKETS   64

struct host {
	const char *root;
	char *cpuinfo; /* NULL: not readable */
	bool guest;
};

struct text {
	char s[512];
};

static void text_set(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void text_set(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->s, sizeof(t->s), fmt, ap);
	va_end(ap);
}

static char *read_file(const struct host *h, const char *fmt, va_list ap)
{
	char path[PATH_MAX], *s;
	size_t len;
	int n;

	n = snprintf(path, sizeof(path), "%s", h->root);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	return fs_read_file(path, MAX_FACT_FILE, &s, &len) ? NULL : s;
}

/* The first line of a file below root, malloced; NULL: not there or empty. */
static char *first_line(const struct host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static char *first_line(const struct host *h, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = read_file(h, fmt, ap);
	va_end(ap);
	if (!s)
		return NULL;
	s[strcspn(s, "\n")] = '\0';
	for (size_t len = strlen(s); len && s[len - 1] == ' '; len--)
		s[len - 1] = '\0';
	if (*s)
		return s;
	free(s);
	return NULL;
}

/* The value of the first "key : value" line. False: none. */
static bool cpuinfo_value(const struct host *h, const char *key, char *out, size_t len)
{
	size_t keylen = strlen(key);
	const char *line = h->cpuinfo;

	while (line && *line) {
		const char *end = line + strcspn(line, "\n"), *colon;

		colon = memchr(line, ':', (size_t)(end - line));
		if (colon && !strncmp(line, key, keylen) &&
		    strspn(line + keylen, " \t") == (size_t)(colon - line) - keylen) {
			colon++;
			colon += strspn(colon, " \t");
			if (colon >= end)
				return false;
			snprintf(out, len, "%.*s", (int)(end - colon), colon);
			return true;
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

static bool cpuinfo_has_flag(const struct host *h, const char *flag)
{
	char flags[8192], *save = NULL;

	if (!cpuinfo_value(h, "flags", flags, sizeof(flags)))
		return false;
	for (char *f = strtok_r(flags, " ", &save); f; f = strtok_r(NULL, " ", &save))
		if (!strcmp(f, flag))
			return true;
	return false;
}

/* ---- CPU ---- */

/* MIDR implementer and part as /proc/cpuinfo prints them; names from Arm's and the makers' manuals
 * and the kernel's arch/arm64/include/asm/cputype.h. */
static const struct {
	const char *implementer, *part, *name;
} arm_cores[] = {
	{"0x41", "0xd08", "Arm Cortex-A72"},  {"0x41", "0xd0c", "Arm Neoverse N1"},
	{"0x41", "0xd40", "Arm Neoverse V1"}, {"0x41", "0xd49", "Arm Neoverse N2"},
	{"0x41", "0xd4f", "Arm Neoverse V2"}, {"0x41", "0xd84", "Arm Neoverse V3"},
	{"0x41", "0xd0b", "Arm Cortex-A76"},  {"0xc0", "0xac3", "Ampere-1"},
	{"0xc0", "0xac4", "Ampere-1a"},	      {"0x61", "0x022", "Apple M1"},
	{"0x61", "0x032", "Apple M2"},
};

static void fact_cpu_model(const struct host *h, struct text *t)
{
	char implementer[32], part[32];

	if (cpuinfo_value(h, "model name", t->s, sizeof(t->s)))
		return;
	if (!cpuinfo_value(h, "CPU implementer", implementer, sizeof(implementer)) ||
	    !cpuinfo_value(h, "CPU part", part, sizeof(part))) {
		text_set(t, "n/a (not in /proc/cpuinfo)");
		return;
	}
	for (size_t i = 0; i < sizeof(arm_cores) / sizeof(arm_cores[0]); i++) {
		if (!strcmp(arm_cores[i].implementer, implementer) &&
		    !strcmp(arm_cores[i].part, part)) {
			text_set(t, "%s", arm_cores[i].name);
			return;
		}
	}
	text_set(t, "implementer %s part %s", implementer, part);
}

static void fact_arch(const struct host *h, struct text *t)
{
	struct utsname u;

	if (uname(&u))
		text_set(t, "n/a (%s)", strerror(errno));
	else
		text_set(t, "%s", u.machine);
}

/* A list such as "0-3,8" as a count. 0: not such a list. */
static u32 count_list(const char *s)
{
	u32 n = 0;

	while (*s) {
		char *end;
		unsigned long a = strtoul(s, &end, 10), b = a;

		if (end == s)
			return 0;
		if (*end == '-') {
			s = end + 1;
			b = strtoul(s, &end, 10);
			if (end == s)
				return 0;
		}
		if (b < a || b >= MAX_CPUS)
			return 0;
		n += (u32)(b - a + 1);
		if (*end && *end != ',')
			return 0;
		s = *end ? end + 1 : end;
	}
	return n;
}

static void fact_list(const struct host *h, struct text *t, const char *path)
{
	char *s = first_line(h, "%s", path);
	u32 n = s ? count_list(s) : 0;

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

static void fact_sockets(const struct host *h, struct text *t)
{
	char *seen[MAX_SOCKETS], *id;
	u32 nr = 0, missing = 0, i;

	/* CPU numbers may have holes where CPUs are off. */
	for (u32 cpu = 0; cpu < MAX_CPUS && missing < 64 && nr < MAX_SOCKETS; cpu++) {
		id = first_line(h, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
				cpu);
		missing = id ? 0 : missing + 1;
		for (i = 0; id && i < nr && strcmp(seen[i], id); i++)
			;
		if (id && i == nr)
			seen[nr++] = id;
		else
			free(id);
	}
	if (nr)
		text_set(t, "%u", nr);
	else
		text_set(t, "n/a (no topology in /sys)");
	for (i = 0; i < nr; i++)
		free(seen[i]);
}

static void fact_smt(const struct host *h, struct text *t)
{
	char *active = first_line(h, "/sys/devices/system/cpu/smt/active");

	if (!active)
		text_set(t, "n/a (no /sys/devices/system/cpu/smt)");
	else
		text_set(t, "%s", !strcmp(active, "1") ? "on" : "off");
	free(active);
}

static void fact_caches(const struct host *h, struct text *t)
{
	size_t len = 0;

	t->s[0] = '\0';
	for (u32 i = 0; i < 8; i++) {
		char *level = first_line(h, "/sys/devices/system/cpu/cpu0/cache/index%u/level", i);
		char *type = first_line(h, "/sys/devices/system/cpu/cpu0/cache/index%u/type", i);
		char *size = first_line(h, "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);

		if (level && type && size && len < sizeof(t->s)) {
			const char *kind = !strcmp(type, "Data")	  ? "d"
					   : !strcmp(type, "Instruction") ? "i"
									  : "";

			len += (size_t)snprintf(t->s + len, sizeof(t->s) - len, "%sL%s%s %s",
						len ? ", " : "", level, kind, size);
		}
		free(level);
		free(type);
		free(size);
	}
	if (!len)
		text_set(t, "n/a (no cache in /sys/devices/system/cpu/cpu0)");
}

static void fact_governor(const struct host *h, struct text *t)
{
	char *s = first_line(h, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");

	if (s)
		text_set(t, "%s", s);
	else
		text_set(t, "n/a (%s)",
			 h->guest ? "a guest does not set the frequency" : "no cpufreq driver");
	free(s);
}

static void fact_frequency(const struct host *h, struct text *t)
{
	char *max = first_line(h, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
	u64 khz;

	if (max && !parse_u64(max, ~0ULL, &khz))
		text_set(t, "%llu (maximum)", khz / 1000);
	else if (h->guest)
		text_set(t, "n/a (a guest does not see the frequency)");
	else
		text_set(t, "n/a (no cpufreq driver)");
	free(max);
}

/* ---- kernel ---- */

static void fact_kernel(const struct host *h, struct text *t)
{
	char *release = first_line(h, "/proc/sys/kernel/osrelease");
	char *version = first_line(h, "/proc/sys/kernel/version");

	if (release)
		text_set(t, "%s%s%s", release, version ? " " : "", version ? version : "");
	else
		text_set(t, "n/a (/proc/sys/kernel/osrelease cannot be read)");
	free(release);
	free(version);
}

static void fact_clocksource(const struct host *h, struct text *t)
{
	char *s = first_line(h, "/sys/devices/system/clocksource/clocksource0/current_clocksource");

	text_set(t, "%s", s ? s : "n/a (no clocksource in /sys)");
	free(s);
}

/* The signature of CPUID leaf 0x40000000, "KVMKVMKVM"; "" where there is none. */
static void hypervisor_signature(const struct host *h, char sig[13])
{
	memset(sig, 0, 13);
#if defined(__x86_64__)
	u32 eax, ebx, ecx, edx;

	if (*h->root) /* not this machine */
		return;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(sig, &ebx, 4);
	memcpy(sig + 4, &ecx, 4);
	memcpy(sig + 8, &edx, 4);
#endif
}

static const char *hypervisor_name(const char *sig)
{
	static const struct {
		const char *sig, *name;
	} known[] = {
		{"KVMKVMKVM", "KVM"},	 {"Microsoft Hv", "Hyper-V"},  {"VMwareVMware", "VMware"},
		{"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU TCG"}, {"bhyve bhyve ", "bhyve"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].sig, sig))
			return known[i].name;
	return *sig ? sig : "a hypervisor without a name";
}

static void fact_virtualization(const struct host *h, struct text *t)
{
	char *vendor = first_line(h, "/sys/class/dmi/id/sys_vendor");
	char *product = first_line(h, "/sys/class/dmi/id/product_name");
	char *type = first_line(h, "/sys/hypervisor/type");
	char sig[13];

	if (h->guest) {
		hypervisor_signature(h, sig);
		text_set(t, "%s", type && !*sig ? type : hypervisor_name(sig));
		if (vendor || product) {
			size_t len = strlen(t->s);

			snprintf(t->s + len, sizeof(t->s) - len, " (%s%s%s)", vendor ? vendor : "",
				 vendor && product ? " " : "", product ? product : "");
		}
	} else if (cpuinfo_has_flag(h, "fpu")) {
		text_set(t, "none");
	} else {
		text_set(t, "n/a (this CPU has no flag for it%s%s)",
			 vendor ? "; the board is " : "", vendor ? vendor : "");
	}
	free(vendor);
	free(product);
	free(type);
}

static void fact_memory(const struct host *h, struct text *t)
{
	char *s = first_line(h, "/proc/meminfo"), buf[32];
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
	{"arch", fact_arch},
	{"cpus_online", fact_cpus_online},
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

/* x86 has a CPU flag for it. On arm64 a type in /sys/hypervisor is a sure sign, its absence none. */
static bool is_guest(const struct host *h)
{
	char *type = first_line(h, "/sys/hypervisor/type");
	bool guest = type || cpuinfo_has_flag(h, "hypervisor");

	free(type);
	return guest;
}

int host__read(const char *root, struct m_host *out)
{
	struct host h = {.root = root};
	char path[PATH_MAX];
	struct text t;
	size_t len;
	int err = 0;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	if (fs_read_file(path, MAX_FACT_FILE, &h.cpuinfo, &len))
		h.cpuinfo = NULL;
	h.guest = is_guest(&h);
	for (size_t i = 0; !err && i < sizeof(facts) / sizeof(facts[0]); i++) {
		facts[i].fill(&h, &t);
		err = m_host__add(out, facts[i].key, t.s);
	}
	free(h.cpuinfo);
	return err;
}
