// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * json.c - the same figures as the table, unrounded. null: not measured, or a percentile that too
 * few calls have.
 */
#include "report/json.h"

#include <math.h>
#include <stdio.h>

#include "model/jsonw.h"
#include "report/measured.h"
#include "report/requests_report.h"

static void print_dist(struct jsonw *w, const char *key, const struct m_dist *d)
{
	jsonw__object(w, key);
	jsonw__u64(w, "count", d->count);
	jsonw__u64(w, "in_buckets", dist_bucketed(d));
	jsonw__u64(w, "sum_ns", d->sum_ns);
	jsonw__num(w, "mean_ns", dist_mean(d), 1);
	jsonw__u64(w, "min_ns", d->count ? d->min_ns : M_NONE);
	jsonw__u64(w, "p50_ns", dist_quantile(d, DIST_P50));
	jsonw__u64(w, "p90_ns", dist_quantile(d, DIST_P90));
	jsonw__u64(w, "p99_ns", dist_quantile(d, DIST_P99));
	jsonw__u64(w, "p999_ns", dist_quantile(d, DIST_P999));
	jsonw__u64(w, "max_ns", d->count ? d->max_ns : M_NONE);
	jsonw__end_object(w);
}

static void print_sizes(struct jsonw *w, struct sizes *s)
{
	jsonw__object(w, "size");
	jsonw__u64(w, "calls", s->n);
	jsonw__u64(w, "p50_bytes", sizes__p50(s));
	jsonw__u64(w, "min_bytes", s->n ? s->min : M_NONE);
	jsonw__u64(w, "max_bytes", s->n ? s->max : M_NONE);
	jsonw__u64(w, "sum_bytes", s->n ? s->sum : M_NONE);
	jsonw__end_object(w);
}

/* Per call that has the counter; null: it was not counted. */
static void print_ctrs(const struct view *v, struct jsonw *w, const struct group *g)
{
	const struct m_counters *c = &v->r->counters;

	if (!c->nr) {
		jsonw__null(w, "counters");
		return;
	}
	jsonw__object(w, "counters");
	for (u32 i = 0; i < c->nr; i++) {
		const struct m_ctr *k = &g->ctr[i];

		if (c->v[i].lack) {
			jsonw__null(w, c->v[i].name);
			continue;
		}
		jsonw__object(w, c->v[i].name);
		jsonw__u64(w, "calls", k->calls);
		jsonw__u64(w, "sum", k->sum);
		jsonw__num(w, "mean", ctr_mean(k), 3);
		jsonw__u64(w, "min", k->calls ? k->min : M_NONE);
		jsonw__u64(w, "max", k->calls ? k->max : M_NONE);
		jsonw__end_object(w);
	}
	jsonw__end_object(w);
	jsonw__num(w, "ipc", group_ctr_ratio(g, v->r, "instructions", "cycles"), 4);
	jsonw__num(w, "cpi", group_ctr_ratio(g, v->r, "cycles", "instructions"), 4);
	jsonw__num(w, "cache_miss_pct",
		   100 * group_ctr_ratio(g, v->r, "cache-misses", "cache-references"), 3);
}

static int print_by_size(const struct view *v, struct jsonw *w, const struct group *g)
{
	struct group one;
	u64 lo, hi;
	int err = 0;

	jsonw__array(w, "by_size");
	for (u32 i = 0; i < group__nr_classes(g); i++) {
		err = group__of_class(&one, g, i);
		if (err)
			break;
		size_class_range(one.row[0]->size_class, &lo, &hi);
		jsonw__object(w, NULL);
		jsonw__u64(w, "min_bytes", lo);
		jsonw__u64(w, "max_bytes", hi);
		jsonw__u64(w, "p50_bytes", sizes__p50(&one.sizes));
		jsonw__u64(w, "calls", one.calls);
		jsonw__num(w, "calls_per_s", group_calls_per_s(&one), 3);
		print_dist(w, "latency", &one.inc);
		print_ctrs(v, w, &one);
		jsonw__end_object(w);
		group__fini(&one);
	}
	jsonw__end_array(w);
	return err;
}

static void print_raw(struct jsonw *w, const struct group *g)
{
	jsonw__object(w, "raw");
	jsonw__num(w, "mean_ns",
		   g->raw_sum_ns == M_NONE ? NAN : (double)g->raw_sum_ns / (double)g->calls, 1);
	jsonw__u64(w, "min_ns", g->raw_min_ns);
	jsonw__u64(w, "max_ns", g->raw_max_ns);
	jsonw__end_object(w);
}

