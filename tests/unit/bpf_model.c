/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_model.c - see bpf_model.h. */
#include "bpf_model.h"

#include <stdlib.h>
#include <string.h>

/* The rows of a function, by size class and outcome. */
struct model_row {
	u64 raw_sum, raw_min, raw_max, nested;
	u64 size_sum, size_nr;
	struct {
		u64 count, sum, min, max;
		u32 n[HB_HIST_BUCKETS];
	} dist[HB_DIST_NR];
};

struct model_fn {
	u64 n[HB_FN_NR];
	struct model_row *row[HB_SIZE_CLASSES][HB_OUTCOME_NR];
};

static struct model_fn fns[W_FUNCS];
static s64 group_exits[HB_MAX_GROUPS][HB_CLASS_DIM]; /* by the class of the exit */
static s64 group_abandoned[HB_MAX_GROUPS];
static u64 misses[HB_CLASS_DIM]; /* hits of exit sites that ended nothing */
u32 model__seen[MODEL_RARE];
static struct prog *progs_seen[16];
static u32 nr_progs_seen;

void model__reset(void)
{
	for (u32 i = 0; i < W_FUNCS; i++)
		for (u32 c = 0; c < HB_SIZE_CLASSES; c++)
			for (u32 o = 0; o < HB_OUTCOME_NR; o++)
				free(fns[i].row[c][o]);
	memset(fns, 0, sizeof(fns));
	memset(group_exits, 0, sizeof(group_exits));
	memset(group_abandoned, 0, sizeof(group_abandoned));
	memset(misses, 0, sizeof(misses));
	memset(model__seen, 0, sizeof(model__seen));
	nr_progs_seen = 0;
}

static const struct hb_func *func_of(const struct act *a)
{
	return &w_func_at(a->func)->f;
}

/* ---- who is around whom ---- */

/* The innermost followed call below act[i], or NULL. */
static struct act *around(const struct prog *p, u32 i)
{
	while (i--)
		if (p->act[i].kind == ACT_FRAME)
			return (struct act *)&p->act[i];
	return NULL;
}

const struct act *model__innermost(const struct prog *p)
{
	return around(p, p->nr);
}

u32 model__followed(const struct prog *p)
{
	u32 n = 0;

	for (u32 i = 0; i < p->nr; i++)
		n += p->act[i].kind == ACT_FRAME;
	return n;
}

/* Does a panic pass through act[i]? */
bool model__is_dying(const struct prog *p, u32 i)
{
	while (++i < p->nr)
		if (p->act[i].kind == ACT_PANIC)
			return true;
	return false;
}

static bool group_is_active(const struct prog *p, u32 nr, u8 group)
{
	for (u32 i = 0; i < nr; i++)
		if (p->act[i].kind == ACT_FRAME && func_of(&p->act[i])->group == group &&
		    !model__is_dying(p, i))
			return true;
	return false;
}

/* The first of the calls that act[nr - 1] runs in the place of. */
static u32 chain_begin(const struct prog *p)
{
	u32 i = p->nr - 1;

	while (p->act[i].tail)
		i--;
	return i;
}

static bool is_jump(const struct act *from, u16 to)
{
	const struct hb_func *f = func_of(from);

	return !(f->flags & HB_FUNC_EXIT_RET) && f->tails >> to & 1;
}

bool model__may_jump(const struct prog *p, u16 func)
{
	const struct act *last = NULL;
	bool comes_back = false;

	for (u32 i = chain_begin(p); i < p->nr; i++) {
		const struct act *a = &p->act[i];

		if (a->kind != ACT_FRAME && !a->kept)
			continue;
		comes_back = comes_back || a->func == func;
		if (a->again && is_jump(a, func))
			return true;
		/* what remains when the end of the chain is not seen */
		if (comes_back && a->unknown && last && a->func == func && !is_jump(last, func))
			return false;
		last = a;
	}
	return !last || is_jump(last, func);
}

/* ---- recursion ---- */

static u32 entry_cost(const struct act *a)
{
	const struct w_func *wf = w_func_at(a->func);

	return cal.tail_ns[wf->f.lang][wf->cls];
}

