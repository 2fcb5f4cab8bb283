// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view_keys.c - what the keys do to the view, and the page that explains them. */
#include <string.h>

#include "report/view_impl.h"

#define CTRL(c) ((c)&0x1f)
#define DELETE	0x7f

static const struct {
	const char *keys, *what;
} help[] = {
	{"< >", "or left and right: sort by the column to the left or right"},
	{"r", "reverse the order"},
	{"t", "sort by total time, the largest first"},
	{"/", "show only rows whose codec, operation or function has a text; Esc: all"},
	{"p", "or space: pause the view; measuring goes on"},
	{"i", "the last interval alone, or everything; now/s and trend are always the last ones"},
	{"s", "payload size classes below each row"},
	{"e", "below rows with probed calls inside: the times without these"},
	{"z", "zero: count from now on; the report will have everything"},
	{"Z", "count from the start again"},
	{"Up Down", "scroll; PgUp, PgDn, Home, End too"},
	{"Ctrl-L", "draw the screen again"},
	{"q", "or Ctrl-C: end the recording, write the capture, print the report"},
	{"", ""},
	{"~", "less than the probe can tell"},
	{"n/a", "not known; a percentile with no call above it"},
	{"max",
	 "after a reset, or of the last interval alone, within 1.6 % above the largest call"},
	{"CPU", "total, by the clock, in percent of the CPU time that the target used"},
};

#define NR_HELP ((u32)(sizeof(help) / sizeof(help[0])))

void view_help(struct live_view *v, struct pen *p, u32 height)
{
	pen_ink(p, INK_TITLE);
	pen_text(p, "keys; any other key goes back");
	pen_newline(p);
	if (height)
		height--;
	v->body = height;
	v->lines = NR_HELP;
	if (v->st.top + height > NR_HELP)
		v->st.top = NR_HELP > height ? NR_HELP - height : 0;
	for (u32 i = 0; i < height; i++) {
		u32 at = v->st.top + i;

		if (at < NR_HELP && *help[at].keys) {
			pen_ink(p, INK_BOLD);
			pen_field(p, help[at].keys, 8, PEN_LEFT);
			pen_ink(p, INK_PLAIN);
			pen_space(p, 1);
			pen_field(p, help[at].what, pen_left(p), PEN_LEFT);
		}
		pen_newline(p);
	}
}

/* ---- scrolling ---- */

static enum view_answer scroll(struct live_view *v, s64 by)
{
	s64 most = v->lines > v->body ? v->lines - v->body : 0, top = v->st.top + by;

	v->st.top = top < 0 ? 0 : top > most ? most : top;
	return VIEW_CHANGED;
}

static bool scroll_by(const struct live_view *v, u32 key, s64 *by)
{
	s64 page = v->body > 1 ? v->body - 1 : 1;

	switch (key) {
	case VIEW_KEY_UP:
		*by = -1;
		return true;
	case VIEW_KEY_DOWN:
		*by = 1;
		return true;
	case VIEW_KEY_PAGE_UP:
		*by = -page;
		return true;
	case VIEW_KEY_PAGE_DOWN:
		*by = page;
		return true;
	case VIEW_KEY_HOME:
		*by = -(s64)v->lines;
		return true;
	case VIEW_KEY_END:
		*by = v->lines;
		return true;
	default:
		return false;
	}
}

/* ---- sorting ---- */

/* To the next column on the screen in a direction, round at the ends. */
static enum view_answer sort_next(struct live_view *v, u32 step)
{
	u32 c = v->st.sort;

	for (u32 i = 0; i < VIEW_COLS; i++) {
		c = (c + step) % VIEW_COLS;
		if (c != VIEW_GRAPH && v->shown & 1u << c)
			break;
	}
	v->st.sort = c;
	v->st.reverse = false;
	v->st.top = 0;
	return VIEW_CHANGED;
}

static enum view_answer sort_by(struct live_view *v, enum view_col c)
{
	v->st.sort = c;
	v->st.reverse = false;
	v->st.top = 0;
	return VIEW_CHANGED;
}

/* ---- the filter ---- */

static void erase_last(char *s)
{
	size_t len = strlen(s);

	while (len && ((u8)s[len - 1] & 0xc0) == 0x80)
		len--;
	s[len ? len - 1 : 0] = '\0';
}

static enum view_answer edit(struct live_view *v, u32 key)
{
	char *s = v->st.filter;
	size_t len = strlen(s);

	if (key == '\r' || key == '\n' || key == VIEW_KEY_ESCAPE)
		v->st.editing = false;
	if (key == VIEW_KEY_ESCAPE || key == CTRL('U'))
		s[0] = '\0';
	else if (key == DELETE || key == CTRL('H'))
		erase_last(s);
	else if (key >= ' ' && key < 0x100 && len + 1 < sizeof(v->st.filter))
		memcpy(s + len, (char[]){(char)key, '\0'}, 2);
	v->st.top = 0;
	return VIEW_CHANGED;
}

/* ---- the rest ---- */

static enum view_answer toggle(struct live_view *v, bool *what)
{
	*what = !*what;
	if (what != &v->st.paused)
		v->st.top = 0;
	/* The column is not there any more. */
	if (v->st.recent && v->st.sort == VIEW_NOW)
		v->st.sort = VIEW_RATE;
	return VIEW_CHANGED;
}

static enum view_answer command(struct live_view *v, u32 key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return VIEW_QUIT;
	case 'h':
	case '?':
		return toggle(v, &v->st.help);
	case '<':
	case VIEW_KEY_LEFT:
		return sort_next(v, VIEW_COLS - 1);
	case '>':
	case VIEW_KEY_RIGHT:
		return sort_next(v, 1);
	case 'r':
		return toggle(v, &v->st.reverse);
	case 't':
		return sort_by(v, VIEW_TOTAL);
	case '/':
		return toggle(v, &v->st.editing);
	case VIEW_KEY_ESCAPE:
		v->st.filter[0] = '\0';
		return VIEW_CHANGED;
	case 'p':
	case ' ':
		return toggle(v, &v->st.paused);
	case 'i':
		return toggle(v, &v->st.recent);
	case 's':
		return toggle(v, &v->st.by_size);
	case 'e':
		return toggle(v, &v->st.exclusive);
	case 'z':
	case 'Z':
		view_reset(v, key == 'Z'); /* without memory: no rows until the next reading */
		return VIEW_CHANGED;
	default:
		return VIEW_IGNORED;
	}
}

enum view_answer view__key(struct live_view *v, u32 key)
{
	s64 by;

	if (key == CTRL('L'))
		return VIEW_REDRAW;
	if (v->st.editing)
		return edit(v, key);
	if (scroll_by(v, key, &by))
		return scroll(v, by);
	if (v->st.help && key != 'q') {
		v->st.help = false;
		v->st.top = 0;
		return VIEW_CHANGED;
	}
	return command(v, key);
}
