// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_pprof.c - a profile for `go tool pprof`: of the measured calls, or of the CPU stacks. One
 * profile cannot hold both, as pprof adds up all samples of a type: those of calls are no stacks.
 *
 * Values of calls: calls; exclusive time, which adds up; inclusive time, which counts a probed call
 * inside another one twice. So exclusive is what pprof shows unless told otherwise. Size class, outcome
 * and process are labels, not frames: pprof adds up frames of one name wherever they stand.
 *
 * Values of stacks: samples, and the CPU time that they stand for, as in the CPU profiles of Go.
 */
#include "report/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pprofw.h"

static void add_head(struct pprofw *p, const struct recording *r, const char *what)
{
	u64 duration_ns = M_NONE;
	char buf[256];

	if (r->begin_mono_ns != M_NONE && r->end_mono_ns != M_NONE)
		duration_ns = r->end_mono_ns - r->begin_mono_ns;
	pprofw__time(p, r->begin_wall_ns, duration_ns);
	snprintf(buf, sizeof(buf), "hbprof %.64s: %s",
		 r->version ? r->version : "(version not known)", what);
	pprofw__comment(p, pprofw__string(p, buf));
}

static u64 add_pid(struct pprofw *p, const struct m_target *t)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%u", t->pid);
	return pprofw__string(p, buf);
}

/* ---- calls ---- */

struct labels {
	u64 bytes, size, outcome, pid; /* keys */
	u64 outcomes[HB_OUTCOME_NR], classes[HB_SIZE_CLASSES];
};

static void labels__init(struct labels *l, struct pprofw *p)
{
	char buf[64];

	l->bytes = pprofw__string(p, "bytes");
	l->size = pprofw__string(p, "size");
	l->outcome = pprofw__string(p, "outcome");
	l->pid = pprofw__string(p, "pid");
	for (u32 i = 0; i < HB_OUTCOME_NR; i++)
		l->outcomes[i] = pprofw__string(p, hb_outcome_names[i]);
	for (u32 i = 0; i < HB_SIZE_CLASSES; i++)
		l->classes[i] = pprofw__string(p, export_size_class(buf, i));
}

static void add_sample(struct pprofw *p, const struct labels *l, const struct export_stack *s,
		       const struct m_row *row, u64 pid)
{
	u64 v[] = {row->count, export_row_ns(row, true), export_row_ns(row, false)};
	u64 least, largest;

	for (u32 i = s->depth; i--;)
		pprofw__stack_frame(p, s->frame[i]);
	pprofw__values(p, v, 3);
	size_class_range(row->size_class, &least, &largest);
	if (least != M_NONE && least) /* a number of 0 is taken for none */
		pprofw__label_num(p, l->bytes, least, l->bytes);
	if (s->g->func) {
		pprofw__label(p, l->size, l->classes[row->size_class % HB_SIZE_CLASSES]);
		pprofw__label(p, l->outcome, l->outcomes[row->outcome % HB_OUTCOME_NR]);
	}
	if (pid)
		pprofw__label(p, l->pid, pid);
	pprofw__end_sample(p);
}

static void add_samples(struct pprofw *p, const struct export_frames *f)
{
	struct labels l;

	labels__init(&l, p);
	for (u32 i = 0; i < f->nr_stacks; i++) {
		const struct group *g = f->stack[i].g;
		u64 pid = g->target ? add_pid(p, g->target) : 0;

		for (u32 k = 0; k < g->nr_rows; k++)
			add_sample(p, &l, &f->stack[i], g->row[k], pid);
	}
}

static int add_calls(struct pprofw *p, const struct view *v)
{
	u64 ns = pprofw__string(p, "nanoseconds"), exclusive = pprofw__string(p, "exclusive");
	struct export_frames f;
	int err;

	err = export_frames__build(&f, v);
	if (err)
		return err;
	pprofw__sample_type(p, pprofw__string(p, "calls"), pprofw__string(p, "count"));
	pprofw__sample_type(p, exclusive, ns);
	pprofw__sample_type(p, pprofw__string(p, "latency"), ns);
	pprofw__default_type(p, exclusive);
	add_head(p, v->r, "codec, operation, function");
	pprofw__comment(p,
			pprofw__string(p, "exclusive adds up; latency has calls inside other calls "
					  "twice"));
	for (u32 i = 0; i < f.nr; i++)
		pprofw__frame(p, i, f.frame[i].name, f.frame[i].file);
	add_samples(p, &f);
	export_frames__fini(&f);
	return 0;
}

