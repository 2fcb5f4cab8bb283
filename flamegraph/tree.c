// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tree.c - the tree and its two indices, open hash tables: name -> number of the name, and (parent,
 * name) -> node. Where the stacks come from and how they are drawn is left to others.
 *
 * A tree of millions of nodes is far larger than any cache, and what takes the time is waiting for
 * memory. So a step down the tree reads one slot and no node, the slots of new nodes are fetched
 * ahead, siblings are linked in the end, and the table lies on huge pages where the kernel has some.
 */
#include "flamegraph/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/array.h"

#define MIN_SLOTS 1024u /* a power of two */

const struct flame_limits flame_default_limits = {
	.max_depth = 4096,
	.max_nodes = 16u << 20,
	.max_names = 256u << 20,
};

#define HUGE_PAGE ((size_t)2 << 20)
#define AHEAD	  16u /* slots that are fetched before they are written to */

/* Slots hold a number + 1; 0 is a free slot. At most half of them are taken. */
struct name_table {
	u32 *slot;
	u32 nr_slots;
};

/* A slot is free if its node is 0: nothing leads to the root. At most 3/4 of them are taken. */
struct path_slot {
	u32 parent, name, node;
};

struct path_table {
	struct path_slot *slot;
	u32 nr_slots;
};

struct name {
	u32 off, len; /* in the pool, where it is terminated */
	u32 hash;
};

struct flame_index {
	size_t node_cap, self_cap[FLAME_WEIGHTS];
	char *pool;
	size_t pool_len, pool_cap;
	struct name *name;
	size_t name_cap;
	u32 nr_names;
	struct name_table by_name;
	struct path_table by_path;
};

/* ---- hash tables ---- */

