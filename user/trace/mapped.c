// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mapped.c - see mapped.h. The mappings of a large process take milliseconds to read, and the kernel
 * holds a lock of the target's for it, so first it is asked for numbers that it has at hand: the size
 * of all code, and the page faults, without which no new code has run. Where the dynamic linker is
 * probed it says when to look.
 */
#include "trace/mapped.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

/* ---- return addresses --------------------------------------------------------------------- */

static void ra_mapping(const struct session *s, struct mapped_ra *r)
{
	const struct proc_map *m = proc__map_at(s->plan->proc[r->key.owner].proc, r->key.where);

	r->mapped = m;
	r->dev = m ? m->dev : 0;
	r->ino = m ? m->ino : 0;
	r->off = m && m->ino ? r->key.where - m->begin + m->off : 0;
}

int mapped__add_ra(struct session *s, const struct hb_ra_key *key)
{
	struct mapped *m;

	if (key->space != HB_RA_PROCESS)
		return 0;
	m = &s->proc[key->owner].mapped;
	if (array_grow((void **)&m->ra, m->nr_ras, &m->cap_ras, sizeof(*m->ra)))
		return -ENOMEM;
	m->ra[m->nr_ras] = (struct mapped_ra){.key = *key};
	ra_mapping(s, &m->ra[m->nr_ras++]);
	return 0;
}

void mapped__ask_again(struct session *s, const struct hb_ra_key *key)
{
	struct mapped *m = &s->proc[key->owner].mapped;

	for (size_t i = m->nr_ras; i-- > 0;) {
		struct mapped_ra *r = &m->ra[i];

		if (r->key.where != key->where || r->key.space != key->space)
			continue;
		r->ask_again = true;
		return;
	}
}

static bool ra_stands(const struct session *s, const struct mapped_ra *r)
{
	struct mapped_ra now = {.key = r->key};

	ra_mapping(s, &now);
	return now.mapped == r->mapped && now.dev == r->dev && now.ino == r->ino &&
	       now.off == r->off;
}

/* Takes addresses out of the kernel's map, so that the next call from there is asked about. */
static u32 forget_ras(struct session *s, struct mapped *m,
		      bool (*keep)(const struct session *, const struct mapped_ra *))
{
	u32 forgotten = 0;

	for (size_t i = m->nr_ras; i-- > 0;) {
		if (keep(s, &m->ra[i]))
			continue;
		bpf_map_delete_elem(bpf_map__fd(s->skel->maps.ras), &m->ra[i].key);
		m->ra[i] = m->ra[--m->nr_ras];
		forgotten++;
	}
	return forgotten;
}

static bool ra_not_asked(const struct session *s, const struct mapped_ra *r)
{
	return !r->ask_again;
}

/* The handlers' own memory of addresses that are attached. One of them may be about to write what it
 * has looked up before: it is emptied once more at the next interval. */
int mapped__flush(struct session *s)
{
	u32 *slot = array_alloc(HB_RA_CACHE, sizeof(*slot));
	u64 *empty = array_alloc(HB_RA_CACHE, sizeof(*empty));
	int err = slot && empty ? 0 : -ENOMEM;

	for (u32 i = 0; i < HB_RA_CACHE && !err; i++)
		slot[i] = i;
	if (!err)
		err = map_put_batch(s->skel->maps.ra_cache, slot, empty, HB_RA_CACHE);
	free(slot);
	free(empty);
	return err;
}

/* ---- changes ------------------------------------------------------------------------------ */

/* FNV-1a, by words. */
static void hash_word(u64 *h, u64 v)
{
	*h = (*h ^ v) * 0x100000001b3ULL;
}

static u64 hash_code(const struct proc *p)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (u32 i = 0; i < p->nr_maps; i++) {
		const struct proc_map *m = &p->map[i];

		if (!m->exec)
			continue;
		hash_word(&h, m->begin);
		hash_word(&h, m->end);
		hash_word(&h, m->off);
		hash_word(&h, m->dev);
		hash_word(&h, m->ino);
	}
	return h;
}

int mapped__init(struct session *s, u32 proc)
{
	s->proc[proc].mapped.code_hash = hash_code(s->plan->proc[proc].proc);
	return 0;
}

void mapped__fini(struct mapped *m)
{
	free(m->ra);
}

/* One that has just run a program is mapping its libraries: that it was not measured at first is said. */
static bool is_young(const struct session *s, u32 proc)
{
	u64 born = s->proc[proc].born_mono_ns;

	return born && mono_ns() - born < 1000000000;
}

