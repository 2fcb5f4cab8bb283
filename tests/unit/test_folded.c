// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_folded.c - folded stacks of every kind into a tree, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "flamegraph/folded.h"

static struct folded *new_tree(const struct folded_limits *limits)
{
	struct folded *f = NULL;

	assert_int_equal(folded__new(limits, &f), 0);
	return f;
}

static struct folded *read_bytes(const void *bytes, size_t len, const struct folded_limits *limits)
{
	struct folded *f = new_tree(limits);
	FILE *in = fmemopen((void *)bytes, len, "r");

	assert_non_null(in);
	assert_int_equal(folded__read(f, in), 0);
	fclose(in);
	return f;
}

static struct folded *read_str(const char *s)
{
	return read_bytes(s, strlen(s), NULL);
}

static enum folded_bad add(struct folded *f, const char *line)
{
	enum folded_bad bad = FOLDED_NR;

	assert_int_equal(folded__add_line(f, line, strlen(line), &bad), 0);
	return bad;
}

/* The node of a path of names, or NULL. */
static const struct folded_node *node(const struct folded *f, const char *const *path)
{
	u32 at = 0;

	for (; *path; path++) {
		for (at = f->node[at].child; at != FOLDED_NONE; at = f->node[at].next)
			if (!strcmp(folded__name(f, at), *path))
				break;
		if (at == FOLDED_NONE)
			return NULL;
	}
	return &f->node[at];
}
#define NODE(f, ...) node(f, (const char *const[]){__VA_ARGS__, NULL})

static void assert_node(const struct folded_node *n, u64 self, u64 total)
{
	assert_non_null(n);
	assert_int_equal(n->self, self);
	assert_int_equal(n->total, total);
}

static void test_equal_paths_are_one_node_and_their_counts_add_up(void **state)
{
	struct folded *f =
		read_str("main;work;encode 5\nmain;work 2\nmain;work;encode 7\nother 1\n");

	assert_int_equal(f->nr_nodes, 5);
	assert_int_equal(f->depth, 3);
	assert_node(NODE(f, "main"), 0, 14);
	assert_node(NODE(f, "main", "work"), 2, 14);
	assert_node(NODE(f, "main", "work", "encode"), 12, 12);
	assert_node(NODE(f, "other"), 1, 1);
	assert_int_equal(f->node[0].total, 15);
	assert_int_equal(f->lines[FOLDED_OK], 4);
	folded__free(f);
}

static void test_one_name_in_two_places_is_two_nodes(void **state)
{
	struct folded *f = read_str("a;b;a 1\nb;a 2\n");

	assert_node(NODE(f, "a"), 0, 1);
	assert_node(NODE(f, "a", "b", "a"), 1, 1);
	assert_node(NODE(f, "b", "a"), 2, 2);
	folded__free(f);
}

static void test_frames_may_hold_spaces_and_end_in_numbers(void **state)
{
	struct folded *f = read_str("std::map<int, long> f(int);thread 7;step 12 3\n");

	assert_node(NODE(f, "std::map<int, long> f(int)", "thread 7", "step 12"), 3, 3);
	folded__free(f);
}

static void test_crlf_tabs_and_a_missing_last_newline_are_read(void **state)
{
	struct folded *f = read_str("a;b 1\r\na;b\t2\r\na;b  4  ");

	assert_node(NODE(f, "a", "b"), 7, 7);
	assert_int_equal(f->lines[FOLDED_OK], 3);
	folded__free(f);
}

