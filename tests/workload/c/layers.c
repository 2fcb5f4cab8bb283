// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * layers.c - functions of one codec and operation inside of each other, which is what it says of them in
 * tests/bpf/layers.json; and a call that a loop passes a thousand times for each time that it is made.
 * The probed functions are layers_outer, layers_inner, layers_part and rare.
 */
#include "../lib/truth.h"
#include "layers.h"

#define TURNS 1000 /* of the loop, for one call */

static struct {
	struct truth_func *outer, *inner, *part, *rare;
} work;

/* ---- layers --------------------------------------------------------------------------------- */

TRUTH_PROBED unsigned int layers_part(unsigned int v)
{
	return v * 3 + 1;
}

TRUTH_PROBED unsigned int layers_inner(const void *data, unsigned int len)
{
	unsigned int v = len;

	truth_enter(work.part);
	v += layers_part(v) & 1;
	truth_enter(work.part);
	return v + (layers_part(v) & 1);
}

TRUTH_PROBED unsigned int layers_outer(const void *data, unsigned int len)
{
	truth_enter(work.inner);
	return layers_inner(data, len) + 1;
}

static uint64_t call_outer(int i)
{
	uint64_t t0, t1;
	unsigned int v;

	truth_enter(work.outer);
	t0 = truth_now();
	v = layers_outer(&work, (unsigned int)i);
	t1 = truth_now();
	truth_return(work.outer, t1 - t0, 0, false);
	return v;
}

static uint64_t step_nested(struct truth *t, int i)
{
	return call_outer(i);
}

/* From the middle on also alone, from a place that is in the code. */
static uint64_t step_later(struct truth *t, int i)
{
	uint64_t v = call_outer(i);

	if (i < t->opt.n / 2 || i % 4)
		return v;
	truth_enter(work.inner);
	v += layers_inner(&work, (unsigned int)i) + 1;
	truth_count(work.inner, 0, false);
	return v;
}

static unsigned int (*volatile through)(const void *data, unsigned int len) = layers_inner;

/* From the middle on also alone, through a pointer. */
static uint64_t step_pointer(struct truth *t, int i)
{
	uint64_t v = call_outer(i);

	if (i < t->opt.n / 2 || i % 4)
		return v;
	truth_enter(work.inner);
	v += through(&work, (unsigned int)i) + 1;
	truth_count(work.inner, 0, false);
	return v;
}

/* ---- a hot loop ----------------------------------------------------------------------------- */

TRUTH_PROBED unsigned int rare(unsigned int v)
{
	return v * 5 + 1;
}

/*
 * Where the call returns to, the turns without one go on, too: so the return site is passed in
 * each turn. A compiler may make something else of it, so it is written down where that is possible.
 */
static unsigned int hot_loop(unsigned int calls)
{
#if defined(__x86_64__)
	unsigned long left = TURNS, turns = (unsigned long)calls * TURNS;
	unsigned int v = 0;

	__asm__ volatile("sub $128, %%rsp\n"
			 "1:\n\t"
			 "dec %[left]\n\t"
			 "jnz 2f\n\t"
			 "mov $1000, %[left]\n\t"
			 "mov %%eax, %%edi\n\t"
			 "call rare\n"
			 "2:\n\t"
			 "dec %[turns]\n\t"
			 "jnz 1b\n\t"
			 "add $128, %%rsp"
			 : [left] "+b"(left), [turns] "+r"(turns), "+a"(v)
			 :
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
	return v;
#else
	unsigned int v = 0;

	for (unsigned int i = 1; i <= calls * TURNS; i++) {
		if (__builtin_expect(i % TURNS == 0, 1))
			v = rare(v);
		__asm__ volatile("" : "+r"(v));
	}
	return v;
#endif
}

#define HOT_CALLS 100 /* of a step */

static uint64_t step_hot(struct truth *t, int i)
{
	unsigned int v;

	truth_add(&work.rare->entries, HOT_CALLS);
	v = hot_loop(HOT_CALLS);
	truth_add(&work.rare->calls, HOT_CALLS);
	return v;
}

/* ---- the program ---------------------------------------------------------------------------- */

static void add_layers(struct truth *t)
{
	work.outer = truth_func_new(t, "layers", "encode", "layers_outer");
	work.inner = truth_func_new(t, "layers", "encode", "layers_inner");
	work.part = truth_func_new(t, "layers", "encode", "layers_part");
}

static void add_rare(struct truth *t)
{
	work.rare = truth_func_new(t, "probe", "call", "rare");
}

static const struct {
	const char *name;
	void (*add)(struct truth *t);
	truth_step step;
} modes[] = {
	{"nested", add_layers, step_nested},
	{"later", add_layers, step_later},
	{"pointer", add_layers, step_pointer},
	{"hot", add_rare, step_hot},
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

int main(int argc, char **argv)
{
	static const char *names[NR_MODES + 1];
	static struct truth t;

	for (size_t i = 0; i < NR_MODES; i++)
		names[i] = modes[i].name;
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
