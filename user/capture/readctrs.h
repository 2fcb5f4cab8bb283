/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* readctrs.h - the counters of a capture: their list, which comes first, and what rows and intervals
 * have of them. What is missing was not counted. Errors: as readval.h says. */
#ifndef HBPROF_READCTRS_H
#define HBPROF_READCTRS_H

#include "capture/readval.h"

void read_counters(struct readval *rd, const cJSON *doc, struct recording *r);
void read_row_ctrs(struct readval *rd, const cJSON *from, const struct recording *r,
		   struct m_row *row);
/* The rows must have been read. */
void read_interval_ctrs(struct readval *rd, const cJSON *from, const struct recording *r,
			struct m_interval *iv);

#endif