/* Of the function in this process, whatever became of the call: it is not known yet at the sample. */
static u64 cpu_samples(const struct view *v, const struct group *g)
{
	if (!g->func || !g->target)
		return M_NONE;
	return m_stacks__in_func(&v->r->stacks, (u32)(g->func - v->r->func),
				 (u32)(g->target - v->r->target));
}

static int print_row(struct view *v, struct jsonw *w, struct group *g)
{
	const struct m_func *f = g->func;
	int err;

	jsonw__object(w, NULL);
	jsonw__str(w, "codec", f ? f->codec : NULL);
	jsonw__str(w, "op", f ? f->op : NULL);
	jsonw__str(w, "function", f ? f->name : NULL);
	jsonw__str(w, "library", f ? f->library : NULL);
	jsonw__str(w, "library_version", f ? f->library_version : NULL);
	jsonw__str(w, "note", f ? f->note : NULL);
	jsonw__str(w, "kind", f ? f->kind : NULL);
	jsonw__u64(w, "pid", g->target ? g->target->pid : M_NONE);
	jsonw__bool(w, "overflow", !f);
	if (f)
		jsonw__str(w, "outcome", hb_outcome_names[g->outcome]);
	else
		jsonw__null(w, "outcome");
	jsonw__u64(w, "calls", g->calls);
	jsonw__u64(w, "errors", g->errors);
	jsonw__u64(w, "abandoned", f ? f->n[HB_FN_ABANDONED] : M_NONE);
	jsonw__num(w, "calls_per_s", group_calls_per_s(g), 3);
	jsonw__u64(w, "measured_ns", g->measured_ns);
	jsonw__num(w, "target_cpu_pct",
		   g->target ? cpu_share(v->r, g->inc.sum_ns, g->target->cpu_ns) : NAN, 3);
	jsonw__u64(w, "cpu_samples", cpu_samples(v, g));
	jsonw__num(w, "nested_per_call", (double)g->nested / (double)g->calls, 3);
	print_dist(w, "latency", &g->inc);
	print_dist(w, "exclusive", &g->exc);
	print_raw(w, g);
	print_sizes(w, &g->sizes);
	print_ctrs(v, w, g);
	err = print_by_size(v, w, g);
	jsonw__end_object(w);
	return err;
}

static void print_counters(struct jsonw *w, const u64 n[HB_FN_NR])
{
	for (u32 i = 0; i < HB_FN_NR; i++)
		jsonw__u64(w, hb_fn_counter_names[i], n[i]);
}

/* What became of a function that was to be measured. */
static const char *func_state(const struct m_func *f)
{
	if (!f->n[HB_FN_ENTRIES])
		return "not called";
	if (f->n[HB_FN_NESTED] < f->n[HB_FN_ENTRIES])
		return "hit";
	return f->off_ns && f->off_ns != M_NONE ? "left out" : "nested";
}

static void print_function(struct view *v, struct jsonw *w, const struct m_func *f)
{
	const struct m_image *im = f->image < v->r->nr_images ? &v->r->image[f->image] : NULL;
	struct balance b;

	balance__of(&b, f->n, f->in_flight_end);
	jsonw__object(w, NULL);
	jsonw__str(w, "function", f->name);
	jsonw__str(w, "codec", f->codec);
	jsonw__str(w, "op", f->op);
	jsonw__str(w, "library", f->library);
	jsonw__str(w, "library_version", f->library_version);
	jsonw__str(w, "image", im ? im->path : NULL);
	jsonw__str(w, "build_id", im ? im->build_id : NULL);
	jsonw__u64(w, "vaddr", f->vaddr);
	jsonw__str(w, "language", hb_lang_names[f->lang]);
	jsonw__str(w, "exit_mode", m_exit_mode_names[f->exit_mode]);
	jsonw__str(w, "entry_class", hb_class_names[f->entry_class]);
	jsonw__object(w, "exit_sites");
	for (u32 c = 0; c < HB_CLASS_NR; c++)
		jsonw__u64(w, hb_class_names[c], f->exit_sites[c]);
	jsonw__end_object(w);
	jsonw__object(w, "exits_by_class");
	for (u32 c = 0; c < HB_CLASS_NR; c++)
		jsonw__u64(w, hb_class_names[c], f->exits_by[c]);
	jsonw__end_object(w);
	jsonw__bool(w, "has_size", f->has_size);
	jsonw__bool(w, "has_errors", f->has_err);
	print_counters(w, f->n);
	jsonw__u64(w, "in_flight_end", f->in_flight_end);
	jsonw__u64(w, "off_ns", f->off_ns);
	jsonw__str(w, "state", func_state(f));
	jsonw__bool(w, "balanced", b.holds);
	jsonw__end_object(w);
}

