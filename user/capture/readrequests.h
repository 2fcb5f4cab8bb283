/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* readrequests.h - the requests of a capture: part of capture__read(). */
#ifndef HBPROF_READREQUESTS_H
#define HBPROF_READREQUESTS_H

#include "capture/readval.h"

/* Functions and targets must have been read. What it allocates belongs to r, on failure too. */
void read_requests(struct readval *rd, const cJSON *doc, struct recording *r);

#endif
