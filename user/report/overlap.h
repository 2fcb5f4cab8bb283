/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * overlap.h - do two recordings hold the same calls? They do when they were made at the same time, by the
 * real-time clock (the monotonic one begins anew at each boot), of the same process.
 */
#ifndef HBPROF_OVERLAP_H
#define HBPROF_OVERLAP_H

#include "model/model.h"

/* What a merged recording was merged from counts, not when the merged one would have ended. */
bool recordings_overlap(const struct recording *a, const struct recording *b);
/*
 * Sets the spans of what recordings are merged into. Where one does not tell its own, or there are too many,
 * to does not either. 0 or -ENOMEM.
 */
int recordings_spans(struct recording *to, const struct recording *const *r, u32 nr);
/* It was merged, and does not tell when its parts were recorded: all after its beginning may be in it. */
bool recording_hides_spans(const struct recording *r);

#endif
