// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * list.c - `hbprof list --pid N | FILE`: what would be measured, and how, before anything is attached.
 * How it is printed is in listview.c.
 */
#include <argp.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/calstore.h"
#include "cmd/cmd.h"
#include "cmd/codecopt.h"
#include "cmd/filearg.h"
#include "cmd/listview.h"
#include "target/proc.h"
#include "trace/plan.h"
#include "util/log.h"
#include "util/units.h"

#define LIST_MAX ((size_t)64 << 20)

enum { OPT_PROBE = 256, OPT_CODECS, OPT_FORMAT, OPT_ALL, OPT_EXIT };

static const struct argp_option options[] = {
	{"pid", 'p', "N", 0, "Process to look at (its process id)", 1},
	{"probe", OPT_PROBE, "NAME[=OP]", 0,
	 "Look for the function NAME as well; OP is encode or decode (may be repeated)", 1},
	{"codecs", OPT_CODECS, "FILE", 0, CODECS_HELP, 1},
	{"exit", OPT_EXIT, "MODE", 0,
	 "Where a call's end would be seen: site, the return address, or ret (on "
	 "arm64 the default)",
	 1},
	{"all", OPT_ALL, NULL, 0, "Show the codecs that are known but not here, too", 2},
	{"format", OPT_FORMAT, "FORMAT", 0, "table (default) or json", 2},
	{"verbose", 'v', NULL, 0, "Say more on stderr; twice: debugging", 2},
	{0},
};

struct list_args {
	u64 pid;
	const char *file;
	const char **probe, **codecs;
	size_t nr_probes, nr_codecs;
	bool all, json;
	u8 exit_by; /* enum plan_exit */
	int verbose;
};

static void check_word(struct argp_state *st, const char *option, const char *arg, const char *a,
		       const char *b)
{
	if (strcmp(arg, a) && strcmp(arg, b))
		argp_error(st, "%s is '%s' or '%s', not '%s'", option, a, b, arg);
}

static void check_target(struct argp_state *st, const struct list_args *a)
{
	if (a->pid && a->file)
		argp_error(st, "either --pid or a file, not both");
	if (!a->pid && !a->file)
		argp_error(st, "where? --pid N, or the file of a program or library");
}

static error_t parse_option(int key, char *arg, struct argp_state *st)
{
	struct list_args *a = st->input;

	switch (key) {
	case 'p':
		if (a->pid)
			argp_error(st, "one process at a time: '%s' is one too many", arg);
		if (parse_u64(arg, 1u << 22, &a->pid) || !a->pid)
			argp_error(st, "--pid '%s' is not a number from 1 to %u", arg, 1u << 22);
		return 0;
	case OPT_PROBE:
		a->probe[a->nr_probes++] = arg;
		return 0;
	case OPT_CODECS:
		a->codecs[a->nr_codecs++] = file_arg(st, "--codecs", arg);
		return 0;
	case OPT_EXIT:
		check_word(st, "--exit", arg, "site", "ret");
		a->exit_by = !strcmp(arg, "ret") ? PLAN_EXIT_RET : PLAN_EXIT_SITE;
		return 0;
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_FORMAT:
		check_word(st, "--format", arg, "table", "json");
		a->json = !strcmp(arg, "json");
		return 0;
	case 'v':
		a->verbose++;
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			argp_error(st, "one file at a time: '%s' is one too many", arg);
		a->file = file_arg(st, NULL, arg);
		return 0;
	case ARGP_KEY_END:
		check_target(st, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Show the codec functions in a running process or in a file, where they would be probed, "
	       "and what is not there. Nothing is attached; a file needs no root.\v"
	       "Exit status: 0 shown, 1 it cannot be read, 2 usage, 3 no codec was found.",
};

static int open_proc(u64 pid, struct proc **out)
{
	int err = proc__open((pid_t)pid, out);

	if (err == -ESRCH)
		log_err("no process %llu", pid);
	else if (err == -EINVAL)
		log_err("%llu is a thread, not a process; use the process id (Tgid in "
			"/proc/%llu/status)",
			pid, pid);
	else if (err)
		log_err("cannot look at process %llu: %s%s", pid, strerror(-err),
			geteuid() && err == -EACCES ? " (that needs root)" : "");
	if (!err && (*out)->kthread) {
		log_err("%llu (%s) is a kernel thread; there is no user code to measure", pid,
			(*out)->comm);
		err = -ESRCH;
	}
	return err;
}

static int exit_status(int err)
{
	if (err == -ENOENT || err == -ESRCH)
		return EXIT_NOTHING;
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* What a probe costs on this machine says nothing of another architecture's. */
static bool runs_here(const struct plan *pl)
{
#if defined(__x86_64__)
	const u16 here = EM_X86_64;
#elif defined(__aarch64__)
	const u16 here = EM_AARCH64;
#endif

	return !pl->nr_images || pl->image[0].im->machine == here;
}

static int print_list(const struct list_args *a, const struct plan *plan)
{
	char who[32], why[128] = "";
	struct listview v = {.plan = plan, .target = a->file, .all = a->all, .cal_why = why};
	struct recording *cal = NULL;
	struct strbuf text;
	int err;

	if (!runs_here(plan))
		v.cal_why = "it is a program for another machine";
	else if (!calstore__load(&cal, why, sizeof(why)))
		v.cal = cal;
	if (!a->file) {
		snprintf(who, sizeof(who), "process %llu", a->pid);
		v.target = who;
	}
	strbuf__init(&text, LIST_MAX);
	if (a->json)
		listview__json(&v, &text);
	else
		listview__table(&v, &text);
	err = text.err;
	if (err)
		log_err("cannot print the list: %s", strerror(-err));
	else
		fwrite(text.s, 1, text.len, stdout);
	strbuf__fini(&text);
	recording__free(cal);
	return err ? EXIT_FAILED : plan->nr_funcs ? EXIT_DONE : EXIT_NOTHING;
}

static int list(const struct list_args *a)
{
	struct plan_opts po = {
		.probe = a->probe,
		.nr_probes = a->nr_probes,
		.exit_by = a->exit_by,
		.allow_none = true,
	};
	struct registry *codecs = NULL;
	struct proc *p = NULL;
	struct plan *plan = NULL;
	int status = EXIT_FAILED, err;

	if (codecopt__open(a->codecs, a->nr_codecs, false, &codecs))
		goto out;
	po.registry = codecs;
	if (a->file) {
		err = plan__build_file(a->file, &po, &plan);
	} else {
		err = open_proc(a->pid, &p);
		if (!err)
			err = plan__build(p, &po, &plan);
	}
	status = err ? exit_status(err) : print_list(a, plan);
out:
	plan__free(plan);
	proc__close(p);
	registry__close(codecs);
	return status;
}

int cmd_list(int argc, char **argv)
{
	struct list_args a = {0};
	int status = EXIT_FAILED;

	a.probe = calloc((size_t)argc + 1, sizeof(*a.probe));
	a.codecs = calloc((size_t)argc + 1, sizeof(*a.codecs));
	if (a.probe && a.codecs && !argp_parse(&argp, argc, argv, 0, NULL, &a)) {
		if (a.verbose)
			log_set_level(a.verbose > 1 ? LOG_DEBUG : LOG_INFO);
		status = list(&a);
	}
	free(a.probe);
	free(a.codecs);
	return status;
}
