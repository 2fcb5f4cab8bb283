// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan.c - reads images, and asks probe/ for the sites of the functions found in them. Which processes
 * and images there are is plan_procs.c's, where functions are called from plan_calls.c's, what to say
 * when nothing was found plan_explain.c's.
 */
#include "trace/plan.h"

#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe/site_impl.h"
#include "sym/registry.h"
#include "trace/plan_impl.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define BODY_UNKNOWN 4096 /* bytes looked at when a function's size is not known */
#define AFTER_RETURN 256  /* bytes looked at after a return address outside known functions */

u32 running_kernel(void)
{
	struct utsname u;
	unsigned int major, minor;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return major << 8 | (minor < 255 ? minor : 255);
}

int plan__warn(struct plan *pl, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	if (array_grow((void **)&pl->warning, pl->nr_warnings, &pl->cap_warnings,
		       sizeof(*pl->warning))) {
		free(s);
		return -ENOMEM;
	}
	pl->warning[pl->nr_warnings++] = s;
	return 0;
}

void plan_image__fini(struct plan_image *pi)
{
	site_list__fini(&pi->sites);
	symtab__close(pi->syms);
	buildinfo__close(pi->build);
	image__close(pi->im);
	free(pi->lib);
	free(pi->path);
}

void plan__free(struct plan *pl)
{
	if (!pl)
		return;
	for (u32 i = 0; i < pl->nr_images; i++)
		plan_image__fini(&pl->image[i]);
	for (u32 i = 0; i < pl->nr_warnings; i++)
		free(pl->warning[i]);
	for (u32 i = 0; i < pl->nr_funcs; i++)
		free(pl->func[i].tails_direct);
	plan__free_procs(pl);
	free(pl->image);
	free(pl->warning);
	free(pl->func);
	func_list__fini(&pl->list);
	free(pl->alt);
	free(pl->probe_hits);
	free(pl->probe_unsupported);
	registry__close(pl->own_registry);
	free(pl);
}

struct site_want plan__want(const struct func *f)
{
	struct site_want w = {.lang = f->lang};

	if (f->size_in.kind != HB_VALUE_NONE)
		w.entry_regs |= 1u << f->size_in.reg;
	if (f->size_out.kind != HB_VALUE_NONE)
		w.exit_regs |= 1u << f->size_out.reg;
	if (f->err_kind != HB_ERR_NONE)
		w.exit_regs |= 1u << f->err.reg;
	return w;
}

/* ---- images ------------------------------------------------------------------------------- */

static void image_code_range(struct plan_image *pi)
{
	pi->lo = ~0ULL;
	pi->hi = 0;
	for (u32 i = 0; i < pi->im->nr_segs; i++) {
		const struct image_seg *s = &pi->im->seg[i];

		if (!s->exec)
			continue;
		if (s->vaddr < pi->lo)
			pi->lo = s->vaddr;
		if (s->vaddr + s->filesz > pi->hi)
			pi->hi = s->vaddr + s->filesz;
	}
}

int plan_image__load(const struct proc *p, const struct proc_map *m, struct plan_image *pi,
		     u64 *vaddr)
{
	int fd = plan_open_map(p, m), err, go_err = 0;
	u64 t0;
	char took[16];

	if (fd < 0)
		return fd;
	err = image__open_fd(fd, m->path, &pi->im);
	if (err) {
		close(fd);
		return err;
	}
	pi->path = strdup(m->path);
	if (!pi->path)
		return -ENOMEM;
	if (image__map_vaddr(pi->im, m->off, m->end - m->begin, vaddr))
		return -EBADMSG;
	pi->map_dev = m->dev;
	pi->map_ino = m->ino;
	pi->ops = insn_ops__find_on(pi->im->machine, running_kernel());
	image_code_range(pi);
	t0 = mono_ns();
	err = symtab__open(pi->im, &pi->syms, &go_err);
	if (err) {
		log_warn("%s: damaged symbol table; its functions are not found", m->path);
		pi->syms = NULL;
	}
	if (go_err && go_err != -ENOENT)
		log_warn(
			"%s: its Go function table cannot be read (%s); Go functions in it are not "
			"found",
			m->path, strerror(-go_err));
	if (pi->syms)
		log_debug("%s: %zu functions read in %s", m->path, pi->syms->nr,
			  format_ns(took, sizeof(took), mono_ns() - t0));
	if (buildinfo__open(pi->im, &pi->build))
		pi->build = NULL;
	if (pi->build && go_layout__find(pi->build->go_minor, pi->im->machine, &pi->layout))
		memset(&pi->layout, 0, sizeof(pi->layout));
	return 0;
}

