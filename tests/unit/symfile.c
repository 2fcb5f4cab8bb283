// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symfile.c - ELF files with functions; the formats are described in user/sym/pclntab.c. */
#include "symfile.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 20)

static void add_u32(struct strbuf *b, u32 v)
{
	strbuf__add(b, &v, sizeof(v));
}

static void add_u64(struct strbuf *b, u64 v)
{
	strbuf__add(b, &v, sizeof(v));
}

static void pad_to(struct strbuf *b, size_t len)
{
	while (b->len % len)
		strbuf__addc(b, 0);
}

/* The blob of a part, from its place inside another one. */
static struct elf_blob part(struct elf_blob whole, u64 at, u64 len)
{
	return (struct elf_blob){.off = whole.off + at, .len = len};
}

/* Appends b to the file and empties it. */
static struct elf_blob flush(struct elfbuild *e, struct strbuf *b, size_t align)
{
	struct elf_blob blob = elfbuild__data(e, b->s, b->len, align);

	if (b->err)
		abort();
	strbuf__fini(b);
	return blob;
}

/* ---- Go ---- */

#define GO_HEADER_BYTES 72
#define GO_FUNC_BYTES	44
#define GO_INL_BYTES	(4 * 3 + 4 * 4) /* pcdata[3], funcdata[4] behind it */
#define GO_PCTAB_HEAD	8		/* a word stands for the cu and file tables too */
#define GO_NODE_BYTES	16

static u32 func_bytes(const struct symfile *s)
{
	return GO_FUNC_BYTES + (s->inlined ? GO_INL_BYTES : 0);
}

/* Bytes of the pc table of a function: a pair of varints for each copy, and the end. */
static u32 pcs_bytes(const struct symfile_inlined *in)
{
	return 2u * in->nr + 1;
}

/* The first byte of each copy's code is one further on than that of the copy before. */
static void add_pctab(const struct symfile *s, struct strbuf *b)
{
	add_u64(b, 0);
	for (u32 i = 0; s->inlined && i < s->nr_go; i++) {
		for (u32 n = 0; n < s->inlined[i].nr; n++)
			strbuf__add(b, "\2\1", 2);
		strbuf__addc(b, 0);
	}
	pad_to(b, 8);
}

static void add_trees(const struct symfile *s, struct strbuf *b)
{
	for (u32 i = 0; s->inlined && i < s->nr_go; i++) {
		for (u32 n = 0; n < s->inlined[i].nr; n++) {
			u32 name = 0;

			for (u32 k = 0; k < s->inlined[i].of[n]; k++)
				name += (u32)strlen(s->go[k].name) + 1;
			add_u32(b, 0);
			add_u32(b, name);
			add_u64(b, 0);
		}
	}
}

/* Of the function whose tables are at pcs and tree. */
static void add_inlined(const struct symfile_inlined *in, u32 pcs, u32 tree, struct strbuf *b)
{
	add_u64(b, 0);
	add_u32(b, in->nr ? pcs : 0);
	for (u32 i = 0; i < 3; i++)
		add_u32(b, UINT32_MAX);
	add_u32(b, in->nr ? tree : UINT32_MAX);
}

/* The struct _func of each function, after functab. */
static void add_funcs(const struct symfile *s, struct strbuf *b)
{
	u32 entry = 0, name = 0, pcs = GO_PCTAB_HEAD, tree = 0;

	for (u32 i = 0; i < s->nr_go; i++) {
		size_t begin = b->len;

		add_u32(b, entry);
		add_u32(b, name);
		while (b->len - begin < 28)
			strbuf__addc(b, 0);
		add_u32(b, s->inlined ? 3 : 0);
		add_u64(b, 0);
		strbuf__addc(b, (char)s->go[i].id);
		strbuf__add(b, "\0\0", 2);
		strbuf__addc(b, s->inlined ? 4 : 0);
		if (s->inlined)
			add_inlined(&s->inlined[i], pcs, tree, b);
		if (b->len - begin != func_bytes(s))
			abort();
		pcs += s->inlined ? pcs_bytes(&s->inlined[i]) : 0;
		tree += s->inlined ? GO_NODE_BYTES * s->inlined[i].nr : 0;
		entry += s->go[i].size;
		name += (u32)strlen(s->go[i].name) + 1;
	}
}

static void add_functab(const struct symfile *s, struct strbuf *b)
{
	u32 funcs = (8 * s->nr_go + 4 + 3) & ~3u, entry = 0;

	for (u32 i = 0; i < s->nr_go; i++) {
		add_u32(b, entry);
		add_u32(b, funcs + i * func_bytes(s));
		entry += s->go[i].size;
	}
	add_u32(b, entry);
	add_funcs(s, b);
}

