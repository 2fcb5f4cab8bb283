// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_html.c - a comparison as one page that needs nothing else: styles and pictures are in it, no
 * script. Everything that comes from captures is escaped.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "report/compare_print.h"
#include "report/group.h"
#include "util/units.h"

#define MAX_PLOTS 200

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>hbprof compare</title>\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d8dee4;"
	"--head:#f3f5f7;--good:#116329;--bad:#b3261e;--warn-bg:#fff7e0;--warn:#7a4d00;"
	"--c0:#3b5bdb;--c1:#d9480f;--c2:#2b8a3e;--c3:#9c36b5;--c4:#0b7285;--c5:#a61e4d;--c6:#5c940d;"
	"--c7:#5f3dc4}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e8ec;--dim:#9aa4ae;"
	"--line:#343b43;--head:#1e2329;--good:#5fd07e;--bad:#ff8a80;--warn-bg:#33290f;--warn:#ffd479;"
	"--c0:#8da2fb;--c1:#ffa266;--c2:#69db7c;--c3:#da77f2;--c4:#66d9e8;--c5:#faa2c1;--c6:#c0eb75;"
	"--c7:#b197fc}}\n"
	"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:0 auto;"
	"max-width:1080px;padding:24px}\n"
	"h1{font-size:22px;margin:0 0 12px}h2{font-size:17px;margin:32px 0 6px;"
	"overflow-wrap:anywhere}h2 small{color:var(--dim);font-weight:400;font-size:13px}\n"
	"table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}\n"
	".wide{overflow-x:auto}th,td{padding:4px 10px;border-bottom:1px solid var(--line);"
	"text-align:right;white-space:nowrap}\n"
	"th{background:var(--head);font-weight:600}th:first-child,td:first-child,.verdict,th.verdict"
	"{text-align:left}td.verdict{white-space:normal}td.side,th.side{text-align:left}\n"
	".sides td{text-align:left;white-space:normal;overflow-wrap:anywhere}"
	".sides td:first-child{white-space:nowrap}\n"
	".faster{color:var(--good);font-weight:600}.slower{color:var(--bad);font-weight:600}"
	".none,.why{color:var(--dim)}.why{font-size:13px}\n"
	".warn{background:var(--warn-bg);color:var(--warn);padding:8px 12px;margin:6px 0;"
	"border-radius:6px;overflow-wrap:anywhere}\n"
	".plots{display:flex;flex-wrap:wrap;gap:12px;margin-top:10px}.plot{flex:1 1 400px;"
	"min-width:0}\n"
	".key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;"
	"vertical-align:-1px}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;color:var(--dim);"
	"font-size:13px}dd{margin:0}\n"
	"svg text{fill:var(--dim);font:11px system-ui,sans-serif}.grid{stroke:var(--line)}"
	".one{stroke:var(--fg);stroke-dasharray:4 3}.line{fill:none;stroke-width:2}"
	".thin{stroke-width:1.5;opacity:.65}.bar{stroke-width:2.5}\n";

/* What HTML and attributes take for markup; control and direction marks as everywhere. */
void cmp_html(struct strbuf *out, const char *s)
{
	struct strbuf safe;

	strbuf__init(&safe, 1 << 20);
	text_add_escaped(&safe, s);
	if (safe.err && !out->err)
		out->err = safe.err;
	for (const char *p = safe.s ? safe.s : ""; *p; p++) {
		switch (*p) {
		case '&':
			strbuf__adds(out, "&amp;");
			break;
		case '<':
			strbuf__adds(out, "&lt;");
			break;
		case '>':
			strbuf__adds(out, "&gt;");
			break;
		case '"':
			strbuf__adds(out, "&quot;");
			break;
		case '\'':
			strbuf__adds(out, "&#39;");
			break;
		default:
			strbuf__addc(out, *p);
		}
	}
	strbuf__fini(&safe);
}

static void add_colours(struct strbuf *out)
{
	for (u32 i = 0; i < 8; i++)
		strbuf__addf(out,
			     ".line.s%u,.bar.s%u{stroke:var(--c%u)}.dot.s%u{fill:var(--c%u)}"
			     ".key.s%u{background:var(--c%u)}\n",
			     i, i, i, i, i, i, i);
	strbuf__adds(out, "</style>\n</head>\n<body>\n");
}

static void add_sides(const struct compare *c, struct strbuf *out)
{
	struct strbuf b;

	strbuf__adds(out, "<table class=\"sides\">\n");
	for (u32 i = 0; i < c->nr_sides; i++) {
		strbuf__addf(out, "<tr><td><span class=\"key s%u\"></span><b>", i % 8);
		cmp_html(out, c->side[i].label);
		strbuf__adds(out, "</b></td><td>");
		strbuf__init(&b, 65536);
		cmp_describe(c, i, &b);
		cmp_html(out, b.s ? b.s : "n/a");
		strbuf__fini(&b);
		strbuf__adds(out, "</td></tr>\n");
	}
	strbuf__adds(out, "</table>\n");
	for (u32 i = 0; i < c->nr_warnings; i++) {
		strbuf__adds(out, "<p class=\"warn\">");
		cmp_html(out, c->warning[i]);
		strbuf__adds(out, "</p>\n");
	}
}

static const char *verdict_class(enum verdict v)
{
	if (v == VERDICT_FASTER || v == VERDICT_SLOWER)
		return verdict_names[v];
	return v == VERDICT_MORE || v == VERDICT_FEWER ? "" : "none";
}

