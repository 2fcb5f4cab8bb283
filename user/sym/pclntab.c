// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pclntab.c - finds and reads Go's function table. The inlining trees are goinline.c's; line numbers and
 * stack maps are not looked at.
 *
 * Header, all offsets from its first byte:
 *
 *	 0 u32 magic; u8 0; u8 0; u8 minLC (the instruction quantum); u8 pointer size
 *	 8 u64 nfunc, nfiles, textStart, funcname, cu, filetab, pctab, functab
 *
 * functab is {u32 entry, u32 func}[nfunc] and one more entry: the end of the code. `entry` counts
 * from the text base, `func` from functab, where a struct _func lies:
 *
 *	 0 u32 entry; 4 s32 name (from funcname); ...; 40 u8 funcID; 41 u8 flag
 *
 * The text base is the difficult part. The header's textStart is a relocated word in a PIE and 0
 * since Go 1.26, and the section .text begins with C start-up code once cgo is used: addresses would
 * be off by some bytes, each inside an instruction. The runtime takes the base from its moduledata,
 * and so do we: of its 8-byte words, w[0] is the table's address, w[1] that of the names, w[20]
 * (minpc) equals w[22] (text), w[23] is etext; the same from Go 1.18 to 1.26. w[40] is gofunc since 1.20. In a PIE these words
 * are either in place or, when the system's linker made it, in RELA relocations.
 */
#include "sym/pclntab.h"

#include "sym/elfdyn.h"

#include <elf.h>
#include <errno.h>

#define MAGIC_1_2    0xfffffffbu
#define MAGIC_1_16   0xfffffffau
#define MAGIC_1_18   0xfffffff0u
#define MAGIC_1_20   0xfffffff1u

#define HEADER_BYTES 72
#define FUNC_BYTES   44 /* struct _func without its variable tail */
#define FUNC_NAME    4
#define FUNC_ID	     40

enum { /* words of the header, from byte 8 */
       H_NFUNC = 0,
       H_TEXT = 2,
       H_NAMES = 3,
       H_CU = 4,
       H_PCTAB = 6,
       H_FUNCTAB = 7,
};

enum { /* words of moduledata */
       MD_HEADER = 0,
       MD_NAMES = 1,
       MD_MINPC = 20,
       MD_TEXT = 22,
       MD_ETEXT = 23,
       MD_WORDS = 24, /* that are needed */
       MD_GOFUNC = 40,
       MD_ALL = 41,
};

static u64 header_word(const u8 *tab, u32 n)
{
	return load_u64(tab + 8 + 8 * n);
}

/* ---- text base ---- */

/* The executable segment that holds vaddr in the file, NULL: none. */
static const struct image_seg *exec_seg(const struct image *im, u64 vaddr)
{
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s;
	}
	return NULL;
}

/* Takes [text, etext) over if it is code of the image. */
static bool pclntab__set_text(struct pclntab *t, const struct image *im, u64 text, u64 etext)
{
	const struct image_seg *s = exec_seg(im, text);

	if (!s || etext < text || etext - s->vaddr > s->filesz)
		return false;
	t->text = text;
	t->etext = etext;
	return true;
}

static void pclntab__set_gofunc(struct pclntab *t, u64 gofunc)
{
	if (load_u32(t->tab) == MAGIC_1_20)
		t->gofunc = gofunc;
}

/* moduledata with its words in place: a program at a fixed address, or a PIE by Go's own linker. */
static bool find_moduledata(struct pclntab *t, const struct image *im, const struct image_seg *s)
{
	u64 off = -s->vaddr & 7;
	const u8 *base = image__bytes(im, s->off, s->filesz);

	if (!base)
		return false;
	for (; off <= s->filesz && s->filesz - off >= MD_WORDS * 8; off += 8) {
		const u8 *w = base + off;
		u64 text;

		if (load_u64(w) != t->vaddr ||
		    load_u64(w + 8 * MD_NAMES) != t->vaddr + t->names_off)
			continue;
		text = load_u64(w + 8 * MD_TEXT);
		if (load_u64(w + 8 * MD_MINPC) != text ||
		    !pclntab__set_text(t, im, text, load_u64(w + 8 * MD_ETEXT)))
			continue;
		if (s->filesz - off >= MD_ALL * 8)
			pclntab__set_gofunc(t, load_u64(w + 8 * MD_GOFUNC));
		return true;
	}
	return false;
}

static bool is_relative(const struct image *im, u64 info)
{
	u32 type = ELF64_R_TYPE(info);

	switch (im->machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE;
	default:
		return false;
	}
}

