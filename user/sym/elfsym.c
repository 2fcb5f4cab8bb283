// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elfsym.c - reads .symtab and .dynsym. Only functions with code in the file are taken: imports (of
 * which an executable may know the address of a PLT stub) and data are left out. Sorting and looking
 * up are left to symtab.c.
 */
#include "sym/elfsym.h"

#include "sym/elfdyn.h"

#include <elf.h>
#include <errno.h>

/* ---- where the tables are ---- */

static int read_section(const struct image *im, const struct image_sect *s, struct elfsym_table *t)
{
	const struct image_sect *str;

	if (s->entsize && s->entsize != sizeof(Elf64_Sym))
		return -EBADMSG;
	if (s->link >= im->nr_sects)
		return -EBADMSG;
	str = &im->sect[s->link];
	t->syms = image__bytes(im, s->off, s->size);
	t->nr = s->size / sizeof(Elf64_Sym);
	t->str = (const char *)image__bytes(im, str->off, str->size);
	t->str_len = str->size;
	if (!t->syms || !t->str || (t->nr && !strtab_bound(t->str, &t->str_len)))
		return -EBADMSG;
	t->source = s->type == SHT_DYNSYM ? SYM_DYN : SYM_ELF;
	return 0;
}

/* The number of symbols by DT_HASH: {nbucket, nchain, ...}, and there is a chain word for each. */
static size_t count_by_hash(const struct image *im, u64 hash)
{
	const u8 *h = image__at(im, hash, 8);

	return h ? load_u32(h + 4) : 0;
}

/*
 * By DT_GNU_HASH: {nbuckets, symoffset, bloom_size, bloom_shift, u64 bloom[], u32 bucket[], u32
 * chain[]}. The last symbol ends the chain of the highest bucket; an end has bit 0 set.
 */
static size_t count_by_gnu_hash(const struct image *im, u64 hash)
{
	const u8 *h = image__at(im, hash, 16);
	u32 nbuckets, symoffset, last = 0;
	const u8 *buckets, *chain;
	u64 at;

	if (!h)
		return 0;
	nbuckets = load_u32(h);
	symoffset = load_u32(h + 4);
	at = hash + 16 + 8ULL * load_u32(h + 8);
	buckets = image__at(im, at, 4ULL * nbuckets);
	if (!nbuckets || !buckets)
		return 0;
	for (u32 i = 0; i < nbuckets; i++) {
		u32 b = load_u32(buckets + 4ULL * i);

		last = b > last ? b : last;
	}
	if (last < symoffset)
		return symoffset;
	at += 4ULL * nbuckets;
	do {
		chain = image__at(im, at + 4ULL * (last - symoffset), 4);
		last++;
	} while (chain && !(load_u32(chain) & 1) && last);
	return chain ? last : 0;
}

static bool read_dynamic(const struct image *im, struct elfsym_table *t)
{
	struct elfdyn d;

	if (elfdyn__read(im, &d) || !d.symtab || !d.str)
		return false;
	t->nr = d.hash ? count_by_hash(im, d.hash) : count_by_gnu_hash(im, d.gnu_hash);
	t->syms = image__at(im, d.symtab, t->nr * (u64)sizeof(Elf64_Sym));
	t->str = d.str;
	t->str_len = d.str_len;
	t->source = SYM_DYN;
	return t->nr && t->syms;
}

int elfsym__open(const struct image *im, struct elfsym *out)
{
	bool dyn = false, full = false;

	*out = (struct elfsym){0};
	for (u32 i = 0; i < im->nr_sects; i++) {
		const struct image_sect *s = &im->sect[i];
		bool *seen = s->type == SHT_DYNSYM ? &dyn : &full;
		int err;

		/* The gABI allows one of each kind. */
		if ((s->type != SHT_SYMTAB && s->type != SHT_DYNSYM) || *seen)
			continue;
		err = read_section(im, s, &out->table[out->nr_tables]);
		if (err)
			return err;
		*seen = true;
		out->nr_tables++;
	}
	if (!dyn && read_dynamic(im, &out->table[out->nr_tables]))
		out->nr_tables++;
	return 0;
}

