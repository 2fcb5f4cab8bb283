/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_requests.c - requests as plain data: the share of codecs at a quantile, and that a capture and
 * the reports keep and show them. How they are measured is in test_bpf_requests.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "capture/capture.h"
#include "model/request.h"
#include "report/export.h"
#include "report/requests_report.h"
#include "sample.h"

/* n requests of ns, each with so much codec time; rising. */
static void add(struct m_request *q, u64 ns, u64 codec_ns, u64 n)
{
	u32 at = q->latency.nr_buckets;

	sample_add(&q->latency, ns, n);
	assert_int_equal(q->latency.nr_buckets, at + 1);
	q->bucket_codec_ns = reallocarray(q->bucket_codec_ns, at + 1, sizeof(u64));
	assert_non_null(q->bucket_codec_ns);
	q->bucket_codec_ns[at] = codec_ns * n;
	q->codec_ns += codec_ns * n;
	q->codec_calls += n;
}

/* 980 of 1 ms with a tenth in codecs, 20 of 10 ms with nine tenths. */
static void make_row(struct m_request *q)
{
	m_request__init(q);
	q->side = HB_REQ_SERVER;
	q->port = 8080;
	q->bytes_in = 217000;
	q->queued = 4;
	q->queued_sum_ns = 8000000;
	q->queued_max_ns = 5000000;
	add(q, 1000000, 100000, 980);
	add(q, 10000000, 9000000, 20);
}

static struct recording *with_requests(void)
{
	struct recording *r = sample_recording();
	struct m_requests *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->row = sample_array(2, sizeof(*q->row));
	make_row(&q->row[0]);
	q->row[0].codec = sample_array(1, sizeof(*q->row[0].codec));
	q->row[0].codec[0] = (struct m_request_codec){strdup("cJSON"), strdup("decode"), 1000, 5};
	q->row[0].nr_codecs = 1;
	m_request__init(&q->row[1]);
	q->row[1].side = HB_REQ_HANDLER;
	q->row[1].func = 0;
	sample_add(&q->row[1].latency, 500, 3);
	q->row[1].bucket_codec_ns = sample_array(1, sizeof(u64));
	q->nr_rows = 2;
	q->row[0].stopped = 25;
	q->proc = sample_array(1, sizeof(*q->proc));
	m_request_proc__init(&q->proc[0]);
	q->proc[0].stops_seen = true;
	sample_add(&q->proc[0].pauses, 100000, 30);
	sample_add(&q->proc[0].pauses, 2000000, 1);
	q->proc[0].no_begin = 1;
	q->proc[0].windows = 2;
	q->proc[0].window_ns = 200000000;
	q->proc[0].gopark = 4000;
	q->proc[0].mcall = 5000;
	q->proc[0].window_requests = 400;
	q->n[HB_REQ_IN_WINDOW] = 9;
	q->probed_ns = 300000000;
	q->proc[0].voluntary = 2500;
	q->proc[0].involuntary = 50;
	q->nr_procs = 1;
	q->n[HB_REQ_TIED_CALLS] = 990;
	q->n[HB_REQ_UNTIED_CALLS] = 10;
	q->n[HB_REQ_UNIX] = 7;
	r->requests = q;
	return r;
}

static char *printed(const struct recording *r, enum report_format format)
{
	struct report_opts o = {.format = format, .width = 0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report__print(r, &o, f), 0);
	fclose(f);
	return text;
}

static void test_the_share_of_all_is_a_sum_over_a_sum(void **state)
{
	struct m_request q;

	make_row(&q);
	/* 98 ms + 180 ms of 980 ms + 200 ms */
	assert_int_equal(m_request__share(&q), 2356);
	m_request__fini(&q);
}

static void test_shares_at_quantiles_are_of_the_requests_there(void **state)
{
	struct m_request q;
	u64 p50, p99;

	make_row(&q);
	p50 = m_request__share_p50(&q);
	p99 = m_request__share_p99(&q);
	/* Within the width of a bucket. */
	assert_in_range(p50, 990, 1010);
	assert_in_range(p99, 8920, 9080);
	m_request__fini(&q);
}

