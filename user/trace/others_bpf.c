// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * others_bpf.c - uprobes with a BPF program: bpftrace, bcc, another hbprof. Two ways lead to them:
 *
 *   links         BPF_LINK_GET_NEXT_ID; where they are is told since Linux 6.8 for uprobe_multi and
 *                 since 6.6 for perf events (struct bpf_link_info of include/uapi/linux/bpf.h)
 *   perf events   BPF_TASK_FD_QUERY over the open files of all processes, as bpftool perf does; since
 *                 4.18, and the only one for a program that was set on its event without a link
 *
 * Both need CAP_SYS_ADMIN; without it the breakpoints are somebody unknown's. The holder of a link is
 * the process that has it open, as its fdinfo says.
 */
#include "trace/others_impl.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "util/array.h"
#include "util/fsutil.h"
#include "util/units.h"

#define MAX_LINKS   16384
#define MAX_FILES   200000 /* some 0.3 s */
#define MAX_OFFSETS 65536
#define MAX_FDINFO  4096

/* enum bpf_link_type and enum bpf_perf_event_type, which the headers of Debian 12 lack. */
#define LINK_PERF_EVENT	  7
#define LINK_UPROBE_MULTI 12
#define PERF_UPROBE	  1
#define PERF_URETPROBE	  2

struct link_info {
	u32 type, id, prog_id, pad;
	union {
		struct {
			u64 path, offsets, ref_ctr_offsets, cookies;
			u32 path_size, count, flags, pid;
		} multi;
		struct {
			u32 type, pad;
			u64 file_name;
			u32 name_len, offset;
		} perf;
		u8 room[112];
	};
};

/* A link that somebody has open. */
struct holder {
	u32 link;
	pid_t pid;
};

struct holders {
	struct holder *v;
	size_t nr, cap;
};

static int info_of(int fd, struct link_info *info)
{
	u32 len = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

/* ---- open files ------------------------------------------------------------------------- */

static void query_event(struct others_scan *s, pid_t pid, int fd)
{
	char path[PATH_MAX] = "", who[96];
	u32 len = sizeof(path), prog, type;
	__u64 off, addr;

	if (bpf_task_fd_query(pid, fd, 0, path, &len, &prog, &type, &off, &addr))
		return;
	if (type != BPF_FD_TYPE_UPROBE && type != BPF_FD_TYPE_URETPROBE)
		return;
	others__name_process(pid, who, sizeof(who));
	others__probe(s, path, off, who);
}

static void note_holder(struct holders *h, pid_t pid, int fd)
{
	char path[64], *text, *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	if (fs_read_file(path, MAX_FDINFO, &text, &len))
		return;
	at = strstr(text, "link_id:");
	if (at && !array_grow((void **)&h->v, h->nr, &h->cap, sizeof(*h->v)))
		h->v[h->nr++] = (struct holder){strtoul(at + 8, NULL, 10), pid};
	free(text);
}

/* Files of one process. */
static void scan_files(struct others_scan *s, struct holders *h, pid_t pid, u32 *seen)
{
	char dir[64], target[64];
	struct dirent *e;
	ssize_t n;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	d = opendir(dir);
	while (d && *seen < MAX_FILES && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		(*seen)++;
		target[n] = '\0';
		if (!strcmp(target, "anon_inode:[perf_event]"))
			query_event(s, pid, atoi(e->d_name));
		else if (!strncmp(target, "anon_inode:bpf_link", 19) ||
			 !strncmp(target, "anon_inode:bpf-link", 19))
			note_holder(h, pid, atoi(e->d_name));
	}
	if (d)
		closedir(d);
}

static void scan_processes(struct others_scan *s, struct holders *h)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	u32 seen = 0;
	u64 pid;

	while (d && seen < MAX_FILES && (e = readdir(d)))
		if (!parse_u64(e->d_name, INT_MAX, &pid) && (pid_t)pid != getpid())
			scan_files(s, h, (pid_t)pid, &seen);
	if (d)
		closedir(d);
	s->out->cut |= seen >= MAX_FILES;
}

/* ---- links ------------------------------------------------------------------------------ */

static void name_link(const struct holders *h, const struct link_info *info, char *buf, size_t len)
{
	for (size_t i = 0; i < h->nr; i++) {
		if (h->v[i].link != info->id)
			continue;
		others__name_process(h->v[i].pid, buf, len);
		return;
	}
	snprintf(buf, len, "BPF link %u, program %u", info->id, info->prog_id);
}

static void scan_multi(struct others_scan *s, const struct holders *h, int fd,
		       const struct link_info *first)
{
	struct link_info info = {0};
	char path[PATH_MAX] = "", who[96];
	u32 nr = first->multi.count;
	__u64 *off;

	if (!nr || nr > MAX_OFFSETS) /* 0: a kernel before 6.8 */
		return;
	off = array_alloc(nr, sizeof(*off));
	if (!off) {
		s->err = -ENOMEM;
		return;
	}
	info.multi.path = (uintptr_t)path;
	info.multi.path_size = sizeof(path);
	info.multi.offsets = (uintptr_t)off;
	info.multi.count = nr;
	if (!info_of(fd, &info)) {
		name_link(h, &info, who, sizeof(who));
		nr = info.multi.count < nr ? info.multi.count : nr;
		for (u32 i = 0; i < nr; i++)
			others__probe(s, path, off[i], who);
	}
	free(off);
}

static void scan_perf(struct others_scan *s, const struct holders *h, int fd,
		      const struct link_info *first)
{
	struct link_info info = {0};
	char path[PATH_MAX] = "", who[96];

	if (first->perf.type != PERF_UPROBE && first->perf.type != PERF_URETPROBE)
		return;
	info.perf.file_name = (uintptr_t)path;
	info.perf.name_len = sizeof(path);
	if (info_of(fd, &info))
		return;
	name_link(h, &info, who, sizeof(who));
	others__probe(s, path, info.perf.offset, who);
}

static void scan_link(struct others_scan *s, const struct holders *h, u32 id)
{
	struct link_info info = {0};
	int fd = bpf_link_get_fd_by_id(id);

	if (fd < 0)
		return; /* gone meanwhile */
	if (!info_of(fd, &info)) {
		if (info.type == LINK_UPROBE_MULTI)
			scan_multi(s, h, fd, &info);
		else if (info.type == LINK_PERF_EVENT)
			scan_perf(s, h, fd, &info);
	}
	close(fd);
}

void others__scan_bpf(struct others_scan *s)
{
	struct holders h = {0};
	u32 id = 0, seen = 0;

	scan_processes(s, &h);
	for (; seen < MAX_LINKS && !bpf_link_get_next_id(id, &id); seen++)
		scan_link(s, &h, id);
	s->out->cut |= seen >= MAX_LINKS;
	free(h.v);
}
