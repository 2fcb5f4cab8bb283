// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan_file.c - the plan of a file that perhaps no process runs: as of a process that has nothing but
 * this file mapped, where it was linked for.
 */
#include "trace/plan_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

int plan_open_map(const struct proc *p, const struct proc_map *m)
{
	int fd;

	if (p->pid)
		return proc__open_map(p, m);
	/* Nothing happens to a device or FIFO that is opened so. */
	fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int say_unreadable(const char *path, int err)
{
	if (err == -ENOEXEC)
		log_err("%s is no program or library (ELF)", path);
	else if (err == -ENOTSUP)
		log_err("%s is a 32-bit or big-endian program; hbprof reads those of x86-64 and arm64",
			path);
	else if (err == -EBADMSG)
		log_err("%s is a damaged program, or cut short", path);
	else
		log_err("cannot read %s: %s", path, strerror(-err));
	/* -ENOENT and -EINVAL are said of codecs and options. */
	return err == -ENOENT || err == -EINVAL ? -EIO : err;
}

/* The first code of the file as a mapping. */
static int map_code(const char *path, struct proc_map *m)
{
	struct image *im;
	struct stat st;
	int err = -ENOEXEC;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENOEXEC;
	err = image__open(path, &im);
	if (err)
		return err;
	err = -ENOEXEC;
	for (u32 i = 0; i < im->nr_segs && err; i++) {
		const struct image_seg *s = &im->seg[i];

		if (!s->exec || !s->filesz)
			continue;
		*m = (struct proc_map){
			.begin = s->vaddr,
			.end = s->vaddr + s->filesz,
			.off = s->off,
			.dev = im->dev,
			.ino = im->ino,
			.exec = true,
			.path = (char *)path,
		};
		err = 0;
	}
	image__close(im);
	return err;
}

int plan__build_file(const char *path, const struct plan_opts *o, struct plan **out)
{
	struct proc_map map = {0};
	struct proc p = {.exe = (char *)path, .map = &map, .nr_maps = 1};
	int err = map_code(path, &map);

	if (err)
		return say_unreadable(path, err);
	err = plan__build(&p, o, out);
	/* Nothing of the plan needs it any more. */
	if (!err)
		(*out)->proc[0].proc = NULL;
	return err;
}
