/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switches.h - context switches of the measured processes, of all their threads, those that have ended
 * included: read at both ends of the recording (bpf/switches.bpf.c).
 */
#ifndef HBPROF_SWITCHES_H
#define HBPROF_SWITCHES_H

#include <hbprof/types.h>

struct hbprof_bpf;
struct switches;

/* Between open and load of the programs. */
void switches__prepare(struct hbprof_bpf *skel, bool on);
/* After load. 0 with *out; -errno: they cannot be read here. */
int switches__new(struct hbprof_bpf *skel, struct switches **out);
/* Reads those of the first nr processes; from the first time on that one is seen, its switches count. NULL is
 * fine, as it is for whatever follows. */
void switches__look(struct switches *s, u32 nr);
/* This process is about to end or has just done so: what it has now is final. */
void switches__end(struct switches *s, u32 proc);
/* Since the first look at the process, as of the last. False: not known, as it was gone then. */
bool switches__of(const struct switches *s, u32 proc, u64 *voluntary, u64 *involuntary);
void switches__free(struct switches *s);

#endif
