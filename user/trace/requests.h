/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * requests.h - request accounting (bpf/req.bpf.c), as part of a session: what is set before its
 * programs are loaded, its tracepoints, and its rows in the recording.
 *
 * System call tracepoints are the whole machine's: while they are attached, each such call of any
 * process passes a filter. docs/benchmarks.md has the price.
 */
#ifndef HBPROF_REQUESTS_H
#define HBPROF_REQUESTS_H

#include "model/model.h"
#include "trace/plan.h"

struct hbprof_bpf;
struct requests;

struct requests_opts {
	bool on;
	bool children;	/* what the processes fork is measured, too */
	bool follow_go; /* goroutines inherit requests */
	u32 max_conns;	/* connections at once; 0: default */
};

/* Between open and load of the programs: sets them up, or keeps them out. */
void requests__prepare(struct hbprof_bpf *skel, const struct requests_opts *o);
/* After load; the plan outlives it. 0 with *out, or -ENOMEM. */
int requests__new(struct hbprof_bpf *skel, const struct plan *plan, struct requests **out);
/* Attaches the tracepoints. 0; -errno with the reason logged: there will be no requests. */
int requests__attach(struct requests *r);
/* The plan has grown. NULL is fine, as it is for whatever follows. */
void requests__learn(struct requests *r);
/* A process is known by its own index from here on. */
void requests__measured(struct requests *r, u32 pid);
/* Right before recording begins: who listens on which port. What will not be seen is warned of. */
void requests__start(struct requests *r, struct recording *rec);
/* Reads what the scheduler has done to the processes so far: when recording of one begins, before what is
 * read of it is used, and when recording ends. */
void requests__look(struct requests *r);
/* A process ends, or has just done so: the last look at it. */
void requests__end_proc(struct requests *r, u32 proc);
/* Takes the tracepoints off. */
void requests__stop(struct requests *r);
/*
 * Fills rec->requests. final: after requests__stop(); exchanges that have an answer and were followed
 * by nothing are requests then. 0 or -errno.
 */
int requests__read(struct requests *r, bool final, struct recording *rec);
u64 requests__map_bytes(const struct requests *r);
void requests__free(struct requests *r); /* NULL is fine */

#endif
