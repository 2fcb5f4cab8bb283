/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fsutil.h - files: whole reads with a limit, complete writes, replacing a file safely. */
#ifndef HBPROF_FSUTIL_H
#define HBPROF_FSUTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The whole file, with a terminating 0 that len does not count. -EFBIG above max. free() it. */
int fs_read_file(const char *path, size_t max, char **out, size_t *len);
/* The same with a path relative to an open directory. */
int fs_read_file_at(int dir_fd, const char *path, size_t max, char **out, size_t *len);
/* Writes all of it; EINTR and short writes are handled. 0 or -errno. */
int fs_write_all(int fd, const void *buf, size_t len);
/*
 * Writes a new file in the folder of path and puts it in the place of path: a reader sees the old or the
 * whole new one (tempfile.h). O_EXCL, O_NOFOLLOW, mode 0644 less the umask and less what the file that it
 * replaces denies to others, and owned by SUDO_UID:SUDO_GID when run by
 * sudo: hbprof runs as root in a user's folder.
 *
 * 0 or -errno; nothing is left behind on failure. What is not a regular file is not replaced:
 * -EISDIR a directory, -EEXIST a symbolic link, device, FIFO or socket.
 */
int fs_replace_file(const char *path, const void *buf, size_t len);
/* The same for a file of hbprof's own, not of who has called it: no owner is given to it. */
int fs_replace_own_file(const char *path, const void *buf, size_t len);
/* What fs_replace_file() would find now, by making its new file and removing it again: to be asked
 * before work that would else be lost. */
int fs_check_replace(const char *path);
/* Is it who has called by sudo(8), whom files are given to? */
bool fs_is_sudo_user(uid_t uid);

#endif
