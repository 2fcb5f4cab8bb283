/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.h - windows in which functions of the Go runtime are counted that are called all the time
 * (bpf/rates.bpf.c): 100 ms of every 10 s. Their probes slow down the processes, so whoever measures
 * leaves out what overlaps them.
 */
#ifndef HBPROF_RATES_H
#define HBPROF_RATES_H

#include "model/request.h"

struct hbprof_bpf;
struct rates;
struct session;

/* Between open and load of the programs. */
void rates__prepare(struct hbprof_bpf *skel, bool on, u32 attach_type);
/* After load. 0 with *out, or -errno. */
int rates__new(struct session *s, struct rates **out);
/* Recording begins: the first window is due in a second. NULL is fine, as it is for whatever follows. */
void rates__start(struct rates *r);
/* fd that becomes readable when rates__tick() has something to do; -1: never. */
int rates__fd(const struct rates *r);
/* Opens the window that is due, or closes the one that is open. 0, or -errno: the measured processes are as
 * they were, and there will be no more windows. */
int rates__tick(struct rates *r);
/* A process ends: what of a window it has had is not used. */
void rates__end_proc(struct rates *r, u32 proc);
/* Closes the window that is open; there will be no more. */
void rates__stop(struct rates *r);
/* Fills in what was counted of each process, and how long probes were there for it. 0 or -errno. */
int rates__read(const struct rates *r, struct m_requests *out);
void rates__free(struct rates *r);

#endif
