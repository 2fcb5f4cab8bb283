// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * frames.c - mappings, files, keys. A key is, from the top: bit 63 for the kernel's addresses; the
 * kind + 1; the file; the function's place in its symbol table + 1, 0: none.
 */
#include "sym/frames.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/demangle.h"
#include "util/array.h"
#include "util/log.h"

#define KIND_SHIFT 56
#define FILE_SHIFT 32

static u64 make_key(enum frame_kind kind, u32 file, u32 sym)
{
	return (u64)(kind + 1) << KIND_SHIFT | (u64)file << FILE_SHIFT | sym;
}

static enum frame_kind key_kind(u64 key)
{
	return (enum frame_kind)((key >> KIND_SHIFT) - 1);
}

static const struct frame_file *key_file(const struct frames *f, u64 key)
{
	u32 file = (u32)(key >> FILE_SHIFT) & 0xffffff;

	return key_kind(key) == FRAME_FILE && file < f->nr_files ? &f->file[file] : NULL;
}

static const struct sym *key_sym(const struct frames *f, u64 key)
{
	const struct frame_file *file = key_file(f, key);
	u32 sym = (u32)key;

	return file && file->syms && sym && sym <= file->syms->nr ? &file->syms->v[sym - 1] : NULL;
}

void frames__init(struct frames *f)
{
	*f = (struct frames){0};
}

void frames__fini(struct frames *f)
{
	for (size_t i = 0; i < f->nr_files; i++) {
		struct frame_file *file = &f->file[i];

		symtab__close(file->own_syms);
		image__close(file->own_im);
		if (file->fd >= 0)
			close(file->fd);
		free(file->path);
	}
	free(f->file);
	free(f->maps.map);
	frames__init(f);
}

void frames__swap(struct frames *f, struct frame_maps *m)
{
	struct frame_maps now = f->maps;

	f->maps = *m;
	*m = now;
}

/* ---- files -------------------------------------------------------------------------------- */

static int file_add(struct frames *f, const char *path, u64 dev, u64 ino, struct frame_file **out)
{
	char *copy = strdup(path);

	if (!copy || array_grow((void **)&f->file, f->nr_files, &f->cap_files, sizeof(*f->file))) {
		free(copy);
		return -ENOMEM;
	}
	*out = &f->file[f->nr_files++];
	**out = (struct frame_file){.path = copy, .dev = dev, .ino = ino, .fd = -1};
	return 0;
}

int frames__know(struct frames *f, const char *path, u64 dev, u64 ino, const struct image *im,
		 const struct symtab *syms)
{
	struct frame_file *file;
	int err = file_add(f, path, dev, ino, &file);

	if (err)
		return err;
	file->im = im;
	file->syms = syms;
	file->tried = true;
	return 0;
}

/* *file is its index + 1; 0: there are too many. */
static int file_of(struct frames *f, const struct proc *p, const struct proc_map *m, u32 *file)
{
	struct frame_file *new;
	int err;

	for (size_t i = 0; i < f->nr_files; i++) {
		if (f->file[i].dev == m->dev && f->file[i].ino == m->ino) {
			*file = (u32)i + 1;
			return 0;
		}
	}
	*file = 0;
	if (f->nr_files >= FRAMES_MAX_FILES)
		return 0;
	err = file_add(f, m->path, m->dev, m->ino, &new);
	if (err)
		return err;
	*file = (u32)f->nr_files;
	if (f->nr_fds < FRAMES_MAX_FDS)
		new->fd = proc__open_map(p, m);
	f->nr_fds += new->fd >= 0;
	return 0;
}

static void file_read(struct frames *f, struct frame_file *file)
{
	int go_err,
		err = file->fd < 0 ? -ENOENT : image__open_fd(file->fd, file->path, &file->own_im);

	file->tried = true;
	if (!err) {
		file->fd = -1; /* the image's now */
		file->im = file->own_im;
		err = symtab__open(file->own_im, &file->own_syms, &go_err);
	}
	if (err) {
		log_debug("%s: its functions are not named: %s", file->path, strerror(-err));
		return;
	}
	file->syms = file->own_syms;
	image__release(file->own_im);
}

/* ---- mappings ----------------------------------------------------------------------------- */

static int map_of(struct frames *f, const struct proc *p, const struct proc_map *m,
		  struct frame_map *out)
{
	*out = (struct frame_map){.begin = m->begin, .end = m->end, .off = m->off};
	if (m->ino)
		return file_of(f, p, m, &out->file);
	out->kind = !strcmp(m->path, "[vdso]") || !strcmp(m->path, "[vsyscall]") ? FRAME_VDSO
										 : FRAME_ANON;
	return 0;
}

static bool overlaps(const struct frame_map *v, size_t nr, const struct frame_map *m)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) { /* the first that ends behind m's beginning */
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].end <= m->begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && v[lo].begin < m->end;
}

