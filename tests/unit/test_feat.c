// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_feat.c - `hbprof check` on machines that are not this one: /proc and /sys made by hand. What is
 * tried on the running kernel is tested by tests/bpf/t_check.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* trace/ is no part of what unit tests are linked with; these two need no libbpf. */
#include "trace/feat_caps.c"
#include "trace/feat_conf.c"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int make_root(void **state)
{
	strcpy(root, "/tmp/hbprof-feat.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file below root, with its folders. */
static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct feat_env env_of(const char *uid, const char *caps)
{
	struct feat_env env;
	char text[256];

	snprintf(text, sizeof(text),
		 "Name:\thbprof\nUid:\t1000\t%s\t0\t0\nCapEff:\t%s\nCapEffX:\t1\nSeccomp:\t0\n",
		 uid, caps);
	put("/proc/self/status", text);
	feat_env__init(&env, root);
	return env;
}

static struct feat_item run(feat_fn *fn, const struct feat_env *env)
{
	struct feat_item it = {0};

	fn(env, &it);
	assert_int_not_equal(it.detail[0], 0);
	if (it.result == FEAT_FAIL)
		assert_int_not_equal(it.remedy[0], 0);
	return it;
}

#define NO_CAPS	    "0000000000000000"
#define ALL_CAPS    "000001ffffffffff"
#define ONLY_ADMIN  "0000000000200000"
#define BPF_PERFMON "000000c000000000"

static void test_capabilities_are_read_from_the_effective_set(void **state)
{
	struct feat_env env = env_of("65534", BPF_PERFMON);

	assert_int_equal(env.uid, 65534);
	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_OK);
	assert_int_equal(run(feat_cap_perfmon, &env).result, FEAT_OK);
	assert_int_equal(run(feat_cap_ptrace, &env).result, FEAT_WARN);
	assert_int_equal(run(feat_cap_dac, &env).result, FEAT_WARN);
	assert_int_equal(run(feat_cap_ckpt, &env).result, FEAT_WARN);
	env = env_of("65534", NO_CAPS);
	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_FAIL);
	assert_int_equal(run(feat_cap_perfmon, &env).result, FEAT_FAIL);
	assert_true(run(feat_cap_bpf, &env).as_root);
	/* Root without them, in a container: being root would not help. */
	env = env_of("0", NO_CAPS);
	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_FAIL);
	assert_false(run(feat_cap_bpf, &env).as_root);
}

static void test_sys_admin_stands_for_what_was_split_off_from_it(void **state)
{
	struct feat_env env = env_of("65534", ONLY_ADMIN);

	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_OK);
	assert_int_equal(run(feat_cap_perfmon, &env).result, FEAT_OK);
	assert_int_equal(run(feat_cap_ckpt, &env).result, FEAT_OK);
	assert_int_equal(run(feat_cap_ptrace, &env).result, FEAT_WARN);
	assert_int_equal(run(feat_cap_dac, &env).result, FEAT_WARN);
}

static void test_unknown_capabilities_are_not_none(void **state)
{
	struct feat_env env;

	feat_env__init(&env, root);
	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_UNKNOWN);
	env = env_of("0", "rubbish");
	assert_int_equal(run(feat_cap_bpf, &env).result, FEAT_UNKNOWN);
}

static enum feat_result kernel(const char *release)
{
	struct feat_env env = {.root = root};

	put("/proc/sys/kernel/osrelease", release);
	return run(feat_kernel, &env).result;
}

static void test_the_kernel_floor_is_5_15(void **state)
{
	assert_int_equal(kernel("5.14.21\n"), FEAT_FAIL);
	assert_int_equal(kernel("5.15.0-100-generic\n"), FEAT_WARN);
	assert_int_equal(kernel("6.1.0-50-cloud-amd64\n"), FEAT_WARN);
	assert_int_equal(kernel("6.6.0-rc1\n"), FEAT_OK);
	assert_int_equal(kernel("6.10.3\n"), FEAT_OK);
	assert_int_equal(kernel("7.0\n"), FEAT_OK);
	assert_int_equal(kernel("next\n"), FEAT_UNKNOWN);
	assert_int_equal(kernel(""), FEAT_UNKNOWN);
}

