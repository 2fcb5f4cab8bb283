// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nearest.c - edit distance between short words. What the words are is the caller's business. */
#include "util/nearest.h"

#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

size_t nearest_distance(const char *a, const char *b)
{
	size_t la = strnlen(a, NEAREST_MAX + 1), lb = strnlen(b, NEAREST_MAX + 1);
	size_t d[NEAREST_MAX + 1][NEAREST_MAX + 1];

	if (la > NEAREST_MAX || lb > NEAREST_MAX)
		return NEAREST_MAX + 1;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
				       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[la][lb];
}

bool nearest_match(const char *typed, const char *known)
{
	size_t len = strlen(typed);

	if (len >= 2 && !strncmp(typed, known, len))
		return true;
	return nearest_distance(typed, known) <= (strlen(known) >= 6 ? 2 : 1);
}
