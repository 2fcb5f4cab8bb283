// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* group.c - sorting, merging and ordering of rows; no formatting. */
#include "report/group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/measured.h"
#include "util/array.h"

#define MAX_NAME 65536 /* of a C++ name with all its template arguments, escaped */

/* "Not measured" stays so; a sum that does not fit stays at the top. */
static u64 add_known(u64 a, u64 b)
{
	u64 sum;

	if (a == M_NONE || b == M_NONE)
		return M_NONE;
	return __builtin_add_overflow(a, b, &sum) ? M_NONE - 1 : sum;
}

static u64 max_known(u64 a, u64 b)
{
	if (a == M_NONE || b == M_NONE)
		return a == M_NONE ? b : a;
	return a > b ? a : b;
}

static void group__init(struct group *g)
{
	*g = (struct group){.measured_ns = M_NONE, .raw_min_ns = M_NONE, .cpu_ns = M_NONE};
	m_dist__init(&g->inc);
	m_dist__init(&g->exc);
	sizes__init(&g->sizes);
	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__init(&g->ctr[i]);
}

void group__fini(struct group *g)
{
	free(g->codec);
	free(g->op);
	free(g->name);
	m_dist__fini(&g->inc);
	m_dist__fini(&g->exc);
	sizes__fini(&g->sizes);
}

static int group__add(struct group *g, const struct m_row *row)
{
	const struct m_dist *d = row->dist;

	g->calls = add_known(g->calls, row->count);
	g->nested = add_known(g->nested, row->nested);
	g->raw_sum_ns = add_known(g->raw_sum_ns, row->raw_sum_ns);
	if (row->raw_min_ns < g->raw_min_ns)
		g->raw_min_ns = row->raw_min_ns;
	g->raw_max_ns = max_known(g->raw_max_ns, row->raw_max_ns);
	/* Where only what is nested in the same codec is inside, nothing is taken off. */
	g->has_children |= d[HB_DIST_OUTER].sum_ns != d[HB_DIST_OUTER_EXC].sum_ns;
	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__merge(&g->ctr[i], &row->ctr[i]);
	if (m_dist__merge(&g->inc, &d[HB_DIST_LEAF]) || m_dist__merge(&g->inc, &d[HB_DIST_OUTER]) ||
	    m_dist__merge(&g->exc, &d[HB_DIST_LEAF]) ||
	    m_dist__merge(&g->exc, &d[HB_DIST_OUTER_EXC]))
		return -ENOMEM;
	return sizes__add(&g->sizes, row);
}

static char *escaped(const char *s)
{
	struct strbuf b;

	strbuf__init(&b, MAX_NAME);
	text_add_escaped(&b, s ? s : "n/a");
	if (b.err == -EFBIG) { /* what fits of it */
		b.err = 0;
		strbuf__adds(&b, "");
	}
	return strbuf__take(&b);
}

static int group__name(struct group *g)
{
	g->codec = escaped(g->func ? g->func->codec : "(other)");
	g->op = escaped(g->func ? g->func->op : "");
	g->name = escaped(g->func ? g->func->name : "calls that found no free row");
	return g->codec && g->op && g->name ? 0 : -ENOMEM;
}

/* The rows of the class that begins at row i. */
static u32 class_rows(const struct group *g, u32 i)
{
	u32 nr = 1;

	while (i + nr < g->nr_rows && g->row[i + nr]->size_class == g->row[i]->size_class)
		nr++;
	return nr;
}

u32 group__nr_classes(const struct group *g)
{
	u32 nr = 0;

	for (u32 i = 0; i < g->nr_rows; i += class_rows(g, i))
		nr++;
	return nr;
}

int group__of_class(struct group *out, const struct group *g, u32 nr)
{
	int err = 0;
	u32 i = 0;

	while (nr--)
		i += class_rows(g, i);
	group__init(out);
	out->func = g->func;
	out->target = g->target;
	out->cpu_ns = g->cpu_ns;
	out->outcome = g->outcome;
	out->row = &g->row[i];
	out->nr_rows = class_rows(g, i);
	out->r = g->r;
	out->measured_ns = rows_measured_ns(g->r, out->row, out->nr_rows);
	for (i = 0; !err && i < out->nr_rows; i++)
		err = group__add(out, out->row[i]);
	if (err)
		group__fini(out);
	return err;
}

