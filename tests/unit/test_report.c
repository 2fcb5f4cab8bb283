// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_report.c - what a report says: whole reports against tests/data, and single sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "capture/capture.h"
#include "model/text.h"
#include "report/bias.h"
#include "report/layout.h"
#include "report/report.h"
#include "tests/unit/sample.h"
#include "util/fsutil.h"

static char *print(const struct recording *r, const struct report_opts *opts)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report__print(r, opts, f), 0);
	fclose(f);
	return text;
}

static char *print_table(const struct recording *r)
{
	return print(r, &(struct report_opts){.width = 200});
}

static cJSON *print_json(const struct recording *r)
{
	char *text = print(r, &(struct report_opts){.format = REPORT_JSON});
	cJSON *doc = cJSON_Parse(text);

	assert_non_null(doc);
	free(text);
	return doc;
}

/* The text with each run of white space as one space: sentences are wrapped. */
static char *flatten(const char *text)
{
	char *flat = malloc(strlen(text) + 1), *to = flat;
	bool space = false;

	for (; *text; text++) {
		bool is_space = *text == ' ' || *text == '\n';

		if (!is_space || !space)
			*to++ = is_space ? ' ' : *text;
		space = is_space;
	}
	*to = '\0';
	return flat;
}

static void assert_says(const char *text, const char *what)
{
	char *flat = flatten(text);

	if (!strstr(flat, what))
		fail_msg("no \"%s\" in:\n%s", what, text);
	free(flat);
}

static void assert_not_says(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" in:\n%s", what, text);
}

static void table_says(const struct recording *r, const char *what)
{
	char *text = print_table(r);

	assert_says(text, what);
	free(text);
}

/* "rows.0.latency.p50_ns" */
static const cJSON *at(const cJSON *v, const char *path)
{
	char *copy = strdup(path), *save = NULL;

	for (char *p = strtok_r(copy, ".", &save); p; p = strtok_r(NULL, ".", &save)) {
		const cJSON *next = cJSON_IsArray(v) ? cJSON_GetArrayItem(v, atoi(p))
						     : cJSON_GetObjectItemCaseSensitive(v, p);

		if (!next)
			fail_msg("no %s of %s in the JSON report", p, path);
		v = next;
	}
	free(copy);
	return v;
}

static double num(const cJSON *doc, const char *path)
{
	const cJSON *v = at(doc, path);

	assert_true(cJSON_IsNumber(v));
	return v->valuedouble;
}

static bool is_null(const cJSON *doc, const char *path)
{
	return cJSON_IsNull(at(doc, path));
}

static char *read_data(const char *name, size_t *len)
{
	const char *src = getenv("HB_SRC");
	char path[4096], *text;

	snprintf(path, sizeof(path), "%s/tests/data/%s", src ? src : ".", name);
	if (fs_read_file(path, 1 << 20, &text, len))
		fail_msg("%s cannot be read", path);
	return text;
}

/* ---- whole reports ---- */

static void test_reports_of_the_sample_are_those_in_tests_data(void **state)
{
	struct recording *r = sample_recording();
	char *want, *got;
	size_t len;

	for (u32 i = 0; i < SAMPLE_NR_REPORTS; i++) {
		want = read_data(sample_reports[i].file, &len);
		got = print(r, &sample_reports[i].opts);
		if (strcmp(want, got))
			fail_msg("%s differs; got:\n%s", sample_reports[i].file, got);
		free(want);
		free(got);
	}
	recording__free(r);
}

static void test_calls_that_found_the_caches_cold_are_said_with_what_was_subtracted(void **state)
{
	struct report_opts opts = {.format = REPORT_TABLE, .width = 200};
	struct recording *r = sample_recording();
	char *got = print(r, &opts);

	assert_null(strstr(got, "caches cold"));
	free(got);
	r->coverage.cold = r->coverage.n[HB_FN_ENTRIES] / 2;
	r->coverage.cold_in_ns = r->coverage.cold * 120;
	got = print(r, &opts);
	assert_non_null(strstr(got, "(50.0%) found the caches cold"));
	assert_non_null(strstr(got, "120ns more"));
	free(got);
	r->coverage.cold = r->coverage.n[HB_FN_ENTRIES] / 200;
	got = print(r, &opts);
	assert_null(strstr(got, "caches cold"));
	free(got);
	recording__free(r);
}

