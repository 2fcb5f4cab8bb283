// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * demangle.c - libiberty's demanglers behind one call. libiberty bounds recursion itself (2,048
 * levels), but not the result: by back references a name of 1 KB may stand for gigabytes. So the
 * printing interface is used, and left by longjmp() at a limit; it holds no memory of its own.
 */
#include "sym/demangle.h"

#include "util/strbuf.h"

#include <setjmp.h>
#include <string.h>

/* Not <demangle.h>: ours has that name. */
#include <libiberty/demangle.h>

#define NAME_MAX_BYTES	 8192
#define RESULT_MAX_BYTES 65536

struct sink {
	struct strbuf text;
	jmp_buf full;
};

static void take(const char *piece, size_t len, void *arg)
{
	struct sink *s = arg;

	strbuf__add(&s->text, piece, len);
	if (s->text.err)
		longjmp(s->full, 1);
}

bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* 1: s->text is the name. The sink is the caller's, as locals do not survive a longjmp(). */
static int demangle_into(struct sink *s, const char *mangled, int options)
{
	if (setjmp(s->full))
		return 0;
	/* Rust first: its legacy names are C++ names with a hash as the last part. */
	if (rust_demangle_callback(mangled, options, take, s))
		return 1;
	strbuf__reset(&s->text);
	return mangled[1] == 'Z' && cplus_demangle_v3_callback(mangled, options, take, s);
}

static char *demangle_with(const char *mangled, int options)
{
	char *name = NULL;
	struct sink s;

	if (!is_mangled(mangled) || strnlen(mangled, NAME_MAX_BYTES) == NAME_MAX_BYTES)
		return NULL;
	strbuf__init(&s.text, RESULT_MAX_BYTES);
	if (demangle_into(&s, mangled, options) && s.text.len)
		name = strbuf__take(&s.text);
	strbuf__fini(&s.text);
	return name;
}

char *demangle(const char *mangled)
{
	return demangle_with(mangled, DMGL_PARAMS | DMGL_ANSI);
}

char *demangle_short(const char *mangled)
{
	return demangle_with(mangled, DMGL_NO_OPTS);
}
