// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cells.c - numbers and paragraphs of the table report. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/text.h"
#include "report/layout.h"
#include "report/table.h"
#include "util/units.h"

const char *cell_ns(char buf[CELL], u64 ns)
{
	if (ns == M_NONE)
		return "n/a";
	return format_ns(buf, CELL, ns);
}

const char *cell_count(char buf[CELL], u64 n)
{
	if (n == M_NONE)
		return "n/a";
	return format_count(buf, CELL, n);
}

const char *cell_bytes(char buf[CELL], u64 bytes)
{
	if (bytes == M_NONE)
		return "n/a";
	return format_bytes(buf, CELL, bytes);
}

const char *cell_rate(char buf[CELL], double per_s)
{
	if (!isfinite(per_s))
		return "n/a";
	if (per_s >= 99.95 && per_s < 1e18)
		return format_count(buf, CELL, (u64)(per_s + 0.5));
	if (per_s > 0 && per_s < 0.001)
		return "<0.001";
	snprintf(buf, CELL, "%#.*g", per_s >= 9.995 ? 3 : 2, per_s);
	return buf;
}

const char *cell_pct(char buf[CELL], double pct)
{
	if (!isfinite(pct))
		return "n/a";
	if (pct > 0 && pct < 0.01)
		return "<0.01%";
	/* The last step below 100 stays below it: "100.0%" means all. */
	if (pct < 100 && pct >= 99.95)
		pct = 99.9;
	snprintf(buf, CELL, "%.*f%%", pct < 1 ? 2 : pct < 1000 ? 1 : 0, pct < 1e12 ? pct : 1e12);
	return buf;
}

double pct_of(u64 part, u64 whole)
{
	if (part == M_NONE || whole == M_NONE || !whole)
		return NAN;
	return (double)part / (double)whole * 100;
}

bool too_short_for_shares(const struct recording *r)
{
	return r->coverage.wall_ns < SHARES_MIN_NS;
}

double cpu_share(const struct recording *r, u64 part, u64 cpu_ns)
{
	return too_short_for_shares(r) ? NAN : pct_of(part, cpu_ns);
}

u64 targets_cpu_ns(const struct recording *r)
{
	u64 sum = 0;

	for (u32 i = 0; i < r->nr_targets; i++)
		if (r->target[i].cpu_ns == M_NONE ||
		    __builtin_add_overflow(sum, r->target[i].cpu_ns, &sum))
			return M_NONE;
	return sum;
}

u32 para_width(const struct report_opts *opts)
{
	return opts->width && opts->width < 100 ? opts->width : 100;
}

void add_name(struct strbuf *b, const char *s)
{
	if (s)
		text_add_escaped(b, s);
	else
		strbuf__adds(b, "n/a");
}

void table__para(struct view *v, const char *label, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		if (!v->out->err)
			v->out->err = -ENOMEM;
		return;
	}
	layout_para(v->out, para_width(v->opts), label, text);
	free(text);
}

void table__para_buf(struct view *v, const char *label, struct strbuf *b)
{
	if (b->err == -ENOMEM && !v->out->err)
		v->out->err = b->err;
	else
		layout_para(v->out, para_width(v->opts), label, b->s ? b->s : "n/a");
	strbuf__fini(b);
}
