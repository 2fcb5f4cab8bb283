/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view.h - the live view of a recording as lines of text: readings and keys go in, frames come out.
 * No terminal and no clock is touched here; cmd/screen.c shows the frames.
 *
 * Each reading is a recording of all that was measured so far (session__live()). The view keeps the
 * last one, and the one that was the last at a reset: what it shows are the rows since then, or those
 * of the last interval.
 */
#ifndef HBPROF_VIEW_H
#define HBPROF_VIEW_H

#include "report/bias.h"
#include "report/ctr_cols.h"
#include "report/since.h"
#include "util/strbuf.h"

#define VIEW_TREND  32 /* readings that are remembered for each row's sparkline */
#define VIEW_FILTER 64
#define VIEW_FRAME  (1u << 20) /* more bytes than this no terminal's frame has */

enum view_style {
	VIEW_PLAIN, /* text alone: no escape sequence, no space at a line's end */
	VIEW_MONO,  /* bold, dim and reverse */
	VIEW_COLOUR,
};

struct view_look {
	u32 width, height;
	enum view_style style;
	bool utf8;
};

/* In the order in which they stand on the screen; behind them come those of counters (ctr_cols.h). */
enum view_col {
	VIEW_CODEC,
	VIEW_OP,
	VIEW_FUNC,
	VIEW_CALLS,
	VIEW_COUNTED, /* calls whose counters are known */
	VIEW_RATE,
	VIEW_NOW, /* calls/s of the last interval */
	VIEW_GRAPH,
	VIEW_MEAN,
	VIEW_P50,
	VIEW_P90,
	VIEW_P99,
	VIEW_P999,
	VIEW_MAX,
	VIEW_TOTAL,
	VIEW_CPU,
	VIEW_SIZE,
	VIEW_COLS,
	VIEW_ALL_COLS = VIEW_COLS + CTR_COLS,
};

/* Which columns the table has. */
enum view_set {
	VIEW_LATENCY,
	VIEW_COUNTERS,
	VIEW_TIME, /* on the CPU, waiting, blocked */
	VIEW_SETS,
};

/* What lies over the table. */
enum view_page {
	VIEW_NO_PAGE,
	VIEW_HELP,
	VIEW_ABOUT, /* the machine, the processes, the probes, coverage: the report without its rows */
};

/* Keys beyond those that are bytes. */
enum view_key {
	VIEW_KEY_UP = 0x100,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_ESCAPE,
};

enum view_answer {
	VIEW_IGNORED,
	VIEW_CHANGED, /* the next frame is another one */
	VIEW_REDRAW,  /* asked for: the terminal may show anything */
	VIEW_QUIT,
};

/* What the keys have set. */
struct view_state {
	u32 sort; /* enum view_col, or VIEW_COLS + a column of counters */
	enum view_set set;
	enum view_page page;
	bool reverse, paused, recent, by_size, by_process, exclusive;
	bool editing; /* the filter is being typed */
	char filter[VIEW_FILTER];
	u32 top; /* first line of the table, or of the page, that is shown */
};

/* Calls per second of a function, process and outcome at each reading, the last one at the end. */
struct view_trend {
	u32 func, target;
	u8 outcome;
	bool overflow;
	double rate[VIEW_TREND];
};

struct live_view {
	struct view_state st;
	struct recording *now, *last, *base; /* owned, or NULL; may be the same */
	struct since whole, recent;	     /* since base; since last */
	struct groups all, part;	     /* their rows */
	struct bias *bias;
	u32 nr_biases;
	struct view_trend *trend;
	size_t nr_trends, cap_trends;
	u32 warnings_seen;
	char *message;	  /* of the last line, or NULL */
	u32 message_left; /* readings until it goes */
	u32 nr_messages;  /* since the beginning */
	bool message_bad;
	u32 codec_width, func_width; /* of the widest names so far */
	/* of the last frame, for keys that depend on it */
	u64 sortable; /* bits of columns: those on the screen, and those of counters beside it */
	struct ctr_cols extra; /* of counters, if these are shown */
	u32 extra_first, extra_shown;
	u32 body;  /* lines that the table has on the screen */
	u32 lines; /* lines that it would take */
};

void view__init(struct live_view *v);
void view__fini(struct live_view *v);

/* Takes the next reading over, also when it fails: 0 or -ENOMEM, and there are no rows until the next. */
int view__update(struct live_view *v, struct recording *now);
/* Shows a sentence on the last line for some readings. */
void view__message(struct live_view *v, bool bad, const char *text);
/* A key: a byte or enum view_key. */
enum view_answer view__key(struct live_view *v, u32 key);

/* look->height lines, each ended by a newline and none wider than look->width. 0 or -ENOMEM, -EFBIG. */
int view__frame(struct live_view *v, const struct view_look *look, struct strbuf *out);

#endif
