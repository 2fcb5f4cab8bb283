// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry_data.c - the registry in memory: merging files, and from positions to registers. Reading
 * is in registry_read.c, searching in registry.c.
 */
#include "sym/registry_impl.h"

#include "util/array.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void registry_func__fini(struct registry_func *f)
{
	free(f->op);
	free(f->symbol);
	free(f->versions);
	free(f->note);
	free(f->with);
	pattern__fini(&f->name);
}

void registry_library__fini(struct registry_library *l)
{
	free(l->codec);
	free(l->library);
	free(l->language);
	free(l->versions);
	free(l->prefix);
	for (size_t i = 0; i < l->nr; i++)
		registry_func__fini(&l->func[i]);
	free(l->func);
	*l = (struct registry_library){0};
}

void registry__close(struct registry *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		registry_library__fini(&r->library[i]);
	free(r->library);
	free(r);
}

/* ---- merging ---- */

/* The whole codec of a library, or a part with a range of versions of its own. */
static bool is_same(const struct registry_library *a, const struct registry_library *b)
{
	const char *va = a->versions ? a->versions : "", *vb = b->versions ? b->versions : "";

	return !strcmp(a->library, b->library) && !strcmp(a->codec, b->codec) &&
	       !strcmp(a->language, b->language) && !strcmp(va, vb) && a->anywhere == b->anywhere;
}

/* Puts the function in the place of one of the same symbol, else behind the last. */
static int library__add(struct registry_library *l, struct registry_func *f)
{
	int err;

	for (size_t i = 0; i < l->nr; i++) {
		if (strcmp(l->func[i].symbol, f->symbol))
			continue;
		registry_func__fini(&l->func[i]);
		l->func[i] = *f;
		*f = (struct registry_func){0};
		return 0;
	}
	err = array_grow((void **)&l->func, l->nr, &l->cap, sizeof(*l->func));
	if (err)
		return err;
	l->func[l->nr++] = *f;
	*f = (struct registry_func){0};
	return 0;
}

static void registry__number(struct registry *r)
{
	r->nr_funcs = 0;
	for (size_t i = 0; i < r->nr; i++) {
		for (size_t k = 0; k < r->library[i].nr; k++)
			r->library[i].func[k].id = r->nr_funcs++;
	}
}

int registry__merge(struct registry *r, struct registry_library *l)
{
	struct registry_library *known = NULL;
	int err = 0;

	for (size_t i = 0; i < r->nr && !known; i++) {
		if (is_same(&r->library[i], l))
			known = &r->library[i];
	}
	if (known) {
		for (size_t i = 0; i < l->nr && !err; i++)
			err = library__add(known, &l->func[i]);
	} else {
		err = array_grow((void **)&r->library, r->nr, &r->cap, sizeof(*l));
		if (!err) {
			r->library[r->nr++] = *l;
			*l = (struct registry_library){0};
		}
	}
	registry__number(r);
	return err;
}

/* ---- registers ---- */

#define ORDER_MAX 8

/*
 * By position: what the calling conventions say, as far as registers 0..7 are followed. Go:
 * src/cmd/compile/abi-internal.md (its next words are in R8 to R11 of amd64); C: System V psABI.
 */
static const s8 amd64_go[ORDER_MAX] = {0, 3, 1, 7, 6, -1, -1, -1};	     /* AX BX CX DI SI */
static const s8 amd64_c_args[ORDER_MAX] = {7, 6, 2, 1, -1, -1, -1, -1};	     /* DI SI DX CX */
static const s8 amd64_c_results[ORDER_MAX] = {0, 2, -1, -1, -1, -1, -1, -1}; /* AX DX */
static const s8 arm64_all[ORDER_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};

static const s8 *reg_order(u16 e_machine, enum hb_lang lang, bool results)
{
	if (e_machine == EM_AARCH64)
		return arm64_all;
	if (lang == HB_LANG_GO)
		return amd64_go;
	return results ? amd64_c_results : amd64_c_args;
}

static struct hb_value value_of(const struct place *p, enum hb_lang lang, u16 e_machine)
{
	const s8 *order = reg_order(e_machine, lang, p->at == PLACE_EXIT);
	int reg = p->named		? p->reg[e_machine == EM_AARCH64]
		  : p->word < ORDER_MAX ? order[p->word]
					: -1;

	if (reg < 0)
		return (struct hb_value){0};
	return (struct hb_value){.kind = p->kind, .reg = (u8)reg, .off = p->off, .add = p->add};
}

int registry_func__values(const struct registry_func *f, enum hb_lang lang, u16 e_machine,
			  struct codec_entry *out)
{
	if (e_machine != EM_X86_64 && e_machine != EM_AARCH64)
		return -ENOTSUP;
	out->size_in = out->size_out = out->err = (struct hb_value){0};
	out->err_kind = HB_ERR_NONE;
	if (f->size.at == PLACE_ENTRY)
		out->size_in = value_of(&f->size, lang, e_machine);
	else if (f->size.at == PLACE_EXIT)
		out->size_out = value_of(&f->size, lang, e_machine);
	else if (f->size.at == PLACE_NESTED)
		out->size_in.add = f->size.add;
	if (f->err_kind != HB_ERR_NONE)
		out->err = value_of(&f->err, lang, e_machine);
	if (out->err.kind != HB_VALUE_NONE)
		out->err_kind = f->err_kind;
	return 0;
}

/* ---- entries ---- */

size_t registry__size(const struct registry *r)
{
	return r->nr_funcs;
}

int registry__entry(const struct registry *r, size_t i, u16 e_machine, struct codec_entry *out)
{
	const struct registry_library *l = r->library;
	const struct registry_func *f;

	for (; i >= l->nr; l++)
		i -= l->nr;
	f = &l->func[i];
	if (f->off)
		return -ENOENT;
	*out = (struct codec_entry){
		.codec = l->codec,
		.op = f->op,
		.symbol = f->symbol,
		.library = l->library,
		.language = l->language,
		.lang = l->lang,
		.note = f->note,
		.versions = f->versions ? f->versions : l->versions,
		.traits = f->traits,
	};
	return registry_func__values(f, l->lang, e_machine, out);
}

static bool is_named_before(const struct registry *r, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(r->library[k].codec, r->library[i].codec))
			return true;
	}
	return false;
}

void registry__names(const struct registry *r, char *buf, size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < r->nr; i++) {
		const char *name = r->library[i].codec;

		if (is_named_before(r, i))
			continue;
		if (used + strlen(name) + 3 > len)
			return;
		used += (size_t)snprintf(buf + used, len - used, "%s%s", used ? ", " : "", name);
	}
}
