/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprofw.h - writes a Profile message of pprof: export_pprof.c says what is in it. Fields and numbers
 * are those of proto/profile.proto in github.com/google/pprof (the release of 2024).
 *
 * Written by hand: the encoder is three functions, and protobuf-c would bring a compiler and a run-time
 * library for six messages that never change.
 *
 * Errors (memory, the limit) stay in the buffers: pprofw__pack() returns them.
 */
#ifndef HBPROF_PPROFW_H
#define HBPROF_PPROFW_H

#include <hbprof/types.h>

#include "util/strbuf.h"

struct pprofw {
	struct strbuf out, msg, sub, packed; /* the profile; messages being built, by depth */
	u64 nr_strings;
};

void pprofw__init(struct pprofw *p, size_t max);
void pprofw__fini(struct pprofw *p);
/* The compressed profile, appended to out. 0, -ENOMEM, -EFBIG. */
int pprofw__pack(struct pprofw *p, struct strbuf *out);

/* The index of a new entry of the string table; 0 is "", which is there already. */
u64 pprofw__string(struct pprofw *p, const char *s);
/* What the values of a sample are, in their order. */
void pprofw__sample_type(struct pprofw *p, u64 type, u64 unit);
/* What is shown unless told otherwise: a string that is the type of one of the values. */
void pprofw__default_type(struct pprofw *p, u64 type);
/* One sample is taken for each `period` of this kind. */
void pprofw__period(struct pprofw *p, u64 type, u64 unit, u64 period);
/* M_NONE: not known. */
void pprofw__time(struct pprofw *p, u64 begin_wall_ns, u64 duration_ns);
void pprofw__comment(struct pprofw *p, u64 text);
/* A function and its location. i: its index for pprofw__stack_frame(). file: NULL: not known. */
void pprofw__frame(struct pprofw *p, u32 i, const char *name, const char *file);

/* A sample is its frames, the innermost first, then its values, then its labels. */
void pprofw__stack_frame(struct pprofw *p, u32 i);
void pprofw__values(struct pprofw *p, const u64 *value, u32 nr);
void pprofw__label(struct pprofw *p, u64 key, u64 str);
void pprofw__label_num(struct pprofw *p, u64 key, u64 num, u64 unit);
void pprofw__end_sample(struct pprofw *p);

#endif
