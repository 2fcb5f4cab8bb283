/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - the subcommands. Each is one file in cmd/: its option table and its run function, which
 * main() calls with argv[0] set to what the user typed ("hbprof report"), so that argp's messages
 * begin with it. argp itself ends the process on --help and on usage errors, the latter with
 * EXIT_USAGE: main() sets argp_err_exit_status.
 */
#ifndef HBPROF_CMD_H
#define HBPROF_CMD_H

/* What every command returns. The manual pages list them: scripts rely on the numbers. */
enum cmd_exit {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOTHING = 3, /* nothing to trace: no codec in the target, or no such process */
	EXIT_TRIPPED = 4, /* a threshold of `compare` was exceeded */
};

/* record.c: attaches to a process, writes a capture, prints its report. The command when none is
 * named. */
int cmd_record(int argc, char **argv);
/* run.c: the same for a command that it starts. Its status is the command's. */
int cmd_run(int argc, char **argv);
/* list.c: shows the codecs in a process or file. */
int cmd_list(int argc, char **argv);
/* report.c: prints a capture. */
int cmd_report(int argc, char **argv);
/* flamegraph.c: draws folded stacks. */
int cmd_flamegraph(int argc, char **argv);
/* export.c: writes a capture in the format of another tool. */
int cmd_export(int argc, char **argv);
/* compare.c: ratios of the metrics of two or more captures. */
int cmd_compare(int argc, char **argv);
/* merge.c: several captures as one. */
int cmd_merge(int argc, char **argv);
/* check.c: what this machine can do. */
int cmd_check(int argc, char **argv);

#endif
