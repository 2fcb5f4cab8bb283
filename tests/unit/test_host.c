// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_host.c - the facts of machines made of a few files below a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/host.h"
#include "capture/hostfile.h"
#include "fakeroot.h"

static void read_host(struct recording *r)
{
	assert_int_equal(host__read(fakeroot, &r->host), 0);
}

static void test_a_machine_without_proc_and_sys_says_why_for_each_fact(void **state)
{
	struct recording *r = recording__new();

	read_host(r);
	assert_int_equal(r->host.nr_facts, 15);
	for (u32 i = 0; i < r->host.nr_facts; i++)
		if (strcmp(r->host.fact[i].key, "arch"))
			assert_int_equal(strncmp(r->host.fact[i].value, "n/a (", 5), 0);
	recording__free(r);
}

static void test_a_two_socket_x86_server_is_described(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/proc/cpuinfo",
		      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n"
		      "model name\t: Xeon Gold 6330\nstepping\t: 6\nflags\t\t: fpu vme sse2\n\n"
		      "processor\t: 1\nmodel name\t: other\n");
	fakeroot__put("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 1 kB\n");
	fakeroot__put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	fakeroot__put("/proc/sys/kernel/version", "#1 SMP Debian\n");
	fakeroot__put("/sys/devices/system/cpu/online", "0-1,4\n");
	fakeroot__put("/sys/devices/system/node/online", "0-1\n");
	fakeroot__put("/sys/devices/system/cpu/smt/active", "1\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	fakeroot__put("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
	fakeroot__put("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cache/index1/size", "42M\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3100000\n");
	fakeroot__put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Xeon Gold 6330");
	assert_fact(&r->host, "cpu_generation",
		    "Intel Xeon Ice Lake, family 6 model 106 stepping 6");
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

	fakeroot__put("/proc/cpuinfo", "model name\t: EPYC\nflags\t\t: fpu hypervisor sse2\n");
	fakeroot__put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	fakeroot__put("/sys/class/dmi/id/product_name", "c6a.xlarge\n");
	fakeroot__put("/sys/hypervisor/type", "xen\n");
	read_host(r);
	assert_fact(&r->host, "governor", "n/a (a guest does not set the frequency)");
	assert_fact(&r->host, "frequency_mhz", "n/a (a guest does not see the frequency)");
	assert_fact(&r->host, "virtualization", "xen (Amazon EC2 c6a.xlarge)");
	recording__free(r);
}

static void test_an_arm_server_is_named_by_its_core(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/proc/cpuinfo",
		      "processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\n"
		      "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Arm Neoverse V1");
	assert_fact(&r->host, "virtualization", "n/a (this CPU has no flag for it)");
	recording__free(r);
}

static void test_cores_and_their_threads_are_counted_where_cpus_are_off(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,8\n");
	fakeroot__put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2\n");
	fakeroot__put("/sys/devices/system/cpu/cpu8/topology/thread_siblings_list", "0,8\n");
	read_host(r);
	assert_fact(&r->host, "cores", "2 (2 threads each)");
	recording__free(r);
}

static void test_frequencies_that_differ_between_cpus_are_ranges(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq", "800000\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n");
	fakeroot__put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	fakeroot__put("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_min_freq", "1200000\n");
	fakeroot__put("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3700000\n");
	read_host(r);
	assert_fact(&r->host, "governor", "powersave (some CPUs have another one)");
	assert_fact(&r->host, "frequency_mhz", "800 to 3700, limited to 2000");
	recording__free(r);
}

/* ---- names ---- */

static void assert_x86(const char *vendor, const char *brand, u32 family, u32 model, u32 stepping,
		       const char *name)
{
	const char *got = x86_generation(vendor, brand, family, model, stepping);

	if (!got || !name) {
		assert_true(got == name);
		return;
	}
	assert_string_equal(got, name);
}

