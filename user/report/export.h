/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export.h - a recording in the formats of other tools. Pure: a recording in, bytes out. What the
 * columns, samples and names mean is in docs/man/hbprof-export.1.scd, which scripts rely on.
 *
 * Measured calls have no stacks. What stands in for them, where a format is made of stacks, is the
 * order that the rows have: codec, operation, function (export_frames). CPU samples have stacks.
 */
#ifndef HBPROF_EXPORT_H
#define HBPROF_EXPORT_H

#include "report/table.h"

enum export_format {
	EXPORT_CSV,
	EXPORT_JSON,
	EXPORT_PPROF,
	EXPORT_SPEEDSCOPE,
	EXPORT_OPENMETRICS,
	EXPORT_BENCHSTAT,
	EXPORT_FOLDED,
	EXPORT_NR,
};

/* What is exported. By default: folded has the stacks, speedscope what there is, the others the
 * calls, so that a file does not change its meaning with the capture. */
enum export_of { EXPORT_OF_DEFAULT, EXPORT_CALLS, EXPORT_STACKS };

/* As typed, in the order of the enum. */
extern const char *const export_format_names[EXPORT_NR];
/* Not text: not to be written to a terminal. */
bool export_is_binary(enum export_format format);
bool export_has(enum export_format format, enum export_of of);

/* *out is malloced, and its bytes may be any. 0, -ENOMEM, -EFBIG: more than 1 GB, -ENODATA: stacks
 * are wanted, and there are none; -EINVAL: the format does not have that. */
int export__render(const struct recording *r, enum export_format format, enum export_of of,
		   char **out, size_t *len);

/* One writer for each format; they append to v->out, which keeps its own errors. 0 or -ENOMEM. */
int export_csv(struct view *v); /* v->opts->by: by size, a line for each size class */
int export_pprof(struct view *v, enum export_of of);
int export_speedscope(struct view *v, enum export_of of);
int export_folded(struct view *v);
int export_openmetrics(struct view *v);
int export_benchstat(struct view *v);

/* ---- what they share ---- */

#define EXPORT_DEPTH 3

struct export_frame {
	char *name;	  /* owned */
	const char *file; /* library or executable, or NULL */
};

/* A group with the frames that lead to it, the outermost first. */
struct export_stack {
	const struct group *g;
	u32 frame[EXPORT_DEPTH];
	u32 depth;
};

struct export_frames {
	struct export_frame *frame;
	struct export_stack *stack; /* by codec, operation, function; nr_stacks = groups */
	u32 nr, nr_stacks;
};

/* 0 or -ENOMEM. */
int export_frames__build(struct export_frames *f, const struct view *v);
void export_frames__fini(struct export_frames *f);

/* Total inclusive and exclusive time of a row; what is not known counts as nothing. */
u64 export_row_ns(const struct m_row *row, bool exclusive);
/* "512 B to 1023 B", "empty", "size not known". buf of >= 64. */
const char *export_size_class(char buf[64], u32 size_class);
/* The library of a function, else the path of its image; NULL: neither is known. */
const char *export_library(const struct view *v, const struct m_func *f);
/* Of a function's calls: "encoding/json encode"; of what was named with --probe the function. malloced,
 * or NULL. */
char *export_call_name(const struct m_func *f);

/* ---- CPU stacks ---- */

/* The one frame of samples whose stacks found no room. */
#define EXPORT_UNKEPT "[no room for the stack]"

/* The CPU time that the samples of a stack stand for. */
u64 export_stack_ns(const struct m_stacks *s, const struct m_stack *st);

#endif
