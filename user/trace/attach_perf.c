// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_perf.c - probes by perf events of the PMU `uprobe`, one each, for kernels before
 * uprobe_multi. Linux 5.15 is the first whose links carry a cookie for such an event.
 *
 * The event belongs to one thread, its probe to the whole process: the kernel decides by the mm of
 * that thread where the breakpoint stands (uprobe_perf_filter(), kernel/trace/trace_uprobe.c, 5.15 to
 * 6.12), and runs the program for whoever hits it there, before it looks at the event. So threads that
 * are made later are covered, other processes pay nothing, and a forked child is rid of the breakpoint
 * at its first hit. For the same reason the event is never enabled: enabled ones would be switched in
 * and out with that thread. It must live as long as the process, as the leader mostly does: when
 * it exits alone, its mm is gone, and with it the probes (docs/design.md, "Attaching").
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "trace/attach_impl.h"
#include "util/fsutil.h"
#include "util/log.h"
#include "util/units.h"

#define UPROBE_TYPE "/sys/bus/event_source/devices/uprobe/type"

/* The type number of the PMU, or -EOPNOTSUPP. */
static int uprobe_type(void)
{
	char *text;
	size_t len;
	u64 n = 0;
	int err = fs_read_file(UPROBE_TYPE, 64, &text, &len);

	if (err)
		return -EOPNOTSUPP;
	text[strcspn(text, "\n")] = '\0';
	err = parse_u64(text, 1u << 30, &n);
	free(text);
	return err ? -EOPNOTSUPP : (int)n;
}

/* Before 5.15 there is no such link: -EINVAL. Since then the event's fd is looked at: there is none
 * (bpf_perf_link_attach(), kernel/bpf/syscall.c). */
int attach_perf__probe(void)
{
	int prog, link, err;

	if (uprobe_type() < 0)
		return -EOPNOTSUPP;
	prog = attach_try_prog(0);
	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, -1, BPF_PERF_EVENT, NULL);
	err = link < 0 ? -errno : 0;
	if (link >= 0)
		close(link);
	close(prog);
	return err == -EBADF ? 0 : -EOPNOTSUPP;
}

static int event_open(int type, const char *path, u64 off, pid_t tid)
{
	struct perf_event_attr attr = {.type = (u32)type,
				       .size = sizeof(attr),
				       .disabled = 1,
				       .uprobe_path = (uintptr_t)path,
				       .probe_offset = off};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The event is the link's from then on, so that one fd is left of the two. */
static int link_event(int prog_fd, int event, u64 cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog_fd, event, BPF_PERF_EVENT, &opts);

	link = link < 0 ? -errno : link;
	close(event);
	return link;
}

/* A thread of the process that is not exiting: the leader, unless it has exited before the others. */
static int any_event(int type, const char *path, u64 off, pid_t pid, pid_t *tid)
{
	char dir[32];
	int event = event_open(type, path, off, *tid);
	struct dirent *de;
	DIR *d;

	if (event != -ESRCH)
		return event;
	snprintf(dir, sizeof(dir), "/proc/%d/task", (int)pid);
	d = opendir(dir);
	while (event == -ESRCH && d && (de = readdir(d))) {
		*tid = (pid_t)strtol(de->d_name, NULL, 10);
		if (*tid > 0)
			event = event_open(type, path, off, *tid);
	}
	if (d)
		closedir(d);
	return event;
}

/* One fd is kept for each probe: the default limit of 1,024 is soon reached. */
static void raise_fd_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r))
		log_debug("the limit of open files stays: %s", strerror(errno));
}

int attach_perf__add(struct attach *a, const char *path, pid_t pid, struct attach_probe *p,
		     size_t nr, size_t *nr_refused)
{
	int type = uprobe_type(), err = 0;
	pid_t tid = pid;

	if (type < 0)
		return type;
	raise_fd_limit();
	for (size_t i = 0; i < nr && !err; i++) {
		int fd = any_event(type, path, p[i].off, pid, &tid);

		if (fd >= 0) {
			fd = link_event(a->prog_fd, fd, p[i].cookie);
			err = fd < 0 ? fd
				     : attach__keep(a, (struct attach_link){fd, -1, p[i].group});
		} else if (attach_refuses_site(fd)) {
			log_debug("probe at offset %#lx refused: error %d", p[i].off, -fd);
			p[i].refused = true;
			(*nr_refused)++;
		} else {
			err = fd;
		}
	}
	return err;
}
