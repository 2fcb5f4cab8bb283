/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record.h - what `hbprof record` and `hbprof run` have in common: how it is measured, and what is made of it. */
#ifndef HBPROF_RECORD_H
#define HBPROF_RECORD_H

#include <argp.h>
#include <stdio.h>

#include "report/report.h"

struct spawned;
struct targets;

struct record_opts {
	u64 duration_ns, max_tasks, max_rows, max_sites, max_conns;
	u64 sample_hz;
	bool sched;
	const char *counters; /* NULL: the usual ones */
	bool no_stacks, requests, follow_go, sched_rates;
	const char **probe, **codecs;
	size_t nr_probes, nr_codecs;
	const char *output;
	enum report_format format;
	bool functions, no_live, quiet;
	u8 exit_by; /* enum plan_exit */
	int verbose;
	u64 start_mono_ns; /* of the command */
};

/* To be a child of a command's argp, with a struct record_opts as its input. */
extern const struct argp record_argp;

/* argc: of the command, which bounds the options that can be repeated. 0 or -ENOMEM. */
int record_opts__init(struct record_opts *o, int argc);
void record_opts__fini(struct record_opts *o);
/*
 * Measures the targets, writes the capture, prints the report; enum cmd_exit. child: NULL, or the command
 * that is one of them, held before its first instruction: it is let go once it is measured, the recording
 * ends with it, and the report goes to stderr, as stdout is its own.
 */
int record(const struct record_opts *o, struct targets *t, struct spawned *child);

#endif
