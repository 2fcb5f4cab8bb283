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

/* ---- through slots ---- */

#define SLOT (TEXT + 0x10000)

/* call or jmp *SLOT(%rip) at off */
static void put_through_slot(struct text *t, u64 off, u8 modrm)
{
	s32 disp = (s32)(SLOT - (TEXT + off + 6));

	t->bytes[off] = 0xff;
	t->bytes[off + 1] = modrm;
	memcpy(t->bytes + off + 2, &disp, sizeof(disp));
}

#define CALL_SLOT 0x15
#define JMP_SLOT  0x25

struct uses {
	u64 at[8];
	bool call[8];
	size_t nr;
};

static int keep_use(void *arg, u64 at, u64 slot, bool call)
{
	struct uses *u = arg;

	assert_int_equal(slot, SLOT);
	assert_in_range(u->nr, 0, 7);
	u->at[u->nr] = at;
	u->call[u->nr++] = call;
	return 0;
}

static struct uses scan_slots(struct text *t)
{
	static const u64 slots[] = {SLOT - 8, SLOT};
	struct uses u = {0};

	assert_int_equal(insn_ops__find(EM_X86_64)->scan_slots(t->bytes, MAX_TEXT, TEXT, slots, 2,
							       keep_use, &u),
			 0);
	return u;
}

static void test_a_stub_is_entered_at_its_jump_or_at_what_stands_before_it(void **state)
{
	static const struct {
		const char *before; /* AT&T */
		u8 bytes[10], len;
		u8 entry[3]; /* bytes before the jump */
		u8 nr;
	} stubs[] = {
		{"", {0}, 0, {0}, 1},
		{"bnd", {0xf2}, 1, {0, 1}, 2},
		{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, {0, 4}, 2},
		{"endbr64; bnd", {0xf3, 0x0f, 0x1e, 0xfa, 0xf2}, 5, {0, 1, 5}, 3},
		{"endbr64; mov $7,%r11d",
		 {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 7},
		 10,
		 {0, 6, 10},
		 3},
	};

	for (size_t i = 0; i < sizeof(stubs) / sizeof(*stubs); i++) {
		struct text *t = new_text();
		u64 jump = 0x20 + stubs[i].len;
		struct uses u;

		put(t, 0x20, stubs[i].bytes, stubs[i].len);
		put_through_slot(t, jump, JMP_SLOT);
		u = scan_slots(t);
		assert_int_equal(u.nr, stubs[i].nr);
		for (size_t k = 0; k < u.nr; k++) {
			assert_int_equal(u.at[k], TEXT + jump - stubs[i].entry[k]);
			assert_false(u.call[k]);
		}
	}
}

static void test_only_code_that_goes_through_a_slot_asked_for_is_found(void **state)
{
	struct text *t = new_text();
	struct uses u;

	put_through_slot(t, 0x00, JMP_SLOT); /* at the very beginning: nothing stands before it */
	put_through_slot(t, 0x10, CALL_SLOT);
	put_through_slot(t, 0x20, 0x35);	      /* push SLOT(%rip) */
	put(t, 0x30, "\xff\x25\xff\x25\xff\x25", 6);  /* another word */
	put_through_slot(t, MAX_TEXT - 6, CALL_SLOT); /* the last that fits */
	u = scan_slots(t);
	assert_int_equal(u.nr, 3);
	assert_int_equal(u.at[0], TEXT);
	assert_false(u.call[0]);
	assert_int_equal(u.at[1], TEXT + 0x10);
	assert_true(u.call[1]);
	assert_int_equal(u.at[2], TEXT + MAX_TEXT - 6);
	t->bytes[MAX_TEXT - 6] = 0xcc;
	t->bytes[MAX_TEXT - 1] = 0xff; /* cut off */
	assert_int_equal(scan_slots(t).nr, 2);
}

