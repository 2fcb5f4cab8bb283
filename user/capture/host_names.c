// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_names.c - what CPUs are called by those who buy them. x86: vendor, family and model of CPUID;
 * Intel's models are those of the kernel's arch/x86/include/asm/intel-family.h, AMD's ranges those of
 * its arch/x86/kernel/cpu/amd.c and of AMD's revision guides. arm64: implementer and part of MIDR_EL1,
 * from arch/arm64/include/asm/cputype.h.
 *
 * A number that is not here has no name: the brand string and the numbers themselves are shown then.
 */
#include "capture/hostfile.h"

#include <string.h>

#define ARRAY_END(a) ((a) + sizeof(a) / sizeof((a)[0]))

struct x86_model {
	u32 family, first, last; /* models */
	u8 step_first, step_last;
	const char *with; /* NULL, or what the brand string must have: other CPUs share the model */
	const char *name;
};

#define ANY_STEP 0, 255

static const struct x86_model intel_models[] = {
	{6, 0x2d, 0x2d, ANY_STEP, "Xeon", "Intel Xeon Sandy Bridge"},
	{6, 0x3e, 0x3e, ANY_STEP, "Xeon", "Intel Xeon Ivy Bridge"},
	{6, 0x3f, 0x3f, ANY_STEP, "Xeon", "Intel Xeon Haswell"},
	{6, 0x4f, 0x4f, ANY_STEP, "Xeon", "Intel Xeon Broadwell"},
	{6, 0x56, 0x56, ANY_STEP, NULL, "Intel Xeon D Broadwell"},
	{6, 0x55, 0x55, 0, 4, "Xeon", "Intel Xeon Skylake"},
	{6, 0x55, 0x55, 5, 7, "Xeon", "Intel Xeon Cascade Lake"},
	{6, 0x55, 0x55, 10, 11, "Xeon", "Intel Xeon Cooper Lake"},
	{6, 0x6a, 0x6a, ANY_STEP, "Xeon", "Intel Xeon Ice Lake"},
	{6, 0x6c, 0x6c, ANY_STEP, NULL, "Intel Xeon D Ice Lake"},
	{6, 0x8f, 0x8f, ANY_STEP, NULL, "Intel Xeon Sapphire Rapids"},
	{6, 0xcf, 0xcf, ANY_STEP, NULL, "Intel Xeon Emerald Rapids"},
	{6, 0xad, 0xae, ANY_STEP, NULL, "Intel Xeon Granite Rapids"},
	{6, 0xaf, 0xaf, ANY_STEP, NULL, "Intel Xeon Sierra Forest"},
	{6, 0x3f, 0x3f, ANY_STEP, "Core", "Intel Haswell-E"},
	{6, 0x4f, 0x4f, ANY_STEP, "Core", "Intel Broadwell-E"},
	{6, 0x55, 0x55, ANY_STEP, "Core", "Intel Skylake-X or Cascade Lake-X"},
	{6, 0x3c, 0x3c, ANY_STEP, NULL, "Intel Haswell"},
	{6, 0x45, 0x46, ANY_STEP, NULL, "Intel Haswell"},
	{6, 0x3d, 0x3d, ANY_STEP, NULL, "Intel Broadwell"},
	{6, 0x47, 0x47, ANY_STEP, NULL, "Intel Broadwell"},
	{6, 0x4e, 0x4e, ANY_STEP, NULL, "Intel Skylake"},
	{6, 0x5e, 0x5e, ANY_STEP, NULL, "Intel Skylake"},
	{6, 0x8e, 0x8e, ANY_STEP, NULL, "Intel Kaby Lake or Coffee Lake"},
	{6, 0x9e, 0x9e, ANY_STEP, NULL, "Intel Kaby Lake or Coffee Lake"},
	{6, 0xa5, 0xa6, ANY_STEP, NULL, "Intel Comet Lake"},
	{6, 0x7d, 0x7e, ANY_STEP, NULL, "Intel Ice Lake"},
	{6, 0x8c, 0x8d, ANY_STEP, NULL, "Intel Tiger Lake"},
	{6, 0xa7, 0xa7, ANY_STEP, NULL, "Intel Rocket Lake"},
	{6, 0x97, 0x97, ANY_STEP, NULL, "Intel Alder Lake"},
	{6, 0x9a, 0x9a, ANY_STEP, NULL, "Intel Alder Lake"},
	{6, 0xb7, 0xb7, ANY_STEP, NULL, "Intel Raptor Lake"},
	{6, 0xba, 0xba, ANY_STEP, NULL, "Intel Raptor Lake"},
	{6, 0xbf, 0xbf, ANY_STEP, NULL, "Intel Raptor Lake"},
	{6, 0xaa, 0xaa, ANY_STEP, NULL, "Intel Meteor Lake"},
	{6, 0xac, 0xac, ANY_STEP, NULL, "Intel Meteor Lake"},
};