static void test_a_quantile_inside_a_bucket_takes_a_part_of_it(void **state)
{
	struct m_request q;
	u64 from98, all;

	make_row(&q);
	/* From P97 on: 10 of the fast ones and the 20 slow: 181 ms of 210 ms. */
	from98 = m_request__share_between(&q, 9700, 10000);
	assert_in_range(from98, 8530, 8720);
	all = m_request__share_between(&q, 0, 10000);
	assert_in_range(all, 2330, 2380);
	m_request__fini(&q);
}

static void test_too_few_requests_have_no_share_at_a_quantile(void **state)
{
	struct m_request q;

	m_request__init(&q);
	assert_true(m_request__share(&q) == M_NONE);
	add(&q, 1000, 500, 19);
	assert_true(m_request__share_p50(&q) == M_NONE);
	assert_true(m_request__share_p99(&q) == M_NONE);
	assert_int_equal(m_request__share(&q), 5000);
	m_request__fini(&q);
}

static void test_a_capture_keeps_requests(void **state)
{
	struct recording *r = with_requests(), *back;
	char *bytes, err[256], *before, *after;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(capture__read_mem(bytes, len, "x", &back, err, sizeof(err)), 0);
	assert_non_null(back->requests);
	assert_int_equal(back->requests->nr_rows, 2);
	assert_int_equal(back->requests->row[0].bucket_codec_ns[1], 180000000);
	assert_int_equal(back->requests->row[0].port, 8080);
	assert_string_equal(back->requests->row[0].codec[0].codec, "cJSON");
	before = printed(r, REPORT_JSON);
	after = printed(back, REPORT_JSON);
	assert_string_equal(before, after);
	free(before);
	free(after);
	free(bytes);
	recording__free(r);
	recording__free(back);
}

static void test_a_row_of_a_function_that_is_not_there_is_damage(void **state)
{
	struct recording *r = with_requests(), *back = NULL;
	char *bytes, err[256] = "";
	size_t len;

	r->requests->row[1].func = 10000;
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(capture__read_mem(bytes, len, "x", &back, err, sizeof(err)), -EBADMSG);
	assert_null(back);
	assert_non_null(strstr(err, "requests[1] is of a process or function that is not there"));
	free(bytes);
	recording__free(r);
}

static void test_reports_show_requests_and_what_is_not_in_them(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE), *json = printed(r, REPORT_JSON);

	assert_non_null(strstr(text, "port 8080"));
	assert_non_null(strstr(text, "tied        99.0% of the codec calls belong to a request"));
	assert_non_null(strstr(text, "unix 7"));
	assert_non_null(strstr(json, "\"codec_share_pct\": 23.56"));
	assert_non_null(strstr(json, "\"tied_pct\": 99.00"));
	assert_non_null(strstr(json, "\"bytes_in\": 217000"));
	assert_non_null(strstr(text, "; 4 connections waited to be accepted 2.00ms on average, at "
				     "most 5.00ms"));
	assert_non_null(strstr(json, "\"queued_max_ns\": 5000000"));
	free(text);
	free(json);
	recording__free(r);
}

static void test_reports_say_how_long_the_world_was_stopped_and_for_whom(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE), *json = printed(r, REPORT_JSON);

	assert_non_null(strstr(text, "stopped the world 31 times: P50 100us"));
	assert_non_null(strstr(text, "only one end was seen: 1"));
	assert_non_null(strstr(text, "2.5%"));
	assert_non_null(strstr(json, "\"stopped\": 25"));
	assert_non_null(strstr(json, "\"stopped_pct\": 2.500"));
	assert_non_null(strstr(json, "\"sum_ns\": 5000000"));
	assert_non_null(strstr(json, "\"pauses_without_begin\": 1"));
	free(text);
	free(json);
	recording__free(r);
}

static void test_reports_say_that_shares_contain_what_readers_wait(void **state)
{
	struct recording *r = with_requests();
	struct m_func *f = &r->func[r->row[0].func];
	char *text = printed(r, REPORT_TABLE);

	assert_null(strstr(text, "so do the parts of requests"));
	free(text);
	free(f->codec);
	free(f->op);
	free(f->note);
	f->codec = strdup("cJSON");
	f->op = strdup("decode");
	f->note = strdup("contains the reader's waiting time");
	text = printed(r, REPORT_TABLE);
	assert_non_null(strstr(text, "waiting     calls marked with * contain"));
	free(text);
	recording__free(r);
}