/* ---- functions ---------------------------------------------------------------------------- */

static const struct func *func_of_code(const struct plan *pl, u32 image, u64 vaddr)
{
	for (u32 i = 0; i < pl->nr_funcs; i++) {
		if (pl->func[i].image == image && pl->func[i].f->vaddr == vaddr)
			return pl->func[i].f;
	}
	return NULL;
}

/* Two names for the same code: an alias, or functions that the linker has found to be equal. */
static int func_again(struct plan *pl, const struct func *known, const struct func *f)
{
	if (f->entry || !strcmp(known->name, f->name))
		return 0;
	return plan__warn(pl, "%s is the same code as %s: calls of either are counted as %s",
			  f->name, known->name, known->name);
}

/* Functions of the user's own are each a group: one of them inside another is a call of both. */
static int func_group(struct plan *pl, const struct func *f, u8 *group)
{
	u32 next = 0;

	for (u32 i = 0; i < pl->nr_funcs; i++) {
		const struct func *k = pl->func[i].f;
		bool own = !strcmp(f->codec, "probe");

		if (!strcmp(k->codec, f->codec) && !strcmp(k->op, f->op) &&
		    (!own || !strcmp(k->name, f->name))) {
			*group = pl->func[i].group;
			return 0;
		}
		if (pl->func[i].group >= next)
			next = pl->func[i].group + 1;
	}
	if (next >= PLAN_GROUP_CALIB)
		return -ENOSPC;
	*group = next;
	return 0;
}

static int func_body(const struct plan_image *pi, const struct func *f, struct code *out)
{
	u64 len = f->size ? f->size : BODY_UNKNOWN;

	while (len && !image__at(pi->im, f->vaddr, len))
		len /= 2;
	if (!len)
		return -EBADMSG;
	*out = (struct code){.ops = pi->ops,
			     .bytes = image__at(pi->im, f->vaddr, len),
			     .len = len,
			     .vaddr = f->vaddr};
	return 0;
}

/* Entry and, where that is how its exits are seen, the returns of one function. 0, or -ENOTSUP: it is
 * left out. */
static int func_sites(struct plan *pl, struct plan_func *pf, u32 id, enum plan_exit exit_by)
{
	struct plan_image *pi = &pl->image[pf->image];
	struct site_want want = plan__want(pf->f);
	const char *why = "";
	bool asked = false;
	struct site entry;
	struct code body;
	size_t before;
	int err;

	err = func_body(pi, pf->f, &body);
	if (!err)
		err = site__entry(&body, &want, id, &entry, &why);
	if (err) {
		plan__warn(pl, "%s is not measured: its entry cannot be probed (%s)", pf->f->name,
			   why && why[0] ? why : strerror(-err));
		return -ENOTSUP;
	}
	pf->entry_class = entry.cls;
	pf->tails = site__has_tails(&body);
	/* Behind a jump out, the frame is gone and the return address in its register again. */
	pf->ra_words = pf->tails ? HB_RA_NOWHERE : site__ra_words(&body);
	if (site_list__add(&pi->sites, &entry))
		return -ENOMEM;
	if (exit_by == PLAN_EXIT_AUTO)
		exit_by = pi->ops->ret_cheap ? PLAN_EXIT_RET : PLAN_EXIT_SITE;
	else
		asked = exit_by == PLAN_EXIT_RET;
	if (exit_by == PLAN_EXIT_SITE)
		return 0;
	/* At a jump out the call has not ended, and its result is not there yet. */
	if (pf->tails) {
		if (asked)
			plan__warn(pl, "%s may leave by a jump; return sites are used for it",
				   pf->f->name);
		return 0;
	}
	before = pi->sites.nr;
	err = site__rets(&body, id, &pi->sites);
	if (err == -ENOMEM)
		return err;
	if (err) {
		pi->sites.nr = before;
		if (asked)
			plan__warn(pl,
				   "%s: its returns cannot all be probed; return sites are used "
				   "for it",
				   pf->f->name);
		return 0;
	}
	pf->exit_ret = true;
	return 0;
}

