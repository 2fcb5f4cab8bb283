// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * image.c - maps an ELF file and reads its headers once into plain structs. Notes are left to
 * buildid.c, what is in the sections (symbols, Go tables) to sym/.
 *
 * Every header is copied out before it is looked at: the mapping shows later writes to the file, so
 * a field that is checked in place may be another one when it is used.
 *
 * Program headers are what the kernel and the dynamic linker go by: damage there is -EBADMSG. They
 * ignore section headers, and a file with broken or no ones runs well: it has no sections then.
 */
#include "target/image.h"

#include "target/buildid.h"
#include "util/array.h"
#include "util/log.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* fs/binfmt_elf.c, load_elf_phdrs() refuses a larger table; it also bounds our linear searches. */
#define PHDRS_MAX_BYTES 65536
/* Names of sections, not of symbols: a real table has some hundred bytes, with -ffunction-sections
 * some MB. A larger one is not copied. */
#define SECT_NAMES_MAX_BYTES (64u << 20)

const u8 *image__bytes(const struct image *im, u64 off, u64 len)
{
	return off <= im->len && len <= im->len - off ? im->base + off : NULL;
}

/* Copies a header out; false if it is not all in the file. */
static bool image__copy(const struct image *im, u64 off, void *to, size_t len)
{
	const u8 *from = image__bytes(im, off, len);

	if (from)
		memcpy(to, from, len);
	return from;
}

/* ---- addresses ---- */

static bool seg_holds(const struct image_seg *s, u64 vaddr)
{
	return vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz;
}

/* The kernel maps segments in order, each over what is there: of two that overlap the last counts. */
static const struct image_seg *image__seg_at(const struct image *im, u64 vaddr)
{
	for (u32 i = im->nr_segs; i-- > 0;) {
		if (seg_holds(&im->seg[i], vaddr))
			return &im->seg[i];
	}
	return NULL;
}

const u8 *image__at(const struct image *im, u64 vaddr, u64 len)
{
	const struct image_seg *s = image__seg_at(im, vaddr);

	if (!s || len > s->filesz - (vaddr - s->vaddr))
		return NULL;
	return image__bytes(im, s->off + (vaddr - s->vaddr), len);
}

int image__off(const struct image *im, u64 vaddr, u64 *off)
{
	const struct image_seg *s = image__seg_at(im, vaddr);

	if (!s)
		return -ENOENT;
	*off = s->off + (vaddr - s->vaddr);
	return 0;
}

int image__vaddr(const struct image *im, u64 off, u64 *vaddr)
{
	const struct image_seg *found = NULL;

	/* A file may map the same bytes twice; who asks is after code. */
	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];

		if (off < s->off || off - s->off >= s->filesz)
			continue;
		if (!found || (s->exec && !found->exec))
			found = s;
	}
	if (!found)
		return -ENOENT;
	*vaddr = found->vaddr + (off - found->off);
	return 0;
}

/* How well a segment explains a mapping; 0: not at all. */
static u32 seg_fits(const struct image_seg *s, u64 page, u64 off, u64 len)
{
	u64 begin = s->off & ~(page - 1);
	u64 end = (s->off + s->filesz + page - 1) & ~(page - 1);

	if (!s->filesz || off < begin || off >= end)
		return 0;
	/* A mapping is a whole segment, unless the protection of some of its pages was changed; and
	 * what is executable was so in the file, unless the process has made it so. */
	return 1 + (off == begin) + 2 * (len == end - off) + 4 * s->exec;
}

int image__map_vaddr(const struct image *im, u64 off, u64 len, u64 *vaddr)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	u32 best = 0;

	for (u32 i = 0; i < im->nr_segs; i++) {
		const struct image_seg *s = &im->seg[i];
		u32 fit = seg_fits(s, page, off, len);

		if (fit <= best)
			continue;
		best = fit;
		*vaddr = s->vaddr - (s->off - off); /* modulo 2^64: off is on either side */
	}
	return best ? 0 : -ENOENT;
}

const struct image_sect *image__section(const struct image *im, const char *name)
{
	for (u32 i = 0; i < im->nr_sects; i++) {
		if (!strcmp(im->sect[i].name, name))
			return &im->sect[i];
	}
	return NULL;
}

/* ---- headers ---- */

static int image__damaged(const struct image *im, const char *what)
{
	log_debug("%s: damaged ELF file: %s", im->path, what);
	return -EBADMSG;
}

