// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site_return.c - where the end of a call is seen: after its return address, or at the function's
 * own returns.
 *
 * A site belongs to its return address, not to a function: a frame is closed only where its own
 * return address says so, so that a path which joins from elsewhere is a hit too many and never a
 * wrong sample. Joins are avoided nevertheless.
 */
#include <errno.h>

#include "probe/site_impl.h"

/*
 * Assembly of Go may use the goroutine's register for something else, and whoever calls it in code of
 * the compiler loads the register anew: where the line has such a load, a site before it would find no
 * goroutine. The address behind it, or ra.
 */
static u64 goroutine_known(const struct code *c, const struct codemap *m, u64 ra)
{
	struct insn in;
	u64 at = ra;

	for (int n = 0; n < SITE_LINE_INSNS; n++, at += in.len) {
		if ((n && m && codemap__is_join(m, at)) || code__decode(c, at, &in) ||
		    site_line_ends(&in))
			break;
		if (in.loads_g)
			return at + in.len;
	}
	return ra;
}

int site__return_in(const struct code *c, const struct codemap *m, u64 ra,
		    const struct site_want *want, struct site *out, bool *straight)
{
	enum site_rank rank, best = SITE_RANK_NONE;
	struct regtrack t;
	struct insn in;
	u64 at = ra, from = ra;

	if (code__decode(c, ra, &in))
		return -EILSEQ;
	if (m && !m->unsure && !codemap__is_insn(m, ra))
		return -EILSEQ; /* inside an instruction: nothing returns to here */
	if (want->lang == HB_LANG_GO)
		from = goroutine_known(c, m, ra);
	regtrack__init(&t, c->ops);
	for (int n = 0; n < SITE_LINE_INSNS; n++) {
		if (n && m && codemap__is_join(m, at))
			break;
		if (code__decode(c, at, &in))
			break;
		rank = at < from ? SITE_RANK_NONE : site_rank(&in, &t, want->exit_regs);
		if (rank > best) {
			best = rank;
			site__set(out, c, at, &in, &t, -c->ops->ret_sp);
		}
		if (rank == SITE_RANK_CHEAP || site_line_ends(&in) || !regtrack__step(&t, &in))
			break;
		at += in.len;
	}
	if (best == SITE_RANK_NONE)
		return -ENOTSUP;
	out->role = HB_ROLE_RETSITE;
	out->ra = ra;
	*straight = m && !codemap__is_join(m, ra);
	return 0;
}

int site__return(const struct code *body, bool bounded, u64 ra, const struct site_want *want,
		 struct site *out)
{
	struct site s = {0};
	struct codemap m;
	bool straight;
	int err;

	if (!code__contains(body, ra))
		return -EILSEQ;
	if (!bounded) {
		err = site__return_in(body, NULL, ra, want, &s, &straight);
	} else {
		err = codemap__init(&m, body);
		if (err)
			return err;
		err = site__return_in(body, &m, ra, want, &s, &straight);
		codemap__fini(&m);
	}
	if (!err)
		*out = s;
	return err;
}

/* ---- returns of the function itself ---- */

enum leave { LEAVE_NOT, LEAVE_HERE, LEAVE_DOUBT };

/* A branch that leaves under a condition is hit whether it does or not. */
static enum leave leaves_here(const struct code *c, const struct jump_watch *w,
			      const struct insn *in)
{
	switch (in->kind) {
	case INSN_RET:
		return LEAVE_HERE;
	case INSN_JMP_REL:
		return code__contains(c, in->target) ? LEAVE_NOT : LEAVE_HERE;
	case INSN_JCC:
		return code__contains(c, in->target) ? LEAVE_NOT : LEAVE_DOUBT;
	case INSN_JMP_IND:
		switch (jump_watch__verdict(w, in)) {
		case CODEMAP_EXIT:
			return LEAVE_HERE;
		case CODEMAP_TABLE:
			return LEAVE_NOT;
		default:
			return LEAVE_DOUBT;
		}
	default:
		return LEAVE_NOT;
	}
}

static int add_rets(const struct codemap *m, u32 func, struct site_list *out)
{
	const struct code *c = m->code;
	struct jump_watch watch = {0};
	struct regtrack t;
	struct site s;
	struct insn in;
	int err;

	regtrack__init(&t, c->ops);
	for (u64 at = c->vaddr; code__contains(c, at); at += in.len) {
		if (!codemap__is_insn(m, at) || code__decode(c, at, &in)) {
			in.len = c->ops->min_len; /* padding */
			continue;
		}
		switch (leaves_here(c, &watch, &in)) {
		case LEAVE_DOUBT:
			return -ENOTSUP;
		case LEAVE_HERE:
			if (in.refused)
				return -ENOTSUP;
			/* SP is the entry's by definition of a return, and of a tail call. */
			site__set(&s, c, at, &in, &t, 0);
			s.role = HB_ROLE_RET;
			s.func = func;
			err = site_list__add(out, &s);
			if (err)
				return err;
			break;
		default:
			break;
		}
		jump_watch__step(&watch, &in);
	}
	return 0;
}

int site__rets(const struct code *body, u32 func, struct site_list *out)
{
	size_t nr = out->nr;
	struct codemap m;
	int err;

	err = codemap__init(&m, body);
	if (err)
		return err;
	/* Data among the code: a "return" in it must not be overwritten by a breakpoint. */
	err = m.unsure ? -ENOTSUP : add_rets(&m, func, out);
	codemap__fini(&m);
	if (err)
		out->nr = nr;
	return err;
}

bool code__jumps_out(const struct code *c, const struct jump_watch *w, const struct insn *in)
{
	return in->kind != INSN_RET && leaves_here(c, w, in) != LEAVE_NOT;
}

bool site__has_tails(const struct code *body)
{
	struct jump_watch watch = {0};
	struct insn in;

	for (u64 at = body->vaddr; code__contains(body, at); at += in.len) {
		if (code__decode(body, at, &in)) {
			in.len = body->ops->min_len;
			continue;
		}
		if (code__jumps_out(body, &watch, &in))
			return true;
		jump_watch__step(&watch, &in);
	}
	return false;
}
