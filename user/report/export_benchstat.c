// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_benchstat.c - lines as `go test -bench` prints them, for golang.org/x/perf's benchstat. Format:
 * go.dev/design/14313-benchmark-format and the package golang.org/x/perf/benchfmt.
 *
 * benchstat wants several measurements of one name, and judges two files by how these vary. Each
 * interval of the recording is one: its calls, their mean, P50 and P99, and the mean of each counter over
 * the calls that have it. A row that no interval knows is one measurement.
 *
 * What tells rows apart is in the name as /key=value, so that benchstat can group and filter by it. A
 * slash would begin a new key: it is written as an underscore, like everything else that cannot stand
 * in a name.
 */
#include "report/export_units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "util/array.h"
#include "util/units.h"

static const char *host_fact(const struct recording *r, const char *key)
{
	const char *value = m_host__get(&r->host, key, NULL);

	return value && strncmp(value, "n/a", 3) ? value : NULL;
}

/* One line: configuration is "key: value" to the end of it. */
static void add_config(struct strbuf *b, const char *key, const char *value)
{
	if (!value)
		return;
	strbuf__addf(b, "%s: ", key);
	for (; *value; value++)
		strbuf__addc(b, (unsigned char)*value < ' ' ? '?' : *value);
	strbuf__addc(b, '\n');
}

/* Go's names for architectures. */
static const char *go_arch(const char *arch)
{
	if (arch && !strcmp(arch, "x86_64"))
		return "amd64";
	return arch && !strcmp(arch, "aarch64") ? "arm64" : arch;
}

/* Go's unicode.IsSpace, of what is left unescaped in a name. */
static bool is_space(u32 cp)
{
	return cp <= ' ' || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
	       cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

/* value is escaped already, and so is UTF-8. */
static void add_value(struct strbuf *b, const char *key, const char *value)
{
	u32 cp, len;

	strbuf__addf(b, "/%s=", key);
	for (; *value; value += len) {
		len = text_decode(value, &cp);
		if (!len)
			len = 1;
		else if (cp != '/' && !is_space(cp)) {
			strbuf__add(b, value, len);
			continue;
		}
		strbuf__addc(b, '_');
	}
}

static void add_bench(struct strbuf *b, const struct view *v, const struct group *g, u64 cpus)
{
	strbuf__adds(b, "BenchmarkCall");
	add_value(b, "codec", g->codec);
	if (*g->op)
		add_value(b, "op", g->op);
	add_value(b, "func", g->name);
	if (g->func && g->outcome == HB_OUTCOME_ERROR)
		add_value(b, "outcome", hb_outcome_names[g->outcome]);
	if (g->target && v->r->nr_targets > 1)
		strbuf__addf(b, "/pid=%u", g->target->pid);
	if (cpus)
		strbuf__addf(b, "-%llu", cpus);
}

/* What one line says. */
struct measure {
	struct m_dist dist;
	struct m_ctr ctr[HB_CTRS];
};

static void add_measure(struct view *v, const struct group *g, const struct m_dist *d,
			const struct m_ctr *ctr, u64 cpus)
{
	u64 p50 = dist_quantile(d, DIST_P50), p99 = dist_quantile(d, DIST_P99);
	char unit[EXPORT_MAX_UNIT];

	if (!d->count)
		return;
	add_bench(v->out, v, g, cpus);
	strbuf__addf(v->out, " %llu %.1f ns/op", d->count, dist_mean(d));
	if (p50 != M_NONE)
		strbuf__addf(v->out, " %llu p50-ns", p50);
	if (p99 != M_NONE)
		strbuf__addf(v->out, " %llu p99-ns", p99);
	for (u32 i = 0; i < v->r->counters.nr; i++)
		if (!v->r->counters.v[i].lack && ctr[i].calls)
			strbuf__addf(v->out, " %.10g %s", ctr_mean(&ctr[i]),
				     export_benchstat_unit(unit, v->r->counters.v[i].name));
	strbuf__addc(v->out, '\n');
}

/* ---- intervals ---- */

/* What an interval has of a row of one group: calls, or a counter. Sorted, they are the measurements in
 * order. */
struct piece {
	u32 group, interval;
	const struct m_delta *delta;
	const struct m_ctr_delta *ctr;
};

static int cmp_pieces(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->interval != b->interval)
		return a->interval < b->interval ? -1 : 1;
	if (a->delta != b->delta)
		return a->delta < b->delta ? -1 : 1;
	return a->ctr < b->ctr ? -1 : a->ctr > b->ctr;
}

/* Which group each row belongs to; groups.nr: none. */
static u32 *groups_of_rows(const struct view *v)
{
	u32 *of = array_alloc(v->r->nr_rows, sizeof(*of));

	for (u32 i = 0; of && i < v->r->nr_rows; i++)
		of[i] = v->groups.nr;
	for (u32 g = 0; of && g < v->groups.nr; g++)
		for (u32 k = 0; k < v->groups.v[g].nr_rows; k++)
			of[v->groups.v[g].row[k] - v->r->row] = g;
	return of;
}

