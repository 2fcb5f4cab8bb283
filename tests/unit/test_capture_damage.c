// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_capture_damage.c - files that are damaged, forged or foreign are refused, and say by what. That
 * captures come back as they were written is in test_capture.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "tests/unit/sample.h"

static char why[512];

static char *sample_json(size_t *len)
{
	struct recording *r = sample_recording();
	const char *reason;
	char *bytes, *text;
	size_t n;

	assert_int_equal(capture__write_mem(r, &bytes, &n), 0);
	assert_int_equal(gz_unpack(bytes, n, CAPTURE_MAX_TEXT, &text, len, &reason), 0);
	free(bytes);
	recording__free(r);
	return text;
}

/* Reads the text as a capture; the error. */
static int read_text(const char *text, size_t len)
{
	struct recording *r = NULL;
	char *bytes;
	size_t n;
	int err;

	why[0] = '\0';
	assert_int_equal(gz_pack(text, len, &bytes, &n), 0);
	err = capture__read_mem(bytes, n, "x.hbp", &r, why, sizeof(why));
	free(bytes);
	if (!err)
		recording__free(r);
	else
		assert_null(r);
	return err;
}

#define TEXT_OF(macro)	TEXT_OF_(macro)
#define TEXT_OF_(value) #value
#define VERSION		"[" TEXT_OF(CAPTURE_MAJOR) "," TEXT_OF(CAPTURE_MINOR) "]"

/* The sample with the first `from` after `anchor` replaced. */
static int read_changed(const char *anchor, const char *from, const char *to)
{
	char *text, *at, *changed;
	size_t len;
	int n, err;

	text = sample_json(&len);
	at = strstr(text, anchor);
	at = at ? strstr(at, from) : NULL;
	if (!at)
		fail_msg("the sample has no %s after %s", from, anchor);
	*at = '\0';
	n = asprintf(&changed, "%s%s%s", text, to, at + strlen(from));
	assert_true(n > 0);
	err = read_text(changed, (size_t)n);
	free(text);
	free(changed);
	return err;
}

static void assert_refused(const char *anchor, const char *from, const char *to, const char *says)
{
	int err = read_changed(anchor, from, to);

	if (err != -EBADMSG || !strstr(why, says) || strncmp(why, "x.hbp: ", 7))
		fail_msg("%s -> %s after %s: %d, \"%s\", expected \"%s\"", from, to, anchor, err,
			 why, says);
}

static void test_an_unchanged_sample_is_read(void **state)
{
	assert_int_equal(read_changed("\"format\"", "hbprof-capture", "hbprof-capture"), 0);
}

static void test_a_foreign_document_is_refused(void **state)
{
	assert_refused("\"format\"", "hbprof-capture", "perf", "not an hbprof capture");
	assert_int_equal(read_text("[]", 2), -EBADMSG);
	assert_int_equal(read_text("{}", 2), -EBADMSG);
	assert_int_equal(read_text("", 0), -EBADMSG);
	assert_int_equal(read_text("{\"format\":", 10), -EBADMSG);
	assert_non_null(strstr(why, "not JSON"));
}

static void test_a_newer_major_version_says_so_and_a_newer_minor_is_read(void **state)
{
	assert_int_equal(read_changed("\"version\"", VERSION, "[2,0]"), -EPROTO);
	assert_non_null(strstr(why, "2.0 by a newer hbprof"));
	assert_int_equal(read_changed("\"version\"", VERSION, "[1,77],\"futures\":{\"x\":[1]}"), 0);
	assert_refused("\"version\"", VERSION, "[1,-1]", "version");
	assert_refused("\"version\"", VERSION, "[1e400,0]", "version");
	assert_refused("\"version\"", VERSION, "7", "version");
	assert_refused("\"version\"", VERSION, "[1.5,2]", "not a pair of whole numbers");
	assert_refused("\"version\"", VERSION, "[1,0.5]", "not a pair of whole numbers");
}

static void test_numbers_out_of_range_are_refused(void **state)
{
	assert_refused("\"pid\"", "4242", "-1", "\"pid\" of targets[0]");
	assert_refused("\"pid\"", "4242", "1.5", "\"pid\"");
	assert_refused("\"pid\"", "4242", "1e999", "\"pid\"");
	assert_refused("\"pid\"", "4242", "4294967296", "above");
	assert_refused("\"pid\"", "4242", "null", "\"pid\"");
	assert_refused("\"cpu_ns\"", "\"40000000000\"", "\"-4\"", "\"cpu_ns\"");
	assert_refused("\"cpu_ns\"", "\"40000000000\"", "\"18446744073709551616\"", "\"cpu_ns\"");
	assert_refused("\"cpu_ns\"", "\"40000000000\"", "\"4e3\"", "\"cpu_ns\"");
	assert_refused("\"cpu_ns\"", "\"40000000000\"", "9007199254740993", "\"cpu_ns\"");
	assert_refused("\"rows\"", "\"size_class\":9", "\"size_class\":32", "\"size_class\"");
	assert_refused("\"rows\"", "\"outcome\":\"ok\"", "\"outcome\":\"fine\"", "\"outcome\"");
	assert_refused("\"rows\"", "\"count\":\"100000\"", "\"count\":null", "\"count\"");
	assert_refused("\"rows\"", "\"count\":\"100000\"", "\"count\":\"9223372036854775808\"",
		       "above");
	assert_refused("\"functions\"", "\"entry_class\":\"push\"", "\"entry_class\":2",
		       "entry_class");
}

