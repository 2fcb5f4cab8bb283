// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_runtime.c - sites in the Go runtime itself: what tells of recovered panics, how long the world is
 * stopped, and how often goroutines give up their thread. Starts of goroutines are plan_starts.c's.
 */
#include <errno.h>
#include <string.h>

#include "probe/site_impl.h"
#include "sym/registry.h"
#include "trace/plan_impl.h"

/* ---- panics --------------------------------------------------------------------------------- */

/* A probe on a function of the Go runtime that is rare and says what happens to stacks. */
static int runtime_site(struct plan_image *pi, const char *name, u8 role, u32 entry_regs)
{
	struct site_want want = {.entry_regs = entry_regs, .lang = HB_LANG_GO};
	const struct sym *s;
	const char *why;
	struct site site;
	struct code body;

	if (!symtab__find(pi->syms, name, &s, 1))
		return 0;
	body = (struct code){.ops = pi->ops,
			     .bytes = image__at(pi->im, s->vaddr, s->size),
			     .len = s->size,
			     .vaddr = s->vaddr};
	if (!body.bytes || site__entry(&body, &want, 0, &site, &why))
		return 0;
	site.role = role;
	return site_list__add(&pi->sites, &site);
}

/* Go: a recovered panic leaves frames behind; the runtime's own function tells which. */
static int image_recovery_site(struct plan *pl, u32 image)
{
	struct plan_image *pi = &pl->image[image];
	int err;

	if (!pi->layout.panic_off && !pi->layout.sigcode_off) {
		plan__warn(
			pl,
			"%s was built by %s, whose runtime layout is not known: calls nested in a "
			"recovered panic's leftovers may be missed",
			pi->path, pi->build->go_version);
		return 0;
	}
	err = runtime_site(pi, "runtime.recovery", HB_ROLE_RECOVER, 1);
	if (!err)
		err = runtime_site(pi, "runtime.gopanic", HB_ROLE_PANIC, 0);
	return err ? err : runtime_site(pi, "runtime.Goexit", HB_ROLE_PANIC, 0);
}

/* ---- pauses --------------------------------------------------------------------------------- */

/* Is the time that stopping the world takes to be measured? groups.json has the function. */
static bool measures_stops(const struct plan *pl, u32 image)
{
	for (u32 i = 0; i < pl->nr_funcs; i++) {
		const struct plan_func *pf = &pl->func[i];

		if (pf->image == image && (pf->f->traits & REGISTRY_AROUND) &&
		    !strcmp(pf->f->name, "runtime.stopTheWorldWithSema"))
			return true;
	}
	return false;
}

/* Behind the call of another function in this one. False: there is not exactly one such call, or no
 * site for it. */
static bool site_behind_call(const struct plan_image *pi, const struct code *body, u64 callee,
			     struct site *out)
{
	struct site_want want = {.lang = HB_LANG_GO};
	struct insn in;
	u64 ra = 0;

	for (u64 at = body->vaddr; code__contains(body, at); at += in.len) {
		if (code__decode(body, at, &in)) {
			in.len = pi->ops->min_len;
			continue;
		}
		if (in.kind != INSN_CALL_REL || in.target != callee)
			continue;
		if (ra)
			return false;
		ra = at + in.len;
	}
	return ra && !site__return(body, true, ra, &want, out);
}

/*
 * Then so is how long it stands still. startTheWorldWithSema gives all goroutines leave to run when
 * procresize has returned (runtime/proc.go, Go 1.20 to 1.26); behind that it wakes threads, any of which
 * may take the CPU from it, so that its own return says little.
 */
static int image_pause_sites(struct plan *pl, u32 image)
{
	struct plan_image *pi = &pl->image[image];
	const struct sym *start, *resize;
	size_t before = pi->sites.nr;
	struct site end;
	struct code body;
	int err;

	if (pi->world || !measures_stops(pl, image) ||
	    !symtab__find(pi->syms, "runtime.startTheWorldWithSema", &start, 1) ||
	    !symtab__find(pi->syms, "runtime.procresize", &resize, 1))
		return 0;
	body = (struct code){.ops = pi->ops,
			     .bytes = image__at(pi->im, start->vaddr, start->size),
			     .len = start->size,
			     .vaddr = start->vaddr};
	if (!body.bytes || !site_behind_call(pi, &body, resize->vaddr, &end))
		return 0;
	end.role = HB_ROLE_STARTED;
	end.func = SITE_NO_FUNC;
	err = runtime_site(pi, "runtime.stopTheWorldWithSema", HB_ROLE_STOP, 0);
	if (err || pi->sites.nr == before)
		return err;
	err = site_list__add(&pi->sites, &end);
	pi->world = !err;
	return err;
}

/* ---- rates ---------------------------------------------------------------------------------- */

const char *const hb_rate_names[HB_RATE_NR] = {
	[HB_RATE_GOPARK] = "runtime.gopark",
	[HB_RATE_MCALL] = "runtime.mcall",
};

/* Not among the image's other sites, as these are probed in windows only. */
static void image_rate_sites(struct plan_image *pi)
{
	struct site_want want = {.lang = HB_LANG_GO};

	for (u32 i = 0; i < HB_RATE_NR; i++) {
		const struct sym *s;
		struct code body;
		const char *why;

		if (!symtab__find(pi->syms, hb_rate_names[i], &s, 1))
			return;
		body = (struct code){.ops = pi->ops,
				     .bytes = image__at(pi->im, s->vaddr, s->size),
				     .len = s->size,
				     .vaddr = s->vaddr};
		if (!body.bytes || site__entry(&body, &want, SITE_NO_FUNC, &pi->rate[i], &why))
			return;
	}
	pi->rates = true;
}

int plan__runtime_sites(struct plan *pl, u32 image)
{
	struct plan_image *pi = &pl->image[image];
	int err;

	if (!pi->build || !pi->syms || !pi->ops)
		return 0;
	err = image_recovery_site(pl, image);
	if (!err)
		err = image_pause_sites(pl, image);
	if (!err && pl->opts.rates && !pi->rates)
		image_rate_sites(pi);
	return err;
}
