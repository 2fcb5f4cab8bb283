// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_cpu.c - what the CPUs are and how they are put together: model, generation, cores, threads,
 * sockets, caches. Documentation/ABI/stable/sysfs-devices-system-cpu of the kernel names the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hostfile.h"
#include "util/units.h"

#define MAX_SOCKETS 64
#define MAX_KINDS   4 /* of cores in one machine: a phone has three */

/* ---- model ---- */

struct arm_core {
	u32 implementer, part;
};

static bool parse_hex(const char *s, u32 *out)
{
	char *end;
	unsigned long v = strtoul(s, &end, 16);

	if (end == s || *end || v > 0xffff)
		return false;
	*out = (u32)v;
	return true;
}

/* The different cores of the machine, in the order of CPUs. */
static u32 arm_cores_of(const struct host *h, struct arm_core out[MAX_KINDS])
{
	char implementer[32], part[32];
	const char *at = h->cpuinfo;
	struct arm_core c;
	u32 nr = 0, i;

	while (nr < MAX_KINDS &&
	       cpuinfo_next(h, &at, "CPU implementer", implementer, sizeof(implementer)) &&
	       cpuinfo_next(h, &at, "CPU part", part, sizeof(part))) {
		if (!parse_hex(implementer, &c.implementer) || !parse_hex(part, &c.part))
			continue;
		for (i = 0; i < nr; i++)
			if (out[i].implementer == c.implementer && out[i].part == c.part)
				break;
		if (i == nr)
			out[nr++] = c;
		if (!*at)
			break;
	}
	return nr;
}

void fact_cpu_model(const struct host *h, struct text *t)
{
	struct arm_core core[MAX_KINDS];
	const char *name;
	u32 nr;

	if (cpuinfo_value(h, "model name", t->s, sizeof(t->s)))
		return;
	nr = arm_cores_of(h, core);
	t->s[0] = '\0';
	for (u32 i = 0; i < nr; i++) {
		name = arm_core_name(core[i].implementer, core[i].part);
		if (name)
			text_append(t, "%s%s", i ? " and " : "", name);
		else
			text_append(t, "%simplementer 0x%02x part 0x%03x", i ? " and " : "",
				    core[i].implementer, core[i].part);
	}
	if (!nr)
		text_set(t, "n/a (not in /proc/cpuinfo)");
}

/* ---- generation ---- */

/* Of Graviton4 the instance types end in 8g and what follows; Nvidia's Grace, the same core, is in
 * EC2 under other names. */
static bool is_8g(const char *type)
{
	const char *at = type ? strstr(type, "8g") : NULL;

	return at && at > type && strchr(at, '.');
}

/* A maker's chip where core and place leave no other: Amazon has no other N1 and V1 than its own. */
static const char *arm_chip(const struct host *h, const struct arm_core *core)
{
	char *vendor = host__line(h, "/sys/class/dmi/id/sys_vendor");
	char *type = host__line(h, "/sys/class/dmi/id/product_name");
	char *soc = host__line(h, "/sys/devices/soc0/family");
	bool ec2 = vendor && !strcmp(vendor, "Amazon EC2");
	const char *chip = NULL;

	if (core->implementer == 0x41 && ec2 && core->part == 0xd08)
		chip = "AWS Graviton";
	else if (core->implementer == 0x41 && ec2 && core->part == 0xd0c)
		chip = "AWS Graviton2";
	else if (core->implementer == 0x41 && ec2 && core->part == 0xd40)
		chip = "AWS Graviton3";
	else if (core->implementer == 0x41 && ec2 && core->part == 0xd4f && is_8g(type))
		chip = "AWS Graviton4";
	else if (core->implementer == 0x41 && core->part == 0xd0c && soc &&
		 !strcmp(soc, "jep106:0a16"))
		chip = "Ampere Altra"; /* SMCCC SOC_ID: JEP-106 bank 11, 0x16 is Ampere */
	else if (core->implementer == 0x61 || core->implementer == 0xc0)
		chip = arm_core_name(core->implementer, core->part);
	free(vendor);
	free(type);
	free(soc);
	return chip;
}

