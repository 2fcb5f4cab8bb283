// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record.c - `hbprof --pid N`: the options, and what is done in which order. Which processes is in
 * targets.c, the wait for the end in record_loop.c; what is measured and how, in trace/.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/calstore.h"
#include "capture/capture.h"
#include "capture/host.h"
#include "capture/host_run.h"
#include "cmd/cmd.h"
#include "cmd/codecopt.h"
#include "cmd/filearg.h"
#include "cmd/live.h"
#include "cmd/output.h"
#include "cmd/record.h"
#include "cmd/record_loop.h"
#include "cmd/targets.h"
#include "target/spawn.h"
#include "trace/plan.h"
#include "trace/goprocs.h"
#include "trace/others.h"
#include "trace/sampler.h"
#include "trace/session.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/fsutil.h"
#include "util/log.h"
#include "util/units.h"

enum {
	OPT_EXIT = 256,
	OPT_PROBE,
	OPT_CODECS,
	OPT_FORMAT,
	OPT_FUNCTIONS,
	OPT_MAX_TASKS,
	OPT_MAX_ROWS,
	OPT_MAX_SITES,
	OPT_MAX_CONNS,
	OPT_STACKS,
	OPT_NO_STACKS,
	OPT_COUNTERS,
	OPT_SCHED,
	OPT_NO_LIVE,
	OPT_REQUESTS,
	OPT_FOLLOW_GO,
	OPT_SCHED_RATES,
};

static const struct argp_option options[] = {
	{"probe", OPT_PROBE, "NAME[=OP]", 0,
	 "Also measure the function NAME; OP is encode or decode (may be repeated)", 1},
	{"codecs", OPT_CODECS, "FILE", 0, CODECS_HELP, 1},
	{"duration", 'd', "TIME", 0, "Stop after TIME: 10s, 500ms (default: until Ctrl-C)", 2},
	{"exit", OPT_EXIT, "MODE", 0,
	 "Where a call's end is seen: site, the return address (default), or ret, the function's "
	 "return instructions (default on arm64)",
	 2},
	{"functions", OPT_FUNCTIONS, NULL, 0,
	 "Go on probing functions whose calls are all inside of others of their codec and operation",
	 2},
	{"max-tasks", OPT_MAX_TASKS, "N", 0,
	 "Goroutines or threads followed at once (default 65536); calls of others are counted as "
	 "dropped",
	 2},
	{"max-rows", OPT_MAX_ROWS, "N", 0,
	 "Rows of the result: function, payload size class, outcome (default: by functions)", 2},
	{"max-sites", OPT_MAX_SITES, "N", 0,
	 "Probes at once (default: no limit; 256 before Linux 6.6, where taking one off takes long); "
	 "return sites beyond are probed when a call from them is seen",
	 2},
	{"max-conns", OPT_MAX_CONNS, "N", 0,
	 "With --requests: TCP connections followed at once (default 65536); system calls on others "
	 "are counted as lost",
	 2},
	{"requests", OPT_REQUESTS, NULL, 0,
	 "Also measure requests on TCP connections, and the share of codec calls in them; while it "
	 "runs, each read, write, connect and accept on this machine takes a little longer",
	 1},
	{"sched-rates", OPT_SCHED_RATES, NULL, 0,
	 "With --requests: count how often goroutines give up their thread (gopark, mcall), for 100 ms of "
	 "every 10 s; what overlaps these is in no latency",
	 1},
	{"follow-go", OPT_FOLLOW_GO, NULL, 0,
	 "With --requests: what goroutines do that a request has started belongs to that request; each "
	 "start of a goroutine then costs the program some 2 us",
	 1},
	{"stacks", OPT_STACKS, NULL, 0,
	 "Take CPU samples: stacks, and how much CPU time calls use (default)", 2},
	{"no-stacks", OPT_NO_STACKS, NULL, 0, "Take no CPU samples", 2},
	{"counters", OPT_COUNTERS, "LIST", 0,
	 "What to count in each call: cycles,instructions,cache-misses,page-faults,... or none "
	 "(default: what this machine counts of the usual ones)",
	 2},
	{"sched", OPT_SCHED, NULL, 0,
	 "Count for each call its time on the CPU, waiting for one, and blocked (every context "
	 "switch of the machine becomes a little dearer)",
	 2},
	{"frequency", 'F', "HZ", 0, "CPU samples a second and CPU (default 99)", 2},
	{"output", 'o', "FILE", 0,
	 "Write the capture to FILE (default hbprof-PID.hbp); '-' is stdout", 3},
	{"format", OPT_FORMAT, "FORMAT", 0, "Report as table (default), json or csv", 3},
	{"no-live", OPT_NO_LIVE, NULL, 0, "Show no table while recording on a terminal", 3},
	{"quiet", 'q', NULL, 0, "Write the capture; no live table, no report", 3},
	{"verbose", 'v', NULL, 0, "Say more on stderr; twice: debugging", 3},
	{0},
};

