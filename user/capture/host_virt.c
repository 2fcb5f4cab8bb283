// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * host_virt.c - is this a guest, and whose. x86 has a CPUID flag and a leaf with the hypervisor's
 * signature. arm64 has neither: what there is are the device tree, the names in DMI and a CPU that
 * nobody makes. QEMU's board names itself "KVM Virtual Machine" with KVM and "QEMU Virtual Machine"
 * without (hw/arm/virt.c); its CPU `max` is implementer 0, part 0x051.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "capture/hostfile.h"

/* Vendors (DMI sys_vendor) whose boards exist in software only, but for the named exception. */
static const struct {
	const char *vendor, *name, *real; /* real: a product_name with this in it is a machine */
} dmi_guests[] = {
	{"QEMU", "QEMU", NULL},
	{"Amazon EC2", "KVM", ".metal"},
	{"Google", "KVM", NULL},
	{"VMware, Inc.", "VMware", NULL},
	{"Xen", "Xen", NULL},
	{"Parallels", "Parallels", NULL},
	{"innotek GmbH", "VirtualBox", NULL},
	{"OpenStack Foundation", "KVM", NULL},
	{"KubeVirt", "KVM", NULL},
};

struct board {
	char *vendor, *product, *type, *tree, *compatible;
	bool unmade; /* no maker makes this CPU: implementer 0 */
	bool apple;
};

static void board__fini(struct board *b)
{
	free(b->vendor);
	free(b->product);
	free(b->type);
	free(b->tree);
	free(b->compatible);
}

static void board__read(struct board *b, const struct host *h)
{
	char implementer[32];

	*b = (struct board){
		.vendor = host__line(h, "/sys/class/dmi/id/sys_vendor"),
		.product = host__line(h, "/sys/class/dmi/id/product_name"),
		.type = host__line(h, "/sys/hypervisor/type"),
		.tree = host__line(h, "/proc/device-tree/hypervisor/compatible"),
		.compatible = host__line(h, "/proc/device-tree/compatible"),
	};
	if (!cpuinfo_value(h, "CPU implementer", implementer, sizeof(implementer)))
		return;
	b->unmade = !strtoul(implementer, NULL, 16);
	b->apple = strtoul(implementer, NULL, 16) == 0x61;
}

/* NULL: the names do not tell that it is a guest, which need not mean that it is none. */
static const char *name_of_board(const struct board *b)
{
	if (b->unmade)
		return "QEMU TCG";
	if (b->vendor && !strcmp(b->vendor, "QEMU") && b->product) {
		if (!strncmp(b->product, "KVM", 3))
			return "KVM";
		if (!b->apple && !strcmp(b->product, "QEMU Virtual Machine"))
			return "QEMU TCG";
	}
	for (size_t i = 0; b->vendor && i < sizeof(dmi_guests) / sizeof(dmi_guests[0]); i++)
		if (!strcmp(b->vendor, dmi_guests[i].vendor) &&
		    !(dmi_guests[i].real && b->product && strstr(b->product, dmi_guests[i].real)))
			return dmi_guests[i].name;
	if (b->vendor && b->product && !strcmp(b->vendor, "Microsoft Corporation") &&
	    !strcmp(b->product, "Virtual Machine"))
		return "Hyper-V";
	if (b->tree)
		return strstr(b->tree, "xen") ? "Xen" : strstr(b->tree, "kvm") ? "KVM" : b->tree;
	if (b->compatible && !strcmp(b->compatible, "linux,dummy-virt"))
		return "a hypervisor without a name";
	return NULL;
}

bool host__is_guest(const struct host *h)
{
	struct board b;
	bool guest;

	board__read(&b, h);
	guest = b.type || cpuinfo_has_flag(h, "hypervisor");
	/* Where the flag exists its absence tells: a bare server of a cloud has the cloud's names. */
	if (!guest && !cpuinfo_has_flag(h, "fpu"))
		guest = name_of_board(&b) != NULL;
	board__fini(&b);
	return guest;
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
	return sig;
}

static void fact_of_guest(const struct host *h, const struct board *b, struct text *t)
{
	const char *board = name_of_board(b);
	char sig[13];

	hypervisor_signature(h, sig);
	if (*sig)
		text_set(t, "%s", hypervisor_name(sig));
	else
		text_set(t, "%s",
			 b->type ? b->type : (board ? board : "a hypervisor without a name"));
	if (b->vendor || b->product)
		text_append(t, " (%s%s%s)", b->vendor ? b->vendor : "",
			    b->vendor && b->product ? " " : "", b->product ? b->product : "");
}

void fact_virtualization(const struct host *h, struct text *t)
{
	struct board b;

	board__read(&b, h);
	if (h->guest)
		fact_of_guest(h, &b, t);
	else if (cpuinfo_has_flag(h, "fpu"))
		text_set(t, "none");
	else
		text_set(t, "n/a (this CPU has no flag for it%s%s)",
			 b.vendor ? "; the board is " : "", b.vendor ? b.vendor : "");
	board__fini(&b);
}