/* How many depths are kept of the calls nested in the innermost frame, and the last of them. */
static u32 kept_depths(const struct prog *p, const struct act *outer, u64 *last)
{
	bool joins = false;
	u32 n = 0;

	*last = 0;
	for (const struct act *a = outer + 1; a < p->act + p->nr; a++) {
		bool ret = func_of(a)->flags & HB_FUNC_EXIT_RET;

		if (!a->kept)
			continue;
		if (ret || !joins || *last != a->depth)
			n++;
		joins = !ret;
		*last = a->depth;
	}
	return n;
}

static void nested_lost(struct act *outer, u32 n)
{
	group_abandoned[func_of(outer)->group] += n;
	outer->probe_ns += n * entry_cost(outer);
}

/* A probe is hit at that depth: what was nested deeper has been left. */
static void trim(struct prog *p, u64 depth)
{
	struct act *outer = around(p, p->nr);
	u64 last;

	if (!outer || !outer->beyond)
		return;
	if (kept_depths(p, outer, &last) == HB_NESTED_KEPT && last < depth)
		return;
	nested_lost(outer, outer->beyond);
	outer->beyond = 0;
}

static void miss(struct act *outer, u32 lang, u8 cls)
{
	if (outer)
		outer->probe_ns += cal.miss_ns[lang][cls];
}

/* ---- entries ---- */

static u32 payload_now(const struct hb_func *f)
{
	if (f->size_in.kind == HB_VALUE_NONE)
		return HB_SIZE_UNKNOWN;
	return w.reg[f->size_in.reg] + f->size_in.add;
}

/* A payload size that only an inner call of the group knows. */
static void take_payload(struct act *outer, u32 payload)
{
	if (outer->payload != HB_SIZE_UNKNOWN || payload == HB_SIZE_UNKNOWN)
		return;
	outer->payload = payload + (outer->owns ? func_of(outer)->size_in.add : 0);
}

static void note_prog(struct prog *p)
{
	for (u32 i = 0; i < nr_progs_seen; i++)
		if (progs_seen[i] == p)
			return;
	assert_true(nr_progs_seen < 16);
	progs_seen[nr_progs_seen++] = p;
}

static void enter_nested(struct prog *p, struct act *a, struct act *outer)
{
	u64 last;
	u32 n = kept_depths(p, outer, &last);
	bool joins = a->tail && n && last == a->depth && !(func_of(a)->flags & HB_FUNC_EXIT_RET);

	a->kind = ACT_NESTED;
	fns[a->func].n[HB_FN_NESTED]++;
	take_payload(outer, payload_now(func_of(a)));
	if (a->unknown) {
		fns[a->func].n[HB_FN_UNKNOWN]++;
		outer->probe_ns += entry_cost(a);
		return;
	}
	outer->nested++;
	a->kept = joins || n < HB_NESTED_KEPT;
	outer->beyond += !a->kept;
	model__seen[MODEL_BEYOND] += !a->kept;
	model__seen[MODEL_JOINED] += joins;
}

static void leave(const struct act *a, struct act *outer);

/* Does act[nr - 1] run in the place of a call of the same function? If that can be followed. */
static bool enter_again(struct prog *p, struct act *a)
{
	struct act *same = NULL, *last = around(p, p->nr - 1);

	for (u32 i = chain_begin(p); i < p->nr - 1; i++)
		if (p->act[i].kind == ACT_FRAME && p->act[i].func == a->func)
			same = &p->act[i];
	if (!same)
		return false;
	if (last->unknown) {
		for (u32 i = p->nr - 1; &p->act[i] != same;) {
			if (p->act[--i].kind != ACT_FRAME)
				continue;
			leave(&p->act[i], around(p, i));
			p->act[i].kind = ACT_DONE;
		}
		return false;
	}
	a->kind = ACT_AGAIN;
	fns[a->func].n[HB_FN_NESTED]++;
	if (same->unknown)
		fns[a->func].n[HB_FN_UNKNOWN]++;
	else
		same->again++;
	last->probe_ns += entry_cost(a);
	model__seen[MODEL_AGAIN]++;
	return true;
}

