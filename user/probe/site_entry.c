// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site_entry.c - where the beginning of a call is seen: once per call, as cheaply as possible, with
 * SP and the wanted argument registers still to be had.
 *
 * A stack check that fails begins the function anew, so that func+0 of a Go function is hit more
 * often than it is called: Go has a rule of its own (insn_ops.go_entry). Everything else: the first
 * emulated instruction of the entry block, which is entered at its top only. endbr64, mov, lea and
 * sub are passed over on the way; a probe on one of them costs 20 us in a guest, one on a push 0.6.
 */
#include <errno.h>

#include "probe/site_impl.h"

/*
 * In a body whose joins are not all known (a jump table, data among the code) one may lie anywhere
 * but before an instruction that lowers SP: a loop over that would never end. The last of those
 * in the entry block, or the first instruction.
 */
static u64 last_frame_insn(const struct codemap *m)
{
	u64 at = m->code->vaddr, last = at;
	struct insn in;

	for (int n = 0; n < SITE_LINE_INSNS && !code__decode(m->code, at, &in); n++) {
		if (site_line_ends(&in) || !in.sp_known || (n && codemap__is_join(m, at)))
			break;
		if (in.sp_delta < 0)
			last = at;
		at += in.len;
	}
	return last;
}

/* Behind it, the return address is not where the handler looks for it. */
static bool loses_ra(const struct code *c, const struct insn *in)
{
	return c->ops->ra_reg != INSN_NO_REG && in->writes >> c->ops->ra_reg & 1;
}

static int entry_block(const struct codemap *m, const struct site_want *want, struct site *out,
		       const char **why)
{
	const struct code *c = m->code;
	u64 at = c->vaddr, last = m->table || m->unsure ? last_frame_insn(m) : ~0ULL;
	enum site_rank rank, best = SITE_RANK_NONE;
	struct regtrack t;
	struct insn in;

	if (codemap__is_join(m, c->vaddr)) {
		*why = "a loop leads back to its first instruction: it would be counted as calls";
		return -ENOTSUP;
	}
	regtrack__init(&t, c->ops);
	for (int n = 0; n < SITE_LINE_INSNS && at <= last; n++) {
		if ((n && codemap__is_join(m, at)) || code__decode(c, at, &in))
			break;
		rank = site_rank(&in, &t, want->entry_regs);
		if (rank > best) {
			best = rank;
			site__set(out, c, at, &in, &t, 0);
		}
		if (rank == SITE_RANK_CHEAP || site_line_ends(&in) || !regtrack__step(&t, &in) ||
		    loses_ra(c, &in))
			break;
		at += in.len;
	}
	if (best == SITE_RANK_NONE) {
		*why = "no instruction at its beginning can be probed";
		return -ENOTSUP;
	}
	return 0;
}

/* -ENOENT: Go's rule does not apply, or a wanted register is gone where it does. */
static int entry_go(const struct code *c, const struct site_want *want, struct site *out)
{
	u64 to, at = c->vaddr;
	struct regtrack t;
	struct insn in;
	bool taken;

	if (!c->ops->go_entry || c->ops->go_entry(c->bytes, c->len, c->vaddr, &to, &taken))
		return -ENOENT;
	regtrack__init(&t, c->ops);
	for (; at <= to && !code__decode(c, at, &in); at += in.len) {
		if (at == to) {
			if (site_rank(&in, &t, want->entry_regs) < SITE_RANK_STEP)
				return -ENOENT;
			site__set(out, c, at, &in, &t, 0);
			out->flags = taken ? HB_SITE_TAKEN : 0;
			return 0;
		}
		if (!regtrack__step(&t, &in))
			break;
	}
	return -ENOENT;
}

int site__entry(const struct code *body, const struct site_want *want, u32 func, struct site *out,
		const char **why)
{
	struct site s = {0};
	struct codemap m;
	struct insn in;
	int err;

	if (code__decode(body, body->vaddr, &in)) {
		*why = "its code cannot be decoded";
		return -EILSEQ;
	}
	err = want->lang == HB_LANG_GO ? entry_go(body, want, &s) : -ENOENT;
	if (err) {
		err = codemap__init(&m, body);
		if (err) {
			*why = "out of memory";
			return err;
		}
		err = entry_block(&m, want, &s, why);
		codemap__fini(&m);
	}
	if (err)
		return err;
	s.role = HB_ROLE_ENTRY;
	s.func = func;
	*out = s;
	return 0;
}