static void build_pclntab(struct symfile *s, struct elfbuild *e)
{
	u64 names_end, functab, words[8] = {0};
	struct strbuf names, b, pctab;

	strbuf__init(&pctab, BYTES_MAX);
	add_pctab(s, &pctab);
	strbuf__init(&names, BYTES_MAX);
	strbuf__init(&b, BYTES_MAX);
	for (u32 i = 0; i < s->nr_go; i++)
		strbuf__add(&names, s->go[i].name, strlen(s->go[i].name) + 1);
	pad_to(&names, 8);
	names_end = GO_HEADER_BYTES + names.len;
	functab = names_end + pctab.len;
	words[0] = s->nr_go;
	words[2] = s->text_start;
	words[3] = GO_HEADER_BYTES;
	words[4] = words[5] = words[6] = names_end;
	words[7] = functab;
	add_u32(&b, s->magic ? s->magic : SYMFILE_MAGIC_1_20);
	strbuf__add(&b, s->machine == EM_AARCH64 ? "\0\0\4\10" : "\0\0\1\10", 4);
	strbuf__add(&b, words, sizeof(words));
	strbuf__add(&b, names.s, names.len);
	strbuf__add(&b, pctab.s, pctab.len);
	add_functab(s, &b);
	if (s->inlined)
		pad_to(&b, 8);
	s->gofunc = s->inlined ? SYMFILE_TAB + b.len : 0;
	add_trees(s, &b);
	strbuf__fini(&names);
	strbuf__fini(&pctab);
	s->tab = flush(e, &b, 32);
	s->names = part(s->tab, GO_HEADER_BYTES, names_end - GO_HEADER_BYTES);
	s->funcs = part(s->tab, functab, s->tab.len - functab);
	elfbuild__segment(e, PT_LOAD, PF_R, SYMFILE_TAB, s->tab, s->tab.len);
	elfbuild__section(e, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, SYMFILE_TAB, s->tab, 0, 0);
}

#define MD_WORDS 6 /* of moduledata that are looked at */

/* {index, value} of each. */
static void moduledata_words(const struct symfile *s, u64 w[MD_WORDS][2])
{
	u64 text = s->text ? s->text : SYMFILE_CODE, size = 0;

	for (u32 i = 0; i < s->nr_go; i++)
		size += s->go[i].size;
	memcpy(w,
	       (u64[MD_WORDS][2]){{0, SYMFILE_TAB},
				  {1, SYMFILE_TAB + GO_HEADER_BYTES},
				  {20, text},
				  {22, text},
				  {23, text + size},
				  {40, s->gofunc}},
	       MD_WORDS * sizeof(w[0]));
}

static void build_data(struct symfile *s, struct elfbuild *e)
{
	u64 w[MD_WORDS][2], md[42] = {0};
	struct strbuf b;
	struct elf_blob all;

	strbuf__init(&b, BYTES_MAX);
	moduledata_words(s, w);
	for (u32 i = 0; i < MD_WORDS && s->go && s->moduledata == MODULEDATA_IN_PLACE; i++)
		md[w[i][0]] = w[i][1];
	strbuf__add(&b, md, sizeof(md));
	if (s->data)
		strbuf__add(&b, s->data, s->data_len);
	all = flush(e, &b, 16);
	s->moduledata_at = part(all, 0, sizeof(md));
	s->data_at = part(all, sizeof(md), s->data_len);
	elfbuild__segment(e, PT_LOAD, PF_R | PF_W, SYMFILE_DATA, all, all.len);
}

/* ---- ELF ---- */

/* The symbols of one table, and their names; names begins as {0}. */
static u32 add_symbols(const struct symfile *s, bool dyn, struct strbuf *syms, struct strbuf *names)
{
	Elf64_Sym sym = {0};
	u32 nr = 1;

	strbuf__add(syms, &sym, sizeof(sym));
	for (u32 i = 0; i < s->nr_elf; i++) {
		const struct symfile_elf *f = &s->elf[i];

		if (f->dyn != dyn)
			continue;
		sym = (Elf64_Sym){
			.st_name = (u32)names->len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, f->type),
			.st_shndx = f->import ? SHN_UNDEF : 1,
			.st_value = f->vaddr,
			.st_size = f->size,
		};
		strbuf__add(syms, &sym, sizeof(sym));
		strbuf__add(names, f->name, strlen(f->name) + 1);
		nr++;
	}
	return nr;
}

static void build_symtab(struct symfile *s, struct elfbuild *e)
{
	struct strbuf syms, names;
	u32 link;

	strbuf__init(&syms, BYTES_MAX);
	strbuf__init(&names, BYTES_MAX);
	strbuf__addc(&names, 0);
	add_symbols(s, false, &syms, &names);
	s->strtab = flush(e, &names, 1);
	s->symtab = flush(e, &syms, 8);
	link = elfbuild__section(e, ".strtab", SHT_STRTAB, 0, 0, s->strtab, 0, 0);
	elfbuild__section(e, ".symtab", SHT_SYMTAB, 0, 0, s->symtab, link, sizeof(Elf64_Sym));
}

