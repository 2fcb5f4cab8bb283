// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry_read.c - from JSON to entries. The format is described in docs/codecs.md. What is not
 * understood is an error with its line: a mistyped key that is passed over would be a codec that is
 * not measured, or one with wrong sizes.
 */
#include "sym/registry_field.h"
#include "sym/registry_impl.h"

#include "util/array.h"
#include "util/fsutil.h"
#include "util/log.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (1u << 20)
#define LIBRARIES_MAX  512
#define FUNCS_MAX      4096
#define WORD_MAX       15   /* of an operation */
#define LIMIT_MAX      4096 /* as many as can be measured at all */

/* ---- places of values ---- */

static int read_at(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"entry", "exit", "nested"};
	static const u8 at[] = {PLACE_ENTRY, PLACE_EXIT, PLACE_NESTED};
	struct place *p = into;
	u32 i;
	int err = read_choice(rd, v, words, NR(words), &i);

	if (!err)
		p->at = at[i];
	return err;
}

static int read_kind(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"value", "memory", "strlen"};
	static const u8 kinds[] = {HB_VALUE_REG, HB_VALUE_MEM, HB_VALUE_STRLEN};
	struct place *p = into;
	u32 i;
	int err = read_choice(rd, v, words, NR(words), &i);

	if (!err)
		p->kind = kinds[i];
	return err;
}

static int read_word(struct reader *rd, const cJSON *v, void *into)
{
	struct place *p = into;
	int n, err = read_number(rd, v, 0, 15, &n);

	if (!err)
		p->word = (u8)n;
	return err;
}

static int read_offset(struct reader *rd, const cJSON *v, void *into)
{
	struct place *p = into;
	int n, err = read_number(rd, v, -32768, 32767, &n);

	if (!err)
		p->off = (s16)n;
	return err;
}

static int read_add(struct reader *rd, const cJSON *v, void *into)
{
	struct place *p = into;
	int n, err = read_number(rd, v, -(1 << 30), 1 << 30, &n);

	if (!err)
		p->add = n;
	return err;
}

