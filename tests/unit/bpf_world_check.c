/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_world_check.c - what was measured of the traced program, and what must hold of it always.
 */
#include "bpf_world.h"

#include <string.h>

#include "bpf_world_impl.h"

/* ---- what was measured ---- */

static const struct hb_fn_stat *fn_stat(u32 func, u32 cpu)
{
	return kernel__map_at(HOST_MAP(FN_STATS), cpu, &func);
}

u64 w_exits(u16 func, u32 cls)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += fn_stat(func, cpu)->exits[cls];
	return n;
}

u64 w_n(u16 func, enum hb_fn_counter what)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += fn_stat(func, cpu)->n[what];
	/* The kernel side keeps these by class only. */
	for (u32 c = 0; what == HB_FN_EXITS && c < HB_CLASS_DIM; c++)
		n += w_exits(func, c);
	return n;
}

u64 w_drop(u32 why)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += *(u64 *)kernel__map_at(HOST_MAP(DROPS), cpu, &why);
	return n;
}

static struct hb_row *row_nr(u32 i)
{
	return kernel__map_at(HOST_MAP(ROW_STATS), 0, &i);
}

struct hb_row *w_row(u16 func, u32 proc, u32 size_class, enum hb_outcome outcome)
{
	struct hb_row_key key = {
		.func = func, .proc = proc, .size_class = size_class, .outcome = outcome};
	const u32 *i = kernel__map_at(HOST_MAP(ROWS), 0, &key);

	return i ? row_nr(*i) : NULL;
}

struct hb_row *w_plain(u16 func)
{
	struct hb_row *r = w_row(func, 0, 0, HB_OUTCOME_OK);

	assert_non_null(r);
	return r;
}

struct hb_row *w_overflow(void)
{
	return row_nr(HB_ROW_OVERFLOW);
}

static u64 row_samples(const struct hb_row *r)
{
	return r->dist[HB_DIST_LEAF].count + r->dist[HB_DIST_OUTER].count;
}

u64 w_samples(u16 func)
{
	u64 n = 0;

	for (u32 i = 1; i <= next_row && i < cfg_nr_rows; i++)
		if (row_nr(i)->key.func == func)
			n += row_samples(row_nr(i));
	return n;
}

u64 w_bucket(const struct hb_dist_sum *d, u64 ns)
{
	const struct hb_hist *h;
	u32 i;

	if (!d->hist)
		return 0;
	i = d->hist - 1;
	h = kernel__map_at(HOST_MAP(HISTS), 0, &i);
	assert_non_null(h);
	return h->n[hb_hist_bucket(ns)];
}

void w_check_dist(u16 func, enum hb_dist d, u64 count, u64 sum, u64 min, u64 max)
{
	const struct hb_dist_sum *s = &w_plain(func)->dist[d];

	assert_int_equal(s->count, count);
	assert_int_equal(s->sum_ns, sum);
	assert_int_equal(s->min_ns, min);
	assert_int_equal(s->max_ns, max);
	assert_true(w_bucket(s, min) >= 1);
	assert_true(w_bucket(s, max) >= 1);
}

struct hb_task *w_frames_of(const struct w_task *t)
{
	struct hb_frame_key key = {.tgid = t->tgid, .task = t->go ? t->g : t->tid};

	return kernel__map_at(HOST_MAP(TASKS), 0, &key);
}

u32 w_frames(const struct w_task *t)
{
	const struct hb_task *f = w_frames_of(t);

	return f ? f->nr : 0;
}

int w_event(struct hb_event *e)
{
	return kernel__ring_take(HOST_MAP(EVENTS), e, sizeof(*e));
}

/* ---- what must hold ---- */

/* Recursive calls without a frame are each deeper than the one before, or tail calls. */
static void check_nested(const struct hb_frame *f)
{
	u32 at = 1;

	assert_in_range(f->kept, 0, HB_NESTED_KEPT);
	assert_true(!f->beyond || f->kept == HB_NESTED_KEPT);
	for (u32 i = 0; i < f->kept; i++) {
		assert_true(f->in[i].at >= at);
		assert_true(f->in[i].nr);
		at = f->in[i].at;
	}
}

static bool is_dying(const struct hb_frame *f)
{
	return f->flags & HB_FRAME_DYING;
}

/* Is the call of f not part of any open one of its group? */
static bool is_own_call(const struct hb_task *t, const struct hb_frame *f)
{
	for (const struct hb_frame *up = t->frame; up < f; up++)
		if (up->group == f->group && !(is_dying(up) && up->depth + up->dying_at < f->depth))
			return false;
	return true;
}

/* Outer frames first; one owner of each group's bit, further out than the group's other frames, but
 * for calls that are dying. */
