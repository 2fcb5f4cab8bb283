// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* coverstate.c - see coverstate.h. */
#include "trace/coverstate.h"

static enum cover_do enter(struct cover_func *c, enum cover_state state, enum cover_do what)
{
	c->state = state;
	c->seconds = 0;
	return what;
}

static enum cover_do watch(struct cover_func *c, const struct cover_seen *now)
{
	/* Of a call whose return was not known, or that was dropped, it is not known what was in it. */
	if (now->nested != now->entries || now->unknown || now->dropped) {
		c->alone = now->nested != now->entries;
		return enter(c, COVER_KEPT, COVER_NOTHING);
	}
	if (now->entries - c->entries < COVER_ENOUGH || now->needed)
		return COVER_NOTHING;
	c->nr_looks++;
	c->outside = now->outside;
	return enter(c, COVER_LEAVING, COVER_CLOSE_ENTRY);
}

enum cover_do cover_step(struct cover_func *c, const struct cover_seen *now)
{
	c->seconds++;
	if (c->state == COVER_KEPT)
		return COVER_NOTHING;
	if (c->state == COVER_WATCHED)
		return watch(c, now);
	if (now->outside != c->outside) {
		c->alone = true;
		return enter(c, COVER_KEPT, COVER_TAKE_BACK);
	}
	if (now->passed >= COVER_PASSED)
		return enter(c, COVER_KEPT, COVER_TAKE_BACK);
	if (c->state == COVER_LEAVING)
		return enter(c, COVER_OFF, COVER_CLOSE_EXITS);
	if (c->seconds < COVER_RECHECK)
		return COVER_NOTHING;
	c->entries = now->entries;
	return enter(c, COVER_WATCHED, COVER_LOOK_AGAIN);
}
