// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_image.c - damaged ELF files through all that reads them: headers, symbol tables, Go's tables,
 * the registry.
 *
 *	fuzz_image [COUNT [SEED]]
 *
 * Deterministic: the same two numbers damage the same bytes. It is worth something only when built
 * with SAN=address,undefined: the files are heap blocks of exactly their length. Each call may say
 * 0 or an error; what it gave with 0 must be usable. The undamaged files must be read in full.
 *
 * To find the mutation that crashed: HBPROF_FUZZ_TRACE=1 prints the number of each before it is
 * tried; HBPROF_FUZZ_SAVE=N writes the N-th to ./fuzz_image.N.
 */
#include "elfseeds.h"
#include "probe/insn.h"
#include "sym/buildinfo.h"
#include "sym/ehframe.h"
#include "sym/plt.h"
#include "sym/registry.h"
#include "sym/symtab.h"
#include "target/image.h"
#include "util/fsutil.h"
#include "util/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers: xorshift64*, S. Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled" ---- */

static u64 random_state;

static u64 next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717ull;
}

static u64 below(u64 n)
{
	return n ? (next_random() >> 16) % n : 0;
}

/* ---- reading ---- */

struct seen {
	u64 images, symbols, functions, infos, imports;
};

/* A place for results, so that no read is optimized away. */
static volatile u64 sink;

static void use_string(const char *s)
{
	sink += s ? strlen(s) : 0;
}

static void use_bytes(const u8 *p, u64 len)
{
	if (p && len)
		sink += p[0] + p[len - 1];
}

static void use_address(const struct image *im, u64 vaddr)
{
	u64 off, back;

	use_bytes(image__at(im, vaddr, 1), 1);
	use_bytes(image__at(im, vaddr, 64), 64);
	if (!image__off(im, vaddr, &off)) {
		use_bytes(image__bytes(im, off, 1), 1);
		sink += (u64)image__vaddr(im, off, &back);
	}
}

static void use_image(const struct image *im)
{
	use_string(im->build_id);
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];

		use_bytes(image__bytes(im, s->off, s->filesz), s->filesz);
		use_bytes(image__at(im, s->vaddr, s->filesz), s->filesz);
		use_address(im, s->vaddr - 1);
		use_address(im, s->vaddr);
		use_address(im, s->vaddr + s->filesz - 1);
		use_address(im, s->vaddr + s->memsz);
	}
	for (u32 i = 0; i < im->nr_sects; i++) {
		const struct image_sect *s = &im->sect[i];

		use_string(s->name);
		use_bytes(image__bytes(im, s->off, s->size), s->size);
		sink += image__section(im, s->name) != NULL;
		use_address(im, s->vaddr);
	}
	sink += image__section(im, ".none") != NULL;
	sink += image__unchanged(im);
	image__release(im);
}

static void use_symtab(const struct symtab *t)
{
	const struct sym *found[4];

	for (size_t i = 0; i < t->nr; i++) {
		use_string(t->v[i].name);
		sink += symtab__at(t, t->v[i].vaddr) != NULL;
		sink += symtab__at(t, t->v[i].vaddr + t->v[i].size) != NULL;
		sink += symtab__find(t, t->v[i].name, found, 4);
	}
	sink += symtab__at(t, 0) != NULL;
	sink += symtab__at(t, UINT64_MAX) != NULL;
	sink += symtab__find(t, "", found, 4);
	sink += symtab__find(t, "cJSON_Parse", NULL, 0);
}

static void use_buildinfo(const struct buildinfo *b)
{
	use_string(b->go_version);
	use_string(b->main_path);
	for (u32 i = 0; i < b->nr_modules; i++) {
		use_string(b->module[i].version);
		use_string(buildinfo__version(b, b->module[i].path));
	}
	for (u32 i = 0; i < b->nr_settings; i++) {
		use_string(b->setting[i].key);
		use_string(b->setting[i].value);
	}
	use_string(buildinfo__version(b, "main"));
	use_string(buildinfo__version(b, "gopkg.in/yaml%2ev3"));
	use_string(buildinfo__version(b, "encoding/json"));
	use_string(buildinfo__version(b, "%%2%"));
}

