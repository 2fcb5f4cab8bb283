// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * proc.c - reads /proc/PID: who the process is, what it maps, what it has used. Following it through
 * fork, exec and dlopen is left to trace/.
 *
 * Each operation opens the folder /proc/PID, checks the start time through it and goes on from that
 * descriptor. It stays bound to the process, so nothing is read from another one that was given the
 * pid meanwhile; and as it is closed again, thousands of processes can be held.
 *
 * Formats: proc(5) and fs/proc/array.c of Linux; that of the mappings is left to procmaps.c.
 */
#include "target/proc.h"

#include "target/procmaps.h"
#include "util/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process has up to 65,530 mappings by default and paths of up to 4,096 bytes. */
#define PROC_FILE_MAX_BYTES (64u << 20)
#define PROC_FD_PATH_LEN    64
#define KERNEL_PF_KTHREAD   0x00200000 /* include/linux/sched.h */

/* The fields of /proc/PID/stat that are used, numbered as in proc(5). */
struct proc_stat {
	char state;	  /* 3 */
	u64 flags;	  /* 9 */
	u64 minflt;	  /* 10 */
	u64 majflt;	  /* 12 */
	u64 utime, stime; /* 14, 15: clock ticks */
	u64 nr_threads;	  /* 20 */
	u64 start_time;	  /* 22 */
	u64 rss_pages;	  /* 24 */
};

/* ---- reading ---- */

/* A file that is missing below /proc/PID means that the process is. */
static int gone(int err)
{
	return err == -ENOENT ? -ESRCH : err;
}

static int proc_dir(pid_t pid)
{
	char path[PROC_FD_PATH_LEN];
	int fd;

	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? gone(-errno) : fd;
}

static int proc_read(int dir, const char *name, char **out, size_t *len)
{
	return gone(fs_read_file_at(dir, name, PROC_FILE_MAX_BYTES, out, len));
}

/* Field nr of stat as a number; at is field 3. Negative ones are not among those we use. */
static int stat_field(const char *at, int nr, u64 *out)
{
	char *end;

	for (int i = 3; i < nr; i++) {
		at = strchr(at, ' ');
		if (!at)
			return -EBADMSG;
		at++;
	}
	errno = 0;
	*out = strtoull(at, &end, 10);
	return errno || end == at ? -EBADMSG : 0;
}

static int stat_parse(const char *text, struct proc_stat *st)
{
	/* "1234 (name) S 1 ...": the name may hold spaces and parentheses, what follows cannot. */
	const char *at = strrchr(text, ')');
	const struct {
		int nr;
		u64 *to;
	} want[] = {
		{9, &st->flags},       {10, &st->minflt},    {12, &st->majflt},
		{14, &st->utime},      {15, &st->stime},     {20, &st->nr_threads},
		{22, &st->start_time}, {24, &st->rss_pages},
	};

	if (!at || at[1] != ' ' || !at[2])
		return -EBADMSG;
	at += 2;
	st->state = *at;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int err = stat_field(at, want[i].nr, want[i].to);

		if (err)
			return err;
	}
	return 0;
}

static int proc_read_stat(int dir, struct proc_stat *st)
{
	char *text;
	size_t len;
	int err;

	err = proc_read(dir, "stat", &text, &len);
	if (err)
		return err;
	err = stat_parse(text, st);
	free(text);
	return err;
}

/* The first thread may have ended while others run: the process lives, though its state says no. */
static bool stat_ended(const struct proc_stat *st)
{
	return (st->state == 'Z' || st->state == 'X' || st->state == 'x') && st->nr_threads <= 1;
}

/* A number of /proc/PID/status. The name in its first line cannot forge one: its newlines are
 * escaped. */
static int proc_read_status(int dir, const char *key, pid_t *out)
{
	char pattern[32], *text, *at;
	size_t len;
	int err;

	err = proc_read(dir, "status", &text, &len);
	if (err)
		return err;
	snprintf(pattern, sizeof(pattern), "\n%s:\t", key);
	at = strstr(text, pattern);
	if (at)
		*out = (pid_t)strtol(at + strlen(pattern), NULL, 10);
	else
		err = -EBADMSG;
	free(text);
	return err;
}

/* The folder of the process that was opened, not of a later one with its pid. */
static int proc__dir(const struct proc *p, struct proc_stat *st)
{
	int dir = proc_dir(p->pid);
	int err;

	if (dir < 0)
		return dir;
	err = proc_read_stat(dir, st);
	if (!err && (st->start_time != p->start_time || stat_ended(st)))
		err = -ESRCH;
	if (err) {
		close(dir);
		return err;
	}
	return dir;
}

