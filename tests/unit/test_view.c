// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_view.c - frames of the live view, its keys, and differences of readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/request.h"
#include "model/text.h"
#include "tests/unit/viewtest.h"
#include "user/cmd/keys.c" /* pure, in a folder whose objects no unit test is linked with */
#include "util/fsutil.h"

static char *read_data(const char *name)
{
	const char *src = getenv("HB_SRC");
	char path[4096], *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/tests/data/%s", src ? src : ".", name);
	if (fs_read_file(path, 1 << 20, &text, &len))
		fail_msg("%s cannot be read", path);
	return text;
}

/* ---- whole frames ---- */

static void test_frames_of_the_sample_are_those_in_tests_data(void **state)
{
	for (u32 i = 0; i < VIEW_NR_SAMPLES; i++) {
		char *want = read_data(view_samples[i].file);
		char *got = view_sample_text(&view_samples[i]);

		if (strcmp(want, got))
			fail_msg("%s differs; got:\n%s", view_samples[i].file, got);
		free(want);
		free(got);
	}
}

static void test_a_frame_has_the_size_of_the_terminal_whatever_it_is(void **state)
{
	static const char *const keys[] = {"",	 "s",  "e", "i", "/json", "\r", "h",
					   "hz", ">>", "b", "c", "mm",	  "m"};
	struct live_view v;

	view_with_readings(&v, 3);
	for (u32 k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		view_keys(&v, keys[k]);
		for (u32 w = 1; w <= 260; w += w < 100 ? 1 : 23)
			for (u32 h = 1; h <= 40; h += h < 16 ? 1 : 8) {
				check_frame(&v, &(struct view_look){w, h, VIEW_PLAIN, w % 2});
				check_frame(&v, &(struct view_look){w, h, VIEW_COLOUR, h % 2});
			}
	}
	view__fini(&v);
}

static void test_a_frame_without_style_has_no_escape_sequence_and_no_space_at_the_end(void **state)
{
	struct live_view v;
	char *text, *end;

	view_with_readings(&v, 2);
	text = view_text(&v, &wide);
	assert_null(strchr(text, '\033'));
	for (end = strchr(text, '\n'); end; end = strchr(end + 1, '\n'))
		assert_true(end == text || end[-1] != ' ');
	free(text);
	view__fini(&v);
}

