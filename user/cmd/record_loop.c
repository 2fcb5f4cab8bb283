// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record_loop.c - one epoll over the clock, the kernel's events, signals and the target's end. What
 * happens then is done in trace/.
 */
#include "cmd/record_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "capture/host_run.h"
#include "cmd/live.h"
#include "trace/goprocs.h"
#include "trace/session.h"
#include "util/units.h"

#define RECALIBRATE_EVERY 3 /* intervals */

static int watch(struct waiter *w, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	return fd < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int timer_new(u64 first_ns, u64 every_ns)
{
	struct itimerspec t = {
		.it_value = {first_ns / 1000000000, first_ns % 1000000000},
		.it_interval = {every_ns / 1000000000, every_ns % 1000000000},
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, 0, &t, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Signals are blocked from the start: one that comes while attaching ends it in order, later. */
static int signals_block(void)
{
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Blocked, a signal is not ignored any more: nohup(1) would be in vain. */
	if (sigaction(SIGHUP, NULL, &hup) || hup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void waiter__close(struct waiter *w)
{
	int fds[] = {w->epoll, w->signal, w->tick, w->end, w->child};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int waiter__open(struct waiter *w, pid_t child, bool waits)
{
	*w = (struct waiter)WAITER_NONE;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->signal = signals_block();
	if (w->epoll < 0 || w->signal < 0)
		return -errno;
	w->waits = waits;
	w->child_pid = child;
	if (!child)
		return watch(w, w->signal);
	w->child = (int)syscall(SYS_pidfd_open, child, 0);
	return watch(w, w->signal) || watch(w, w->child) ? -errno : 0;
}

int waiter__arm(struct waiter *w, u64 duration_ns, const struct session *s)
{
	w->tick = timer_new(1000000000, 1000000000);
	w->ends = session__ends_fd(s);
	w->rates = session__rates_fd(s);
	if (w->rates >= 0 && watch(w, w->rates))
		return -errno;
	if (watch(w, w->tick) || watch(w, session__poll_fd(s)) || watch(w, w->ends))
		return -errno;
	if (!duration_ns)
		return 0;
	w->end = timer_new(duration_ns, 0);
	return watch(w, w->end);
}

static void on_signal(struct waiter *w)
{
	struct signalfd_siginfo si;

	if (read(w->signal, &si, sizeof(si)) != sizeof(si))
		return;
	if (w->child >= 0 && !w->child_ended && !w->told) {
		/* The terminal's keys reach the command, too. */
		if (si.ssi_code != SI_KERNEL)
			kill(w->child_pid, (int)si.ssi_signo);
		w->told = true;
		return;
	}
	w->reason = si.ssi_signo == SIGTERM ? "terminated" : "interrupted";
}

/* For who sees stderr, but not the view. */
static void print_line(struct waiter *w, const struct session *s)
{
	u64 calls = session__calls(s), last = calls - w->calls;
	char all[32], now[32];

	w->calls = calls;
	fprintf(stderr, "hbprof: %us: %s calls, %s in the last second\n", w->ticks,
		format_count(all, sizeof(all), calls), format_count(now, sizeof(now), last));
}

static int on_tick(struct waiter *w, struct session *s)
{
	u64 n;
	int err;

	if (read(w->tick, &n, sizeof(n)) != sizeof(n))
		return 0;
	if (w->host)
		host_run__tick(w->host);
	err = w->go ? goprocs__look(w->go, s) : 0;
	if (!err)
		err = session__poll(s);
	if (!err)
		err = session__snapshot(s);
	if (!err && ++w->ticks % RECALIBRATE_EVERY == 0)
		err = session__recalibrate(s);
	return err;
}

/* A view that is over, whatever the reason, leaves the recording alone. */
static void drop_view(struct live **view)
{
	live__close(*view); /* which takes it out of the epoll */
	*view = NULL;
}

static void on_view(struct waiter *w, struct live **view)
{
	bool quit = false;

	if (!live__event(*view, &quit))
		drop_view(view);
	if (quit)
		w->reason = "interrupted";
}

static void check_ends(struct waiter *w, const struct session *s)
{
	if (w->waits || w->reason)
		return;
	if (w->child < 0 && !session__nr_live(s))
		w->reason = "target exited";
	else if (w->child >= 0 && w->child_ended && !session__nr_measured(s))
		w->reason = "command ended";
}

/* What a process has forked before its end is measured on. */
static int on_end(struct waiter *w, struct session *s)
{
	int err = session__poll(s);

	if (!err)
		err = session__reap(s);
	if (!err)
		check_ends(w, s);
	return err;
}

static int on_child_end(struct waiter *w, struct session *s)
{
	w->child_ended = true;
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->child, NULL);
	return on_end(w, s);
}

static int on_ready(struct waiter *w, struct session *s, struct live **view, int fd)
{
	int err;

	if (fd == w->signal) {
		on_signal(w);
	} else if (fd == w->ends) {
		return on_end(w, s);
	} else if (fd == w->child) {
		return on_child_end(w, s);
	} else if (fd == w->rates) {
		return session__rates(s);
	} else if (fd == w->end) {
		w->reason = "duration";
	} else if (fd == w->tick) {
		err = on_tick(w, s);
		if (!err)
			check_ends(w, s);
		if (!err && !*view && w->lines)
			print_line(w, s);
		if (!err && !live__tick(*view))
			drop_view(view);
		return err;
	} else if (*view && fd == live__fd(*view)) {
		on_view(w, view);
	} else {
		return session__poll(s);
	}
	return 0;
}

int record_loop(struct waiter *w, struct session *s, struct live **view)
{
	int err = *view ? watch(w, live__fd(*view)) : 0;

	while (!w->reason && !err) {
		struct epoll_event ev[8];
		int n = epoll_wait(w->epoll, ev, 8, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n && !err; i++)
			err = on_ready(w, s, view, ev[i].data.fd);
	}
	return err;
}
