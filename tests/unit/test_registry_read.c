// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_registry_read.c - files of codecs: what is wrong with one is said with its line and key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sym/registry.h"
#include "util/log.h"
#include "util/strbuf.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[1024];
static u32 nr_said;

static void keep(enum log_level l, const char *msg)
{
	snprintf(said, sizeof(said), "%s", msg);
	nr_said++;
}

static int add(const char *text, size_t len)
{
	struct registry *r;
	int err;

	assert_int_equal(registry__open(&r), 0);
	said[0] = '\0';
	nr_said = 0;
	log_set_sink(keep);
	err = registry__add_text(r, "f.json", text, len);
	log_set_sink(NULL);
	registry__close(r);
	return err;
}

static u64 hash_with(const char *text, bool groups)
{
	struct registry *r;
	u64 hash;

	assert_int_equal(registry__open(&r), 0);
	if (groups)
		assert_int_equal(registry__add_groups(r), 0);
	if (text)
		assert_int_equal(registry__add_text(r, "f.json", text, strlen(text)), 0);
	hash = registry__hash(r);
	registry__close(r);
	return hash;
}

/* What is around codecs is looked for with requests only, and changes no codec. */
static void test_the_hash_tells_apart_which_codecs_were_added(void **state)
{
	const char *none = "{\"format\": 1, \"libraries\": []}";
	const char *spaced = "{\"format\": 1,  \"libraries\": []}";

	assert_true(hash_with(NULL, false) == hash_with(NULL, true));
	assert_true(hash_with(none, false) == hash_with(none, true));
	assert_true(hash_with(none, false) != hash_with(NULL, false));
	assert_true(hash_with(none, false) != hash_with(spaced, false));
}

/* One message, which begins with file and line and has the words. */
static void assert_says(const char *text, u32 line, const char *words)
{
	char begin[32];

	assert_int_equal(add(text, strlen(text)), -EINVAL);
	assert_int_equal(nr_said, 1);
	snprintf(begin, sizeof(begin), "f.json:%u: ", line);
	if (!strstr(said, begin) || !strstr(said, words))
		fail_msg("'%s' said of: %s", said, text);
}

/* A file around one function, which begins in line 6. */
#define FUNC(members)                                                   \
	"{\n\"format\": 1,\n\"libraries\": [{\n"                        \
	"\"codec\": \"c\", \"language\": \"go\", \"library\": \"l\",\n" \
	"\"functions\": [\n{" members "}]}]}"

static void test_file_that_is_right_is_read(void **state)
{
	static const char *const good[] = {
		FUNC("\"op\": \"encode\", \"symbol\": \".F\""),
		FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"size\": {\"at\": \"entry\","
		     "\"register\": {\"amd64\": \"si\", \"arm64\": \"x1\"}, \"kind\": \"memory\","
		     "\"offset\": -8, \"add\": 4}"),
		FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"size\": {\"at\": \"nested\"},"
		     "\"error\": {\"when\": \"negative\", \"word\": 0}, \"traits\": [\"lazy\"],"
		     "\"limit\": 4096, \"off\": false, \"versions\": \"<2\", \"note\": \"n\""),
		"\xef\xbb\xbf{\"format\": 1, \"libraries\": []}",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (add(good[i], strlen(good[i])))
			fail_msg("%s: %s", good[i], said);
		assert_int_equal(nr_said, 0);
	}
}

static void test_text_that_is_no_json_is_told_with_its_line(void **state)
{
	assert_says("{\n\"format\": 1,\n\"libraries\": [}\n", 3, "no JSON");
	assert_says("", 1, "no JSON");
	assert_says("{\"format\": 1, \"libraries\": []}\nx", 2, "no JSON");
	assert_int_equal(add("{\n\0}", 4), -EINVAL);
	assert_non_null(strstr(said, "f.json:2: a zero byte"));
}

