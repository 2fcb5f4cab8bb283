// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_warn.c - what the headers of the captures say about a comparison: differences that may
 * explain a ratio, and those that forbid one.
 *
 * Each capture is held against the first; captures of one side are warned about under its label.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/bias.h"
#include "report/compare.h"
#include "report/overlap.h"
#include "util/units.h"

#define SHORT_NS     10000000000ull
#define MAX_LOSS     0.01
#define HIGH_LOAD    0.80
#define LOAD_GAP     0.30
#define BIAS_SHARE   0.25 /* of P50 */
#define SIZE_NOTE    0.05
#define SHARE_NOTE   0.02 /* of the calls: they have a counter in one capture only */
#define OTHER_INSIDE 0.1  /* share of the time */
#define MAX_PAIRED   4096
#define MAX_WARN     200 /* a foreign capture may differ in everything */

struct run_ref {
	const struct recording *r;
	const char *label;
	u32 side;
};

int compare__warn(struct compare *c, const char *fmt, ...)
{
	char *text, **grown;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	for (u32 i = 0; i < c->nr_warnings; i++)
		if (!strcmp(c->warning[i], text) || c->nr_warnings >= MAX_WARN) {
			free(text);
			return 0;
		}
	grown = reallocarray(c->warning, (size_t)c->nr_warnings + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	c->warning = grown;
	c->warning[c->nr_warnings++] = text;
	return 0;
}

static int forbid(struct compare *c, u32 side, const char *why)
{
	if (!c->forbid[side])
		c->forbid[side] = strdup(why);
	return c->forbid[side] ? 0 : -ENOMEM;
}

static const char *fact(const struct recording *r, const char *key)
{
	return m_host__get(&r->host, key, "n/a (not in the capture)");
}

static bool unknown(const char *s)
{
	return !strncmp(s, "n/a", 3);
}

static const char *or_na(const char *s)
{
	return s ? s : "n/a";
}

/* ---- machines ---- */

static const struct {
	const char *key, *name, *meaning;
	bool first_word; /* the rest is when and by whom it was built */
} machine_facts[] = {
	{"arch", "architecture", "the same source is other machine code", false},
	{"cpu_model", "CPU", "that is what the ratios are of, if nothing else below differs",
	 false},
	{"cpu_generation", "CPU generation", "other cores and caches", false},
	{"smt", "SMT",
	 "where it is on, a CPU is a hardware thread that shares its core, else a whole core: calls/s "
	 "per CPU are not per core",
	 false},
	{"cpus_online", "CPUs", "calls/s are of the whole machine, not per CPU", false},
	{"cores", "cores", "other cores or threads share caches and memory", false},
	{"numa_nodes", "NUMA nodes", "memory may be further away", false},
	{"governor", "frequency governor", "the ratio may be one of frequencies", false},
	{"frequency_mhz", "frequency", "the ratio may be one of frequencies", false},
	{"virtualization", "virtualization", "a guest pays for exits and for its neighbours",
	 false},
	{"kernel", "kernel", "scheduling, mitigations and the probes' own cost differ", true},
	{"run_gomaxprocs", "GOMAXPROCS",
	 "other parallelism of the program and of its garbage collector", false},
	{"run_cpu_quota", "CPU quota", "a quota stops the target in the middle of calls", false},
	{"clocksource", "clock source", "the resolution and cost of time stamps differ", false},
};

static int warn_facts(struct compare *c, const struct run_ref *a, const struct run_ref *b)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(machine_facts) / sizeof(machine_facts[0]); i++) {
		const char *va = fact(a->r, machine_facts[i].key);
		const char *vb = fact(b->r, machine_facts[i].key);
		int la = machine_facts[i].first_word ? (int)strcspn(va, " ") : (int)strlen(va);
		int lb = machine_facts[i].first_word ? (int)strcspn(vb, " ") : (int)strlen(vb);

		if ((la == lb && !strncmp(va, vb, (size_t)la)) || (unknown(va) && unknown(vb)))
			continue;
		if (unknown(va))
			la = (int)strlen(va);
		if (unknown(vb))
			lb = (int)strlen(vb);
		err = compare__warn(c, "%s: %s has %.*s, %s has %.*s: %s", machine_facts[i].name,
				    a->label, la, va,
				    a->side == b->side ? "another run of it" : b->label, lb, vb,
				    machine_facts[i].meaning);
	}
	return err;
}

