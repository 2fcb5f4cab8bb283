// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * follow.c - see follow.h. Events come from bpf/proc.bpf.c in their order. A process that execs again,
 * or ends, before it is looked at has several: it is looked at once, and taken as it is then.
 */
#include "trace/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "target/select.h"
#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define SAID_EACH 8	    /* late processes that are named; of more there is a summary */
#define MAX_EMPTY 1024	    /* followed, and nothing found in them so far */
#define YOUNG_NS  500000000 /* that long libraries are expected to be mapped */
#define STEP_NS	  1000000   /* first wait before such a process is looked at again; it doubles */
#define STEP_MAX  128000000
/* The age at which a program's own libraries are taken to be mapped, not counting its waits for a CPU. */
#define SETTLED_NS 20000000

/* ---- programs ----------------------------------------------------------------------------- */

void follow__prepare(struct hbprof_bpf *skel, bool on, bool all_execs)
{
	if (on) {
		skel->rodata->cfg_all_execs = all_execs;
		return;
	}
	bpf_program__set_autoload(skel->progs.hb_fork, false);
	bpf_program__set_autoload(skel->progs.hb_exec, false);
	bpf_program__set_autoload(skel->progs.hb_exit, false);
	bpf_map__set_autocreate(skel->maps.followed, false);
	bpf_map__set_autocreate(skel->maps.proc_events, false);
}

static int on_event(void *arg, void *data, size_t size)
{
	struct follow *f = arg;

	if (size < sizeof(*f->event))
		return 0;
	if (array_grow((void **)&f->event, f->nr_events, &f->cap_events, sizeof(*f->event)))
		return -ENOMEM;
	memcpy(&f->event[f->nr_events++], data, sizeof(*f->event));
	return 0;
}

static int attach(struct session *s, int i, const char *name, const struct bpf_program *prog)
{
	int fd = bpf_raw_tracepoint_open(name, bpf_program__fd(prog));

	if (fd < 0) {
		log_err("cannot follow processes (tracepoint %s): %s", name, strerror(errno));
		return -errno;
	}
	s->follow.link[i] = fd;
	return 0;
}

/* fds of -1: none. */
void follow__init(struct follow *f, bool on)
{
	*f = (struct follow){.on = on, .timer = -1};
	memset(f->link, -1, sizeof(f->link));
}

int follow__start(struct session *s, const struct selection *meant, bool only_meant)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = SESSION_NO_PROC};
	struct follow *f = &s->follow;
	int err = ring_buffer__add(s->ring, bpf_map__fd(s->skel->maps.proc_events), on_event, f);

	f->meant = meant;
	f->only_meant = only_meant;
	f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!err && (f->timer < 0 || epoll_ctl(s->ends, EPOLL_CTL_ADD, f->timer, &ev)))
		err = -errno;
	/* The end first: what is added must be taken out again. */
	if (!err)
		err = attach(s, 0, "sched_process_exit", s->skel->progs.hb_exit);
	if (!err)
		err = attach(s, 1, "sched_process_exec", s->skel->progs.hb_exec);
	return err ? err : attach(s, 2, "sched_process_fork", s->skel->progs.hb_fork);
}

void follow__fini(struct follow *f)
{
	for (size_t i = 0; i < sizeof(f->link) / sizeof(*f->link); i++)
		if (f->link[i] >= 0)
			close(f->link[i]);
	if (f->timer >= 0)
		close(f->timer);
	for (size_t i = 0; i < f->nr_empty; i++)
		proc__close(f->empty[i].proc);
	free(f->empty);
	free(f->event);
	follow__init(f, false);
}

void follow__add(struct session *s, pid_t pid)
{
	u32 key = (u32)pid, yes = 1;

	if (s->follow.on &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.followed), &key, &yes, BPF_ANY))
		__atomic_fetch_add(&s->skel->bss->proc_events_lost, 1, __ATOMIC_RELAXED);
}

/* ---- one process -------------------------------------------------------------------------- */

static u32 measured_index(const struct session *s, pid_t pid)
{
	for (u32 i = s->nr_procs; i-- > 0;)
		if (s->plan->proc[i].proc->pid == pid && !session__proc_ended(s, i))
			return i;
	return SESSION_NO_PROC;
}

