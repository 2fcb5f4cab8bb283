// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stackagg.c - two hash tables, of frames and of stacks, over arrays that only grow. */
#include "model/stackagg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

const struct stackagg_limits stackagg_default_limits = {
	.max_stacks = 32768,
	.max_frames = 65536,
	.max_refs = 768 * 1024,
};

#define FIRST_SLOTS 256u
#define NO_FRAME    (~0u)

void stackagg__init(struct stackagg *a, const struct stackagg_limits *max)
{
	*a = (struct stackagg){.max = max ? *max : stackagg_default_limits};
}

void stackagg__fini(struct stackagg *a)
{
	free(a->frame);
	free(a->ref);
	free(a->stack);
	free(a->frame_slot);
	free(a->stack_slot);
	*a = (struct stackagg){0};
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

/* ---- hash tables: at most half full, linear probing ---- */

typedef u64 hash_of(const struct stackagg *a, u32 i);

static u64 frame_hash(const struct stackagg *a, u32 i)
{
	return mix(0, a->frame[i]);
}

static u64 refs_hash(const u32 *ref, u32 nr, u32 func, u32 target)
{
	u64 h = mix(func, target);

	for (u32 i = 0; i < nr; i++)
		h = mix(h, ref[i]);
	return h;
}

static u64 stack_hash(const struct stackagg *a, u32 i)
{
	const struct stackagg_stack *s = &a->stack[i];

	return refs_hash(a->ref + s->first, s->nr, s->func, s->target);
}

static int slots_grow(const struct stackagg *a, u32 **slot, u32 *nr_slots, u32 used, hash_of *hash)
{
	u32 nr = *nr_slots ? *nr_slots * 2 : FIRST_SLOTS, *v;

	if (*nr_slots && used < *nr_slots / 2)
		return 0;
	v = array_alloc(nr, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < used; i++) {
		u32 at = (u32)hash(a, i) & (nr - 1);

		while (v[at])
			at = (at + 1) & (nr - 1);
		v[at] = i + 1;
	}
	free(*slot);
	*slot = v;
	*nr_slots = nr;
	return 0;
}

/* The index of a frame, NO_FRAME when there is no room. 0 or -ENOMEM. */
static int frame_get(struct stackagg *a, u64 frame, u32 *out)
{
	u32 at;

	if (slots_grow(a, &a->frame_slot, &a->nr_frame_slots, a->nr_frames, frame_hash))
		return -ENOMEM;
	at = (u32)mix(0, frame) & (a->nr_frame_slots - 1);
	for (; a->frame_slot[at]; at = (at + 1) & (a->nr_frame_slots - 1)) {
		*out = a->frame_slot[at] - 1;
		if (a->frame[*out] == frame)
			return 0;
	}
	*out = NO_FRAME;
	if (a->nr_frames >= a->max.max_frames)
		return 0;
	if (array_grow((void **)&a->frame, a->nr_frames, &a->cap_frames, sizeof(*a->frame)))
		return -ENOMEM;
	*out = a->nr_frames;
	a->frame[a->nr_frames++] = frame;
	a->frame_slot[at] = a->nr_frames;
	return 0;
}

static bool same_stack(const struct stackagg *a, const struct stackagg_stack *s, const u32 *ref,
		       u32 nr, u32 func, u32 target)
{
	return s->nr == nr && s->func == func && s->target == target &&
	       (!nr || !memcmp(a->ref + s->first, ref, nr * sizeof(*ref)));
}

/*
 * The stack of the nr references at the end of ref[], which are not counted in nr_refs yet: they stay
 * there if it is new. -ENOSPC: it is, and there is no room.
 */
static int stack_get(struct stackagg *a, u32 nr, u32 func, u32 target, struct stackagg_stack **out)
{
	const u32 *ref = a->ref + a->nr_refs;
	u32 at;

	if (slots_grow(a, &a->stack_slot, &a->nr_stack_slots, a->nr_stacks, stack_hash))
		return -ENOMEM;
	at = (u32)refs_hash(ref, nr, func, target) & (a->nr_stack_slots - 1);
	for (; a->stack_slot[at]; at = (at + 1) & (a->nr_stack_slots - 1)) {
		*out = &a->stack[a->stack_slot[at] - 1];
		if (same_stack(a, *out, ref, nr, func, target))
			return 0;
	}
	/* Those without frames are as few as tags. */
	if (nr && (a->nr_stacks >= a->max.max_stacks || nr > a->max.max_refs - a->nr_refs))
		return -ENOSPC;
	if (array_grow((void **)&a->stack, a->nr_stacks, &a->cap_stacks, sizeof(*a->stack)))
		return -ENOMEM;
	*out = &a->stack[a->nr_stacks++];
	**out = (struct stackagg_stack){
		.func = func, .target = target, .first = a->nr_refs, .nr = nr};
	a->stack_slot[at] = a->nr_stacks;
	a->nr_refs += nr;
	return 0;
}

/* Puts the references behind those in use. -ENOSPC: a frame has no number. */
static int refs_put(struct stackagg *a, const u64 *frame, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		u32 id;
		int err = frame_get(a, frame[i], &id);

		if (!err && id == NO_FRAME)
			err = -ENOSPC;
		if (!err)
			err = array_grow((void **)&a->ref, (size_t)a->nr_refs + i, &a->cap_refs,
					 sizeof(*a->ref));
		if (err)
			return err;
		a->ref[a->nr_refs + i] = id;
	}
	return 0;
}

