// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * feat_caps.c - what this process may do. Which capability is needed for what was measured with copies
 * of hbprof that had each set (setcap), run by another user (Linux 6.18); the table is in
 * docs/man/hbprof-check.1.scd, and tests/bpf/t_check.sh compares.
 */
#include "trace/feat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fsutil.h"

void feat_set(struct feat_item *it, enum feat_result result, const char *fmt, ...)
{
	va_list ap;

	it->result = result;
	va_start(ap, fmt);
	vsnprintf(it->detail, sizeof(it->detail), fmt, ap);
	va_end(ap);
}

void feat_remedy(struct feat_item *it, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(it->remedy, sizeof(it->remedy), fmt, ap);
	va_end(ap);
}

int feat_line(const struct feat_env *env, const char *path, char *buf, size_t len)
{
	char full[512], *s;
	size_t n;
	int err;

	snprintf(full, sizeof(full), "%s%s", env->root, path);
	err = fs_read_file(full, 1u << 20, &s, &n);
	if (err)
		return err;
	snprintf(buf, len, "%.*s", (int)strcspn(s, "\n"), s);
	free(s);
	return 0;
}

bool feat_status(const struct feat_env *env, const char *key, char *buf, size_t len)
{
	size_t keylen = strlen(key), n;
	char full[512], *s, *line;
	bool found = false;

	snprintf(full, sizeof(full), "%s/proc/self/status", env->root);
	if (fs_read_file(full, 1u << 20, &s, &n))
		return false;
	for (line = s; *line && !found; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *v = line + keylen + 1;

		if (strncmp(line, key, keylen) != 0 || line[keylen] != ':')
			continue;
		v += strspn(v, " \t");
		snprintf(buf, len, "%.*s", (int)strcspn(v, "\n"), v);
		found = true;
	}
	free(s);
	return found;
}

void feat_env__init(struct feat_env *env, const char *root)
{
	char s[256], *end;
	unsigned long real;

	*env = (struct feat_env){.root = root, .uid = ~0u};
	/* "Uid: real effective saved fs" */
	if (feat_status(env, "Uid", s, sizeof(s))) {
		real = strtoul(s, &end, 10);
		env->uid = *end == '\t' ? (u32)strtoul(end, NULL, 10) : (u32)real;
	}
	if (feat_status(env, "CapEff", s, sizeof(s))) {
		env->caps = strtoull(s, &end, 16);
		env->caps_known = end != s;
	}
}

bool feat_env__can(const struct feat_env *env, enum feat_cap cap)
{
	return env->caps_known && (env->caps >> cap & 1);
}

/* name: as setcap takes it. instead: CAP_SYS_ADMIN stands for this one (linux/capability.h:
 * bpf_capable(), perfmon_capable(), checkpoint_restore_ns_capable()). */
static void cap_item(const struct feat_env *env, struct feat_item *it, enum feat_cap cap,
		     const char *name, bool instead, enum feat_result without, const char *lost)
{
	if (!env->caps_known) {
		feat_set(it, FEAT_UNKNOWN, "/proc/self/status does not tell capabilities");
	} else if (feat_env__can(env, cap)) {
		feat_set(it, FEAT_OK, "held");
	} else if (instead && feat_env__can(env, FEAT_CAP_SYS_ADMIN)) {
		feat_set(it, FEAT_OK, "not held; CAP_SYS_ADMIN is, and stands for it");
	} else {
		feat_set(it, without, "not held: %s", lost);
		it->as_root = env->uid != 0;
		feat_remedy(it,
			    "sudo, or %s among the file capabilities of the binary: "
			    "hbprof-check(1) has the list",
			    name);
	}
}

void feat_cap_bpf(const struct feat_env *env, struct feat_item *it)
{
	cap_item(env, it, FEAT_CAP_BPF, "cap_bpf", true, FEAT_FAIL, "no program can be loaded");
}

void feat_cap_perfmon(const struct feat_env *env, struct feat_item *it)
{
	cap_item(env, it, FEAT_CAP_PERFMON, "cap_perfmon", true, FEAT_FAIL,
		 "no program for probes can be loaded");
}

void feat_cap_ptrace(const struct feat_env *env, struct feat_item *it)
{
	cap_item(env, it, FEAT_CAP_SYS_PTRACE, "cap_sys_ptrace", false, FEAT_WARN,
		 "only this user's processes can be measured");
}

void feat_cap_dac(const struct feat_env *env, struct feat_item *it)
{
	cap_item(env, it, FEAT_CAP_DAC_READ_SEARCH, "cap_dac_read_search", false, FEAT_WARN,
		 "a program whose file this user may not read is not measured");
}

void feat_cap_ckpt(const struct feat_env *env, struct feat_item *it)
{
	cap_item(env, it, FEAT_CAP_CHECKPOINT_RESTORE, "cap_checkpoint_restore", true, FEAT_WARN,
		 "a program whose file was deleted or replaced is not measured");
}

/* The first user namespace maps all ids to themselves: one line, "0 0 4294967295". */
void feat_user_ns(const struct feat_env *env, struct feat_item *it)
{
	unsigned int inside, outside, n;
	char s[128];

	if (feat_line(env, "/proc/self/uid_map", s, sizeof(s)) ||
	    sscanf(s, "%u %u %u", &inside, &outside, &n) != 3) {
		feat_set(it, FEAT_UNKNOWN, "/proc/self/uid_map cannot be read");
	} else if (!inside && !outside && n == ~0u) {
		feat_set(it, FEAT_OK, "the machine's first");
	} else {
		feat_set(it, FEAT_FAIL,
			 "one of its own, as in a rootless container: its root is "
			 "none to the BPF system call");
		feat_remedy(it, "run hbprof outside, where it can also measure what is inside");
	}
}

void feat_yama(const struct feat_env *env, struct feat_item *it)
{
	char s[64];

	if (feat_line(env, "/proc/sys/kernel/yama/ptrace_scope", s, sizeof(s))) {
		feat_set(it, FEAT_OK, "not in this kernel");
	} else if (!strcmp(s, "0") || (feat_env__can(env, FEAT_CAP_SYS_PTRACE) && strcmp(s, "3"))) {
		feat_set(it, FEAT_OK, "ptrace_scope is %s and allows it", s);
	} else {
		feat_set(it, FEAT_WARN,
			 "ptrace_scope is %s: code is compared with the program's file only", s);
		feat_remedy(it, "%s",
			    strcmp(s, "3") ? "CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=0"
					   : "none until the machine is started again");
		it->as_root = strcmp(s, "3") != 0;
	}
}