/* Is it one of those that hbprof must leave alone, or cannot tell apart from others? */
static bool is_strange(const struct session *s, const struct proc *p)
{
	return p->kthread || p->pid == getpid() || !session__sees_pid(p->pid);
}

/* Fires after the step, which is then twice as long. */
static void arm_timer(struct follow *f)
{
	struct itimerspec t = {.it_value = {.tv_nsec = (long)f->step_ns}};

	timerfd_settime(f->timer, 0, &t, NULL);
	f->step_ns = f->step_ns * 2 < STEP_MAX ? f->step_ns * 2 : STEP_MAX;
}

/* On a busy machine a process may have done nothing yet after a long time. */
static bool is_old(const struct proc *p, u64 born_mono_ns)
{
	u64 age = mono_ns() - born_mono_ns, waited;

	return age > SETTLED_NS && !proc__waited(p, &waited) && age > SETTLED_NS + waited;
}

/* A fork has its parent's code at once; a program's libraries come one after another. */
static bool is_settled(const struct proc *p, u64 born_mono_ns, bool execed)
{
	return execed ? is_old(p, born_mono_ns) : p->nr_maps > 0;
}

/* p is the session's from here on, or closed. */
static int watch_empty(struct session *s, struct proc *p, u64 born_mono_ns, bool execed)
{
	struct follow *f = &s->follow;

	if (f->nr_empty >= MAX_EMPTY) {
		f->nr_no_codec++;
		proc__close(p);
		return 0;
	}
	if (array_grow((void **)&f->empty, f->nr_empty, &f->cap_empty, sizeof(*f->empty))) {
		proc__close(p);
		return -ENOMEM;
	}
	f->empty[f->nr_empty++] =
		(struct follow_empty){.proc = p,
				      .born_mono_ns = born_mono_ns,
				      .seen_mono_ns = mono_ns(),
				      .settled = is_settled(p, born_mono_ns, execed)};
	return 0;
}

/* The process becomes one of the session's; else -ENODATA: nothing in it is to be measured yet, and p is
 * still the caller's. What keeps it from being measured is said. */
static int take(struct session *s, struct proc *p, u64 born_mono_ns)
{
	u32 proc;
	int err = session__plan_proc(s, p, &proc);

	if (proc == SESSION_NO_PROC)
		return err ? err : -ENODATA;
	s->proc[proc].own = p;
	s->proc[proc].born_mono_ns = born_mono_ns;
	if (!err)
		err = session__attach_proc(s, proc);
	if (!err)
		err = session__begin_proc(s, proc);
	if (!err)
		log_info("measuring process %d, too", (int)p->pid);
	if (err && err != -ENOMEM) {
		session__not_measured(s, proc, err);
		err = 0;
	}
	return err;
}

/* What goes wrong with one process is no reason to end the measurement of the others: one that execs or
 * ends while it is read may show anything. */
static int unless_fatal(struct session *s, pid_t pid, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	if (err == -ESRCH)
		s->follow.nr_gone++;
	else
		session__warn(s, "process %d is not measured: %s", (int)pid, strerror(-err));
	return 0;
}

static int come(struct session *s, pid_t pid, u64 born_mono_ns, bool execed)
{
	struct proc *p = NULL;
	int err;

	if (s->nr_procs >= HB_MAX_PROCS) {
		s->follow.nr_too_many++;
		return 0;
	}
	err = proc__open(pid, &p);
	if (err == -ESRCH)
		s->follow.nr_gone++;
	if (err)
		return err == -ENOMEM ? err : 0;
	if (is_strange(s, p)) {
		proc__close(p);
		return 0;
	}
	follow__add(s, pid);
	err = take(s, p, born_mono_ns);
	if (err == -ENODATA)
		return watch_empty(s, p, born_mono_ns, execed);
	if (err)
		proc__close(p);
	return unless_fatal(s, pid, err);
}

int follow__watch(struct session *s, pid_t pid)
{
	struct follow *f = &s->follow;
	size_t nr = f->nr_empty;
	int err = f->on ? come(s, pid, 0, false) : 0;

	if (!err && f->nr_empty > nr) {
		f->empty[nr].named = true;
		f->nr_named++;
	}
	return err;
}

/* ---- young ones --------------------------------------------------------------------------- */