static void test_a_whole_number_below_2_to_53_may_be_a_number(void **state)
{
	assert_int_equal(read_changed("\"cpu_ns\"", "\"40000000000\"", "40000000000"), 0);
}

static void test_indices_that_point_nowhere_are_refused(void **state)
{
	assert_refused("\"functions\"", "\"image\":0", "\"image\":2", "image 2");
	assert_refused("\"rows\"", "\"func\":0", "\"func\":3", "rows[0] is of function 3");
	assert_refused("\"rows\"", "\"target\":0", "\"target\":2", "rows[0] is of target 2");
	assert_refused("\"intervals\"", "\"nr_deltas\":2", "\"nr_deltas\":3", "intervals[1]");
	assert_refused("\"intervals\"", "\"nr_deltas\":2", "\"nr_deltas\":1", "intervals[1]");
}

static void test_two_rows_of_one_key_are_refused(void **state)
{
	struct recording *r = sample_recording(), *back = NULL;
	char *bytes;
	size_t len;

	sample_calls(sample_row(r, 0, 0, 200, HB_OUTCOME_OK), 5, 5, 200, 1);
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(capture__read_mem(bytes, len, "x.hbp", &back, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, "two rows"));
	free(bytes);
	recording__free(r);
}

static void test_histograms_that_hold_more_than_their_counts_are_refused(void **state)
{
	assert_refused("\"leaf\"", "\"count\":\"100000\"", "\"count\":\"99999\"", "histogram");
	assert_refused("\"leaf\"", "\"nr_buckets\":", "\"nr_buckets\":1", "histogram");
	assert_refused("\"leaf\"", "\"buckets\":\"", "\"buckets\":\"!", "base64");
	assert_refused("\"leaf\"", "\"min_ns\":\"1000\"", "\"min_ns\":\"30000\"", "minimum");
	assert_refused("\"rows\"", "\"count\":\"100000\"", "\"count\":\"99999\"", "than calls");
	assert_refused("\"rows\"", "\"size_sub\":\"", "\"size_sub\":\"AAAA", "size_sub");
}

/* ---- what each value allows, and all of them do not ---- */

/* Changed by a forger who wrote everything else anew. */
static void assert_forged(void (*forge)(struct recording *r), const char *says)
{
	struct recording *r = sample_recording(), *back = NULL;
	char *bytes;
	size_t len;
	int err;

	forge(r);
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	err = capture__read_mem(bytes, len, "x.hbp", &back, why, sizeof(why));
	if (err != -EBADMSG || !strstr(why, says))
		fail_msg("%d, \"%s\", expected \"%s\"", err, why, says);
	free(bytes);
	recording__free(r);
}

static void forge_max_below_its_bucket(struct recording *r)
{
	r->row[1].dist[HB_DIST_OUTER].max_ns = 500000;
}

static void forge_min_above_its_bucket(struct recording *r)
{
	r->row[0].dist[HB_DIST_LEAF].min_ns = 1200;
}

static void forge_max_above_all_buckets(struct recording *r)
{
	r->row[0].dist[HB_DIST_LEAF].max_ns = 1ULL << 40;
}

static void forge_sum_below_the_least(struct recording *r)
{
	r->row[0].dist[HB_DIST_LEAF].sum_ns = 1;
}

static void forge_sum_above_the_largest(struct recording *r)
{
	r->row[0].dist[HB_DIST_LEAF].sum_ns = 21000ULL * 100000;
}

static void forge_raw_sum(struct recording *r)
{
	r->row[0].raw_sum_ns = 99;
}

static void forge_size_sum(struct recording *r)
{
	r->row[0].size_sum *= 2;
}

static void forge_more_calls_than_latencies(struct recording *r)
{
	r->row[0].count = 1000000;
}

static void forge_exclusive_above_inclusive(struct recording *r)
{
	r->row[1].dist[HB_DIST_OUTER_EXC].sum_ns = r->row[1].dist[HB_DIST_OUTER].sum_ns + 1;
}