static void test_deep_nesting_is_refused(void **state)
{
	char text[512] = "{\"format\": 1,\n\"libraries\": ";
	size_t len = strlen(text);

	memset(text + len, '[', 40);
	memset(text + len + 40, ']', 40);
	strcpy(text + len + 80, "}");
	assert_says(text, 2, "levels deep");
}

static void test_mistyped_keys_are_told_with_the_right_one(void **state)
{
	assert_says("{\"format\": 1,\n\"librarys\": []}", 2,
		    "\"librarys\": unknown key; did you mean");
	assert_says(FUNC("\"op\": \"encode\",\n\"symbl\": \".F\""), 7, "did you mean \"symbol\"");
	assert_says(FUNC("\"op\": \"encode\", \"zzz\": 1"), 6, "here may be: op, symbol");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\",\n\n\"size\": {\"at\": \"exit\","
			 "\n\"wrod\": 1}"),
		    9, "did you mean \"word\"");
}

static void test_missing_and_repeated_keys_are_told(void **state)
{
	assert_says("{\"libraries\": []}", 1, "\"format\" is missing");
	assert_says(FUNC("\"op\": \"encode\""), 6, "\"symbol\" is missing");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\",\n\"op\": \"decode\""), 7,
		    "\"op\": is there twice");
	assert_says(
		FUNC("\"op\": \"encode\", \"symbol\": \".F\"},\n{\"op\": \"decode\", \"symbol\": "
		     "\".F\""),
		7, "'l.F' is there twice");
}

static void test_values_of_a_wrong_kind_are_told(void **state)
{
	assert_says("[]", 1, "an object");
	assert_says("{\"format\": 2, \"libraries\": []}", 1, "format 1 only");
	assert_says("{\"format\": 1, \"libraries\": 5}", 1, "an array");
	assert_says("{\"format\": 1, \"libraries\": [\n7]}", 2, "an object");
	assert_says(FUNC("\"op\": 5, \"symbol\": \".F\""), 6, "\"op\": a string");
	assert_says(FUNC("\"op\": \"En code\", \"symbol\": \".F\""), 6, "lower-case word");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \"\""), 6, "1 to 256 bytes");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \"a\\u0001\""), 6, "control character");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"off\": 1"), 6, "true or false");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"limit\": 5000"), 6,
		    "1 to 4096");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"limit\": 1.5"), 6,
		    "whole number");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"traits\": [\"slow\"]"), 6,
		    "none of \"lazy\"");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"versions\": \"2.4\""), 6,
		    "\"versions\": '2.4' is no range");
}

static void test_places_that_make_no_sense_are_told(void **state)
{
#define SIZE(members) FUNC("\"op\": \"encode\", \"symbol\": \".F\",\n\"size\": {" members "}")
	assert_says(SIZE("\"at\": \"start\""), 7, "\"at\": \"start\" is none of");
	assert_says(SIZE("\"at\": \"exit\""), 7, "\"word\"");
	assert_says(SIZE("\"at\": \"exit\", \"word\": 16"), 7, "0 to 15");
	assert_says(SIZE("\"at\": \"exit\", \"word\": 1, \"register\": {}"), 7, "not both");
	assert_says(SIZE("\"at\": \"exit\", \"word\": 1, \"offset\": 8"), 7, "memory");
	assert_says(SIZE("\"at\": \"nested\", \"word\": 1"), 7, "only \"add\"");
	assert_says(SIZE("\"at\": \"exit\", \"register\": {\"amd64\": \"r8\"}"), 7,
		    "none of \"ax\"");
	assert_says(SIZE("\"at\": \"exit\", \"register\": {\"x86\": \"ax\"}"), 7, "amd64");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"error\": {\"when\": \"zero\"}"),
		    6, "\"word\" is missing");
}

