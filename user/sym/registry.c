// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry.c - finds the functions of the registry in an image's symbols. Where to probe them is left
 * to probe/, and the functions that a user names to registry_found.c.
 *
 * A symbol alone says little: C libraries share names (jansson and json-c both have
 * json_object_get), so a C codec counts in the library of its name, or in a program that was linked
 * with it statically. In Go the package is part of the name; generated code is in packages of the
 * user's, and counts where the library that it calls is linked in.
 *
 * First come the functions that have a name, then, in one pass over all symbols, the patterns; a
 * function is what it was found as first. Entries of the user's files come before those built in, the
 * last file's first: who names a function knows what it is.
 */
#include "sym/registry_impl.h"

#include "sym/demangle.h"
#include "sym/elfdyn.h"
#include "sym/verrange.h"
#include "util/array.h"
#include "util/log.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the object ---- */

/* "libcjson" is the library of "libcjson.so.1" and "libcjson-1.7.so", not of "libcjson_utils.so.1";
 * "libprotobuf" is not that of "libprotobuf-c.so.1". */
static bool is_library(const char *soname, const char *library)
{
	size_t len = strlen(library);

	if (!soname || strncmp(soname, library, len))
		return false;
	return soname[len] == '.' || (soname[len] == '-' && isdigit((u8)soname[len + 1]));
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

/* ---- the search ---- */

/* An entry that is compared with every symbol. */
struct scan {
	const struct registry_library *lib;
	const struct registry_func *func;
	const char *version;
	struct found hits;
	size_t cap;
};

struct matcher {
	const struct registry *r;
	const struct image *im;
	const struct symtab *t;
	const struct buildinfo *build;
	struct func_list *out;
	struct registry_report *rep;
	struct elfdyn dyn;
	bool program;
	char *file_version;
	size_t first; /* length of out before */
	u32 rank;     /* of the entries that are looked for now, from the highest down */
	size_t done;  /* out->v[first, done) are of higher ranks */
	struct scan *scan;
	size_t nr_scans, cap_scans;
};

/* What is known of a library in this image. */
struct standing {
	bool here;   /* it is part of this image */
	bool used;   /* ... or loaded by it */
	bool module; /* Go: its module is linked in, perhaps not this package */
	const char *version;
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

static bool links_statically(const struct matcher *m, const struct registry_library *l)
{
	for (size_t i = 0; m->program && i < l->nr; i++) {
		if (!l->func[i].mangled && !l->func[i].off && defines(m->t, l->func[i].symbol))
			return true;
	}
	return false;
}

static bool module_is_linked(const struct buildinfo *b, const char *package)
{
	for (u32 i = 0; b && i < b->nr_modules; i++) {
		const char *path = b->module[i].path;
		size_t len = strlen(path);

		if (len && !strncmp(package, path, len) && (!package[len] || package[len] == '/'))
			return true;
	}
	return false;
}

static struct standing library__standing(const struct matcher *m, const struct registry_library *l)
{
	struct standing s = {0};
	bool is_file;

	if (l->lang == HB_LANG_GO) {
		s.here = has_package(m->t, l->prefix);
		s.module = s.here || module_is_linked(m->build, l->library);
		if (s.module && m->build)
			s.version = buildinfo__version(m->build, l->prefix);
		s.used = s.here;
		return s;
	}
	is_file = !l->anywhere && is_library(m->dyn.soname, l->library);
	s.here = l->anywhere || is_file || links_statically(m, l);
	if (is_file)
		s.version = m->file_version;
	s.used = !l->anywhere && (s.here || needs_library(&m->dyn, l->library));
	return s;
}

static void matcher__mention(struct matcher *m, const char *codec)
{
	char *linked = m->rep->linked;
	size_t len = strlen(linked), room = sizeof(m->rep->linked) - len, name = strlen(codec);
	int need;

	for (const char *p = linked; (p = strstr(p, codec)); p += name) {
		if ((p == linked || p[-1] == ' ') && (!p[name] || p[name] == ','))
			return;
	}
	need = snprintf(linked + len, room, "%s%s", len ? ", " : "", codec);
	if (need < 0 || (size_t)need >= room)
		linked[len] = '\0'; /* whole names only */
}

/* What is known of the entry now, unless another image has more of it. */
static void matcher__state(struct matcher *m, const struct registry_func *f,
			   enum registry_state state, size_t nr)
{
	struct registry_alt *alt = m->rep->alt ? &m->rep->alt[f->id] : NULL;

	if (state == REGISTRY_INLINED)
		m->rep->nr_absent++;
	if (!alt || state < alt->state)
		return;
	alt->nr = (u32)nr + (alt->state == state ? alt->nr : 0);
	alt->state = state;
}

/* A file's entry has the function already: who reads that file's effects wants to know what it did. */
static void matcher__tell_taken(const struct matcher *m, const struct registry_library *l,
				const struct sym *s)
{
	for (size_t i = m->first; i < m->done; i++) {
		const struct func *f = &m->out->v[i];

		if (f->vaddr == s->vaddr && strcmp(f->codec, l->codec))
			log_info("%s is measured as %s, as --codecs says, not as %s", f->name,
				 f->codec, l->codec);
	}
}

/* Adds the functions of an entry. */
static int matcher__add(struct matcher *m, const struct registry_library *l,
			const struct registry_func *rf, const char *version, const struct found *f)
{
	struct codec_entry e = {0};
	struct func like = {
		.codec = l->codec,
		.op = rf->op,
		.library = l->library,
		.library_version = (char *)version,
		.note = rf->note,
		.entry = rf->id + 1,
	};
	bool go = l->lang == HB_LANG_GO;
	size_t before = m->out->nr;
	int err = registry_func__values(rf, l->lang, m->im->machine, &e);

	like.size_in = e.size_in;
	like.size_out = e.size_out;
	like.traits = rf->traits;
	like.err = e.err;
	like.err_kind = e.err_kind;
	for (size_t i = 0; i < f->nr && !err; i++) {
		if ((f->v[i]->source == SYM_GO) != go || f->v[i]->ifunc)
			continue;
		matcher__tell_taken(m, l, f->v[i]);
		err = add_sym(m->out, m->first, &like, f->v[i]);
	}
	if (!err && !go && rf->name.plain && !rf->mangled)
		err = add_clones(m->t, rf->symbol, false, m->out, before, &like);
	/* Also where another entry has the function already. */
	matcher__state(m, rf, REGISTRY_HIT, m->out->nr - before);
	if (m->out->nr > before)
		matcher__mention(m, l->codec);
	return err;
}

static bool is_hit(const struct found *f, enum hb_lang lang)
{
	for (size_t i = 0; i < f->nr; i++) {
		if ((f->v[i]->source == SYM_GO) == (lang == HB_LANG_GO) && !f->v[i]->ifunc)
			return true;
	}
	return false;
}

static int matcher__named(struct matcher *m, const struct registry_library *l,
			  const struct registry_func *rf, const struct standing *s)
{
	struct found f = {0};
	int err;

	if (!s->here)
		return 0;
	err = find_named(m->t, rf->symbol, &f);
	if (!err) {
		found__drop_wrappers(&f);
		if (is_hit(&f, l->lang))
			err = matcher__add(m, l, rf, s->version, &f);
		else if (!l->anywhere)
			matcher__state(m, rf, REGISTRY_INLINED, 0);
	}
	free(f.v);
	return err;
}

static int matcher__later(struct matcher *m, const struct registry_library *l,
			  const struct registry_func *rf, const struct standing *s)
{
	struct scan scan = {.lib = l, .func = rf, .version = s->version};

	if (array_grow((void **)&m->scan, m->nr_scans, &m->cap_scans, sizeof(scan)))
		return -ENOMEM;
	m->scan[m->nr_scans++] = scan;
	return 0;
}

/* The version decides only where it is known. */
static bool is_excluded(const char *version, const char *range)
{
	return version && version[0] && range && !version_in_range(version, range);
}

/* A library that is loaded may be called in more ways than by the names that C++ makes of it (inline
 * functions, virtual ones): that it is needed has to do there. */
static bool is_imported(const struct matcher *m, const struct registry_func *f)
{
	return f->mangled || symtab__imports(m->im, f->symbol);
}

static bool has_rank(const struct registry_library *l, u32 rank)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->func[i].rank == rank)
			return true;
	return false;
}