static void test_colours_are_there_only_when_asked_for(void **state)
{
	static const char *const colours[] = {";31", ";33", ";36", "[33", "[31"};
	struct view_look mono = {120, 20, VIEW_MONO, true}, colour = {120, 20, VIEW_COLOUR, true};
	struct live_view v;

	view_with_readings(&v, 2);
	for (u32 i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		assert_hides(&v, &mono, colours[i]);
	assert_shows(&v, &mono, "\033[0;7m");
	assert_shows(&v, &colour, "\033[0;1;7;36m"); /* the title of the column it is sorted by */
	view__fini(&v);
}

static void test_what_a_process_calls_itself_does_not_reach_the_terminal_raw(void **state)
{
	struct recording *r = view_reading(0);
	struct live_view v;

	r->row[4].target = 0;
	r->nr_targets = 1;
	view__init(&v);
	assert_int_equal(view__update(&v, r), 0);
	assert_shows(&v, &wide, "hbprof 4242 server -listen :8080 -name \\x1b[31mred\\xff");
	r->nr_targets = 2; /* what is to be freed */
	view__fini(&v);
}

/* ---- what it says ---- */

static void test_without_a_call_it_says_so(void **state)
{
	struct recording *r = view_reading(0);
	struct live_view v;

	for (u32 i = 0; i < r->nr_rows; i++)
		r->row[i].count = 0;
	view__init(&v);
	assert_int_equal(view__update(&v, r), 0);
	assert_shows(&v, &wide, "no probed function has returned yet");
	assert_shows(&v, &wide, "   0 calls/s");
	view__fini(&v);
}

static void test_the_rate_of_now_is_that_of_the_last_interval(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	assert_shows(&v, &wide, "0:32   1,501 calls/s");
	assert_line_has(&v, 3, " 3,250 "); /* 104,001 in 32 s */
	assert_line_has(&v, 3, " 1,500 ");
	view__fini(&v);
}

static void test_the_last_interval_alone_has_its_own_counts_and_percentiles(void **state)
{
	struct live_view v;
	char *line;

	view_with_readings(&v, 2);
	view_keys(&v, "i");
	assert_shows(&v, &wide, "the last 1.00s alone");
	line = line_of(&v, &wide, 3);
	assert_non_null(strstr(line, "json.Marshal "));
	assert_non_null(strstr(line, " 1,500 "));
	assert_non_null(strstr(line, "2.00us")); /* of all of them: 10.3us */
	assert_null(strstr(line, "10.3us"));
	free(line);
	assert_hides(&v, &wide, "now/s"); /* it would say the same as calls/s */
	view__fini(&v);
}

static void test_a_row_without_calls_in_the_interval_stays_and_has_none(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	view_keys(&v, "i/cJSON_P\r");
	assert_line_has(&v, 3, "cJSON_Parse");
	assert_line_has(&v, 3, " n/a ");
	assert_line_has(&v, 3, " 0 ");
	view__fini(&v);
}

static void test_coverage_and_cost_are_there_from_the_first_reading_on(void **state)
{
	struct live_view v;

	view_with_readings(&v, 0);
	assert_shows(&v, &wide,
		     "coverage  7 lost, entries 104,099, exits 104,085, open now 4, "
		     "abandoned 3, return site unknown 5, dropped 2, frames_full 2\n");
	assert_shows(
		&v, &wide,
		"cost      to the target 0.43% of one CPU, n/a of its CPU time, "
		"push+branch 613ns +-12ns a call subtracted, hbprof itself 0.40% of one CPU, resident 23.0MB");
	view__fini(&v);
}

/* Of the view: it frees them with the reading. */
static void add_requests(struct recording *r)
{
	struct m_requests *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->row = sample_array(2, sizeof(*q->row));
	for (u32 i = 0; i < 2; i++) {
		m_request__init(&q->row[i]);
		q->row[i].side = i ? HB_REQ_CLIENT : HB_REQ_SERVER;
		q->row[i].port = i ? 5432 : 8080;
		sample_add(&q->row[i].latency, 1000000, i ? 300 : 200);
		q->row[i].bucket_codec_ns = sample_array(1, sizeof(u64));
	}
	q->row[0].stopped = 5;
	q->nr_rows = 2;
	r->requests = q;
}

static void test_requests_have_a_line_when_they_are_measured(void **state)
{
	const struct view_look low = {200, 6, VIEW_PLAIN, false};
	struct recording *r = view_reading(1);
	struct live_view v;
	char *text;

	view_with_readings(&v, 0);
	text = view_text(&v, &wide);
	assert_null(strstr(text, "requests  "));
	free(text);
	add_requests(r);
	assert_int_equal(view__update(&v, r), 0);
	text = view_text(&v, &wide);
	assert_non_null(strstr(text, "\nrequests  to port 5432 300 ("));
	assert_non_null(strstr(text, ", port 8080 200 ("));
	assert_non_null(strstr(text, " stopped 2.5%"));
	free(text);
	check_frame(&v, &wide);
	check_frame(&v, &low);
	text = view_text(&v, &low);
	assert_null(strstr(text, "requests  "));
	free(text);
	view__fini(&v);
}

static void test_a_message_stands_on_the_last_line_for_some_readings(void **state)
{
	struct live_view v;
	u32 i;

	view_with_readings(&v, 0);
	assert_shows(&v, &wide, "\nchild 4300 was not measured for its first 12.3ms\n");
	view__message(&v, true, "a map is full\033[2J");
	assert_shows(&v, &wide, "\na map is full\\x1b[2J (2 messages; all follow at the end)\n");
	for (i = 1; v.message && i < 100; i++)
		assert_int_equal(view__update(&v, view_reading(i)), 0);
	assert_in_range(i, 5, 20);
	assert_shows(&v, &wide, "\nq quit  h help");
	view__fini(&v);
}

/* ---- keys ---- */

static void test_sorting_goes_from_column_to_column_that_is_shown(void **state)
{
	struct view_look narrow = {60, 20, VIEW_PLAIN, true};
	static const enum view_col want[] = {VIEW_FUNC, VIEW_RATE, VIEW_P50, VIEW_P99, VIEW_MAX};
	struct live_view v;

	view_with_readings(&v, 2);
	free(view_text(&v, &narrow));
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(view__key(&v, VIEW_KEY_RIGHT), VIEW_CHANGED);
		assert_int_equal(v.st.sort, want[i]);
	}
	view_keys(&v, "<<");
	assert_int_equal(v.st.sort, VIEW_P50);
	assert_shows(&v, &narrow, "\u25bcP50");
	view_keys(&v, "r");
	assert_shows(&v, &narrow, "\u25b2P50");
	view_keys(&v, "t");
	assert_shows(&v, &narrow, "\u25bctotal");
	view__fini(&v);
}

