// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tempfile.c - see tempfile.h.
 *
 * linkat(2) gives a name to a file without one, but does not replace another: there it gets a name of its
 * own first, which it has for as long as a rename takes. That the link is made through /proc is how an
 * unprivileged user may do it (open(2), O_TMPFILE).
 */
#include "util/tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/fsutil.h"

#define PREFIX	    ".hbprof-"
#define SUFFIX	    ".tmp"
#define MAX_TRIES   100
#define MAX_NAMES   20000 /* of a folder, looked at */
#define STALE_AFTER 60	  /* s: between being made and being locked no writer takes so long */

/* ---- names ---- */

/* A name of its own length: one made from the target's could pass NAME_MAX. */
static int make_name(char name[TEMPFILE_NAME])
{
	unsigned long long salt;

	if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
		return -EIO;
	snprintf(name, TEMPFILE_NAME, PREFIX "%016llx" SUFFIX, salt);
	return 0;
}

static bool is_ours(const char *name)
{
	const char *salt = name + strlen(PREFIX);

	return !strncmp(name, PREFIX, strlen(PREFIX)) && strspn(salt, "0123456789abcdef") == 16 &&
	       !strcmp(salt + 16, SUFFIX);
}

/* ---- one file ---- */

static void path_of_fd(char *path, size_t len, int fd)
{
	snprintf(path, len, "/proc/self/fd/%d", fd);
}

/* -1: not on this file system, or there is no /proc to name it through later. */
static int open_nameless(int folder)
{
	int fd = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
	char path[32];

	path_of_fd(path, sizeof(path), fd);
	if (fd < 0 || !access(path, F_OK))
		return fd;
	close(fd);
	return -1;
}

int tempfile__open(struct tempfile *t, int folder, bool named)
{
	*t = (struct tempfile){.folder = folder, .fd = named ? -1 : open_nameless(folder)};
	for (int tries = 0; t->fd < 0; tries++) {
		int err = make_name(t->name);

		if (err)
			return err;
		t->fd = openat(folder, t->name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (t->fd >= 0)
			flock(t->fd, LOCK_EX | LOCK_NB); /* where that fails, none can be had */
		else if (errno != EEXIST || tries == MAX_TRIES)
			return -errno;
	}
	return 0;
}

static int give_name(struct tempfile *t, const char *name)
{
	char path[32];

	path_of_fd(path, sizeof(path), t->fd);
	return linkat(AT_FDCWD, path, t->folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* A name of its own, for as long as it takes to rename it. */
static int give_own_name(struct tempfile *t)
{
	char own[TEMPFILE_NAME];
	int err = -EEXIST;

	for (int tries = 0; err == -EEXIST && tries < MAX_TRIES; tries++) {
		err = make_name(own);
		if (!err)
			err = give_name(t, own);
	}
	if (!err)
		memcpy(t->name, own, sizeof(own));
	return err;
}

/* Network file systems say at close that the disk is full. The lock goes with the last descriptor. */
static int check_written(struct tempfile *t)
{
	int again = fcntl(t->fd, F_DUPFD_CLOEXEC, 0), err;

	if (again < 0)
		return -errno;
	err = close(t->fd) ? -errno : 0;
	t->fd = again;
	return err;
}

int tempfile__rename(struct tempfile *t, const char *name)
{
	int err = check_written(t);

	if (!err && !*t->name) {
		err = give_name(t, name);
		if (err != -EEXIST)
			goto out;
		err = give_own_name(t);
	}
	if (!err && renameat(t->folder, t->name, t->folder, name))
		err = -errno;
	if (!err)
		t->name[0] = '\0';
out:
	tempfile__drop(t);
	return err;
}

void tempfile__drop(struct tempfile *t)
{
	if (*t->name)
		unlinkat(t->folder, t->name, 0);
	if (t->fd >= 0)
		close(t->fd);
	t->name[0] = '\0';
	t->fd = -1;
}

/* ---- what others have left ---- */

static bool is_stale(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || fs_is_sudo_user(st.st_uid)) &&
	       st.st_mtime + STALE_AFTER < time(NULL) && !flock(fd, LOCK_EX | LOCK_NB);
}

void tempfiles__sweep(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), file;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir && fd >= 0)
		close(fd);
	for (int i = 0; dir && i < MAX_NAMES && (e = readdir(dir)); i++) {
		if (!is_ours(e->d_name))
			continue;
		/* O_NONBLOCK: whoever makes a FIFO of that name does not stop us. */
		file = openat(folder, e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (file < 0)
			continue;
		if (is_stale(file))
			unlinkat(folder, e->d_name, 0);
		close(file);
	}
	if (dir)
		closedir(dir);
}
