/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames.h - what the addresses of a stack mean: from an address to a number that stands for its
 * function, while the process is there, and from the number to a name, at the end.
 *
 * A file is read when the first address in it is met, through a descriptor that was opened when its
 * mapping was first seen: so neither a process that has ended nor a file that was replaced loses its
 * names. Mappings that go away are kept until another takes their place.
 */
#ifndef HBPROF_FRAMES_H
#define HBPROF_FRAMES_H

#include "sym/symtab.h"
#include "target/proc.h"

#define FRAMES_MAX_MAPS	 16384
#define FRAMES_MAX_FILES 1024
#define FRAMES_MAX_FDS	 256 /* of the files: the others' functions have no names */

struct frame_file {
	char *path; /* as the process sees it */
	u64 dev, ino;
	int fd;			   /* -1: not to be had, or read already */
	bool tried;		   /* reading it */
	const struct image *im;	   /* NULL: its functions have no names */
	const struct symtab *syms; /* NULL: likewise */
	struct image *own_im;	   /* what this has opened itself */
	struct symtab *own_syms;
};

enum frame_kind { FRAME_FILE, FRAME_ANON, FRAME_VDSO, FRAME_UNKNOWN };

struct frame_map { /* executable ones */
	u64 begin, end, off;
	u32 file; /* of FRAME_FILE; index + 1, 0: none */
	u8 kind;  /* enum frame_kind */
};

/* The mappings of one process. */
struct frame_maps {
	struct frame_map *map; /* by address, none overlaps another */
	size_t nr, cap;
};

struct frames {
	struct frame_maps maps; /* of the process that is looked at now */
	struct frame_file *file;
	size_t nr_files, cap_files;
	u32 nr_fds;
};

void frames__init(struct frames *f);
void frames__fini(struct frames *f);
/* Looks at another process from here on: its mappings in, those that were looked at out. Its files are
 * common to all. */
void frames__swap(struct frames *f, struct frame_maps *m);

/* Takes over the mappings of a process, as they are now. 0 or -ENOMEM. */
int frames__update(struct frames *f, const struct proc *p);
/* Tells the functions of a file that the caller has read already, and keeps until frames__fini().
 * dev and ino are those of its mappings. Before the first frames__update(). 0 or -ENOMEM. */
int frames__know(struct frames *f, const char *path, u64 dev, u64 ino, const struct image *im,
		 const struct symtab *syms);

/*
 * The number of the function that addr is in; equal ones are one frame. Of a return address give
 * addr - 1: the call may be the last instruction of its function. 0: in no mapping that is known. An
 * address of the kernel is its own number.
 */
u64 frames__key(struct frames *f, u64 addr);
/* The number for an address in no mapping, where one is needed. */
#define FRAMES_UNKNOWN ((u64)(FRAME_UNKNOWN + 1) << 56)
static inline bool frame_is_kernel(u64 key)
{
	return key >> 63;
}

/*
 * Does the call instruction that ends at ra call the function that addr is in? A function without a
 * frame of its own (Go's memmove) hides its caller from whoever follows frame pointers; if this is
 * true of the word at the stack pointer (arm64: of X30), that is where it returns to.
 */
bool frames__called_from(struct frames *f, u64 addr, u64 ra);

/*
 * "encoding/json.Marshal", "ns::f", "[libc.so.6]", "[vdso]", "[anon]", "[unknown]": of a key that is not of the
 * kernel. NULL: no memory. free() it.
 */
char *frames__name(const struct frames *f, u64 key);

/*
 * Does a stack begin here: is the outermost frame one that nothing has called? That of main's caller
 * and of a thread's first function often has no name: the C library's own functions are not
 * exported. callee: the next frame inwards, 0: none.
 */
bool frames__is_root(const struct frames *f, u64 key, u64 callee);

#endif
