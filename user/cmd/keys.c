// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* keys.c - the sequences that xterm, the Linux console, tmux and rxvt send for cursor keys. */
#include "cmd/keys.h"

#include "report/view.h"

#define ESC 0x1b

enum { GROUND, ESCAPED, SS3, CSI };

static u32 letter_key(u8 final)
{
	switch (final) {
	case 'A':
		return VIEW_KEY_UP;
	case 'B':
		return VIEW_KEY_DOWN;
	case 'C':
		return VIEW_KEY_RIGHT;
	case 'D':
		return VIEW_KEY_LEFT;
	case 'H':
		return VIEW_KEY_HOME;
	case 'F':
		return VIEW_KEY_END;
	default:
		return 0;
	}
}

static u32 number_key(u32 number)
{
	switch (number) {
	case 1:
	case 7:
		return VIEW_KEY_HOME;
	case 4:
	case 8:
		return VIEW_KEY_END;
	case 5:
		return VIEW_KEY_PAGE_UP;
	case 6:
		return VIEW_KEY_PAGE_DOWN;
	default:
		return 0;
	}
}

/* A byte of a control sequence: parameters, of which the first number counts, and a final byte. */
static u32 csi_byte(struct keys *k, u8 c)
{
	if (c >= '0' && c <= '9') {
		if (k->number < 1000)
			k->number = k->number * 10 + (c - '0');
		return 0;
	}
	if (c == ';') {
		/* "1;5A" is an arrow with Ctrl: what follows says how, not which. */
		k->number += 1000;
		return 0;
	}
	if (c < 0x40)
		return 0;
	k->state = GROUND;
	return c == '~' ? number_key(k->number % 1000) : letter_key(c);
}

static u32 key_of(struct keys *k, u8 c, bool last)
{
	switch (k->state) {
	case ESCAPED:
		k->number = 0;
		k->state = c == '[' ? CSI : c == 'O' ? SS3 : GROUND;
		return k->state != GROUND ? 0 : c == ESC ? VIEW_KEY_ESCAPE : c;
	case SS3:
		k->state = GROUND;
		return letter_key(c);
	case CSI:
		return csi_byte(k, c);
	default:
		if (c != ESC)
			return c;
		k->state = last ? GROUND : ESCAPED;
		return last ? VIEW_KEY_ESCAPE : 0;
	}
}

u32 keys__decode(struct keys *k, const u8 *bytes, size_t n, u32 *out)
{
	u32 nr = 0;

	for (size_t i = 0; i < n; i++) {
		u32 key = key_of(k, bytes[i], i + 1 == n);

		if (key)
			out[nr++] = key;
	}
	return nr;
}
