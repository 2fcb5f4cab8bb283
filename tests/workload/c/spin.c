// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * spin.c - functions of known length, and the cost of a call of those that do nothing.
 *
 * The modes push, endbr and lea call one function, spin calls all three in turn. Mode cost prints
 * what a call costs, the loop around it included: without probes a nanosecond or two, with probes
 * what they add.
 */
#include "../lib/truth.h"
#include "stubs.h"

static struct {
	long iters;
	struct truth_func *push, *endbr, *lea;
} work;

static const char *const modes[] = {"spin", "push", "endbr", "lea", "cost", NULL};

/* As many iterations as take the given time here and now. */
static long calibrate(long ns)
{
	const long probe = 500000;
	uint64_t best = UINT64_MAX, t0, t;
	long iters;

	for (int i = 0; i < 20; i++) {
		t0 = truth_now();
		spin_unprobed(probe);
		t = truth_now() - t0;
		if (t < best)
			best = t;
	}
	iters = (long)((double)ns * (double)probe / (double)(best ? best : 1));
	return iters > 0 ? iters : 1;
}

static uint64_t spun(struct truth_func *f, long n, uint64_t ns)
{
	if (n != work.iters)
		truth_die("%s did %ld iterations of %ld", f->name, n, work.iters);
	truth_return(f, ns, 0, false);
	return (uint64_t)n;
}

static uint64_t step_push(struct truth *t, int i)
{
	uint64_t t0, t1;
	long n;

	truth_enter(work.push);
	t0 = truth_now();
	n = spin_push(work.iters);
	t1 = truth_now();
	return spun(work.push, n, t1 - t0);
}

static uint64_t step_endbr(struct truth *t, int i)
{
	uint64_t t0, t1;
	long n;

	truth_enter(work.endbr);
	t0 = truth_now();
	n = spin_endbr(work.iters);
	t1 = truth_now();
	return spun(work.endbr, n, t1 - t0);
}

static uint64_t step_lea(struct truth *t, int i)
{
	uint64_t t0, t1;
	long n;

	truth_enter(work.lea);
	t0 = truth_now();
	n = spin_lea(work.iters);
	t1 = truth_now();
	return spun(work.lea, n, t1 - t0);
}

static uint64_t step_all(struct truth *t, int i)
{
	return step_push(t, i) + step_endbr(t, i) + step_lea(t, i);
}

static void run_spin(struct truth *t)
{
	static const truth_step steps[] = {step_all, step_push, step_endbr, step_lea};
	int mode = 0;

	while (strcmp(modes[mode], t->opt.mode))
		mode++;
	if (mode == 0 || mode == 1)
		work.push = truth_func_new(t, "probe", "call", "spin_push");
	if (mode == 0 || mode == 2)
		work.endbr = truth_func_new(t, "probe", "call", "spin_endbr");
	if (mode == 0 || mode == 3)
		work.lea = truth_func_new(t, "probe", "call", "spin_lea");
	work.iters = t->opt.iters ? t->opt.iters : calibrate(t->opt.ns ? t->opt.ns : 1000);
	truth_start(t);
	truth_run(t, t->opt.g, steps[mode]);
	printf("SPIN iters=%ld\n", work.iters);
}

/* ---- cost ----------------------------------------------------------------------------------- */

#define BATCHES 32

/* The loop is in each of them, so that the call is a direct one. */
#define COST_LOOP(fn)                                 \
	TRUTH_PROBED static uint64_t cost_##fn(int n) \
	{                                             \
		uint64_t t0 = truth_now();            \
                                                      \
		for (int i = 0; i < n; i++)           \
			fn();                         \
		return truth_now() - t0;              \
	}

COST_LOOP(nop_push)
COST_LOOP(nop_endbr)
COST_LOOP(nop_lea)
COST_LOOP(nop_lea_branch)
COST_LOOP(call_nop_ret)

/* n calls in batches of equal length, the rest in the last one. */
static void cost(struct truth_func *f, uint64_t (*loop)(int), int n)
{
	double batch[BATCHES], mean = 0, median;
	int done = 0, nr = n < BATCHES ? 1 : BATCHES, todo;

	for (int i = 0; i < nr; i++) {
		todo = i == nr - 1 ? n - done : n / nr;
		batch[i] = (double)loop(todo) / todo;
		mean += batch[i] * todo / n;
		done += todo;
	}
	for (int i = 1; i < nr; i++) {
		double v = batch[i];
		int at = i;

		for (; at && batch[at - 1] > v; at--)
			batch[at] = batch[at - 1];
		batch[at] = v;
	}
	median = batch[nr / 2];
	f->entries = (uint64_t)n;
	f->calls = (uint64_t)n;
	printf("COST %s ns=%.2f median=%.2f\n", f->name, mean, median);
}

static void run_cost(struct truth *t)
{
	static const struct {
		const char *name;
		uint64_t (*loop)(int);
	} each[] = {
		{"nop_push", cost_nop_push},	{"nop_endbr", cost_nop_endbr},
		{"nop_lea", cost_nop_lea},	{"nop_lea_branch", cost_nop_lea_branch},
		{"nop_ret", cost_call_nop_ret},
	};
	enum { NR = sizeof(each) / sizeof(each[0]) };
	struct truth_func *f[NR];

	for (int i = 0; i < NR; i++)
		f[i] = truth_func_new(t, "probe", "call", each[i].name);
	truth_start(t);
	for (int i = 0; i < NR; i++)
		cost(f[i], each[i].loop, t->opt.n);
	t->checksum = NR * (uint64_t)t->opt.n;
}

int main(int argc, char **argv)
{
	static struct truth t;

	truth_init(&t, argc, argv, modes);
	if (!strcmp(t.opt.mode, "cost"))
		run_cost(&t);
	else
		run_spin(&t);
	truth_finish(&t);
	return 0;
}