static void test_the_column_that_rows_are_sorted_by_is_shown_however_narrow(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	v.st.sort = VIEW_P999;
	assert_shows(&v, &(struct view_look){40, 12, VIEW_PLAIN, true}, "\u25bcP99.9");
	view__fini(&v);
}

static void test_what_is_not_known_comes_last_in_both_directions(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	v.st.sort = VIEW_P50; /* cJSON_Parse, with one call, has none */
	assert_line_has(&v, 3, "json.Marshal ");
	assert_line_has(&v, 6, "cJSON_Parse");
	view_keys(&v, "r");
	assert_line_has(&v, 3, "Unmarshal");
	assert_line_has(&v, 6, "cJSON_Parse");
	view__fini(&v);
}

static void test_names_are_sorted_from_a_to_z(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	v.st.sort = VIEW_CODEC;
	assert_line_has(&v, 3, "cJSON ");
	assert_line_has(&v, 4, "encoding/json ");
	view_keys(&v, "r");
	assert_line_has(&v, 3, "fxamacker/cbor ");
	view__fini(&v);
}

static void test_the_filter_looks_into_codec_operation_and_name_in_any_case(void **state)
{
	static const struct {
		const char *text, *rows;
	} cases[] = {
		{"CBOR", "1 of 4 rows"},
		{"marshal", "3 of 4 rows"},
		{"decode", "2 of 4 rows"},
		{"nothing", "0 of 4 rows"},
	};
	struct live_view v;

	view_with_readings(&v, 2);
	view_keys(&v, "/q"); /* here q is a letter */
	assert_true(v.st.editing);
	assert_int_equal(view__key(&v, VIEW_KEY_ESCAPE), VIEW_CHANGED);
	assert_false(v.st.editing);
	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		view_keys(&v, "/");
		view__key(&v, 'U' & 0x1f);
		view_keys(&v, cases[i].text);
		view_keys(&v, "\r");
		assert_string_equal(v.st.filter, cases[i].text);
		assert_shows(&v, &wide, cases[i].rows);
	}
	assert_shows(&v, &wide, "no row matches the filter");
	view__key(&v, VIEW_KEY_ESCAPE);
	assert_string_equal(v.st.filter, "");
	view__fini(&v);
}

static void test_backspace_takes_a_whole_character_and_the_filter_has_an_end(void **state)
{
	struct live_view v;

	view_with_readings(&v, 0);
	view_keys(&v, "/a\u20ac");
	assert_shows(&v, &wide, "show rows with: a\u20ac_");
	view__key(&v, 0x7f);
	assert_string_equal(v.st.filter, "a");
	view_keys(&v, "\x7f\x7f\x7f");
	assert_string_equal(v.st.filter, "");
	for (u32 i = 0; i < 1000; i++)
		view__key(&v, 'x');
	assert_int_equal(strlen(v.st.filter), VIEW_FILTER - 1);
	view__fini(&v);
}

