/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attach.h - puts probes on file offsets and takes them off again. Two ways, chosen once:
 *
 *   uprobe_multi   one link for all probes of a file, Linux 6.6 (attach_multi.c)
 *   perf events    an event and a link for each probe, Linux 5.15 (attach_perf.c): taking one off
 *                  takes tens of ms, one after the other, so they are few (budget.h)
 *
 * Links are made by bpf(BPF_LINK_CREATE) (libbpf 1.1 has no call for the first way). A link cannot be
 * extended: sites that are discovered later get links of their own. Probes that may be taken off
 * before the end are in groups, each with its own links. Closing is done by several threads: each link
 * waits for a grace period of its own (docs/design.md, "Attaching").
 */
#ifndef HBPROF_ATTACH_H
#define HBPROF_ATTACH_H

#include <hbprof/types.h>
#include <stddef.h>
#include <sys/types.h>

enum attach_kind {
	ATTACH_MULTI,
	ATTACH_PERF,
	ATTACH_KIND_NR,
};

/* As reports and captures name them. */
extern const char *const attach_kind_names[ATTACH_KIND_NR];

struct attach_probe {
	unsigned long off; /* file offset */
	u64 cookie;
	u32 group;    /* what attach__move() takes together; ATTACH_KEPT: only the end does */
	bool refused; /* set by attach__add() */
};
#define ATTACH_KEPT 0

struct attach_link {
	int fd;
	int held; /* the keeper's number of it, -1: it has none */
	u32 group;
};

struct attach {
	enum attach_kind kind;
	int prog_fd;
	struct attach_link *link;
	size_t nr_links, cap_links;
	struct keeper *keeper; /* NULL: links are made and closed here (keeper.h); not owned */
};

/*
 * Which way this kernel has; the environment variable HBPROF_ATTACH, "multi" or "perf", is for tests
 * of the other one. 0; -EOPNOTSUPP: it has neither; -EPERM, or what else keeps programs from being
 * loaded.
 */
int attach__choose(enum attach_kind *out);
/* Expected attach type (enum bpf_attach_type) that the program must be loaded with: a program for one
 * way cannot be attached the other. */
u32 attach_prog_type(enum attach_kind kind);

void attach__init(struct attach *a, enum attach_kind kind, int prog_fd);
/*
 * Probes one file, open as file_fd, in one process (a thread-group id). The path given to the kernel
 * leads through /proc/self/fd, so it is that very file, whatever has become of its name.
 *
 * Probes of one offset fire in reverse order of their place in p[]: put entries before exits, so
 * that an exit is handled first. Neighbours of one group share a link where there can be one.
 *
 * 0 with *nr_refused probes marked; -EOPNOTSUPP: this kernel does not have this way; -EPERM; -EMFILE;
 * -ESRCH: the process is gone; other -errno. On failure nothing of this call stays attached.
 */
int attach__add(struct attach *a, int file_fd, pid_t pid, struct attach_probe *p, size_t nr,
		size_t *nr_refused);
/* The links of these groups are those of `to` from now on, whose end takes them off: it returns when no
 * handler runs for them any more, which takes some tens of ms. Without memory for it they are closed here. */
void attach__move(struct attach *to, struct attach *from, const u32 *groups, size_t nr);
/* The links of `from` are those of `to` from now on, as is its keeper; without memory for it they are closed. */
void attach__take(struct attach *to, struct attach *from);
/* Takes all probes off. The bytes in the target's memory are the file's own when it returns. */
void attach__fini(struct attach *a);

#endif
