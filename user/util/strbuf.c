// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * strbuf.c - a string that grows up to a limit. Nothing is added after the first failure, so that a
 * text with a hole in it is never taken for the whole.
 */
#include "util/strbuf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf__init(struct strbuf *b, size_t max)
{
	*b = (struct strbuf){.max = max};
}

void strbuf__fini(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){.max = b->max};
}

/* Room for len more bytes and the terminator. */
static int strbuf__room(struct strbuf *b, size_t len)
{
	size_t need, cap;
	char *s;

	if (b->err)
		return b->err;
	if (len > b->max - b->len) {
		b->err = -EFBIG;
		return b->err;
	}
	if (__builtin_add_overflow(b->len, len, &need) || __builtin_add_overflow(need, 1, &need)) {
		b->err = -ENOMEM;
		return b->err;
	}
	if (need <= b->cap)
		return 0;
	if (__builtin_add_overflow(need, need / 2 + 32, &cap))
		cap = need;
	s = realloc(b->s, cap);
	if (!s) {
		b->err = -ENOMEM;
		return b->err;
	}
	b->s = s;
	b->cap = cap;
	b->s[b->len] = '\0';
	return 0;
}

void strbuf__add(struct strbuf *b, const void *bytes, size_t len)
{
	if (strbuf__room(b, len))
		return;
	if (len)
		memcpy(b->s + b->len, bytes, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void strbuf__adds(struct strbuf *b, const char *s)
{
	strbuf__add(b, s, strlen(s));
}

void strbuf__addc(struct strbuf *b, char c)
{
	strbuf__add(b, &c, 1);
}

void strbuf__addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		/* An encoding error or a text above INT_MAX: neither fits. */
		if (!b->err)
			b->err = -EFBIG;
		return;
	}
	if (strbuf__room(b, (size_t)len))
		return;
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void strbuf__reset(struct strbuf *b)
{
	b->len = 0;
	b->err = 0;
	if (b->s)
		b->s[0] = '\0';
}

char *strbuf__take(struct strbuf *b)
{
	char *s = NULL;

	/* An empty text is a text: the caller can tell it from a failure. */
	if (!strbuf__room(b, 0)) {
		s = b->s;
		b->s = NULL;
	}
	strbuf__fini(b);
	return s;
}
