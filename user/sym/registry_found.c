// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry_found.c - the functions of one name: of several bodies those that count, and those that a
 * user names with --probe. The codecs are found by registry.c.
 */
#include "sym/registry_impl.h"

#include "sym/clones.h"
#include "sym/demangle.h"
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- bodies of one name ---- */

/*
 * Of several Go bodies leaves out the compiler's own (ABI wrappers), unless there is nothing else: a
 * method wrapper has its own name and may be asked for.
 */
void found__drop_wrappers(struct found *f)
{
	size_t kept = 0;
	bool bodies = false;

	for (size_t i = 0; i < f->nr; i++)
		bodies |= f->v[i]->source == SYM_GO && !f->v[i]->wrapper;
	for (size_t i = 0; i < f->nr; i++) {
		const struct sym *s = f->v[i];

		if (!bodies || s->source != SYM_GO || !s->wrapper)
			f->v[kept++] = s;
	}
	f->nr = kept;
}

/* An IFUNC's address is its resolver, and which function it chooses is known at run time only. A
 * plain function beside it is an old version of the same name (memcpy@GLIBC_2.2.5). */
bool found__has_ifunc(const struct found *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (f->v[i]->ifunc)
			return true;
	}
	return false;
}

int find_named(const struct symtab *t, const char *name, struct found *f)
{
	f->nr = symtab__find(t, name, NULL, 0);
	f->v = array_alloc(f->nr, sizeof(*f->v));
	if (!f->v)
		return -ENOMEM;
	symtab__find(t, name, f->v, f->nr);
	return 0;
}

/* True if one of the functions added from l->v[first] on begins at vaddr. */
bool is_listed(const struct func_list *l, size_t first, u64 vaddr)
{
	for (size_t i = first; i < l->nr; i++) {
		if (l->v[i].vaddr == vaddr)
			return true;
	}
	return false;
}

/* Adds a function like `f` for the symbol. */
int add_sym(struct func_list *l, size_t first, const struct func *f, const struct sym *s)
{
	char *readable = s->source == SYM_GO ? NULL : demangle(s->name);
	struct func own = *f;
	int err = 0;

	own.name = readable ? readable : (char *)s->name;
	own.vaddr = s->vaddr;
	own.size = s->size;
	own.lang = s->source == SYM_GO ? HB_LANG_GO : HB_LANG_NATIVE;
	if (!is_listed(l, first, s->vaddr))
		err = func_list__add(l, &own);
	free(readable);
	return err;
}

/* ---- what the compiler has made of them ---- */

/* The names that a user may write for a mangled symbol. */
static bool is_called(const char *mangled, const char *name)
{
	char *s = demangle_short(mangled);
	/* The long form begins with a return type sometimes, and the short one is in it always. */
	bool candidate = s && strstr(name, s);
	bool same = candidate && !strcmp(s, name);

	free(s);
	if (same || !candidate)
		return same;
	s = demangle(mangled);
	same = s && !strcmp(s, name);
	free(s);
	return same;
}

static enum clone_kind sym_clone(const struct sym *s)
{
	const char *dot = s->source == SYM_GO ? NULL : strchr(s->name, '.');

	return dot ? clone_kind(dot) : CLONE_NONE;
}

/* Adds a copy of the function whose symbol is base. */
static int add_clone(struct func_list *l, size_t first, const struct func *f, const struct sym *s,
		     const char *base, enum clone_kind kind)
{
	static const struct hb_value none;
	struct sym like = *s;
	struct func own = *f;

	like.name = base;
	own.clone = (char *)s->name;
	if (kind >= CLONE_PARAMS)
		own.size_in = none;
	if (kind >= CLONE_RESULT) {
		own.size_out = own.err = none;
		own.err_kind = HB_ERR_NONE;
	}
	return add_sym(l, first, &own, &like);
}

