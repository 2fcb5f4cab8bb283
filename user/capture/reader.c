// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reader.c - a capture file to a recording. Single values are readval.c's; here is what holds
 * between them: the version, indices, duplicates, sums.
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
#include "capture/readval.h"
#include "capture/readstacks.h"
#include "util/array.h"
#include "util/fsutil.h"

/* cJSON takes 64 bytes and an allocation for each value, and two bytes of text can be a value: this
 * bounds the memory that a small file can ask for. The largest recording (65,535 functions) has
 * about 2.5 million. */
#define MAX_VALUES  (4u << 20)
#define MAX_TARGETS 65535u

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
	if (!cJSON_IsNumber(major) || !cJSON_IsNumber(minor) || major->valuedouble < 1 ||
	    major->valuedouble > 1e6 || minor->valuedouble < 0 || minor->valuedouble > 1e6)
		readval__fail(rd, -EBADMSG,
			      "damaged capture: \"version\" is not a pair of numbers");
	else if (major->valuedouble > CAPTURE_MAJOR)
		readval__fail(
			rd, -EPROTO,
			"written in capture format %d.%d by a newer hbprof; this one reads up "
			"to %d.x",
			major->valueint, minor->valueint, CAPTURE_MAJOR);
}

static void read_host(struct readval *rd, const cJSON *doc, struct m_host *h)
{
	const cJSON *list = readval__array(rd, doc, "host", 1024), *pair;

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
	const cJSON *list = readval__array(rd, doc, key, max), *item;
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

static void check_funcs(struct readval *rd, const struct recording *r)
{
	for (u32 i = 0; i < r->nr_funcs && !rd->rc; i++)
		if (r->func[i].image >= r->nr_images)
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: functions[%u] is of image %u, and there are %u",
				i, r->func[i].image, r->nr_images);
}

static void check_cals(struct readval *rd, const struct recording *r)
{
	for (u32 i = 1; i < r->nr_cals && !rd->rc; i++)
		if (r->cal[i].mono_ns < r->cal[i - 1].mono_ns)
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: calibration[%u] is older than the one before it",
				i);
}

/* ---- rows ---- */

static void check_row(struct readval *rd, const struct m_row *row)
{
	u64 leaf = row->dist[HB_DIST_LEAF].count, outer = row->dist[HB_DIST_OUTER].count;
	u64 sizes = 0;
	bool over = false;

	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		over |= __builtin_add_overflow(sizes, row->size_sub[i], &sizes);
	if (over || sizes > row->count)
		readval__fail(rd, -EBADMSG, "damaged capture: %s has more sizes than calls",
			      rd->where);
	if (leaf + outer > row->count || row->dist[HB_DIST_OUTER_EXC].count > row->count)
		readval__fail(rd, -EBADMSG, "damaged capture: %s has more latencies than calls",
			      rd->where);
	if (row->count && row->raw_min_ns != M_NONE && row->raw_min_ns > row->raw_max_ns)
		readval__fail(rd, -EBADMSG,
			      "damaged capture: %s has a raw minimum above its maximum", rd->where);
	if (row->size_min != M_NONE && row->size_min > row->size_max)
		readval__fail(rd, -EBADMSG,
			      "damaged capture: %s has a least size above its largest", rd->where);
}

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
	if (!rd->rc)
		check_row(rd, row);
}

/* Functions and targets are below 2^16, see MAX_TARGETS; all overflow rows are the same row. */
static u64 row_key(const struct m_row *row)
{
	if (row->overflow)
		return ~0ULL;
	return (u64)row->func << 32 | (u64)row->target << 16 | (u64)row->size_class << 8 |
	       row->outcome;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void check_rows(struct readval *rd, const struct recording *r)
{
	u64 *key, calls = 0;

	if (rd->rc || !r->nr_rows)
		return;
	key = array_alloc(r->nr_rows, sizeof(*key));
	if (!key) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	for (u32 i = 0; i < r->nr_rows; i++) {
		key[i] = row_key(&r->row[i]);
		if (__builtin_add_overflow(calls, r->row[i].count, &calls) ||
		    calls > FIELD_COUNT_MAX)
			readval__fail(rd, -EBADMSG,
				      "damaged capture: the calls of its rows do not add up to a "
				      "possible number");
	}
	qsort(key, r->nr_rows, sizeof(*key), cmp_u64);
	for (u32 i = 1; i < r->nr_rows; i++)
		if (key[i] == key[i - 1])
			readval__fail(
				rd, -EBADMSG,
				"damaged capture: two rows are of the same function, target, size "
				"class and outcome");
	free(key);
}

static void read_rows(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *list = readval__array(rd, doc, "rows", MAX_VALUES), *item;

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
	check_rows(rd, r);
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
	if (!rd->rc && iv->end_mono_ns < iv->begin_mono_ns)
		readval__fail(rd, -EBADMSG, "damaged capture: %s ends before it begins", rd->where);
	if (!rd->rc)
		err = read_deltas(packed ? packed : "", nr, r->nr_rows, iv);
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		readval__fail(rd, err, "damaged capture: the deltas of %s cannot be unpacked",
			      rd->where);
	free(packed);
}

static void read_intervals(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *list = readval__array(rd, doc, "intervals", MAX_VALUES), *item;

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
	const cJSON *list = readval__array(rd, doc, "warnings", 4096), *item;

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

static void read_document(struct readval *rd, const cJSON *doc, struct recording *r)
{
	snprintf(rd->where, sizeof(rd->where), "the document");
	read_version(rd, doc);
	r->version = readval__str(rd, doc, "hbprof");
	read_section(rd, doc, "recording", recording_fields, r);
	if (!rd->rc && r->end_mono_ns < r->begin_mono_ns)
		readval__fail(rd, -EBADMSG, "damaged capture: the recording ends before it begins");
	read_host(rd, doc, &r->host);
	r->target = read_objects(rd, doc, "targets", target_fields, MAX_TARGETS, sizeof(*r->target),
				 &r->nr_targets);
	r->image = read_objects(rd, doc, "images", image_fields, HB_MAX_FUNCS, sizeof(*r->image),
				&r->nr_images);
	r->func = read_objects(rd, doc, "functions", func_fields, HB_MAX_FUNCS, sizeof(*r->func),
			       &r->nr_funcs);
	check_funcs(rd, r);
	read_rows(rd, doc, r);
	read_intervals(rd, doc, r);
	r->cal = read_objects(rd, doc, "calibration", cal_fields, MAX_VALUES, sizeof(*r->cal),
			      &r->nr_cals);
	check_cals(rd, r);
	read_warnings(rd, doc, r);
	read_section(rd, doc, "coverage", coverage_fields, &r->coverage);
	read_section(rd, doc, "cost", cost_fields, &r->cost);
	read_stacks(rd, doc, r);
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
