// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * export_pprof.c - a profile for `go tool pprof`: gzip of one Profile message. Fields and numbers are
 * those of proto/profile.proto in github.com/google/pprof (the release of 2024).
 *
 * Written by hand: the encoder is three functions, and protobuf-c would bring a compiler and a run-time
 * library for six messages that never change.
 *
 * Values of a sample: calls; exclusive time, which adds up; inclusive time, which counts a probed call
 * inside another one twice. So exclusive is what pprof shows unless told otherwise. Size class, outcome
 * and process are labels, not frames: pprof adds up frames of one name wherever they stand.
 */
#include "report/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/gz.h"
#include "model/text.h"

enum { /* field numbers */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_TIME_NS = 9,
       PROFILE_DURATION_NS = 10,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_TYPE = 14,
       VALUE_TYPE = 1,
       VALUE_UNIT = 2,
       SAMPLE_LOCATION = 1,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STR = 2,
       LABEL_NUM = 3,
       LABEL_UNIT = 4,
       LOCATION_ID = 1,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILE = 4,
};

struct pprof {
	struct strbuf out, msg, sub, packed; /* the profile; messages being built, by depth */
	u64 nr_strings;
};

/* ---- protobuf: a key is the field number << 3 | wire type, 0 varint or 2 bytes ---- */

static void put_varint(struct strbuf *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf__addc(b, (char)(v | 0x80));
	strbuf__addc(b, (char)v);
}

