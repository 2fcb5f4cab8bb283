// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * feat_conf.c - what the kernel's files say of it: version, settings, namespaces, clock. The files are
 * described in proc(5), in Documentation/admin-guide/sysctl and Documentation/ABI of the kernel.
 */
#include "trace/feat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fsutil.h"
#include "util/units.h"

#define KERNEL(major, minor) ((major) << 8 | (minor))
#define FLOOR		     KERNEL(5, 15) /* cookies of perf events: bpf_perf_link_attach() */
#define MULTI		     KERNEL(6, 6)  /* BPF_TRACE_UPROBE_MULTI */

static bool exists(const struct feat_env *env, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", env->root, path);
	return !access(full, F_OK);
}

static bool readable(const struct feat_env *env, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", env->root, path);
	return !access(full, R_OK);
}

void feat_kernel(const struct feat_env *env, struct feat_item *it)
{
	unsigned int major, minor;
	char s[128];

	if (feat_line(env, "/proc/sys/kernel/osrelease", s, sizeof(s)) ||
	    sscanf(s, "%u.%u", &major, &minor) != 2) {
		feat_set(it, FEAT_UNKNOWN, "/proc/sys/kernel/osrelease does not tell a version");
	} else if (KERNEL(major, minor) >= MULTI) {
		feat_set(it, FEAT_OK, "Linux %s; the least is 5.15", s);
	} else {
		bool can = KERNEL(major, minor) >= FLOOR;

		feat_set(it, can ? FEAT_WARN : FEAT_FAIL, "Linux %s; the least is 5.15%s", s,
			 can ? ", and 6.6 for many probes" : "");
		feat_remedy(it,
			    "a newer kernel; on Debian 12: apt-get install -t bookworm-backports "
			    "linux-image-amd64 (or -arm64)");
	}
}

void feat_btf(const struct feat_env *env, struct feat_item *it)
{
	if (readable(env, "/sys/kernel/btf/vmlinux")) {
		feat_set(it, FEAT_OK, "/sys/kernel/btf/vmlinux");
	} else if (!exists(env, "/sys/kernel")) {
		feat_set(it, FEAT_FAIL, "/sys is not mounted");
		feat_remedy(it, "mount -t sysfs sysfs /sys");
	} else {
		feat_set(it, FEAT_FAIL, "no /sys/kernel/btf/vmlinux");
		feat_remedy(it, "a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions have");
	}
}

/* "none [integrity] confidentiality": the one in force is in brackets. */
void feat_lockdown(const struct feat_env *env, struct feat_item *it)
{
	char s[128], *mode, *end;

	if (feat_line(env, "/sys/kernel/security/lockdown", s, sizeof(s))) {
		if (exists(env, "/sys/kernel/security/lsm"))
			feat_set(it, FEAT_OK, "not in this kernel");
		else
			feat_set(it, FEAT_UNKNOWN,
				 "securityfs is not mounted, or not in this "
				 "kernel; bpf_load tells what matters");
		return;
	}
	mode = strchr(s, '[');
	end = mode ? strchr(mode, ']') : NULL;
	if (!end) {
		feat_set(it, FEAT_UNKNOWN, "'%s'", s);
		return;
	}
	*end = '\0';
	if (strcmp(++mode, "confidentiality") != 0) {
		feat_set(it, FEAT_OK, "%s", mode);
		return;
	}
	feat_set(it, FEAT_WARN,
		 "confidentiality: BPF may not read kernel memory, and perf events "
		 "are restricted");
	feat_remedy(it, "start the machine with lockdown=integrity");
}

void feat_unprivileged(const struct feat_env *env, struct feat_item *it)
{
	char s[32];

	if (feat_line(env, "/proc/sys/kernel/unprivileged_bpf_disabled", s, sizeof(s)))
		feat_set(it, FEAT_UNKNOWN, "no kernel.unprivileged_bpf_disabled");
	else
		feat_set(it, FEAT_OK,
			 "kernel.unprivileged_bpf_disabled is %s; probes need CAP_BPF "
			 "with any value",
			 s);
}