/* Register names, where they are numbered 0 to 7: those are followed from the call to the site. */
static int read_amd64(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const names[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	struct place *p = into;
	u32 i;
	int err = read_choice(rd, v, names, NR(names), &i);

	if (!err)
		p->reg[0] = (s8)i;
	return err;
}

static int read_arm64(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const names[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
	struct place *p = into;
	u32 i;
	int err = read_choice(rd, v, names, NR(names), &i);

	if (!err)
		p->reg[1] = (s8)i;
	return err;
}

static int read_register(struct reader *rd, const cJSON *v, void *into)
{
	static const struct field fields[] = {MAY("amd64", read_amd64), MAY("arm64", read_arm64)};
	struct place *p = into;

	p->named = true;
	return read_object(rd, v, fields, NR(fields), p);
}

/* What belongs together and what does not. */
static int check_place(struct reader *rd, const cJSON *o, const struct place *p)
{
	bool word = cJSON_GetObjectItemCaseSensitive(o, "word");

	if (word && p->named)
		return complain(rd, o, "either \"word\" or \"register\", not both");
	if (p->off && p->kind != HB_VALUE_MEM)
		return complain(rd, o, "\"offset\" is for \"kind\": \"memory\" only");
	if (p->at != PLACE_NESTED && !word && !p->named)
		return complain(rd, o,
				"\"word\", the position in arguments or results, is missing");
	if (p->at == PLACE_NESTED && (word || p->named || p->kind != HB_VALUE_REG))
		return complain(
			rd, o,
			"a nested call's size comes from that call's entry: only \"add\" is "
			"possible beside");
	return 0;
}

static int read_size(struct reader *rd, const cJSON *v, void *into)
{
	static const struct field fields[] = {
		MUST("at", read_at),	MAY("word", read_word),	    MAY("register", read_register),
		MAY("kind", read_kind), MAY("offset", read_offset), MAY("add", read_add),
	};
	struct registry_func *f = into;
	int err;

	f->size = (struct place){.kind = HB_VALUE_REG, .reg = {-1, -1}};
	err = read_object(rd, v, fields, NR(fields), &f->size);
	return err ? err : check_place(rd, v, &f->size);
}

static int read_when(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"nonzero", "zero", "zero32", "negative"};
	static const enum hb_err_kind kinds[] = {HB_ERR_NONZERO, HB_ERR_ZERO, HB_ERR_ZERO32,
						 HB_ERR_NEGATIVE};
	struct registry_func *f = into;
	u32 i;
	int err = read_choice(rd, v, words, NR(words), &i);

	if (!err)
		f->err_kind = kinds[i];
	return err;
}

static int read_error_word(struct reader *rd, const cJSON *v, void *into)
{
	return read_word(rd, v, &((struct registry_func *)into)->err);
}

static int read_error(struct reader *rd, const cJSON *v, void *into)
{
	static const struct field fields[] = {MUST("when", read_when),
					      MUST("word", read_error_word)};
	struct registry_func *f = into;

	f->err = (struct place){.at = PLACE_EXIT, .kind = HB_VALUE_REG};
	return read_object(rd, v, fields, NR(fields), f);
}

/* ---- functions ---- */

static int read_op(struct reader *rd, const cJSON *v, void *into)
{
	struct registry_func *f = into;
	int err = read_text(rd, v, &f->op);
	size_t len = err ? 0 : strspn(f->op, "abcdefghijklmnopqrstuvwxyz");

	if (!err && (f->op[len] || len > WORD_MAX))
		err = complain(rd, v,
			       "an operation is one lower-case word of up to %d letters, as "
			       "\"encode\" or \"decode\"",
			       WORD_MAX);
	return err;
}

static int read_symbol(struct reader *rd, const cJSON *v, void *into)
{
	return read_text(rd, v, &((struct registry_func *)into)->symbol);
}

static int read_func_versions(struct reader *rd, const cJSON *v, void *into)
{
	return read_versions(rd, v, &((struct registry_func *)into)->versions);
}

static int read_note(struct reader *rd, const cJSON *v, void *into)
{
	return read_text(rd, v, &((struct registry_func *)into)->note);
}

static int read_with(struct reader *rd, const cJSON *v, void *into)
{
	return read_text(rd, v, &((struct registry_func *)into)->with);
}

static int read_limit(struct reader *rd, const cJSON *v, void *into)
{
	int n, err = read_number(rd, v, 1, LIMIT_MAX, &n);

	if (!err)
		((struct registry_func *)into)->limit = (u32)n;
	return err;
}

static int read_off(struct reader *rd, const cJSON *v, void *into)
{
	if (!cJSON_IsBool(v))
		return complain(rd, v, "true or false is expected");
	((struct registry_func *)into)->off = cJSON_IsTrue(v);
	return 0;
}

static int read_traits(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"lazy", "streaming", "recursive", "around", "handler"};
	struct registry_func *f = into;
	const cJSON *t;
	int err = 0;

	if (!cJSON_IsArray(v))
		return complain(rd, v, "an array, [...], is expected here");
	cJSON_ArrayForEach(t, v)
	{
		u32 i = 0;

		err = read_choice(rd, t, words, NR(words), &i);
		if (err)
			break;
		f->traits |= 1u << i;
	}
	return err;
}

/* A Go name that begins with a dot is in the library's package. */
static int complete_symbol(const struct reader *rd, struct registry_func *f)
{
	char *full;

	if (rd->library->lang != HB_LANG_GO || f->symbol[0] != '.')
		return 0;
	if (asprintf(&full, "%s%s", rd->library->prefix, f->symbol) < 0)
		return -ENOMEM;
	free(f->symbol);
	f->symbol = full;
	return 0;
}

/* The remark that a trait means, unless the entry has its own. */
static int complete_note(struct registry_func *f)
{
	const char *note = NULL;

	if (f->traits & REGISTRY_LAZY)
		note = "lazy: the time is not that of a whole operation";
	else if (f->traits & REGISTRY_STREAMING)
		note = !strcmp(f->op, "decode") ? "contains the reader's waiting time"
						: "contains the writer's time";
	if (f->note || !note)
		return 0;
	f->note = strdup(note);
	return f->note ? 0 : -ENOMEM;
}

