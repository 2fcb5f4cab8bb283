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
	assert_int_equal(a->cold, b->cold);
	assert_int_equal(a->cold_in_ns, b->cold_in_ns);
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
		cmocka_unit_test(test_a_file_is_written_read_and_named_in_errors),
		cmocka_unit_test(test_a_full_disk_fails_and_leaves_the_old_file),
		cmocka_unit_test(test_a_full_disk_behind_standard_output_is_an_error),
		cmocka_unit_test(test_varints_of_every_length_come_back),
		cmocka_unit_test(test_base64_follows_the_vectors_of_rfc_4648),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
