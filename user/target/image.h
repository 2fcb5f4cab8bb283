/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * image.h - one open ELF file: its bytes, segments, sections, identity. Every offset and length in
 * it comes from a file that may lie; all access goes through the bounds-checked functions here.
 *
 * off: file offset. vaddr: link address. Run-time addresses are not known here.
 *
 * The file is mapped, not copied. Its size is checked right after, but somebody who cuts it while it
 * is open makes reads beyond its new end raise SIGBUS. The kernel refuses writes to a file that is
 * being executed (ETXTBSY), yet not to shared libraries. Pointers into the file may also show bytes
 * that changed since; what was read at open (segments, sections and their names, ids) does not.
 */
#ifndef HBPROF_IMAGE_H
#define HBPROF_IMAGE_H

#include <hbprof/types.h>

struct image_seg { /* a PT_LOAD */
	u64 vaddr, off, filesz, memsz;
	bool exec, write;
};

struct image_sect {
	const char *name;
	u32 type, link;
	u64 vaddr, off, size, entsize, flags;
};

struct image {
	char *path;	/* how it was opened */
	int fd;		/* open for the image's life; identity is checked through it */
	const u8 *base; /* the whole file, mapped read-only */
	size_t len;
	u64 dev, ino; /* st_dev, st_ino */
	s64 mtime_ns;
	u16 machine, type; /* e_machine, e_type */
	struct image_seg *seg;
	u32 nr_segs;
	struct image_sect *sect; /* empty when the file has no (usable) section headers */
	u32 nr_sects;
	char *sect_names; /* what sect[].name points into */
	bool mapped;	  /* base is a mapping; false: a copy made by image__open_mem() */
	char *build_id;	  /* hex of the GNU note, or the Go build id, or NULL */
};

/* 0 or -errno; -ENOEXEC: not an ELF file; -EBADMSG: a damaged one; -ENOTSUP: 32-bit or big-endian;
 * -ESTALE: its size changed while it was being opened. What is damaged is told by log_debug().
 * The caller's; image__close() it. */
int image__open(const char *path, struct image **out);
/* The same over an open fd, which the image takes over on success. path is for messages. */
int image__open_fd(int fd, const char *path, struct image **out);
/* Over memory (tests, fuzzing); the bytes are copied. fd is -1. */
int image__open_mem(const void *bytes, size_t len, struct image **out);
void image__close(struct image *im); /* NULL is fine */

const u8 *image__bytes(const struct image *im, u64 off, u64 len); /* NULL: outside the file */
const u8 *image__at(const struct image *im, u64 vaddr, u64 len);  /* NULL: not in one segment */
int image__off(const struct image *im, u64 vaddr, u64 *off);	  /* -ENOENT */
int image__vaddr(const struct image *im, u64 off, u64 *vaddr);	  /* -ENOENT */
/*
 * The link address of the first byte of an executable mapping of the file's [off, off + len). Segments
 * are mapped in whole pages, so that byte may lie before its segment; and two segments may share a
 * page of the file (lld packs them), which is then mapped for each: the offset alone does not tell
 * for which. -ENOENT: no segment is mapped like that.
 */
int image__map_vaddr(const struct image *im, u64 off, u64 len, u64 *vaddr);
const struct image_sect *image__section(const struct image *im, const char *name);
/* True while the file behind fd is the one that was opened: device, inode, size, mtime. */
bool image__unchanged(const struct image *im);
/* Lets the kernel drop the pages that reading has brought into memory. */
void image__release(const struct image *im);

#endif
