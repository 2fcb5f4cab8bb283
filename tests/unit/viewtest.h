/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* viewtest.h - what the tests of the live view assert of its frames; for files that include cmocka.h. */
#ifndef HBPROF_TEST_VIEWTEST_H
#define HBPROF_TEST_VIEWTEST_H

#include "tests/unit/view_sample.h"

static const struct view_look wide = {200, 30, VIEW_PLAIN, true};

static inline void assert_shows(struct live_view *v, const struct view_look *look, const char *what)
{
	char *text = view_text(v, look);

	if (!strstr(text, what))
		fail_msg("no \"%s\" in:\n%s", what, text);
	free(text);
}

static inline void assert_hides(struct live_view *v, const struct view_look *look, const char *what)
{
	char *text = view_text(v, look);

	if (strstr(text, what))
		fail_msg("\"%s\" in:\n%s", what, text);
	free(text);
}

/* Line n of the frame, from 0; free() it. */
static inline char *line_of(struct live_view *v, const struct view_look *look, u32 n)
{
	char *text = view_text(v, look), *s = text, *line;

	for (; n; n--) {
		s = strchr(s, '\n');
		assert_non_null(s);
		s++;
	}
	line = strndup(s, strcspn(s, "\n"));
	free(text);
	return line;
}

static inline void assert_line_has(struct live_view *v, u32 n, const char *what)
{
	char *line = line_of(v, &wide, n);

	if (!strstr(line, what))
		fail_msg("no \"%s\" in line %u: %s", what, n, line);
	free(line);
}

/* Columns that a line takes on a terminal: its sequences take none. */
static inline u32 columns(const char *s, size_t len, bool ascii)
{
	u32 n = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\033') {
			while (s[i] != 'm')
				i++;
			continue;
		}
		assert_true((u8)s[i] >= ' ');
		assert_true(!ascii || (u8)s[i] < 0x7f);
		n += ((u8)s[i] & 0xc0) != 0x80;
	}
	return n;
}

static inline void check_frame(struct live_view *v, const struct view_look *look)
{
	char *text = view_text(v, look), *s = text;
	u32 lines = 0, n;

	for (; *s; s += strcspn(s, "\n") + 1, lines++) {
		n = columns(s, strcspn(s, "\n"), !look->utf8);
		if (n > look->width || (look->style != VIEW_PLAIN && n < look->width))
			fail_msg("%ux%u: a line of %u columns:\n%s", look->width, look->height, n,
				 text);
	}
	if (lines != look->height)
		fail_msg("%ux%u: %u lines:\n%s", look->width, look->height, lines, text);
	free(text);
}

#endif
