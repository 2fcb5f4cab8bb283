// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leftovers.c - the calls that are open when the probes are off. Those of a task that exists no more
 * have been abandoned: a thread that ended inside a call, a goroutine that Goexit ended. Of a process
 * that has ended as a whole it is not known which tasks went before it, and its calls stay in flight.
 *
 * Gotcha: a thread or goroutine that lives may have left a call as well (longjmp, panic) and made no
 * probed call since. That cannot be told from outside, and such a call counts as in flight.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"

/* A first thread that has ended stays as a zombie while others run. */
static bool thread_ended(pid_t pid, u32 tid)
{
	char path[64], line[256], *at;
	bool ended = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT;
	if (fgets(line, sizeof(line), f)) {
		at = strrchr(line, ')'); /* behind the name, which may hold anything */
		ended = at && (!strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3));
	} else {
		ended = errno == ESRCH;
	}
	fclose(f);
	return ended;
}

/* The runtime keeps a g and uses it again: it is dead, or another goroutine's by now. */
static bool goroutine_ended(pid_t pid, const struct hb_frame_key *key, const struct hb_task *t,
			    u32 goid_off)
{
	struct {
		u32 status, lock;
		u64 goid;
	} g;
	struct iovec local = {.iov_base = &g, .iov_len = sizeof(g)};
	struct iovec remote = {
		.iov_base = (void *)(uintptr_t)(key->task + goid_off - GO_STATUS_BEFORE_GOID),
		.iov_len = sizeof(g)};

	if (!goid_off || !t->goid || process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof(g))
		return false; /* not known */
	g.status &= ~GO_STATUS_SCAN;
	return g.goid != t->goid || g.status == GO_STATUS_DEAD || g.status == GO_STATUS_DEAD_EXTRA;
}

/* A task holds frames of one language only: a goroutine's key is an address, a thread's its id. */
static bool task_ended(const struct session *s, const bool *alive, const struct hb_frame_key *key,
		       const struct hb_task *t)
{
	const struct plan_func *pf;
	pid_t pid;

	if (!t->nr || t->frame[0].func >= s->plan->nr_funcs || t->frame[0].proc >= s->nr_procs)
		return false;
	if (!alive[t->frame[0].proc])
		return false;
	pid = s->plan->proc[t->frame[0].proc].proc->pid;
	pf = &s->plan->func[t->frame[0].func];
	if (pf->f->lang == HB_LANG_GO)
		return goroutine_ended(pid, key, t, s->plan->image[pf->image].layout.goid_off);
	return thread_ended(pid, (u32)key->task);
}

static void count_open(u64 *calls, u32 nr_funcs, u32 func, u64 add)
{
	if (func < nr_funcs)
		calls[func] += add;
}

/* calls[]: by function. */
static void count_task(u64 *calls, u32 nr_funcs, const struct hb_task *t)
{
	for (u32 i = 0; i < t->nr && i < HB_FRAME_DEPTH; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (!(f->flags & HB_FRAME_UNKNOWN))
			count_open(calls, nr_funcs, f->func, 1 + (u64)f->again);
		for (u32 k = 0; k < f->kept && k < HB_NESTED_KEPT; k++) {
			count_open(calls, nr_funcs, f->in[k].first, 1);
			count_open(calls, nr_funcs, f->in[k].last, f->in[k].nr - 1);
		}
		if (f->beyond)
			count_open(calls, nr_funcs, f->beyond_func, f->beyond);
	}
}

/* The keys of all tasks of a process. Handlers of others add theirs meanwhile: an iteration that begins
 * anew must end all the same. */
static int tasks_of(const struct session *s, u32 pid, struct hb_frame_key **out, size_t *nr)
{
	int fd = bpf_map__fd(s->skel->maps.tasks);
	struct hb_frame_key key, next, *v = NULL;
	u32 left = 2 * (s->max_tasks + CALIB_TASKS);
	void *prev = NULL;
	size_t n = 0, cap = 0;

	while (left-- && !bpf_map_get_next_key(fd, prev, &next)) {
		if (next.tgid == pid) {
			if (array_grow((void **)&v, n, &cap, sizeof(*v))) {
				free(v);
				return -ENOMEM;
			}
			v[n++] = next;
		}
		key = next;
		prev = &key;
	}
	*out = v;
	*nr = n;
	return 0;
}

/* Has a process with this id been measured before? */
static bool was_measured(const struct session *s, pid_t pid)
{
	for (u32 i = 0; i < s->nr_procs; i++)
		if (s->plan->proc[i].proc->pid == pid && s->proc[i].begin_mono_ns)
			return true;
	return false;
}

int session__cut_tasks(struct session *s, pid_t pid)
{
	int fd = bpf_map__fd(s->skel->maps.tasks), err;
	struct hb_frame_key *key;
	struct hb_task t;
	size_t nr;

	if (!was_measured(s, pid))
		return 0;
	err = tasks_of(s, (u32)pid, &key, &nr);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		const char *why = NULL;

		if (bpf_map_lookup_elem(fd, &key[i], &t))
			continue;
		if (t.nr && t.frame[0].proc < s->rec->nr_targets)
			why = s->rec->target[t.frame[0].proc].end;
		count_task(why && !strcmp(why, "exec") ? s->cut_abandoned : s->cut_in_flight,
			   s->max_funcs, &t);
		if (!bpf_map_delete_elem(fd, &key[i]))
			__atomic_fetch_sub(&s->skel->bss->nr_tasks, 1, __ATOMIC_RELAXED);
	}
	free(key);
	return 0;
}

int session__count_leftovers(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.tasks);
	bool *alive = array_alloc((size_t)s->nr_procs + 1, sizeof(*alive));
	u32 nr = s->rec->nr_funcs;
	u64 *open = array_alloc((size_t)nr + 1, sizeof(*open));
	u64 *ended = array_alloc((size_t)nr + 1, sizeof(*ended));
	struct hb_frame_key key, next;
	struct hb_task t;
	void *prev = NULL;
	int err = -ENOMEM;

	if (!alive || !open || !ended)
		goto out;
	for (u32 i = 0; i < s->nr_procs; i++)
		alive[i] = !session__proc_ended(s, i) && proc__alive(s->plan->proc[i].proc);
	while (!(err = bpf_map_get_next_key(fd, prev, &next) ? -errno : 0)) {
		if (!bpf_map_lookup_elem(fd, &next, &t))
			count_task(task_ended(s, alive, &next, &t) ? ended : open, nr, &t);
		key = next;
		prev = &key;
	}
	for (u32 i = 0; i < nr; i++) {
		s->rec->func[i].n[HB_FN_ABANDONED] += ended[i];
		s->rec->func[i].in_flight_end += open[i];
	}
	err = err == -ENOENT ? 0 : err;
out:
	free(alive);
	free(open);
	free(ended);
	return err;
}
