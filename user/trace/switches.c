// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switches.c - see switches.h. The threads of a process are not frozen while they are read: one that ends
 * meanwhile may be missed, or counted twice. So a process is read again until two passes in a row find
 * the same threads and the same sum of those that have ended.
 */
#include "trace/switches.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <hbprof/req.h>

#include "hbprof.skel.h"
#include "util/array.h"

#define PASSES 8

/* One process. */
struct counted {
	struct hb_switches now; /* of the last pass that saw it */
	u64 begin_voluntary, begin_involuntary;
	bool begun;   /* these are known */
	bool settled; /* now can be trusted */
	bool ended;
};

struct switches {
	struct hbprof_bpf *skel;
	struct bpf_link *link;
	struct counted *proc; /* HB_MAX_PROCS */
};

void switches__prepare(struct hbprof_bpf *skel, bool on)
{
	bpf_program__set_autoload(skel->progs.hb_switches, on);
	bpf_map__set_autocreate(skel->maps.req_switches, on);
}

int switches__new(struct hbprof_bpf *skel, struct switches **out)
{
	struct switches *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return err;
	s->skel = skel;
	s->proc = array_alloc(HB_MAX_PROCS, sizeof(*s->proc));
	if (s->proc) {
		s->link = bpf_program__attach_iter(skel->progs.hb_switches, NULL);
		err = s->link ? 0 : -errno;
	}
	if (err)
		switches__free(s);
	else
		*out = s;
	return err;
}

void switches__free(struct switches *s)
{
	if (!s)
		return;
	bpf_link__destroy(s->link);
	free(s->proc);
	free(s);
}

/* Runs the program on each thread of the machine: it does so while its output, which is none, is read. */
static int run_pass(struct switches *s)
{
	int fd = bpf_iter_create(bpf_link__fd(s->link));
	char none[8];
	ssize_t n;

	if (fd < 0)
		return -errno;
	s->skel->bss->switches_pass++;
	do {
		n = read(fd, none, sizeof(none));
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	close(fd);
	return n < 0 ? -errno : 0;
}

/* False: it was not there, or is not what it was a pass ago. */
static bool take(struct switches *s, u32 proc)
{
	struct counted *c = &s->proc[proc];
	struct hb_switches now;
	bool same;

	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.req_switches), &proc, &now) ||
	    now.pass != s->skel->bss->switches_pass)
		return false;
	same = c->now.pass == now.pass - 1 && c->now.gone == now.gone &&
	       c->now.threads == now.threads;
	c->now = now;
	return same;
}

/* The processes from `from` on, before `to`, that have not ended. */
static void look_at(struct switches *s, u32 from, u32 to)
{
	u32 unsettled = 1;

	for (u32 i = from; i < to; i++)
		if (!s->proc[i].ended)
			s->proc[i].settled = false;
	for (u32 k = 0; k < PASSES && unsettled && !run_pass(s); k++) {
		unsettled = 0;
		for (u32 i = from; i < to; i++) {
			struct counted *c = &s->proc[i];

			if (c->ended || c->settled)
				continue;
			c->settled = take(s, i);
			unsettled += !c->settled;
			if (!c->settled || c->begun)
				continue;
			c->begun = true;
			c->begin_voluntary = c->now.voluntary;
			c->begin_involuntary = c->now.involuntary;
		}
	}
}

void switches__look(struct switches *s, u32 nr)
{
	if (s)
		look_at(s, 0, nr < HB_MAX_PROCS ? nr : HB_MAX_PROCS);
}

void switches__end(struct switches *s, u32 proc)
{
	if (!s || proc >= HB_MAX_PROCS || s->proc[proc].ended)
		return;
	look_at(s, proc, proc + 1);
	s->proc[proc].ended = true;
}

bool switches__of(const struct switches *s, u32 proc, u64 *voluntary, u64 *involuntary)
{
	const struct counted *c = s && proc < HB_MAX_PROCS ? &s->proc[proc] : NULL;

	if (!c || !c->begun || !c->settled)
		return false;
	*voluntary = c->now.voluntary - c->begin_voluntary;
	*involuntary = c->now.involuntary - c->begin_involuntary;
	return true;
}
