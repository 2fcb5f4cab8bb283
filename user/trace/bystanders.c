// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bystanders.c - see bystanders.h. */
#include "trace/bystanders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/log.h"

#define MOST 512 /* beside each probe */
#define MANY 16	 /* the calibration is some 2 ns a hit short for each: tests/bench/processes.py */

void bystanders__note(struct bystanders *b, unsigned long off)
{
	if (b->nr_offs < CALIB_SITES)
		b->off[b->nr_offs++] = off;
}

static bool is_ended(const struct session *s, u32 proc)
{
	return proc < s->nr_procs && session__proc_ended(s, proc);
}

/* How many processes have the file with functions that most of them have; before they are attached to, too. */
static u32 shared_by_most(const struct session *s)
{
	const struct plan *pl = s->plan;
	u32 most = 1;

	for (u32 i = 0; i < pl->nr_funcs; i++) {
		u32 image = pl->func[i].image, nr = 0;

		if (i && pl->func[i - 1].image == image)
			continue; /* counted already */
		for (u32 p = 0; p < pl->nr_procs; p++)
			nr += !is_ended(s, p) && plan__map(pl, p, image);
		if (nr > most)
			most = nr;
	}
	return most;
}

/* Any process but hbprof itself, and the longer it lives the better. */
static pid_t somebody(const struct session *s)
{
	for (u32 i = 0; i < s->plan->nr_procs; i++)
		if (!is_ended(s, i))
			return s->plan->proc[i].proc->pid;
	return 0;
}

static int add(struct session *s, u32 nr)
{
	struct bystanders *b = &s->bystanders;
	struct attach_probe *p = array_alloc((size_t)nr * b->nr_offs, sizeof(*p));
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err = -ENOMEM;
	size_t refused;

	if (fd < 0)
		err = -errno;
	else if (p) {
		for (size_t i = 0; i < (size_t)nr * b->nr_offs; i++)
			p[i].off = b->off[i % b->nr_offs];
		err = attach__add(&b->links, fd, somebody(s), p, (size_t)nr * b->nr_offs, &refused);
	}
	if (fd >= 0)
		close(fd);
	free(p);
	return err;
}

void bystanders__match(struct session *s)
{
	struct bystanders *b = &s->bystanders;
	u32 want = shared_by_most(s) - 1;
	int err;

	if (want > b->most)
		b->most = want;
	if (want > MOST)
		want = MOST;
	/* By perf events, probes are too few and too dear for that. */
	if (s->kind != ATTACH_MULTI || !b->nr_offs || !somebody(s))
		return;
	/* Taking links off takes some tens of ms: not for a process that comes and goes. */
	if (b->nr && (b->nr_covered != b->nr_offs || want + b->nr / 8 < b->nr)) {
		attach__fini(&b->links);
		b->nr = 0;
	}
	if (want <= b->nr)
		return;
	if (!b->nr) {
		attach__init(&b->links, s->kind, bpf_program__fd(s->skel->progs.hb_probe));
		b->links.keeper = s->keeper;
	}
	err = add(s, want - b->nr);
	if (err) {
		log_info("the probes' cost is calibrated without the other processes' share: %s",
			 strerror(-err));
		return;
	}
	b->nr = want;
	b->nr_covered = b->nr_offs;
	log_debug("%u bystanders beside each of %u probes of the calibration", b->nr, b->nr_offs);
}

void bystanders__tell(struct session *s)
{
	if (s->bystanders.most >= MANY)
		session__warn(
			s,
			"%u processes of one program were measured at once: a probe costs more "
			"with each of them, which is calibrated and subtracted but for some 2 ns "
			"a hit and process",
			s->bystanders.most + 1);
}