static void test_the_capture_in_tests_data_is_still_read_and_is_the_sample(void **state)
{
	struct recording *r = sample_recording(), *file = NULL;
	char why[256] = "", *bytes, *live, *replayed;
	size_t len;

	bytes = read_data("sample.hbp", &len);
	if (capture__read_mem(bytes, len, "sample.hbp", &file, why, sizeof(why)))
		fail_msg("%s", why);
	live = print_table(r);
	replayed = print_table(file);
	assert_string_equal(live, replayed);
	free(live);
	free(replayed);
	free(bytes);
	recording__free(r);
	recording__free(file);
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
	struct recording *r = sample_recording();

	for (u32 width = 80; width <= 200; width += 7) {
		char *save = NULL, *text;

		text = print(r, &(struct report_opts){.width = width});
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
			if (text_width(l) > width)
				fail_msg("%u columns: %s", width, l);
			assert_true(l[strlen(l) - 1] != ' ');
		}
		free(text);
	}
	recording__free(r);
}

static void test_an_empty_recording_says_that_there_is_nothing(void **state)
{
	struct recording *r = recording__new();
	cJSON *doc;

	table_says(r, "none: no probed function returned");
	table_says(r, "0 lost");
	doc = print_json(r);
	assert_int_equal(cJSON_GetArraySize(at(doc, "rows")), 0);
	assert_true(is_null(doc, "cost.rss_bytes") && is_null(doc, "cost.hbprof_cpu_pct"));
	assert_true(is_null(doc, "probe.bias_ns") && is_null(doc, "coverage.in_flight_start"));
	cJSON_Delete(doc);
	recording__free(r);
}

/* ---- coverage ---- */

static void test_a_violated_identity_is_said_loudly(void **state)
{
	struct recording *r = sample_recording();
	char *text;
	cJSON *doc;

	text = print_table(r);
	assert_not_says(text, "NOT BALANCED");
	assert_says(text, "(balanced)");
	free(text);
	r->coverage.n[HB_FN_ENTRIES] += 5;
	r->func[0].n[HB_FN_ENTRIES] += 5;
	text = print_table(r);
	assert_says(text, "entries 104,104 != exits");
	assert_says(text, "NOT BALANCED");
	assert_says(text, "5 calls began and are nowhere");
	assert_says(text,
		    "encoding/json.Marshal: dropped 2, return site unknown 5 of 104,043 entries; "
		    "NOT BALANCED by 5");
	assert_not_says(text, "(balanced)");
	free(text);
	doc = print_json(r);
	assert_true(cJSON_IsFalse(at(doc, "coverage.balanced")));
	assert_true(num(doc, "coverage.missing") == 5);
	cJSON_Delete(doc);
	r->coverage.n[HB_FN_EXITS] += 12;
	table_says(r, "7 more calls ended than began");
	recording__free(r);
}

static void test_counters_read_while_probing_are_not_called_wrong(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	r->coverage.balanced = false;
	r->coverage.n[HB_FN_ENTRIES] += 5;
	text = print_table(r);
	assert_says(text, "not final");
	assert_not_says(text, "NOT BALANCED");
	free(text);
	recording__free(r);
}

static void test_nothing_lost_prints_0_lost_and_0_drops(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	r->func[0].n[HB_FN_UNKNOWN] = r->func[0].n[HB_FN_DROPPED] = 0;
	r->coverage.n[HB_FN_UNKNOWN] = r->coverage.n[HB_FN_DROPPED] = 0;
	r->coverage.n[HB_FN_ENTRIES] -= 7;
	r->func[0].n[HB_FN_ENTRIES] -= 7;
	r->coverage.drop[HB_DROP_FRAMES_FULL] = 0;
	text = print_table(r);
	assert_says(text, "0 lost");
	assert_says(text, "0 for each of the 13 reasons");
	assert_says(text, "return site unknown 0 + in flight at the end 4 + dropped 0");
	free(text);
	recording__free(r);
}

