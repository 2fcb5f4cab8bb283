// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * folded.c - the tree and its two indices: name -> offset in the pool of names, and (parent, name) ->
 * node. Both are open hash tables of numbers; what they point at is compared in full. Drawing is left
 * to others.
 */
#include "flamegraph/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define MIN_SLOTS 1024u /* a power of two */

const struct folded_limits folded_default_limits = {
	.max_line = 1u << 20,
	.max_depth = 4096,
	.max_nodes = 4u << 20,
	.max_names = 256u << 20,
};

/* Slots hold a number + 1; 0 is a free slot. At most half of them are taken. */
struct table {
	u32 *slot;
	u32 nr_slots, nr;
};

struct folded_index {
	struct folded_limits limits;
	size_t node_cap;
	char *pool; /* names, each terminated; [0] is "" */
	size_t pool_len, pool_cap;
	u32 *name; /* offset in the pool by number of the name */
	size_t name_cap;
	u32 nr_names;
	struct table by_name, by_path;
};

static const char *const bad_texts[FOLDED_NR] = {
	[FOLDED_OK] = "used",
	[FOLDED_EMPTY] = "empty",
	[FOLDED_NO_COUNT] = "no count",
	[FOLDED_ZERO] = "a count of 0",
	[FOLDED_NEGATIVE] = "a negative count",
	[FOLDED_HUGE] = "a count too large",
	[FOLDED_EMPTY_FRAME] = "a frame without a name",
	[FOLDED_BINARY] = "binary data",
	[FOLDED_LONG] = "too long",
	[FOLDED_DEEP] = "too many frames",
	[FOLDED_FULL] = "too many different stacks",
};

const char *folded_bad_text(enum folded_bad bad)
{
	return (u32)bad < FOLDED_NR ? bad_texts[bad] : "";
}

/* ---- hash tables ---- */

/* FNV-1a (64 bit offset basis and prime of Fowler, Noll, Vo). */
static u64 hash_bytes(const char *s, size_t len)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (u8)s[i]) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static u64 hash_pair(u32 parent, u32 name)
{
	u64 h = ((u64)parent << 32 | name) * 0x9e3779b97f4a7c15ULL;

	return h ^ h >> 32;
}

static void table__put(struct table *t, u64 hash, u32 number)
{
	u32 i = (u32)hash & (t->nr_slots - 1);

	while (t->slot[i])
		i = (i + 1) & (t->nr_slots - 1);
	t->slot[i] = number + 1;
	t->nr++;
}

static u64 hash_entry(const struct folded *f, const struct table *t, u32 number)
{
	const struct folded_index *x = f->index;
	const char *s;

	if (t == &x->by_path)
		return hash_pair(f->node[number].parent, f->node[number].name);
	s = x->pool + x->name[number];
	return hash_bytes(s, strlen(s));
}

