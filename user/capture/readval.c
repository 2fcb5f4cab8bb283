// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* readval.c - one function per kind of value in fields.h. */
#include "capture/readval.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pack.h"
#include "util/units.h"

#define EXACT_DOUBLE (1ULL << 53) /* integers below are exact in cJSON's doubles */

void readval__fail(struct readval *rd, int rc, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (rd->rc)
		return;
	rd->rc = rc;
	if (!rd->errlen)
		return;
	n = snprintf(rd->err, rd->errlen, "%s: ", rd->name);
	if (n < 0 || (size_t)n >= rd->errlen)
		return;
	va_start(ap, fmt);
	vsnprintf(rd->err + n, rd->errlen - (size_t)n, fmt, ap);
	va_end(ap);
}

void readval__at(struct readval *rd, const char *section, u32 i)
{
	snprintf(rd->where, sizeof(rd->where), "%s[%u]", section, i);
}

/* A member that must be there. */
static const cJSON *member(struct readval *rd, const cJSON *obj, const char *key)
{
	const cJSON *v;

	if (rd->rc)
		return NULL;
	v = cJSON_GetObjectItemCaseSensitive(obj, key);
	if (!v)
		readval__fail(rd, -EBADMSG, "damaged capture: %s has no \"%s\"", rd->where, key);
	return v;
}

static void wrong(struct readval *rd, const char *key, const char *what)
{
	readval__fail(rd, -EBADMSG, "damaged capture: \"%s\" of %s is not %s", key, rd->where,
		      what);
}

const cJSON *readval__object(struct readval *rd, const cJSON *parent, const char *key)
{
	const cJSON *v = member(rd, parent, key);

	if (!v || cJSON_IsObject(v))
		return v;
	wrong(rd, key, "an object");
	return NULL;
}

const cJSON *readval__array(struct readval *rd, const cJSON *parent, const char *key, u64 max)
{
	const cJSON *v = member(rd, parent, key);

	if (!v)
		return NULL;
	if (!cJSON_IsArray(v)) {
		wrong(rd, key, "an array");
		return NULL;
	}
	if ((u64)cJSON_GetArraySize(v) > max) {
		readval__fail(rd, -EBADMSG, "damaged capture: more than %llu %s", max, key);
		return NULL;
	}
	return v;
}

/* A whole number as it was written: digits in a string, or a JSON number that a double holds. */
static bool to_u64(const cJSON *v, u64 *out)
{
	if (cJSON_IsString(v))
		return !parse_u64(v->valuestring, ~0ULL, out);
	if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || v->valuedouble < 0 ||
	    v->valuedouble >= (double)EXACT_DOUBLE)
		return false;
	*out = (u64)v->valuedouble;
	return (double)*out == v->valuedouble;
}

u64 readval__u64(struct readval *rd, const cJSON *obj, const char *key, u64 max)
{
	const cJSON *v = member(rd, obj, key);
	u64 n = 0;

	if (!v)
		return 0;
	if (!to_u64(v, &n)) {
		wrong(rd, key, "a whole number");
		return 0;
	}
	if (n > max) {
		readval__fail(rd, -EBADMSG, "damaged capture: \"%s\" of %s is %llu, above %llu",
			      key, rd->where, n, max);
		return 0;
	}
	return n;
}

u64 readval__u64_or_none(struct readval *rd, const cJSON *obj, const char *key)
{
	const cJSON *v;
	u64 n = M_NONE;

	if (rd->rc)
		return M_NONE;
	v = cJSON_GetObjectItemCaseSensitive(obj, key);
	if (v && !cJSON_IsNull(v) && !to_u64(v, &n))
		wrong(rd, key, "a whole number");
	return n;
}

char *readval__str(struct readval *rd, const cJSON *obj, const char *key)
{
	const cJSON *v;
	char *s;

	if (rd->rc)
		return NULL;
	v = cJSON_GetObjectItemCaseSensitive(obj, key);
	if (!v || cJSON_IsNull(v))
		return NULL;
	if (!cJSON_IsString(v)) {
		wrong(rd, key, "a string");
		return NULL;
	}
	s = strdup(v->valuestring);
	if (!s)
		readval__fail(rd, -ENOMEM, "out of memory");
	return s;
}

static bool read_bool(struct readval *rd, const cJSON *from, const char *key)
{
	const cJSON *v = member(rd, from, key);

	if (v && !cJSON_IsBool(v))
		wrong(rd, key, "true or false");
	return v && cJSON_IsTrue(v);
}

static u8 read_enum(struct readval *rd, const cJSON *from, const struct field *f)
{
	const cJSON *v = member(rd, from, f->key);

	if (!v)
		return 0;
	for (u32 i = 0; cJSON_IsString(v) && i < f->nr; i++)
		if (!strcmp(v->valuestring, f->names[i]))
			return (u8)i;
	wrong(rd, f->key, "one of the names this hbprof knows");
	return 0;
}

