// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * flamegraph.c - `hbprof flamegraph FILE`: the stacks of a capture, or folded ones, as an interactive
 * SVG, or merged.
 *
 * Reads the inputs into one tree and hands it to the library in flamegraph/, which knows nothing of
 * where stacks come from.
 */
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
#include "cmd/filearg.h"
#include "cmd/output.h"
#include "cmd/overwrite.h"
#include "cmd/flamestacks.h"
#include "flamegraph/folded.h"
#include "flamegraph/svg.h"
#include "util/fsutil.h"
#include "util/log.h"
#include "util/strbuf.h"
#include "util/units.h"

#define MAX_OUTPUT_BYTES ((size_t)2 << 30)

struct flame_args {
	const char *file;
	const char *output; /* NULL: by the name of file; "-": stdout */
	const char *title;
	const char *second; /* of --diff or --color-by */
	const char *min_width;
	bool reverse, folded;
	bool by_codec; /* of captures */
	struct flame_opts opts;
};

enum {
	OPT_TITLE = 0x100,
	OPT_WIDTH,
	OPT_MIN_WIDTH,
	OPT_FRAME_HEIGHT,
	OPT_MAX_DEPTH,
	OPT_INVERTED,
	OPT_REVERSE,
	OPT_COLORS,
	OPT_DIFF,
	OPT_ABSOLUTE,
	OPT_COLOR_BY,
	OPT_COLOR_UNIT,
	OPT_FOLDED,
	OPT_UNIT,
	OPT_STATIC,
	OPT_BY,
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "Write to FILE; -: the standard output (default: the input's name with .svg)", 1},
	{"folded", OPT_FOLDED, NULL, 0,
	 "Print the merged stacks as text instead of drawing them (default output: -)", 1},
	{"static", OPT_STATIC, NULL, 0, "A still picture, without script", 1},
	{"by", OPT_BY, "codec", 0, "Of a capture: first by the codec call that the CPU was in", 1},
	{"title", OPT_TITLE, "TEXT", 0, "The picture's title (default: by the input's name)", 2},
	{"unit", OPT_UNIT, "NAME", 0, "What is counted: ns and bytes are scaled (default: samples)",
	 2},
	{"width", OPT_WIDTH, "PX", 0, "Width of the still picture (default: 1200)", 2},
	{"frame-height", OPT_FRAME_HEIGHT, "PX", 0, "Height of a frame (default: 17)", 2},
	{"min-width", OPT_MIN_WIDTH, "SHARE", 0,
	 "Leave narrower frames out: 0.5%, 0.005 or 1px (default: 0.01%)", 3},
	{"max-depth", OPT_MAX_DEPTH, "N", 0, "Leave deeper frames out (default: none)", 3},
	{"inverted", OPT_INVERTED, NULL, 0, "The root above: an icicle graph", 4},
	{"reverse", OPT_REVERSE, NULL, 0, "Merge from the innermost frame: by callee", 4},
	{"colors", OPT_COLORS, "PALETTE", 0,
	 "hot, mem, io, or hash: any colour (default: hot); of each name always the same one", 5},
	{"diff", OPT_DIFF, "BASE", 0,
	 "Compare with the folded stacks in BASE: red is more than there, blue less", 5},
	{"absolute", OPT_ABSOLUTE, NULL, 0, "With --diff: compare counts, not shares of the whole",
	 5},
	{"color-by", OPT_COLOR_BY, "OTHER", 0,
	 "Colour by the counts in OTHER for each count of the input", 5},
	{"color-unit", OPT_COLOR_UNIT, "NAME", 0, "What OTHER counts (default: samples)", 5},
	{0},
};

/* ---- options ---- */

static void set_file(struct flame_args *a, const char *file, struct argp_state *state)
{
	if (a->file)
		argp_error(state, "one input at a time: '%s' is one too many", file);
	a->file = file;
}

static u32 number(const char *opt, const char *arg, u32 min, u32 max, struct argp_state *state)
{
	u64 n = 0;

	if (parse_u64(arg, max, &n) || n < min)
		argp_error(state, "--%s takes a whole number from %u to %u, not '%s'", opt, min,
			   max, arg);
	return (u32)n;
}