static void test_reports_divide_context_switches_by_the_requests_of_the_process(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE), *json = printed(r, REPORT_JSON);

	assert_non_null(strstr(text, "gave up the CPU 2,500 times and lost it 50"));
	assert_non_null(strstr(text, "2.5 and 0.05 for each"));
	assert_non_null(strstr(json, "\"voluntary_per_request\": 2.5000"));
	assert_non_null(strstr(json, "\"involuntary_per_request\": 0.0500"));
	free(text);
	free(json);
	/* Those that overlap a window of counting have a part in them, too. */
	r->requests->row[0].in_window = 250;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(text, "2 and 0.04 for each of its 1,250 requests"));
	assert_non_null(strstr(json, "\"voluntary_per_request\": 2.0000"));
	assert_non_null(strstr(json, "\"in_window\": 250"));
	free(text);
	free(json);
	r->requests->proc[0].voluntary = r->requests->proc[0].involuntary = M_NONE;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(text, "n/a (the process had ended"));
	assert_non_null(strstr(json, "\"voluntary_per_request\": null"));
	free(text);
	free(json);
	recording__free(r);
}

static void test_reports_say_what_rates_are_of(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE), *json = printed(r, REPORT_JSON);

	assert_non_null(strstr(text, "runtime.gopark 20,000 a second, runtime.mcall 25,000"));
	assert_non_null(strstr(text, "200ms in all, 0.67% of the time"));
	assert_non_null(strstr(text, "10 and 12.5 for each of the 400 requests that it served"));
	assert_non_null(strstr(text, "requests (9) and"));
	assert_non_null(strstr(json, "\"gopark_per_s\": 20000.0"));
	assert_non_null(strstr(json, "\"mcall_per_request\": 12.500"));
	free(text);
	free(json);
	r->requests->proc[0].window_requests = 0;
	text = printed(r, REPORT_TABLE);
	assert_non_null(strstr(text, "for each request n/a"));
	free(text);
	r->requests->proc[0].windows = 0;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_null(strstr(text, "gopark"));
	assert_non_null(strstr(json, "\"rates\": null"));
	free(text);
	free(json);
	recording__free(r);
}

/* In an hour of windows of a busy server these may be many: they say nothing against the others. */
static void test_calls_dropped_for_windows_do_not_hide_shares(void **state)
{
	struct recording *r = with_requests();
	u64 *n = r->coverage.n;

	n[HB_FN_ENTRIES] = 1000;
	n[HB_FN_UNKNOWN] = 0;
	n[HB_FN_DROPPED] = r->coverage.drop[HB_DROP_WINDOW] = 400;
	assert_true(lost_calls_pct(r) == 0);
	n[HB_FN_DROPPED] += 100;
	assert_true(lost_calls_pct(r) == 10);
	recording__free(r);
}

/* A handler inside another one is not another request, nor is what a server asks others. */
static void test_requests_of_a_process_are_those_that_it_served(void **state)
{
	struct recording *r = with_requests();
	struct m_requests *q = r->requests;

	assert_int_equal(m_requests__of_process(q, 0), 1000);
	assert_int_equal(m_requests__of_process(q, 1), 0);
	q->row[0].side = HB_REQ_CLIENT;
	assert_int_equal(m_requests__of_process(q, 0), 3);
	q->row[1].overflow = true;
	assert_int_equal(m_requests__of_process(q, 0), 1000);
	recording__free(r);
}

static void test_stops_that_were_not_seen_are_not_0(void **state)
{
	struct recording *r = with_requests();
	char *text, *json;

	r->requests->proc[0].stops_seen = false;
	r->requests->row[0].stopped = M_NONE;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_null(strstr(text, "stopped")); /* nor a column */
	assert_null(strstr(json, "\"stopped\": 0"));
	assert_non_null(strstr(json, "\"pauses\": null"));
	free(text);
	free(json);
	recording__free(r);
}