static void test_latencies_that_contradict_each_other_are_refused(void **state)
{
	assert_forged(forge_max_below_its_bucket, "rows[1] has a least or largest latency");
	assert_forged(forge_min_above_its_bucket, "rows[0] has a least or largest latency");
	assert_forged(forge_max_above_all_buckets, "rows[0] has a least or largest latency");
	assert_forged(forge_sum_below_the_least, "rows[0] has latencies whose sum");
	assert_forged(forge_sum_above_the_largest, "rows[0] has latencies whose sum");
	assert_forged(forge_raw_sum, "rows[0] has raw latencies whose sum");
	assert_forged(forge_size_sum, "rows[0] has sizes whose sum");
	assert_forged(forge_more_calls_than_latencies, "rows[0] has another number of latencies");
	assert_forged(forge_exclusive_above_inclusive, "rows[1] has exclusive latencies");
}

static void forge_exits_into_abandoned(struct recording *r)
{
	for (u32 i = 0; i < 2; i++) {
		u64 *n = i ? r->coverage.n : r->func[0].n;

		n[HB_FN_EXITS] -= 1000;
		n[HB_FN_ABANDONED] += 1000;
	}
}

static void forge_rows_without_exits(struct recording *r)
{
	forge_exits_into_abandoned(r);
	r->func[0].exits_by[HB_CLASS_BRANCH] -= 1000;
	r->func[0].n[HB_FN_EXITS] -= 3000;
	r->func[0].exits_by[HB_CLASS_BRANCH] -= 3000;
	r->coverage.n[HB_FN_EXITS] -= 3000;
}

static void forge_a_total(struct recording *r)
{
	r->coverage.n[HB_FN_ENTRIES]++;
	r->coverage.n[HB_FN_EXITS]++;
}

static void forge_a_function(struct recording *r)
{
	r->func[1].n[HB_FN_ENTRIES] += 7;
}

static void forge_in_flight(struct recording *r)
{
	r->coverage.in_flight_end = 0;
}

static void test_counters_that_do_not_add_up_are_refused(void **state)
{
	assert_forged(forge_exits_into_abandoned, "functions[0] has exits by class");
	assert_forged(forge_rows_without_exits, "functions[0] has more calls in its rows");
	assert_forged(forge_a_total, "\"entries\" of coverage");
	assert_forged(forge_a_function, "\"entries\" of coverage");
	assert_forged(forge_in_flight, "\"in_flight_end\" of coverage");
}

static void forge_overlap(struct recording *r)
{
	r->interval[1].begin_mono_ns--;
}

static void forge_early(struct recording *r)
{
	r->interval[0].begin_mono_ns--;
}

static void forge_late(struct recording *r)
{
	r->interval[1].end_mono_ns = r->end_mono_ns + 1;
}

static void forge_backwards(struct recording *r)
{
	r->interval[1].end_mono_ns = r->interval[1].begin_mono_ns - 1;
}

static void forge_more_calls_than_rows(struct recording *r)
{
	r->interval[1].delta[1].count = 61;
}

static void forge_more_time_than_rows(struct recording *r)
{
	r->interval[1].delta[1].sum_ns = 61 * 90;
}

static void test_intervals_that_overlap_or_hold_more_than_the_rows_are_refused(void **state)
{
	assert_forged(forge_overlap, "intervals[1] begins before the end");
	assert_forged(forge_early, "intervals[0] begins before the recording");
	assert_forged(forge_late, "intervals[1] ends after the recording");
	assert_forged(forge_backwards, "intervals[1] ends before it begins");
	assert_forged(forge_more_calls_than_rows, "intervals[1] has, with those before it");
	assert_forged(forge_more_time_than_rows, "intervals[1] has, with those before it");
}

static void test_missing_parts_are_named(void **state)
{
	assert_refused("\"coverage\"", "\"coverage\"", "\"c\"", "has no \"coverage\"");
	assert_refused("\"rows\"", "\"rows\"", "\"r\"", "has no \"rows\"");
	assert_refused("\"rows\"", "\"rows\":[", "\"rows\":{},\"x\":[", "\"rows\"");
	assert_refused("\"rows\"", "\"rows\":[", "\"rows\":[7,", "rows[0]");
	assert_refused("\"host\"", "[\"cpu_model\",", "[", "\"host\"");
	assert_refused("\"warnings\"", "\"warnings\":[", "\"warnings\":[3,", "\"warnings\"");
	assert_refused("\"calibration\"", "\"mono_ns\":\"7000000000\"",
		       "\"mono_ns\":\"99000000000\"", "older");
	assert_refused("\"recording\"", "\"end_mono_ns\":\"37", "\"end_mono_ns\":\"3",
		       "ends before");
}

