/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_bpf_model.c - programs that do at random everything that programs do: call, recur, return,
 * jump, panic, longjmp, throw, end, grow and move their stacks, change threads. What the handlers
 * make of each must be exactly what bpf_model.c reckons from the true call stacks.
 *
 * Left out is what no observer could tell, and tests of its own say what is then made of it: a lost
 * call that no probe has seen die, where its slot still holds its return address (here such slots are
 * overwritten, or the death is seen), where it may have made a tail call to the next one, or where it
 * has no slot that anybody looks at (recursion).
 */
#include "bpf_regs.h"
#include "bpf_world.h"

#include <errno.h>
#include <string.h>

#include "bpf_model.h"

#define GOROUTINES 4
#define THREADS	   3
#define PROGS	   (GOROUTINES + THREADS)
#define LANG_FUNCS 10 /* functions of each language */
#define RAS	   4  /* return addresses of each function */
#define OPS	   40000
#define FIRST	   0x40 /* depth of the calls of a task's first function */

static u64 rng;
static struct prog progs[PROGS];
static u64 ra_of[2 * LANG_FUNCS][RAS];
static u64 wanted[2 * LANG_FUNCS * RAS]; /* return addresses that were told to user space */
static u32 nr_wanted;
static u64 deepest; /* depth of any call so far */
static u64 next_goid;

/* xorshift64* */
static u32 rnd(u32 below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * 0x2545f4914f6cdd1dULL >> 32) % below;
}

static bool one_in(u32 n)
{
	return !rnd(n);
}

/* ---- the program's functions ---- */

static u16 func_make(u32 image, u32 i)
{
	struct w_func f = {
		.image = image,
		.cls = rnd(HB_CLASS_NR),
		.ret_cls = rnd(HB_CLASS_NR),
		.jbe = image == W_GO && i % 3 == 0,
		.sp_fix = image == W_NATIVE ? 8 * rnd(3) : 0,
		.f.group = (image == W_NATIVE ? 4 : 0) + i % 4,
	};

	if (i == 4 || i == 7)
		f.f.flags |= HB_FUNC_EXIT_RET;
	if (i == 5 || i == 7 || (image == W_NATIVE && i % 3))
		f.f.tails = i % 2 ? ~0ULL : (u64)rnd(1 << 20) << 1 | rnd(2);
	if (i % 2)
		f.f.size_in = (struct hb_value){HB_VALUE_REG, W_SI, 0, 1};
	else if (i % 3)
		f.f.size_in.add = -1;
	if (i % 3 == 1) {
		f.f.err_kind = HB_ERR_NONZERO;
		f.f.err = (struct hb_value){HB_VALUE_REG, W_AX, 0, 0};
	}
	return w_func(f);
}

static void funcs_make(void)
{
	for (u32 i = 0; i < 2 * LANG_FUNCS; i++) {
		u16 f = func_make(i < LANG_FUNCS ? W_GO : W_NATIVE, i % LANG_FUNCS);

		for (u32 k = 0; k < RAS; k++) {
			struct w_site s = {.func = k ? W_ANY : f,
					   .cls = rnd(HB_CLASS_NR),
					   .delta = -(s32)rnd(14)};

			ra_of[f][k] = w_ra_unknown(w_func_at(f)->image);
			if (k < 2)
				w_attach(ra_of[f][k], s);
		}
	}
	for (u32 l = 0; l < HB_LANG_NR; l++) {
		for (u32 x = 0; x < HB_CLASS_NR; x++)
			cal.nested_ns[l][x] = rnd(20);
		for (u32 c = 0; c < HB_CLASS_NR; c++) {
			cal.in_ns[l][c] = rnd(40);
			cal.tail_ns[l][c] = rnd(30);
			cal.miss_ns[l][c] = rnd(25);
			for (u32 x = 0; x < HB_CLASS_NR; x++)
				cal.total_ns[l][c][x] = rnd(80);
		}
	}
}

/* ---- what a task does next ---- */

static struct act *top_of(struct prog *p)
{
	return p->nr ? &p->act[p->nr - 1] : NULL;
}

/* Where the return address of the next call of this function goes: always the same place. */
static u64 next_depth(const struct prog *p)
{
	const struct act *a = p->nr ? &p->act[p->nr - 1] : NULL;

	return a ? a->depth + a->frame_size + 8 : FIRST;
}

