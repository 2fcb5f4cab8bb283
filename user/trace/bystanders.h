/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bystanders.h - the calibration's probes get the company that the targets' have. Where several processes
 * that run one file are measured, each has a link of its own for it, and at a hit the kernel asks all of
 * them, one after the other (handler_chain(), kernel/events/uprobes.c): some 14 ns for each, of which
 * those between the programs of an entry and of an exit lie inside the measured interval. So hbprof's own
 * functions are probed as many times more, for a process that never runs them: then what is calibrated
 * contains it.
 *
 * One number for all files, that of the file with the most processes: what is shared by fewer is corrected
 * for more than it has.
 */
#ifndef HBPROF_BYSTANDERS_H
#define HBPROF_BYSTANDERS_H

#include "trace/attach.h"
#include "trace/calib.h"

struct session;

struct bystanders {
	struct attach links;
	unsigned long off[CALIB_SITES]; /* of the calibration's probes, in hbprof's own file */
	u32 nr_offs, nr_covered;	/* covered: that have company */
	u32 nr;				/* how many there are beside each of them */
	u32 most;			/* that there were wanted */
};

/* A probe of the calibration has been placed. */
void bystanders__note(struct bystanders *b, unsigned long off);
/* As many as the targets have now; before a calibration. Without them it says less, and that is logged. */
void bystanders__match(struct session *s);
/* At the end: a warning, if there were so many that what cannot be calibrated is seen in the times. */
void bystanders__tell(struct session *s);

#endif
