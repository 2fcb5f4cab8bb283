// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * listview.c - what was found, what it takes to probe it, and where every other known entry point
 * stands. Which functions and sites there are is the plan's matter.
 */
#include "cmd/listview.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/listcost.h"
#include "model/jsonw.h"
#include "model/text.h"
#include "sym/registry.h"

#define NAME_BYTES 96

static const char *const state_names[] = {
	[REGISTRY_ABSENT] = "absent",	  [REGISTRY_IMPORTED] = "imported only",
	[REGISTRY_INLINED] = "inlined",	  [REGISTRY_OTHER_VERSION] = "other version",
	[REGISTRY_TOO_MANY] = "too many", [REGISTRY_HIT] = "hit",
};

static const char *const state_meanings[] = {
	[REGISTRY_ABSENT] = "absent: its library is not here",
	[REGISTRY_IMPORTED] = "imported only: its code is in a library of its own",
	[REGISTRY_INLINED] = "inlined, or never called: its library is linked in, it is not",
	[REGISTRY_OTHER_VERSION] = "for another version of the library",
	[REGISTRY_TOO_MANY] = "matches too many functions; narrow it with --codecs",
};

static bool has_size(const struct func *f)
{
	return f->size_in.kind != HB_VALUE_NONE || f->size_out.kind != HB_VALUE_NONE;
}

/* A function without a size of its own is told it by one of the same codec and operation inside. */
static const char *size_word(const struct plan *pl, const struct func *f)
{
	if (has_size(f))
		return "yes";
	for (u32 i = 0; i < pl->nr_funcs && f->entry; i++) {
		const struct func *k = pl->func[i].f;

		if (has_size(k) && !strcmp(k->codec, f->codec) && !strcmp(k->op, f->op))
			return "if nested";
	}
	return "n/a";
}

/* ---- the table ---- */

enum {
	COL_CODEC,
	COL_OP,
	COL_FUNC,
	COL_VERSION,
	COL_ENTRY,
	COL_ENDS,
	COL_SIZE,
	COL_ERR,
	COL_COST,
	COL_NS,
	COL_NR
};

static const char *const titles[COL_NR] = {"CODEC",   "OP",   "FUNCTION", "VERSION", "ENTRY",
					   "RETURNS", "SIZE", "ERRORS",	  "COST",    "NS A CALL"};

struct row {
	char *cell[COL_NR];
};

/* n rows of cells, each column as wide as its widest cell. The last one is not padded. */
static void print_rows(const struct row *row, size_t nr, u32 cols, struct strbuf *out)
{
	u32 width[COL_NR] = {0};

	for (size_t i = 0; i < nr; i++) {
		for (u32 c = 0; c < cols; c++) {
			u32 w = row[i].cell[c] ? text_width(row[i].cell[c]) : 0;

			if (w > width[c])
				width[c] = w;
		}
	}
	for (size_t i = 0; i < nr; i++) {
		for (u32 c = 0; c < cols; c++) {
			const char *s = row[i].cell[c] ? row[i].cell[c] : "";

			strbuf__adds(out, s);
			if (c + 1 < cols)
				strbuf__addf(out, "%*s", (int)(width[c] - text_width(s) + 2), "");
		}
		strbuf__addc(out, '\n');
	}
}

/* A copy that is fit for a terminal; NULL: no memory. */
static char *cell(const char *s)
{
	struct strbuf b;

	strbuf__init(&b, 1 << 20);
	text_add_escaped(&b, s);
	return strbuf__take(&b);
}

/* Where the bracket at p ends; NULL: nowhere. Operators make the count of < and > unequal. */
static const char *bracket_end(const char *p)
{
	u32 depth = 0;

	for (; *p; p++) {
		depth += *p == '<' || *p == '(';
		depth -= *p == '>' || *p == ')';
		if (!depth)
			return p;
	}
	return NULL;
}

/* Names of templates can fill a screen: of those that are long, what is in brackets is left out, and
 * the rest cut if need be. */
static char *name_cell(const char *name)
{
	char text[NAME_BYTES + 1];
	size_t len = 0;

	if (strlen(name) <= NAME_BYTES)
		return cell(name);
	for (const char *p = name; *p && len + 1 < NAME_BYTES; p++) {
		const char *end = *p == '<' || *p == '(' ? bracket_end(p) : NULL;

		text[len++] = *p;
		if (!end)
			continue;
		text[len++] = *end;
		p = end;
	}
	text[len] = '\0';
	return cell(text);
}

