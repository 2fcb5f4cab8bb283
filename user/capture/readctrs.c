// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* readctrs.c - see readctrs.h. What must hold between the numbers is readcheck.c's. */
#include "capture/readctrs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pack.h"
#include "util/array.h"

#define LEAST_BYTES 4 /* a delta is four numbers at least */

static void read_counter(struct readval *rd, const cJSON *from, struct m_counters *c)
{
	struct m_counter *one = &c->v[c->nr];

	readval__at(rd, KEY_COUNTERS, c->nr++);
	if (!cJSON_IsObject(from)) {
		readval__fail(rd, -EBADMSG, "damaged capture: %s is not an object", rd->where);
		return;
	}
	readval__fields(rd, counter_fields, from, one);
	if (!rd->rc && !one->name)
		readval__fail(rd, -EBADMSG, "damaged capture: %s has no name", rd->where);
	for (u32 i = 0; !rd->rc && i + 1 < c->nr; i++)
		if (!strcmp(c->v[i].name, one->name))
			readval__fail(rd, -EBADMSG,
				      "damaged capture: two counters have the same name");
}

void read_counters(struct readval *rd, const cJSON *doc, struct recording *r)
{
	const cJSON *from, *list, *item;

	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(doc, KEY_COUNTERS))
		return;
	snprintf(rd->where, sizeof(rd->where), "the document");
	from = readval__object(rd, doc, KEY_COUNTERS);
	snprintf(rd->where, sizeof(rd->where), "%s", KEY_COUNTERS);
	if (!from)
		return;
	readval__fields(rd, counters_fields, from, &r->counters);
	list = readval__array(rd, from, KEY_LIST, HB_CTRS);
	cJSON_ArrayForEach(item, list)
	{
		if (rd->rc)
			return;
		read_counter(rd, item, &r->counters);
	}
}

static int unpack_ctr(struct unpack *u, struct m_ctr *c)
{
	if (unpack__varint(u, &c->calls) || c->calls > FIELD_COUNT_MAX)
		return -EBADMSG;
	if (!c->calls)
		return 0;
	return unpack__varint(u, &c->sum) || unpack__varint(u, &c->min) ||
			       unpack__varint(u, &c->max)
		       ? -EBADMSG
		       : 0;
}

static void explain(struct readval *rd, int err)
{
	if (err == -ENOMEM)
		readval__fail(rd, err, "out of memory");
	else if (err)
		readval__fail(rd, err, "damaged capture: the counters of %s cannot be unpacked",
			      rd->where);
}

void read_row_ctrs(struct readval *rd, const cJSON *from, const struct recording *r,
		   struct m_row *row)
{
	struct unpack u = {0};
	char *packed;
	int err = 0;

	for (u32 i = 0; i < HB_CTRS; i++)
		m_ctr__init(&row->ctr[i]);
	if (rd->rc || !r->counters.nr)
		return;
	packed = readval__str(rd, from, KEY_ROW_CTR);
	if (packed) {
		err = unpack__init(&u, packed);
		for (u32 i = 0; !err && i < r->counters.nr; i++)
			err = unpack_ctr(&u, &row->ctr[i]);
		if (!err && !unpack__done(&u))
			err = -EBADMSG;
		unpack__fini(&u);
	}
	explain(rd, err);
	free(packed);
}

/* In order, so that none occurs twice. */
static int unpack_delta(struct unpack *u, const struct recording *r, struct m_interval *iv)
{
	struct m_ctr_delta *d = &iv->ctr[iv->nr_ctrs];
	u64 row, ctr;

	if (unpack__varint(u, &row) || unpack__varint(u, &ctr) || unpack__varint(u, &d->calls) ||
	    unpack__varint(u, &d->sum))
		return -EBADMSG;
	if (row >= r->nr_rows || ctr >= r->counters.nr)
		return -EBADMSG;
	d->row = (u32)row;
	d->ctr = (u8)ctr;
	if (iv->nr_ctrs && (d[-1].row > d->row || (d[-1].row == d->row && d[-1].ctr >= d->ctr)))
		return -EBADMSG;
	iv->nr_ctrs++;
	return 0;
}

void read_interval_ctrs(struct readval *rd, const cJSON *from, const struct recording *r,
			struct m_interval *iv)
{
	struct unpack u = {0};
	char *packed;
	u64 nr;
	int err;

	if (rd->rc || !cJSON_GetObjectItemCaseSensitive(from, KEY_CTRS))
		return;
	nr = readval__u64(rd, from, KEY_NR_CTRS, ~0u);
	packed = readval__str(rd, from, KEY_CTRS);
	err = rd->rc ? 0 : unpack__init(&u, packed ? packed : "");
	if (!rd->rc && !err) {
		if (nr > u.len / LEAST_BYTES)
			err = -EBADMSG;
		else if (!(iv->ctr = array_alloc(nr + 1, sizeof(*iv->ctr))))
			err = -ENOMEM;
		for (u64 i = 0; !err && i < nr; i++)
			err = unpack_delta(&u, r, iv);
		if (!err && !unpack__done(&u))
			err = -EBADMSG;
	}
	explain(rd, err);
	unpack__fini(&u);
	free(packed);
}
