// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site_calls.c - the return sites that are known before anything runs: direct calls of the probed
 * functions anywhere in the image. Indirect ones are found at run time.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/site_impl.h"
#include "util/array.h"

struct call_search {
	struct site_callee *callee; /* sorted by vaddr, each address once */
	u64 *target;		    /* their addresses, for the scan */
	size_t nr;
	struct code code;   /* the function that is being scanned */
	struct codemap map; /* of it, made when a candidate is found */
	bool mapped;
	struct site_list *out;
	u32 *refused;
};

static int cmp_callee(const void *a, const void *b)
{
	const struct site_callee *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* By return address; of two sites for one (functions that overlap) the less certain comes first. */
static int cmp_site(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->ra != y->ra)
		return x->ra > y->ra ? 1 : -1;
	if (x->flags != y->flags)
		return x->flags > y->flags ? 1 : -1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Two names of one function are one callee, whose registers are those wanted under either. */
static int search__set_callees(struct call_search *s, const struct site_callee *v, size_t nr)
{
	s->callee = array_alloc(nr, sizeof(*s->callee));
	s->target = array_alloc(nr, sizeof(*s->target));
	if (!s->callee || !s->target)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++)
		s->callee[n] = v[n];
	qsort(s->callee, nr, sizeof(*s->callee), cmp_callee);
	for (size_t n = 0; n < nr; n++) {
		struct site_callee *c = &s->callee[n];

		if (s->nr && s->target[s->nr - 1] == c->vaddr) {
			s->callee[s->nr - 1].want.exit_regs |= c->want.exit_regs;
			continue;
		}
		s->target[s->nr] = c->vaddr;
		s->callee[s->nr++] = *c;
	}
	return 0;
}

static int search__found(void *arg, u64 at, u64 target)
{
	struct site_callee key = {.vaddr = target};
	struct call_search *s = arg;
	const struct site_callee *callee;
	struct site site = {0};
	bool straight;
	struct insn in;
	int err;

	if (!s->mapped) {
		err = codemap__init(&s->map, &s->code);
		if (err)
			return err;
		s->mapped = true;
	}
	if (!codemap__is_insn(&s->map, at) || code__decode(&s->code, at, &in) ||
	    in.kind != INSN_CALL_REL || in.target != target)
		return 0; /* part of another instruction */
	callee = bsearch(&key, s->callee, s->nr, sizeof(key), cmp_callee);
	err = site__return_in(&s->code, &s->map, at + in.len, &callee->want, &site, &straight);
	if (err == -ENOTSUP || err == -EILSEQ) {
		++*s->refused;
		return 0;
	}
	if (err)
		return err;
	site.func = callee->func;
	if (straight && !s->map.unsure && !s->map.indirect && !s->map.leaves)
		site.flags |= HB_SITE_PURE;
	return site_list__add(s->out, &site);
}

static void search__sort(struct site_list *l, size_t first)
{
	size_t nr = first;

	if (l->nr - first < 2)
		return;
	qsort(l->v + first, l->nr - first, sizeof(*l->v), cmp_site);
	for (size_t n = first; n < l->nr; n++)
		if (nr == first || l->v[nr - 1].ra != l->v[n].ra)
			l->v[nr++] = l->v[n];
	l->nr = nr;
}

int site__calls(const struct insn_ops *ops, const struct code_range *ranges, size_t nr_ranges,
		const u8 *(*bytes_at)(void *arg, u64 vaddr, size_t len), void *arg,
		const struct site_callee *callees, size_t nr_callees, struct site_list *out,
		u32 *refused)
{
	struct call_search s = {.out = out, .refused = refused};
	size_t first = out->nr;
	int err = 0;

	*refused = 0;
	if (!nr_callees)
		return 0;
	err = search__set_callees(&s, callees, nr_callees);
	for (size_t n = 0; n < nr_ranges && !err; n++) {
		u64 vaddr = ranges[n].vaddr, len = ranges[n].end - vaddr;
		const u8 *bytes;

		if (ranges[n].end <= vaddr)
			continue;
		bytes = bytes_at(arg, vaddr, (size_t)len);
		if (!bytes)
			continue;
		s.code = (struct code){
			.ops = ops, .bytes = bytes, .len = (size_t)len, .vaddr = vaddr};
		err = ops->scan(bytes, (size_t)len, vaddr, s.target, s.nr, search__found, &s);
		if (s.mapped)
			codemap__fini(&s.map);
		s.mapped = false;
	}
	if (err)
		out->nr = first;
	else
		search__sort(out, first);
	free(s.callee);
	free(s.target);
	return err;
}
