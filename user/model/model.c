// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * model.c - life and death of a recording, merging of distributions, and the names that captures
 * and JSON reports use for the enums of the kernel side.
 */
#include "model/model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"
#include "util/array.h"

const char *const hb_lang_names[HB_LANG_NR] = {
	[HB_LANG_NATIVE] = "native",
	[HB_LANG_GO] = "go",
};

const char *const hb_class_names[HB_CLASS_NR] = {
	[HB_CLASS_BRANCH] = "branch", [HB_CLASS_PUSH] = "push", [HB_CLASS_CALL] = "call",
	[HB_CLASS_NOP] = "nop",	      [HB_CLASS_STEP] = "step",
};

const char *const hb_outcome_names[HB_OUTCOME_NR] = {
	[HB_OUTCOME_OK] = "ok",
	[HB_OUTCOME_ERROR] = "error",
};

const char *const m_exit_mode_names[M_EXIT_NR] = {
	[M_EXIT_SITE] = "site",
	[M_EXIT_RET] = "ret",
};

const char *const hb_drop_names[HB_DROP_NR] = {
	[HB_DROP_NO_SITE] = "no_site",
	[HB_DROP_READ_G] = "read_g",
	[HB_DROP_BAD_G] = "bad_g",
	[HB_DROP_READ_RA] = "read_ra",
	[HB_DROP_FRAMES_FULL] = "frames_full",
	[HB_DROP_FRAMES_DEEP] = "frames_deep",
	[HB_DROP_STACK_SWITCH] = "stack_switch",
	[HB_DROP_CLOCK_BACK] = "clock_back",
	[HB_DROP_ROWS_FULL] = "rows_full",
	[HB_DROP_HISTS_FULL] = "hists_full",
	[HB_DROP_RAS_FULL] = "ras_full",
	[HB_DROP_WINDOW] = "window",
	[HB_DROP_EVENT_LOST] = "event_lost",
};

const char *const hb_fn_counter_names[HB_FN_NR] = {
	[HB_FN_ENTRIES] = "entries",	 [HB_FN_EXITS] = "exits",
	[HB_FN_ABANDONED] = "abandoned", [HB_FN_UNKNOWN] = "unknown_return_site",
	[HB_FN_DROPPED] = "dropped",	 [HB_FN_UNSEEN] = "unseen",
	[HB_FN_NESTED] = "nested",	 [HB_FN_MIGRATED] = "migrated",
	[HB_FN_SIZE_LOST] = "size_lost", [HB_FN_ERR_LOST] = "err_lost",
	[HB_FN_CLAMPED] = "clamped",
};

struct recording *recording__new(void)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->coverage.in_flight_start = M_NONE;
	r->coverage.cold = r->coverage.cold_in_ns = M_NONE;
	r->cost.hbprof_cpu_ns = M_NONE;
	r->cost.rss_bytes = M_NONE;
	r->cost.kernel_map_bytes = M_NONE;
	r->cost.probe_ns = M_NONE;
	return r;
}

static void m_target__fini(struct m_target *t)
{
	free(t->comm);
	free(t->exe);
	free(t->cmdline);
	free(t->build_id);
	free(t->language);
	free(t->end);
}

static void m_func__fini(struct m_func *f)
{
	free(f->name);
	free(f->codec);
	free(f->op);
	free(f->library);
	free(f->library_version);
	free(f->note);
	free(f->kind);
}

static void m_interval__fini(struct m_interval *iv)
{
	for (u32 i = 0; iv->delta && i < iv->nr_deltas; i++)
		free(iv->delta[i].bucket);
	free(iv->delta);
	free(iv->ctr);
}

void m_stacks__fini(struct m_stacks *s)
{
	for (u32 i = 0; s->name && i < s->nr_names; i++)
		free(s->name[i]);
	free(s->event);
	free(s->unit);
	free(s->name);
	free(s->frame);
	free(s->stack);
	*s = (struct m_stacks){0};
}

u64 m_stacks__in_calls(const struct recording *r)
{
	const struct m_stacks *s = &r->stacks;
	u64 n = 0;

	if (!s->event)
		return M_NONE;
	for (u32 i = 0; i < s->nr_stacks; i++)
		if (s->stack[i].func < r->nr_funcs && !r->func[s->stack[i].func].kind)
			n += s->stack[i].count;
	return n;
}

u64 m_stacks__in_func(const struct m_stacks *s, u32 func, u32 target)
{
	u64 n = 0;

	if (!s->event)
		return M_NONE;
	for (u32 i = 0; i < s->nr_stacks; i++)
		if (s->stack[i].func == func && s->stack[i].target == target)
			n += s->stack[i].count;
	return n;
}