/* Functions from l->v[first] on are also run in part. */
static int note_part(struct func_list *l, size_t first, const struct sym *s)
{
	for (size_t i = first; i < l->nr; i++) {
		if (l->v[i].part || l->v[i].clone)
			continue;
		l->v[i].part = strdup(s->name);
		if (!l->v[i].part)
			return -ENOMEM;
	}
	return 0;
}

int add_clones(const struct symtab *t, const char *name, bool mangled, struct func_list *l,
	       size_t first, const struct func *f)
{
	size_t len = strlen(name);
	int err = 0;

	for (size_t i = 0; i < t->nr && !err; i++) {
		const struct sym *s = &t->v[i];
		enum clone_kind kind = s->ifunc ? CLONE_NONE : sym_clone(s);
		size_t base_len = strcspn(s->name, ".");
		char *base;

		if (kind == CLONE_NONE || kind == CLONE_COLD ||
		    (mangled ? !is_mangled(s->name)
			     : base_len != len || memcmp(s->name, name, len) != 0))
			continue;
		base = strndup(s->name, base_len);
		if (!base)
			return -ENOMEM;
		if (mangled && !is_called(base, name))
			err = 0;
		else if (kind == CLONE_PART)
			err = note_part(l, first, s);
		else
			err = add_clone(l, first, f, s, base, kind);
		free(base);
	}
	return err;
}

/* ---- functions named by the user ---- */

static int find_demangled(const struct symtab *t, const char *name, struct found *f)
{
	size_t cap = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct sym *s = &t->v[i];

		/* Demanglers ignore suffixes, which add_clones() is for. */
		if (s->source == SYM_GO || !is_mangled(s->name) || sym_clone(s) != CLONE_NONE ||
		    !is_called(s->name, name))
			continue;
		if (array_grow((void **)&f->v, f->nr, &cap, sizeof(*f->v)))
			return -ENOMEM;
		f->v[f->nr++] = s;
	}
	return 0;
}

/* Appends the functions of that name; *nr: how many. */
static int probe_name(const struct image *im, const struct symtab *t, const char *name,
		      const char *op, struct func_list *out, u32 *nr)
{
	const struct func like = {.codec = (char *)"probe", .op = (char *)op};
	size_t first = out->nr;
	struct found f = {0};
	bool mangled = false;
	int err;

	err = find_named(t, name, &f);
	if (!err && !f.nr) {
		mangled = true;
		free(f.v);
		f.v = NULL;
		err = find_demangled(t, name, &f);
	}
	if (err)
		goto out;
	if (found__has_ifunc(&f) || (!f.nr && symtab__imports(im, name))) {
		err = -ENOTSUP;
		goto out;
	}
	found__drop_wrappers(&f);
	for (size_t i = 0; i < f.nr && !err; i++)
		err = add_sym(out, first, &like, f.v[i]);
	/* A function may be there as copies only: a mangled name as well as a plain one. */
	if (!err)
		err = add_clones(t, name, false, out, first, &like);
	if (!err && mangled)
		err = add_clones(t, name, true, out, first, &like);
	*nr = (u32)(out->nr - first);
out:
	free(f.v);
	return err;
}

/* "encode" in "F=encode"; not "(" in "f=(" or "" in "operator=". */
static bool is_word(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	return len && !s[len];
}

int registry__probe(const struct image *im, const struct symtab *t, const char *spec,
		    struct func_list *out, u32 *nr)
{
	const char *eq = strrchr(spec, '=');
	char *name;
	int err;

	*nr = 0;
	if (!*spec || (eq == spec && is_word(eq + 1)))
		return -EINVAL;
	if (!eq || (strcmp(eq, "=encode") && strcmp(eq, "=decode"))) {
		err = probe_name(im, t, spec, "call", out, nr);
		return !err && !*nr && eq && is_word(eq + 1) ? -EINVAL : err;
	}
	name = strndup(spec, (size_t)(eq - spec));
	if (!name)
		return -ENOMEM;
	err = probe_name(im, t, name, eq + 1, out, nr);
	free(name);
	return err;
}
