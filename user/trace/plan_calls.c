// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_calls.c - where the planned functions are called from, as far as it can be told before they
 * are: direct calls within an image, and calls through the import slots of every image that is mapped
 * now. Function pointers, and libraries that are loaded later, are left to discovery.
 *
 * Only functions of C, C++ and Rust are imported: a Go program pays nothing for this.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "sym/ehframe.h"
#include "sym/plt.h"
#include "trace/plan_impl.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define NO_FUNC	  0xffffffffu
#define SAME_NAME 16 /* functions of one name in an image that are looked at */

/* What is being searched for in one image. */
struct search {
	struct plan *pl;
	u32 proc;  /* in whose memory slots are read */
	u32 image; /* whose calls are looked for */
	u32 *all;  /* images of the process with functions that can be imported */
	u32 nr_all;
	u32 *lib; /* of them, those that this image was not searched for before */
	u32 nr_libs;
	struct site_callee *callee;
	size_t nr, cap;
	bool calls; /* there is a call through a slot without a stub */
};

static const u8 *bytes_at(void *arg, u64 vaddr, size_t len)
{
	return image__at(arg, vaddr, len);
}

/* ---- where functions begin and end -------------------------------------------------------- */

/* By symbols; none is inside another. */
static size_t symbol_ranges(const struct plan_image *pi, struct code_range *out)
{
	size_t n = 0;

	for (size_t i = 0; i < pi->syms->nr; i++) {
		const struct sym *s = &pi->syms->v[i];

		if (!s->size || s->vaddr < pi->lo || s->vaddr + s->size > pi->hi)
			continue;
		if (n && s->vaddr < out[n - 1].end)
			continue; /* an alias, or inside the one before */
		out[n].vaddr = s->vaddr;
		out[n++].end = s->vaddr + s->size;
	}
	return n;
}