/* Arrays are NULL where an allocation failed half-way, with the count already set or not. */
void recording__free(struct recording *r)
{
	if (!r)
		return;
	for (u32 i = 0; r->host.fact && i < r->host.nr_facts; i++) {
		free(r->host.fact[i].key);
		free(r->host.fact[i].value);
	}
	for (u32 i = 0; r->target && i < r->nr_targets; i++)
		m_target__fini(&r->target[i]);
	for (u32 i = 0; r->image && i < r->nr_images; i++) {
		free(r->image[i].path);
		free(r->image[i].build_id);
	}
	for (u32 i = 0; r->func && i < r->nr_funcs; i++)
		m_func__fini(&r->func[i]);
	for (u32 i = 0; r->row && i < r->nr_rows; i++)
		for (u32 d = 0; d < HB_DIST_NR; d++)
			m_dist__fini(&r->row[i].dist[d]);
	for (u32 i = 0; r->interval && i < r->nr_intervals; i++)
		m_interval__fini(&r->interval[i]);
	for (u32 i = 0; r->warning && i < r->nr_warnings; i++)
		free(r->warning[i]);
	m_stacks__fini(&r->stacks);
	m_counters__fini(&r->counters);
	m_requests__free(r->requests);
	free(r->host.fact);
	free(r->target);
	free(r->image);
	free(r->func);
	free(r->row);
	free(r->interval);
	free(r->cal);
	free(r->warning);
	free(r->version);
	free(r->attach);
	free(r->codecs);
	free(r->stop_reason);
	free(r->span);
	free(r);
}

int recording__warn(struct recording *r, const char *fmt, ...)
{
	char *text, **grown;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	for (u32 i = 0; i < r->nr_warnings; i++) {
		if (!strcmp(r->warning[i], text)) {
			free(text);
			return 0;
		}
	}
	grown = reallocarray(r->warning, (size_t)r->nr_warnings + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	r->warning = grown;
	r->warning[r->nr_warnings++] = text;
	return 0;
}

int m_host__add(struct m_host *h, const char *key, const char *value)
{
	struct m_kv kv = {strdup(key), strdup(value)}, *grown = NULL;

	if (kv.key && kv.value)
		grown = reallocarray(h->fact, (size_t)h->nr_facts + 1, sizeof(*grown));
	if (!grown) {
		free(kv.key);
		free(kv.value);
		return -ENOMEM;
	}
	h->fact = grown;
	h->fact[h->nr_facts++] = kv;
	return 0;
}

const char *m_host__get(const struct m_host *h, const char *key, const char *none)
{
	for (u32 i = 0; i < h->nr_facts; i++)
		if (!strcmp(h->fact[i].key, key))
			return h->fact[i].value;
	return none;
}

bool m_is_run_fact(const char *key)
{
	return !strncmp(key, M_RUN_FACT, sizeof(M_RUN_FACT) - 1);
}

void m_dist__init(struct m_dist *d)
{
	*d = (struct m_dist){.min_ns = M_NONE};
}

void m_dist__fini(struct m_dist *d)
{
	free(d->bucket);
	m_dist__init(d);
}

static u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

/* Both lists ascend; so does the result, which has room for all of both. */
static u32 merge_buckets(struct m_bucket *to, const struct m_dist *a, const struct m_dist *b)
{
	u32 i = 0, j = 0, nr = 0;

	while (i < a->nr_buckets || j < b->nr_buckets) {
		bool take_a = j == b->nr_buckets ||
			      (i < a->nr_buckets && a->bucket[i].idx <= b->bucket[j].idx);

		if (take_a && j < b->nr_buckets && a->bucket[i].idx == b->bucket[j].idx) {
			to[nr].idx = a->bucket[i].idx;
			to[nr++].n = add_saturating(a->bucket[i++].n, b->bucket[j++].n);
		} else {
			to[nr++] = take_a ? a->bucket[i++] : b->bucket[j++];
		}
	}
	return nr;
}

int m_dist__merge(struct m_dist *dst, const struct m_dist *src)
{
	struct m_bucket *merged;

	if (src->nr_buckets) {
		merged = array_alloc((size_t)dst->nr_buckets + src->nr_buckets, sizeof(*merged));
		if (!merged)
			return -ENOMEM;
		dst->nr_buckets = merge_buckets(merged, dst, src);
		free(dst->bucket);
		dst->bucket = merged;
	}
	dst->count = add_saturating(dst->count, src->count);
	dst->sum_ns = add_saturating(dst->sum_ns, src->sum_ns);
	if (src->min_ns < dst->min_ns)
		dst->min_ns = src->min_ns;
	if (src->max_ns > dst->max_ns)
		dst->max_ns = src->max_ns;
	return 0;
}
