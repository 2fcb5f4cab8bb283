// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fsutil.c - whole reads and whole writes. What is in the files is left to the callers, and so is
 * the meaning of "-" as a path.
 *
 * A file is replaced through a descriptor of its folder: whoever owns a part of the path cannot turn
 * it elsewhere between two of our steps.
 */
#include "util/fsutil.h"

#include "util/log.h"
#include "util/tempfile.h"
#include "util/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

/* Bytes to begin with: the file's size and one more to see its end. /proc says 0 for all. */
static size_t first_guess(int fd, size_t max)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 4096)
		return 4096;
	return (u64)st.st_size < max ? (size_t)st.st_size + 2 : max;
}

/* Doubles the buffer, up to one byte above the limit (to see that it is passed) and the 0. */
static int grow(char **buf, size_t *cap, size_t max)
{
	size_t most = max > SIZE_MAX - 2 ? SIZE_MAX : max + 2;
	size_t want = *cap > most / 2 ? most : *cap * 2;
	char *grown;

	if (want <= *cap)
		return -EFBIG;
	grown = realloc(*buf, want);
	if (!grown)
		return -ENOMEM;
	*buf = grown;
	*cap = want;
	return 0;
}

static int read_all(int fd, size_t max, char **out, size_t *len)
{
	size_t cap = first_guess(fd, max), nr = 0;
	char *buf = malloc(cap);
	int err = buf ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n;

		if (nr + 1 >= cap) {
			err = grow(&buf, &cap, max);
			continue;
		}
		n = read(fd, buf + nr, cap - nr - 1);
		if (n > 0) {
			nr += (size_t)n;
			err = nr > max ? -EFBIG : 0;
		} else if (!n) {
			break;
		} else if (errno != EINTR) {
			err = -errno;
		}
	}
	if (err) {
		free(buf);
		return err;
	}
	buf[nr] = '\0';
	*out = buf;
	*len = nr;
	return 0;
}

int fs_read_file_at(int dir_fd, const char *path, size_t max, char **out, size_t *len)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, max, out, len);
	close(fd);
	return err;
}

int fs_read_file(const char *path, size_t max, char **out, size_t *len)
{
	return fs_read_file_at(AT_FDCWD, path, max, out, len);
}

/* ---- writing ---- */

int fs_write_all(int fd, const void *buf, size_t len)
{
	const char *at = buf;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* "a/b/c" to a descriptor of "a/b" and "c". */
static int open_folder(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *folder = NULL;
	int fd;

	if (slash) {
		/* Of "/c" the slash itself is the folder. */
		folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
		if (!folder)
			return -ENOMEM;
	}
	*name = slash ? slash + 1 : path;
	fd = open(folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(folder);
	if (fd >= 0 && !**name) {
		close(fd);
		return slash ? -EISDIR : -ENOENT;
	}
	return fd;
}

/* mode: what the file that is replaced allows; all, where there is none. */
static int check_replaceable(int folder, const char *name, mode_t *mode)
{
	struct stat st;

	*mode = 0777;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	*mode = st.st_mode & 0777;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

/* A file that was kept from others stays so; its owner can always read and replace it. */
static int narrow_mode(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	mode = (st.st_mode & mode & 0777) | 0600;
	if (mode == (st.st_mode & 0777))
		return 0;
	return fchmod(fd, mode) ? -errno : 0;
}

/* sudo(8): the ids of the user who ran it. (uid_t)-1 means "leave as it is" to chown. */
static bool sudo_ids(uid_t *uid, gid_t *gid)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	u64 u, g;

	if (geteuid() || !uid_text || !gid_text)
		return false;
	if (parse_u64(uid_text, UINT32_MAX - 1, &u) || parse_u64(gid_text, UINT32_MAX - 1, &g))
		return false;
	*uid = (uid_t)u;
	*gid = (gid_t)g;
	return true;
}

bool fs_is_sudo_user(uid_t uid)
{
	uid_t user;
	gid_t group;

	return sudo_ids(&user, &group) && user == uid;
}

static int fill_temp(int fd, const char *path, const void *buf, size_t len, bool give)
{
	uid_t uid;
	gid_t gid;
	int err;

	err = fs_write_all(fd, buf, len);
	if (err)
		return err;
	/* File systems without owners refuse; the data is worth more than its owner. */
	if (give && sudo_ids(&uid, &gid) && fchown(fd, uid, gid))
		log_warn("%s stays owned by root: chown to %u:%u: %s", path, uid, gid,
			 strerror(errno));
	/* EINVAL: a file system that has nothing to sync. */
	if (fsync(fd) && errno != EINVAL)
		return -errno;
	return 0;
}

static int write_into(int folder, const char *name, const char *path, const void *buf, size_t len,
		      mode_t mode, bool give, bool named)
{
	struct tempfile temp;
	int err = tempfile__open(&temp, folder, named);

	if (err)
		return err;
	err = narrow_mode(temp.fd, mode);
	if (!err)
		err = fill_temp(temp.fd, path, buf, len, give);
	if (!err)
		return tempfile__rename(&temp, name);
	tempfile__drop(&temp);
	return err;
}

static int replace_file(const char *path, const void *buf, size_t len, bool give)
{
	const char *name;
	int folder, err;
	mode_t mode;

	folder = open_folder(path, &name);
	if (folder < 0)
		return folder;
	err = check_replaceable(folder, name, &mode);
	if (err)
		goto out;
	err = write_into(folder, name, path, buf, len, mode, give, false);
	/* A sandbox may allow a file without a name, and forbid to give it one. */
	if (err)
		err = write_into(folder, name, path, buf, len, mode, give, true);
	if (!err)
		fsync(folder); /* the new name; without it a power cut may show the old file */
	tempfiles__sweep(folder);
out:
	close(folder);
	return err;
}

int fs_replace_file(const char *path, const void *buf, size_t len)
{
	return replace_file(path, buf, len, true);
}

int fs_replace_own_file(const char *path, const void *buf, size_t len)
{
	return replace_file(path, buf, len, false);
}

int fs_check_replace(const char *path)
{
	struct tempfile temp;
	const char *name;
	int folder, err;
	mode_t mode;

	folder = open_folder(path, &name);
	if (folder < 0)
		return folder;
	err = check_replaceable(folder, name, &mode);
	if (!err)
		err = tempfile__open(&temp, folder, false);
	if (!err)
		tempfile__drop(&temp);
	close(folder);
	return err;
}
