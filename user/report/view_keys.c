// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view_keys.c - what the keys do to the view. */
#include <string.h>

#include "report/view_impl.h"

#define CTRL(c) ((c)&0x1f)
#define DELETE	0x7f

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

static enum view_answer sort_by(struct live_view *v, u32 c)
{
	v->st.sort = c;
	v->st.reverse = false;
	v->st.top = 0;
	return VIEW_CHANGED;
}

/* To the next column in a direction, round at the ends. */
static enum view_answer sort_next(struct live_view *v, bool right)
{
	u32 nr = VIEW_COLS + v->extra.nr, c = v->st.sort;

	for (u32 i = 0; i < nr; i++) {
		c = (c + (right ? 1 : nr - 1)) % nr;
		if (c != VIEW_GRAPH && v->sortable >> c & 1)
			break;
	}
	return sort_by(v, c);
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

static enum view_answer open_page(struct live_view *v, enum view_page page)
{
	v->st.page = page;
	v->st.top = 0;
	return VIEW_CHANGED;
}

/* Round; what was not counted at all is passed over, but that there are no counters is told. */
static enum view_answer next_set(struct live_view *v)
{
	struct ctr_cols time = {0};

	if (v->now)
		ctr_cols__time(&time, v->now);
	v->st.set = (v->st.set + 1) % VIEW_SETS;
	if (v->st.set == VIEW_TIME && !time.nr)
		v->st.set = VIEW_LATENCY;
	v->st.top = v->extra_first = 0;
	if (v->st.sort >= VIEW_COLS)
		v->st.sort = VIEW_TOTAL;
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
		return open_page(v, VIEW_HELP);
	case 'm':
		return open_page(v, VIEW_ABOUT);
	case 'c':
		return next_set(v);
	case 'b':
		view_regroup(v, !v->st.by_process); /* as with zero */
		v->st.top = 0;
		return VIEW_CHANGED;
	case '<':
	case VIEW_KEY_LEFT:
		return sort_next(v, false);
	case '>':
	case VIEW_KEY_RIGHT:
		return sort_next(v, true);
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
	if (v->st.page && key != 'q')
		return open_page(v, VIEW_NO_PAGE);
	return command(v, key);
}
