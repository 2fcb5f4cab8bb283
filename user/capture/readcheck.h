/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * readcheck.h - what must hold between the values of a capture, each of which is possible by itself.
 * A damaged or forged capture is refused here, with the place. The identity of the calls is not: it is
 * the reports' to say, as its breach would be a fault of the measurement.
 */
#ifndef HBPROF_READCHECK_H
#define HBPROF_READCHECK_H

#include "capture/readval.h"

/* A row that has just been read, rd->where being its place. */
void readcheck__row(struct readval *rd, const struct m_row *row);
/* The whole, once all is read: sums, order, duplicates. */
void readcheck__recording(struct readval *rd, const struct recording *r);

#endif
