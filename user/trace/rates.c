// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rates.c - see rates.h. A window has four times: before its first probe is placed, when counting begins
 * everywhere at once, when it ends, and when the last probe is off again. What is measured between the
 * first and the last is slower than it would be; what is counted is between the other two.
 */
#include "trace/rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define FIRST_NS  1000000000ULL /* after recording has begun */
#define WINDOW_NS 100000000ULL
#define EVERY_NS  10000000000ULL

struct counted {
	u64 n[HB_RATE_NR]; /* in whole windows */
	u64 ns, windows;
	u64 at_open[HB_RATE_NR];
	bool open; /* it has probes of the window that is open */
};

struct rates {
	struct session *s;
	struct attach links; /* while a window is open */
	int timer;
	bool open;
	u64 probed_ns;	      /* in closed windows */
	struct counted *proc; /* HB_MAX_PROCS */
};

void rates__prepare(struct hbprof_bpf *skel, bool on, u32 attach_type)
{
	skel->rodata->cfg_rates = on;
	bpf_program__set_autoload(skel->progs.hb_rate, on);
	bpf_program__set_expected_attach_type(skel->progs.hb_rate, attach_type);
}

int rates__new(struct session *s, struct rates **out)
{
	struct rates *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->s = s;
	attach__init(&r->links, s->kind, -1);
	r->proc = array_alloc(HB_MAX_PROCS, sizeof(*r->proc));
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!r->proc || r->timer < 0) {
		int err = r->proc ? -errno : -ENOMEM;

		rates__free(r);
		return err;
	}
	*out = r;
	return 0;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	rates__stop(r);
	if (r->timer >= 0)
		close(r->timer);
	free(r->proc);
	free(r);
}

int rates__fd(const struct rates *r)
{
	return r ? r->timer : -1;
}

static void due_in(struct rates *r, u64 ns)
{
	struct itimerspec t = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

	timerfd_settime(r->timer, 0, &t, NULL);
}

void rates__start(struct rates *r)
{
	if (r)
		due_in(r, FIRST_NS);
}

static void set_time(u64 *at, u64 ns)
{
	__atomic_store_n(at, ns, __ATOMIC_SEQ_CST);
}

/* ---- one process ---------------------------------------------------------------------------- */

static int read_counts(const struct rates *r, u32 proc, struct hb_req_rate *now)
{
	int fd = bpf_map__fd(r->s->skel->maps.req_rates);

	return bpf_map_lookup_elem(fd, &proc, now) ? -errno : 0;
}

/* The functions of one image. 0; -ESRCH: the process has gone; -ESTALE: they are other code there. */
static int probe_image(struct rates *r, u32 proc, u32 image)
{
	const struct plan_image *pi = &r->s->plan->image[image];
	struct attach_probe p[HB_RATE_NR] = {0};
	struct code_page *page = calloc(1, sizeof(*page));
	size_t refused = 0;
	u64 off = 0;
	int err = page ? 0 : -ENOMEM;

	for (u32 i = 0; i < HB_RATE_NR && !err; i++) {
		p[i].cookie = i;
		if (!session__site_intact(r->s, proc, image, &pi->rate[i], page) ||
		    image__off(pi->im, pi->rate[i].vaddr, &off))
			err = -ESTALE;
		p[i].off = off;
	}
	free(page);
	if (!err)
		err = attach__add(&r->links, pi->im->fd, r->s->plan->proc[proc].proc->pid, p,
				  HB_RATE_NR, &refused);
	return !err && refused ? -ENOTSUP : err;
}

/* False: it is not counted in this window. */
static bool open_proc(struct rates *r, u32 proc)
{
	const struct plan_proc *pp = &r->s->plan->proc[proc];
	bool any = false;
	int err = 0;

	for (u32 i = 0; i < pp->nr_maps && !err; i++) {
		if (!r->s->plan->image[pp->map[i].image].rates)
			continue;
		err = probe_image(r, proc, pp->map[i].image);
		any = true;
	}
	if (err && err != -ESRCH)
		log_info("process %d: gopark and mcall are not counted: %s", (int)pp->proc->pid,
			 strerror(-err));
	return any && !err;
}

