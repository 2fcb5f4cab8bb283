// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * writer.c - a recording to the JSON text of docs/capture.md, compressed. Which keys there are is in
 * fields.c; here is how each kind of value is spelled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/fields.h"
#include "capture/gz.h"
#include "capture/pack.h"
#include "model/jsonw.h"
#include "model/request.h"
#include "util/fsutil.h"

static void write_fields(struct jsonw *w, const struct field *f, const void *obj);

/* Hands the packed bytes over as a base64 member and frees them. */
static void write_packed(struct jsonw *w, const char *key, struct strbuf *bytes)
{
	char *text = pack_base64(bytes);

	if (text)
		jsonw__str(w, key, text);
	else if (!w->b->err)
		w->b->err = bytes->err ? bytes->err : -ENOMEM;
	free(text);
	strbuf__fini(bytes);
}

static void write_dist(struct jsonw *w, const char *key, const struct m_dist *d)
{
	struct strbuf packed;

	if (!d->count && !d->nr_buckets)
		return;
	jsonw__object(w, key);
	write_fields(w, dist_fields, d);
	if (d->nr_buckets) {
		jsonw__u64(w, KEY_NR_BUCKETS, d->nr_buckets);
		strbuf__init(&packed, CAPTURE_MAX_TEXT);
		pack_buckets(&packed, d->bucket, d->nr_buckets);
		write_packed(w, KEY_BUCKETS, &packed);
	}
	jsonw__end_object(w);
}

static void write_subs(struct jsonw *w, const char *key, const u64 *sub)
{
	struct strbuf packed;
	u64 any = 0;

	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		any |= sub[i];
	if (!any)
		return;
	strbuf__init(&packed, HB_SIZE_SUB * 10);
	for (u32 i = 0; i < HB_SIZE_SUB; i++)
		pack_varint(&packed, sub[i]);
	write_packed(w, key, &packed);
}

static void write_named(struct jsonw *w, const struct field *f, const void *at)
{
	const u64 *n64 = at;
	const u32 *n32 = at;

	jsonw__object(w, f->key);
	for (u32 i = 0; i < f->nr; i++) {
		if (f->type == FIELD_COUNTS)
			jsonw__u64_str(w, f->names[i], n64[i]);
		else
			jsonw__u64(w, f->names[i], n32[i]);
	}
	jsonw__end_object(w);
}

static void write_enum(struct jsonw *w, const struct field *f, u8 v)
{
	/* A value without a name is a fault of this program: better no file than a wrong one. */
	if (v >= f->nr && !w->b->err)
		w->b->err = -EINVAL;
	jsonw__str(w, f->key, v < f->nr ? f->names[v] : NULL);
}

static void write_field(struct jsonw *w, const struct field *f, const void *at)
{
	switch (f->type) {
	case FIELD_STR:
		if (*(char *const *)at)
			jsonw__str(w, f->key, *(char *const *)at);
		break;
	case FIELD_U64:
	case FIELD_COUNT:
		jsonw__u64_str(w, f->key, *(const u64 *)at);
		break;
	case FIELD_U32:
		jsonw__u64(w, f->key, *(const u32 *)at);
		break;
	case FIELD_U8:
		jsonw__u64(w, f->key, *(const u8 *)at);
		break;
	case FIELD_BOOL:
		jsonw__bool(w, f->key, *(const bool *)at);
		break;
	case FIELD_ENUM:
		write_enum(w, f, *(const u8 *)at);
		break;
	case FIELD_COUNTS:
	case FIELD_U32S:
		write_named(w, f, at);
		break;
	case FIELD_SUBS:
		write_subs(w, f->key, at);
		break;
	case FIELD_DIST:
		write_dist(w, f->key, at);
		break;
	case FIELD_END:
		break;
	}
}

static void write_fields(struct jsonw *w, const struct field *f, const void *obj)
{
	for (; f->type != FIELD_END; f++)
		write_field(w, f, (const char *)obj + f->off);
}

static void write_object(struct jsonw *w, const char *key, const struct field *f, const void *obj)
{
	jsonw__object(w, key);
	write_fields(w, f, obj);
	jsonw__end_object(w);
}

static void write_objects(struct jsonw *w, const char *key, const struct field *f, const void *v,
			  u32 nr, size_t size)
{
	jsonw__array(w, key);
	for (u32 i = 0; i < nr; i++)
		write_object(w, NULL, f, (const char *)v + i * size);
	jsonw__end_array(w);
}

