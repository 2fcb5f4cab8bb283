// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view_pen.c - text into lines of a fixed width. Everything that a frame holds passes here, so no
 * line is too wide, and none has a character that the terminal's encoding lacks.
 */
#include "report/view_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "model/text.h"

#define MAX_NAME 4096 /* of a command line, as much as could ever be shown */

static const char *const inks[] = {
	[INK_PLAIN] = "", [INK_BOLD] = "1",	    [INK_DIM] = "2",  [INK_TITLE] = "7",
	[INK_SORT] = "1", [INK_SORT_TITLE] = "1;7", [INK_WARN] = "1", [INK_BAD] = "1",
};

static const char *const colours[] = {
	[INK_PLAIN] = "",  [INK_BOLD] = "1",   [INK_DIM] = "2",
	[INK_TITLE] = "7", [INK_SORT] = "1",   [INK_SORT_TITLE] = "1;7;36",
	[INK_WARN] = "33", [INK_BAD] = "1;31",
};

void pen_ink(struct pen *p, enum pen_ink ink)
{
	const char *code = p->look->style == VIEW_COLOUR ? colours[ink] : inks[ink];

	if (ink == p->ink || p->look->style == VIEW_PLAIN)
		return;
	pen_text(p, ""); /* what is pending belongs to the ink before */
	strbuf__addf(p->out, *code ? "\033[0;%sm" : "\033[0m", code);
	p->ink = ink;
}

/* Spaces are written when a text follows, or the end of the line is to be painted. */
static void settle(struct pen *p)
{
	for (; p->pending; p->pending--)
		strbuf__addc(p->out, ' ');
}

void pen_space(struct pen *p, u32 n)
{
	u32 left = pen_left(p);

	n = n < left ? n : left;
	p->at += n;
	p->pending += n;
}

/* At most n code points of s. */
static void put(struct pen *p, const char *s, u32 n)
{
	u32 left = pen_left(p), len, cp;

	for (n = n < left ? n : left; *s && n; n--, s += len) {
		len = text_decode(s, &cp);
		settle(p);
		if (!len || (len > 1 && !p->look->utf8))
			strbuf__addc(p->out, '?');
		else
			strbuf__add(p->out, s, len);
		len = len ? len : 1;
		p->at++;
	}
}

void pen_text(struct pen *p, const char *s)
{
	if (p->look->style != VIEW_PLAIN)
		settle(p);
	put(p, s, ~0u);
}

static const char *skip(const char *s, u32 n)
{
	u32 cp, len;

	for (; *s && n; n--, s += len ? len : 1)
		len = text_decode(s, &cp);
	return s;
}

void pen_field(struct pen *p, const char *s, u32 width, enum pen_side side)
{
	const char *mark = p->look->utf8 ? "\u2026" : "..";
	u32 len = text_width(s), mark_len = text_width(mark);
	u32 pad = len < width ? width - len : 0;

	if (side == PEN_RIGHT)
		pen_space(p, pad);
	if (len <= width) {
		put(p, s, len);
	} else if (width <= mark_len) {
		put(p, s, width);
	} else if (side == PEN_TAIL) {
		put(p, mark, mark_len);
		put(p, skip(s, len - (width - mark_len)), width - mark_len);
	} else {
		put(p, s, width - mark_len);
		put(p, mark, mark_len);
	}
	if (side != PEN_RIGHT)
		pen_space(p, pad);
}

void pen_name(struct pen *p, const char *s, u32 max)
{
	struct strbuf b;
	u32 len;

	strbuf__init(&b, MAX_NAME);
	text_add_escaped(&b, s ? s : "n/a");
	len = b.s ? text_width(b.s) : 0;
	if (b.s)
		pen_field(p, b.s, len < max ? len : max, PEN_LEFT);
	if (b.err == -ENOMEM && !p->out->err)
		p->out->err = b.err;
	strbuf__fini(&b);
}

void pen_newline(struct pen *p)
{
	if (p->look->style != VIEW_PLAIN) {
		/* The old line is overwritten to its end: nothing is ever cleared, nothing flickers. */
		pen_space(p, pen_left(p));
		settle(p);
		pen_ink(p, INK_PLAIN);
	}
	p->pending = 0;
	p->at = 0;
	strbuf__addc(p->out, '\n');
}

/* ---- parts of a line that are left out as a whole when they do not fit ---- */

void parts__add(struct parts *ps, enum pen_ink ink, const char *fmt, ...)
{
	va_list ap;

	if (ps->nr == PARTS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(ps->v[ps->nr].text, sizeof(ps->v[0].text), fmt, ap);
	va_end(ap);
	ps->v[ps->nr++].ink = ink;
}

void parts__put(const struct parts *ps, struct pen *p, u32 lines, u32 indent)
{
	u32 first = 0;

	for (u32 i = 0; i < ps->nr; i++) {
		u32 len = text_width(ps->v[i].text), gap = i > first ? 2 : 0;

		if (len + gap > pen_left(p) && i > first) {
			if (!--lines)
				break;
			pen_newline(p);
			pen_space(p, indent);
			first = i;
			gap = 0;
		}
		pen_ink(p, INK_DIM);
		pen_text(p, gap ? ", " : "");
		pen_ink(p, ps->v[i].ink);
		pen_text(p, ps->v[i].text);
	}
	pen_newline(p);
}

u32 parts__lines(const struct parts *ps, u32 width, u32 indent)
{
	u32 at = indent, lines = 1;

	for (u32 i = 0; i < ps->nr; i++) {
		u32 len = text_width(ps->v[i].text);

		if (at > indent && at + 2 + len > width) {
			lines++;
			at = indent;
		}
		at += len + (at > indent ? 2 : 0);
	}
	return lines;
}