static int image__read_ehdr(struct image *im, Elf64_Ehdr *eh)
{
	u8 ident[EI_NIDENT];

	if (!image__copy(im, 0, ident, SELFMAG) || memcmp(ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (!image__copy(im, 0, ident, sizeof(ident)))
		return image__damaged(im, "cut in its first bytes");
	if (ident[EI_CLASS] == ELFCLASS32 || ident[EI_DATA] == ELFDATA2MSB)
		return -ENOTSUP;
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return image__damaged(im, "neither 32 nor 64 bits, or no byte order");
	if (!image__copy(im, 0, eh, sizeof(*eh)))
		return image__damaged(im, "cut in its header");
	im->machine = eh->e_machine;
	im->type = eh->e_type;
	return 0;
}

/* What no loader would take, or what would make later sums wrap. */
static const char *phdr_fault(const struct image *im, const Elf64_Phdr *ph)
{
	u64 end;

	if (!image__bytes(im, ph->p_offset, ph->p_filesz))
		return "a segment lies outside the file (is the file complete?)";
	if (ph->p_filesz > ph->p_memsz)
		return "a segment is larger in the file than in memory";
	if (__builtin_add_overflow((u64)ph->p_vaddr, (u64)ph->p_memsz, &end))
		return "a segment wraps around the end of the address space";
	return NULL;
}

static int image__read_segs(struct image *im, const Elf64_Ehdr *eh)
{
	size_t bytes = (size_t)eh->e_phnum * sizeof(Elf64_Phdr);

	if (!eh->e_phnum)
		return 0;
	if (eh->e_phentsize != sizeof(Elf64_Phdr))
		return image__damaged(im, "program headers of a wrong size");
	if (bytes > PHDRS_MAX_BYTES)
		return image__damaged(im, "too many program headers");
	if (!image__bytes(im, eh->e_phoff, bytes))
		return image__damaged(im, "program headers outside the file");
	im->seg = array_alloc(eh->e_phnum, sizeof(*im->seg));
	if (!im->seg)
		return -ENOMEM;
	for (u32 i = 0; i < eh->e_phnum; i++) {
		const char *fault;
		Elf64_Phdr ph;

		image__copy(im, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph));
		if (ph.p_type != PT_LOAD)
			continue;
		fault = phdr_fault(im, &ph);
		if (fault)
			return image__damaged(im, fault);
		im->seg[im->nr_segs++] = (struct image_seg){
			.vaddr = ph.p_vaddr,
			.off = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.exec = ph.p_flags & PF_X,
			.write = ph.p_flags & PF_W,
		};
	}
	return 0;
}

/*
 * Number of sections and index of the one with their names. From 0xff00 sections on the header's
 * fields are too small, and section 0 holds the numbers (ELF gABI, chapter 4).
 */
static u64 image__count_sects(const struct image *im, const Elf64_Ehdr *eh, u32 *names)
{
	Elf64_Shdr first;
	u64 nr = eh->e_shnum;
	const u8 *table;

	if (!eh->e_shoff || eh->e_shentsize != sizeof(first) ||
	    !image__copy(im, eh->e_shoff, &first, sizeof(first)))
		return 0;
	*names = eh->e_shstrndx == SHN_XINDEX ? first.sh_link : eh->e_shstrndx;
	if (!nr)
		nr = first.sh_size;
	/* By division: nr may be any 64-bit number. */
	table = nr <= im->len / sizeof(first) && nr <= UINT32_MAX
			? image__bytes(im, eh->e_shoff, nr * sizeof(first))
			: NULL;
	if (!table)
		image__damaged(im, "section headers outside the file; going on without them");
	return table ? nr : 0;
}

/* A copy, always terminated, so that a name cannot run on whatever happens to the file. */
static int image__read_sect_names(struct image *im, const Elf64_Shdr *sh, u64 *len)
{
	const u8 *from = NULL;

	*len = 0;
	if (sh->sh_type == SHT_STRTAB && sh->sh_size <= SECT_NAMES_MAX_BYTES)
		from = image__bytes(im, sh->sh_offset, sh->sh_size);
	im->sect_names = array_alloc(from ? sh->sh_size + 1 : 1, 1);
	if (!im->sect_names)
		return -ENOMEM;
	if (from) {
		memcpy(im->sect_names, from, sh->sh_size);
		*len = sh->sh_size;
	}
	return 0;
}

static int image__read_sects(struct image *im, const Elf64_Ehdr *eh)
{
	Elf64_Shdr sh = {0};
	u32 names = 0;
	u64 nr, names_len;
	int err;

	nr = image__count_sects(im, eh, &names);
	if (!nr)
		return 0;
	if (names && names < nr)
		image__copy(im, eh->e_shoff + names * sizeof(sh), &sh, sizeof(sh));
	err = image__read_sect_names(im, &sh, &names_len);
	if (err)
		return err;
	im->sect = array_alloc(nr, sizeof(*im->sect));
	if (!im->sect)
		return -ENOMEM;
	for (u32 i = 0; i < nr; i++) {
		image__copy(im, eh->e_shoff + i * sizeof(sh), &sh, sizeof(sh));
		im->sect[i] = (struct image_sect){
			/* The byte after the last name is the terminator: "". */
			.name = im->sect_names + (sh.sh_name < names_len ? sh.sh_name : names_len),
			.type = sh.sh_type,
			.link = sh.sh_link,
			.vaddr = sh.sh_addr,
			.off = sh.sh_offset,
			.size = sh.sh_size,
			.entsize = sh.sh_entsize,
			.flags = sh.sh_flags,
		};
	}
	im->nr_sects = (u32)nr;
	return 0;
}

/* ---- open and close ---- */

static int image__parse(struct image *im)
{
	Elf64_Ehdr eh;
	int err;

	err = image__read_ehdr(im, &eh);
	if (!err)
		err = image__read_segs(im, &eh);
	if (!err)
		err = image__read_sects(im, &eh);
	if (!err)
		err = build_id__read(im, &im->build_id);
	return err;
}

static struct image *image__new(const char *path)
{
	struct image *im = calloc(1, sizeof(*im));

	if (!im)
		return NULL;
	im->fd = -1;
	im->path = strdup(path);
	if (!im->path) {
		free(im);
		return NULL;
	}
	return im;
}

/* Nanoseconds since 1970; unsigned in between, as the time of a foreign file may be any number. */
static s64 stat_mtime_ns(const struct stat *st)
{
	return (s64)((u64)st->st_mtim.tv_sec * 1000000000u + (u64)st->st_mtim.tv_nsec);
}

/* im->fd stays -1 until all is well: the descriptor is the caller's till then. */
static int image__map(struct image *im, int fd)
{
	struct stat st;
	void *base;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || st.st_size < SELFMAG)
		return -ENOEXEC;
	/* Into a private mapping the kernel would put the breakpoints of any tracer that probes the
	 * file in every process: valid_vma() in kernel/events/uprobes.c of Linux. */
	base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	im->base = base;
	im->len = (size_t)st.st_size;
	im->mapped = true;
	im->dev = st.st_dev;
	im->ino = st.st_ino;
	im->mtime_ns = stat_mtime_ns(&st);
	/* Pages beyond the end of a file that was cut meanwhile raise SIGBUS. */
	if (fstat(fd, &st))
		return -errno;
	return (size_t)st.st_size == im->len ? 0 : -ESTALE;
}

