/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registry.h - which functions are codecs, and how their payload size and errors are read.
 */
#ifndef HBPROF_REGISTRY_H
#define HBPROF_REGISTRY_H

#include "sym/buildinfo.h"
#include "sym/func.h"
#include "sym/symtab.h"

struct codec_entry {
	const char *codec, *op, *symbol;
	const char *library; /* native: soname without version, "libcjson"; Go: package path */
	enum hb_lang lang;
	const char *note;
	struct hb_value size_in, size_out, err; /* for e_machine's registers */
	enum hb_err_kind err_kind;
};

/* What the search in one image gave, for the "no codec found" message and `list`. */
struct registry_report {
	u32 nr_found;
	u32 nr_absent;	   /* entries of a package that is linked in, whose symbol is not there */
	char linked[512];  /* codecs whose package or soname was seen, comma separated */
};

/* Appends the codec functions of the image to out. build may be NULL (no Go). 0 or -errno. */
int registry__match(const struct image *im, const struct symtab *t, const struct buildinfo *build,
		    struct func_list *out, struct registry_report *rep);

/*
 * A function named by the user: NAME[=encode|decode]. Appends every function of that name (exact raw
 * or demangled name). 0 with *nr found (may be 0), -EINVAL: bad syntax or an unknown operation,
 * -ENOTSUP: an IFUNC or an import only.
 */
int registry__probe(const struct image *im, const struct symtab *t, const char *spec,
		    struct func_list *out, u32 *nr);

#endif
