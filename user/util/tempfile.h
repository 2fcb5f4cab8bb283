/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tempfile.h - a file that is written where another one of its folder is to be replaced, and has no name
 * until it is whole. What is killed in between leaves nothing.
 *
 * File systems without O_TMPFILE (NFS, older overlays) need a name from the start. Such a file is locked
 * while its writer lives, so that a later writer can tell what a dead one has left, and remove it.
 */
#ifndef HBPROF_TEMPFILE_H
#define HBPROF_TEMPFILE_H

#include <stdbool.h>

#define TEMPFILE_NAME 40

struct tempfile {
	int folder, fd;		  /* folder: the caller's */
	char name[TEMPFILE_NAME]; /* "": it has none */
};

/* named: with a name in any case, as tests want it. 0 or -errno. */
int tempfile__open(struct tempfile *t, int folder, bool named);
/* Closes it and puts it in the place of the file `name` of the folder, or of none. 0 or -errno: it is
 * gone. */
int tempfile__rename(struct tempfile *t, const char *name);
/* Closes it, if it is open, and removes its name, if it has one. */
void tempfile__drop(struct tempfile *t);

/* Removes what dead writers of this user have left in the folder: older than a minute, and not locked.
 * Looks at so many names at most that it takes no time. */
void tempfiles__sweep(int folder);

#endif