/* Files that were loaded since: what the plan would have had of them is measured from here on. */
static int look_at_files(struct session *s, u32 proc)
{
	const struct plan *pl = s->plan;
	u32 funcs = pl->nr_funcs, images = pl->nr_images, left_out = pl->funcs_left_out;
	char after[16];
	int err = session__grow(s, proc);

	if (err == -ESRCH || err == -ENOMEM)
		return err;
	format_ns(after, sizeof(after), mono_ns() - s->begin_mono_ns);
	if (err)
		session__warn(s,
			      "process %d has loaded files while recording, in the first %s, whose "
			      "functions are not measured: %s",
			      (int)pl->proc[proc].proc->pid, after, strerror(-err));
	else if (pl->nr_funcs > funcs && !is_young(s, proc))
		session__warn(
			s,
			"%s was loaded while recording; its functions (%u, %s among them) are "
			"measured only from then on, %s after the start",
			pl->image[pl->func[funcs].image].path, pl->nr_funcs - funcs,
			pl->func[funcs].f->name, after);
	if (pl->funcs_left_out > left_out)
		session__warn(s,
			      "%u functions of files that were loaded while recording are not "
			      "measured, as there is no room: start hbprof again for them",
			      pl->funcs_left_out);
	if (!err && pl->nr_funcs > funcs)
		log_info("measuring %u functions of process %d, too", pl->nr_funcs - funcs,
			 (int)pl->proc[proc].proc->pid);
	log_debug("%u new files", pl->nr_images - images);
	return 0;
}

int mapped__reload(struct session *s, u32 proc)
{
	struct mapped *m = &s->proc[proc].mapped;
	struct proc *p = s->plan->proc[proc].proc;
	int err = proc__reload_maps(p);
	u64 hash;
	u32 gone;

	if (err)
		return err;
	hash = hash_code(p);
	if (hash == m->code_hash)
		return 0;
	m->code_hash = hash;
	m->adds = false;
	gone = forget_ras(s, m, ra_stands);
	if (gone)
		log_debug("%u return addresses are no longer those of the same file", gone);
	m->flushes = 2;
	return look_at_files(s, proc);
}

int mapped__check(struct session *s, u32 proc)
{
	struct mapped *m = &s->proc[proc].mapped;
	struct proc_stamp now;
	int err;

	forget_ras(s, m, ra_not_asked);
	err = proc__stamp(s->plan->proc[proc].proc, &now);
	if (!err &&
	    (now.code_bytes != m->stamp.code_bytes || (m->nr_ras && now.faults != m->stamp.faults)))
		err = mapped__reload(s, proc);
	m = &s->proc[proc].mapped;
	if (!err)
		m->stamp = now;
	if (!err && m->flushes) {
		m->flushes--;
		err = mapped__flush(s);
	}
	/* Its end is noticed elsewhere. What cannot be read now, as in the middle of an exec, is read the
	 * next time: the stamp is the old one. */
	if (err && err != -ENOMEM && err != -ESRCH)
		log_debug("the mappings of process %d: %s", (int)s->plan->proc[proc].proc->pid,
			  strerror(-err));
	return err == -ENOMEM ? err : 0;
}

/* ---- told by the dynamic linker ------------------------------------------------------------- */

void mapped__told(struct session *s, u32 proc, u64 state)
{
	struct mapped *m = &s->proc[proc].mapped;

	m->look = true;
	m->state = state;
	if (state == RT_ADD)
		m->adds = true;
	if (state != RT_DELETE || !m->adds)
		return;
	m->nr_unseen++;
	m->adds = false;
}

static int look(struct session *s, u32 proc)
{
	int err = mapped__reload(s, proc);
	struct mapped *m = &s->proc[proc].mapped;

	m->look = false;
	/* What it had begun to load was mapped by then; that it is known already is no change. */
	if (!err && m->state == RT_CONSISTENT)
		m->adds = false;
	return err == -ENOMEM ? err : 0;
}

int mapped__look(struct session *s)
{
	int err = 0;

	for (u32 i = 0; i < s->nr_procs && !err; i++)
		if (s->proc[i].mapped.look && !session__proc_ended(s, i))
			err = look(s, i);
	return err;
}

void mapped__tell(struct session *s)
{
	u32 nr = 0, first = 0;

	for (u32 i = s->nr_procs; i-- > 0;) {
		if (!s->proc[i].mapped.nr_unseen)
			continue;
		nr += s->proc[i].mapped.nr_unseen;
		first = i;
	}
	if (nr)
		session__warn(
			s,
			"%u times a library was loaded and unloaded (process %d) before it was known "
			"what is in it: calls of codecs in it are not counted, unless it had been "
			"there before",
			nr, (int)s->plan->proc[first].proc->pid);
}
