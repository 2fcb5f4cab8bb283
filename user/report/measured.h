/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* measured.h - how long calls could be seen that are of several processes. */
#ifndef HBPROF_MEASURED_H
#define HBPROF_MEASURED_H

#include "model/model.h"

/* ns in which the calls of at least one of these rows could be seen; M_NONE: not known. Rows of one
 * process have the same time. Processes that ran one after the other were seen for their times
 * together, those that ran beside each other for the time of one. */
u64 rows_measured_ns(const struct recording *r, const struct m_row *const *row, u32 nr);
/* ns for which a process was measured; M_NONE: the recording does not tell, see m_target. */
u64 target_measured_ns(const struct m_target *t);

#endif