/* The first model of each line of EPYC is a desktop's, too: only the brand string tells. */
static const struct x86_model amd_models[] = {
	{0x17, 0x01, 0x01, ANY_STEP, "EPYC", "AMD EPYC Naples (Zen)"},
	{0x17, 0x30, 0x3f, ANY_STEP, "EPYC", "AMD EPYC Rome (Zen 2)"},
	{0x19, 0x00, 0x0f, ANY_STEP, "EPYC", "AMD EPYC Milan (Zen 3)"},
	{0x19, 0x10, 0x1f, ANY_STEP, "EPYC", "AMD EPYC Genoa (Zen 4)"},
	{0x19, 0xa0, 0xaf, ANY_STEP, "EPYC 8", "AMD EPYC Siena (Zen 4c)"},
	{0x19, 0xa0, 0xaf, ANY_STEP, "EPYC 97", "AMD EPYC Bergamo (Zen 4c)"},
	{0x19, 0xa0, 0xaf, ANY_STEP, "EPYC", "AMD EPYC Bergamo or Siena (Zen 4c)"},
	{0x1a, 0x00, 0x0f, ANY_STEP, "EPYC", "AMD EPYC Turin (Zen 5)"},
	{0x1a, 0x10, 0x1f, ANY_STEP, "EPYC", "AMD EPYC Turin Dense (Zen 5c)"},
	{0x17, 0x00, 0x2f, ANY_STEP, NULL, "AMD Zen"},
	{0x17, 0x50, 0x5f, ANY_STEP, NULL, "AMD Zen"},
	{0x17, 0x30, 0x4f, ANY_STEP, NULL, "AMD Zen 2"},
	{0x17, 0x60, 0x7f, ANY_STEP, NULL, "AMD Zen 2"},
	{0x17, 0x90, 0x91, ANY_STEP, NULL, "AMD Zen 2"},
	{0x17, 0xa0, 0xaf, ANY_STEP, NULL, "AMD Zen 2"},
	{0x19, 0x00, 0x0f, ANY_STEP, NULL, "AMD Zen 3"},
	{0x19, 0x20, 0x5f, ANY_STEP, NULL, "AMD Zen 3"},
	{0x19, 0x10, 0x1f, ANY_STEP, NULL, "AMD Zen 4"},
	{0x19, 0x60, 0xaf, ANY_STEP, NULL, "AMD Zen 4"},
	{0x1a, 0x00, 0x2f, ANY_STEP, NULL, "AMD Zen 5"},
	{0x1a, 0x40, 0x4f, ANY_STEP, NULL, "AMD Zen 5"},
	{0x1a, 0x60, 0x7f, ANY_STEP, NULL, "AMD Zen 5"},
};

