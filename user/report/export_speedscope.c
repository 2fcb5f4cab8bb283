// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_speedscope.c - speedscope's file format (file-format-schema.json of speedscope 1.25): three
 * "sampled" profiles over the same stacks, weighted by exclusive time, inclusive time and calls. The
 * last frame of a stack is the payload's size class, a frame of its own under each function. A fourth
 * one has the CPU stacks.
 */
#include "report/export.h"

#include <stdio.h>
#include <string.h>

#include <hbprof/version.h>

#include "model/jsonw.h"

enum weight { WEIGHT_EXCLUSIVE, WEIGHT_INCLUSIVE, WEIGHT_CALLS, WEIGHT_NR };

static const struct {
	const char *name, *unit;
} weights[WEIGHT_NR] = {
	{"exclusive latency (adds up)", "nanoseconds"},
	{"inclusive latency (calls inside other calls count twice)", "nanoseconds"},
	{"calls", "none"},
};

static u64 weight_of(const struct m_row *row, enum weight w)
{
	return w == WEIGHT_CALLS ? row->count : export_row_ns(row, w == WEIGHT_EXCLUSIVE);
}

static u64 add_up(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? M_NONE - 1 : sum;
}

static void print_frame(struct jsonw *w, const char *name, const char *file)
{
	jsonw__object(w, NULL);
	jsonw__str(w, "name", name);
	if (file)
		jsonw__str(w, "file", file);
	jsonw__end_object(w);
}

static void print_call_frames(struct jsonw *w, const struct export_frames *f)
{
	char name[96], class[64];

	for (u32 i = 0; i < f->nr; i++)
		print_frame(w, f->frame[i].name, f->frame[i].file);
	for (u32 i = 0; i < f->nr_stacks; i++) {
		const struct group *g = f->stack[i].g;

		for (u32 k = 0; k < g->nr_rows; k++) {
			bool failed = g->func && g->outcome == HB_OUTCOME_ERROR;

			export_size_class(class, g->row[k]->size_class);
			snprintf(name, sizeof(name), "%s%s", class, failed ? ", failed" : "");
			print_frame(w, name, NULL);
		}
	}
}

static u32 nr_call_frames(const struct export_frames *f)
{
	u32 nr = f->nr;

	for (u32 i = 0; i < f->nr_stacks; i++)
		nr += f->stack[i].g->nr_rows;
	return nr;
}

static void print_stack_frames(struct jsonw *w, const struct m_stacks *s)
{
	for (u32 i = 0; i < s->nr_names; i++)
		print_frame(w, s->name[i], NULL);
	print_frame(w, EXPORT_UNKEPT, NULL);
}

static void print_head(struct jsonw *w, const char *name, const char *unit)
{
	jsonw__object(w, NULL);
	jsonw__str(w, "type", "sampled");
	jsonw__str(w, "name", name);
	jsonw__str(w, "unit", unit);
	jsonw__u64(w, "startValue", 0);
}

static void print_samples(struct jsonw *w, const struct export_frames *f)
{
	u32 class = f->nr; /* the frames of the size classes come after the others */

	jsonw__array(w, "samples");
	for (u32 i = 0; i < f->nr_stacks; i++) {
		const struct export_stack *s = &f->stack[i];

		for (u32 k = 0; k < s->g->nr_rows; k++) {
			jsonw__array(w, NULL);
			for (u32 d = 0; d < s->depth; d++)
				jsonw__u64(w, NULL, s->frame[d]);
			jsonw__u64(w, NULL, class ++);
			jsonw__end_array(w);
		}
	}
	jsonw__end_array(w);
}

static void print_profile(struct jsonw *w, const struct export_frames *f, enum weight by)
{
	u64 end = 0;

	print_head(w, weights[by].name, weights[by].unit);
	print_samples(w, f);
	jsonw__array(w, "weights");
	for (u32 i = 0; i < f->nr_stacks; i++) {
		const struct group *g = f->stack[i].g;

		for (u32 k = 0; k < g->nr_rows; k++) {
			u64 n = weight_of(g->row[k], by);

			jsonw__u64(w, NULL, n);
			end = add_up(end, n);
		}
	}
	jsonw__end_array(w);
	jsonw__u64(w, "endValue", end);
	jsonw__end_object(w);
}

static void print_name(struct jsonw *w, const struct recording *r)
{
	const struct m_target *t = r->nr_targets ? &r->target[0] : NULL;

	jsonw__str(w, "name", t && t->cmdline && *t->cmdline ? t->cmdline : "hbprof");
	jsonw__str(w, "exporter", "hbprof " HBPROF_VERSION);
}

static void print_stack(struct jsonw *w, const struct m_stacks *s, const struct m_stack *st,
			u32 first_frame)
{
	jsonw__array(w, NULL);
	for (u32 i = 0; i < st->nr_frames; i++)
		jsonw__u64(w, NULL, (u64)first_frame + s->frame[st->first + i]);
	if (!st->nr_frames)
		jsonw__u64(w, NULL, (u64)first_frame + s->nr_names);
	jsonw__end_array(w);
}

/* first_frame: of those of print_stack_frames(). */
static void print_stacks(struct jsonw *w, const struct m_stacks *s, u32 first_frame)
{
	u64 end = 0;

	print_head(w, "CPU time (samples)", "nanoseconds");
	jsonw__array(w, "samples");
	for (u32 i = 0; i < s->nr_stacks; i++)
		print_stack(w, s, &s->stack[i], first_frame);
	jsonw__end_array(w);
	jsonw__array(w, "weights");
	for (u32 i = 0; i < s->nr_stacks; i++) {
		u64 ns = export_stack_ns(s, &s->stack[i]);

		jsonw__u64(w, NULL, ns);
		end = add_up(end, ns);
	}
	jsonw__end_array(w);
	jsonw__u64(w, "endValue", end);
	jsonw__end_object(w);
}

int export_speedscope(struct view *v, enum export_of of)
{
	bool calls = of != EXPORT_STACKS;
	bool stacks = of != EXPORT_CALLS && v->r->stacks.samples;
	struct export_frames f = {0};
	struct jsonw w;
	int err = calls ? export_frames__build(&f, v) : 0;

	if (err)
		return err;
	jsonw__init(&w, v->out, false);
	jsonw__object(&w, NULL);
	jsonw__str(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	print_name(&w, v->r);
	jsonw__u64(&w, "activeProfileIndex", 0);
	jsonw__object(&w, "shared");
	jsonw__array(&w, "frames");
	print_call_frames(&w, &f);
	if (stacks)
		print_stack_frames(&w, &v->r->stacks);
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	jsonw__array(&w, "profiles");
	for (u32 i = 0; calls && i < WEIGHT_NR; i++)
		print_profile(&w, &f, i);
	if (stacks)
		print_stacks(&w, &v->r->stacks, nr_call_frames(&f));
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	strbuf__addc(v->out, '\n');
	export_frames__fini(&f);
	return 0;
}
