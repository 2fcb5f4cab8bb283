// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reader.c - a capture file to a recording. Single values are readval.c's, what must hold
 * between them readcheck.c's; here is the document: its version, its sections, indices.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "capture/pack.h"
#include "capture/readcheck.h"
#include "capture/readval.h"
#include "capture/readctrs.h"
#include "capture/readrequests.h"
#include "capture/readstacks.h"
#include "util/array.h"
#include "util/fsutil.h"

/* cJSON takes 64 bytes and an allocation for each value, and two bytes of text can be a value: this
 * bounds the memory that a small file can ask for. The largest recording (65,535 functions) has
 * about 2.5 million. */
#define MAX_VALUES  (4u << 20)
#define MAX_TARGETS 65535u
#define MAX_SPANS   16384u

/* ---- the text ---- */

/* An upper bound: each value but the first comes after an opening bracket or a comma. */
static u64 count_values(const char *text, size_t len)
{
	bool quoted = false;
	u64 n = 1;

	for (size_t i = 0; i < len; i++) {
		if (quoted) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				quoted = false;
		} else if (text[i] == '"') {
			quoted = true;
		} else if (text[i] == ',' || text[i] == '[' || text[i] == '{') {
			n++;
		}
	}
	return n;
}

static cJSON *parse_text(struct readval *rd, const char *text, size_t len)
{
	const char *end = NULL;
	cJSON *doc;

	if (count_values(text, len) > MAX_VALUES) {
		readval__fail(rd, -EFBIG, "not read: it holds more than %u values", MAX_VALUES);
		return NULL;
	}
	/* cJSON takes a 0 for white space. */
	if (memchr(text, '\0', len)) {
		readval__fail(rd, -EBADMSG, "damaged capture: there are 0 bytes in its text");
		return NULL;
	}
	/* The terminator is part of the length: cJSON insists on it right after the document. */
	doc = cJSON_ParseWithLengthOpts(text, len + 1, &end, true);
	if (doc && end == text + len)
		return doc;
	cJSON_Delete(doc);
	readval__fail(rd, -EBADMSG, "damaged capture: its text is not JSON from byte %zu on",
		      end ? (size_t)(end - text) : 0);
	return NULL;
}

/* ---- the document ---- */

/* An array of the document itself. */
static const cJSON *section(struct readval *rd, const cJSON *doc, const char *key, u64 max)
{
	snprintf(rd->where, sizeof(rd->where), "the document");
	return readval__array(rd, doc, key, max);
}

static bool is_whole(const cJSON *v, int least)
{
	return cJSON_IsNumber(v) && v->valuedouble >= least && v->valuedouble <= 1e6 &&
	       v->valuedouble == v->valueint;
}

static void read_version(struct readval *rd, const cJSON *doc)
{
	const cJSON *format = cJSON_GetObjectItemCaseSensitive(doc, "format");
	const cJSON *version, *major, *minor;

	if (!cJSON_IsString(format) || strcmp(format->valuestring, CAPTURE_FORMAT)) {
		readval__fail(rd, -EBADMSG, "not an hbprof capture (its \"format\" is not \"%s\")",
			      CAPTURE_FORMAT);
		return;
	}
	version = readval__array(rd, doc, "version", 2);
	major = cJSON_GetArrayItem(version, 0);
	minor = cJSON_GetArrayItem(version, 1);
	if (!is_whole(major, 1) || !is_whole(minor, 0))
		readval__fail(rd, -EBADMSG,
			      "damaged capture: \"version\" is not a pair of whole numbers");
	else if (major->valuedouble > CAPTURE_MAJOR)
		readval__fail(
			rd, -EPROTO,
			"written in capture format %d.%d by a newer hbprof; this one reads up "
			"to %d.x",
			major->valueint, minor->valueint, CAPTURE_MAJOR);
}

static void read_host(struct readval *rd, const cJSON *doc, struct m_host *h)
{
	const cJSON *list = section(rd, doc, "host", 1024), *pair;

	cJSON_ArrayForEach(pair, list)
	{
		const cJSON *key = cJSON_GetArrayItem(pair, 0),
			    *value = cJSON_GetArrayItem(pair, 1);

		if (!cJSON_IsArray(pair) || !cJSON_IsString(key) || !cJSON_IsString(value)) {
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: \"host\" is not a list of pairs of strings");
			return;
		}
		if (m_host__add(h, key->valuestring, value->valuestring)) {
			readval__fail(rd, -ENOMEM, "out of memory");
			return;
		}
	}
}

/*
 * An array of plain objects: allocates and fills. *nr counts the elements that are begun, so that
 * recording__free() sees what a failure half-way has left.
 */