/* ---- names ---- */

static int proc__read_comm(struct proc *p, int dir)
{
	size_t len;
	int err;

	err = proc_read(dir, "comm", &p->comm, &len);
	/* One newline is the kernel's, others are part of the name. */
	if (!err && len && p->comm[len - 1] == '\n')
		p->comm[len - 1] = '\0';
	return err;
}

static int proc__read_cmdline(struct proc *p, int dir)
{
	size_t len;
	int err;

	err = proc_read(dir, "cmdline", &p->cmdline, &len);
	if (err)
		return err;
	/* Some programs write their title over it and leave a row of zeros. */
	while (len && !p->cmdline[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		if (!p->cmdline[i])
			p->cmdline[i] = ' ';
	}
	return 0;
}

static int proc__read_exe(struct proc *p, int dir)
{
	char target[PATH_MAX + 1];
	ssize_t n = -1;

	if (!p->kthread) {
		n = readlinkat(dir, "exe", target, sizeof(target) - 1);
		/* ENOENT: no memory any more; what is left says whether it has ended. */
		if (n < 0 && errno != ENOENT)
			return -errno;
	}
	target[n < 0 ? 0 : n] = '\0';
	p->exe = strdup(target);
	return p->exe ? 0 : -ENOMEM;
}

/* ---- mappings ---- */

static int proc__read_maps(struct proc *p, int dir)
{
	struct proc_map *map = NULL;
	struct proc_stat st;
	size_t len;
	char *text;
	u32 nr = 0;
	int err;

	err = proc_read(dir, "maps", &text, &len);
	if (err)
		return err;
	err = proc_maps__parse(text, &map, &nr);
	free(text);
	/* Of a process that ends, maps is empty: no mistake, but no answer either. */
	if (!err)
		err = proc_read_stat(dir, &st);
	if (!err && stat_ended(&st))
		err = -ESRCH;
	if (err) {
		proc_maps__free(map, nr);
		return err;
	}
	proc_maps__free(p->map, p->nr_maps);
	p->map = map;
	p->nr_maps = nr;
	return 0;
}

int proc__reload_maps(struct proc *p)
{
	struct proc_stat st;
	int dir = proc__dir(p, &st);
	int err;

	if (dir < 0)
		return dir;
	err = proc__read_maps(p, dir);
	close(dir);
	return err;
}

const struct proc_map *proc__map_at(const struct proc *p, u64 addr)
{
	size_t lo = 0, hi = p->nr_maps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (addr < p->map[mid].begin)
			hi = mid;
		else if (addr >= p->map[mid].end)
			lo = mid + 1;
		else
			return &p->map[mid];
	}
	return NULL;
}

/* ---- open and close ---- */

static int proc__read(struct proc *p, int dir)
{
	struct proc_stat st;
	pid_t tgid;
	int err;

	err = proc_read_stat(dir, &st);
	if (err)
		return err;
	if (stat_ended(&st))
		return -ESRCH;
	/* /proc/TID of any thread can be opened, though it is not listed. */
	err = proc_read_status(dir, "Tgid", &tgid);
	if (err)
		return err;
	if (tgid != p->pid)
		return -EINVAL;
	p->start_time = st.start_time;
	p->kthread = st.flags & KERNEL_PF_KTHREAD;
	err = proc__read_comm(p, dir);
	if (!err)
		err = proc__read_cmdline(p, dir);
	if (!err)
		err = proc__read_exe(p, dir);
	if (!err)
		err = proc__read_maps(p, dir);
	return err;
}

int proc__open(pid_t pid, struct proc **out)
{
	struct proc *p;
	int dir, err;

	dir = proc_dir(pid);
	if (dir < 0)
		return dir;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->pid = pid;
		err = proc__read(p, dir);
	} else {
		err = -ENOMEM;
	}
	close(dir);
	if (err)
		proc__close(p);
	else
		*out = p;
	return err;
}

void proc__close(struct proc *p)
{
	if (!p)
		return;
	proc_maps__free(p->map, p->nr_maps);
	free(p->comm);
	free(p->exe);
	free(p->cmdline);
	free(p);
}

/* ---- files of the process ---- */

/*
 * Opens path for reading if it is a regular file and, with `like`, the mapped one. O_PATH first: it
 * is looked at before anything is opened, and what is opened is what was looked at.
 */
