// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* opened.c - opens made-up files, and looks at what the registry found in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "opened.h"

#include <stdlib.h>
#include <string.h>

void opened__init(struct opened *o, struct image *im)
{
	int go_err;

	*o = (struct opened){.im = im};
	func_list__init(&o->found);
	assert_int_equal(registry__open(&o->r), 0);
	assert_int_equal(symtab__open(im, &o->t, &go_err), 0);
	assert_int_equal(go_err, 0);
	if (buildinfo__open(im, &o->build))
		o->build = NULL;
}

struct opened open_symfile(struct symfile *s)
{
	struct elf_blob file;
	struct image *im;
	struct opened o;

	symfile__build(s, &file);
	assert_int_equal(image__open_mem(file.bytes, file.len, &im), 0);
	elf_blob__free(&file);
	opened__init(&o, im);
	return o;
}

void opened__close(struct opened *o)
{
	func_list__fini(&o->found);
	registry__close(o->r);
	buildinfo__close(o->build);
	symtab__close(o->t);
	image__close(o->im);
}

void opened__match(struct opened *o)
{
	assert_int_equal(registry__match(o->r, o->im, o->t, o->build, &o->found, &o->rep), 0);
	assert_int_equal(o->rep.nr_found, o->found.nr);
}

const struct func *func_named(const struct opened *o, const char *name)
{
	const struct func *f = NULL;

	for (size_t i = 0; i < o->found.nr; i++) {
		if (strcmp(o->found.v[i].name, name))
			continue;
		if (f)
			fail_msg("%s is there twice", name);
		f = &o->found.v[i];
	}
	if (!f)
		fail_msg("%s is not there", name);
	return f;
}

void assert_value(const struct hb_value *v, u8 kind, u8 reg, s32 add)
{
	assert_int_equal(v->kind, kind);
	assert_int_equal(v->reg, reg);
	assert_int_equal(v->add, add);
}

static const struct symfile_elf cjson_dyn[] = {
	{SYMFILE_SYM("cJSON_Parse", CODE(0), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("cJSON_ParseWithLengthOpts", CODE(0x20), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("cJSON_PrintUnformatted", CODE(0x40), 0x20, STT_FUNC), .dyn = true},
	{SYMFILE_SYM("cJSON_PrintPreallocated", CODE(0x60), 0x20, STT_FUNC), .dyn = true},
};

struct symfile cjson_library(const char *soname)
{
	return (struct symfile){
		.type = ET_DYN,
		.elf = cjson_dyn,
		.nr_elf = sizeof(cjson_dyn) / sizeof(cjson_dyn[0]),
		.soname = soname,
		.dynamic = true,
	};
}