/* The words of a moduledata at `at`, as far as relocations give them. */
static void collect_words(const struct image *im, const struct elfdyn *d, u64 at, u64 w[MD_ALL])
{
	for (size_t i = 0; i < d->nr_rela; i++) {
		const u8 *r = d->rela + i * sizeof(Elf64_Rela);
		u64 n = load_u64(r) - at;

		if (n % 8 || n / 8 >= MD_ALL || !is_relative(im, load_u64(r + 8)))
			continue;
		w[n / 8] = load_u64(r + 16);
	}
}

#define RELA_TRIES 16 /* words that hold the table's address; a real file has one or two */

static bool find_moduledata_rela(struct pclntab *t, const struct image *im)
{
	u32 tries = 0;
	struct elfdyn d;

	if (elfdyn__read(im, &d))
		return false;
	for (size_t i = 0; i < d.nr_rela && tries < RELA_TRIES; i++) {
		const u8 *r = d.rela + i * sizeof(Elf64_Rela);
		u64 w[MD_ALL] = {0};

		if (load_u64(r + 16) != t->vaddr || !is_relative(im, load_u64(r + 8)))
			continue;
		tries++;
		collect_words(im, &d, load_u64(r), w);
		if (w[MD_HEADER] == t->vaddr && w[MD_NAMES] == t->vaddr + t->names_off &&
		    w[MD_MINPC] == w[MD_TEXT] &&
		    pclntab__set_text(t, im, w[MD_TEXT], w[MD_ETEXT])) {
			pclntab__set_gofunc(t, w[MD_GOFUNC]);
			return true;
		}
	}
	return false;
}

/* End of the code as functab tells it, from the text base. */
static u64 code_size(const struct pclntab *t)
{
	return load_u32(t->funcs + 8 * (u64)t->nr);
}

static int pclntab__find_text(struct pclntab *t, const struct image *im)
{
	u64 start = header_word(t->tab, H_TEXT);
	bool found = false;

	/* Data first: code is large, and holds no moduledata unless all is one segment. */
	for (u32 i = 0; i < im->nr_segs && !found; i++)
		found = !im->seg[i].exec && find_moduledata(t, im, &im->seg[i]);
	if (!found)
		found = find_moduledata_rela(t, im);
	for (u32 i = 0; i < im->nr_segs && !found; i++)
		found = im->seg[i].exec && find_moduledata(t, im, &im->seg[i]);
	/* Right in Go 1.18 to 1.25 wherever it is not 0: it is relocated to runtime.text. */
	if (!found && start && !__builtin_add_overflow(start, code_size(t), &t->etext))
		found = pclntab__set_text(t, im, start, t->etext);
	return found && code_size(t) <= t->etext - t->text ? 0 : -EBADMSG;
}

/* ---- the table ---- */

static bool is_header(const u8 *p)
{
	u32 magic = load_u32(p);

	return (magic == MAGIC_1_20 || magic == MAGIC_1_18) && !p[4] && !p[5] &&
	       (p[6] == 1 || p[6] == 4) && p[7] == 8;
}

static bool is_old_header(const u8 *p)
{
	u32 magic = load_u32(p);

	return (magic == MAGIC_1_2 || magic == MAGIC_1_16) && !p[4] && !p[5] && p[7] == 8;
}

/* Takes over the name region [begin, end) of the table. */
static bool pclntab__set_names(struct pclntab *t, u64 begin, u64 end)
{
	if (begin < HEADER_BYTES || begin >= t->len)
		return false;
	if (end <= begin || end > t->len)
		end = t->len;
	t->names_off = begin;
	t->names = (const char *)t->tab + begin;
	t->names_len = end - begin;
	return strtab_bound(t->names, &t->names_len);
}

/* Not there, or damaged: nothing that is needed elsewhere. */
static void pclntab__set_pctab(struct pclntab *t, u64 begin, u64 end)
{
	if (begin < HEADER_BYTES || begin >= end)
		return;
	t->pctab = t->tab + begin;
	t->pctab_len = end - begin;
}

/* Reads the header at file offset off of segment s. */
static int pclntab__parse(const struct image *im, const struct image_seg *s, u64 off,
			  struct pclntab *t)
{
	u64 nfunc, functab;

