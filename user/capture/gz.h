/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gz.h - gzip of a whole text in memory, with a limit on what it may expand to. */
#ifndef HBPROF_GZ_H
#define HBPROF_GZ_H

#include <stddef.h>

/* 0, -ENOMEM. The same text gives the same bytes: no name, no time. *out is malloced. */
int gz_pack(const char *text, size_t len, char **out, size_t *outlen);
/*
 * One gzip member, nothing after it. *out is malloced and terminated. 0, -ENOMEM, -EFBIG: more than
 * max bytes, -EBADMSG: *why (static text) says what is wrong.
 */
int gz_unpack(const void *bytes, size_t len, size_t max, char **out, size_t *outlen,
	      const char **why);

#endif
