/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * merged.h - several recordings as one: the same functions and processes become one row, sums are
 * exact, intervals and calibrations follow each other.
 */
#ifndef HBPROF_MERGED_H
#define HBPROF_MERGED_H

#include "model/model.h"

/*
 * 0 or -errno with a sentence in why: -EINVAL recordings that do not fit together (another machine,
 * kernel or way of probing; an executable of the same path that is another build), -EOVERFLOW sums
 * that are no longer exact, -ENOMEM. names: of the files, for the sentence. *out is the caller's.
 */
int recordings_merge(const struct recording *const *r, const char *const *names, u32 nr,
		     struct recording **out, char *why, size_t len);

#endif
