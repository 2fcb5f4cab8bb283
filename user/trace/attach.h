/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attach.h - puts probes on file offsets and takes them off again, through uprobe_multi links made
 * by bpf(BPF_LINK_CREATE) (libbpf 1.1 has no call for it). A link cannot be extended: sites that are
 * discovered later get links of their own.
 *
 * The kernel makes or refuses a link as a whole, and does not say which offset it disliked: such a
 * batch is halved until the refused offsets are alone. Closing is done by several threads: each link
 * waits for a grace period of its own (docs/design.md, "Attaching").
 */
#ifndef HBPROF_ATTACH_H
#define HBPROF_ATTACH_H

#include <hbprof/types.h>
#include <stddef.h>
#include <sys/types.h>

/* Expected attach type that the program must be loaded with (enum bpf_attach_type of Linux 6.6). */
#define ATTACH_TRACE_UPROBE_MULTI 48

struct attach_probe {
	unsigned long off; /* file offset */
	u64 cookie;
	bool refused; /* set by attach__add() */
};

struct attach {
	int prog_fd;
	int *link; /* fds */
	size_t nr_links, cap_links;
};

void attach__init(struct attach *a, int prog_fd);
/*
 * Probes one file, open as file_fd, in one process (a thread-group id). The path given to the kernel
 * leads through /proc/self/fd, so it is that very file, whatever has become of its name.
 *
 * Probes of one offset fire in reverse order of their place in p[]: put entries before exits, so
 * that an exit is handled first.
 *
 * 0 with *nr_refused probes marked; -EOPNOTSUPP: this kernel has no uprobe_multi; -EPERM; -ESRCH: the
 * process is gone; other -errno. On failure nothing of this call stays attached.
 */
int attach__add(struct attach *a, int file_fd, pid_t pid, struct attach_probe *p, size_t nr,
		size_t *nr_refused);
/* Takes all probes off. The bytes in the target's memory are the file's own when it returns. */
void attach__fini(struct attach *a);

#endif