void model__enter(struct prog *p, bool known, bool dropped)
{
	struct act *a = &p->act[p->nr - 1], *outer;
	const struct hb_func *f = func_of(a);
	u64 *n = fns[a->func].n;

	note_prog(p);
	n[HB_FN_ENTRIES]++;
	a->kind = ACT_DROPPED;
	a->unknown = !known;
	if (dropped) {
		n[HB_FN_DROPPED]++;
		return;
	}
	p->dirty = false;
	if (a->tail && enter_again(p, a))
		return;
	trim(p, a->depth);
	outer = around(p, p->nr - 1);
	if (outer && func_of(outer)->group == f->group && outer->depth != a->depth &&
	    !model__is_dying(p, outer - p->act)) {
		enter_nested(p, a, outer);
		return;
	}
	if (model__followed(p) == HB_FRAME_DEPTH) {
		n[HB_FN_DROPPED]++;
		outer->probe_ns += entry_cost(a);
		return;
	}
	a->owns = !group_is_active(p, p->nr - 1, f->group);
	a->kind = ACT_FRAME;
	if (a->owns && outer && func_of(outer)->group == f->group)
		model__seen[MODEL_DYING]++;
	n[HB_FN_NESTED] += !a->owns;
	n[HB_FN_UNKNOWN] += !known;
	a->payload = payload_now(f);
	a->tid = p->t->tid;
	a->t0_ns = kernel.now_ns;
}

/* ---- exits ---- */

static struct model_row *row_of(u16 func, u32 payload, enum hb_outcome outcome)
{
	struct model_row **r = &fns[func].row[hb_size_class(payload)][outcome];

	if (!*r) {
		*r = calloc(1, sizeof(**r));
		assert_non_null(*r);
		(*r)->raw_min = ~0ULL;
		for (u32 d = 0; d < HB_DIST_NR; d++)
			(*r)->dist[d].min = ~0ULL;
	}
	return *r;
}

static void dist_add(struct model_row *r, enum hb_dist d, u64 ns)
{
	r->dist[d].count++;
	r->dist[d].sum += ns;
	r->dist[d].min = ns < r->dist[d].min ? ns : r->dist[d].min;
	r->dist[d].max = ns > r->dist[d].max ? ns : r->dist[d].max;
	r->dist[d].n[hb_hist_bucket(ns)]++;
}

static void record(const struct act *a, u64 raw, u64 inc, u64 exc)
{
	const struct hb_func *f = func_of(a);
	bool failed = f->err_kind != HB_ERR_NONE && w.reg[f->err.reg];
	struct model_row *r = row_of(a->func, a->payload,
				     failed ? HB_OUTCOME_ERROR : HB_OUTCOME_OK);

	r->raw_sum += raw;
	r->raw_min = raw < r->raw_min ? raw : r->raw_min;
	r->raw_max = raw > r->raw_max ? raw : r->raw_max;
	r->nested += a->nested;
	if (a->payload != HB_SIZE_UNKNOWN) {
		r->size_sum += a->payload;
		r->size_nr++;
	} else if (f->size_in.kind != HB_VALUE_NONE) {
		fns[a->func].n[HB_FN_SIZE_LOST]++;
	}
	if (a->child_ns || a->probe_ns) {
		dist_add(r, HB_DIST_OUTER, inc);
		dist_add(r, HB_DIST_OUTER_EXC, exc);
	} else {
		dist_add(r, HB_DIST_LEAF, inc);
	}
}

/* What is not measured of a call is at least known of the calls inside it. */
static void leave(const struct act *a, struct act *outer)
{
	if (outer) {
		outer->child_ns += a->child_ns;
		outer->probe_ns += a->probe_ns + entry_cost(a);
	}
}

/* The followed call act[i] ends now. */
static void end(struct prog *p, u32 i, u8 exit_cls, bool own_return)
{
	struct act *a = &p->act[i], *outer = around(p, i);
	const struct w_func *wf = w_func_at(a->func);
	u32 pair = cal.total_ns[wf->f.lang][wf->cls][exit_cls];
	u64 raw, cost, inc;

	/* An exit that ends the enclosing call, too, is paid for there. */
	if (outer && outer->depth == a->depth && !own_return)
		pair = entry_cost(a);
	if (a->unknown) {
		leave(a, outer);
		return;
	}
	raw = kernel.now_ns - a->t0_ns;
	cost = cal.in_ns[wf->f.lang][wf->cls] + a->probe_ns;
	inc = raw > cost ? raw - cost : 0;
	model__seen[MODEL_REVIVED] += a->dying;
	fns[a->func].n[HB_FN_CLAMPED] += raw < cost;
	fns[a->func].n[HB_FN_MIGRATED] += a->tid != p->t->tid;
	group_exits[wf->f.group][exit_cls] += 1 + a->again;
	if (outer) {
		outer->child_ns += inc;
		outer->probe_ns += a->probe_ns + pair;
		if (func_of(outer)->group == wf->f.group && !a->owns)
			take_payload(outer, a->payload);
	}
	if (a->owns)
		record(a, raw, inc, inc > a->child_ns ? inc - a->child_ns : 0);
}