static const char *find_x86(const struct x86_model *m, const struct x86_model *end,
			    const char *brand, u32 family, u32 model, u32 stepping)
{
	for (; m < end; m++)
		if (m->family == family && m->first <= model && model <= m->last &&
		    m->step_first <= stepping && stepping <= m->step_last &&
		    (!m->with || strstr(brand, m->with)))
			return m->name;
	return NULL;
}

const char *x86_generation(const char *vendor, const char *brand, u32 family, u32 model,
			   u32 stepping)
{
	if (!strcmp(vendor, "GenuineIntel"))
		return find_x86(intel_models, ARRAY_END(intel_models), brand, family, model,
				stepping);
	if (!strcmp(vendor, "AuthenticAMD"))
		return find_x86(amd_models, ARRAY_END(amd_models), brand, family, model, stepping);
	return NULL;
}

static const struct {
	u32 implementer, part;
	const char *name;
} arm_cores[] = {
	{0x41, 0xd03, "Arm Cortex-A53"},
	{0x41, 0xd05, "Arm Cortex-A55"},
	{0x41, 0xd07, "Arm Cortex-A57"},
	{0x41, 0xd08, "Arm Cortex-A72"},
	{0x41, 0xd09, "Arm Cortex-A73"},
	{0x41, 0xd0a, "Arm Cortex-A75"},
	{0x41, 0xd0b, "Arm Cortex-A76"},
	{0x41, 0xd0c, "Arm Neoverse N1"},
	{0x41, 0xd0d, "Arm Cortex-A77"},
	{0x41, 0xd40, "Arm Neoverse V1"},
	{0x41, 0xd41, "Arm Cortex-A78"},
	{0x41, 0xd44, "Arm Cortex-X1"},
	{0x41, 0xd46, "Arm Cortex-A510"},
	{0x41, 0xd47, "Arm Cortex-A710"},
	{0x41, 0xd48, "Arm Cortex-X2"},
	{0x41, 0xd49, "Arm Neoverse N2"},
	{0x41, 0xd4d, "Arm Cortex-A715"},
	{0x41, 0xd4e, "Arm Cortex-X3"},
	{0x41, 0xd4f, "Arm Neoverse V2"},
	{0x41, 0xd80, "Arm Cortex-A520"},
	{0x41, 0xd81, "Arm Cortex-A720"},
	{0x41, 0xd82, "Arm Cortex-X4"},
	{0x41, 0xd84, "Arm Neoverse V3"},
	{0x41, 0xd8e, "Arm Neoverse N3"},
	{0x43, 0x0af, "Marvell ThunderX2"},
	{0x46, 0x001, "Fujitsu A64FX"},
	{0x48, 0xd01, "HiSilicon TSV110 (Kunpeng 920)"},
	{0x61, 0x022, "Apple M1 Icestorm"},
	{0x61, 0x023, "Apple M1 Firestorm"},
	{0x61, 0x024, "Apple M1 Pro Icestorm"},
	{0x61, 0x025, "Apple M1 Pro Firestorm"},
	{0x61, 0x028, "Apple M1 Max Icestorm"},
	{0x61, 0x029, "Apple M1 Max Firestorm"},
	{0x61, 0x032, "Apple M2 Blizzard"},
	{0x61, 0x033, "Apple M2 Avalanche"},
	{0x61, 0x034, "Apple M2 Pro Blizzard"},
	{0x61, 0x035, "Apple M2 Pro Avalanche"},
	{0x61, 0x038, "Apple M2 Max Blizzard"},
	{0x61, 0x039, "Apple M2 Max Avalanche"},
	{0x6d, 0xd49, "Microsoft Azure Cobalt 100"},
	{0xc0, 0xac3, "AmpereOne"},
	{0xc0, 0xac4, "AmpereOne A"},
};

const char *arm_core_name(u32 implementer, u32 part)
{
	for (size_t i = 0; i < sizeof(arm_cores) / sizeof(arm_cores[0]); i++)
		if (arm_cores[i].implementer == implementer && arm_cores[i].part == part)
			return arm_cores[i].name;
	return NULL;
}
