/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follow.h - processes that become targets while it is recorded: what the targets fork and exec, and what
 * is meant by name or cgroup and starts later. Each is measured from when its probes are attached; how
 * long it ran before, unmeasured, is said.
 */
#ifndef HBPROF_FOLLOW_H
#define HBPROF_FOLLOW_H

#include <hbprof/abi.h>
#include <stddef.h>
#include <sys/types.h>

struct hbprof_bpf;
struct selection;
struct session;

/* A process that is followed, in which nothing was found so far: its libraries may not be mapped yet. */
struct follow_empty {
	struct proc *proc;
	u64 born_mono_ns; /* as session_proc's */
	u64 seen_mono_ns;
	u64 code_bytes; /* as of before it was looked at last; 0: not known */
	bool named;	/* by the user: the recording waits for it */
	bool settled;	/* what it is made of is mapped: nothing is in it */
};

struct follow {
	bool on;
	const struct selection *meant; /* NULL, or what else is meant; the caller's */
	bool only_meant;	       /* not what those have forked and run */
	int link[3];		       /* of the programs */
	struct hb_proc_event *event;   /* not yet handled */
	size_t nr_events, cap_events;
	struct follow_empty *empty;
	size_t nr_empty, cap_empty;
	int timer; /* while a process is young, and may be mapping its libraries */
	u64 step_ns;
	/* What was not measured, and is told at the end. */
	u32 nr_gone;	 /* had ended before it was known what is in them */
	u32 nr_too_many; /* more processes than there is room for */
	u32 nr_no_codec; /* nothing in them is to be measured */
	u32 nr_later;	 /* nothing in them was, until they had loaded a library */
	pid_t first_later;
	u64 later_ns; /* of the first one: since the start */
	u32 nr_named; /* of empty[] */
};

void follow__init(struct follow *f, bool on);
/* Between open and load of the programs: keeps them and their maps out where nothing is followed. */
void follow__prepare(struct hbprof_bpf *skel, bool on, bool all_execs);
/* After load, before anything is attached. 0 or -errno, logged. */
int follow__start(struct session *s, const struct selection *meant, bool only_meant);
void follow__fini(struct follow *f);
/* A process is followed from here on; without room for it that is counted. */
void follow__add(struct session *s, pid_t pid);
/* The same for one in which nothing was found to be measured: it is looked at again. 0 or -errno. */
int follow__watch(struct session *s, pid_t pid);
/* When the timer has fired, which is in the session's epoll: looks at young processes again. 0 or -errno. */
int follow__retry(struct session *s);
/* What the kernel has told since: processes come and change. 0 or -errno. */
int follow__handle(struct session *s);
/* Each second: what is meant may have got there without a word (moved into a cgroup). 0 or -errno. */
int follow__look_around(struct session *s);
/* At the end: warnings about what was not measured. */
void follow__tell(struct session *s);

#endif
