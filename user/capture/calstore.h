/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calstore.h - what a probe cost on this machine when a recording last measured it: `hbprof list` shows
 * it without measuring anything. A recording is never corrected with it.
 *
 * The file is a capture that holds nothing but facts of the machine and calibrations, and is believed as
 * little as any. It is calibration.hbp in $HBPROF_STATE, else in /var/lib/hbprof for root, else in
 * $XDG_STATE_HOME/hbprof or ~/.local/state/hbprof.
 */
#ifndef HBPROF_CALSTORE_H
#define HBPROF_CALSTORE_H

#include "model/model.h"

/* Keeps the last calibration of each pair of classes that the recording has; of others, what is kept
 * already, if it is of this machine. 0 or -errno; nothing is logged. */
int calstore__save(const struct recording *rec);
/*
 * What is kept, if it holds here and now: in *out, the caller's, are calibrations alone, m_cal.mono_ns
 * being the wall clock's time. 0 or -errno: -ENOENT
 * there is none; -ESTALE it is another machine's, kernel's or version's; -EPERM the file is one that others
 * may write; -EBADMSG. On failure why says so, to follow "n/a".
 */
int calstore__load(struct recording **out, char *why, size_t whylen);
/* The last one of a pair of classes, or NULL. */
const struct m_cal *calstore__pair(const struct recording *rec, u8 lang, u8 entry_class,
				   u8 exit_class);

#endif
