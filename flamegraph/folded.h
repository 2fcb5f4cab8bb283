/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * folded.h - folded stacks, "frame;frame;frame count" a line, outermost frame first, into a tree.
 *
 * The last word of a line is the count; everything before it is the stack, so frames may hold spaces
 * and end in numbers. Lines end in LF or CRLF, the last one in neither. Equal paths are one node and
 * equal names one string: memory follows the tree, not the length of the input. A line that cannot be
 * used is counted by its reason and left out whole.
 */
#ifndef HBPROF_FOLDED_H
#define HBPROF_FOLDED_H

#include <stdio.h>

#include <hbprof/types.h>

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
	FOLDED_DEEP,	    /* more frames than max_depth */
	FOLDED_FULL,	    /* needs more nodes or names than the limits allow */
	FOLDED_NR,
};

struct folded_limits {
	size_t max_line;  /* bytes */
	u32 max_depth;	  /* frames of a stack */
	u32 max_nodes;	  /* of the tree, the root included */
	size_t max_names; /* bytes of all different names together */
};
extern const struct folded_limits folded_default_limits;

#define FOLDED_NONE (~0u)

struct folded_node {
	u32 name;	 /* see folded__name() */
	u32 parent;	 /* FOLDED_NONE for the root */
	u32 child, next; /* first child, next sibling; FOLDED_NONE: none */
	u64 self, total; /* counts that end here; those and all below */
};

struct folded {
	struct folded_node *node; /* [0] is the root; a parent comes before its children */
	u32 nr_nodes;
	u32 depth;	      /* of the deepest stack */
	u64 lines[FOLDED_NR]; /* read, by what became of them */
	struct folded_index *index;
};

/* 0 or -ENOMEM. limits NULL: the default ones. The caller's; folded__free() it. */
int folded__new(const struct folded_limits *limits, struct folded **out);
void folded__free(struct folded *f); /* NULL is fine */

/* Adds all lines of a stream. 0, -ENOMEM or -EIO: what was added before stays. */
int folded__read(struct folded *f, FILE *in);
/* Adds one line, without its LF. 0 or -ENOMEM; *bad, which may be NULL, says what became of it. */
int folded__add_line(struct folded *f, const char *line, size_t len, enum folded_bad *bad);

/* The name of a node, terminated; "" for the root. */
const char *folded__name(const struct folded *f, u32 node);
/* "no count": for "12 lines left out: no count". Static. */
const char *folded_bad_text(enum folded_bad bad);

#endif
