/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * svg.h - a tree as a flame graph in SVG: one file that needs nothing else.
 *
 * Without script it is a complete still picture. With it, a browser zooms, searches and fits it to
 * its window. Whatever the names hold, the file is well-formed XML 1.0 in UTF-8 (label.h). The same
 * tree and options give the same bytes.
 */
#ifndef HBPROF_SVG_H
#define HBPROF_SVG_H

#include "flamegraph/color.h"
#include "flamegraph/tree.h"
#include "util/strbuf.h"

#define FLAME_MAX_TITLE_BYTES 4096 /* of a frame's name are kept for its tooltip */
#define FLAME_MIN_WIDTH	      200u /* px */
#define FLAME_MAX_WIDTH	      100000u
#define FLAME_MARGIN	      10u /* px, left and right of the frames */
#define FLAME_WHOLE	      1000000000u

enum flame_mode {
	FLAME_BY_NAME, /* a colour for each name */
	FLAME_BY_DIFF, /* the second weight is the base that the first is compared with */
	FLAME_BY_HEAT, /* the second weight per unit of the first */
};

struct flame_opts {
	const char *title;
	const char *unit;	/* of the width: "samples"; "ns" and "bytes" are scaled */
	const char *color_unit; /* of the second weight; FLAME_BY_HEAT only */
	u32 width;		/* px */
	u32 frame_height;	/* px */
	u32 min_share; /* of the whole, in parts of FLAME_WHOLE: narrower frames are left out */
	u32 max_depth; /* frames above it are left out; 0: none */
	enum flame_palette palette; /* FLAME_BY_NAME only */
	enum flame_mode mode;
	bool absolute; /* FLAME_BY_DIFF: compare counts, not shares of the whole */
	bool inverted; /* the root above */
	bool script;
};
extern const struct flame_opts flame_default_opts;

/* What the picture does not show. */
struct flame_stats {
	u32 nr_frames; /* drawn */
	u32 nr_narrow, nr_deep;
	u32 nr_gone; /* FLAME_BY_DIFF: frames of the base that nothing is left of */
};

/* Of a tree that was summed and is not empty. 0, -ENOMEM or -EFBIG (out's limit); -ENODATA: the
 * tree has no width. stats may be NULL. */
int flame_svg(const struct flame_tree *t, const struct flame_opts *o, struct strbuf *out,
	      struct flame_stats *stats);

#endif
