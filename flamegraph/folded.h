/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * folded.h - folded stacks, "frame;frame;frame count" a line, outermost frame first: into a tree
 * and out of it.
 *
 * The last word of a line is the count; everything before it is the stack, so frames may hold spaces
 * and end in numbers. Lines end in LF or CRLF, the last one in neither. A line that cannot be used
 * is counted by its reason and left out whole.
 */
#ifndef HBPROF_FOLDED_H
#define HBPROF_FOLDED_H

#include <stdio.h>

#include <hbprof/types.h>

#include "flamegraph/tree.h"
#include "util/strbuf.h"

#define FOLDED_MAX_LINE (1u << 20) /* bytes, by default */

enum folded_bad {
	FOLDED_OK,
	FOLDED_EMPTY,	 /* nothing but white space */
	FOLDED_NO_COUNT, /* the last word is no whole number, or the only word */
	FOLDED_ZERO,
	FOLDED_NEGATIVE,
	FOLDED_HUGE,	    /* the count, or the sum of all, is above u64 */
	FOLDED_EMPTY_FRAME, /* ";;", or a semicolon at an end of the stack */
	FOLDED_BINARY,	    /* a 0 byte */
	FOLDED_LONG,	    /* longer than max_line */
	FOLDED_DEEP,	    /* more frames than the tree's max_depth */
	FOLDED_FULL,	    /* needs more nodes or names than the tree's limits allow */
	FOLDED_NR,
};

/* One input. Set the first group between __init and the first line. */
struct folded {
	struct flame_tree *tree; /* borrowed */
	enum flame_weight weight;
	bool reverse; /* the innermost frame next to the root */
	size_t max_line;

	u64 lines[FOLDED_NR]; /* read, by what became of them */

	/* The last stack: files are sorted more often than not, so the next begins alike. */
	const char *last; /* in the caller's bytes while they are there, else in kept */
	size_t last_len, kept_cap;
	char *kept;
	struct flame_frame *frame; /* max_depth of each */
	u32 *frame_end;		   /* offset in last behind each frame */
	u32 *path;
	u32 nr_path;
};

/* 0 or -ENOMEM. */
int folded__init(struct folded *f, struct flame_tree *tree, enum flame_weight weight);
void folded__fini(struct folded *f); /* a zeroed one is fine */

/* Adds all lines of a stream. 0 or -errno: what was added before stays. -EMEDIUMTYPE: the stream
 * begins as gzip's do, a capture perhaps; nothing was added. */
int folded__read(struct folded *f, FILE *in);
/* Adds one line, without its LF. 0 or -ENOMEM; *bad, which may be NULL, says what became of it. */
int folded__add_line(struct folded *f, const char *line, size_t len, enum folded_bad *bad);
/* Lines that were left out and were not empty. */
u64 folded__nr_bad(const struct folded *f);
/* "no count": for "12 lines left out: no count". Static. */
const char *folded_bad_text(enum folded_bad bad);

/* Appends each path with something of its own, sorted by bytes: "stack count", or with both weights
 * "stack base count", as differential tools write it. */
void folded_write(const struct flame_tree *t, bool both, struct strbuf *out);

#endif
