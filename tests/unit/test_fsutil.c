// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_fsutil.c - whole reads, whole writes, and what is left when they fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/fsutil.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka prints no reason of its own. */
#define skip_because(why)                \
	do {                             \
		print_message(why "\n"); \
		skip();                  \
	} while (0)

struct folder {
	char dir[64], path[96];
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/hbprof-util-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/file", f->dir);
	*state = f;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;

	if (unlink(f->path) && errno == EISDIR)
		rmdir(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static int nr_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

static void assert_content(const char *path, const char *text)
{
	char *got;
	size_t len;

	assert_int_equal(fs_read_file(path, 1 << 20, &got, &len), 0);
	assert_int_equal(len, strlen(text));
	assert_string_equal(got, text);
	free(got);
}

static void test_a_file_is_read_whole_up_to_the_limit(void **state)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000};
	struct folder *f = *state;
	char *bytes = malloc(100001), *got = NULL;
	size_t len;

	for (size_t i = 0; i < 100001; i++)
		bytes[i] = (char)(i * 7);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(fs_replace_file(f->path, bytes, sizes[i]), 0);
		assert_int_equal(fs_read_file(f->path, sizes[i], &got, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(got, bytes, len);
		assert_int_equal(got[len], 0);
		free(got);
		got = NULL;
		if (sizes[i])
			assert_int_equal(fs_read_file(f->path, sizes[i] - 1, &got, &len), -EFBIG);
		assert_null(got);
	}
	free(bytes);
}

static void test_files_that_tell_no_size_are_read_whole(void **state)
{
	char *got;
	size_t len;

	assert_int_equal(fs_read_file("/proc/self/status", 1 << 20, &got, &len), 0);
	assert_non_null(strstr(got, "\nTgid:"));
	free(got);
	assert_int_equal(fs_read_file("/dev/zero", 100000, &got, &len), -EFBIG);
	assert_int_equal(fs_read_file("/dev/null", 0, &got, &len), 0);
	assert_int_equal(len, 0);
	free(got);
	assert_int_equal(fs_read_file("/tmp", 100000, &got, &len), -EISDIR);
	assert_int_equal(fs_read_file("/tmp/no/such", 100000, &got, &len), -ENOENT);
}

static void test_a_file_is_replaced_by_the_whole_new_one(void **state)
{
	struct folder *f = *state;
	mode_t mask = umask(022);
	struct stat st, old;
	char *got;
	int held;

	assert_int_equal(fs_replace_file(f->path, "old", 3), 0);
	held = open(f->path, O_RDONLY);
	assert_int_equal(fstat(held, &old), 0);
	assert_int_equal(fs_replace_file(f->path, "new text", 8), 0);
	assert_content(f->path, "new text");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	/* Who had it open goes on reading the old one. */
	assert_int_not_equal(st.st_ino, old.st_ino);
	got = calloc(1, 4);
	assert_int_equal(read(held, got, 3), 3);
	assert_string_equal(got, "old");
	free(got);
	close(held);
	assert_int_equal(nr_entries(f->dir), 1);

	umask(077);
	assert_int_equal(fs_replace_file(f->path, "", 0), 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	umask(mask);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_a_file_that_was_kept_from_others_stays_so(void **state)
{
	static const mode_t old[] = {0600, 0640, 0400, 0666, 04755},
			    want[] = {0600, 0640, 0600, 0644, 0644};
	struct folder *f = *state;
	mode_t mask = umask(022);

	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		assert_int_equal(fs_replace_file(f->path, "old", 3), 0);
		assert_int_equal(chmod(f->path, old[i]), 0);
		assert_int_equal(fs_replace_file(f->path, "new", 3), 0);
		assert_int_equal(mode_of(f->path), want[i]);
		assert_int_equal(unlink(f->path), 0);
	}
	umask(mask);
}

static void test_a_path_without_a_folder_is_one_of_the_current_folder(void **state)
{
	struct folder *f = *state;
	int cwd = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(chdir(f->dir), 0);
	assert_int_equal(fs_replace_file("file", "x", 1), 0);
	assert_int_equal(fs_replace_file("", "x", 1), -ENOENT);
	assert_int_equal(fs_replace_file(".", "x", 1), -EISDIR);
	assert_int_equal(fs_replace_file("no/such", "x", 1), -ENOENT);
	assert_int_equal(fs_replace_file("file/x", "x", 1), -ENOTDIR);
	assert_int_equal(fchdir(cwd), 0);
	close(cwd);
	assert_content(f->path, "x");
	assert_int_equal(fs_replace_file("/", "x", 1), -EISDIR);
}

static void test_only_regular_files_are_replaced(void **state)
{
	struct folder *f = *state;
	char other[128];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", f->dir);
	assert_int_equal(fs_replace_file(other, "safe", 4), 0);
	assert_int_equal(symlink("other", f->path), 0);
	assert_int_equal(fs_replace_file(f->path, "evil", 4), -EEXIST);
	assert_int_equal(fs_check_replace(f->path), -EEXIST);
	assert_content(other, "safe");
	assert_int_equal(lstat(f->path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(f->path);
	unlink(other);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_int_equal(fs_replace_file(f->path, "x", 1), -EEXIST);
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(fs_replace_file(f->path, "x", 1), -EISDIR);
	assert_int_equal(nr_entries(f->dir), 1);
}

static void test_asking_whether_a_file_can_be_replaced_changes_nothing(void **state)
{
	struct folder *f = *state;
	char path[128];

	assert_int_equal(fs_check_replace(f->path), 0);
	assert_int_equal(nr_entries(f->dir), 0);
	assert_int_equal(fs_replace_file(f->path, "old", 3), 0);
	assert_int_equal(fs_check_replace(f->path), 0);
	assert_content(f->path, "old");
	assert_int_equal(nr_entries(f->dir), 1);
	assert_int_equal(fs_check_replace(f->dir), -EISDIR);
	snprintf(path, sizeof(path), "%s/no/file", f->dir);
	assert_int_equal(fs_check_replace(path), -ENOENT);
}

static void test_a_long_name_leaves_room_for_the_temporary_one(void **state)
{
	struct folder *f = *state;
	char path[400];

	snprintf(path, sizeof(path), "%s/%0255d", f->dir, 7);
	assert_int_equal(fs_replace_file(path, "x", 1), 0);
	assert_content(path, "x");
	unlink(path);
	snprintf(path, sizeof(path), "%s/%0256d", f->dir, 7);
	assert_int_equal(fs_replace_file(path, "x", 1), -ENAMETOOLONG);
	assert_int_equal(nr_entries(f->dir), 0);
}

static void test_a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
	struct folder *f = *state;
	static char big[100000];
	int status;
	pid_t pid;

	assert_int_equal(fs_replace_file(f->path, "old", 3), 0);
	/* In a child: a hard limit cannot be raised again. */
	pid = fork();
	if (!pid) {
		struct rlimit limit = {50000, 50000};

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(fs_replace_file(f->path, big, sizeof(big)) == -EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_content(f->path, "old");
	assert_int_equal(nr_entries(f->dir), 1);
}

static void test_writes_say_that_the_disk_is_full(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		skip_because("no /dev/full here");
	assert_int_equal(fs_write_all(fd, "x", 1), -ENOSPC);
	assert_int_equal(fs_write_all(fd, NULL, 0), 0);
	close(fd);
	assert_int_equal(fs_write_all(-1, "x", 1), -EBADF);
}

static void test_short_writes_are_gone_on_with(void **state)
{
	static char big[1 << 20];
	size_t sum = 0;
	int ends[2];
	pid_t pid;

	memset(big, 'x', sizeof(big));
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		_exit(fs_write_all(ends[1], big, sizeof(big)) ? 1 : 0);
	}
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], big, 1000)) > 0;)
		sum += (size_t)n;
	close(ends[0]);
	assert_int_equal(sum, sizeof(big));
	waitpid(pid, NULL, 0);
}

