// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plt.c - import slots, from the relocations that the dynamic section tells of: they are there in
 * stripped files, and in those without section headers.
 */
#include "sym/plt.h"

#include "sym/elfdyn.h"

#include <elf.h>
#include <errno.h>

/* The processor supplements give both the same meaning: S, the symbol's address, in 64 bits. */
static bool is_slot(u16 machine, u64 info)
{
	u32 type = ELF64_R_TYPE(info);

	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	case EM_AARCH64:
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	default:
		return false;
	}
}

/* The name of the symbol with that number; NULL: it has none. */
static const char *symbol_name(const struct image *im, const struct elfdyn *d, u32 nr)
{
	const u8 *p;
	Elf64_Sym s;
	u64 at;

	if (!nr || !d->symtab || __builtin_add_overflow(d->symtab, (u64)nr * sizeof(s), &at))
		return NULL;
	p = image__at(im, at, sizeof(s));
	if (!p)
		return NULL;
	memcpy(&s, p, sizeof(s));
	return s.st_name < d->str_len && d->str[s.st_name] ? d->str + s.st_name : NULL;
}

static int read_table(const struct image *im, const struct elfdyn *d, const u8 *rela, size_t nr,
		      int (*cb)(void *arg, const struct plt_slot *slot), void *arg)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct plt_slot slot;
		Elf64_Rela r;

		memcpy(&r, rela + i * sizeof(r), sizeof(r));
		if (!is_slot(im->machine, r.r_info))
			continue;
		slot.vaddr = r.r_offset;
		slot.name = symbol_name(im, d, ELF64_R_SYM(r.r_info));
		if (slot.name)
			err = cb(arg, &slot);
	}
	return err;
}

int plt__slots(const struct image *im, int (*cb)(void *arg, const struct plt_slot *slot), void *arg)
{
	struct elfdyn d;
	int err = elfdyn__read(im, &d);
	size_t skip;

	if (err)
		return err == -ENOENT ? 0 : err;
	if (!d.str)
		return 0;
	err = read_table(im, &d, d.jmprel, d.nr_jmprel, cb, arg);
	if (err || !d.nr_rela)
		return err;
	/* Large libraries have 100,000s of relative ones, which come first (ld -z combreloc). */
	skip = d.nr_relative < d.nr_rela ? d.nr_relative : d.nr_rela;
	return read_table(im, &d, d.rela + skip * sizeof(Elf64_Rela), d.nr_rela - skip, cb, arg);
}
