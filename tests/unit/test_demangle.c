// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_demangle.c - C++ and Rust names as people write them, and names made to do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/demangle.h"
#include "util/strbuf.h"

#include <stdlib.h>

static void assert_demangled(const char *mangled, const char *want, const char *want_short)
{
	char *s = demangle(mangled), *t = demangle_short(mangled);

	if (want) {
		assert_non_null(s);
		assert_non_null(t);
		assert_string_equal(s, want);
		assert_string_equal(t, want_short);
	} else {
		assert_null(s);
		assert_null(t);
	}
	free(s);
	free(t);
}

static void test_cxx_and_rust_names_are_demangled(void **state)
{
	assert_demangled("_ZN3foo3barEi", "foo::bar(int)", "foo::bar");
	assert_demangled("_ZN10serde_json3ser6to_vec17h0123456789abcdefE",
			 "serde_json::ser::to_vec", "serde_json::ser::to_vec");
	assert_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo");
	assert_demangled("cJSON_Parse", NULL, NULL);
	assert_demangled("_Z", NULL, NULL);
	assert_demangled("_ZN3foo", NULL, NULL);
	assert_demangled("", NULL, NULL);
}

/* f(A<B, B>, A<X, X>, ...) where X is the type before: each doubles the text, 2^36 in the end. */
static void test_name_that_grows_without_bound_is_given_up(void **state)
{
	struct strbuf b;

	strbuf__init(&b, 4096);
	strbuf__adds(&b, "_Z1f1AI1BS0_E");
	strbuf__adds(&b, "S_IS1_S1_E");
	for (int i = 0; i < 34; i++)
		strbuf__addf(&b, "S_IS%c_S%c_E", '2' + i < ':' ? '2' + i : 'A' + i - 8,
			     '2' + i < ':' ? '2' + i : 'A' + i - 8);
	assert_int_equal(b.err, 0);
	assert_null(demangle(b.s));
	strbuf__fini(&b);
}

static void test_overlong_name_is_not_demangled(void **state)
{
	struct strbuf b;

	strbuf__init(&b, 100000);
	strbuf__adds(&b, "_Z9000");
	for (int i = 0; i < 9000; i++)
		strbuf__addc(&b, 'x');
	strbuf__adds(&b, "v");
	assert_demangled(b.s, NULL, NULL);
	strbuf__fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx_and_rust_names_are_demangled),
		cmocka_unit_test(test_name_that_grows_without_bound_is_given_up),
		cmocka_unit_test(test_overlong_name_is_not_demangled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
