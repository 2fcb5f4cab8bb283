/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc.h - one running process as /proc shows it: identity, mappings, CPU time. The process may end
 * at any moment: -ESRCH then. A process that has ended but was not waited for (a zombie) has ended.
 *
 * Every function goes by pid and start time, so that another process with a used-again pid is never
 * taken for the one that was opened. An exec keeps both: see proc__reload_maps().
 */
#ifndef HBPROF_PROC_H
#define HBPROF_PROC_H

#include <hbprof/types.h>
#include <sys/types.h>

struct proc_map {	     /* a line of /proc/PID/maps */
	u64 begin, end, off; /* run-time addresses; file offset of begin */
	u64 dev, ino;	     /* dev as makedev() of the printed numbers; 0 0: no file */
	bool exec, write;
	char *path; /* as printed: " (deleted)" and \012 for a newline kept; "" if none */
};

struct proc {
	pid_t pid;
	u64 start_time; /* field 22 of stat: with pid, the identity */
	bool kthread;
	/* exe: target of the link; cmdline: args joined by spaces. Never NULL; both "" for a kthread.
	 * Any byte but 0 can be in them. */
	char *comm, *exe, *cmdline;
	struct proc_map *map; /* by address */
	u32 nr_maps;
};

/* 0 or -errno: -ESRCH no such process (or it ended meanwhile), -EACCES; -EINVAL: pid is the id of a
 * thread that is not its process's first one. The caller's; proc__close() it. */
int proc__open(pid_t pid, struct proc **out);
/* Reads the mappings again (dlopen, exec). The old ones are freed on success only. */
int proc__reload_maps(struct proc *p);
void proc__close(struct proc *p); /* NULL is fine */

/* The mapping that holds addr, or NULL. */
const struct proc_map *proc__map_at(const struct proc *p, u64 addr);
/*
 * Opens the file behind a mapping, whatever its path says (deleted, replaced, other mount
 * namespace): /proc/PID/map_files first, which is the mapped file by construction. That needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN; without, the path below /proc/PID/root, then the path
 * itself (the target has another root in our mount namespace), if inode and device are the mapped
 * ones. btrfs and some overlays print another device than stat gives: there only the first way works.
 *
 * fd, or -errno: -ENOENT: no file behind it, -ESTALE: its path leads to another file now, -ENOEXEC:
 * not a regular file (devices are not even opened: that may have side effects).
 */
int proc__open_map(const struct proc *p, const struct proc_map *m);
/* fd of the executable through /proc/PID/exe, or -errno. */
int proc__open_exe(const struct proc *p);
/* Still the process that was opened (same start time), and not ended? */
bool proc__alive(const struct proc *p);
/* CPU time of all threads, ended ones included (user + system, in steps of the kernel's clock tick,
 * 10 ms), and resident bytes. 0 or -errno. */
int proc__usage(const struct proc *p, u64 *cpu_ns, u64 *rss_bytes);
/*
 * Numbers that change when code is mapped or unmapped, or runs for the first time, and that cost the
 * process nothing: bytes of executable mappings, page faults so far. 0 or -errno.
 */
struct proc_stamp {
	u64 code_bytes, faults;
};
int proc__stamp(const struct proc *p, struct proc_stamp *out);
/* How long its first thread was ready to run and had no CPU (Documentation/scheduler/sched-stats.rst); 0 where the
 * kernel does not know. */
int proc__waited(const struct proc *p, u64 *ns);
/* pid of the tracer (debugger), 0: none, or -errno. */
pid_t proc__tracer(const struct proc *p);

#endif
