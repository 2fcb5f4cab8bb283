// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * main.c - finds the command and hands over to it. The commands' options are in cmd/.
 *
 * `hbprof --pid N` is short for `hbprof record --pid N`: whatever begins with a dash and is not one
 * of the global options below belongs to the record command.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hbprof/version.h>

#include "built_with.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "util/log.h"
#include "util/nearest.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static int cmd_help(int argc, char **argv);

static const struct command {
	const char *name;
	const char *title; /* argv[0] of the command: what argp prints before a message */
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"record", "hbprof record", cmd_record,
	 "attach to a process, measure, write a capture, print its report (the default)"},
	{"run", "hbprof run", cmd_run, "run a command and measure it from its first call on"},
	{"list", "hbprof list", cmd_list, "show the codecs in a process or a file"},
	{"report", "hbprof report", cmd_report, "print the report of a capture"},
	{"export", "hbprof export", cmd_export, "write a capture in the format of another tool"},
	{"flamegraph", "hbprof flamegraph", cmd_flamegraph,
	 "draw the stacks of a capture as an interactive SVG"},
	{"compare", "hbprof compare", cmd_compare,
	 "compare captures: ratios with confidence limits"},
	{"merge", "hbprof merge", cmd_merge, "add captures up to one"},
	{"check", "hbprof check", cmd_check, "say what can be measured on this machine"},
	{"help", "hbprof help", cmd_help, "show the options of a command"},
};

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int command_run(const struct command *cmd, int argc, char **argv)
{
	argv[0] = (char *)cmd->title;
	return cmd->run(argc, argv);
}

static int command_unknown(const char *name)
{
	char near[64] = "";

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t len = strlen(near);

		if (nearest_match(name, commands[i].name))
			snprintf(near + len, sizeof(near) - len, "%s'%s'", len ? " or " : "",
				 commands[i].name);
	}
	if (near[0])
		log_err("unknown command '%s'; did you mean %s?", name, near);
	else
		log_err("unknown command '%s'; 'hbprof help' lists the commands", name);
	return EXIT_USAGE;
}

static void print_overview(FILE *f)
{
	fputs("Usage: hbprof --pid N [OPTION...]\n"
	      "       hbprof COMMAND [OPTION...] [ARG...]\n"
	      "\n"
	      "Latency of serialization codecs in running Go and C programs: exact counts and\n"
	      "percentiles, measured by eBPF, with nothing changed in the program.\n"
	      "\n"
	      "Commands:\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "  --help     this text; 'hbprof help COMMAND' lists the options of a command\n"
	      "  --version  the version and what was built in\n"
	      "\n"
	      "Exit status: 0 done, 1 failed, 2 usage, 3 nothing to trace, 4 a threshold of compare\n"
	      "was exceeded.\n",
	      f);
}

static int cmd_help(int argc, char **argv)
{
	char opt[] = "--help", *args[] = {NULL, opt, NULL};
	const struct command *cmd;

	if (argc > 2) {
		log_err("help takes one command, not %d", argc - 1);
		return EXIT_USAGE;
	}
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?")))
		argc = 1;
	cmd = argc == 2 ? command_find(argv[1]) : NULL;
	if (argc == 2 && !cmd)
		return command_unknown(argv[1]);
	if (cmd && cmd->run != cmd_help)
		return command_run(cmd, 2, args);
	print_overview(stdout);
	return EXIT_DONE;
}

static int print_version(void)
{
	printf("hbprof %s\n"
	       "built for %s with libbpf %s, libelf %s, zlib %s, cJSON %s, Zydis %s\n",
	       HBPROF_VERSION, BUILT_FOR_ARCH, BUILT_WITH_LIBBPF, BUILT_WITH_LIBELF,
	       BUILT_WITH_ZLIB, BUILT_WITH_CJSON, BUILT_WITH_ZYDIS);
	return EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
	const struct command *cmd;

	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_overview(stdout);
		return EXIT_DONE;
	}
	if (argv[1][0] == '-') {
		char title[] = "hbprof";

		argv[0] = title;
		return cmd_record(argc, argv);
	}
	cmd = command_find(argv[1]);
	return cmd ? command_run(cmd, argc - 1, argv + 1) : command_unknown(argv[1]);
}

static bool stdout_closed;

/* A report that went to a full disk has failed, though every command before it succeeded. */
static int close_stdout(int status)
{
	bool bad = ferror(stdout);

	stdout_closed = true;
	errno = 0;
	if (!fclose(stdout) && !bad)
		return status;
	if (!output__said())
		log_err("cannot write to standard output: %s",
			errno ? strerror(errno) : "write error");
	return status == EXIT_DONE ? EXIT_FAILED : status;
}

/* argp prints --help and ends the process itself. */
static void close_at_exit(void)
{
	if (!stdout_closed && close_stdout(EXIT_DONE))
		_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	argp_err_exit_status = EXIT_USAGE;
	atexit(close_at_exit);
	return close_stdout(dispatch(argc, argv));
}
