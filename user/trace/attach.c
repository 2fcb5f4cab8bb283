// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* attach.c - see attach.h: what both ways have in common, the choice between them, and the end. */
#include "trace/attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "trace/attach_impl.h"
#include "trace/keeper.h"
#include "util/array.h"
#include "util/log.h"

#define TRACE_UPROBE_MULTI 48  /* enum bpf_attach_type of Linux 6.6 */
#define ENOTSUPP_KERNEL	   524 /* ENOTSUPP, include/linux/errno.h: has no name in user space */
#define CLOSERS		   64

const char *const attach_kind_names[ATTACH_KIND_NR] = {"uprobe_multi", "perf events"};

u32 attach_prog_type(enum attach_kind kind)
{
	return kind == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;
}

int attach__choose(enum attach_kind *out)
{
	const char *forced = getenv("HBPROF_ATTACH");
	int err = -EOPNOTSUPP;

	if (!forced || strcmp(forced, "perf") != 0)
		err = attach_multi__probe();
	if (!err) {
		*out = ATTACH_MULTI;
		return 0;
	}
	if (err != -EOPNOTSUPP || (forced && !strcmp(forced, "multi")))
		return err;
	err = attach_perf__probe();
	if (!err)
		*out = ATTACH_PERF;
	return err;
}

int attach_try_prog(u32 expected_attach_type)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0}, /* r0 = 0 */
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = expected_attach_type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "hb_try", "GPL", insns, 2, &opts);

	return fd < 0 ? -errno : fd;
}

bool attach_refuses_site(int err)
{
	return err == -EINVAL || err == -ENOTSUPP_KERNEL || err == -EILSEQ || err == -EIO ||
	       err == -EOPNOTSUPP;
}

int attach__keep(struct attach *a, struct attach_link link)
{
	if (array_grow((void **)&a->link, a->nr_links, &a->cap_links, sizeof(*a->link))) {
		close(link.fd);
		return -ENOMEM;
	}
	a->link[a->nr_links++] = link;
	return 0;
}

void attach__init(struct attach *a, enum attach_kind kind, int prog_fd)
{
	*a = (struct attach){.kind = kind, .prog_fd = prog_fd};
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
		close(c->a->link[i].fd);
	return NULL;
}

/* In parallel: 100 links of uprobe_multi take 5 s one by one, 70 ms so. */
static void close_here(struct attach *a, size_t from)
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
}

/* Closes the links from `from` on. Of those that are held the keeper's reference is the last one. */
static void close_from(struct attach *a, size_t from)
{
	close_here(a, from);
	if (a->keeper)
		keeper__close(a->keeper, a->link + from, a->nr_links - from);
	a->nr_links = from;
}

static bool is_among(u32 group, const u32 *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (groups[i] == group)
			return true;
	return false;
}

void attach__move(struct attach *to, struct attach *from, const u32 *groups, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->nr_links; i++) {
		struct attach_link l = from->link[i];

		if (is_among(l.group, groups, nr))
			attach__keep(to, l);
		else
			from->link[kept++] = l;
	}
	from->nr_links = kept;
	if (from->nr_links)
		to->keeper = from->keeper;
}

static int add_here(struct attach *a, int file_fd, pid_t pid, struct attach_probe *p, size_t nr,
		    size_t *nr_refused)
{
	char path[ATTACH_PATH];

	*nr_refused = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	for (size_t i = 0; i < nr; i++)
		p[i].refused = false;
	if (a->kind == ATTACH_MULTI)
		return attach_multi__add(a, path, pid, p, nr, nr_refused);
	return attach_perf__add(a, path, pid, p, nr, nr_refused);
}

int attach__add(struct attach *a, int file_fd, pid_t pid, struct attach_probe *p, size_t nr,
		size_t *nr_refused)
{
	size_t first_link = a->nr_links;
	int err = -EPIPE;

	if (nr > ATTACH_PROBES_MAX)
		return -E2BIG;
	if (a->keeper)
		err = keeper__add(a->keeper, a, file_fd, pid, p, nr, nr_refused);
	if (err == -EPIPE) {
		close_from(a, first_link);
		err = add_here(a, file_fd, pid, p, nr, nr_refused);
	}
	/* All of several: it is the way that is refused, not an instruction. */
	if (!err && nr > 1 && *nr_refused == nr)
		err = -EOPNOTSUPP;
	if (err)
		close_from(a, first_link);
	return err;
}

void attach__take(struct attach *to, struct attach *from)
{
	for (size_t i = 0; i < from->nr_links; i++)
		attach__keep(to, from->link[i]);
	if (from->nr_links)
		to->keeper = from->keeper;
	from->nr_links = 0;
	attach__fini(from);
}

void attach__fini(struct attach *a)
{
	close_from(a, 0);
	free(a->link);
	*a = (struct attach){.kind = a->kind, .prog_fd = -1};
}
