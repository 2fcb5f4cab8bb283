// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_capture.c - captures come back as they were written, and nothing else comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "capture/pack.h"
#include "report/report.h"
#include "tests/unit/sample.h"

static char why[512];

static struct recording *read_back(const char *bytes, size_t len)
{
	struct recording *r = NULL;
	int err = capture__read_mem(bytes, len, "x.hbp", &r, why, sizeof(why));

	if (err)
		fail_msg("not read: %s", why);
	return r;
}

static char *report_text(const struct recording *r, enum report_format format)
{
	struct report_opts opts = {.format = format, .by = REPORT_BY_SIZE, .width = 100};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report__print(r, &opts, f), 0);
	fclose(f);
	return text;
}

/* ---- what goes in comes out ---- */

static void assert_same_dist(const struct m_dist *a, const struct m_dist *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->sum_ns, b->sum_ns);
	assert_int_equal(a->min_ns, b->min_ns);
	assert_int_equal(a->max_ns, b->max_ns);
	assert_int_equal(a->nr_buckets, b->nr_buckets);
	for (u32 i = 0; i < a->nr_buckets; i++) {
		assert_int_equal(a->bucket[i].idx, b->bucket[i].idx);
		assert_int_equal(a->bucket[i].n, b->bucket[i].n);
	}
}

static void assert_same_row(const struct m_row *a, const struct m_row *b)
{
	assert_int_equal(a->overflow, b->overflow);
	if (!a->overflow) {
		assert_int_equal(a->func, b->func);
		assert_int_equal(a->target, b->target);
	}
	assert_int_equal(a->size_class, b->size_class);
	assert_int_equal(a->outcome, b->outcome);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->measured_ns, b->measured_ns);
	assert_int_equal(a->raw_sum_ns, b->raw_sum_ns);
	assert_int_equal(a->raw_min_ns, b->raw_min_ns);
	assert_int_equal(a->raw_max_ns, b->raw_max_ns);
	assert_int_equal(a->nested, b->nested);
	assert_int_equal(a->size_sum, b->size_sum);
	assert_int_equal(a->size_min, b->size_min);
	assert_int_equal(a->size_max, b->size_max);
	assert_memory_equal(a->size_sub, b->size_sub, sizeof(a->size_sub));
	for (u32 d = 0; d < HB_DIST_NR; d++)
		assert_same_dist(&a->dist[d], &b->dist[d]);
}

static void assert_same_str(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void assert_same_func(const struct m_func *a, const struct m_func *b)
{
	assert_same_str(a->name, b->name);
	assert_same_str(a->codec, b->codec);
	assert_same_str(a->op, b->op);
	assert_same_str(a->library, b->library);
	assert_same_str(a->library_version, b->library_version);
	assert_same_str(a->note, b->note);
	assert_int_equal(a->image, b->image);
	assert_int_equal(a->vaddr, b->vaddr);
	assert_int_equal(a->lang, b->lang);
	assert_int_equal(a->exit_mode, b->exit_mode);
	assert_int_equal(a->entry_class, b->entry_class);
	assert_memory_equal(a->exit_sites, b->exit_sites, sizeof(a->exit_sites));
	assert_int_equal(a->has_size, b->has_size);
	assert_int_equal(a->has_err, b->has_err);
	assert_memory_equal(a->n, b->n, sizeof(a->n));
	assert_int_equal(a->in_flight_end, b->in_flight_end);
}

static void assert_same_interval(const struct m_interval *a, const struct m_interval *b)
{
	assert_int_equal(a->begin_mono_ns, b->begin_mono_ns);
	assert_int_equal(a->end_mono_ns, b->end_mono_ns);
	assert_int_equal(a->nr_deltas, b->nr_deltas);
	for (u32 i = 0; i < a->nr_deltas; i++) {
		const struct m_delta *x = &a->delta[i], *y = &b->delta[i];

		assert_int_equal(x->row, y->row);
		assert_int_equal(x->dist, y->dist);
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->sum_ns, y->sum_ns);
		assert_int_equal(x->nr_buckets, y->nr_buckets);
		for (u32 k = 0; k < x->nr_buckets; k++) {
			assert_int_equal(x->bucket[k].idx, y->bucket[k].idx);
			assert_int_equal(x->bucket[k].n, y->bucket[k].n);
		}
	}
}