static void set_colors(struct flame_args *a, const char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[FLAME_HOT] = "hot", [FLAME_MEM] = "mem", [FLAME_IO] = "io", [FLAME_HASH] = "hash"};

	for (u32 i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(arg, names[i])) {
			a->opts.palette = i;
			return;
		}
	}
	argp_error(state, "unknown colours '%s': it is hot, mem, io or hash", arg);
}

static void set_second(struct flame_args *a, const char *file, enum flame_mode mode,
		       struct argp_state *state)
{
	if (a->second)
		argp_error(state, "--diff and --color-by both decide the colour: give one, once");
	a->second = file;
	a->opts.mode = mode;
}

/* --min-width, when the width that pixels are part of is known. */
static void set_min_width(struct flame_args *a, struct argp_state *state)
{
	double share, scale = 1;
	char *end;

	if (!a->min_width)
		return;
	share = strtod(a->min_width, &end);
	if (!strcmp(end, "px"))
		scale = a->opts.width - 2 * FLAME_MARGIN;
	else if (!strcmp(end, "%"))
		scale = 100;
	else if (*end)
		end = (char *)a->min_width;
	/* Written so that a NaN fails. */
	if (end == a->min_width || !(share >= 0 && share <= scale))
		argp_error(
			state,
			"--min-width takes a share of the whole as 0.5%%, 0.005 or 1px, not '%s'",
			a->min_width);
	a->opts.min_share = (u32)(share / scale * FLAME_WHOLE + 0.5);
}

static void check_args(struct flame_args *a, struct argp_state *state)
{
	if (!a->file)
		argp_error(state, "which stacks? Name a capture or a file of folded stacks, or - "
				  "for folded stacks on standard input");
	if (a->second && !strcmp(a->file, "-") && !strcmp(a->second, "-"))
		argp_error(state, "standard input can be only one of the two inputs");
	if (a->opts.absolute && a->opts.mode != FLAME_BY_DIFF)
		argp_error(state, "--absolute belongs to --diff");
	set_min_width(a, state);
}

