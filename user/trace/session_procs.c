// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session_procs.c - the processes of a session: from when to when each is measured. How probes come
 * into them is session_attach.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/rates.h"
#include "trace/requests.h"
#include "trace/sampler.h"
#include "trace/session_impl.h"
#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

/* ---- what is known of them ---------------------------------------------------------------- */

static int describe(struct session *s, u32 proc)
{
	const struct plan_proc *pp = &s->plan->proc[proc];
	const struct proc *p = pp->proc;
	struct recording *rec = s->rec;
	struct m_target *v = reallocarray(rec->target, (size_t)proc + 1, sizeof(*v)), *t;

	if (!v)
		return -ENOMEM;
	rec->target = v;
	t = &v[proc];
	*t = (struct m_target){.pid = p->pid,
			       .start_time = p->start_time,
			       .comm = dup_or_null(p->comm),
			       .exe = dup_or_null(p->exe),
			       .cmdline = dup_or_null(p->cmdline),
			       .language = dup_or_null(pp->language),
			       .cpu_ns = M_NONE,
			       .rss_bytes = M_NONE,
			       .begin_mono_ns = M_NONE,
			       .end_mono_ns = M_NONE,
			       .unmeasured_ns = M_NONE};
	if (pp->nr_maps)
		t->build_id = dup_or_null(s->plan->image[pp->map[0].image].im->build_id);
	rec->nr_targets = proc + 1;
	return 0;
}

/* Its end is noticed by a pidfd at once; without one, as it has ended or there are too many open files,
 * at the next interval. */
static void watch_end(struct session *s, u32 proc)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = proc};
	int fd = (int)syscall(SYS_pidfd_open, s->plan->proc[proc].proc->pid, 0);

	if (fd >= 0 && epoll_ctl(s->ends, EPOLL_CTL_ADD, fd, &ev)) {
		close(fd);
		fd = -1;
	}
	s->proc[proc].pidfd = fd;
}

void session__look_for_ends(struct session *s)
{
	for (u32 i = 0; i < s->nr_procs; i++)
		if (s->proc[i].pidfd < 0 && !session__proc_ended(s, i) &&
		    !proc__alive(s->plan->proc[i].proc))
			session__end_proc(s, i, "exited");
}

int session__add_proc(struct session *s)
{
	u32 proc = s->nr_procs;
	int err;

	if (array_grow((void **)&s->proc, s->nr_procs, &s->cap_procs, sizeof(*s->proc)))
		return -ENOMEM;
	s->proc[proc] = (struct session_proc){.cpu_begin_ns = M_NONE, .pidfd = -1};
	attach__init(&s->proc[proc].links, s->kind, bpf_program__fd(s->skel->progs.hb_probe));
	s->proc[proc].links.keeper = s->keeper;
	err = describe(s, proc);
	if (!err && s->sampler)
		err = sampler__add_proc(s->sampler);
	if (err)
		return err;
	s->nr_procs++;
	follow__add(s, s->plan->proc[proc].proc->pid);
	watch_end(s, proc);
	return mapped__init(s, proc);
}

/* What the plan has had since becomes known to the kernel and the reader. */
static int put_new(struct session *s, u32 funcs, u32 images, u32 warnings)
{
	int err = session__put_images(s, images);

	if (!err)
		err = session__put_funcs(s, funcs);
	requests__learn(s->requests);
	for (u32 i = warnings; i < s->plan->nr_warnings && !err; i++)
		session__warn(s, "%s", s->plan->warning[i]);
	return err;
}

int session__grow(struct session *s, u32 proc)
{
	u32 funcs = s->plan->nr_funcs, images = s->plan->nr_images;
	u32 warnings = s->plan->nr_warnings;
	int err = plan__look_again(s->plan, proc);

	if (!err)
		err = put_new(s, funcs, images, warnings);
	if (!err)
		err = session__calibrate_new(s);
	return err ? err : session__attach_proc(s, proc);
}

int session__plan_proc(struct session *s, struct proc *p, u32 *proc)
{
	u32 funcs = s->plan->nr_funcs, images = s->plan->nr_images;
	u32 warnings = s->plan->nr_warnings, index;
	int err = session__cut_tasks(s, p->pid), put;

	*proc = SESSION_NO_PROC;
	if (err)
		return err;
	err = plan__add(s->plan, p, &index);
	/* Files that were read stay in the plan, whatever became of the process. */
	put = put_new(s, funcs, images, warnings);
	if (err)
		return err;
	err = put ? put : session__add_proc(s);
	if (err) {
		plan__drop_last(s->plan);
		return err;
	}
	*proc = index;
	return session__calibrate_new(s);
}

void session__free_procs(struct session *s)
{
	for (u32 i = 0; i < s->nr_procs; i++) {
		mapped__fini(&s->proc[i].mapped);
		proc__close(s->proc[i].own);
		if (s->proc[i].pidfd >= 0)
			close(s->proc[i].pidfd);
	}
	free(s->proc);
	if (s->ends >= 0)
		close(s->ends);
}

bool session__proc_ended(const struct session *s, u32 proc)
{
	return s->proc[proc].end_mono_ns;
}

u64 session__proc_ns(const struct session *s, u32 proc, u64 now)
{
	const struct session_proc *sp = &s->proc[proc];

	if (!sp->begin_mono_ns)
		return 0;
	return (sp->end_mono_ns ? sp->end_mono_ns : now) - sp->begin_mono_ns;
}

/* ---- begin and end ------------------------------------------------------------------------ */

