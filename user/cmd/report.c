// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* report.c - `hbprof report FILE`: prints a capture as the run that wrote it did. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cmd/cmd.h"
#include "cmd/overwrite.h"
#include "report/report.h"
#include "util/fsutil.h"
#include "util/log.h"

struct report_args {
	const char *file;
	const char *output; /* NULL, "-": stdout */
	struct report_opts opts;
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
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		set_file(a, arg, state);
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

static int print_to_stdout(const struct recording *r, struct report_opts *opts)
{
	int err;

	if (opts->format == REPORT_TABLE && !opts->wide)
		opts->width = report_width(STDOUT_FILENO);
	/* A pager that was left is a write error to be told, not a silent end by signal. */
	signal(SIGPIPE, SIG_IGN);
	err = report__print(r, opts, stdout);
	if (!err)
		return 0;
	log_err("cannot write the report to standard output: %s", strerror(-err));
	/* It has been said: what is still buffered must not fail a second time at exit. */
	__fpurge(stdout);
	clearerr(stdout);
	return err;
}

static int print_to_file(const struct recording *r, const struct report_opts *opts,
			 const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int err;

	f = open_memstream(&text, &len);
	err = f ? report__print(r, opts, f) : -errno;
	if (f && fclose(f) && !err)
		err = -errno;
	if (!err)
		err = fs_replace_file(path, text, len);
	if (err)
		log_err("cannot write the report to %s: %s", path, strerror(-err));
	free(text);
	return err;
}

int cmd_report(int argc, char **argv)
{
	struct report_args a = {0};
	struct recording *r;
	char why[512];
	int err;

	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (err) {
		log_err("%s", strerror(err));
		return EXIT_FAILED;
	}
	if (overwrites_input(a.output, &a.file, 1))
		return EXIT_USAGE;
	err = capture__read(a.file, &r, why, sizeof(why));
	if (err) {
		log_err("%s", why);
		return EXIT_FAILED;
	}
	if (!a.output || !strcmp(a.output, "-"))
		err = print_to_stdout(r, &a.opts);
	else
		err = print_to_file(r, &a.opts, a.output);
	recording__free(r);
	return err ? EXIT_FAILED : EXIT_DONE;
}