static int func_add(struct plan *pl, u32 image, struct func *f, enum plan_exit exit_by)
{
	struct plan_func pf = {.f = f, .at = (u32)(f - pl->list.v), .image = image};
	const struct func *known = func_of_code(pl, image, f->vaddr);
	int err;

	if (known)
		return func_again(pl, known, f);
	if (func_group(pl, f, &pf.group)) {
		plan__warn(pl, "%s is not measured: more than %d codecs and operations at once",
			   f->name, PLAN_GROUP_CALIB);
		return 0;
	}
	if (array_grow((void **)&pl->func, pl->nr_funcs, &pl->cap_funcs, sizeof(*pl->func)))
		return -ENOMEM;
	if (pl->max_funcs && pl->nr_funcs >= pl->max_funcs) {
		pl->funcs_left_out++;
		return 0;
	}
	err = func_sites(pl, &pf, pl->nr_funcs, exit_by);
	if (err)
		return err == -ENOTSUP ? 0 : err;
	pl->func[pl->nr_funcs++] = pf;
	return 0;
}

/* ---- sites -------------------------------------------------------------------------------- */

/* What undoes the stack of C and C++ without passing a return (its first argument must be there where it is a
 * jmp_buf), or leaves it; and what loads libraries. */
static const struct {
	const char *symbol;
	u8 role;
} undoers[] = {
	{"longjmp", HB_ROLE_LONGJMP},
	{"__longjmp_chk", HB_ROLE_LONGJMP},
	{"__cxa_begin_catch", HB_ROLE_CATCH},
	{"swapcontext", HB_ROLE_SWITCH},
	{"setcontext", HB_ROLE_SWITCH},
	/* Of the dynamic linker, for debuggers: glibc and musl call it after a library was mapped and before
	 * one is unmapped (glibc 2.36 elf/dl-open.c, elf/dl-close.c; musl 1.2 ldso/dynlink.c). */
	{"_dl_debug_state", HB_ROLE_LOADED},
};

/*
 * Where the jmp_buf names no SP (bpf/arch.bpf.h): the places in longjmp(), or in what it calls, at which
 * the new SP is set.
 */
static int landing_sites(struct plan_image *pi, const struct code *longjmp)
{
	int err = site__landings(longjmp, &pi->sites);
	struct insn in;

	for (u64 at = longjmp->vaddr; code__contains(longjmp, at) && !err;
	     at += longjmp->ops->min_len) {
		struct code callee;
		bool bounded;

		if (!code__decode(longjmp, at, &in) && in.kind == INSN_CALL_REL &&
		    plan__code_at(pi, in.target, &callee, &bounded))
			err = site__landings(&callee, &pi->sites);
	}
	return err;
}

/* From the dynamic linker's probe to what it is about: see hb_site.sp_fix. */
static s32 to_link_state(const struct plan_image *pi, u64 site)
{
	s64 off;
	u64 at;

	if (!symtab__data(pi->im, "_r_debug", &at))
		return 0;
	off = (s64)(at + offsetof(struct r_debug, r_state) - site);
	return off == (s32)off ? (s32)off : 0;
}

