// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan_explain.c - what to tell a user whose process has nothing to measure, or not what was named. */
#include "trace/plan_impl.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

/* The executable is mapped first. */
static const struct plan_image *plan_exe(const struct plan *pl)
{
	return pl->nr_images ? &pl->image[0] : NULL;
}

/* "process 4242", "./server" */
static const char *plan_target(const struct plan *pl, char *buf, size_t len)
{
	const struct proc *p = pl->proc[0].proc;

	if (!p->pid)
		return p->exe;
	if (pl->nr_procs > 1)
		snprintf(buf, len, "%u processes", pl->nr_procs);
	else
		snprintf(buf, len, "process %d", (int)p->pid);
	return buf;
}

const char *plan_shown(const char *spec, char buf[PLAN_SHOWN])
{
	size_t len = strlen(spec), room = PLAN_SHOWN - sizeof("...");

	if (len < PLAN_SHOWN)
		return spec;
	while (room && (spec[room] & 0xc0) == 0x80)
		room--; /* within a character of UTF-8 */
	memcpy(buf, spec, room);
	memcpy(buf + room, "...", sizeof("..."));
	return buf;
}

/* The name in NAME=OP, if that is a Go function without code of its own. */
static u32 inlined_places(const struct plan *pl, const char *spec)
{
	const char *eq = strrchr(spec, '=');
	bool op = eq && (!strcmp(eq, "=encode") || !strcmp(eq, "=decode"));
	char *name = strndup(spec, op ? (size_t)(eq - spec) : strlen(spec));
	u32 places = name ? plan__go_inlined(pl, name) : 0;

	free(name);
	return places;
}

static int explain_probe(const struct plan *pl, const char *spec, bool unsupported)
{
	const struct plan_image *exe = plan_exe(pl);
	char who[32], shown[PLAN_SHOWN];
	u32 places;

	if (!spec[0] || spec[0] == '=') {
		log_err("--probe needs a function's name: --probe NAME[=encode|decode]");
		return -EINVAL;
	}
	places = inlined_places(pl, spec);
	spec = plan_shown(spec, shown);
	if (places)
		log_err("--probe '%s': it has no code of its own: the compiler has inlined it "
			"wherever it is called (%u place%s); name a caller, or mark it "
			"//go:noinline",
			spec, places, places == 1 ? "" : "s");
	else if (unsupported)
		log_err("--probe '%s': only imported here, or an IFUNC whose body has another name; "
			"name the function that does the work",
			spec);
	else if (exe && exe->syms && !exe->syms->nr)
		log_err("--probe '%s': no such function; %s has no symbols (stripped?)", spec,
			exe->path);
	else
		log_err("--probe '%s': no such function in %s%s; it may be inlined, or spelled "
			"differently ('nm -C' or 'go tool nm' lists names)",
			spec, plan_target(pl, who, sizeof(who)),
			!pl->proc[0].proc->pid ? ""
			: pl->nr_procs > 1     ? " or their libraries"
					       : " or its libraries");
	return -ENOENT;
}

static bool has_state(const struct plan *pl, enum registry_state state)
{
	for (size_t i = 0; i < registry__size(pl->registry); i++) {
		if (pl->alt[i].state == state)
			return true;
	}
	return false;
}

static int explain_nothing(const struct plan *pl, const struct registry_report *rep)
{
	const struct plan_image *exe = plan_exe(pl);
	const char *lang = pl->proc[0].language;
	char who[32], names[1024];
	size_t nr = 0;

	registry__names(pl->registry, names, sizeof(names));

	for (u32 i = 0; i < pl->nr_images; i++)
		nr += pl->image[i].syms ? pl->image[i].syms->nr : 0;
	if (pl->nr_warnings) {
		for (u32 i = 0; i < pl->nr_warnings; i++)
			log_err("%s", pl->warning[i]);
	} else if (exe && !exe->ops) {
		log_err("%s is code for %s, which this build of hbprof cannot decode%s", exe->path,
			exe->im->machine == EM_X86_64 ? "x86-64" : "another machine",
			exe->im->machine == EM_X86_64 ? ": use one for x86-64" : "");
	} else if (rep->linked[0] && !has_state(pl, REGISTRY_INLINED) &&
		   has_state(pl, REGISTRY_IMPORTED)) {
		log_err("%s (%s): %s is called, but its code is in another file that was not seen "
			"here; look at that library, or at a process that has loaded it",
			plan_target(pl, who, sizeof(who)), lang, rep->linked);
	} else if (rep->linked[0]) {
		log_err("%s (%s): %s is linked in, but none of its entry points is there: inlined "
			"everywhere or never called; name a function of your own that calls it "
			"with --probe",
			plan_target(pl, who, sizeof(who)), lang, rep->linked);
	} else {
		log_err("%s (%s): no known codec; looked for %s among %zu functions of %u files; "
			"name functions with --probe, or codecs with --codecs",
			plan_target(pl, who, sizeof(who)), lang, names, nr, pl->nr_images);
	}
	return -ENOENT;
}

int plan__explain(struct plan *pl, const struct registry_report *rep)
{
	const struct plan_opts *o = &pl->opts;
	int err;

	if (o->later)
		return 0;
	for (size_t i = 0; i < o->nr_probes; i++) {
		if (!pl->probe_hits[i])
			return explain_probe(pl, o->probe[i], pl->probe_unsupported[i]);
	}
	err = pl->nr_funcs ? 0 : explain_nothing(pl, rep);
	return o->allow_none ? 0 : err;
}
