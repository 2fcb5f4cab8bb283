// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* merge.c - `hbprof merge A B... -o FILE`: several captures of one machine as one. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd/cmd.h"
#include "cmd/filearg.h"
#include "cmd/output.h"
#include "cmd/overwrite.h"
#include "report/merged.h"
#include "util/log.h"

#define MAX_CAPTURES 1024

struct merge_args {
	const char *file[MAX_CAPTURES];
	const struct recording *r[MAX_CAPTURES];
	u32 nr;
	const char *output;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the merged capture to FILE; - is the standard output", 1},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge_args *a = state->input;

	switch (key) {
	case 'o':
		a->output = file_arg(state, "-o", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (a->nr == MAX_CAPTURES)
			argp_error(state, "more than %d captures", MAX_CAPTURES);
		a->file[a->nr++] = file_arg(state, NULL, arg);
		return 0;
	case ARGP_KEY_END:
		if (a->nr < 2)
			argp_error(state, "merge what? Name two captures or more");
		if (!a->output)
			argp_error(state, "where to? Name the merged capture with -o FILE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "A B [C...]",
	.doc = "Add captures up to one: the calls of the same functions and processes become one row, "
	       "counts and sums are exact. Only captures of the same machine, kernel and builds fit "
	       "together. Needs no root.\v"
	       "Exit status: 0 merged, 1 a capture cannot be read or does not fit, 2 usage.",
};

static int merge(struct merge_args *a)
{
	struct recording *r, *all = NULL;
	char why[1024];
	int err;

	for (u32 i = 0; i < a->nr; i++) {
		err = input__capture(a->file[i], &r);
		if (err)
			return err;
		a->r[i] = r;
	}
	err = recordings_merge(a->r, a->file, a->nr, &all, why, sizeof(why));
	if (err) {
		log_err("%s", why);
		return err;
	}
	err = capture__write(all, a->output);
	if (err)
		output__say(a->output, "the capture", err);
	recording__free(all);
	return err;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_args *a = calloc(1, sizeof(*a));
	int err, status;

	if (!a) {
		log_err("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, a);
	status = EXIT_FAILED;
	if (err)
		log_err("%s", strerror(err));
	else if (overwrites_input(a->output, a->file, a->nr))
		status = EXIT_USAGE;
	else if (!merge(a))
		status = EXIT_DONE;
	for (u32 i = 0; i < a->nr; i++)
		recording__free((struct recording *)a->r[i]);
	free(a);
	return status;
}