static struct act *act_push(struct prog *p, u16 func, u64 depth, u64 ra)
{
	struct act *a = &p->act[p->nr++];

	*a = (struct act){.func = func, .depth = depth, .ra = ra};
	a->frame_size = 16 * (1 + rnd(12));
	if (depth > deepest)
		deepest = depth;
	return a;
}

/* One of the group of the innermost call. */
static u16 func_recursive(const struct prog *p)
{
	const struct act *in = model__innermost(p);
	u16 base = p->t->go ? 0 : LANG_FUNCS, f;

	do
		f = base + rnd(LANG_FUNCS);
	while (in && w_func_at(f)->f.group != w_func_at(in->func)->f.group);
	return f;
}

/* Recursion, more often than by chance. */
static u16 func_pick(const struct prog *p)
{
	return one_in(3) ? func_recursive(p) : (p->t->go ? 0 : LANG_FUNCS) + rnd(LANG_FUNCS);
}

static void do_plain_call(struct prog *p)
{
	u64 depth = next_depth(p);

	w_push(depth, 0x400000 + rnd(1 << 20));
	act_push(p, 0, depth, 0)->kind = ACT_PLAIN;
}

/* An entry that cannot be read is told from nothing by its return alone: so not near leftovers, and
 * not where that return would be taken for one of a recursive call. */
static bool plant_drop(const struct prog *p, u16 func, u64 ra)
{
	const struct w_site *s = w_site_of(ra);
	const struct act *in = model__innermost(p);

	if (!one_in(50) || p->dirty || w.g_lost || !in || (s && s->func == W_ANY) ||
	    w_func_at(in->func)->f.group == w_func_at(func)->f.group)
		return false;
	if (!REGS_RA_READS && !p->t->go)
		return false;
	/* x86: after the stack's bounds and the goroutine's id; arm64: the id */
	kernel__plant(KERNEL_READ_USER, NULL, p->t->go ? 1 + REGS_RA_READS : 0, 1, -EFAULT);
	return true;
}

static bool is_known(u16 func, u64 ra)
{
	return (w_func_at(func)->f.flags & HB_FUNC_EXIT_RET) || w_site_of(ra);
}

static void do_move(struct prog *p)
{
	if (p->t->go)
		w_move_stack(p->t, 16384 << rnd(2));
}

static void do_call(struct prog *p, u16 func)
{
	u64 ra = ra_of[func][rnd(RAS)], depth = next_depth(p);
	bool dropped;

	if (w_func_at(func)->jbe && one_in(20)) {
		w_grow(func, depth, ra);
		do_move(p);
	}
	dropped = plant_drop(p, func, ra);
	act_push(p, func, depth, ra);
	w_call(func, depth, ra);
	model__enter(p, is_known(func, ra), dropped);
}

/* Recursion deeper than is kept. */
static void do_dive(struct prog *p)
{
	u32 n = rnd(2 * HB_NESTED_KEPT);

	while (n-- && p->nr < MODEL_ACTS) {
		do_call(p, func_recursive(p));
		w_pass(rnd(20));
	}
}

/*
 * What act[i] runs in the place of is called again from there. Would act[i], were it dead, be taken
 * to have jumped there?
 */
static bool looks_alive(const struct prog *p, u32 i)
{
	u16 func = p->act[i].func;
	u32 head = i;

	while (p->act[head].tail)
		head--;
	return p->act[i].kind == ACT_FRAME && w_func_at(func)->f.tails >> p->act[head].func & 1;
}

/* The slot of what runs does not hold the return address that a callee would find. */
static bool hidden_chain(const struct prog *p)
{
	u32 i = p->nr - 1;

	while (p->act[i].tail && !p->act[i].hidden)
		i--;
	return p->act[i].hidden;
}

static void do_tail_call(struct prog *p)
{
	struct act *from = top_of(p);
	u16 func = func_pick(p);
	const struct hb_func *f;

	if (!from || from->kind == ACT_PLAIN || from->kind == ACT_PANIC)
		return;
	f = &w_func_at(from->func)->f;
	if (!(f->tails >> func & 1) || hidden_chain(p) || !model__may_jump(p, func))
		return;
	if (((f->flags & HB_FUNC_EXIT_RET) ||
	     (from->kind != ACT_FRAME && from->kind != ACT_AGAIN)) &&
	    !is_known(func, from->ra))
		return; /* headless, and not even seen to return */
	if (f->flags & HB_FUNC_EXIT_RET) {
		w_jump_out(from->func, from->depth);
		model__own_return(p);
		w_pass(rnd(20));
	}
	act_push(p, func, from->depth, from->ra)->tail = true;
	w_enter(func, from->depth);
	model__enter(p, is_known(func, from->ra), false);
}

