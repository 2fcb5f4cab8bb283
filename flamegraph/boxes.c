// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * boxes.c - a walk over the tree with a stack of its own: trees are as deep as their source says.
 * Only what is drawn is sorted.
 */
#include "flamegraph/boxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct walk {
	const struct flame_tree *tree;
	const struct flame_cut *cut;
	struct flame_boxes *out;
	size_t out_cap;
	struct flame_box *todo; /* a stack; siblings lie in it with the leftmost on top */
	size_t nr_todo, todo_cap;
};

static bool is_drawn(const struct walk *w, u32 node)
{
	u64 width = w->tree->total[FLAME_WIDTH][node];

	return w->cut->everything || (width && width >= w->cut->min_weight);
}

/* The last name first: the one that is pushed last is taken first. */
static int compare_names(const void *a, const void *b, void *tree)
{
	const struct flame_box *x = a, *y = b;

	return strcmp(flame_tree__name(tree, y->node), flame_tree__name(tree, x->node));
}

static int push_children(struct walk *w, const struct flame_box *parent)
{
	const struct flame_tree *t = w->tree;
	size_t first = w->nr_todo;
	u64 x = parent->x;
	int err;

	if (w->cut->max_depth && parent->depth >= w->cut->max_depth)
		return 0;
	for (u32 c = t->node[parent->node].child; c != FLAME_NONE; c = t->node[c].next) {
		if (!is_drawn(w, c))
			continue;
		err = array_grow((void **)&w->todo, w->nr_todo, &w->todo_cap, sizeof(*w->todo));
		if (err)
			return err;
		w->todo[w->nr_todo++] = (struct flame_box){.node = c, .depth = parent->depth + 1};
	}
	if (w->nr_todo - first > 1)
		qsort_r(w->todo + first, w->nr_todo - first, sizeof(*w->todo), compare_names,
			(void *)t);
	for (size_t i = w->nr_todo; i > first; i--) {
		w->todo[i - 1].x = x;
		x += t->total[FLAME_WIDTH][w->todo[i - 1].node];
	}
	return 0;
}

static int take_next(struct walk *w)
{
	struct flame_boxes *out = w->out;
	struct flame_box box = w->todo[--w->nr_todo];
	int err;

	err = array_grow((void **)&out->box, out->nr, &w->out_cap, sizeof(*out->box));
	if (err)
		return err;
	out->box[out->nr++] = box;
	if (box.depth > out->depth)
		out->depth = box.depth;
	return push_children(w, &box);
}

static int count_left_out(const struct flame_tree *t, const struct flame_cut *cut,
			  struct flame_boxes *out)
{
	u32 *depth = array_alloc(t->nr_nodes, sizeof(*depth)), nr = 0;

	if (!depth)
		return -ENOMEM;
	for (u32 i = 0; i < t->nr_nodes; i++) {
		depth[i] = i ? depth[t->node[i].parent] + 1 : 0;
		if (!cut->everything && !t->total[FLAME_WIDTH][i])
			continue;
		nr++;
		out->nr_deep += cut->max_depth && depth[i] > cut->max_depth;
	}
	free(depth);
	/* The root is a box even where there is nothing at all. */
	out->nr_narrow = nr > out->nr + out->nr_deep ? nr - out->nr - out->nr_deep : 0;
	return 0;
}

int flame_boxes__init(struct flame_boxes *b, const struct flame_tree *t,
		      const struct flame_cut *cut)
{
	struct walk w = {.tree = t, .cut = cut, .out = b};
	int err;

	*b = (struct flame_boxes){0};
	err = array_grow((void **)&w.todo, 0, &w.todo_cap, sizeof(*w.todo));
	if (!err)
		w.todo[w.nr_todo++] = (struct flame_box){0};
	while (!err && w.nr_todo)
		err = take_next(&w);
	if (!err)
		err = count_left_out(t, cut, b);
	free(w.todo);
	if (err)
		flame_boxes__fini(b);
	return err;
}

void flame_boxes__fini(struct flame_boxes *b)
{
	free(b->box);
	*b = (struct flame_boxes){0};
}