static void test_a_short_terminal_scrolls_and_stops_at_the_ends(void **state)
{
	struct view_look shallow = {100, 8, VIEW_PLAIN, true};
	struct live_view v;
	u32 last;

	view_with_readings(&v, 2);
	view_keys(&v, "s");
	free(view_text(&v, &shallow));
	assert_in_range(v.body, 1, v.lines - 1);
	last = v.lines - v.body;
	view__key(&v, VIEW_KEY_UP);
	assert_int_equal(v.st.top, 0);
	view__key(&v, VIEW_KEY_DOWN);
	assert_int_equal(v.st.top, 1);
	view__key(&v, VIEW_KEY_END);
	assert_int_equal(v.st.top, last);
	view__key(&v, VIEW_KEY_PAGE_DOWN);
	assert_int_equal(v.st.top, last);
	view__key(&v, VIEW_KEY_PAGE_UP);
	assert_int_equal(v.st.top, last - (v.body > 1 ? v.body - 1 : 1));
	view__key(&v, VIEW_KEY_HOME);
	assert_int_equal(v.st.top, 0);
	/* A terminal that grows shows no empty lines below the last row. */
	view__key(&v, VIEW_KEY_END);
	free(view_text(&v, &(struct view_look){100, 40, VIEW_PLAIN, true}));
	assert_int_equal(v.st.top, 0);
	view__fini(&v);
}

static void test_help_is_left_by_any_key_but_q_quits(void **state)
{
	struct live_view v;

	view_with_readings(&v, 0);
	view_keys(&v, "h");
	assert_shows(&v, &wide, "keys; any other key goes back");
	assert_int_equal(view__key(&v, 'x'), VIEW_CHANGED);
	assert_hides(&v, &wide, "keys; any other key goes back");
	view_keys(&v, "?");
	assert_int_equal(view__key(&v, 'q'), VIEW_QUIT);
	view_keys(&v, "x");
	assert_int_equal(view__key(&v, 'x'), VIEW_IGNORED);
	assert_int_equal(view__key(&v, 'L' & 0x1f), VIEW_REDRAW);
	view__fini(&v);
}

static void test_size_classes_and_exclusive_times_are_lines_below_their_row(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	view_keys(&v, "s");
	assert_line_has(&v, 4, "  128-255B");
	assert_line_has(&v, 5, "  1-2KB");
	view_keys(&v, "se");
	assert_line_has(&v, 4, "  exclusive");
	view__fini(&v);
}

/* ---- differences ---- */

static void test_after_a_reset_only_what_came_since_is_counted(void **state)
{
	struct live_view v;

	view_with_readings(&v, 2);
	view_keys(&v, "z");
	assert_shows(&v, &wide, "no call has returned since the reset");
	assert_int_equal(view__update(&v, view_reading(3)), 0);
	assert_int_equal(view__update(&v, view_reading(4)), 0);
	assert_shows(&v, &wide, "2.00s since the reset");
	assert_line_has(&v, 3, " 3,000 ");
	assert_shows(&v, &wide, "coverage  0 lost, entries 3,002, exits 3,002, open now 4, ");
	assert_shows(&v, &wide, "cost      to the target 0.50% of one CPU");
	view_keys(&v, "Z");
	assert_shows(&v, &wide, "since the start");
	assert_line_has(&v, 3, " 107,001 ");
	view_keys(&v, "zz");
	assert_int_equal(view__update(&v, view_reading(5)), 0);
	view_keys(&v, "zZ");
	view__fini(&v);
}

