// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_merged.c - captures added up to one (report/merged.h): what is exact, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>

#include "capture/capture.h"
#include "model/request.h"
#include "report/group.h"
#include "report/merged.h"
#include "tests/unit/compare_pair.h"

static void test_merging_adds_up_exactly_and_is_a_capture(void **state)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all, *back;
	char why[512] = "", *bytes;
	struct pair p;
	size_t len;

	pair__init(&p, 2, 10, 5000);
	assert_int_equal(recordings_merge((const struct recording *const *)p.r, names, 2, &all, why,
					  sizeof(why)),
			 0);
	assert_int_equal(all->nr_rows, 2);
	assert_int_equal(all->nr_funcs, 2);
	assert_int_equal(all->nr_targets, 1);
	assert_int_equal(all->nr_intervals, 20);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(all->row[i].count, 10000);
		assert_true(all->row[i].dist[0].sum_ns ==
			    p.r[0]->row[i].dist[0].sum_ns + p.r[1]->row[i].dist[0].sum_ns);
		assert_true(all->func[i].n[HB_FN_ENTRIES] == 10000);
		assert_true(all->row[i].measured_ns == 20 * 1000000000ULL);
	}
	assert_true(all->end_mono_ns - all->begin_mono_ns == 20 * 1000000000ULL);
	assert_int_equal(capture__write_mem(all, &bytes, &len), 0);
	if (capture__read_mem(bytes, len, "all", &back, why, sizeof(why)))
		fail_msg("%s", why);
	assert_non_null(strstr(back->warning[0], "merged from 2 captures (a.hbp, b.hbp)"));
	free(bytes);
	recording__free(back);
	recording__free(all);
	pair__fini(&p);
}

static struct recording *merged(struct pair *p)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all = NULL;
	char why[512] = "";

	if (recordings_merge((const struct recording *const *)p->r, names, 2, &all, why,
			     sizeof(why)))
		fail_msg("%s", why);
	return all;
}

/* 10 s with calls and 10 s without are 20 s. */
static void test_merged_rates_are_over_the_time_without_calls_too(void **state)
{
	struct recording *all;
	struct pair p;

	pair__init(&p, 2, 10, 5000);
	p.r[1]->row[1].size_class = 12;
	p.r[1]->nr_rows = 1;
	all = merged(&p);
	assert_int_equal(all->nr_rows, 2);
	assert_int_equal(all->row[1].count, 5000);
	assert_true(all->row[1].measured_ns == 20 * 1000000000ULL);
	recording__free(all);
	p.r[1]->nr_rows = 2;
	pair__fini(&p);
}

/* Three runs of a benchmark do not make three times as many calls a second. */
static void test_merged_runs_of_a_program_have_the_rate_of_a_run(void **state)
{
	struct recording *all;
	struct groups groups;
	struct pair p;

	pair__init(&p, 1, 10, 5000);
	for (u32 i = 0; i < 2; i++) {
		struct m_target *t = &p.r[i]->target[0];

		t->start_time += i;
		t->begin_mono_ns = p.r[i]->begin_mono_ns;
		t->end_mono_ns = p.r[i]->end_mono_ns;
	}
	all = merged(&p);
	assert_int_equal(all->nr_targets, 2);
	assert_int_equal(groups__build(&groups, all, false), 0);
	assert_int_equal(groups.nr, 1);
	assert_true(groups.v[0].calls == 10000);
	assert_true(groups.v[0].measured_ns == 20 * 1000000000ULL);
	assert_int_equal(group__nr_classes(&groups.v[0]), 1);
	groups__fini(&groups);
	recording__free(all);
	pair__fini(&p);
}

static void test_merged_handlers_stay_such_and_requests_are_said_to_be_left_out(void **state)
{
	struct recording *all;
	bool said = false;
	struct pair p;

	pair__init(&p, 2, 10, 100);
	for (u32 i = 0; i < 2; i++) {
		p.r[i]->func[0].kind = strdup("handler");
		p.r[i]->requests = calloc(1, sizeof(*p.r[i]->requests));
	}
	all = merged(&p);
	assert_int_equal(all->nr_funcs, 2);
	assert_string_equal(all->func[0].kind, "handler");
	assert_ptr_not_equal(all->func[0].kind, p.r[0]->func[0].kind);
	for (u32 i = 0; i < all->nr_warnings; i++)
		said |= strstr(all->warning[i], "requests of 2 of the merged captures") != NULL;
	assert_true(said);
	recording__free(all);
	pair__fini(&p);
}