static void test_every_drop_reason_is_named_with_its_count(void **state)
{
	struct recording *r = sample_recording();
	char want[64];

	for (u32 i = 0; i < HB_DROP_NR; i++)
		r->coverage.drop[i] = 1000 + i;
	for (u32 i = 0; i < HB_DROP_NR; i++) {
		snprintf(want, sizeof(want), "%s 1,%03u: ", hb_drop_names[i], i);
		table_says(r, want);
	}
	recording__free(r);
}

/* ---- rows ---- */

static void test_failed_calls_are_a_row_of_their_own_and_counted_in_the_other(void **state)
{
	struct recording *r = sample_recording();
	cJSON *doc = print_json(r);

	assert_string_equal(at(doc, "rows.0.outcome")->valuestring, "ok");
	assert_true(num(doc, "rows.0.calls") == 101001 && num(doc, "rows.0.errors") == 20);
	assert_string_equal(at(doc, "rows.2.outcome")->valuestring, "error");
	assert_true(num(doc, "rows.2.calls") == 20 && num(doc, "rows.2.errors") == 20);
	/* cJSON_Parse shows no errors here: not known is not 0. */
	assert_true(is_null(doc, "rows.1.errors"));
	assert_true(num(doc, "rows.3.errors") == 0);
	cJSON_Delete(doc);
	recording__free(r);
}

static void test_rows_are_sorted_by_total_time(void **state)
{
	struct recording *r = sample_recording();
	cJSON *doc = print_json(r);

	for (int i = 1; i < cJSON_GetArraySize(at(doc, "rows")); i++) {
		char a[64], b[64];

		snprintf(a, sizeof(a), "rows.%d.latency.sum_ns", i - 1);
		snprintf(b, sizeof(b), "rows.%d.latency.sum_ns", i);
		assert_true(num(doc, a) >= num(doc, b));
	}
	cJSON_Delete(doc);
	recording__free(r);
}

static void test_inclusive_and_exclusive_are_made_of_the_right_distributions(void **state)
{
	struct recording *r = sample_recording();
	cJSON *doc = print_json(r);

	assert_true(num(doc, "rows.0.latency.max_ns") == 1234567);
	assert_true(num(doc, "rows.0.exclusive.max_ns") == 1000000);
	assert_true(num(doc, "rows.0.exclusive.count") == 101001);
	assert_true(num(doc, "rows.0.raw.min_ns") == 1600);
	assert_true(num(doc, "rows.0.by_size.1.latency.count") == 1001);
	assert_true(num(doc, "rows.0.by_size.1.min_bytes") == 1024);
	assert_true(num(doc, "rows.0.by_size.1.max_bytes") == 2047);
	cJSON_Delete(doc);
	recording__free(r);
}

/* Calls inside of which only the same codec was called again: nothing is taken off. */
static void test_there_is_no_exclusive_line_where_it_would_say_the_same(void **state)
{
	struct recording *r = sample_recording();
	struct m_row *row = sample_row(r, 2, 0, 100, HB_OUTCOME_OK);
	char *text;

	sample_add(&row->dist[HB_DIST_OUTER], 7000, 3);
	sample_add(&row->dist[HB_DIST_OUTER_EXC], 7000, 3);
	row->count = 3;
	r->row[1].count = 0;
	text = print_table(r);
	assert_non_null(strstr(text, "21.0us"));
	assert_null(strstr(text, "exclusive"));
	free(text);
	recording__free(r);
}

static void test_u64_are_written_exactly_in_json(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	r->target[0].start_time = ~0ULL - 1;
	text = print(r, &(struct report_opts){.format = REPORT_JSON});
	assert_says(text, "\"start_time\": 18446744073709551614,");
	assert_says(text, "\"start_time\": 9007199254740993,");
	assert_says(text, "\"vaddr\": 18446744071578845200,");
	free(text);
	recording__free(r);
}

