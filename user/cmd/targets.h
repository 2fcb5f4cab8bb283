/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * targets.h - which processes `hbprof record` measures: its options --pid, --name, --cgroup, --wait and
 * --no-children, and the processes that run now.
 */
#ifndef HBPROF_TARGETS_H
#define HBPROF_TARGETS_H

#include <argp.h>

#include "target/proc.h"
#include "target/select.h"

struct plan;
struct plan_opts;
struct session;

struct targets {
	pid_t *pid; /* named by --pid, or found; the first nr_named of them by --pid */
	u32 nr, nr_named;
	size_t cap;
	const char **name, **cgroup;
	size_t nr_names, nr_cgroups, cap_names, cap_cgroups;
	bool no_children, wait;
	bool none_is_fine; /* what is looked for may come later */
	struct selection meant;
	struct proc **proc; /* of pid[]; NULL: it has ended since */
	bool *left_out;	    /* nothing in it is measured */
};

/* To be a child of a command's argp, with a struct targets of zeros as its input. */
extern const struct argp targets_argp;

/* Finds and opens the processes. enum cmd_exit, with the reason logged. */
int targets__open(struct targets *t);
/* The plan for all of them. enum cmd_exit, with the reason logged. */
int targets__plan(struct targets *t, const struct plan_opts *o, struct plan **out);
/* Those in which nothing is measured now are followed as well. 0 or -errno. */
int targets__follow(const struct targets *t, struct session *s);
/* Is it waited for processes that start later? */
static inline bool targets__wait(const struct targets *t)
{
	return t->nr_names || t->nr_cgroups;
}
void targets__fini(struct targets *t);

#endif