static int matcher__library(struct matcher *m, const struct registry_library *l)
{
	struct standing s;
	int err = 0;

	if (!has_rank(l, m->rank))
		return 0;
	s = library__standing(m, l);
	if (s.used)
		matcher__mention(m, l->codec);
	for (size_t i = 0; i < l->nr && !err; i++) {
		const struct registry_func *f = &l->func[i];
		/* C++ names have their library in them, and need no other proof in a program. */
		bool scanned = f->mangled ? s.here || m->program
					  : l->lang == HB_LANG_GO && !f->name.plain;

		if (f->off || f->rank != m->rank)
			continue;
		if (s.here &&
		    (is_excluded(s.version, l->versions) || is_excluded(s.version, f->versions)))
			matcher__state(m, f, REGISTRY_OTHER_VERSION, 0);
		else if (s.used && !s.here && is_imported(m, f))
			matcher__state(m, f, REGISTRY_IMPORTED, 0);
		else if (scanned && (f->mangled || s.module))
			err = matcher__later(m, l, f, &s);
		else if (f->name.plain && !f->mangled)
			err = matcher__named(m, l, f, &s);
	}
	return err;
}

/* ---- patterns ---- */

/* "[abi:cxx11]" and the like are no part of what people call a function. */
static void drop_abi_tags(char *name)
{
	char *tag = name, *end;

	while ((tag = strstr(tag, "[abi:")) && (end = strchr(tag, ']')))
		memmove(tag, end + 1, strlen(end + 1) + 1);
}

