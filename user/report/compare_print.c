// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* compare_print.c - numbers and sentences of comparisons, and the choice of the form. */
#include "report/compare_print.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "util/units.h"

#define MAX_TEXT ((size_t)1 << 28)

const char *cmp_value(char buf[CMP_TEXT], const struct metric *m, double v)
{
	if (!isfinite(v))
		return "n/a";
	if (m->kind == METRIC_COUNTER && m->scale > 1)
		return cell_pct(buf, v);
	if (m->kind == METRIC_RATE || (m->kind == METRIC_COUNTER && m->scale >= 0))
		return cell_rate(buf, v);
	return format_ns(buf, CMP_TEXT, v < 1e18 ? (u64)(v + 0.5) : (u64)1e18);
}

const char *cmp_ratio(char buf[CMP_TEXT], double v)
{
	if (isnan(v))
		return "n/a";
	if (v > 9999)
		return ">9999";
	snprintf(buf, CMP_TEXT, "%.*f", v < 0.9995 ? 3 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
	return buf;
}

const char *cmp_limits(char buf[CMP_TEXT], const struct compare_cell *cell)
{
	char lo[CMP_TEXT], hi[CMP_TEXT];

	if (isnan(cell->rlo) || isnan(cell->rhi))
		return "";
	snprintf(buf, CMP_TEXT, "%.20s..%.20s", cmp_ratio(lo, cell->rlo), cmp_ratio(hi, cell->rhi));
	return buf;
}

static void size_label(char *buf, size_t len, u32 size_class)
{
	u64 least, most;
	char a[32], b[32];

	size_class_range(size_class, &least, &most);
	if (least == M_NONE)
		snprintf(buf, len, "size n/a");
	else if (size_class < 3)
		snprintf(buf, len, "%lluB", least);
	else if (least < 1024)
		snprintf(buf, len, "%llu-%lluB", least, most);
	else
		snprintf(buf, len, "%s-%s", format_bytes(a, sizeof(a), least),
			 format_bytes(b, sizeof(b), most + 1));
}

const char *cmp_label(char buf[CMP_TEXT], const struct compare_key *key)
{
	const char *err = key->outcome == HB_OUTCOME_ERROR ? "errors" : "";
	char size[48] = "";

	if (key->size_class != KEY_ANY_SIZE)
		size_label(size, sizeof(size), key->size_class);
	snprintf(buf, CMP_TEXT, "%s%s%s", err, *err && *size ? ", " : "", size);
	return buf;
}

u64 cmp_calls(const struct compare *c, const struct compare_row *row, u32 side)
{
	u64 n = 0;

	for (u32 i = 0; i < c->side[side].nr_runs; i++)
		n += row->sample[c->first_run[side] + i].count;
	return n;
}

static const char *fact(const struct recording *r, const char *key)
{
	return m_host__get(&r->host, key, "n/a");
}

void cmp_describe(const struct compare *c, u32 side, struct strbuf *out)
{
	const struct compare_side *s = &c->side[side];
	const struct recording *r = s->run[0].r;
	const char *kernel = fact(r, "kernel");
	char buf[32];
	u64 took = 0;

	for (u32 i = 0; i < s->nr_runs; i++) {
		strbuf__addf(out, "%s%s", i ? " " : "", s->run[i].file);
		took += s->run[i].r->end_mono_ns - s->run[i].r->begin_mono_ns;
	}
	strbuf__addf(out, ": %u run%s, %s recorded; %s, %s, CPUs %s, SMT %s, kernel %.*s",
		     s->nr_runs, s->nr_runs == 1 ? "" : "s", format_ns(buf, sizeof(buf), took),
		     fact(r, "cpu_model"), fact(r, "arch"), fact(r, "cpus_online"), fact(r, "smt"),
		     (int)strcspn(kernel, " "), kernel);
	for (u32 i = 0; i < r->nr_targets && i < 4; i++)
		strbuf__addf(out, "; %s (%s)", r->target[i].exe ? r->target[i].exe : "n/a",
			     r->target[i].language ? r->target[i].language : "n/a");
	if (r->nr_targets > 4)
		strbuf__addf(out, "; %u more processes", r->nr_targets - 4);
}

/* What verdicts occur. */
static bool has_verdict(const struct compare *c, enum verdict v)
{
	for (u32 i = 0; i < c->nr_rows; i++)
		for (u32 k = 0; k < c->nr_metrics * c->nr_sides; k++)
			if (c->row[i].cell[k].verdict == v)
				return true;
	return false;
}

static bool several_runs(const struct compare *c)
{
	for (u32 i = 0; i < c->nr_sides; i++)
		if (c->side[i].nr_runs > 1)
			return true;
	return false;
}

static void note_order(const struct compare *c,
		       void (*add)(void *ctx, const char *label, const char *text), void *ctx)
{
	const struct compare_axis *a = c->opts->axis;
	struct strbuf b;

	strbuf__init(&b, MAX_TEXT);
	strbuf__addf(&b, "by %s: ", a->fact);
	for (u32 i = 0; i < c->nr_sides; i++)
		strbuf__addf(&b, "%s%s %s", i ? ", " : "", c->side[i].label, a->text[i]);
	if (b.s)
		add(ctx, "order", b.s);
	strbuf__fini(&b);
}

void cmp_notes(const struct compare *c, void (*add)(void *ctx, const char *label, const char *text),
	       void *ctx)
{
	if (c->opts->axis)
		note_order(c, add, ctx);
	add(ctx, "ratio",
	    "to the first column of values; of a latency, below 1 is faster. Limits: a 95% interval of "
	    "the ratio by itself");
	add(ctx, "verdict",
	    "with all rows of a metric in mind (Holm): the chance of even one wrong \"faster\" or "
	    "\"slower\" among them is below 5%. So limits without 1 do not always make a verdict");
	add(ctx, "spread",
	    several_runs(c)
		    ? "limits are of how the runs of a side differ, and never narrower than the calls "
		      "within a run allow"
		    : "one run a side: limits are of how calls vary within a run. How much runs differ "
		      "cannot be known from one; repeat: hbprof compare A1 A2 A3 : B1 B2 B3");
	if (has_verdict(c, VERDICT_MORE) || has_verdict(c, VERDICT_FEWER))
		add(ctx, "more, fewer",
		    "calls/s are what the program was asked for, as well as what it could do");
	if (has_verdict(c, VERDICT_SAME))
		add(ctx, "no diff.",
		    "no difference shown: smaller than these calls can tell, not \"equal\"; the limits "
		    "say how large it could be");
}

static int write_out(const struct strbuf *b, FILE *f)
{
	if (ferror(f))
		return -EIO;
	errno = 0;
	if (fwrite(b->s, 1, b->len, f) == b->len && !fflush(f))
		return 0;
	return errno ? -errno : -EIO;
}

int compare__print(const struct compare *c, enum compare_format format, u32 width, FILE *f)
{
	struct strbuf text;
	int err;

	strbuf__init(&text, MAX_TEXT);
	if (format == COMPARE_JSON)
		compare__json(c, &text);
	else if (format == COMPARE_HTML)
		compare__html(c, &text);
	else
		compare__table(c, width, &text);
	err = text.err;
	if (!err)
		err = write_out(&text, f);
	strbuf__fini(&text);
	return err;
}
