// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The return sites of all direct calls in a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "codetest.h"

#define TEXT	 0x401000ULL
#define F	 (TEXT + 0x100)
#define G	 (TEXT + 0x140)
#define MAX_TEXT 0x180

struct text {
	u8 bytes[MAX_TEXT];
	bool hidden; /* bytes_at() has none of it */
};

static void put(struct text *t, u64 off, const void *code, size_t len)
{
	memcpy(t->bytes + off, code, len);
}

/* call target at off */
static void put_call(struct text *t, u64 off, u64 target)
{
	s32 disp = (s32)(target - (TEXT + off + 5));

	t->bytes[off] = 0xe8;
	memcpy(t->bytes + off + 1, &disp, sizeof(disp));
}

static const u8 *text_at(void *arg, u64 vaddr, size_t len)
{
	struct text *t = arg;
	u64 off = vaddr - TEXT;

	return !t->hidden && off <= MAX_TEXT && len <= MAX_TEXT - off ? t->bytes + off : NULL;
}

static struct text *new_text(void)
{
	static struct text t;

	memset(t.bytes, 0xcc, sizeof(t.bytes));
	t.hidden = false;
	return &t;
}

static const struct code_range funcs[] = {
	{TEXT, TEXT + 0x40}, {TEXT + 0x40, TEXT + 0x80}, {F, F + 1}, {G, G + 1}};
#define NR_FUNCS (sizeof(funcs) / sizeof(funcs[0]))

static const struct site_callee f_and_g[] = {
	{.vaddr = G, .func = 2}, /* not sorted */
	{.vaddr = F, .func = 1, .want.exit_regs = REG(BX)},
};

static void find(struct text *t, struct site_list *l, u32 *refused)
{
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), funcs, NR_FUNCS, text_at, t,
				     f_and_g, 2, l, refused),
			 0);
}

static void test_all_direct_calls_are_found_in_order(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused = 9;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x90\xc3", 2); /* nop; ret */
	put_call(t, 0x40, G);
	put_call(t, 0x45, F);
	put(t, 0x4a, "\x48\x85\xc0\x75\x00\xc3", 6); /* test; jne; ret */
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(refused, 0);
	assert_int_equal(l.nr, 3);
	assert_int_equal(l.v[0].ra, TEXT + 0x05);
	assert_int_equal(l.v[0].func, 1);
	assert_int_equal(l.v[0].vaddr, TEXT + 0x05);
	assert_int_equal(l.v[0].cls, HB_CLASS_NOP);
	assert_int_equal(l.v[0].flags, HB_SITE_PURE);
	assert_int_equal(l.v[0].sp_fix, -8);
	assert_int_equal(l.v[1].ra, TEXT + 0x45);
	assert_int_equal(l.v[1].func, 2);
	assert_int_equal(l.v[1].cls, HB_CLASS_CALL); /* the next call is the site */
	assert_int_equal(l.v[2].vaddr, TEXT + 0x4d);
	assert_int_equal(l.v[2].role, HB_ROLE_RETSITE);
	assert_memory_equal(l.v[2].bytes, "\x75\x00", 2);
	site_list__fini(&l);
}

static void test_a_call_inside_another_instruction_is_none(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put(t, 0x00, "\x49\xbb", 2); /* movabs $..,%r11 whose immediate begins with a call */
	put_call(t, 0x02, F);
	put(t, 0x07, "\0\0\0\xc3", 4);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 0);
	assert_int_equal(refused, 0);
	site_list__fini(&l);
}

static void test_a_jump_to_the_callee_has_no_return_address(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F);
	t->bytes[0] = 0xe9;
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 0);
	site_list__fini(&l);
}

static void test_the_registers_wanted_are_those_of_the_callee(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F); /* F's BX is read: gone at the jne */
	put(t, 0x05, "\x31\xdb\x75\x00\xc3", 5);
	put_call(t, 0x40, G); /* of G nothing is */
	put(t, 0x45, "\x31\xdb\x75\x00\xc3", 5);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.v[0].cls, HB_CLASS_STEP);
	assert_int_equal(l.v[0].vaddr, TEXT + 0x05);
	assert_int_equal(l.v[0].loc[BX], BX);
	assert_int_equal(l.v[1].cls, HB_CLASS_BRANCH);
	assert_int_equal(l.v[1].vaddr, TEXT + 0x47);
	site_list__fini(&l);
}

