// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site_calls.c - the return sites that are known before anything runs: direct calls of the probed
 * functions anywhere in the image, by their stubs too, and indirect calls through words that hold
 * nothing else. Other indirect ones are found at run time.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/site_impl.h"
#include "util/array.h"

struct callee_set {
	struct site_callee *v; /* sorted by vaddr, each address once */
	u64 *target;	       /* their addresses, for the scan */
	size_t nr;
};

struct call_search {
	struct callee_set code_set, slots;
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
static int callee_set__init(struct callee_set *s, const struct site_callee *v, size_t nr,
			    bool slots)
{
	size_t all = 0;

	s->v = array_alloc(nr, sizeof(*s->v));
	s->target = array_alloc(nr, sizeof(*s->target));
	if (!s->v || !s->target)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++)
		if ((v[n].via == SITE_VIA_SLOT) == slots)
			s->v[all++] = v[n];
	qsort(s->v, all, sizeof(*s->v), cmp_callee);
	for (size_t n = 0; n < all; n++) {
		struct site_callee *c = &s->v[n], *last = s->nr ? &s->v[s->nr - 1] : NULL;

		if (last && last->vaddr == c->vaddr) {
			last->want.exit_regs |= c->want.exit_regs;
			if (c->via != SITE_VIA_CODE)
				last->via = c->via;
			continue;
		}
		s->target[s->nr] = c->vaddr;
		s->v[s->nr++] = *c;
	}
	return 0;
}

static void callee_set__fini(struct callee_set *s)
{
	free(s->v);
	free(s->target);
}

/* The call whose opcode stands at `at`, behind one prefix at most: linkers make `addr32 call f` of a
 * call through a slot that has become needless. False: that is part of another instruction. */
static bool call_at(const struct call_search *s, u64 at, u8 kind, struct insn *in, u64 *ra)
{
	for (u64 begin = at; begin + 1 >= at && code__contains(&s->code, begin); begin--) {
		if (!codemap__is_insn(&s->map, begin))
			continue;
		if (code__decode(&s->code, begin, in) || in->kind != kind)
			return false;
		*ra = begin + in->len;
		return true;
	}
	return false;
}

static int search__add(struct call_search *s, const struct site_callee *callee, u64 ra)
{
	struct site site = {0};
	bool straight;
	int err;

	err = site__return_in(&s->code, &s->map, ra, &callee->want, &site, &straight);
	if (err == -ENOTSUP || err == -EILSEQ) {
		++*s->refused;
		return 0;
	}
	if (err)
		return err;
	site.func = callee->func;
	if (callee->via == SITE_VIA_CODE && straight && !s->map.unsure && !s->map.indirect &&
	    !s->map.leaves)
		site.flags |= HB_SITE_PURE;
	return site_list__add(s->out, &site);
}

static int search__candidate(struct call_search *s, const struct callee_set *set, u64 at,
			     u64 target)
{
	struct site_callee key = {.vaddr = target};
	bool slot = set == &s->slots;
	struct insn in;
	u64 ra;

	if (!s->mapped) {
		int err = codemap__init(&s->map, &s->code);

		if (err)
			return err;
		s->mapped = true;
	}
	if (!call_at(s, at, slot ? INSN_CALL_IND : INSN_CALL_REL, &in, &ra) ||
	    (!slot && in.target != target))
		return 0;
	return search__add(s, bsearch(&key, set->v, set->nr, sizeof(key), cmp_callee), ra);
}

static int search__direct(void *arg, u64 at, u64 target)
{
	struct call_search *s = arg;

	return search__candidate(s, &s->code_set, at, target);
}

static int search__slot(void *arg, u64 at, u64 slot, bool call)
{
	struct call_search *s = arg;

	return call ? search__candidate(s, &s->slots, at, slot) : 0;
}

/* Calls in s->code. */
static int search__run(struct call_search *s)
{
	const struct code *c = &s->code;
	int err = c->ops->scan(c->bytes, c->len, c->vaddr, s->code_set.target, s->code_set.nr,
			       search__direct, s);

	if (!err && s->slots.nr && c->ops->scan_slots)
		err = c->ops->scan_slots(c->bytes, c->len, c->vaddr, s->slots.target, s->slots.nr,
					 search__slot, s);
	if (s->mapped)
		codemap__fini(&s->map);
	s->mapped = false;
	return err;
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
	err = callee_set__init(&s.code_set, callees, nr_callees, false);
	if (!err)
		err = callee_set__init(&s.slots, callees, nr_callees, true);
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
		err = search__run(&s);
	}
	if (err)
		out->nr = first;
	else
		search__sort(out, first);
	callee_set__fini(&s.code_set);
	callee_set__fini(&s.slots);
	return err;
}
