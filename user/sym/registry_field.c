// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry_field.c - objects by tables of their keys, and plain values, each checked. What is not
 * understood is an error with its line: a mistyped key that is passed over would be a codec that is
 * not measured, or one with wrong sizes.
 */
#include "sym/registry_field.h"

#include "sym/verrange.h"
#include "util/log.h"
#include "util/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 256

int complain(const struct reader *rd, const cJSON *at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (at->string)
		log_err("%s:%d: \"%s\": %s", rd->file, at->valueint, at->string, text);
	else
		log_err("%s:%d: %s", rd->file, at->valueint, text);
	return -EINVAL;
}

/* ---- objects ---- */

static const struct field *field_find(const struct field *f, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(f[i].key, key))
			return &f[i];
	}
	return NULL;
}

static int complain_unknown(const struct reader *rd, const cJSON *v, const struct field *f,
			    size_t nr)
{
	char known[256] = "";

	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(known);

		if (nearest_match(v->string, f[i].key))
			return complain(rd, v, "unknown key; did you mean \"%s\"?", f[i].key);
		snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "", f[i].key);
	}
	return complain(rd, v, "unknown key; here may be: %s", known);
}

static bool is_repeated(const cJSON *object, const cJSON *v)
{
	for (const cJSON *k = object->child; k != v; k = k->next) {
		if (!strcmp(k->string, v->string))
			return true;
	}
	return false;
}

int read_object(struct reader *rd, const cJSON *o, const struct field *f, size_t nr, void *into)
{
	int err = 0;

	if (!cJSON_IsObject(o))
		return complain(rd, o, "an object, {...}, is expected here");
	for (const cJSON *v = o->child; v && !err; v = v->next) {
		const struct field *known = field_find(f, nr, v->string);

		if (!known)
			return complain_unknown(rd, v, f, nr);
		if (is_repeated(o, v))
			return complain(rd, v, "is there twice; keep one of them");
		err = known->read(rd, v, into);
	}
	for (size_t i = 0; i < nr && !err; i++) {
		if (f[i].must && !cJSON_GetObjectItemCaseSensitive(o, f[i].key))
			err = complain(rd, o, "the key \"%s\" is missing here", f[i].key);
	}
	return err;
}

/* ---- plain values ---- */

int read_text(struct reader *rd, const cJSON *v, char **out)
{
	const char *s = cJSON_GetStringValue(v);

	if (!s)
		return complain(rd, v, "a string in quotes is expected");
	if (!*s || strlen(s) > TEXT_MAX)
		return complain(rd, v, "a string of 1 to %d bytes is expected, not of %zu",
				TEXT_MAX, strlen(s));
	for (const char *p = s; *p; p++) {
		if (iscntrl((unsigned char)*p))
			return complain(rd, v, "a control character is in the string; remove it");
	}
	*out = strdup(s);
	return *out ? 0 : -ENOMEM;
}

int read_number(struct reader *rd, const cJSON *v, int min, int max, int *out)
{
	double d = cJSON_GetNumberValue(v);

	if (!cJSON_IsNumber(v) || d != floor(d) || d < min || d > max)
		return complain(rd, v, "a whole number from %d to %d is expected", min, max);
	*out = (int)d;
	return 0;
}

/* One of the words: its index. */
int read_choice(struct reader *rd, const cJSON *v, const char *const *words, size_t nr, u32 *out)
{
	const char *s = cJSON_GetStringValue(v);
	char known[128] = "";

	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(known);

		if (s && !strcmp(s, words[i])) {
			*out = (u32)i;
			return 0;
		}
		snprintf(known + len, sizeof(known) - len, "%s\"%s\"", len ? ", " : "", words[i]);
	}
	if (s)
		return complain(rd, v, "\"%s\" is none of %s", s, known);
	return complain(rd, v, "one of %s is expected", known);
}

int read_versions(struct reader *rd, const cJSON *v, char **out)
{
	int err = read_text(rd, v, out);

	if (!err && !version_range_valid(*out))
		err = complain(rd, v, "'%s' is no range of versions; write \">=1.2 <2\"", *out);
	return err;
}
