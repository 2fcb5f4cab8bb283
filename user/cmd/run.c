// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * run.c - `hbprof run -- COMMAND`: starts a command and measures it from its first instruction. How it is
 * held until it is measured is in target/spawn.c, the measuring is record.c's.
 */
#include <argp.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record.h"
#include "cmd/targets.h"
#include "target/spawn.h"
#include "util/array.h"
#include "util/log.h"
#include "util/units.h"

/* What a shell and env(1) end with. */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND	  127

enum {
	OPT_NO_CHILDREN = 0x500, /* beside the options that record has, too */
	OPT_AS_USER,
};

static const struct argp_option options[] = {
	{"no-children", OPT_NO_CHILDREN, NULL, 0,
	 "Do not measure what the command forks, or runs instead of itself", 1},
	{"as-user", OPT_AS_USER, NULL, 0,
	 "Run the command as the user who has called sudo; hbprof stays root", 1},
	{0},
};

struct run_cmd {
	struct record_opts opts;
	bool no_children, as_user;
	char **argv; /* of the command; ends in NULL */
};

static error_t parse_option(int key, char *arg, struct argp_state *st)
{
	struct run_cmd *c = st->input;

	switch (key) {
	case ARGP_KEY_INIT:
		st->child_inputs[0] = &c->opts;
		return 0;
	case OPT_NO_CHILDREN:
		c->no_children = true;
		return 0;
	case OPT_AS_USER:
		c->as_user = true;
		return 0;
	case ARGP_KEY_ARG:
		/* The first word that is no option, and all behind it. */
		c->argv = &st->argv[st->next - 1];
		st->next = st->argc;
		return 0;
	case ARGP_KEY_END:
		if (!c->argv || !*c->argv[0])
			argp_error(st, "which command? hbprof run [OPTION...] -- COMMAND [ARG...]");
		if (c->opts.output && !strcmp(c->opts.output, "-"))
			argp_error(st, "--output - is the command's stdout; name a file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{&record_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "-- COMMAND [ARG...]",
	.doc = "Run a command and measure its codec calls from the first one on, and those of what it "
	       "starts. The report goes to stderr, the exit status is the command's.",
	.children = children,
};

static const struct passwd *find_user(void)
{
	const char *sudo = getenv("SUDO_UID");
	const struct passwd *pw;
	u64 uid;

	if (!sudo || parse_u64(sudo, (u32)~0u - 1, &uid)) {
		log_err("--as-user: hbprof was not called by sudo; 'sudo -u USER COMMAND' as the "
			"command does it for any user");
		return NULL;
	}
	pw = getpwuid((uid_t)uid);
	if (!pw)
		log_err("--as-user: no user has the id %s (SUDO_UID)", sudo);
	return pw;
}

static int say_not_started(const char *name, int err, bool from_exec)
{
	if (!from_exec) {
		log_err("cannot hold %s at its start: %s", name,
			err == -ECHILD ? "it ended before" : strerror(-err));
		return EXIT_FAILED;
	}
	if (err == -ENOENT && !strchr(name, '/')) {
		log_err("%s: command not found", name);
		return EXIT_NOT_FOUND;
	}
	log_err("cannot run %s: %s", name, strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static int start(const struct run_cmd *c, struct spawned *child)
{
	const struct passwd *pw = c->as_user ? find_user() : NULL;
	struct spawn_user user;
	bool from_exec;
	int err;

	if (c->as_user && !pw)
		return EXIT_USAGE;
	if (pw)
		user = (struct spawn_user){pw->pw_uid, pw->pw_gid, pw->pw_name};
	err = spawn__held(c->argv, pw ? &user : NULL, child, &from_exec);
	return err ? say_not_started(c->argv[0], err, from_exec) : EXIT_DONE;
}

/* Measures the command that is held; the status is the command's where it has run, and was measured. */
static int run(const struct run_cmd *c, struct spawned *child)
{
	struct targets t = {.no_children = c->no_children, .none_is_fine = !c->no_children};
	struct record_opts o = c->opts;
	char name[64];
	int status = EXIT_FAILED;

	t.pid = array_alloc(1, sizeof(*t.pid));
	if (!t.pid)
		goto out;
	t.pid[t.nr++] = child->pid;
	t.nr_named = t.cap = 1;
	if (!o.output) {
		snprintf(name, sizeof(name), "hbprof-%d.hbp", (int)child->pid);
		o.output = name;
	}
	status = record(&o, &t, child);
	if (child->held)
		spawn__kill(child); /* it has not begun */
	else if (!status)
		status = spawn__wait(child);
out:
	targets__fini(&t);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run_cmd c = {0};
	struct spawned child = {0};
	int status = EXIT_FAILED;

	if (record_opts__init(&c.opts, argc))
		return EXIT_FAILED;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c);
	if (c.opts.verbose)
		log_set_level(c.opts.verbose > 1 ? LOG_DEBUG : LOG_INFO);
	/* Before signals are blocked and limits raised: the command gets what hbprof was given. */
	status = start(&c, &child);
	if (!status)
		status = run(&c, &child);
	spawn__kill(&child);
	record_opts__fini(&c.opts);
	return status;
}
