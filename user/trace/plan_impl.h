/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan_impl.h - what the plan*.c share. */
#ifndef HBPROF_PLAN_IMPL_H
#define HBPROF_PLAN_IMPL_H

#include "sym/registry.h"
#include "trace/plan.h"

int plan__warn(struct plan *pl, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The file behind a mapping of the process, or of the file that is planned: fd or -errno. */
int plan_open_map(const struct proc *p, const struct proc_map *m);
/* Opens a file and reads its functions; *vaddr: of the mapping's first byte. What it has made is there on
 * failure, too: fini it. */
int plan_image__load(const struct proc *p, const struct proc_map *m, struct plan_image *pi,
		     u64 *vaddr);
void plan_image__fini(struct plan_image *pi);
/* The running kernel's major << 8 | minor; 0: not known. */
u32 running_kernel(void);
/* Functions found in one image: [from, to) of plan.list. */
struct found {
	u32 image;
	size_t from, to;
};

/* What was found in files that no process before had mapped. */
struct gather {
	struct found *v;
	size_t nr, cap;
	struct registry_report rep; /* the executable's, or of the last image with something linked */
};

/* Takes what was found in a process's files into the plan, with its sites. 0 or -errno. */
int plan__grow(struct plan *pl, u32 proc, const struct gather *g);
void plan__free_procs(struct plan *pl);
/* Adds to every image of a process that was not searched before the return sites of calls that it makes
 * of planned functions. 0 or -errno. */
int plan__call_sites(struct plan *pl, u32 proc);
/* Fills in tails_direct and tails_indirect of the functions from `first` on. 0 or -ENOMEM. */
int plan__tails(struct plan *pl, u32 proc, u32 first);
/* Sites in an image's Go runtime that do not come with a function that is measured. 0 or -ENOMEM. */
int plan__runtime_sites(struct plan *pl, u32 image);
/* With opts.follow_go: the sites at which the image's Go runtime has made a goroutine, or a warning why there
 * are none. 0 or -ENOMEM. */
int plan__starts(struct plan *pl, u32 image);
/* A --probe for a message: what a user has given may be very long. */
#define PLAN_SHOWN 200
const char *plan_shown(const char *spec, char buf[PLAN_SHOWN]);
/* Says what else runs in the name of the planned functions from `first` on, or is counted in it: warnings
 * and notes. 0 or -ENOMEM. */
int plan__copies(struct plan *pl, u32 first);
/* At how many places a Go function is inlined; 0: at none, or it is not known. */
u32 plan__go_inlined(const struct plan *pl, const char *name);
/* What the word at `slot` (vaddr) of an image holds in the process. False: it cannot be read, or no
 * file's code is there. */
bool plan__slot_value(const struct plan *pl, u32 proc, u32 image, u64 slot, u32 *to, u64 *vaddr);
/*
 * Says what was not found and why. 0 where there is something to measure and every --probe named a
 * function; else -ENOENT or -EINVAL, with the message logged.
 */
int plan__explain(struct plan *pl, const struct registry_report *rep);

#endif