static void test_bad_names_and_libraries_are_told(void **state)
{
	assert_says(FUNC("\"op\": \"encode\",\n\"symbol\": \"a{wrod}\""), 7,
		    "\"symbol\": a '{' begins");
	assert_says(FUNC("\"op\": \"encode\",\n\"symbol\": \"{path}.{word}\""), 7, "fixed word");
	assert_says(FUNC("\"op\": \"encode\", \"symbol\": \".F\", \"with\": \"G\""), 6, "patterns");
	assert_says("{\"format\": 1, \"libraries\": [{\"codec\": \"probe\",\n\"language\": \"c\","
		    "\"library\": \"l\", \"functions\": []}]}",
		    1, "--probe");
	assert_says("{\"format\": 1, \"libraries\": [{\"codec\": \"c\",\n\"language\": \"d\","
		    "\"library\": \"l\", \"functions\": []}]}",
		    2, "\"d\" is none of \"go\"");
	assert_says("{\"format\": 1, \"libraries\": [{\"codec\": \"c\", \"language\": \"c\","
		    "\"library\": \"l\",\n\"functions\": []}]}",
		    2, "no function in it");
	assert_says("{\"format\": 1, \"libraries\": [{\"codec\": \"c\", \"language\": \"go\","
		    "\"library\": \"l\", \"where\": \"anywhere\",\n\"functions\": [{}]}]}",
		    1, "package");
}

static void test_too_many_functions_are_refused(void **state)
{
	struct strbuf b;

	strbuf__init(&b, 1 << 20);
	strbuf__adds(&b, "{\"format\": 1, \"libraries\": [{\"codec\": \"c\", \"language\": \"c\","
			 "\"library\": \"l\", \"functions\": [");
	for (u32 i = 0; i < 4096; i++)
		strbuf__addf(&b, "{\"op\": \"encode\", \"symbol\": \"f%u\"},", i);
	strbuf__adds(&b, "\n{\"op\": \"encode\", \"symbol\": \"g\"}]}]}");
	assert_int_equal(add(b.s, b.len), -EINVAL);
	assert_non_null(strstr(said, "f.json:2: more than 4096 functions"));
	strbuf__fini(&b);
}

/* Whatever is in a file, reading it ends, and says something if it was refused. */
static void test_no_byte_of_a_file_breaks_the_reader(void **state)
{
	static const char good[] = FUNC(
		"\"op\": \"encode\", \"symbol\": \"{path}.F\", \"size\": {\"at\": \"exit\", "
		"\"word\": 1}, \"traits\": [\"lazy\", \"streaming\"]");
	static const char bytes[] = "{}[]\",:\\\n\xff"
				    "0";
	char text[sizeof(good)];

	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
			memcpy(text, good, sizeof(good));
			text[i] = bytes[k];
			if (add(text, sizeof(good) - 1))
				assert_int_equal(nr_said, 1);
		}
		memcpy(text, good, sizeof(good));
		text[i] = '\0';
		assert_int_equal(add(text, i), -EINVAL);
	}
}

static void test_file_that_cannot_be_read_is_named(void **state)
{
	struct registry *r;

	assert_int_equal(registry__open(&r), 0);
	log_set_sink(keep);
	assert_int_equal(registry__add_file(r, "/nonexistent/c.json"), -ENOENT);
	log_set_sink(NULL);
	assert_non_null(strstr(said, "/nonexistent/c.json: No such file"));
	registry__close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_hash_tells_apart_which_codecs_were_added),
		cmocka_unit_test(test_file_that_is_right_is_read),
		cmocka_unit_test(test_text_that_is_no_json_is_told_with_its_line),
		cmocka_unit_test(test_deep_nesting_is_refused),
		cmocka_unit_test(test_mistyped_keys_are_told_with_the_right_one),
		cmocka_unit_test(test_missing_and_repeated_keys_are_told),
		cmocka_unit_test(test_values_of_a_wrong_kind_are_told),
		cmocka_unit_test(test_places_that_make_no_sense_are_told),
		cmocka_unit_test(test_bad_names_and_libraries_are_told),
		cmocka_unit_test(test_too_many_functions_are_refused),
		cmocka_unit_test(test_no_byte_of_a_file_breaks_the_reader),
		cmocka_unit_test(test_file_that_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