static void print_coverage(struct view *v, struct jsonw *w)
{
	const struct m_coverage *c = &v->r->coverage;
	struct balance b;

	balance__of(&b, c->n, c->in_flight_end);
	jsonw__object(w, "coverage");
	print_counters(w, c->n);
	jsonw__u64(w, "in_flight_start", c->in_flight_start);
	jsonw__u64(w, "in_flight_end", c->in_flight_end);
	jsonw__u64(w, "lost", b.lost);
	jsonw__u64(w, "unmatched", c->unmatched);
	jsonw__u64(w, "cold", c->cold);
	jsonw__u64(w, "cold_in_ns", c->cold_in_ns);
	jsonw__bool(w, "final", c->balanced);
	jsonw__bool(w, "balanced", c->balanced && b.holds);
	if (b.known)
		jsonw__s64(w, "missing", b.missing);
	else
		jsonw__null(w, "missing");
	jsonw__object(w, "drops");
	for (u32 i = 0; i < HB_DROP_NR; i++)
		jsonw__u64(w, hb_drop_names[i], c->drop[i]);
	jsonw__end_object(w);
	jsonw__u64(w, "measured_ns", c->measured_ns);
	jsonw__u64(w, "wall_ns", c->wall_ns);
	jsonw__u64(w, "sites", c->sites);
	jsonw__u64(w, "sites_refused", c->sites_refused);
	jsonw__u64(w, "links", c->links);
	jsonw__u64(w, "return_addresses_discovered", c->ras_discovered);
	jsonw__u64(w, "return_addresses_refused", c->ras_refused);
	jsonw__end_object(w);
}

static void print_bias(struct jsonw *w, const struct bias *b)
{
	char name[32] = "";

	if (b)
		snprintf(name, sizeof(name), "%s+%s", hb_class_names[b->entry],
			 b->exit < HB_CLASS_NR ? hb_class_names[b->exit] : "none");
	jsonw__str(w, "class", b ? name : NULL);
	jsonw__str(w, "language", b ? hb_lang_names[b->lang] : NULL);
	jsonw__u64(w, "bias_ns", b && b->calibrated ? b->in_ns : M_NONE);
	jsonw__u64(w, "total_ns", b && b->pair ? b->total_ns : M_NONE);
	jsonw__u64(w, "uncertainty_ns", b && b->calibrated ? b->uncertainty_ns : M_NONE);
	jsonw__u64(w, "calibrations", b ? b->nr_cals : 0);
	jsonw__u64(w, "calls", b ? b->calls : 0);
}

