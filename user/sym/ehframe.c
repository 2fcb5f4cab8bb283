// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ehframe.c - reads .eh_frame_hdr and of each entry the head of its FDE (Linux Standard Base 5.0,
 * Core, chapters 10.6 and 10.6.2). How frames are unwound is not looked at.
 */
#include "sym/ehframe.h"

#include "sym/elfdyn.h"
#include "util/array.h"

#include <elf.h>
#include <errno.h>

#define HDR_BYTES   12 /* version, three encodings, a pointer, the number of entries */
#define ENTRY_BYTES 8  /* begin of the function, its FDE: both from the header on */
#define FDE_BYTES   16 /* length, CIE, begin of the function, its length */

/* What ld, gold and lld write: a pc-relative pointer, a u32, and a sorted table relative to here. */
static const u8 known_form[4] = {1, 0x1b, 0x03, 0x3b};

static bool find_header(const struct image *im, u64 *vaddr)
{
	const u8 *header = image__bytes(im, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr eh;

	if (!header)
		return false;
	memcpy(&eh, header, sizeof(eh));
	for (u32 i = 0; i < eh.e_phnum; i++) {
		const u8 *p = image__bytes(im, eh.e_phoff + (u64)i * sizeof(Elf64_Phdr),
					   sizeof(Elf64_Phdr));
		Elf64_Phdr ph;

		if (!p)
			break;
		memcpy(&ph, p, sizeof(ph));
		if (ph.p_type != PT_GNU_EH_FRAME)
			continue;
		*vaddr = ph.p_vaddr;
		return true;
	}
	return false;
}

static u64 load_relative(const u8 *p, u64 base)
{
	return base + (u64)(s64)(s32)load_u32(p);
}

/* Encodings are told by the CIE. Only the usual one, pc-relative in 4 bytes, makes an FDE begin where
 * the table says that it does. */
static bool read_fde(const struct image *im, u64 at, u64 vaddr, struct eh_range *out)
{
	const u8 *p = image__at(im, at, FDE_BYTES);

	if (!p || load_relative(p + 8, at + 8) != vaddr)
		return false;
	out->vaddr = vaddr;
	out->end = vaddr + load_u32(p + 12);
	return out->end > vaddr;
}

int ehframe__ranges(const struct image *im, struct eh_range **out, size_t *nr)
{
	struct eh_range *v;
	const u8 *hdr, *table;
	size_t made = 0;
	u64 vaddr;
	u32 all;

	*out = NULL;
	*nr = 0;
	if (!find_header(im, &vaddr))
		return 0;
	hdr = image__at(im, vaddr, HDR_BYTES);
	if (!hdr || memcmp(hdr, known_form, sizeof(known_form)) != 0)
		return 0;
	all = load_u32(hdr + 8);
	table = image__at(im, vaddr + HDR_BYTES, (u64)all * ENTRY_BYTES);
	if (!table)
		return 0;
	v = array_alloc(all, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (u32 i = 0; i < all; i++) {
		const u8 *e = table + (size_t)i * ENTRY_BYTES;

		if (read_fde(im, load_relative(e + 4, vaddr), load_relative(e, vaddr), &v[made]) &&
		    (!made || v[made].vaddr >= v[made - 1].end))
			made++;
	}
	*out = v;
	*nr = made;
	return 0;
}
