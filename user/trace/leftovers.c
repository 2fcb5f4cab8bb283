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

static void count_open(struct recording *rec, u32 func, u64 calls, bool ended)
{
	if (func >= rec->nr_funcs)
		return;
	if (ended)
		rec->func[func].n[HB_FN_ABANDONED] += calls;
	else
		rec->func[func].in_flight_end += calls;
}

static void count_task(struct session *s, const struct hb_task *t, bool ended)
{
	for (u32 i = 0; i < t->nr && i < HB_FRAME_DEPTH; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (!(f->flags & HB_FRAME_UNKNOWN))
			count_open(s->rec, f->func, 1 + (u64)f->again, ended);
		for (u32 k = 0; k < f->kept && k < HB_NESTED_KEPT; k++) {
			count_open(s->rec, f->in[k].first, 1, ended);
			count_open(s->rec, f->in[k].last, f->in[k].nr - 1, ended);
		}
		if (f->beyond)
			count_open(s->rec, f->beyond_func, f->beyond, ended);
	}
}

int session__count_leftovers(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.tasks);
	bool *alive = array_alloc((size_t)s->nr_procs + 1, sizeof(*alive));
	struct hb_frame_key key, next;
	struct hb_task t;
	void *prev = NULL;
	int err;

	if (!alive)
		return -ENOMEM;
	for (u32 i = 0; i < s->nr_procs; i++)
		alive[i] = !session__proc_ended(s, i) && proc__alive(s->plan->proc[i].proc);
	while (!(err = bpf_map_get_next_key(fd, prev, &next) ? -errno : 0)) {
		if (!bpf_map_lookup_elem(fd, &next, &t))
			count_task(s, &t, task_ended(s, alive, &next, &t));
		key = next;
		prev = &key;
	}
	free(alive);
	return err == -ENOENT ? 0 : err;
}