/* Inclusive time is LEAF and OUTER. */
static bool wanted(const struct m_delta *d)
{
	return d->count && d->sum_ns != M_NONE &&
	       (d->dist == HB_DIST_LEAF || d->dist == HB_DIST_OUTER);
}

struct pieces {
	struct piece *v;
	size_t nr, cap;
};

static int pieces__add(struct pieces *p, const struct piece *one)
{
	int err = array_grow((void **)&p->v, p->nr, &p->cap, sizeof(*p->v));

	if (!err)
		p->v[p->nr++] = *one;
	return err;
}

static int collect_interval(const struct view *v, const u32 *of, u32 i, struct pieces *out)
{
	const struct m_interval *iv = &v->r->interval[i];
	int err = 0;

	for (u32 k = 0; !err && k < iv->nr_deltas; k++) {
		const struct m_delta *d = &iv->delta[k];

		if (wanted(d) && d->row < v->r->nr_rows && of[d->row] != v->groups.nr)
			err = pieces__add(out, &(struct piece){of[d->row], i, d, NULL});
	}
	for (u32 k = 0; !err && k < iv->nr_ctrs; k++) {
		const struct m_ctr_delta *c = &iv->ctr[k];

		if (c->calls && c->row < v->r->nr_rows && c->ctr < HB_CTRS &&
		    of[c->row] != v->groups.nr)
			err = pieces__add(out, &(struct piece){of[c->row], i, NULL, c});
	}
	return err;
}

static int collect(const struct view *v, struct pieces *out)
{
	u32 *of = groups_of_rows(v);
	int err = of ? 0 : -ENOMEM;

	for (u32 i = 0; !err && i < v->r->nr_intervals; i++)
		err = collect_interval(v, of, i, out);
	free(of);
	if (!err && out->nr)
		qsort(out->v, out->nr, sizeof(*out->v), cmp_pieces);
	return err;
}

/* An interval does not know its extremes; they lie within those of the whole row. */
static int measure__add(struct measure *m, const struct group *g, const struct piece *p)
{
	struct m_dist one;
	struct m_ctr ctr;

	if (p->ctr) {
		m_ctr__init(&ctr);
		ctr.calls = p->ctr->calls;
		ctr.sum = p->ctr->sum;
		m_ctr__merge(&m->ctr[p->ctr->ctr], &ctr);
		return 0;
	}
	one = (struct m_dist){.count = p->delta->count,
			      .sum_ns = p->delta->sum_ns,
			      .min_ns = g->inc.min_ns,
			      .max_ns = g->inc.max_ns,
			      .bucket = p->delta->bucket,
			      .nr_buckets = p->delta->nr_buckets};
	return m_dist__merge(&m->dist, &one);
}

/* The lines of one group; *at moves past its pieces. */
static int add_group(struct view *v, u32 g, const struct pieces *p, size_t *at, u64 cpus)
{
	const struct group *group = &v->groups.v[g];
	bool none = *at >= p->nr || p->v[*at].group != g;
	int err = 0;

	if (none)
		add_measure(v, group, &group->inc, group->ctr, cpus);
	while (!err && *at < p->nr && p->v[*at].group == g) {
		u32 interval = p->v[*at].interval;
		struct measure m;

		m_dist__init(&m.dist);
		for (u32 i = 0; i < HB_CTRS; i++)
			m_ctr__init(&m.ctr[i]);
		for (;
		     !err && *at < p->nr && p->v[*at].group == g && p->v[*at].interval == interval;
		     (*at)++)
			err = measure__add(&m, group, &p->v[*at]);
		if (!err)
			add_measure(v, group, &m.dist, m.ctr, cpus);
		m_dist__fini(&m.dist);
	}
	return err;
}

static void add_units(const struct view *v)
{
	char unit[EXPORT_MAX_UNIT];

	strbuf__adds(v->out, "Unit p50-ns better=lower\nUnit p99-ns better=lower\n");
	for (u32 i = 0; i < v->r->counters.nr; i++)
		if (!v->r->counters.v[i].lack)
			strbuf__addf(v->out, "Unit %s better=lower\n",
				     export_benchstat_unit(unit, v->r->counters.v[i].name));
}

int export_benchstat(struct view *v)
{
	const char *online = host_fact(v->r, "cpus_online");
	struct pieces p = {0};
	size_t at = 0;
	u64 cpus = 0;
	int err;

	if (online && parse_u64(online, 1u << 20, &cpus))
		cpus = 0;
	add_config(v->out, "goos", "linux");
	add_config(v->out, "goarch", go_arch(host_fact(v->r, "arch")));
	add_config(v->out, "pkg", "hbprof");
	add_config(v->out, "cpu", host_fact(v->r, "cpu_model"));
	add_units(v);
	err = collect(v, &p);
	for (u32 g = 0; !err && g < v->groups.nr; g++)
		err = add_group(v, g, &p, &at, cpus);
	free(p.v);
	return err;
}