static bool cpuinfo_u32(const struct host *h, const char *key, u32 *out)
{
	char s[32];
	u64 v;

	if (!cpuinfo_value(h, key, s, sizeof(s)) || parse_u64(s, 0xffff, &v))
		return false;
	*out = (u32)v;
	return true;
}

/* A hypervisor may show its guests any numbers: `virtualization` stands beside. */
static bool x86_fact(const struct host *h, struct text *t)
{
	char vendor[64], brand[256] = "";
	u32 family, model, stepping;
	const char *name;

	if (!cpuinfo_value(h, "vendor_id", vendor, sizeof(vendor)) ||
	    !cpuinfo_u32(h, "cpu family", &family) || !cpuinfo_u32(h, "model", &model) ||
	    !cpuinfo_u32(h, "stepping", &stepping))
		return false;
	cpuinfo_value(h, "model name", brand, sizeof(brand));
	name = x86_generation(vendor, brand, family, model, stepping);
	text_set(t, "%s%sfamily %u model %u stepping %u%s",
		 name ? name : "n/a (no name is known for ", name ? ", " : "", family, model,
		 stepping, name ? "" : ")");
	return true;
}

void fact_cpu_generation(const struct host *h, struct text *t)
{
	struct arm_core core[MAX_KINDS];
	const char *chip;

	if (x86_fact(h, t))
		return;
	if (!arm_cores_of(h, core)) {
		text_set(t, "n/a (no family or part in /proc/cpuinfo)");
		return;
	}
	chip = arm_chip(h, &core[0]);
	if (chip)
		text_set(t, "%s", chip);
	else
		text_set(t, "n/a (the core does not tell whose chip it is)");
}

/* ---- topology ---- */

/* A core is counted at its first CPU that is online. */
void fact_cores(const struct host *h, struct text *t)
{
	u32 cores = 0, most = 0, missing = 0;

	for (u32 cpu = 0; cpu < HOST_MAX_CPUS && missing < HOST_CPU_HOLES; cpu++) {
		char *s = host__line(h, HOST_CPU_DIR "/cpu%u/topology/thread_siblings_list", cpu);
		u32 first = 0, n = s ? cpulist_count(s, &first) : 0;

		missing = n ? 0 : missing + 1;
		cores += n && first == cpu;
		most = n > most ? n : most;
		free(s);
	}
	if (cores)
		text_set(t, "%u (%u thread%s each)", cores, most, most == 1 ? "" : "s");
	else
		text_set(t, "n/a (no topology in /sys)");
}

void fact_sockets(const struct host *h, struct text *t)
{
	char *seen[MAX_SOCKETS], *id;
	u32 nr = 0, missing = 0, i;

	/* CPU numbers may have holes where CPUs are off. */
	for (u32 cpu = 0; cpu < HOST_MAX_CPUS && missing < HOST_CPU_HOLES && nr < MAX_SOCKETS;
	     cpu++) {
		id = host__line(h, HOST_CPU_DIR "/cpu%u/topology/physical_package_id", cpu);
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

void fact_smt(const struct host *h, struct text *t)
{
	char *active = host__line(h, HOST_CPU_DIR "/smt/active");

	if (!active)
		text_set(t, "n/a (no /sys/devices/system/cpu/smt)");
	else
		text_set(t, "%s", !strcmp(active, "1") ? "on" : "off");
	free(active);
}

static void add_cache(struct text *t, const char *level, const char *type, const char *size)
{
	const char *kind = !strcmp(type, "Data") ? "d" : !strcmp(type, "Instruction") ? "i" : "";

	text_append(t, "%sL%s%s %s", *t->s ? ", " : "", level, kind, size);
}

void fact_caches(const struct host *h, struct text *t)
{
	t->s[0] = '\0';
	for (u32 i = 0; i < 8; i++) {
		char *level = host__line(h, HOST_CPU_DIR "/cpu0/cache/index%u/level", i);
		char *type = host__line(h, HOST_CPU_DIR "/cpu0/cache/index%u/type", i);
		char *size = host__line(h, HOST_CPU_DIR "/cpu0/cache/index%u/size", i);

		if (level && type && size)
			add_cache(t, level, type, size);
		free(level);
		free(type);
		free(size);
	}
	if (!*t->s)
		text_set(t, "n/a (no cache in /sys/devices/system/cpu/cpu0)");
}