static void test_btf_is_a_file_that_can_be_read(void **state)
{
	struct feat_env env = {.root = root};
	struct feat_item it = run(feat_btf, &env);

	assert_int_equal(it.result, FEAT_FAIL);
	assert_non_null(strstr(it.remedy, "mount"));
	put("/sys/kernel/x", "");
	it = run(feat_btf, &env);
	assert_int_equal(it.result, FEAT_FAIL);
	assert_non_null(strstr(it.remedy, "CONFIG_DEBUG_INFO_BTF"));
	put("/sys/kernel/btf/vmlinux", "");
	assert_int_equal(run(feat_btf, &env).result, FEAT_OK);
}

static enum feat_result lockdown(const char *text)
{
	struct feat_env env = {.root = root};

	put("/sys/kernel/security/lockdown", text);
	return run(feat_lockdown, &env).result;
}

static void test_the_lockdown_mode_is_the_one_in_brackets(void **state)
{
	struct feat_env env = {.root = root};

	assert_int_equal(run(feat_lockdown, &env).result, FEAT_UNKNOWN);
	put("/sys/kernel/security/lsm", "capability,yama");
	assert_int_equal(run(feat_lockdown, &env).result, FEAT_OK);
	assert_int_equal(lockdown("[none] integrity confidentiality\n"), FEAT_OK);
	assert_int_equal(lockdown("none [integrity] confidentiality\n"), FEAT_OK);
	assert_int_equal(lockdown("none integrity [confidentiality]\n"), FEAT_WARN);
	assert_int_equal(lockdown("none [integrity\n"), FEAT_UNKNOWN);
}

static void test_a_user_namespace_of_its_own_fails(void **state)
{
	struct feat_env env = {.root = root};

	assert_int_equal(run(feat_user_ns, &env).result, FEAT_UNKNOWN);
	put("/proc/self/uid_map", "         0          0 4294967295\n");
	assert_int_equal(run(feat_user_ns, &env).result, FEAT_OK);
	put("/proc/self/uid_map", "         0       1000          1\n");
	assert_int_equal(run(feat_user_ns, &env).result, FEAT_FAIL);
}

static void test_a_pid_namespace_of_its_own_is_warned_of(void **state)
{
	struct feat_env env = {.root = root};
	char path[256];

	assert_int_equal(run(feat_pid_ns, &env).result, FEAT_UNKNOWN);
	put("/proc/self/ns/x", "");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	assert_int_equal(symlink("pid:[4026531836]", path), 0);
	assert_int_equal(run(feat_pid_ns, &env).result, FEAT_OK);
	unlink(path);
	assert_int_equal(symlink("pid:[4026532178]", path), 0);
	assert_int_equal(run(feat_pid_ns, &env).result, FEAT_WARN);
}

static void test_yama_does_not_bind_who_has_cap_sys_ptrace(void **state)
{
	struct feat_env user = env_of("65534", NO_CAPS), super = env_of("0", ALL_CAPS);

	assert_int_equal(run(feat_yama, &user).result, FEAT_OK);
	put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
	assert_int_equal(run(feat_yama, &user).result, FEAT_WARN);
	assert_int_equal(run(feat_yama, &super).result, FEAT_OK);
	put("/proc/sys/kernel/yama/ptrace_scope", "3\n");
	assert_int_equal(run(feat_yama, &super).result, FEAT_WARN);
}

static void test_paranoia_is_about_users_without_cap_perfmon(void **state)
{
	struct feat_env user = env_of("65534", NO_CAPS), with = env_of("65534", BPF_PERFMON);

	assert_int_equal(run(feat_paranoid, &user).result, FEAT_WARN);
	put("/proc/sys/kernel/perf_event_paranoid", "3\n");
	assert_int_equal(run(feat_paranoid, &user).result, FEAT_WARN);
	assert_true(run(feat_paranoid, &user).as_root);
	assert_int_equal(run(feat_paranoid, &with).result, FEAT_OK);
	put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	assert_int_equal(run(feat_paranoid, &user).result, FEAT_OK);
}

