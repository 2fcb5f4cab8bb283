/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nearest.h - how far a mistyped word is from a known one: for "did you mean" messages. */
#ifndef HBPROF_NEAREST_H
#define HBPROF_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_MAX 32 /* longest word compared, in bytes */

/* Single-character insertions, deletions, replacements and swaps of neighbours that turn a into b
 * (optimal string alignment). A word longer than NEAREST_MAX is NEAREST_MAX + 1 away from all. */
size_t nearest_distance(const char *a, const char *b);
/* True if typed is probably meant to be known: its beginning (two letters or more), or at most one
 * change away, two where known has six letters or more. */
bool nearest_match(const char *typed, const char *known);

#endif