/* Of each counter the calls and, where there are any, sum, minimum and maximum. */
static void write_row_ctrs(struct jsonw *w, const struct recording *r, const struct m_row *row)
{
	struct strbuf packed;

	if (!r->counters.nr)
		return;
	strbuf__init(&packed, HB_CTRS * 40);
	for (u32 i = 0; i < r->counters.nr; i++) {
		const struct m_ctr *c = &row->ctr[i];

		pack_varint(&packed, c->calls);
		if (!c->calls)
			continue;
		pack_varint(&packed, c->sum);
		pack_varint(&packed, c->min);
		pack_varint(&packed, c->max);
	}
	write_packed(w, KEY_ROW_CTR, &packed);
}

static void write_rows(struct jsonw *w, const struct recording *r)
{
	jsonw__array(w, "rows");
	for (u32 i = 0; i < r->nr_rows; i++) {
		const struct m_row *row = &r->row[i];

		jsonw__object(w, NULL);
		if (row->overflow) {
			jsonw__bool(w, KEY_ROW_OVERFLOW, true);
		} else {
			jsonw__u64(w, KEY_ROW_FUNC, row->func);
			jsonw__u64(w, KEY_ROW_TARGET, row->target);
		}
		write_fields(w, row_fields, row);
		write_row_ctrs(w, r, row);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
}

static void write_ctr_deltas(struct jsonw *w, const struct m_interval *iv)
{
	struct strbuf packed;

	if (!iv->nr_ctrs)
		return;
	strbuf__init(&packed, CAPTURE_MAX_TEXT);
	for (u32 i = 0; i < iv->nr_ctrs; i++) {
		pack_varint(&packed, iv->ctr[i].row);
		pack_varint(&packed, iv->ctr[i].ctr);
		pack_varint(&packed, iv->ctr[i].calls);
		pack_varint(&packed, iv->ctr[i].sum);
	}
	jsonw__u64(w, KEY_NR_CTRS, iv->nr_ctrs);
	write_packed(w, KEY_CTRS, &packed);
}

/* The deltas of an interval are one string: there may be a thousand of them a second. */
static void write_interval(struct jsonw *w, const struct m_interval *iv)
{
	struct strbuf packed;

	strbuf__init(&packed, CAPTURE_MAX_TEXT);
	for (u32 i = 0; i < iv->nr_deltas; i++) {
		const struct m_delta *d = &iv->delta[i];

		pack_varint(&packed, d->row);
		pack_varint(&packed, d->dist);
		pack_varint(&packed, d->count);
		pack_varint(&packed, d->sum_ns);
		pack_varint(&packed, d->nr_buckets);
		pack_buckets(&packed, d->bucket, d->nr_buckets);
	}
	jsonw__object(w, NULL);
	jsonw__u64_str(w, "begin_mono_ns", iv->begin_mono_ns);
	jsonw__u64_str(w, "end_mono_ns", iv->end_mono_ns);
	jsonw__u64(w, "nr_deltas", iv->nr_deltas);
	write_packed(w, "deltas", &packed);
	write_ctr_deltas(w, iv);
	jsonw__end_object(w);
}

static void write_host(struct jsonw *w, const struct m_host *h)
{
	jsonw__array(w, "host");
	for (u32 i = 0; i < h->nr_facts; i++) {
		jsonw__array(w, NULL);
		jsonw__str(w, NULL, h->fact[i].key);
		jsonw__str(w, NULL, h->fact[i].value);
		jsonw__end_array(w);
	}
	jsonw__end_array(w);
}

/* The key is absent where no samples were taken. */
static void write_stacks(struct jsonw *w, const struct m_stacks *s)
{
	struct strbuf packed;

	if (!s->event)
		return;
	strbuf__init(&packed, CAPTURE_MAX_TEXT);
	for (u32 i = 0; i < s->nr_stacks; i++) {
		const struct m_stack *st = &s->stack[i];

		pack_varint(&packed, st->count);
		pack_varint(&packed, st->func == M_NO_FUNC ? 0 : (u64)st->func + 1);
		pack_varint(&packed, st->target);
		pack_varint(&packed, st->nr_frames);
		for (u32 k = 0; k < st->nr_frames; k++)
			pack_varint(&packed, s->frame[st->first + k]);
	}
	jsonw__object(w, KEY_STACKS);
	write_fields(w, stacks_fields, s);
	jsonw__array(w, KEY_NAMES);
	for (u32 i = 0; i < s->nr_names; i++)
		jsonw__str(w, NULL, s->name[i]);
	jsonw__end_array(w);
	jsonw__u64(w, KEY_NR_STACKS, s->nr_stacks);
	write_packed(w, KEY_FOLDED, &packed);
	jsonw__end_object(w);
}

/* The key is absent where none were asked for. */
static void write_counters(struct jsonw *w, const struct m_counters *c)
{
	if (!c->nr)
		return;
	jsonw__object(w, KEY_COUNTERS);
	write_fields(w, counters_fields, c);
	write_objects(w, KEY_LIST, counter_fields, c->v, c->nr, sizeof(c->v[0]));
	jsonw__end_object(w);
}

static void write_request(struct jsonw *w, const struct m_request *q)
{
	struct strbuf packed;

	jsonw__object(w, NULL);
	if (q->overflow) {
		jsonw__bool(w, KEY_ROW_OVERFLOW, true);
	} else {
		jsonw__u64(w, KEY_ROW_TARGET, q->target);
		if (q->side == HB_REQ_HANDLER)
			jsonw__u64(w, KEY_ROW_FUNC, q->func);
		else
			jsonw__u64(w, KEY_PORT, q->port);
	}
	write_fields(w, request_fields, q);
	strbuf__init(&packed, CAPTURE_MAX_TEXT);
	for (u32 i = 0; i < q->latency.nr_buckets; i++)
		pack_varint(&packed, q->bucket_codec_ns[i]);
	write_packed(w, KEY_BUCKET_CODEC, &packed);
	write_objects(w, KEY_CODECS, request_codec_fields, q->codec, q->nr_codecs,
		      sizeof(*q->codec));
	jsonw__end_object(w);
}

/* The key is absent where requests were not looked at. */
static void write_requests(struct jsonw *w, const struct m_requests *r)
{
	if (!r)
		return;
	jsonw__object(w, KEY_REQUESTS);
	write_fields(w, requests_fields, r);
	jsonw__array(w, "rows");
	for (u32 i = 0; i < r->nr_rows; i++)
		write_request(w, &r->row[i]);
	jsonw__end_array(w);
	jsonw__array(w, KEY_PROCESSES);
	for (u32 i = 0; i < r->nr_procs; i++) {
		jsonw__object(w, NULL);
		jsonw__u64(w, KEY_ROW_TARGET, r->proc[i].target);
		write_fields(w, request_proc_fields, &r->proc[i]);
		jsonw__end_object(w);
	}
	jsonw__end_array(w);
	jsonw__end_object(w);
}

static void write_document(struct jsonw *w, const struct recording *r)
{
	jsonw__object(w, NULL);
	jsonw__str(w, "format", CAPTURE_FORMAT);
	jsonw__array(w, "version");
	jsonw__u64(w, NULL, CAPTURE_MAJOR);
	jsonw__u64(w, NULL, CAPTURE_MINOR);
	jsonw__end_array(w);
	jsonw__str(w, "hbprof", r->version);
	write_object(w, "recording", recording_fields, r);
	if (r->nr_spans)
		write_objects(w, KEY_MERGED, span_fields, r->span, r->nr_spans, sizeof(*r->span));
	write_host(w, &r->host);
	write_objects(w, "targets", target_fields, r->target, r->nr_targets, sizeof(*r->target));
	write_objects(w, "images", image_fields, r->image, r->nr_images, sizeof(*r->image));
	write_objects(w, "functions", func_fields, r->func, r->nr_funcs, sizeof(*r->func));
	write_rows(w, r);
	jsonw__array(w, "intervals");
	for (u32 i = 0; i < r->nr_intervals; i++)
		write_interval(w, &r->interval[i]);
	jsonw__end_array(w);
	write_objects(w, "calibration", cal_fields, r->cal, r->nr_cals, sizeof(*r->cal));
	jsonw__array(w, "warnings");
	for (u32 i = 0; i < r->nr_warnings; i++)
		jsonw__str(w, NULL, r->warning[i]);
	jsonw__end_array(w);
	write_object(w, "coverage", coverage_fields, &r->coverage);
	write_object(w, "cost", cost_fields, &r->cost);
	write_stacks(w, &r->stacks);
	write_counters(w, &r->counters);
	write_requests(w, r->requests);
	jsonw__end_object(w);
}

int capture__write_mem(const struct recording *r, char **out, size_t *len)
{
	struct strbuf text;
	struct jsonw w;
	int err;

	strbuf__init(&text, CAPTURE_MAX_TEXT);
	jsonw__init(&w, &text, false);
	write_document(&w, r);
	strbuf__addc(&text, '\n');
	err = text.err;
	if (!err)
		err = gz_pack(text.s, text.len, out, len);
	strbuf__fini(&text);
	return err;
}

int capture__write(const struct recording *r, const char *path)
{
	char *bytes;
	size_t len;
	int err;

	err = capture__write_mem(r, &bytes, &len);
	if (err)
		return err;
	if (!strcmp(path, "-"))
		err = fs_write_all(STDOUT_FILENO, bytes, len);
	else
		err = fs_replace_file(path, bytes, len);
	free(bytes);
	return err;
}
