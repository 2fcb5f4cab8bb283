/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc.h - one running process as /proc shows it: identity, mappings, CPU time. The process may end
 * at any moment: -ESRCH then.
 */
#ifndef HBPROF_PROC_H
#define HBPROF_PROC_H

#include <hbprof/types.h>
#include <sys/types.h>

struct proc_map { /* a line of /proc/PID/maps */
	u64 begin, end, off; /* run-time addresses; file offset of begin */
	u64 dev, ino;	     /* dev as makedev() of the printed numbers; 0 0: no file */
	bool exec, write;
	char *path;	     /* as printed, " (deleted)" kept; "" if none */
};

struct proc {
	pid_t pid;
	u64 start_time; /* field 22 of stat: with pid, the identity */
	bool kthread;
	char *comm, *exe, *cmdline; /* exe: target of the link; cmdline: args joined by spaces */
	struct proc_map *map;
	u32 nr_maps;
};

/* 0 or -errno: -ESRCH no such process (or it ended meanwhile), -EACCES. The caller's. */
int proc__open(pid_t pid, struct proc **out);
int proc__reload_maps(struct proc *p);
void proc__close(struct proc *p);

/* The mapping that holds addr, or NULL. */
const struct proc_map *proc__map_at(const struct proc *p, u64 addr);
/* Opens the file behind a mapping, whatever its path says (deleted, replaced, other mount
 * namespace): /proc/PID/map_files first, /proc/PID/root + path after. fd or -errno; the file is the
 * mapped one: device and inode are compared. */
int proc__open_map(const struct proc *p, const struct proc_map *m);
/* fd of the executable through /proc/PID/exe, or -errno. */
int proc__open_exe(const struct proc *p);
/* Still the process that was opened (same start time)? */
bool proc__alive(const struct proc *p);
/* CPU time of all threads (user + system) ns, resident bytes. 0 or -errno. */
int proc__usage(const struct proc *p, u64 *cpu_ns, u64 *rss_bytes);
/* pid of the tracer (debugger), 0: none, or -errno. */
pid_t proc__tracer(const struct proc *p);

#endif