static char *ends_cell(const struct plan_func *pf, const struct ends *e)
{
	struct strbuf b;
	bool first = true;

	strbuf__init(&b, 256);
	strbuf__addf(&b, "%u%s", e->nr, pf->exit_ret ? " ret" : "");
	for (u32 c = 0; c < HB_CLASS_NR; c++) {
		if (!e->by_class[c])
			continue;
		strbuf__addf(&b, "%s%u %s", first ? " (" : ", ", e->by_class[c], hb_class_names[c]);
		first = false;
	}
	if (!first)
		strbuf__addc(&b, ')');
	return strbuf__take(&b);
}

static char *cost_cell(const struct cost_ns *c)
{
	char buf[64];

	listcost__format(c, buf, sizeof(buf));
	return cell(buf);
}

static void func_row(const struct listview *v, u32 i, struct row *r)
{
	const struct plan *pl = v->plan;
	const struct plan_func *pf = &pl->func[i];
	const struct func *f = pf->f;
	struct ends e = listcost__ends(pl, i);
	struct cost_ns cost = listcost__of(v, pf, &e);

	r->cell[COL_CODEC] = cell(f->codec);
	r->cell[COL_OP] = cell(f->op);
	r->cell[COL_FUNC] = name_cell(f->name);
	r->cell[COL_VERSION] = cell(f->library_version && f->library_version[0] ? f->library_version
										: "n/a");
	r->cell[COL_ENTRY] = cell(hb_class_names[pf->entry_class]);
	r->cell[COL_ENDS] = ends_cell(pf, &e);
	r->cell[COL_SIZE] = cell(size_word(pl, f));
	r->cell[COL_ERR] = cell(f->err_kind != HB_ERR_NONE ? "yes" : "n/a");
	r->cell[COL_COST] = cell(listcost__word(pf, &e));
	r->cell[COL_NS] = cost_cell(&cost);
}

static void rows_free(struct row *row, size_t nr)
{
	for (size_t i = 0; row && i < nr; i++) {
		for (u32 c = 0; c < COL_NR; c++)
			free(row[i].cell[c]);
	}
	free(row);
}

static void table_funcs(const struct listview *v, struct strbuf *out)
{
	const struct plan *pl = v->plan;
	struct row *row = calloc(pl->nr_funcs + 1, sizeof(*row));

	if (!row) {
		out->err = -ENOMEM;
		return;
	}
	for (u32 c = 0; c < COL_NR; c++)
		row[0].cell[c] = cell(titles[c]);
	for (u32 i = 0; i < pl->nr_funcs; i++)
		func_row(v, i, &row[i + 1]);
	print_rows(row, pl->nr_funcs + 1, COL_NR, out);
	rows_free(row, pl->nr_funcs + 1);
}

/* ---- the other entries ---- */

/* Entry i, if it is to be shown. */
static bool shown_entry(const struct listview *v, size_t i, struct codec_entry *e)
{
	const struct plan *pl = v->plan;
	u16 machine = pl->nr_images ? pl->image[0].im->machine : EM_X86_64;
	u8 state = pl->alt[i].state;
	int err = registry__entry(pl->registry, i, machine, e);

	if (err == -ENOTSUP)
		err = registry__entry(pl->registry, i, EM_X86_64, e);
	return !err && state != REGISTRY_HIT && (v->all || state != REGISTRY_ABSENT);
}

static void entry_row(const struct listview *v, size_t i, const struct codec_entry *e,
		      struct row *r)
{
	const struct registry_alt *alt = &v->plan->alt[i];
	struct strbuf why;

	strbuf__init(&why, 512);
	strbuf__adds(&why, state_meanings[alt->state]);
	if (alt->state == REGISTRY_TOO_MANY)
		strbuf__addf(&why, " (%u functions)", alt->nr);
	if (alt->state == REGISTRY_OTHER_VERSION && e->versions)
		strbuf__addf(&why, " (%s)", e->versions);
	r->cell[0] = cell(e->codec);
	r->cell[1] = cell(e->op);
	r->cell[2] = name_cell(e->symbol);
	r->cell[3] = strbuf__take(&why);
}

static void table_entries(const struct listview *v, struct strbuf *out)
{
	size_t nr = registry__size(v->plan->registry), used = 0;
	struct row *row = calloc(nr + 1, sizeof(*row));
	struct codec_entry e;

	if (!row) {
		out->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		if (shown_entry(v, i, &e))
			entry_row(v, i, &e, &row[used++]);
	}
	if (used) {
		strbuf__adds(out, "\nNot measured:\n");
		print_rows(row, used, 4, out);
	}
	rows_free(row, used);
}

static u32 count_absent(const struct plan *pl)
{
	u32 n = 0;

	for (size_t i = 0; i < registry__size(pl->registry); i++)
		n += pl->alt[i].state == REGISTRY_ABSENT;
	return n;
}

