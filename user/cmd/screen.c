// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * screen.c - taking the terminal over, drawing what has changed, and giving it back: at the end, when
 * the program is stopped by Ctrl-Z, and when it crashes. What is drawn is not this file's.
 *
 * Escape sequences are those that xterm, the Linux console, tmux and screen have in common (ECMA-48,
 * and the DEC private modes 7, 25 and 1049); there is no terminfo.
 */
#include "cmd/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/keys.h"
#include "util/log.h"

/* Alternate screen, no cursor, no wrapping at the right edge, all empty. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[0m\033[H\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"
/* Ends a sequence of which the terminal has seen only the beginning. */
#define CANCEL	    "\030"

#define MAX_OUTPUT  (4u << 20)
#define LEAVE_MS    300 /* for a terminal that takes no output at the moment */
#define MAX_COLUMNS 1000
#define MAX_LINES   500

struct screen {
	int tty, signals, epoll;
	bool has_keys; /* stdin is a terminal too */
	bool on;       /* it is ours at the moment */
	bool watched;  /* the terminal is in the epoll */
	bool writing;  /* waiting until it takes the rest of a frame */
	struct termios before;
	u32 width, height;
	struct strbuf shown, out; /* the frame on the screen; bytes on their way */
	size_t written;		  /* of out */
	struct keys keys;
};

/* ---- a crash ------------------------------------------------------------------------------ */

/* What a signal handler needs to give the terminal back. */
static struct {
	volatile sig_atomic_t on;
	int tty;
	bool raw;
	struct termios before;
} rescue;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT};
#define NR_CRASHES (sizeof(crashes) / sizeof(crashes[0]))
static struct sigaction before_crash[NR_CRASHES];

/* The stack may be what is broken. SIGSTKSZ is no constant since glibc 2.34. */
static char rescue_stack[16384];

static void on_crash(int sig)
{
	if (rescue.on) {
		rescue.on = 0;
		if (rescue.raw)
			tcsetattr(rescue.tty, TCSANOW, &rescue.before);
		/* A terminal that takes nothing now cannot be helped. */
		if (write(rescue.tty, CANCEL LEAVE, strlen(CANCEL LEAVE)) < 0)
			rescue.on = 0;
	}
	/* The default was set when this handler was entered: the end, and the core, are the usual. */
	raise(sig);
}

static void catch_crashes(void)
{
	struct sigaction sa = {.sa_handler = on_crash,
			       .sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
	stack_t stack = {.ss_sp = rescue_stack, .ss_size = sizeof(rescue_stack)};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < NR_CRASHES; i++)
		sigaction(crashes[i], &sa, &before_crash[i]);
}

static void uncatch_crashes(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	for (size_t i = 0; i < NR_CRASHES; i++)
		sigaction(crashes[i], &before_crash[i], NULL);
	sigaltstack(&none, NULL);
}

/* ---- output ------------------------------------------------------------------------------- */

static void watch_tty(struct screen *s, bool writing)
{
	struct epoll_event ev = {.data.fd = s->tty};

	ev.events = (s->has_keys ? EPOLLIN : 0) | (writing ? EPOLLOUT : 0);
	epoll_ctl(s->epoll, s->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, s->tty, &ev);
	s->watched = true;
	s->writing = writing;
}

/* In the background nothing is read: a read would be answered with EIO, again and again. */
static void unwatch_tty(struct screen *s)
{
	if (s->watched)
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->tty, NULL);
	s->watched = s->writing = false;
}

