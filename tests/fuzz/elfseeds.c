// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elfseeds.c - the files are laid out as linkers do it, as far as the readers look: addresses are
 * BASE + file offset everywhere. Code is filler, as
 * nothing here decodes it, with calls and jumps through the import slots.
 */
#include "elfseeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE	   0x400000
#define NR_FUNCS   64
#define FUNC_BYTES 96
#define NR_SLOTS   8
#define SLOTS	   (BASE + 0x100000) /* their address; no file has bytes there */

struct seed_shape {
	const char *name;
	bool go, pie, no_sections, no_symtab, gnu_hash;
};

static const struct seed_shape shapes[] = {
	{.name = "native"},
	{.name = "native, no section headers", .no_sections = true},
	{.name = "native, stripped, gnu hash",
	 .no_symtab = true,
	 .no_sections = true,
	 .gnu_hash = true},
	{.name = "native, pie", .pie = true, .gnu_hash = true},
	{.name = "go", .go = true},
	{.name = "go, no section headers", .go = true, .no_sections = true},
	{.name = "go, pie by the system's linker", .go = true, .pie = true, .no_symtab = true},
};
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct maker {
	struct elfbuild b;
	struct elf_seed *seed;
	const struct seed_shape *shape;
	struct elf_blob code, dynsym, dynstr, hash, rela, jmprel, pclntab, moduledata, buildinfo;
	u64 soname_off, needed_off, names_off; /* in dynstr, dynstr, pclntab */
};

static u64 addr_of(struct elf_blob blob)
{
	return BASE + blob.off;
}

static struct elf_blob hot(struct maker *m, struct elf_blob blob)
{
	if (m->seed->nr_hot < SEED_MAX_HOT)
		m->seed->hot[m->seed->nr_hot++] = blob;
	return blob;
}

static struct elf_blob take(struct maker *m, struct strbuf *b, size_t align)
{
	struct elf_blob blob = elfbuild__data(&m->b, b->s ? b->s : "", b->len, align);

	strbuf__fini(b);
	return hot(m, blob);
}

/* From begin to what has been written last. */
static struct elf_blob since(struct maker *m, u64 begin)
{
	return (struct elf_blob){.off = begin, .len = m->b.file.len - begin};
}

static void add_u32(struct strbuf *b, u32 v)
{
	strbuf__add(b, &v, sizeof(v));
}

static void add_u64(struct strbuf *b, u64 v)
{
	strbuf__add(b, &v, sizeof(v));
}

static void align_to(struct strbuf *b, size_t align)
{
	while (b->len % align)
		strbuf__addc(b, '\0');
}

static void function_name(const struct seed_shape *shape, u32 i, char *buf, size_t len)
{
	static const char *const go[] = {"encoding/json.Marshal", "encoding/json.Unmarshal",
					 "main.Gen[go.shape.struct { A int \"json:\\\"a\\\"\" }]"};
	static const char *const native[] = {"cJSON_Parse", "cJSON_Print@@LIBCJSON_1",
					     "_ZNK5codec6packetI3IntE6encodeEv"};

	if (i < 3)
		snprintf(buf, len, "%s", shape->go ? go[i] : native[i]);
	else
		snprintf(buf, len, shape->go ? "main.(*T).M%u" : "function_%u@VERS", i);
}

/* ---- ELF tables ---- */

static void make_symbols(struct maker *m, struct elf_blob *syms, struct elf_blob *strs)
{
	struct strbuf sym, str;
	char name[80];

	strbuf__init(&sym, 1 << 20);
	strbuf__init(&str, 1 << 20);
	strbuf__addc(&str, '\0');
	strbuf__add(&sym, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
	for (u32 i = 0; i < NR_FUNCS; i++) {
		Elf64_Sym s = {
			.st_name = (u32)str.len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, i == 9 ? STT_GNU_IFUNC : STT_FUNC),
			.st_shndx = i == 10 ? SHN_UNDEF : 1,
			.st_value = addr_of(m->code) + i * FUNC_BYTES,
			.st_size = FUNC_BYTES,
		};

		function_name(m->shape, i, name, sizeof(name));
		strbuf__add(&str, name, strlen(name) + 1);
		strbuf__add(&sym, &s, sizeof(s));
	}
	m->soname_off = str.len;
	strbuf__add(&str, "libcjson.so.1", 14);
	m->needed_off = str.len;
	strbuf__add(&str, "libc.so.6", 10);
	*syms = take(m, &sym, 8);
	*strs = take(m, &str, 1);
}

