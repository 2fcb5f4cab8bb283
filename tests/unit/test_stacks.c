// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_stacks.c - CPU stacks: equal ones together, within bounds; named; kept in a capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "capture/capture.h"
#include "capture/gz.h"
#include "capture/pack.h"
#include "model/stackagg.h"
#include "report/report.h"
#include "tests/unit/sample.h"

static void add(struct stackagg *a, const char *frames, u32 func, u64 count)
{
	u64 key[64];
	u32 nr = 0;

	for (; frames[nr]; nr++)
		key[nr] = (u64)(u8)frames[nr] << 48;
	assert_int_equal(stackagg__add(a, key, nr, func, 0, count), 0);
}

/* Names: the letters, in lower case, so that 'a' and 'A' are one function. */
static void name_all(const struct stackagg *a, struct m_stacks *out)
{
	char text[64][2], *name[64];

	assert_true(a->nr_frames <= 64);
	for (u32 i = 0; i < a->nr_frames; i++) {
		text[i][0] = (char)(a->frame[i] >> 48 | 0x20);
		text[i][1] = '\0';
		name[i] = text[i];
	}
	*out = (struct m_stacks){0};
	assert_int_equal(stackagg__name(a, name, out), 0);
}

/* "abc 3\n" for each stack; "@N" is its function. */
static const char *folded(const struct m_stacks *s)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (u32 i = 0; i < s->nr_stacks; i++) {
		const struct m_stack *st = &s->stack[i];

		for (u32 k = 0; k < st->nr_frames; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					      s->name[s->frame[st->first + k]]);
		if (st->func != M_NO_FUNC)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "@%u", st->func);
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %llu\n", st->count);
	}
	return text;
}

static void test_equal_stacks_are_counted_together_and_others_apart(void **state)
{
	struct stackagg a;
	struct m_stacks s;

	stackagg__init(&a, NULL);
	add(&a, "mxy", 1, 1);
	add(&a, "mx", 1, 1);
	add(&a, "mxy", 1, 4);
	add(&a, "mxy", M_NO_FUNC, 1);
	add(&a, "myx", 1, 1);
	assert_int_equal(a.samples, 8);
	assert_int_equal(a.nr_stacks, 4);
	name_all(&a, &s);
	assert_string_equal(folded(&s), "mx@1 1\nmxy@1 5\nmxy 1\nmyx@1 1\n");
	m_stacks__fini(&s);
	stackagg__fini(&a);
}

static void test_stacks_whose_names_are_equal_become_one(void **state)
{
	struct stackagg a;
	struct m_stacks s;

	stackagg__init(&a, NULL);
	add(&a, "mX", 1, 2);
	add(&a, "mx", 1, 3);
	assert_int_equal(a.nr_stacks, 2);
	name_all(&a, &s);
	assert_string_equal(folded(&s), "mx@1 5\n");
	assert_int_equal(s.nr_names, 2);
	m_stacks__fini(&s);
	stackagg__fini(&a);
}

static void test_the_order_of_samples_does_not_show(void **state)
{
	struct stackagg a, b;
	struct m_stacks s, t;
	char first[1024];

	stackagg__init(&a, NULL);
	stackagg__init(&b, NULL);
	add(&a, "pq", 0, 1);
	add(&a, "pr", 2, 1);
	add(&a, "p", 0, 1);
	add(&b, "p", 0, 1);
	add(&b, "pr", 2, 1);
	add(&b, "pq", 0, 1);
	name_all(&a, &s);
	name_all(&b, &t);
	snprintf(first, sizeof(first), "%s", folded(&s));
	assert_string_equal(first, folded(&t));
	m_stacks__fini(&s);
	m_stacks__fini(&t);
	stackagg__fini(&a);
	stackagg__fini(&b);
}

static void test_what_finds_no_room_is_counted_under_its_tag(void **state)
{
	static const struct stackagg_limits few_stacks = {2, 100, 100}, few_frames = {100, 2, 100},
					    few_refs = {100, 100, 3};
	const struct stackagg_limits *limits[] = {&few_stacks, &few_frames, &few_refs};

	for (u32 i = 0; i < 3; i++) {
		struct stackagg a;
		struct m_stacks s;

		stackagg__init(&a, limits[i]);
		add(&a, "m", 1, 1);
		add(&a, "mx", 1, 1);
		add(&a, "mxyz", 1, 5);
		add(&a, "mzzz", M_NO_FUNC, 7);
		add(&a, "mx", 1, 1); /* known ones still count */
		assert_int_equal(a.samples, 15);
		assert_int_equal(a.nr_overflow, 12);
		name_all(&a, &s);
		assert_string_equal(folded(&s), "@1 5\n 7\nm@1 1\nmx@1 2\n");
		m_stacks__fini(&s);
		stackagg__fini(&a);
	}
}

