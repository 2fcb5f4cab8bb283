// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_select.c - which processes a name means; this one, and a child under other names. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/select.h"

static pid_t child;

/* Its executable is this one's, its first argument and its comm are others. */
static int setup(void **state)
{
	char *argv[] = {(char *)"/some/where/argument", (char *)"--child", NULL};
	int ready[2];
	char c;

	if (pipe(ready))
		return -1;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		dup2(ready[1], STDOUT_FILENO);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		return -1;
	close(ready[0]);
	return 0;
}

static int teardown(void **state)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

static bool means(const char *name)
{
	const char *names[] = {"no process is called so", name};
	struct selection s = {.name = names, .nr_names = 2};

	return selection__has(&s, child);
}

static void test_a_process_is_meant_by_each_of_its_names(void **state)
{
	assert_true(means("a comm)("));
	assert_true(means("argument"));
	assert_true(means("test_select"));
}

static void test_a_pattern_is_of_the_whole_name(void **state)
{
	assert_true(means("test_sel*"));
	assert_true(means("arg[t-v]ment"));
	assert_false(means("test_sel"));
	assert_false(means("where"));
	assert_false(means("/some/where/argument"));
	assert_false(means(""));
}

static void test_all_that_are_meant_are_listed_but_this_one(void **state)
{
	const char *name = "test_select*";
	struct selection s = {.name = &name, .nr_names = 1};
	bool found = false;
	pid_t *pid;
	size_t nr;

	assert_int_equal(selection__list(&s, &pid, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_int_not_equal(pid[i], getpid());
		found |= pid[i] == child;
	}
	assert_true(found);
	free(pid);
}

static void test_what_has_ended_is_not_meant(void **state)
{
	const char *name = "*";
	struct selection s = {.name = &name, .nr_names = 1};
	pid_t ended = fork();

	if (!ended)
		_exit(0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	assert_false(selection__has(&s, ended));
}

static void test_a_name_that_the_kernel_has_cut_may_be_any_that_begins_so(void **state)
{
	const char *names[] = {"worker*", "a-very-long-name-indeed", "*-end"};
	struct selection s = {.name = names, .nr_names = 3};

	assert_true(selection__has_comm(&s, "worker-1"));
	assert_true(selection__has_comm(&s, "a-very-long-nam"));
	assert_false(selection__has_comm(&s, "a-very-long"));
	assert_false(selection__has_comm(&s, "another-very-lo"));
	assert_true(selection__has_comm(&s, "the-end"));
	assert_false(selection__has_comm(&s, ""));
}

static void test_a_cgroup_that_is_not_there_is_an_error(void **state)
{
	struct selection s = {0};
	int err = selection__add_cgroup(&s, "no/such/group");

	assert_true(err == -ENOENT || err == -ENODEV);
	assert_false(selection__any(&s));
	err = selection__add_cgroup(&s, "/proc");
	assert_true(err == -ENOENT || err == -ENODEV);
	selection__fini(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_process_is_meant_by_each_of_its_names, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_pattern_is_of_the_whole_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_all_that_are_meant_are_listed_but_this_one,
						setup, teardown),
		cmocka_unit_test(test_what_has_ended_is_not_meant),
		cmocka_unit_test(test_a_name_that_the_kernel_has_cut_may_be_any_that_begins_so),
		cmocka_unit_test(test_a_cgroup_that_is_not_there_is_an_error),
	};

	if (argc > 1 && !strcmp(argv[1], "--child")) {
		prctl(PR_SET_NAME, "a comm)(");
		if (write(STDOUT_FILENO, "r", 1) != 1)
			return 1;
		for (;;)
			pause();
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
