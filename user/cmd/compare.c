// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare.c - `hbprof compare A B [C...]`: reads the captures, sorts them into sides, prints the
 * comparison, and with --fail-over turns it into an exit status. The statistics are in report/.
 */
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
#include "model/text.h"
#include "report/compare.h"
#include "report/report.h"
#include "util/log.h"
#include "util/strbuf.h"
#include "util/units.h"

#define MAX_FILTERS 64
#define MAX_LABEL   64
#define SHOWN	    6 /* functions of a capture that has nothing in common with another */

struct compare_args {
	const char *output; /* NULL, "-": stdout */
	enum compare_format format;
	bool wide;
	struct compare_opts opts;
	const char *codec[MAX_FILTERS];
	const char *order_by; /* NULL: as they are named */
	struct compare_axis axis;
	const char *label[COMPARE_MAX_SIDES];
	u32 nr_labels;
	const char *file[COMPARE_MAX_RUNS];
	u32 side_of[COMPARE_MAX_RUNS]; /* by the colons before it */
	u32 nr_files, nr_colons;
	/* what is compared */
	struct compare_side side[COMPARE_MAX_SIDES];
	struct compare_run run[COMPARE_MAX_RUNS];
	char name[COMPARE_MAX_SIDES][MAX_LABEL];
	u32 nr_sides;
};

enum {
	OPT_FORMAT = 0x100,
	OPT_BY,
	OPT_WIDE,
	OPT_METRIC,
	OPT_CODEC,
	OPT_LABEL,
	OPT_FAIL_OVER,
	OPT_ORDER_BY
};

static const struct argp_option options[] = {
	{"metric", OPT_METRIC, "METRIC", 0,
	 "mean, p50, p90, p99, p99.9 or calls/s; repeats (default: all of these)", 1},
	{"codec", OPT_CODEC, "CODEC", 0, "Only the rows of CODEC, as reports name it; repeats", 1},
	{"by", OPT_BY, "WHAT", 0,
	 "codec: one row per function; size: the payload size classes of each as well (default: "
	 "codec)",
	 1},
	{"label", OPT_LABEL, "NAME", 0,
	 "What the next capture, or group of captures, is called; repeats (default: the file's name)",
	 1},
	{"order-by", OPT_ORDER_BY, "FACT", 0,
	 "Sort them by a fact of the captures, the least first: gomaxprocs, go, cpus, payload, calls/s, "
	 "begin, or a key of their \"host\"",
	 1},
	{"format", OPT_FORMAT, "FORMAT", 0, "table, json or html (default: table)", 2},
	{"wide", OPT_WIDE, NULL, 0,
	 "One line per row, however wide (default: fitted to the terminal)", 2},
	{"output", 'o', "FILE", 0, "Write to FILE (default: -, the standard output)", 2},
	{"fail-over", OPT_FAIL_OVER, "PERCENT", 0,
	 "Exit with 4 when a metric got worse by more than PERCENT, like 10%, with 95% confidence",
	 3},
	{0},
};

static void add_metric(struct compare_args *a, const char *arg, struct argp_state *state)
{
	const struct metric *m = compare_metric(arg);

	if (!m)
		argp_error(
			state,
			"unknown metric '%s': it is mean, p50, p90, p99, p99.9, calls/s, or a counter "
			"like cycles, ipc or on-cpu (see hbprof-compare(1))",
			arg);
	for (u32 i = 0; i < a->opts.nr_metrics; i++)
		if (a->opts.metric[i] == m)
			return;
	a->opts.metric[a->opts.nr_metrics++] = m;
}

static void add_codec(struct compare_args *a, const char *arg, struct argp_state *state)
{
	if (a->opts.nr_codecs == MAX_FILTERS)
		argp_error(state, "more than %d codecs", MAX_FILTERS);
	a->codec[a->opts.nr_codecs++] = arg;
}

static void add_label(struct compare_args *a, const char *arg, struct argp_state *state)
{
	if (!*arg || strlen(arg) >= MAX_LABEL)
		argp_error(state, "a label has 1 to %d characters: '%s'", MAX_LABEL - 1, arg);
	if (a->nr_labels == COMPARE_MAX_SIDES)
		argp_error(state, "more than %d labels", COMPARE_MAX_SIDES);
	a->label[a->nr_labels++] = arg;
}

static void add_file(struct compare_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, ":")) {
		a->nr_colons++;
		return;
	}
	if (a->nr_files == COMPARE_MAX_RUNS)
		argp_error(state, "more than %d captures", COMPARE_MAX_RUNS);
	a->side_of[a->nr_files] = a->nr_colons;
	a->file[a->nr_files++] = arg;
}

