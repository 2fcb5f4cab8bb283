// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_host_run.c - what is said of a machine whose files change between two readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "capture/host_run.h"
#include "fakeroot.h"

struct ran {
	struct recording *r;
	struct host_run *run;
};

static struct ran begin(void)
{
	struct ran t = {.r = recording__new()};

	assert_non_null(t.r);
	assert_int_equal(host_run__new(fakeroot, &t.run), 0);
	return t;
}

static void finish(struct ran *t)
{
	assert_int_equal(host_run__facts(t->run, t->r), 0);
	host_run__free(t->run);
}

static void assert_warnings(const struct ran *t, u32 nr)
{
	for (u32 i = 0; i < t->r->nr_warnings && t->r->nr_warnings != nr; i++)
		print_message("%s\n", t->r->warning[i]);
	assert_int_equal(t->r->nr_warnings, nr);
}

static void test_a_machine_without_proc_and_sys_says_why(void **state)
{
	struct ran t = begin();

	host_run__target(t.run, 42);
	finish(&t);
	assert_fact(&t.r->host, "run_clocksource", "n/a (no clocksource in /sys)");
	assert_fact(&t.r->host, "run_frequency_mhz", "n/a (no frequency in /sys or /proc/cpuinfo)");
	assert_fact(&t.r->host, "run_load", "n/a (no /proc/loadavg)");
	assert_fact(&t.r->host, "run_steal", "n/a (no /proc/stat)");
	assert_fact(&t.r->host, "run_busy", "n/a (no /proc/stat)");
	assert_fact(&t.r->host, "run_suspended", "no");
	assert_fact(&t.r->host, "run_cpu_quota", "n/a (the target's control group was not found)");
	assert_warnings(&t, 0);
	recording__free(t.r);
}