/* As much as the terminal takes. 0 or -EIO. */
static int flush_out(struct screen *s)
{
	while (s->written < s->out.len) {
		ssize_t n = write(s->tty, s->out.s + s->written, s->out.len - s->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -EIO;
		if (n < 0) {
			if (!s->writing)
				watch_tty(s, true);
			return 0;
		}
		s->written += (size_t)n;
	}
	s->written = 0;
	strbuf__reset(&s->out);
	if (s->writing)
		watch_tty(s, false);
	return 0;
}

/* Waits a little where the terminal is slow. true: all of it was written. */
static bool write_patiently(int tty, const char *s, size_t len)
{
	struct pollfd pfd = {.fd = tty, .events = POLLOUT};
	u32 patience = 3;

	while (len) {
		ssize_t n = write(tty, s, len);

		if (n > 0) {
			s += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN && patience--) {
			poll(&pfd, 1, LEAVE_MS / 3);
		} else if (n >= 0 || errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* ---- the terminal, ours and not ours ------------------------------------------------------ */

/* Another job has the terminal. Where there is no job control, nobody else has it. */
static bool in_background(const struct screen *s)
{
	pid_t front = tcgetpgrp(s->tty);

	return front > 0 && front != getpgrp();
}

static void read_size(struct screen *s)
{
	struct winsize ws;

	s->width = 80;
	s->height = 24;
	if (ioctl(s->tty, TIOCGWINSZ, &ws) || !ws.ws_col || !ws.ws_row)
		return;
	s->width = ws.ws_col < MAX_COLUMNS ? ws.ws_col : MAX_COLUMNS;
	s->height = ws.ws_row < MAX_LINES ? ws.ws_row : MAX_LINES;
}

/* Ctrl-C and Ctrl-Z stay signals, and output is processed as ever: a line that somebody else prints
 * comes out whole. Ctrl-S must not stop the view. */
static int set_raw(const struct screen *s)
{
	struct termios t = s->before;

	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHOE | ECHOK | ECHONL | IEXTEN);
	t.c_iflag &= ~(tcflag_t)(IXON | INLCR | IGNCR | ICRNL);
	t.c_cc[VMIN] = 1; /* with 0, a read of nothing would look like the end */
	t.c_cc[VTIME] = 0;
	return tcsetattr(s->tty, TCSANOW, &t) ? -errno : 0;
}

static int enter(struct screen *s)
{
	if (tcgetattr(s->tty, &s->before) || (s->has_keys && set_raw(s)))
		return -EIO;
	rescue.tty = s->tty;
	rescue.raw = s->has_keys;
	rescue.before = s->before;
	rescue.on = 1;
	s->on = true;
	s->written = 0;
	strbuf__reset(&s->out);
	strbuf__adds(&s->out, ENTER);
	screen__forget(s);
	read_size(s);
	watch_tty(s, false);
	return flush_out(s);
}

static void leave(struct screen *s)
{
	if (!s->on)
		return;
	s->on = false;
	unwatch_tty(s);
	/* The rest of a frame first, lest its half of a sequence swallow what follows. */
	if (!write_patiently(s->tty, s->out.s ? s->out.s + s->written : "",
			     s->out.len - s->written)) {
		tcflush(s->tty, TCOFLUSH);
		write_patiently(s->tty, CANCEL, strlen(CANCEL));
	}
	write_patiently(s->tty, LEAVE, strlen(LEAVE));
	if (s->has_keys) {
		tcflush(s->tty, TCIFLUSH); /* keys for the view are not for the shell */
		tcsetattr(s->tty, TCSANOW, &s->before);
	}
	rescue.on = 0;
}

/* ---- signals ------------------------------------------------------------------------------ */

static void own_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGWINCH);
	sigaddset(set, SIGTSTP);
	sigaddset(set, SIGCONT);
}

/* Stops the program as Ctrl-Z would have; returns when it goes on. */
static void stop_here(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP); /* it is blocked: this waits until the next line */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Gone on after a stop: by fg, or by bg, or after a SIGSTOP that nobody was asked about. */
static int resume(struct screen *s)
{
	if (in_background(s)) {
		s->on = false;
		rescue.on = 0;
		unwatch_tty(s);
		return 0;
	}
	if (s->on)
		return s->has_keys && set_raw(s) ? -EIO : 0;
	return enter(s);
}

static int on_signals(struct screen *s, struct screen_events *ev)
{
	struct signalfd_siginfo si;
	int err = 0;

	while (!err && read(s->signals, &si, sizeof(si)) == sizeof(si)) {
		ev->redraw = true;
		if (si.ssi_signo == SIGWINCH) {
			read_size(s);
		} else if (si.ssi_signo == SIGTSTP) {
			leave(s);
			stop_here();
			err = resume(s);
		} else {
			err = resume(s);
		}
	}
	if (ev->redraw)
		screen__forget(s);
	return err;
}

/* ---- keys --------------------------------------------------------------------------------- */

static int on_tty(struct screen *s, u32 events, struct screen_events *ev)
{
	u8 buf[SCREEN_KEYS];
	ssize_t n;

	if (events & (EPOLLHUP | EPOLLERR))
		return -EIO;
	if (events & EPOLLOUT && flush_out(s))
		return -EIO;
	if (!(events & EPOLLIN))
		return 0;
	n = read(s->tty, buf, sizeof(buf));
	if (n < 0 && errno == EIO && in_background(s)) {
		s->on = false;
		rescue.on = 0;
		unwatch_tty(s);
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		return -EIO;
	}
	if (n > 0)
		ev->nr_keys = keys__decode(&s->keys, buf, (size_t)n, ev->key);
	return 0;
}

/* ---- the interface ------------------------------------------------------------------------ */

static bool fit_for_a_view(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

/* Own descriptors: whoever else has the terminal open is not to find it non-blocking. */
static int open_fds(struct screen *s)
{
	struct epoll_event ev = {.events = EPOLLIN};
	sigset_t set;

	s->tty = open("/proc/self/fd/1", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (s->tty < 0)
		return -errno;
	own_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->signals < 0 || s->epoll < 0)
		return -errno;
	ev.data.fd = s->signals;
	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->signals, &ev) ? -errno : 0;
}

int screen__open(struct screen **out)
{
	struct screen *s;
	int err;

	if (!fit_for_a_view())
		return -ENOTTY;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->tty = s->signals = s->epoll = -1;
	s->has_keys = isatty(STDIN_FILENO);
	strbuf__init(&s->shown, MAX_OUTPUT);
	strbuf__init(&s->out, MAX_OUTPUT);
	catch_crashes();
	err = open_fds(s);
	if (!err)
		read_size(s);
	if (!err && !in_background(s))
		err = enter(s);
	if (err)
		screen__close(s);
	else
		*out = s;
	return err;
}

int screen__fd(const struct screen *s)
{
	return s->epoll;
}

int screen__poll(struct screen *s, struct screen_events *ev)
{
	struct epoll_event got[2];
	int n, err = 0;

	ev->nr_keys = 0;
	ev->redraw = false;
	n = epoll_wait(s->epoll, got, 2, 0);
	for (int i = 0; i < n && !err; i++)
		err = got[i].data.fd == s->tty ? on_tty(s, got[i].events, ev) : on_signals(s, ev);
	return err;
}

void screen__forget(struct screen *s)
{
	strbuf__reset(&s->shown);
}

void screen__size(const struct screen *s, u32 *width, u32 *height)
{
	*width = s->width;
	*height = s->height;
}

/* Bytes of the line at s, its newline included; 0 at the end. */
static size_t line_at(const char *s)
{
	size_t len = strcspn(s, "\n");

	return s[len] ? len + 1 : len;
}

static void add_changes(struct strbuf *out, const char *old, const char *frame)
{
	size_t len, old_len;

	if (!*old)
		strbuf__adds(out, "\033[2J");
	for (u32 row = 1; *frame; row++, frame += len, old += old_len) {
		len = line_at(frame);
		old_len = line_at(old);
		if (len == old_len && !memcmp(frame, old, len))
			continue;
		strbuf__addf(out, "\033[%u;1H", row);
		strbuf__add(out, frame, frame[len - 1] == '\n' ? len - 1 : len);
	}
}

int screen__draw(struct screen *s, const struct strbuf *frame)
{
	/* The shell's `fg` need not send SIGCONT to a job that was running. */
	int err = s->on || in_background(s) ? 0 : enter(s);

	if (err || !s->on)
		return err;
	err = flush_out(s);
	if (err || s->out.len || frame->err || !frame->s)
		return err; /* no room for the last one yet: this one is left out */
	add_changes(&s->out, s->shown.s ? s->shown.s : "", frame->s);
	strbuf__reset(&s->shown);
	strbuf__add(&s->shown, frame->s, frame->len);
	return flush_out(s);
}

void screen__close(struct screen *s)
{
	sigset_t set;

	if (!s)
		return;
	leave(s);
	uncatch_crashes();
	if (s->signals >= 0) {
		own_signals(&set);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		close(s->signals);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->tty >= 0)
		close(s->tty);
	strbuf__fini(&s->shown);
	strbuf__fini(&s->out);
	free(s);
}