static int cmp_u32(u32 a, u32 b)
{
	return a < b ? -1 : a > b;
}

static int cmp_identity(const struct m_row *a, const struct m_row *b, bool by_target)
{
	int c = cmp_u32(a->overflow, b->overflow);

	if (c || a->overflow)
		return c;
	c = cmp_u32(a->func, b->func);
	if (!c && by_target)
		c = cmp_u32(a->target, b->target);
	return c ? c : cmp_u32(a->outcome, b->outcome);
}

static int cmp_rows_by(const void *pa, const void *pb, bool by_target)
{
	const struct m_row *a = *(const struct m_row *const *)pa;
	const struct m_row *b = *(const struct m_row *const *)pb;
	int c = cmp_identity(a, b, by_target);

	return c ? c : cmp_u32(a->size_class, b->size_class);
}

static int cmp_rows(const void *pa, const void *pb)
{
	return cmp_rows_by(pa, pb, false);
}

static int cmp_rows_of_targets(const void *pa, const void *pb)
{
	return cmp_rows_by(pa, pb, true);
}

static int cmp_groups(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;
	int c;

	if (!a->func || !b->func)
		return !a->func - !b->func;
	if (a->inc.sum_ns != b->inc.sum_ns)
		return a->inc.sum_ns > b->inc.sum_ns ? -1 : 1;
	c = strcmp(a->codec, b->codec);
	c = c ? c : strcmp(a->op, b->op);
	c = c ? c : strcmp(a->name, b->name);
	if (!c && a->target && b->target)
		c = cmp_u32(a->target->pid, b->target->pid);
	if (!c && a->target != b->target)
		c = a->target < b->target ? -1 : 1;
	if (!c && a->func != b->func)
		c = a->func < b->func ? -1 : 1;
	return c ? c : cmp_u32(a->outcome, b->outcome);
}

/* Failed calls stand in the error row; the other row of the same function and process shows them
 * too. A function that cannot show an error has none that are known, not none. */
static void set_errors(struct groups *gs)
{
	for (u32 i = 0; i < gs->nr; i++) {
		struct group *g = &gs->v[i];

		g->errors = g->func && g->func->has_err ? 0 : M_NONE;
		for (u32 j = i ? i - 1 : 0; j < gs->nr && j <= i + 1; j++) {
			const struct group *o = &gs->v[j];

			if (g->func && o->func == g->func && o->target == g->target &&
			    o->outcome == HB_OUTCOME_ERROR)
				g->errors = o->calls;
		}
	}
}

/* Slashes behind the first bracket belong to arguments. */
const char *name_short(const char *name)
{
	size_t plain = strcspn(name, "([{<");
	const char *cut = name, *before = name;

	for (const char *s = name; s < name + plain; s++) {
		if (*s != '/')
			continue;
		before = cut;
		cut = s + 1;
	}
	/* "v2" alone says nothing. */
	if (cut != name && cut[0] == 'v' && cut[1] >= '0' && cut[1] <= '9')
		return before;
	return cut;
}

static int cmp_shown(const void *pa, const void *pb)
{
	const struct group *a = *(const struct group *const *)pa;
	const struct group *b = *(const struct group *const *)pb;
	int c = strcmp(a->codec, b->codec);

	c = c ? c : strcmp(a->op, b->op);
	return c ? c : strcmp(name_short(a->name), name_short(b->name));
}