static void test_a_process_of_requests_that_is_not_there_is_damage(void **state)
{
	struct recording *r = with_requests(), *back = NULL;
	char *bytes, err[256] = "";
	size_t len;

	r->requests->proc[0].target = 77;
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(capture__read_mem(bytes, len, "x", &back, err, sizeof(err)), -EBADMSG);
	assert_null(back);
	assert_non_null(strstr(err, "requests.processes[0] is of a process that is not there"));
	free(bytes);
	recording__free(r);
}

/* A server that came when two thirds of the recording were over. */
static void test_who_only_accepts_has_a_row_of_what_it_did(void **state)
{
	struct recording *r = with_requests();
	struct m_request *q = &r->requests->row[0];
	char *text, *json;

	m_request__fini(q);
	m_request__init(q);
	q->port = 8080;
	q->queued = 4;
	q->queued_sum_ns = q->queued_max_ns = 8000;
	r->requests->row[1].queued = 0;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(
		text, "port 8080, no request by the rule of connections; 4 connections waited"));
	assert_non_null(strstr(json, "\"queued_sum_ns\": 8000"));
	assert_non_null(strstr(json, "\"queued_sum_ns\": null")); /* the handler's */
	free(text);
	free(json);
	recording__free(r);
}

static void test_what_children_served_has_no_share_of_codecs(void **state)
{
	struct recording *r = with_requests(), *back;
	char *bytes, err[256], *text, *json;
	size_t len;

	r->requests->row[0].children = true;
	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	assert_int_equal(capture__read_mem(bytes, len, "x", &back, err, sizeof(err)), 0);
	text = printed(back, REPORT_TABLE);
	json = printed(back, REPORT_JSON);
	assert_int_equal(m_request__share(&back->requests->row[0]), M_NONE);
	assert_int_equal(m_request__share_p99(&back->requests->row[0]), M_NONE);
	assert_non_null(strstr(text, "port 8080, children, served by processes that this one"));
	assert_null(strstr(text, "of the codec time tied to it"));
	assert_non_null(strstr(json, "\"children\": true"));
	assert_non_null(strstr(json, "\"codec_calls\": null"));
	assert_non_null(strstr(json, "\"codec_share_pct\": null"));
	free(bytes);
	free(text);
	free(json);
	recording__free(r);
	recording__free(back);
}

/* Lines are broken anywhere. */
static bool says(const char *text, const char *words)
{
	while (*words) {
		if (*words == ' ' && (*text == ' ' || *text == '\n')) {
			text += strspn(text, " \n");
			words++;
		} else if (*words++ != *text++) {
			return false;
		}
	}
	return true;
}

static bool has_words(const char *text, const char *words)
{
	for (; *text; text++)
		if (says(text, words))
			return true;
	return false;
}

static void test_requests_over_tls_that_may_be_http2_are_said(void **state)
{
	struct recording *r = with_requests();
	char *text;

	r->requests->row[0].tls = 1000;
	text = printed(r, REPORT_TABLE);
	assert_true(has_words(text, "; 1,000 on connections with TLS"));
	assert_false(has_words(text, "may speak HTTP/2"));
	free(text);
	r->requests->row[0].tls_doubt = 30;
	r->requests->n[HB_REQ_UPGRADED] = 6;
	text = printed(r, REPORT_TABLE);
	assert_true(has_words(text, "TLS, 30 of them of clients that may speak HTTP/2"));
	assert_true(has_words(text, "whose messages are no requests 6"));
	free(text);
	recording__free(r);
}

static void test_requests_a_second_are_over_the_time_of_their_process(void **state)
{
	struct recording *r = with_requests();
	char *json;

	r->target[0].begin_mono_ns = r->begin_mono_ns + 20 * SAMPLE_SECOND;
	r->target[0].end_mono_ns = r->begin_mono_ns + 30 * SAMPLE_SECOND;
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(json, "\"per_s\": 100.000"));
	free(json);
	recording__free(r);
}

static void test_more_handlers_than_requests_are_said(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE);

	assert_null(strstr(text, "pipelined"));
	free(text);
	sample_add(&r->requests->row[1].latency, 500, 1500);
	text = printed(r, REPORT_TABLE);
	assert_non_null(strstr(text, "pipelined"));
	free(text);
	recording__free(r);
}

