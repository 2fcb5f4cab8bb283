/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* registry_impl.h - the registry as it was read: what the files registry*.c share. */
#ifndef HBPROF_REGISTRY_IMPL_H
#define HBPROF_REGISTRY_IMPL_H

#include "sym/pattern.h"
#include "sym/registry.h"

#define REGISTRY_MACHINES 2   /* x86-64, arm64 */
#define REGISTRY_LIMIT	  256 /* functions of one pattern, unless the entry says otherwise */

enum place_at { PLACE_NONE, PLACE_ENTRY, PLACE_EXIT, PLACE_NESTED };

/* Where a value is: in the n-th integer word of the arguments or results, or in a register that is
 * named for each machine. */
struct place {
	u8 at;	 /* enum place_at */
	u8 kind; /* enum hb_value_kind */
	bool named;
	u8 word;
	s8 reg[REGISTRY_MACHINES]; /* -1: none */
	s16 off;
	s32 add;
};

struct registry_func {
	char *op, *symbol;
	char *versions, *note; /* NULL: all; none */
	char *with;	       /* NULL, or the method that the same type must have */
	struct pattern name;
	bool mangled; /* compared with readable C++ and Rust names */
	struct place size, err;
	enum hb_err_kind err_kind;
	u32 traits;
	u32 limit;
	bool off;
	u32 rank; /* of the text that it came from: 0 built in, then one for each file */
	u32 id;	  /* index of registry__entry(), set when all is read */
};

struct registry_library {
	char *codec, *library, *language;
	char *versions; /* NULL: all */
	char *prefix;	/* Go: the package as in symbols, "gopkg.in/yaml%2ev3" */
	enum hb_lang lang;
	bool anywhere; /* in no library of its own: templates, generics, a program */
	struct registry_func *func;
	size_t nr, cap;
};

struct registry {
	struct registry_library *library;
	size_t nr, cap;
	u32 nr_funcs;
	u32 rank; /* of the last file */
	u64 hash; /* of the codecs' texts, in order */
};

void registry_func__fini(struct registry_func *f);
void registry_library__fini(struct registry_library *l);
/* Merges the library into the registry; takes its contents. 0 or -ENOMEM. */
int registry__merge(struct registry *r, struct registry_library *l);
/* The values of an entry for a machine. 0 or -ENOTSUP. */
int registry_func__values(const struct registry_func *f, enum hb_lang lang, u16 e_machine,
			  struct codec_entry *out);

/* ---- registry_found.c: symbols of one name ---- */

struct found {
	const struct sym **v;
	size_t nr;
};

void found__drop_wrappers(struct found *f);
bool found__has_ifunc(const struct found *f);
/* The symbols of that very name; free(f->v). 0 or -ENOMEM. */
int find_named(const struct symtab *t, const char *name, struct found *f);
bool is_listed(const struct func_list *l, size_t first, u64 vaddr);
int add_sym(struct func_list *l, size_t first, const struct func *f, const struct sym *s);
/* Adds functions like `f` for the compiler's copies of a function, and tells those from l->v[first] on
 * of their parts. mangled: name is as a user reads it, not as the symbol is. */
int add_clones(const struct symtab *t, const char *name, bool mangled, struct func_list *l,
	       size_t first, const struct func *f);

/* ---- registry_text.c: JSON with line numbers; each value's line is in its valueint ---- */

struct cJSON;

struct json_text {
	const char *name; /* of the file, for messages */
	struct cJSON *root;
};

/* 0 or -errno, logged. */
int json_text__parse(struct json_text *t, const char *name, const char *text, size_t len);
void json_text__free(struct json_text *t);

/* The built-in file. */
extern const char registry_codecs[], registry_codecs_end[];
extern const char registry_groups[], registry_groups_end[];

#endif