static void assert_same_targets(const struct recording *a, const struct recording *b)
{
	assert_int_equal(a->nr_targets, b->nr_targets);
	for (u32 i = 0; i < a->nr_targets; i++) {
		const struct m_target *x = &a->target[i], *y = &b->target[i];

		assert_int_equal(x->pid, y->pid);
		assert_int_equal(x->start_time, y->start_time);
		assert_same_str(x->exe, y->exe);
		assert_same_str(x->build_id, y->build_id);
		assert_same_str(x->language, y->language);
		assert_int_equal(x->cpu_ns, y->cpu_ns);
		assert_int_equal(x->rss_bytes, y->rss_bytes);
		assert_same_str(x->end, y->end);
	}
}

static void assert_same_coverage(const struct m_coverage *a, const struct m_coverage *b)
{
	assert_memory_equal(a->n, b->n, sizeof(a->n));
	assert_int_equal(a->in_flight_start, b->in_flight_start);
	assert_int_equal(a->in_flight_end, b->in_flight_end);
	assert_int_equal(a->unmatched, b->unmatched);
	assert_memory_equal(a->drop, b->drop, sizeof(a->drop));
	assert_int_equal(a->balanced, b->balanced);
	assert_int_equal(a->measured_ns, b->measured_ns);
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->sites, b->sites);
	assert_int_equal(a->sites_refused, b->sites_refused);
	assert_int_equal(a->links, b->links);
	assert_int_equal(a->ras_discovered, b->ras_discovered);
	assert_int_equal(a->ras_refused, b->ras_refused);
}

static void assert_same(const struct recording *a, const struct recording *b)
{
	assert_same_str(a->version, b->version);
	assert_same_str(a->attach, b->attach);
	assert_same_str(a->stop_reason, b->stop_reason);
	assert_same_str(a->codecs, b->codecs);
	assert_int_equal(a->begin_wall_ns, b->begin_wall_ns);
	assert_int_equal(a->begin_mono_ns, b->begin_mono_ns);
	assert_int_equal(a->end_mono_ns, b->end_mono_ns);
	assert_int_equal(a->host.nr_facts, b->host.nr_facts);
	for (u32 i = 0; i < a->host.nr_facts; i++) {
		assert_string_equal(a->host.fact[i].key, b->host.fact[i].key);
		assert_string_equal(a->host.fact[i].value, b->host.fact[i].value);
	}
	assert_same_targets(a, b);
	assert_int_equal(a->nr_images, b->nr_images);
	for (u32 i = 0; i < a->nr_images; i++) {
		assert_same_str(a->image[i].path, b->image[i].path);
		assert_same_str(a->image[i].build_id, b->image[i].build_id);
	}
	assert_int_equal(a->nr_funcs, b->nr_funcs);
	for (u32 i = 0; i < a->nr_funcs; i++)
		assert_same_func(&a->func[i], &b->func[i]);
	assert_int_equal(a->nr_rows, b->nr_rows);
	for (u32 i = 0; i < a->nr_rows; i++)
		assert_same_row(&a->row[i], &b->row[i]);
	assert_int_equal(a->nr_intervals, b->nr_intervals);
	for (u32 i = 0; i < a->nr_intervals; i++)
		assert_same_interval(&a->interval[i], &b->interval[i]);
	assert_int_equal(a->nr_cals, b->nr_cals);
	if (a->nr_cals)
		assert_memory_equal(a->cal, b->cal, a->nr_cals * sizeof(*a->cal));
	assert_int_equal(a->nr_warnings, b->nr_warnings);
	for (u32 i = 0; i < a->nr_warnings; i++)
		assert_string_equal(a->warning[i], b->warning[i]);
	assert_same_coverage(&a->coverage, &b->coverage);
	assert_memory_equal(&a->cost, &b->cost, sizeof(a->cost));
}