static void table_notes(const struct plan *pl, struct strbuf *out)
{
	for (u32 i = 0; i < pl->nr_funcs; i++) {
		const struct func *f = pl->func[i].f;
		char *name;

		if (!f->note)
			continue;
		strbuf__adds(out, "note: ");
		name = name_cell(f->name);
		strbuf__adds(out, name ? name : "");
		free(name);
		strbuf__adds(out, ": ");
		text_add_escaped(out, f->note);
		strbuf__addc(out, '\n');
	}
	for (u32 i = 0; i < pl->nr_warnings; i++) {
		strbuf__adds(out, "warning: ");
		text_add_escaped(out, pl->warning[i]);
		strbuf__addc(out, '\n');
	}
}

void listview__table(const struct listview *v, struct strbuf *out)
{
	const struct plan *pl = v->plan;

	text_add_escaped(out, v->target);
	strbuf__adds(out, " (");
	text_add_escaped(out, pl->proc[0].language);
	strbuf__addf(out, "): %u function%s in %u file%s\n", pl->nr_funcs,
		     pl->nr_funcs == 1 ? "" : "s", pl->nr_images, pl->nr_images == 1 ? "" : "s");
	if (pl->nr_funcs) {
		strbuf__addc(out, '\n');
		table_funcs(v, out);
		strbuf__adds(out, "\nReturns of indirect calls and of calls from code outside are "
				  "found while recording.\n");
		listcost__explain(v, out);
		table_notes(pl, out);
	}
	table_entries(v, out);
	if (!v->all)
		strbuf__addf(out,
			     "\n%u more entry points are known; none of their libraries is here "
			     "(--all shows them).\n",
			     count_absent(pl));
}

/* ---- JSON ---- */

static void json_func(struct jsonw *w, const struct listview *v, u32 i)
{
	const struct plan *pl = v->plan;
	const struct plan_func *pf = &pl->func[i];
	const struct func *f = pf->f;
	const char *size = size_word(pl, f);
	struct ends e = listcost__ends(pl, i);
	struct cost_ns cost = listcost__of(v, pf, &e);

	jsonw__object(w, NULL);
	jsonw__str(w, "codec", f->codec);
	jsonw__str(w, "op", f->op);
	jsonw__str(w, "function", f->name);
	jsonw__str(w, "file", pl->image[pf->image].path);
	jsonw__str(w, "library", f->library);
	jsonw__str(w, "library_version", f->library_version);
	jsonw__str(w, "entry_class", hb_class_names[pf->entry_class]);
	jsonw__str(w, "exit", pf->exit_ret ? "ret" : "site");
	jsonw__u64(w, "returns", e.nr);
	jsonw__object(w, "returns_by_class");
	for (u32 c = 0; c < HB_CLASS_NR; c++)
		jsonw__u64(w, hb_class_names[c], e.by_class[c]);
	jsonw__end_object(w);
	jsonw__str(w, "size", strcmp(size, "n/a") ? size : NULL);
	jsonw__bool(w, "errors", f->err_kind != HB_ERR_NONE);
	jsonw__str(w, "cost", listcost__word(pf, &e));
	listcost__json(w, &cost);
	jsonw__str(w, "note", f->note);
	jsonw__end_object(w);
}

static void json_entry(struct jsonw *w, const struct registry_alt *alt, const struct codec_entry *e)
{
	jsonw__object(w, NULL);
	jsonw__str(w, "codec", e->codec);
	jsonw__str(w, "language", e->language);
	jsonw__str(w, "library", e->library);
	jsonw__str(w, "op", e->op);
	jsonw__str(w, "symbol", e->symbol);
	jsonw__str(w, "versions", e->versions);
	jsonw__str(w, "state", state_names[alt->state]);
	jsonw__u64(w, "functions", alt->nr);
	jsonw__end_object(w);
}

void listview__json(const struct listview *v, struct strbuf *out)
{
	const struct plan *pl = v->plan;
	struct codec_entry e;
	struct jsonw w;

	jsonw__init(&w, out, true);
	jsonw__object(&w, NULL);
	jsonw__str(&w, "target", v->target);
	jsonw__str(&w, "language", pl->proc[0].language);
	jsonw__array(&w, "functions");
	for (u32 i = 0; i < pl->nr_funcs; i++)
		json_func(&w, v, i);
	jsonw__end_array(&w);
	jsonw__array(&w, "not_measured");
	for (size_t i = 0; i < registry__size(pl->registry); i++) {
		if (shown_entry(v, i, &e))
			json_entry(&w, &pl->alt[i], &e);
	}
	jsonw__end_array(&w);
	jsonw__array(&w, "warnings");
	for (u32 i = 0; i < pl->nr_warnings; i++)
		jsonw__str(&w, NULL, pl->warning[i]);
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	strbuf__addc(out, '\n');
}