static void test_a_difference_is_exact_bucket_by_bucket(void **state)
{
	struct recording *before = view_reading(0), *now = view_reading(0);
	struct since s;
	struct m_dist *d;

	sample_calls(&now->row[1], 9000, 5000, 1100, 5); /* a bucket that was there */
	sample_calls(&now->row[1], 77, 66, 1100, 2);	 /* one that was not, and a new minimum */
	assert_int_equal(since__init(&s, now, before), 0);
	d = &s.rec.row[1].dist[HB_DIST_OUTER];
	assert_int_equal(s.rec.row[1].count, 7);
	assert_int_equal(d->count, 7);
	assert_int_equal(d->sum_ns, 5 * 9000 + 2 * 77);
	assert_int_equal(d->nr_buckets, 2);
	assert_int_equal(d->bucket[0].idx, hb_hist_bucket(77));
	assert_int_equal(d->bucket[0].n, 2);
	assert_int_equal(d->bucket[1].idx, hb_hist_bucket(9000));
	assert_int_equal(d->bucket[1].n, 5);
	assert_int_equal(d->min_ns, 77);
	/* Not known exactly: the end of its bucket, which is at most a 64th above it. */
	assert_in_range(d->max_ns, 9000, 9000 + 9000 / 64);
	assert_int_equal(s.rec.row[0].count, 0);
	assert_int_equal(s.rec.row[0].dist[HB_DIST_LEAF].count, 0);
	assert_int_equal(s.rec.row[1].size_sum, 7 * 1100);
	since__fini(&s);
	recording__free(before);
	recording__free(now);
}

static void test_a_new_maximum_is_exact_in_the_difference(void **state)
{
	struct recording *before = view_reading(0), *now = view_reading(0);
	struct since s;

	sample_calls(&now->row[0], 7654321, 7654321, 139, 1);
	assert_int_equal(since__init(&s, now, before), 0);
	assert_int_equal(s.rec.row[0].dist[HB_DIST_LEAF].max_ns, 7654321);
	since__fini(&s);
	recording__free(before);
	recording__free(now);
}

static void test_a_row_that_was_added_before_another_is_matched_by_what_it_is(void **state)
{
	struct recording *before = view_reading(0), *now = view_reading(1);
	struct m_row first = before->row[0];
	struct since s;

	memmove(&before->row[0], &before->row[1], (before->nr_rows - 1) * sizeof(first));
	before->row[before->nr_rows - 1] = first;
	assert_int_equal(since__init(&s, now, before), 0);
	assert_int_equal(s.rec.row[0].count, 1500);
	assert_int_equal(s.rec.row[2].count, 1);
	assert_int_equal(s.rec.row[1].count + s.rec.row[3].count + s.rec.row[4].count, 0);
	since__fini(&s);
	recording__free(before);
	recording__free(now);
}

static void test_without_a_reading_before_the_difference_is_everything(void **state)
{
	struct recording *now = view_reading(0);
	struct since s;

	assert_int_equal(since__init(&s, now, NULL), 0);
	assert_int_equal(s.rec.row[0].count, now->row[0].count);
	assert_int_equal(s.rec.row[0].dist[HB_DIST_LEAF].max_ns,
			 now->row[0].dist[HB_DIST_LEAF].max_ns);
	assert_int_equal(s.rec.row[0].dist[HB_DIST_LEAF].min_ns,
			 now->row[0].dist[HB_DIST_LEAF].min_ns);
	since__fini(&s);
	recording__free(now);
}

/* ---- bytes of a terminal ---- */

static void assert_decodes(const char *bytes, u32 key)
{
	struct keys k = {0};
	u32 out[16];

	assert_int_equal(keys__decode(&k, (const u8 *)bytes, strlen(bytes), out), 1);
	assert_int_equal(out[0], key);
	assert_int_equal(k.state, GROUND);
}

