// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_export.c - what the exports say of recordings that no capture in tests/data has: odd names,
 * sums at the limit, functions of one name, calls without a row. That other tools read the files is
 * tested by tests/cli/t_export.sh.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "capture/gz.h"
#include "report/export.h"
#include "tests/unit/sample.h"

static char *export_of(const struct recording *r, enum export_format format, enum export_of of,
		       size_t *len)
{
	char *out = NULL;

	assert_int_equal(export__render(r, format, of, &out, len), 0);
	assert_non_null(out);
	return out;
}

static char *export(const struct recording *r, enum export_format format, size_t *len)
{
	return export_of(r, format, EXPORT_OF_DEFAULT, len);
}

static char *export_text(const struct recording *r, enum export_format format)
{
	size_t len;
	char *out = export(r, format, &len);

	assert_int_equal(strlen(out), len);
	return out;
}

static void rename_func(struct recording *r, u32 i, const char *name)
{
	free(r->func[i].name);
	r->func[i].name = strdup(name);
}

static u32 occurrences(const char *text, const char *what)
{
	u32 n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_every_format_takes_a_recording_without_rows(void **state)
{
	struct recording *r = recording__new();
	size_t len;

	sample_targets(r); /* and those of stacks, one without calls */
	sample_stacks(r);
	for (u32 i = 0; i < r->stacks.nr_stacks; i++)
		r->stacks.stack[i].func = M_NO_FUNC;
	for (u32 i = 0; i < EXPORT_NR; i++)
		free(export(r, i, &len));
	recording__free(r);
}

static void test_every_format_takes_an_overflow_row(void **state)
{
	struct recording *r = sample_recording();
	size_t len;
	char *text;

	r->row[0].overflow = true;
	sample_stacks(r);
	for (u32 i = 0; i < EXPORT_NR; i++)
		free(export(r, i, &len));
	text = export_text(r, EXPORT_CSV);
	assert_non_null(strstr(text, "\r\n,,,,,,,true,,,100000,,"));
	free(text);
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_non_null(strstr(text, "hbprof_calls_total{codec=\"(other)\"} 100000\n"));
	free(text);
	text = export_text(r, EXPORT_BENCHSTAT);
	assert_non_null(strstr(text, "\nBenchmarkCall/codec=(other)/func=calls_that_found_no_free_"
				     "row 100000 10990.0 ns/op"));
	free(text);
	recording__free(r);
}

static void test_csv_quotes_commas_and_quotes(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	rename_func(r, 2, "std::map<int, \"x\">");
	text = export_text(r, EXPORT_CSV);
	assert_non_null(strstr(text, "cJSON,decode,\"std::map<int, \"\"x\"\">\",libcjson.so.1,,"));
	free(text);
	recording__free(r);
}

static void test_a_line_break_in_a_name_ends_no_line(void **state)
{
	struct recording *r = sample_recording();
	size_t lines[EXPORT_NR] = {0};
	char *text;

	sample_stacks(r);
	for (u32 i = 0; i < EXPORT_NR; i++) {
		if (export_is_binary(i))
			continue;
		text = export_text(r, i);
		lines[i] = occurrences(text, "\n");
		free(text);
	}
	rename_func(r, 0, "a\r\nb c\xff");
	free(r->stacks.name[1]);
	r->stacks.name[1] = strdup("main\nmain 7");
	free(r->host.fact[0].value);
	r->host.fact[0].value = strdup("CPU\nBenchmarkFake 1 1 ns/op");
	for (u32 i = 0; i < EXPORT_NR; i++) {
		if (export_is_binary(i))
			continue;
		text = export_text(r, i);
		assert_int_equal(occurrences(text, "\n"), lines[i]);
		free(text);
	}
	recording__free(r);
}

static void test_what_go_takes_for_a_space_is_none_in_a_benchmark_name(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	rename_func(r, 2,
		    "a b\xe3\x80\x80"
		    "c/d\xc2\xa0\xe2\x82\xac"); /* U+3000, U+00A0, U+20AC */
	text = export_text(r, EXPORT_BENCHSTAT);
	assert_non_null(strstr(text, "/func=a_b_c_d_\xe2\x82\xac/pid=4300 1 "));
	free(text);
	recording__free(r);
}

static void test_benchstat_has_a_measurement_of_each_interval(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	m_host__add(&r->host, "cpus_online", "8");
	free(r->interval[0].delta);
	r->interval[0].nr_deltas = 2;
	r->interval[0].delta = sample_array(2, sizeof(*r->interval[0].delta));
	/* Two size classes of one function: one measurement. OUTER_EXC is not the whole time. */
	r->interval[0].delta[0] = (struct m_delta){0, HB_DIST_LEAF, 30, 30000, NULL, 0};
	r->interval[0].delta[1] = (struct m_delta){1, HB_DIST_OUTER, 10, 50000, NULL, 0};
	text = export_text(r, EXPORT_BENCHSTAT);
	assert_non_null(strstr(text, "func=encoding_json.Marshal/pid=4242-8 40 2000.0 ns/op\n"));
	assert_non_null(strstr(text, "func=encoding_json.Marshal/pid=4242-8 7 10000.0 ns/op "));
	assert_int_equal(occurrences(text, "func=encoding_json.Marshal/pid="), 2);
	free(text);
	recording__free(r);
}

static void test_functions_of_one_name_are_series_of_their_own(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	for (u32 i = 1; i < 3; i++) {
		struct m_func *f = &r->func[i];

		free(f->name);
		free(f->codec);
		free(f->library);
		*f = (struct m_func){.name = strdup("same"),
				     .codec = strdup("c"),
				     .op = f->op,
				     .library_version = f->library_version,
				     .note = f->note};
	}
	r->row[4].target = 0;
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_int_equal(occurrences(text, "\nhbprof_calls_total{codec=\"c\",op=\"decode\","
					   "function=\"same\",library=\"/srv/app/server\","
					   "outcome=\"ok\",pid=\"4242\"} "),
			 1);
	assert_int_equal(occurrences(text, "\nhbprof_calls_total{codec=\"c\",op=\"decode\","
					   "function=\"same\",library=\"/srv/app/server\","
					   "outcome=\"ok\",pid=\"4242\",instance_nr=\"2\"} "),
			 1);
	free(text);
	recording__free(r);
}

static void test_labels_are_escaped(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	rename_func(r, 2, "operator\"\"\\x\n");
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_non_null(strstr(text, "function=\"operator\\\"\\\"\\\\x\\\\x0a\""));
	free(text);
	recording__free(r);
}

static void test_a_fact_that_cannot_be_a_label_is_left_out(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	m_host__add(&r->host, "a b", "space");
	m_host__add(&r->host, "", "nothing");
	m_host__add(&r->host, "arch", "twice");
	m_host__add(&r->host, "version", "twice");
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_null(strstr(text, "space"));
	assert_null(strstr(text, "nothing"));
	assert_null(strstr(text, "twice"));
	assert_non_null(strstr(text, "arch=\"x86_64\""));
	free(text);
	recording__free(r);
}

static void test_calls_without_a_histogram_have_no_sum_in_openmetrics(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	r->row[4].dist[HB_DIST_LEAF].bucket[0].n = 1;
	r->row[4].dist[HB_DIST_LEAF].count = 9;
	r->row[4].count = 9;
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_int_equal(occurrences(text, "hbprof_call_duration_seconds_count{codec=\"cJSON\""),
			 0);
	assert_int_equal(occurrences(text, "hbprof_call_duration_seconds_sum{codec=\"cJSON\""), 0);
	assert_non_null(strstr(text, "pid=\"4300\",le=\"+Inf\"} 1\n"));
	assert_non_null(strstr(text, "hbprof_calls_total{codec=\"cJSON\",op=\"decode\",function="
				     "\"cJSON_Parse\",library=\"libcjson.so.1\",outcome=\"ok\","
				     "pid=\"4300\"} 9\n"));
	free(text);
	recording__free(r);
}

static void test_bucket_bounds_count_exactly(void **state)
{
	struct recording *r = sample_recording();
	struct m_dist *d = &r->row[4].dist[HB_DIST_LEAF];
	char *text;

	m_dist__fini(d);
	m_dist__init(d);
	sample_add(d, 1023, 2);
	sample_add(d, 1024, 3);
	r->row[4].count = 5;
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_non_null(strstr(text, "pid=\"4300\",le=\"0.000000511\"} 0\n"));
	assert_non_null(strstr(text, "pid=\"4300\",le=\"0.000001023\"} 2\n"));
	assert_non_null(strstr(text, "pid=\"4300\",le=\"0.000002047\"} 5\n"));
	free(text);
	recording__free(r);
}

static void test_speedscope_weights_stay_at_the_top(void **state)
{
	struct recording *r = sample_recording();
	const cJSON *weights;
	cJSON *doc;
	char *text;

	r->row[0].dist[HB_DIST_LEAF].sum_ns = M_NONE - 5;
	r->row[0].dist[HB_DIST_OUTER].sum_ns = 100;
	r->row[4].dist[HB_DIST_LEAF].sum_ns = M_NONE; /* not known */
	text = export_text(r, EXPORT_SPEEDSCOPE);
	assert_non_null(strstr(text, "\"endValue\":18446744073709551614"));
	doc = cJSON_Parse(text);
	assert_non_null(doc);
	weights = cJSON_GetArrayItem(cJSON_GetObjectItem(doc, "profiles"), 1);
	weights = cJSON_GetObjectItem(weights, "weights");
	assert_int_equal(cJSON_GetArraySize(weights), 5);
	assert_true(cJSON_GetArrayItem(weights, 0)->valuedouble == 0);
	cJSON_Delete(doc);
	free(text);
	recording__free(r);
}

static void test_frames_of_one_codec_are_shared(void **state)
{
	struct recording *r = sample_recording();
	struct report_opts opts = {0};
	struct view v = {.r = r, .opts = &opts};
	struct export_frames f;

	assert_int_equal(groups__build(&v.groups, r, true), 0);
	assert_int_equal(export_frames__build(&f, &v), 0);
	assert_int_equal(f.nr_stacks, 4);
	assert_int_equal(f.nr, 9); /* three functions; the failed calls are of one of them */
	for (u32 i = 0; i < f.nr_stacks; i++)
		assert_int_equal(f.stack[i].depth, EXPORT_DEPTH);
	assert_memory_equal(f.stack[1].frame, f.stack[2].frame, sizeof(f.stack[1].frame));
	assert_string_equal(f.frame[f.stack[1].frame[1]].name, "encoding/json encode");
	export_frames__fini(&f);
	groups__fini(&v.groups);
	recording__free(r);
}

/* Reads a varint. */
static u64 get(const u8 **at, const u8 *end)
{
	u64 v = 0;

	for (u32 shift = 0; *at < end && shift < 64; shift += 7) {
		u8 byte = *(*at)++;

		v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	fail_msg("a varint is cut");
	return 0;
}

/* The samples of a profile; *strings: the entries of its string table. */
static u32 count_samples(const char *out, size_t len, u32 *strings)
{
	u32 samples = 0;
	size_t rawlen;
	const char *why;
	const u8 *at, *end;
	char *raw;

	*strings = 0;
	assert_int_equal(gz_unpack(out, len, 1u << 20, &raw, &rawlen, &why), 0);
	for (at = (u8 *)raw, end = at + rawlen; at < end;) {
		u64 key = get(&at, end), n = get(&at, end);

		if ((key & 7) == 0)
			continue;
		assert_int_equal(key & 7, 2);
		assert_true(n <= (u64)(end - at));
		if (key >> 3 == 6 && !(*strings)++)
			assert_int_equal(n, 0);
		samples += key >> 3 == 2;
		at += n;
	}
	free(raw);
	return samples;
}

static void test_pprof_begins_its_strings_with_the_empty_one(void **state)
{
	struct recording *r = sample_recording();
	u32 strings;
	size_t len;
	char *out;

	r->row[0].count = M_NONE - 1; /* values are int64 */
	out = export(r, EXPORT_PPROF, &len);
	assert_int_equal(count_samples(out, len, &strings), 5);
	assert_true(strings > 10);
	free(out);
	recording__free(r);
}

static void test_pprof_has_the_calls_unless_stacks_are_asked_for(void **state)
{
	struct recording *r = sample_recording();
	size_t len, len_with;
	char *without, *with, *out;
	u32 strings;

	without = export(r, EXPORT_PPROF, &len);
	sample_stacks(r);
	with = export(r, EXPORT_PPROF, &len_with);
	assert_int_equal(len, len_with);
	assert_memory_equal(without, with, len);
	out = export_of(r, EXPORT_PPROF, EXPORT_STACKS, &len);
	assert_int_equal(count_samples(out, len, &strings), 4);
	free(out);
	free(with);
	free(without);
	recording__free(r);
}

static void test_stacks_that_are_not_there_are_not_exported(void **state)
{
	struct recording *r = sample_recording();
	size_t len;
	char *out;

	assert_int_equal(export__render(r, EXPORT_FOLDED, EXPORT_OF_DEFAULT, &out, &len), -ENODATA);
	assert_int_equal(export__render(r, EXPORT_PPROF, EXPORT_STACKS, &out, &len), -ENODATA);
	assert_int_equal(export__render(r, EXPORT_SPEEDSCOPE, EXPORT_STACKS, &out, &len), -ENODATA);
	assert_int_equal(export__render(r, EXPORT_CSV, EXPORT_STACKS, &out, &len), -EINVAL);
	assert_int_equal(export__render(r, EXPORT_FOLDED, EXPORT_CALLS, &out, &len), -EINVAL);
	recording__free(r);
}

static void test_folded_has_a_line_for_each_stack_whatever_call_it_was_in(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	sample_stacks(r);
	r->stacks.stack[1].nr_frames = 3; /* as the first one, in another call */
	r->stacks.stack[1].first = 0;
	r->stacks.stack[1].func = M_NO_FUNC;
	text = export_text(r, EXPORT_FOLDED);
	assert_string_equal(text, "[no room for the stack] 1\n"
				  "runtime.goexit;main.main 9\n"
				  "runtime.goexit;main.main;encoding/json.Marshal 90\n");
	free(text);
	recording__free(r);
}

static void test_a_semicolon_in_a_name_makes_no_frame(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	sample_stacks(r);
	free(r->stacks.name[1]);
	r->stacks.name[1] = strdup("f[struct { A int; B int }]");
	text = export_text(r, EXPORT_FOLDED);
	assert_non_null(strstr(text, "runtime.goexit;f[struct { A int: B int }] 9\n"));
	free(text);
	recording__free(r);
}

static void test_speedscope_has_the_cpu_time_beside_the_calls(void **state)
{
	struct recording *r = sample_recording();
	const cJSON *profiles, *p, *frames, *sample;
	size_t len;
	cJSON *doc;
	char *text;

	sample_stacks(r);
	text = export_text(r, EXPORT_SPEEDSCOPE);
	doc = cJSON_Parse(text);
	profiles = cJSON_GetObjectItem(doc, "profiles");
	frames = cJSON_GetObjectItem(cJSON_GetObjectItem(doc, "shared"), "frames");
	assert_int_equal(cJSON_GetArraySize(profiles), 4);
	p = cJSON_GetArrayItem(profiles, 3);
	assert_true(cJSON_GetObjectItem(p, "endValue")->valuedouble == 100 * (1000000000 / 99));
	sample = cJSON_GetArrayItem(cJSON_GetObjectItem(p, "samples"), 2);
	assert_int_equal(cJSON_GetArraySize(sample), 2);
	p = cJSON_GetArrayItem(frames, cJSON_GetArrayItem(sample, 1)->valueint);
	assert_string_equal(cJSON_GetObjectItem(p, "name")->valuestring, "main.main");
	cJSON_Delete(doc);
	free(text);
	text = export_of(r, EXPORT_SPEEDSCOPE, EXPORT_STACKS, &len);
	doc = cJSON_Parse(text);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(doc, "profiles")), 1);
	cJSON_Delete(doc);
	free(text);
	recording__free(r);
}