/* A counter that the version which wrote this did not have has counted nothing. */
static void read_named(struct readval *rd, const cJSON *from, const struct field *f, void *at)
{
	const cJSON *obj = readval__object(rd, from, f->key);
	u64 *n64 = at;
	u32 *n32 = at;

	for (u32 i = 0; obj && i < f->nr; i++) {
		if (f->type == FIELD_COUNTS && !cJSON_GetObjectItemCaseSensitive(obj, f->names[i]))
			n64[i] = 0;
		else if (f->type == FIELD_COUNTS)
			n64[i] = readval__u64(rd, obj, f->names[i], FIELD_COUNT_MAX);
		else
			n32[i] = (u32)readval__u64(rd, obj, f->names[i], ~0u);
	}
}

/* Unpacks a member; false when it is absent or something failed. */
static bool open_packed(struct readval *rd, const cJSON *from, const char *key, struct unpack *u)
{
	const cJSON *v;
	int err;

	*u = (struct unpack){0};
	if (rd->rc)
		return false;
	v = cJSON_GetObjectItemCaseSensitive(from, key);
	if (!v || cJSON_IsNull(v))
		return false;
	err = cJSON_IsString(v) ? unpack__init(u, v->valuestring) : -EBADMSG;
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		wrong(rd, key, "base64");
	return !err;
}

static void read_subs(struct readval *rd, const cJSON *from, const char *key, u64 *sub)
{
	struct unpack u;
	bool ok = true;

	if (open_packed(rd, from, key, &u)) {
		for (u32 i = 0; ok && i < HB_SIZE_SUB; i++)
			ok = !unpack__varint(&u, &sub[i]);
		if (!ok || !unpack__done(&u))
			wrong(rd, key, "16 packed numbers");
	}
	unpack__fini(&u);
}

static void read_buckets(struct readval *rd, const cJSON *from, struct m_dist *d)
{
	u64 nr = readval__u64(rd, from, KEY_NR_BUCKETS, HB_HIST_BUCKETS);
	struct unpack u;
	int err;

	if (open_packed(rd, from, KEY_BUCKETS, &u)) {
		err = unpack__buckets(&u, nr, d->count, &d->bucket);
		if (!err)
			d->nr_buckets = (u32)nr;
		if (err == -ENOMEM)
			readval__fail(rd, err, "out of memory");
		else if (err || !unpack__done(&u))
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: the histogram of %s is not %llu ascending buckets of "
				"at most %llu calls",
				rd->where, nr, d->count);
	} else if (nr) {
		wrong(rd, KEY_BUCKETS, "there");
	}
	unpack__fini(&u);
}

static void read_dist(struct readval *rd, const cJSON *from, const char *key, struct m_dist *d)
{
	const cJSON *obj;

	m_dist__init(d);
	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(from, key))
		return;
	obj = readval__object(rd, from, key);
	if (!obj)
		return;
	readval__fields(rd, dist_fields, obj, d);
	if (!rd->rc && cJSON_GetObjectItemCaseSensitive(obj, KEY_NR_BUCKETS))
		read_buckets(rd, obj, d);
	if (!rd->rc && d->count && d->min_ns != M_NONE && d->min_ns > d->max_ns)
		readval__fail(rd, -EBADMSG,
			      "damaged capture: \"%s\" of %s has a minimum above its maximum", key,
			      rd->where);
}

static void read_field(struct readval *rd, const struct field *f, const cJSON *from, void *at)
{
	switch (f->type) {
	case FIELD_STR:
		*(char **)at = readval__str(rd, from, f->key);
		break;
	case FIELD_U64:
		*(u64 *)at = readval__u64_or_none(rd, from, f->key);
		break;
	case FIELD_COUNT:
		*(u64 *)at = readval__u64(rd, from, f->key, FIELD_COUNT_MAX);
		break;
	case FIELD_U32:
		*(u32 *)at = (u32)readval__u64(rd, from, f->key, f->max);
		break;
	case FIELD_U8:
		*(u8 *)at = (u8)readval__u64(rd, from, f->key, f->max);
		break;
	case FIELD_BOOL:
		*(bool *)at = read_bool(rd, from, f->key);
		break;
	case FIELD_ENUM:
		*(u8 *)at = read_enum(rd, from, f);
		break;
	case FIELD_COUNTS:
	case FIELD_U32S:
		read_named(rd, from, f, at);
		break;
	case FIELD_SUBS:
		read_subs(rd, from, f->key, at);
		break;
	case FIELD_DIST:
		read_dist(rd, from, f->key, at);
		break;
	case FIELD_END:
		break;
	}
}

void readval__fields(struct readval *rd, const struct field *f, const cJSON *from, void *obj)
{
	for (; f->type != FIELD_END; f++)
		read_field(rd, f, from, (char *)obj + f->off);
}