/* One bucket with all symbols in its chain. */
static void make_hash(struct maker *m)
{
	struct strbuf b;

	strbuf__init(&b, 1 << 20);
	if (m->shape->gnu_hash) {
		add_u32(&b, 1);
		add_u32(&b, 1); /* the first hashed symbol */
		add_u32(&b, 1);
		add_u32(&b, 6);
		add_u64(&b, ~0ull);
		add_u32(&b, 1);
		for (u32 i = 0; i < NR_FUNCS; i++)
			add_u32(&b, i == NR_FUNCS - 1 ? 1 : 2 * i);
	} else {
		add_u32(&b, 1);
		add_u32(&b, NR_FUNCS + 1);
		add_u32(&b, 1);
		for (u32 i = 0; i <= NR_FUNCS; i++)
			add_u32(&b, i == 0 || i == NR_FUNCS ? 0 : i + 1);
	}
	m->hash = take(m, &b, 8);
}

/* Slots of a few functions; the code has a stub and a call for the first, see make_code(). */
static void make_imports(struct maker *m)
{
	struct strbuf b;

	strbuf__init(&b, 1 << 20);
	for (u32 i = 0; i < NR_SLOTS; i++) {
		Elf64_Rela r = {
			.r_offset = SLOTS + 8 * i,
			.r_info = ELF64_R_INFO(i + 1,
					       i % 3 ? R_X86_64_JUMP_SLOT : R_X86_64_GLOB_DAT),
		};

		strbuf__add(&b, &r, sizeof(r));
	}
	m->jmprel = take(m, &b, 8);
}

static struct elf_blob make_dynamic(struct maker *m)
{
	struct strbuf b;
	const u64 dyn[][2] = {
		{DT_NEEDED, m->needed_off},
		{m->shape->pie ? DT_DEBUG : DT_SONAME, m->soname_off},
		{DT_SYMTAB, addr_of(m->dynsym)},
		{DT_STRTAB, addr_of(m->dynstr)},
		{DT_STRSZ, m->dynstr.len},
		{m->shape->gnu_hash ? DT_GNU_HASH : DT_HASH, addr_of(m->hash)},
		{DT_RELA, addr_of(m->rela)},
		{DT_RELASZ, m->rela.len},
		{DT_RELAENT, sizeof(Elf64_Rela)},
		{DT_RELACOUNT, m->rela.len / sizeof(Elf64_Rela)},
		{DT_JMPREL, addr_of(m->jmprel)},
		{DT_PLTRELSZ, m->jmprel.len},
		{DT_FLAGS_1, m->shape->pie ? DF_1_PIE : 0},
		{DT_NULL, 0},
	};

	strbuf__init(&b, 1 << 20);
	strbuf__add(&b, dyn, sizeof(dyn));
	return take(m, &b, 8);
}

/* ---- Go's tables: see user/sym/pclntab.c and buildinfo.c for the formats ---- */

static void make_pclntab(struct maker *m)
{
	struct strbuf b, names;
	u32 name_at[NR_FUNCS];
	u64 functab, func_at;
	char name[80];

	strbuf__init(&names, 1 << 20);
	strbuf__addc(&names, '\0');
	for (u32 i = 0; i < NR_FUNCS; i++) {
		name_at[i] = (u32)names.len;
		function_name(m->shape, i, name, sizeof(name));
		strbuf__add(&names, name, strlen(name) + 1);
	}
	align_to(&names, 8);
	m->names_off = 72;
	functab = m->names_off + names.len;
	func_at = 8 * NR_FUNCS + 8;

	strbuf__init(&b, 1 << 20);
	add_u32(&b, 0xfffffff1);
	strbuf__add(&b, "\0\0\1\10", 4);
	add_u64(&b, NR_FUNCS);
	add_u64(&b, 0);
	add_u64(&b, 0); /* textStart, as in Go 1.26 */
	add_u64(&b, m->names_off);
	for (int i = 0; i < 4; i++)
		add_u64(&b, functab); /* cu, filetab, pctab: empty */
	strbuf__add(&b, names.s, names.len);
	strbuf__fini(&names);
	for (u32 i = 0; i < NR_FUNCS; i++) {
		add_u32(&b, i * FUNC_BYTES);
		add_u32(&b, (u32)func_at + i * 48);
	}
	add_u32(&b, NR_FUNCS * FUNC_BYTES);
	add_u32(&b, 0);
	for (u32 i = 0; i < NR_FUNCS; i++) {
		u32 func[12] = {i * FUNC_BYTES, name_at[i]};

		func[10] = i % 20; /* funcID, flag, two more bytes */
		strbuf__add(&b, func, sizeof(func));
	}
	m->pclntab = take(m, &b, 32);
}