static void test_cursor_keys_of_the_common_terminals_are_known(void **state)
{
	assert_decodes("\033[A", VIEW_KEY_UP);
	assert_decodes("\033OB", VIEW_KEY_DOWN);
	assert_decodes("\033[1;5C", VIEW_KEY_RIGHT);
	assert_decodes("\033[D", VIEW_KEY_LEFT);
	assert_decodes("\033[5~", VIEW_KEY_PAGE_UP);
	assert_decodes("\033[6;2~", VIEW_KEY_PAGE_DOWN);
	assert_decodes("\033[1~", VIEW_KEY_HOME);
	assert_decodes("\033OF", VIEW_KEY_END);
	assert_decodes("\033[4~", VIEW_KEY_END);
	assert_decodes("\033", VIEW_KEY_ESCAPE);
	assert_decodes("q", 'q');
}

static void test_a_key_that_comes_in_pieces_is_one_and_an_unknown_one_is_none(void **state)
{
	struct keys k = {0};
	u32 out[16];

	assert_int_equal(keys__decode(&k, (const u8 *)"\033[", 2, out), 0);
	assert_int_equal(keys__decode(&k, (const u8 *)"6", 1, out), 0);
	assert_int_equal(keys__decode(&k, (const u8 *)"~q", 2, out), 2);
	assert_int_equal(out[0], VIEW_KEY_PAGE_DOWN);
	assert_int_equal(out[1], 'q');
	assert_int_equal(keys__decode(&k, (const u8 *)"\033[15~\033[200~x", 12, out), 1);
	assert_int_equal(out[0], 'x');
	assert_int_equal(keys__decode(&k, (const u8 *)"\033[99999999999999999999~x", 24, out), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_the_sample_are_those_in_tests_data),
		cmocka_unit_test(test_a_frame_has_the_size_of_the_terminal_whatever_it_is),
		cmocka_unit_test(
			test_a_frame_without_style_has_no_escape_sequence_and_no_space_at_the_end),
		cmocka_unit_test(test_colours_are_there_only_when_asked_for),
		cmocka_unit_test(test_what_a_process_calls_itself_does_not_reach_the_terminal_raw),
		cmocka_unit_test(test_without_a_call_it_says_so),
		cmocka_unit_test(test_the_rate_of_now_is_that_of_the_last_interval),
		cmocka_unit_test(test_the_last_interval_alone_has_its_own_counts_and_percentiles),
		cmocka_unit_test(test_a_row_without_calls_in_the_interval_stays_and_has_none),
		cmocka_unit_test(test_coverage_and_cost_are_there_from_the_first_reading_on),
		cmocka_unit_test(test_requests_have_a_line_when_they_are_measured),
		cmocka_unit_test(test_a_message_stands_on_the_last_line_for_some_readings),
		cmocka_unit_test(test_sorting_goes_from_column_to_column_that_is_shown),
		cmocka_unit_test(test_the_column_that_rows_are_sorted_by_is_shown_however_narrow),
		cmocka_unit_test(test_what_is_not_known_comes_last_in_both_directions),
		cmocka_unit_test(test_names_are_sorted_from_a_to_z),
		cmocka_unit_test(test_the_filter_looks_into_codec_operation_and_name_in_any_case),
		cmocka_unit_test(test_backspace_takes_a_whole_character_and_the_filter_has_an_end),
		cmocka_unit_test(test_a_short_terminal_scrolls_and_stops_at_the_ends),
		cmocka_unit_test(test_help_is_left_by_any_key_but_q_quits),
		cmocka_unit_test(test_size_classes_and_exclusive_times_are_lines_below_their_row),
		cmocka_unit_test(test_after_a_reset_only_what_came_since_is_counted),
		cmocka_unit_test(test_a_difference_is_exact_bucket_by_bucket),
		cmocka_unit_test(test_a_new_maximum_is_exact_in_the_difference),
		cmocka_unit_test(test_a_row_that_was_added_before_another_is_matched_by_what_it_is),
		cmocka_unit_test(test_without_a_reading_before_the_difference_is_everything),
		cmocka_unit_test(test_cursor_keys_of_the_common_terminals_are_known),
		cmocka_unit_test(test_a_key_that_comes_in_pieces_is_one_and_an_unknown_one_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