void feat_paranoid(const struct feat_env *env, struct feat_item *it)
{
	char s[32], *end;
	long level;

	if (feat_line(env, "/proc/sys/kernel/perf_event_paranoid", s, sizeof(s))) {
		feat_set(it, FEAT_WARN,
			 "no kernel.perf_event_paranoid: a kernel without perf events");
		feat_remedy(it, "a kernel with CONFIG_PERF_EVENTS=y");
		return;
	}
	level = strtol(s, &end, 10);
	if (end == s)
		feat_set(it, FEAT_UNKNOWN, "kernel.perf_event_paranoid is '%s'", s);
	else if (level <= 2 || feat_env__can(env, FEAT_CAP_PERFMON) ||
		 feat_env__can(env, FEAT_CAP_SYS_ADMIN))
		feat_set(it, FEAT_OK, "kernel.perf_event_paranoid is %ld and allows this user",
			 level);
	else {
		feat_set(it, FEAT_WARN,
			 "kernel.perf_event_paranoid is %ld: no counters for this user", level);
		feat_remedy(it, "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2");
		it->as_root = true;
	}
}

static const char *tracefs(const struct feat_env *env)
{
	if (exists(env, "/sys/kernel/tracing/README"))
		return "/sys/kernel/tracing";
	return exists(env, "/sys/kernel/debug/tracing/README") ? "/sys/kernel/debug/tracing" : NULL;
}

/* A folder that this user may not search and one that is not there look the same from outside. */
void feat_tracefs(const struct feat_env *env, struct feat_item *it)
{
	const char *at = tracefs(env);

	if (at) {
		feat_set(it, FEAT_OK, "%s", at);
	} else if (env->uid) {
		feat_set(it, FEAT_UNKNOWN, "only root may look into it");
		it->as_root = true;
	} else {
		feat_set(it, FEAT_WARN, "not mounted; hbprof itself does without");
		feat_remedy(it, "mount -t tracefs tracefs /sys/kernel/tracing");
	}
}

void feat_uprobe_events(const struct feat_env *env, struct feat_item *it)
{
	const char *at = tracefs(env);
	u32 lines = 0;
	char path[600], *s;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s%s/uprobe_events", env->root, at ? at : "");
	err = at ? fs_read_file(path, 16u << 20, &s, &len) : -ENOENT;
	if (err) {
		feat_set(it, FEAT_UNKNOWN, "uprobe_events cannot be read: %s", strerror(-err));
		it->as_root = env->uid != 0;
		return;
	}
	for (size_t i = 0; i < len; i++)
		lines += s[i] == '\n';
	free(s);
	if (!lines) {
		feat_set(it, FEAT_OK, "none");
		return;
	}
	feat_set(it, FEAT_WARN,
		 "%u defined: where they are in measured code, their time is measured "
		 "as the program's",
		 lines);
	feat_remedy(it, "end the tracer that uses them; see %s/uprobe_events", at);
}

/* Who may not see addresses reads zeros (kallsyms_show_value(), kernel/ksyms_common.c). */
void feat_kernel_symbols(const struct feat_env *env, struct feat_item *it)
{
	char full[512], line[256];
	bool any = false;
	FILE *f;

	snprintf(full, sizeof(full), "%s/proc/kallsyms", env->root);
	f = fopen(full, "re");
	if (!f) {
		feat_set(it, FEAT_WARN, "/proc/kallsyms: %s", strerror(errno));
		return;
	}
	for (u32 i = 0; !any && i < 100 && fgets(line, sizeof(line), f); i++)
		any = strtoull(line, NULL, 16) != 0;
	fclose(f);
	if (any) {
		feat_set(it, FEAT_OK, "/proc/kallsyms has them");
		return;
	}
	feat_set(it, FEAT_WARN, "/proc/kallsyms shows no addresses to this user");
	feat_remedy(it, "sudo, or cap_syslog among the file capabilities of the binary, with "
			"kernel.kptr_restrict below 2");
	it->as_root = env->uid != 0;
}

void feat_memlock(const struct feat_env *env, struct feat_item *it)
{
	struct rlimit r;
	char buf[32];

	if (getrlimit(RLIMIT_MEMLOCK, &r))
		feat_set(it, FEAT_UNKNOWN, "%s", strerror(errno));
	else if (r.rlim_cur == RLIM_INFINITY)
		feat_set(it, FEAT_OK, "no limit");
	else /* kernel/bpf/syscall.c: memory is charged to the memory cgroup since 5.11 */
		feat_set(it, FEAT_OK, "%s; BPF is not bound by it since Linux 5.11",
			 format_bytes(buf, sizeof(buf), r.rlim_cur));
}

