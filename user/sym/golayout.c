// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * golayout.c - where the Go runtime keeps what the BPF side reads of a goroutine.
 *
 * Source: DWARF of programs built by Go 1.20.14, 1.21.13, 1.22.12, 1.23.12, 1.24.4, 1.24.11, 1.25.5
 * and 1.26.8 for amd64 and arm64; both architectures agree in every release.
 *
 * The stack pointer of the frame that goes on after a recovered panic, when runtime.recovery(gp) is
 * entered (runtime/panic.go of each): before Go 1.22 gp.sigcode0, set by gopanic; since then
 * gp._panic.sp. A Goexit that is pending further out makes recovery() go on unwinding from there
 * instead: frames deeper than _panic.sp are dead then too.
 */
#include "sym/golayout.h"

#include <elf.h>
#include <errno.h>

/* g.m follows stack, two stack guards, _panic and _defer in every release. */
#define M(curg, scan, seq) .m_off = 48, .curg_off = (curg), .scan_off = (scan), .seq_off = (seq)

static const struct {
	u32 minor;
	struct go_layout layout;
} layouts[] = {
	{20, {.goid_off = 152, .sigcode_off = 272, M(192, 182, 189)}},
	{21, {.goid_off = 152, .sigcode_off = 248, M(192, 182, 188)}},
	{22, {.goid_off = 152, .panic_off = 32, .panic_sp_off = 48, M(192, 182, 191)}},
	{23, {.goid_off = 160, .panic_off = 32, .panic_sp_off = 48, M(192, 190, 199)}},
	{24, {.goid_off = 160, .panic_off = 32, .panic_sp_off = 48, M(192, 190, 199)}},
	{25, {.goid_off = 152, .panic_off = 32, .panic_sp_off = 48, M(184, 182, 191)}},
	{26, {.goid_off = 152, .panic_off = 32, .panic_sp_off = 40, M(184, 182, 191)}},
};

int go_layout__find(u32 go_minor, u16 e_machine, struct go_layout *out)
{
	if (e_machine != EM_X86_64 && e_machine != EM_AARCH64)
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].minor != go_minor)
			continue;
		*out = layouts[i].layout;
		return 0;
	}
	return -ENOTSUP;
}
