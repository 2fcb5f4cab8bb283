/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* strbuf.h - a string that grows up to a limit. After a failure (limit, memory) it stays as it was
 * and err is set: one check at the end is enough. */
#ifndef HBPROF_STRBUF_H
#define HBPROF_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
	char *s; /* always terminated; NULL before the first addition */
	size_t len, cap, max;
	int err; /* 0, -ENOMEM, -EFBIG */
};

void strbuf__init(struct strbuf *b, size_t max);
void strbuf__fini(struct strbuf *b);
void strbuf__add(struct strbuf *b, const void *bytes, size_t len);
void strbuf__adds(struct strbuf *b, const char *s);
void strbuf__addc(struct strbuf *b, char c);
void strbuf__addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf__reset(struct strbuf *b);
/* Hands the string to the caller (free()); NULL on error. The buffer is empty again. */
char *strbuf__take(struct strbuf *b);

#endif
