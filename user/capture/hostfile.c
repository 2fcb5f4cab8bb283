// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hostfile.c - small files of /proc and /sys below a root folder, and what is written in them. */
#include "capture/hostfile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fsutil.h"
#include "util/units.h"

#define MAX_FACT_FILE (16u << 20) /* cpuinfo has some 1.5 KB a CPU */

void text_set(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->s, sizeof(t->s), fmt, ap);
	va_end(ap);
}

void text_append(struct text *t, const char *fmt, ...)
{
	size_t len = strlen(t->s);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->s + len, sizeof(t->s) - len, fmt, ap);
	va_end(ap);
}

void host__open(struct host *h, const char *root)
{
	*h = (struct host){.root = root};
	h->cpuinfo = host__text(h, "/proc/cpuinfo");
	h->guest = host__is_guest(h);
}

void host__close(struct host *h)
{
	free(h->cpuinfo);
	h->cpuinfo = NULL;
}

static char *read_file(const struct host *h, const char *fmt, va_list ap)
{
	char path[PATH_MAX], *s;
	size_t len;
	int n, more;

	n = snprintf(path, sizeof(path), "%s", h->root);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	more = vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	if (more < 0 || (size_t)more >= sizeof(path) - (size_t)n)
		return NULL;
	return fs_read_file(path, MAX_FACT_FILE, &s, &len) ? NULL : s;
}

char *host__text(const struct host *h, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = read_file(h, fmt, ap);
	va_end(ap);
	return s;
}

/* Takes s over. */
static char *cut_line(char *s)
{
	if (!s)
		return NULL;
	s[strcspn(s, "\n")] = '\0';
	for (size_t len = strlen(s); len && s[len - 1] == ' '; len--)
		s[len - 1] = '\0';
	if (*s)
		return s;
	free(s);
	return NULL;
}

char *host__line(const struct host *h, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = cut_line(read_file(h, fmt, ap));
	va_end(ap);
	return s;
}

bool host__u64(const struct host *h, u64 *out, const char *fmt, ...)
{
	va_list ap;
	bool ok;
	char *s;

	va_start(ap, fmt);
	s = cut_line(read_file(h, fmt, ap));
	va_end(ap);
	ok = s && !parse_u64(s, ~0ULL, out);
	free(s);
	return ok;
}

bool host__exists(const struct host *h, const char *path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof(full), "%s%s", h->root, path);

	return n > 0 && (size_t)n < sizeof(full) && !access(full, F_OK);
}

u32 cpulist_count(const char *s, u32 *first)
{
	u32 n = 0;

	while (*s) {
		char *end;
		unsigned long a = strtoul(s, &end, 10), b = a;

		if (end == s)
			return 0;
		if (*end == '-') {
			s = end + 1;
			b = strtoul(s, &end, 10);
			if (end == s)
				return 0;
		}
		if (b < a || b >= HOST_MAX_CPUS)
			return 0;
		if (!n)
			*first = (u32)a;
		n += (u32)(b - a + 1);
		if (*end && *end != ',')
			return 0;
		s = *end ? end + 1 : end;
	}
	return n;
}

bool cpuinfo_next(const struct host *h, const char **at, const char *key, char *out, size_t len)
{
	size_t keylen = strlen(key);
	const char *line = at && *at ? *at : h->cpuinfo;

	while (line && *line) {
		const char *end = line + strcspn(line, "\n"), *colon;
		const char *next = *end ? end + 1 : end;

		colon = memchr(line, ':', (size_t)(end - line));
		if (colon && !strncmp(line, key, keylen) &&
		    strspn(line + keylen, " \t") == (size_t)(colon - line) - keylen) {
			colon++;
			colon += strspn(colon, " \t");
			if (at)
				*at = next;
			if (colon >= end)
				return false;
			snprintf(out, len, "%.*s", (int)(end - colon), colon);
			return true;
		}
		line = next;
	}
	return false;
}

bool cpuinfo_value(const struct host *h, const char *key, char *out, size_t len)
{
	return cpuinfo_next(h, NULL, key, out, len);
}

bool cpuinfo_has_flag(const struct host *h, const char *flag)
{
	char flags[8192], *save = NULL;

	if (!cpuinfo_value(h, "flags", flags, sizeof(flags)))
		return false;
	for (char *f = strtok_r(flags, " ", &save); f; f = strtok_r(NULL, " ", &save))
		if (!strcmp(f, flag))
			return true;
	return false;
}