static u32 use_registry(const struct image *im, const struct symtab *t, const struct buildinfo *b)
{
	struct registry_report rep = {0};
	struct registry *r = NULL;
	struct func_list funcs;
	u32 nr = 0;

	func_list__init(&funcs);
	if (!registry__open(&r) && !registry__match(r, im, t, b, &funcs, &rep))
		nr = (u32)funcs.nr;
	sink += (u64)registry__probe(im, t, "cJSON_Print=encode", &funcs, &nr);
	sink += (u64)registry__probe(im, t, "main.(*T).M7", &funcs, &nr);
	for (size_t i = 0; i < funcs.nr; i++) {
		use_string(funcs.v[i].name);
		use_string(funcs.v[i].library_version);
		use_address(im, funcs.v[i].vaddr);
	}
	nr = rep.nr_found;
	func_list__fini(&funcs);
	registry__close(r);
	return nr;
}

struct slots {
	u64 vaddr[64];
	size_t nr;
	u64 uses;
};

static int use_slot(void *arg, const struct plt_slot *slot)
{
	struct slots *s = arg;

	use_string(slot->name);
	/* Sorted, as scan_slots() wants them. */
	if (s->nr < 64 && (!s->nr || s->vaddr[s->nr - 1] < slot->vaddr))
		s->vaddr[s->nr++] = slot->vaddr;
	return 0;
}

static int use_place(void *arg, u64 at, u64 slot, bool call)
{
	((struct slots *)arg)->uses++;
	return 0;
}

/* The number of places where code goes through an import slot. */
static u64 use_imports(const struct image *im)
{
	const struct insn_ops *ops = insn_ops__find(im->machine);
	struct slots s = {0};

	if (plt__slots(im, use_slot, &s) || !ops)
		return 0;
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *seg = &im->seg[i];
		const u8 *code = image__at(im, seg->vaddr, seg->filesz);

		if (code)
			ops->scan_slots(code, seg->filesz, seg->vaddr, s.vaddr, s.nr, use_place,
					&s);
	}
	return s.uses;
}

