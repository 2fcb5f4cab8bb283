/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * select.h - which processes are meant: by name, or by the cgroup that they are in. Those that run now
 * are listed; of one that starts later it can be asked.
 */
#ifndef HBPROF_SELECT_H
#define HBPROF_SELECT_H

#include <hbprof/types.h>
#include <stddef.h>
#include <sys/types.h>

struct selection {
	const char **
		name; /* patterns (fnmatch) of the caller's; each may match any of a process's names */
	size_t nr_names;
	char **cgroup; /* as /proc/PID/cgroup shows them: "/a/b" */
	size_t nr_cgroups;
};

void selection__fini(struct selection *s);
/*
 * Adds a cgroup of version 2: absolute, below a place where such a file system is mounted, or relative to
 * one. 0 or -errno: -ENOENT: there is no such cgroup, -ENODEV: no cgroup2 is mounted.
 */
int selection__add_cgroup(struct selection *s, const char *path);
static inline bool selection__any(const struct selection *s)
{
	return s->nr_names || s->nr_cgroups;
}

/* Is that process meant? A process has three names: its comm, the base name of its executable, and that of
 * its first argument. False for kernel threads, and for what has ended. */
bool selection__has(const struct selection *s, pid_t pid);
/* Is a process of this comm (at most 15 bytes) meant by name? For one that has ended. A name that was cut may
 * be any that begins so. */
bool selection__has_comm(const struct selection *s, const char *comm);
/* All that are meant and run now. *out is the caller's to free(). 0 or -errno. */
int selection__list(const struct selection *s, pid_t **out, size_t *nr);

#endif
