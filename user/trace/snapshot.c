// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * snapshot.c - from the kernel's maps to the recording: at the end of each interval, while it goes on,
 * and at the orderly end. The parts are read by rows.c, intervals.c, collect.c and leftovers.c.
 *
 * Gotcha: a live snapshot is not balanced, as calls go on while it is read. The final one is: it is
 * taken after recording has stopped and the probes are off, so no handler runs any more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include <hbprof/version.h>

#include "trace/rates.h"
#include "trace/requests.h"
#include "trace/sampler.h"
#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "sym/registry.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define MANY_EVENTS 32 /* perf events that take about 2 s to take off */

/* The tasks map is bounded; when it fills, entries that become empty are deleted again. */
static void watch_tasks(struct session *s)
{
	bool tight = s->skel->bss->nr_tasks > s->max_tasks / 4 * 3 + CALIB_TASKS;

	__atomic_store_n(&s->skel->bss->tight, tight, __ATOMIC_RELAXED);
}

void session__note_usage(struct session *s, u32 proc)
{
	struct session_proc *sp = &s->proc[proc];
	struct m_target *t = &s->rec->target[proc];
	u64 cpu, rss;

	if (session__proc_ended(s, proc) || proc__usage(s->plan->proc[proc].proc, &cpu, &rss))
		return; /* it has ended: see drop_stale_usage() */
	sp->usage_mono_ns = mono_ns();
	if (sp->cpu_begin_ns != M_NONE)
		t->cpu_ns = cpu - sp->cpu_begin_ns;
	t->rss_bytes = rss;
}

static void note_usage(struct session *s)
{
	for (u32 i = 0; i < s->nr_procs; i++)
		session__note_usage(s, i);
}

/*
 * Of a process that has ended, the CPU time is that of the last look, up to an interval old. Where
 * that is more than 2 % of the recording, shares of it would be wrong by as much: it is not known then.
 */
static void drop_stale_usage(struct session *s, u32 proc)
{
	const struct session_proc *sp = &s->proc[proc];
	u64 end = sp->end_mono_ns ? sp->end_mono_ns : s->end_mono_ns;

	if (!sp->usage_mono_ns || end - sp->usage_mono_ns > session__proc_ns(s, proc, end) / 50)
		s->rec->target[proc].cpu_ns = M_NONE;
}

static void note_ends(struct session *s)
{
	for (u32 i = 0; i < s->nr_procs; i++) {
		struct m_target *t = &s->rec->target[i];

		if (s->proc[i].begin_mono_ns && t->end_mono_ns == M_NONE)
			t->end_mono_ns = s->end_mono_ns;
		if (!t->end && !proc__alive(s->plan->proc[i].proc))
			t->end = strdup("exited");
		if (t->end)
			drop_stale_usage(s, i);
	}
}

/* now 0: when the rows have been read. */
static int snapshot_at(struct session *s, u64 now)
{
	struct m_row *rows;
	u32 nr;
	int err = rows__read(s, &rows, &nr);

	if (err)
		return err;
	watch_tasks(s);
	note_usage(s);
	err = session__add_interval(s, rows, nr, now ? now : mono_ns());
	if (err)
		rows__free(rows, nr);
	return err;
}

u64 session__calls(const struct session *s)
{
	u64 n = 0;

	for (u32 i = 0; i < s->nr_prev; i++)
		n += s->prev[i].count;
	return n;
}