void w_check_frames(void)
{
	const struct hb_task *t = w_frames_of(w.cur);
	u64 active = 0;

	if (!t)
		return;
	assert_in_range(t->nr, 0, HB_FRAME_DEPTH);
	for (u32 i = 0; i < t->nr; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (i)
			assert_true(f->depth >= f[-1].depth);
		if (i && f->depth == f[-1].depth) {
			assert_int_equal(f->ra, f[-1].ra);
			assert_int_not_equal(f->func, f[-1].func);
		}
		assert_int_equal(f->flags & (HB_FRAME_OWNS | HB_FRAME_NESTED),
				 is_own_call(t, f) ? HB_FRAME_OWNS : HB_FRAME_NESTED);
		if (!is_dying(f))
			active |= 1ULL << f->group;
		check_nested(f);
	}
	assert_int_equal(t->active, active);
}

struct in_flight {
	u64 of[W_FUNCS];
};

static void task_in_flight(const void *key, void *value, void *arg)
{
	const struct hb_task *t = value;
	struct in_flight *n = arg;

	for (u32 i = 0; i < t->nr; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (!(f->flags & HB_FRAME_UNKNOWN))
			n->of[f->func] += 1 + f->again;
		for (u32 k = 0; k < f->kept; k++) {
			n->of[f->in[k].first]++;
			n->of[f->in[k].last] += f->in[k].nr - 1;
		}
		if (f->beyond)
			n->of[f->beyond_func] += f->beyond;
	}
}

u64 w_in_flight(u16 func)
{
	struct in_flight n = {};

	kernel__map_each(HOST_MAP(TASKS), task_in_flight, &n);
	return n.of[func];
}

/* Entries less everything that an entry can become: 0. */
static s64 unaccounted(u16 func)
{
	return w_n(func, HB_FN_ENTRIES) - w_n(func, HB_FN_EXITS) - w_n(func, HB_FN_ABANDONED) -
	       w_n(func, HB_FN_UNKNOWN) - w_n(func, HB_FN_DROPPED) - w_in_flight(func);
}

/*
 * The identity of enum hb_fn_counter. Of recursive calls that made tail calls, and of those too deep
 * to be kept, a frame knows only the last function: it may hold for the sum of a group only.
 */
static void check_identity(void)
{
	s64 group[HB_MAX_GROUPS] = {};

	for (u32 i = 0; i < w_nr_funcs; i++) {
		if (!w.counts_by_group && unaccounted(i))
			fail_msg("function %u: %lld entries are unaccounted for", i,
				 unaccounted(i));
		group[w_funcs[i].f.group] += unaccounted(i);
	}
	for (u32 i = 0; i < HB_MAX_GROUPS; i++)
		if (group[i])
			fail_msg("group %u: %lld entries are unaccounted for", i, group[i]);
}

static void check_dist(const struct hb_dist_sum *d)
{
	const struct hb_hist *h;
	u64 n = 0, lower = 0;
	u32 i;

	if (!d->hist)
		return;
	i = d->hist - 1;
	h = kernel__map_at(HOST_MAP(HISTS), 0, &i);
	assert_non_null(h);
	for (u32 b = 0; b < HB_HIST_BUCKETS; b++) {
		n += h->n[b];
		lower += h->n[b] * hb_hist_lower(b);
	}
	assert_true(n <= d->count);
	if (n == d->count)
		assert_true(lower <= d->sum_ns);
	if (d->count)
		assert_true(d->min_ns <= d->max_ns && d->max_ns <= d->sum_ns);
}

/* Two rows must not share a histogram; distributions of a row must agree with one another. */
static void check_rows(void)
{
	u8 used[W_HISTS] = {};

	for (u32 i = 0; i <= next_row && i < cfg_nr_rows; i++) {
		const struct hb_row *r = row_nr(i);

		assert_int_equal(r->dist[HB_DIST_OUTER].count, r->dist[HB_DIST_OUTER_EXC].count);
		assert_true(r->dist[HB_DIST_OUTER].sum_ns >= r->dist[HB_DIST_OUTER_EXC].sum_ns);
		for (u32 d = 0; d < HB_DIST_NR; d++) {
			check_dist(&r->dist[d]);
			if (r->dist[d].hist)
				assert_int_equal(used[r->dist[d].hist - 1]++, 0);
		}
	}
}

int w_fini(void **state)
{
	check_identity();
	check_rows();
	assert_int_equal(nr_tasks, kernel__map_nr(HOST_MAP(TASKS)));
	for (u32 i = 0; i < w_nr_funcs; i++)
		assert_true(w_samples(i) <= w_n(i, HB_FN_EXITS));
	kernel__check_out();
	return 0;
}
