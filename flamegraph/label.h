/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * label.h - foreign names as XML text that shows what is in them.
 *
 * A byte that is not UTF-8, and a control byte, become \xNN; a code point that shows nothing, turns
 * the direction of its neighbours or is not allowed in XML 1.0 becomes \u{N}; & < > " ' become
 * entities, so that no name ends a tag, an attribute or a CDATA section.
 */
#ifndef HBPROF_LABEL_H
#define HBPROF_LABEL_H

#include <hbprof/types.h>

#include "util/strbuf.h"

/* Appends the first max_bytes of name, less a code point that they would cut in two. True if that
 * was all of it. */
bool label_add(struct strbuf *out, const char *name, size_t max_bytes);
/* Appends what fits into a number of columns, with an ellipsis if it is not all: a code point or an
 * escape is never cut. East Asian wide characters are two columns. */
void label_add_columns(struct strbuf *out, const char *name, u32 columns);

#endif
