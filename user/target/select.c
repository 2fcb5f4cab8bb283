// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * select.c - /proc, looked through. Formats: proc(5), cgroups(7): "0::PATH" in /proc/PID/cgroup is the
 * version 2 hierarchy; PATH is relative to the reader's cgroup namespace, and so is the root of a mount in
 * /proc/self/mountinfo.
 */
#include "target/select.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/fsutil.h"

#define FILE_MAX_BYTES (1u << 20)
#define COMM_LEN       15 /* TASK_COMM_LEN without the final NUL */

void selection__fini(struct selection *s)
{
	for (size_t i = 0; i < s->nr_cgroups; i++)
		free(s->cgroup[i]);
	free(s->cgroup);
	s->cgroup = NULL;
	s->nr_cgroups = 0;
}

/* ---- cgroups ------------------------------------------------------------------------------ */

/* What follows dir in path; NULL: it is not below. */
static const char *below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	if (strncmp(path, dir, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* The path of a cgroup in its hierarchy, from the mount's own root and what is below its mount point. */
static char *cgroup_path(const char *root, const char *rest)
{
	char *out = NULL;
	size_t len;

	if (asprintf(&out, "%s%s", strcmp(root, "/") ? root : "", rest) < 0)
		return NULL;
	len = strlen(out);
	while (len && out[len - 1] == '/')
		out[--len] = '\0';
	return out;
}

/* 0 with *out; -ENOENT: the path is none of a cgroup in this mount. */
static int find_in_mount(const char *path, const char *root, const char *at, char **out)
{
	char *joined = NULL, *real;
	const char *rest;
	int err = -ENOENT;

	if (*path != '/' && asprintf(&joined, "%s/%s", at, path) < 0)
		return -ENOMEM;
	real = realpath(joined ? joined : path, NULL);
	rest = real ? below(real, at) : NULL;
	if (rest) {
		*out = cgroup_path(root, rest);
		err = *out ? 0 : -ENOMEM;
	}
	free(real);
	free(joined);
	return err;
}

/* "36 35 98:0 ROOT MOUNTPOINT OPTIONS ... - TYPE SOURCE OPTIONS"; names with spaces are escaped, and no
 * one mounts cgroups there. */
static bool is_cgroup2(char *line, char **root, char **at)
{
	char *field[5], *save = NULL, *tail = strstr(line, " - ");

	if (!tail || strncmp(tail + 3, "cgroup2 ", 8) != 0)
		return false;
	for (int i = 0; i < 5; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	*root = field[3];
	*at = field[4];
	return true;
}

static int find_cgroup(const char *path, char **out)
{
	char *text, *line, *rest, *root, *at;
	size_t len;
	int err = fs_read_file_at(AT_FDCWD, "/proc/self/mountinfo", FILE_MAX_BYTES, &text, &len);

	if (err)
		return err;
	err = -ENODEV;
	rest = text;
	while ((err == -ENODEV || err == -ENOENT) && (line = strsep(&rest, "\n")))
		if (is_cgroup2(line, &root, &at))
			err = find_in_mount(path, root, at, out);
	free(text);
	return err;
}

int selection__add_cgroup(struct selection *s, const char *path)
{
	char **v = reallocarray(s->cgroup, s->nr_cgroups + 1, sizeof(*v));
	char *found;
	int err;

	if (!v)
		return -ENOMEM;
	s->cgroup = v;
	err = find_cgroup(path, &found);
	if (!err)
		s->cgroup[s->nr_cgroups++] = found;
	return err;
}

static bool in_cgroup(const struct selection *s, int dir)
{
	char *text, *line, *rest;
	bool found = false;
	size_t len;

	if (!s->nr_cgroups || fs_read_file_at(dir, "cgroup", FILE_MAX_BYTES, &text, &len))
		return false;
	rest = text;
	while (!found && (line = strsep(&rest, "\n"))) {
		if (strncmp(line, "0::", 3) != 0)
			continue;
		for (size_t i = 0; i < s->nr_cgroups && !found; i++)
			found = below(line + 3, s->cgroup[i]);
	}
	free(text);
	return found;
}

/* ---- names -------------------------------------------------------------------------------- */

static bool is_named(const struct selection *s, const char *name)
{
	for (size_t i = 0; i < s->nr_names; i++)
		if (!fnmatch(s->name[i], name, 0))
			return true;
	return false;
}

static bool has_path(const struct selection *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	return *path && is_named(s, slash ? slash + 1 : path);
}

static bool has_exe(const struct selection *s, int dir)
{
	static const char deleted[] = " (deleted)";
	char exe[PATH_MAX + sizeof(deleted)];
	ssize_t n = readlinkat(dir, "exe", exe, sizeof(exe) - 1);
	const size_t tail = sizeof(deleted) - 1;

	if (n <= 0)
		return false; /* a kernel thread has none */
	exe[n] = '\0';
	if (has_path(s, exe))
		return true;
	if ((size_t)n <= tail || strcmp(exe + n - tail, deleted) != 0)
		return false;
	exe[(size_t)n - tail] = '\0';
	return has_path(s, exe);
}

/* comm ends in a newline; of cmdline the first argument is what a string function sees. */
static bool has_text(const struct selection *s, int dir, const char *file)
{
	char *text;
	size_t len;
	bool found;

	if (fs_read_file_at(dir, file, FILE_MAX_BYTES, &text, &len))
		return false;
	if (!strcmp(file, "comm") && len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	found = !strcmp(file, "comm") ? is_named(s, text) : has_path(s, text);
	free(text);
	return found;
}

static bool has_name(const struct selection *s, int dir)
{
	return s->nr_names &&
	       (has_exe(s, dir) || has_text(s, dir, "comm") || has_text(s, dir, "cmdline"));
}

/* ---- processes ---------------------------------------------------------------------------- */

static bool is_meant(const struct selection *s, int dir)
{
	char c;

	/* Kernel threads have no executable, and are in cgroups all the same. */
	if (readlinkat(dir, "exe", &c, 1) <= 0)
		return false;
	return in_cgroup(s, dir) || has_name(s, dir);
}

bool selection__has(const struct selection *s, pid_t pid)
{
	char path[32];
	bool meant;
	int dir;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return false;
	meant = is_meant(s, dir);
	close(dir);
	return meant;
}

/* Of a pattern there is as much to compare as stands before its first gap. */
static bool may_begin(const char *pattern, const char *cut)
{
	size_t len = strcspn(pattern, "*?[\\");

	return len && !strncmp(pattern, cut, len < COMM_LEN ? len : COMM_LEN);
}

bool selection__has_comm(const struct selection *s, const char *comm)
{
	if (is_named(s, comm))
		return true;
	for (size_t i = 0; i < s->nr_names && strlen(comm) == COMM_LEN; i++)
		if (may_begin(s->name[i], comm))
			return true;
	return false;
}

int selection__list(const struct selection *s, pid_t **out, size_t *nr)
{
	DIR *proc = opendir("/proc");
	size_t n = 0, cap = 0;
	struct dirent *e;
	pid_t *v = NULL;

	if (!proc)
		return -errno;
	while ((e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid() || !selection__has(s, pid))
			continue;
		if (array_grow((void **)&v, n, &cap, sizeof(*v))) {
			free(v);
			closedir(proc);
			return -ENOMEM;
		}
		v[n++] = pid;
	}
	closedir(proc);
	*out = v;
	*nr = n;
	return 0;
}
