/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * golayout.h - offsets inside the Go runtime's g, m and _panic, per minor version, 64-bit.
 */
#ifndef HBPROF_GOLAYOUT_H
#define HBPROF_GOLAYOUT_H

#include <hbprof/types.h>

struct go_layout {
	u32 goid_off;	  /* g.goid */
	u32 panic_off;	  /* g._panic; 0 where recovery() reads g.sigcode0 */
	u32 panic_sp_off; /* _panic.sp */
	u32 sigcode_off;  /* g.sigcode0, Go 1.20 and 1.21; else 0 */
	u32 m_off;	  /* g.m */
	u32 curg_off;	  /* m.curg: the goroutine for which m runs code on its own stack */
	u32 scan_off;	  /* g.gcscandone (bool): the garbage collector has scanned its stack */
	u32 seq_off;	  /* g.trackingSeq (u8): times that g has stopped running; less than
			 HB_STOPS_BYTES behind the above */
};

/*
 * g.atomicstatus (u32), another u32 and g.goid stand in a row in every release that is known. Its
 * values: runtime/runtime2.go; the extra one, of a g that waits for a cgo callback, is Go 1.26's.
 */
#define GO_STATUS_BEFORE_GOID 8
#define GO_STATUS_DEAD	      6
#define GO_STATUS_DEAD_EXTRA  11
#define GO_STATUS_SCAN	      0x1000 /* a bit on top of the others: its stack is being scanned */

/* 0, or -ENOTSUP: this version is not known (goids and recovery are not followed then). */
int go_layout__find(u32 go_minor, u16 e_machine, struct go_layout *out);

#endif