static int open_checked(int dir, const char *path, const struct proc_map *like)
{
	char self[PROC_FD_PATH_LEN];
	struct stat st;
	int look, fd;

	look = openat(dir, path, O_PATH | O_CLOEXEC);
	if (look < 0)
		return -errno;
	if (fstat(look, &st)) {
		fd = -errno;
	} else if (like && (st.st_ino != like->ino || st.st_dev != like->dev)) {
		fd = -ESTALE;
	} else if (!S_ISREG(st.st_mode)) {
		fd = -ENOEXEC;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", look);
		fd = open(self, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(look);
	return fd;
}

/* maps prints a newline as \012 and leaves a backslash alone: a name with these four is ambiguous. */
static void unescape_newlines(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

static int open_by_path(int dir, const struct proc_map *m)
{
	static const char root[] = "root";
	size_t len = strlen(m->path);
	char *path;
	int fd = -ENOENT;

	if (*m->path != '/')
		return -ENOENT;
	path = malloc(sizeof(root) + len);
	if (!path)
		return -ENOMEM;
	memcpy(path, root, sizeof(root) - 1);
	memcpy(path + sizeof(root) - 1, m->path, len + 1);
	for (int raw = 1; raw >= 0 && fd < 0; raw--) {
		if (!raw) {
			if (!strstr(m->path, "\\012"))
				break;
			unescape_newlines(path);
		}
		fd = open_checked(dir, path, m);
		/* maps prints paths as seen from our own root, where that can see the file. */
		if (fd == -ENOENT || fd == -ESTALE)
			fd = open_checked(dir, path + sizeof(root) - 1, m);
	}
	free(path);
	return fd;
}

int proc__open_map(const struct proc *p, const struct proc_map *m)
{
	char name[PROC_FD_PATH_LEN];
	struct proc_stat st;
	int dir, fd;

	if (!m->ino && !m->dev)
		return -ENOENT;
	dir = proc__dir(p, &st);
	if (dir < 0)
		return dir;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", m->begin, m->end);
	fd = open_checked(dir, name, NULL);
	/* Not permitted, or the mapping was split since. What is no regular file stays none. */
	if (fd < 0 && fd != -ENOEXEC)
		fd = open_by_path(dir, m);
	close(dir);
	return fd;
}

int proc__open_exe(const struct proc *p)
{
	struct proc_stat st;
	int dir = proc__dir(p, &st);
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, "exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

/* ---- state ---- */

bool proc__alive(const struct proc *p)
{
	struct proc_stat st;
	int dir = proc__dir(p, &st);

	/* That we have no descriptor left, say, ends no process. */
	if (dir < 0)
		return dir != -ESRCH;
	close(dir);
	return true;
}

int proc__usage(const struct proc *p, u64 *cpu_ns, u64 *rss_bytes)
{
	long hz = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
	struct proc_stat st;
	int dir;

	if (hz <= 0 || page <= 0)
		return -ENOTSUP;
	dir = proc__dir(p, &st);
	if (dir < 0)
		return dir;
	close(dir);
	*cpu_ns = (st.utime + st.stime) * (1000000000u / (u64)hz);
	*rss_bytes = st.rss_pages * (u64)page;
	return 0;
}

/* VmExe and VmLib: all that is executable, and no stack (task_mem() in fs/proc/task_mmu.c). */
int proc__stamp(const struct proc *p, struct proc_stamp *out)
{
	struct proc_stat st;
	pid_t exe_kb, lib_kb;
	int dir = proc__dir(p, &st), err;

	if (dir < 0)
		return dir;
	err = proc_read_status(dir, "VmExe", &exe_kb);
	if (!err)
		err = proc_read_status(dir, "VmLib", &lib_kb);
	close(dir);
	if (err)
		return err;
	*out = (struct proc_stamp){.code_bytes = ((u64)exe_kb + (u64)lib_kb) << 10,
				   .faults = st.minflt + st.majflt};
	return 0;
}

int proc__waited(const struct proc *p, u64 *ns)
{
	unsigned long long ran, waited;
	struct proc_stat st;
	int dir = proc__dir(p, &st);
	char *text;
	size_t len;

	if (dir < 0)
		return dir;
	*ns = 0;
	if (!proc_read(dir, "schedstat", &text, &len)) {
		if (sscanf(text, "%llu %llu", &ran, &waited) == 2)
			*ns = waited;
		free(text);
	}
	close(dir);
	return 0;
}

pid_t proc__tracer(const struct proc *p)
{
	struct proc_stat st;
	pid_t tracer;
	int dir = proc__dir(p, &st);
	int err;

	if (dir < 0)
		return dir;
	err = proc_read_status(dir, "TracerPid", &tracer);
	close(dir);
	return err ? err : tracer;
}
