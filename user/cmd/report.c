// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* report.c - `hbprof report FILE`: prints a capture as the run that wrote it did. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filearg.h"
#include "cmd/output.h"
#include "cmd/overwrite.h"
#include "report/report.h"
#include "util/log.h"

struct report_args {
	const char *file;
	const char *output; /* NULL, "-": stdout */
	struct report_opts opts;
};

/* What is printed, and how. */
struct report_job {
	const struct recording *r;
	const struct report_opts *opts;
};

enum { OPT_FORMAT = 0x100, OPT_BY, OPT_WIDE };

static const struct argp_option options[] = {
	{"format", OPT_FORMAT, "FORMAT", 0, "table, json or csv (default: table)", 1},
	{"by", OPT_BY, "WHAT", 0,
	 "codec: one row per function; size: the payload size classes of each as well; process: a "
	 "row per function and process (default: codec)",
	 1},
	{"wide", OPT_WIDE, NULL, 0,
	 "Full names and one line per row, however wide (default: fitted to the terminal)", 1},
	{"output", 'o', "FILE", 0, "Write to FILE (default: -, the standard output)", 2},
	{0},
};

static void set_file(struct report_args *a, const char *file, struct argp_state *state)
{
	if (a->file)
		argp_error(state, "one capture at a time: '%s' is one too many", file);
	a->file = file;
}

static void set_format(struct report_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "table"))
		a->opts.format = REPORT_TABLE;
	else if (!strcmp(arg, "json"))
		a->opts.format = REPORT_JSON;
	else if (!strcmp(arg, "csv"))
		a->opts.format = REPORT_CSV;
	else
		argp_error(state, "unknown format '%s': it is table, json or csv", arg);
}

static void set_by(struct report_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "codec"))
		a->opts.by = REPORT_BY_CODEC;
	else if (!strcmp(arg, "size"))
		a->opts.by = REPORT_BY_SIZE;
	else if (!strcmp(arg, "process"))
		a->opts.by = REPORT_BY_PROCESS;
	else
		argp_error(state, "cannot report by '%s': it is codec, size or process", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case OPT_FORMAT:
		set_format(a, arg, state);
		return 0;
	case OPT_BY:
		set_by(a, arg, state);
		return 0;
	case OPT_WIDE:
		a->opts.wide = true;
		return 0;
	case 'o':
		a->output = file_arg(state, "-o", arg);
		return 0;
	case ARGP_KEY_ARG:
		set_file(a, file_arg(state, NULL, arg), state);
		return 0;
	case ARGP_KEY_END:
		if (!a->file)
			argp_error(state, "which capture? Name its file, or - for standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Print the report of a capture: latency per codec with percentiles, what was not "
	       "seen, and what the probing cost. Needs no root.\v"
	       "Exit status: 0 printed, 1 the capture cannot be read or the report not written, 2 "
	       "usage.",
};

static int print_report(const void *arg, FILE *f)
{
	const struct report_job *job = arg;

	return report__print(job->r, job->opts, f);
}

int cmd_report(int argc, char **argv)
{
	struct report_args a = {0};
	struct recording *r;
	int err;

	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (err) {
		log_err("%s", strerror(err));
		return EXIT_FAILED;
	}
	if (overwrites_input(a.output, &a.file, 1))
		return EXIT_USAGE;
	err = input__capture(a.file, &r);
	if (err)
		return EXIT_FAILED;
	if (output_is_stdout(a.output) && a.opts.format == REPORT_TABLE && !a.opts.wide)
		a.opts.width = report_width(STDOUT_FILENO);
	err = output__print(a.output, "the report", print_report, &(struct report_job){r, &a.opts});
	recording__free(r);
	return err ? EXIT_FAILED : EXIT_DONE;
}
