// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_folded.c - the CPU stacks as folded ones: "outermost;...;innermost COUNT", a line for each
 * different stack, sorted. `hbprof flamegraph --folded` prints the same of the same capture.
 *
 * Names lose what the format cannot hold: semicolons, as in Go's struct types, and control bytes.
 */
#include "report/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* malloced, or NULL. */
static char *stack_text(const struct m_stacks *s, const struct m_stack *st, size_t max)
{
	struct strbuf b;

	strbuf__init(&b, max);
	for (u32 i = 0; i < st->nr_frames; i++) {
		const char *name = s->name[s->frame[st->first + i]];

		if (i)
			strbuf__addc(&b, ';');
		strbuf__adds(&b, *name ? "" : "[unknown]");
		for (; *name; name++)
			strbuf__addc(&b, *name == ';'		      ? ':'
					 : (unsigned char)*name < ' ' ? '?'
								      : *name);
	}
	if (!st->nr_frames)
		strbuf__adds(&b, EXPORT_UNKEPT);
	return strbuf__take(&b);
}

struct line {
	char *text;
	u64 count;
};

static int cmp_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void add_lines(struct strbuf *out, const struct line *line, u32 nr)
{
	for (u32 i = 0, next; i < nr; i = next) {
		u64 sum = line[i].count;

		for (next = i + 1; next < nr && !strcmp(line[i].text, line[next].text); next++)
			if (__builtin_add_overflow(sum, line[next].count, &sum))
				sum = M_NONE - 1;
		strbuf__addf(out, "%s %llu\n", line[i].text, sum);
	}
}

int export_folded(struct view *v)
{
	const struct m_stacks *s = &v->r->stacks;
	struct line *line = array_alloc((size_t)s->nr_stacks + 1, sizeof(*line));
	u32 nr = 0;
	int err = line ? 0 : -ENOMEM;

	for (; !err && nr < s->nr_stacks; nr++) {
		line[nr].text = stack_text(s, &s->stack[nr], v->out->max);
		line[nr].count = s->stack[nr].count;
		if (!line[nr].text)
			err = -ENOMEM;
	}
	if (!err) {
		qsort(line, nr, sizeof(*line), cmp_lines);
		add_lines(v->out, line, nr);
	}
	for (u32 i = 0; i < nr; i++)
		free(line[i].text);
	free(line);
	return err;
}
