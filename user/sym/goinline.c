// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * goinline.c - the inlining trees. A struct _func (see pclntab.c) ends with two arrays:
 *
 *	28 u32 npcdata; 43 u8 nfuncdata; 44 u32 pcdata[npcdata]; u32 funcdata[nfuncdata]
 *
 * funcdata[3] is its tree, counted from the address moduledata.gofunc (~0: it has none), an array of
 *
 *	0 u8 funcID; 4 s32 name; 8 s32 parent pc; 12 s32 line
 *
 * without a length. pcdata[2] says which element code belongs to: the offset in the pc tables of pairs
 * of varints, {change of value, change of pc}; a change of value of 0 that is not the first ends it. So
 * the largest value is the last element that has code. runtime/symtab.go (_func, step),
 * runtime/symtabinl.go, internal/abi/symtab.go, the same from Go 1.20 to 1.26.
 */
#include "sym/goinline.h"

#include "sym/elfdyn.h"
#include "sym/pclntab.h"
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNC_BYTES   44
#define FUNC_NPCDATA 28
#define FUNC_NFUNCS  43
#define PCDATA_INL   2
#define FUNCDATA_INL 3
#define NODE_BYTES   16
#define NODE_NAME    4
#define NODES_MAX    (1 << 20) /* of one function: what the runtime's type says */
#define NAMES_MAX    (64u << 20)

struct count {
	struct pclntab tab;
	const struct image *im;
	struct go_inlined *v;
	size_t nr;
	u16 *of_name; /* by offset of a name: 0 not looked at, 1 no one's, else the index + 2 */
};

/* False: cut, or longer than 32 bits need. */
static bool take_varint(const u8 **p, const u8 *end, u32 *out)
{
	*out = 0;
	for (u32 shift = 0; shift < 35; shift += 7) {
		u8 byte;

		if (*p >= end)
			return false;
		byte = *(*p)++;
		*out |= (u32)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Elements of a tree that have code. */
static bool tree_length(const struct pclntab *t, u32 off, u32 *nr)
{
	const u8 *p = t->pctab + off, *end = t->pctab + t->pctab_len;
	u32 value = (u32)-1, change, pc;
	bool first = true;

	*nr = 0;
	if (off >= t->pctab_len)
		return false;
	while (take_varint(&p, end, &change)) {
		if (!change && !first)
			return true;
		first = false;
		value += -(change & 1) ^ (change >> 1);
		if (!take_varint(&p, end, &pc))
			return false;
		if (value == (u32)-1)
			continue; /* the function's own */
		if (value >= NODES_MAX)
			return false;
		if (value + 1 > *nr)
			*nr = value + 1;
	}
	return false;
}

static bool count_name(struct count *c, u32 name)
{
	if (name >= c->tab.names_len)
		return false;
	if (!c->of_name[name]) {
		size_t i = 0;

		while (i < c->nr && strcmp(c->v[i].name, c->tab.names + name) != 0)
			i++;
		c->of_name[name] = (u16)(i < c->nr ? i + 2 : 1);
	}
	if (c->of_name[name] > 1)
		c->v[c->of_name[name] - 2].places++;
	return true;
}

/* The tree of one function. False: damaged. */
static bool count_func(struct count *c, u32 i)
{
	const struct pclntab *t = &c->tab;
	u32 off = load_u32(t->funcs + 8 * (u64)i + 4), npcdata, nfuncdata, pcs, tree, nr;
	const u8 *f, *nodes;

	if (off > t->funcs_len || t->funcs_len - off < FUNC_BYTES)
		return false;
	f = t->funcs + off;
	npcdata = load_u32(f + FUNC_NPCDATA);
	nfuncdata = f[FUNC_NFUNCS];
	if (npcdata <= PCDATA_INL || nfuncdata <= FUNCDATA_INL)
		return true;
	if (npcdata + (u64)nfuncdata > (t->funcs_len - off - FUNC_BYTES) / 4)
		return false;
	pcs = load_u32(f + FUNC_BYTES + 4 * PCDATA_INL);
	tree = load_u32(f + FUNC_BYTES + 4 * ((u64)npcdata + FUNCDATA_INL));
	if (!pcs || tree == UINT32_MAX)
		return true;
	if (!tree_length(t, pcs, &nr))
		return false;
	nodes = image__at(c->im, t->gofunc + tree, (u64)nr * NODE_BYTES);
	for (u32 n = 0; nodes && n < nr; n++) {
		if (!count_name(c, load_u32(nodes + n * NODE_BYTES + NODE_NAME)))
			return false;
	}
	return nodes;
}

int goinline__count(const struct image *im, struct go_inlined *v, size_t nr)
{
	struct count c = {.im = im, .v = v, .nr = nr};
	int err = pclntab__find(im, &c.tab);

	for (size_t i = 0; i < nr; i++)
		v[i].places = 0;
	if (err == -ENOTSUP || (!err && !c.tab.gofunc))
		err = -ENOENT;
	if (err || !nr)
		return err;
	if (nr > UINT16_MAX - 2 || c.tab.names_len > NAMES_MAX)
		return -ENOENT;
	c.of_name = array_alloc(c.tab.names_len + 1, sizeof(*c.of_name));
	if (!c.of_name)
		return -ENOMEM;
	for (u32 i = 0; i < c.tab.nr && !err; i++)
		err = count_func(&c, i) ? 0 : -EBADMSG;
	for (size_t i = 0; i < nr && err; i++)
		v[i].places = 0;
	free(c.of_name);
	return err;
}