/* A counter's name is the capture's: what would end a unit or begin another one cannot stand in it. */
static void test_a_counter_of_any_name_is_one_unit(void **state)
{
	struct recording *r = sample_recording();
	char *text;

	r->counters.nr = 2;
	r->counters.v[0] = (struct m_counter){.name = strdup("odd name/\"\n")};
	r->counters.v[1] = (struct m_counter){.name = strdup("cycles"), .lack = strdup("no PMU")};
	r->row[0].ctr[0] = (struct m_ctr){10, 35, 1, 9};
	text = export_text(r, EXPORT_BENCHSTAT);
	assert_non_null(strstr(text, "Unit odd_name_\"_/op better=lower\n"));
	assert_null(strstr(text, "cycles"));
	free(text);
	text = export_text(r, EXPORT_OPENMETRICS);
	assert_non_null(strstr(text, ",counter=\"odd name/\\\"\\\\x0a\"} 35\n"));
	assert_null(strstr(text, "cycles"));
	free(text);
	recording__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_format_takes_a_recording_without_rows),
		cmocka_unit_test(test_every_format_takes_an_overflow_row),
		cmocka_unit_test(test_csv_quotes_commas_and_quotes),
		cmocka_unit_test(test_a_line_break_in_a_name_ends_no_line),
		cmocka_unit_test(test_what_go_takes_for_a_space_is_none_in_a_benchmark_name),
		cmocka_unit_test(test_benchstat_has_a_measurement_of_each_interval),
		cmocka_unit_test(test_functions_of_one_name_are_series_of_their_own),
		cmocka_unit_test(test_labels_are_escaped),
		cmocka_unit_test(test_a_fact_that_cannot_be_a_label_is_left_out),
		cmocka_unit_test(test_calls_without_a_histogram_have_no_sum_in_openmetrics),
		cmocka_unit_test(test_bucket_bounds_count_exactly),
		cmocka_unit_test(test_speedscope_weights_stay_at_the_top),
		cmocka_unit_test(test_frames_of_one_codec_are_shared),
		cmocka_unit_test(test_pprof_begins_its_strings_with_the_empty_one),
		cmocka_unit_test(test_pprof_has_the_calls_unless_stacks_are_asked_for),
		cmocka_unit_test(test_stacks_that_are_not_there_are_not_exported),
		cmocka_unit_test(test_folded_has_a_line_for_each_stack_whatever_call_it_was_in),
		cmocka_unit_test(test_a_semicolon_in_a_name_makes_no_frame),
		cmocka_unit_test(test_speedscope_has_the_cpu_time_beside_the_calls),
		cmocka_unit_test(test_a_counter_of_any_name_is_one_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