static void add_verdict(struct strbuf *out, const struct compare_cell *cell)
{
	strbuf__addf(out, "<td class=\"verdict\"><span class=\"%s\">%s</span>",
		     verdict_class(cell->verdict), verdict_names[cell->verdict]);
	if (*cell->why) {
		strbuf__adds(out, " <span class=\"why\">");
		cmp_html(out, cell->why);
		strbuf__adds(out, "</span>");
	}
	strbuf__adds(out, "</td>");
}

/* The lines of one metric: one for two sides, else one for each side after the first. */
static void add_metric(const struct compare *c, const struct compare_row *row, u32 metric,
		       struct strbuf *out)
{
	const struct metric *m = c->metric[metric];
	char a[CMP_TEXT], b[CMP_TEXT];
	bool first = true;

	for (u32 s = 1; s < c->nr_sides; s++) {
		const struct compare_cell *cell = compare_cell(c, row, metric, s);

		if (!row->in[s])
			continue;
		strbuf__addf(out, "<tr><td>%s</td>", first ? m->title : "");
		first = false;
		if (c->nr_sides > 2) {
			strbuf__addf(out, "<td class=\"side\"><span class=\"key s%u\"></span>",
				     s % 8);
			cmp_html(out, c->side[s].label);
			strbuf__adds(out, "</td>");
		}
		strbuf__addf(out, "<td>%s</td><td>%s</td>",
			     cmp_value(a, m, compare_cell(c, row, metric, 0)->value),
			     cmp_value(b, m, cell->value));
		strbuf__addf(out, "<td>%s</td><td>%s</td>", cmp_ratio(a, cell->ratio),
			     cmp_limits(b, cell));
		add_verdict(out, cell);
		strbuf__adds(out, "</tr>\n");
	}
}

static void add_row(const struct compare *c, const struct compare_row *row, bool plot,
		    struct strbuf *out)
{
	char label[CMP_TEXT], n[32];

	strbuf__adds(out, "<section>\n<h2>");
	cmp_html(out, row->key.codec);
	strbuf__addc(out, ' ');
	cmp_html(out, row->key.op);
	if (*cmp_label(label, &row->key))
		strbuf__addf(out, " (%s)", label);
	strbuf__adds(out, " <small>");
	cmp_html(out, row->key.name);
	for (u32 s = 0; s < c->nr_sides; s++)
		strbuf__addf(out, "%s%s", s ? " / " : "; calls: ",
			     format_count(n, sizeof(n), cmp_calls(c, row, s)));
	strbuf__adds(out, "</small></h2>\n<div class=\"wide\"><table>\n<thead><tr><th>metric</th>");
	if (c->nr_sides > 2)
		strbuf__adds(out, "<th class=\"side\">side</th>");
	strbuf__adds(out, "<th>");
	cmp_html(out, c->side[0].label);
	strbuf__adds(out, "</th><th>");
	cmp_html(out, c->nr_sides > 2 ? "value" : c->side[1].label);
	strbuf__adds(out, "</th><th>ratio</th><th>95% limits</th><th class=\"verdict\">verdict</th>"
			  "</tr></thead>\n<tbody>\n");
	for (u32 m = 0; m < c->nr_metrics; m++)
		add_metric(c, row, m, out);
	strbuf__adds(out, "</tbody>\n</table></div>\n");
	if (plot)
		compare__plot(c, row, out);
	if (plot)
		compare__scale(c, row, out);
	strbuf__adds(out, "</section>\n");
}

static void add_rest(const struct compare *c, struct strbuf *out)
{
	bool any = false;

	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->row[i];
		u32 in = 0;

		for (u32 s = 0; s < c->nr_sides; s++)
			in += row->in[s];
		if ((row->in[0] && in > 1) || row->key.size_class != KEY_ANY_SIZE)
			continue;
		strbuf__adds(out, any ? "" : "<h2>Not in both</h2>\n<ul>\n");
		any = true;
		strbuf__adds(out, "<li>");
		cmp_html(out, row->key.codec);
		strbuf__addc(out, ' ');
		cmp_html(out, row->key.op);
		strbuf__addc(out, ' ');
		cmp_html(out, row->key.name);
		strbuf__adds(out, row->key.outcome == HB_OUTCOME_ERROR ? " (errors):" : ":");
		for (u32 s = 0; s < c->nr_sides; s++) {
			if (!row->in[s])
				continue;
			strbuf__adds(out, " only in ");
			cmp_html(out, c->side[s].label);
		}
		strbuf__adds(out, "</li>\n");
	}
	if (any)
		strbuf__adds(out, "</ul>\n");
}

static void add_note(void *ctx, const char *label, const char *text)
{
	struct strbuf *out = ctx;

	strbuf__adds(out, "<dt>");
	cmp_html(out, label);
	strbuf__adds(out, "</dt><dd>");
	cmp_html(out, text);
	strbuf__adds(out, "</dd>\n");
}

void compare__html(const struct compare *c, struct strbuf *out)
{
	u32 plots = 0;

	strbuf__adds(out, head);
	add_colours(out);
	strbuf__adds(out, "<h1>hbprof compare</h1>\n");
	add_sides(c, out);
	for (u32 i = 0; i < c->nr_rows; i++) {
		u32 in = 0;

		for (u32 s = 1; s < c->nr_sides; s++)
			in += c->row[i].in[s];
		if (c->row[i].in[0] && in)
			add_row(c, &c->row[i], plots++ < MAX_PLOTS, out);
	}
	add_rest(c, out);
	strbuf__adds(out, "<h2>How to read it</h2>\n<dl>\n");
	cmp_notes(c, add_note, out);
	strbuf__adds(out, "</dl>\n</body>\n</html>\n");
}