static void test_server_cpus_have_the_names_of_their_generations(void **state)
{
	const char *intel = "GenuineIntel", *amd = "AuthenticAMD", *xeon = "Intel(R) Xeon(R) CPU";

	assert_x86(intel, xeon, 6, 63, 2, "Intel Xeon Haswell");
	assert_x86(intel, xeon, 6, 79, 1, "Intel Xeon Broadwell");
	assert_x86(intel, xeon, 6, 85, 4, "Intel Xeon Skylake");
	assert_x86(intel, xeon, 6, 85, 7, "Intel Xeon Cascade Lake");
	assert_x86(intel, xeon, 6, 85, 11, "Intel Xeon Cooper Lake");
	assert_x86(intel, xeon, 6, 106, 6, "Intel Xeon Ice Lake");
	assert_x86(intel, xeon, 6, 143, 8, "Intel Xeon Sapphire Rapids");
	assert_x86(intel, xeon, 6, 207, 2, "Intel Xeon Emerald Rapids");
	assert_x86(intel, xeon, 6, 173, 1, "Intel Xeon Granite Rapids");
	assert_x86(amd, "AMD EPYC 7601", 23, 1, 2, "AMD EPYC Naples (Zen)");
	assert_x86(amd, "AMD EPYC 7R32", 23, 49, 0, "AMD EPYC Rome (Zen 2)");
	assert_x86(amd, "AMD EPYC 7B13", 25, 1, 0, "AMD EPYC Milan (Zen 3)");
	assert_x86(amd, "AMD EPYC", 25, 17, 1, "AMD EPYC Genoa (Zen 4)");
	assert_x86(amd, "AMD EPYC 9754", 25, 160, 1, "AMD EPYC Bergamo (Zen 4c)");
	assert_x86(amd, "AMD EPYC 8324P", 25, 160, 2, "AMD EPYC Siena (Zen 4c)");
	assert_x86(amd, "AMD EPYC 9755", 26, 2, 1, "AMD EPYC Turin (Zen 5)");
}

static void test_a_desktop_cpu_of_a_servers_model_has_no_servers_name(void **state)
{
	assert_x86("AuthenticAMD", "AMD Ryzen 7 1700", 23, 1, 1, "AMD Zen");
	assert_x86("GenuineIntel", "Intel(R) Core(TM) i9-7900X CPU", 6, 85, 4,
		   "Intel Skylake-X or Cascade Lake-X");
	assert_x86("AuthenticAMD", "AMD EPYC 9999", 99, 1, 1, NULL);
	assert_x86("GenuineIntel", "Intel(R) Xeon(R)", 6, 85, 9, NULL);
	assert_x86("SomebodyElse", "", 6, 85, 4, NULL);
}

/* ---- arm64 ---- */

static void put_arm(const char *implementer, const char *part)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "processor\t: 0\nCPU implementer\t: %s\nCPU architecture: 8\n"
		 "CPU variant\t: 0x1\nCPU part\t: %s\nCPU revision\t: 1\n",
		 implementer, part);
	fakeroot__put("/proc/cpuinfo", text);
}

static void test_graviton_is_named_only_where_amazon_is(void **state)
{
	struct recording *r = recording__new();

	put_arm("0x41", "0xd0c");
	read_host(r);
	assert_fact(&r->host, "cpu_generation", "n/a (the core does not tell whose chip it is)");
	recording__free(r);

	r = recording__new();
	fakeroot__put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	fakeroot__put("/sys/class/dmi/id/product_name", "m6g.large\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Arm Neoverse N1");
	assert_fact(&r->host, "cpu_generation", "AWS Graviton2");
	assert_fact(&r->host, "virtualization", "KVM (Amazon EC2 m6g.large)");
	recording__free(r);

	r = recording__new();
	put_arm("0x41", "0xd4f");
	fakeroot__put("/sys/class/dmi/id/product_name", "r8g.metal-24xl\n");
	read_host(r);
	assert_fact(&r->host, "cpu_generation", "AWS Graviton4");
	assert_fact(&r->host, "virtualization",
		    "n/a (this CPU has no flag for it; the board is Amazon EC2)");
	recording__free(r);

	/* Another maker's chip with the same core. */
	r = recording__new();
	fakeroot__put("/sys/class/dmi/id/product_name", "p6e-gb200.36xlarge\n");
	read_host(r);
	assert_fact(&r->host, "cpu_generation", "n/a (the core does not tell whose chip it is)");
	recording__free(r);
}

