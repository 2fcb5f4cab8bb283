// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_flame_boxes.c - the tree from any source, and where its nodes lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "flamegraph/boxes.h"

/* Adds "a;b;c". */
static int add(struct flame_tree *t, const char *stack, enum flame_weight weight, u64 count)
{
	struct flame_frame frame[16];
	u32 nr = 0;

	while (*stack) {
		assert_true(nr < 16);
		frame[nr] = (struct flame_frame){stack, strcspn(stack, ";")};
		stack += frame[nr++].len;
		stack += *stack == ';';
	}
	return flame_tree__add(t, frame, nr, weight, count);
}

static struct flame_tree *sample_tree(void)
{
	struct flame_tree *t = NULL;

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	assert_int_equal(add(t, "main;z", FLAME_WIDTH, 10), 0);
	assert_int_equal(add(t, "main;b;c", FLAME_WIDTH, 60), 0);
	assert_int_equal(add(t, "main;a", FLAME_WIDTH, 25), 0);
	assert_int_equal(add(t, "main", FLAME_WIDTH, 4), 0);
	assert_int_equal(add(t, "other", FLAME_WIDTH, 1), 0);
	assert_int_equal(flame_tree__sum(t), 0);
	return t;
}

static struct flame_boxes lay_out(const struct flame_tree *t, u64 min_weight, u32 max_depth)
{
	struct flame_cut cut = {.min_weight = min_weight, .max_depth = max_depth};
	struct flame_boxes b;

	assert_int_equal(flame_boxes__init(&b, t, &cut), 0);
	return b;
}

static void assert_box(const struct flame_tree *t, const struct flame_boxes *b, u32 i,
		       const char *name, u32 depth, u64 x, u64 width)
{
	assert_true(i < b->nr);
	assert_string_equal(flame_tree__name(t, b->box[i].node), name);
	assert_int_equal(b->box[i].depth, depth);
	assert_int_equal(b->box[i].x, x);
	assert_int_equal(t->total[FLAME_WIDTH][b->box[i].node], width);
}

