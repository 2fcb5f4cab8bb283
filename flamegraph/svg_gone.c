// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * svg_gone.c - what a differential picture cannot show: frames that only the base has. Listed below
 * it, the largest first; what was called by a frame that is gone itself is part of that one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/label.h"
#include "flamegraph/svg_impl.h"
#include "util/array.h"

#define MAX_LISTED  10u
#define LINE_PX	    18u
#define PATH_FRAMES 3u /* callers named before a frame */

static bool is_gone(const struct flame_tree *t, u32 node)
{
	return node != FLAME_NONE && t->total[FLAME_COLOR][node] && !t->total[FLAME_WIDTH][node];
}

static int compare_gone(const void *a, const void *b, void *tree)
{
	const struct flame_tree *t = tree;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	u64 xw = t->total[FLAME_COLOR][x], yw = t->total[FLAME_COLOR][y];
	int by_name;

	if (xw != yw)
		return xw < yw ? 1 : -1;
	by_name = strcmp(flame_tree__name(t, x), flame_tree__name(t, y));
	return by_name ? by_name : x < y ? -1 : x > y;
}

int find_gone(const struct flame_tree *t, u32 **nodes, u32 *nr)
{
	size_t cap = 0;
	int err;

	*nodes = NULL;
	*nr = 0;
	for (u32 i = 1; i < t->nr_nodes; i++) {
		if (!is_gone(t, i) || is_gone(t, t->node[i].parent))
			continue;
		err = array_grow((void **)nodes, *nr, &cap, sizeof(**nodes));
		if (err) {
			free(*nodes);
			*nodes = NULL;
			return err;
		}
		(*nodes)[(*nr)++] = i;
	}
	if (*nr)
		qsort_r(*nodes, *nr, sizeof(**nodes), compare_gone, (void *)t);
	return 0;
}

/* "caller;caller;name", from the root if it is near. */
static void add_path(const struct flame_tree *t, u32 node, struct strbuf *path)
{
	u32 above[PATH_FRAMES], nr = 0, at;

	for (at = t->node[node].parent; at && nr < PATH_FRAMES; at = t->node[at].parent)
		above[nr++] = at;
	if (at)
		strbuf__adds(path, "\xe2\x80\xa6;");
	while (nr) {
		strbuf__adds(path, flame_tree__name(t, above[--nr]));
		strbuf__addc(path, ';');
	}
	strbuf__adds(path, flame_tree__name(t, node));
}

static void add_line(struct picture *p, u32 node, u32 y, struct strbuf *path)
{
	u64 was = p->tree->total[FLAME_COLOR][node];
	u32 columns = p->inner_px * 100 / COLUMN_CENTIPX;

	strbuf__reset(path);
	add_path(p->tree, node, path);
	strbuf__addf(p->out, "<text x=\"%u\" y=\"%u\">", FLAME_MARGIN, y);
	add_amount(p->out, was, p->opts->unit);
	strbuf__adds(p->out, ", ");
	add_percent(p->out, was, p->tree->sum[FLAME_COLOR]);
	strbuf__adds(p->out, "  ");
	if (path->s)
		label_add_columns(p->out, path->s, columns > 44 ? columns - 24 : 20);
	strbuf__adds(p->out, "</text>\n");
}

void add_gone(struct picture *p, const u32 *nodes, u32 nr)
{
	u32 y = p->head_px + p->frames_px + LINE_PX + 6, shown = nr < MAX_LISTED ? nr : MAX_LISTED;
	struct strbuf path;

	if (!nr)
		return;
	strbuf__init(&path, 64u << 20);
	strbuf__addf(p->out,
		     "<g class=\"gone\" data-lines=\"%u\">\n<text class=\"strong\" x=\"%u\" "
		     "y=\"%u\">Only in the base: %u %s",
		     shown + 1, FLAME_MARGIN, y, nr, nr == 1 ? "frame" : "frames");
	if (nr > shown)
		strbuf__addf(p->out, ", the largest %u", shown);
	strbuf__adds(p->out, "</text>\n");
	for (u32 i = 0; i < shown; i++)
		add_line(p, nodes[i], y + (i + 1) * LINE_PX, &path);
	strbuf__adds(p->out, "</g>\n");
	p->gone_px = (shown + 1) * LINE_PX + 10;
	if (path.err)
		p->out->err = path.err;
	strbuf__fini(&path);
}
