// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_starts.c - where the Go runtime has made a goroutine: behind the calls of newproc1(), which returns it
 * with its id, before anything can run it. There is one in what newproc() runs on the thread's own stack,
 * that is the go statement, and one in newcoro() (runtime/proc.go, coro.go; Go 1.20 to 1.26), where a
 * program has iter.Pull. The debugger's, in debugCallWrap1(), is none of the program.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/site_impl.h"
#include "trace/plan_impl.h"

#define MAKES "runtime.newproc1"

/* Closures, which the compiler numbers within their function. */
static const char *const callers[] = {"runtime.newproc.func1", "runtime.newcoro.func1"};

#define NR_CALLERS (sizeof(callers) / sizeof(*callers))

static const u8 *bytes_at(void *arg, u64 vaddr, size_t len)
{
	return image__at(arg, vaddr, len);
}

static int cmp_range(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* -ENOENT: there is no such call that can be probed. */
static int find_sites(struct plan_image *pi, struct site_list *out)
{
	struct site_callee callee = {.func = SITE_NO_FUNC,
				     .want = {.exit_regs = 1, .lang = HB_LANG_GO},
				     .via = SITE_VIA_CODE};
	struct code_range range[NR_CALLERS];
	const struct sym *s;
	size_t nr = 0;
	u32 refused;
	int err;

	if (!pi->syms || !pi->ops || !symtab__find(pi->syms, MAKES, &s, 1))
		return -ENOENT;
	callee.vaddr = s->vaddr;
	for (size_t i = 0; i < NR_CALLERS; i++)
		if (symtab__find(pi->syms, callers[i], &s, 1))
			range[nr++] = (struct code_range){s->vaddr, s->vaddr + s->size};
	qsort(range, nr, sizeof(*range), cmp_range);
	err = site__calls(pi->ops, range, nr, bytes_at, pi->im, &callee, 1, out, &refused);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	return out->nr && !refused ? 0 : -ENOENT;
}

/* The goroutine must be there to be read. */
static bool is_usable(const struct site_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].loc[0] == HB_LOC_LOST)
			return false;
	return true;
}

int plan__starts(struct plan *pl, u32 image)
{
	struct plan_image *pi = &pl->image[image];
	struct site_list l;
	int err;

	if (!pi->build || pi->starts)
		return 0;
	if (!pi->layout.curg_off)
		return plan__warn(
			pl,
			"%s was built by %s, whose runtime layout is not known: work handed "
			"to goroutines is not followed in it",
			pi->path, pi->build->go_version);
	site_list__init(&l);
	err = find_sites(pi, &l);
	if (!err && !is_usable(&l))
		err = -ENOENT;
	if (err == -ENOENT)
		err = plan__warn(pl,
				 "%s: where %s starts goroutines is not as known (" MAKES
				 " is not there, or was inlined): work handed to goroutines is not "
				 "followed in it",
				 pi->path, pi->build->go_version);
	else if (!err)
		pi->starts = true;
	for (size_t i = 0; i < l.nr && !err && pi->starts; i++) {
		l.v[i].role = HB_ROLE_GO;
		l.v[i].flags = 0;
		err = site_list__add(&pi->sites, &l.v[i]);
	}
	site_list__fini(&l);
	return err;
}