static error_t parse_value(int key, char *arg, struct argp_state *state)
{
	struct flame_args *a = state->input;

	switch (key) {
	case OPT_WIDTH:
		a->opts.width = number("width", arg, FLAME_MIN_WIDTH, FLAME_MAX_WIDTH, state);
		return 0;
	case OPT_FRAME_HEIGHT:
		a->opts.frame_height = number("frame-height", arg, 8, 100, state);
		return 0;
	case OPT_MAX_DEPTH:
		a->opts.max_depth = number("max-depth", arg, 1, flame_default_limits.max_depth,
					   state);
		return 0;
	case OPT_MIN_WIDTH:
		a->min_width = arg;
		return 0;
	case OPT_COLORS:
		set_colors(a, arg, state);
		return 0;
	case OPT_DIFF:
		set_second(a, file_arg(state, "--diff", arg), FLAME_BY_DIFF, state);
		return 0;
	case OPT_COLOR_BY:
		set_second(a, file_arg(state, "--color-by", arg), FLAME_BY_HEAT, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct flame_args *a = state->input;

	switch (key) {
	case 'o':
		a->output = file_arg(state, "-o", arg);
		return 0;
	case OPT_TITLE:
		a->title = arg;
		return 0;
	case OPT_UNIT:
		a->opts.unit = arg;
		return 0;
	case OPT_COLOR_UNIT:
		a->opts.color_unit = arg;
		return 0;
	case OPT_INVERTED:
		a->opts.inverted = true;
		return 0;
	case OPT_REVERSE:
		a->reverse = true;
		return 0;
	case OPT_ABSOLUTE:
		a->opts.absolute = true;
		return 0;
	case OPT_FOLDED:
		a->folded = true;
		return 0;
	case OPT_BY:
		if (strcmp(arg, "codec"))
			argp_error(state, "--by is 'codec', not '%s'", arg);
		a->by_codec = true;
		return 0;
	case OPT_STATIC:
		a->opts.script = false;
		return 0;
	case ARGP_KEY_ARG:
		set_file(a, file_arg(state, NULL, arg), state);
		return 0;
	case ARGP_KEY_END:
		check_args(a, state);
		return 0;
	default:
		return parse_value(key, arg, state);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Draw the CPU stacks of a capture, or folded stacks (lines of 'frame;frame;frame "
	       "count'), as an interactive flame graph in one SVG file. Needs no root.\v"
	       "Exit status: 0 drawn, 1 the input cannot be read or the picture not written, 2 "
	       "usage.",
};

/* ---- input ---- */

static const char *shown_name(const char *file)
{
	return strcmp(file, "-") ? file : "standard input";
}

/* What begins like gzip: a capture, or something that was compressed. */
static int read_capture(const struct flame_args *a, const char *file, struct flame_tree *tree,
			enum flame_weight weight)
{
	struct flamestacks_opts o = {
		.weight = weight, .reverse = a->reverse, .by_codec = a->by_codec};
	struct recording *r = NULL;
	u64 left_out = 0;
	char why[512];
	int err;

	if (!strcmp(file, "-")) {
		log_err("standard input is compressed: give a capture by its name; folded stacks are "
			"plain text (zcat FILE | hbprof flamegraph -)");
		return -EMEDIUMTYPE;
	}
	err = capture__read(file, &r, why, sizeof(why));
	if (err) {
		log_err("%s (if it is not a capture: folded stacks are plain text; zcat FILE | "
			"hbprof flamegraph -)",
			why);
		return err;
	}
	if (!r->stacks.samples) {
		log_err("%s is a capture, and it holds no stacks to draw: %s", file,
			r->stacks.event ? "no CPU sample was taken while it was recorded"
					: "it was recorded with --no-stacks, or where the kernel "
					  "gave none ('hbprof report' prints the rest)");
		err = -ENODATA;
	}
	if (!err)
		err = flamestacks__add(r, &o, tree, &left_out);
	if (err && err != -ENODATA)
		log_err("cannot read the stacks of %s: %s", file, strerror(-err));
	if (left_out)
		log_warn("%s: %llu samples left out: their stacks are too many or too deep", file,
			 left_out);
	recording__free(r);
	return err;
}

static void say_left_out(const char *file, const struct folded *f)
{
	u64 nr = folded__nr_bad(f);
	struct strbuf b;
	char num[32];

	if (!nr)
		return;
	strbuf__init(&b, 4096);
	for (u32 i = FOLDED_EMPTY + 1; i < FOLDED_NR; i++)
		if (f->lines[i])
			strbuf__addf(&b, "%s%s (%s)", b.len ? ", " : "", folded_bad_text(i),
				     format_count(num, sizeof(num), f->lines[i]));
	log_warn("%s: %s %s left out: %s", shown_name(file), format_count(num, sizeof(num), nr),
		 nr == 1 ? "line" : "lines", b.s ? b.s : "");
	strbuf__fini(&b);
}

static int read_stream(const struct flame_args *a, FILE *in, const char *file,
		       struct flame_tree *tree, enum flame_weight weight)
{
	struct folded f;
	int err;

	err = folded__init(&f, tree, weight);
	if (!err) {
		f.reverse = a->reverse;
		err = folded__read(&f, in);
	}
	if (!err && f.lines[FOLDED_OK])
		say_left_out(file, &f);
	if (err == -EMEDIUMTYPE) {
		err = read_capture(a, file, tree, weight);
	} else if (err) {
		log_err("cannot read %s: %s", shown_name(file), strerror(-err));
	} else if (!f.lines[FOLDED_OK] && (weight == FLAME_WIDTH || folded__nr_bad(&f))) {
		/* Of what the picture is coloured by none may be a result; not of what is no stacks. */
		log_err("no stacks in %s: a line of them is 'frame;frame;frame count', the "
			"outermost frame first",
			shown_name(file));
		err = -ENODATA;
	}
	folded__fini(&f);
	return err;
}

static int read_stacks(const struct flame_args *a, const char *file, struct flame_tree *tree,
		       enum flame_weight weight)
{
	FILE *in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	int err;

	if (!in) {
		err = -errno;
		log_err("cannot read %s: %s", file, strerror(-err));
		return err;
	}
	err = read_stream(a, in, file, tree, weight);
	if (in != stdin)
		fclose(in);
	return err;
}

/* The tree that a picture is drawn from, whatever the source of the stacks. */
static int build_tree(const struct flame_args *a, struct flame_tree **out)
{
	struct flame_tree *tree = NULL;
	int err;

	err = flame_tree__new(NULL, &tree);
	if (err) {
		log_err("%s", strerror(-err));
		return err;
	}
	err = read_stacks(a, a->file, tree, FLAME_WIDTH);
	if (!err && a->second)
		err = read_stacks(a, a->second, tree, FLAME_COLOR);
	if (!err) {
		err = flame_tree__sum(tree);
		if (err)
			log_err("%s", strerror(-err));
	}
	if (err)
		flame_tree__free(tree);
	else
		*out = tree;
	return err;
}

/* ---- output ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "a/x.folded" to "a/x.svg". An ending that is not one of stacks is part of the name. */
static void add_svg_name(struct strbuf *b, const char *file)
{
	static const char *const endings[] = {".folded", ".collapsed", ".stacks", ".txt", ".hbp"};
	size_t len = strlen(file);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (strlen(base_name(file)) > n && !strcmp(file + len - n, endings[i])) {
			len -= n;
			break;
		}
	}
	strbuf__add(b, file, len);
	strbuf__adds(b, ".svg");
}

static void add_title(struct strbuf *b, const struct flame_args *a)
{
	if (a->title) {
		strbuf__adds(b, a->title);
		return;
	}
	strbuf__addf(b, "Flame graph: %s", base_name(shown_name(a->file)));
	if (a->opts.mode == FLAME_BY_DIFF)
		strbuf__addf(b, " against %s", base_name(shown_name(a->second)));
	else if (a->opts.mode == FLAME_BY_HEAT)
		strbuf__addf(b, " coloured by %s", base_name(shown_name(a->second)));
	if (a->reverse)
		strbuf__adds(b, " (by callee)");
}

static int write_output(const struct flame_args *a, const struct strbuf *text)
{
	bool to_stdout = a->output ? !strcmp(a->output, "-") : a->folded || !strcmp(a->file, "-");
	struct strbuf name;
	int err;

	if (to_stdout)
		return output__bytes("-", "the picture", text->s, text->len);
	strbuf__init(&name, 1u << 20);
	if (a->output)
		strbuf__adds(&name, a->output);
	else
		add_svg_name(&name, a->file);
	err = name.err;
	if (err)
		output__say(a->file, "a picture beside", err);
	else
		err = output__bytes(name.s, "the picture", text->s, text->len);
	if (!err && !a->output)
		log_info("wrote %s", name.s);
	strbuf__fini(&name);
	return err;
}

static int draw(struct flame_args *a, const struct flame_tree *tree, struct strbuf *text)
{
	struct strbuf title;
	int err;

	if (a->folded) {
		folded_write(tree, a->second != NULL, text);
		err = text->err;
	} else {
		strbuf__init(&title, 1u << 20);
		add_title(&title, a);
		a->opts.title = title.s ? title.s : "";
		err = title.err ? title.err : flame_svg(tree, &a->opts, text, NULL);
		strbuf__fini(&title);
	}
	if (err == -EFBIG)
		log_err("the picture would be above 2 GB: raise --min-width");
	else if (err)
		log_err("cannot draw: %s", strerror(-err));
	return err;
}

int cmd_flamegraph(int argc, char **argv)
{
	struct flame_args a = {.opts = flame_default_opts};
	struct flame_tree *tree = NULL;
	struct strbuf text;
	int err;

	argp_err_exit_status = EXIT_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (err) {
		log_err("%s", strerror(err));
		return EXIT_FAILED;
	}
	if (overwrites_input(a.output, (const char *const[]){a.file, a.second}, 2))
		return EXIT_USAGE;
	strbuf__init(&text, MAX_OUTPUT_BYTES);
	err = build_tree(&a, &tree);
	if (!err)
		err = draw(&a, tree, &text);
	if (!err)
		err = write_output(&a, &text);
	strbuf__fini(&text);
	flame_tree__free(tree);
	return err ? EXIT_FAILED : EXIT_DONE;
}
