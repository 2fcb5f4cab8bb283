// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * collect.c - the parts of a recording that stand beside its rows: functions and their counters,
 * images, the process, drops, coverage, cost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sym/registry.h"
#include "trace/requests.h"
#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/units.h"

/* ---- functions, coverage ------------------------------------------------------------------ */

int session__fn_stat(struct session *s, u32 func, struct hb_fn_stat *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct hb_fn_stat *v;
	int err = 0;

	if (cpus < 1)
		return -EINVAL;
	v = array_alloc(cpus, sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.fn_stats), &func, v))
		err = -errno;
	*sum = (struct hb_fn_stat){0};
	for (int c = 0; c < cpus && !err; c++) {
		for (u32 k = 0; k < HB_FN_NR; k++)
			sum->n[k] += v[c].n[k];
		for (u32 k = 0; k < HB_CLASS_NR; k++)
			sum->exits[k] += v[c].exits[k];
		sum->outside += v[c].outside;
	}
	for (u32 k = 0; k < HB_CLASS_NR; k++)
		sum->n[HB_FN_EXITS] += sum->exits[k];
	free(v);
	return err;
}

static int fill_func_counters(struct session *s, u32 i, struct m_func *f)
{
	struct hb_fn_stat sum;
	int err = session__fn_stat(s, i, &sum);

	if (err)
		return err;
	memcpy(f->n, sum.n, sizeof(f->n));
	memcpy(f->exits_by, sum.exits, sizeof(f->exits_by));
	return 0;
}

int session__fill_drops(struct session *s, struct recording *rec)
{
	int cpus = libbpf_num_possible_cpus();
	u64 *v = cpus > 0 ? array_alloc(cpus, sizeof(*v)) : NULL;
	int err = 0;

	if (!v)
		return -ENOMEM;
	rec->coverage.unmatched = 0;
	for (u32 k = 0; k < HB_CNT_NR && !err; k++) {
		u64 sum = 0;

		if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.drops), &k, v))
			err = -errno;
		for (int c = 0; c < cpus; c++)
			sum += v[c];
		if (k < HB_CNT_UNMATCHED) {
			rec->coverage.drop[k] = sum;
			continue;
		}
		if (k >= HB_CNT_COLD) {
			s->cold[k - HB_CNT_COLD] = sum;
			continue;
		}
		rec->coverage.unmatched += sum;
		s->unmatched_by[k - HB_CNT_UNMATCHED] = sum;
	}
	rec->coverage.cold = s->cold[0];
	rec->coverage.cold_in_ns = s->cold[HB_CNT_COLD_IN - HB_CNT_COLD];
	free(v);
	return err;
}

char *dup_or_null(const char *s)
{
	return s ? strdup(s) : NULL;
}

static void fill_exit_sites(const struct session *s, u32 func, struct m_func *m)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.func == func && !ss->refused && !ss->off &&
		    (ss->site.role == HB_ROLE_RETSITE || ss->site.role == HB_ROLE_RET))
			m->exit_sites[ss->site.cls]++;
	}
}

static const char *func_kind(const struct func *f)
{
	if (f->traits & REGISTRY_HANDLER)
		return "handler";
	return f->traits & REGISTRY_AROUND ? "around" : NULL;
}

int session__fill_funcs(struct session *s, struct recording *rec)
{
	u32 nr = s->plan->nr_funcs;

	rec->func = array_alloc(nr, sizeof(*rec->func));
	if (!rec->func)
		return -ENOMEM;
	rec->nr_funcs = nr;
	for (u32 i = 0; i < nr; i++) {
		const struct plan_func *pf = &s->plan->func[i];
		struct m_func *m = &rec->func[i];
		int err = fill_func_counters(s, i, m);

		if (err)
			return err;
		m->n[HB_FN_ABANDONED] += s->cut_abandoned[i];
		m->in_flight_end = s->cut_in_flight[i];
		m->name = dup_or_null(pf->f->name);
		m->codec = dup_or_null(pf->f->codec);
		m->op = dup_or_null(pf->f->op);
		m->library = dup_or_null(pf->f->library);
		m->library_version = dup_or_null(pf->f->library_version);
		m->note = dup_or_null(pf->f->note);
		m->kind = dup_or_null(func_kind(pf->f));
		m->image = pf->image;
		m->vaddr = pf->f->vaddr;
		m->lang = pf->f->lang;
		m->exit_mode = pf->exit_ret ? M_EXIT_RET : M_EXIT_SITE;
		m->entry_class = pf->entry_class;
		m->has_size = pf->f->size_in.kind || pf->f->size_out.kind;
		m->has_err = pf->f->err_kind != HB_ERR_NONE;
		m->off_ns = cover__off_ns(s, i, s->end_mono_ns ? s->end_mono_ns : mono_ns());
		fill_exit_sites(s, i, m);
		if (!m->name || !m->codec || !m->op)
			return -ENOMEM;
	}
	return 0;
}

