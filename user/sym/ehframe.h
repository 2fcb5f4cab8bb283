/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ehframe.h - where functions begin and end, by the unwind table: compilers write it for every
 * function, and stripping does not take it away. It has no names.
 */
#ifndef HBPROF_EHFRAME_H
#define HBPROF_EHFRAME_H

#include "target/image.h"

struct eh_range {
	u64 vaddr, end;
};

/*
 * The ranges of PT_GNU_EH_FRAME, by rising vaddr, none overlapping the one before; code in them may
 * be missing from the file. *out is the caller's to free(). 0, with *nr == 0 where there is no table,
 * or one in a form that no linker makes; -ENOMEM.
 */
int ehframe__ranges(const struct image *im, struct eh_range **out, size_t *nr);

#endif
