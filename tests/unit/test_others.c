// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_others.c - whose breakpoints stand in the measured code (trace/others.h). The measured process is
 * this one. What the kernel tells of BPF links is tested live, by tests/bpf/t_others.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

/* trace/ is no part of what unit tests are linked with; these need no libbpf. */
#include "fakeroot.h"
#include "probe/insn.h"
#include "trace/others.c"
#include "trace/others_events.c"

static struct plan_image image;
static struct plan_map map;
static struct plan_proc proc;
static struct func funcs[2];
static struct plan_func plan_funcs[2];
static struct plan pl;
static const char *tracer_of_bpf; /* what the stand-in for others_bpf.c finds; NULL: nothing */

void others__scan_bpf(struct others_scan *s)
{
	if (tracer_of_bpf && s->nr)
		others__probe(s, "/proc/self/exe", s->brk[0].off, tracer_of_bpf);
}

struct plan_map *plan__map(const struct plan *p, u32 i, u32 im)
{
	return &map;
}

/* At the beginning of a page, so that it does not cross one. */
__attribute__((noinline, aligned(4096))) static int victim(int x)
{
	return x * 7 + 1;
}

__attribute__((noinline, aligned(4096))) static int other_victim(int x)
{
	return x * 9 + 2;
}

static u64 vaddr_of(int (*f)(int))
{
	const struct proc_map *m = proc__map_at(proc.proc, (uintptr_t)f);
	u64 vaddr;

	assert_non_null(m);
	assert_int_equal(image__vaddr(image.im, (uintptr_t)f - m->begin + m->off, &vaddr), 0);
	map.bias = (uintptr_t)f - vaddr;
	return vaddr;
}

static int setup(void **state)
{
	static char path[] = "/proc/self/exe";

	assert_int_equal(proc__open(getpid(), &proc.proc), 0);
	assert_int_equal(image__open("/proc/self/exe", &image.im), 0);
	image.ops = insn_ops__find(image.im->machine);
	image.path = path;
	funcs[0] = (struct func){.name = (char *)"victim", .vaddr = vaddr_of(victim), .size = 8};
	funcs[1] =
		(struct func){.name = (char *)"other", .vaddr = vaddr_of(other_victim), .size = 8};
	plan_funcs[0].f = &funcs[0];
	plan_funcs[1].f = &funcs[1];
	pl = (struct plan){.proc = &proc,
			   .nr_procs = 1,
			   .image = &image,
			   .nr_images = 1,
			   .func = plan_funcs,
			   .nr_funcs = 2};
	tracer_of_bpf = NULL;
	return 0;
}

static int teardown(void **state)
{
	proc__close(proc.proc);
	image__close(image.im);
	return 0;
}

