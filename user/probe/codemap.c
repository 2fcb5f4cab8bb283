// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codemap.c - see codemap.h. The sweep is linear, not along the branches: landing pads of exceptions
 * are reached by no branch. It is checked instead: every branch must lead to an instruction that the
 * sweep has seen.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/codemap.h"

bool code__contains(const struct code *c, u64 vaddr)
{
	return vaddr >= c->vaddr && vaddr - c->vaddr < c->len;
}

int code__decode(const struct code *c, u64 vaddr, struct insn *in)
{
	size_t off = (size_t)(vaddr - c->vaddr);

	if (!code__contains(c, vaddr))
		return -EILSEQ;
	return c->ops->decode(c->bytes + off, c->len - off, vaddr, in);
}

static void set_bit(u8 *bits, u64 n)
{
	bits[n / 8] |= (u8)(1u << n % 8);
}

static bool test_bit(const u8 *bits, u64 n)
{
	return bits[n / 8] >> n % 8 & 1;
}

bool codemap__is_insn(const struct codemap *m, u64 vaddr)
{
	return code__contains(m->code, vaddr) && test_bit(m->start, vaddr - m->code->vaddr);
}

bool codemap__is_join(const struct codemap *m, u64 vaddr)
{
	return code__contains(m->code, vaddr) && test_bit(m->join, vaddr - m->code->vaddr);
}

/* ---- indirect jumps ---- */

enum codemap_jump jump_watch__verdict(const struct jump_watch *w, const struct insn *in)
{
	u32 reg = in->move_src < 32 ? 1u << in->move_src : 0;

	if (in->table == INSN_TABLE_SURE || w->rel & reg)
		return CODEMAP_TABLE;
	/*
	 * jmp *table(,%reg,8): how both compilers write a switch without PIC, and Go always. A tail
	 * call of an array element by gcc and clang -O2 looks the same only in a function that has
	 * no frame; there are far more switches.
	 */
	if (in->table == INSN_TABLE_PTR)
		return CODEMAP_TABLE;
	return w->ptr & reg ? CODEMAP_DOUBT : CODEMAP_EXIT;
}

void jump_watch__step(struct jump_watch *w, const struct insn *in)
{
	u32 dst = in->move_dst < 32 ? 1u << in->move_dst : 0;
	u32 src = in->move_src < 32 ? 1u << in->move_src : 0;
	bool rel = w->rel & src, ptr = w->ptr & src;

	switch (in->kind) {
	case INSN_JMP_REL:
	case INSN_JMP_IND:
	case INSN_RET:
	case INSN_TRAP:
		w->rel = w->ptr = 0;
		return;
	default:
		break;
	}
	if (in->table == INSN_TABLE_ADD) {
		rel |= (w->rel & dst) != 0;
		ptr = false;
	} else if (in->table == INSN_TABLE_REL || in->table == INSN_TABLE_PTR) {
		rel = in->table == INSN_TABLE_REL;
		ptr = in->table == INSN_TABLE_PTR;
	} else if (in->move != INSN_MOVE_REG) {
		rel = ptr = false;
	}
	w->rel &= ~in->writes;
	w->ptr &= ~in->writes;
	if (rel)
		w->rel |= dst;
	if (ptr)
		w->ptr |= dst;
}

/* ---- the sweep ---- */

static bool falls_through(const struct insn *in)
{
	switch (in->kind) {
	case INSN_JMP_REL:
	case INSN_JMP_IND:
	case INSN_RET:
	case INSN_TRAP:
		return false;
	default:
		return true;
	}
}

static void note_target(struct codemap *m, const struct insn *in)
{
	bool inside = code__contains(m->code, in->target);

	switch (in->kind) {
	case INSN_CALL_REL: /* a call of itself enters it anew; one into its middle is a join */
		if (inside && in->target != m->code->vaddr)
			set_bit(m->join, in->target - m->code->vaddr);
		break;
	case INSN_JMP_REL:
	case INSN_JCC:
		if (inside)
			set_bit(m->join, in->target - m->code->vaddr);
		else
			m->leaves = true;
		break;
	default:
		break;
	}
}

static void sweep(struct codemap *m)
{
	const struct code *c = m->code;
	struct jump_watch watch = {0};
	bool running = true; /* the bytes here are reached from those before */
	struct insn in;

	for (u64 off = 0; off < c->len;) {
		if (code__decode(c, c->vaddr + off, &in)) {
			if (running)
				m->unsure = true;
			running = false;
			off += c->ops->min_len;
			continue;
		}
		set_bit(m->start, off);
		note_target(m, &in);
		if (in.kind == INSN_JMP_IND) {
			m->indirect = true;
			if (jump_watch__verdict(&watch, &in) != CODEMAP_EXIT)
				m->table = true;
		}
		jump_watch__step(&watch, &in);
		running = falls_through(&in);
		off += in.len;
	}
}

static void check_joins(struct codemap *m)
{
	for (size_t n = 0; n < m->code->len / 8 + 1; n++)
		if (m->join[n] & ~m->start[n])
			m->unsure = true;
}

int codemap__init(struct codemap *m, const struct code *code)
{
	size_t bytes = code->len / 8 + 1;

	*m = (struct codemap){.code = code};
	m->start = calloc(1, bytes);
	m->join = calloc(1, bytes);
	if (!m->start || !m->join) {
		codemap__fini(m);
		return -ENOMEM;
	}
	sweep(m);
	check_joins(m);
	return 0;
}

void codemap__fini(struct codemap *m)
{
	free(m->start);
	free(m->join);
	m->start = m->join = NULL;
}