static void set_fail_over(struct compare_args *a, const char *arg, struct argp_state *state)
{
	char *end = NULL;
	double v = -1;

	/* No sign, no hexadecimals, no exponent, no "inf". */
	if (*arg != '%' && !strcmp(arg + strspn(arg, "0123456789."), "%"))
		v = strtod(arg, &end);
	if (!(v >= 0) || strcmp(end, "%") || v > 100000)
		argp_error(state, "--fail-over takes a percentage like 10%%, not '%s'", arg);
	a->opts.fail_over = v / 100;
}

static void set_format(struct compare_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "table"))
		a->format = COMPARE_TABLE;
	else if (!strcmp(arg, "json"))
		a->format = COMPARE_JSON;
	else if (!strcmp(arg, "html"))
		a->format = COMPARE_HTML;
	else
		argp_error(state, "unknown format '%s': it is table, json or html", arg);
}

static void set_by(struct compare_args *a, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "codec"))
		a->opts.by_size = false;
	else if (!strcmp(arg, "size"))
		a->opts.by_size = true;
	else
		argp_error(state, "cannot compare by '%s': it is codec or size", arg);
}

static void sort_into_sides(struct compare_args *a, struct argp_state *state)
{
	u32 stdins = 0;

	for (u32 i = 0; i < a->nr_files; i++) {
		u32 side = a->nr_colons ? a->side_of[i] : i;

		if (side >= COMPARE_MAX_SIDES)
			argp_error(state, "more than %d things to compare", COMPARE_MAX_SIDES);
		if (!a->side[side].nr_runs)
			a->side[side].run = &a->run[i];
		a->side[side].nr_runs++;
		a->run[i].file = a->file[i];
		a->nr_sides = side + 1;
		stdins += !strcmp(a->file[i], "-");
	}
	if (a->nr_sides < 2)
		argp_error(state, "compare what? Name two captures or more");
	if (stdins > 1)
		argp_error(state, "standard input can be one of the captures only");
	for (u32 i = 0; i < a->nr_sides; i++)
		if (!a->side[i].nr_runs)
			argp_error(state, "there is no capture at one side of a ':'");
	if (a->nr_colons >= a->nr_sides)
		argp_error(state, "there is no capture behind the last ':'");
	if (a->nr_labels > a->nr_sides)
		argp_error(state, "%u labels for %u things to compare", a->nr_labels, a->nr_sides);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case OPT_METRIC:
		add_metric(a, arg, state);
		return 0;
	case OPT_CODEC:
		add_codec(a, arg, state);
		return 0;
	case OPT_LABEL:
		add_label(a, arg, state);
		return 0;
	case OPT_ORDER_BY:
		if (!*arg)
			argp_error(state, "--order-by names no fact");
		a->order_by = arg;
		return 0;
	case OPT_BY:
		set_by(a, arg, state);
		return 0;
	case OPT_FORMAT:
		set_format(a, arg, state);
		return 0;
	case OPT_WIDE:
		a->wide = true;
		return 0;
	case OPT_FAIL_OVER:
		set_fail_over(a, arg, state);
		return 0;
	case 'o':
		a->output = file_arg(state, "-o", arg);
		return 0;
	case ARGP_KEY_ARG:
		add_file(a, file_arg(state, NULL, arg), state);
		return 0;
	case ARGP_KEY_END:
		sort_into_sides(a, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "A B [C...]\nA1 A2... : B1 B2... [: C1...]",
	.doc = "Compare captures: the ratio of each metric to the first capture, its 95% limits, and "
	       "what may be said of it. With colons, several runs of the same thing stand for it, and "
	       "the limits are of how runs differ. Needs no root.\v"
	       "Exit status: 0 compared, 1 a capture cannot be read, nothing is in common, or "
	       "--fail-over could judge nothing, 2 usage, 4 a metric got worse by more than "
	       "--fail-over allows.",
};

/* The file's name without folder and ".hbp"; a number where two are the same. */
static void name_sides(struct compare_args *a)
{
	for (u32 i = 0; i < a->nr_sides; i++) {
		const char *file = a->side[i].run[0].file, *base = strrchr(file, '/');
		u32 twins = 0;
		size_t len;

		base = base ? base + 1 : file;
		len = strlen(base);
		if (len > 4 && !strcmp(base + len - 4, ".hbp"))
			len -= 4;
		if (i < a->nr_labels)
			snprintf(a->name[i], MAX_LABEL, "%s", a->label[i]);
		else
			snprintf(a->name[i], MAX_LABEL, "%.*s", len < 40 ? (int)len : 40,
				 strcmp(base, "-") ? base : "stdin");
		for (u32 k = 0; k < i; k++)
			twins += !strcmp(a->name[k], a->name[i]);
		if (twins) {
			len = strlen(a->name[i]);
			len = len < MAX_LABEL - 5 ? len : MAX_LABEL - 5;
			snprintf(a->name[i] + len, MAX_LABEL - len, "#%u", i + 1);
		}
		a->side[i].label = a->name[i];
	}
}

/* False: it cannot be, and why was said. */
static bool order_sides(struct compare_args *a)
{
	char why[512];

	if (!a->order_by)
		return true;
	if (compare_sides__order(a->side, a->nr_sides, a->order_by, &a->axis, why, sizeof(why))) {
		log_err("cannot order by %s: %s", a->order_by, why);
		return false;
	}
	if (a->axis.moves)
		a->opts.axis = &a->axis;
	else
		log_warn("--order-by: all captures have %s %s", a->order_by, a->axis.text[0]);
	return true;
}

static int read_captures(struct compare_args *a)
{
	for (u32 i = 0; i < a->nr_files; i++) {
		struct recording *r;
		int err = input__capture(a->file[i], &r);

		if (err)
			return err;
		a->run[i].r = r;
	}
	return 0;
}

/* The comparison, and how it is printed. */
struct compare_job {
	const struct compare *c;
	const struct compare_args *a;
};

static int print_comparison(const void *arg, FILE *f)
{
	const struct compare_job *job = arg;
	bool fit = job->a->format == COMPARE_TABLE && !job->a->wide;

	return compare__print(job->c, job->a->format,
			      fit && f == stdout ? report_width(STDOUT_FILENO) : 0, f);
}

/* What the threshold says; silence must not pass for a result. */
static int threshold(const struct compare *c, const struct compare_args *a)
{
	char buf[32];

	if (a->opts.fail_over < 0)
		return EXIT_DONE;
	if (c->tripped) {
		log_err("%s metric%s got worse by more than %g%% (--fail-over)",
			format_count(buf, sizeof(buf), c->tripped), c->tripped == 1 ? "" : "s",
			a->opts.fail_over * 100);
		return EXIT_TRIPPED;
	}
	if (!c->judged) {
		log_err("--fail-over could judge nothing: no metric has enough calls and is comparable");
		return EXIT_FAILED;
	}
	if (c->not_judged)
		log_warn(
			"--fail-over could not judge %u metrics: too few calls, not comparable, or "
			"levels that move as far within the recordings",
			c->not_judged);
	return EXIT_DONE;
}

/* What a side has, by which the reader sees why it is nothing that another one has. */
static void say_what_is_there(const struct compare *c, u32 side)
{
	struct strbuf b;
	u32 nr = 0;

	strbuf__init(&b, 1u << 20);
	for (u32 i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->row[i];

		if (!row->in[side] || row->key.size_class != KEY_ANY_SIZE || nr++ >= SHOWN)
			continue;
		strbuf__adds(&b, nr > 1 ? ", " : "");
		text_add_escaped(&b, row->key.codec);
		strbuf__addc(&b, ' ');
		text_add_escaped(&b, row->key.op);
		strbuf__addc(&b, ' ');
		text_add_escaped(&b, row->key.name);
	}
	log_err("%s has %s%s", c->side[side].label,
		b.s		     ? b.s
		: c->opts->nr_codecs ? "no calls of these codecs"
				     : "no calls",
		nr > SHOWN ? " and more" : "");
	strbuf__fini(&b);
}

static int compare_and_print(struct compare_args *a)
{
	struct compare c;
	int err, status;

	err = compare__build(&c, a->side, a->nr_sides, &a->opts);
	if (err) {
		log_err("cannot compare: %s", strerror(-err));
		return EXIT_FAILED;
	}
	if (!c.nr_common) {
		log_err("nothing to compare: no function%s has calls in %s and in another capture",
			a->opts.nr_codecs ? " of the codecs asked for" : "", a->side[0].label);
		for (u32 i = 0; i < c.nr_sides; i++)
			say_what_is_there(&c, i);
		compare__fini(&c);
		return EXIT_FAILED;
	}
	err = output__print(a->output, "the comparison", print_comparison,
			    &(struct compare_job){&c, a});
	status = err ? EXIT_FAILED : threshold(&c, a);
	compare__fini(&c);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_args *a = calloc(1, sizeof(*a));
	int err, status = EXIT_FAILED;

	if (!a) {
		log_err("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	a->opts.fail_over = -1;
	a->opts.codec = a->codec;
	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, a);
	if (err) {
		log_err("%s", strerror(err));
	} else if (overwrites_input(a->output, a->file, a->nr_files)) {
		status = EXIT_USAGE;
	} else if (!read_captures(a)) {
		name_sides(a);
		if (order_sides(a))
			status = compare_and_print(a);
	}
	for (u32 i = 0; i < a->nr_files; i++)
		recording__free((struct recording *)a->run[i].r);
	free(a);
	return status;
}
