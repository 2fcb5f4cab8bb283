// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* export.c - `hbprof export FILE --format FORMAT`: a capture in another tool's format. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filearg.h"
#include "cmd/output.h"
#include "cmd/overwrite.h"
#include "report/export.h"
#include "util/log.h"

struct export_args {
	const char *file;
	const char *output; /* NULL, "-": stdout */
	bool given;	    /* format is */
	enum export_format format;
	enum export_of of;
};

enum { OPT_FORMAT = 0x100, OPT_OF };

static const struct argp_option options[] = {
	{"format", OPT_FORMAT, "FORMAT", 0,
	 "csv, json, pprof, speedscope, openmetrics, benchstat or folded", 1},
	{"of", OPT_OF, "WHAT", 0,
	 "calls: what was measured; stacks: the CPU samples (default: calls; folded: stacks; "
	 "speedscope: both)",
	 1},
	{"output", 'o', "FILE", 0, "Write to FILE (default: -, the standard output)", 2},
	{0},
};

static void set_format(struct export_args *a, const char *arg, struct argp_state *state)
{
	for (u32 i = 0; i < EXPORT_NR; i++) {
		if (strcmp(export_format_names[i], arg) != 0)
			continue;
		a->format = i;
		a->given = true;
		return;
	}
	argp_error(state,
		   "unknown format '%s': it is csv, json, pprof, speedscope, openmetrics, "
		   "benchstat or folded",
		   arg);
}

static void set_of(struct export_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "calls"))
		a->of = EXPORT_CALLS;
	else if (!strcmp(arg, "stacks"))
		a->of = EXPORT_STACKS;
	else
		argp_error(state, "cannot export '%s': it is calls or stacks", arg);
}

static void check_args(const struct export_args *a, struct argp_state *state)
{
	if (!a->file)
		argp_error(state, "which capture? Name its file, or - for standard input");
	if (!a->given)
		argp_error(state, "which format? --format FORMAT");
	if (!export_has(a->format, a->of))
		argp_error(state, "%s cannot hold %s", export_format_names[a->format],
			   a->of == EXPORT_STACKS ? "stacks; it is pprof, speedscope or folded"
						  : "calls, only stacks");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export_args *a = state->input;

	switch (key) {
	case OPT_FORMAT:
		set_format(a, arg, state);
		return 0;
	case OPT_OF:
		set_of(a, arg, state);
		return 0;
	case 'o':
		a->output = file_arg(state, "-o", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			argp_error(state, "one capture at a time: '%s' is one too many", arg);
		a->file = file_arg(state, NULL, arg);
		return 0;
	case ARGP_KEY_END:
		check_args(a, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Write a capture in the format of another tool: spreadsheets, pprof, speedscope, "
	       "Prometheus, benchstat, flame graphs. Needs no root.\v"
	       "Exit status: 0 written, 1 the capture cannot be read or the output not written, 2 "
	       "usage.",
};

static void say_not_exported(const struct export_args *a, const struct recording *r, int err)
{
	if (err == -ENODATA)
		log_err("%s holds no CPU stacks: %s", a->file,
			r->stacks.event ? "no CPU sample was taken while it was recorded"
					: "it was recorded with --no-stacks, or where the kernel "
					  "gave none (then 'hbprof report' warns of it)");
	else
		log_err("cannot export %s: %s", a->file, strerror(-err));
}

static int export_to(const struct export_args *a, const struct recording *r)
{
	bool to_stdout = output_is_stdout(a->output);
	char *bytes = NULL;
	size_t len;
	int err;

	if (to_stdout && export_is_binary(a->format) && isatty(STDOUT_FILENO)) {
		log_err("%s is not text; write it to a file with -o FILE, or to a pipe",
			export_format_names[a->format]);
		return -EINVAL;
	}
	err = export__render(r, a->format, a->of, &bytes, &len);
	if (err) {
		say_not_exported(a, r, err);
		return err;
	}
	err = output__bytes(a->output, "the export", bytes, len);
	free(bytes);
	return err;
}

int cmd_export(int argc, char **argv)
{
	struct export_args a = {0};
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
	err = export_to(&a, r);
	recording__free(r);
	return err ? EXIT_FAILED : EXIT_DONE;
}
