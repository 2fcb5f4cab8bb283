// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry.c - finds the functions of codectab.c, and those a user names, in an image's symbols.
 * Where to probe them is left to probe/.
 *
 * A symbol alone says little: C libraries share names (jansson and json-c both have
 * json_object_get), so a C codec counts in the library of its name, or in a program that was linked
 * with it statically. In Go the package is part of the name.
 */
#include "sym/registry.h"

#include "sym/codectab.h"
#include "sym/demangle.h"
#include "sym/elfdyn.h"
#include "util/array.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the object ---- */

/* "libcjson" is the library of "libcjson.so.1", not of "libcjson_utils.so.1". */
static bool is_library(const char *soname, const char *library)
{
	size_t len = strlen(library);

	return soname && !strncmp(soname, library, len) &&
	       (soname[len] == '.' || soname[len] == '-');
}

static bool needs_library(const struct elfdyn *d, const char *library)
{
	const char *needed;

	for (size_t n = 0; (needed = elfdyn__needed(d, n)); n++) {
		if (is_library(needed, library))
			return true;
	}
	return false;
}

/* The version in a library's file name: "1.7.15" of "libcjson.so.1.7.15"; a single number is the
 * ABI's, not the release's. NULL: none. */
static char *version_in_name(const char *path)
{
	const char *base = strrchr(path, '/');
	const char *p = strstr(base ? base + 1 : path, ".so.");
	size_t len;

	if (!p)
		return NULL;
	p += 4;
	len = strspn(p, "0123456789.");
	/* A name of a deleted file goes on with " (deleted)". */
	if ((p[len] && p[len] != ' ') || !memchr(p, '.', len))
		return NULL;
	return strndup(p, len);
}

/* The file's real name: libraries are opened through links, and through /proc. */
static char *file_version(const struct image *im)
{
	char link[64], path[PATH_MAX];
	ssize_t len = -1;

	if (im->fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", im->fd);
		len = readlink(link, path, sizeof(path) - 1);
	}
	if (len < 0)
		return version_in_name(im->path);
	path[len] = '\0';
	return version_in_name(path);
}

/* ---- bodies of one name ---- */

struct found {
	const struct sym **v;
	size_t nr;
};

/*
 * Of several Go bodies leaves out the compiler's own (ABI wrappers), unless there is nothing else: a
 * method wrapper has its own name and may be asked for.
 */
static void found__drop_wrappers(struct found *f)
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
static bool found__has_ifunc(const struct found *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (f->v[i]->ifunc)
			return true;
	}
	return false;
}

static int find_named(const struct symtab *t, const char *name, struct found *f)
{
	f->nr = symtab__find(t, name, NULL, 0);
	f->v = array_alloc(f->nr, sizeof(*f->v));
	if (!f->v)
		return -ENOMEM;
	symtab__find(t, name, f->v, f->nr);
	return 0;
}

/* True if one of the functions added from l->v[first] on begins at vaddr. */
static bool is_listed(const struct func_list *l, size_t first, u64 vaddr)
{
	for (size_t i = first; i < l->nr; i++) {
		if (l->v[i].vaddr == vaddr)
			return true;
	}
	return false;
}

/* Adds a function like `f` for the symbol. */
static int add_sym(struct func_list *l, size_t first, const struct func *f, const struct sym *s)
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

/* ---- the built-in table ---- */

struct matcher {
	const struct image *im;
	const struct symtab *t;
	const struct buildinfo *build;
	struct func_list *out;
	struct registry_report *rep;
	struct elfdyn dyn;
	bool program;
	size_t first;	     /* length of out before */
	const char *library; /* of the entries at hand */
	const char *version;
	char *file_version;
	bool here;   /* the library is part of this image */
	bool listed; /* in rep->linked */
};

/* Some function of the Go package is in the image. */
static bool has_package(const struct symtab *t, const char *package)
{
	size_t len = strlen(package);

	for (size_t i = 0; t->go && i < t->nr; i++) {
		const struct sym *s = &t->v[i];

		if (s->source == SYM_GO && !strncmp(s->name, package, len) && s->name[len] == '.')
			return true;
	}
	return false;
}

