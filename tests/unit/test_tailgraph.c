// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions may run in the place of one that has left by a jump, over code made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/tailgraph.h"

#define ROOM	 16 /* bytes of a function; its number is its address / ROOM */
#define MANY	 6000
#define PLT	 1 /* the image of the imported functions */
#define SLOT	 0x500000ULL
#define NO_SLOT	 0x500008ULL
#define MAX_SEEN 32

/* Two images with functions of ROOM bytes, padded with returns. */
struct world {
	u8 code[2][MANY * ROOM];
	u32 nr_funcs;
	u64 seen[MAX_SEEN]; /* image << 32 | vaddr */
	u32 nr_seen, stop_at;
};

static bool body_of(void *arg, const struct tail_place *at, struct code *out)
{
	struct world *w = arg;
	u64 begin = at->vaddr / ROOM * ROOM;

	if (at->image > 1 || begin >= w->nr_funcs * ROOM)
		return false;
	*out = (struct code){.ops = insn_ops__find(EM_X86_64),
			     .bytes = w->code[at->image] + begin,
			     .len = ROOM,
			     .vaddr = begin};
	return true;
}

/* The only slot holds function 3 of the other image. */
static bool slot_of(void *arg, const struct tail_place *slot, struct tail_place *to)
{
	*to = (struct tail_place){.vaddr = 3 * ROOM, .image = PLT};
	return slot->vaddr == SLOT && slot->image == 0;
}

static int see(void *arg, const struct tail_place *to)
{
	struct world *w = arg;
	u64 key = (u64)to->image << 32 | to->vaddr;

	for (u32 i = 0; i < w->nr_seen; i++)
		if (w->seen[i] == key)
			return 0;
	if (w->nr_seen < MAX_SEEN)
		w->seen[w->nr_seen++] = key;
	return w->nr_seen == w->stop_at ? -ECANCELED : 0;
}

static int setup(void **state)
{
	struct world *w = malloc(sizeof(*w));

	assert_non_null(w);
	memset(w, 0xc3, sizeof(*w)); /* ret */
	w->nr_funcs = 16;
	w->nr_seen = w->stop_at = 0;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct world *w, u32 image, u64 at, const void *bytes, size_t len)
{
	memcpy(w->code[image] + at, bytes, len);
}

static void put_rel32(struct world *w, u32 image, u64 at, const void *op, size_t len, u64 to)
{
	s32 rel = (s32)(to - (at + len + 4));

	put(w, image, at, op, len);
	put(w, image, at + len, &rel, sizeof(rel));
}

static void put_jmp(struct world *w, u32 image, u64 at, u64 to)
{
	put_rel32(w, image, at, "\xe9", 1, to);
}

/* endbr64; jmp *slot(%rip) */
static void put_stub(struct world *w, u64 at, u64 slot)
{
	put(w, 0, at, "\xf3\x0f\x1e\xfa", 4);
	put_rel32(w, 0, at + 4, "\xff\x25", 2, slot);
}

/* What function `func` of the first image leads to; true: anywhere. */
static bool reach(struct world *w, u32 func)
{
	struct tail_source src = {.body = body_of, .slot = slot_of, .arg = w};
	struct tail_place from = {.vaddr = func * ROOM};
	struct tailgraph *g = tailgraph__new(&src);
	bool anywhere, again;
	u32 nr;

	assert_non_null(g);
	w->nr_seen = 0;
	assert_int_equal(tailgraph__reach(g, &from, see, w, &anywhere), 0);
	nr = w->nr_seen;
	/* What is kept gives the same. */
	w->nr_seen = 0;
	assert_int_equal(tailgraph__reach(g, &from, see, w, &again), 0);
	assert_int_equal(again, anywhere);
	assert_int_equal(w->nr_seen, nr);
	tailgraph__free(g);
	return anywhere;
}

static bool saw(const struct world *w, u32 image, u64 vaddr)
{
	for (u32 i = 0; i < w->nr_seen; i++)
		if (w->seen[i] == ((u64)image << 32 | vaddr))
			return true;
	return false;
}

static void test_a_function_that_only_returns_and_calls_leads_nowhere(void **state)
{
	struct world *w = *state;

	put_rel32(w, 0, 0, "\xe8", 1, 2 * ROOM); /* call */
	put(w, 0, 5, "\x75\x01", 2);		 /* jne, inside */
	assert_false(reach(w, 0));
	assert_int_equal(w->nr_seen, 0);
}

static void test_jumps_are_followed_through_functions_that_nobody_asked_for(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 2 * ROOM);
	put_jmp(w, 0, 2 * ROOM, 5 * ROOM);
	put_rel32(w, 0, 5 * ROOM, "\x0f\x84", 2, 7 * ROOM); /* je */
	assert_false(reach(w, 0));
	assert_int_equal(w->nr_seen, 3);
	assert_true(saw(w, 0, 2 * ROOM) && saw(w, 0, 5 * ROOM) && saw(w, 0, 7 * ROOM));
	assert_false(reach(w, 5));
	assert_int_equal(w->nr_seen, 1);
}