static void *read_objects(struct readval *rd, const cJSON *doc, const char *key,
			  const struct field *f, u64 max, size_t size, u32 *nr)
{
	const cJSON *list = section(rd, doc, key, max), *item;
	char *v;

	if (!list || !list->child)
		return NULL;
	v = array_alloc((size_t)cJSON_GetArraySize(list), size);
	if (!v) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return NULL;
	}
	cJSON_ArrayForEach(item, list)
	{
		readval__at(rd, key, *nr);
		if (!cJSON_IsObject(item))
			readval__fail(rd, -EBADMSG, "damaged capture: %s is not an object",
				      rd->where);
		if (rd->rc)
			break;
		readval__fields(rd, f, item, v + (*nr)++ * size);
	}
	return v;
}

/* ---- rows ---- */

static void read_row(struct readval *rd, const cJSON *from, const struct recording *r,
		     struct m_row *row)
{
	row->overflow = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, KEY_ROW_OVERFLOW));
	if (!row->overflow) {
		row->func = (u32)readval__u64(rd, from, KEY_ROW_FUNC, ~0u);
		row->target = (u32)readval__u64(rd, from, KEY_ROW_TARGET, ~0u);
		if (!rd->rc && row->func >= r->nr_funcs)
			readval__fail(rd, -EBADMSG,
				      "damaged capture: %s is of function %u, and there are %u",
				      rd->where, row->func, r->nr_funcs);
		if (!rd->rc && row->target >= r->nr_targets)
			readval__fail(rd, -EBADMSG,
				      "damaged capture: %s is of target %u, and there are %u",
				      rd->where, row->target, r->nr_targets);
	}
	readval__fields(rd, row_fields, from, row);
	read_row_ctrs(rd, from, r, row);
	if (!rd->rc)
		readcheck__row(rd, row);
}

static void read_rows(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *list = section(rd, doc, "rows", MAX_VALUES), *item;

	if (!list || !list->child)
		return;
	r->row = array_alloc((size_t)cJSON_GetArraySize(list), sizeof(*r->row));
	if (!r->row) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		readval__at(rd, "rows", r->nr_rows);
		if (!cJSON_IsObject(item))
			readval__fail(rd, -EBADMSG, "damaged capture: %s is not an object",
				      rd->where);
		if (rd->rc)
			return;
		read_row(rd, item, r, &r->row[r->nr_rows++]);
	}
}

/* ---- intervals ---- */

static int read_delta(struct unpack *u, u32 nr_rows, struct m_delta *d)
{
	u64 row, dist, nr;
	int err;

	if (unpack__varint(u, &row) || unpack__varint(u, &dist) || unpack__varint(u, &d->count) ||
	    unpack__varint(u, &d->sum_ns) || unpack__varint(u, &nr))
		return -EBADMSG;
	if (row >= nr_rows || dist >= HB_DIST_NR || d->count > FIELD_COUNT_MAX)
		return -EBADMSG;
	d->row = (u32)row;
	d->dist = (u8)dist;
	err = unpack__buckets(u, nr, d->count, &d->bucket);
	if (!err)
		d->nr_buckets = (u32)nr;
	return err;
}

static int read_deltas(const char *packed, u64 nr, u32 nr_rows, struct m_interval *iv)
{
	struct unpack u;
	int err;

	err = unpack__init(&u, packed);
	if (!err && nr > u.len / 5) /* each is five numbers at least */
		err = -EBADMSG;
	if (!err && nr) {
		iv->delta = array_alloc(nr, sizeof(*iv->delta));
		if (!iv->delta)
			err = -ENOMEM;
	}
	for (u64 i = 0; !err && i < nr; i++)
		err = read_delta(&u, nr_rows, &iv->delta[iv->nr_deltas++]);
	if (!err && !unpack__done(&u))
		err = -EBADMSG;
	unpack__fini(&u);
	return err;
}

static void read_interval(struct readval *rd, const cJSON *from, const struct recording *r,
			  struct m_interval *iv)
{
	u64 nr = readval__u64(rd, from, "nr_deltas", ~0u);
	char *packed = readval__str(rd, from, "deltas");
	int err = 0;

	iv->begin_mono_ns = readval__u64(rd, from, "begin_mono_ns", ~0ULL);
	iv->end_mono_ns = readval__u64(rd, from, "end_mono_ns", ~0ULL);
	if (!rd->rc)
		err = read_deltas(packed ? packed : "", nr, r->nr_rows, iv);
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		readval__fail(rd, err, "damaged capture: the deltas of %s cannot be unpacked",
			      rd->where);
	free(packed);
	read_interval_ctrs(rd, from, r, iv);
}

