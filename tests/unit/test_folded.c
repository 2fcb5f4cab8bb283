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

/* A reader with a tree of its own. */
struct pair {
	struct flame_tree *t;
	struct folded f;
};

static struct pair *new_pair(const struct flame_limits *limits)
{
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(flame_tree__new(limits, &p->t), 0);
	assert_int_equal(folded__init(&p->f, p->t, FLAME_WIDTH), 0);
	return p;
}

static void free_pair(struct pair *p)
{
	folded__fini(&p->f);
	flame_tree__free(p->t);
	free(p);
}

static void read_into(struct pair *p, const void *bytes, size_t len)
{
	FILE *in = fmemopen((void *)bytes, len, "r");

	assert_non_null(in);
	assert_int_equal(folded__read(&p->f, in), 0);
	fclose(in);
}

static struct pair *read_str(const char *s)
{
	struct pair *p = new_pair(NULL);

	read_into(p, s, strlen(s));
	return p;
}

static enum folded_bad add(struct pair *p, const char *line)
{
	enum folded_bad bad = FOLDED_NR;

	assert_int_equal(folded__add_line(&p->f, line, strlen(line), &bad), 0);
	return bad;
}

/* The number of the node at a path of names, or FLAME_NONE. */
static u32 node(struct pair *p, const char *const *path)
{
	const struct flame_tree *t = p->t;
	u32 at = 0;

	assert_int_equal(flame_tree__sum(p->t), 0);
	for (; *path; path++) {
		for (at = t->node[at].child; at != FLAME_NONE; at = t->node[at].next)
			if (!strcmp(flame_tree__name(t, at), *path))
				break;
		if (at == FLAME_NONE)
			return FLAME_NONE;
	}
	return at;
}
#define NODE(p, ...) node(p, (const char *const[]){__VA_ARGS__, NULL})

static void assert_weights(struct pair *p, u32 n, u64 self, u64 total)
{
	assert_true(n < p->t->nr_nodes);
	assert_int_equal(p->t->self[FLAME_WIDTH][n], self);
	assert_int_equal(p->t->total[FLAME_WIDTH][n], total);
}
#define ASSERT_NODE(p, self, total, ...) assert_weights(p, NODE(p, __VA_ARGS__), self, total)

static void test_equal_paths_are_one_node_and_their_counts_add_up(void **state)
{
	struct pair *p = read_str("main;work;encode 5\nmain;work 2\nmain;work;encode 7\nother 1\n");

	assert_int_equal(p->t->nr_nodes, 5);
	assert_int_equal(p->t->depth, 3);
	ASSERT_NODE(p, 0, 14, "main");
	ASSERT_NODE(p, 2, 14, "main", "work");
	ASSERT_NODE(p, 12, 12, "main", "work", "encode");
	ASSERT_NODE(p, 1, 1, "other");
	assert_int_equal(p->t->sum[FLAME_WIDTH], 15);
	assert_int_equal(p->f.lines[FOLDED_OK], 4);
	free_pair(p);
}

static void test_one_name_in_two_places_is_two_nodes(void **state)
{
	struct pair *p = read_str("a;b;a 1\nb;a 2\n");

	ASSERT_NODE(p, 0, 1, "a");
	ASSERT_NODE(p, 1, 1, "a", "b", "a");
	ASSERT_NODE(p, 2, 2, "b", "a");
	free_pair(p);
}

static void test_frames_may_hold_spaces_and_end_in_numbers(void **state)
{
	struct pair *p = read_str("std::map<int, long> f(int);thread 7;step 12 3\n");

	ASSERT_NODE(p, 3, 3, "std::map<int, long> f(int)", "thread 7", "step 12");
	free_pair(p);
}

static void test_crlf_tabs_and_a_missing_last_newline_are_read(void **state)
{
	struct pair *p = read_str("a;b 1\r\na;b\t2\r\na;b  4  ");

	ASSERT_NODE(p, 7, 7, "a", "b");
	assert_int_equal(p->f.lines[FOLDED_OK], 3);
	free_pair(p);
}