static void parse_number(struct argp_state *st, const char *what, const char *arg, u64 max,
			 u64 *out)
{
	if (parse_u64(arg, max, out) || !*out)
		argp_error(st, "%s '%s' is not a number from 1 to %llu", what, arg, max);
}

static void set_format(struct argp_state *st, const char *arg, enum report_format *out)
{
	if (!strcmp(arg, "table"))
		*out = REPORT_TABLE;
	else if (!strcmp(arg, "json"))
		*out = REPORT_JSON;
	else if (!strcmp(arg, "csv"))
		*out = REPORT_CSV;
	else
		argp_error(st, "--format is 'table', 'json' or 'csv', not '%s'", arg);
}

static void set_counters(struct argp_state *st, const char *arg)
{
	struct counters c;
	char why[128];

	if (counters__parse(&c, arg, why, sizeof(why)))
		argp_error(st, "--counters: %s", why);
}

static error_t parse_option(int key, char *arg, struct argp_state *st)
{
	struct record_opts *o = st->input;

	switch (key) {
	case OPT_PROBE:
		o->probe[o->nr_probes++] = arg;
		return 0;
	case OPT_CODECS:
		o->codecs[o->nr_codecs++] = file_arg(st, "--codecs", arg);
		return 0;
	case 'd':
		if (parse_duration_ns(arg, &o->duration_ns) || !o->duration_ns)
			argp_error(st, "--duration '%s' is not a time like 10s, 500ms or 2m", arg);
		return 0;
	case OPT_EXIT:
		if (strcmp(arg, "site") && strcmp(arg, "ret"))
			argp_error(st, "--exit is 'site' or 'ret', not '%s'", arg);
		o->exit_by = !strcmp(arg, "ret") ? PLAN_EXIT_RET : PLAN_EXIT_SITE;
		return 0;
	case OPT_FUNCTIONS:
		o->functions = true;
		return 0;
	case OPT_MAX_TASKS:
		parse_number(st, "--max-tasks", arg, 1u << 22, &o->max_tasks);
		return 0;
	case OPT_MAX_ROWS:
		parse_number(st, "--max-rows", arg, 1u << 16, &o->max_rows);
		return 0;
	case OPT_MAX_SITES:
		parse_number(st, "--max-sites", arg, 1u << 16, &o->max_sites);
		return 0;
	case OPT_MAX_CONNS:
		parse_number(st, "--max-conns", arg, 1u << 22, &o->max_conns);
		return 0;
	case OPT_REQUESTS:
		o->requests = true;
		return 0;
	case OPT_SCHED_RATES:
		o->sched_rates = true;
		return 0;
	case OPT_FOLLOW_GO:
		o->follow_go = true;
		return 0;
	case OPT_STACKS:
	case OPT_NO_STACKS:
		o->no_stacks = key == OPT_NO_STACKS;
		return 0;
	case OPT_SCHED:
		o->sched = true;
		return 0;
	case OPT_COUNTERS:
		set_counters(st, arg);
		o->counters = arg;
		return 0;
	case 'F':
		parse_number(st, "--frequency", arg, SAMPLER_MAX_HZ, &o->sample_hz);
		return 0;
	case 'o':
		o->output = file_arg(st, "-o", arg);
		return 0;
	case OPT_FORMAT:
		set_format(st, arg, &o->format);
		return 0;
	case OPT_NO_LIVE:
		o->no_live = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose++;
		return 0;
	case ARGP_KEY_END:
		if (o->follow_go && !o->requests)
			argp_error(st, "--follow-go is of requests: add --requests");
		if (o->max_conns && !o->requests)
			argp_error(st, "--max-conns is of requests: add --requests");
		if (o->sched_rates && !o->requests)
			argp_error(st, "--sched-rates is of requests: add --requests");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp record_argp = {.options = options, .parser = parse_option};

/* ---- the command -------------------------------------------------------------------------- */

/* For `hbprof list`. Nothing that was measured here depends on it. */
static void keep_calibration(const struct recording *rec)
{
	int err = calstore__save(rec);

	if (err)
		log_info("what probes cost here is not kept for hbprof list: %s", strerror(-err));
}

struct delivery {
	const struct recording *rec;
	struct report_opts ro;
	const char *path; /* of the capture; NULL: it could not be written */
};

static int print_delivery(const void *arg, FILE *f)
{
	const struct delivery *d = arg;
	int err = report__print(d->rec, &d->ro, f);

	if (err || !d->path || d->ro.format != REPORT_TABLE)
		return err;
	errno = 0;
	fprintf(f, "\ncapture: %s   (hbprof report %s shows it again)\n", d->path, d->path);
	return fflush(f) ? (errno ? -errno : -EIO) : 0;
}

/* The capture comes first: a reader of stdout that has gone must not cost the measurement. */
static int deliver(const struct record_opts *o, const struct recording *rec, FILE *to)
{
	struct delivery d = {rec, {.format = o->format, .width = report_width(fileno(to))}, NULL};
	const char *path = o->output;
	int err, status = EXIT_DONE;

	err = capture__write(rec, path);
	if (err) {
		output__say(path, "the capture", err);
		status = EXIT_FAILED;
	} else if (strcmp(path, "-")) {
		log_info("capture written to %s", path);
		d.path = path;
	}
	if (o->quiet || !strcmp(path, "-"))
		return status;
	return output__stream(to, "the report", print_delivery, &d) ? EXIT_FAILED : status;
}

/* The machine, and who else looks at the processes. */
struct surroundings {
	struct host_run *run;
	struct others before;
	struct goprocs go;
};

/* Before the first probe: a breakpoint that stands in the code then is somebody else's. */
static int surroundings__begin(struct surroundings *a, const struct plan *plan,
			       const struct session *s)
{
	struct recording *rec = session__recording(s);
	int err = host__read("", &rec->host);

	if (!err)
		err = host_run__new("", &a->run);
	for (u32 i = 0; i < plan->nr_procs && !err; i++)
		host_run__target(a->run, plan->proc[i].proc->pid);
	if (!err)
		err = others__look(plan, &a->before);
	if (!err)
		others__log(&a->before);
	return err ? err : goprocs__look(&a->go, s);
}

/* Once the last probe is off. */
static int surroundings__end(struct surroundings *a, const struct plan *plan,
			     const struct session *s)
{
	struct recording *rec = session__recording(s);
	struct others after = {0};
	int err = others__look(plan, &after);

	if (!err)
		err = others__tell(&a->before, &after, rec);
	if (!err)
		err = host_run__facts(a->run, rec);
	if (!err)
		err = goprocs__look(&a->go, s);
	if (!err)
		err = goprocs__tell(&a->go, &rec->host);
	others__fini(&after);
	return err;
}

static void surroundings__fini(struct surroundings *a)
{
	others__fini(&a->before);
	goprocs__fini(&a->go);
	host_run__free(a->run);
}

/* From the programs in the kernel to the moment that calls count. enum cmd_exit. */
static int begin(const struct record_opts *o, struct waiter *w, struct session *s,
		 const struct targets *t, struct spawned *child)
{
	char took[16];
	int err = session__attach(s);

	if (err)
		return err == -ESRCH || err == -ENODATA ? EXIT_NOTHING : EXIT_FAILED;
	err = targets__follow(t, s);
	if (!err)
		err = waiter__arm(w, o->duration_ns, s);
	if (err) {
		log_err("cannot wait for events: %s", strerror(-err));
		return EXIT_FAILED;
	}
	err = session__start(s);
	if (!err && child)
		err = spawn__release(child);
	if (err) {
		log_err("cannot begin: %s", strerror(-err));
		return EXIT_FAILED;
	}
	log_info("measuring %u functions, %s after the start", s->plan->nr_funcs,
		 format_ns(took, sizeof(took), mono_ns() - o->start_mono_ns));
	return EXIT_DONE;
}

static int measure(const struct record_opts *o, struct waiter *w, struct plan *plan,
		   struct targets *t, struct spawned *child)
{
	struct session_opts so = {.max_tasks = o->max_tasks,
				  .max_rows = o->max_rows,
				  .max_sites = o->max_sites,
				  .max_conns = o->max_conns,
				  .counters = o->counters,
				  .sched = o->sched,
				  .functions = o->functions,
				  .sample_hz = o->no_stacks ? 0 : o->sample_hz,
				  .requests = o->requests,
				  .follow = !t->no_children || targets__wait(t),
				  .meant = targets__wait(t) ? &t->meant : NULL,
				  .only_meant = t->no_children};
	struct surroundings around = {0};
	struct session *s = NULL;
	struct live *view = NULL;
	int status = EXIT_FAILED, err;

	err = session__open(plan, &so, &s);
	if (err)
		goto out;
	if (surroundings__begin(&around, plan, s)) {
		log_err("no memory for the facts of this machine");
		goto out;
	}
	w->host = around.run;
	w->go = &around.go;
	status = begin(o, w, s, t, child);
	if (status)
		goto out;
	w->lines = !o->quiet && !o->no_live && !child && !isatty(STDOUT_FILENO) &&
		   isatty(STDERR_FILENO);
	if (!o->no_live && !o->quiet && !child && strcmp(o->output, "-"))
		view = live__open(s, around.run);
	err = record_loop(w, s, &view);
	live__close(view);
	if (err)
		log_err("measuring was cut short: %s", strerror(-err));
	/* What was measured until then is still a result. */
	status = EXIT_FAILED;
	if (session__stop(s, w->reason ? w->reason : "error") ||
	    surroundings__end(&around, plan, s))
		goto out;
	keep_calibration(session__recording(s));
	status = deliver(o, session__recording(s), child ? stderr : stdout);
	if (!status && !session__recording(s)->nr_targets) {
		log_err("nothing was measured: no process with a function that is looked for");
		status = EXIT_NOTHING;
	}
	if (err)
		status = EXIT_FAILED;
out:
	surroundings__fini(&around);
	session__close(s);
	return status;
}

/* Links, processes and their files are descriptors. */
static void raise_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r))
		log_debug("the limit of open files stays as it is: %s", strerror(errno));
}

