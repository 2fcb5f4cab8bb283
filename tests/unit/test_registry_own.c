// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_registry_own.c - files of codecs beside those built in: what becomes of functions that both know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "opened.h"
#include "util/log.h"

#include <stdio.h>
#include <string.h>

static const struct symfile_go go_funcs[] = {
	{"runtime.text", 0x20, 0},
	{"encoding/json.Marshal", 0x100, 0},
	{"encoding/json.Unmarshal", 0x80, 0},
	{"main.main", 0x40, 0},
};

static char said[512];
static u32 nr_said;

static void keep(enum log_level l, const char *msg)
{
	if (l > LOG_INFO)
		return;
	snprintf(said, sizeof(said), "%s", msg);
	nr_said++;
}

/* A file with one codec, of a symbol of encoding/json. */
static void add_file(struct opened *o, const char *codec, const char *symbol)
{
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "{\"format\": 1, \"libraries\": [{\"codec\": \"%s\", \"language\": "
			   "\"go\", \"library\": \"encoding/json\", \"functions\": [{\"op\": "
			   "\"encode\", \"symbol\": \"%s\"}]}]}",
			   codec, symbol);

	assert_int_equal(registry__add_text(o->r, codec, text, (size_t)len), 0);
}

static struct opened open_go(void)
{
	struct symfile s = {
		.go = go_funcs, .nr_go = sizeof(go_funcs) / sizeof(go_funcs[0]), .dynamic = true};

	return open_symfile(&s);
}

static void match(struct opened *o)
{
	nr_said = 0;
	said[0] = '\0';
	log_set_level(LOG_INFO);
	log_set_sink(keep);
	opened__match(o);
	log_set_sink(NULL);
	log_set_level(LOG_WARN);
}

static void test_a_codec_of_the_users_takes_a_function_from_one_built_in_and_says_so(void **state)
{
	struct opened o = open_go();

	add_file(&o, "ours", ".Marshal");
	match(&o);
	assert_int_equal(o.found.nr, 2); /* each function once */
	assert_string_equal(func_named(&o, "encoding/json.Marshal")->codec, "ours");
	assert_string_equal(func_named(&o, "encoding/json.Unmarshal")->codec, "encoding/json");
	assert_int_equal(nr_said, 1);
	assert_string_equal(said,
			    "encoding/json.Marshal is measured as ours, as --codecs says, not "
			    "as encoding/json");
	opened__close(&o);
}

static void test_a_pattern_of_the_users_takes_functions_that_are_built_in_by_name(void **state)
{
	struct opened o = open_go();

	add_file(&o, "ours", ".{word}arshal");
	match(&o);
	assert_int_equal(o.found.nr, 2);
	assert_string_equal(func_named(&o, "encoding/json.Marshal")->codec, "ours");
	assert_string_equal(func_named(&o, "encoding/json.Unmarshal")->codec, "ours");
	opened__close(&o);
}

static void test_of_two_files_the_last_one_has_its_way(void **state)
{
	struct opened o = open_go();

	add_file(&o, "first", ".Marshal");
	add_file(&o, "second", ".Marshal");
	match(&o);
	assert_string_equal(func_named(&o, "encoding/json.Marshal")->codec, "second");
	assert_int_equal(nr_said, 2);
	opened__close(&o);
}

static void test_a_file_that_knows_other_functions_changes_none(void **state)
{
	struct opened o = open_go();

	add_file(&o, "ours", ".Encode");
	match(&o);
	assert_int_equal(o.found.nr, 2);
	assert_string_equal(func_named(&o, "encoding/json.Marshal")->codec, "encoding/json");
	assert_int_equal(nr_said, 0);
	opened__close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_codec_of_the_users_takes_a_function_from_one_built_in_and_says_so),
		cmocka_unit_test(
			test_a_pattern_of_the_users_takes_functions_that_are_built_in_by_name),
		cmocka_unit_test(test_of_two_files_the_last_one_has_its_way),
		cmocka_unit_test(test_a_file_that_knows_other_functions_changes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