static void print_probe(struct view *v, struct jsonw *w)
{
	jsonw__object(w, "probe");
	print_bias(w, v->nr_biases ? &v->bias[0] : NULL);
	jsonw__array(w, "classes");
	for (u32 i = 0; i < v->nr_biases; i++) {
		jsonw__object(w, NULL);
		print_bias(w, &v->bias[i]);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
	jsonw__end_object(w);
}

static void print_cost(struct view *v, struct jsonw *w)
{
	const struct m_cost *c = &v->r->cost;
	u64 wall = v->r->coverage.wall_ns;

	jsonw__object(w, "cost");
	jsonw__u64(w, "probe_ns", c->probe_ns);
	jsonw__num(w, "target_pct", cpu_share(v->r, c->probe_ns, targets_cpu_ns(v->r)), 3);
	jsonw__num(w, "one_cpu_pct", pct_of(c->probe_ns, wall), 3);
	jsonw__u64(w, "hbprof_cpu_ns", c->hbprof_cpu_ns);
	jsonw__num(w, "hbprof_cpu_pct", cpu_share(v->r, c->hbprof_cpu_ns, wall), 3);
	jsonw__u64(w, "rss_bytes", c->rss_bytes);
	jsonw__u64(w, "kernel_map_bytes", c->kernel_map_bytes);
	jsonw__end_object(w);
}

static void print_stacks(struct view *v, struct jsonw *w)
{
	const struct m_stacks *s = &v->r->stacks;

	if (!s->event) {
		jsonw__null(w, "cpu_sampling");
		return;
	}
	jsonw__object(w, "cpu_sampling");
	jsonw__str(w, "event", s->event);
	jsonw__u64(w, "frequency_hz", s->frequency_hz);
	jsonw__u64(w, "samples", s->samples);
	jsonw__u64(w, "in_calls", m_stacks__in_calls(v->r));
	jsonw__u64(w, "lost", s->lost);
	jsonw__u64(w, "truncated", s->truncated);
	jsonw__u64(w, "unkept", s->unkept);
	jsonw__end_object(w);
}

static void print_counter_list(struct view *v, struct jsonw *w)
{
	const struct m_counters *c = &v->r->counters;

	if (!c->nr) {
		jsonw__null(w, "counters");
		return;
	}
	jsonw__object(w, "counters");
	jsonw__array(w, "list");
	for (u32 i = 0; i < c->nr; i++) {
		jsonw__object(w, NULL);
		jsonw__str(w, "name", c->v[i].name);
		jsonw__bool(w, "counted", !c->v[i].lack);
		jsonw__str(w, "reason", c->v[i].lack);
		jsonw__u64(w, "bias", c->v[i].bias);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
	jsonw__object(w, "without");
	for (u32 i = 0; i < HB_CTR_LOST_NR; i++)
		jsonw__u64(w, hb_ctr_lost_names[i], c->lost[i]);
	jsonw__end_object(w);
	jsonw__end_object(w);
}

static u64 calls_of(const struct recording *r, u32 target)
{
	u64 calls = 0;

	for (u32 i = 0; i < r->nr_rows; i++)
		if (!r->row[i].overflow && r->row[i].target == target)
			calls += r->row[i].count;
	return calls;
}

static void print_target(struct jsonw *w, const struct recording *r, u32 target)
{
	const struct m_target *t = &r->target[target];

	jsonw__object(w, NULL);
	jsonw__u64(w, "pid", t->pid);
	jsonw__u64(w, "start_time", t->start_time);
	jsonw__str(w, "comm", t->comm);
	jsonw__str(w, "exe", t->exe);
	jsonw__str(w, "cmdline", t->cmdline);
	jsonw__str(w, "build_id", t->build_id);
	jsonw__str(w, "language", t->language);
	jsonw__u64(w, "cpu_ns", t->cpu_ns);
	jsonw__u64(w, "rss_bytes", t->rss_bytes);
	jsonw__u64(w, "measured_ns", target_measured_ns(t));
	jsonw__u64(w, "unmeasured_ns", t->unmeasured_ns);
	jsonw__u64(w, "calls", calls_of(r, target));
	jsonw__str(w, "end", t->end);
	jsonw__end_object(w);
}

static void print_head(struct view *v, struct jsonw *w)
{
	const struct recording *r = v->r;

	jsonw__str(w, "hbprof", r->version);
	jsonw__str(w, "attach", r->attach);
	jsonw__str(w, "codecs", r->codecs);
	jsonw__u64(w, "begin_wall_ns", r->begin_wall_ns);
	jsonw__u64(w, "duration_ns", r->end_mono_ns - r->begin_mono_ns);
	jsonw__str(w, "stop_reason", r->stop_reason);
	jsonw__array(w, "targets");
	for (u32 i = 0; i < r->nr_targets; i++)
		print_target(w, r, i);
	jsonw__end_array(w);
	jsonw__object(w, "host");
	for (u32 i = 0; i < r->host.nr_facts; i++)
		jsonw__str(w, r->host.fact[i].key, r->host.fact[i].value);
	jsonw__end_object(w);
}

int json__print(struct view *v)
{
	struct jsonw w;
	int err = 0;

	jsonw__init(&w, v->out, true);
	jsonw__object(&w, NULL);
	print_head(v, &w);
	jsonw__array(&w, "rows");
	for (u32 i = 0; !err && i < v->groups.nr; i++)
		err = print_row(v, &w, &v->groups.v[i]);
	jsonw__end_array(&w);
	jsonw__array(&w, "functions");
	for (u32 i = 0; i < v->r->nr_funcs; i++)
		print_function(v, &w, &v->r->func[i]);
	jsonw__end_array(&w);
	print_coverage(v, &w);
	print_probe(v, &w);
	print_cost(v, &w);
	print_stacks(v, &w);
	print_counter_list(v, &w);
	requests_json(v, &w);
	jsonw__array(&w, "warnings");
	for (u32 i = 0; i < v->r->nr_warnings; i++)
		jsonw__str(&w, NULL, v->r->warning[i]);
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	strbuf__addc(v->out, '\n');
	return err;
}
