// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log.c - makes one line of text per message and hands it to the sink. Names in messages come from
 * binaries and processes of others: bytes that could move the cursor or forge a second line are
 * escaped here, at the one place that every message passes.
 */
#include "util/log.h"

#include "util/strbuf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A symbol name of a C++ template can have thousands of bytes; more than this is not a message. */
#define LOG_MAX_BYTES 16384

static void log__to_stderr(enum log_level l, const char *msg);

static struct {
	enum log_level max;
	void (*sink)(enum log_level l, const char *msg);
} logger = {LOG_WARN, log__to_stderr};

void log_set_level(enum log_level max)
{
	logger.max = max;
}

enum log_level log_level(void)
{
	return logger.max;
}

void log_set_sink(void (*sink)(enum log_level l, const char *msg))
{
	logger.sink = sink ? sink : log__to_stderr;
}

static bool log__coloured(void)
{
	const char *no_color = getenv("NO_COLOR");

	/* no-color.org: present and not empty. */
	return (!no_color || !*no_color) && isatty(STDERR_FILENO);
}

static void log__to_stderr(enum log_level l, const char *msg)
{
	static const struct {
		const char *word, *colour;
	} of[] = {
		[LOG_ERR] = {"error: ", "\033[1;31m"},
		[LOG_WARN] = {"warning: ", "\033[1;33m"},
		[LOG_INFO] = {"", ""},
		[LOG_DEBUG] = {"debug: ", ""},
	};
	bool colour = *of[l].colour && log__coloured();

	/* One call: lines of several processes on one terminal stay whole. */
	fprintf(stderr, "hbprof: %s%s%s%s\n", colour ? of[l].colour : "", of[l].word,
		colour ? "\033[0m" : "", msg);
}

/*
 * C0, DEL and C1 (U+0080..U+009F, in UTF-8 c2 80..c2 9f) are controls to a terminal; a tab is
 * harmless, other bytes above 0x7f are parts of names in UTF-8 and stay.
 */
static void log__add_escaped(struct strbuf *out, const unsigned char *s)
{
	for (; *s; s++) {
		bool c1 = s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f;

		if (*s == '\n') {
			strbuf__adds(out, "\\n");
		} else if ((*s < 0x20 && *s != '\t') || *s == 0x7f) {
			strbuf__addf(out, "\\x%02x", *s);
		} else if (c1) {
			strbuf__addf(out, "\\x%02x\\x%02x", s[0], s[1]);
			s++;
		} else {
			strbuf__addc(out, (char)*s);
		}
	}
}

__attribute__((format(printf, 2, 0))) static void log__message(enum log_level l, const char *fmt,
							       va_list ap)
{
	char raw[LOG_MAX_BYTES / 4];
	struct strbuf line;
	int saved = errno;
	size_t len;

	if (l > logger.max)
		return;
	if (vsnprintf(raw, sizeof(raw), fmt, ap) < 0)
		raw[0] = '\0';
	/* Text that libraries hand over ends in a newline of its own. */
	len = strlen(raw);
	while (len && raw[len - 1] == '\n')
		raw[--len] = '\0';
	/* An escape is at most four bytes for one, so the limit holds for every cut text. */
	strbuf__init(&line, LOG_MAX_BYTES);
	log__add_escaped(&line, (const unsigned char *)raw);
	logger.sink(l, line.s ? line.s : "");
	strbuf__fini(&line);
	errno = saved;
}

/* va_start() belongs into the variadic function itself, hence four equal bodies. */
void log_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log__message(LOG_ERR, fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log__message(LOG_WARN, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log__message(LOG_INFO, fmt, ap);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log__message(LOG_DEBUG, fmt, ap);
	va_end(ap);
}
