// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elfdyn.c - PT_DYNAMIC: where the dynamic symbols, relocations and library names lie. What they say
 * is left to elfsym.c, pclntab.c and registry.c.
 */
#include "sym/elfdyn.h"

#include <elf.h>
#include <errno.h>

#define DYN_MAX 4096 /* entries looked at; ld makes about 30 and one per library */

bool strtab_bound(const char *str, u64 *len)
{
	const char *nul = *len ? memrchr(str, '\0', *len) : NULL;

	if (!nul)
		return false;
	*len = (u64)(nul - str);
	return true;
}

static const u8 *find_dynamic(const struct image *im, struct elfdyn *out, u64 *len)
{
	const u8 *header = image__bytes(im, 0, sizeof(Elf64_Ehdr));
	const u8 *found = NULL;
	Elf64_Ehdr eh;

	if (!header)
		return NULL;
	memcpy(&eh, header, sizeof(eh));
	for (u32 i = 0; i < eh.e_phnum; i++) {
		const u8 *p = image__bytes(im, eh.e_phoff + (u64)i * sizeof(Elf64_Phdr),
					   sizeof(Elf64_Phdr));
		Elf64_Phdr ph;

		if (!p)
			break;
		memcpy(&ph, p, sizeof(ph));
		if (ph.p_type == PT_INTERP)
			out->interp = true;
		if (ph.p_type != PT_DYNAMIC || found)
			continue;
		*len = ph.p_filesz;
		found = image__bytes(im, ph.p_offset, ph.p_filesz);
		if (!found)
			*len = ~0ULL;
	}
	return found;
}

struct dyn_values {
	u64 strtab, strsz, soname, rela, relasz, jmprel, pltrelsz;
	bool has_soname;
};

static void read_entry(struct elfdyn *d, struct dyn_values *v, u64 tag, u64 val)
{
	switch (tag) {
	case DT_SYMTAB:
		d->symtab = val;
		break;
	case DT_HASH:
		d->hash = val;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = val;
		break;
	case DT_STRTAB:
		v->strtab = val;
		break;
	case DT_STRSZ:
		v->strsz = val;
		break;
	case DT_RELA:
		v->rela = val;
		break;
	case DT_RELASZ:
		v->relasz = val;
		break;
	case DT_RELACOUNT:
		d->nr_relative = val;
		break;
	case DT_JMPREL:
		v->jmprel = val;
		break;
	case DT_PLTRELSZ:
		v->pltrelsz = val;
		break;
	case DT_SONAME:
		v->soname = val;
		v->has_soname = true;
		break;
	case DT_FLAGS_1:
		d->pie = val & DF_1_PIE;
		break;
	}
}

int elfdyn__read(const struct image *im, struct elfdyn *out)
{
	struct dyn_values v = {0};
	u64 len = 0;

	*out = (struct elfdyn){0};
	out->dyn = find_dynamic(im, out, &len);
	if (!out->dyn)
		return len ? -EBADMSG : -ENOENT;
	for (; out->nr < len / sizeof(Elf64_Dyn) && out->nr < DYN_MAX; out->nr++) {
		const u8 *e = out->dyn + out->nr * sizeof(Elf64_Dyn);

		if (load_u64(e) == DT_NULL)
			break;
		read_entry(out, &v, load_u64(e), load_u64(e + 8));
	}
	out->str = v.strsz ? (const char *)image__at(im, v.strtab, v.strsz) : NULL;
	out->str_len = v.strsz;
	if (out->str && !strtab_bound(out->str, &out->str_len))
		out->str = NULL;
	out->rela = v.relasz ? image__at(im, v.rela, v.relasz) : NULL;
	out->nr_rela = out->rela ? v.relasz / sizeof(Elf64_Rela) : 0;
	/* DT_PLTREL is not looked at: both architectures have Elf64_Rela alone. */
	out->jmprel = v.pltrelsz ? image__at(im, v.jmprel, v.pltrelsz) : NULL;
	out->nr_jmprel = out->jmprel ? v.pltrelsz / sizeof(Elf64_Rela) : 0;
	if (v.has_soname && out->str && v.soname < out->str_len)
		out->soname = out->str + v.soname;
	return 0;
}

const char *elfdyn__needed(const struct elfdyn *d, size_t n)
{
	for (size_t i = 0; i < d->nr; i++) {
		const u8 *e = d->dyn + i * sizeof(Elf64_Dyn);
		u64 off = load_u64(e + 8);

		if (load_u64(e) != DT_NEEDED || n--)
			continue;
		return d->str && off < d->str_len ? d->str + off : "";
	}
	return NULL;
}

bool elfdyn__is_program(const struct image *im, const struct elfdyn *d)
{
	if (im->type != ET_DYN)
		return im->type == ET_EXEC;
	/* A library has a dynamic section, and if it can be started (libc.so.6), a soname too. */
	return !d->dyn || d->pie || (d->interp && !d->soname);
}