static int finish_func(struct reader *rd, const cJSON *o, struct registry_func *f)
{
	bool go = rd->library->lang == HB_LANG_GO;
	const char *why;
	int err = complete_symbol(rd, f);

	if (!err)
		err = complete_note(f);
	if (err)
		return err;
	err = pattern__init(&f->name, f->symbol, &why);
	if (err == -EINVAL)
		return complain(rd, cJSON_GetObjectItemCaseSensitive(o, "symbol"), "%s", why);
	/* Without a fixed word every function of a program would have to be looked at. */
	if (!err && !f->name.plain && !f->name.anchor[0])
		return complain(rd, cJSON_GetObjectItemCaseSensitive(o, "symbol"),
				"a pattern needs a fixed word of three letters or more");
	f->mangled = !go && (!f->name.plain || strstr(f->symbol, "::"));
	if (!f->limit)
		f->limit = REGISTRY_LIMIT;
	if (f->with && (!go || f->name.plain))
		return complain(rd, cJSON_GetObjectItemCaseSensitive(o, "with"),
				"is for patterns of Go functions only");
	return err;
}

static int read_func(struct reader *rd, const cJSON *v, struct registry_func *f)
{
	static const struct field fields[] = {
		MUST("op", read_op),	    MUST("symbol", read_symbol),
		MAY("size", read_size),	    MAY("error", read_error),
		MAY("note", read_note),	    MAY("versions", read_func_versions),
		MAY("traits", read_traits), MAY("with", read_with),
		MAY("limit", read_limit),   MAY("off", read_off),
	};
	int err = read_object(rd, v, fields, NR(fields), f);

	return err ? err : finish_func(rd, v, f);
}

/* ---- libraries ---- */

static int read_codec(struct reader *rd, const cJSON *v, void *into)
{
	struct registry_library *l = into;
	int err = read_text(rd, v, &l->codec);

	if (!err && !strcmp(l->codec, "probe"))
		err = complain(rd, v, "'probe' means functions named with --probe; choose another");
	return err;
}

static int read_library_name(struct reader *rd, const cJSON *v, void *into)
{
	return read_text(rd, v, &((struct registry_library *)into)->library);
}

static int read_library_versions(struct reader *rd, const cJSON *v, void *into)
{
	return read_versions(rd, v, &((struct registry_library *)into)->versions);
}

static int read_language(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"go", "c", "c++", "rust", "node"};
	struct registry_library *l = into;
	u32 i;
	int err = read_choice(rd, v, words, NR(words), &i);

	if (err)
		return err;
	l->lang = i ? HB_LANG_NATIVE : HB_LANG_GO;
	l->language = strdup(words[i]);
	return l->language ? 0 : -ENOMEM;
}

static int read_where(struct reader *rd, const cJSON *v, void *into)
{
	static const char *const words[] = {"library", "anywhere"};
	u32 i;
	int err = read_choice(rd, v, words, NR(words), &i);

	if (!err)
		((struct registry_library *)into)->anywhere = i;
	return err;
}

/* They are read when the rest of the library is known. */
static int read_later(struct reader *rd, const cJSON *v, void *into)
{
	return cJSON_IsArray(v) ? 0 : complain(rd, v, "an array, [...], is expected here");
}

/* As the linker spells a package: dots of the last element and unusual bytes become %xx
 * (objabi.PathToPrefix in cmd/internal/objabi/path.go of Go). */
static char *go_prefix(const char *path)
{
	const char *last = strrchr(path, '/');
	char *out = malloc(3 * strlen(path) + 1), *o = out;

	for (const char *p = path; out && *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || (c == '.' && (!last || p > last)) || c == '%' || c == '"' ||
		    c >= 0x7f)
			o += sprintf(o, "%%%02x", c);
		else
			*o++ = (char)c;
	}
	if (out)
		*o = '\0';
	return out;
}

static int read_funcs(struct reader *rd, const cJSON *o, struct registry_library *l)
{
	const cJSON *funcs = cJSON_GetObjectItemCaseSensitive(o, "functions"), *v;
	int err = 0;

	if (!funcs->child)
		return complain(rd, funcs, "no function in it; a library has one at least");
	cJSON_ArrayForEach(v, funcs)
	{
		struct registry_func f = {0};

		if (l->nr == FUNCS_MAX)
			return complain(rd, v, "more than %d functions", FUNCS_MAX);
		err = read_func(rd, v, &f);
		if (!err)
			err = array_grow((void **)&l->func, l->nr, &l->cap, sizeof(f));
		for (size_t i = 0; i < l->nr && !err; i++) {
			if (!strcmp(l->func[i].symbol, f.symbol))
				err = complain(rd, v, "'%s' is there twice in this library",
					       f.symbol);
		}
		if (err) {
			registry_func__fini(&f);
			return err;
		}
		l->func[l->nr++] = f;
	}
	return 0;
}

