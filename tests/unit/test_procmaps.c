// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_procmaps.c - the text of /proc/PID/maps, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "target/procmaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static void test_lines_of_maps_are_cut_up(void **state)
{
	char text[] = "55d0c000-55d0e000 r-xp 00002000 fe:1f 131                       /a b  \n"
		      "7fff0000-7fff1000 rw-s 00000000 00:00 0 \n"
		      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0      [vsyscall]\n";
	struct proc_map *v;
	u32 nr;

	assert_int_equal(proc_maps__parse(text, &v, &nr), 0);
	assert_int_equal(nr, 3);
	assert_true(v[0].begin == 0x55d0c000 && v[0].end == 0x55d0e000 && v[0].off == 0x2000);
	assert_true(v[0].exec && !v[0].write && v[1].write && !v[1].exec);
	assert_true(v[0].dev == makedev(0xfe, 0x1f) && v[0].ino == 131);
	assert_string_equal(v[0].path, "/a b  ");
	assert_string_equal(v[1].path, "");
	assert_true(!v[1].dev && !v[1].ino);
	assert_true(v[2].begin == 0xffffffffff600000);
	assert_string_equal(v[2].path, "[vsyscall]");
	proc_maps__free(v, nr);
}

static void test_a_path_may_have_any_length(void **state)
{
	const size_t len = 1 << 20;
	char *text = malloc(len);
	struct proc_map *v;
	u32 nr;
	int used;

	used = snprintf(text, len, "1000-2000 r-xp 00000000 fe:00 1 /");
	memset(text + used, 'x', len - (size_t)used);
	memcpy(text + len - 2, "\n", 2);
	assert_int_equal(proc_maps__parse(text, &v, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(strlen(v[0].path), len - 1 - (size_t)used);
	proc_maps__free(v, nr);
	free(text);
	proc_maps__free(NULL, 0);
}

static void test_text_that_is_no_maps_is_refused(void **state)
{
	static const char *const bad[] = {
		"x\n",
		"1000-2000 r-xp 00000000 fe:00 1 /cut",
		"1000-2000\n",
		"1000-2000 r-x\n",
		"1000-2000 r-xp\n",
		"1000-2000 r-xp \n",
		"1000-2000 r-xp 0 fe:00\n",
		"1000-2000 r-xp 0 fe:00 \n",
		"1000-2000 r-xp 0 fe 1 /x\n",
		"2000-1000 r-xp 0 fe:00 1 /x\n",
		"1000-2000r-xp 0 fe:00 1 /x\n",
		"10000000000000000-20000000000000000 r-xp 0 fe:00 1 /x\n",
		"1000-2000 r-xp 0 fe:00 99999999999999999999 /x\n",
		"1000-2000 r-xp 0 fe:00 1 /good\n\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct proc_map *v = NULL;
		char *text = strdup(bad[i]);
		u32 nr = 7;

		assert_int_equal(proc_maps__parse(text, &v, &nr), -EBADMSG);
		assert_null(v);
		assert_int_equal(nr, 7);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_maps_are_cut_up),
		cmocka_unit_test(test_a_path_may_have_any_length),
		cmocka_unit_test(test_text_that_is_no_maps_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
