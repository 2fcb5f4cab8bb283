/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqproto.bpf.h - what the bytes of a connection say of where its requests begin and end: records of TLS,
 * frames of HTTP/2, interim answers of HTTP/1. Looks at the data of system calls, and changes no more
 * of a connection than where in a TLS record it is. Included by reqconn.bpf.h alone.
 */
#ifndef HBPROF_REQPROTO_BPF_H
#define HBPROF_REQPROTO_BPF_H

#include <hbprof/req.h>

#include "shared.bpf.h"

/* What a system call has done. */
struct io {
	u64 enter_ns, exit_ns; /* behind the program at its entry, before that at its exit */
	u64 prog_ns;	       /* that the former took */
	u64 buf;
	u64 bytes;
	u64 have; /* of them at buf */
	u64 pid_tgid;
	u32 proc;
	u32 op;
};

/* ---- TLS ------------------------------------------------------------------------------------ */

/* TLS records: type, version, length (RFC 8446, 5.1). */
#define TLS_HEADER	5
#define TLS_RECORD_MAX	(16384 + 2048) /* RFC 5246, 6.2.3 */
#define TLS_CHANGE	20
#define TLS_ALERT	21
#define TLS_HANDSHAKE	22
#define TLS_DATA	23
#define TLS_ALERT_BYTES 19 /* of an encrypted one: 2, its type, and a tag (5.2, 6) */

/* Is the record that begins so what TLS says itself? From 1.3 on some of that looks like data: an alert,
 * told by its length, and the last words of the client's handshake, behind a change of cipher spec. */
static __always_inline bool tls_own(struct hb_req_conn *c, u8 type, u64 len)
{
	bool next = c->flags & HB_REQ_TLS_NEXT;

	c->flags &= ~(HB_REQ_TLS_OWN | HB_REQ_TLS_NEXT);
	if (type == TLS_CHANGE)
		c->flags |= HB_REQ_TLS_NEXT;
	if (type == TLS_DATA && !next && len != TLS_ALERT_BYTES)
		return false;
	c->flags |= HB_REQ_TLS_OWN;
	return true;
}

/* What of the record that bytes in are at came with this system call, of which at bytes are known. */
static __always_inline u64 tls_take(struct hb_req_conn *c, const struct io *io, u64 at)
{
	u64 left = c->tls_left, more = io->bytes - at;

	if (left > more)
		left = more;
	c->tls_left -= left;
	return at + left;
}

/*
 * HB_REQ_HANDSHAKE, when the data is what TLS says itself: handshakes, changes of cipher spec, alerts; 0,
 * when there is data of the application. Records are followed over system calls, as OpenSSL reads the
 * header of each and then the rest.
 */
__noinline int hb_req_tls(struct hb_req_conn *c, const struct io *io)
{
	bool own = true;
	u64 at;

	if (!c || !io || !io->buf || c->flags & HB_REQ_TLS_LOST)
		return 0;
	if (c->tls_left)
		own = c->flags & HB_REQ_TLS_OWN;
	at = tls_take(c, io, 0);
	for (int i = 0; i < 8 && at < io->bytes; i++) {
		u8 b[8] = {};

		if (at + TLS_HEADER > io->have)
			break;
		if (bpf_probe_read_user(b, TLS_HEADER, (void *)(io->buf + at)) || b[1] != 3 ||
		    b[0] < TLS_CHANGE || b[0] > TLS_DATA) {
			own = false;
			break;
		}
		c->tls_left = (u32)b[3] << 8 | b[4];
		own &= tls_own(c, b[0], c->tls_left);
		at = tls_take(c, io, at + TLS_HEADER);
	}
	if (at < io->bytes)
		c->flags |= HB_REQ_TLS_LOST;
	return own ? HB_REQ_HANDSHAKE : 0;
}