static void read_intervals(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *list = section(rd, doc, "intervals", MAX_VALUES), *item;

	if (!list || !list->child)
		return;
	r->interval = array_alloc((size_t)cJSON_GetArraySize(list), sizeof(*r->interval));
	if (!r->interval) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		readval__at(rd, "intervals", r->nr_intervals);
		if (rd->rc)
			return;
		read_interval(rd, item, r, &r->interval[r->nr_intervals++]);
	}
}

/* ---- the whole ---- */

static void read_warnings(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *list = section(rd, doc, "warnings", 4096), *item;

	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			readval__fail(rd, -EBADMSG,
				      "damaged capture: \"warnings\" is not a list of strings");
		else if (recording__warn(r, "%s", item->valuestring))
			readval__fail(rd, -ENOMEM, "out of memory");
		if (rd->rc)
			return;
	}
}

static void read_section(struct readval *rd, const cJSON *doc, const char *key,
			 const struct field *f, void *obj)
{
	const cJSON *from;

	snprintf(rd->where, sizeof(rd->where), "the document");
	from = readval__object(rd, doc, key);
	snprintf(rd->where, sizeof(rd->where), "%s", key);
	if (from)
		readval__fields(rd, f, from, obj);
}

/* Absent where nothing was merged. */
static void read_spans(struct readval *rd, const cJSON *doc, struct recording *r)
{
	if (!rd->rc && cJSON_GetObjectItemCaseSensitive(doc, KEY_MERGED))
		r->span = read_objects(rd, doc, KEY_MERGED, span_fields, MAX_SPANS,
				       sizeof(*r->span), &r->nr_spans);
}

static void read_document(struct readval *rd, const cJSON *doc, struct recording *r)
{
	snprintf(rd->where, sizeof(rd->where), "the document");
	read_version(rd, doc);
	r->version = readval__str(rd, doc, "hbprof");
	read_section(rd, doc, "recording", recording_fields, r);
	read_spans(rd, doc, r);
	read_host(rd, doc, &r->host);
	r->target = read_objects(rd, doc, "targets", target_fields, MAX_TARGETS, sizeof(*r->target),
				 &r->nr_targets);
	r->image = read_objects(rd, doc, "images", image_fields, HB_MAX_FUNCS, sizeof(*r->image),
				&r->nr_images);
	r->func = read_objects(rd, doc, "functions", func_fields, HB_MAX_FUNCS, sizeof(*r->func),
			       &r->nr_funcs);
	read_counters(rd, doc, r);
	read_rows(rd, doc, r);
	read_intervals(rd, doc, r);
	r->cal = read_objects(rd, doc, "calibration", cal_fields, MAX_VALUES, sizeof(*r->cal),
			      &r->nr_cals);
	read_warnings(rd, doc, r);
	read_section(rd, doc, "coverage", coverage_fields, &r->coverage);
	read_section(rd, doc, "cost", cost_fields, &r->cost);
	read_stacks(rd, doc, r);
	read_requests(rd, doc, r);
	readcheck__recording(rd, r);
}

int capture__read_mem(const void *bytes, size_t len, const char *name, struct recording **out,
		      char *err, size_t errlen)
{
	struct readval rd = {.name = name, .err = err, .errlen = errlen};
	struct recording *r = NULL;
	const char *why = "";
	cJSON *doc = NULL;
	char *text = NULL;
	size_t textlen;
	int rc;

	rc = gz_unpack(bytes, len, CAPTURE_MAX_TEXT, &text, &textlen, &why);
	if (rc == -EFBIG)
		readval__fail(&rd, rc, "not read: it expands to more than %u MB",
			      CAPTURE_MAX_TEXT >> 20);
	else if (rc)
		readval__fail(&rd, rc, "%s", rc == -ENOMEM ? "out of memory" : why);
	else
		doc = parse_text(&rd, text, textlen);
	free(text);
	if (doc) {
		r = recording__new();
		if (r)
			read_document(&rd, doc, r);
		else
			readval__fail(&rd, -ENOMEM, "out of memory");
	}
	cJSON_Delete(doc);
	if (rd.rc)
		recording__free(r);
	else
		*out = r;
	return rd.rc;
}

int capture__read(const char *path, struct recording **out, char *err, size_t errlen)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	char *bytes;
	size_t len;
	int rc;

	rc = fs_read_file(strcmp(path, "-") ? path : "/dev/stdin", CAPTURE_MAX_FILE, &bytes, &len);
	if (rc) {
		if (errlen)
			snprintf(err, errlen, "%s: %s", name,
				 rc == -EFBIG ? "too large for a capture" : strerror(-rc));
		return rc;
	}
	rc = capture__read_mem(bytes, len, name, out, err, errlen);
	free(bytes);
	return rc;
}
