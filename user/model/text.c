// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text.c - UTF-8 checked byte by byte, escapes for terminals and for JSON. */
#include "model/text.h"

#include <string.h>

u32 text_decode(const char *s, u32 *cp)
{
	static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
	const u8 *u = (const u8 *)s;
	u32 len, v;

	if (u[0] < 0x80) {
		*cp = u[0];
		return 1;
	}
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	v = u[0] & (0x7f >> len);
	for (u32 i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80) /* the terminator too */
			return 0;
		v = v << 6 | (u[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return len;
}

/* Code points that act on the terminal or show nothing: C1 controls, soft hyphen, zero-width and
 * direction marks, line separators, byte order mark, tags. */
static bool is_unprintable(u32 cp)
{
	return (cp >= 0x80 && cp < 0xa0) || cp == 0xad || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff ||
	       (cp >= 0xfff9 && cp <= 0xfffb) || (cp >= 0xe0000 && cp <= 0xe007f);
}

void text_add_escaped(struct strbuf *b, const char *s)
{
	u32 cp, len;

	for (; *s; s += len) {
		len = text_decode(s, &cp);
		if (!len || cp < 0x20 || cp == 0x7f) {
			strbuf__addf(b, "\\x%02x", (u8)*s);
			len = 1;
		} else if (is_unprintable(cp)) {
			strbuf__addf(b, "\\u{%x}", cp);
		} else {
			strbuf__add(b, s, len);
		}
	}
}

void text_add_json(struct strbuf *b, const char *s)
{
	u32 cp, len;

	strbuf__addc(b, '"');
	for (; *s; s += len) {
		len = text_decode(s, &cp);
		if (!len) {
			strbuf__addf(b, "\\\\x%02x", (u8)*s);
			len = 1;
		} else if (cp == '"' || cp == '\\') {
			strbuf__addc(b, '\\');
			strbuf__addc(b, *s);
		} else if (cp < 0x20 || cp == 0x7f) {
			strbuf__addf(b, "\\u%04x", cp);
		} else {
			strbuf__add(b, s, len);
		}
	}
	strbuf__addc(b, '"');
}

u32 text_width(const char *s)
{
	u32 n = 0;

	for (; *s; s++)
		n += ((u8)*s & 0xc0) != 0x80;
	return n;
}