/* May a return that is seen at a site of that function, or a shared one, be of a call of the group? */
static bool may_return(u16 site_func, u8 group, bool ret)
{
	const struct hb_func *f;

	if (site_func == W_ANY)
		return true;
	f = &w_func_at(site_func)->f;
	return f->group == group && !!(f->flags & HB_FUNC_EXIT_RET) == ret;
}

/*
 * An exit, seen in the place of act[i], at which nr nested calls end whose depth is kept. `ended`: so
 * did followed ones.
 */
static void exit_of_others(struct prog *p, u32 i, const struct w_site *site, bool ret, u32 nr,
			   bool ended)
{
	struct act *outer = around(p, i);
	bool beyond = false;

	if (outer && !nr && !ended && outer->depth != p->act[i].depth)
		beyond = outer->beyond && may_return(site->func, func_of(outer)->group, ret);
	if (beyond) {
		outer->beyond--;
		nr = 1;
	}
	if (nr) {
		u32 alone = ended ? nr : nr - 1;

		model__seen[MODEL_NESTED_TAIL] += ended;

		outer->probe_ns += alone * entry_cost(outer);
		if (!ended)
			outer->probe_ns += cal.nested_ns[func_of(outer)->lang][site->cls];
		group_exits[func_of(outer)->group][site->cls] += nr;
	} else if (!ended) {
		misses[site->cls]++;
		miss(outer, p->t->go ? HB_LANG_GO : HB_LANG_NATIVE, site->cls);
	}
}

void model__own_return(struct prog *p)
{
	u32 i = p->nr - 1;
	struct act *a = &p->act[i];
	struct w_site at = {.func = a->func, .cls = w_func_at(a->func)->ret_cls};

	trim(p, a->depth);
	if (a->kind == ACT_FRAME)
		end(p, i, at.cls, true);
	else
		exit_of_others(p, i, &at, true, a->kept, false);
	a->kind = ACT_DONE;
	a->kept = false;
}

void model__return(struct prog *p, const struct w_site *site)
{
	bool ended = false;
	u32 nested = 0;

	if (site)
		trim(p, p->act[p->nr - 1].depth);
	for (;;) {
		struct act *a = &p->act[p->nr - 1];

		/* without a site, only what is unknown or has passed a RET probe returns */
		if (a->kind == ACT_FRAME) {
			assert_true(site || a->unknown);
			end(p, p->nr - 1, site ? site->cls : 0, false);
			ended = ended || !a->unknown || site;
			a->kind = ACT_DONE;
		}
		assert_true(site || !a->kept);
		nested += a->kept;
		a->kept = false;
		if (!a->tail)
			break;
		p->nr--;
	}
	if (site)
		exit_of_others(p, p->nr - 1, site, false, nested, ended);
	else
		p->dirty = true;
	p->nr--;
}

void model__unwind(struct prog *p, u32 keep, int site_lang, u64 depth)
{
	bool any = around(p, p->nr);

	for (; p->nr > keep; p->nr--) {
		struct act *a = &p->act[p->nr - 1], *outer = around(p, p->nr - 1);

		if (a->kept)
			nested_lost(outer, 1);
		if (a->kind != ACT_FRAME)
			continue;
		if (a->beyond)
			nested_lost(a, a->beyond);
		group_abandoned[func_of(a)->group] += a->unknown ? 0 : 1 + a->again;
		leave(a, outer);
	}
	p->dirty = true;
	if (site_lang < 0 || !any)
		return;
	trim(p, depth);
	miss(around(p, p->nr), site_lang, 0);
}

void model__panic(struct prog *p, u64 depth)
{
	trim(p, depth);
	miss(around(p, p->nr), HB_LANG_GO, 0);
	for (u32 i = 0; i < p->nr; i++)
		p->act[i].dying = true;
}

/* ---- comparison ---- */