/* In place, or, as the system's linker makes a PIE, as relocations of zeros. */
static void make_moduledata(struct maker *m)
{
	u64 w[24] = {
		[0] = addr_of(m->pclntab), [1] = addr_of(m->pclntab) + m->names_off,
		[20] = addr_of(m->code),   [21] = addr_of(m->code) + m->code.len,
		[22] = addr_of(m->code),   [23] = addr_of(m->code) + m->code.len,
	};
	bool in_place = !m->shape->pie;
	struct strbuf b;

	m->moduledata = hot(m, elfbuild__data(&m->b, in_place ? w : NULL, sizeof(w), 32));
	strbuf__init(&b, 1 << 20);
	for (u32 i = 0; i < 24 && !in_place; i++) {
		Elf64_Rela r = {
			.r_offset = addr_of(m->moduledata) + 8 * i,
			.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
			.r_addend = (Elf64_Sxword)w[i],
		};

		if (w[i])
			strbuf__add(&b, &r, sizeof(r));
	}
	m->rela = take(m, &b, 8);
}

static void make_buildinfo(struct maker *m)
{
	static const char mark[] = "0123456789abcdef";
	static const char text[] = "path\texample.org/app\n"
				   "mod\texample.org/app\tv1.2.3\th1:x=\n"
				   "dep\tgopkg.in/yaml.v3\tv3.0.1\th1:y=\n"
				   "=>\texample.org/fork\tv0.0.1\th1:z=\n"
				   "build\tGOARCH=amd64\n"
				   "build\t\"-ld flags\"=\"-X \\\"a b\\\"\"\n";
	size_t len = sizeof(text) - 1 + 32;
	struct strbuf b;

	strbuf__init(&b, 1 << 20);
	strbuf__add(&b, "\xff Go buildinf:\10\2", 16);
	add_u64(&b, 0);
	add_u64(&b, 0);
	strbuf__addc(&b, 8);
	strbuf__adds(&b, "go1.26.8");
	strbuf__addc(&b, (char)(0x80 | (len & 0x7f)));
	strbuf__addc(&b, (char)(len >> 7));
	strbuf__adds(&b, mark);
	strbuf__adds(&b, text);
	strbuf__adds(&b, mark);
	m->buildinfo = take(m, &b, 16);
}

/* ---- the file ---- */

static void make_code(struct maker *m)
{
	u64 begin = m->b.file.len;
	u8 func[FUNC_BYTES];
	s32 disp;

	memset(func, 0x90, sizeof(func));
	func[0] = 0x55;
	func[sizeof(func) - 1] = 0xc3;
	for (u32 i = 0; i < NR_FUNCS; i++) {
		/* call or jmp *slot(%rip) */
		disp = (s32)(SLOTS - (BASE + m->b.file.len + 22));
		func[16] = i % 2 ? 0xff : 0x90;
		func[17] = i % 4 == 1 ? 0x15 : 0x25;
		memcpy(func + 18, &disp, sizeof(disp));
		elfbuild__data(&m->b, func, sizeof(func), 1);
	}
	m->code = since(m, begin);
}

static void make_notes(struct maker *m)
{
	struct elf_blob go = {0}, gnu;

	if (m->shape->go) {
		go = hot(m, elfbuild__note(&m->b, "Go\0", 4, "a/b/c/d", 7));
		elfbuild__segment(&m->b, PT_NOTE, PF_R, addr_of(go), go, go.len);
		elfbuild__section(&m->b, ".note.go.buildid", SHT_NOTE, SHF_ALLOC, addr_of(go), go,
				  0, 0);
	}
	gnu = hot(m, elfbuild__note(&m->b, "GNU", NT_GNU_BUILD_ID, "\1\2\3\4\5\6\7\10", 8));
	elfbuild__segment(&m->b, PT_NOTE, PF_R, addr_of(gnu), gnu, gnu.len);
	elfbuild__section(&m->b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, addr_of(gnu), gnu, 0,
			  0);
}

static void make_symtab(struct maker *m)
{
	struct elf_blob syms, strs;
	u32 str;

	make_symbols(m, &syms, &strs);
	str = elfbuild__section(&m->b, ".strtab", SHT_STRTAB, 0, 0, strs, 0, 0);
	elfbuild__section(&m->b, ".symtab", SHT_SYMTAB, 0, 0, syms, str, sizeof(Elf64_Sym));
}

/* The unwind table of all functions, and the header that leads to it. */
static void make_unwind(struct maker *m)
{
	u64 hdr, fdes;
	struct strbuf b;
	struct elf_blob all;

	elfbuild__data(&m->b, NULL, 0, 8);
	hdr = BASE + m->b.file.len;
	fdes = 12 + 8 * NR_FUNCS;
	strbuf__init(&b, 1 << 20);
	strbuf__add(&b, "\1\x1b\3\x3b", 4);
	add_u32(&b, 0);
	add_u32(&b, NR_FUNCS);
	for (u32 i = 0; i < NR_FUNCS; i++) {
		add_u32(&b, (u32)(addr_of(m->code) + i * FUNC_BYTES - hdr));
		add_u32(&b, (u32)(fdes + 16 * i));
	}
	for (u32 i = 0; i < NR_FUNCS; i++) {
		add_u32(&b, 12);
		add_u32(&b, 1);
		add_u32(&b, (u32)(addr_of(m->code) + i * FUNC_BYTES - (hdr + fdes + 16 * i + 8)));
		add_u32(&b, FUNC_BYTES);
	}
	all = take(m, &b, 8);
	elfbuild__segment(&m->b, PT_GNU_EH_FRAME, PF_R, addr_of(all), all, all.len);
}