static void test_each_kind_of_bad_line_is_counted_and_left_out(void **state)
{
	struct pair *p = new_pair(NULL);

	assert_int_equal(add(p, ""), FOLDED_EMPTY);
	assert_int_equal(add(p, " \t\r"), FOLDED_EMPTY);
	assert_int_equal(add(p, "a;b"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b c"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b 1.5"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b 0x10"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b +1"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b -"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "17"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "  17"), FOLDED_NO_COUNT);
	assert_int_equal(add(p, "a;b 0"), FOLDED_ZERO);
	assert_int_equal(add(p, "a;b -3"), FOLDED_NEGATIVE);
	assert_int_equal(add(p, "a;b 18446744073709551616"), FOLDED_HUGE);
	assert_int_equal(add(p, "a;b 99999999999999999999999999"), FOLDED_HUGE);
	assert_int_equal(add(p, ";a 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(add(p, "a; 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(add(p, "a;;b 1"), FOLDED_EMPTY_FRAME);
	assert_int_equal(p->t->nr_nodes, 1);
	assert_int_equal(p->t->sum[FLAME_WIDTH], 0);
	assert_int_equal(p->f.lines[FOLDED_EMPTY], 2);
	assert_int_equal(p->f.lines[FOLDED_NO_COUNT], 8);
	assert_int_equal(p->f.lines[FOLDED_ZERO], 1);
	assert_int_equal(p->f.lines[FOLDED_NEGATIVE], 1);
	assert_int_equal(p->f.lines[FOLDED_HUGE], 2);
	assert_int_equal(p->f.lines[FOLDED_EMPTY_FRAME], 3);
	free_pair(p);
}

static void test_a_sum_above_u64_is_refused_and_the_tree_stays_exact(void **state)
{
	struct pair *p = new_pair(NULL);

	assert_int_equal(add(p, "a 18446744073709551615"), FOLDED_OK);
	assert_int_equal(add(p, "b 1"), FOLDED_HUGE);
	assert_true(p->t->sum[FLAME_WIDTH] == ~0ULL);
	assert_int_equal(NODE(p, "b"), FLAME_NONE);
	free_pair(p);
}

static void test_a_0_byte_makes_the_line_binary(void **state)
{
	static const char bytes[] = "a\0b 1\nc 2\n";
	struct pair *p = new_pair(NULL);

	read_into(p, bytes, sizeof(bytes) - 1);
	assert_int_equal(p->f.lines[FOLDED_BINARY], 1);
	ASSERT_NODE(p, 2, 2, "c");
	free_pair(p);
}

static void test_a_line_above_the_limit_is_skipped_to_its_end(void **state)
{
	static const char text[] = "abcdef 1\nabcdefg 1\nxxxxxxxxxxxxxxxxxxxxxxxx 5\nb 2\n";
	struct pair *p = new_pair(NULL);

	p->f.max_line = 8;
	read_into(p, text, sizeof(text) - 1);
	assert_int_equal(p->f.lines[FOLDED_LONG], 2);
	ASSERT_NODE(p, 1, 1, "abcdef");
	ASSERT_NODE(p, 2, 2, "b");
	assert_int_equal(p->t->sum[FLAME_WIDTH], 3);
	free_pair(p);
}

static void test_a_stack_above_the_limit_is_left_out_whole(void **state)
{
	struct flame_limits limits = flame_default_limits;
	struct pair *p;

	limits.max_depth = 3;
	p = new_pair(&limits);
	assert_int_equal(add(p, "a;b;c 1"), FOLDED_OK);
	assert_int_equal(add(p, "a;b;c;d 1"), FOLDED_DEEP);
	ASSERT_NODE(p, 0, 1, "a");
	assert_int_equal(p->t->depth, 3);
	free_pair(p);
}

static void test_a_full_tree_still_counts_the_stacks_it_knows(void **state)
{
	struct flame_limits limits = flame_default_limits;
	struct pair *p;

	limits.max_nodes = 4; /* the root and three more */
	p = new_pair(&limits);
	assert_int_equal(add(p, "a;b 1"), FOLDED_OK);
	assert_int_equal(add(p, "a;c;d 1"), FOLDED_FULL);
	assert_int_equal(p->t->nr_nodes, 3);
	assert_int_equal(add(p, "a;c 1"), FOLDED_OK);
	assert_int_equal(add(p, "a;b 1"), FOLDED_OK);
	assert_int_equal(add(p, "e 1"), FOLDED_FULL);
	ASSERT_NODE(p, 0, 3, "a");
	free_pair(p);
	limits = flame_default_limits;
	limits.max_names = 1 + 4;
	p = new_pair(&limits);
	assert_int_equal(add(p, "abc 1"), FOLDED_OK);
	assert_int_equal(add(p, "abc;abc 1"), FOLDED_OK);
	assert_int_equal(add(p, "d 1"), FOLDED_FULL);
	free_pair(p);
}

static void test_many_different_stacks_are_all_found_again(void **state)
{
	struct pair *p = new_pair(NULL);
	char line[64];

	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < 20000; i++) {
			snprintf(line, sizeof(line), "r;f%u;g%u %u", i % 200, i, i + 1);
			assert_int_equal(add(p, line), FOLDED_OK);
		}
	}
	assert_int_equal(p->t->nr_nodes, 1 + 1 + 200 + 20000);
	assert_int_equal(p->t->sum[FLAME_WIDTH], 20000ull * 20001);
	for (u32 i = 1; i < p->t->nr_nodes; i++)
		assert_true(p->t->node[i].parent < i);
	free_pair(p);
}

static void test_the_tree_follows_its_nodes_and_not_the_input(void **state)
{
	struct pair *p = new_pair(NULL);

	for (u32 i = 0; i < 100000; i++)
		assert_int_equal(add(p, "a;b;c 1"), FOLDED_OK);
	assert_int_equal(p->t->nr_nodes, 4);
	ASSERT_NODE(p, 100000, 100000, "a", "b", "c");
	free_pair(p);
}

static void test_a_long_line_that_begins_a_block_anew_is_counted_once(void **state)
{
	size_t len = 3u << 20;
	char *text = malloc(len);
	struct pair *p = new_pair(NULL);

	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text, "a 1\n", 4);
	memcpy(text + len - 9, " 5\na;b 2", 8);
	text[len - 1] = '\n';
	read_into(p, text, len);
	assert_int_equal(p->f.lines[FOLDED_LONG], 1);
	assert_int_equal(p->f.lines[FOLDED_OK], 2);
	ASSERT_NODE(p, 1, 3, "a");
	ASSERT_NODE(p, 2, 2, "a", "b");
	free(text);
	free_pair(p);
}

static void test_what_the_last_line_had_in_common_changes_nothing(void **state)
{
	/* Prefixes that end inside of a name, at its end, and behind the whole stack. */
	struct pair *p = read_str("a;bc;d 1\na;b 2\na;bcd 4\na;bc 8\na;bc;d;e 16\nab;bc;d 32\n"
				  "a;bc;d;e 64\na 128\na;bc;d 256\n;a;bc 1\na;bc;d 512\n");

	ASSERT_NODE(p, 128, 1 + 2 + 4 + 8 + 16 + 64 + 128 + 256 + 512, "a");
	ASSERT_NODE(p, 2, 2, "a", "b");
	ASSERT_NODE(p, 4, 4, "a", "bcd");
	ASSERT_NODE(p, 8, 8 + 1 + 16 + 64 + 256 + 512, "a", "bc");
	ASSERT_NODE(p, 1 + 256 + 512, 1 + 16 + 64 + 256 + 512, "a", "bc", "d");
	ASSERT_NODE(p, 16 + 64, 16 + 64, "a", "bc", "d", "e");
	ASSERT_NODE(p, 32, 32, "ab", "bc", "d");
	assert_int_equal(p->f.lines[FOLDED_EMPTY_FRAME], 1);
	assert_int_equal(p->t->nr_nodes, 1 + 9);
	free_pair(p);
}

static void test_reversed_stacks_are_merged_from_their_innermost_frame(void **state)
{
	struct pair *p = new_pair(NULL);

	p->f.reverse = true;
	add(p, "main;a;malloc 3");
	add(p, "main;b;malloc 4");
	add(p, "main;b 5");
	ASSERT_NODE(p, 0, 7, "malloc");
	ASSERT_NODE(p, 3, 3, "malloc", "a", "main");
	ASSERT_NODE(p, 5, 5, "b", "main");
	free_pair(p);
}

static void test_what_begins_like_gzip_is_refused_and_adds_nothing(void **state)
{
	static const char bytes[] = "\x1f\x8b a;b 1\n";
	struct pair *p = new_pair(NULL);
	FILE *in = fmemopen((void *)bytes, sizeof(bytes) - 1, "r");

	assert_non_null(in);
	assert_int_equal(folded__read(&p->f, in), -EMEDIUMTYPE);
	assert_int_equal(p->t->nr_nodes, 1);
	fclose(in);
	free_pair(p);
}

static char *written(struct pair *p, bool both)
{
	struct strbuf out;

	assert_int_equal(flame_tree__sum(p->t), 0);
	strbuf__init(&out, 1 << 20);
	folded_write(p->t, both, &out);
	assert_int_equal(out.err, 0);
	return strbuf__take(&out);
}

static void test_written_stacks_are_merged_sorted_and_read_the_same_again(void **state)
{
	struct pair *p = read_str("z 1\na;c 2\na;b 3\na;c 4\na 5\n");
	char *text = written(p, false), *again;

	assert_string_equal(text, "a 5\na;b 3\na;c 6\nz 1\n");
	free_pair(p);
	p = read_str(text);
	again = written(p, false);
	assert_string_equal(again, text);
	free(text);
	free(again);
	free_pair(p);
}

static void test_two_inputs_are_written_side_by_side_base_first(void **state)
{
	struct pair *p = read_str("a;b 3\na;c 2\n");
	char *text;

	p->f.weight = FLAME_COLOR;
	add(p, "a;b 1");
	add(p, "a;d 7");
	text = written(p, true);
	assert_string_equal(text, "a;b 1 3\na;c 0 2\na;d 7 0\n");
	free(text);
	free_pair(p);
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
		cmocka_unit_test(test_a_long_line_that_begins_a_block_anew_is_counted_once),
		cmocka_unit_test(test_what_the_last_line_had_in_common_changes_nothing),
		cmocka_unit_test(test_reversed_stacks_are_merged_from_their_innermost_frame),
		cmocka_unit_test(test_what_begins_like_gzip_is_refused_and_adds_nothing),
		cmocka_unit_test(test_written_stacks_are_merged_sorted_and_read_the_same_again),
		cmocka_unit_test(test_two_inputs_are_written_side_by_side_base_first),
		cmocka_unit_test(test_every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