	*t = (struct pclntab){
		.len = s->filesz - (off - s->off),
		.vaddr = s->vaddr + (off - s->off),
	};
	t->tab = image__bytes(im, off, t->len);
	if (!t->tab || t->len < HEADER_BYTES)
		return -EBADMSG;
	t->min_lc = t->tab[6];
	if (!pclntab__set_names(t, header_word(t->tab, H_NAMES), header_word(t->tab, H_CU)))
		return -EBADMSG;
	nfunc = header_word(t->tab, H_NFUNC);
	functab = header_word(t->tab, H_FUNCTAB);
	if (functab < HEADER_BYTES || functab >= t->len)
		return -EBADMSG;
	t->funcs = t->tab + functab;
	t->funcs_len = t->len - functab;
	pclntab__set_pctab(t, header_word(t->tab, H_PCTAB), functab);
	/* One entry and the end at least; by division, as nfunc may be any number. */
	if (!nfunc || nfunc > UINT32_MAX || t->funcs_len < 12 || nfunc > (t->funcs_len - 4) / 8)
		return -EBADMSG;
	t->nr = (u32)nfunc;
	return pclntab__find_text(t, im);
}

static const struct image_seg *seg_of_off(const struct image *im, u64 off)
{
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];

		if (off >= s->off && off - s->off < s->filesz)
			return s;
	}
	return NULL;
}

static int find_by_section(const struct image *im, struct pclntab *t)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && err; i++) {
		const struct image_sect *sect = image__section(im, names[i]);
		const struct image_seg *seg = sect ? seg_of_off(im, sect->off) : NULL;
		const u8 *p = seg ? image__bytes(im, sect->off, 8) : NULL;

		if (!p)
			continue;
		if (is_header(p))
			err = pclntab__parse(im, seg, sect->off, t);
		else
			err = is_old_header(p) ? -ENOTSUP : -EBADMSG;
	}
	return err;
}

#define SEARCH_TRIES 64 /* places that look like a header; none but the table was ever seen */

static int find_by_magic(const struct image *im, struct pclntab *t)
{
	u32 tries = 0;
	int err = -ENOENT;

	for (u32 i = 0; i < im->nr_segs && err; i++) {
		const struct image_seg *s = &im->seg[i];
		const u8 *base = image__bytes(im, s->off, s->filesz);
		u64 off = -s->vaddr & 7;

		if (!base)
			continue;
		for (; off <= s->filesz && s->filesz - off >= HEADER_BYTES && err; off += 8) {
			if (!is_header(base + off))
				continue;
			if (++tries > SEARCH_TRIES)
				return err;
			err = pclntab__parse(im, s, s->off + off, t);
		}
	}
	return err;
}

int pclntab__find(const struct image *im, struct pclntab *out)
{
	struct pclntab t;
	int err, err_section;

	err = err_section = find_by_section(im, &t);
	/* After a section that holds no table too: section headers are the part nobody checks. */
	if (err && err != -ENOTSUP)
		err = find_by_magic(im, &t);
	if (err == -ENOENT)
		err = err_section;
	if (!err)
		*out = t;
	return err;
}

/* ---- functions ---- */

static int read_func(const struct pclntab *t, u32 i, struct sym *s, u8 *id)
{
	const u8 *e = t->funcs + 8 * (u64)i;
	u32 entry = load_u32(e), func = load_u32(e + 4), next = load_u32(e + 8);
	const u8 *f;
	u32 name;

	if (func > t->funcs_len || t->funcs_len - func < FUNC_BYTES || next < entry ||
	    next > t->etext - t->text)
		return -EBADMSG;
	f = t->funcs + func;
	name = load_u32(f + FUNC_NAME);
	if (load_u32(f) != entry || name > t->names_len)
		return -EBADMSG;
	*s = (struct sym){
		.name = t->names + name,
		.vaddr = t->text + entry,
		.size = next - entry,
		.source = SYM_GO,
	};
	*id = f[FUNC_ID];
	return 0;
}

int pclntab__read(const struct pclntab *t, struct sym *v)
{
	u8 id, wrapper_id = 0;

	for (u32 i = 0; i < t->nr; i++) {
		if (read_func(t, i, &v[i], &id))
			return -EBADMSG;
		if (id > wrapper_id)
			wrapper_id = id;
		v[i].go_id = id;
	}
	/* FuncIDWrapper is the last of the FuncIDs in every release (21 in Go 1.20 and 1.21, 22 to
	 * 1.24, 23 since; internal/abi/symtab.go), and every program has generated functions. */
	for (u32 i = 0; i < t->nr; i++)
		v[i].wrapper = wrapper_id && v[i].go_id == wrapper_id;
	return 0;
}