static int cmp_map(const void *a, const void *b)
{
	const struct frame_map *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

int frames__update(struct frames *f, const struct proc *p)
{
	struct frame_map *v = NULL;
	size_t nr = 0, cap = 0, now;

	for (u32 i = 0; i < p->nr_maps && nr < FRAMES_MAX_MAPS; i++) {
		if (!p->map[i].exec)
			continue;
		if (array_grow((void **)&v, nr, &cap, sizeof(*v)) ||
		    map_of(f, p, &p->map[i], &v[nr]))
			goto no_memory;
		nr++;
	}
	qsort(v, nr, sizeof(*v), cmp_map);
	now = nr;
	for (size_t i = 0; i < f->maps.nr && nr < FRAMES_MAX_MAPS; i++) {
		if (overlaps(v, now, &f->maps.map[i]))
			continue;
		if (array_grow((void **)&v, nr, &cap, sizeof(*v)))
			goto no_memory;
		v[nr++] = f->maps.map[i];
	}
	qsort(v, nr, sizeof(*v), cmp_map);
	free(f->maps.map);
	f->maps.map = v;
	f->maps.nr = nr;
	f->maps.cap = cap;
	return 0;

no_memory:
	free(v);
	return -ENOMEM;
}

static const struct frame_map *map_at(const struct frames *f, u64 addr)
{
	size_t lo = 0, hi = f->maps.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->maps.map[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->maps.nr && f->maps.map[lo].begin <= addr ? &f->maps.map[lo] : NULL;
}

/* ---- keys and names ------------------------------------------------------------------------ */

/* The file that addr is in, read, and where in it; NULL: in none, or it cannot be read. */
static const struct frame_file *locate(struct frames *f, const struct frame_map *m, u64 addr,
				       u64 *vaddr)
{
	struct frame_file *file;

	if (!m || !m->file)
		return NULL;
	file = &f->file[m->file - 1];
	if (!file->tried)
		file_read(f, file);
	if (!file->syms || image__map_vaddr(file->im, m->off, m->end - m->begin, vaddr))
		return NULL;
	*vaddr += addr - m->begin;
	return file;
}

u64 frames__key(struct frames *f, u64 addr)
{
	const struct frame_file *file;
	const struct frame_map *m;
	const struct sym *s = NULL;
	u64 vaddr;

	if (frame_is_kernel(addr))
		return addr;
	m = map_at(f, addr);
	if (!m)
		return 0;
	if (m->kind != FRAME_FILE)
		return make_key(m->kind, 0, 0);
	if (!m->file)
		return make_key(FRAME_ANON, 0, 0);
	file = locate(f, m, addr, &vaddr);
	if (file)
		s = symtab__at(file->syms, vaddr);
	return make_key(FRAME_FILE, m->file - 1, s ? (u32)(s - file->syms->v) + 1 : 0);
}

/* By how much the direct call that ends at vaddr leads further than there: e8 rel32, or bl. False: no
 * such call is there. */
static bool call_distance(const struct image *im, u64 vaddr, s64 *out)
{
	bool arm = im->machine == EM_AARCH64;
	const u64 len = arm ? 4 : 5;
	const u8 *code;
	u32 word;

	if (vaddr < len || (!arm && im->machine != EM_X86_64))
		return false;
	code = image__at(im, vaddr - len, len);
	if (!code)
		return false;
	memcpy(&word, code + len - 4, sizeof(word));
	*out = arm ? ((s64)(s32)(word << 6) >> 4) - 4 : (s64)(s32)word;
	return arm ? word >> 26 == 0x25 : code[0] == 0xe8;
}

bool frames__called_from(struct frames *f, u64 addr, u64 ra)
{
	const struct frame_file *callee, *caller;
	const struct sym *s;
	u64 to, last;
	s64 far;

	if (frame_is_kernel(addr) || frame_is_kernel(ra) || !ra)
		return false;
	callee = locate(f, map_at(f, addr), addr, &to);
	caller = locate(f, map_at(f, ra - 1), ra - 1, &last);
	s = callee ? symtab__at(callee->syms, to) : NULL;
	if (!s || !caller || !call_distance(caller->im, last + 1, &far))
		return false;
	return ra + (u64)far == addr - (to - s->vaddr);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *bracketed(const char *path)
{
	const char *base = base_name(path);
	size_t len = strlen(base);
	char *s = malloc(len + 3);

	if (!s)
		return NULL;
	s[0] = '[';
	memcpy(s + 1, base, len);
	memcpy(s + 1 + len, "]", 2);
	return s;
}

char *frames__name(const struct frames *f, u64 key)
{
	const struct frame_file *file = key_file(f, key);
	const struct sym *s = key_sym(f, key);
	char *plain;

	if (s) {
		plain = is_mangled(s->name) ? demangle_short(s->name) : NULL;
		return plain ? plain : strdup(s->name);
	}
	if (file)
		return bracketed(file->path);
	if (key == FRAMES_UNKNOWN)
		return strdup("[unknown]");
	return strdup(key_kind(key) == FRAME_VDSO ? "[vdso]" : "[anon]");
}

static bool in_c_library(const struct frame_file *file)
{
	const char *base = file ? base_name(file->path) : "";

	return !strncmp(base, "libc.so", 7) || !strncmp(base, "libc-", 5) ||
	       !strncmp(base, "ld-musl", 7);
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

bool frames__is_root(const struct frames *f, u64 key, u64 callee)
{
	/* Go: where goroutines, threads, the process, and what mcall() and morestack() run begin:
	 * these clear the frame pointer (runtime/asm_amd64.s). C: glibc 2.36, musl 1.2. */
	static const char *const roots[] = {"runtime.goexit",
					    "runtime.goexit.abi0",
					    "runtime.mstart",
					    "runtime.mstart.abi0",
					    "runtime.mcall",
					    "runtime.morestack",
					    "runtime.rt0_go",
					    "runtime.rt0_go.abi0",
					    "_rt0_amd64",
					    "_rt0_amd64_linux",
					    "_start",
					    "__libc_start_main",
					    "__libc_start_call_main",
					    "__libc_start_main_impl",
					    "clone",
					    "__clone",
					    "clone3",
					    "__clone3",
					    "start_thread",
					    NULL};
	const struct sym *s = key_sym(f, key), *called = key_sym(f, callee);

	if (s && is_one_of(s->name, roots))
		return true;
	if (called && !strcmp(called->name, "main"))
		return true;
	return !s && in_c_library(key_file(f, key)) && callee && !in_c_library(key_file(f, callee));
}
