// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* attach.c - see attach.h. */
#include "trace/attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/array.h"
#include "util/log.h"

#define CMD_LINK_CREATE 28  /* enum bpf_cmd, linux/bpf.h */
#define ENOTSUPP_KERNEL 524 /* ENOTSUPP, include/linux/errno.h: has no name in user space */
#define CLOSERS		16

/* The uprobe_multi part of union bpf_attr for BPF_LINK_CREATE, linux/bpf.h of Linux 6.6. */
struct link_create_attr {
	u32 prog_fd, target_fd, attach_type, flags;
	u64 path, offsets, ref_ctr_offsets, cookies;
	u32 cnt, multi_flags, pid, pad;
};

void attach__init(struct attach *a, int prog_fd)
{
	*a = (struct attach){.prog_fd = prog_fd};
}

static int link_create(int prog_fd, const char *path, const unsigned long *off, const u64 *cookie,
		       u32 nr, pid_t pid)
{
	struct link_create_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_fd = prog_fd;
	attr.attach_type = ATTACH_TRACE_UPROBE_MULTI;
	attr.path = (uintptr_t)path;
	attr.offsets = (uintptr_t)off;
	attr.cookies = (uintptr_t)cookie;
	attr.cnt = nr;
	attr.pid = pid;
	fd = syscall(SYS_bpf, CMD_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

/* Errors by which the kernel refuses an instruction; all others are about the whole call. */
static bool refuses_site(int err)
{
	return err == -EINVAL || err == -ENOTSUPP_KERNEL || err == -EILSEQ || err == -EIO ||
	       err == -EOPNOTSUPP;
}

struct batch {
	struct attach *a;
	const char *path;
	pid_t pid;
	unsigned long *off;
	u64 *cookie;
	struct attach_probe *p;
	size_t nr_refused, nr_links;
};

/* One range of the batch: attached, or halved, or its single offset marked as refused. The depth of
 * the recursion is the logarithm of the number of sites. */
static int attach_range(struct batch *b, size_t from, size_t to)
{
	struct attach *a = b->a;
	size_t mid = from + (to - from) / 2;
	int fd, err;

	if (from == to)
		return 0;
	if (array_grow((void **)&a->link, a->nr_links, &a->cap_links, sizeof(*a->link)))
		return -ENOMEM;
	fd = link_create(a->prog_fd, b->path, b->off + from, b->cookie + from, to - from, b->pid);
	if (fd >= 0) {
		a->link[a->nr_links++] = fd;
		b->nr_links++;
		return 0;
	}
	if (!refuses_site(fd))
		return fd;
	if (to - from == 1) {
		log_debug("probe at offset %#lx refused: error %d", b->off[from], -fd);
		b->p[from].refused = true;
		b->nr_refused++;
		return 0;
	}
	err = attach_range(b, from, mid);
	return err ? err : attach_range(b, mid, to);
}

static void close_from(struct attach *a, size_t from);

int attach__add(struct attach *a, int file_fd, pid_t pid, struct attach_probe *p, size_t nr,
		size_t *nr_refused)
{
	size_t first_link = a->nr_links;
	struct batch b = {.a = a, .pid = pid, .p = p};
	char path[64];
	int err = -ENOMEM;

	*nr_refused = 0;
	if (nr > 1u << 20)
		return -E2BIG;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	b.path = path;
	b.off = array_alloc(nr, sizeof(*b.off));
	b.cookie = array_alloc(nr, sizeof(*b.cookie));
	if (!b.off || !b.cookie)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		b.off[i] = p[i].off;
		b.cookie[i] = p[i].cookie;
		p[i].refused = false;
	}
	err = attach_range(&b, 0, nr);
	if (!err && nr && b.nr_refused == nr && a->nr_links == first_link && nr > 1)
		err = -EOPNOTSUPP;
	*nr_refused = b.nr_refused;
out:
	if (err)
		close_from(a, first_link);
	free(b.off);
	free(b.cookie);
	return err;
}

struct closer {
	pthread_t thread;
	bool started;
	struct attach *a;
	size_t first, step;
};

static void *closer_run(void *arg)
{
	struct closer *c = arg;

	for (size_t i = c->first; i < c->a->nr_links; i += c->step)
		close(c->a->link[i]);
	return NULL;
}

/* Closes the links from `from` on, in parallel: 100 links take 5 s one by one, 70 ms so. */
static void close_from(struct attach *a, size_t from)
{
	size_t n = a->nr_links - from;
	struct closer c[CLOSERS] = {0};

	if (n > CLOSERS)
		n = CLOSERS;
	for (size_t i = 0; i < n; i++) {
		c[i].a = a;
		c[i].first = from + i;
		c[i].step = n;
		c[i].started = i && !pthread_create(&c[i].thread, NULL, closer_run, &c[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (!c[i].started)
			closer_run(&c[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (c[i].started)
			pthread_join(c[i].thread, NULL);
	}
	a->nr_links = from;
}

void attach__fini(struct attach *a)
{
	close_from(a, 0);
	free(a->link);
	*a = (struct attach){.prog_fd = -1};
}
