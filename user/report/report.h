/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.h - a recording as text: the table for people, JSON and CSV for programs. The same code
 * prints a recording that has just ended and one that was read from a capture, so both come out
 * byte for byte the same.
 */
#ifndef HBPROF_REPORT_H
#define HBPROF_REPORT_H

#include <stdio.h>

#include "model/model.h"

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV };
enum report_by { REPORT_BY_CODEC, REPORT_BY_SIZE, REPORT_BY_PROCESS };

struct report_opts {
	enum report_format format;
	enum report_by by; /* of the table; BY_SIZE of CSV, too; JSON always has all */
	bool wide;	   /* full names, one line per row, whatever the width */
	u32 width;	   /* columns of the reader's terminal; 0: one line per row */
};

/* Writes the report and flushes f. 0 or -errno (-EPIPE, -ENOSPC: the reader or the disk is gone;
 * -ENOMEM, -EFBIG). Nothing is logged. */
int report__print(const struct recording *r, const struct report_opts *opts, FILE *f);
/* Columns of the terminal behind fd: $COLUMNS, else the terminal's size, else 0. */
u32 report_width(int fd);

#endif