static bool emulated(const struct recording *r)
{
	return !strncmp(fact(r, "virtualization"), "QEMU TCG", 8);
}

/* A board of device trees, which QEMU makes with and without emulating the CPU, and others without. */
static bool perhaps_emulated(const struct recording *r)
{
	return !strcmp(fact(r, "virtualization"), "a hypervisor without a name");
}

static int warn_emulation(struct compare *c, const struct run_ref *a, const struct run_ref *b)
{
	int err = 0;

	if (perhaps_emulated(b->r))
		err = compare__warn(
			c,
			"%s ran behind a hypervisor that does not tell whether it emulates "
			"the CPU (QEMU TCG); if it does, its times are the emulator's, and "
			"no verdict about them holds",
			b->label);
	if (!err && emulated(b->r))
		err = compare__warn(
			c, "%s ran on an emulated CPU (QEMU TCG): its times are the emulator's",
			b->label);
	if (!err && emulated(a->r) != emulated(b->r))
		err = forbid(c, b->side, "one ran on an emulated CPU");
	return err;
}

static const char *go_version(const struct recording *r)
{
	for (u32 i = 0; i < r->nr_targets; i++)
		if (r->target[i].language && !strncmp(r->target[i].language, "go", 2))
			return r->target[i].language;
	return NULL;
}

static int warn_software(struct compare *c, const struct run_ref *a, const struct run_ref *b)
{
	const char *ga = go_version(a->r), *gb = go_version(b->r);
	int err = 0;

	if (ga && gb && strcmp(ga, gb))
		err = compare__warn(
			c,
			"Go: %s has %s, %s has %s: compiler, runtime and standard library "
			"(encoding/json too) are other code",
			a->label, ga, b->label, gb);
	if (!err && a->r->attach && b->r->attach && strcmp(a->r->attach, b->r->attach))
		err = compare__warn(c, "probes: %s by %s, %s by %s", a->label, a->r->attach,
				    b->label, b->r->attach);
	if (!err && a->r->version && b->r->version && strcmp(a->r->version, b->r->version))
		err = compare__warn(c, "hbprof: %s by %s, %s by %s", a->label, a->r->version,
				    b->label, b->r->version);
	if (!err && a->r->codecs && b->r->codecs && strcmp(a->r->codecs, b->r->codecs))
		err = compare__warn(
			c,
			"codecs: %s and %s looked for other lists of codecs (%s, %s; of "
			"hbprof and --codecs): a function may count as another codec, or only "
			"be in one",
			a->label, b->label, a->r->codecs, b->r->codecs);
	return err;
}

/* ---- the same calls twice ---- */

/* Within a side they would be runs that do not differ: limits that are too narrow. */
static int forbid_twins(struct compare *c, u32 side)
{
	const struct compare_side *s = &c->side[side];
	char why[COMPARE_WHY];

	for (u32 i = 0; i < s->nr_runs; i++) {
		for (u32 k = 0; k < i; k++) {
			if (!recordings_overlap(s->run[i].r, s->run[k].r))
				continue;
			snprintf(
				why, sizeof(why),
				"runs of %s hold the same calls, and tell nothing of how runs differ",
				s->label);
			return forbid(c, side, why) ||
					       compare__warn(
						       c,
						       "%s: %s and %s were recorded at the same "
						       "time, of the same process: one run, not two",
						       s->label, s->run[k].file, s->run[i].file)
				       ? -ENOMEM
				       : 0;
		}
	}
	return 0;
}