static void test_root_gives_the_file_to_the_user_of_sudo(void **state)
{
	static const struct {
		const char *uid, *gid;
		uid_t want_uid;
		gid_t want_gid;
	} t[] = {
		{"1234", "5678", 1234, 5678}, {NULL, "5678", 0, 0},	    {"1234", NULL, 0, 0},
		{"-1", "5678", 0, 0},	      {"4294967295", "5678", 0, 0}, {"1234x", "5678", 0, 0},
		{"1234", "4294967296", 0, 0},
	};
	struct folder *f = *state;

	if (geteuid())
		skip_because("needs root");
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct stat st;

		if (t[i].uid)
			setenv("SUDO_UID", t[i].uid, 1);
		if (t[i].gid)
			setenv("SUDO_GID", t[i].gid, 1);
		assert_int_equal(fs_replace_file(f->path, "x", 1), 0);
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		assert_int_equal(stat(f->path, &st), 0);
		assert_int_equal(st.st_uid, t[i].want_uid);
		assert_int_equal(st.st_gid, t[i].want_gid);
	}
}

#define in_folder(t) cmocka_unit_test_setup_teardown(t, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_a_file_is_read_whole_up_to_the_limit),
		cmocka_unit_test(test_files_that_tell_no_size_are_read_whole),
		in_folder(test_a_file_is_replaced_by_the_whole_new_one),
		in_folder(test_a_file_that_was_kept_from_others_stays_so),
		in_folder(test_a_path_without_a_folder_is_one_of_the_current_folder),
		in_folder(test_only_regular_files_are_replaced),
		in_folder(test_asking_whether_a_file_can_be_replaced_changes_nothing),
		in_folder(test_a_long_name_leaves_room_for_the_temporary_one),
		in_folder(test_a_failed_write_leaves_the_old_file_and_nothing_else),
		cmocka_unit_test(test_writes_say_that_the_disk_is_full),
		cmocka_unit_test(test_short_writes_are_gone_on_with),
		in_folder(test_root_gives_the_file_to_the_user_of_sudo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
