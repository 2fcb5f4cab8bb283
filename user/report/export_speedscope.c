// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_speedscope.c - speedscope's file format (file-format-schema.json of speedscope 1.25): three
 * "sampled" profiles over the same stacks, weighted by exclusive time, inclusive time and calls. The
 * last frame of a stack is the payload's size class, a frame of its own under each function.
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

static void print_frames(struct jsonw *w, const struct export_frames *f)
{
	char name[96], class[64];

	jsonw__object(w, "shared");
	jsonw__array(w, "frames");
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
	jsonw__end_array(w);
	jsonw__end_object(w);
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

	jsonw__object(w, NULL);
	jsonw__str(w, "type", "sampled");
	jsonw__str(w, "name", weights[by].name);
	jsonw__str(w, "unit", weights[by].unit);
	jsonw__u64(w, "startValue", 0);
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

int export_speedscope(struct view *v)
{
	struct export_frames f;
	struct jsonw w;
	int err;

	err = export_frames__build(&f, v);
	if (err)
		return err;
	jsonw__init(&w, v->out, false);
	jsonw__object(&w, NULL);
	jsonw__str(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	print_name(&w, v->r);
	jsonw__u64(&w, "activeProfileIndex", 0);
	print_frames(&w, &f);
	jsonw__array(&w, "profiles");
	for (u32 i = 0; i < WEIGHT_NR; i++)
		print_profile(&w, &f, i);
	jsonw__end_array(&w);
	jsonw__end_object(&w);
	strbuf__addc(v->out, '\n');
	export_frames__fini(&f);
	return 0;
}