static void compare_row(u16 func, u32 size_class, enum hb_outcome outcome)
{
	const struct model_row *m = fns[func].row[size_class][outcome];
	const struct hb_row *r = w_row(func, 0, size_class, outcome);
	u64 size_nr = 0;

	if (!m) {
		assert_null(r);
		return;
	}
	assert_non_null(r);
	assert_int_equal(r->raw_sum_ns, m->raw_sum);
	assert_int_equal(r->raw_min_ns, m->raw_min);
	assert_int_equal(r->raw_max_ns, m->raw_max);
	assert_int_equal(r->nested, m->nested);
	assert_int_equal(r->size_sum, m->size_sum);
	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		size_nr += r->size_sub[i];
	assert_int_equal(size_nr, m->size_nr);
	for (u32 d = 0; d < HB_DIST_NR; d++) {
		u32 i = r->dist[d].hist - 1;
		const struct hb_hist *h;

		assert_int_equal(r->dist[d].count, m->dist[d].count);
		assert_int_equal(r->dist[d].sum_ns, m->dist[d].sum);
		assert_int_equal(r->dist[d].min_ns, m->dist[d].min);
		assert_int_equal(r->dist[d].max_ns, m->dist[d].max);
		if (!m->dist[d].count)
			continue;
		h = kernel__map_at(HOST_MAP(HISTS), 0, &i);
		for (u32 b = 0; b < HB_HIST_BUCKETS; b++)
			assert_int_equal(h->n[b], m->dist[d].n[b]);
	}
}

static void compare_func(u16 func)
{
	static const enum hb_fn_counter exact[] = {
		HB_FN_ENTRIES,	HB_FN_UNKNOWN,	 HB_FN_DROPPED,	 HB_FN_NESTED,
		HB_FN_MIGRATED, HB_FN_SIZE_LOST, HB_FN_ERR_LOST, HB_FN_CLAMPED,
	};

	for (u32 i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		if (w_n(func, exact[i]) != fns[func].n[exact[i]])
			fail_msg("function %u, counter %d: %llu instead of %llu", func, exact[i],
				 w_n(func, exact[i]), fns[func].n[exact[i]]);
	for (u32 c = 0; c < HB_SIZE_CLASSES; c++)
		for (u32 o = 0; o < HB_OUTCOME_NR; o++)
			compare_row(func, c, o);
}

/* A lost call is found to be so by a later one: until then it is in flight. */
static void compare_groups(u32 nr_funcs)
{
	s64 exits[HB_MAX_GROUPS][HB_CLASS_DIM] = {}, left[HB_MAX_GROUPS] = {};

	for (u32 i = 0; i < nr_funcs; i++) {
		u8 g = w_func_at(i)->f.group;

		for (u32 c = 0; c < HB_CLASS_DIM; c++)
			exits[g][c] += w_exits(i, c);
		left[g] += w_n(i, HB_FN_ABANDONED) + w_in_flight(i);
	}
	for (u32 i = 0; i < nr_progs_seen; i++) {
		const struct prog *p = progs_seen[i];

		for (u32 k = 0; k < p->nr; k++) {
			const struct act *a = &p->act[k];

			if (a->kind == ACT_FRAME)
				left[func_of(a)->group] -= (s64)a->beyond +
							   (a->unknown ? 0 : 1 + a->again);
			left[func_of(a)->group] -= a->kept;
		}
	}
	for (u32 g = 0; g < HB_MAX_GROUPS; g++) {
		for (u32 c = 0; c < HB_CLASS_DIM; c++)
			if (exits[g][c] != group_exits[g][c])
				fail_msg("group %u: %lld exits of class %u instead of %lld", g,
					 exits[g][c], c, group_exits[g][c]);
		if (left[g] != group_abandoned[g])
			fail_msg("group %u: %lld abandoned instead of %lld", g, left[g],
				 group_abandoned[g]);
	}
}

/* Those from further out than any call are taken for returns of calls in flight at the start. */
static void compare_misses(void)
{
	u64 unseen = 0, more = 0;

	for (u32 i = 0; i < w_nr(); i++)
		unseen += w_n(i, HB_FN_UNSEEN);
	for (u32 c = 0; c < HB_CLASS_DIM; c++) {
		assert_true(w_drop(HB_CNT_UNMATCHED + c) <= misses[c]);
		more += misses[c] - w_drop(HB_CNT_UNMATCHED + c);
	}
	assert_int_equal(more, unseen);
}

void model__compare(void)
{
	for (u32 i = 0; i < w_nr(); i++)
		compare_func(i);
	compare_groups(w_nr());
	compare_misses();
}