/* Another tool's return probe goes to the call that runs. */
static void do_hide(struct prog *p)
{
	struct act *a = top_of(p);

	if (!a || a->kind != ACT_FRAME)
		return;
	a->hidden = true;
	w_push(a->depth, REGS_TRAMPOLINE);
}

static void do_unwind(struct prog *p);

static void do_return(struct prog *p)
{
	struct act *a = top_of(p);
	const struct w_site *s;
	u64 depth, ra;

	if (!a)
		return;
	if (a->kind == ACT_PANIC) {
		do_unwind(p);
		return;
	}
	if (a->kind == ACT_PLAIN) {
		p->nr--;
		return;
	}
	depth = a->depth;
	ra = a->ra;
	s = w_site_of(ra);
	if (w_func_at(a->func)->f.flags & HB_FUNC_EXIT_RET) {
		w_jump_out(a->func, depth);
		model__own_return(p);
	}
	if (s)
		w_site_hit(ra, depth);
	model__return(p, s);
	/* nothing has seen it go */
	if (!s)
		w_clobber(depth, depth);
}

/* A panic that a deferred call recovers: the function that deferred returns at once. */
static void recover(struct prog *p, u64 sp_depth, bool seen)
{
	w.recover = one_in(2) ? W_GO : W_GO_OLD;
	if (seen)
		w_recover(sp_depth);
	else
		w_clobber(sp_depth + 8, deepest);
	do_return(p);
}

static void jump_up(u64 from, u64 sp_depth, bool seen)
{
	if (!seen)
		w_clobber(sp_depth + 8, deepest);
	else if (one_in(2))
		w_catch(sp_depth + 8);
	else
		w_longjmp(from, sp_depth, one_in(2) ? 0 : rng | 1ULL << 63);
}

/* Can the handlers not know without a probe that everything but the outermost `keep` is dead? */
static bool must_be_seen(const struct prog *p, u32 keep)
{
	bool stays = false; /* a frame */
	bool within;	    /* it is the innermost still */

	for (u32 i = 0; i < keep; i++)
		stays = stays || p->act[i].kind == ACT_FRAME;
	within = stays;
	for (u32 i = keep; i < p->nr; i++) {
		const struct act *a = &p->act[i];

		within = within && a->kind != ACT_FRAME;
		if (looks_alive(p, i) || a->hidden || (stays && a->kind == ACT_PANIC) ||
		    (within && a->kind == ACT_NESTED))
			return true;
	}
	return false;
}

/* The goroutine ends where it is; its g and its stack, as they are, become another's. */
static void do_goexit(struct prog *p)
{
	if (!p->t->go)
		return;
	model__unwind(p, 0, -1, 0);
	w_reuse_g(p->t, ++next_goid);
}

static void do_unwind(struct prog *p)
{
	u64 from = next_depth(p), sp_depth;
	bool seen;
	u32 keep;

	if (!p->nr)
		return;
	keep = rnd(p->nr);
	/* what has made a tail call has no frame to come back to, and gopanic does not recover */
	while (p->act[keep].tail || (keep && p->act[keep - 1].kind == ACT_PANIC))
		keep--;
	if (!keep && p->act[0].kind == ACT_PANIC) {
		do_goexit(p);
		return;
	}
	seen = must_be_seen(p, keep) || one_in(2);
	sp_depth = (keep ? p->act[keep - 1].depth + p->act[keep - 1].frame_size + 8 : FIRST) - 8;
	model__unwind(p, keep, !seen ? -1 : p->t->go ? HB_LANG_GO : HB_LANG_NATIVE, sp_depth);
	if (p->t->go)
		recover(p, sp_depth, seen);
	else
		jump_up(from, sp_depth, seen);
}

static void do_panic(struct prog *p)
{
	u64 depth = next_depth(p);

	if (!p->t->go)
		return;
	w_push(depth, 0x400000);
	w_panic(depth);
	model__panic(p, depth);
	act_push(p, 0, depth, 0)->kind = ACT_PANIC;
}

