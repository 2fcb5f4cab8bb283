/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text.h - foreign strings: names, paths and command lines come from files and processes and may
 * hold anything. A byte that is not UTF-8 is written as \xNN everywhere, so that a capture is valid
 * JSON and a replayed report equals the live one.
 */
#ifndef HBPROF_TEXT_H
#define HBPROF_TEXT_H

#include <hbprof/types.h>

#include "util/strbuf.h"

/* The code point at s and its length, 1 to 4; 0 when the bytes are not UTF-8 (overlong, surrogate,
 * above U+10FFFF, cut). s is terminated. */
u32 text_decode(const char *s, u32 *cp);
/* Appends s fit for a terminal: control bytes become \xNN, control, direction and invisible code
 * points \u{N}. */
void text_add_escaped(struct strbuf *b, const char *s);
/* Appends s as a JSON string, with its quotes. */
void text_add_json(struct strbuf *b, const char *s);
/* Code points in s: columns, but for wide and combining characters. */
u32 text_width(const char *s);

#endif
