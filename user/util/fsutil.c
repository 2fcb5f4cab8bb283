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
#include "util/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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

static int check_replaceable(int folder, const char *name)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

#define TEMP_NAME_LEN 40

/* A name of its own length: one made from the target's could pass NAME_MAX. */
static int create_temp(int folder, char name[TEMP_NAME_LEN])
{
	for (int tries = 0; tries < 100; tries++) {
		unsigned long long salt;
		int fd;

		if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
			return -EIO;
		snprintf(name, TEMP_NAME_LEN, ".hbprof-%016llx.tmp", salt);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0644);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
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

static int replace_file(const char *path, const void *buf, size_t len, bool give)
{
	char temp[TEMP_NAME_LEN] = "";
	const char *name;
	int folder, fd = -1, err;

	folder = open_folder(path, &name);
	if (folder < 0)
		return folder;
	err = check_replaceable(folder, name);
	if (err)
		goto out;
	fd = create_temp(folder, temp);
	if (fd < 0) {
		err = fd;
		goto out;
	}
	err = fill_temp(fd, path, buf, len, give);
	/* Network file systems say at close that the disk is full. */
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(folder, temp, folder, name))
		err = -errno;
	if (err)
		unlinkat(folder, temp, 0);
	else
		fsync(folder); /* the new name; without it a power cut may show the old file */
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
	char temp[TEMP_NAME_LEN];
	const char *name;
	int folder, fd, err;

	folder = open_folder(path, &name);
	if (folder < 0)
		return folder;
	err = check_replaceable(folder, name);
	if (!err) {
		fd = create_temp(folder, temp);
		err = fd < 0 ? fd : 0;
		if (fd >= 0) {
			close(fd);
			unlinkat(folder, temp, 0);
		}
	}
	close(folder);
	return err;
}