static void test_ten_thousand_stacks_are_found_again(void **state)
{
	struct stackagg a;
	u64 key[3];

	stackagg__init(&a, NULL);
	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < 10000; i++) {
			key[0] = 1;
			key[1] = i / 100 + 2;
			key[2] = i % 100 + 1000;
			assert_int_equal(stackagg__add(&a, key, 3, i % 7, 0, 1), 0);
		}
	}
	assert_int_equal(a.nr_stacks, 10000);
	assert_int_equal(a.nr_frames, 201);
	for (u32 i = 0; i < a.nr_stacks; i++)
		assert_int_equal(a.stack[i].count, 2);
	stackagg__fini(&a);
}

/* ---- captures ---- */

static struct recording *with_stacks(void)
{
	struct recording *r = sample_recording();

	sample_stacks(r);
	return r;
}

static char *json_of(const struct recording *r, size_t *len)
{
	const char *reason;
	char *bytes, *text;
	size_t n;

	assert_int_equal(capture__write_mem(r, &bytes, &n), 0);
	assert_int_equal(gz_unpack(bytes, n, CAPTURE_MAX_TEXT, &text, len, &reason), 0);
	free(bytes);
	return text;
}

static int read_back(const char *text, size_t len, struct recording **r, char why[512])
{
	char *bytes;
	size_t n;
	int err;

	*r = NULL;
	why[0] = '\0';
	assert_int_equal(gz_pack(text, len, &bytes, &n), 0);
	err = capture__read_mem(bytes, n, "x.hbp", r, why, 512);
	free(bytes);
	return err;
}

static void test_stacks_come_back_from_a_capture(void **state)
{
	struct recording *r = with_stacks(), *back;
	const struct m_stacks *s, *t;
	char why[512], *text;
	size_t len;

	text = json_of(r, &len);
	assert_int_equal(read_back(text, len, &back, why), 0);
	s = &r->stacks;
	t = &back->stacks;
	assert_string_equal(t->event, "cpu-clock");
	assert_string_equal(t->unit, "samples");
	assert_int_equal(t->frequency_hz, 99);
	assert_int_equal(t->samples, 100);
	assert_int_equal(t->lost, 3);
	assert_int_equal(t->truncated, 10);
	assert_int_equal(t->unkept, 1);
	assert_int_equal(t->nr_names, s->nr_names);
	assert_string_equal(t->name[1], "main.main");
	assert_string_equal(t->name[2], "memcpy_\\xff[k]_[k]"); /* as everywhere */
	assert_int_equal(t->nr_frames, s->nr_frames);
	assert_memory_equal(t->frame, s->frame, s->nr_frames * sizeof(*s->frame));
	assert_int_equal(t->nr_stacks, s->nr_stacks);
	assert_memory_equal(t->stack, s->stack, s->nr_stacks * sizeof(*s->stack));
	free(text);
	recording__free(r);
	recording__free(back);
}

static void test_a_capture_without_samples_has_no_stacks(void **state)
{
	struct recording *r = sample_recording(), *back;
	char why[512], *text;
	size_t len;

	text = json_of(r, &len);
	assert_null(strstr(text, "\"stacks\""));
	assert_int_equal(read_back(text, len, &back, why), 0);
	assert_null(back->stacks.event);
	assert_true(m_stacks__in_calls(back) == M_NONE);
	assert_true(m_stacks__in_func(&back->stacks, 0, 0) == M_NONE);
	free(text);
	recording__free(r);
	recording__free(back);
}

/* The sample's stacks with `from` replaced are refused. */
static void refused(const char *from, const char *to)
{
	struct recording *r = with_stacks(), *back;
	char why[512], *text, *at, *changed;
	size_t len;
	int n;

	text = json_of(r, &len);
	at = strstr(text, "\"stacks\":");
	at = at ? strstr(at, from) : NULL;
	if (!at)
		fail_msg("the stacks have no %s", from);
	*at = '\0';
	n = asprintf(&changed, "%s%s%s", text, to, at + strlen(from));
	assert_true(n > 0);
	if (read_back(changed, (size_t)n, &back, why) != -EBADMSG)
		fail_msg("%s -> %s was read", from, to);
	assert_null(back);
	free(changed);
	free(text);
	recording__free(r);
}

