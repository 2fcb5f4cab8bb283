// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registry_text.c - JSON that knows its lines. cJSON tells no positions, so the text is walked a
 * second time beside the finished tree, value by value in the same order. The line goes into the
 * node's valueint, which nobody reads: numbers are taken from valuedouble.
 *
 * What the values mean is left to registry_read.c.
 */
#include "sym/registry_impl.h"

#include "util/log.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#define DEPTH_MAX 16

/* The built-in files: they stay files that editors and reviewers can read. make compiles in the top
 * folder of the tree. */
__asm__(".pushsection .rodata\n"
	".global registry_codecs, registry_codecs_end\n"
	"registry_codecs:\n"
	".incbin \"user/sym/codecs.json\"\n"
	"registry_codecs_end:\n"
	".byte 0\n"
	".global registry_groups, registry_groups_end\n"
	"registry_groups:\n"
	".incbin \"user/sym/groups.json\"\n"
	"registry_groups_end:\n"
	".byte 0\n"
	".popsection\n");

struct walker {
	const char *p;
	int line;
};

static void skip_blanks(struct walker *w)
{
	for (; *w->p && strchr(" \t\r\n", *w->p); w->p++)
		w->line += *w->p == '\n';
}

static void skip_string(struct walker *w)
{
	for (w->p++; *w->p && *w->p != '"'; w->p++) {
		w->line += *w->p == '\n';
		if (*w->p == '\\' && w->p[1])
			w->p++;
	}
	w->p += *w->p == '"';
}

/* Goes past the beginning of the next value. Its line, that of its key if it has one; 0: no value. */
static int next_value(struct walker *w)
{
	int key_line = 0, line;

	for (;;) {
		skip_blanks(w);
		line = w->line;
		if (!*w->p)
			return 0;
		if (strchr(",:]}", *w->p)) {
			w->p++;
			continue;
		}
		if (*w->p == '"') {
			skip_string(w);
			skip_blanks(w);
			if (*w->p != ':')
				break;
			key_line = line;
			continue;
		}
		if (*w->p == '{' || *w->p == '[')
			w->p++;
		else
			w->p += strcspn(w->p, ",]} \t\r\n");
		break;
	}
	return key_line ? key_line : line;
}

/* Sets the line of every node. 0, or -EBADMSG: nested too deeply, *at is the line. */
static int set_lines(cJSON *root, const char *text, int *at)
{
	struct walker w = {.p = text, .line = 1};
	cJSON *stack[DEPTH_MAX], *node = root;
	u32 depth = 0;

	if (!strncmp(w.p, "\xef\xbb\xbf", 3))
		w.p += 3;
	for (;;) {
		*at = node->valueint = next_value(&w);
		if (node->child) {
			if (depth == DEPTH_MAX)
				return -EBADMSG;
			stack[depth++] = node;
			node = node->child;
			continue;
		}
		while (!node->next) {
			if (!depth)
				return 0;
			node = stack[--depth];
		}
		node = node->next;
	}
}

static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

int json_text__parse(struct json_text *t, const char *name, const char *text, size_t len)
{
	const char *end = NULL, *zero = memchr(text, 0, len);
	int line;

	*t = (struct json_text){.name = name};
	if (zero) {
		log_err("%s:%d: a zero byte; this is no text file", name, line_of(text, zero));
		return -EINVAL;
	}
	t->root = cJSON_ParseWithLengthOpts(text, len + 1, &end, 1);
	if (!t->root) {
		line = line_of(text, end && end >= text && end <= text + len ? end : text);
		log_err("%s:%d: this is no JSON; a comma too many or too few, or a missing quote or "
			"bracket, here or before",
			name, line);
		return -EINVAL;
	}
	if (set_lines(t->root, text, &line)) {
		log_err("%s:%d: nested more than %d levels deep; docs/codecs.md has the format",
			name, line, DEPTH_MAX);
		json_text__free(t);
		return -EINVAL;
	}
	return 0;
}

void json_text__free(struct json_text *t)
{
	cJSON_Delete(t->root);
	t->root = NULL;
}