static void test_stolen_time_is_a_share_of_all_and_warned_of(void **state)
{
	struct ran t;

	fakeroot__put("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
	fakeroot__put("/proc/stat", "cpu  100 0 100 1000 0 0 0 10 7 7\ncpu0 1 1 1 1\n");
	fakeroot__put("/proc/loadavg", "0.50 0.40 0.30 1/100 99\n");
	t = begin();
	fakeroot__put("/proc/stat", "cpu  150 0 120 1100 10 0 0 30 7 7\n");
	fakeroot__put("/proc/loadavg", "1.75 0.40 0.30 1/100 99\n");
	finish(&t);
	assert_fact(&t.r->host, "run_busy", "35.0% of all CPUs");
	assert_fact(&t.r->host, "run_steal", "10.0% (as far as the hypervisor tells)");
	assert_fact(&t.r->host, "run_load",
		    "0.50 at the start, 1.75 at the end (average of a minute)");
	assert_warnings(&t, 1);
	assert_non_null(strstr(t.r->warning[0], "gave 10.0% of the CPUs' time to others"));
	recording__free(t.r);
}

static void test_a_share_of_a_few_ticks_is_not_told(void **state)
{
	struct ran t;

	fakeroot__put("/proc/stat", "cpu  100 0 100 1000 0 0 0 10\n");
	t = begin();
	fakeroot__put("/proc/stat", "cpu  110 0 100 1000 0 0 0 20\n");
	finish(&t);
	assert_fact(&t.r->host, "run_steal", "n/a (the recording is too short)");
	assert_warnings(&t, 0);
	recording__free(t.r);
}

static void test_what_changes_is_told_with_both_values(void **state)
{
	const char *clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	struct ran t;

	fakeroot__put(clock, "tsc\n");
	fakeroot__put("/sys/devices/system/cpu/online", "0-3\n");
	t = begin();
	fakeroot__put(clock, "hpet\n");
	host_run__tick(t.run);
	fakeroot__put("/sys/devices/system/cpu/online", "0-1\n");
	finish(&t);
	assert_fact(&t.r->host, "run_clocksource", "tsc at the start, hpet at the end, 1 change");
	assert_fact(&t.r->host, "run_changes",
		    "clock source changed from tsc to hpet; CPUs online changed from 0-3 to 0-1");
	assert_warnings(&t, 2);
	recording__free(t.r);
}

static void test_a_change_that_was_undone_is_told_too(void **state)
{
	const char *limit = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq";
	struct ran t;

	fakeroot__put(limit, "3100000\n");
	t = begin();
	fakeroot__put(limit, "1200000\n");
	host_run__tick(t.run);
	fakeroot__put(limit, "3100000\n");
	finish(&t);
	assert_fact(&t.r->host, "run_changes",
		    "frequency limit changed and came back to 3100000 kHz");
	assert_warnings(&t, 1);
	recording__free(t.r);
}

static void test_frequencies_of_start_and_end_stand_beside_each_other(void **state)
{
	struct ran t;

	fakeroot__put("/proc/cpuinfo", "cpu MHz\t\t: 2596.144\n\ncpu MHz\t\t: 2596.9\n");
	t = begin();
	finish(&t);
	assert_fact(&t.r->host, "run_frequency_mhz", "2596 (nominal)");
	recording__free(t.r);

	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
	fakeroot__put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2400000\n");
	t = begin();
	fakeroot__put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3100000\n");
	finish(&t);
	assert_fact(&t.r->host, "run_frequency_mhz", "2400 to 3100 at the start, 3100 at the end");
	recording__free(t.r);
}

/* ---- control groups ---- */

static void test_the_smallest_quota_of_all_levels_counts(void **state)
{
	struct ran t;

	fakeroot__put("/proc/42/cgroup", "0::/shop/web\n");
	fakeroot__put("/sys/fs/cgroup/cgroup.procs", "");
	fakeroot__put("/sys/fs/cgroup/shop/web/cgroup.procs", "42\n");
	fakeroot__put("/sys/fs/cgroup/shop/web/cpu.max", "max 100000\n");
	fakeroot__put("/sys/fs/cgroup/shop/cpu.max", "150000 100000\n");
	fakeroot__put("/sys/fs/cgroup/shop/cpu.stat",
		      "usage_usec 1\nnr_periods 5\nnr_throttled 3\nthrottled_usec 1000\n");
	t = begin();
	host_run__target(t.run, 42);
	host_run__target(t.run, 42);
	fakeroot__put("/sys/fs/cgroup/shop/cpu.stat",
		      "usage_usec 1\nnr_periods 99\nnr_throttled 10\nthrottled_usec 251000\n");
	finish(&t);
	assert_fact(&t.r->host, "run_cpu_quota", "1.50 CPUs");
	assert_fact(&t.r->host, "run_throttled", "7 times, 250ms");
	assert_warnings(&t, 1);
	assert_non_null(strstr(t.r->warning[0], "quota stopped it 7 times, for 250ms"));
	recording__free(t.r);
}

static void test_a_group_that_goes_keeps_its_last_numbers(void **state)
{
	struct ran t;

	fakeroot__put("/proc/42/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/job\n0::/\n");
	fakeroot__put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
	fakeroot__put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	fakeroot__put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
		      "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
	t = begin();
	host_run__target(t.run, 42);
	fakeroot__put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
		      "nr_periods 9\nnr_throttled 4\nthrottled_time 2000000\n");
	host_run__tick(t.run);
	fakeroot__remove("/sys/fs/cgroup/cpu,cpuacct/job");
	finish(&t);
	assert_fact(&t.r->host, "run_cpu_quota", "0.50 CPUs");
	assert_fact(&t.r->host, "run_throttled", "4 times, 2.00ms");
	recording__free(t.r);
}

static void test_no_quota_is_told_from_an_unknown_one(void **state)
{
	struct ran t;

	fakeroot__put("/proc/42/cgroup", "4:cpu:/\n");
	fakeroot__put("/sys/fs/cgroup/cpu/cgroup.procs", "42\n");
	fakeroot__put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	fakeroot__put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	fakeroot__put("/proc/43/cgroup", "0::/../outside\nnot a line\n:\n4:cpu\n");
	t = begin();
	host_run__target(t.run, 42);
	finish(&t);
	assert_fact(&t.r->host, "run_cpu_quota", "none");
	recording__free(t.r);

	t = begin();
	host_run__target(t.run, 43);
	finish(&t);
	assert_fact(&t.r->host, "run_cpu_quota", "n/a (the target's control group was not found)");
	recording__free(t.r);
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, fakeroot__make, fakeroot__clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(test_a_machine_without_proc_and_sys_says_why),
		RUN_TEST(test_stolen_time_is_a_share_of_all_and_warned_of),
		RUN_TEST(test_a_share_of_a_few_ticks_is_not_told),
		RUN_TEST(test_what_changes_is_told_with_both_values),
		RUN_TEST(test_a_change_that_was_undone_is_told_too),
		RUN_TEST(test_frequencies_of_start_and_end_stand_beside_each_other),
		RUN_TEST(test_the_smallest_quota_of_all_levels_counts),
		RUN_TEST(test_a_group_that_goes_keeps_its_last_numbers),
		RUN_TEST(test_no_quota_is_told_from_an_unknown_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
