/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clones.h - functions that optimizing compilers make of a function: copies for some callers, with
 * fewer parameters perhaps, and parts split off. Their symbols are the function's and a suffix.
 */
#ifndef HBPROF_CLONES_H
#define HBPROF_CLONES_H

#include "sym/symtab.h"

enum clone_kind {
	CLONE_NONE, /* another function */
	CLONE_COPY, /* all of it */
	CLONE_PARAMS, /* all of it, but parameters may be missing: the others are in other registers */
	CLONE_RESULT, /* likewise, and the result may be missing */
	CLONE_PART,   /* the larger part: what comes before it is inlined into callers */
	CLONE_COLD, /* rare code of the function or of one of these, moved elsewhere: never called */
};

/* suffix: what follows the function's name, from its first '.' on. */
enum clone_kind clone_kind(const char *suffix);

#endif