static void test_every_cut_of_the_file_is_refused(void **state)
{
	struct recording *r = sample_recording(), *back = NULL;
	char *bytes;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	for (size_t n = 0; n < len; n++) {
		char *cut = malloc(n ? n : 1); /* of that size, so that a read beyond is seen */

		memcpy(cut, bytes, n);
		assert_int_equal(capture__read_mem(cut, n, "x.hbp", &back, why, sizeof(why)),
				 -EBADMSG);
		free(cut);
	}
	assert_non_null(strstr(why, "cut short"));
	free(bytes);
	recording__free(r);
}

static void assert_written_as(const struct recording *r, const char *bytes, size_t len)
{
	char *again;
	size_t n;

	assert_int_equal(capture__write_mem(r, &again, &n), 0);
	assert_int_equal(n, len);
	assert_memory_equal(again, bytes, len);
	free(again);
}

static void test_bytes_after_the_end_and_flipped_bits_are_refused(void **state)
{
	struct recording *r = sample_recording(), *back = NULL;
	char *bytes, *longer;
	size_t len, same = 0;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	longer = malloc(2 * len);
	memcpy(longer, bytes, len);
	longer[len] = 'x';
	assert_int_equal(capture__read_mem(longer, len + 1, "x.hbp", &back, why, sizeof(why)),
			 -EBADMSG);
	assert_non_null(strstr(why, "more data"));
	memcpy(longer + len, bytes, len); /* a second gzip member */
	assert_int_equal(capture__read_mem(longer, 2 * len, "x.hbp", &back, why, sizeof(why)),
			 -EBADMSG);
	for (size_t i = 10; i < len; i++) { /* the 10 bytes before are gzip's header */
		int err;

		bytes[i] ^= 0x10;
		err = capture__read_mem(bytes, len, "x.hbp", &back, why, sizeof(why));
		bytes[i] ^= 0x10;
		/* The same text can be packed in more than one way. */
		if (!err) {
			assert_written_as(back, bytes, len);
			recording__free(back);
			same++;
		} else {
			assert_int_equal(err, -EBADMSG);
		}
	}
	assert_true(same < len / 50);
	free(bytes);
	free(longer);
	recording__free(r);
}

static void test_text_after_the_document_is_refused(void **state)
{
	size_t len;
	char *text = sample_json(&len);

	assert_int_equal(read_text(text, len), 0);
	text[len - 1] = '1';
	assert_int_equal(read_text(text, len), -EBADMSG);
	text[len - 1] = '\0'; /* would end the text for a reader of strings */
	assert_int_equal(read_text(text, len), -EBADMSG);
	free(text);
}

static void test_an_expansion_bomb_is_not_expanded(void **state)
{
	size_t len = CAPTURE_MAX_TEXT + 2;
	char *text = calloc(1, len);

	assert_non_null(text);
	assert_int_equal(read_text(text, len), -EFBIG);
	assert_non_null(strstr(why, "expands to more than 256 MB"));
	free(text);
}

static void test_a_text_of_too_many_values_is_not_parsed(void **state)
{
	size_t len = 10u << 20;
	char *text = malloc(len);

	memset(text, '[', len);
	assert_int_equal(read_text(text, len), -EFBIG);
	assert_non_null(strstr(why, "values"));
	memset(text, '[', 100000); /* deep, and few enough to be parsed */
	assert_int_equal(read_text(text, 100000), -EBADMSG);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unchanged_sample_is_read),
		cmocka_unit_test(test_a_foreign_document_is_refused),
		cmocka_unit_test(test_a_newer_major_version_says_so_and_a_newer_minor_is_read),
		cmocka_unit_test(test_numbers_out_of_range_are_refused),
		cmocka_unit_test(test_a_whole_number_below_2_to_53_may_be_a_number),
		cmocka_unit_test(test_indices_that_point_nowhere_are_refused),
		cmocka_unit_test(test_two_rows_of_one_key_are_refused),
		cmocka_unit_test(test_histograms_that_hold_more_than_their_counts_are_refused),
		cmocka_unit_test(test_latencies_that_contradict_each_other_are_refused),
		cmocka_unit_test(test_counters_that_do_not_add_up_are_refused),
		cmocka_unit_test(
			test_intervals_that_overlap_or_hold_more_than_the_rows_are_refused),
		cmocka_unit_test(test_missing_parts_are_named),
		cmocka_unit_test(test_every_cut_of_the_file_is_refused),
		cmocka_unit_test(test_bytes_after_the_end_and_flipped_bits_are_refused),
		cmocka_unit_test(test_text_after_the_document_is_refused),
		cmocka_unit_test(test_an_expansion_bomb_is_not_expanded),
		cmocka_unit_test(test_a_text_of_too_many_values_is_not_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