int image__open_fd(int fd, const char *path, struct image **out)
{
	struct image *im = image__new(path);
	int err;

	if (!im)
		return -ENOMEM;
	err = image__map(im, fd);
	if (!err)
		err = image__parse(im);
	if (err) {
		image__close(im);
		return err;
	}
	im->fd = fd;
	*out = im;
	return 0;
}

int image__open(const char *path, struct image **out)
{
	/* O_NONBLOCK: a FIFO must not hold us; it means nothing to a regular file. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	err = image__open_fd(fd, path, out);
	if (err)
		close(fd);
	return err;
}

int image__open_mem(const void *bytes, size_t len, struct image **out)
{
	struct image *im = image__new("(memory)");
	u8 *copy = array_alloc(len, 1);
	int err = -ENOMEM;

	if (!im || !copy) {
		free(copy);
		goto out;
	}
	if (len)
		memcpy(copy, bytes, len);
	im->base = copy;
	im->len = len;
	err = image__parse(im);
out:
	if (err)
		image__close(im);
	else
		*out = im;
	return err;
}

void image__close(struct image *im)
{
	if (!im)
		return;
	if (im->mapped)
		munmap((void *)im->base, im->len);
	else
		free((void *)im->base);
	if (im->fd >= 0)
		close(im->fd);
	free(im->seg);
	free(im->sect);
	free(im->sect_names);
	free(im->build_id);
	free(im->path);
	free(im);
}

bool image__unchanged(const struct image *im)
{
	struct stat st;

	if (im->fd < 0)
		return true;
	return !fstat(im->fd, &st) && st.st_dev == im->dev && st.st_ino == im->ino &&
	       (u64)st.st_size == im->len && stat_mtime_ns(&st) == im->mtime_ns;
}

void image__release(const struct image *im)
{
	/* Only a file can be read again: on the copy of image__open_mem() it would give zeros. */
	if (im->mapped)
		madvise((void *)im->base, im->len, MADV_DONTNEED);
}