static void make_dynamic_part(struct maker *m)
{
	struct elf_blob dyn, interp;
	u32 str;

	make_symbols(m, &m->dynsym, &m->dynstr);
	str = elfbuild__section(&m->b, ".dynstr", SHT_STRTAB, SHF_ALLOC, addr_of(m->dynstr),
				m->dynstr, 0, 0);
	elfbuild__section(&m->b, ".dynsym", SHT_DYNSYM, SHF_ALLOC, addr_of(m->dynsym), m->dynsym,
			  str, sizeof(Elf64_Sym));
	make_hash(m);
	make_imports(m);
	make_unwind(m);
	dyn = make_dynamic(m);
	elfbuild__segment(&m->b, PT_DYNAMIC, PF_R, addr_of(dyn), dyn, dyn.len);
	if (m->shape->pie) {
		interp = elfbuild__data(&m->b, "/lib64/ld-linux-x86-64.so.2", 28, 1);
		elfbuild__segment(&m->b, PT_INTERP, PF_R, addr_of(interp), interp, interp.len);
	}
}

static void make_go_part(struct maker *m)
{
	make_pclntab(m);
	elfbuild__section(&m->b, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, addr_of(m->pclntab),
			  m->pclntab, 0, 0);
	make_moduledata(m);
	make_buildinfo(m);
	elfbuild__section(&m->b, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE,
			  addr_of(m->buildinfo), m->buildinfo, 0, 0);
}

static void find_headers(struct maker *m)
{
	const struct elf_seed *s = m->seed;
	const Elf64_Ehdr *eh = elf_header(&s->file);

	hot(m, (struct elf_blob){.off = 0, .len = sizeof(*eh)});
	hot(m, (struct elf_blob){.off = eh->e_phoff, .len = eh->e_phnum * sizeof(Elf64_Phdr)});
	if (eh->e_shnum)
		hot(m,
		    (struct elf_blob){.off = eh->e_shoff, .len = eh->e_shnum * sizeof(Elf64_Shdr)});
}

static void make_seed(struct elf_seed *seed, const struct seed_shape *shape)
{
	struct maker m = {.seed = seed, .shape = shape};
	u64 data;

	*seed = (struct elf_seed){
		.name = shape->name,
		.function = shape->go ? "main.(*T).M7" : "function_7",
		.build_id = "0102030405060708",
		.go_version = shape->go ? "go1.26.8" : NULL,
		.nr_codecs = 2,
		.nr_imports = shape->go && !shape->pie ? 0 : NR_FUNCS / 2,
		.nr_ranges = shape->go && !shape->pie ? 0 : NR_FUNCS,
	};
	elfbuild__init(&m.b, shape->pie || !shape->go ? ET_DYN : ET_EXEC, EM_X86_64);
	m.b.no_sections = shape->no_sections;
	make_code(&m);
	elfbuild__segment(&m.b, PT_LOAD, PF_R | PF_X, addr_of(m.code), m.code, m.code.len);
	elfbuild__section(&m.b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, addr_of(m.code),
			  m.code, 0, 0);
	data = m.b.file.len;
	if (!shape->no_sections)
		make_notes(&m);
	if (shape->go)
		make_go_part(&m);
	if (!shape->go || shape->pie)
		make_dynamic_part(&m);
	elfbuild__segment(&m.b, PT_LOAD, PF_R | PF_W, BASE + data, since(&m, data),
			  since(&m, data).len + 4096);
	if (!shape->no_symtab && !shape->no_sections)
		make_symtab(&m);
	/* As the last bytes of the file: reading beyond a note is reading beyond the file. */
	if (shape->no_sections)
		make_notes(&m);
	elfbuild__finish(&m.b, &seed->file);
	find_headers(&m);
}

struct elf_seed *elf_seeds__make(void)
{
	struct elf_seed *seeds = calloc(NR_SHAPES + 1, sizeof(*seeds));

	if (!seeds)
		abort();
	for (size_t i = 0; i < NR_SHAPES; i++)
		make_seed(&seeds[i], &shapes[i]);
	return seeds;
}

void elf_seeds__free(struct elf_seed *seeds)
{
	for (struct elf_seed *s = seeds; s->name; s++)
		elf_blob__free(&s->file);
	free(seeds);
}
