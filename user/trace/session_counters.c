// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session_counters.c - the counters (counters.h) within a session: described in the recording, their
 * bias measured on the calibration's calls, and the reasons why calls have none read at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/log.h"

static int describe(struct session *s)
{
	struct m_counters *m = &s->rec->counters;

	for (u32 i = 0; i < s->counters.nr; i++) {
		const struct counter *c = &s->counters.v[i];

		m->nr = i + 1;
		m->v[i].bias = M_NONE;
		m->v[i].name = strdup(c->name);
		m->v[i].lack = c->kind == HB_CTR_NONE ? strdup(c->lack) : NULL;
		if (!m->v[i].name || (c->kind == HB_CTR_NONE && !m->v[i].lack))
			return -ENOMEM;
		if (c->kind == HB_CTR_NONE)
			log_info("counter %s: n/a (%s)", c->name, c->lack);
	}
	return 0;
}

int session__open_counters(struct session *s, const char *list, bool sched)
{
	char why[128];
	int err = counters__parse(&s->counters, list ? list : COUNTERS_DEFAULT, why, sizeof(why));

	if (!err && sched)
		err = counters__add_sched(&s->counters, why, sizeof(why));
	if (err) {
		log_err("%s", why);
		return err;
	}
	err = counters__open(&s->counters);
	return err ? err : describe(s);
}

/* ---- what a pair of probes counts ---------------------------------------------------------- */

/* The calibration function's row. 0, -ENOENT: it was not called; -errno. */
static int calib_row(struct session *s, u32 lang, u32 cls, struct hb_row *row)
{
	struct hb_row_key key = {.func = s->max_funcs + lang * CALIB_LANG_FUNCS + cls,
				 .proc = HB_PROC_SELF};
	u32 i;

	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.rows), &key, &i) ||
	    bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.row_stats), &i, row))
		return -errno;
	return 0;
}

/* Once: from then on the calibration's calls, too, are less by it. */
static void set_bias(struct session *s, u32 lang, u32 cls, const struct hb_row *row)
{
	struct hb_ctr_bias *bias = &s->skel->bss->ctr_bias;

	for (u32 i = 0; i < s->counters.nr; i++) {
		const struct hb_ctr_sum *c = &row->ctr[i];
		u64 mean, *most = &s->rec->counters.v[i].bias;

		if (!c->n || s->counters.v[i].kind != HB_CTR_PERF || bias->v[lang][cls][i])
			continue;
		mean = (c->sum + c->n / 2) / c->n;
		bias->v[lang][cls][i] = mean > ~0u ? ~0u : (u32)mean;
		if (*most == M_NONE || mean > *most)
			*most = mean;
	}
}

int session__counter_bias(struct session *s)
{
	struct hb_row row;
	int err = 0;

	if (!s->skel->rodata->cfg_nr_ctrs)
		return 0;
	for (u32 lang = 0; lang < HB_LANG_NR; lang++) {
		for (u32 cls = 0; cls < HB_CLASS_NR && !err; cls++) {
			err = calib_row(s, lang, cls, &row);
			if (!err)
				set_bias(s, lang, cls, &row);
			else if (err == -ENOENT)
				err = 0;
		}
	}
	return err;
}

/* ---- at the end ---------------------------------------------------------------------------- */

/* Cycles and instructions of 0 are no result: some guests stop counting while they run. */
static int drop_stopped(struct recording *rec, u32 i)
{
	struct m_counter *c = &rec->counters.v[i];
	u64 calls = 0, sum = 0;

	if (c->lack || (strcmp(c->name, "cycles") && strcmp(c->name, "instructions")))
		return 0;
	for (u32 k = 0; k < rec->nr_rows; k++) {
		calls += rec->row[k].ctr[i].calls;
		sum += rec->row[k].ctr[i].sum;
	}
	if (!calls || sum)
		return 0;
	c->lack = strdup("it stayed at 0 in every call");
	return c->lack ? 0 : -ENOMEM;
}

int session__fill_counters(struct session *s, struct recording *rec)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	u64 *v = array_alloc((size_t)(cpus > 0 ? cpus : 1), sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < HB_CTR_LOST_NR && !err; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.ctr_lost), &i, v))
			err = -errno;
		rec->counters.lost[i] = 0;
		for (int k = 0; k < cpus && !err; k++)
			rec->counters.lost[i] += v[k];
	}
	for (u32 i = 0; i < rec->counters.nr && !err; i++)
		err = drop_stopped(rec, i);
	free(v);
	return err;
}
