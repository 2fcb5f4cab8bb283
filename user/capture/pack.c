// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pack.c - varints, base64 (RFC 4648, section 4) and the buckets of a histogram made of both. */
#include "capture/pack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void pack_varint(struct strbuf *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf__addc(b, (char)(v | 0x80));
	strbuf__addc(b, (char)v);
}

void pack_buckets(struct strbuf *b, const struct m_bucket *v, u32 nr)
{
	s64 last = -1;

	for (u32 i = 0; i < nr; i++) {
		pack_varint(b, (u64)(v[i].idx - last));
		pack_varint(b, v[i].n);
		last = v[i].idx;
	}
}

char *pack_base64(const struct strbuf *b)
{
	const u8 *from = (const u8 *)b->s;
	char *out, *to;

	if (b->err || b->len > SIZE_MAX / 2)
		return NULL;
	out = to = malloc((b->len + 2) / 3 * 4 + 1);
	if (!out)
		return NULL;
	for (size_t i = 0; i < b->len; i += 3) {
		size_t left = b->len - i;
		u32 v = (u32)from[i] << 16;

		v |= left > 1 ? (u32)from[i + 1] << 8 : 0;
		v |= left > 2 ? from[i + 2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[v & 63] : '=';
	}
	*to = '\0';
	return out;
}

static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four characters into up to three bytes; pad is how many of them are "=". */
static int decode_quad(const char *s, u32 pad, u8 *out)
{
	u32 v = 0;

	for (u32 i = 0; i < 4; i++) {
		int d = i >= 4 - pad ? 0 : digit_value(s[i]);

		if (d < 0)
			return -EBADMSG;
		v = v << 6 | (u32)d;
	}
	if ((pad == 1 && (v & 0xff)) || (pad == 2 && (v & 0xffff)))
		return -EBADMSG; /* bits that belong to no byte */
	for (u32 i = 0; i < 3 - pad; i++)
		out[i] = (u8)(v >> (16 - 8 * i));
	return 0;
}

int unpack__init(struct unpack *u, const char *base64)
{
	size_t len = strlen(base64);

	*u = (struct unpack){0};
	if (len % 4)
		return -EBADMSG;
	u->bytes = malloc(len / 4 * 3 + 1);
	if (!u->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < len; i += 4) {
		u32 pad = 0;

		if (i + 4 == len && base64[i + 3] == '=')
			pad = base64[i + 2] == '=' ? 2 : 1;
		if (decode_quad(base64 + i, pad, u->bytes + u->len))
			return -EBADMSG;
		u->len += 3 - pad;
	}
	return 0;
}

void unpack__fini(struct unpack *u)
{
	free(u->bytes);
	*u = (struct unpack){0};
}

int unpack__varint(struct unpack *u, u64 *out)
{
	u64 v = 0;

	for (u32 shift = 0; shift < 64; shift += 7) {
		u8 byte;

		if (u->pos >= u->len)
			return -EBADMSG;
		byte = u->bytes[u->pos++];
		if (shift == 63 && byte > 1)
			return -EBADMSG;
		v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return 0;
		}
	}
	return -EBADMSG;
}

static int unpack__pairs(struct unpack *u, u64 nr, u64 count, struct m_bucket *v)
{
	u64 idx = 0, step, n, sum = 0;

	for (u64 i = 0; i < nr; i++) {
		if (unpack__varint(u, &step) || unpack__varint(u, &n))
			return -EBADMSG;
		if (!step || step > HB_HIST_BUCKETS || !n)
			return -EBADMSG;
		idx += step; /* one more than the index, as the first step starts at -1 */
		if (idx > HB_HIST_BUCKETS || __builtin_add_overflow(sum, n, &sum) || sum > count)
			return -EBADMSG;
		v[i].idx = (u32)idx - 1;
		v[i].n = n;
	}
	return 0;
}

int unpack__buckets(struct unpack *u, u64 nr, u64 count, struct m_bucket **out)
{
	struct m_bucket *v;
	int err;

	*out = NULL;
	if (!nr)
		return 0;
	if (nr > HB_HIST_BUCKETS || nr > (u->len - u->pos) / 2)
		return -EBADMSG;
	v = array_alloc(nr, sizeof(*v));
	if (!v)
		return -ENOMEM;
	err = unpack__pairs(u, nr, count, v);
	if (err)
		free(v);
	else
		*out = v;
	return err;
}

bool unpack__done(const struct unpack *u)
{
	return u->pos == u->len;
}
