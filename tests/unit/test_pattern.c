// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_pattern.c - names with gaps, and ranges of versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/pattern.h"
#include "sym/verrange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void assert_match(const char *text, const char *name, bool want)
{
	struct pattern p;
	const char *why;

	assert_int_equal(pattern__init(&p, text, &why), 0);
	if (pattern__match(&p, name) != want)
		fail_msg("'%s' and '%s': %s expected", text, name, want ? "a match" : "none");
	/* The cheap test never says no where the real one says yes. */
	if (want)
		assert_true(pattern__may_match(&p, name));
	pattern__fini(&p);
}

static void test_name_without_gaps_is_itself(void **state)
{
	assert_match("encoding/json.(*Encoder).Encode", "encoding/json.(*Encoder).Encode", true);
	assert_match("encoding/json.(*Encoder).Encode", "encoding/json.(*Encoder).Encoder", false);
	assert_match("a[...]", "a[...]", true);
	assert_match("a.b", "axb", false);
}

static void test_gaps_take_what_their_name_says(void **state)
{
	assert_match("{path}.(*{word}).MarshalMsg", "main.(*T).MarshalMsg", true);
	assert_match("{path}.(*{word}).MarshalMsg", "x.com/a-b/c%2ed.(*T_1).MarshalMsg", true);
	assert_match("{path}.(*{word}).MarshalMsg", "main.(*T).MarshalMsg.func1", false);
	assert_match("{path}.(*{word}).MarshalMsg", "main.(*T[int]).MarshalMsg", false);
	assert_match("{path}.(*{word}).MarshalMsg", "main.T.MarshalMsg", false);
	assert_match("{path}.(*{word}).MarshalMsg", ".(*T).MarshalMsg", false);
	assert_match("{path}.easyjson{hex}Decode{word}", "m.easyjson4f6d5421DecodeMain1", true);
	assert_match("{path}.easyjson{hex}Decode{word}", "m.easyjsonDecodeMain1", false);
	assert_match("ns::f<{any}>::g({any})", "ns::f<int, a<b> >::g()", true);
	assert_match("ns::f<{any}>::g({any})", "ns::f<>::g(int) const", false);
	assert_match("{any}json{any}", "json", true);
	assert_match("json{any}{any}", "jsonx", true);
	assert_match("json{word}", "json", false);
	assert_match("json{{x}", "json{x}", true);
	assert_match("json{word}", "json\xc3\xa9", true);
}

static void test_several_ways_are_followed_at_once(void **state)
{
	/* The first "Dec" is no end, the last one is; a greedy gap must give back. */
	assert_match("{any}Dec", "DecDecxDec", true);
	assert_match("{word}_{word}_end", "a_b_c_end", true);
	assert_match("{hex}abc", "0abcabc", true);
	assert_match("{hex}abc", "abc", false);
}

static void test_time_does_not_explode(void **state)
{
	char name[8192];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_match("{any}aaa{any}aaa{any}aaa{any}aaa{any}aaa{any}aaa{any}aaa{any}b", name, false);
}

static void assert_refused(const char *text, const char *why_has)
{
	struct pattern p;
	const char *why;

	assert_int_equal(pattern__init(&p, text, &why), -EINVAL);
	assert_non_null(strstr(why, why_has));
}

static void test_bad_patterns_are_refused(void **state)
{
	char text[PATTERN_MAX + 2];

	assert_refused("", "empty");
	assert_refused("a{wrod}", "{word}");
	assert_refused("a{", "{word}");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "longer");
}

static void test_anchor_is_a_word_that_mangled_names_have_too(void **state)
{
	struct pattern p;
	const char *why;

	assert_int_equal(pattern__init(&p, "unsigned nlo::f<{any}>(std::allocator)", &why), 0);
	assert_string_equal(p.anchor, "nlo");
	assert_true(pattern__may_match(&p, "_ZN3nlo1fIiEEj"));
	assert_false(pattern__may_match(&p, "_ZN3xlo1fIiEEj"));
	pattern__fini(&p);
	assert_int_equal(pattern__init(&p, "{path}.{word}", &why), 0);
	assert_string_equal(p.anchor, "");
	pattern__fini(&p);
}

/* ---- versions ---- */

static void test_versions_are_compared_by_number(void **state)
{
	assert_true(version_cmp("v2.4.0", "2.10") < 0);
	assert_int_equal(version_cmp("go1.26", "1.26.0"), 0);
	assert_true(version_cmp("1.7.15", "1.7.2") > 0);
	assert_true(version_cmp("1.08", "1.7") > 0);
	assert_true(version_cmp("99999999999999999999", "100000000000000000000") < 0);
	assert_true(version_cmp("v2.0.0-rc1", "v2.0.0") < 0);
	assert_true(version_cmp("go1.26rc1", "go1.26") < 0);
	assert_true(version_cmp("v0.0.0-2023", "v0.0.0-2024") < 0);
	assert_int_equal(version_cmp("v25.12.19+incompatible", "25.12.19"), 0);
	assert_int_equal(version_cmp("", ""), 0);
}

static void test_all_comparisons_of_a_range_must_hold(void **state)
{
	assert_true(version_in_range("v2.4.0", "<2.5.0"));
	assert_false(version_in_range("v2.5.0", "<2.5.0"));
	assert_true(version_in_range("v2.5.0", ">=2.5.0 <3"));
	assert_false(version_in_range("v3.0.0", ">=2.5.0 <3"));
	assert_true(version_in_range("v3.0.0", ">2  <=3"));
	assert_true(version_in_range("3", "=3.0"));
	assert_false(version_in_range("3.1", "=3.0"));
}

static void test_ranges_are_checked(void **state)
{
	assert_true(version_range_valid(">=1.2 <2"));
	assert_true(version_range_valid(" <v2 "));
	assert_true(version_range_valid("=go1.26"));
	assert_false(version_range_valid(""));
	assert_false(version_range_valid("1.2"));
	assert_false(version_range_valid(">= 1.2"));
	assert_false(version_range_valid("<2 or >3"));
	assert_false(version_range_valid("<x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_without_gaps_is_itself),
		cmocka_unit_test(test_gaps_take_what_their_name_says),
		cmocka_unit_test(test_several_ways_are_followed_at_once),
		cmocka_unit_test(test_time_does_not_explode),
		cmocka_unit_test(test_bad_patterns_are_refused),
		cmocka_unit_test(test_anchor_is_a_word_that_mangled_names_have_too),
		cmocka_unit_test(test_versions_are_compared_by_number),
		cmocka_unit_test(test_all_comparisons_of_a_range_must_hold),
		cmocka_unit_test(test_ranges_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
