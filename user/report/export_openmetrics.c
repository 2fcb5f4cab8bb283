// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_openmetrics.c - the recording as OpenMetrics 1.0 text, for whatever reads Prometheus' formats.
 *
 * Bounds of the histograms are 2^k - 1 ns, not 2^k: times are whole ns and a bucket of the recording
 * begins at 2^k, so these counts are exact. Where histograms ran out, a histogram has the calls that
 * are in it, and neither sum nor count: those would be of other calls.
 *
 * A label set is a function, a process and an outcome. Two that read the same (functions of one name
 * in one file) are told apart by the label "instance_nr", as readers refuse a series that comes twice.
 */
#include "report/export_units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "util/array.h"

#define FIRST_BOUND 6  /* 63 ns; what is shorter is below any probe's resolution */
#define LAST_BOUND  36 /* 68.7 s */

/* "k=v",... without braces, one for each group or function. */
struct labels {
	char **v;
	u32 nr;
};

/* ---- text ---- */

void openmetrics_label(struct strbuf *b, const char *key, const char *value)
{
	struct strbuf e;

	if (!value || !*value)
		return;
	strbuf__init(&e, 1u << 20);
	text_add_escaped(&e, value);
	strbuf__addf(b, "%s%s=\"", b->len ? "," : "", key);
	for (const char *s = e.s ? e.s : ""; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf__addc(b, '\\');
		strbuf__addc(b, *s);
	}
	strbuf__addc(b, '"');
	strbuf__fini(&e);
}

static void family(struct strbuf *b, const char *name, const char *type, const char *unit,
		   const char *help)
{
	strbuf__addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
	if (unit)
		strbuf__addf(b, "# UNIT %s %s\n", name, unit);
}

/* Up to "name{labels,more} "; the value is the caller's. */
static void series(struct strbuf *b, const char *name, const char *labels, const char *more)
{
	bool any = *labels || *more;

	strbuf__adds(b, name);
	if (any)
		strbuf__addf(b, "{%s%s%s}", labels, *labels && *more ? "," : "", more);
	strbuf__addc(b, ' ');
}

/* ns as seconds, exactly. */
static void add_seconds(struct strbuf *b, u64 ns)
{
	strbuf__addf(b, "%llu.%09llu", ns / 1000000000, ns % 1000000000);
}

static void sample_u64(struct strbuf *b, const char *name, const char *labels, const char *more,
		       u64 n)
{
	if (n == M_NONE)
		return;
	series(b, name, labels, more);
	strbuf__addf(b, "%llu\n", n);
}

static void sample_ns(struct strbuf *b, const char *name, const char *labels, const char *more,
		      u64 ns)
{
	if (ns == M_NONE)
		return;
	series(b, name, labels, more);
	add_seconds(b, ns);
	strbuf__addc(b, '\n');
}

/* ---- label sets ---- */

static void add_func_labels(struct strbuf *b, const struct view *v, const struct m_func *f)
{
	openmetrics_label(b, "codec", f ? f->codec : "(other)");
	openmetrics_label(b, "op", f ? f->op : NULL);
	openmetrics_label(b, "function", f ? f->name : NULL);
	openmetrics_label(b, "library", export_library(v, f));
}

