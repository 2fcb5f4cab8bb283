/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opened.h - a file with all that is read of it, for the tests of the registry. */
#ifndef HBPROF_TEST_OPENED_H
#define HBPROF_TEST_OPENED_H

#include "sym/registry.h"
#include "symfile.h"

#define CODE(off) (SYMFILE_CODE + (off))

/* Registers as they are numbered on x86-64. */
enum { AX, CX, DX, BX, SP, BP, SI, DI };

struct opened {
	struct registry *r;
	struct image *im;
	struct symtab *t;
	struct buildinfo *build;
	struct func_list found;
	struct registry_report rep;
};

/* Takes the image; the registry is the built-in one. */
void opened__init(struct opened *o, struct image *im);
struct opened open_symfile(struct symfile *s);
void opened__close(struct opened *o);
void opened__match(struct opened *o);
/* The one function of that name; there must be one. */
const struct func *func_named(const struct opened *o, const char *name);
void assert_value(const struct hb_value *v, u8 kind, u8 reg, s32 add);
/* A library with some functions of cJSON, the first at CODE(0). */
struct symfile cjson_library(const char *soname);

#endif