/* The number of functions in the unwind table. */
static size_t use_unwind(const struct image *im)
{
	struct eh_range *v;
	size_t nr;

	if (ehframe__ranges(im, &v, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (v[i].vaddr >= v[i].end || (i && v[i].vaddr < v[i - 1].end))
			abort();
		use_bytes(image__at(im, v[i].vaddr, v[i].end - v[i].vaddr), v[i].end - v[i].vaddr);
	}
	free(v);
	return nr;
}

/* Reads the file by all readers. With want, the undamaged seed: false if something is missing. */
static bool read_file(const void *bytes, size_t len, const struct elf_seed *want, struct seen *seen)
{
	struct buildinfo *info = NULL;
	const struct sym *found = NULL;
	struct symtab *t = NULL;
	struct image *im = NULL;
	u64 imports, ranges;
	int go_err = 0;
	u32 nr = 0;
	bool ok;

	if (image__open_mem(bytes, len, &im))
		return false;
	seen->images++;
	use_image(im);
	imports = use_imports(im);
	ranges = use_unwind(im);
	seen->imports += imports > 0;
	if (!buildinfo__open(im, &info)) {
		seen->infos++;
		use_buildinfo(info);
	}
	sink += symtab__imports(im, "function_10");
	if (!symtab__open(im, &t, &go_err)) {
		seen->symbols += t->nr > 0;
		use_symtab(t);
		nr = use_registry(im, t, info);
		seen->functions += nr;
	}
	ok = !want ||
	     (t && imports == want->nr_imports && ranges == want->nr_ranges &&
	      symtab__find(t, want->function, &found, 1) == 1 && im->build_id &&
	      !strcmp(im->build_id, want->build_id) && nr == want->nr_codecs &&
	      !want->go_version == !info && (!info || !strcmp(info->go_version, want->go_version)));
	symtab__close(t);
	buildinfo__close(info);
	image__close(im);
	return ok;
}

/* ---- damage ---- */

static u64 extreme(u64 len)
{
	static const u64 values[] = {
		0,
		1,
		2,
		7,
		8,
		0x7f,
		0x80,
		0xff,
		0x100,
		0x7fff,
		0x8000,
		0xfff1,
		0xffff,
		0x10000,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000,
		INT64_MAX,
		1ull << 63,
		0x400000,
		0x400400,
		UINT64_MAX - 0xfff,
		UINT64_MAX - 7,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (below(4)) {
	case 0:
		return len - 64 + below(128);
	case 1:
		return 0x400000 + below(len + 64);
	case 2:
		return below(len);
	default:
		return values[below(sizeof(values) / sizeof(values[0]))];
	}
}

/* An offset that is mostly in a header or table, and len bytes from there are in the file. */
static u64 pick_off(const struct elf_seed *seed, u64 file_len, u64 len)
{
	const struct elf_blob *part = &seed->hot[below(seed->nr_hot)];
	u64 off = below(8) && part->len ? part->off + below(part->len) : below(file_len);

	if (len > 1 && below(4))
		off -= off % len; /* fields are aligned */
	return off <= file_len && len <= file_len - off ? off : 0;
}

/* One change; the length may become smaller. */
static void damage(const struct elf_seed *seed, u8 *bytes, u64 *len)
{
	static const u8 widths[] = {1, 2, 4, 4, 8, 8};
	u64 width = widths[below(sizeof(widths))], off, from, n, v;

	if (*len < 64)
		return;
	off = pick_off(seed, *len, width);
	switch (below(16)) {
	case 0:
		*len = below(2) ? below(*len) : *len - below(64);
		break;
	case 1:
		n = below(200);
		from = below(*len - n % *len);
		off = below(*len - n % *len);
		memmove(bytes + off, bytes + from, n % *len);
		break;
	case 2:
		n = below(200) % (*len - off);
		memset(bytes + off, below(2) ? 0xff : 0, n);
		break;
	case 3:
	case 4:
	case 5:
		bytes[off] ^= (u8)(1u << below(8));
		break;
	case 6:
	case 7:
		memcpy(&v, bytes + pick_off(seed, *len, 8), 8);
		v += below(2) ? below(300) : -below(300);
		memcpy(bytes + off, &v, width);
		break;
	default:
		v = extreme(*len);
		memcpy(bytes + off, &v, width);
		break;
	}
}

static u64 make_mutation(const struct elf_seed *seed, u8 *bytes)
{
	u64 len = seed->file.len, nr = 1 + below(below(4) ? 3 : 16);

	memcpy(bytes, seed->file.bytes, len);
	while (nr--)
		damage(seed, bytes, &len);
	return len;
}

/* ---- main ---- */

static bool check_seeds(const struct elf_seed *seeds, u64 *max_len)
{
	struct seen seen = {0};

	*max_len = 0;
	for (const struct elf_seed *s = seeds; s->name; s++) {
		if (s->file.len > *max_len)
			*max_len = s->file.len;
		if (read_file(s->file.bytes, s->file.len, s, &seen))
			continue;
		fprintf(stderr, "fuzz_image: the undamaged file \"%s\" is not read in full\n",
			s->name);
		return false;
	}
	return true;
}

static bool run(const struct elf_seed *seeds, u8 *bytes, u64 count)
{
	const char *save = getenv("HBPROF_FUZZ_SAVE");
	bool trace = getenv("HBPROF_FUZZ_TRACE");
	u64 nr_seeds = 0, save_nr = UINT64_MAX;
	struct seen seen = {0};

	if (save && parse_u64(save, UINT64_MAX - 1, &save_nr))
		return false;
	while (seeds[nr_seeds].name)
		nr_seeds++;
	for (u64 i = 0; i < count; i++) {
		u64 len = make_mutation(&seeds[i % nr_seeds], bytes);
		char path[64];

		if (trace)
			fprintf(stderr, "%llu: %s\n", i, seeds[i % nr_seeds].name);
		snprintf(path, sizeof(path), "fuzz_image.%llu", i);
		if (i == save_nr && fs_replace_file(path, bytes, len))
			return false;
		read_file(bytes, len, NULL, &seen);
	}
	printf("%llu mutations, no crash (%llu images, %llu with symbols, %llu with imports, "
	       "%llu codec functions, %llu build infos)\n",
	       count, seen.images, seen.symbols, seen.imports, seen.functions, seen.infos);
	return true;
}

int main(int argc, char **argv)
{
	u64 count = 3000, seed = 1, max_len;
	struct elf_seed *seeds;
	bool ok;
	u8 *bytes;

	if ((argc > 1 && parse_u64(argv[1], UINT32_MAX, &count)) ||
	    (argc > 2 && parse_u64(argv[2], UINT64_MAX, &seed)) || argc > 3) {
		fprintf(stderr, "usage: fuzz_image [COUNT [SEED]]\n");
		return 2;
	}
	/* 0 is the one state that xorshift never leaves. */
	random_state = (seed + 1) * 0x9e3779b97f4a7c15ull | 1;
	seeds = elf_seeds__make();
	ok = check_seeds(seeds, &max_len);
	bytes = malloc(max_len);
	ok = ok && bytes && run(seeds, bytes, count);
	free(bytes);
	elf_seeds__free(seeds);
	return ok ? 0 : 1;
}
