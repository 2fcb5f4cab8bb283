// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * label.c - names are taken apart into glyphs: a code point that stands for itself, or the escape of
 * one that must not. Both ways of writing a name go over the same glyphs. (The report has escapes
 * for terminals; a picture has to please XML as well, and this library stands alone.)
 */
#include "flamegraph/label.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

struct glyph {
	u32 bytes;   /* of the name that it stands for */
	u32 columns; /* that it takes */
	char text[16];
};

/* A code point and its length, 1 to 4; 0: not UTF-8 (overlong, surrogate, above U+10FFFF, cut). */
static u32 decode(const char *s, size_t len, u32 *cp)
{
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	u8 first = (u8)*s;
	u32 n, v;

	if (first < 0x80) {
		*cp = first;
		return 1;
	}
	if (first < 0xc2 || first > 0xf4)
		return 0;
	n = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	v = first & (0x7fu >> n);
	for (u32 i = 1; i < n; i++) {
		if (((u8)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((u8)s[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return n;
}

struct range {
	u32 first, last;
};

static bool in_ranges(u32 cp, const struct range *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (cp >= r[i].first && cp <= r[i].last)
			return true;
	return false;
}

/* Unicode 15: C1 controls, soft hyphen, fillers and joiners without a glyph, direction marks, line
 * separators, variation selectors, byte order mark, specials, tags; noncharacters (XML 1.0, 2.2,
 * refuses U+FFFE and U+FFFF). */
static bool is_invisible(u32 cp)
{
	static const struct range ranges[] = {
		{0x80, 0x9f},	  {0xad, 0xad},	      {0x34f, 0x34f},	{0x61c, 0x61c},
		{0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164}, {0xfdd0, 0xfdef},
		{0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
		{0xfffe, 0xffff}, {0xe0000, 0xe0fff},
	};

	return in_ranges(cp, ranges, sizeof(ranges) / sizeof(ranges[0])) || (cp & 0xfffe) == 0xfffe;
}

/* Unicode 15, EastAsianWidth W and F, in blocks. */
static bool is_wide(u32 cp)
{
	static const struct range ranges[] = {
		{0x1100, 0x115e},   {0x2e80, 0xa4cf},	{0xa960, 0xa97c}, {0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60}, {0xffe0, 0xffe6},
		{0x1f300, 0x1faff}, {0x20000, 0x3fffd},
	};

	return cp >= 0x1100 && in_ranges(cp, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

static const char *entity(u32 cp)
{
	switch (cp) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void take_glyph(const char *s, size_t len, struct glyph *g)
{
	u32 cp = 0;
	const char *named;

	g->bytes = decode(s, len, &cp);
	g->columns = 1;
	if (!g->bytes || cp < 0x20 || cp == 0x7f) {
		g->bytes = 1;
		g->columns = (u32)snprintf(g->text, sizeof(g->text), "\\x%02x", (u8)*s);
		return;
	}
	named = entity(cp);
	if (named) {
		snprintf(g->text, sizeof(g->text), "%s", named);
	} else if (is_invisible(cp)) {
		g->columns = (u32)snprintf(g->text, sizeof(g->text), "\\u{%x}", cp);
	} else {
		memcpy(g->text, s, g->bytes);
		g->text[g->bytes] = '\0';
		g->columns += is_wide(cp);
	}
}

/* Bytes at s that stand for themselves: most of most names. */
static size_t plain_run(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (u8)s[n] >= 0x20 && (u8)s[n] < 0x7f && !entity((u8)s[n]))
		n++;
	return n;
}

bool label_add(struct strbuf *out, const char *name, size_t max_bytes)
{
	size_t len = strlen(name), at = 0, run;
	struct glyph g;

	while (at < len) {
		run = plain_run(name + at, (len < max_bytes ? len : max_bytes) - at);
		strbuf__add(out, name + at, run);
		at += run;
		if (at == len)
			break;
		take_glyph(name + at, len - at, &g);
		if (at + g.bytes > max_bytes)
			return false;
		strbuf__adds(out, g.text);
		at += g.bytes;
	}
	return true;
}

void label_add_columns(struct strbuf *out, const char *name, u32 columns)
{
	size_t len = strlen(name), at, cut_len = out->len;
	u32 used = 0;
	struct glyph g;

	if (!columns)
		return;
	for (at = 0; at < len; at += g.bytes) {
		take_glyph(name + at, len - at, &g);
		if (used + g.columns > columns)
			break;
		strbuf__adds(out, g.text);
		used += g.columns;
		/* Where the ellipsis goes, if one is needed. */
		if (used + 1 <= columns)
			cut_len = out->len;
	}
	if (at == len || out->err)
		return;
	out->len = cut_len;
	strbuf__adds(out, ELLIPSIS);
}
