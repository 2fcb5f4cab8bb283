// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hostile_cxx.cc - exceptions through probed calls. An unwinder that meets a return address which is
 * not the program's own ends the process.
 */
#include <stdexcept>
#include "../lib/truth.h"

namespace hostile
{
enum { RETURN, THROW, NEST_THROW, CATCH_INSIDE, NEST };

TRUTH_PROBED int codec(int what);
} // namespace hostile

static struct truth t;
static struct truth_func *fn;

/* Whoever throws is below the probed function. */
__attribute__((noipa)) static int thrower(int what)
{
	if (what >= 0)
		throw std::runtime_error("as planned");
	return what;
}

/* The barrier is there as the compiler would else turn the recursion into a loop. */
__attribute__((noipa)) static int nested(int what)
{
	int sum;

	truth_enter(fn);
	sum = hostile::codec(what);
	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

TRUTH_PROBED int hostile::codec(int what)
{
	int sum = what * 7 + 1;

	switch (what) {
	case THROW:
		return thrower(what) + sum;
	case NEST_THROW:
		return nested(THROW) + sum;
	case NEST:
		return nested(RETURN) + sum;
	case CATCH_INSIDE:
		try {
			sum += nested(THROW);
		} catch (const std::runtime_error &) {
			sum += 100;
		}
		return sum;
	default:
		return sum;
	}
}

/* A call that is left by an exception. */
__attribute__((noipa)) static uint64_t abandon(int what)
{
	truth_enter(fn);
	try {
		hostile::codec(what);
	} catch (const std::runtime_error &) {
		truth_abandon(fn);
		return 1;
	}
	truth_die("a call that throws has returned");
}

static uint64_t call(int what)
{
	uint64_t t0, t1;
	int sum;

	truth_enter(fn);
	t0 = truth_now();
	sum = hostile::codec(what);
	t1 = truth_now();
	truth_return(fn, t1 - t0, 0, false);
	return static_cast<uint64_t>(sum);
}

/* Below a frame that leaves what stood there as it was. */
__attribute__((noipa)) static uint64_t over_stale(int what)
{
	volatile char room[600];

	room[0] = 1;
	return call(what) + static_cast<uint64_t>(room[0]);
}

static uint64_t step_throw(struct truth *, int i)
{
	return i % 3 == 2 ? abandon(hostile::THROW) : call(hostile::RETURN);
}

static uint64_t step_throwdeep(struct truth *, int)
{
	uint64_t sum = abandon(hostile::NEST_THROW);

	sum += over_stale(hostile::NEST);
	sum += abandon(hostile::THROW);
	return sum + call(hostile::NEST);
}

/* The outer call returns, the inner one does not. */
static uint64_t step_throwcaught(struct truth *, int)
{
	return call(hostile::CATCH_INSIDE);
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"throw", "throwdeep", "throwcaught", NULL};
	static const truth_step steps[] = {step_throw, step_throwdeep, step_throwcaught};
	int mode = 0;

	truth_init(&t, argc, argv, modes);
	while (strcmp(modes[mode], t.opt.mode))
		mode++;
	fn = truth_func_new(&t, "probe", "call", "hostile::codec(int)");
	truth_start(&t);
	truth_run(&t, t.opt.g, steps[mode]);
	truth_finish(&t);
	return 0;
}