static void test_values_below_the_resolution_are_marked(void **state)
{
	struct recording *r = sample_recording();

	/* 350 ns are less than the 613 ns that the probe has inside a call. */
	table_says(r, "~350ns");
	table_says(r, "less than the probe can tell");
	r->nr_cals = 0;
	{
		char *text = print_table(r);

		assert_not_says(text, "~350ns");
		assert_says(text, "n/a (not calibrated)");
		free(text);
	}
	recording__free(r);
}

static void test_uncertainty_is_the_larger_of_spread_and_half_the_drift(void **state)
{
	struct recording *r = sample_recording();
	cJSON *doc = print_json(r);

	assert_string_equal(at(doc, "probe.class")->valuestring, "push+branch");
	assert_true(num(doc, "probe.bias_ns") == 613);
	assert_true(num(doc, "probe.total_ns") == 1250);
	assert_true(num(doc, "probe.uncertainty_ns") == 12); /* (613 - 590) / 2, upwards */
	assert_true(is_null(doc, "probe.classes.1.bias_ns"));
	cJSON_Delete(doc);
	r->cal[2].spread_in_ns = 40;
	doc = print_json(r);
	assert_true(num(doc, "probe.uncertainty_ns") == 40);
	cJSON_Delete(doc);
	recording__free(r);
}

static void test_the_probe_cost_of_functions_that_were_not_called_is_left_out(void **state)
{
	struct recording *r = sample_recording();
	char *text = print_table(r);

	assert_says(text, "native branch+step (calls: 1)");
	free(text);
	r->row[4].count = 0;
	text = print_table(r);
	assert_not_says(text, "native branch+step");
	assert_says(text, "go push+branch (calls:");
	free(text);
	recording__free(r);
}

static void test_percentiles_of_an_incomplete_histogram_say_so(void **state)
{
	struct recording *r = sample_recording();

	r->row[4].dist[HB_DIST_LEAF].count = r->row[4].count = 5000;
	r->coverage.drop[HB_DROP_HISTS_FULL] = 4999;
	table_says(r, "percentiles are of 1 of its 5,000 calls");
	recording__free(r);
}

/* CPU time comes in steps of 10 ms: a share of it would be anything. */
static void test_a_recording_of_a_few_ms_has_no_shares_of_cpu_time(void **state)
{
	struct recording *r = sample_recording();
	cJSON *doc;

	r->coverage.wall_ns = 99999999;
	table_says(r, "n/a (recorded for less than 100 ms)");
	table_says(r, "n/a: that time comes in steps of 10 ms");
	doc = print_json(r);
	assert_true(is_null(doc, "rows.0.target_cpu_pct") && is_null(doc, "cost.hbprof_cpu_pct"));
	cJSON_Delete(doc);
	r->coverage.wall_ns = 100000000;
	doc = print_json(r);
	assert_false(is_null(doc, "rows.0.target_cpu_pct"));
	cJSON_Delete(doc);
	recording__free(r);
}

static void test_the_overflow_row_stands_last_and_says_what_it_is(void **state)
{
	struct recording *r = sample_recording();
	struct m_row *row = sample_row(r, 0, 0, 5, HB_OUTCOME_OK);
	cJSON *doc;

	row->overflow = true;
	sample_calls(row, 900000000, 900000000, 5, 100);
	table_says(r, "calls that found no free row");
	doc = print_json(r);
	assert_true(cJSON_IsTrue(at(doc, "rows.4.overflow")));
	assert_true(is_null(doc, "rows.4.codec") && is_null(doc, "rows.4.pid"));
	cJSON_Delete(doc);
	recording__free(r);
}

static void test_perturbed_rows_are_noted(void **state)
{
	struct recording *r = sample_recording();

	r->row[1].nested = 3 * 101001;
	table_says(r, "perturbed 3.0 nested probes per call");
	recording__free(r);
}

