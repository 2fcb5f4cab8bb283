// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_tempfile.c - what writers leave when they are killed, and who removes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/fsutil.h"
#include "util/tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STALE ".hbprof-0123456789abcdef.tmp"

struct folder {
	char dir[64];
	int fd;
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/hbprof-temp-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY);
	*state = f;
	return f->fd < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;
	DIR *d = opendir(f->dir);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (unlinkat(f->fd, e->d_name, 0))
			unlinkat(f->fd, e->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	close(f->fd);
	rmdir(f->dir);
	free(f);
	return 0;
}

static int nr_entries(const struct folder *f)
{
	DIR *d = opendir(f->dir);
	int nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

static bool is_there(const struct folder *f, const char *name)
{
	struct stat st;

	return !fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW);
}

static void assert_content(const struct folder *f, const char *name, const char *text)
{
	char *got;
	size_t len;

	assert_int_equal(fs_read_file_at(f->fd, name, 100, &got, &len), 0);
	assert_string_equal(got, text);
	free(got);
}

/* A file of a writer that is no more, `age` seconds old. */
static void leave(const struct folder *f, const char *name, int age)
{
	struct timespec when[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, when), 0);
	close(fd);
}

static void test_a_file_takes_its_place_with_and_without_a_name_before(void **state)
{
	struct folder *f = *state;

	for (int named = 0; named < 2; named++) {
		for (int there = 0; there < 2; there++) {
			struct tempfile t;

			assert_int_equal(tempfile__open(&t, f->fd, named), 0);
			if (named)
				assert_int_equal(nr_entries(f), there + 1);
			assert_int_equal(fs_write_all(t.fd, named ? "N" : "n", 1), 0);
			assert_int_equal(tempfile__rename(&t, "file"), 0);
			assert_int_equal(t.fd, -1);
			assert_content(f, "file", named ? "N" : "n");
			assert_int_equal(nr_entries(f), 1);
		}
		assert_int_equal(unlinkat(f->fd, "file", 0), 0);
	}
}

static void test_a_file_that_is_dropped_leaves_nothing(void **state)
{
	struct folder *f = *state;

	for (int named = 0; named < 2; named++) {
		struct tempfile t;

		assert_int_equal(tempfile__open(&t, f->fd, named), 0);
		tempfile__drop(&t);
		assert_int_equal(nr_entries(f), 0);
		/* That cannot have its place either. */
		assert_int_equal(tempfile__open(&t, f->fd, named), 0);
		assert_int_equal(mkdirat(f->fd, "d", 0755), 0);
		assert_true(tempfile__rename(&t, "d") < 0);
		assert_int_equal(nr_entries(f), 1);
		assert_int_equal(unlinkat(f->fd, "d", AT_REMOVEDIR), 0);
	}
}

/* In a child that writes and is killed in the midst of it. */
static void write_and_be_killed(const struct folder *f, bool named)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct tempfile t;

		if (!tempfile__open(&t, f->fd, named) && !fs_write_all(t.fd, "half", 4))
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void test_a_writer_that_is_killed_leaves_nothing(void **state)
{
	struct folder *f = *state;
	struct tempfile t;
	bool nameless;

	assert_int_equal(tempfile__open(&t, f->fd, false), 0);
	nameless = !*t.name;
	tempfile__drop(&t);
	if (!nameless) {
		print_message("no O_TMPFILE in /tmp\n");
		skip();
	}
	write_and_be_killed(f, false);
	assert_int_equal(nr_entries(f), 0);
}

static void test_what_a_dead_writer_has_left_goes_with_the_next_file(void **state)
{
	struct folder *f = *state;
	char path[96];

	leave(f, STALE, 120);
	snprintf(path, sizeof(path), "%s/file", f->dir);
	assert_int_equal(fs_replace_file(path, "x", 1), 0);
	assert_false(is_there(f, STALE));
	assert_content(f, "file", "x");
}

static void test_what_may_be_a_living_writers_stays(void **state)
{
	struct folder *f = *state;
	int fd;

	write_and_be_killed(f, true); /* just now: its lock is gone, its age tells nothing */
	tempfiles__sweep(f->fd);
	assert_int_equal(nr_entries(f), 1);
	leave(f, STALE, 120);
	fd = openat(f->fd, STALE, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	tempfiles__sweep(f->fd);
	assert_true(is_there(f, STALE));
	close(fd);
	tempfiles__sweep(f->fd);
	assert_false(is_there(f, STALE));
}

static void test_only_files_of_this_user_by_that_very_name_are_removed(void **state)
{
	static const char *const others[] = {
		".hbprof-0123456789abcdef.tmp.bak",
		".hbprof-0123456789abcde.tmp",
		".hbprof-0123456789abcdeg.tmp",
		"hbprof-0123456789abcdef.tmp",
		".hbprof-.tmp",
	};
	struct folder *f = *state;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		leave(f, others[i], 120);
	assert_int_equal(mkdirat(f->fd, ".hbprof-00000000000000aa.tmp", 0755), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->fd, ".hbprof-00000000000000bb.tmp"), 0);
	assert_int_equal(mkfifoat(f->fd, ".hbprof-00000000000000cc.tmp", 0644), 0);
	if (!geteuid()) {
		leave(f, STALE, 120);
		assert_int_equal(fchownat(f->fd, STALE, 1234, 1234, 0), 0);
	}
	tempfiles__sweep(f->fd);
	assert_int_equal(nr_entries(f), 8 + !geteuid());
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "1234", 1);
	tempfiles__sweep(f->fd);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(nr_entries(f), 8);
}

#define in_folder(t) cmocka_unit_test_setup_teardown(t, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_a_file_takes_its_place_with_and_without_a_name_before),
		in_folder(test_a_file_that_is_dropped_leaves_nothing),
		in_folder(test_a_writer_that_is_killed_leaves_nothing),
		in_folder(test_what_a_dead_writer_has_left_goes_with_the_next_file),
		in_folder(test_what_may_be_a_living_writers_stays),
		in_folder(test_only_files_of_this_user_by_that_very_name_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