static void test_what_probes_cost_a_short_request_is_said(void **state)
{
	struct recording *r = with_requests();
	char *text;

	r->requests->nr_rows = 1; /* 1,000, and 1 ms (its bucket: 1,007 us) at P50 */
	r->cost.probe_ns = 130000000;
	text = printed(r, REPORT_TABLE);
	assert_non_null(strstr(text, "probes cost a request 130us on average, 12.9%"));
	free(text);
	r->cost.probe_ns = 90000000;
	text = printed(r, REPORT_TABLE);
	assert_null(strstr(text, "probes cost a request"));
	free(text);
	r->cost.probe_ns = M_NONE;
	text = printed(r, REPORT_TABLE);
	assert_null(strstr(text, "probes cost a request"));
	free(text);
	r->requests->nr_rows = 2;
	recording__free(r);
}

/* The cells of a line, one after the other; the last one is NULL. None is quoted. */
static void split_cells(char *line, const char *cell[80])
{
	u32 n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (line && n < 79)
		cell[n++] = strsep(&line, ",");
	cell[n] = NULL;
}

static const char *cell_of(char *header, char *line, const char *name)
{
	const char *names[80], *cells[80];
	u32 at = 0;

	split_cells(header, names);
	split_cells(line, cells);
	for (u32 i = 0; names[i]; i++) {
		assert_non_null(cells[i]);
		if (!strcmp(names[i], name))
			at = i;
	}
	assert_string_equal(names[at], name);
	return cells[at];
}

static void assert_cell(const char *csv, const char *row, const char *name, const char *want)
{
	const char *found = strstr(csv, row);
	char *header = strdup(csv), *line = strdup(found ? found : "");

	assert_non_null(found);
	assert_non_null(header);
	assert_non_null(line);
	assert_string_equal(cell_of(header, line, name), want);
	free(header);
	free(line);
}

static void test_csv_has_a_line_for_each_row_of_requests(void **state)
{
	struct recording *r = with_requests();
	char *csv = NULL;
	size_t len;

	assert_int_equal(export__render(r, EXPORT_CSV, EXPORT_OF_DEFAULT, &csv, &len), 0);
	assert_cell(csv, "requests,server,", "calls", "1000");
	assert_cell(csv, "requests,server,", "row_kind", "requests");
	assert_cell(csv, "requests,server,", "port", "8080");
	assert_cell(csv, "requests,server,", "codec_share_pct", "23.56");
	assert_cell(csv, "requests,server,", "bytes_in", "217000");
	assert_cell(csv, "requests,server,", "queued_sum_ns", "8000000");
	assert_cell(csv, "requests,handler,", "queued", "");
	assert_cell(csv, "requests,server,", "exclusive_in_buckets", "");
	assert_cell(csv, "requests,handler,", "calls", "3");
	assert_cell(csv, "requests,handler,", "port", "");
	assert_cell(csv, "requests,handler,", "bytes_in", "");
	assert_cell(csv, "encoding/json,", "row_kind", "calls");
	free(csv);
	recording__free(r);
}

static void test_a_share_of_calls_that_have_no_time_is_not_given(void **state)
{
	struct recording *r = with_requests();
	u64 *n = r->coverage.n;
	char *text, *json;

	n[HB_FN_ENTRIES] = 1000;
	n[HB_FN_UNKNOWN] = 51;
	n[HB_FN_DROPPED] = 0;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(text, "5.1% of all calls have no time"));
	assert_non_null(strstr(json, "\"codec_share_pct\": null"));
	assert_non_null(strstr(json, "\"codec_share_p50_pct\": null"));
	free(text);
	free(json);
	n[HB_FN_UNKNOWN] = 50;
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(json, "\"codec_share_pct\": 23.56"));
	free(json);
	recording__free(r);
}

static void test_a_request_shorter_than_half_its_probes_is_marked(void **state)
{
	struct recording *r = with_requests();
	char *text = printed(r, REPORT_TABLE);

	assert_non_null(strstr(text, "~500ns")); /* of the handler: its own pair costs more */
	assert_null(strstr(text, "~1.00ms"));
	assert_non_null(strstr(text, "~: less than"));
	free(text);
	recording__free(r);
}