static void test_siblings_lie_side_by_side_in_the_order_of_their_names(void **state)
{
	struct flame_tree *t = sample_tree();
	struct flame_boxes b = lay_out(t, 0, 0);

	assert_int_equal(b.nr, 7);
	assert_int_equal(b.depth, 3);
	assert_box(t, &b, 0, "", 0, 0, 100);
	assert_box(t, &b, 1, "main", 1, 0, 99);
	assert_box(t, &b, 2, "a", 2, 0, 25);
	assert_box(t, &b, 3, "b", 2, 25, 60);
	assert_box(t, &b, 4, "c", 3, 25, 60);
	assert_box(t, &b, 5, "z", 2, 85, 10);
	assert_box(t, &b, 6, "other", 1, 99, 1);
	assert_int_equal(b.nr_narrow + b.nr_deep, 0);
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

static void test_narrow_nodes_are_left_out_with_what_is_in_them_and_counted(void **state)
{
	struct flame_tree *t = sample_tree();
	struct flame_boxes b = lay_out(t, 26, 0);

	assert_int_equal(b.nr, 4);
	assert_box(t, &b, 2, "b", 2, 0, 60);
	assert_box(t, &b, 3, "c", 3, 0, 60);
	assert_int_equal(b.nr_narrow, 3);
	flame_boxes__fini(&b);
	b = lay_out(t, 61, 0);
	assert_int_equal(b.nr, 2);
	assert_int_equal(b.nr_narrow, 5);
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

static void test_a_node_as_wide_as_the_limit_is_drawn(void **state)
{
	struct flame_tree *t = sample_tree();
	struct flame_boxes b = lay_out(t, 10, 0);

	assert_int_equal(b.nr, 6);
	assert_int_equal(b.nr_narrow, 1);
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

static void test_deep_nodes_are_left_out_and_counted_apart(void **state)
{
	struct flame_tree *t = sample_tree();
	struct flame_boxes b = lay_out(t, 2, 2);

	assert_int_equal(b.depth, 2);
	assert_int_equal(b.nr_deep, 1);
	assert_int_equal(b.nr_narrow, 1);
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

static void test_what_only_the_second_weight_has_is_no_box(void **state)
{
	struct flame_tree *t = sample_tree();
	static const struct flame_cut all = {.everything = true};
	struct flame_boxes b;

	assert_int_equal(add(t, "main;gone;under", FLAME_COLOR, 50), 0);
	assert_int_equal(flame_tree__sum(t), 0);
	b = lay_out(t, 0, 0);
	assert_int_equal(b.nr, 7);
	assert_int_equal(b.nr_narrow, 0);
	flame_boxes__fini(&b);
	assert_int_equal(flame_boxes__init(&b, t, &all), 0);
	assert_int_equal(b.nr, 9);
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

/* Whatever the tree: children lie within their parent, do not overlap, and sums are exact. */
static void test_widths_add_up_in_a_random_tree(void **state)
{
	u64 seed = 88172645463325252ULL, end[64] = {0};
	struct flame_tree *t = NULL;
	struct flame_boxes b;
	char stack[64];

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	for (u32 i = 0; i < 5000; i++) {
		u32 len = 0, depth;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		depth = 1 + (u32)(seed % 8);
		for (u32 d = 0; d < depth; d++) {
			stack[len++] = (char)('a' + (seed >> (8 + 3 * d)) % 5);
			stack[len++] = d + 1 < depth ? ';' : '\0';
		}
		assert_int_equal(add(t, stack, FLAME_WIDTH, 1 + (seed >> 40) % 1000), 0);
	}
	assert_int_equal(flame_tree__sum(t), 0);
	assert_int_equal(t->total[FLAME_WIDTH][0], t->sum[FLAME_WIDTH]);
	b = lay_out(t, 0, 0);
	assert_int_equal(b.nr, t->nr_nodes);
	end[0] = t->sum[FLAME_WIDTH];
	for (u32 i = 1; i < b.nr; i++) {
		const struct flame_box *box = &b.box[i];

		/* end[d]: where the free part of the box that is open at depth d begins. */
		if (box->depth > b.box[i - 1].depth)
			assert_int_equal(box->x, b.box[i - 1].x);
		else
			assert_int_equal(box->x, end[box->depth]);
		end[box->depth] = box->x + t->total[FLAME_WIDTH][box->node];
		assert_true(box->depth == 1 || end[box->depth] <= end[box->depth - 1]);
	}
	flame_boxes__fini(&b);
	flame_tree__free(t);
}

static void test_a_tree_of_100000_levels_needs_no_recursion(void **state)
{
	struct flame_limits limits = flame_default_limits;
	struct flame_frame *frames = calloc(100000, sizeof(*frames));
	struct flame_tree *t = NULL;
	struct flame_boxes b;

	assert_non_null(frames);
	for (u32 i = 0; i < 100000; i++)
		frames[i] = (struct flame_frame){"f", 1};
	limits.max_depth = 100000;
	assert_int_equal(flame_tree__new(&limits, &t), 0);
	assert_int_equal(flame_tree__add(t, frames, 100000, FLAME_WIDTH, 3), 0);
	assert_int_equal(flame_tree__sum(t), 0);
	b = lay_out(t, 0, 0);
	assert_int_equal(b.nr, 100001);
	assert_int_equal(b.depth, 100000);
	flame_boxes__fini(&b);
	flame_tree__free(t);
	free(frames);
}

static void test_a_stack_that_does_not_fit_leaves_nothing_behind(void **state)
{
	struct flame_limits limits = {.max_depth = 3, .max_nodes = 4, .max_names = 100};
	struct flame_tree *t = NULL;

	assert_int_equal(flame_tree__new(&limits, &t), 0);
	assert_int_equal(add(t, "a;b;c;d", FLAME_WIDTH, 1), -E2BIG);
	assert_int_equal(add(t, "a;b", FLAME_WIDTH, 1), 0);
	assert_int_equal(add(t, "a;x;y", FLAME_WIDTH, 1), -ENOSPC);
	assert_int_equal(add(t, "a;b", FLAME_WIDTH, ~0ULL), -EOVERFLOW);
	assert_int_equal(add(t, "a;b;new", FLAME_WIDTH, ~0ULL), -EOVERFLOW);
	assert_int_equal(t->nr_nodes, 3);
	assert_int_equal(t->sum[FLAME_WIDTH], 1);
	assert_int_equal(t->sum[FLAME_COLOR], 0);
	flame_tree__free(t);
}

static void test_a_count_of_the_root_itself_is_a_stack_of_no_frames(void **state)
{
	struct flame_tree *t = NULL;

	assert_int_equal(flame_tree__new(NULL, &t), 0);
	assert_int_equal(flame_tree__add(t, NULL, 0, FLAME_WIDTH, 7), 0);
	assert_int_equal(flame_tree__sum(t), 0);
	assert_int_equal(t->self[FLAME_WIDTH][0], 7);
	flame_tree__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siblings_lie_side_by_side_in_the_order_of_their_names),
		cmocka_unit_test(test_narrow_nodes_are_left_out_with_what_is_in_them_and_counted),
		cmocka_unit_test(test_a_node_as_wide_as_the_limit_is_drawn),
		cmocka_unit_test(test_deep_nodes_are_left_out_and_counted_apart),
		cmocka_unit_test(test_what_only_the_second_weight_has_is_no_box),
		cmocka_unit_test(test_widths_add_up_in_a_random_tree),
		cmocka_unit_test(test_a_tree_of_100000_levels_needs_no_recursion),
		cmocka_unit_test(test_a_stack_that_does_not_fit_leaves_nothing_behind),
		cmocka_unit_test(test_a_count_of_the_root_itself_is_a_stack_of_no_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