/* The sites of calls of one callee. */
static void find_one(struct text *t, u64 vaddr, enum site_via via, struct site_list *l)
{
	struct site_callee callee = {.vaddr = vaddr, .func = 7, .via = via};
	u32 refused;

	site_list__init(l);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), funcs, NR_FUNCS, text_at, t,
				     &callee, 1, l, &refused),
			 0);
	assert_int_equal(refused, 0);
}

static void test_calls_of_a_stub_are_found_and_never_pure(void **state)
{
	struct text *t = new_text();
	struct site_list l;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x90\xc3", 2); /* nop; ret */
	find_one(t, F, SITE_VIA_STUB, &l);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].func, 7);
	assert_int_equal(l.v[0].ra, TEXT + 0x05);
	assert_int_equal(l.v[0].flags, 0);
	site_list__fini(&l);
}

static void test_calls_through_a_slot_are_found_and_never_pure(void **state)
{
	struct text *t = new_text();
	struct site_list l;

	put_through_slot(t, 0x00, CALL_SLOT);
	put(t, 0x06, "\x90\xc3", 2);
	put_through_slot(t, 0x10, JMP_SLOT);  /* has no return address */
	put(t, 0x20, "\x49\xbb", 2);	      /* movabs $..,%r11 */
	put_through_slot(t, 0x22, CALL_SLOT); /* is its immediate */
	put(t, 0x28, "\0\0\xc3", 3);
	put_through_slot(t, 0x90, CALL_SLOT); /* in no function that is known */
	find_one(t, SLOT, SITE_VIA_SLOT, &l);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].func, 7);
	assert_int_equal(l.v[0].ra, TEXT + 0x06);
	assert_int_equal(l.v[0].vaddr, TEXT + 0x06);
	assert_int_equal(l.v[0].sp_fix, -8);
	assert_int_equal(l.v[0].flags, 0);
	site_list__fini(&l);
	find_one(t, SLOT, SITE_VIA_CODE, &l);
	assert_int_equal(l.nr, 0);
	site_list__fini(&l);
}

static void test_a_function_that_is_a_stub_too_has_no_pure_site(void **state)
{
	static const struct site_callee both[] = {
		{.vaddr = F, .func = 1},
		{.vaddr = F, .func = 2, .via = SITE_VIA_STUB},
	};
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	put_call(t, 0x00, F);
	put(t, 0x05, "\x90\xc3", 2);
	site_list__init(&l);
	assert_int_equal(site__calls(insn_ops__find(EM_X86_64), funcs, NR_FUNCS, text_at, t, both,
				     2, &l, &refused),
			 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].flags, 0);
	site_list__fini(&l);
}

/* What the linker makes of `call *f@GOTPCREL(%rip)` where f turns out to be in the same image. */
static void test_a_direct_call_with_a_prefix_is_found(void **state)
{
	struct text *t = new_text();
	struct site_list l;
	u32 refused;

	t->bytes[0] = 0x67;
	put_call(t, 0x01, F);
	put(t, 0x06, "\x90\xc3", 2);
	put(t, 0x40, "\xb8\0\0\0", 4); /* mov $..,%eax, whose last byte is the prefix */
	t->bytes[0x44] = 0x67;
	put_call(t, 0x45, G);
	put(t, 0x4a, "\x90\xc3", 2);
	site_list__init(&l);
	find(t, &l, &refused);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.v[0].ra, TEXT + 0x06);
	assert_int_equal(l.v[0].func, 1);
	assert_int_equal(l.v[1].ra, TEXT + 0x4a);
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
		cmocka_unit_test(test_a_stub_is_entered_at_its_jump_or_at_what_stands_before_it),
		cmocka_unit_test(test_only_code_that_goes_through_a_slot_asked_for_is_found),
		cmocka_unit_test(test_calls_of_a_stub_are_found_and_never_pure),
		cmocka_unit_test(test_calls_through_a_slot_are_found_and_never_pure),
		cmocka_unit_test(test_a_function_that_is_a_stub_too_has_no_pure_site),
		cmocka_unit_test(test_a_direct_call_with_a_prefix_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
