// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_plot.c - two inline SVGs of a row: latency by percentile for each side, and the ratio to
 * the first side by percentile. Percentiles are spaced by "nines" (50 %, 90 %, 99 %, 99.9 %), so
 * that the tail has room; latencies and ratios are on logarithmic axes. Colours come from the page.
 */
#include <math.h>
#include <stdio.h>

#include "report/compare_print.h"
#include "util/units.h"

#define PLOT_W	 460
#define PLOT_H	 250
#define LEFT	 66
#define RIGHT	 14
#define TOP	 14
#define BOTTOM	 34
#define STEPS	 120
#define MIN_TAIL 5 /* calls above the last percentile that is drawn */

static const struct {
	double q;
	const char *name;
} ticks[] = {{0, "0%"}, {0.5, "50%"}, {0.9, "90%"}, {0.99, "99%"}, {0.999, "99.9%"}};

struct axes {
	double nines;  /* of the right edge */
	double lo, hi; /* logarithms of the lower and upper edge */
};

static double x_of(const struct axes *a, double nines)
{
	return LEFT + nines / a->nines * (PLOT_W - LEFT - RIGHT);
}

static double y_of(const struct axes *a, double log_v)
{
	return TOP + (a->hi - log_v) / (a->hi - a->lo) * (PLOT_H - TOP - BOTTOM);
}

/* The quantile of a side: the geometric mean of its runs', as in the table. */
static double side_at(const struct compare *c, const struct compare_row *row, u32 side, double q)
{
	double sum = 0, v;

	for (u32 i = 0; i < c->side[side].nr_runs; i++) {
		const struct sample *s = &row->sample[c->first_run[side] + i];

		v = s->func ? sample_at(s, q) : NAN;
		if (!(v > 0))
			return NAN;
		sum += log(v);
	}
	return exp(sum / c->side[side].nr_runs);
}

/* How far the percentiles of a side go, in nines. */
static double side_nines(const struct compare *c, const struct compare_row *row, u32 side)
{
	double least = INFINITY;

	for (u32 i = 0; i < c->side[side].nr_runs; i++)
		least = fmin(least, row->sample[c->first_run[side] + i].bucketed);
	return fmin(log10(fmax(least / MIN_TAIL, 2)), 3.4);
}

static void frame(struct strbuf *out, const struct axes *a, const char *what, const char *name)
{
	strbuf__addf(out,
		     "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" class=\"plot\">\n"
		     "<text x=\"%d\" y=\"%d\" class=\"axis\" text-anchor=\"end\">%s</text>\n",
		     PLOT_W, PLOT_H, what, PLOT_W - RIGHT, PLOT_H - 4, name);
	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		double nines = -log10(1 - ticks[i].q), x = x_of(a, nines);

		if (nines > a->nines + 1e-9)
			continue;
		strbuf__addf(out,
			     "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
			     "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s"
			     "</text>\n",
			     x, x, TOP, PLOT_H - BOTTOM, x, PLOT_H - BOTTOM + 14, ticks[i].name);
	}
}