/* ---- windows --------------------------------------------------------------------------------- */

static int open_window(struct rates *r)
{
	struct hb_rate_window *w = &r->s->skel->bss->rate_window;
	struct hb_req_rate now;
	bool any = false;

	attach__init(&r->links, r->s->kind, bpf_program__fd(r->s->skel->progs.hb_rate));
	r->links.keeper = r->s->keeper;
	r->open = true;
	set_time(&w->on_ns, ~0ULL);
	set_time(&w->off_ns, ~0ULL);
	/* In this order: what begins behind the last window and ends now is in none. */
	set_time(&w->probed_ns, mono_ns());
	set_time(&w->clean_ns, ~0ULL);
	for (u32 i = 0; i < r->s->nr_procs && i < HB_MAX_PROCS; i++) {
		struct counted *c = &r->proc[i];

		c->open = r->s->proc[i].begin_mono_ns && !session__proc_ended(r->s, i) &&
			  open_proc(r, i) && !read_counts(r, i, &now);
		if (!c->open)
			continue;
		memcpy(c->at_open, now.n, sizeof(c->at_open));
		any = true;
	}
	set_time(&w->on_ns, mono_ns());
	return any ? 0 : -ENODATA;
}

static void close_window(struct rates *r)
{
	struct hb_rate_window *w = &r->s->skel->bss->rate_window;
	struct hb_req_rate now;

	set_time(&w->off_ns, mono_ns());
	attach__fini(&r->links);
	set_time(&w->clean_ns, mono_ns());
	r->open = false;
	r->probed_ns += w->clean_ns - w->probed_ns;
	for (u32 i = 0; i < HB_MAX_PROCS; i++) {
		struct counted *c = &r->proc[i];

		if (!c->open || read_counts(r, i, &now))
			continue;
		c->open = false;
		c->windows++;
		c->ns += w->off_ns - w->on_ns;
		for (u32 k = 0; k < HB_RATE_NR; k++)
			c->n[k] += now.n[k] - c->at_open[k];
	}
}

int rates__tick(struct rates *r)
{
	u64 n;

	if (!r || read(r->timer, &n, sizeof(n)) != sizeof(n))
		return 0;
	if (!r->open) {
		/* A window without a process is over at once. */
		if (!open_window(r))
			due_in(r, WINDOW_NS);
		else
			close_window(r);
	} else {
		close_window(r);
	}
	if (!r->open)
		due_in(r, EVERY_NS);
	return 0;
}

void rates__end_proc(struct rates *r, u32 proc)
{
	if (r && proc < HB_MAX_PROCS)
		r->proc[proc].open = false;
}

void rates__stop(struct rates *r)
{
	if (!r)
		return;
	due_in(r, 0);
	if (r->open)
		close_window(r);
}

/* ---- results --------------------------------------------------------------------------------- */

static int read_proc(const struct rates *r, struct m_request_proc *p)
{
	const struct counted *c = p->target < HB_MAX_PROCS ? &r->proc[p->target] : NULL;
	struct hb_req_rate now;
	int err;

	if (!c || !c->windows)
		return 0;
	err = read_counts(r, p->target, &now);
	if (err)
		return err;
	p->windows = c->windows;
	p->window_ns = c->ns;
	p->window_requests = now.requests;
	p->gopark = c->n[HB_RATE_GOPARK];
	p->mcall = c->n[HB_RATE_MCALL];
	return 0;
}

int rates__read(const struct rates *r, struct m_requests *out)
{
	int err = 0;

	if (!r || !out)
		return 0;
	out->probed_ns = r->probed_ns;
	for (u32 i = 0; i < out->nr_procs && !err; i++)
		err = read_proc(r, &out->proc[i]);
	return err;
}