/* The number of symbols in the two ways that it can be told: one chain with all of them. */
static void add_hash(const struct symfile *s, struct strbuf *b, u32 nr)
{
	if (!s->gnu_hash) {
		add_u32(b, 1);
		add_u32(b, nr);
		for (u32 i = 0; i < 1 + nr; i++)
			add_u32(b, 0);
		return;
	}
	add_u32(b, 1); /* buckets */
	add_u32(b, 1); /* first symbol */
	add_u32(b, 1); /* bloom words */
	add_u32(b, 0);
	add_u64(b, ~0ULL);
	add_u32(b, nr > 1 ? 1 : 0);
	for (u32 i = 1; i < nr; i++)
		add_u32(b, i + 1 == nr);
}

static void add_rela(const struct symfile *s, struct strbuf *b)
{
	u64 w[MD_WORDS][2];

	moduledata_words(s, w);
	for (u32 i = 0; i < MD_WORDS && s->moduledata == MODULEDATA_RELA; i++) {
		add_u64(b, SYMFILE_DATA + 8 * w[i][0]);
		add_u64(b, s->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
		add_u64(b, w[i][1]);
	}
}

static void add_dyn(struct strbuf *b, u64 tag, u64 val)
{
	add_u64(b, tag);
	add_u64(b, val);
}

/* One segment: dynsym, hash, rela, dynstr, dynamic. */
static void build_dynamic(struct symfile *s, struct elfbuild *e)
{
	struct strbuf b, names;
	u64 hash, rela, str, dyn, soname, needed;
	struct elf_blob all;
	u32 nr, link;

	strbuf__init(&b, BYTES_MAX);
	strbuf__init(&names, BYTES_MAX);
	strbuf__addc(&names, 0);
	nr = add_symbols(s, true, &b, &names);
	hash = b.len;
	add_hash(s, &b, nr);
	pad_to(&b, 8);
	rela = b.len;
	add_rela(s, &b);
	str = b.len;
	soname = names.len;
	if (s->soname)
		strbuf__add(&names, s->soname, strlen(s->soname) + 1);
	needed = names.len;
	if (s->needed)
		strbuf__add(&names, s->needed, strlen(s->needed) + 1);
	strbuf__add(&b, names.s, names.len);
	pad_to(&b, 8);
	dyn = b.len;
	add_dyn(&b, DT_SYMTAB, SYMFILE_DYN);
	add_dyn(&b, s->gnu_hash ? DT_GNU_HASH : DT_HASH, SYMFILE_DYN + hash);
	add_dyn(&b, DT_STRTAB, SYMFILE_DYN + str);
	add_dyn(&b, DT_STRSZ, names.len);
	add_dyn(&b, DT_RELA, SYMFILE_DYN + rela);
	add_dyn(&b, DT_RELASZ, str - rela);
	if (s->soname)
		add_dyn(&b, DT_SONAME, soname);
	if (s->needed)
		add_dyn(&b, DT_NEEDED, needed);
	add_dyn(&b, DT_NULL, 0);
	all = flush(e, &b, 8);
	s->dynsym = part(all, 0, hash);
	s->hash = part(all, hash, rela - hash);
	s->rela = part(all, rela, str - rela);
	s->dynstr = part(all, str, names.len);
	s->dyn = part(all, dyn, all.len - dyn);
	elfbuild__segment(e, PT_LOAD, PF_R | PF_W, SYMFILE_DYN, all, all.len);
	elfbuild__segment(e, PT_DYNAMIC, PF_R | PF_W, SYMFILE_DYN + dyn, s->dyn, s->dyn.len);
	link = elfbuild__section(e, ".dynstr", SHT_STRTAB, SHF_ALLOC, SYMFILE_DYN + str, s->dynstr,
				 0, 0);
	elfbuild__section(e, ".dynsym", SHT_DYNSYM, SHF_ALLOC, SYMFILE_DYN, s->dynsym, link,
			  sizeof(Elf64_Sym));
	strbuf__fini(&names);
}

void symfile__build(struct symfile *s, struct elf_blob *file)
{
	struct elf_blob code;
	struct elfbuild e;

	elfbuild__init(&e, s->type ? s->type : ET_EXEC, s->machine ? s->machine : EM_X86_64);
	e.no_sections = s->no_sections;
	code = elfbuild__data(&e, NULL, SYMFILE_CODE_BYTES, 16);
	elfbuild__segment(&e, PT_LOAD, PF_R | PF_X, SYMFILE_CODE, code, code.len);
	if (s->interp)
		elfbuild__segment(&e, PT_INTERP, PF_R, SYMFILE_CODE, part(code, 0, 1), 1);
	if (s->go)
		build_pclntab(s, &e);
	build_data(s, &e);
	if (s->elf)
		build_symtab(s, &e);
	if (s->dynamic || s->soname || s->needed || s->moduledata == MODULEDATA_RELA)
		build_dynamic(s, &e);
	elfbuild__finish(&e, file);
}