/* Calls behind the last byte out are tied to a request and not within it. */
static void test_reports_say_what_ran_at_the_same_time_and_was_followed(void **state)
{
	struct recording *r = with_requests();
	char *text, *json;

	r->requests->follow_go = strdup(REQUESTS_FOLLOWED);
	r->requests->n[HB_REQ_STARTED] = 3000;
	r->requests->n[HB_REQ_INHERITED] = 2000;
	r->requests->row[0].parallel = 400;
	r->requests->row[0].overlap_ns = 160000000; /* of 278 ms */
	r->requests->row[1].followed = 30;
	text = printed(r, REPORT_TABLE);
	json = printed(r, REPORT_JSON);
	assert_non_null(strstr(text, "goroutines: 3,000 were started, 2,000 of them by one with"));
	assert_non_null(strstr(text, "<23.6%"));
	assert_non_null(strstr(text, "400 codec"));
	assert_non_null(strstr(text, "at least 10.0%"));
	assert_non_null(strstr(text, ": 30 of the codec"));
	assert_non_null(strstr(json, "\"codec_share_min_pct\": 10.00"));
	assert_non_null(strstr(json, "\"parallel\": 400"));
	assert_non_null(strstr(json, "\"followed_calls\": 30"));
	assert_non_null(strstr(json, "\"follow_go\": \"on\""));
	free(text);
	free(r->requests->follow_go);
	r->requests->follow_go = strdup("n/a (why)");
	text = printed(r, REPORT_TABLE);
	assert_non_null(strstr(text, "followed    goroutines: n/a (why)"));
	free(text);
	free(json);
	recording__free(r);
}

static void test_codecs_are_not_more_than_all_of_a_requests_time(void **state)
{
	struct recording *r = with_requests();
	char *text;

	r->requests->row[0].codec[0].ns = 1000 * r->requests->row[0].latency.sum_ns;
	text = printed(r, REPORT_TABLE);
	assert_non_null(
		strstr(text, "of the codec time tied to it cJSON decode 100.0% (1,000 calls)"));
	free(text);
	recording__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_share_of_all_is_a_sum_over_a_sum),
		cmocka_unit_test(test_what_probes_cost_a_short_request_is_said),
		cmocka_unit_test(test_csv_has_a_line_for_each_row_of_requests),
		cmocka_unit_test(test_shares_at_quantiles_are_of_the_requests_there),
		cmocka_unit_test(test_a_quantile_inside_a_bucket_takes_a_part_of_it),
		cmocka_unit_test(test_too_few_requests_have_no_share_at_a_quantile),
		cmocka_unit_test(test_a_capture_keeps_requests),
		cmocka_unit_test(test_a_row_of_a_function_that_is_not_there_is_damage),
		cmocka_unit_test(test_reports_show_requests_and_what_is_not_in_them),
		cmocka_unit_test(test_who_only_accepts_has_a_row_of_what_it_did),
		cmocka_unit_test(test_what_children_served_has_no_share_of_codecs),
		cmocka_unit_test(test_reports_say_how_long_the_world_was_stopped_and_for_whom),
		cmocka_unit_test(test_stops_that_were_not_seen_are_not_0),
		cmocka_unit_test(
			test_reports_divide_context_switches_by_the_requests_of_the_process),
		cmocka_unit_test(test_reports_say_that_shares_contain_what_readers_wait),
		cmocka_unit_test(test_reports_say_what_rates_are_of),
		cmocka_unit_test(test_calls_dropped_for_windows_do_not_hide_shares),
		cmocka_unit_test(test_requests_of_a_process_are_those_that_it_served),
		cmocka_unit_test(test_a_process_of_requests_that_is_not_there_is_damage),
		cmocka_unit_test(test_requests_over_tls_that_may_be_http2_are_said),
		cmocka_unit_test(test_requests_a_second_are_over_the_time_of_their_process),
		cmocka_unit_test(test_more_handlers_than_requests_are_said),
		cmocka_unit_test(test_a_share_of_calls_that_have_no_time_is_not_given),
		cmocka_unit_test(test_reports_say_what_ran_at_the_same_time_and_was_followed),
		cmocka_unit_test(test_codecs_are_not_more_than_all_of_a_requests_time),
		cmocka_unit_test(test_a_request_shorter_than_half_its_probes_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