/* The end of the angle bracket that p begins with, or NULL. */
static char *angle_end(char *p)
{
	u32 depth = 0;

	for (; *p; p++) {
		depth += *p == '<';
		depth -= *p == '>' && p[-1] != '-'; /* fn() -> T */
		if (!depth)
			return p;
	}
	return NULL;
}

/*
 * Rust's v0 mangling knows more than the older one: "<crate::T>::f", "<T as crate::Trait>::f", and
 * "crate::f::<T>" become what they are there: "crate::T::f", "crate::Trait::f", "crate::f".
 */
static void simplify_rust(char *name)
{
	char *end = name[0] == '<' ? angle_end(name) : NULL, *as, *args;
	const char *from;

	if (end) {
		as = strstr(name, " as ");
		from = as && as < end ? as + 4 : name + 1;
		*end = '\0';
		memmove(name, from, strlen(from) + 1);
		memmove(name + strlen(name), end + 1, strlen(end + 1) + 1);
	}
	args = strstr(name, "::<");
	end = args ? angle_end(args + 2) : NULL;
	if (end && !end[1])
		*args = '\0';
}

/* The readable forms of a mangled name, made when they are first asked for. */
struct readable {
	const char *raw;
	char *full, *shorter;
	bool made;
};

static void readable__fini(struct readable *n)
{
	free(n->full);
	free(n->shorter);
}

static bool readable__matches(struct readable *n, const struct registry_func *f)
{
	if (!n->made) {
		n->full = demangle(n->raw);
		n->shorter = demangle_short(n->raw);
		n->made = true;
		if (n->full)
			drop_abi_tags(n->full);
		if (n->shorter)
			drop_abi_tags(n->shorter);
		if (n->shorter && n->raw[1] == 'R')
			simplify_rust(n->shorter);
	}
	return (n->full && pattern__match(&f->name, n->full)) ||
	       (n->shorter && pattern__match(&f->name, n->shorter));
}

/* Go: the type of this method has the one that tells generated code from other code, too. */
static bool has_companion(const struct symtab *t, const char *name, const char *with)
{
	const char *dot = strrchr(name, '.');
	const struct sym *s;
	char other[1024];
	int len = dot ? snprintf(other, sizeof(other), "%.*s.%s", (int)(dot - name), name, with)
		      : -1;

	return len > 0 && (size_t)len < sizeof(other) && symtab__find(t, other, &s, 1);
}

