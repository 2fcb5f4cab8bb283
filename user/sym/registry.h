/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registry.h - which functions are codecs, and how their payload size and errors are read. The data
 * is codecs.json, built in, and files that a user adds; docs/codecs.md describes the format.
 *
 * All functions of an operation that a library offers are given, also where one calls another (a
 * codec's row counts the outermost). A function whose size_in and size_out are NONE may get its size
 * from a nested call of the same codec and operation: it is handed up to the outermost function, and
 * that one's size_in.add is added to it, once (cJSON_Parse: -1, as the function inside counts the
 * terminator).
 */
#ifndef HBPROF_REGISTRY_H
#define HBPROF_REGISTRY_H

#include "sym/buildinfo.h"
#include "sym/func.h"
#include "sym/symtab.h"

struct registry;

/* What a function is like, beside its numbers. */
#define REGISTRY_LAZY	   0x01 /* does not do the whole work: its count means something, its time not */
#define REGISTRY_STREAMING 0x02 /* contains the waiting time of a reader or writer */
#define REGISTRY_RECURSIVE 0x04 /* calls itself per node or nested message */
#define REGISTRY_AROUND	   0x08 /* no codec: what is around them, groups.json */
#define REGISTRY_HANDLER   0x10 /* the same; each call is a request */

struct codec_entry {
	const char *codec, *op, *symbol; /* symbol: a name or a pattern, see pattern.h */
	const char *library;  /* native: soname without version, "libcjson"; Go: package path */
	const char *language; /* "go", "c", "c++", "rust", "node" */
	enum hb_lang lang;
	const char *note, *versions;		/* NULL: none; all */
	u32 traits;				/* REGISTRY_* */
	struct hb_value size_in, size_out, err; /* for e_machine's registers */
	enum hb_err_kind err_kind;
};

/* What became of an entry; in several images the highest counts. */
enum registry_state {
	REGISTRY_ABSENT,	/* its library was not seen */
	REGISTRY_IMPORTED,	/* only imported here: it is in a library that is not */
	REGISTRY_INLINED,	/* the library is linked in, the function is not there */
	REGISTRY_OTHER_VERSION, /* not for this version of the library */
	REGISTRY_TOO_MANY,	/* a pattern that matches more functions than its limit */
	REGISTRY_HIT,
};

struct registry_alt {
	u8 state; /* enum registry_state */
	u32 nr;	  /* functions; of TOO_MANY those that matched */
};

/* What the search in one image gave, for the "no codec found" message and `list`. */
struct registry_report {
	u32 nr_found;
	u32 nr_absent;	  /* entries of a library that is linked in, whose symbol is not there */
	char linked[512]; /* codecs whose package or soname was seen, comma separated; with nr_found
			     0: never called, inlined everywhere, or in a library of its own */
	struct registry_alt
		*alt; /* registry__size() of them, the caller's, updated; NULL: not wanted */
};

/* The built-in registry. 0, -ENOMEM, -EINVAL (logged). */
int registry__open(struct registry **out);
void registry__close(struct registry *r);
/* Adds the entries of a file. One with the library and symbol of an earlier one takes its place. 0 or
 * -errno, with a message logged that names the line; the registry is then to be closed. */
int registry__add_file(struct registry *r, const char *path);
/* The same of text; name is for messages. */
int registry__add_text(struct registry *r, const char *name, const char *text, size_t len);

/* Adds groups.json: functions around codecs, of servers, TLS and SQL. The same. */
int registry__add_groups(struct registry *r);

/* Tells apart which codecs were known: a hash of codecs.json and the files, groups.json excluded. */
u64 registry__hash(const struct registry *r);

size_t registry__size(const struct registry *r);
/* Entry i < registry__size() for the registers of a machine, those of one library in a row. Values in
 * registers that are not followed are NONE. 0; -ENOTSUP: not known; -ENOENT: an entry turned off. */
int registry__entry(const struct registry *r, size_t i, u16 e_machine, struct codec_entry *out);
/* The names of all codecs, comma separated, each once; cut to fit, whole names only. */
void registry__names(const struct registry *r, char *buf, size_t len);

/* Appends the codec functions of the image to out. build may be NULL (no Go). rep->alt is the
 * caller's to set. 0 or -errno: -ENOTSUP: the registers of that machine are not known. */
int registry__match(const struct registry *r, const struct image *im, const struct symtab *t,
		    const struct buildinfo *build, struct func_list *out,
		    struct registry_report *rep);

/*
 * A function named by the user: NAME[=encode|decode]. Appends every function of that name (exact raw
 * name, else demangled with or without parameter types). Names may contain '=' themselves. 0 with
 * *nr found (may be 0), -EINVAL: no name, or the word after the last '=' is neither an operation nor
 * part of a function's name here, -ENOTSUP: an IFUNC or an import only. The caller knows the other
 * images and says it.
 *
 * Go's compiler makes second bodies under the same name (ABI wrappers); they are left out. A name
 * may still have several bodies, and one without a return: the site finder refuses that.
 */
int registry__probe(const struct image *im, const struct symtab *t, const char *spec,
		    struct func_list *out, u32 *nr);

#endif
