// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* targets.c - see targets.h. How a process is found by name or cgroup is in target/select.c. */
#include "cmd/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "trace/follow.h"
#include "trace/plan.h"
#include "trace/session.h"
#include "util/array.h"
#include "util/log.h"
#include "util/units.h"

enum {
	OPT_NAME = 0x400, /* beside the options of the commands */
	OPT_CGROUP,
	OPT_NO_CHILDREN,
	OPT_WAIT,
};

static const struct argp_option options[] = {
	{"pid", 'p', "N[,N...]", 0, "Process to measure (its process id; may be repeated)", 1},
	{"name", OPT_NAME, "PATTERN", 0,
	 "Measure all processes of this name, and those that start later (may be repeated)", 1},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "Measure all processes in this cgroup and below, and those that get there (may be repeated)",
	 1},
	{"wait", OPT_WAIT, NULL, 0,
	 "Wait, if no such process is there yet, or nothing in it to measure: a library that it will "
	 "load, say",
	 1},
	{"no-children", OPT_NO_CHILDREN, NULL, 0,
	 "Do not measure what the processes fork, or run instead of themselves", 1},
	{0},
};

/* ---- options ------------------------------------------------------------------------------ */

static int add_pid(struct targets *t, pid_t pid)
{
	for (u32 i = 0; i < t->nr; i++)
		if (t->pid[i] == pid)
			return 0;
	if (array_grow((void **)&t->pid, t->nr, &t->cap, sizeof(*t->pid)))
		return -ENOMEM;
	t->pid[t->nr++] = pid;
	return 0;
}

/* "4711" or "4711,4712"; one that is named twice is one process. */
static void add_pids(struct argp_state *st, const char *arg, struct targets *t)
{
	char *list = strdup(arg), *rest = list, *word;
	u64 pid;

	if (!list)
		argp_failure(st, EXIT_FAILED, ENOMEM, "--pid");
	while ((word = strsep(&rest, ","))) {
		if (parse_u64(word, 1u << 22, &pid) || !pid)
			argp_error(st, "--pid '%s' is not a number from 1 to %u", word, 1u << 22);
		if (add_pid(t, (pid_t)pid))
			argp_failure(st, EXIT_FAILED, ENOMEM, "--pid");
	}
	t->nr_named = t->nr;
	free(list);
}

