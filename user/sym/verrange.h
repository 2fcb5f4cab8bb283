/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verrange.h - versions of libraries, and which of them an entry of the registry is for.
 *
 * A version is numbers with dots, "v" or "go" before them: "v2.4.0", "1.7.15", "go1.26.8". What
 * follows a minus sign or a letter makes it older than the same without ("v2.0.0-rc1", "go1.26rc1",
 * pseudo-versions); what follows a plus sign does not count.
 */
#ifndef HBPROF_VERRANGE_H
#define HBPROF_VERRANGE_H

#include <stdbool.h>

/* Negative, 0 or positive, as a is before, equal to or after b; missing numbers are 0. */
int version_cmp(const char *a, const char *b);
/* True for comparisons separated by blanks: ">=1.2 <2". They begin with <, <=, >, >= or =. */
bool version_range_valid(const char *range);
/* True if all of them hold. */
bool version_in_range(const char *version, const char *range);

#endif
