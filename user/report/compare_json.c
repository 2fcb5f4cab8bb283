// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* compare_json.c - a comparison for programs. The keys are stable: docs/compare.md lists them. */
#include <math.h>

#include "model/jsonw.h"
#include "report/compare_print.h"

static void print_side(const struct compare *c, struct jsonw *w, u32 side)
{
	const struct compare_side *s = &c->side[side];

	jsonw__object(w, NULL);
	jsonw__str(w, "label", s->label);
	if (c->opts->axis)
		jsonw__str(w, "order", c->opts->axis->text[side]);
	else
		jsonw__null(w, "order");
	jsonw__str(w, "not_comparable", side ? compare_forbids(c, side) : c->forbid[0]);
	jsonw__array(w, "runs");
	for (u32 i = 0; i < s->nr_runs; i++) {
		const struct recording *r = s->run[i].r;

		jsonw__object(w, NULL);
		jsonw__str(w, "file", s->run[i].file);
		jsonw__u64(w, "begin_wall_ns", r->begin_wall_ns);
		jsonw__u64(w, "duration_ns", r->end_mono_ns - r->begin_mono_ns);
		jsonw__u64(w, "intervals", r->nr_intervals);
		jsonw__object(w, "host");
		for (u32 k = 0; k < r->host.nr_facts; k++)
			jsonw__str(w, r->host.fact[k].key, r->host.fact[k].value);
		jsonw__end_object(w);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
	jsonw__end_object(w);
}

static void print_p(struct jsonw *w, const char *key, double p)
{
	if (isnan(p))
		jsonw__null(w, key);
	else
		jsonw__num(w, key, p, 6);
}

static void print_cell(const struct compare *c, struct jsonw *w, const struct compare_row *row,
		       u32 metric, u32 side)
{
	const struct compare_cell *cell = compare_cell(c, row, metric, side);

	jsonw__object(w, NULL);
	jsonw__str(w, "label", c->side[side].label);
	jsonw__num(w, "value", cell->value, 3);
	jsonw__num(w, "low", cell->lo, 3);
	jsonw__num(w, "high", cell->hi, 3);
	jsonw__num(w, "effective_calls", cell->effective, 1);
	if (side) {
		jsonw__num(w, "ratio", cell->ratio, 6);
		jsonw__num(w, "ratio_low", cell->rlo, 6);
		jsonw__num(w, "ratio_high", cell->rhi, 6);
		print_p(w, "p", cell->p);
		print_p(w, "p_corrected", cell->p_holm);
		print_p(w, "p_worse_corrected", cell->worse_p);
		jsonw__str(w, "verdict",
			   cell->verdict == VERDICT_NONE ? NULL : verdict_names[cell->verdict]);
	}
	jsonw__str(w, "reason", *cell->why ? cell->why : NULL);
	jsonw__end_object(w);
}

static void print_row(const struct compare *c, struct jsonw *w, const struct compare_row *row)
{
	u64 least = M_NONE, most = M_NONE;

	jsonw__object(w, NULL);
	jsonw__str(w, "codec", row->key.codec);
	jsonw__str(w, "op", row->key.op);
	jsonw__str(w, "function", row->key.name);
	jsonw__str(w, "outcome", hb_outcome_names[row->key.outcome]);
	if (row->key.size_class != KEY_ANY_SIZE)
		size_class_range(row->key.size_class, &least, &most);
	jsonw__bool(w, "all_sizes", row->key.size_class == KEY_ANY_SIZE);
	jsonw__u64(w, "min_bytes", least);
	jsonw__u64(w, "max_bytes", most);
	jsonw__array(w, "calls");
	for (u32 s = 0; s < c->nr_sides; s++)
		jsonw__u64(w, NULL, cmp_calls(c, row, s));
	jsonw__end_array(w);
	jsonw__array(w, "metrics");
	for (u32 m = 0; m < c->nr_metrics; m++) {
		jsonw__object(w, NULL);
		jsonw__str(w, "metric", c->metric[m]->name);
		jsonw__str(w, "unit",
			   c->metric[m]->kind == METRIC_RATE ? "1/s"
			   : c->metric[m]->kind == METRIC_COUNTER && c->metric[m]->scale >= 0
				   ? NULL
				   : "ns");
		jsonw__array(w, "sides");
		for (u32 s = 0; s < c->nr_sides; s++)
			print_cell(c, w, row, m, s);
		jsonw__end_array(w);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
	jsonw__end_object(w);
}

void compare__json(const struct compare *c, struct strbuf *out)
{
	struct jsonw w;

	jsonw__init(&w, out, true);
	jsonw__object(&w, NULL);
	jsonw__num(&w, "confidence", 1 - COMPARE_LEVEL, 2);
	if (c->opts->axis) {
		jsonw__object(&w, "order_by");
		jsonw__str(&w, "fact", c->opts->axis->fact);
		jsonw__bool(&w, "numeric", c->opts->axis->numeric);
		jsonw__end_object(&w);
	} else {
		jsonw__null(&w, "order_by");
	}
	jsonw__array(&w, "sides");
	for (u32 i = 0; i < c->nr_sides; i++)
		print_side(c, &w, i);
	jsonw__end_array(&w);
	jsonw__u64(&w, "common_rows", c->nr_common);
	jsonw__array(&w, "rows");
	for (u32 i = 0; i < c->nr_rows; i++)
		print_row(c, &w, &c->row[i]);
	jsonw__end_array(&w);
	if (c->opts->fail_over >= 0) {
		jsonw__object(&w, "fail_over");
		jsonw__num(&w, "limit", c->opts->fail_over, 6);
		jsonw__u64(&w, "judged", c->judged);
		jsonw__u64(&w, "not_judged", c->not_judged);
		jsonw__u64(&w, "tripped", c->tripped);
		jsonw__end_object(&w);
	} else {
		jsonw__null(&w, "fail_over");
	}
	jsonw__array(&w, "warnings");
	for (u32 i = 0; i < c->nr_warnings; i++)
		jsonw__str(&w, NULL, c->warning[i]);
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	strbuf__addc(out, '\n');
}
