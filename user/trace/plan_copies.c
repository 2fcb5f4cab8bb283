// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_copies.c - "calls is exact" is a word about one piece of code. What else runs in a function's name
 * (inlined copies, parts), or is counted in its name (other names of the same code), is said here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/demangle.h"
#include "sym/goinline.h"
#include "trace/plan_impl.h"
#include "util/array.h"
#include "util/strbuf.h"

#define NOTE_MAX    4096
#define ALIASES_MAX 3 /* that are named */

/* ---- Go ----------------------------------------------------------------------------------- */

static int warn_inlined(struct plan *pl, u32 first, u32 image, struct go_inlined *v)
{
	size_t nr = 0;
	int err;

	for (u32 i = first; i < pl->nr_funcs; i++) {
		if (pl->func[i].image == image && pl->func[i].f->lang == HB_LANG_GO)
			v[nr++].name = pl->func[i].f->name;
	}
	err = nr ? goinline__count(pl->image[image].im, v, nr) : 0;
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (v[i].places)
			err = plan__warn(pl,
					 "%s is also inlined at %u place%s: calls there are not "
					 "counted (//go:noinline at it changes that)",
					 v[i].name, v[i].places, v[i].places == 1 ? "" : "s");
	}
	return err;
}

u32 plan__go_inlined(const struct plan *pl, const char *name)
{
	u32 places = 0;

	for (u32 i = 0; i < pl->nr_images; i++) {
		struct go_inlined in = {.name = name};

		if (pl->image[i].build && !goinline__count(pl->image[i].im, &in, 1))
			places += in.places;
	}
	return places;
}

/* ---- C, C++, Rust -------------------------------------------------------------------------- */

static bool same_when_read(const char *symbol, const char *name)
{
	char *readable = demangle(symbol);
	bool same = !strcmp(readable ? readable : symbol, name);

	free(readable);
	return same;
}

/* Symbols of the same address and with other names, the function's own copies left out. */
static void add_aliases(const struct symtab *t, const struct func *f, struct strbuf *out)
{
	const struct sym *s = symtab__at(t, f->vaddr);
	u32 nr = 0;

	if (!s || s->vaddr != f->vaddr)
		return;
	while (s > t->v && s[-1].vaddr == f->vaddr)
		s--;
	for (; s < t->v + t->nr && s->vaddr == f->vaddr; s++) {
		if (s->source == SYM_GO || same_when_read(s->name, f->name) ||
		    (f->clone && !strcmp(f->clone, s->name)) ||
		    (!strncmp(s->name, f->name, strlen(f->name)) &&
		     s->name[strlen(f->name)] == '.'))
			continue;
		if (nr == ALIASES_MAX)
			strbuf__adds(out, ", ...");
		else if (nr < ALIASES_MAX)
			strbuf__addf(out, "%s%s", nr ? ", " : "calls as ", s->name);
		nr++;
	}
	if (nr)
		strbuf__adds(out, " are among them");
}

static int add_note(struct func *f, struct strbuf *more)
{
	char *text = strbuf__take(more), *note = NULL;
	int n;

	if (!text)
		return -ENOMEM;
	if (!*text) {
		free(text);
		return 0;
	}
	if (!f->note) {
		f->note = text;
		return 0;
	}
	n = asprintf(&note, "%s; %s", f->note, text);
	free(text);
	if (n < 0)
		return -ENOMEM;
	free(f->note);
	f->note = note;
	return 0;
}

static int note_native(struct plan *pl, struct plan_func *pf)
{
	struct func *f = pf->f;
	struct strbuf s;
	int err = 0;

	strbuf__init(&s, NOTE_MAX);
	if (f->clone)
		strbuf__addf(&s, "the compiler's copy %s; ", f->clone);
	add_aliases(pl->image[pf->image].syms, f, &s);
	if (s.len > 2 && !strcmp(s.s + s.len - 2, "; ")) {
		s.len -= 2;
		s.s[s.len] = '\0';
	}
	if (s.err || !s.len)
		strbuf__fini(&s);
	else
		err = add_note(f, &s);
	if (!err && f->part)
		err = plan__warn(
			pl,
			"%s is inlined in part (the rest is %s): calls that do not come to "
			"that, or come to it straight, are not counted "
			"(__attribute__((noinline)) at it changes that)",
			f->name, f->part);
	return err;
}

int plan__copies(struct plan *pl, u32 first)
{
	struct go_inlined *v = array_alloc(pl->nr_funcs + 1, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	for (u32 i = 0; i < pl->nr_images && !err; i++)
		err = pl->image[i].build ? warn_inlined(pl, first, i, v) : 0;
	for (u32 i = first; i < pl->nr_funcs && !err; i++) {
		if (pl->func[i].f->lang == HB_LANG_NATIVE)
			err = note_native(pl, &pl->func[i]);
	}
	free(v);
	return err;
}