/* One call of F with `tail` behind it: is its site pure? */
static bool is_pure(const char *tail, size_t len)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;
	bool pure;

	put_call(t, 0x00, F);
	put(t, 0x05, tail, len);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 1);
	pure = l.v[0].flags & HB_SITE_PURE;
	site_list__fini(&l);
	return pure;
}

static void test_only_a_straight_line_in_a_body_without_surprises_is_pure(void **state)
{
	assert_true(is_pure("\x48\x85\xc0\x75\x00\xc3", 6));	  /* test; jne; ret */
	assert_true(is_pure("\x48\x85\xc0\x90\x75\xfd\xc3", 7));  /* stops before the join */
	assert_false(is_pure("\x48\x85\xc0\x75\xfb\xc3", 6));	  /* jne to the return address */
	assert_false(is_pure("\x90\xff\xe0\xc3", 4));		  /* nop; jmp *%rax */
	assert_false(is_pure("\x90\xe9\x00\x10\x00\x00", 6));	  /* nop; jmp out, and back? */
	assert_false(is_pure("\x90\xeb\x01\xb8\x31\xc0\xc3", 7)); /* data among the code */
}

static void test_a_call_that_never_returns_is_counted_as_refused(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x3b, F); /* its range ends here */
	put_call(t, 0x40, F);
	put(t, 0x45, "\x0f\x0b", 2); /* ud2 */
	memset(t->bytes, 0x90, 0x3b);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 0);
	assert_int_equal(refused, 2);
	site_list__fini(&l);
}

static void test_ranges_that_overlap_give_each_site_once(void **state)
{
	static const struct code_range twice[] = {
		{TEXT, TEXT + 0x40}, {TEXT, TEXT + 0x40}, {TEXT, TEXT + 0x80}, {F, F}, {G, F}};
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x90\xc3", 2);
	/* In the longest range the body has a jump out: no longer pure, and that is what counts. */
	put(t, 0x40, "\xe9\x00\x10\x00\x00", 5);
	site_list__init(&l);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), twice, 5, text_at, t, f_and_g, 2,
				     &l, &refused),
			 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].flags, 0);
	site_list__fini(&l);
}

static void test_sites_are_appended_and_code_that_cannot_be_read_is_left_out(void **state)
{
	struct text *t = new_text();
	struct site before = {.vaddr = 1, .ra = ~0ULL};
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x90\xc3", 2);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 1);
	l.v[0] = before;
	find(t, &l, &refused);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.v[0].ra, ~0ULL); /* not sorted in, not merged */
	t->hidden = true;
	find(t, &l, &refused);
	assert_int_equal(l.nr, 2);
	site_list__fini(&l);
}

static void test_two_names_of_one_callee_want_what_either_wants(void **state)
{
	static const struct site_callee both[] = {
		{.vaddr = F, .func = 1},
		{.vaddr = F, .func = 1, .want.exit_regs = REG(BX)},
	};
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x31\xdb\x75\x00\xc3", 5); /* xor %ebx,%ebx; jne */
	site_list__init(&l);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), funcs, NR_FUNCS, text_at, t, both,
				     2, &l, &refused),
			 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].vaddr, TEXT + 0x05);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), funcs, NR_FUNCS, text_at, t, NULL,
				     0, &l, &refused),
			 0);
	assert_int_equal(l.nr, 1);
	site_list__fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_direct_calls_are_found_in_order),
		cmocka_unit_test(test_a_call_inside_another_instruction_is_none),
		cmocka_unit_test(test_a_jump_to_the_callee_has_no_return_address),
		cmocka_unit_test(test_the_registers_wanted_are_those_of_the_callee),
		cmocka_unit_test(test_only_a_straight_line_in_a_body_without_surprises_is_pure),
		cmocka_unit_test(test_a_call_that_never_returns_is_counted_as_refused),
		cmocka_unit_test(test_ranges_that_overlap_give_each_site_once),
		cmocka_unit_test(test_sites_are_appended_and_code_that_cannot_be_read_is_left_out),
		cmocka_unit_test(test_two_names_of_one_callee_want_what_either_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
