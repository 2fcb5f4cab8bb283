// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * buildid.c - walks the ELF notes: of PT_NOTE, or where the program headers name none, of the two
 * sections that linkers use. Sizes in notes may lie; a note that does not fit ends the walk.
 */
#include "target/buildid.h"

#include "util/strbuf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All notes of a program are a few hundred bytes; bounds the work on a file made of notes. */
#define NOTES_MAX_BYTES 65536
/* SHA-1 has 20 bytes, --build-id=0x... any number; Go's text id has 83. */
#define GNU_ID_MAX_BYTES 64
#define GO_ID_MAX_BYTES	 256
#define NT_GO_BUILD_ID	 4 /* cmd/link/internal/ld/elf.go, ELF_NOTE_GOBUILDID_TAG */

struct note {
	u32 type;
	const u8 *name, *desc;
	u32 name_len, desc_len;
};

static bool align_up(u64 v, u64 align, u64 *out)
{
	if (__builtin_add_overflow(v, align - 1, out))
		return false;
	*out &= ~(align - 1);
	return true;
}

/* Takes one note off the front of *at; false at the end, or where the notes make no sense. */
static bool note__next(const u8 **at, u64 *left, u64 align, struct note *n)
{
	Elf64_Nhdr nh;
	u64 desc_off, end;

	if (*left < sizeof(nh))
		return false;
	memcpy(&nh, *at, sizeof(nh));
	if (!align_up(sizeof(nh) + (u64)nh.n_namesz, align, &desc_off) || desc_off > *left ||
	    nh.n_descsz > *left - desc_off)
		return false;
	*n = (struct note){
		.type = nh.n_type,
		.name = *at + sizeof(nh),
		.desc = *at + desc_off,
		.name_len = nh.n_namesz,
		.desc_len = nh.n_descsz,
	};
	/* The last note's padding may be cut off. */
	if (!align_up(desc_off + nh.n_descsz, align, &end) || end > *left)
		end = *left;
	*at += end;
	*left -= end;
	return true;
}

static bool note_is(const struct note *n, u32 type, const char name[4])
{
	return n->type == type && n->name_len == 4 && !memcmp(n->name, name, 4);
}

static char *hex_string(const u8 *bytes, u32 len)
{
	struct strbuf b;

	strbuf__init(&b, 2 * (size_t)len);
	for (u32 i = 0; i < len; i++)
		strbuf__addf(&b, "%02x", bytes[i]);
	return strbuf__take(&b);
}

/* Go's id is text with slashes; anything else does not belong into a terminal. */
static bool is_plain_text(const u8 *bytes, u32 len)
{
	for (u32 i = 0; i < len; i++) {
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return false;
	}
	return len > 0;
}

struct build_ids {
	char *gnu, *go;
};

static int build_ids__scan(struct build_ids *ids, const u8 *at, u64 left, u64 align)
{
	struct note n;

	if (left > NOTES_MAX_BYTES)
		left = NOTES_MAX_BYTES;
	while (note__next(&at, &left, align, &n)) {
		if (!ids->gnu && note_is(&n, NT_GNU_BUILD_ID, "GNU") && n.desc_len &&
		    n.desc_len <= GNU_ID_MAX_BYTES) {
			ids->gnu = hex_string(n.desc, n.desc_len);
			if (!ids->gnu)
				return -ENOMEM;
		}
		if (!ids->go && note_is(&n, NT_GO_BUILD_ID, "Go\0") &&
		    n.desc_len <= GO_ID_MAX_BYTES && is_plain_text(n.desc, n.desc_len)) {
			ids->go = strndup((const char *)n.desc, n.desc_len);
			if (!ids->go)
				return -ENOMEM;
		}
	}
	return 0;
}

static int build_ids__scan_segs(struct build_ids *ids, const struct image *im)
{
	const u8 *header = image__bytes(im, 0, sizeof(Elf64_Ehdr)), *table;
	Elf64_Ehdr eh;
	int err = 0;

	if (!header)
		return 0;
	memcpy(&eh, header, sizeof(eh));
	table = image__bytes(im, eh.e_phoff, eh.e_phnum * (u64)sizeof(Elf64_Phdr));
	for (u32 i = 0; table && i < eh.e_phnum && !err && !ids->gnu; i++) {
		const u8 *notes;
		Elf64_Phdr ph;

		memcpy(&ph, table + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_NOTE)
			continue;
		notes = image__bytes(im, ph.p_offset, ph.p_filesz);
		/* Linux gABI extensions: 8 only where the segment says 8 (.note.gnu.property). */
		if (notes)
			err = build_ids__scan(ids, notes, ph.p_filesz, ph.p_align == 8 ? 8 : 4);
	}
	return err;
}

static int build_ids__scan_section(struct build_ids *ids, const struct image *im, const char *name)
{
	const struct image_sect *s = image__section(im, name);
	const u8 *notes = s && s->type == SHT_NOTE ? image__bytes(im, s->off, s->size) : NULL;

	return notes ? build_ids__scan(ids, notes, s->size, 4) : 0;
}

int build_id__read(const struct image *im, char **out)
{
	struct build_ids ids = {0};
	int err;

	err = build_ids__scan_segs(&ids, im);
	if (!err && !ids.gnu)
		err = build_ids__scan_section(&ids, im, ".note.gnu.build-id");
	if (!err && !ids.gnu && !ids.go)
		err = build_ids__scan_section(&ids, im, ".note.go.buildid");
	if (!err && ids.gnu) {
		*out = ids.gnu;
		ids.gnu = NULL;
	} else if (!err) {
		*out = ids.go;
		ids.go = NULL;
	}
	free(ids.gnu);
	free(ids.go);
	return err;
}
