// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * counted.c - calls that do a known amount of something besides taking time:
 *
 *   touch   writes to 16 new pages
 *   nap     sleeps for --ns
 *   busy    spins for about --ns of CPU time
 *   instr   runs a loop
 *   switch  runs half of the loop, leaves the CPU, and runs the other half: in turn it moves to
 *           another CPU, sleeps, lets others run, or does nothing of that
 *
 * Where the machine counts instructions, the program does so itself around each call of the last two:
 * INSTRUCTIONS function sum=...
 */
#include <sched.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../lib/truth.h"

#define PAGES 16
#define PAGE  4096

static struct truth_func *func;
static uint64_t nap_ns, instructions;
static long iters, cpus;
static char *memory;
static int counter = -1;

static const char *const modes[] = {"touch", "nap", "busy", "instr", "switch", NULL};

TRUTH_PROBED static uint64_t counted_touch(char *at)
{
	for (int i = 0; i < PAGES; i++)
		at[i * PAGE] = 1;
	return (uint64_t)at[0];
}

TRUTH_PROBED static uint64_t counted_nap(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	return (uint64_t)nanosleep(&ts, NULL) + 1;
}

/* CPU time, so that waiting for a CPU makes it no shorter. */
TRUTH_PROBED static uint64_t counted_busy(uint64_t ns)
{
	struct timespec ts;
	uint64_t until, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	until = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec + ns;
	do {
		for (volatile int i = 0; i < 500; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	} while (now < until);
	return 1;
}

TRUTH_PROBED static uint64_t counted_instr(long n)
{
	volatile uint64_t x = 0;

	for (long i = 0; i < n; i++)
		x += (uint64_t)i;
	return x;
}

static void move(int turn)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(turn % cpus, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		truth_die("the thread cannot be moved");
}

static void leave(int i)
{
	struct timespec ts = {0, 50000};

	if (i % 4 == 0)
		move(i / 4);
	else if (i % 4 == 1)
		nanosleep(&ts, NULL);
	else if (i % 4 == 2)
		sched_yield();
}

TRUTH_PROBED static uint64_t counted_switch(long n, int i)
{
	volatile uint64_t x = 0;

	for (long k = 0; k < n / 2; k++)
		x += (uint64_t)k;
	leave(i);
	for (long k = n / 2; k < n; k++)
		x += (uint64_t)k;
	return x;
}

/* Every mode pages in its own code before it counts. */
static char *new_pages(int calls)
{
	size_t len = ((size_t)calls + 1) * PAGES * PAGE;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_die("no memory for %d calls", calls);
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

static int counter_open(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_INSTRUCTIONS,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t counter_read(void)
{
	uint64_t v = 0;

	if (counter >= 0 && read(counter, &v, sizeof(v)) != sizeof(v))
		truth_die("the counter cannot be read");
	return v;
}

static uint64_t step(struct truth *t, int i)
{
	uint64_t before, t0, t1, got;

	truth_enter(func);
	t0 = truth_now();
	before = counter_read();
	if (memory)
		got = counted_touch(memory + (size_t)i * PAGES * PAGE);
	else if (!strcmp(t->opt.mode, "switch"))
		got = counted_switch(iters, i);
	else if (iters)
		got = counted_instr(iters);
	else if (!strcmp(t->opt.mode, "nap"))
		got = counted_nap(nap_ns);
	else
		got = counted_busy(nap_ns);
	instructions += counter_read() - before;
	t1 = truth_now();
	truth_return(func, t1 - t0, 0, false);
	return got ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct truth t;
	char name[64];

	truth_init(&t, argc, argv, modes);
	snprintf(name, sizeof(name), "counted_%s", t.opt.mode);
	func = truth_func_new(&t, "probe", "call", name);
	nap_ns = (uint64_t)(t.opt.ns ? t.opt.ns : 2000000);
	if (!strcmp(t.opt.mode, "touch"))
		memory = new_pages(t.opt.n);
	if (!strcmp(t.opt.mode, "instr") || !strcmp(t.opt.mode, "switch")) {
		iters = t.opt.iters ? t.opt.iters : 5000;
		cpus = sysconf(_SC_NPROCESSORS_ONLN);
		counter = counter_open();
	}
	truth_start(&t);
	truth_run(&t, 1, step);
	if (counter >= 0)
		printf("INSTRUCTIONS %s sum=%llu\n", name, (unsigned long long)instructions);
	truth_finish(&t);
	return 0;
}
