// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * array.c - memory for arrays whose number of elements comes from a file or a kernel: every size is
 * multiplied with an overflow check. What the elements own is left to their modules.
 */
#include "util/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int array_grow(void **v, size_t nr, size_t *cap, size_t size)
{
	size_t want, bytes;
	void *grown;

	if (nr < *cap)
		return 0;
	/* By half, so that what was freed before can be used again for the next growth. */
	if (__builtin_add_overflow(nr, nr / 2 + 8, &want) ||
	    __builtin_mul_overflow(want, size, &bytes) || bytes > PTRDIFF_MAX)
		return -ENOMEM;
	grown = realloc(*v, bytes ? bytes : 1);
	if (!grown)
		return -ENOMEM;
	*v = grown;
	*cap = want;
	return 0;
}

void *array_alloc(size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	/* calloc(0) may give NULL, which would read as a failure. */
	return calloc(1, bytes ? bytes : 1);
}
