// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shapes.c - what optimizing compilers make of functions and calls, made by hand so that every
 * compiler makes it: long instructions at the borders of a call, copies, parts and other names of a
 * function. The probed functions are small, filled, whole, half, named, named_again and unused.
 */
#include "../lib/truth.h"
#include "shapes.h"

#define BLOCK (512u << 10)

static unsigned char block[2][BLOCK];

static struct {
	struct truth_func *small, *filled, *whole, *half;
} work;

/* ---- instructions that take long ------------------------------------------------------------- */

TRUTH_PROBED unsigned int small(unsigned int v)
{
	return v * 3 + 1;
}

/* As memcpy() of a large struct with -Os: the copy is between the call and the branch. */
static uint64_t step_after(struct truth *t, int i)
{
	unsigned char *from = block[0], *to = block[1];
	size_t n = BLOCK;
	unsigned int v;

	truth_enter(work.small);
	v = small((unsigned int)i);
	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(n), "+r"(v) : : "memory");
	if (v == 99)
		v = small(v);
	truth_count(work.small, 0, false);
	return v;
}

/* As a large array that is initialized. */
TRUTH_PROBED unsigned int filled(unsigned int v)
{
	unsigned char *to = block[0];
	size_t n = BLOCK;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(v) : "memory");
	return v & 1 ? block[0][v % BLOCK] : block[0][0] + 1u;
}

static uint64_t step_entry(struct truth *t, int i)
{
	uint64_t t0, t1;
	unsigned int v;

	truth_enter(work.filled);
	t0 = truth_now();
	v = filled((unsigned int)i);
	t1 = truth_now();
	truth_return(work.filled, t1 - t0, 0, false);
	return v;
}

/* ---- more than one piece of code with a name, more than one name of a piece of code ------------ */

TRUTH_PROBED unsigned int whole(unsigned int v)
{
	return v * 5 + 1;
}

/* For some callers. */
TRUTH_PROBED unsigned int whole_copy(unsigned int v)
{
	return v * 5 + 1;
}

static uint64_t step_clones(struct truth *t, int i)
{
	unsigned int v = (unsigned int)i;

	truth_enter(work.whole);
	v = i % 3 ? whole_copy(v) : whole(v);
	truth_count(work.whole, 0, false);
	return v;
}

TRUTH_PROBED unsigned int half_rest(unsigned int v)
{
	return v * 7 + 1;
}

TRUTH_PROBED unsigned int half(unsigned int v)
{
	return v & 1 ? half_rest(v) + 1 : v;
}

TRUTH_PROBED unsigned int named(unsigned int v)
{
	return v * 9 + 1;
}

__attribute__((alias("named"))) unsigned int named_again(unsigned int v);

TRUTH_PROBED unsigned int unused(unsigned int v)
{
	return v * 11 + 1;
}

/* Only half, and that by the names that are not counted, is the truth's. */
static uint64_t step_parts(struct truth *t, int i)
{
	unsigned int v = (unsigned int)i;

	truth_enter(work.half);
	v = half(v);
	truth_count(work.half, 0, false);
	return v + half_rest(v) + named(v) + named_again(v) + (t->opt.n ? 0 : unused(v));
}

/* ---- the program ---------------------------------------------------------------------------- */

static void add_small(struct truth *t)
{
	work.small = truth_func_new(t, "probe", "call", "small");
}

static void add_filled(struct truth *t)
{
	work.filled = truth_func_new(t, "probe", "call", "filled");
}

static void add_whole(struct truth *t)
{
	work.whole = truth_func_new(t, "probe", "call", "whole");
}

static void add_half(struct truth *t)
{
	work.half = truth_func_new(t, "probe", "call", "half");
}

static const struct {
	const char *name;
	void (*add)(struct truth *t);
	truth_step step;
} modes[] = {
	{"repafter", add_small, step_after},
	{"repentry", add_filled, step_entry},
	{"clones", add_whole, step_clones},
	{"parts", add_half, step_parts},
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

int main(int argc, char **argv)
{
	static const char *names[NR_MODES + 1];
	static struct truth t;

	for (size_t i = 0; i < NR_MODES; i++)
		names[i] = modes[i].name;
	memset(block, 1, sizeof(block));
	truth_init(&t, argc, argv, names);
	for (size_t i = 0; i < NR_MODES; i++) {
		if (strcmp(modes[i].name, t.opt.mode))
			continue;
		modes[i].add(&t);
		truth_start(&t);
		truth_run(&t, 1, modes[i].step);
	}
	truth_finish(&t);
	return 0;
}