static void test_uprobe_events_of_others_are_counted(void **state)
{
	struct feat_env env = env_of("0", ALL_CAPS);

	assert_int_equal(run(feat_tracefs, &env).result, FEAT_WARN);
	assert_int_equal(run(feat_uprobe_events, &env).result, FEAT_UNKNOWN);
	put("/sys/kernel/tracing/README", "x");
	put("/sys/kernel/tracing/uprobe_events", "");
	assert_int_equal(run(feat_tracefs, &env).result, FEAT_OK);
	assert_int_equal(run(feat_uprobe_events, &env).result, FEAT_OK);
	put("/sys/kernel/tracing/uprobe_events",
	    "p:uprobes/a /bin/x:0x10\nr:uprobes/b /bin/x:0x20\n");
	assert_int_equal(run(feat_uprobe_events, &env).result, FEAT_WARN);
	assert_non_null(strstr(run(feat_uprobe_events, &env).detail, "2 defined"));
}

static void test_zeros_are_no_addresses_of_kernel_symbols(void **state)
{
	struct feat_env env = env_of("65534", NO_CAPS);

	assert_int_equal(run(feat_kernel_symbols, &env).result, FEAT_WARN);
	put("/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T f\n");
	assert_int_equal(run(feat_kernel_symbols, &env).result, FEAT_WARN);
	/* Per-CPU symbols come first and begin at 0, also for root. */
	put("/proc/kallsyms", "0000000000000000 A x\nffffffff81000000 T _stext\n");
	assert_int_equal(run(feat_kernel_symbols, &env).result, FEAT_OK);
}

static void test_settings_that_cost_are_warned_of(void **state)
{
	struct feat_env env = env_of("0", ALL_CAPS);

	assert_int_equal(run(feat_jit, &env).result, FEAT_UNKNOWN);
	put("/proc/sys/net/core/bpf_jit_enable", "0\n");
	assert_int_equal(run(feat_jit, &env).result, FEAT_WARN);
	put("/proc/sys/net/core/bpf_jit_enable", "1\n");
	assert_int_equal(run(feat_jit, &env).result, FEAT_OK);
	assert_int_equal(run(feat_clock, &env).result, FEAT_UNKNOWN);
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	assert_int_equal(run(feat_clock, &env).result, FEAT_WARN);
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	assert_int_equal(run(feat_clock, &env).result, FEAT_OK);
	assert_int_equal(run(feat_seccomp, &env).result, FEAT_OK);
	put("/proc/self/status", "Seccomp:\t2\n");
	assert_int_equal(run(feat_seccomp, &env).result, FEAT_WARN);
}

static void test_a_guest_is_told_by_its_cpu_flag(void **state)
{
	struct feat_env env = {.root = root};

	assert_int_equal(run(feat_guest, &env).result, FEAT_UNKNOWN);
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse\nbugs\t: hypervisor\n");
	assert_string_equal(run(feat_guest, &env).detail, "none");
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse\n");
	assert_non_null(strstr(run(feat_guest, &env).detail, "a guest"));
	put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
	assert_int_equal(run(feat_guest, &env).result, FEAT_UNKNOWN);
}

static void test_long_lines_are_cut_and_not_written_past(void **state)
{
	struct feat_env env = {.root = root};
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", text);
	put("/sys/kernel/security/lockdown", text);
	put("/proc/self/status", text);
	assert_int_equal(run(feat_clock, &env).result, FEAT_WARN);
	assert_int_equal(run(feat_lockdown, &env).result, FEAT_UNKNOWN);
	assert_int_equal(run(feat_seccomp, &env).result, FEAT_OK);
}

#define test(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_capabilities_are_read_from_the_effective_set),
		test(test_sys_admin_stands_for_what_was_split_off_from_it),
		test(test_unknown_capabilities_are_not_none),
		test(test_the_kernel_floor_is_5_15),
		test(test_btf_is_a_file_that_can_be_read),
		test(test_the_lockdown_mode_is_the_one_in_brackets),
		test(test_a_user_namespace_of_its_own_fails),
		test(test_a_pid_namespace_of_its_own_is_warned_of),
		test(test_yama_does_not_bind_who_has_cap_sys_ptrace),
		test(test_paranoia_is_about_users_without_cap_perfmon),
		test(test_uprobe_events_of_others_are_counted),
		test(test_zeros_are_no_addresses_of_kernel_symbols),
		test(test_settings_that_cost_are_warned_of),
		test(test_a_guest_is_told_by_its_cpu_flag),
		test(test_long_lines_are_cut_and_not_written_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
