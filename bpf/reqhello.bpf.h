/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqhello.bpf.h - what a TLS client says in the clear before anything else: whether it offers HTTP/2, whose
 * exchanges overlap, or sends data before the handshake is over. What the server chooses of that is
 * encrypted (TLS 1.3), so an offer is no more than a doubt. Included by reqconn.bpf.h alone.
 *
 * RFC 8446, 4.1.2 (ClientHello), 4.2 (extensions), 4.2.10 (early data); RFC 7301, 3.1 (ALPN).
 */
#ifndef HBPROF_REQHELLO_BPF_H
#define HBPROF_REQHELLO_BPF_H

#include "reqproto.bpf.h"

#define TLS_CLIENT_HELLO 1
#define TLS_ALPN	 16
#define TLS_EARLY_DATA	 42
#define HELLO_EXTENSIONS 32 /* of them are looked at; clients have some 20 */
#define HELLO_PROTOCOLS	 8
#define HELLO_RANDOM \
	(4 + 2 + 32) /* what is before the session's id: type, length, version, random */

/* The part of a message that was not looked at yet. */
struct hello {
	u64 at, left;
};

static __always_inline bool hello_pass(struct hello *h, u64 bytes)
{
	if (bytes > h->left)
		return false;
	h->at += bytes;
	h->left -= bytes;
	return true;
}

/* A number of one or two bytes. */
static __always_inline bool hello_take(struct hello *h, u32 bytes, u64 *value)
{
	u8 b[2] = {};

	if (bytes > h->left || bpf_probe_read_user(b, bytes, (void *)h->at))
		return false;
	*value = bytes == 2 ? (u64)b[0] << 8 | b[1] : b[0];
	return hello_pass(h, bytes);
}

/* What has its length in front. */
static __always_inline bool hello_skip(struct hello *h, u32 bytes)
{
	u64 len;

	return hello_take(h, bytes, &len) && hello_pass(h, len);
}

/* Is "h2" among the protocols? */
static __always_inline bool offers_http2(struct hello h)
{
	u64 len;

	if (!hello_take(&h, 2, &len))
		return false;
	for (int i = 0; i < HELLO_PROTOCOLS && hello_take(&h, 1, &len); i++) {
		u8 name[2] = {};

		if (len == 2 && h.left >= 2 && !bpf_probe_read_user(name, 2, (void *)h.at) &&
		    name[0] == 'h' && name[1] == '2')
			return true;
		if (!hello_pass(&h, len))
			break;
	}
	return false;
}

/* The ClientHello, which begins so far behind the data's begin. Where it is not there as a whole, or is none,
 * there is no HB_REQ_TLS_SURE. */
__noinline int hb_req_hello(struct hb_req_conn *c, const struct io *io, u64 from)
{
	struct hello h = {};
	u64 type, len;

	if (!c || !io || io->have < from)
		return 0;
	h.at = io->buf + from;
	h.left = io->have - from;
	if (!hello_take(&h, 1, &type) || type != TLS_CLIENT_HELLO ||
	    !hello_pass(&h, HELLO_RANDOM - 1) || !hello_skip(&h, 1) || !hello_skip(&h, 2) ||
	    !hello_skip(&h, 1) || !hello_take(&h, 2, &len))
		return 0;
	for (int i = 0; i < HELLO_EXTENSIONS && h.left; i++) {
		if (!hello_take(&h, 2, &type) || !hello_take(&h, 2, &len) || len > h.left)
			return 0;
		if (type == TLS_EARLY_DATA)
			return 0;
		if (type == TLS_ALPN && offers_http2(h)) {
			c->flags |= HB_REQ_TLS_H2;
			return 0;
		}
		hello_pass(&h, len);
	}
	if (!h.left)
		c->flags |= HB_REQ_TLS_SURE;
	return 0;
}

#endif
