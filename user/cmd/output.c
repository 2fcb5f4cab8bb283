// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* output.c - see output.h. */
#include "cmd/output.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/capture.h"
#include "util/fsutil.h"
#include "util/log.h"

bool output_is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

static const char *kind_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return "no regular file";
	if (S_ISLNK(st.st_mode))
		return "a symbolic link";
	if (S_ISFIFO(st.st_mode))
		return "a FIFO";
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return "a device";
	return S_ISSOCK(st.st_mode) ? "a socket" : "no regular file";
}

void output__say(const char *path, const char *what, int err)
{
	/* A new file takes the place of the old one: that would remove what is there. */
	if (err == -EEXIST)
		log_err("cannot write %s to %s, which is %s: name another file, or write to "
			"standard output with '-o -' and let the shell lead it there",
			what, path, kind_of(path));
	else
		log_err("cannot write %s to %s: %s", what, path, strerror(-err));
}

static bool said;

bool output__said(void)
{
	return said;
}

static int stream_failed(FILE *f, const char *what, int err)
{
	said |= f == stdout;
	log_err("cannot write %s to standard %s: %s", what, f == stdout ? "output" : "error",
		strerror(-err));
	/* It has been said: what is still buffered must not fail a second time at exit. */
	__fpurge(f);
	clearerr(f);
	return err;
}

int output__stream(FILE *f, const char *what, int (*print)(const void *arg, FILE *f),
		   const void *arg)
{
	int err;

	/* A pager that was left is a write error to be told, not a silent end by signal. */
	signal(SIGPIPE, SIG_IGN);
	err = print(arg, f);
	return err ? stream_failed(f, what, err) : 0;
}

int output__print(const char *path, const char *what, int (*print)(const void *arg, FILE *f),
		  const void *arg)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int err;

	if (output_is_stdout(path))
		return output__stream(stdout, what, print, arg);
	f = open_memstream(&text, &len);
	err = f ? print(arg, f) : -errno;
	if (f && fclose(f) && !err)
		err = -errno;
	if (!err)
		err = fs_replace_file(path, text, len);
	if (err)
		output__say(path, what, err);
	free(text);
	return err;
}

int output__bytes(const char *path, const char *what, const void *bytes, size_t len)
{
	int err;

	if (!output_is_stdout(path)) {
		err = fs_replace_file(path, bytes, len);
		if (err)
			output__say(path, what, err);
		return err;
	}
	signal(SIGPIPE, SIG_IGN);
	errno = 0;
	if (fwrite(bytes, 1, len, stdout) == len && !fflush(stdout))
		return 0;
	return stream_failed(stdout, what, errno ? -errno : -EIO);
}

int input__capture(const char *file, struct recording **out)
{
	char why[512];
	int err = capture__read(file, out, why, sizeof(why));

	if (err)
		log_err("%s", why);
	return err;
}
