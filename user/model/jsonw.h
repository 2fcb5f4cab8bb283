/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jsonw.h - writes JSON into a string: captures and JSON reports. u64 come out exact. Errors (memory,
 * the string's limit) stay in the strbuf: check it once, at the end.
 *
 * A key is given for members of objects and is NULL for elements of arrays.
 */
#ifndef HBPROF_JSONW_H
#define HBPROF_JSONW_H

#include "model/model.h"
#include "util/strbuf.h"

struct jsonw {
	struct strbuf *b;
	u32 depth;
	bool first;  /* nothing written yet in the innermost object or array */
	bool indent; /* one member per line */
};

void jsonw__init(struct jsonw *w, struct strbuf *b, bool indent);
void jsonw__object(struct jsonw *w, const char *key);
void jsonw__array(struct jsonw *w, const char *key);
void jsonw__end_object(struct jsonw *w);
void jsonw__end_array(struct jsonw *w);

void jsonw__null(struct jsonw *w, const char *key);
void jsonw__bool(struct jsonw *w, const char *key, bool v);
void jsonw__str(struct jsonw *w, const char *key, const char *s); /* NULL: null */
void jsonw__u64(struct jsonw *w, const char *key, u64 v);	  /* M_NONE: null */
void jsonw__s64(struct jsonw *w, const char *key, s64 v);
void jsonw__u64_str(struct jsonw *w, const char *key, u64 v); /* "123"; M_NONE: null */
/* With that many decimals; NaN and infinities, which JSON lacks, as null. */
void jsonw__num(struct jsonw *w, const char *key, double v, int decimals);

#endif