static void matcher__mention(struct matcher *m, const char *codec)
{
	size_t len = strlen(m->rep->linked), room = sizeof(m->rep->linked) - len;
	int need;

	if (m->listed)
		return;
	m->listed = true;
	need = snprintf(m->rep->linked + len, room, "%s%s", len ? ", " : "", codec);
	if (need < 0 || (size_t)need >= room)
		m->rep->linked[len] = '\0'; /* whole names only */
}

/* A C symbol of the table, defined by the program itself. */
static bool defines(const struct symtab *t, const char *name)
{
	const struct sym *s[8];
	size_t nr = symtab__find(t, name, s, 8);

	for (size_t i = 0; i < nr && i < 8; i++) {
		if (s[i]->source != SYM_GO)
			return true;
	}
	return false;
}

static bool links_statically(const struct matcher *m, const char *library)
{
	for (size_t i = 0; m->program && i < codectab_size(); i++) {
		struct codec_entry e;

		if (!codectab_entry(i, m->im->machine, &e) && e.lang == HB_LANG_NATIVE &&
		    !strcmp(e.library, library) && defines(m->t, e.symbol))
			return true;
	}
	return false;
}

/* Looks at the library of the entry, once for all its entries. */
static void matcher__enter(struct matcher *m, const struct codec_entry *e)
{
	bool is_file = e->lang == HB_LANG_NATIVE && is_library(m->dyn.soname, e->library);

	if (m->library && !strcmp(m->library, e->library))
		return;
	m->library = e->library;
	m->version = NULL;
	m->listed = false;
	free(m->file_version);
	m->file_version = NULL;
	if (e->lang == HB_LANG_GO) {
		m->here = has_package(m->t, e->library);
		if (m->here && m->build)
			m->version = buildinfo__version(m->build, e->library);
	} else {
		m->here = is_file || links_statically(m, e->library);
		if (is_file)
			m->version = m->file_version = file_version(m->im);
	}
	if (m->here || (e->lang == HB_LANG_NATIVE && needs_library(&m->dyn, e->library)))
		matcher__mention(m, e->codec);
}

static int matcher__add(struct matcher *m, const struct codec_entry *e, const struct found *f)
{
	const struct func like = {
		.codec = (char *)e->codec,
		.op = (char *)e->op,
		.library = (char *)e->library,
		.library_version = (char *)m->version,
		.note = (char *)e->note,
		.size_in = e->size_in,
		.size_out = e->size_out,
		.err = e->err,
		.err_kind = e->err_kind,
	};
	bool go = e->lang == HB_LANG_GO, any = false;
	int err = 0;

	for (size_t i = 0; i < f->nr && !err; i++) {
		if ((f->v[i]->source == SYM_GO) != go || f->v[i]->ifunc)
			continue;
		any = true;
		err = add_sym(m->out, m->first, &like, f->v[i]);
	}
	if (!any)
		m->rep->nr_absent++;
	return err;
}

static int matcher__entry(struct matcher *m, const struct codec_entry *e)
{
	struct found f = {0};
	int err;

	matcher__enter(m, e);
	if (!m->here)
		return 0;
	err = find_named(m->t, e->symbol, &f);
	if (!err) {
		found__drop_wrappers(&f);
		err = matcher__add(m, e, &f);
	}
	free(f.v);
	return err;
}

int registry__match(const struct image *im, const struct symtab *t, const struct buildinfo *build,
		    struct func_list *out, struct registry_report *rep)
{
	struct matcher m = {
		.im = im,
		.t = t,
		.build = build,
		.out = out,
		.rep = rep,
		.first = out->nr,
	};
	int err = 0;

	*rep = (struct registry_report){0};
	elfdyn__read(im, &m.dyn); /* not there, or damaged: no libraries then */
	m.program = elfdyn__is_program(im, &m.dyn);
	for (size_t i = 0; i < codectab_size() && !err; i++) {
		struct codec_entry e;

		err = codectab_entry(i, im->machine, &e);
		if (!err)
			err = matcher__entry(&m, &e);
	}
	rep->nr_found = (u32)(out->nr - m.first);
	free(m.file_version);
	return err;
}

/* ---- functions named by the user ---- */

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

static int find_demangled(const struct symtab *t, const char *name, struct found *f)
{
	size_t cap = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct sym *s = &t->v[i];

		if (s->source == SYM_GO || !is_mangled(s->name) || !is_called(s->name, name))
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
	int err;

	err = find_named(t, name, &f);
	if (!err && !f.nr) {
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