void feat_jit(const struct feat_env *env, struct feat_item *it)
{
	char s[32];
	int err = feat_line(env, "/proc/sys/net/core/bpf_jit_enable", s, sizeof(s));

	if (err == -EACCES || err == -EPERM) {
		feat_set(it, FEAT_UNKNOWN, "only root may read net.core.bpf_jit_enable");
		it->as_root = true;
	} else if (err) {
		/* net/core/sysctl_net_core.c: there with CONFIG_BPF_JIT; in the first network
		 * namespace only */
		feat_set(it, FEAT_UNKNOWN,
			 "no net.core.bpf_jit_enable: another network namespace, "
			 "or a kernel without the JIT");
	} else if (strcmp(s, "0") != 0) {
		feat_set(it, FEAT_OK, "net.core.bpf_jit_enable is %s", s);
	} else {
		feat_set(it, FEAT_WARN,
			 "net.core.bpf_jit_enable is 0: programs are interpreted, "
			 "each probe costs several times as much");
		feat_remedy(it, "sysctl net.core.bpf_jit_enable=1");
	}
}

/* The first PID namespace has a constant inode: PROC_PID_INIT_INO, linux/proc_ns.h. */
void feat_pid_ns(const struct feat_env *env, struct feat_item *it)
{
	char full[512], to[64];
	ssize_t n;

	snprintf(full, sizeof(full), "%s/proc/self/ns/pid", env->root);
	n = readlink(full, to, sizeof(to) - 1);
	if (n < 0) {
		feat_set(it, FEAT_UNKNOWN, "/proc/self/ns/pid: %s", strerror(errno));
		return;
	}
	to[n] = '\0';
	if (!strcmp(to, "pid:[4026531836]")) {
		feat_set(it, FEAT_OK, "the machine's first");
		return;
	}
	feat_set(it, FEAT_WARN,
		 "one of its own (%s), as in a container: only processes of this one "
		 "can be measured",
		 to);
	feat_remedy(it, "run hbprof outside, where it can measure what is inside, too, or with the "
			"host's namespace (docker run --pid=host)");
}

void feat_seccomp(const struct feat_env *env, struct feat_item *it)
{
	char s[32];

	if (!feat_status(env, "Seccomp", s, sizeof(s))) {
		feat_set(it, FEAT_OK, "not in this kernel");
	} else if (!strcmp(s, "0")) {
		feat_set(it, FEAT_OK, "no filter on hbprof");
	} else {
		feat_set(it, FEAT_WARN,
			 "hbprof runs under a filter, as in a container; bpf_load "
			 "tells whether it lets bpf() pass");
		feat_remedy(it, "if it does not: docker run --security-opt seccomp=unconfined");
	}
}

/* Clocks that are read without leaving the CPU. */
void feat_clock(const struct feat_env *env, struct feat_item *it)
{
	static const char *const fast[] = {"tsc", "kvm-clock", "arch_sys_counter",
					   "hyperv_clocksource_tsc_page", "xen"};
	char s[64];

	if (feat_line(env, "/sys/devices/system/clocksource/clocksource0/current_clocksource", s,
		      sizeof(s))) {
		feat_set(it, FEAT_UNKNOWN, "no clocksource in /sys");
		return;
	}
	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++) {
		if (!strcmp(fast[i], s)) {
			feat_set(it, FEAT_OK, "%s", s);
			return;
		}
	}
	feat_set(it, FEAT_WARN, "%s: reading it takes long, so each probe does", s);
	feat_remedy(it, "see whether the kernel's log says why it does not use tsc");
}

void feat_guest(const struct feat_env *env, struct feat_item *it)
{
	char full[512], *s, *flags, *end;
	bool guest = exists(env, "/sys/hypervisor/type");
	size_t len;

	snprintf(full, sizeof(full), "%s/proc/cpuinfo", env->root);
	if (fs_read_file(full, 4u << 20, &s, &len)) {
		feat_set(it, FEAT_UNKNOWN, "/proc/cpuinfo cannot be read");
		return;
	}
	flags = strstr(s, "\nflags");
	end = flags ? flags + 1 + strcspn(flags + 1, "\n") : NULL;
	if (end)
		*end = '\0';
	guest |= flags && strstr(flags, " hypervisor");
	free(s);
	if (guest)
		feat_set(it, FEAT_OK,
			 "a guest: traps cost more, most of all single-stepped ones; "
			 "the cost is calibrated and subtracted");
	else if (flags)
		feat_set(it, FEAT_OK, "none");
	else
		feat_set(it, FEAT_UNKNOWN, "this CPU has no flag for it");
}

void feat_cpus(const struct feat_env *env, struct feat_item *it)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	char s[32];
	const char *smt = "not known";

	if (!feat_line(env, "/sys/devices/system/cpu/smt/active", s, sizeof(s)))
		smt = !strcmp(s, "1") ? "on" : "off";
	feat_set(it, n > 1 ? FEAT_OK : FEAT_WARN, "%ld online, SMT %s", n, smt);
	if (n <= 1)
		feat_remedy(it, "none: hbprof takes its share of the only CPU, some percent of it");
}
