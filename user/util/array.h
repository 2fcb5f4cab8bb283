/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* array.h - growing arrays of plain structs, overflow-checked. */
#ifndef HBPROF_ARRAY_H
#define HBPROF_ARRAY_H

#include <stddef.h>

/* Makes room for one more element of `size` bytes in the array *v of nr elements and capacity *cap.
 * 0 or -ENOMEM; *v is valid either way. */
int array_grow(void **v, size_t nr, size_t *cap, size_t size);
/* calloc() of a * b with the overflow check named in the style guide; NULL on overflow. */
void *array_alloc(size_t nr, size_t size);

#endif
