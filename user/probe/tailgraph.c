// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tailgraph.c - a node is a function, an edge one of its jumps out. Nodes are made as they are come
 * to, and stay: the functions of one codec jump to the same few others.
 */
#include "probe/tailgraph.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/site_impl.h"
#include "util/array.h"

/* Functions looked at, for all that is asked; beyond, anything may be jumped to. Bounds the time. */
#define NODES_MAX 4096

struct edge {
	struct tail_place to, end; /* end: behind stubs */
	u32 node;
};

struct node {
	u32 image;
	u64 vaddr; /* where the function begins */
	struct edge *edge;
	size_t nr, cap;
	bool anywhere;
	bool linked;
	u32 seen; /* the query that has come here last */
};

struct tailgraph {
	struct tail_source src;
	struct node *node;
	size_t nr, cap;
	u32 query;
};

struct tailgraph *tailgraph__new(const struct tail_source *src)
{
	struct tailgraph *g = calloc(1, sizeof(*g));

	if (g)
		g->src = *src;
	return g;
}

void tailgraph__free(struct tailgraph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->nr; i++)
		free(g->node[i].edge);
	free(g->node);
	free(g);
}

/* ---- making nodes ------------------------------------------------------------------------- */

static bool is_stub(const struct code *c, u64 at, u64 *slot)
{
	size_t off = (size_t)(at - c->vaddr);

	return code__contains(c, at) && c->ops->stub(c->bytes + off, c->len - off, at, slot);
}

/* Follows stubs from *at to the function, c. False: it is not known which. */
static bool tailgraph__locate(struct tailgraph *g, struct tail_place *at, struct code *c)
{
	struct tail_place slot = {.image = at->image};

	for (int hops = 0; hops < 4; hops++) {
		if (!g->src.body(g->src.arg, at, c))
			return false;
		if (!is_stub(c, at->vaddr, &slot.vaddr))
			return true;
		slot.image = at->image;
		if (!g->src.slot(g->src.arg, &slot, at))
			return false;
	}
	return false;
}

static int node__add(struct node *n, const struct tail_place *to)
{
	if (array_grow((void **)&n->edge, n->nr, &n->cap, sizeof(*n->edge)))
		return -ENOMEM;
	n->edge[n->nr++] = (struct edge){.to = *to};
	return 0;
}

/* Where a jump out of c leads; false: anywhere. */
static bool jump_place(const struct tailgraph *g, u32 image, const struct insn *in,
		       struct tail_place *to)
{
	struct tail_place slot = {.vaddr = in->slot, .image = image};

	*to = (struct tail_place){.vaddr = in->target, .image = image};
	return in->kind != INSN_JMP_IND || (in->slot && g->src.slot(g->src.arg, &slot, to));
}

/* The jumps out of c, as edges that lead to no node yet. */
static int node__read(const struct tailgraph *g, struct node *n, const struct code *c)
{
	struct jump_watch watch = {0};
	struct tail_place to;
	struct insn in;
	int err = 0;

	for (u64 at = c->vaddr; code__contains(c, at) && !err; at += in.len) {
		if (code__decode(c, at, &in)) {
			in.len = c->ops->min_len;
			continue;
		}
		if (code__jumps_out(c, &watch, &in)) {
			if (jump_place(g, n->image, &in, &to))
				err = node__add(n, &to);
			else
				n->anywhere = true;
		}
		jump_watch__step(&watch, &in);
	}
	return err;
}

/* The node of the function that c is. *node == NODES_MAX: there are too many. 0 or -ENOMEM. */
static int tailgraph__node(struct tailgraph *g, u32 image, const struct code *c, u32 *node)
{
	struct node n = {.image = image, .vaddr = c->vaddr};
	int err;

	for (u32 i = 0; i < g->nr; i++) {
		*node = i;
		if (g->node[i].vaddr == c->vaddr && g->node[i].image == image)
			return 0;
	}
	*node = NODES_MAX;
	if (g->nr == NODES_MAX)
		return 0;
	err = array_grow((void **)&g->node, g->nr, &g->cap, sizeof(*g->node));
	if (!err)
		err = node__read(g, &n, c);
	if (err) {
		free(n.edge);
		return err;
	}
	*node = (u32)g->nr;
	g->node[g->nr++] = n;
	return 0;
}

/* Leads the edges of a node to nodes; those that cannot be followed make it lead anywhere. */
static int tailgraph__link(struct tailgraph *g, u32 node)
{
	int err = 0;

	for (size_t i = 0; i < g->node[node].nr && !err; i++) {
		struct edge e = g->node[node].edge[i];
		struct code c;

		e.end = e.to;
		e.node = NODES_MAX;
		if (tailgraph__locate(g, &e.end, &c))
			err = tailgraph__node(g, e.end.image, &c, &e.node);
		if (e.node == NODES_MAX)
			g->node[node].anywhere = true;
		g->node[node].edge[i] = e; /* nodes may have moved */
	}
	return err;
}

/* ---- asking ------------------------------------------------------------------------------- */

struct walk {
	u32 *todo; /* nodes, each once */
	size_t nr, cap;
};

static int walk__push(struct walk *w, struct tailgraph *g, u32 node)
{
	if (g->node[node].seen == g->query)
		return 0;
	if (array_grow((void **)&w->todo, w->nr, &w->cap, sizeof(*w->todo)))
		return -ENOMEM;
	g->node[node].seen = g->query;
	w->todo[w->nr++] = node;
	return 0;
}

static int walk__node(struct walk *w, struct tailgraph *g, u32 node,
		      int (*cb)(void *arg, const struct tail_place *to), void *arg, bool *anywhere)
{
	bool linked = g->node[node].linked;
	int err = linked ? 0 : tailgraph__link(g, node);

	g->node[node].linked = true;
	if (g->node[node].anywhere)
		*anywhere = true;
	for (size_t i = 0; i < g->node[node].nr && !err; i++) {
		const struct edge *e = &g->node[node].edge[i];

		err = cb(arg, &e->to);
		if (!err)
			err = cb(arg, &e->end);
		if (!err && e->node != NODES_MAX)
			err = walk__push(w, g, e->node);
	}
	return err;
}

int tailgraph__reach(struct tailgraph *g, const struct tail_place *from,
		     int (*cb)(void *arg, const struct tail_place *to), void *arg, bool *anywhere)
{
	struct walk w = {0};
	struct code c;
	u32 node;
	int err;

	*anywhere = !g->src.body(g->src.arg, from, &c);
	if (*anywhere)
		return 0;
	err = tailgraph__node(g, from->image, &c, &node);
	if (!err && node == NODES_MAX) {
		*anywhere = true;
		return 0;
	}
	g->query++;
	if (!err)
		err = walk__push(&w, g, node);
	for (size_t i = 0; i < w.nr && !err; i++)
		err = walk__node(&w, g, w.todo[i], cb, arg, anywhere);
	free(w.todo);
	return err;
}
