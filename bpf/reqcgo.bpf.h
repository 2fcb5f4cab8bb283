/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqcgo.bpf.h - for which goroutine a thread runs code on its own stack: what the Go runtime does there, and C
 * code that a goroutine has called. Used by both objects of requests, and so in static functions of each.
 */
#ifndef HBPROF_REQCGO_BPF_H
#define HBPROF_REQCGO_BPF_H

#include "shared.bpf.h"
#include "arch.bpf.h"

/*
 * g is a thread's g0; *curg is its m.curg, 0 where it works for no goroutine. m.g0 is the first member of m
 * (runtime/runtime2.go, Go 1.20 to 1.26): a word that has come to stand in g's place is told by it. 0, or
 * -1: that cannot be read, or g is no g0.
 */
static __always_inline int g0_curg(u64 g, u32 m_off, u32 curg_off, u64 *curg)
{
	u64 m = 0, g0 = 0;

	if (!curg_off || bpf_probe_read_user(&m, sizeof(m), (void *)(g + m_off)) ||
	    bpf_probe_read_user(&g0, sizeof(g0), (void *)m) || g0 != g)
		return -1;
	return bpf_probe_read_user(curg, sizeof(*curg), (void *)(m + curg_off)) ? -1 : 0;
}

/*
 * The goroutine that has called the C code which runs, and its id if that is known; 0: none has, as on a
 * thread that C has made. cgocall() (runtime/cgocall.go, asm_amd64.s) leaves m.curg as it is and puts g0 where
 * the thread's g is kept. On arm64 that place is the linker's choice (arch_tls_g()).
 */
static __always_inline u64 cgo_goroutine(u32 tgid, u64 *goid)
{
	struct hb_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	u64 g = 0, curg = 0;

	*goid = 0;
	if (!p || !p->go || arch_tls_g(&g) || !g || g0_curg(g, p->m_off, p->curg_off, &curg))
		return 0;
	if (curg && p->goid_off)
		bpf_probe_read_user(goid, sizeof(*goid), (void *)(curg + p->goid_off));
	return curg;
}

#endif