static int cmp_range(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Between the symbols', those of functions that are known by the unwind table alone: all of a
 * stripped executable. */
static size_t unwind_ranges(const struct eh_range *eh, size_t nr_eh, struct code_range *v,
			    size_t nr)
{
	size_t all = nr, sym = 0;

	for (size_t i = 0; i < nr_eh; i++) {
		while (sym < nr && v[sym].end <= eh[i].vaddr)
			sym++;
		if (sym < nr && v[sym].vaddr < eh[i].end)
			continue;
		v[all++] = (struct code_range){.vaddr = eh[i].vaddr, .end = eh[i].end};
	}
	qsort(v, all, sizeof(*v), cmp_range);
	return all;
}

/* *out is the caller's to free(). 0 or -ENOMEM. */
static int image_ranges(const struct plan_image *pi, struct code_range **out, size_t *nr)
{
	struct code_range *v = NULL;
	struct eh_range *eh;
	size_t nr_eh;
	int err = ehframe__ranges(pi->im, &eh, &nr_eh);

	if (err)
		return err;
	v = array_alloc(pi->syms->nr + nr_eh, sizeof(*v));
	if (v) {
		*nr = unwind_ranges(eh, nr_eh, v, symbol_ranges(pi, v));
		*out = v;
	}
	free(eh);
	return v ? 0 : -ENOMEM;
}

static int add_callee(struct search *s, u64 vaddr, u32 func, enum site_via via)
{
	if (array_grow((void **)&s->callee, s->nr, &s->cap, sizeof(*s->callee)))
		return -ENOMEM;
	s->callee[s->nr++] = (struct site_callee){
		.vaddr = vaddr, .func = func, .via = via, .want = plan__want(s->pl->func[func].f)};
	return 0;
}

/* ---- imports ------------------------------------------------------------------------------ */

static bool func_is_imported(const struct plan_func *pf)
{
	return pf->f->lang == HB_LANG_NATIVE && !pf->exit_ret;
}

/* The function that can be imported from that place, or NO_FUNC. */
static u32 func_at(const struct plan *pl, u32 image, u64 vaddr)
{
	for (u32 i = 0; i < pl->nr_funcs; i++) {
		const struct plan_func *pf = &pl->func[i];

		if (pf->image == image && pf->f->vaddr == vaddr && func_is_imported(pf))
			return i;
	}
	return NO_FUNC;
}

/*
 * By name alone, of several images with such a function another one than the caller's: a return
 * address in the function's own image is known as such in any case.
 */
static u32 func_by_name(const struct search *s, const char *name)
{
	u32 best = NO_FUNC;

	for (u32 i = 0; i < s->nr_libs; i++) {
		const struct sym *found[SAME_NAME];
		u32 image = s->lib[i];
		size_t nr = symtab__find(s->pl->image[image].syms, name, found, SAME_NAME);

		for (size_t k = 0; k < nr && k < SAME_NAME; k++) {
			u32 func = func_at(s->pl, image, found[k]->vaddr);

			if (func != NO_FUNC && (best == NO_FUNC || image != s->image))
				best = func;
		}
	}
	return best;
}

bool plan__slot_value(const struct plan *pl, u32 proc, u32 image, u64 slot, u32 *to, u64 *vaddr)
{
	const struct plan_proc *pp = &pl->proc[proc];
	const struct plan_map *own = plan__map(pl, proc, image);
	u64 value = 0;
	struct iovec local = {.iov_base = &value, .iov_len = sizeof(value)};
	struct iovec remote = {
		.iov_base = (void *)(uintptr_t)(slot + (own ? own->bias : 0)),
		.iov_len = sizeof(value),
	};

	if (!own || process_vm_readv(pp->proc->pid, &local, 1, &remote, 1, 0) != sizeof(value))
		return false;
	for (u32 i = 0; i < pp->nr_maps; i++) {
		const struct plan_image *pi = &pl->image[pp->map[i].image];

		*to = pp->map[i].image;
		*vaddr = value - pp->map[i].bias;
		if (*vaddr >= pi->lo && *vaddr < pi->hi)
			return true;
	}
	return false;
}

/*
 * What stands in the slot in the process: is it known to be the beginning of a function? False for a
 * slot that is not bound yet (0, or back into the caller's stub), for a stub in the executable
 * that stands for the function, for code that no file has, and if it cannot be read.
 */
static bool slot_is_bound(const struct search *s, u64 slot, u32 *image, u64 *vaddr)
{
	const struct plan_image *pi;
	const struct sym *sym;

	if (!plan__slot_value(s->pl, s->proc, s->image, slot, image, vaddr))
		return false;
	pi = &s->pl->image[*image];
	sym = pi->syms ? symtab__at(pi->syms, *vaddr) : NULL;
	return sym && sym->vaddr == *vaddr;
}

static bool is_lib(const struct search *s, u32 image)
{
	for (u32 i = 0; i < s->nr_libs; i++)
		if (s->lib[i] == image)
			return true;
	return false;
}

static int on_slot(void *arg, const struct plt_slot *slot)
{
	struct search *s = arg;
	u32 func = func_by_name(s, slot->name), image;
	u64 vaddr;

	/* Another library's function of that name may have been bound instead (interposition), or
	 * another version of it. */
	if (func != NO_FUNC && slot_is_bound(s, slot->vaddr, &image, &vaddr))
		func = is_lib(s, image) ? func_at(s->pl, image, vaddr) : NO_FUNC;
	return func == NO_FUNC ? 0 : add_callee(s, slot->vaddr, func, SITE_VIA_SLOT);
}

static int on_use(void *arg, u64 at, u64 slot, bool call)
{
	struct search *s = arg;

	if (call) {
		s->calls = true;
		return 0;
	}
	for (size_t i = 0; i < s->nr; i++) {
		if (s->callee[i].via == SITE_VIA_SLOT && s->callee[i].vaddr == slot)
			return add_callee(s, at, s->callee[i].func, SITE_VIA_STUB);
	}
	return 0;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Stubs lie anywhere in the code: section headers, which would tell, may be missing. */
static int find_stubs(struct search *s, const u64 *slot, size_t nr)
{
	const struct plan_image *pi = &s->pl->image[s->image];
	int err = 0;

	for (u32 i = 0; i < pi->im->nr_segs && !err; i++) {
		const struct image_seg *seg = &pi->im->seg[i];
		const u8 *code = seg->exec ? image__at(pi->im, seg->vaddr, seg->filesz) : NULL;

		if (code)
			err = pi->ops->scan_slots(code, seg->filesz, seg->vaddr, slot, nr, on_use,
						  s);
	}
	return err;
}

/* The slots and stubs by which this image calls planned functions, as callees. */
static int add_imports(struct search *s)
{
	const struct plan_image *pi = &s->pl->image[s->image];
	size_t first = s->nr, nr;
	u64 *slot;
	int err = plt__slots(pi->im, on_slot, s);

	if (err == -EBADMSG)
		err = 0; /* its functions are not found either, and that has been said */
	nr = s->nr - first;
	if (err || !nr)
		return err;
	slot = array_alloc(nr, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		slot[i] = s->callee[first + i].vaddr;
	qsort(slot, nr, sizeof(*slot), cmp_u64);
	s->calls = false;
	err = find_stubs(s, slot, nr);
	/* The usual case: nothing but stubs, so nothing else is searched for, and stubs stand behind
	 * the slots. */
	if (!s->calls) {
		memmove(s->callee + first, s->callee + first + nr,
			(s->nr - first - nr) * sizeof(*s->callee));
		s->nr -= nr;
	}
	free(slot);
	return err;
}

/* ---- images ------------------------------------------------------------------------------- */

static int add_own(struct search *s)
{
	int err = 0;

	for (u32 i = 0; i < s->pl->nr_funcs && !err; i++) {
		const struct plan_func *pf = &s->pl->func[i];

		if (pf->image == s->image && !pf->exit_ret)
			err = add_callee(s, pf->f->vaddr, i, SITE_VIA_CODE);
	}
	return err;
}

/* A library may be mapped after the image that calls it, or by another process that has both. */
static int choose_libs(struct search *s, struct plan_image *pi)
{
	s->nr_libs = 0;
	for (u32 i = 0; i < s->nr_all; i++) {
		u32 k = 0;

		while (k < pi->nr_libs && pi->lib[k] != s->all[i])
			k++;
		if (k < pi->nr_libs)
			continue;
		if (array_grow((void **)&pi->lib, pi->nr_libs, &pi->cap_libs, sizeof(*pi->lib)))
			return -ENOMEM;
		pi->lib[pi->nr_libs++] = s->all[i];
		s->lib[s->nr_libs++] = s->all[i];
	}
	return 0;
}

static int image_call_sites(struct search *s)
{
	struct plan_image *pi = &s->pl->image[s->image];
	struct code_range *range;
	size_t nr;
	int err;

	s->nr = 0;
	if (!pi->syms || !pi->ops)
		return 0;
	err = choose_libs(s, pi);
	if (!err && !pi->searched)
		err = add_own(s);
	pi->searched = true;
	if (!err && s->nr_libs && pi->ops->scan_slots)
		err = add_imports(s);
	if (err || !s->nr)
		return err;
	err = image_ranges(pi, &range, &nr);
	if (err)
		return err;
	err = site__calls(pi->ops, range, nr, bytes_at, pi->im, s->callee, s->nr, &pi->sites,
			  &pi->refused);
	free(range);
	return err;
}

/* Of this process alone: what another has mapped, it does not call. */
static void find_libs(struct search *s)
{
	const struct plan_proc *pp = &s->pl->proc[s->proc];

	for (u32 k = 0; k < pp->nr_maps; k++) {
		u32 image = pp->map[k].image;

		for (u32 i = 0; i < s->pl->nr_funcs; i++) {
			const struct plan_func *pf = &s->pl->func[i];

			if (pf->image != image || !func_is_imported(pf))
				continue;
			s->all[s->nr_all++] = image;
			break;
		}
	}
}

int plan__call_sites(struct plan *pl, u32 proc)
{
	struct search s = {.pl = pl, .proc = proc};
	const struct plan_proc *pp = &pl->proc[proc];
	u64 t0 = mono_ns();
	char took[16];
	int err = 0;

	s.all = array_alloc((size_t)pp->nr_maps + 1, sizeof(*s.all));
	s.lib = array_alloc((size_t)pp->nr_maps + 1, sizeof(*s.lib));
	if (!s.all || !s.lib) {
		err = -ENOMEM;
		goto out;
	}
	find_libs(&s);
	for (u32 i = 0; i < pp->nr_maps && !err; i++) {
		s.image = pp->map[i].image;
		err = image_call_sites(&s);
	}
	log_debug("calls of %u functions found in %s", pl->nr_funcs,
		  format_ns(took, sizeof(took), mono_ns() - t0));
out:
	free(s.all);
	free(s.lib);
	free(s.callee);
	return err;
}
