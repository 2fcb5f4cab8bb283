/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* svg_impl.h - what the files that write a picture share; nobody else includes it. */
#ifndef HBPROF_SVG_IMPL_H
#define HBPROF_SVG_IMPL_H

#include "flamegraph/boxes.h"
#include "flamegraph/svg.h"

/* Columns of the fixed-width font at 12 px: 0.6 em in all usual ones, in 1/100 px. */
#define COLUMN_CENTIPX 722u
#define TEXT_PAD       3u /* px between a box's edge and its name */

struct picture {
	const struct flame_tree *tree;
	const struct flame_opts *opts;
	struct flame_boxes boxes;
	struct strbuf *out;
	u64 sum;	/* of the width */
	u64 max_change; /* FLAME_BY_DIFF: the largest of all boxes */
	u32 inner_px;	/* the root's width */
	u32 head_px;	/* where the frames begin */
	u32 frames_px;	/* and how high they are */
	u32 gone_px;
};

/* v of sum in parts of 2^32. */
u64 share_of(u64 v, u64 sum);
/* How much a node has changed: its sign, and its size in parts of 2^32 of the whole. */
s64 change_of(const struct picture *p, u32 node);
u32 box_color(const struct picture *p, u32 node);

/* "1,234 samples", "1.23ms", "4.56KB". */
void add_amount(struct strbuf *out, u64 v, const char *unit);
/* "12.34%" of sum. */
void add_percent(struct strbuf *out, u64 v, u64 sum);
/* "+2.34" points, from a change. */
void add_points(struct strbuf *out, s64 change);

/* The <g> of each box. */
void add_frames(struct picture *p);
/* The list of what is in the base only. 0 or -ENOMEM. */
int find_gone(const struct flame_tree *t, u32 **nodes, u32 *nr);
void add_gone(struct picture *p, const u32 *nodes, u32 nr);

#endif
