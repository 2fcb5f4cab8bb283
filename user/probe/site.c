// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * site.c - what all kinds of sites share: lists, filling one in, comparing candidates.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/site_impl.h"
#include "util/array.h"

void site_list__init(struct site_list *l)
{
	*l = (struct site_list){0};
}

void site_list__fini(struct site_list *l)
{
	free(l->v);
	site_list__init(l);
}

int site_list__add(struct site_list *l, const struct site *s)
{
	void *v = l->v;
	int err = array_grow(&v, l->nr, &l->cap, sizeof(*l->v));

	l->v = v;
	if (err)
		return err;
	l->v[l->nr++] = *s;
	return 0;
}

enum site_rank site_rank(const struct insn *in, const struct regtrack *t, u32 regs)
{
	if (in->refused)
		return SITE_RANK_NONE;
	if (!regtrack__has(t, regs))
		return SITE_RANK_LOST;
	return in->cls == HB_CLASS_STEP ? SITE_RANK_STEP : SITE_RANK_CHEAP;
}

bool site_line_ends(const struct insn *in)
{
	if (in->slow)
		return true;
	switch (in->kind) {
	case INSN_CALL_REL:
	case INSN_CALL_IND:
	case INSN_JMP_REL:
	case INSN_JMP_IND:
	case INSN_JCC:
	case INSN_RET:
	case INSN_TRAP:
		return true;
	default:
		return false;
	}
}

void site__set(struct site *s, const struct code *c, u64 vaddr, const struct insn *in,
	       const struct regtrack *t, s32 sp_base)
{
	*s = (struct site){.vaddr = vaddr, .func = SITE_NO_FUNC};
	s->sp_fix = sp_base - t->sp;
	s->cls = in->cls;
	s->len = in->len;
	memcpy(s->bytes, c->bytes + (vaddr - c->vaddr),
	       in->len < SITE_BYTES ? in->len : SITE_BYTES);
	for (unsigned int r = 0; r < HB_LOC_NR; r++)
		s->loc[r] = regtrack__loc(t, r);
}