static int warn_twins(struct compare *c, u32 side)
{
	for (u32 other = 0; other < side; other++)
		for (u32 i = 0; i < c->side[side].nr_runs; i++)
			for (u32 k = 0; k < c->side[other].nr_runs; k++)
				if (recordings_overlap(c->side[side].run[i].r,
						       c->side[other].run[k].r))
					return compare__warn(
						c,
						"%s and %s were recorded at the same time, of the same "
						"process: they hold the same calls",
						c->side[other].label, c->side[side].label);
	return 0;
}

/* ---- each capture by itself ---- */

static double load_of(const struct recording *r)
{
	double cpu = 0, cpus = strtod(fact(r, "cpus_online"), NULL);

	for (u32 i = 0; i < r->nr_targets; i++) {
		if (r->target[i].cpu_ns == M_NONE)
			return NAN;
		cpu += (double)r->target[i].cpu_ns;
	}
	if (!(cpus >= 1) || !r->coverage.wall_ns || r->coverage.wall_ns == M_NONE)
		return NAN;
	return cpu / cpus / (double)r->coverage.wall_ns;
}

static int warn_load(struct compare *c, const struct run_ref *a, const struct run_ref *b)
{
	double la = load_of(a->r), lb = load_of(b->r);
	int err = 0;

	if (lb > HIGH_LOAD)
		err = compare__warn(
			c,
			"load: the target of %s used %.0f%% of all CPUs: latencies contain waiting "
			"for a CPU",
			b->label, lb * 100);
	if (!err && fabs(la - lb) > LOAD_GAP)
		err = compare__warn(
			c, "load: %.0f%% of all CPUs in %s, %.0f%% in %s: not the same load",
			la * 100, a->label, lb * 100, b->label);
	return err;
}

static int warn_balance(struct compare *c, const struct run_ref *b)
{
	const struct m_coverage *cov = &b->r->coverage;
	struct balance bal;
	int err;

	balance__of(&bal, cov->n, cov->in_flight_end);
	if (!cov->balanced)
		return compare__warn(
			c,
			"%s was read while its probes were still on: its counters are of "
			"different moments",
			b->label);
	if (!bal.known || bal.holds)
		return 0;
	err = compare__warn(
		c,
		"%s is NOT BALANCED: calls began and ended in numbers that do not fit; this is "
		"a fault of hbprof or a damaged capture",
		b->label);
	return err ? err : forbid(c, b->side, "its counts are not balanced");
}

static int warn_capture(struct compare *c, const struct run_ref *b)
{
	const struct recording *r = b->r;
	u64 took = r->end_mono_ns - r->begin_mono_ns, overflow = 0;
	double entries = (double)r->coverage.n[HB_FN_ENTRIES], lost;
	char buf[32];
	int err;

	err = warn_balance(c, b);
	lost = (double)r->coverage.n[HB_FN_UNKNOWN] + (double)r->coverage.n[HB_FN_DROPPED];
	if (!err && lost > MAX_LOSS * entries)
		err = compare__warn(
			c,
			"%s lost %.1f%% of its calls (dropped or return site unknown): those "
			"counted may be other ones",
			b->label, entries > 0 ? lost / entries * 100 : 100);
	if (!err && took < SHORT_NS)
		err = compare__warn(c,
				    "%s is short: %s recorded; 30 s and more tell how load moves",
				    b->label, format_ns(buf, sizeof(buf), took));
	for (u32 i = 0; i < r->nr_rows; i++)
		overflow += r->row[i].overflow ? r->row[i].count : 0;
	if (!err && overflow)
		err = compare__warn(
			c, "%s has %s calls that found no row of their own: they are in none below",
			b->label, format_count(buf, sizeof(buf), overflow));
	for (u32 i = 0; !err && i < r->nr_warnings; i++)
		err = compare__warn(c, "%s says: %s", b->label, r->warning[i]);
	return err;
}

/* ---- functions ---- */

static bool same(const char *a, const char *b)
{
	return !strcmp(or_na(a), or_na(b));
}

