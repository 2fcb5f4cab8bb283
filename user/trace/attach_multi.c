// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_multi.c - probes by uprobe_multi links: all of a file at once.
 *
 * The kernel makes or refuses a link as a whole, and does not say which offset it disliked: such a
 * batch is halved until the refused offsets are alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "trace/attach_impl.h"
#include "util/array.h"
#include "util/log.h"

/* The uprobe_multi part of union bpf_attr for BPF_LINK_CREATE, linux/bpf.h of Linux 6.6. */
struct link_create_attr {
	u32 prog_fd, target_fd, attach_type, flags;
	u64 path, offsets, ref_ctr_offsets, cookies;
	u32 cnt, multi_flags, pid, pad;
};

static int link_create(int prog_fd, const char *path, const unsigned long *off, const u64 *cookie,
		       u32 nr, pid_t pid)
{
	struct link_create_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_fd = prog_fd;
	attr.attach_type = attach_prog_type(ATTACH_MULTI);
	attr.path = (uintptr_t)path;
	attr.offsets = (uintptr_t)off;
	attr.cookies = (uintptr_t)cookie;
	attr.cnt = nr;
	attr.pid = pid;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

/* A kernel that knows such links says that "/" is no file (kernel/trace/bpf_trace.c,
 * bpf_uprobe_multi_link_attach()); one that does not, that it knows no such type: 6.1 loads the
 * program all the same. */
int attach_multi__probe(void)
{
	const unsigned long off = 0;
	const u64 cookie = 0;
	int prog = attach_try_prog(attach_prog_type(ATTACH_MULTI)), err;

	if (prog < 0)
		return prog == -EINVAL || prog == -E2BIG ? -EOPNOTSUPP : prog;
	err = link_create(prog, "/", &off, &cookie, 1, 0);
	if (err >= 0)
		close(err);
	close(prog);
	return err == -EBADF ? 0 : -EOPNOTSUPP;
}

struct batch {
	struct attach *a;
	const char *path;
	pid_t pid;
	unsigned long *off;
	u64 *cookie;
	struct attach_probe *p;
	size_t nr_refused;
};

/* One range of the batch: attached, or halved, or its single offset marked as refused. The depth of
 * the recursion is the logarithm of the number of sites. */
static int attach_range(struct batch *b, size_t from, size_t to)
{
	size_t mid = from + (to - from) / 2;
	int fd, err;

	if (from == to)
		return 0;
	fd = link_create(b->a->prog_fd, b->path, b->off + from, b->cookie + from, to - from,
			 b->pid);
	if (fd >= 0)
		return attach__keep(b->a, (struct attach_link){fd, -1, b->p[from].group});
	if (!attach_refuses_site(fd))
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

int attach_multi__add(struct attach *a, const char *path, pid_t pid, struct attach_probe *p,
		      size_t nr, size_t *nr_refused)
{
	struct batch b = {.a = a, .path = path, .pid = pid, .p = p};
	int err = -ENOMEM;

	b.off = array_alloc(nr, sizeof(*b.off));
	b.cookie = array_alloc(nr, sizeof(*b.cookie));
	if (!b.off || !b.cookie)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		b.off[i] = p[i].off;
		b.cookie[i] = p[i].cookie;
	}
	err = 0;
	for (size_t from = 0, to; from < nr && !err; from = to) {
		for (to = from + 1; to < nr && p[to].group == p[from].group;)
			to++;
		err = attach_range(&b, from, to);
	}
	*nr_refused = b.nr_refused;
out:
	free(b.off);
	free(b.cookie);
	return err;
}