static void do_attach(void)
{
	struct hb_event e;
	u16 owner;
	u32 i;

	while (!w_event(&e))
		wanted[nr_wanted++] = e.ra;
	if (!nr_wanted)
		return;
	i = rnd(nr_wanted);
	for (owner = 0; ra_of[owner][2] != wanted[i] && ra_of[owner][3] != wanted[i];)
		owner++;
	w_attach(wanted[i],
		 (struct w_site){.func = one_in(2) ? W_ANY : owner, .cls = rnd(HB_CLASS_NR)});
	wanted[i] = wanted[--nr_wanted];
}

static void do_something(struct prog *p)
{
	u32 what = rnd(1000);

	w_run(p->t);
	kernel.cpu = rnd(KERNEL_CPUS);
	w_pass(rnd(200));
	w.reg[W_AX] = rnd(2);
	w.reg[W_SI] = 10 + rnd(100);
	w.g_lost = REGS_G_IN_TLS && one_in(8);
	if (p->nr == MODEL_ACTS || what < 440)
		do_return(p);
	else if (what < 850)
		do_call(p, func_pick(p));
	else if (what < 854)
		do_dive(p);
	else if (what < 900)
		do_plain_call(p);
	else if (what < 970)
		do_tail_call(p);
	else if (what < 980)
		do_unwind(p);
	else if (what < 983)
		do_goexit(p);
	else if (what < 986)
		do_move(p);
	else if (what < 987)
		do_attach();
	else if (what < 990)
		do_hide(p);
	else if (what < 994)
		do_panic(p);
	else if (p->t->go)
		p->t->tid = 1000 + rnd(8);
}

/* ---- runs ---- */

/* What plant_drop() leads to. */
#define ENTRY_LOST (REGS_RA_READS ? HB_DROP_READ_RA : HB_DROP_READ_G)

static void check_drops(void)
{
	for (u32 d = 0; d < HB_DROP_NR; d++)
		if (d != HB_DROP_FRAMES_DEEP && d != ENTRY_LOST)
			assert_int_equal(w_drop(d), 0);
}

/* A run in which something never happens says nothing of it. */
static void check_variety(void)
{
	static const enum hb_fn_counter what[] = {
		HB_FN_EXITS,  HB_FN_ABANDONED, HB_FN_UNKNOWN, HB_FN_DROPPED,
		HB_FN_NESTED, HB_FN_MIGRATED,  HB_FN_CLAMPED,
	};

	for (u32 i = 0; i < sizeof(what) / sizeof(*what); i++) {
		u64 n = 0;

		for (u32 f = 0; f < w_nr(); f++)
			n += w_n(f, what[i]);
		assert_true(n > 10);
	}
	for (u32 i = 0; i < MODEL_RARE; i++)
		assert_true(model__seen[i] > 10);
	assert_true(w_drop(HB_DROP_FRAMES_DEEP) > 10);
	assert_true(w_drop(ENTRY_LOST) > 10);
}

static void program_of(u64 seed)
{
	rng = seed;
	nr_wanted = 0;
	deepest = 0;
	memset(progs, 0, sizeof(progs));
	model__reset();
	w.counts_by_group = true;
	kernel.clock_step = 3;
	funcs_make();
	for (u32 i = 0; i < PROGS; i++) {
		progs[i].t = i < GOROUTINES ? w_go(i + 1) : w_thread(i + 1);
		do_move(&progs[i]);
	}
	next_goid = GOROUTINES;
}

static void run(u64 seed)
{
	program_of(seed);
	for (u32 op = 1; op <= OPS; op++) {
		do_something(&progs[rnd(PROGS)]);
		if (op % 4000 == 0)
			model__compare();
	}
	for (u32 i = 0; i < PROGS; i++) {
		w_run(progs[i].t);
		while (progs[i].nr) {
			w_pass(rnd(200));
			do_return(&progs[i]);
		}
	}
	model__compare();
	check_drops();
	check_variety();
	model__reset();
}

static void test_a_random_program_is_measured_exactly(void **state)
{
	run(1);
}

static void test_another_random_program_is_measured_exactly(void **state)
{
	run(0x9e3779b97f4a7c15ULL);
}

static void test_a_third_random_program_is_measured_exactly(void **state)
{
	run(20260726);
}

#define T(name) cmocka_unit_test_setup_teardown(name, w_init, w_fini)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_a_random_program_is_measured_exactly),
		T(test_another_random_program_is_measured_exactly),
		T(test_a_third_random_program_is_measured_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
