/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.h - CPU samples of the traced processes: perf events on every CPU, their stacks from the
 * kernel's ring buffer into the recording. Part of a session, which does without it where it cannot
 * be had: what is missing is said, with the remedy, and becomes a warning of the recording.
 *
 * Stacks are walked by frame pointers, in the kernel. Go code has them, and so has C code that was
 * built with -fno-omit-frame-pointer. Other code loses its callers: such stacks are counted as
 * truncated. Functions that were inlined are part of the one that they were inlined into.
 */
#ifndef HBPROF_SAMPLER_H
#define HBPROF_SAMPLER_H

#include "model/model.h"
#include "trace/plan.h"

#define SAMPLER_DEFAULT_HZ 99
#define SAMPLER_MAX_HZ	   10000

struct hbprof_bpf;
struct ring_buffer;
struct sampler;

/* Between open and load of the programs: sets them up, or keeps them and their maps out (hz 0). */
void sampler__prepare(struct hbprof_bpf *skel, u32 hz);
/* After load; ring takes the samples in, whenever it is consumed. 0 with *out, or -ENOMEM. */
int sampler__new(struct hbprof_bpf *skel, struct plan *plan, struct ring_buffer *ring, u32 hz,
		 struct sampler **out);
void sampler__free(struct sampler *s); /* NULL is fine */
/* The next process of the plan is sampled, too. 0 or -ENOMEM. */
int sampler__add_proc(struct sampler *s);

/* Opens the events; samples come once recording has begun. 0 or -ENOMEM; without events there are
 * warnings in rec. */
int sampler__start(struct sampler *s, struct recording *rec);
/* Closes them. */
void sampler__stop(struct sampler *s);
/* After the ring was consumed for the last time: names the functions, fills rec->stacks. 0 or -ENOMEM. */
int sampler__finish(struct sampler *s, struct recording *rec);

#endif
