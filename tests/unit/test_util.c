// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_util.c - strings, arrays, units, messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/array.h"
#include "util/log.h"
#include "util/strbuf.h"
#include "util/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- strbuf ---- */

static void test_a_string_is_put_together(void **state)
{
	struct strbuf b;
	char *s;

	strbuf__init(&b, 1000);
	assert_null(b.s);
	strbuf__adds(&b, "a");
	strbuf__addc(&b, 'b');
	strbuf__add(&b, "c\0d", 3);
	strbuf__addf(&b, "<%d %s>", -7, "x");
	assert_int_equal(b.err, 0);
	assert_int_equal(b.len, 11);
	assert_memory_equal(b.s, "abc\0d<-7 x>", 12);
	strbuf__reset(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal(b.s, "");
	for (int i = 0; i < 500; i++)
		strbuf__adds(&b, "xy");
	assert_int_equal(b.len, 1000);
	s = strbuf__take(&b);
	assert_int_equal(strlen(s), 1000);
	free(s);
	assert_null(b.s);
	assert_int_equal(b.len, 0);
	strbuf__fini(&b);
}

static void test_above_the_limit_nothing_more_is_added(void **state)
{
	struct strbuf b;

	strbuf__init(&b, 4);
	strbuf__adds(&b, "abc");
	strbuf__adds(&b, "de");
	assert_int_equal(b.err, -EFBIG);
	assert_string_equal(b.s, "abc");
	/* It would fit, but after a hole. */
	strbuf__addc(&b, 'f');
	strbuf__addf(&b, "%d", 1);
	assert_string_equal(b.s, "abc");
	assert_null(strbuf__take(&b));
	/* Empty again, with the limit it had. */
	assert_int_equal(b.err, 0);
	strbuf__addf(&b, "%s", "wxyz");
	assert_int_equal(b.err, 0);
	assert_string_equal(b.s, "wxyz");
	strbuf__addf(&b, "%c", '!');
	assert_int_equal(b.err, -EFBIG);
	assert_string_equal(b.s, "wxyz");
	strbuf__reset(&b);
	assert_int_equal(b.err, 0);
	strbuf__fini(&b);
}

static void test_a_length_that_wraps_is_refused(void **state)
{
	struct strbuf b;

	strbuf__init(&b, SIZE_MAX);
	strbuf__adds(&b, "abc");
	strbuf__add(&b, "", SIZE_MAX - 3);
	assert_int_equal(b.err, -ENOMEM);
	assert_string_equal(b.s, "abc");
	strbuf__reset(&b);
	strbuf__adds(&b, "abc");
	strbuf__add(&b, "", SIZE_MAX);
	assert_int_equal(b.err, -EFBIG);
	strbuf__fini(&b);
}

static void test_an_empty_string_is_not_a_failure(void **state)
{
	struct strbuf b;
	char *s;

	strbuf__init(&b, 0);
	strbuf__adds(&b, "");
	s = strbuf__take(&b);
	assert_non_null(s);
	assert_string_equal(s, "");
	free(s);
	strbuf__addc(&b, 'x');
	assert_null(strbuf__take(&b));
	strbuf__fini(&b);
}

/* ---- array ---- */

static void test_an_array_grows_and_keeps_its_elements(void **state)
{
	size_t nr = 0, cap = 0, grown = 0;
	u64 *v = NULL;

	for (; nr < 10000; nr++) {
		size_t before = cap;

		assert_int_equal(array_grow((void **)&v, nr, &cap, sizeof(*v)), 0);
		assert_true(cap > nr);
		grown += cap != before;
		v[nr] = nr * nr;
	}
	/* By a factor, not one by one. */
	assert_in_range(grown, 1, 30);
	for (nr = 0; nr < 10000; nr++)
		assert_true(v[nr] == nr * nr);
	free(v);
}

static void test_array_sizes_that_overflow_are_no_memory(void **state)
{
	size_t cap = 0;
	void *v = NULL;

	cap = SIZE_MAX / 16;
	assert_int_equal(array_grow(&v, SIZE_MAX / 16, &cap, 16), -ENOMEM);
	assert_int_equal(cap, SIZE_MAX / 16);
	cap = SIZE_MAX;
	assert_int_equal(array_grow(&v, SIZE_MAX, &cap, 1), -ENOMEM);
	assert_null(v);
	assert_null(array_alloc(SIZE_MAX / 2, 3));
	assert_null(array_alloc(SIZE_MAX / 16 + 2, 16));
	v = array_alloc(0, 16);
	assert_non_null(v);
	free(v);
	v = array_alloc(3, 5);
	assert_memory_equal(v, (char[15]){0}, 15);
	free(v);
}

/* ---- units ---- */

static void test_durations_are_read_with_their_unit(void **state)
{
	static const struct {
		const char *text;
		int err;
		u64 ns;
	} t[] = {
		{"10s", 0, 10000000000},
		{"500ms", 0, 500000000},
		{"2m", 0, 120000000000},
		{"1h", 0, 3600000000000},
		{"250us", 0, 250000},
		{"100ns", 0, 100},
		{"0s", 0, 0},
		{"007s", 0, 7000000000},
		{"1.5s", 0, 1500000000},
		{"0.25m", 0, 15000000000},
		{"1.000000001s", 0, 1000000001},
		{"0.0000000019s", 0, 1},
		{"1.999999999999999999999ns", 0, 1},
		{"18446744073709551615ns", 0, UINT64_MAX},
		{"18446744073709551616ns", -ERANGE, 0},
		{"18446744073709552us", -ERANGE, 0},
		{"5124095.9h", -ERANGE, 0},
		{"99999999999999999999999s", -ERANGE, 0},
		{"99999999999999999999999x", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"10", -EINVAL, 0},
		{"10 s", -EINVAL, 0},
		{" 10s", -EINVAL, 0},
		{"10s ", -EINVAL, 0},
		{"10S", -EINVAL, 0},
		{"10sec", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"+1s", -EINVAL, 0},
		{"1.s", -EINVAL, 0},
		{".5s", -EINVAL, 0},
		{"1e3s", -EINVAL, 0},
		{"0x10s", -EINVAL, 0},
		{"1.5.5s", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		u64 ns = 42;

		if (parse_duration_ns(t[i].text, &ns) != t[i].err)
			fail_msg("\"%s\": not %d", t[i].text, t[i].err);
		if (ns != (t[i].err ? 42 : t[i].ns))
			fail_msg("\"%s\" gave %llu", t[i].text, ns);
	}
}

static void test_integers_are_read_up_to_their_limit(void **state)
{
	u64 v = 42;

	assert_int_equal(parse_u64("0", 0, &v), 0);
	assert_true(v == 0);
	assert_int_equal(parse_u64("18446744073709551615", UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	v = 42;
	assert_int_equal(parse_u64("18446744073709551616", UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_u64("1001", 1000, &v), -ERANGE);
	assert_int_equal(parse_u64("99999999999999999999999", 1000, &v), -ERANGE);
	assert_int_equal(parse_u64("99999999999999999999999k", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64("", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64("-1", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64("+1", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64(" 1", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64("1 ", 1000, &v), -EINVAL);
	assert_int_equal(parse_u64("0x1", 1000, &v), -EINVAL);
	assert_true(v == 42);
	assert_int_equal(parse_u64("1000", 1000, &v), 0);
	assert_true(v == 1000);
}

static void test_times_have_three_digits_and_carry_into_the_next_unit(void **state)
{
	static const struct {
		u64 ns;
		const char *text;
	} t[] = {
		{0, "0ns"},
		{7, "7ns"},
		{950, "950ns"},
		{999, "999ns"},
		{1000, "1.00us"},
		{1234, "1.23us"},
		{1235, "1.24us"},
		{9994, "9.99us"},
		{9995, "10.0us"},
		{12345678, "12.3ms"},
		{99949, "99.9us"},
		{99950, "100us"},
		{999499, "999us"},
		{999500, "1.00ms"},
		{999999999, "1.00s"},
		{4560000000, "4.56s"},
		{999499999999, "999s"},
		{999500000000, "16.7m"},
		{3594000000000, "59.9m"},
		{3599000000000, "1.00h"},
		{10008000000000, "2.78h"},
		{UINT64_MAX, "5124096h"},
	};
	char buf[16];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(format_ns(buf, sizeof(buf), t[i].ns), t[i].text);
}

static void test_sizes_are_powers_of_1024(void **state)
{
	static const struct {
		u64 bytes;
		const char *text;
	} t[] = {
		{0, "0B"},
		{139, "139B"},
		{1023, "1023B"},
		{1024, "1.00KB"},
		{1200, "1.17KB"},
		{8970, "8.76KB"},
		{2 << 20, "2.00MB"},
		{(1 << 20) - 1, "1.00MB"},
		{(1 << 20) - 1024, "1023KB"},
		{3ull << 40, "3.00TB"},
		{UINT64_MAX, "16.0EB"},
		{9ull << 60, "9.00EB"},
	};
	char buf[16];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(format_bytes(buf, sizeof(buf), t[i].bytes), t[i].text);
}

static void test_counts_have_separators(void **state)
{
	char buf[32], small[4] = "xxx";

	assert_string_equal(format_count(buf, sizeof(buf), 0), "0");
	assert_string_equal(format_count(buf, sizeof(buf), 999), "999");
	assert_string_equal(format_count(buf, sizeof(buf), 1000), "1,000");
	assert_string_equal(format_count(buf, sizeof(buf), 1234567), "1,234,567");
	assert_string_equal(format_count(buf, sizeof(buf), UINT64_MAX),
			    "18,446,744,073,709,551,615");
	/* A buffer too small is not left without an end. */
	format_count(small, sizeof(small), 123456);
	assert_int_equal(strnlen(small, sizeof(small)), 3);
}

/* ---- log ---- */

static char logged[20000];
static int nr_logged;
static enum log_level logged_level;

static void keep(enum log_level l, const char *msg)
{
	nr_logged++;
	logged_level = l;
	snprintf(logged, sizeof(logged), "%s", msg);
}

static int keep_messages(void **state)
{
	nr_logged = 0;
	log_set_sink(keep);
	return 0;
}

static int stop_keeping(void **state)
{
	log_set_sink(NULL);
	log_set_level(LOG_WARN);
	return 0;
}

static void test_messages_above_the_level_are_not_made(void **state)
{
	assert_int_equal(log_level(), LOG_WARN);
	log_info("no");
	log_debug("no");
	assert_int_equal(nr_logged, 0);
	log_warn("w %d", 1);
	assert_string_equal(logged, "w 1");
	assert_int_equal(logged_level, LOG_WARN);
	log_set_level(LOG_DEBUG);
	assert_int_equal(log_level(), LOG_DEBUG);
	log_debug("d");
	assert_int_equal(logged_level, LOG_DEBUG);
	log_info("i");
	assert_int_equal(logged_level, LOG_INFO);
	log_set_level(LOG_ERR);
	log_warn("no");
	assert_int_equal(logged_level, LOG_INFO);
	log_err("e");
	assert_int_equal(logged_level, LOG_ERR);
	assert_int_equal(nr_logged, 4);
}

static void test_control_bytes_of_names_are_escaped(void **state)
{
	static const struct {
		const char *name, *text;
	} t[] = {
		{"plain (T).M[go.shape]", "plain (T).M[go.shape]"},
		{"\033[2J\033]0;x\007", "\\x1b[2J\\x1b]0;x\\x07"},
		{"a\nhbprof: forged", "a\\nhbprof: forged"},
		{"a\rb\177c\001", "a\\x0db\\x7fc\\x01"},
		{"a\tb", "a\tb"},
		/* C1 in UTF-8 is CSI to some terminals; the letters beside it are letters. */
		{"\xc2\x9b"
		 "31m",
		 "\\xc2\\x9b31m"},
		{"\xc2\xb5s \xc3\xa9", "\xc2\xb5s \xc3\xa9"},
		{"cut \xc2", "cut \xc2"},
		{"text of a library\n", "text of a library"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		log_err("%s", t[i].name);
		assert_string_equal(logged, t[i].text);
	}
}

static void test_an_endless_name_is_cut(void **state)
{
	static char name[100000];

	memset(name, '\001', sizeof(name) - 1);
	log_err("<%s>", name);
	assert_in_range(strlen(logged), 1000, 17000);
	assert_memory_equal(logged, "<\\x01", 5);
}

static void test_logging_leaves_errno_alone(void **state)
{
	errno = EXDEV;
	log_err("%s", "x");
	assert_int_equal(errno, EXDEV);
}

static void test_stderr_gets_one_line_without_colour_where_it_is_no_terminal(void **state)
{
	int saved = dup(STDERR_FILENO), ends[2];
	char text[200] = "";

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	log_set_sink(NULL);
	log_err("bad");
	log_warn("odd");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_string_equal(text, "hbprof: error: bad\nhbprof: warning: odd\n");
}

#define with_log(t) cmocka_unit_test_setup_teardown(t, keep_messages, stop_keeping)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_string_is_put_together),
		cmocka_unit_test(test_above_the_limit_nothing_more_is_added),
		cmocka_unit_test(test_a_length_that_wraps_is_refused),
		cmocka_unit_test(test_an_empty_string_is_not_a_failure),
		cmocka_unit_test(test_an_array_grows_and_keeps_its_elements),
		cmocka_unit_test(test_array_sizes_that_overflow_are_no_memory),
		cmocka_unit_test(test_durations_are_read_with_their_unit),
		cmocka_unit_test(test_integers_are_read_up_to_their_limit),
		cmocka_unit_test(test_times_have_three_digits_and_carry_into_the_next_unit),
		cmocka_unit_test(test_sizes_are_powers_of_1024),
		cmocka_unit_test(test_counts_have_separators),
		with_log(test_messages_above_the_level_are_not_made),
		with_log(test_control_bytes_of_names_are_escaped),
		with_log(test_an_endless_name_is_cut),
		with_log(test_logging_leaves_errno_alone),
		with_log(test_stderr_gets_one_line_without_colour_where_it_is_no_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