static void drop_empty(struct follow *f, size_t i)
{
	f->nr_named -= f->empty[i].named;
	f->empty[i] = f->empty[--f->nr_empty];
}

/* One that ended while its libraries were being mapped may have made calls. */
static void count_ended(struct follow *f, const struct follow_empty *e)
{
	if (e->settled)
		f->nr_no_codec++;
	else
		f->nr_gone++;
}

/* It was there, and could make calls of what it had loaded before it was looked at. Of those that started
 * while recording their age is said: see tell_late(). */
static void count_later(struct session *s, const struct follow_empty *e)
{
	struct follow *f = &s->follow;

	if (e->born_mono_ns)
		return;
	if (!f->nr_later++) {
		f->first_later = e->proc->pid;
		f->later_ns = mono_ns() - s->begin_mono_ns;
	}
}

/* Looks at it again if there is more code than before. *gone: it is no longer one of these. */
static int retry_one(struct session *s, struct follow_empty *e, bool *gone)
{
	struct proc_stamp now;
	int err = proc__stamp(e->proc, &now);

	*gone = err == -ESRCH;
	if (*gone) {
		count_ended(&s->follow, e);
		proc__close(e->proc);
	}
	if (err)
		return 0;
	if (now.code_bytes == e->code_bytes) {
		e->settled = e->settled || is_old(e->proc, e->born_mono_ns);
		return 0;
	}
	e->code_bytes = now.code_bytes;
	err = proc__reload_maps(e->proc);
	if (!err)
		err = take(s, e->proc, e->born_mono_ns);
	*gone = !err;
	if (!err)
		count_later(s, e);
	return err == -ENOMEM ? err : 0;
}

static int retry_empty(struct session *s)
{
	struct follow *f = &s->follow;
	int err = 0;

	for (size_t i = f->nr_empty; i-- > 0 && !err;) {
		bool gone;

		err = retry_one(s, &f->empty[i], &gone);
		if (gone)
			drop_empty(f, i);
	}
	return err;
}

static bool is_young(u64 since_mono_ns)
{
	return since_mono_ns && mono_ns() - since_mono_ns < YOUNG_NS;
}

int follow__retry(struct session *s)
{
	struct follow *f = &s->follow;
	int err = retry_empty(s);
	bool young = false;
	u64 fired;

	if (read(f->timer, &fired, sizeof(fired)) < 0)
		log_debug("the timer of young processes: %s", strerror(errno));
	for (u32 i = 0; i < s->nr_procs && !err; i++) {
		if (!is_young(s->proc[i].born_mono_ns) || session__proc_ended(s, i))
			continue;
		young = true;
		err = mapped__check(s, i);
	}
	for (size_t i = 0; i < f->nr_empty; i++)
		young |= is_young(f->empty[i].seen_mono_ns);
	if (young)
		arm_timer(f);
	return err;
}

/* ---- events ------------------------------------------------------------------------------- */

/* The last word about a process is what counts; an exec before it has ended what was measured. */
static bool is_last(const struct follow *f, size_t i)
{
	for (size_t k = i + 1; k < f->nr_events; k++)
		if (f->event[k].tgid == f->event[i].tgid)
			return false;
	return true;
}

/* One that has ended has left its name only. */
static bool is_meant(const struct selection *meant, const struct hb_proc_event *e)
{
	if (!meant)
		return false;
	return selection__has(meant, (pid_t)e->tgid) || selection__has_comm(meant, e->comm);
}

static int handle_event(struct session *s, size_t i)
{
	const struct hb_proc_event e = s->follow.event[i];
	u32 proc = measured_index(s, (pid_t)e.tgid);
	bool is_followed = e.followed || proc != SESSION_NO_PROC;
	int err;

	for (size_t k = s->follow.nr_empty; k-- > 0 && e.what == HB_PROC_EXEC;) {
		if (s->follow.empty[k].proc->pid != (pid_t)e.tgid)
			continue;
		proc__close(s->follow.empty[k].proc);
		drop_empty(&s->follow, k);
		is_followed = true;
	}
	if (proc != SESSION_NO_PROC && e.what == HB_PROC_EXEC)
		session__end_proc(s, proc, "exec");
	else if (proc != SESSION_NO_PROC)
		return 0; /* found by name, before this word of its fork */
	if (!is_last(&s->follow, i))
		return 0;
	if ((!is_followed || s->follow.only_meant) && !is_meant(s->follow.meant, &e))
		return 0;
	s->follow.step_ns = STEP_NS;
	err = come(s, (pid_t)e.tgid, e.mono_ns, e.what == HB_PROC_EXEC);
	arm_timer(&s->follow);
	return err;
}