static void merge_refused(struct pair *p, const char *reason)
{
	const char *const names[] = {"a.hbp", "b.hbp"};
	struct recording *all;
	char why[512] = "";
	int err;

	err = recordings_merge((const struct recording *const *)p->r, names, 2, &all, why,
			       sizeof(why));
	if (!err || !strstr(why, reason) || !strstr(why, "b.hbp"))
		fail_msg("%d: \"%s\", expected \"%s\"", err, why, reason);
	pair__fini(p);
}

static void test_what_does_not_fit_is_not_merged(void **state)
{
	struct pair p;

	pair__init(&p, 1, 10, 100);
	free(p.r[1]->host.fact[0].value);
	p.r[1]->host.fact[0].value = strdup("Other CPU");
	merge_refused(&p, "its cpu_model is Other CPU");
	pair__init(&p, 1, 10, 100);
	p.r[1]->image[0].build_id = strdup("abcd");
	merge_refused(&p, "its build of /srv/bench is abcd");
	pair__init(&p, 1, 10, 100);
	p.r[1]->begin_wall_ns = p.r[0]->begin_wall_ns + 5000000000ULL;
	merge_refused(&p, "its calls would count twice");
	pair__init(&p, 1, 10, 100);
	p.r[1]->row[0].count = p.r[0]->row[0].count = ~0ULL >> 1;
	merge_refused(&p, "too large to be exact");
}

/* Written and read again, as what merges it once more would. */
static struct recording *reread(struct recording *r)
{
	struct recording *back = NULL;
	char why[512] = "", *bytes;
	size_t len;

	assert_int_equal(capture__write_mem(r, &bytes, &len), 0);
	if (capture__read_mem(bytes, len, "all", &back, why, sizeof(why)))
		fail_msg("%s", why);
	free(bytes);
	recording__free(r);
	return back;
}

static int merge_again(const struct recording *a, const struct recording *b, char *why, size_t len)
{
	const struct recording *const both[] = {a, b};
	const char *const names[] = {"all.hbp", "part.hbp"};
	struct recording *out = NULL;
	int err = recordings_merge(both, names, 2, &out, why, len);

	recording__free(out);
	return err;
}

/* The second part began long after the first one, and beyond the length of both. */
static void test_no_part_of_a_merged_capture_is_merged_into_it_again(void **state)
{
	char why[512] = "";
	struct recording *all;
	struct pair p, later;

	pair__init(&p, 1, 10, 100);
	all = reread(merged(&p));
	assert_int_equal(all->nr_spans, 2);
	for (u32 k = 0; k < 2; k++) {
		assert_int_equal(merge_again(all, p.r[k], why, sizeof(why)), -EINVAL);
		assert_non_null(strstr(why, "its calls would count twice"));
		assert_int_equal(merge_again(p.r[k], all, why, sizeof(why)), -EINVAL);
	}
	assert_int_equal(merge_again(all, all, why, sizeof(why)), -EINVAL);
	pair__init(&later, 1, 10, 100);
	later.r[0]->begin_wall_ns += 500000000000ULL; /* in the pause between them */
	assert_int_equal(merge_again(all, later.r[0], why, sizeof(why)), 0);
	pair__fini(&later);
	recording__free(all);
	pair__fini(&p);
}

/* Captures merged by earlier versions do not tell of what: anything later may be in them. */
static void test_a_merged_capture_that_does_not_tell_its_parts_takes_no_later_one(void **state)
{
	char why[512] = "";
	struct recording *all;
	struct pair p, earlier;

	pair__init(&p, 1, 10, 100);
	all = merged(&p);
	all->nr_spans = 0;
	assert_int_equal(merge_again(all, p.r[1], why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "merge the captures that all.hbp was merged from"));
	pair__init(&earlier, 1, 10, 100);
	earlier.r[0]->begin_wall_ns -= 500000000000ULL;
	assert_int_equal(merge_again(all, earlier.r[0], why, sizeof(why)), 0);
	pair__fini(&earlier);
	recording__free(all);
	pair__fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merging_adds_up_exactly_and_is_a_capture),
		cmocka_unit_test(test_merged_rates_are_over_the_time_without_calls_too),
		cmocka_unit_test(test_merged_runs_of_a_program_have_the_rate_of_a_run),
		cmocka_unit_test(
			test_merged_handlers_stay_such_and_requests_are_said_to_be_left_out),
		cmocka_unit_test(test_what_does_not_fit_is_not_merged),
		cmocka_unit_test(test_no_part_of_a_merged_capture_is_merged_into_it_again),
		cmocka_unit_test(
			test_a_merged_capture_that_does_not_tell_its_parts_takes_no_later_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
