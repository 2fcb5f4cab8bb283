// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mapped.c - see mapped.h. The mappings of a large process take milliseconds to read, and the kernel
 * holds a lock of the target's for it, so first it is asked for numbers that it has at hand: the size
 * of all code, and the page faults, without which no new code has run.
 */
#include "trace/mapped.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define MAX_FILES \
	4096 /* that are looked at; a program that makes new ones for ever is not followed */

/* ---- return addresses --------------------------------------------------------------------- */

static void ra_mapping(const struct session *s, struct mapped_ra *r)
{
	const struct proc_map *m = proc__map_at(s->plan->proc, r->key.where);

	r->mapped = m;
	r->dev = m ? m->dev : 0;
	r->ino = m ? m->ino : 0;
	r->off = m && m->ino ? r->key.where - m->begin + m->off : 0;
}

int mapped__add_ra(struct session *s, const struct hb_ra_key *key)
{
	struct mapped *m = &s->mapped;

	if (key->space != HB_RA_PROCESS)
		return 0;
	if (array_grow((void **)&m->ra, m->nr_ras, &m->cap_ras, sizeof(*m->ra)))
		return -ENOMEM;
	m->ra[m->nr_ras] = (struct mapped_ra){.key = *key};
	ra_mapping(s, &m->ra[m->nr_ras++]);
	return 0;
}

void mapped__ask_again(struct session *s, const struct hb_ra_key *key)
{
	for (size_t i = s->mapped.nr_ras; i-- > 0;) {
		struct mapped_ra *r = &s->mapped.ra[i];

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
static u32 forget_ras(struct session *s,
		      bool (*keep)(const struct session *, const struct mapped_ra *))
{
	struct mapped *m = &s->mapped;
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
static int flush_cache(struct session *s)
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

/* ---- files that come later ---------------------------------------------------------------- */

static bool file_is_known(const struct mapped *m, const struct proc_map *map)
{
	for (size_t i = 0; i < m->nr_files; i++)
		if (m->file[i].ino == map->ino && m->file[i].dev == map->dev)
			return true;
	return false;
}

static int add_file(struct mapped *m, const struct proc_map *map)
{
	if (array_grow((void **)&m->file, m->nr_files, &m->cap_files, sizeof(*m->file)))
		return -ENOMEM;
	m->file[m->nr_files++] = (struct mapped_file){map->dev, map->ino};
	return 0;
}

/* The number of functions is fixed when the programs are loaded, so new ones are only told. */
static void warn_late(struct session *s, const struct proc_map *map)
{
	char *name = NULL, after[16];
	u32 nr = plan__count_funcs(s->plan, map, &name);

	if (nr)
		session__warn(s,
			      "%s was loaded while recording, in the first %s, and its functions "
			      "are not measured (%u, %s among them): start hbprof again for them",
			      map->path,
			      format_ns(after, sizeof(after), mono_ns() - s->begin_mono_ns), nr,
			      name ? name : "?");
	free(name);
}

static int look_at_files(struct session *s, bool late)
{
	const struct proc *p = s->plan->proc;

	for (u32 i = 0; i < p->nr_maps && s->mapped.nr_files < MAX_FILES; i++) {
		const struct proc_map *map = &p->map[i];
		int err;

		if (!map->exec || !map->ino || file_is_known(&s->mapped, map))
			continue;
		err = add_file(&s->mapped, map);
		if (err)
			return err;
		if (late)
			warn_late(s, map);
	}
	return 0;
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

int mapped__init(struct session *s)
{
	s->mapped.code_hash = hash_code(s->plan->proc);
	return look_at_files(s, false);
}

void mapped__fini(struct mapped *m)
{
	free(m->ra);
	free(m->file);
}

int mapped__reload(struct session *s)
{
	int err = proc__reload_maps(s->plan->proc);
	u64 hash;
	u32 gone;

	if (err)
		return err;
	hash = hash_code(s->plan->proc);
	if (hash == s->mapped.code_hash)
		return 0;
	s->mapped.code_hash = hash;
	gone = forget_ras(s, ra_stands);
	if (gone)
		log_debug("%u return addresses are no longer those of the same file", gone);
	s->mapped.flushes = 2;
	return look_at_files(s, true);
}

int mapped__check(struct session *s)
{
	struct mapped *m = &s->mapped;
	struct proc_stamp now;
	int err;

	forget_ras(s, ra_not_asked);
	err = proc__stamp(s->plan->proc, &now);
	if (!err &&
	    (now.code_bytes != m->stamp.code_bytes || (m->nr_ras && now.faults != m->stamp.faults)))
		err = mapped__reload(s);
	if (!err)
		m->stamp = now;
	if (!err && m->flushes) {
		m->flushes--;
		err = flush_cache(s);
	}
	return err == -ESRCH ? 0 : err; /* its end is noticed elsewhere */
}
