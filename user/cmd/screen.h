/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * screen.h - the terminal while a live view is on it: raw keys in, frames out, and whatever happens the
 * terminal is left as it was found.
 *
 * Nothing here waits for the terminal but screen__close(), a moment: it is opened once more for hbprof,
 * non-blocking, and a frame for which it has no room yet is dropped.
 */
#ifndef HBPROF_SCREEN_H
#define HBPROF_SCREEN_H

#include <stdbool.h>

#include <hbprof/types.h>

#include "util/strbuf.h"

#define SCREEN_KEYS 64

struct screen;

struct screen_events {
	u32 key[SCREEN_KEYS]; /* bytes, and enum view_key */
	u32 nr_keys;
	bool redraw; /* the size is another one, or the program was stopped */
};

/*
 * Takes the terminal that stdout is. SIGWINCH, SIGTSTP and SIGCONT are this file's from here on. 0 or
 * -errno; -ENOTTY: stdout is not a terminal, or not one that understands escape sequences.
 */
int screen__open(struct screen **out);
/* Readable when there is something for screen__poll(). */
int screen__fd(const struct screen *s);
/* Does not wait. 0, or -EIO: the terminal has gone. */
int screen__poll(struct screen *s, struct screen_events *ev);
/* Forget what is shown: all of the next frame is drawn. */
void screen__forget(struct screen *s);
void screen__size(const struct screen *s, u32 *width, u32 *height);
/* Lines, each ended by a newline and as wide as the screen. Those that have changed are drawn. 0, or
 * -EIO: the terminal has gone. */
int screen__draw(struct screen *s, const struct strbuf *frame);
void screen__close(struct screen *s);

#endif
