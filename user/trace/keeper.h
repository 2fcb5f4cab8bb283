/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keeper.h - a process of our own that makes the links and holds a reference to each.
 *
 * A task that is being killed cannot take a breakpoint off: to write into the target's memory the
 * kernel gets hold of the page, and that fails as long as a SIGKILL is pending (__get_user_pages(),
 * mm/gup.c; "failed to unregister, leaking uprobe" in kernel/events/uprobes.c, seen on Linux 6.18). So
 * a SIGKILL of hbprof in the middle of attaching or detaching would leave breakpoints in the target
 * for the rest of its life. The keeper is another process, in a session of its own: what ends hbprof
 * does not reach it. It notices by the end of its socket, closes all links in peace, and ends.
 *
 * A keeper that somebody has stopped is continued: by hbprof when it needs it, by the kernel when hbprof ends.
 * What kills both at once (a cgroup's kill) is not covered. When the keeper alone is killed, probes stay:
 * hbprof has a reference to each link as well.
 */
#ifndef HBPROF_KEEPER_H
#define HBPROF_KEEPER_H

#include <stddef.h>
#include <sys/types.h>

struct attach;
struct attach_link;
struct attach_probe;
struct keeper;

/* Forks. To be called while there is one thread, and before anything of ours is probed, as children
 * inherit breakpoints. 0 or -errno; keeper__stop() ends it. */
int keeper__start(struct keeper **out);
/* As attach__add(); what is made is added to the links of `a`. -EPIPE: the keeper is gone, and what
 * there is of this call is the caller's to close. */
int keeper__add(struct keeper *k, struct attach *a, int file_fd, pid_t pid, struct attach_probe *p,
		size_t nr, size_t *nr_refused);
/* Closes the keeper's references, the last ones. Returns when that is done, or the keeper is gone. */
void keeper__close(struct keeper *k, const struct attach_link *link, size_t nr);
/* All links are closed when it returns. NULL is fine. */
void keeper__stop(struct keeper *k);

#endif