/* Writes a breakpoint to the beginning of f, or takes it off. */
static void set_break(int (*f)(int), bool on)
{
	static u8 before[4];
	u8 *at = (u8 *)(uintptr_t)f;
	size_t n = image.ops->breakpoint_len;

	assert_int_equal(mprotect(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	if (on)
		memcpy(before, at, n);
	memcpy(at, on ? image.ops->breakpoint : before, n);
	assert_int_equal(mprotect(at, 4096, PROT_READ | PROT_EXEC), 0);
}

static void test_code_without_a_breakpoint_is_nobodys(void **state)
{
	struct others o = {0};

	assert_int_equal(others__look(&pl, &o), 0);
	assert_int_equal(o.nr, 0);
	assert_int_equal(o.blind, 0);
	others__fini(&o);
}

static void test_a_breakpoint_that_no_one_explains_is_told(void **state)
{
	struct others o = {0};

	set_break(victim, true);
	assert_int_equal(others__look(&pl, &o), 0);
	set_break(victim, false);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.v[0].kind, OTHER_BREAKS);
	assert_int_equal(o.v[0].nr_funcs, 1);
	assert_string_equal(o.v[0].func, "victim");
	others__fini(&o);
}

static void test_a_breakpoint_of_a_known_tracer_is_not_told_twice(void **state)
{
	struct others o = {0};

	tracer_of_bpf = "bpftrace, process 99";
	set_break(other_victim, true);
	assert_int_equal(others__look(&pl, &o), 0);
	set_break(other_victim, false);
	assert_int_equal(o.nr, 1);
	assert_int_equal(o.v[0].kind, OTHER_PROBES);
	assert_string_equal(o.v[0].who, "bpftrace, process 99");
	assert_string_equal(o.v[0].func, "other");
	others__fini(&o);
}

/* ---- what is said ---- */

static void add(struct others *o, const char *who, const char *func, u32 nr)
{
	struct other v = {.kind = OTHER_PROBES, .nr_funcs = nr};

	snprintf(v.who, sizeof(v.who), "%s", who);
	snprintf(v.func, sizeof(v.func), "%s", func);
	assert_int_equal(array_grow((void **)&o->v, o->nr, &o->cap, sizeof(v)), 0);
	o->v[o->nr++] = v;
}

static void test_it_is_told_who_stayed_who_came_and_who_went(void **state)
{
	struct others before = {0}, after = {0};
	struct recording *r = recording__new();

	add(&before, "stays", "f", 1);
	add(&before, "goes", "f", 3);
	add(&after, "stays", "f", 1);
	add(&after, "comes", "g", 2);
	assert_int_equal(others__tell(&before, &after, r), 0);
	assert_int_equal(r->nr_warnings, 3);
	assert_string_equal(r->warning[0],
			    "another tracer (stays) probes the measured code too: f; "
			    "its time is in the latencies");
	assert_string_equal(
		r->warning[1],
		"another tracer (goes) probes the measured code too (not until the end): "
		"f and 2 other functions; its time is in the latencies");
	assert_string_equal(r->warning[2],
			    "another tracer (comes) probes the measured code too (not from the "
			    "start): g and 1 other function; its time is in the latencies");
	others__fini(&before);
	others__fini(&after);
	recording__free(r);
}

static void test_of_a_process_that_has_ended_nobody_is_said_to_have_gone(void **state)
{
	struct others before = {0}, after = {.blind = 1};
	struct recording *r = recording__new();

	add(&before, "stays?", "f", 1);
	assert_int_equal(others__tell(&before, &after, r), 0);
	assert_null(strstr(r->warning[0], "not until"));
	others__fini(&before);
	recording__free(r);
}

/* ---- uprobe_events ---- */

static void assert_event(const char *line, const char *name, const char *path, u64 off)
{
	char n[64], p[256];
	u64 o;

	assert_true(uprobe_event_parse(line, n, sizeof(n), p, sizeof(p), &o));
	assert_string_equal(n, name);
	assert_string_equal(p, path);
	assert_int_equal(o, off);
}

static void test_lines_of_uprobe_events_are_read(void **state)
{
	assert_event("p:probe_bench/Marshal /srv/bench:0x00000000004a1c20", "probe_bench/Marshal",
		     "/srv/bench", 0x4a1c20);
	assert_event("r:u/f__return /srv/a:b:0x10 arg1=%ax", "u/f__return", "/srv/a:b", 0x10);
	assert_event("p:u/usdt /srv/x:0x20(0x30) a=@0x5:u8", "u/usdt", "/srv/x", 0x20);
	assert_event("r16:u/f /srv/my file:0xAb", "u/f", "/srv/my file", 0xab);
}

static void test_lines_that_are_no_uprobe_are_left_alone(void **state)
{
	static const char *const lines[] = {
		"",
		"p",
		"p:",
		"p:x",
		"-:u/f",
		"p:u/f vfs_read",
		"p:u/f /srv/x:10",
		"p:u/f /srv/x:0x",
		"p:u/f /srv/x:0x10z",
	};
	char n[64], p[256], tiny[4];
	u64 o;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(uprobe_event_parse(lines[i], n, sizeof(n), p, sizeof(p), &o));
	assert_false(
		uprobe_event_parse("p:long/name /x:0x1", tiny, sizeof(tiny), p, sizeof(p), &o));
	assert_false(uprobe_event_parse("p:a/b /long:0x1", n, sizeof(n), tiny, sizeof(tiny), &o));
}

static void test_a_defined_probe_is_told_only_where_its_breakpoint_stands(void **state)
{
	struct others o = {0};
	struct other_break brk = {.image = 0, .func = 0, .off = 0x40};
	struct others_scan s = {.pl = &pl, .out = &o, .brk = &brk, .nr = 1};

	fakeroot__put("/sys/kernel/tracing/uprobe_events", "p:u/elsewhere /proc/self/exe:0x80\n"
							   "p:u/here /proc/self/exe:0x40\n"
							   "p:u/file /bin/sh:0x40\n");
	others__scan_events(&s, fakeroot);
	assert_int_equal(o.nr, 1);
	assert_string_equal(o.v[0].who, "uprobe event u/here");
	assert_true(brk.explained);
	others__fini(&o);
}

static int setup_root(void **state)
{
	return setup(state) || fakeroot__make(state);
}

static int teardown_root(void **state)
{
	return teardown(state) || fakeroot__clear(state);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_code_without_a_breakpoint_is_nobodys),
		T(test_a_breakpoint_that_no_one_explains_is_told),
		T(test_a_breakpoint_of_a_known_tracer_is_not_told_twice),
		T(test_it_is_told_who_stayed_who_came_and_who_went),
		T(test_of_a_process_that_has_ended_nobody_is_said_to_have_gone),
		T(test_lines_of_uprobe_events_are_read),
		T(test_lines_that_are_no_uprobe_are_left_alone),
		cmocka_unit_test_setup_teardown(
			test_a_defined_probe_is_told_only_where_its_breakpoint_stands, setup_root,
			teardown_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