int session__fill_images(struct session *s, struct recording *rec)
{
	rec->image = array_alloc(s->plan->nr_images, sizeof(*rec->image));
	if (!rec->image)
		return -ENOMEM;
	rec->nr_images = s->plan->nr_images;
	for (u32 i = 0; i < rec->nr_images; i++) {
		rec->image[i].path = dup_or_null(s->plan->image[i].path);
		rec->image[i].build_id = dup_or_null(s->plan->image[i].im->build_id);
	}
	return 0;
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Sums over the functions. An exit whose entry was dropped is unseen too: those are not "in flight
 * when recording began". */
void session__sum_coverage(struct session *s, struct recording *rec, u64 end_mono_ns)
{
	struct m_coverage *c = &rec->coverage;

	c->in_flight_start = 0;
	for (u32 i = 0; i < rec->nr_funcs; i++) {
		const struct m_func *f = &rec->func[i];

		for (u32 k = 0; k < HB_FN_NR; k++)
			c->n[k] += f->n[k];
		c->in_flight_end += f->in_flight_end;
		c->in_flight_start += f->n[HB_FN_UNSEEN] -
				      min_u64(f->n[HB_FN_UNSEEN], f->n[HB_FN_DROPPED]);
	}
	c->measured_ns = c->wall_ns = end_mono_ns - s->begin_mono_ns;
	c->sites = s->all_probes;
	c->sites_refused = s->sites_refused;
	for (u32 i = 0; i < s->plan->nr_images; i++)
		c->sites_refused += s->plan->image[i].refused;
	c->ras_discovered = s->ras_discovered;
	c->ras_refused = s->ras_refused;
}

/* ---- cost --------------------------------------------------------------------------------- */

/* The last calibration of a pair of classes; 0: none. */
static u64 pair_ns(const struct recording *rec, u8 lang, u8 entry_class, u8 exit_class)
{
	for (u32 i = rec->nr_cals; i-- > 0;) {
		const struct m_cal *c = &rec->cal[i];

		if (c->lang == lang && c->entry_class == entry_class && c->exit_class == exit_class)
			return c->total_ns;
	}
	return 0;
}

/* What the target paid for a function's calls. Those whose end was not seen, for want of a site or
 * of a return, paid for an entry: half a pair. */
static u64 func_cost_ns(const struct recording *rec, const struct m_func *f)
{
	u64 ns = 0, ended = f->n[HB_FN_EXITS];
	u8 most = HB_CLASS_BRANCH;

	for (u8 k = 0; k < HB_CLASS_NR; k++) {
		ns += f->exits_by[k] * pair_ns(rec, f->lang, f->entry_class, k);
		if (f->exits_by[k] > f->exits_by[most])
			most = k;
	}
	if (f->n[HB_FN_ENTRIES] > ended)
		ns += (f->n[HB_FN_ENTRIES] - ended) * pair_ns(rec, f->lang, f->entry_class, most) /
		      2;
	return ns;
}

/* Hits of exit sites that ended no call cost as well, though nothing was measured with them. */
static u64 unmatched_cost_ns(const struct session *s)
{
	const struct hb_cal *cal = &s->skel->bss->cal;
	u64 ns = 0;

	for (u32 k = 0; k < HB_CLASS_NR; k++) {
		u32 native = cal->miss_ns[HB_LANG_NATIVE][k], go = cal->miss_ns[HB_LANG_GO][k];

		ns += s->unmatched_by[k] * (native > go ? native : go);
	}
	return ns;
}

/* A loop that passes an exit site without making the call pays for each turn: that must be seen. */
static void warn_unmatched(struct session *s, const struct recording *rec)
{
	u64 ns = unmatched_cost_ns(s), wall = s->end_mono_ns - s->begin_mono_ns;
	char hits[32], cost[16];

	/* Where something was done about it, it was said. */
	if (s->cover.hot_switched || !wall || ns / (wall / 100 + 1) < 2 ||
	    rec->coverage.unmatched < 4 * rec->coverage.n[HB_FN_EXITS])
		return;
	session__warn(
		s,
		"%s hits of return sites ended no call and slowed the target by %s in all: a "
		"measured function is called from a hot path that mostly does something else; "
		"--exit=ret measures it without these sites",
		format_count(hits, sizeof(hits), rec->coverage.unmatched),
		format_ns(cost, sizeof(cost), ns));
}

static u64 own_cpu_ns(const struct rusage *ru)
{
	return ((u64)ru->ru_utime.tv_sec + (u64)ru->ru_stime.tv_sec) * 1000000000 +
	       ((u64)ru->ru_utime.tv_usec + (u64)ru->ru_stime.tv_usec) * 1000;
}

void session__mark_own_cpu(struct session *s)
{
	struct rusage ru;

	s->own_cpu_begin_ns = getrusage(RUSAGE_SELF, &ru) ? M_NONE : own_cpu_ns(&ru);
}

void session__fill_cost(struct session *s, struct recording *rec)
{
	struct rusage ru;

	rec->cost.probe_ns = unmatched_cost_ns(s) + s->cold[HB_CNT_COLD_TOTAL - HB_CNT_COLD];
	if (rec == s->rec)
		warn_unmatched(s, rec);
	for (u32 i = 0; i < rec->nr_funcs; i++)
		rec->cost.probe_ns += func_cost_ns(s->rec, &rec->func[i]);
	if (!getrusage(RUSAGE_SELF, &ru)) {
		if (s->own_cpu_begin_ns != M_NONE)
			rec->cost.hbprof_cpu_ns = own_cpu_ns(&ru) - s->own_cpu_begin_ns;
		rec->cost.rss_bytes = (u64)ru.ru_maxrss * 1024;
	}
	rec->cost.kernel_map_bytes = s->map_bytes + requests__map_bytes(s->requests) +
				     s->skel->bss->nr_tasks * sizeof(struct hb_task);
}