static int read_library(struct reader *rd, const cJSON *v, struct registry_library *l)
{
	static const struct field fields[] = {
		MUST("codec", read_codec),
		MUST("language", read_language),
		MUST("library", read_library_name),
		MAY("where", read_where),
		MAY("versions", read_library_versions),
		MUST("functions", read_later),
	};
	int err = read_object(rd, v, fields, NR(fields), l);

	if (err)
		return err;
	if (l->lang == HB_LANG_GO && l->anywhere)
		return complain(rd, v, "\"where\": a Go function is in a package, always");
	if (l->lang == HB_LANG_GO) {
		l->prefix = go_prefix(l->library);
		if (!l->prefix)
			return -ENOMEM;
	}
	rd->library = l;
	return read_funcs(rd, v, l);
}

/* ---- files ---- */

static int read_format(struct reader *rd, const cJSON *v, void *into)
{
	if (cJSON_IsNumber(v) && cJSON_GetNumberValue(v) == 1)
		return 0;
	return complain(rd, v, "this hbprof reads format 1 only; see docs/codecs.md");
}

static int read_root(struct reader *rd, const cJSON *root, struct registry *r, u32 rank)
{
	static const struct field fields[] = {MUST("format", read_format),
					      MUST("libraries", read_later)};
	int err = read_object(rd, root, fields, NR(fields), r);
	const cJSON *v;

	if (err)
		return err;
	cJSON_ArrayForEach(v, cJSON_GetObjectItemCaseSensitive(root, "libraries"))
	{
		struct registry_library l = {0};

		err = read_library(rd, v, &l);
		for (size_t i = 0; i < l.nr; i++)
			l.func[i].rank = rank;
		if (!err && (r->nr == LIBRARIES_MAX || r->nr_funcs + l.nr > FUNCS_MAX))
			err = complain(rd, v, "more than %d libraries or %d functions in all",
				       LIBRARIES_MAX, FUNCS_MAX);
		if (!err)
			err = registry__merge(r, &l);
		registry_library__fini(&l);
		if (err)
			break;
	}
	return err;
}

/* FNV-1a, over the length as well, so that two files are not one. */
static u64 hash_text(u64 hash, const char *text, size_t len)
{
	hash = (hash ? hash : 0xcbf29ce484222325ULL) ^ len;
	for (size_t i = 0; i < len; i++)
		hash = (hash * 0x100000001b3ULL) ^ (u8)text[i];
	return hash * 0x100000001b3ULL;
}

u64 registry__hash(const struct registry *r)
{
	return r->hash;
}

static int add_text(struct registry *r, const char *name, const char *text, size_t len, u32 rank)
{
	struct reader rd = {.file = name};
	struct json_text t;
	int err = json_text__parse(&t, name, text, len);

	if (err)
		return err;
	err = read_root(&rd, t.root, r, rank);
	json_text__free(&t);
	return err;
}

int registry__add_text(struct registry *r, const char *name, const char *text, size_t len)
{
	r->hash = hash_text(r->hash, text, len);
	if (r->nr)
		r->rank++;
	return add_text(r, name, text, len, r->rank);
}

int registry__add_file(struct registry *r, const char *path)
{
	char *text;
	size_t len;
	int err = fs_read_file(path, FILE_MAX_BYTES, &text, &len);

	if (err) {
		log_err("cannot read the codecs in %s: %s", path,
			err == -EFBIG ? "larger than 1 MB" : strerror(-err));
		return err;
	}
	err = registry__add_text(r, path, text, len);
	free(text);
	return err;
}

int registry__open(struct registry **out)
{
	struct registry *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = registry__add_text(r, "codecs.json", registry_codecs,
				 (size_t)(registry_codecs_end - registry_codecs));
	if (err)
		registry__close(r);
	else
		*out = r;
	return err;
}

int registry__add_groups(struct registry *r)
{
	return add_text(r, "groups.json", registry_groups,
			(size_t)(registry_groups_end - registry_groups), 0);
}
