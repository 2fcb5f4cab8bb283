// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* readstacks.c - names, then one packed string: every index in it is compared with what it indexes. */
#include "capture/readstacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pack.h"
#include "util/array.h"

#define MAX_NAMES   (1u << 20)
#define MAX_STACKS  (1u << 22)
#define LEAST_BYTES 4 /* a stack is four numbers at least */

static void read_names(struct readval *rd, const cJSON *from, struct m_stacks *s)
{
	const cJSON *list = readval__array(rd, from, KEY_NAMES, MAX_NAMES), *item;

	if (!list)
		return;
	s->name = array_alloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*s->name));
	if (!s->name) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item)) {
			readval__fail(rd, -EBADMSG,
				      "damaged capture: the names of its stacks are not strings");
			return;
		}
		s->name[s->nr_names] = strdup(item->valuestring);
		if (!s->name[s->nr_names++]) {
			readval__fail(rd, -ENOMEM, "out of memory");
			return;
		}
	}
}

/* Room for the frames is there: each is a byte of u at least. */
static int read_stack(struct unpack *u, const struct recording *r, struct m_stacks *s,
		      struct m_stack *st)
{
	u64 func, target, nr;

	if (unpack__varint(u, &st->count) || unpack__varint(u, &func) ||
	    unpack__varint(u, &target) || unpack__varint(u, &nr))
		return -EBADMSG;
	if (!st->count || func > r->nr_funcs || target >= r->nr_targets || nr > u->len - u->pos)
		return -EBADMSG;
	st->func = func ? (u32)func - 1 : M_NO_FUNC;
	st->target = (u32)target;
	st->first = s->nr_frames;
	for (; nr; nr--) {
		u64 name;

		if (unpack__varint(u, &name) || name >= s->nr_names)
			return -EBADMSG;
		s->frame[s->nr_frames++] = (u32)name;
		st->nr_frames++;
	}
	return 0;
}

static int read_folded(struct unpack *u, u64 nr, const struct recording *r, struct m_stacks *s)
{
	u64 sum = 0;
	int err = 0;

	if (nr > u->len / LEAST_BYTES)
		return -EBADMSG;
	s->stack = array_alloc(nr + 1, sizeof(*s->stack));
	s->frame = array_alloc(u->len + 1, sizeof(*s->frame));
	if (!s->stack || !s->frame)
		return -ENOMEM;
	while (!err && s->nr_stacks < nr) {
		struct m_stack *st = &s->stack[s->nr_stacks++];

		err = read_stack(u, r, s, st);
		if (!err && __builtin_add_overflow(sum, st->count, &sum))
			err = -EBADMSG;
	}
	/* The sum in the text is what reports print, and what shares are of. */
	return err ? err : unpack__done(u) && sum == s->samples ? 0 : -EBADMSG;
}

void read_stacks(struct readval *rd, const cJSON *doc, struct recording *r)
{
	struct m_stacks *s = &r->stacks;
	struct unpack u = {0};
	const cJSON *from;
	char *packed;
	u64 nr;
	int err = 0;

	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(doc, KEY_STACKS))
		return;
	snprintf(rd->where, sizeof(rd->where), "the document");
	from = readval__object(rd, doc, KEY_STACKS);
	snprintf(rd->where, sizeof(rd->where), "%s", KEY_STACKS);
	if (!from)
		return;
	readval__fields(rd, stacks_fields, from, s);
	read_names(rd, from, s);
	nr = readval__u64(rd, from, KEY_NR_STACKS, MAX_STACKS);
	packed = readval__str(rd, from, KEY_FOLDED);
	if (!rd->rc && (!s->event || !s->frequency_hz))
		readval__fail(rd, -EBADMSG, "damaged capture: stacks without an event");
	if (!rd->rc && (s->truncated > s->samples || s->unkept > s->samples))
		readval__fail(rd, -EBADMSG, "damaged capture: more stacks are cut than there are");
	if (!rd->rc)
		err = unpack__init(&u, packed ? packed : "");
	if (!rd->rc && !err)
		err = read_folded(&u, nr, r, s);
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		readval__fail(rd, err,
			      "damaged capture: its stacks are not %llu stacks of %llu samples", nr,
			      s->samples);
	unpack__fini(&u);
	free(packed);
}
