// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flamestacks.c - see flamestacks.h. */
#include "cmd/flamestacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct adder {
	const struct recording *r;
	const struct flamestacks_opts *o;
	struct flame_tree *tree;
	char **name; /* fit for folded stacks, as m_stacks.name */
	char **call; /* of each function */
	struct flame_frame *frame;
};

/* What separates frames and lines must not be in a name; and no name is empty. */
static char *clean(const char *s)
{
	char *copy = strdup(*s ? s : "[unknown]");

	for (char *c = copy; c && *c; c++) {
		if (*c == ';')
			*c = ':';
		else if ((unsigned char)*c < ' ')
			*c = '?';
	}
	return copy;
}

/* "encoding/json encode"; of what was named with --probe the function. */
static char *call_name(const struct m_func *f)
{
	char *text = NULL, *copy;

	if (!f->codec || !strcmp(f->codec, "probe"))
		return clean(f->name ? f->name : "");
	if (asprintf(&text, "%s %s", f->codec, f->op ? f->op : "") < 0)
		return NULL;
	copy = clean(text);
	free(text);
	return copy;
}

static void free_names(char **v, u32 nr)
{
	for (u32 i = 0; v && i < nr; i++)
		free(v[i]);
	free(v);
}

static void adder__fini(struct adder *a)
{
	free_names(a->name, a->r->stacks.nr_names);
	free_names(a->call, a->r->nr_funcs);
	free(a->frame);
}

static int adder__init(struct adder *a)
{
	const struct m_stacks *s = &a->r->stacks;
	u32 most = 1;

	for (u32 i = 0; i < s->nr_stacks; i++)
		most = s->stack[i].nr_frames > most ? s->stack[i].nr_frames : most;
	a->name = array_alloc((size_t)s->nr_names + 1, sizeof(*a->name));
	a->call = array_alloc((size_t)a->r->nr_funcs + 1, sizeof(*a->call));
	a->frame = array_alloc((size_t)most + 1, sizeof(*a->frame));
	if (!a->name || !a->call || !a->frame)
		return -ENOMEM;
	for (u32 i = 0; i < s->nr_names; i++) {
		a->name[i] = clean(s->name[i]);
		if (!a->name[i])
			return -ENOMEM;
	}
	for (u32 i = 0; i < a->r->nr_funcs; i++) {
		a->call[i] = call_name(&a->r->func[i]);
		if (!a->call[i])
			return -ENOMEM;
	}
	return 0;
}

static struct flame_frame frame_of(const char *name)
{
	return (struct flame_frame){name, strlen(name)};
}

static int add_stack(const struct adder *a, const struct m_stack *st)
{
	const u32 *name = a->r->stacks.frame + st->first;
	u32 nr = 0;

	if (a->o->by_codec)
		a->frame[nr++] = frame_of(st->func == M_NO_FUNC ? FLAMESTACKS_NO_CALL
								: a->call[st->func]);
	for (u32 i = 0; i < st->nr_frames; i++) {
		u32 k = a->o->reverse ? st->nr_frames - 1 - i : i;

		a->frame[nr++] = frame_of(a->name[name[k]]);
	}
	if (!st->nr_frames)
		a->frame[nr++] = frame_of(FLAMESTACKS_UNKEPT);
	return flame_tree__add(a->tree, a->frame, nr, a->o->weight, st->count);
}

int flamestacks__add(const struct recording *r, const struct flamestacks_opts *o,
		     struct flame_tree *tree, u64 *left_out)
{
	struct adder a = {.r = r, .o = o, .tree = tree};
	int err = adder__init(&a);

	*left_out = 0;
	for (u32 i = 0; i < r->stacks.nr_stacks && !err; i++) {
		err = add_stack(&a, &r->stacks.stack[i]);
		if (err == -E2BIG || err == -ENOSPC) {
			*left_out += r->stacks.stack[i].count;
			err = 0;
		}
	}
	adder__fini(&a);
	return err;
}
