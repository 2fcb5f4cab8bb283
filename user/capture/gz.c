// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gz.c - zlib's streams over whole buffers. Only this file includes zlib. */
#include "capture/gz.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib.h: 16 added to windowBits means gzip, not zlib */

int gz_pack(const char *text, size_t len, char **out, size_t *outlen)
{
	z_stream z = {.next_in = (Bytef *)text};
	size_t bound;
	char *buf;
	int rc;

	if (len > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&z, len);
	buf = malloc(bound);
	if (!buf) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.avail_in = (uInt)len;
	z.next_out = (Bytef *)buf;
	z.avail_out = (uInt)bound;
	rc = deflate(&z, Z_FINISH);
	*outlen = z.total_out;
	deflateEnd(&z);
	if (rc != Z_STREAM_END) {
		free(buf);
		return -ENOMEM;
	}
	*out = buf;
	return 0;
}

/* Twice the room, up to max and one byte more: that byte tells too long from just fitting. */
static int grow(char **buf, size_t *cap, size_t max)
{
	size_t more = *cap > max / 2 ? max + 1 : *cap * 2;
	char *bigger;

	if (*cap > max)
		return -EFBIG;
	bigger = realloc(*buf, more + 1);
	if (!bigger)
		return -ENOMEM;
	*buf = bigger;
	*cap = more;
	return 0;
}

static int inflate_all(z_stream *z, size_t max, char **buf, size_t *len, const char **why)
{
	size_t cap = 0;
	int rc = Z_OK, err;

	*len = 0;
	cap = max < 4096 ? max + 1 : 4096;
	*buf = malloc(cap + 1);
	if (!*buf)
		return -ENOMEM;
	while (rc != Z_STREAM_END) {
		if (*len == cap) {
			err = grow(buf, &cap, max);
			if (err)
				return err;
		}
		z->next_out = (Bytef *)*buf + *len;
		z->avail_out = cap - *len > UINT_MAX ? UINT_MAX : (uInt)(cap - *len);
		rc = inflate(z, Z_NO_FLUSH);
		*len = (size_t)((char *)z->next_out - *buf);
		if (rc == Z_MEM_ERROR)
			return -ENOMEM;
		if (rc == Z_BUF_ERROR || (rc == Z_OK && !z->avail_in && z->avail_out)) {
			*why = "the file is cut short";
			return -EBADMSG;
		}
		if (rc != Z_OK && rc != Z_STREAM_END) {
			*why = "the compressed data is damaged";
			return -EBADMSG;
		}
	}
	return *len > max ? -EFBIG : 0;
}

int gz_unpack(const void *bytes, size_t len, size_t max, char **out, size_t *outlen,
	      const char **why)
{
	z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)len};
	char *buf = NULL;
	int err;

	if (len < 2 || memcmp(bytes, "\x1f\x8b", 2)) {
		*why = len ? "it is not an hbprof capture (no gzip data)" : "the file is empty";
		return -EBADMSG;
	}
	if (len > UINT_MAX)
		return -EFBIG;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	err = inflate_all(&z, max, &buf, outlen, why);
	if (!err && z.avail_in) {
		*why = "there is more data after its end";
		err = -EBADMSG;
	}
	inflateEnd(&z);
	if (err) {
		free(buf);
		return err;
	}
	buf[*outlen] = '\0';
	*out = buf;
	return 0;
}
