/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_loop.h - the wait for the end of a recording, and what is done each second until then. */
#ifndef HBPROF_RECORD_LOOP_H
#define HBPROF_RECORD_LOOP_H

#include <signal.h>
#include <sys/types.h>

#include <hbprof/types.h>

struct goprocs;
struct host_run;
struct live;
struct session;

struct waiter {
	int epoll, signal, tick, end, child;
	int rates;	 /* the session's */
	pid_t child_pid; /* of a command that was started; 0: none */
	bool child_ended, told;
	bool waits; /* for processes that start later: the end of all is no end */
	int ends;   /* the session's */
	u32 ticks;
	bool lines;	       /* without a view: a plain line each second, on stderr */
	u64 calls;	       /* up to the line before */
	const char *reason;    /* why it is over; NULL: not yet */
	struct host_run *host; /* looked at each second; NULL: not */
	struct goprocs *go;    /* likewise */
};

#define WAITER_NONE                                                                        \
	{                                                                                  \
		.epoll = -1, .signal = -1, .tick = -1, .end = -1, .child = -1, .rates = -1 \
	}

/*
 * Watches SIGINT, SIGTERM and SIGHUP, which are blocked from here on: one that comes while attaching ends
 * the recording in order, later. With a child these are for it, and it is waited for its end; the second one
 * is for hbprof. 0 or -errno.
 */
int waiter__open(struct waiter *w, pid_t child, bool waits);
/* Starts the clock, and watches what the kernel has to say; duration_ns 0: no limit. */
int waiter__arm(struct waiter *w, u64 duration_ns, const struct session *s);
void waiter__close(struct waiter *w);

/* Until w->reason is set: then 0. -errno: measuring was cut short. *view may be NULL; one that has ended
 * before the recording is closed, and NULL afterwards. */
int record_loop(struct waiter *w, struct session *s, struct live **view);

#endif
