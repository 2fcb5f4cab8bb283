/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* merged_time.h - how long the calls of merged rows could be seen, in all recordings together. */
#ifndef HBPROF_MERGED_TIME_H
#define HBPROF_MERGED_TIME_H

#include "model/model.h"

/* Adds to measured_ns of the rows of to, which are 0. target, func: where those of the recordings went, one
 * recording after the other. 0, -ENOMEM, or -EOVERFLOW: the sums are too large to be exact. */
int merged_measured(struct recording *to, const struct recording *const *r, u32 nr,
		    const u32 *target, const u32 *func);

#endif
