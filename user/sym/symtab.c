// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * symtab.c - one table of an image's functions, made of what pclntab.c and elfsym.c read: sorted by
 * address, indexed by name. What a name means is left to registry.c.
 *
 * Inside Go's code its own table counts alone: the linker's symbols there are the same functions
 * under spellings of their own, and gone in a stripped file.
 */
#include "sym/symtab.h"

#include "sym/elfdyn.h"
#include "sym/elfsym.h"
#include "sym/pclntab.h"
#include "util/array.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

/* ---- order ---- */

/* Of one address: Go first, then .symtab, then .dynsym; the larger first. */
static int cmp_sym(const void *pa, const void *pb)
{
	const struct sym *a = pa, *b = pb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if ((a->source == SYM_GO) != (b->source == SYM_GO))
		return a->source == SYM_GO ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_sorted(const struct symtab *t)
{
	for (size_t i = 1; i < t->nr; i++) {
		if (cmp_sym(&t->v[i - 1], &t->v[i]) > 0)
			return false;
	}
	return true;
}

/* True if an earlier symbol of v[i]'s address among the kept ones has its name. */
static bool is_repeated(const struct symtab *t, size_t kept, const struct sym *s)
{
	while (kept-- > 0 && t->v[kept].vaddr == s->vaddr) {
		if (!strcmp(t->v[kept].name, s->name))
			return true;
	}
	return false;
}

#define ALIASES_MAX \
	64 /* names of one address that are compared; bounds the work on hostile tables */

static void symtab__sort(struct symtab *t)
{
	size_t kept = 0, same = 0;

	/* Go's functions come sorted, and most Go programs have no others. */
	if (!is_sorted(t))
		qsort(t->v, t->nr, sizeof(*t->v), cmp_sym);
	for (size_t i = 0; i < t->nr; i++) {
		same = kept && t->v[kept - 1].vaddr == t->v[i].vaddr ? same + 1 : 0;
		if (same < ALIASES_MAX && is_repeated(t, kept, &t->v[i]))
			continue;
		t->v[kept++] = t->v[i];
	}
	t->nr = kept;
}

/* ---- names ---- */

/* FNV-1a, 64 bits, with a last mix: the index takes the low bits. */
static u64 hash_name(const char *s)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (u8)*s) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static int symtab__index(struct symtab *t)
{
	size_t nr = 16;

	if (t->nr >= UINT32_MAX / 4)
		return -EBADMSG;
	while (nr < 2 * t->nr)
		nr *= 2;
	t->index = array_alloc(nr, sizeof(*t->index));
	if (!t->index)
		return -ENOMEM;
	t->nr_index = nr;
	for (size_t i = 0; i < t->nr; i++) {
		size_t at = hash_name(t->v[i].name) & (nr - 1);

		while (t->index[at])
			at = (at + 1) & (nr - 1);
		t->index[at] = (u32)i + 1;
	}
	return 0;
}

size_t symtab__find(const struct symtab *t, const char *name, const struct sym **out, size_t max)
{
	size_t at, nr = 0;

	if (!t->nr_index)
		return 0;
	/* Equal names share a probe sequence, and went in by rising position. */
	for (at = hash_name(name) & (t->nr_index - 1); t->index[at];
	     at = (at + 1) & (t->nr_index - 1)) {
		const struct sym *s = &t->v[t->index[at] - 1];

		if (strcmp(s->name, name))
			continue;
		if (nr < max)
			out[nr] = s;
		nr++;
	}
	return nr;
}

/* ---- addresses ---- */

#define NESTED_MAX 64 /* symbols looked back over: a function may hold others, as "x.cold" */

static bool sym_holds(const struct symtab *t, size_t i, u64 vaddr)
{
	const struct sym *s = &t->v[i];

	if (s->size)
		return vaddr - s->vaddr < s->size;
	/* Without a size (assembly): up to the next symbol. */
	while (++i < t->nr && t->v[i].vaddr == s->vaddr)
		;
	return i == t->nr || vaddr < t->v[i].vaddr;
}

const struct sym *symtab__at(const struct symtab *t, u64 vaddr)
{
	const struct sym *best = NULL;
	size_t lo = 0, hi = t->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The nearest that holds it; of several at one address the first. */
	for (size_t n = 0; lo-- > 0 && n < NESTED_MAX; n++) {
		if (best && t->v[lo].vaddr != best->vaddr)
			break;
		if (sym_holds(t, lo, vaddr))
			best = &t->v[lo];
	}
	return best;
}

/* ---- reading ---- */

static int symtab__read(struct symtab *t, const struct image *im, const struct pclntab *go,
			const struct elfsym *elf)
{
	struct elfsym_count max;
	size_t nr;
	int err;

	err = elfsym__count(im, elf, &max);
	if (err)
		return err;
	if (__builtin_add_overflow(max.nr, (size_t)go->nr, &nr))
		return -EBADMSG;
	t->v = array_alloc(nr, sizeof(*t->v));
	t->pool = array_alloc(max.pool, 1);
	if (!t->v || !t->pool)
		return -ENOMEM;
	if (go->nr && !pclntab__read(go, t->v)) {
		t->go = true;
		t->go_text = go->text;
		t->go_etext = go->etext;
		t->go_min_lc = go->min_lc;
		t->nr = go->nr;
	}
	return elfsym__read(im, elf, t->go_text, t->go_etext, &max, t->v, &t->nr, t->pool);
}

int symtab__open(const struct image *im, struct symtab **out, int *go_err)
{
	struct symtab *t = calloc(1, sizeof(*t));
	struct pclntab go = {0};
	struct elfsym elf;
	int err, gerr;

	if (!t)
		return -ENOMEM;
	gerr = pclntab__find(im, &go);
	err = elfsym__open(im, &elf);
	if (!err)
		err = symtab__read(t, im, &go, &elf);
	if (err)
		goto out;
	if (!gerr && !t->go)
		gerr = -EBADMSG;
	symtab__sort(t);
	err = symtab__index(t);
out:
	if (err) {
		symtab__close(t);
		return err;
	}
	*go_err = gerr == -ENOENT ? 0 : gerr;
	*out = t;
	return 0;
}

void symtab__close(struct symtab *t)
{
	if (!t)
		return;
	free(t->v);
	free(t->pool);
	free(t->index);
	free(t);
}

/* ---- imports, data ---- */

/* The symbol of .dynsym of that name that is defined here, or is not. */
static bool find_dynamic(const struct image *im, const char *name, bool defined, Elf64_Sym *out)
{
	struct elfsym elf;

	if (elfsym__open(im, &elf))
		return false;
	for (u32 n = 0; n < elf.nr_tables; n++) {
		const struct elfsym_table *t = &elf.table[n];

		for (size_t i = 0; t->source == SYM_DYN && i < t->nr; i++) {
			Elf64_Sym s;

			memcpy(&s, t->syms + i * sizeof(s), sizeof(s));
			if ((s.st_shndx != SHN_UNDEF) != defined || !s.st_name ||
			    s.st_name > t->str_len || strcmp(t->str + s.st_name, name))
				continue;
			*out = s;
			return true;
		}
	}
	return false;
}

bool symtab__imports(const struct image *im, const char *name)
{
	Elf64_Sym s;

	return find_dynamic(im, name, false, &s);
}

bool symtab__data(const struct image *im, const char *name, u64 *vaddr)
{
	Elf64_Sym s;

	if (!find_dynamic(im, name, true, &s) || ELF64_ST_TYPE(s.st_info) != STT_OBJECT)
		return false;
	*vaddr = s.st_value;
	return true;
}
