// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_golayout.c - the offsets inside the Go runtime. That they are right is checked against live
 * programs by the root tests; here, that they fit together and that unknown versions are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/golayout.h"

#include <elf.h>
#include <errno.h>
#include <hbprof/abi.h>
#include <string.h>

static void test_every_release_from_1_20_to_1_26_has_a_layout_within_the_prefix_read(void **state)
{
	for (u32 minor = 20; minor <= 26; minor++) {
		struct go_layout l;

		assert_int_equal(go_layout__find(minor, EM_X86_64, &l), 0);
		/* One read of HB_G_PREFIX bytes must hold the goroutine id, and _panic too. */
		assert_in_range(l.goid_off, 16, HB_G_PREFIX - 8);
		assert_in_range(l.panic_off, 0, HB_G_PREFIX - 8);
		assert_int_equal(l.goid_off % 8, 0);
	}
}

static void test_recovery_is_followed_by_sigcode_before_1_22_and_by_panic_since(void **state)
{
	for (u32 minor = 20; minor <= 26; minor++) {
		struct go_layout l;

		assert_int_equal(go_layout__find(minor, EM_X86_64, &l), 0);
		assert_int_equal(l.sigcode_off != 0, minor < 22);
		assert_int_equal(l.panic_off != 0, minor >= 22);
		assert_int_equal(l.panic_sp_off != 0, minor >= 22);
	}
}

static void test_goid_moved_in_1_23_and_back_in_1_25(void **state)
{
	const u32 want[] = {152, 152, 152, 160, 160, 152, 152};

	for (u32 i = 0; i < 7; i++) {
		struct go_layout l;

		assert_int_equal(go_layout__find(20 + i, EM_AARCH64, &l), 0);
		assert_int_equal(l.goid_off, want[i]);
	}
}

static void test_both_architectures_have_the_same_layout(void **state)
{
	for (u32 minor = 20; minor <= 26; minor++) {
		struct go_layout x86, arm;

		assert_int_equal(go_layout__find(minor, EM_X86_64, &x86), 0);
		assert_int_equal(go_layout__find(minor, EM_AARCH64, &arm), 0);
		assert_memory_equal(&x86, &arm, sizeof(x86));
	}
}

static void test_unknown_versions_and_machines_are_refused(void **state)
{
	struct go_layout l;

	assert_int_equal(go_layout__find(0, EM_X86_64, &l), -ENOTSUP);
	assert_int_equal(go_layout__find(19, EM_X86_64, &l), -ENOTSUP);
	assert_int_equal(go_layout__find(27, EM_X86_64, &l), -ENOTSUP);
	assert_int_equal(go_layout__find(26, EM_RISCV, &l), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_every_release_from_1_20_to_1_26_has_a_layout_within_the_prefix_read),
		cmocka_unit_test(
			test_recovery_is_followed_by_sigcode_before_1_22_and_by_panic_since),
		cmocka_unit_test(test_goid_moved_in_1_23_and_back_in_1_25),
		cmocka_unit_test(test_both_architectures_have_the_same_layout),
		cmocka_unit_test(test_unknown_versions_and_machines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
