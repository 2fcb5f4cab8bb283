/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registry.h - which functions are codecs, and how their payload size and errors are read.
 *
 * All functions of an operation that a library offers are given, also where one calls another (a
 * codec's row counts the outermost). A function whose size_in and size_out are NONE may get its size
 * from a nested call of the same codec and operation: it is handed up to the outermost function, and
 * that one's size_in.add is added to it, once (cJSON_Parse: -1, as the function inside counts the
 * terminator).
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
	u32 nr_absent;	  /* entries of a package that is linked in, whose symbol is not there */
	char linked[512]; /* codecs whose package or soname was seen, comma separated; with nr_found
			     0: never called, inlined everywhere, or in a library of its own */
};

/* Appends the codec functions of the image to out. build may be NULL (no Go). 0 or -errno: -ENOTSUP:
 * the registers of that machine are not known. */
int registry__match(const struct image *im, const struct symtab *t, const struct buildinfo *build,
		    struct func_list *out, struct registry_report *rep);

/*
 * A function named by the user: NAME[=encode|decode]. Appends every function of that name (exact raw
 * name, else demangled with or without parameter types). Names may contain '=' themselves. 0 with
 * *nr found (may be 0), -EINVAL: no name, or the word after the last '=' is neither an operation nor
 * part of a function's name here, -ENOTSUP: an IFUNC or an import only. The caller knows the other
 * images and says it.
 *
 * Go's compiler makes second bodies under the same name (ABI wrappers); they are left out. A name
 * may still have several bodies, and one without a return: the site finder refuses that.
 */
int registry__probe(const struct image *im, const struct symtab *t, const char *spec,
		    struct func_list *out, u32 *nr);

#endif
