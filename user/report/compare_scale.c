// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_scale.c - how the metrics of a row move over the sides, in the order in which they were named or
 * at the values of the fact that they are ordered by: GOMAXPROCS 1 to 64, versions, loads. The ratio to the first side on a logarithmic axis, a line for
 * each metric, with its 95 % limits. An inline SVG; colours come from the page.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/compare_print.h"

#define WIDTH	  940
#define HEIGHT	  280
#define LEFT	  60
#define RIGHT	  120 /* the names of the lines */
#define TOP	  14
#define BOTTOM	  34
#define MIN_SIDES 3
#define LIMIT	  100.0
#define LETTER	  7 /* about, of a tick */

struct scale {
	const struct compare *c;
	const struct compare_row *row;
	double lo, hi; /* logarithms */
};

/* 0 to 1. */
static double place_of(const struct scale *s, u32 side)
{
	const struct compare_axis *a = s->c->opts->axis;
	u32 last = s->c->nr_sides - 1;

	if (!a || !a->numeric || !(a->at[last] > a->at[0]))
		return (double)side / last;
	if (a->log)
		return log(a->at[side] / a->at[0]) / log(a->at[last] / a->at[0]);
	return (a->at[side] - a->at[0]) / (a->at[last] - a->at[0]);
}

static double x_of(const struct scale *s, u32 side)
{
	return LEFT + place_of(s, side) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct scale *s, double ratio)
{
	return TOP + (s->hi - log(ratio)) / (s->hi - s->lo) * (HEIGHT - TOP - BOTTOM);
}

/* Of the first side it is 1, of one that cannot be compared NaN. */
static double ratio_of(const struct scale *s, u32 metric, u32 side)
{
	double v = side ? compare_cell(s->c, s->row, metric, side)->ratio : 1;

	return v > 0 && isfinite(v) ? fmin(fmax(v, 1 / LIMIT), LIMIT) : NAN;
}

static bool find_range(struct scale *s)
{
	double lo = 0.95, hi = 1.05;
	bool any = false;

	for (u32 m = 0; m < s->c->nr_metrics; m++) {
		for (u32 side = 1; side < s->c->nr_sides; side++) {
			double v = ratio_of(s, m, side);

			if (isnan(v))
				continue;
			any = true;
			lo = fmin(lo, v);
			hi = fmax(hi, v);
		}
	}
	s->lo = log(lo / 1.15);
	s->hi = log(hi * 1.15);
	return any;
}

static void add_grid(const struct scale *s, struct strbuf *out)
{
	static const double marks[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1,
				       1.2,  1.5,  2,	 3,   5,   10,	20,  50,  100};
	char buf[CMP_TEXT];

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		double y = y_of(s, marks[i]);

		if (log(marks[i]) < s->lo || log(marks[i]) > s->hi)
			continue;
		strbuf__addf(out,
			     "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			     "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s"
			     "</text>\n",
			     marks[i] == 1 ? "one" : "grid", LEFT, WIDTH - RIGHT, y, y, LEFT - 6,
			     y + 4, cmp_ratio(buf, marks[i]));
	}
}

/* The names of the sides, or the values of the fact, where they do not cover each other. */
static void add_ticks(const struct scale *s, struct strbuf *out)
{
	const struct compare_axis *a = s->c->opts->axis;
	double free_from = 0;

	for (u32 side = 0; side < s->c->nr_sides; side++) {
		const char *text = a ? a->text[side] : s->c->side[side].label;
		double x = x_of(s, side), half = strlen(text) * LETTER / 2.0;

		if (side && x - half < free_from)
			continue;
		free_from = x + half + LETTER;
		strbuf__addf(out,
			     "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x,
			     HEIGHT - BOTTOM + 16);
		cmp_html(out, text);
		strbuf__adds(out, "</text>\n");
	}
	if (!a)
		return;
	strbuf__addf(out, "<text class=\"tick\" x=\"%d\" y=\"%d\">", WIDTH - RIGHT + 14,
		     HEIGHT - BOTTOM + 30);
	cmp_html(out, a->fact);
	strbuf__adds(out, a->log ? " (log)</text>\n" : "</text>\n");
}

static void add_limits(const struct scale *s, u32 metric, u32 side, struct strbuf *out)
{
	const struct compare_cell *cell = compare_cell(s->c, s->row, metric, side);
	double x = x_of(s, side) + 3 * ((double)metric - s->c->nr_metrics / 2.0);

	if (!(cell->rlo > 0) || !isfinite(cell->rhi))
		return;
	strbuf__addf(out,
		     "<line class=\"bar s%u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		     metric % 8, x, x, fmin(y_of(s, fmax(cell->rlo, 1 / LIMIT)), HEIGHT - BOTTOM),
		     fmax(y_of(s, fmin(cell->rhi, LIMIT)), TOP));
}

static void add_metric(const struct scale *s, u32 metric, struct strbuf *out)
{
	double last = NAN;

	strbuf__addf(out, "<polyline class=\"line s%u\" points=\"", metric % 8);
	for (u32 side = 0; side < s->c->nr_sides; side++) {
		double v = ratio_of(s, metric, side);

		if (isnan(v))
			continue;
		strbuf__addf(out, "%.1f,%.1f ", x_of(s, side), y_of(s, v));
		last = side ? v : last;
	}
	strbuf__adds(out, "\"/>\n");
	for (u32 side = 1; side < s->c->nr_sides; side++)
		add_limits(s, metric, side, out);
	if (!isnan(last))
		strbuf__addf(
			out,
			"<rect class=\"dot s%u\" x=\"%d\" y=\"%u\" width=\"10\" height=\"10\"/>"
			"<text class=\"tick\" x=\"%d\" y=\"%u\">%s</text>\n",
			metric % 8, WIDTH - RIGHT + 14, TOP + 4 + 18 * metric, WIDTH - RIGHT + 30,
			TOP + 13 + 18 * metric, s->c->metric[metric]->title);
}

void compare__scale(const struct compare *c, const struct compare_row *row, struct strbuf *out)
{
	struct scale s = {.c = c, .row = row};

	if (c->nr_sides < MIN_SIDES || !row->in[0] || !find_range(&s))
		return;
	strbuf__addf(
		out,
		"<svg class=\"scale\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"ratio to "
		"the first, in order\">\n",
		WIDTH, HEIGHT);
	add_grid(&s, out);
	add_ticks(&s, out);
	for (u32 m = 0; m < c->nr_metrics; m++)
		add_metric(&s, m, out);
	strbuf__adds(out, "</svg>\n");
}
