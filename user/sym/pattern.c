// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pattern.c - matches names with gaps by following all possibilities at once, byte by byte: no
 * backtracking, which hostile names could make slow.
 */
#include "sym/pattern.h"

#include "util/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANCHOR_MIN 3

enum { GAP_WORD, GAP_HEX, GAP_PATH, GAP_ANY, GAP_NR };

static const char *const gap_names[GAP_NR] = {"{word}", "{hex}", "{path}", "{any}"};

/* Words that mangled names abbreviate (Itanium C++ ABI, 5.1.5 and 5.1.10). */
static const char *const abbreviated[] = {
	"void",	    "bool",	   "char",	   "short",    "int",	     "long",
	"float",    "double",	   "signed",	   "unsigned", "const",	     "std",
	"string",   "allocator",   "basic_string", "istream",  "ostream",    "iostream",
	"operator", "char_traits", "nullptr_t",	   "__int128", "__float128",
};

static bool is_word(u8 c)
{
	return isalnum(c) || c == '_' || c >= 0x80;
}

static bool gap_takes(u8 gap, u8 c)
{
	switch (gap) {
	case GAP_WORD:
		return is_word(c);
	case GAP_HEX:
		return isxdigit(c);
	case GAP_PATH:
		return c > ' ' && !strchr("()<>[]*,", c);
	default:
		return true;
	}
}

/* ---- reading ---- */

/* One element from *s on. */
static int read_element(const char **s, u8 *element, bool *gap, const char **why)
{
	*gap = false;
	*element = (u8) * *s;
	if (**s != '{') {
		(*s)++;
		return 0;
	}
	if ((*s)[1] == '{') {
		*s += 2;
		return 0;
	}
	for (u8 i = 0; i < GAP_NR; i++) {
		size_t len = strlen(gap_names[i]);

		if (strncmp(*s, gap_names[i], len))
			continue;
		*gap = true;
		*element = i;
		*s += len;
		return 0;
	}
	*why = "a '{' begins {word}, {hex}, {path} or {any}; for the sign itself write {{";
	return -EINVAL;
}

static bool is_abbreviated(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(abbreviated) / sizeof(*abbreviated); i++) {
		if (strlen(abbreviated[i]) == len && !strncmp(abbreviated[i], word, len))
			return true;
	}
	return false;
}

/* The longest run of word characters. */
static int find_anchor(struct pattern *p)
{
	size_t best = 0, best_len = 0, len;

	for (size_t i = 0; i < p->nr; i += len + 1) {
		const char *word = (const char *)p->element + i;

		for (len = 0; i + len < p->nr && !p->gap[i + len] && is_word((u8)word[len]); len++)
			;
		if (len > best_len && len >= ANCHOR_MIN && !is_abbreviated(word, len)) {
			best = i;
			best_len = len;
		}
	}
	p->anchor = strndup((const char *)p->element + best, best_len);
	return p->anchor ? 0 : -ENOMEM;
}

int pattern__init(struct pattern *p, const char *text, const char **why)
{
	size_t len = strlen(text);
	int err = 0;

	*p = (struct pattern){.plain = true};
	*why = "";
	if (!len || len > PATTERN_MAX) {
		*why = len ? "longer than 256 bytes" : "empty";
		return -EINVAL;
	}
	p->element = array_alloc(len + 1, sizeof(*p->element));
	p->gap = array_alloc(len + 1, sizeof(*p->gap));
	if (!p->element || !p->gap)
		err = -ENOMEM;
	while (*text && !err) {
		err = read_element(&text, &p->element[p->nr], &p->gap[p->nr], why);
		p->plain &= !p->gap[p->nr];
		p->nr++;
	}
	if (!err)
		err = find_anchor(p);
	if (err)
		pattern__fini(p);
	return err;
}

void pattern__fini(struct pattern *p)
{
	free(p->element);
	free(p->gap);
	free(p->anchor);
	*p = (struct pattern){0};
}

/* ---- matching ---- */

bool pattern__may_match(const struct pattern *p, const char *name)
{
	return !p->anchor[0] || strstr(name, p->anchor);
}

/* at[i]: the name so far may be what comes before element i. {any} may be nothing. */
static void skip_any(const struct pattern *p, u8 *at)
{
	for (u32 i = 0; i < p->nr; i++) {
		if (at[i] && p->gap[i] && p->element[i] == GAP_ANY)
			at[i + 1] = 1;
	}
}

/* False: nothing is possible any more. */
static bool step(const struct pattern *p, u8 *at, u8 c)
{
	bool alive = false;

	/* From the end on: what is set for the next byte is not looked at for this one. */
	for (u32 i = p->nr + 1; i-- > 0;) {
		bool was = at[i];

		at[i] = 0;
		if (!was || i == p->nr)
			continue;
		if (p->gap[i] ? !gap_takes(p->element[i], c) : p->element[i] != c)
			continue;
		at[i + 1] = 1;
		at[i] = p->gap[i];
		alive = true;
	}
	skip_any(p, at);
	return alive;
}

bool pattern__match(const struct pattern *p, const char *name)
{
	u8 at[PATTERN_MAX + 1] = {1};

	if (p->plain)
		return !strcmp((const char *)p->element, name);
	skip_any(p, at);
	for (; *name; name++) {
		if (!step(p, at, (u8)*name))
			return false;
	}
	return at[p->nr];
}