static void test_a_jump_into_the_middle_of_a_function_goes_on_with_all_of_it(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 2 * ROOM + 6);
	put_jmp(w, 0, 2 * ROOM, 5 * ROOM); /* back from a cold part, it may come here */
	assert_false(reach(w, 0));
	assert_true(saw(w, 0, 2 * ROOM + 6) && saw(w, 0, 5 * ROOM));
}

static void test_functions_that_jump_to_each_other_have_an_end(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 2 * ROOM);
	put_jmp(w, 0, 2 * ROOM, 0);
	assert_false(reach(w, 0));
	assert_int_equal(w->nr_seen, 2);
}

static void test_an_indirect_jump_may_lead_anywhere_but_not_a_switch(void **state)
{
	struct world *w = *state;

	put(w, 0, 0, "\xff\xe0", 2);				/* jmp *%rax */
	put(w, 0, 2 * ROOM, "\x3e\xff\xe0", 3);			/* notrack jmp *%rax */
	put(w, 0, 4 * ROOM, "\xff\x24\xc5\x00\x00\x50\x00", 7); /* jmp *table(,%rax,8) */
	put_jmp(w, 0, 6 * ROOM, 0);
	assert_true(reach(w, 0));
	assert_false(reach(w, 2));
	assert_false(reach(w, 4));
	assert_true(reach(w, 6)); /* by what it jumps to */
	assert_true(saw(w, 0, 0));
}

static void test_stubs_and_slots_lead_to_what_is_bound(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 8 * ROOM);
	put_stub(w, 8 * ROOM, SLOT);
	put_rel32(w, 0, 2 * ROOM, "\xff\x25", 2, SLOT); /* without a stub: -fno-plt */
	put_jmp(w, 1, 3 * ROOM, 9 * ROOM);		/* in the library */
	assert_false(reach(w, 0));
	assert_true(saw(w, 0, 8 * ROOM) && saw(w, PLT, 3 * ROOM) && saw(w, PLT, 9 * ROOM));
	assert_false(reach(w, 2));
	assert_true(saw(w, PLT, 3 * ROOM) && saw(w, PLT, 9 * ROOM));
	assert_int_equal(w->nr_seen, 2);
}

static void test_a_word_that_is_no_slot_may_hold_anything(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 8 * ROOM);
	put_stub(w, 8 * ROOM, NO_SLOT);
	put_rel32(w, 0, 2 * ROOM, "\xff\x25", 2, NO_SLOT);
	assert_true(reach(w, 0));
	assert_true(reach(w, 2));
}

static void test_code_that_is_not_known_may_lead_anywhere(void **state)
{
	struct world *w = *state;

	put_jmp(w, 0, 0, 100 * ROOM);
	assert_true(reach(w, 0));
	assert_true(saw(w, 0, 100 * ROOM));
	assert_true(reach(w, 99));
	assert_int_equal(w->nr_seen, 0);
}

static void test_more_functions_than_are_looked_at_may_be_any(void **state)
{
	struct world *w = *state;

	w->nr_funcs = MANY;
	for (u32 i = 0; i + 1 < MANY; i++)
		put_jmp(w, 0, i * ROOM, (i + 1) * ROOM);
	assert_true(reach(w, 0));
	assert_false(reach(w, MANY - 100));
}

static void test_whoever_is_told_may_stop_it(void **state)
{
	struct world *w = *state;
	struct tail_source src = {.body = body_of, .slot = slot_of, .arg = w};
	struct tail_place from = {0};
	struct tailgraph *g = tailgraph__new(&src);
	bool anywhere;

	put_jmp(w, 0, 0, 2 * ROOM);
	put_jmp(w, 0, 2 * ROOM, 4 * ROOM);
	w->stop_at = 1;
	assert_int_equal(tailgraph__reach(g, &from, see, w, &anywhere), -ECANCELED);
	assert_int_equal(w->nr_seen, 1);
	tailgraph__free(g);
	tailgraph__free(NULL);
}

#define with_world(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_a_function_that_only_returns_and_calls_leads_nowhere),
		with_world(test_jumps_are_followed_through_functions_that_nobody_asked_for),
		with_world(test_a_jump_into_the_middle_of_a_function_goes_on_with_all_of_it),
		with_world(test_functions_that_jump_to_each_other_have_an_end),
		with_world(test_an_indirect_jump_may_lead_anywhere_but_not_a_switch),
		with_world(test_stubs_and_slots_lead_to_what_is_bound),
		with_world(test_a_word_that_is_no_slot_may_hold_anything),
		with_world(test_code_that_is_not_known_may_lead_anywhere),
		with_world(test_more_functions_than_are_looked_at_may_be_any),
		with_world(test_whoever_is_told_may_stop_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