static int image_undo_sites(struct plan *pl, u32 image)
{
	struct plan_image *pi = &pl->image[image];
	int err = 0;

	if (pi->undoers)
		return 0;
	pi->undoers = true;
	for (size_t i = 0; pi->syms && pi->ops && i < sizeof(undoers) / sizeof(*undoers) && !err;
	     i++) {
		struct site_want want = {.lang = HB_LANG_NATIVE};
		const struct sym *s;
		struct func f = {0};
		const char *why;
		struct site site;
		struct code body;

		if (!symtab__find(pi->syms, undoers[i].symbol, &s, 1) || s->ifunc)
			continue;
		f.vaddr = s->vaddr;
		f.size = s->size;
		if (undoers[i].role == HB_ROLE_LONGJMP)
			want.entry_regs = 1u << pi->ops->arg_reg;
		if (func_body(pi, &f, &body))
			continue;
		if (undoers[i].role == HB_ROLE_SWITCH) {
			err = site__switches(&body, &pi->sites);
			continue;
		}
		if (undoers[i].role == HB_ROLE_LONGJMP && pi->ops->ra_reg != INSN_NO_REG) {
			err = landing_sites(pi, &body);
			continue;
		}
		if (site__entry(&body, &want, 0, &site, &why))
			continue;
		site.role = undoers[i].role;
		if (site.role == HB_ROLE_LOADED)
			site.sp_fix = to_link_state(pi, site.vaddr);
		err = site_list__add(&pi->sites, &site);
	}
	return err;
}

/* Is a function of C, C++ or Rust planned that this process has? */
static bool proc_has_native(const struct plan *pl, u32 proc)
{
	for (u32 i = 0; i < pl->nr_funcs; i++)
		if (pl->func[i].f->lang == HB_LANG_NATIVE && plan__map(pl, proc, pl->func[i].image))
			return true;
	return false;
}

bool plan__code_at(const struct plan_image *pi, u64 vaddr, struct code *out, bool *bounded)
{
	const struct sym *s = pi->syms ? symtab__at(pi->syms, vaddr) : NULL;
	u64 len = AFTER_RETURN;

	*bounded = s && s->size && image__at(pi->im, s->vaddr, s->size);
	if (*bounded) {
		*out = (struct code){.ops = pi->ops,
				     .bytes = image__at(pi->im, s->vaddr, s->size),
				     .len = s->size,
				     .vaddr = s->vaddr};
		return pi->ops;
	}
	while (len && !image__at(pi->im, vaddr, len))
		len /= 2;
	*out = (struct code){.ops = pi->ops,
			     .bytes = len ? image__at(pi->im, vaddr, len) : NULL,
			     .len = len,
			     .vaddr = vaddr};
	return len && pi->ops;
}

int plan__ret_sites(const struct plan *pl, u32 func, struct site_list *out)
{
	const struct plan_func *pf = &pl->func[func];
	struct code body;
	int err = pf->tails ? -ENOTSUP : func_body(&pl->image[pf->image], pf->f, &body);

	return err ? err : site__rets(&body, func, out);
}

/* The list has been appended to, and may have moved. */
static void point_again(struct plan *pl)
{
	for (u32 i = 0; i < pl->nr_funcs; i++)
		pl->func[i].f = &pl->list.v[pl->func[i].at];
}

int plan__grow(struct plan *pl, u32 proc, const struct gather *g)
{
	const struct plan_proc *pp = &pl->proc[proc];
	u32 first = pl->nr_funcs;
	int err = 0;

	point_again(pl);
	for (size_t i = 0; i < g->nr && !err; i++) {
		for (size_t k = g->v[i].from; k < g->v[i].to && !err; k++)
			err = func_add(pl, g->v[i].image, &pl->list.v[k], pl->opts.exit_by);
	}
	/* Behind all functions: one image calls those of another. */
	if (!err)
		err = plan__call_sites(pl, proc);
	if (!err)
		err = plan__tails(pl, proc, first);
	if (!err)
		err = plan__copies(pl, first);
	for (size_t i = 0; i < g->nr && !err; i++)
		err = plan__runtime_sites(pl, g->v[i].image);
	for (size_t i = 0; i < g->nr && pl->opts.follow_go && !err; i++)
		err = plan__starts(pl, g->v[i].image);
	if (!err && proc_has_native(pl, proc)) {
		for (u32 i = 0; i < pp->nr_maps && !err; i++)
			err = image_undo_sites(pl, pp->map[i].image);
	}
	for (u32 i = 0; i < pp->nr_maps; i++)
		image__release(pl->image[pp->map[i].image].im);
	return err;
}