/* The header of the record that the data begins with. 0: there is none. */
static __always_inline u8 tls_record(const struct io *io, u64 *len)
{
	u8 b[8] = {};

	if (!io->buf || io->have < TLS_HEADER ||
	    bpf_probe_read_user(b, TLS_HEADER, (void *)io->buf) || b[1] != 3 || b[2] > 4 ||
	    b[0] < TLS_CHANGE || b[0] > TLS_DATA)
		return 0;
	*len = (u64)b[3] << 8 | b[4];
	return *len <= TLS_RECORD_MAX ? b[0] : 0;
}

/* An alert, or, in TLS 1.3, perhaps two bytes of data. As close() of a TLS connection sends one, at any time
 * after the answer. */
static __always_inline u8 tls_alert(const struct io *io)
{
	u64 len = 0;
	u8 type = tls_record(io, &len);

	if (type == TLS_ALERT || (type == TLS_DATA && len == TLS_ALERT_BYTES))
		return type;
	return 0;
}

/* Is the data too short for a request or an answer of HTTP/1, and so a frame of HTTP/2 that has no data? From
 * the 9 bytes of one to the 24 before the shortest request, behind them up to 24 bytes of TLS 1.2. */
static __always_inline bool tls_is_frame(const struct io *io)
{
	u64 len = 0;

	return tls_record(io, &len) == TLS_DATA && len >= 9 + 16 && len <= 24 + 17 &&
	       len != TLS_ALERT_BYTES;
}

/* ---- HTTP ----------------------------------------------------------------------------------- */

/* Has the stream that a frame of this type is of a client's number, and the frame a length and flags that
 * the type allows? RFC 9113, 5.1.1 and 6. */
static __always_inline bool is_frame(u8 type, u8 flags, u32 len, bool odd, bool zero)
{
	switch (type) {
	case 0: /* DATA */
		return odd && !(flags & ~0x09);
	case 1: /* HEADERS */
		return odd && !(flags & ~0x2d);
	case 3: /* RST_STREAM */
		return odd && len == 4 && !flags;
	case 4: /* SETTINGS */
		return zero && len < 256 && !(flags & ~0x01);
	case 6: /* PING */
		return zero && len == 8 && !(flags & ~0x01);
	case 7: /* GOAWAY */
		return zero && len >= 8 && !flags;
	case 8: /* WINDOW_UPDATE */
		return (odd || zero) && len == 4 && !flags;
	default:
		return false;
	}
}

/* On a connection found open, whose preface was not seen: an HTTP/2 frame begins with its length in 24 bits,
 * type, flags, and a stream's number in 31 (RFC 9113, 4.1). HTTP/1 and a TLS record begin with other bytes,
 * but messages that begin with their own length may look alike. */
static __always_inline bool looks_multiplexed(const struct io *io)
{
	u8 b[16] = {};

	if (!io->buf || io->have < 9 || bpf_probe_read_user(b, 9, (void *)io->buf))
		return false;
	if (b[0] || b[5] & 0x80)
		return false;
	return is_frame(b[3], b[4], (u32)b[1] << 8 | b[2], b[8] & 1, !(b[5] | b[6] | b[7] | b[8]));
}

/* Below this there is no room for an answer behind the line "HTTP/1.1 100 Continue" and its end. */
#define INTERIM_BYTES 44

/* RFC 9110, 15.2: 100, an answer that only asks for the rest of the request; 101, the last one of HTTP/1 on
 * this connection. 0: neither of them. */
static __always_inline u32 interim_status(const struct io *io)
{
	u8 b[16] = {};

	if (!io->buf || io->have < 12 || bpf_probe_read_user(b, 12, (void *)io->buf) ||
	    b[0] != 'H' || b[4] != '/' || b[8] != ' ' || b[9] != '1' || b[10] != '0')
		return 0;
	if (b[11] == '0' && io->bytes < INTERIM_BYTES)
		return 100;
	return b[11] == '1' ? 101 : 0;
}

#endif