static void assert_round_trip(const struct recording *r)
{
	struct recording *back;
	char *bytes, *again;
	size_t len, len2;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	back = read_back(bytes, len);
	assert_same(r, back);
	assert_int_equal(capture__write_mem(back, &again, &len2), 0);
	assert_int_equal(len, len2);
	assert_memory_equal(bytes, again, len);
	free(bytes);
	free(again);
	recording__free(back);
}

static void test_a_rich_recording_comes_back_identical(void **state)
{
	struct recording *r = sample_recording();

	r->codecs = strdup("cbf29ce484222325");
	assert_round_trip(r);
	recording__free(r);
}

static void test_an_empty_recording_comes_back_identical(void **state)
{
	struct recording *r = recording__new();

	assert_round_trip(r);
	recording__free(r);
}

static void test_counts_above_2_to_53_are_exact(void **state)
{
	struct recording *r = sample_recording();

	r->row[0].raw_sum_ns = ~0ULL - 1;
	r->row[0].raw_max_ns = ~0ULL - 1;
	r->row[0].size_sum = (1ULL << 53) + 1;
	r->row[0].size_max = (1ULL << 53) + 1;
	r->row[0].count += 1ULL << 53;
	r->row[0].dist[HB_DIST_LEAF].count += 1ULL << 53;
	r->row[0].dist[HB_DIST_LEAF].sum_ns += 2000 * (1ULL << 53);
	r->row[0].dist[HB_DIST_LEAF].bucket[3].n += 1ULL << 53;
	r->func[0].exits_by[HB_CLASS_BRANCH] += 1ULL << 53;
	r->func[0].n[HB_FN_EXITS] += 1ULL << 53;
	r->coverage.n[HB_FN_EXITS] += 1ULL << 53;
	r->func[1].n[HB_FN_ENTRIES] = (1ULL << 62) + 1;
	r->coverage.n[HB_FN_ENTRIES] = r->func[0].n[HB_FN_ENTRIES] + (1ULL << 62) + 2;
	assert_round_trip(r);
	recording__free(r);
}

static void test_the_overflow_row_and_buckets_that_ran_out_come_back(void **state)
{
	struct recording *r = sample_recording();
	struct m_row *row = sample_row(r, 0, 0, 5, HB_OUTCOME_OK);

	row->overflow = true;
	sample_calls(row, 700, 700, 5, 9);
	row = sample_row(r, 0, 0, 99999, HB_OUTCOME_OK);
	sample_calls(row, 700, 700, 99999, 9);
	sample_calls(row, 9, 9, 99999, 1);
	sample_calls(row, 99999, 99999, 99999, 1);
	/* Extremes of calls that have no bucket. */
	row->dist[HB_DIST_LEAF].bucket[0] = (struct m_bucket){hb_hist_bucket(700), 4};
	row->dist[HB_DIST_LEAF].nr_buckets = 1;
	for (u32 i = 0; i < 2; i++) {
		u64 *n = i ? r->coverage.n : r->func[0].n;

		n[HB_FN_ENTRIES] += 20;
		n[HB_FN_EXITS] += 20;
	}
	r->func[0].exits_by[HB_CLASS_BRANCH] += 20;
	assert_round_trip(r);
	recording__free(r);
}

static void test_a_replayed_report_is_byte_for_byte_the_live_one(void **state)
{
	struct recording *r = sample_recording(), *back;
	char *bytes, *live, *replayed;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	back = read_back(bytes, len);
	for (int format = REPORT_TABLE; format <= REPORT_JSON; format++) {
		live = report_text(r, format);
		replayed = report_text(back, format);
		assert_string_equal(live, replayed);
		free(live);
		free(replayed);
	}
	free(bytes);
	recording__free(r);
	recording__free(back);
}

/* ---- damage ---- */

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
			assert_same(r, back);
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

/* ---- files ---- */

static void test_a_file_is_written_read_and_named_in_errors(void **state)
{
	char dir[] = "/tmp/hbprof-test.XXXXXX", path[64];
	struct recording *r = sample_recording(), *back = NULL;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.hbp", dir);
	assert_int_equal(capture__read(path, &back, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, path));
	assert_int_equal(capture__write(r, path), 0);
	assert_int_equal(capture__read(path, &back, why, sizeof(why)), 0);
	assert_same(r, back);
	assert_int_equal(truncate(path, 100), 0);
	recording__free(back);
	back = NULL;
	assert_int_equal(capture__read(path, &back, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, path));
	unlink(path);
	rmdir(dir);
	recording__free(r);
}