int session__snapshot(struct session *s)
{
	int err = cover__tick(s);

	if (!err)
		err = hotsites__tick(s);
	session__look_for_ends(s);
	for (u32 i = 0; i < s->nr_procs && !err; i++)
		if (!session__proc_ended(s, i))
			err = mapped__check(s, i);
	if (!err)
		err = follow__look_around(s);
	return err ? err : snapshot_at(s, 0);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* Names take long, and are needed by no other number. */
static int take_samples(struct session *s)
{
	int n;

	if (!s->sampler)
		return 0;
	sampler__stop(s->sampler);
	n = ring_buffer__consume(s->ring);
	return n < 0 ? n : sampler__finish(s->sampler, s->rec);
}

static void set_measured(const struct session *s, struct m_row *row, u64 now)
{
	row->measured_ns = row->overflow || row->target >= s->nr_procs
				   ? now - s->begin_mono_ns
				   : session__proc_ns(s, row->target, now);
}

static int take_rows(struct session *s)
{
	struct recording *rec = s->rec;

	/* The last snapshot's rows are final: nothing ran after it. */
	rec->row = s->prev;
	rec->nr_rows = s->nr_prev;
	s->prev = NULL;
	s->nr_prev = 0;
	for (u32 i = 0; i < rec->nr_rows; i++)
		set_measured(s, &rec->row[i], s->end_mono_ns);
	return 0;
}

int session__stop(struct session *s, const char *reason)
{
	char codecs[24];
	struct recording *rec = s->rec;
	char took[16];
	int err;

	note_usage(s);
	requests__look(s->requests);
	__atomic_store_n(&s->skel->bss->recording, false, __ATOMIC_SEQ_CST);
	s->end_mono_ns = mono_ns();
	rates__stop(s->rates);
	rec->coverage.links = s->nr_links;
	if (s->kind == ATTACH_PERF && s->nr_probes > MANY_EVENTS)
		log_warn("taking off %u probes, which takes some seconds on this kernel",
			 s->nr_probes);
	session__detach(s);
	requests__stop(s->requests);
	log_info("detached in %s", format_ns(took, sizeof(took), mono_ns() - s->end_mono_ns));
	note_ends(s);
	follow__tell(s);
	mapped__tell(s);
	bystanders__tell(s);
	/* Taking the probes off is no part of the last interval. */
	err = snapshot_at(s, s->end_mono_ns);
	if (!err)
		err = take_rows(s);
	if (!err)
		err = session__fill_funcs(s, rec);
	if (!err)
		err = session__fill_images(s, rec);
	if (!err)
		err = session__fill_drops(s, rec);
	if (!err)
		err = session__fill_counters(s, rec);
	if (!err)
		err = session__count_leftovers(s);
	if (!err)
		err = requests__read(s->requests, true, rec);
	if (!err)
		err = rates__read(s->rates, rec->requests);
	if (!err)
		err = take_samples(s);
	if (err) {
		log_err("cannot read the results: %s", strerror(-err));
		return err;
	}
	session__sum_coverage(s, rec, s->end_mono_ns);
	rec->coverage.balanced = true;
	rec->version = strdup(HBPROF_VERSION);
	rec->attach = strdup(attach_kind_names[s->kind]);
	rec->stop_reason = strdup(reason);
	rec->begin_wall_ns = s->begin_wall_ns;
	rec->begin_mono_ns = s->begin_mono_ns;
	rec->end_mono_ns = s->end_mono_ns;
	session__fill_cost(s, rec);
	snprintf(codecs, sizeof(codecs), "%016llx", registry__hash(s->plan->registry));
	rec->codecs = strdup(codecs);
	return rec->version && rec->attach && rec->stop_reason && rec->codecs ? 0 : -ENOMEM;
}

/* ---- while it goes on --------------------------------------------------------------------- */

static int dup_targets(const struct recording *from, struct recording *rec)
{
	rec->target = array_alloc((size_t)from->nr_targets + 1, sizeof(*rec->target));
	if (!rec->target)
		return -ENOMEM;
	rec->nr_targets = from->nr_targets;
	for (u32 i = 0; i < from->nr_targets; i++) {
		const struct m_target *f = &from->target[i];
		struct m_target *t = &rec->target[i];

		*t = *f;
		t->comm = dup_or_null(f->comm);
		t->exe = dup_or_null(f->exe);
		t->cmdline = dup_or_null(f->cmdline);
		t->build_id = dup_or_null(f->build_id);
		t->language = dup_or_null(f->language);
		t->end = dup_or_null(f->end);
	}
	return 0;
}

/* What is known from the beginning: the machine, and how it is measured. */
static int dup_facts(const struct session *s, struct recording *rec)
{
	const struct m_host *h = &s->rec->host;
	int err = 0;

	rec->version = strdup(HBPROF_VERSION);
	rec->attach = strdup(attach_kind_names[s->kind]);
	if (!rec->version || !rec->attach)
		return -ENOMEM;
	for (u32 i = 0; i < h->nr_facts && !err; i++)
		err = m_host__add(&rec->host, h->fact[i].key, h->fact[i].value);
	return err;
}

static int dup_cals(const struct recording *from, struct recording *rec)
{
	rec->cal = array_alloc(from->nr_cals + 1, sizeof(*rec->cal));
	if (!rec->cal)
		return -ENOMEM;
	memcpy(rec->cal, from->cal, from->nr_cals * sizeof(*rec->cal));
	rec->nr_cals = from->nr_cals;
	return 0;
}

int session__live(struct session *s, struct recording **out)
{
	struct recording *rec = recording__new();
	u64 now = mono_ns();
	int err;

	if (!rec)
		return -ENOMEM;
	err = rows__read(s, &rec->row, &rec->nr_rows);
	for (u32 i = 0; i < rec->nr_rows && !err; i++)
		set_measured(s, &rec->row[i], now);
	if (!err)
		err = session__fill_funcs(s, rec);
	if (!err)
		err = session__fill_images(s, rec);
	if (!err)
		err = session__fill_drops(s, rec);
	if (!err)
		err = dup_targets(s->rec, rec);
	requests__look(s->requests);
	if (!err)
		err = requests__read(s->requests, false, rec);
	if (!err)
		err = rates__read(s->rates, rec->requests);
	if (!err)
		err = dup_facts(s, rec);
	if (!err)
		err = m_counters__copy(&rec->counters, &s->rec->counters);
	if (!err)
		err = session__fill_counters(s, rec);
	if (!err)
		err = dup_cals(s->rec, rec);
	for (u32 i = 0; i < s->rec->nr_warnings && !err; i++)
		err = recording__warn(rec, "%s", s->rec->warning[i]);
	if (err) {
		recording__free(rec);
		return err;
	}
	session__sum_coverage(s, rec, now);
	rec->coverage.in_flight_end = M_NONE;
	rec->coverage.links = s->nr_links;
	rec->begin_wall_ns = s->begin_wall_ns;
	rec->begin_mono_ns = s->begin_mono_ns;
	rec->end_mono_ns = now;
	session__fill_cost(s, rec);
	*out = rec;
	return 0;
}