static void test_each_kind_of_bad_line_is_counted_and_left_out(void **state)
{
	struct folded *f = new_tree(NULL);

	assert_int_equal(add(f, ""), FOLDED_EMPTY);
	assert_int_equal(add(f, " \t\r"), FOLDED_EMPTY);
	assert_int_equal(add(f, "a;b"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b c"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b 1.5"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b 0x10"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b +1"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b -"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "17"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "  17"), FOLDED_NO_COUNT);
	assert_int_equal(add(f, "a;b 0"), FOLDED_ZERO);
	assert_int_equal(add(f, "a;b -3"), FOLDED_NEGATIVE);
	assert_int_equal(add(f, "a;b 18446744073709551616"), FOLDED_HUGE);
	assert_int_equal(add(f, "a;b 99999999999999999999999999"), FOLDED_HUGE);
	assert_int_equal(add(f, ";a 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(add(f, "a; 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(add(f, "a;;b 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(f->nr_nodes, 1);
	assert_int_equal(f->node[0].total, 0);
	assert_int_equal(f->lines[FOLDED_EMPTY], 2);
	assert_int_equal(f->lines[FOLDED_NO_COUNT], 8);
	assert_int_equal(f->lines[FOLDED_ZERO], 1);
	assert_int_equal(f->lines[FOLDED_NEGATIVE], 1);
	assert_int_equal(f->lines[FOLDED_HUGE], 2);
	assert_int_equal(f->lines[FOLDED_EMPTY_FRAME], 3);
	folded__free(f);
}

static void test_a_sum_above_u64_is_refused_and_the_tree_stays_exact(void **state)
{
	struct folded *f = new_tree(NULL);

	assert_int_equal(add(f, "a 18446744073709551615"), FOLDED_OK);
	assert_int_equal(add(f, "b 1"), FOLDED_HUGE);
	assert_true(f->node[0].total == ~0ULL);
	assert_null(NODE(f, "b"));
	folded__free(f);
}

static void test_a_0_byte_makes_the_line_binary(void **state)
{
	static const char bytes[] = "a\0b 1\nc 2\n";
	struct folded *f = read_bytes(bytes, sizeof(bytes) - 1, NULL);

	assert_int_equal(f->lines[FOLDED_BINARY], 1);
	assert_node(NODE(f, "c"), 2, 2);
	folded__free(f);
}

static void test_a_line_above_the_limit_is_skipped_to_its_end(void **state)
{
	static const char text[] = "abcdef 1\nabcdefg 1\nxxxxxxxxxxxxxxxxxxxxxxxx 5\nb 2\n";
	struct folded_limits limits = folded_default_limits;
	struct folded *f;

	limits.max_line = 8;
	f = read_bytes(text, sizeof(text) - 1, &limits);
	assert_int_equal(f->lines[FOLDED_LONG], 2);
	assert_node(NODE(f, "abcdef"), 1, 1);
	assert_node(NODE(f, "b"), 2, 2);
	assert_int_equal(f->node[0].total, 3);
	folded__free(f);
}

static void test_a_stack_above_the_limit_is_left_out_whole(void **state)
{
	struct folded_limits limits = folded_default_limits;
	struct folded *f;

	limits.max_depth = 3;
	f = new_tree(&limits);
	assert_int_equal(add(f, "a;b;c 1"), FOLDED_OK);
	assert_int_equal(add(f, "a;b;c;d 1"), FOLDED_DEEP);
	assert_node(NODE(f, "a"), 0, 1);
	assert_int_equal(f->depth, 3);
	folded__free(f);
}

static void test_a_full_tree_still_counts_the_stacks_it_knows(void **state)
{
	struct folded_limits limits = folded_default_limits;
	struct folded *f;

	limits.max_nodes = 4; /* the root and three more */
	f = new_tree(&limits);
	assert_int_equal(add(f, "a;b 1"), FOLDED_OK);
	assert_int_equal(add(f, "a;c;d 1"), FOLDED_FULL);
	assert_int_equal(f->nr_nodes, 3);
	assert_int_equal(add(f, "a;c 1"), FOLDED_OK);
	assert_int_equal(add(f, "a;b 1"), FOLDED_OK);
	assert_int_equal(add(f, "e 1"), FOLDED_FULL);
	assert_node(NODE(f, "a"), 0, 3);
	folded__free(f);
	limits = folded_default_limits;
	limits.max_names = 1 + 4;
	f = new_tree(&limits);
	assert_int_equal(add(f, "abc 1"), FOLDED_OK);
	assert_int_equal(add(f, "abc;abc 1"), FOLDED_OK);
	assert_int_equal(add(f, "d 1"), FOLDED_FULL);
	folded__free(f);
}

static void test_many_different_stacks_are_all_found_again(void **state)
{
	struct folded *f = new_tree(NULL);
	char line[64];

	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < 20000; i++) {
			snprintf(line, sizeof(line), "r;f%u;g%u %u", i % 200, i, i + 1);
			assert_int_equal(add(f, line), FOLDED_OK);
		}
	}
	assert_int_equal(f->nr_nodes, 1 + 1 + 200 + 20000);
	assert_int_equal(f->node[0].total, 20000ull * 20001);
	for (u32 i = 1; i < f->nr_nodes; i++)
		assert_true(f->node[i].parent < i);
	folded__free(f);
}

static void test_the_tree_follows_its_nodes_and_not_the_input(void **state)
{
	struct folded *f = new_tree(NULL);

	for (u32 i = 0; i < 100000; i++)
		assert_int_equal(add(f, "a;b;c 1"), FOLDED_OK);
	assert_int_equal(f->nr_nodes, 4);
	assert_node(NODE(f, "a", "b", "c"), 100000, 100000);
	folded__free(f);
}

static void test_every_reason_has_a_text(void **state)
{
	for (u32 i = 0; i < FOLDED_NR; i++)
		assert_true(strlen(folded_bad_text(i)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_paths_are_one_node_and_their_counts_add_up),
		cmocka_unit_test(test_one_name_in_two_places_is_two_nodes),
		cmocka_unit_test(test_frames_may_hold_spaces_and_end_in_numbers),
		cmocka_unit_test(test_crlf_tabs_and_a_missing_last_newline_are_read),
		cmocka_unit_test(test_each_kind_of_bad_line_is_counted_and_left_out),
		cmocka_unit_test(test_a_sum_above_u64_is_refused_and_the_tree_stays_exact),
		cmocka_unit_test(test_a_0_byte_makes_the_line_binary),
		cmocka_unit_test(test_a_line_above_the_limit_is_skipped_to_its_end),
		cmocka_unit_test(test_a_stack_above_the_limit_is_left_out_whole),
		cmocka_unit_test(test_a_full_tree_still_counts_the_stacks_it_knows),
		cmocka_unit_test(test_many_different_stacks_are_all_found_again),
		cmocka_unit_test(test_the_tree_follows_its_nodes_and_not_the_input),
		cmocka_unit_test(test_every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
