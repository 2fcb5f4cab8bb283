// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_host.c - the facts of machines made of a few files below a folder. */
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

#include "capture/host.h"

static char root[64];

static int make_root(void **state)
{
	snprintf(root, sizeof(root), "/tmp/hbprof-host.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int remove_root(void **state)
{
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_fact(const struct m_host *h, const char *key, const char *value)
{
	for (u32 i = 0; i < h->nr_facts; i++) {
		if (!strcmp(h->fact[i].key, key)) {
			assert_string_equal(h->fact[i].value, value);
			return;
		}
	}
	fail_msg("no fact %s", key);
}

static void read_host(struct recording *r)
{
	assert_int_equal(host__read(root, &r->host), 0);
}

static void test_a_machine_without_proc_and_sys_says_why_for_each_fact(void **state)
{
	struct recording *r = recording__new();

	read_host(r);
	assert_int_equal(r->host.nr_facts, 13);
	for (u32 i = 0; i < r->host.nr_facts; i++)
		if (strcmp(r->host.fact[i].key, "arch"))
			assert_int_equal(strncmp(r->host.fact[i].value, "n/a (", 5), 0);
	recording__free(r);
}

static void test_a_two_socket_x86_server_is_described(void **state)
{
	struct recording *r = recording__new();

	put("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Xeon Gold 6330\n"
			     "flags\t\t: fpu vme sse2\n\nprocessor\t: 1\nmodel name\t: other\n");
	put("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 1 kB\n");
	put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put("/proc/sys/kernel/version", "#1 SMP Debian\n");
	put("/sys/devices/system/cpu/online", "0-1,4\n");
	put("/sys/devices/system/node/online", "0-1\n");
	put("/sys/devices/system/cpu/smt/active", "1\n");
	put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	put("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	put("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0\n");
	put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
	put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
	put("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
	put("/sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
	put("/sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
	put("/sys/devices/system/cpu/cpu0/cache/index1/size", "42M\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3100000\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Xeon Gold 6330");
	assert_fact(&r->host, "cpus_online", "3");
	assert_fact(&r->host, "sockets", "2");
	assert_fact(&r->host, "numa_nodes", "2");
	assert_fact(&r->host, "smt", "on");
	assert_fact(&r->host, "caches", "L1d 48K, L3 42M");
	assert_fact(&r->host, "governor", "performance");
	assert_fact(&r->host, "frequency_mhz", "3100 (maximum)");
	assert_fact(&r->host, "memory", "1.00GB");
	assert_fact(&r->host, "kernel", "6.1.0-18-amd64 #1 SMP Debian");
	assert_fact(&r->host, "clocksource", "tsc");
	assert_fact(&r->host, "virtualization", "none");
	recording__free(r);
}

static void test_a_guest_says_why_it_has_no_frequency(void **state)
{
	struct recording *r = recording__new();

	put("/proc/cpuinfo", "model name\t: EPYC\nflags\t\t: fpu hypervisor sse2\n");
	put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	put("/sys/class/dmi/id/product_name", "c6a.xlarge\n");
	put("/sys/hypervisor/type", "xen\n");
	read_host(r);
	assert_fact(&r->host, "governor", "n/a (a guest does not set the frequency)");
	assert_fact(&r->host, "frequency_mhz", "n/a (a guest does not see the frequency)");
	assert_fact(&r->host, "virtualization", "xen (Amazon EC2 c6a.xlarge)");
	recording__free(r);
}

static void test_an_arm_server_is_named_by_its_core(void **state)
{
	struct recording *r = recording__new();

	put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\n"
			     "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Arm Neoverse V1");
	assert_fact(&r->host, "virtualization", "n/a (this CPU has no flag for it)");
	recording__free(r);
}

static void test_files_that_lie_are_not_believed(void **state)
{
	struct recording *r = recording__new();

	put("/sys/devices/system/cpu/online", "5-1\n");
	put("/sys/devices/system/node/online", "0-99999999\n");
	put("/proc/meminfo", "MemTotal: lots\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "fast\n");
	read_host(r);
	assert_fact(&r->host, "cpus_online", "n/a (/sys/devices/system/cpu/online cannot be read)");
	assert_fact(&r->host, "numa_nodes", "n/a (/sys/devices/system/node/online cannot be read)");
	assert_fact(&r->host, "memory", "n/a (no MemTotal in /proc/meminfo)");
	assert_fact(&r->host, "frequency_mhz", "n/a (no cpufreq driver)");
	recording__free(r);
}

#define HOST_TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(test_a_machine_without_proc_and_sys_says_why_for_each_fact),
		HOST_TEST(test_a_two_socket_x86_server_is_described),
		HOST_TEST(test_a_guest_says_why_it_has_no_frequency),
		HOST_TEST(test_an_arm_server_is_named_by_its_core),
		HOST_TEST(test_files_that_lie_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