/* The packed stacks as text, of numbers. */
static void refused_folded(u32 nr, const u64 *v, u32 nr_stacks)
{
	struct recording *r = with_stacks();
	struct strbuf b;
	char *text, *old, *from, *to, *packed, nr_text[64];
	size_t len;

	text = json_of(r, &len);
	old = strstr(text, "\"folded\":\"");
	assert_non_null(old);
	*strchr(old + 10, '"') = '\0';
	strbuf__init(&b, 4096);
	for (u32 i = 0; i < nr; i++)
		pack_varint(&b, v[i]);
	packed = pack_base64(&b);
	assert_non_null(packed);
	snprintf(nr_text, sizeof(nr_text), "\"nr_stacks\":%u", nr_stacks);
	assert_true(asprintf(&from, "\"nr_stacks\":4,%s", old) > 0);
	assert_true(asprintf(&to, "%s,\"folded\":\"%s", nr_text, packed) > 0);
	refused(from, to);
	free(from);
	free(to);
	free(packed);
	strbuf__fini(&b);
	free(text);
	recording__free(r);
}

static void test_damaged_stacks_are_refused(void **state)
{
	refused("\"frequency_hz\":99", "\"frequency_hz\":0");
	refused("\"frequency_hz\":99", "\"frequency_hz\":-1");
	refused("\"event\":\"cpu-clock\",", "");
	refused("\"event\":\"cpu-clock\"", "\"event\":7");
	refused("\"samples\":\"100\"", "\"samples\":\"99\"");
	refused("\"samples\":\"100\"", "\"samples\":\"101\"");
	refused("\"truncated\":\"10\"", "\"truncated\":\"101\"");
	refused("\"unkept\":\"1\"", "\"unkept\":\"101\"");
	refused("\"nr_stacks\":4", "\"nr_stacks\":3");
	refused("\"nr_stacks\":4", "\"nr_stacks\":5");
	refused("\"nr_stacks\":4", "\"nr_stacks\":4294967295");
	refused("\"folded\":\"", "\"folded\":\"!");
	refused("\"folded\":", "\"unfolded\":");
	refused("\"main.main\"", "null");
	refused("\"main.main\",", "");
}

static void test_stacks_that_point_nowhere_are_refused(void **state)
{
	/* samples, function + 1, target, frames, names */
	refused_folded(5, (const u64[]){100, 1, 0, 1, 4}, 1);	  /* no such name */
	refused_folded(5, (const u64[]){100, 4, 0, 1, 3}, 1);	  /* no such function */
	refused_folded(5, (const u64[]){100, 1, 2, 1, 3}, 1);	  /* no such target */
	refused_folded(5, (const u64[]){100, 1, 0, 2, 3}, 1);	  /* more frames than there are */
	refused_folded(5, (const u64[]){100, 1, 0, ~0ULL, 3}, 1); /* likewise */
	refused_folded(9, (const u64[]){100, 1, 0, 1, 3, 0, 0, 0, 0}, 2);  /* of no samples */
	refused_folded(8, (const u64[]){~0ULL, 1, 0, 0, 101, 1, 0, 0}, 2); /* the sum overflows */
	refused_folded(6, (const u64[]){100, 1, 0, 1, 3, 0}, 1);	   /* something behind */
}

static void test_reports_tell_the_samples_of_each_codec(void **state)
{
	struct recording *r = with_stacks();
	struct report_opts opts = {.format = REPORT_TABLE};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report__print(r, &opts, f), 0);
	opts.format = REPORT_JSON;
	assert_int_equal(report__print(r, &opts, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "CPU samples 100 of cpu-clock at 99 Hz, 3 lost; "));
	assert_non_null(strstr(text, "in the calls above 91.0%"));
	assert_non_null(strstr(text, "cut stack 10.0%"));
	assert_non_null(strstr(text, "\"cpu_samples\": 90,"));
	assert_non_null(strstr(text, "\"cpu_samples\": 1,"));
	assert_non_null(strstr(text, "\"cpu_samples\": 0,"));
	assert_non_null(strstr(text, "\"in_calls\": 91,"));
	free(text);
	recording__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_are_counted_together_and_others_apart),
		cmocka_unit_test(test_stacks_whose_names_are_equal_become_one),
		cmocka_unit_test(test_the_order_of_samples_does_not_show),
		cmocka_unit_test(test_what_finds_no_room_is_counted_under_its_tag),
		cmocka_unit_test(test_ten_thousand_stacks_are_found_again),
		cmocka_unit_test(test_stacks_come_back_from_a_capture),
		cmocka_unit_test(test_a_capture_without_samples_has_no_stacks),
		cmocka_unit_test(test_damaged_stacks_are_refused),
		cmocka_unit_test(test_stacks_that_point_nowhere_are_refused),
		cmocka_unit_test(test_reports_tell_the_samples_of_each_codec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