int stackagg__add(struct stackagg *a, const u64 *frame, u32 nr, u32 func, u32 target, u64 count)
{
	struct stackagg_stack *s;
	int err = refs_put(a, frame, nr);
	bool full;

	if (!err)
		err = stack_get(a, nr, func, target, &s);
	full = err == -ENOSPC;
	if (full)
		err = stack_get(a, 0, func, target, &s);
	if (err)
		return err;
	s->count += count;
	a->samples += count;
	a->nr_overflow += full ? count : 0;
	return 0;
}

/* ---- names ---- */

static int cmp_name(const void *a, const void *b)
{
	return strcmp(**(char *const *const *)a, **(char *const *const *)b);
}

/* Fills out->name with the different names, sorted, and id[] with the place of each frame's there. */
static int number_names(char *const *name, u32 nr, u32 *id, struct m_stacks *out)
{
	char *const **order = array_alloc((size_t)nr + 1, sizeof(*order));
	int err = -ENOMEM;

	out->name = array_alloc((size_t)nr + 1, sizeof(*out->name));
	if (!order || !out->name)
		goto out;
	for (u32 i = 0; i < nr; i++)
		order[i] = &name[i];
	qsort(order, nr, sizeof(*order), cmp_name);
	for (u32 i = 0; i < nr; i++) {
		if (!i || strcmp(*order[i], *order[i - 1])) {
			out->name[out->nr_names] = strdup(*order[i]);
			if (!out->name[out->nr_names++])
				goto out;
		}
		id[order[i] - name] = out->nr_names - 1;
	}
	err = 0;
out:
	free(order);
	return err;
}

struct sorted {
	const struct stackagg *a;
	u32 i;
};

static int cmp_stack(const void *pa, const void *pb)
{
	const struct sorted *x = pa, *y = pb;
	const struct stackagg_stack *s = &x->a->stack[x->i], *t = &y->a->stack[y->i];
	const struct stackagg *a = x->a;

	for (u32 i = 0; i < s->nr && i < t->nr; i++) {
		u64 f = a->frame[a->ref[s->first + i]], g = a->frame[a->ref[t->first + i]];

		if (f != g)
			return f < g ? -1 : 1;
	}
	if (s->nr != t->nr)
		return s->nr < t->nr ? -1 : 1;
	if (s->func != t->func)
		return s->func < t->func ? -1 : 1;
	return (s->target > t->target) - (s->target < t->target);
}

/* The stacks of an aggregate whose frames are indices of names. */
static int put_stacks(const struct stackagg *a, struct m_stacks *out)
{
	struct sorted *order = array_alloc((size_t)a->nr_stacks + 1, sizeof(*order));

	out->stack = array_alloc((size_t)a->nr_stacks + 1, sizeof(*out->stack));
	out->frame = array_alloc((size_t)a->nr_refs + 1, sizeof(*out->frame));
	if (!order || !out->stack || !out->frame) {
		free(order);
		return -ENOMEM;
	}
	for (u32 i = 0; i < a->nr_stacks; i++)
		order[i] = (struct sorted){a, i};
	qsort(order, a->nr_stacks, sizeof(*order), cmp_stack);
	for (u32 i = 0; i < a->nr_stacks; i++) {
		const struct stackagg_stack *s = &a->stack[order[i].i];

		out->stack[out->nr_stacks++] = (struct m_stack){.count = s->count,
								.func = s->func,
								.target = s->target,
								.first = out->nr_frames,
								.nr_frames = s->nr};
		for (u32 k = 0; k < s->nr; k++)
			out->frame[out->nr_frames++] = (u32)a->frame[a->ref[s->first + k]];
	}
	free(order);
	return 0;
}

int stackagg__name(const struct stackagg *a, char *const *name, struct m_stacks *out)
{
	struct stackagg by_name;
	u32 *id = array_alloc((size_t)a->nr_frames + 1, sizeof(*id)), most = 0;
	u64 *frame = NULL;
	int err = id ? number_names(name, a->nr_frames, id, out) : -ENOMEM;

	for (u32 i = 0; i < a->nr_stacks; i++)
		most = a->stack[i].nr > most ? a->stack[i].nr : most;
	frame = array_alloc((size_t)most + 1, sizeof(*frame));
	stackagg__init(&by_name, &a->max);
	if (!frame)
		err = -ENOMEM;
	for (u32 i = 0; i < a->nr_stacks && !err; i++) {
		const struct stackagg_stack *s = &a->stack[i];

		for (u32 k = 0; k < s->nr; k++)
			frame[k] = id[a->ref[s->first + k]];
		err = stackagg__add(&by_name, frame, s->nr, s->func, s->target, s->count);
	}
	if (!err)
		err = put_stacks(&by_name, out);
	stackagg__fini(&by_name);
	free(frame);
	free(id);
	return err;
}