/* ---- symbols ---- */

/* Bytes of the executable segment from vaddr on; 0: no code of the file is there. */
static u64 code_left(const struct image *im, u64 vaddr)
{
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s->filesz - (vaddr - s->vaddr);
	}
	return 0;
}

static bool is_function(const struct image *im, const Elf64_Sym *s)
{
	u32 type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
	       s->st_name && code_left(im, s->st_value);
}

static void load_sym(const struct elfsym_table *t, size_t i, Elf64_Sym *s)
{
	memcpy(s, t->syms + i * sizeof(*s), sizeof(*s));
}

/* Length of a name without its version: "json_loads@@libjansson.so.4". 0: there is none. */
static size_t version_at(const char *name)
{
	const char *at = strchr(name, '@');

	return at ? (size_t)(at - name) : 0;
}

int elfsym__count(const struct image *im, const struct elfsym *e, struct elfsym_count *out)
{
	*out = (struct elfsym_count){0};
	for (u32 n = 0; n < e->nr_tables; n++) {
		const struct elfsym_table *t = &e->table[n];

		for (size_t i = 0; i < t->nr; i++) {
			size_t len;
			Elf64_Sym s;

			load_sym(t, i, &s);
			if (!is_function(im, &s))
				continue;
			if (s.st_name > t->str_len)
				return -EBADMSG;
			len = version_at(t->str + s.st_name);
			out->nr++;
			out->pool += len ? len + 1 : 0;
		}
	}
	return 0;
}

/* The name to use, cut off in the pool where it has a version; NULL: no room. */
static const char *take_name(const char *name, char *pool, size_t *used, size_t max)
{
	size_t len = version_at(name);
	char *copy = pool + *used;

	if (!len)
		return name;
	if (max - *used < len + 1)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	*used += len + 1;
	return copy;
}

int elfsym__read(const struct image *im, const struct elfsym *e, u64 skip_lo, u64 skip_hi,
		 const struct elfsym_count *max, struct sym *v, size_t *nr, char *pool)
{
	size_t made = 0, used = 0;

	for (u32 n = 0; n < e->nr_tables; n++) {
		const struct elfsym_table *t = &e->table[n];

		for (size_t i = 0; i < t->nr; i++) {
			const char *name;
			Elf64_Sym s;
			u64 left;

			load_sym(t, i, &s);
			if (!is_function(im, &s) || s.st_name > t->str_len ||
			    (s.st_value >= skip_lo && s.st_value < skip_hi))
				continue;
			name = take_name(t->str + s.st_name, pool, &used, max->pool);
			if (!name || made == max->nr)
				return -EBADMSG;
			left = code_left(im, s.st_value);
			v[(*nr)++] = (struct sym){
				.name = name,
				.vaddr = s.st_value,
				.size = s.st_size < left ? s.st_size : left,
				.source = t->source,
				.ifunc = ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC,
			};
			made++;
		}
	}
	return 0;
}

u64 elfsym_data(const struct image *im, const char *name, u64 size)
{
	struct elfsym e;

	if (elfsym__open(im, &e))
		return 0;
	for (u32 n = 0; n < e.nr_tables; n++) {
		const struct elfsym_table *t = &e.table[n];

		for (size_t i = 0; i < t->nr; i++) {
			Elf64_Sym s;

			load_sym(t, i, &s);
			if (ELF64_ST_TYPE(s.st_info) == STT_OBJECT && s.st_size == size &&
			    s.st_shndx != SHN_UNDEF && s.st_name <= t->str_len &&
			    !strcmp(t->str + s.st_name, name))
				return s.st_value;
		}
	}
	return 0;
}