static u64 *hot_slot(struct session *s, u32 pid)
{
	return &s->skel->bss->hot_procs[pid % HB_HOT_PROCS];
}

/* Where CPU samples find the goroutine that runs. */
static struct hb_proc sample_layout(const struct session *s, u32 proc)
{
	const struct plan_proc *pp = &s->plan->proc[proc];

	for (u32 i = 0; i < pp->nr_maps; i++) {
		const struct plan_image *pi = &s->plan->image[pp->map[i].image];

		if (pi->build)
			return (struct hb_proc){.go = true,
						.goid_off = (u16)pi->layout.goid_off,
						.m_off = (u16)pi->layout.m_off,
						.curg_off = (u16)pi->layout.curg_off};
	}
	return (struct hb_proc){0};
}

int session__begin_proc(struct session *s, u32 proc)
{
	struct session_proc *sp = &s->proc[proc];
	const struct proc *p = s->plan->proc[proc].proc;
	struct m_target *t = &s->rec->target[proc];
	u32 pid = (u32)p->pid;
	struct hb_proc value;
	u64 rss;

	if (sp->end_mono_ns)
		return 0;
	if (proc__usage(p, &sp->cpu_begin_ns, &rss))
		sp->cpu_begin_ns = M_NONE;
	t->begin_mono_ns = sp->begin_mono_ns = mono_ns();
	if (sp->born_mono_ns && sp->born_mono_ns < sp->begin_mono_ns)
		t->unmeasured_ns = sp->begin_mono_ns - sp->born_mono_ns;
	s->nr_measured++;
	value = sample_layout(s, proc);
	value.index = proc;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.procs), &pid, &value, BPF_ANY))
		return -errno;
	__atomic_store_n(hot_slot(s, pid), (u64)pid << 32 | (proc + 1), __ATOMIC_RELEASE);
	requests__measured(s->requests, pid);
	if (s->skel->bss->recording)
		requests__look(s->requests);
	return 0;
}

/* Another one may have the slot of the cache: that is only slower. */
static void forget(struct session *s, u32 proc)
{
	u32 pid = (u32)s->plan->proc[proc].proc->pid;
	struct hb_proc at;
	int fd = bpf_map__fd(s->skel->maps.procs);
	u64 mine = (u64)pid << 32 | (proc + 1);

	__atomic_compare_exchange_n(hot_slot(s, pid), &mine, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	/* Its pid may be another's by now. */
	if (!bpf_map_lookup_elem(fd, &pid, &at) && at.index == proc)
		bpf_map_delete_elem(fd, &pid);
}

void session__end_proc(struct session *s, u32 proc, const char *why)
{
	struct session_proc *sp = &s->proc[proc];

	if (sp->end_mono_ns)
		return;
	session__note_usage(s, proc);
	if (sp->begin_mono_ns)
		requests__end_proc(s->requests, proc);
	rates__end_proc(s->rates, proc);
	forget(s, proc);
	s->nr_measured -= sp->begin_mono_ns > 0;
	sp->end_mono_ns = mono_ns();
	if (sp->begin_mono_ns)
		s->rec->target[proc].end_mono_ns = sp->end_mono_ns;
	if (sp->pidfd >= 0)
		close(sp->pidfd);
	sp->pidfd = -1;
	if (!s->rec->target[proc].end)
		s->rec->target[proc].end = strdup(why);
	s->nr_probes -= sp->nr_probes;
	attach__fini(&sp->links);
}

int session__reap(struct session *s)
{
	struct epoll_event ev[16];
	int n = epoll_wait(s->ends, ev, 16, 0);

	int err = n < 0 && errno != EINTR ? -errno : 0;

	for (int i = 0; i < n && !err; i++) {
		if (ev[i].data.u32 == SESSION_NO_PROC)
			err = follow__retry(s);
		else
			session__end_proc(s, ev[i].data.u32, "exited");
	}
	return err;
}

/* Its memory is another program's since it was read. The same program, if position independent, is told by
 * its place, which is another one each time. */
static bool has_execed(const struct proc *p)
{
	struct proc *now;
	bool other;

	if (!p->nr_maps || proc__open(p->pid, &now))
		return false;
	other = strcmp(now->exe, p->exe) || !now->nr_maps || now->map[0].begin != p->map[0].begin;
	proc__close(now);
	return other;
}

void session__not_measured(struct session *s, u32 proc, int err)
{
	const struct proc *p = s->plan->proc[proc].proc;
	int pid = (int)p->pid;

	if (err == -ESRCH)
		session__warn(s, "process %d ended while it was being attached to", pid);
	else if (err == -ENOSPC)
		session__warn(s,
			      "process %d is not measured: %u sites are probed at most "
			      "(--max-sites)",
			      pid, s->max_probes);
	else if (has_execed(p))
		session__warn(s, "process %d ran another program while it was being attached to",
			      pid);
	else if (err == -ESTALE)
		session__warn(s,
			      "process %d is not measured: its code in memory is not that of its "
			      "files (changed by itself, or by another tool?)",
			      pid);
	else
		session__warn(s, "process %d is not measured: %s", pid, strerror(-err));
	session__end_proc(s, proc, err == -ESRCH ? "exited" : "not measured");
}

void session__detach(struct session *s)
{
	struct attach all = {.kind = s->kind, .prog_fd = -1};

	for (u32 i = 0; i < s->nr_procs; i++)
		attach__take(&all, &s->proc[i].links);
	attach__take(&all, &s->bystanders.links);
	attach__fini(&all);
}