static void test_functions_that_were_not_probed_all_the_time_are_named_with_the_reason(void **state)
{
	struct recording *r = sample_recording();
	struct m_func *f = &r->func[1];
	char *text = print_table(r);

	assert_not_says(text, "left out");
	free(text);
	f->off_ns = 1500000000;
	f->n[HB_FN_NESTED] = f->n[HB_FN_ENTRIES];
	table_says(r, "was not probed for 1.50s of ");
	table_says(r, ": all 60 calls of it that were seen were inside of others of ");
	f->n[HB_FN_NESTED]--;
	table_says(r, ", and was called on its own later: see the warnings");
	/* Of a capture that does not know, nothing is said. */
	f->off_ns = M_NONE;
	text = print_table(r);
	assert_not_says(text, "left out");
	free(text);
	recording__free(r);
}

static void set_func(struct m_func *f, const char *name, const char *codec, u64 entries)
{
	free(f->name);
	free(f->codec);
	f->name = strdup(name);
	f->codec = strdup(codec);
	f->n[HB_FN_ENTRIES] = entries;
	f->n[HB_FN_UNSEEN] = 0;
}

static void test_functions_named_by_the_user_that_were_not_called_have_0_calls(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	set_func(&r->func[0], "idle", "probe", 0);
	set_func(&r->func[1], "idle", "probe", 0); /* a copy of it */
	set_func(&r->func[2], "other", "probe", 0);
	table_says(r, "0 of idle, other (");
	/* One of two copies was called, and the other function has not been asked for. */
	set_func(&r->func[1], "idle", "probe", 1);
	set_func(&r->func[2], "other", "cJSON", 0);
	text = print_table(r);
	assert_not_says(text, "of idle");
	assert_not_says(text, "of other");
	free(text);
	recording__free(r);
}

static void test_functions_without_a_name_or_codec_are_printed(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	for (u32 i = 0; i < r->nr_funcs; i++) {
		struct m_func *f = &r->func[i];

		free(i ? f->name : f->codec);
		if (i)
			f->name = NULL;
		else
			f->codec = NULL;
	}
	for (int format = REPORT_TABLE; format <= REPORT_JSON; format++) {
		text = print(r, &(struct report_opts){.format = format, .width = 120});
		assert_true(*text);
		free(text);
	}
	recording__free(r);
}

static void test_two_functions_of_one_short_name_are_shown_in_full(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	text = print_table(r);
	assert_says(text, " json.Marshal");
	free(text);
	free(r->func[1].name);
	free(r->func[1].codec);
	free(r->func[1].op);
	r->func[1].name = strdup("example.com/fast/json.Marshal");
	r->func[1].codec = strdup("encoding/json");
	r->func[1].op = strdup("encode");
	text = print_table(r);
	assert_says(text, " encoding/json.Marshal");
	assert_says(text, " example.com/fast/json.Marshal");
	free(text);
	recording__free(r);
}

/* ---- foreign text ---- */

static void test_foreign_text_cannot_reach_the_terminal(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	free(r->func[0].name);
	r->func[0].name = strdup("a\x1b]0;x\x07 b\xc2\x9b"
				 "31m c\xe2\x80\xae d\xc0\x80 e\tf\x7f");
	recording__warn(r, "w\x1b[2J");
	text = print_table(r);
	assert_says(text, "a\\x1b]0;x\\x07 b\\u{9b}31m c\\u{202e} d\\xc0\\x80 e\\x09f\\x7f");
	for (const char *s = text; *s; s++)
		assert_true((u8)*s >= 0x20 || *s == '\n');
	free(text);
	text = print(r, &(struct report_opts){.format = REPORT_JSON});
	for (const char *s = text; *s; s++)
		assert_true((u8)*s >= 0x20 || *s == '\n');
	free(text);
	recording__free(r);
}