/* Room for one more entry. On failure the table is as it was. */
static int table__reserve(const struct folded *f, struct table *t)
{
	struct table bigger = {.nr_slots = t->nr_slots ? t->nr_slots * 2 : MIN_SLOTS};

	if (t->nr < t->nr_slots / 2)
		return 0;
	if (bigger.nr_slots < t->nr_slots)
		return -ENOMEM;
	bigger.slot = array_alloc(bigger.nr_slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (u32 i = 0; i < t->nr_slots; i++)
		if (t->slot[i])
			table__put(&bigger, hash_entry(f, t, t->slot[i] - 1), t->slot[i] - 1);
	free(t->slot);
	*t = bigger;
	return 0;
}

/* ---- names ---- */

static u32 name_find(const struct folded *f, const char *s, size_t len)
{
	const struct folded_index *x = f->index;
	const struct table *t = &x->by_name;
	u32 i, number;

	if (!t->nr_slots)
		return FOLDED_NONE;
	for (i = (u32)hash_bytes(s, len) & (t->nr_slots - 1); t->slot[i];
	     i = (i + 1) & (t->nr_slots - 1)) {
		number = t->slot[i] - 1;
		if (!strncmp(x->pool + x->name[number], s, len) && !x->pool[x->name[number] + len])
			return number;
	}
	return FOLDED_NONE;
}

static int pool_grow(struct folded_index *x, size_t more)
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

static int name_add(struct folded *f, const char *s, size_t len, u32 *number)
{
	struct folded_index *x = f->index;
	int err;

	err = pool_grow(x, len + 1);
	if (!err)
		err = array_grow((void **)&x->name, x->nr_names, &x->name_cap, sizeof(*x->name));
	if (!err)
		err = table__reserve(f, &x->by_name);
	if (err)
		return err;
	memcpy(x->pool + x->pool_len, s, len);
	x->pool[x->pool_len + len] = '\0';
	x->name[x->nr_names] = (u32)x->pool_len;
	x->pool_len += len + 1;
	table__put(&x->by_name, hash_bytes(s, len), x->nr_names);
	*number = x->nr_names++;
	return 0;
}

/* ---- nodes ---- */

static u32 node_find(const struct folded *f, u32 parent, u32 name)
{
	const struct table *t = &f->index->by_path;
	u32 i, number;

	if (!t->nr_slots)
		return FOLDED_NONE;
	for (i = (u32)hash_pair(parent, name) & (t->nr_slots - 1); t->slot[i];
	     i = (i + 1) & (t->nr_slots - 1)) {
		number = t->slot[i] - 1;
		if (f->node[number].parent == parent && f->node[number].name == name)
			return number;
	}
	return FOLDED_NONE;
}

static int node_add(struct folded *f, u32 parent, u32 name, u32 *number)
{
	struct folded_index *x = f->index;
	int err;

	err = array_grow((void **)&f->node, f->nr_nodes, &x->node_cap, sizeof(*f->node));
	if (!err)
		err = table__reserve(f, &x->by_path);
	if (err)
		return err;
	f->node[f->nr_nodes] = (struct folded_node){
		.name = name, .parent = parent, .child = FOLDED_NONE, .next = FOLDED_NONE};
	if (parent != FOLDED_NONE) {
		f->node[f->nr_nodes].next = f->node[parent].child;
		f->node[parent].child = f->nr_nodes;
	}
	table__put(&x->by_path, hash_pair(parent, name), f->nr_nodes);
	*number = f->nr_nodes++;
	return 0;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The stack's length and the count behind it. */
static enum folded_bad split_count(const char *line, size_t len, size_t *stack_len, u64 *count)
{
	size_t at;
	u64 n = 0;

	while (len && is_blank(line[len - 1]))
		len--;
	if (!len)
		return FOLDED_EMPTY;
	for (at = len; at && !is_blank(line[at - 1]);)
		at--;
	*stack_len = at;
	while (*stack_len && is_blank(line[*stack_len - 1]))
		(*stack_len)--;
	if (!*stack_len)
		return FOLDED_NO_COUNT;
	if (line[at] == '-' && at + 1 < len) {
		for (at++; at < len; at++)
			if (line[at] < '0' || line[at] > '9')
				return FOLDED_NO_COUNT;
		return FOLDED_NEGATIVE;
	}
	for (size_t i = at; i < len; i++)
		if (line[i] < '0' || line[i] > '9')
			return FOLDED_NO_COUNT;
	for (; at < len; at++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (u64)(line[at] - '0'), &n))
			return FOLDED_HUGE;
	*count = n;
	return n ? FOLDED_OK : FOLDED_ZERO;
}

/* The next frame of stack; false behind the last. */
static bool next_frame(const char **stack, const char *end, const char **frame, size_t *len)
{
	const char *semicolon;

	if (*stack > end)
		return false;
	semicolon = memchr(*stack, ';', (size_t)(end - *stack));
	*frame = *stack;
	*len = (size_t)((semicolon ? semicolon : end) - *stack);
	*stack += *len + 1;
	return true;
}

/* Counts what the stack would add, so that nothing of a line that does not fit is left behind. */
static enum folded_bad check_stack(const struct folded *f, const char *stack, const char *end,
				   u32 *depth)
{
	const struct folded_limits *max = &f->index->limits;
	size_t len, new_bytes = 0;
	u32 at = 0, name, new_nodes = 0;
	const char *frame;

	*depth = 0;
	while (next_frame(&stack, end, &frame, &len)) {
		if (!len)
			return FOLDED_EMPTY_FRAME;
		if (++*depth > max->max_depth)
			return FOLDED_DEEP;
		name = name_find(f, frame, len);
		if (name == FOLDED_NONE)
			new_bytes += len + 1; /* a name that comes twice is counted twice */
		at = at == FOLDED_NONE || name == FOLDED_NONE ? FOLDED_NONE
							      : node_find(f, at, name);
		new_nodes += at == FOLDED_NONE;
	}
	if (new_nodes > max->max_nodes - f->nr_nodes ||
	    new_bytes > max->max_names - f->index->pool_len)
		return FOLDED_FULL;
	return FOLDED_OK;
}

static int add_stack(struct folded *f, const char *stack, const char *end, u64 count)
{
	u32 at = 0, name, next;
	const char *frame;
	size_t len;
	int err = 0;

	while (!err && next_frame(&stack, end, &frame, &len)) {
		name = name_find(f, frame, len);
		if (name == FOLDED_NONE)
			err = name_add(f, frame, len, &name);
		if (err)
			break;
		next = node_find(f, at, name);
		if (next == FOLDED_NONE)
			err = node_add(f, at, name, &next);
		if (!err)
			at = next;
	}
	if (err)
		return err;
	f->node[at].self += count;
	for (; at != FOLDED_NONE; at = f->node[at].parent)
		f->node[at].total += count;
	return 0;
}

int folded__add_line(struct folded *f, const char *line, size_t len, enum folded_bad *bad)
{
	enum folded_bad what = FOLDED_OK;
	size_t stack_len = 0;
	u32 depth = 0;
	u64 count = 0, sum;
	int err = 0;

	if (len > f->index->limits.max_line)
		what = FOLDED_LONG;
	else if (memchr(line, '\0', len))
		what = FOLDED_BINARY;
	else
		what = split_count(line, len, &stack_len, &count);
	if (what == FOLDED_OK && __builtin_add_overflow(f->node[0].total, count, &sum))
		what = FOLDED_HUGE;
	if (what == FOLDED_OK)
		what = check_stack(f, line, line + stack_len, &depth);
	if (what == FOLDED_OK)
		err = add_stack(f, line, line + stack_len, count);
	if (err)
		return err;
	if (depth > f->depth && what == FOLDED_OK)
		f->depth = depth;
	f->lines[what]++;
	if (bad)
		*bad = what;
	return 0;
}

int folded__read(struct folded *f, FILE *in)
{
	size_t max = f->index->limits.max_line, len = 0;
	char *line = malloc(max + 1);
	bool any = false;
	int c, err = line ? 0 : -ENOMEM;

	while (!err && (c = getc_unlocked(in)) != EOF) {
		any = c != '\n';
		if (c == '\n') {
			err = folded__add_line(f, line, len, NULL);
			len = 0;
		} else if (len <=
			   max) { /* one byte more than allowed is kept: it says "too long" */
			line[len++] = (char)c;
		}
	}
	if (!err && any)
		err = folded__add_line(f, line, len, NULL);
	if (!err && ferror(in))
		err = -EIO;
	free(line);
	return err;
}

/* ---- life ---- */

int folded__new(const struct folded_limits *limits, struct folded **out)
{
	struct folded *f = calloc(1, sizeof(*f));
	u32 root, name;
	int err = -ENOMEM;

	if (!f)
		return err;
	f->index = calloc(1, sizeof(*f->index));
	if (!f->index)
		goto out;
	f->index->limits = limits ? *limits : folded_default_limits;
	/* Offsets in the pool are u32, and the root needs its node and its name. */
	if (f->index->limits.max_names > 1u << 31)
		f->index->limits.max_names = 1u << 31;
	if (!f->index->limits.max_names)
		f->index->limits.max_names = 1;
	if (!f->index->limits.max_nodes)
		f->index->limits.max_nodes = 1;
	err = name_add(f, "", 0, &name);
	if (!err)
		err = node_add(f, FOLDED_NONE, name, &root);
out:
	if (err)
		folded__free(f);
	else
		*out = f;
	return err;
}

void folded__free(struct folded *f)
{
	if (!f)
		return;
	if (f->index) {
		free(f->index->pool);
		free(f->index->name);
		free(f->index->by_name.slot);
		free(f->index->by_path.slot);
	}
	free(f->index);
	free(f->node);
	free(f);
}

const char *folded__name(const struct folded *f, u32 node)
{
	return f->index->pool + f->index->name[f->node[node].name];
}