static int warn_function(struct compare *c, const struct compare_row *row, const struct run_ref *a,
			 const struct m_func *fa, const struct run_ref *b, const struct m_func *fb)
{
	const char *name = row->key.name;
	int err = 0;

	if (!same(fa->library_version, fb->library_version))
		err = compare__warn(c, "%s: %s in %s, %s in %s: other code under the same name",
				    name, or_na(fa->library_version), a->label,
				    or_na(fb->library_version), b->label);
	else if (!same(fa->library, fb->library))
		err = compare__warn(c, "%s: from %s in %s, from %s in %s: perhaps other code", name,
				    fa->library ? fa->library : "the executable", a->label,
				    fb->library ? fb->library : "the executable", b->label);
	if (!err && (fa->entry_class != fb->entry_class || fa->exit_mode != fb->exit_mode ||
		     fa->lang != fb->lang))
		err = compare__warn(
			c,
			"%s: other probes (%s, exits at %ss in %s; %s, exits at %ss in %s): what "
			"they do to caches and branch prediction differs",
			name, hb_class_names[fa->entry_class], m_exit_mode_names[fa->exit_mode],
			a->label, hb_class_names[fb->entry_class], m_exit_mode_names[fb->exit_mode],
			b->label);
	return err;
}

static double time_inside(const struct sample *s)
{
	return s->dist.sum_ns ? s->inside_ns / (double)s->dist.sum_ns : 0;
}

/*
 * What no name or version tells: sonic's fallback is encoding/json where its JIT is not, and encoding/json is
 * encoding/json/v2 under GOEXPERIMENT=jsonv2. The time in measured calls inside does. Their number does not:
 * sonic's JIT has entries of its own inside.
 */
static int warn_inside(struct compare *c, const struct compare_row *row, const struct run_ref *a,
		       const struct sample *sa, const struct run_ref *b, const struct sample *sb)
{
	double ia = time_inside(sa), ib = time_inside(sb);

	if (!(fabs(ia - ib) > OTHER_INSIDE))
		return 0;
	return compare__warn(
		c,
		"%s: %.0f%% of its time in %s and %.0f%% in %s is in calls of other measured "
		"functions: another implementation under the same name, or other functions were "
		"measured",
		row->key.name, ia * 100, a->label, ib * 100, b->label);
}

static int warn_bias(struct compare *c, const struct compare_row *row, const struct run_ref *a,
		     const struct sample *sa, const struct run_ref *b, const struct sample *sb)
{
	double pa = sample_at(sa, 0.5), pb = sample_at(sb, 0.5);
	double ba = pa > 0 ? sa->bias_ns / pa : INFINITY, bb = pb > 0 ? sb->bias_ns / pb : INFINITY;

	/* What is below the resolution is not compared at all. */
	if ((!(ba > BIAS_SHARE) && !(bb > BIAS_SHARE)) || pa < sa->resolution_ns ||
	    pb < sb->resolution_ns)
		return 0;
	return compare__warn(
		c,
		"%s%s: the probe's cost, subtracted, is %.0f%% of P50 in %s and %.0f%% in %s: "
		"what cannot be subtracted counts",
		row->key.name, row->key.outcome == HB_OUTCOME_ERROR ? " (errors)" : "",
		fmin(ba, 99) * 100, a->label, fmin(bb, 99) * 100, b->label);
}

static int warn_shares(struct compare *c, const struct compare_row *row, const struct run_ref *a,
		       const struct sample *sa, const struct run_ref *b, const struct sample *sb)
{
	int err = 0;

	for (u32 i = 0; !err && i < c->nr_metrics; i++) {
		const struct metric *m = c->metric[i];
		double pa, pb;

		if (m->kind != METRIC_COUNTER)
			continue;
		pa = sample_counter_share(sa, m);
		pb = sample_counter_share(sb, m);
		if (fabs(pa - pb) > SHARE_NOTE)
			err = compare__warn(
				c,
				"%s: %s are known of %.1f%% of the calls in %s and of %.1f%% in %s; the "
				"others are the longer ones",
				row->key.name, m->name, pa * 100, a->label, pb * 100, b->label);
	}
	return err;
}