static void put_u64(struct strbuf *b, u32 field, u64 v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes(struct strbuf *b, u32 field, const char *bytes, size_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	strbuf__add(b, bytes, len);
}

/* A finished message as a field of the one around it. Its own errors go along. */
static void put_message(struct strbuf *b, u32 field, struct strbuf *msg)
{
	if (msg->err && !b->err)
		b->err = msg->err;
	put_bytes(b, field, msg->s, msg->len);
	strbuf__reset(msg);
}

/* ---- the profile ---- */

/* Values are int64. */
static u64 value(u64 n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

/* The index of a new entry of the string table; the first one must be "". */
static u64 add_string(struct pprof *p, const char *s)
{
	put_bytes(&p->out, PROFILE_STRING, s, strlen(s));
	return p->nr_strings++;
}

static void add_type(struct pprof *p, u64 type, u64 unit)
{
	put_u64(&p->msg, VALUE_TYPE, type);
	put_u64(&p->msg, VALUE_UNIT, unit);
	put_message(&p->out, PROFILE_SAMPLE_TYPE, &p->msg);
}

static void add_types(struct pprof *p)
{
	u64 ns = add_string(p, "nanoseconds"), exclusive = add_string(p, "exclusive");

	add_type(p, add_string(p, "calls"), add_string(p, "count"));
	add_type(p, exclusive, ns);
	add_type(p, add_string(p, "latency"), ns);
	put_u64(&p->out, PROFILE_DEFAULT_TYPE, exclusive);
}

/* Location and function of a frame have its index + 1 for an id: 0 is not allowed. */
static void add_frame(struct pprof *p, u32 i, const struct export_frame *f)
{
	u64 name = add_string(p, f->name), file = 0;
	struct strbuf path;

	if (f->file) {
		strbuf__init(&path, p->out.max);
		text_add_escaped(&path, f->file);
		file = add_string(p, path.s ? path.s : "");
		strbuf__fini(&path);
	}
	put_u64(&p->msg, FUNCTION_ID, i + 1);
	put_u64(&p->msg, FUNCTION_NAME, name);
	put_u64(&p->msg, FUNCTION_SYSTEM_NAME, name);
	put_u64(&p->msg, FUNCTION_FILE, file);
	put_message(&p->out, PROFILE_FUNCTION, &p->msg);

	put_u64(&p->sub, LINE_FUNCTION, i + 1);
	put_u64(&p->msg, LOCATION_ID, i + 1);
	put_message(&p->msg, LOCATION_LINE, &p->sub);
	put_message(&p->out, PROFILE_LOCATION, &p->msg);
}

struct labels {
	u64 bytes, size, outcome, pid; /* keys */
	u64 outcomes[HB_OUTCOME_NR], classes[HB_SIZE_CLASSES];
};

static void labels__init(struct labels *l, struct pprof *p)
{
	char buf[64];

	l->bytes = add_string(p, "bytes");
	l->size = add_string(p, "size");
	l->outcome = add_string(p, "outcome");
	l->pid = add_string(p, "pid");
	for (u32 i = 0; i < HB_OUTCOME_NR; i++)
		l->outcomes[i] = add_string(p, hb_outcome_names[i]);
	for (u32 i = 0; i < HB_SIZE_CLASSES; i++)
		l->classes[i] = add_string(p, export_size_class(buf, i));
}

static void add_label(struct pprof *p, u64 key, u64 str)
{
	put_u64(&p->sub, LABEL_KEY, key);
	put_u64(&p->sub, LABEL_STR, str);
	put_message(&p->msg, SAMPLE_LABEL, &p->sub);
}

static void add_sample(struct pprof *p, const struct labels *l, const struct export_stack *s,
		       const struct m_row *row, u64 pid)
{
	u64 least, largest;

	for (u32 i = s->depth; i--;) /* the leaf first */
		put_varint(&p->packed, s->frame[i] + 1);
	put_message(&p->msg, SAMPLE_LOCATION, &p->packed);
	put_varint(&p->packed, value(row->count));
	put_varint(&p->packed, value(export_row_ns(row, true)));
	put_varint(&p->packed, value(export_row_ns(row, false)));
	put_message(&p->msg, SAMPLE_VALUE, &p->packed);

	size_class_range(row->size_class, &least, &largest);
	if (least != M_NONE && least) { /* a number of 0 is taken for none */
		put_u64(&p->sub, LABEL_KEY, l->bytes);
		put_u64(&p->sub, LABEL_NUM, least);
		put_u64(&p->sub, LABEL_UNIT, l->bytes);
		put_message(&p->msg, SAMPLE_LABEL, &p->sub);
	}
	if (s->g->func) {
		add_label(p, l->size, l->classes[row->size_class % HB_SIZE_CLASSES]);
		add_label(p, l->outcome, l->outcomes[row->outcome % HB_OUTCOME_NR]);
	}
	if (pid)
		add_label(p, l->pid, pid);
	put_message(&p->out, PROFILE_SAMPLE, &p->msg);
}

static void add_samples(struct pprof *p, const struct export_frames *f)
{
	struct labels l;
	char buf[16];

	labels__init(&l, p);
	for (u32 i = 0; i < f->nr_stacks; i++) {
		const struct group *g = f->stack[i].g;
		u64 pid = 0;

		if (g->target) {
			snprintf(buf, sizeof(buf), "%u", g->target->pid);
			pid = add_string(p, buf);
		}
		for (u32 k = 0; k < g->nr_rows; k++)
			add_sample(p, &l, &f->stack[i], g->row[k], pid);
	}
}

static void add_head(struct pprof *p, const struct recording *r)
{
	char buf[256];

	if (r->begin_wall_ns != M_NONE)
		put_u64(&p->out, PROFILE_TIME_NS, value(r->begin_wall_ns));
	if (r->begin_mono_ns != M_NONE && r->end_mono_ns != M_NONE)
		put_u64(&p->out, PROFILE_DURATION_NS, value(r->end_mono_ns - r->begin_mono_ns));
	snprintf(buf, sizeof(buf), "hbprof %.64s: codec, operation, function",
		 r->version ? r->version : "(version not known)");
	put_u64(&p->out, PROFILE_COMMENT, add_string(p, buf));
	put_u64(&p->out, PROFILE_COMMENT,
		add_string(p, "exclusive adds up; latency has calls inside other calls twice"));
}

static int pack(struct pprof *p, struct strbuf *out)
{
	char *packed;
	size_t len;
	int err = p->out.err;

	if (!err)
		err = gz_pack(p->out.s, p->out.len, &packed, &len);
	if (err)
		return err;
	strbuf__add(out, packed, len);
	free(packed);
	return 0;
}

int export_pprof(struct view *v)
{
	struct export_frames f;
	struct pprof p = {0};
	int err;

	err = export_frames__build(&f, v);
	if (err)
		return err;
	strbuf__init(&p.out, v->out->max);
	strbuf__init(&p.msg, v->out->max);
	strbuf__init(&p.sub, v->out->max);
	strbuf__init(&p.packed, v->out->max);
	add_string(&p, "");
	add_types(&p);
	add_head(&p, v->r);
	for (u32 i = 0; i < f.nr; i++)
		add_frame(&p, i, &f.frame[i]);
	add_samples(&p, &f);
	err = pack(&p, v->out);
	strbuf__fini(&p.out);
	strbuf__fini(&p.msg);
	strbuf__fini(&p.sub);
	strbuf__fini(&p.packed);
	export_frames__fini(&f);
	return err;
}
