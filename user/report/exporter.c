// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exporter.c - the table of formats, and what several of them need. The formats are in export_*.c. */
#include "report/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "util/array.h"

#define MAX_EXPORT ((size_t)1 << 30)

const char *const export_format_names[EXPORT_NR] = {
	"csv", "json", "pprof", "speedscope", "openmetrics", "benchstat", "folded",
};

bool export_is_binary(enum export_format format)
{
	return format == EXPORT_PPROF;
}

bool export_has(enum export_format format, enum export_of of)
{
	if (format == EXPORT_PPROF || format == EXPORT_SPEEDSCOPE || of == EXPORT_OF_DEFAULT)
		return true;
	return (format == EXPORT_FOLDED) == (of == EXPORT_STACKS);
}

static int write_format(struct view *v, enum export_format format, enum export_of of)
{
	switch (format) {
	case EXPORT_CSV:
		return export_csv(v);
	case EXPORT_JSON:
		return json__print(v);
	case EXPORT_PPROF:
		return export_pprof(v, of);
	case EXPORT_SPEEDSCOPE:
		return export_speedscope(v, of);
	case EXPORT_OPENMETRICS:
		return export_openmetrics(v);
	case EXPORT_BENCHSTAT:
		return export_benchstat(v);
	case EXPORT_FOLDED:
		return export_folded(v);
	default:
		return -EINVAL;
	}
}

int export__render(const struct recording *r, enum export_format format, enum export_of of,
		   char **out, size_t *len)
{
	const struct report_opts opts = {.by = REPORT_BY_CODEC};
	struct view v = {.r = r, .opts = &opts};
	struct strbuf text;
	int err;

	if (!export_has(format, of))
		return -EINVAL;
	if ((of == EXPORT_STACKS || format == EXPORT_FOLDED) && !r->stacks.samples)
		return -ENODATA;
	strbuf__init(&text, MAX_EXPORT);
	v.out = &text;
	err = groups__build(&v.groups, r, true);
	if (!err)
		err = bias_list(r, &v.groups, &v.bias, &v.nr_biases);
	if (!err)
		err = write_format(&v, format, of);
	if (!err)
		err = text.err;
	if (err)
		goto out;
	*len = text.len;
	*out = strbuf__take(&text);
out:
	free(v.bias);
	groups__fini(&v.groups);
	strbuf__fini(&text);
	return err;
}

const char *export_library(const struct view *v, const struct m_func *f)
{
	if (!f)
		return NULL;
	if (f->library)
		return f->library;
	return f->image < v->r->nr_images ? v->r->image[f->image].path : NULL;
}

u64 export_row_ns(const struct m_row *row, bool exclusive)
{
	u64 leaf = row->dist[HB_DIST_LEAF].sum_ns, sum;
	u64 outer = row->dist[exclusive ? HB_DIST_OUTER_EXC : HB_DIST_OUTER].sum_ns;

	leaf = leaf == M_NONE ? 0 : leaf;
	outer = outer == M_NONE ? 0 : outer;
	return __builtin_add_overflow(leaf, outer, &sum) ? M_NONE - 1 : sum;
}

const char *export_size_class(char buf[64], u32 size_class)
{
	u64 least, largest;

	size_class_range(size_class, &least, &largest);
	if (least == M_NONE)
		snprintf(buf, 64, "size not known");
	else if (!largest)
		snprintf(buf, 64, "empty");
	else if (least == largest)
		snprintf(buf, 64, "%llu B", least);
	else
		snprintf(buf, 64, "%llu B to %llu B", least, largest);
	return buf;
}

u64 export_stack_ns(const struct m_stacks *s, const struct m_stack *st)
{
	u64 ns;

	if (!s->frequency_hz)
		return 0;
	return __builtin_mul_overflow(st->count, 1000000000u / s->frequency_hz, &ns) ? M_NONE - 1
										     : ns;
}

char *export_call_name(const struct m_func *f)
{
	char *name;

	if (!f->codec || !strcmp(f->codec, "probe"))
		return strdup(f->name ? f->name : "");
	return asprintf(&name, "%s %s", f->codec, f->op ? f->op : "") < 0 ? NULL : name;
}

/* ---- frames ---- */

static int cmp_stacks(const void *pa, const void *pb)
{
	const struct export_stack *a = pa, *b = pb;
	int c = strcmp(a->g->codec, b->g->codec);

	c = c ? c : strcmp(a->g->op, b->g->op);
	c = c ? c : strcmp(a->g->name, b->g->name);
	/* Functions of one name are told apart; of one function the groups have an order. */
	if (!c && a->g->func != b->g->func)
		c = a->g->func < b->g->func ? -1 : 1;
	if (!c && a->g != b->g)
		c = a->g < b->g ? -1 : 1;
	return c;
}

static int add_frame(struct export_frames *f, struct export_stack *s, char *name, const char *file)
{
	if (!name)
		return -ENOMEM;
	s->frame[s->depth++] = f->nr;
	f->frame[f->nr++] = (struct export_frame){.name = name, .file = file};
	return 0;
}

/* The operation's frame bears the codec's name too: tools add up frames of one name, wherever they
 * stand, and "encode" of all codecs together is no place in any program. */
static char *op_name(const struct group *g)
{
	char *name;

	return asprintf(&name, "%s %s", g->codec, g->op) < 0 ? NULL : name;
}

/* The frames of s: those that it shares with the stack before it, then new ones. */
static int stack_frames(struct export_frames *f, const struct view *v, struct export_stack *s,
			const struct export_stack *before)
{
	bool same = before && !strcmp(s->g->codec, before->g->codec);
	int err = 0;

	if (same)
		s->frame[s->depth++] = before->frame[0];
	else
		err = add_frame(f, s, strdup(s->g->codec), NULL);
	same = same && !strcmp(s->g->op, before->g->op);
	if (!err && *s->g->op) {
		if (same)
			s->frame[s->depth++] = before->frame[1];
		else
			err = add_frame(f, s, op_name(s->g), NULL);
	}
	if (err)
		return err;
	if (same && s->g->func == before->g->func)
		s->frame[s->depth++] = before->frame[before->depth - 1];
	else
		err = add_frame(f, s, strdup(s->g->name), export_library(v, s->g->func));
	return err;
}

int export_frames__build(struct export_frames *f, const struct view *v)
{
	u32 nr = v->groups.nr;
	int err = 0;

	*f = (struct export_frames){0};
	f->stack = array_alloc(nr, sizeof(*f->stack));
	f->frame = array_alloc((size_t)nr * EXPORT_DEPTH, sizeof(*f->frame));
	if (!f->stack || !f->frame)
		err = -ENOMEM;
	for (u32 i = 0; !err && i < nr; i++)
		f->stack[i] = (struct export_stack){.g = &v->groups.v[i]};
	if (!err)
		qsort(f->stack, nr, sizeof(*f->stack), cmp_stacks);
	for (u32 i = 0; !err && i < nr; i++, f->nr_stacks++)
		err = stack_frames(f, v, &f->stack[i], i ? &f->stack[i - 1] : NULL);
	if (err)
		export_frames__fini(f);
	return err;
}

void export_frames__fini(struct export_frames *f)
{
	for (u32 i = 0; i < f->nr; i++)
		free(f->frame[i].name);
	free(f->frame);
	free(f->stack);
	*f = (struct export_frames){0};
}
