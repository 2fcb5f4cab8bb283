// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session_calib.c - the calibration (calib.h) within a session: its own functions probed, which pairs of
 * classes are needed, and the constants into the kernel's memory and the recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/clock.h"
#include "util/log.h"

#define RENEW_RESULTS (HB_LANG_NR * HB_CLASS_NR * HB_CLASS_NR)

static int read_calib_hist(void *arg, u32 func, enum hb_dist dist, struct hb_hist *out)
{
	struct session *s = arg;
	struct hb_row_key key = {.func = s->max_funcs + func, .proc = HB_PROC_SELF};
	struct hb_row row;
	u32 i, h;

	memset(out, 0, sizeof(*out));
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.rows), &key, &i))
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.row_stats), &i, &row))
		return -errno;
	if (!row.dist[dist].hist)
		return 0;
	h = row.dist[dist].hist - 1;
	return bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.hists), &h, out) ? -errno : 0;
}

static int calib_site_put(struct session *s, const struct proc *self, const struct calib_site *cs,
			  struct attach_probe *p)
{
	u32 image = s->max_images, id;
	struct session_site ss = {.image = image, .site = {.func = SITE_NO_FUNC, .role = cs->role}};
	struct hb_site hs = {.sp_fix = cs->sp_fix,
			     .func = cs->role == HB_ROLE_ENTRY ? s->max_funcs + cs->func
							       : HB_FUNC_NONE,
			     .image = image,
			     .cls = cs->cls};
	const struct proc_map *m = proc__map_at(self, (uintptr_t)cs->at);
	struct hb_ra_key key = {.where = (uintptr_t)cs->ra, .owner = image, .space = HB_RA_IMAGE};
	int err;

	if (!m)
		return -ENOENT;
	/* Its own image is mapped where it is: vaddr is the run-time address, the bias 0. */
	hs.vaddr = (uintptr_t)cs->at;
	if (cs->ra)
		hs.ra_delta = (const char *)cs->ra - (const char *)cs->at;
	err = session__site_put(s, &hs, &ss, &id);
	if (!err && cs->ra)
		err = session__ra_set(s, &key, HB_RA_ATTACHED);
	p->off = (uintptr_t)cs->at - m->begin + m->off;
	p->cookie = HB_COOKIE(id, cs->role, cs->lang);
	return err;
}

static bool lang_used(const struct session *s, u8 lang)
{
	return calib_lang_used(&s->calib, lang);
}

/* Only those of the languages that the plan has functions of: a probe may be dear to take off. */
static int calib_attach(struct session *s, const bool wanted[HB_LANG_NR])
{
	struct calib_site cs[CALIB_SITES];
	struct attach_probe p[CALIB_SITES];
	struct proc *self = NULL;
	size_t refused = 0, nr = 0;
	int fd = -1, err;

	calib__sites(cs);
	err = proc__open(getpid(), &self);
	if (err)
		return err;
	fd = proc__open_exe(self);
	if (fd < 0)
		err = fd;
	for (u32 i = 0; i < CALIB_SITES && !err; i++) {
		if (!wanted[cs[i].lang])
			continue;
		err = calib_site_put(s, self, &cs[i], &p[nr]);
		bystanders__note(&s->bystanders, p[nr++].off);
	}
	if (!err)
		err = attach__add(&s->self, fd, getpid(), p, nr, &refused);
	if (!err && refused)
		err = -ENOTSUP;
	if (err)
		log_err("cannot probe hbprof's own calibration functions: %s", strerror(-err));
	if (fd >= 0)
		close(fd);
	proc__close(self);
	return err;
}

/* What the start of a goroutine costs is taken for the cost of an exit's hit that ends no call. */
static bool is_exit(u8 role)
{
	return role == HB_ROLE_RETSITE || role == HB_ROLE_RET || role == HB_ROLE_GO;
}

/* Every entry class of a function meets every exit class that its language's sites have. */
static void calib_mark_used(struct session *s)
{
	bool entry[HB_LANG_NR][HB_CLASS_NR] = {0}, exit_[HB_LANG_NR][HB_CLASS_NR] = {0};

	for (u32 i = 0; i < s->plan->nr_images; i++) {
		const struct site_list *l = &s->plan->image[i].sites;

		for (size_t k = 0; k < l->nr; k++) {
			u8 lang = session__site_lang(s, i, &l->v[k]);

			if (l->v[k].role == HB_ROLE_ENTRY)
				entry[lang][l->v[k].cls] = true;
			else if (is_exit(l->v[k].role))
				exit_[lang][l->v[k].cls] = true;
		}
	}
	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		exit_[lang][HB_CLASS_BRANCH] = true; /* session__exit_used() counts on it */
		for (u32 e = 0; e < HB_CLASS_NR; e++)
			for (u32 x = 0; x < HB_CLASS_NR; x++)
				s->calib.used[lang][e][x] |= entry[lang][e] && exit_[lang][x];
	}
}

