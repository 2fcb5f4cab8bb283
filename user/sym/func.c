// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* func.c - the list of functions to probe; it owns their strings. */
#include "sym/func.h"

#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void func__fini(struct func *f)
{
	free(f->name);
	free(f->codec);
	free(f->op);
	free(f->library);
	free(f->library_version);
	free(f->note);
	free(f->clone);
	free(f->part);
}

void func_list__init(struct func_list *l)
{
	*l = (struct func_list){0};
}

void func_list__fini(struct func_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		func__fini(&l->v[i]);
	free(l->v);
	func_list__init(l);
}

/* NULL stays NULL and is no failure. */
static char *copy(const char *s, int *err)
{
	char *c = s ? strdup(s) : NULL;

	if (s && !c)
		*err = -ENOMEM;
	return c;
}

int func_list__add(struct func_list *l, const struct func *f)
{
	struct func own = *f;
	int err;

	err = array_grow((void **)&l->v, l->nr, &l->cap, sizeof(*l->v));
	if (err)
		return err;
	own.name = copy(f->name, &err);
	own.codec = copy(f->codec, &err);
	own.op = copy(f->op, &err);
	own.library = copy(f->library, &err);
	own.library_version = copy(f->library_version, &err);
	own.note = copy(f->note, &err);
	own.clone = copy(f->clone, &err);
	own.part = copy(f->part, &err);
	if (err)
		func__fini(&own);
	else
		l->v[l->nr++] = own;
	return err;
}