static void test_a_full_disk_fails_and_leaves_the_old_file(void **state)
{
	char dir[] = "/tmp/hbprof-test.XXXXXX", path[64];
	struct recording *r = sample_recording(), *back = NULL;
	struct rlimit old, tiny;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.hbp", dir);
	assert_int_equal(capture__write(r, path), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tiny = (struct rlimit){100, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	assert_true(capture__write(r, path) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(capture__read(path, &back, why, sizeof(why)), 0);
	recording__free(back);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left in it */
	recording__free(r);
}

static void test_a_full_disk_behind_standard_output_is_an_error(void **state)
{
	struct recording *r = sample_recording();
	int full = open("/dev/full", O_WRONLY), saved, err;

	if (full < 0)
		skip();
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(full, STDOUT_FILENO);
	err = capture__write(r, "-");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	assert_int_equal(err, -ENOSPC);
	recording__free(r);
}

/* ---- packing ---- */

static void test_varints_of_every_length_come_back(void **state)
{
	struct strbuf b;
	struct unpack u;
	char *text;
	u64 v;

	strbuf__init(&b, 4096);
	for (u32 i = 0; i < 64; i++) {
		pack_varint(&b, 1ULL << i);
		pack_varint(&b, (1ULL << i) - 1);
	}
	pack_varint(&b, ~0ULL);
	text = pack_base64(&b);
	assert_int_equal(unpack__init(&u, text), 0);
	for (u32 i = 0; i < 64; i++) {
		assert_int_equal(unpack__varint(&u, &v), 0);
		assert_int_equal(v, 1ULL << i);
		assert_int_equal(unpack__varint(&u, &v), 0);
		assert_int_equal(v, (1ULL << i) - 1);
	}
	assert_int_equal(unpack__varint(&u, &v), 0);
	assert_true(v == ~0ULL && unpack__done(&u));
	assert_int_equal(unpack__varint(&u, &v), -EBADMSG);
	unpack__fini(&u);
	free(text);
	strbuf__fini(&b);
}

static void test_base64_follows_the_vectors_of_rfc_4648(void **state)
{
	static const char *const plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
	static const char *const coded[] = {"",		"Zg==",	    "Zm8=",    "Zm9v",
					    "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
	static const char *const bad[] = {
		"Z", "Zg=", "Zh==", "Zm9=", "====", "Z===", "Zg==Zg==", "Zm 9", "Zm9\n"};
	struct strbuf b;
	struct unpack u;
	char *text;

	for (u32 i = 0; i < 7; i++) {
		strbuf__init(&b, 64);
		strbuf__adds(&b, plain[i]);
		text = pack_base64(&b);
		assert_string_equal(text, coded[i]);
		assert_int_equal(unpack__init(&u, text), 0);
		assert_int_equal(u.len, strlen(plain[i]));
		assert_memory_equal(u.bytes, plain[i], u.len);
		unpack__fini(&u);
		free(text);
		strbuf__fini(&b);
	}
	for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(unpack__init(&u, bad[i]), -EBADMSG);
		unpack__fini(&u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rich_recording_comes_back_identical),
		cmocka_unit_test(test_an_empty_recording_comes_back_identical),
		cmocka_unit_test(test_counts_above_2_to_53_are_exact),
		cmocka_unit_test(test_the_overflow_row_and_buckets_that_ran_out_come_back),
		cmocka_unit_test(test_a_replayed_report_is_byte_for_byte_the_live_one),
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
		cmocka_unit_test(test_a_file_is_written_read_and_named_in_errors),
		cmocka_unit_test(test_a_full_disk_fails_and_leaves_the_old_file),
		cmocka_unit_test(test_a_full_disk_behind_standard_output_is_an_error),
		cmocka_unit_test(test_varints_of_every_length_come_back),
		cmocka_unit_test(test_base64_follows_the_vectors_of_rfc_4648),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
