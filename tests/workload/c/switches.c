// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switches.c - what a context switch takes: after their calls, two threads on one CPU wake each other
 * through pipes for --iters round trips, and SWITCH tells ns per switch: the mean, and the least and
 * the median of batches. With -mode other their calls are of a function that nobody probes: so they are threads of a
 * measured process that have been in no call.
 */
#include <sys/resource.h>

#include "../lib/truth.h"

#define BATCHES 32

static const char *const modes[] = {"called", "other", NULL};

static struct truth_func *func;
static int to[2], back[2], cpu;
static long trips; /* of a batch */

TRUTH_PROBED static uint64_t switches_call(uint64_t x)
{
	return x + 1;
}

TRUTH_PROBED static uint64_t switches_other(uint64_t x)
{
	return x + 2;
}

static void call(const struct truth *t)
{
	for (int i = 0; i < t->opt.n; i++) {
		if (!strcmp(t->opt.mode, "other")) {
			switches_other((uint64_t)i);
			continue;
		}
		truth_enter(func);
		switches_call((uint64_t)i);
		truth_count(func, 0, false);
	}
}

static void settle(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		truth_die("a thread cannot be bound to CPU %d", cpu);
}

static void give(int fd)
{
	if (write(fd, "x", 1) != 1)
		truth_die("a pipe cannot be written");
}

static void take(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		truth_die("a pipe cannot be read");
}

static void *partner(void *arg)
{
	settle();
	call(arg);
	for (long i = 0; i < trips * BATCHES; i++) {
		take(to[0]);
		give(back[1]);
	}
	return NULL;
}

static long left(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void ping_pong(void)
{
	double batch[BATCHES], mean = 0;
	long before = left(), nr;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t t0 = truth_now();

		for (long k = 0; k < trips; k++) {
			give(to[1]);
			take(back[0]);
		}
		batch[i] = (double)(truth_now() - t0) / (double)(2 * trips);
		mean += batch[i] / BATCHES;
	}
	nr = left() - before;
	qsort(batch, BATCHES, sizeof(batch[0]), cmp);
	printf("SWITCH ns=%.2f min=%.2f median=%.2f switches=%ld expected=%ld\n", mean, batch[0],
	       batch[BATCHES / 2], nr, 2 * trips * BATCHES);
}

int main(int argc, char **argv)
{
	static struct truth t;
	pthread_t thread;

	truth_init(&t, argc, argv, modes);
	func = truth_func_new(&t, "probe", "call", "switches_call");
	trips = (t.opt.iters ? t.opt.iters : 32000) / BATCHES;
	if (pipe(to) || pipe(back))
		truth_die("no pipes");
	cpu = sched_getcpu();
	truth_start(&t);
	settle();
	if (pthread_create(&thread, NULL, partner, &t))
		truth_die("no thread");
	call(&t);
	ping_pong();
	pthread_join(thread, NULL);
	truth_finish(&t);
	return 0;
}
