// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_budget.c - which sites are probed when there may not be many (trace/budget.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* trace/ is no part of what unit tests are linked with; this needs no libbpf. */
#include "probe/site_impl.h"
#include "trace/budget.c"

#define FUNCS 4

static struct plan_image images[2];
static struct plan_func funcs[FUNCS];
static struct plan pl;
static struct budget left;

static int setup(void **state)
{
	memset(images, 0, sizeof(images));
	pl = (struct plan){.image = images, .nr_images = 2, .func = funcs, .nr_funcs = FUNCS};
	site_list__init(&images[0].sites);
	site_list__init(&images[1].sites);
	return 0;
}

static int teardown(void **state)
{
	site_list__fini(&images[0].sites);
	site_list__fini(&images[1].sites);
	return 0;
}

static void add(u32 image, u8 role, u32 func, u32 nr)
{
	static u64 vaddr = 0x1000;

	for (u32 i = 0; i < nr; i++) {
		struct site s = {.role = role, .func = func, .vaddr = vaddr++};

		assert_int_equal(site_list__add(&images[image].sites, &s), 0);
	}
}

static u32 count(u8 role, u32 func)
{
	u32 n = 0;

	for (u32 i = 0; i < 2; i++)
		for (size_t k = 0; k < images[i].sites.nr; k++)
			n += images[i].sites.v[k].role == role && images[i].sites.v[k].func == func;
	return n;
}

static void entries(u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		add(i % 2, HB_ROLE_ENTRY, i, 1);
}

static void test_what_fits_is_left_alone(void **state)
{
	entries(FUNCS);
	add(0, HB_ROLE_RETSITE, 0, 5);
	assert_int_equal(budget__apply(&pl, 12, &left), 0);
	assert_int_equal(images[0].sites.nr + images[1].sites.nr, 9);
	assert_int_equal(left.funcs_left + left.sites_left, 0);
}

static void test_a_quarter_is_kept_for_what_is_found_later(void **state)
{
	entries(1);
	add(0, HB_ROLE_RETSITE, 0, 20);
	assert_int_equal(budget__apply(&pl, 16, &left), 0);
	assert_int_equal(count(HB_ROLE_RETSITE, 0), 11);
	assert_int_equal(left.sites_left, 9);
}

static void test_entries_come_before_return_sites(void **state)
{
	add(0, HB_ROLE_RETSITE, 0, 20);
	entries(FUNCS);
	assert_int_equal(budget__apply(&pl, 8, &left), 0);
	for (u32 i = 0; i < FUNCS; i++)
		assert_int_equal(count(HB_ROLE_ENTRY, i), 1);
	assert_int_equal(count(HB_ROLE_RETSITE, 0), 2);
}

static void test_a_function_with_many_callers_leaves_room_for_the_others(void **state)
{
	entries(FUNCS);
	add(0, HB_ROLE_RETSITE, 0, 100);
	add(1, HB_ROLE_RETSITE, 1, 3);
	add(1, HB_ROLE_RETSITE, SITE_NO_FUNC, 2);
	assert_int_equal(budget__apply(&pl, 16, &left), 0);
	assert_int_equal(count(HB_ROLE_RETSITE, 0), 3);
	assert_int_equal(count(HB_ROLE_RETSITE, 1), 3);
	assert_int_equal(count(HB_ROLE_RETSITE, SITE_NO_FUNC), 2);
	assert_int_equal(left.sites_left, 97);
}

static void test_functions_without_room_are_counted_and_their_callers_not_wanted(void **state)
{
	entries(FUNCS);
	add(0, HB_ROLE_RETSITE, 3, 2);
	assert_int_equal(budget__apply(&pl, 4, &left), 0);
	assert_int_equal(left.funcs_left, 1);
	assert_int_equal(left.sites_left, 0);
	assert_int_equal(count(HB_ROLE_ENTRY, 3) + count(HB_ROLE_RETSITE, 3), 0);
}

static void test_a_function_gets_all_of_its_returns_or_none(void **state)
{
	entries(2);
	add(0, HB_ROLE_RET, 0, 6);
	add(1, HB_ROLE_RET, 1, 2);
	assert_int_equal(budget__apply(&pl, 8, &left), 0);
	assert_int_equal(count(HB_ROLE_ENTRY, 0) + count(HB_ROLE_RET, 0), 0);
	assert_int_equal(count(HB_ROLE_ENTRY, 1) + count(HB_ROLE_RET, 1), 3);
	assert_int_equal(left.funcs_left, 1);
}

static void test_what_undoes_stacks_is_always_probed(void **state)
{
	entries(FUNCS);
	add(1, HB_ROLE_LONGJMP, SITE_NO_FUNC, 2);
	assert_int_equal(budget__apply(&pl, 4, &left), 0);
	assert_int_equal(count(HB_ROLE_LONGJMP, SITE_NO_FUNC), 2);
	assert_int_equal(left.funcs_left, 3);
}

static void test_sites_keep_their_order(void **state)
{
	entries(1);
	add(0, HB_ROLE_RETSITE, 0, 20);
	assert_int_equal(budget__apply(&pl, 12, &left), 0);
	for (size_t i = 1; i < images[0].sites.nr; i++)
		assert_true(images[0].sites.v[i].vaddr > images[0].sites.v[i - 1].vaddr);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(test_what_fits_is_left_alone),
		test(test_a_quarter_is_kept_for_what_is_found_later),
		test(test_entries_come_before_return_sites),
		test(test_a_function_with_many_callers_leaves_room_for_the_others),
		test(test_functions_without_room_are_counted_and_their_callers_not_wanted),
		test(test_a_function_gets_all_of_its_returns_or_none),
		test(test_what_undoes_stacks_is_always_probed),
		test(test_sites_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