int follow__handle(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->follow.nr_events && !err; i++)
		err = handle_event(s, i);
	s->follow.nr_events = 0;
	return err;
}

int follow__look_around(struct session *s)
{
	pid_t *pid;
	size_t nr;
	int err;

	err = retry_empty(s);
	if (err || !s->follow.meant || !s->follow.meant->nr_cgroups)
		return err;
	err = selection__list(s->follow.meant, &pid, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		u32 key = (u32)pid[i], value;

		if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.followed), &key, &value))
			err = come(s, pid[i], 0, false);
	}
	if (!err || nr)
		free(pid);
	return err;
}

/* ---- what is told ------------------------------------------------------------------------- */

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void tell_late(struct session *s)
{
	u64 *ns = array_alloc((size_t)s->nr_procs + 1, sizeof(*ns));
	char mid[16], most[16];
	u32 nr = 0;

	for (u32 i = 0; ns && i < s->nr_procs; i++)
		if (s->rec->target[i].unmeasured_ns != M_NONE)
			ns[nr++] = s->rec->target[i].unmeasured_ns;
	if (ns && nr > SAID_EACH) {
		qsort(ns, nr, sizeof(*ns), cmp_u64);
		session__warn(s,
			      "%u processes that started while recording were not measured at "
			      "first: for %s in the middle, %s at most",
			      nr, format_ns(mid, sizeof(mid), ns[nr / 2]),
			      format_ns(most, sizeof(most), ns[nr - 1]));
	}
	for (u32 i = 0; nr && nr <= SAID_EACH && i < s->nr_procs; i++)
		if (s->rec->target[i].unmeasured_ns != M_NONE)
			session__warn(s, "process %u was not measured for its first %s",
				      s->rec->target[i].pid,
				      format_ns(mid, sizeof(mid), s->rec->target[i].unmeasured_ns));
	free(ns);
}

static void tell_later(struct session *s)
{
	const struct follow *f = &s->follow;
	char after[16];

	format_ns(after, sizeof(after), f->later_ns);
	if (f->nr_later == 1)
		session__warn(s,
			      "process %d has loaded a library while recording, and had nothing to "
			      "be measured before: it is measured only from then on, %s after the "
			      "start, or up to a second after the library has come",
			      (int)f->first_later, after);
	else if (f->nr_later)
		session__warn(
			s,
			"%u processes (%d the first, %s after the start) have loaded a library "
			"while recording, and had nothing to be measured before: they are "
			"measured only from up to a second after it has come",
			f->nr_later, (int)f->first_later, after);
}

/* Those that have ended since they were looked at last. */
static void look_for_ended(struct follow *f)
{
	for (size_t i = f->nr_empty; i-- > 0;) {
		if (proc__alive(f->empty[i].proc))
			continue;
		count_ended(f, &f->empty[i]);
		proc__close(f->empty[i].proc);
		drop_empty(f, i);
	}
}

void follow__tell(struct session *s)
{
	const struct follow *f = &s->follow;
	u64 lost_events;
	bool one;

	if (!f->on)
		return;
	look_for_ended(&s->follow);
	one = f->nr_gone == 1;
	tell_late(s);
	tell_later(s);
	if (f->nr_gone)
		session__warn(
			s,
			"%u process%s had ended before it was known what is in %s: calls in %s "
			"are not counted",
			f->nr_gone, one ? "" : "es", one ? "it" : "them", one ? "it" : "them");
	if (f->nr_too_many)
		session__warn(s, "%u processes are not measured: %d are the most in one recording",
			      f->nr_too_many, HB_MAX_PROCS);
	lost_events = s->skel->bss->proc_events_lost;
	if (lost_events)
		session__warn(s,
			      "%llu times that a process forked or ran another program were not "
			      "noticed: more came at once than there is room for",
			      lost_events);
	if (f->nr_no_codec)
		log_info("%u processes that were followed have nothing to measure", f->nr_no_codec);
}