void session__exit_used(struct session *s, u8 lang, u8 cls)
{
	for (u32 e = 0; e < HB_CLASS_NR; e++)
		s->calib.used[lang][e][cls] |= s->calib.used[lang][e][HB_CLASS_BRANCH];
}

static int keep_results(struct session *s, const struct calib_result *r, u32 nr)
{
	struct m_cal *v = realloc(s->rec->cal, (s->rec->nr_cals + nr + 1) * sizeof(*v));
	u64 now = mono_ns();

	if (!v)
		return -ENOMEM;
	s->rec->cal = v;
	for (u32 i = 0; i < nr; i++)
		v[s->rec->nr_cals++] = (struct m_cal){.mono_ns = now,
						      .lang = r[i].lang,
						      .entry_class = r[i].entry_class,
						      .exit_class = r[i].exit_class,
						      .in_ns = r[i].in_ns,
						      .total_ns = r[i].total_ns,
						      .spread_in_ns = r[i].spread_in_ns,
						      .spread_total_ns = r[i].spread_total_ns};
	return 0;
}

static int calibrate(struct session *s, u32 batches, u32 sleeps)
{
	struct calib_result r[RENEW_RESULTS];
	struct hb_cal cal = s->skel->bss->cal;
	u32 nr = 0;
	int err = calib__run(&s->calib, batches, &cal, r, RENEW_RESULTS, &nr);

	if (err)
		return err;
	if (sleeps)
		calib__cold(&s->calib, sleeps, &cal);
	/* Word by word: a handler may read between two of them, never half of one. */
	s->skel->bss->cal = cal;
	return keep_results(s, r, nr);
}

int session__recalibrate(struct session *s)
{
	int err;

	bystanders__match(s);
	err = calibrate(s, CALIB_BATCHES, CALIB_SLEEPS);

	if (err != -ENODATA)
		return err;
	/* It worked at the start: its own calls find no room beside the target's. */
	session__warn(s,
		      "at times the probes' cost could not be measured again, as more tasks were "
		      "inside calls than --max-tasks has room for; the last value was used");
	return 0;
}

/*
 * At the start every exit class is measured once: discovery may find any of them, and calls are
 * corrected from the first one on. What has a site comes last, as the bias inside a call is kept by
 * entry class only, and is renewed later on.
 */
static int calibrate_first(struct session *s)
{
	bool used[HB_LANG_NR][HB_CLASS_NR][HB_CLASS_NR];
	int err;

	memcpy(used, s->calib.used, sizeof(used));
	for (u32 lang = 0; lang < HB_LANG_NR; lang++)
		for (u32 e = 0; e < HB_CLASS_NR; e++)
			for (u32 x = 0; x < HB_CLASS_NR; x++)
				s->calib.used[lang][e][x] = used[lang][e][HB_CLASS_BRANCH] &&
							    !used[lang][e][x];
	err = calibrate(s, CALIB_BATCHES, 0);
	memcpy(s->calib.used, used, sizeof(used));
	return err ? err : calibrate(s, 4 * CALIB_BATCHES, 2 * CALIB_SLEEPS);
}

int session__calibrate(struct session *s)
{
	bool wanted[HB_LANG_NR], any = false;
	int err;

	s->calib.read_hist = read_calib_hist;
	s->calib.arg = s;
	s->calib.seen = &s->skel->bss->cal_seen;
	calib_mark_used(s);
	for (u32 lang = 0; lang < HB_LANG_NR; lang++)
		any |= wanted[lang] = lang_used(s, lang);
	calib__baseline(&s->calib);
	calib__cold_baseline(&s->calib);
	if (!any)
		return 0; /* session__calibrate_new(), when there is something */
	err = calib_attach(s, wanted);
	bystanders__match(s);
	if (!err)
		err = calibrate_first(s);
	return err ? err : session__counter_bias(s);
}

int session__calibrate_new(struct session *s)
{
	bool before[HB_LANG_NR][HB_CLASS_NR][HB_CLASS_NR], wanted[HB_LANG_NR], any = false;
	int err;

	for (u32 lang = 0; lang < HB_LANG_NR; lang++)
		wanted[lang] = !lang_used(s, lang);
	memcpy(before, s->calib.used, sizeof(before));
	calib_mark_used(s);
	if (!memcmp(before, s->calib.used, sizeof(before)))
		return 0;
	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		wanted[lang] &= lang_used(s, lang);
		any |= wanted[lang];
	}
	err = any ? calib_attach(s, wanted) : 0;
	bystanders__match(s);
	if (!err)
		err = calibrate_first(s);
	return err ? err : session__counter_bias(s);
}
