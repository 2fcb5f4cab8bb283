// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* folded_write.c - a tree as folded stacks, one line for each node that has something of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/boxes.h"
#include "flamegraph/folded.h"
#include "util/array.h"

#define MAX_PATH_BYTES ((size_t)1 << 30) /* a few names many times over */

/* The frames from the root's child to here, with semicolons; end[d]: its length at depth d. */
struct path {
	struct strbuf text;
	size_t *end;
};

static void path__enter(struct path *p, const struct flame_box *b, const char *name)
{
	p->text.len = p->end[b->depth - 1];
	if (b->depth > 1)
		strbuf__addc(&p->text, ';');
	strbuf__adds(&p->text, name);
	p->end[b->depth] = p->text.len;
}

static u64 self_of(const struct flame_tree *t, enum flame_weight w, u32 node)
{
	return t->total[w] ? t->self[w][node] : 0;
}

static void write_node(const struct flame_tree *t, bool both, const struct path *p, u32 node,
		       struct strbuf *out)
{
	u64 width = self_of(t, FLAME_WIDTH, node), base = self_of(t, FLAME_COLOR, node);

	if (!width && !(both && base))
		return;
	strbuf__add(out, p->text.s, p->text.len);
	if (both)
		strbuf__addf(out, " %llu", base);
	strbuf__addf(out, " %llu\n", width);
}

void folded_write(const struct flame_tree *t, bool both, struct strbuf *out)
{
	static const struct flame_cut all = {.everything = true};
	struct flame_boxes boxes;
	struct path p = {.end = NULL};
	int err;

	err = flame_boxes__init(&boxes, t, &all);
	if (err) {
		out->err = out->err ? out->err : err;
		return;
	}
	strbuf__init(&p.text, MAX_PATH_BYTES);
	p.end = array_alloc((size_t)boxes.depth + 1, sizeof(*p.end));
	for (u32 i = 1; p.end && i < boxes.nr && !out->err; i++) {
		path__enter(&p, &boxes.box[i], flame_tree__name(t, boxes.box[i].node));
		if (!p.text.err)
			write_node(t, both, &p, boxes.box[i].node, out);
	}
	if (!out->err)
		out->err = p.end ? p.text.err : -ENOMEM;
	strbuf__fini(&p.text);
	free(p.end);
	flame_boxes__fini(&boxes);
}