/* Half of a 128-bit product folded into the other, as wyhash does it: eight bytes a step. */
static u64 hash_mix(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

static u32 hash_bytes(const char *s, size_t len)
{
	u64 h = 0x9e3779b97f4a7c15ULL ^ len, word;

	for (; len >= sizeof(word); s += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = hash_mix(h ^ word, 0xbf58476d1ce4e5b9ULL);
	}
	word = 0;
	memcpy(&word, s, len);
	h = hash_mix(h ^ word, 0x94d049bb133111ebULL);
	return (u32)(h ^ h >> 32);
}

static u32 hash_pair(u32 parent, u32 name)
{
	u64 h = hash_mix(((u64)parent << 32 | name) ^ 0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL);

	return (u32)(h ^ h >> 32);
}

/* ---- names ---- */

static u32 name_find(const struct flame_index *x, const struct flame_frame *f, u32 hash)
{
	const struct name_table *t = &x->by_name;
	const struct name *name;
	u32 i;

	if (!t->nr_slots)
		return FLAME_NONE;
	for (i = hash & (t->nr_slots - 1); t->slot[i]; i = (i + 1) & (t->nr_slots - 1)) {
		name = &x->name[t->slot[i] - 1];
		if (name->hash == hash && name->len == f->len &&
		    !memcmp(x->pool + name->off, f->name, f->len))
			return t->slot[i] - 1;
	}
	return FLAME_NONE;
}

static int pool_grow(struct flame_index *x, size_t more)
{
	size_t need = x->pool_len + more, cap = x->pool_cap;
	char *bigger;

	while (cap < need)
		cap = cap ? cap * 2 : 4096;
	if (cap == x->pool_cap)
		return 0;
	bigger = realloc(x->pool, cap);
	if (!bigger)
		return -ENOMEM;
	x->pool = bigger;
	x->pool_cap = cap;
	return 0;
}

static void names__put(struct name_table *t, u32 hash, u32 number)
{
	u32 i = hash & (t->nr_slots - 1);

	while (t->slot[i])
		i = (i + 1) & (t->nr_slots - 1);
	t->slot[i] = number + 1;
}

/* Room for one more name. On failure the table is as it was. */
static int names__reserve(struct flame_index *x)
{
	struct name_table *t = &x->by_name, bigger;

	if (x->nr_names < t->nr_slots / 2)
		return 0;
	bigger.nr_slots = t->nr_slots ? t->nr_slots * 2 : MIN_SLOTS;
	bigger.slot = bigger.nr_slots ? array_alloc(bigger.nr_slots, sizeof(*t->slot)) : NULL;
	if (!bigger.slot)
		return -ENOMEM;
	for (u32 i = 0; i < x->nr_names; i++)
		names__put(&bigger, x->name[i].hash, i);
	free(t->slot);
	*t = bigger;
	return 0;
}

static int name_add(struct flame_index *x, const struct flame_frame *f, u32 hash, u32 *number)
{
	int err;

	err = pool_grow(x, f->len + 1);
	if (!err)
		err = array_grow((void **)&x->name, x->nr_names, &x->name_cap, sizeof(*x->name));
	if (!err)
		err = names__reserve(x);
	if (err)
		return err;
	memcpy(x->pool + x->pool_len, f->name, f->len);
	x->pool[x->pool_len + f->len] = '\0';
	x->name[x->nr_names] =
		(struct name){.off = (u32)x->pool_len, .len = (u32)f->len, .hash = hash};
	x->pool_len += f->len + 1;
	names__put(&x->by_name, hash, x->nr_names);
	*number = x->nr_names++;
	return 0;
}

/* ---- nodes ---- */

static u32 node_find(const struct path_table *p, u32 parent, u32 name)
{
	u32 i;

	if (!p->nr_slots)
		return FLAME_NONE;
	for (i = hash_pair(parent, name) & (p->nr_slots - 1); p->slot[i].node;
	     i = (i + 1) & (p->nr_slots - 1))
		if (p->slot[i].parent == parent && p->slot[i].name == name)
			return p->slot[i].node;
	return FLAME_NONE;
}

static void paths__put(struct path_table *p, u32 parent, u32 name, u32 node)
{
	u32 i = hash_pair(parent, name) & (p->nr_slots - 1);

	while (p->slot[i].node)
		i = (i + 1) & (p->nr_slots - 1);
	p->slot[i] = (struct path_slot){.parent = parent, .name = name, .node = node};
}

static struct path_slot *alloc_slots(u32 nr)
{
	size_t bytes;
	void *slots = NULL;

	if (__builtin_mul_overflow((size_t)nr, sizeof(struct path_slot), &bytes))
		return NULL;
	if (bytes < HUGE_PAGE)
		return calloc(1, bytes);
	bytes = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	if (posix_memalign(&slots, HUGE_PAGE, bytes))
		return NULL;
	madvise(slots, bytes, MADV_HUGEPAGE); /* a wish: nothing depends on it */
	return memset(slots, 0, bytes);
}

/* Room for `more` nodes in both the tree and the table. On failure both are as they were. */
static int paths__reserve(struct flame_tree *t, u32 more)
{
	struct path_table *p = &t->index->by_path, bigger = *p;
	u64 need = (u64)t->nr_nodes + more;

	while (need > (u64)bigger.nr_slots / 4 * 3) {
		if (bigger.nr_slots > 1u << 30)
			return -ENOMEM;
		bigger.nr_slots = bigger.nr_slots ? bigger.nr_slots * 2 : MIN_SLOTS;
	}
	if (bigger.nr_slots == p->nr_slots)
		return 0;
	bigger.slot = alloc_slots(bigger.nr_slots);
	if (!bigger.slot)
		return -ENOMEM;
	for (u32 i = 1; i < t->nr_nodes; i++) {
		const struct flame_node *ahead = &t->node[i + AHEAD < t->nr_nodes ? i + AHEAD : i];

		__builtin_prefetch(
			&bigger.slot[hash_pair(ahead->parent, ahead->name) & (bigger.nr_slots - 1)],
			1);
		paths__put(&bigger, t->node[i].parent, t->node[i].name, i);
	}
	free(p->slot);
	*p = bigger;
	return 0;
}

static int node_add(struct flame_tree *t, u32 parent, u32 name, u32 *number)
{
	struct flame_index *x = t->index;
	int err;

	err = array_grow((void **)&t->node, t->nr_nodes, &x->node_cap, sizeof(*t->node));
	if (err)
		return err;
	t->node[t->nr_nodes] = (struct flame_node){
		.name = name, .parent = parent, .child = FLAME_NONE, .next = FLAME_NONE};
	if (parent != FLAME_NONE)
		paths__put(&x->by_path, parent, name, t->nr_nodes);
	*number = t->nr_nodes++;
	return 0;
}

/* The weights of a dimension that nothing was added to take no memory. */
static int weights_grow(struct flame_tree *t, enum flame_weight w)
{
	struct flame_index *x = t->index;
	size_t old = x->self_cap[w];
	u64 *bigger;

	if (old >= x->node_cap)
		return 0;
	bigger = reallocarray(t->self[w], x->node_cap, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + old, 0, (x->node_cap - old) * sizeof(*bigger));
	t->self[w] = bigger;
	x->self_cap[w] = x->node_cap;
	return 0;
}

/* ---- stacks ---- */

/* All of these frames get new nodes. A name that comes twice is counted twice. */
static bool fits(const struct flame_tree *t, const struct flame_frame *f, u32 nr)
{
	size_t room = t->limits.max_names - t->index->pool_len;

	if (nr > t->limits.max_nodes - t->nr_nodes)
		return false;
	for (u32 i = 0; i < nr; i++) {
		if (name_find(t->index, &f[i], hash_bytes(f[i].name, f[i].len)) != FLAME_NONE)
			continue;
		if (f[i].len >= room)
			return false;
		room -= f[i].len + 1;
	}
	return true;
}

/* As fits(), without looking at the names: right for all but the last megabytes of a full tree. */
static bool fits_surely(const struct flame_tree *t, const struct flame_frame *f, u32 nr)
{
	size_t need = 0;

	for (u32 i = 0; i < nr; i++)
		need += f[i].len + 1;
	return nr <= t->limits.max_nodes - t->nr_nodes &&
	       need <= t->limits.max_names - t->index->pool_len;
}

/* All of these frames get new nodes: their numbers, and so their slots, are known before. */
static int add_nodes(struct flame_tree *t, u32 at, const struct flame_frame *frames, u32 nr,
		     u32 *path)
{
	struct flame_index *x = t->index;
	const struct path_table *p = &x->by_path;
	int err;

	if (!fits_surely(t, frames, nr) && !fits(t, frames, nr))
		return -ENOSPC;
	err = paths__reserve(t, nr);
	for (u32 i = 0; !err && i < nr; i++) {
		u32 hash = hash_bytes(frames[i].name, frames[i].len);
		u32 parent = i ? t->nr_nodes + i - 1 : at;

		path[i] = name_find(x, &frames[i], hash); /* the name, until it has a node */
		if (path[i] == FLAME_NONE)
			err = name_add(x, &frames[i], hash, &path[i]);
		__builtin_prefetch(&p->slot[hash_pair(parent, path[i]) & (p->nr_slots - 1)], 1);
	}
	for (u32 i = 0; !err && i < nr; i++) {
		err = node_add(t, at, path[i], &path[i]);
		at = path[i];
	}
	return err;
}

int flame_tree__walk(struct flame_tree *t, u32 at, const struct flame_frame *frames, u32 nr,
		     u32 *path)
{
	const struct flame_index *x = t->index;
	u32 name, i;

	for (i = 0; i < nr; i++) {
		name = name_find(x, &frames[i], hash_bytes(frames[i].name, frames[i].len));
		path[i] = name == FLAME_NONE ? name : node_find(&x->by_path, at, name);
		if (path[i] == FLAME_NONE)
			return add_nodes(t, at, frames + i, nr - i, path + i);
		at = path[i];
	}
	return 0;
}

int flame_tree__count(struct flame_tree *t, u32 node, u32 depth, enum flame_weight weight,
		      u64 count)
{
	u64 sum;
	int err;

	if (__builtin_add_overflow(t->sum[weight], count, &sum))
		return -EOVERFLOW;
	err = weights_grow(t, weight);
	if (err)
		return err;
	t->self[weight][node] += count;
	t->sum[weight] = sum;
	if (depth > t->depth)
		t->depth = depth;
	return 0;
}

int flame_tree__add(struct flame_tree *t, const struct flame_frame *frames, u32 nr,
		    enum flame_weight weight, u64 count)
{
	u32 *path, at = 0;
	u64 sum;
	int err;

	if (nr > t->limits.max_depth)
		return -E2BIG;
	if (__builtin_add_overflow(t->sum[weight], count, &sum))
		return -EOVERFLOW;
	path = array_alloc(nr, sizeof(*path));
	if (!path)
		return -ENOMEM;
	err = flame_tree__walk(t, at, frames, nr, path);
	if (!err)
		err = flame_tree__count(t, nr ? path[nr - 1] : at, nr, weight, count);
	free(path);
	return err;
}

static void link_children(struct flame_tree *t)
{
	for (u32 i = 0; i < t->nr_nodes; i++)
		t->node[i].child = FLAME_NONE;
	for (u32 i = t->nr_nodes - 1; i > 0; i--) {
		struct flame_node *parent = &t->node[t->node[i].parent];

		t->node[i].next = parent->child;
		parent->child = i;
	}
}

int flame_tree__sum(struct flame_tree *t)
{
	link_children(t);
	for (u32 w = 0; w < FLAME_WEIGHTS; w++) {
		int err = weights_grow(t, w);
		u64 *total;

		if (err)
			return err;
		total = array_alloc(t->nr_nodes, sizeof(*total));
		if (!total)
			return -ENOMEM;
		memcpy(total, t->self[w], t->nr_nodes * sizeof(*total));
		/* Children come behind their parent: theirs are complete when they are added. */
		for (u32 i = t->nr_nodes - 1; i > 0; i--)
			total[t->node[i].parent] += total[i];
		free(t->total[w]);
		t->total[w] = total;
	}
	return 0;
}

/* ---- life ---- */

int flame_tree__new(const struct flame_limits *limits, struct flame_tree **out)
{
	static const struct flame_frame no_name = {"", 0};
	struct flame_tree *t = calloc(1, sizeof(*t));
	u32 root, name;
	int err = -ENOMEM;

	if (!t)
		return err;
	t->limits = limits ? *limits : flame_default_limits;
	/* Offsets in the pool are u32, and the root needs its node and its name. */
	if (t->limits.max_names > 1u << 31)
		t->limits.max_names = 1u << 31;
	if (!t->limits.max_names)
		t->limits.max_names = 1;
	if (!t->limits.max_nodes)
		t->limits.max_nodes = 1;
	t->index = calloc(1, sizeof(*t->index));
	if (!t->index)
		goto out;
	err = name_add(t->index, &no_name, hash_bytes("", 0), &name);
	if (!err)
		err = node_add(t, FLAME_NONE, name, &root);
	if (!err)
		err = weights_grow(t, FLAME_WIDTH);
out:
	if (err)
		flame_tree__free(t);
	else
		*out = t;
	return err;
}

void flame_tree__free(struct flame_tree *t)
{
	if (!t)
		return;
	if (t->index) {
		free(t->index->pool);
		free(t->index->name);
		free(t->index->by_name.slot);
		free(t->index->by_path.slot);
	}
	for (u32 w = 0; w < FLAME_WEIGHTS; w++) {
		free(t->self[w]);
		free(t->total[w]);
	}
	free(t->index);
	free(t->node);
	free(t);
}

const char *flame_tree__name(const struct flame_tree *t, u32 node)
{
	return t->index->pool + t->index->name[t->node[node].name].off;
}
