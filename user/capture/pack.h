/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - numbers packed into text: LEB128 varints (7 bits a byte, the lowest first, top bit set on
 * all but the last byte), then base64. A histogram of thousands of buckets takes a few bytes each.
 */
#ifndef HBPROF_PACK_H
#define HBPROF_PACK_H

#include "model/model.h"
#include "util/strbuf.h"

void pack_varint(struct strbuf *b, u64 v);
/* Pairs (distance from the bucket before, which for the first is -1; count). */
void pack_buckets(struct strbuf *b, const struct m_bucket *v, u32 nr);
/* Base64 with padding of the bytes in b, as a string of its own; NULL: no memory or b has failed. */
char *pack_base64(const struct strbuf *b);

struct unpack {
	u8 *bytes;
	size_t len, pos;
};

/* 0, -ENOMEM, -EBADMSG: not base64. unpack__fini() it in any case. */
int unpack__init(struct unpack *u, const char *base64);
void unpack__fini(struct unpack *u);
/* -EBADMSG: cut, or above 64 bits. */
int unpack__varint(struct unpack *u, u64 *v);
/* nr pairs. -EBADMSG: cut, not ascending, no such bucket, an empty bucket, more samples than `count`;
 * -ENOMEM. *out is malloced, NULL for nr == 0. */
int unpack__buckets(struct unpack *u, u64 nr, u64 count, struct m_bucket **out);
/* True when every byte was used. */
bool unpack__done(const struct unpack *u);

#endif