static int mark_ambiguous(struct groups *gs)
{
	struct group **by = array_alloc(gs->nr, sizeof(*by));
	bool differ;
	u32 end;

	if (!by)
		return -ENOMEM;
	for (u32 i = 0; i < gs->nr; i++)
		by[i] = &gs->v[i];
	qsort(by, gs->nr, sizeof(*by), cmp_shown);
	for (u32 i = 0; i < gs->nr; i = end) {
		differ = false;
		for (end = i + 1; end < gs->nr && !cmp_shown(&by[i], &by[end]); end++)
			differ |= by[end]->func != by[i]->func;
		for (u32 j = i; j < end; j++)
			by[j]->ambiguous = differ;
	}
	free(by);
	return 0;
}

/* Is there a row of this process in the group? */
static bool has_target(const struct group *g, u32 target)
{
	for (u32 i = g->nr_rows; i-- > 0;)
		if (g->row[i]->target == target)
			return true;
	return false;
}

static int groups__add_row(struct groups *gs, const struct recording *r, u32 i)
{
	const struct m_row *row = gs->row[i];
	struct group *g;
	int err = 0;

	if (!i || cmp_identity(gs->row[i - 1], row, gs->by_target)) {
		g = &gs->v[gs->nr++];
		group__init(g);
		if (!row->overflow) {
			g->func = &r->func[row->func];
			g->target = gs->by_target ? &r->target[row->target] : NULL;
			g->cpu_ns = 0;
		}
		g->outcome = row->outcome;
		g->r = r;
		g->row = &gs->row[i];
		err = group__name(g);
	}
	g = &gs->v[gs->nr - 1];
	if (!row->overflow && !has_target(g, row->target))
		g->cpu_ns = add_known(g->cpu_ns, r->target[row->target].cpu_ns);
	g->nr_rows++;
	return err ? err : group__add(g, row);
}

int groups__build(struct groups *gs, const struct recording *r, bool by_target)
{
	u32 nr = 0;
	int err = 0;

	/* One process is all of them. */
	*gs = (struct groups){.by_target = by_target || r->nr_targets == 1};
	gs->row = array_alloc(r->nr_rows, sizeof(*gs->row));
	gs->v = array_alloc(r->nr_rows, sizeof(*gs->v));
	if (!gs->row || !gs->v) {
		groups__fini(gs);
		return -ENOMEM;
	}
	for (u32 i = 0; i < r->nr_rows; i++)
		if (r->row[i].count)
			gs->row[nr++] = &r->row[i];
	qsort(gs->row, nr, sizeof(*gs->row), gs->by_target ? cmp_rows_of_targets : cmp_rows);
	for (u32 i = 0; !err && i < nr; i++)
		err = groups__add_row(gs, r, i);
	for (u32 i = 0; !err && i < gs->nr; i++)
		gs->v[i].measured_ns = rows_measured_ns(r, gs->v[i].row, gs->v[i].nr_rows);
	if (!err)
		err = mark_ambiguous(gs);
	if (err) {
		groups__fini(gs);
		return err;
	}
	set_errors(gs);
	qsort(gs->v, gs->nr, sizeof(*gs->v), cmp_groups);
	return 0;
}

void groups__fini(struct groups *gs)
{
	for (u32 i = 0; i < gs->nr; i++)
		group__fini(&gs->v[i]);
	free(gs->v);
	free(gs->row);
	*gs = (struct groups){0};
}

double group_calls_per_s(const struct group *g)
{
	if (!g->measured_ns || g->measured_ns == M_NONE)
		return NAN;
	return (double)g->calls * 1e9 / (double)g->measured_ns;
}

double dist_mean(const struct m_dist *d)
{
	return d->count ? (double)d->sum_ns / (double)d->count : NAN;
}

double ctr_mean(const struct m_ctr *c)
{
	return c->calls ? (double)c->sum / (double)c->calls : NAN;
}

double group_ctr(const struct group *g, const struct recording *r, const char *name)
{
	int i = m_counters__find(&r->counters, name);

	return i < 0 ? NAN : ctr_mean(&g->ctr[i]);
}

double group_ctr_ratio(const struct group *g, const struct recording *r, const char *over,
		       const char *under)
{
	double n = group_ctr(g, r, over), d = group_ctr(g, r, under);

	return d > 0 ? n / d : NAN;
}