static int warn_sizes(struct compare *c, const struct compare_row *row, const struct run_ref *a,
		      const struct sample *sa, const struct run_ref *b, const struct sample *sb)
{
	double shift = compare_size_shift(c, row, b->side);
	struct sizes *za = (struct sizes *)&sa->sizes, *zb = (struct sizes *)&sb->sizes;
	char x[32], y[32];

	if (!(shift > SIZE_NOTE) || !za->nr || !zb->nr)
		return 0;
	return compare__warn(
		c,
		"%s: other payload sizes (median %s in %s, %s in %s; %.0f%% of the calls in "
		"other size classes): compare --by size",
		row->key.name, format_bytes(x, sizeof(x), sizes__p50(za)), a->label,
		format_bytes(y, sizeof(y), sizes__p50(zb)), b->label, shift * 100);
}

static int warn_rows(struct compare *c, const struct run_ref *a, const struct run_ref *b, u32 run)
{
	int err = 0;

	for (u32 i = 0; !err && i < c->nr_rows; i++) {
		const struct compare_row *row = &c->row[i];
		const struct sample *sa = &row->sample[0], *sb = &row->sample[run];

		if (row->key.size_class != KEY_ANY_SIZE || !sa->func || !sb->func)
			continue;
		err = warn_function(c, row, a, sa->func, b, sb->func);
		if (!err)
			err = warn_inside(c, row, a, sa, b, sb);
		if (!err)
			err = warn_bias(c, row, a, sa, b, sb);
		if (!err)
			err = warn_shares(c, row, a, sa, b, sb);
		if (!err && a->side != b->side)
			err = warn_sizes(c, row, a, sa, b, sb);
	}
	return err;
}

/* The same codec and operation by another function: rows that look related and are not aligned. */
static int warn_unaligned(struct compare *c, u32 side)
{
	int err = 0;

	/* Every pair: a list too long to be read is not made. */
	for (u32 i = 0; !err && i < c->nr_rows && c->nr_rows < MAX_PAIRED; i++) {
		const struct compare_row *a = &c->row[i];

		if (a->key.size_class != KEY_ANY_SIZE || !a->in[0] || a->in[side])
			continue;
		for (u32 k = 0; !err && k < c->nr_rows; k++) {
			const struct compare_row *b = &c->row[k];

			if (b->key.size_class != KEY_ANY_SIZE || b->in[0] || !b->in[side] ||
			    strcmp(a->key.codec, b->key.codec) || strcmp(a->key.op, b->key.op) ||
			    !strcmp(a->key.name, b->key.name))
				continue;
			err = compare__warn(
				c,
				"%s %s is %s in %s and %s in %s: two implementations, not one "
				"row",
				a->key.codec, a->key.op, a->key.name, c->side[0].label, b->key.name,
				c->side[side].label);
		}
	}
	return err;
}

int compare__warn_headers(struct compare *c)
{
	struct run_ref a = {c->side[0].run[0].r, c->side[0].label, 0}, b;
	int err = 0;

	for (u32 side = 0; !err && side < c->nr_sides; side++) {
		err = forbid_twins(c, side);
		err = err ? err : warn_twins(c, side);
		for (u32 i = 0; !err && i < c->side[side].nr_runs; i++) {
			b = (struct run_ref){c->side[side].run[i].r, c->side[side].label, side};
			if (side || i) {
				err = warn_facts(c, &a, &b);
				err = err ? err : warn_software(c, &a, &b);
				err = err ? err : warn_rows(c, &a, &b, c->first_run[side] + i);
			}
			err = err ? err : warn_emulation(c, &a, &b);
			err = err ? err : warn_load(c, &a, &b);
			err = err ? err : warn_capture(c, &b);
		}
		if (!err && side)
			err = warn_unaligned(c, side);
	}
	return err;
}