static void add_word(struct argp_state *st, const char *arg, const char ***v, size_t *nr,
		     size_t *cap)
{
	if (!*arg)
		argp_error(st, "--name and --cgroup need a text: '' means no process");
	if (array_grow((void **)v, *nr, cap, sizeof(**v)))
		argp_failure(st, EXIT_FAILED, ENOMEM, "%s", arg);
	(*v)[(*nr)++] = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *st)
{
	struct targets *t = st->input;

	switch (key) {
	case 'p':
		add_pids(st, arg, t);
		return 0;
	case OPT_NAME:
		add_word(st, arg, &t->name, &t->nr_names, &t->cap_names);
		return 0;
	case OPT_CGROUP:
		add_word(st, arg, &t->cgroup, &t->nr_cgroups, &t->cap_cgroups);
		return 0;
	case OPT_NO_CHILDREN:
		t->no_children = true;
		return 0;
	case OPT_WAIT:
		t->wait = true;
		return 0;
	case ARGP_KEY_END:
		if (!t->nr && !targets__wait(t))
			argp_error(st, "which process? --pid N, --name NAME or --cgroup PATH");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp targets_argp = {.options = options, .parser = parse_option};

/* ---- processes ---------------------------------------------------------------------------- */

static int open_named(pid_t pid, struct proc **out)
{
	int err = proc__open(pid, out), n = (int)pid;

	if (err == -ESRCH)
		log_err("no process %d", n);
	else if (err == -EINVAL)
		log_err("%d is a thread, not a process; use the process id (Tgid in "
			"/proc/%d/status)",
			n, n);
	else if (err == -EACCES || err == -EPERM)
		log_err("cannot look at process %d: %s%s", n, strerror(-err),
			geteuid() ? " (hbprof needs root)" : "");
	else if (err)
		log_err("cannot look at process %d: %s", n, strerror(-err));
	if (err)
		return err == -ESRCH || err == -EINVAL ? EXIT_NOTHING : EXIT_FAILED;
	if ((*out)->kthread) {
		log_err("%d (%s) is a kernel thread; there is no user code to measure", n,
			(*out)->comm);
		return EXIT_NOTHING;
	}
	if ((*out)->pid == getpid()) {
		log_err("hbprof cannot measure itself");
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

static int find_cgroups(struct targets *t)
{
	for (size_t i = 0; i < t->nr_cgroups; i++) {
		int err = selection__add_cgroup(&t->meant, t->cgroup[i]);

		if (err == -ENODEV)
			log_err("--cgroup: no cgroup file system of version 2 is mounted here");
		else if (err)
			log_err("--cgroup '%s': %s; give a folder below a mount of cgroup2 "
				"(/sys/fs/cgroup), or relative to it",
				t->cgroup[i], err == -ENOENT ? "no such cgroup" : strerror(-err));
		if (err)
			return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

static int find_meant(struct targets *t)
{
	pid_t *found;
	size_t nr;
	int err;

	t->meant.name = t->name;
	t->meant.nr_names = t->nr_names;
	err = selection__list(&t->meant, &found, &nr);
	if (err) {
		log_err("cannot look through /proc: %s", strerror(-err));
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = add_pid(t, found[i]);
	free(found);
	if (!err && !t->nr && !t->wait) {
		log_err("no process is there that is meant by --name or --cgroup; --wait waits for "
			"one to start");
		return EXIT_NOTHING;
	}
	return err ? EXIT_FAILED : EXIT_DONE;
}

/* What was found, and has ended or may not be looked at by now, is left out. */
static int open_all(struct targets *t)
{
	t->proc = array_alloc((size_t)t->nr + 1, sizeof(*t->proc));
	t->left_out = array_alloc((size_t)t->nr + 1, sizeof(*t->left_out));
	if (!t->proc || !t->left_out)
		return EXIT_FAILED;
	for (u32 i = 0; i < t->nr; i++) {
		int status = EXIT_DONE;

		if (i < t->nr_named)
			status = open_named(t->pid[i], &t->proc[i]);
		else if (proc__open(t->pid[i], &t->proc[i]))
			t->proc[i] = NULL;
		if (status)
			return status;
	}
	return EXIT_DONE;
}

int targets__open(struct targets *t)
{
	int status = find_cgroups(t);

	if (!status && targets__wait(t))
		status = find_meant(t);
	t->none_is_fine |= t->wait;
	return status ? status : open_all(t);
}

int targets__plan(struct targets *t, const struct plan_opts *o, struct plan **out)
{
	struct proc **p = array_alloc((size_t)t->nr + 1, sizeof(*p));
	bool *left_out = array_alloc((size_t)t->nr + 1, sizeof(*left_out));
	struct plan_opts opts = *o;
	u32 nr = 0, at = 0;
	int err = -ENOMEM;

	opts.later = t->none_is_fine;
	for (u32 i = 0; p && i < t->nr; i++)
		if (t->proc[i])
			p[nr++] = t->proc[i];
	if (p && left_out)
		err = nr || opts.later ? plan__build_many(p, nr, &opts, left_out, out) : -ESRCH;
	for (u32 i = 0; i < t->nr && !err; i++) {
		t->left_out[i] = t->proc[i] && left_out[at++];
		if (t->left_out[i] && i < t->nr_named && !t->none_is_fine)
			log_warn("process %d (%s) is not measured: nothing that is looked for is "
				 "in it",
				 (int)t->proc[i]->pid, t->proc[i]->comm);
	}
	free(p);
	free(left_out);
	if (err == -ENOENT || err == -ESRCH)
		return EXIT_NOTHING;
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_DONE;
}

int targets__follow(const struct targets *t, struct session *s)
{
	int err = 0;

	for (u32 i = 0; i < t->nr && !err; i++)
		if (t->left_out[i])
			err = follow__watch(s, t->pid[i]);
	return err;
}

void targets__fini(struct targets *t)
{
	for (u32 i = 0; t->proc && i < t->nr; i++)
		proc__close(t->proc[i]);
	selection__fini(&t->meant);
	free(t->proc);
	free(t->left_out);
	free(t->pid);
	free(t->name);
	free(t->cgroup);
}