int record(const struct record_opts *o, struct targets *t, struct spawned *child)
{
	struct plan_opts po = {.probe = o->probe,
			       .nr_probes = o->nr_probes,
			       .exit_by = o->exit_by,
			       .follow_go = o->follow_go,
			       .rates = o->sched_rates};
	struct registry *codecs = NULL;
	struct plan *plan = NULL;
	struct waiter w = WAITER_NONE;
	int status = targets__open(t), err;

	if (status)
		goto out;
	status = EXIT_FAILED;
	if (codecopt__open(o->codecs, o->nr_codecs, o->requests, &codecs))
		goto out;
	po.registry = codecs;
	err = strcmp(o->output, "-") ? fs_check_replace(o->output) : 0;
	if (err) {
		output__say(o->output, "the capture", err);
		goto out;
	}
	raise_limit();
	if (geteuid())
		log_info("not root: attaching will need CAP_BPF and CAP_PERFMON");
	err = waiter__open(&w, child ? child->pid : 0, targets__wait(t));
	if (err) {
		log_err("cannot watch for signals: %s", strerror(-err));
		goto out;
	}
	status = targets__plan(t, &po, &plan);
	if (!status)
		status = measure(o, &w, plan, t, child);
out:
	plan__free(plan);
	registry__close(codecs);
	waiter__close(&w);
	return status;
}

