/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture.h - a recording as a file: gzip of one JSON document, described in docs/capture.md.
 *
 * Nothing in a capture is believed: every number is range-checked, every index compared with what
 * it indexes, and the text may not expand beyond a limit.
 */
#ifndef HBPROF_CAPTURE_H
#define HBPROF_CAPTURE_H

#include "model/model.h"

#define CAPTURE_FORMAT	 "hbprof-capture"
#define CAPTURE_MAJOR	 1
#define CAPTURE_MINOR	 2
#define CAPTURE_MAX_TEXT (256u << 20) /* bytes of JSON; more is -EFBIG */
#define CAPTURE_MAX_FILE (256u << 20) /* bytes of gzip; more is -EFBIG */

/* Writes beside path and renames over it; "-" is stdout. 0 or -errno; on failure path is as before.
 * Nothing is logged. */
int capture__write(const struct recording *r, const char *path);
/*
 * Reads a capture; "-" is stdin. 0 or -errno: -EBADMSG a cut, damaged or foreign file, -EPROTO
 * written by a newer major version, -EFBIG, or what opening it gave. On failure err holds a sentence
 * that names the file and what is wrong with it. *out is the caller's; recording__free() it.
 */
int capture__read(const char *path, struct recording **out, char *err, size_t errlen);

/* The same over memory. *out is malloced. name is for the sentence in err. */
int capture__write_mem(const struct recording *r, char **out, size_t *len);
int capture__read_mem(const void *bytes, size_t len, const char *name, struct recording **out,
		      char *err, size_t errlen);

#endif