static void grid_line(struct strbuf *out, const struct axes *a, double v, const char *text,
		      const char *class)
{
	double y = y_of(a, log(v));

	if (log(v) < a->lo || log(v) > a->hi)
		return;
	strbuf__addf(out,
		     "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
		     "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		     class, LEFT, PLOT_W - RIGHT, y, y, LEFT - 6, y + 4, text);
}

/* ---- latency by percentile ---- */

static void plot_latency(const struct compare *c, const struct compare_row *row, struct axes *a,
			 struct strbuf *out)
{
	static const double steps[] = {1, 2, 5};
	double lo = INFINITY, hi = 0;
	bool fine;
	char buf[32];

	for (u32 s = 0; s < c->nr_sides; s++) {
		if (!row->in[s])
			continue;
		lo = fmin(lo, side_at(c, row, s, 0.001));
		hi = fmax(hi, side_at(c, row, s, 1 - pow(10, -side_nines(c, row, s))));
	}
	if (!(lo > 0) || !(hi > 0))
		return;
	a->lo = log(lo / 1.1);
	a->hi = log(fmax(hi, lo) * 1.1);
	fine = a->hi - a->lo < log(300);
	frame(out, a, "latency by percentile", "percentile of the calls");
	for (double decade = 1; decade < 1e18; decade *= 10)
		for (u32 k = 0; k < (fine ? 3 : 1); k++)
			grid_line(out, a, decade * steps[k],
				  format_ns(buf, sizeof(buf), (u64)(decade * steps[k])), "grid");
	for (u32 s = 0; s < c->nr_sides; s++) {
		double end = row->in[s] ? side_nines(c, row, s) : 0;

		if (!row->in[s])
			continue;
		strbuf__addf(out, "<polyline class=\"line s%u\" points=\"", s % 8);
		for (u32 i = 0; i <= STEPS; i++) {
			double nines = end * i / STEPS;
			double v = side_at(c, row, s, fmax(1 - pow(10, -nines), 0.001));

			if (v > 0)
				strbuf__addf(out, "%.1f,%.1f ", x_of(a, nines),
					     fmin(y_of(a, log(v)), PLOT_H - BOTTOM));
		}
		strbuf__adds(out, "\"/>\n");
	}
	strbuf__adds(out, "</svg>\n");
}

/* ---- ratio by percentile ---- */

static double ratio_at(const struct compare *c, const struct compare_row *row, u32 side,
		       double nines)
{
	double q = fmax(1 - pow(10, -nines), 0.01);

	return side_at(c, row, side, q) / side_at(c, row, 0, q);
}

static double common_nines(const struct compare *c, const struct compare_row *row, u32 side)
{
	return fmin(side_nines(c, row, 0), side_nines(c, row, side));
}

static void limits_range(const struct compare *c, const struct compare_row *row, double *lo,
			 double *hi)
{
	for (u32 s = 1; s < c->nr_sides; s++) {
		double end = row->in[s] ? common_nines(c, row, s) : -1;

		for (u32 i = 0; i <= STEPS && end >= 0; i++) {
			double v = ratio_at(c, row, s, end * i / STEPS);

			*lo = v > 0 ? fmin(*lo, v) : *lo;
			*hi = v > 0 && isfinite(v) ? fmax(*hi, v) : *hi;
		}
		for (u32 m = 0; m < c->nr_metrics; m++) {
			const struct compare_cell *cell = compare_cell(c, row, m, s);

			if (c->metric[m]->kind != METRIC_QUANTILE || isnan(cell->rlo))
				continue;
			*lo = fmin(*lo, fmax(cell->rlo, 0.01));
			*hi = fmax(*hi, fmin(cell->rhi, 100));
		}
	}
}

static void plot_bars(const struct compare *c, const struct compare_row *row, u32 side,
		      const struct axes *a, struct strbuf *out)
{
	for (u32 m = 0; m < c->nr_metrics; m++) {
		const struct compare_cell *cell = compare_cell(c, row, m, side);
		double nines = -log10(1 - c->metric[m]->q / (double)DIST_ONE), x;

		if (c->metric[m]->kind != METRIC_QUANTILE || isnan(cell->rlo) || nines > a->nines)
			continue;
		/* Side by side, where there are several. */
		x = x_of(a, nines) + 4 * ((double)side - c->nr_sides / 2.0);
		strbuf__addf(
			out,
			"<line class=\"bar s%u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<circle class=\"dot s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
			side % 8, x, x, y_of(a, log(fmax(cell->rlo, 0.01))),
			y_of(a, log(fmin(cell->rhi, 100))), side % 8, x, y_of(a, log(cell->ratio)));
	}
}

static void plot_ratio(const struct compare *c, const struct compare_row *row, struct axes *a,
		       struct strbuf *out)
{
	static const double marks[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95,
				       1.05, 1.1,  1.2,	 1.5, 2,   3,	5,   10,  20,  50,  100};
	double lo = 0.97, hi = 1.03, shown = -1;
	char buf[CMP_TEXT];

	limits_range(c, row, &lo, &hi);
	a->lo = log(lo) - 0.02;
	a->hi = log(hi) + 0.02;
	frame(out, a, "ratio by percentile", "ratio to the first, by percentile");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		double y = y_of(a, log(marks[i]));

		if (fabs(y - y_of(a, 0)) < 14 || (shown >= 0 && fabs(y - shown) < 14))
			continue;
		grid_line(out, a, marks[i], cmp_ratio(buf, marks[i]), "grid");
		shown = y;
	}
	grid_line(out, a, 1, "1", "one");
	for (u32 s = 1; s < c->nr_sides; s++) {
		double end = row->in[s] ? common_nines(c, row, s) : 0;

		if (!row->in[s])
			continue;
		strbuf__addf(out, "<polyline class=\"line thin s%u\" points=\"", s % 8);
		for (u32 i = 0; i <= STEPS; i++) {
			double v = ratio_at(c, row, s, end * i / STEPS);

			if (v > 0 && isfinite(v))
				strbuf__addf(out, "%.1f,%.1f ", x_of(a, end * i / STEPS),
					     y_of(a, log(v)));
		}
		strbuf__adds(out, "\"/>\n");
		plot_bars(c, row, s, a, out);
	}
	strbuf__adds(out, "</svg>\n");
}

void compare__plot(const struct compare *c, const struct compare_row *row, struct strbuf *out)
{
	struct axes a = {0};

	for (u32 s = 0; s < c->nr_sides; s++)
		if (row->in[s])
			a.nines = fmax(a.nines, side_nines(c, row, s));
	if (!(a.nines > 0.3))
		return;
	strbuf__adds(out, "<div class=\"plots\">\n");
	plot_latency(c, row, &a, out);
	plot_ratio(c, row, &a, out);
	strbuf__adds(out, "</div>\n");
}