static int cmp_strings(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

/* "x", "x", "x" become "x", "x,instance_nr=2", "x,instance_nr=3". Which of them is the first is as
 * good as another. */
static int tell_apart(struct labels *l)
{
	char ***by = array_alloc(l->nr, sizeof(*by)), *was, *now;
	u32 same = 1;
	int err = 0;

	if (!by)
		return -ENOMEM;
	for (u32 i = 0; i < l->nr; i++)
		by[i] = &l->v[i];
	qsort(by, l->nr, sizeof(*by), cmp_strings);
	/* From the end: what by[i] is compared with is still as it was. */
	for (u32 i = l->nr; !err && i-- > 1;) {
		was = *by[i];
		same = strcmp(was, *by[i - 1]) ? 1 : same + 1;
		if (same == 1)
			continue;
		if (asprintf(&now, "%s,instance_nr=\"%u\"", was, same) < 0) {
			err = -ENOMEM;
			break;
		}
		free(was);
		*by[i] = now;
	}
	free(by);
	return err;
}

static void labels__fini(struct labels *l)
{
	for (u32 i = 0; i < l->nr; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct labels){0};
}

static int labels__add(struct labels *l, struct strbuf *b)
{
	l->v[l->nr] = strbuf__take(b);
	if (!l->v[l->nr])
		return -ENOMEM;
	l->nr++;
	return 0;
}

static int labels__of_groups(struct labels *l, const struct view *v)
{
	struct strbuf b;
	int err;

	l->v = array_alloc(v->groups.nr, sizeof(*l->v));
	err = l->v ? 0 : -ENOMEM;
	strbuf__init(&b, 1u << 22);
	for (u32 i = 0; !err && i < v->groups.nr; i++) {
		const struct group *g = &v->groups.v[i];

		add_func_labels(&b, v, g->func);
		if (g->func)
			openmetrics_label(&b, "outcome", hb_outcome_names[g->outcome]);
		if (g->target)
			strbuf__addf(&b, ",pid=\"%u\"", g->target->pid);
		err = labels__add(l, &b);
	}
	return err ? err : tell_apart(l);
}

static int labels__of_funcs(struct labels *l, const struct view *v)
{
	struct strbuf b;
	int err;

	l->v = array_alloc(v->r->nr_funcs, sizeof(*l->v));
	err = l->v ? 0 : -ENOMEM;
	strbuf__init(&b, 1u << 22);
	for (u32 i = 0; !err && i < v->r->nr_funcs; i++) {
		add_func_labels(&b, v, &v->r->func[i]);
		err = labels__add(l, &b);
	}
	return err ? err : tell_apart(l);
}

/* ---- families ---- */

static void add_buckets(struct strbuf *b, const char *labels, const struct m_dist *d)
{
	u64 below = 0, all = dist_bucketed(d);
	char le[48];
	u32 i = 0;

	for (u32 k = FIRST_BOUND; k <= LAST_BOUND; k++) {
		u64 bound = (1ULL << k) - 1;

		for (; i < d->nr_buckets && d->bucket[i].idx < hb_hist_bucket(1ULL << k); i++)
			below += d->bucket[i].n;
		snprintf(le, sizeof(le), "le=\"%llu.%09llu\"", bound / 1000000000,
			 bound % 1000000000);
		sample_u64(b, "hbprof_call_duration_seconds_bucket", labels, le, below);
	}
	sample_u64(b, "hbprof_call_duration_seconds_bucket", labels, "le=\"+Inf\"", all);
	if (all != d->count || d->sum_ns == M_NONE)
		return;
	sample_u64(b, "hbprof_call_duration_seconds_count", labels, "", all);
	sample_ns(b, "hbprof_call_duration_seconds_sum", labels, "", d->sum_ns);
}

static void add_durations(struct view *v, const struct labels *l)
{
	family(v->out, "hbprof_call_duration_seconds", "histogram", "seconds",
	       "Inclusive latency of codec calls, less the probes' own time.");
	for (u32 i = 0; i < v->groups.nr; i++)
		add_buckets(v->out, l->v[i], &v->groups.v[i].inc);
}

/* Finer than what can be computed from the histogram above. */
static void add_quantiles(struct view *v, const struct labels *l)
{
	static const struct {
		const char *label;
		u32 q;
	} qs[] = {
		{"quantile=\"0.5\"", DIST_P50},
		{"quantile=\"0.9\"", DIST_P90},
		{"quantile=\"0.99\"", DIST_P99},
		{"quantile=\"0.999\"", DIST_P999},
	};
	static const char name[] = "hbprof_call_latency_seconds";

	family(v->out, name, "summary", "seconds",
	       "Quantiles of the same latency, within 0.8 percent.");
	for (u32 i = 0; i < v->groups.nr; i++)
		for (u32 k = 0; k < sizeof(qs) / sizeof(qs[0]); k++)
			sample_ns(v->out, name, l->v[i], qs[k].label,
				  dist_quantile(&v->groups.v[i].inc, qs[k].q));
}

static void add_row_totals(struct view *v, const struct labels *l)
{
	family(v->out, "hbprof_calls", "counter", NULL, "Codec calls that were measured.");
	for (u32 i = 0; i < v->groups.nr; i++)
		sample_u64(v->out, "hbprof_calls_total", l->v[i], "", v->groups.v[i].calls);
	family(v->out, "hbprof_exclusive_seconds", "counter", "seconds",
	       "Time in codec calls, without that of other probed calls inside them.");
	for (u32 i = 0; i < v->groups.nr; i++)
		sample_ns(v->out, "hbprof_exclusive_seconds_total", l->v[i], "",
			  v->groups.v[i].exc.sum_ns);
	family(v->out, "hbprof_payload_bytes", "counter", "bytes",
	       "Payload of the calls whose size is known.");
	for (u32 i = 0; i < v->groups.nr; i++)
		if (v->groups.v[i].sizes.n)
			sample_u64(v->out, "hbprof_payload_bytes_total", l->v[i], "",
				   v->groups.v[i].sizes.sum);
}

static void add_coverage(struct view *v, const struct labels *l)
{
	const struct m_coverage *c = &v->r->coverage;
	char label[64];

	family(v->out, "hbprof_events", "counter", NULL,
	       "What became of the entries of each function; see hbprof(1).");
	for (u32 i = 0; i < l->nr; i++) {
		for (u32 k = 0; k < HB_FN_NR; k++) {
			snprintf(label, sizeof(label), "event=\"%s\"", hb_fn_counter_names[k]);
			sample_u64(v->out, "hbprof_events_total", l->v[i], label,
				   v->r->func[i].n[k]);
		}
	}
	family(v->out, "hbprof_in_flight", "gauge", NULL,
	       "Calls that had not ended when the recording did.");
	for (u32 i = 0; i < l->nr; i++)
		sample_u64(v->out, "hbprof_in_flight", l->v[i], "", v->r->func[i].in_flight_end);
	family(v->out, "hbprof_drops", "counter", NULL, "Hits that could not be used, by reason.");
	for (u32 k = 0; k < HB_DROP_NR; k++) {
		snprintf(label, sizeof(label), "reason=\"%s\"", hb_drop_names[k]);
		sample_u64(v->out, "hbprof_drops_total", "", label, c->drop[k]);
	}
}

static void add_recording(struct view *v)
{
	const struct recording *r = v->r;

	family(v->out, "hbprof_recording_seconds", "gauge", "seconds", "Length of the recording.");
	sample_ns(v->out, "hbprof_recording_seconds", "", "", r->coverage.wall_ns);
	family(v->out, "hbprof_recording_begin_timestamp_seconds", "gauge", "seconds",
	       "When the recording began, since 1970.");
	sample_ns(v->out, "hbprof_recording_begin_timestamp_seconds", "", "", r->begin_wall_ns);
	family(v->out, "hbprof_probe_seconds", "counter", "seconds",
	       "What the probes cost the targets, by calibration.");
	sample_ns(v->out, "hbprof_probe_seconds_total", "", "", r->cost.probe_ns);
	family(v->out, "hbprof_target_cpu_seconds", "counter", "seconds",
	       "CPU time of the targets while recording.");
	sample_ns(v->out, "hbprof_target_cpu_seconds_total", "", "", targets_cpu_ns(r));
}

/* A key of the file as the name of a label: it may be any text, and there more than once. */
static bool is_label(const struct m_host *h, u32 i)
{
	const char *key = h->fact[i].key;

	/* Labels that differ from run to run would make a series of each. */
	if (!strcmp(key, "version") || m_is_run_fact(key) || !*key || *key == '_' ||
	    key[strspn(key, "abcdefghijklmnopqrstuvwxyz_")])
		return false;
	for (u32 k = 0; k < i; k++)
		if (!strcmp(h->fact[k].key, key))
			return false;
	return true;
}

/* The machine. As a gauge: readers of the older text format know no type for it. */
static int add_info(struct view *v)
{
	struct strbuf b;
	char *labels;

	strbuf__init(&b, 1u << 22);
	openmetrics_label(&b, "version", v->r->version);
	for (u32 i = 0; i < v->r->host.nr_facts; i++)
		if (is_label(&v->r->host, i))
			openmetrics_label(&b, v->r->host.fact[i].key, v->r->host.fact[i].value);
	labels = strbuf__take(&b);
	if (!labels)
		return -ENOMEM;
	family(v->out, "hbprof_recording_info", "gauge", NULL, "The machine that was measured.");
	sample_u64(v->out, "hbprof_recording_info", labels, "", 1);
	free(labels);
	return 0;
}

int export_openmetrics(struct view *v)
{
	struct labels groups = {0}, funcs = {0};
	int err;

	err = labels__of_groups(&groups, v);
	if (!err)
		err = labels__of_funcs(&funcs, v);
	if (!err)
		err = add_info(v);
	if (err)
		goto out;
	add_recording(v);
	add_durations(v, &groups);
	add_quantiles(v, &groups);
	add_row_totals(v, &groups);
	export_openmetrics_counters(v, groups.v);
	add_coverage(v, &funcs);
	strbuf__adds(v->out, "# EOF\n");
out:
	labels__fini(&groups);
	labels__fini(&funcs);
	return err;
}