static bool scan__matches(const struct scan *sc, const struct symtab *t, const struct sym *s,
			  struct readable *n)
{
	const struct registry_func *f = sc->func;

	if ((s->source == SYM_GO) != (sc->lib->lang == HB_LANG_GO) ||
	    (f->mangled && !is_mangled(s->name)) || !pattern__may_match(&f->name, s->name))
		return false;
	if (f->mangled)
		return readable__matches(n, f);
	return !s->wrapper && pattern__match(&f->name, s->name) &&
	       (!f->with || has_companion(t, s->name, f->with));
}

static int scan__symbol(struct matcher *m, const struct sym *s)
{
	struct readable n = {.raw = s->name};
	int err = 0;

	for (size_t i = 0; i < m->nr_scans && !err; i++) {
		struct scan *sc = &m->scan[i];

		if (!scan__matches(sc, m->t, s, &n))
			continue;
		/* A second name of the same function, as of constructors. */
		if (sc->hits.nr && sc->hits.v[sc->hits.nr - 1]->vaddr == s->vaddr)
			continue;
		err = array_grow((void **)&sc->hits.v, sc->hits.nr, &sc->cap, sizeof(*sc->hits.v));
		if (!err)
			sc->hits.v[sc->hits.nr++] = s;
	}
	readable__fini(&n);
	return err;
}

static int scan__add(struct matcher *m, const struct scan *sc)
{
	const struct registry_func *f = sc->func;

	if (sc->hits.nr > f->limit) {
		log_warn("%zu functions match '%s' of %s, more than %u: none of them is measured; "
			 "with --codecs FILE give it a narrower pattern, or a higher \"limit\"",
			 sc->hits.nr, f->symbol, sc->lib->codec, f->limit);
		matcher__state(m, f, REGISTRY_TOO_MANY, sc->hits.nr);
		return 0;
	}
	if (sc->hits.nr)
		return matcher__add(m, sc->lib, f, sc->version, &sc->hits);
	if (sc->lib->lang == HB_LANG_GO ||
	    (!sc->lib->anywhere && is_library(m->dyn.soname, sc->lib->library)))
		matcher__state(m, f, REGISTRY_INLINED, 0);
	return 0;
}

static int matcher__scan(struct matcher *m)
{
	int err = 0;

	for (size_t i = 0; i < m->t->nr && m->nr_scans && !err; i++)
		err = scan__symbol(m, &m->t->v[i]);
	for (size_t i = 0; i < m->nr_scans && !err; i++)
		err = scan__add(m, &m->scan[i]);
	for (size_t i = 0; i < m->nr_scans; i++)
		free(m->scan[i].hits.v);
	m->nr_scans = 0;
	return err;
}

/* The entries of one text, and what it replaced of those before. */
static int matcher__rank(struct matcher *m, u32 rank)
{
	int err = 0;

	m->rank = rank;
	m->done = m->out->nr;
	for (size_t i = 0; i < m->r->nr && !err; i++)
		err = matcher__library(m, &m->r->library[i]);
	return err ? err : matcher__scan(m);
}

int registry__match(const struct registry *r, const struct image *im, const struct symtab *t,
		    const struct buildinfo *build, struct func_list *out,
		    struct registry_report *rep)
{
	struct matcher m = {
		.r = r,
		.im = im,
		.t = t,
		.build = build,
		.out = out,
		.rep = rep,
		.first = out->nr,
	};
	int err = 0;

	rep->nr_found = rep->nr_absent = 0;
	rep->linked[0] = '\0';
	if (im->machine != EM_X86_64 && im->machine != EM_AARCH64)
		return -ENOTSUP;
	elfdyn__read(im, &m.dyn); /* not there, or damaged: no libraries then */
	m.program = elfdyn__is_program(im, &m.dyn);
	m.file_version = file_version(im);
	for (u32 rank = r->rank + 1; rank-- && !err;)
		err = matcher__rank(&m, rank);
	rep->nr_found = (u32)(out->nr - m.first);
	free(m.scan);
	free(m.file_version);
	return err;
}