static void test_utf8_is_told_from_what_is_not(void **state)
{
	static const struct {
		const char *s;
		u32 len;
	} cases[] = {
		{"a", 1},
		{"\xc2\x80", 2},
		{"\xe2\x82\xac", 3},
		{"\xf0\x9f\x98\x80", 4},
		{"\xf4\x8f\xbf\xbf", 4},
		{"\x80", 0},
		{"\xc0\x80", 0},
		{"\xc1\xbf", 0},
		{"\xe0\x80\x80", 0},
		{"\xed\xa0\x80", 0},
		{"\xf4\x90\x80\x80", 0},
		{"\xf8\x88\x80\x80", 0},
		{"\xe2\x82", 0},
		{"\xf0\x9f\x98", 0},
		{"\xc2", 0},
	};
	u32 cp;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(text_decode(cases[i].s, &cp), cases[i].len);
}

/* ---- writing ---- */

static void test_a_full_disk_is_an_error(void **state)
{
	struct recording *r = sample_recording();
	struct report_opts opts = {0};
	FILE *f = fopen("/dev/full", "w");

	if (!f)
		skip();
	assert_int_equal(report__print(r, &opts, f), -ENOSPC);
	fclose(f);
	recording__free(r);
}

static void test_paragraphs_wrap_at_spaces_only(void **state)
{
	struct strbuf b;

	strbuf__init(&b, 4096);
	layout_para(&b, 24, "label", "one  two three aVeryLongWordIndeed x");
	assert_string_equal(b.s, "label       one two\n"
				 "            three\n"
				 "            aVeryLongWordIndeed\n"
				 "            x\n");
	strbuf__fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_of_the_sample_are_those_in_tests_data),
		cmocka_unit_test(test_the_capture_in_tests_data_is_still_read_and_is_the_sample),
		cmocka_unit_test(
			test_calls_that_found_the_caches_cold_are_said_with_what_was_subtracted),
		cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
		cmocka_unit_test(test_an_empty_recording_says_that_there_is_nothing),
		cmocka_unit_test(test_a_violated_identity_is_said_loudly),
		cmocka_unit_test(test_counters_read_while_probing_are_not_called_wrong),
		cmocka_unit_test(test_nothing_lost_prints_0_lost_and_0_drops),
		cmocka_unit_test(test_every_drop_reason_is_named_with_its_count),
		cmocka_unit_test(test_failed_calls_are_a_row_of_their_own_and_counted_in_the_other),
		cmocka_unit_test(test_rows_are_sorted_by_total_time),
		cmocka_unit_test(test_inclusive_and_exclusive_are_made_of_the_right_distributions),
		cmocka_unit_test(test_there_is_no_exclusive_line_where_it_would_say_the_same),
		cmocka_unit_test(test_u64_are_written_exactly_in_json),
		cmocka_unit_test(test_values_below_the_resolution_are_marked),
		cmocka_unit_test(test_uncertainty_is_the_larger_of_spread_and_half_the_drift),
		cmocka_unit_test(test_the_probe_cost_of_functions_that_were_not_called_is_left_out),
		cmocka_unit_test(test_percentiles_of_an_incomplete_histogram_say_so),
		cmocka_unit_test(test_a_recording_of_a_few_ms_has_no_shares_of_cpu_time),
		cmocka_unit_test(test_the_overflow_row_stands_last_and_says_what_it_is),
		cmocka_unit_test(test_perturbed_rows_are_noted),
		cmocka_unit_test(
			test_functions_that_were_not_probed_all_the_time_are_named_with_the_reason),
		cmocka_unit_test(
			test_functions_named_by_the_user_that_were_not_called_have_0_calls),
		cmocka_unit_test(test_functions_without_a_name_or_codec_are_printed),
		cmocka_unit_test(test_two_functions_of_one_short_name_are_shown_in_full),
		cmocka_unit_test(test_foreign_text_cannot_reach_the_terminal),
		cmocka_unit_test(test_utf8_is_told_from_what_is_not),
		cmocka_unit_test(test_a_full_disk_is_an_error),
		cmocka_unit_test(test_paragraphs_wrap_at_spaces_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
