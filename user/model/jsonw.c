// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jsonw.c - commas, indentation and the spelling of numbers. */
#include "model/jsonw.h"

#include <math.h>

#include "model/text.h"

void jsonw__init(struct jsonw *w, struct strbuf *b, bool indent)
{
	*w = (struct jsonw){.b = b, .first = true, .indent = indent};
}

static void jsonw__newline(struct jsonw *w)
{
	if (!w->indent)
		return;
	strbuf__addc(w->b, '\n');
	for (u32 i = 0; i < w->depth; i++)
		strbuf__adds(w->b, "  ");
}

/* What comes before each value: the comma after the last one, the key. */
static void jsonw__lead(struct jsonw *w, const char *key)
{
	if (!w->first)
		strbuf__addc(w->b, ',');
	if (w->depth)
		jsonw__newline(w);
	w->first = false;
	if (!key)
		return;
	text_add_json(w->b, key);
	strbuf__adds(w->b, w->indent ? ": " : ":");
}

static void jsonw__open(struct jsonw *w, const char *key, char c)
{
	jsonw__lead(w, key);
	strbuf__addc(w->b, c);
	w->depth++;
	w->first = true;
}

static void jsonw__close(struct jsonw *w, char c)
{
	w->depth--;
	if (!w->first)
		jsonw__newline(w);
	strbuf__addc(w->b, c);
	w->first = false;
}

void jsonw__object(struct jsonw *w, const char *key)
{
	jsonw__open(w, key, '{');
}

void jsonw__array(struct jsonw *w, const char *key)
{
	jsonw__open(w, key, '[');
}

void jsonw__end_object(struct jsonw *w)
{
	jsonw__close(w, '}');
}

void jsonw__end_array(struct jsonw *w)
{
	jsonw__close(w, ']');
}

void jsonw__null(struct jsonw *w, const char *key)
{
	jsonw__lead(w, key);
	strbuf__adds(w->b, "null");
}

void jsonw__bool(struct jsonw *w, const char *key, bool v)
{
	jsonw__lead(w, key);
	strbuf__adds(w->b, v ? "true" : "false");
}

void jsonw__str(struct jsonw *w, const char *key, const char *s)
{
	if (!s) {
		jsonw__null(w, key);
		return;
	}
	jsonw__lead(w, key);
	text_add_json(w->b, s);
}

void jsonw__u64(struct jsonw *w, const char *key, u64 v)
{
	if (v == M_NONE) {
		jsonw__null(w, key);
		return;
	}
	jsonw__lead(w, key);
	strbuf__addf(w->b, "%llu", v);
}

void jsonw__s64(struct jsonw *w, const char *key, s64 v)
{
	jsonw__lead(w, key);
	strbuf__addf(w->b, "%lld", v);
}

void jsonw__u64_str(struct jsonw *w, const char *key, u64 v)
{
	if (v == M_NONE) {
		jsonw__null(w, key);
		return;
	}
	jsonw__lead(w, key);
	strbuf__addf(w->b, "\"%llu\"", v);
}

void jsonw__num(struct jsonw *w, const char *key, double v, int decimals)
{
	if (!isfinite(v)) {
		jsonw__null(w, key);
		return;
	}
	jsonw__lead(w, key);
	strbuf__addf(w->b, "%.*f", decimals, v);
}