int record_opts__init(struct record_opts *o, int argc)
{
	*o = (struct record_opts){.start_mono_ns = mono_ns(), .sample_hz = SAMPLER_DEFAULT_HZ};
	o->probe = array_alloc((size_t)argc + 1, sizeof(*o->probe));
	o->codecs = array_alloc((size_t)argc + 1, sizeof(*o->codecs));
	return o->probe && o->codecs ? 0 : -ENOMEM;
}

void record_opts__fini(struct record_opts *o)
{
	free(o->probe);
	free(o->codecs);
}

/* ---- hbprof record ------------------------------------------------------------------------ */

struct record_cmd {
	struct record_opts *opts;
	struct targets *targets;
};

static error_t parse_command(int key, char *arg, struct argp_state *st)
{
	struct record_cmd *c = st->input;

	switch (key) {
	case ARGP_KEY_INIT:
		st->child_inputs[0] = c->targets;
		st->child_inputs[1] = c->opts;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{&targets_argp, 0, NULL, 0},
	{&record_argp, 0, NULL, 0},
	{0},
};

static const struct argp command_argp = {
	.parser = parse_command,
	.children = children,
	.doc = "Measure the codec calls of running processes: exact counts and latency percentiles, with "
	       "the probe's own cost removed. Ctrl-C ends it, writes a capture and prints its report.",
};

int cmd_record(int argc, char **argv)
{
	struct record_opts o;
	struct targets t = {0};
	struct record_cmd c = {&o, &t};
	char name[64];
	int status = EXIT_FAILED;

	if (record_opts__init(&o, argc))
		return EXIT_FAILED;
	argp_parse(&command_argp, argc, argv, 0, NULL, &c);
	if (!o.output) {
		snprintf(name, sizeof(name), "hbprof-%d.hbp", t.nr ? (int)t.pid[0] : (int)getpid());
		o.output = name;
	}
	if (o.verbose)
		log_set_level(o.verbose > 1 ? LOG_DEBUG : LOG_INFO);
	status = record(&o, &t, NULL);
	targets__fini(&t);
	record_opts__fini(&o);
	return status;
}
