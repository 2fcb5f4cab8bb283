// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* readrequests.c - rows of requests; every index in them is compared with what it indexes. */
#include "capture/readrequests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/pack.h"
#include "model/request.h"
#include "util/array.h"

#define MAX_REQUEST_ROWS 65536

/* A number for each bucket of the latencies. */
static int read_bucket_codec(const char *packed, struct m_request *q)
{
	struct unpack u;
	int err = unpack__init(&u, packed);

	q->bucket_codec_ns = array_alloc((size_t)q->latency.nr_buckets + 1,
					 sizeof(*q->bucket_codec_ns));
	if (!q->bucket_codec_ns)
		err = -ENOMEM;
	for (u32 i = 0; i < q->latency.nr_buckets && !err; i++)
		err = unpack__varint(&u, &q->bucket_codec_ns[i]);
	if (!err && !unpack__done(&u))
		err = -EBADMSG;
	unpack__fini(&u);
	return err;
}

static void read_codecs(struct readval *rd, const cJSON *from, struct m_request *q)
{
	const cJSON *list = readval__array(rd, from, KEY_CODECS, HB_REQ_CODEC_DIM), *item;

	if (!list)
		return;
	q->codec = array_alloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*q->codec));
	if (!q->codec) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (rd->rc)
			return;
		if (!cJSON_IsObject(item))
			readval__fail(rd, -EBADMSG,
				      "damaged capture: the codecs of %s are no objects",
				      rd->where);
		else
			readval__fields(rd, request_codec_fields, item, &q->codec[q->nr_codecs++]);
	}
}

/* Which process, and which port or function: the overflow row has none of them. */
static void read_owner(struct readval *rd, const cJSON *from, const struct recording *r,
		       struct m_request *q)
{
	const cJSON *over = cJSON_GetObjectItemCaseSensitive(from, KEY_ROW_OVERFLOW);

	q->overflow = cJSON_IsTrue(over);
	if (q->overflow)
		return;
	q->target = (u32)readval__u64(rd, from, KEY_ROW_TARGET, ~0u);
	if (q->side == HB_REQ_HANDLER)
		q->func = (u32)readval__u64(rd, from, KEY_ROW_FUNC, ~0u);
	else
		q->port = (u16)readval__u64(rd, from, KEY_PORT, 65535);
	if (rd->rc)
		return;
	if (q->target >= r->nr_targets || (q->side == HB_REQ_HANDLER && q->func >= r->nr_funcs))
		readval__fail(rd, -EBADMSG,
			      "damaged capture: %s is of a process or function that is not there",
			      rd->where);
}

static void read_request(struct readval *rd, const cJSON *from, const struct recording *r,
			 struct m_request *q)
{
	char *packed;
	int err = 0;

	m_request__init(q);
	readval__fields(rd, request_fields, from, q);
	read_owner(rd, from, r, q);
	packed = readval__str(rd, from, KEY_BUCKET_CODEC);
	if (!rd->rc)
		err = read_bucket_codec(packed ? packed : "", q);
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		readval__fail(rd, err, "damaged capture: the codec times of %s cannot be unpacked",
			      rd->where);
	free(packed);
	if (!rd->rc)
		read_codecs(rd, from, q);
}

static void read_proc(struct readval *rd, const cJSON *from, const struct recording *r,
		      struct m_request_proc *p)
{
	m_request_proc__init(p);
	readval__fields(rd, request_proc_fields, from, p);
	p->target = (u32)readval__u64(rd, from, KEY_ROW_TARGET, ~0u);
	if (!rd->rc && p->target >= r->nr_targets)
		readval__fail(rd, -EBADMSG, "damaged capture: %s is of a process that is not there",
			      rd->where);
}

/* Absent in captures of versions that did not look at that. */
static void read_procs(struct readval *rd, const cJSON *from, struct recording *r)
{
	struct m_requests *q = r->requests;
	const cJSON *list, *item;

	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(from, KEY_PROCESSES))
		return;
	snprintf(rd->where, sizeof(rd->where), "%s", KEY_REQUESTS);
	list = readval__array(rd, from, KEY_PROCESSES, r->nr_targets);
	if (!list)
		return;
	q->proc = array_alloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*q->proc));
	if (!q->proc) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		readval__at(rd, "requests.processes", q->nr_procs);
		if (rd->rc)
			return;
		if (cJSON_IsObject(item))
			read_proc(rd, item, r, &q->proc[q->nr_procs++]);
		else
			readval__fail(rd, -EBADMSG, "damaged capture: %s is no object", rd->where);
	}
}

void read_requests(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *from, *list, *item;
	struct m_requests *q;

	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(doc, KEY_REQUESTS))
		return;
	snprintf(rd->where, sizeof(rd->where), "the document");
	from = readval__object(rd, doc, KEY_REQUESTS);
	snprintf(rd->where, sizeof(rd->where), "%s", KEY_REQUESTS);
	if (!from)
		return;
	q = r->requests = calloc(1, sizeof(*q));
	if (!q) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	readval__fields(rd, requests_fields, from, q);
	list = readval__array(rd, from, "rows", MAX_REQUEST_ROWS);
	if (!list)
		return;
	q->row = array_alloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*q->row));
	if (!q->row) {
		readval__fail(rd, -ENOMEM, "out of memory");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		readval__at(rd, "requests", q->nr_rows);
		if (rd->rc)
			return;
		if (cJSON_IsObject(item))
			read_request(rd, item, r, &q->row[q->nr_rows++]);
		else
			readval__fail(rd, -EBADMSG, "damaged capture: %s is no object", rd->where);
	}
	read_procs(rd, from, r);
}