/* ---- CPU stacks ---- */

struct stack_labels {
	u64 codec, function, pid; /* keys */
	u64 *codecs, *functions;  /* by function; */
	u64 *pids;		  /* by process */
};

static void stack_labels__fini(struct stack_labels *l)
{
	free(l->codecs);
	free(l->functions);
	free(l->pids);
}

static int stack_labels__init(struct stack_labels *l, struct pprofw *p, const struct recording *r)
{
	char *call;

	*l = (struct stack_labels){0};
	l->codecs = calloc((size_t)r->nr_funcs + 1, sizeof(*l->codecs));
	l->functions = calloc((size_t)r->nr_funcs + 1, sizeof(*l->functions));
	l->pids = calloc((size_t)r->nr_targets + 1, sizeof(*l->pids));
	if (!l->codecs || !l->functions || !l->pids)
		return -ENOMEM;
	l->codec = pprofw__string(p, "codec");
	l->function = pprofw__string(p, "function");
	l->pid = pprofw__string(p, "pid");
	for (u32 i = 0; i < r->nr_funcs; i++) {
		call = export_call_name(&r->func[i]);
		if (!call)
			return -ENOMEM;
		l->codecs[i] = pprofw__string(p, call);
		l->functions[i] = pprofw__string(p, r->func[i].name ? r->func[i].name : "");
		free(call);
	}
	for (u32 i = 0; i < r->nr_targets; i++)
		l->pids[i] = add_pid(p, &r->target[i]);
	return 0;
}

static void add_stack(struct pprofw *p, const struct stack_labels *l, const struct m_stacks *s,
		      const struct m_stack *st)
{
	u64 v[] = {st->count, export_stack_ns(s, st)};

	for (u32 i = st->nr_frames; i--;)
		pprofw__stack_frame(p, s->frame[st->first + i]);
	if (!st->nr_frames)
		pprofw__stack_frame(p, s->nr_names); /* the frame behind the names */
	pprofw__values(p, v, 2);
	if (st->func != M_NO_FUNC) {
		pprofw__label(p, l->codec, l->codecs[st->func]);
		pprofw__label(p, l->function, l->functions[st->func]);
	}
	pprofw__label(p, l->pid, l->pids[st->target]);
	pprofw__end_sample(p);
}

static int add_stacks(struct pprofw *p, const struct view *v)
{
	const struct m_stacks *s = &v->r->stacks;
	u64 ns = pprofw__string(p, "nanoseconds"), cpu = pprofw__string(p, "cpu");
	struct stack_labels l;
	int err;

	err = stack_labels__init(&l, p, v->r);
	if (err)
		goto out;
	pprofw__sample_type(p, pprofw__string(p, "samples"), pprofw__string(p, "count"));
	pprofw__sample_type(p, cpu, ns);
	pprofw__default_type(p, cpu);
	pprofw__period(p, cpu, ns, s->frequency_hz ? 1000000000u / s->frequency_hz : 0);
	add_head(p, v->r, "CPU stacks; the label codec is the innermost measured call");
	for (u32 i = 0; i < s->nr_names; i++)
		pprofw__frame(p, i, s->name[i], NULL);
	pprofw__frame(p, s->nr_names, EXPORT_UNKEPT, NULL);
	for (u32 i = 0; i < s->nr_stacks; i++)
		add_stack(p, &l, s, &s->stack[i]);
out:
	stack_labels__fini(&l);
	return err;
}

static int write_profile(struct view *v, int (*add)(struct pprofw *p, const struct view *v))
{
	struct pprofw p;
	int err;

	pprofw__init(&p, v->out->max);
	err = add(&p, v);
	if (!err)
		err = pprofw__pack(&p, v->out);
	pprofw__fini(&p);
	return err;
}

int export_pprof(struct view *v, enum export_of of)
{
	return write_profile(v, of == EXPORT_STACKS ? add_stacks : add_calls);
}
