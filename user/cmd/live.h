/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live.h - the live view of a recording: readings of the session, keys and the screen brought
 * together. A recording goes on without it whatever happens to the terminal.
 */
#ifndef HBPROF_LIVE_H
#define HBPROF_LIVE_H

#include <stdbool.h>

struct host_run;
struct live;
struct session;

/* Shows the view if stdout is a terminal that is fit for it. NULL: there is none, which has been said
 * where it is not as expected. Until live__close() messages go to the view's last line. Both outlive the
 * view. */
struct live *live__open(struct session *s, struct host_run *run);
/* Readable when there is something for live__event(). */
int live__fd(const struct live *l);
/* Each second. l may be NULL, here and below. false: the view is over, close it. */
bool live__tick(struct live *l);
/* Keys, signals, a terminal that takes output again. The same; *quit: the recording is to end. */
bool live__event(struct live *l, bool *quit);
/* Gives the terminal back, then prints the messages that came meanwhile. */
void live__close(struct live *l);

#endif