static void test_small_and_large_cores_are_both_named(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/proc/cpuinfo",
		      "processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0x022\n\n"
		      "processor\t: 1\nCPU implementer\t: 0x61\nCPU part\t: 0x023\n\n"
		      "processor\t: 2\nCPU implementer\t: 0x61\nCPU part\t: 0x023\n\n");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "Apple M1 Icestorm and Apple M1 Firestorm");
	recording__free(r);
}

static void test_an_emulated_arm_machine_is_told_from_a_virtual_one(void **state)
{
	struct recording *r = recording__new();

	put_arm("0x41", "0xd0c");
	fakeroot__put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	fakeroot__put("/sys/class/dmi/id/product_name", "QEMU Virtual Machine\n");
	read_host(r);
	assert_fact(&r->host, "virtualization", "QEMU TCG (QEMU QEMU Virtual Machine)");
	recording__free(r);

	r = recording__new();
	fakeroot__put("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
	read_host(r);
	assert_fact(&r->host, "virtualization", "KVM (QEMU KVM Virtual Machine)");
	recording__free(r);
}

static void test_a_cpu_that_nobody_makes_is_an_emulator_s(void **state)
{
	struct recording *r = recording__new();

	put_arm("0x00", "0x051");
	read_host(r);
	assert_fact(&r->host, "cpu_model", "implementer 0x00 part 0x051");
	assert_fact(&r->host, "virtualization", "QEMU TCG");
	recording__free(r);
}

static void test_files_that_lie_are_not_believed(void **state)
{
	struct recording *r = recording__new();

	fakeroot__put("/sys/devices/system/cpu/online", "5-1\n");
	fakeroot__put("/sys/devices/system/node/online", "0-99999999\n");
	fakeroot__put("/proc/meminfo", "MemTotal: lots\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "fast\n");
	fakeroot__put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,,1\n");
	fakeroot__put("/proc/cpuinfo",
		      "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: many\n");
	read_host(r);
	assert_fact(&r->host, "cores", "n/a (no topology in /sys)");
	assert_fact(&r->host, "cpu_generation", "n/a (no family or part in /proc/cpuinfo)");
	assert_fact(&r->host, "cpus_online", "n/a (/sys/devices/system/cpu/online cannot be read)");
	assert_fact(&r->host, "numa_nodes", "n/a (/sys/devices/system/node/online cannot be read)");
	assert_fact(&r->host, "memory", "n/a (no MemTotal in /proc/meminfo)");
	assert_fact(&r->host, "frequency_mhz", "n/a (no cpufreq driver)");
	recording__free(r);
}

#define HOST_TEST(f) cmocka_unit_test_setup_teardown(f, fakeroot__make, fakeroot__clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(test_a_machine_without_proc_and_sys_says_why_for_each_fact),
		HOST_TEST(test_a_two_socket_x86_server_is_described),
		HOST_TEST(test_a_guest_says_why_it_has_no_frequency),
		HOST_TEST(test_an_arm_server_is_named_by_its_core),
		HOST_TEST(test_cores_and_their_threads_are_counted_where_cpus_are_off),
		HOST_TEST(test_frequencies_that_differ_between_cpus_are_ranges),
		cmocka_unit_test(test_server_cpus_have_the_names_of_their_generations),
		cmocka_unit_test(test_a_desktop_cpu_of_a_servers_model_has_no_servers_name),
		HOST_TEST(test_graviton_is_named_only_where_amazon_is),
		HOST_TEST(test_small_and_large_cores_are_both_named),
		HOST_TEST(test_an_emulated_arm_machine_is_told_from_a_virtual_one),
		HOST_TEST(test_a_cpu_that_nobody_makes_is_an_emulator_s),
		HOST_TEST(test_files_that_lie_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
