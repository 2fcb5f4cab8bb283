// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_plan.c - a plan grows by processes and files (trace/plan_procs.c); the processes are this one's own. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sym/registry.h"
#include "trace/plan.h"

#define MAX_CHILDREN 4

/* What is looked for: one here, and one in a library that nobody here is linked with. */
static const char *const probes[] = {"plan_test_encode=encode", "td_ta_new"};
#define LATE_LIBRARY "libthread_db.so.1"

struct world {
	pid_t pid[MAX_CHILDREN];
	struct proc *proc[MAX_CHILDREN];
	u32 nr;
	struct plan *pl;
};
static struct world w;

__attribute__((noinline, used)) int plan_test_encode(int x);
int plan_test_encode(int x)
{
	__asm__ volatile("" ::: "memory");
	return x + 1;
}

/* A child with this program, or with another one, once it is there. */
static struct proc *child(const char *program)
{
	int pipefd[2];
	u32 i = w.nr++;
	char c;

	assert_true(i < MAX_CHILDREN && !pipe2(pipefd, program ? O_CLOEXEC : 0));
	w.pid[i] = fork();
	if (!w.pid[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipefd[0]);
		if (program)
			execlp(program, program, "60", NULL);
		close(pipefd[1]);
		for (;;)
			pause();
	}
	close(pipefd[1]);
	assert_int_equal(read(pipefd[0], &c, 1), 0);
	close(pipefd[0]);
	assert_int_equal(proc__open(w.pid[i], &w.proc[i]), 0);
	return w.proc[i];
}

static void build(struct proc *const *p, u32 nr, bool *left_out)
{
	struct plan_opts o = {.probe = probes, .nr_probes = 2, .later = true};

	assert_int_equal(plan__build_many(p, nr, &o, left_out, &w.pl), 0);
}

static int teardown(void **state)
{
	plan__free(w.pl);
	for (u32 i = 0; i < w.nr; i++) {
		proc__close(w.proc[i]);
		if (w.pid[i] > 0) {
			kill(w.pid[i], SIGKILL);
			waitpid(w.pid[i], NULL, 0);
		}
	}
	w = (struct world){0};
	return 0;
}

static const struct plan_func *func_named(const char *name)
{
	for (u32 i = 0; i < w.pl->nr_funcs; i++)
		if (!strcmp(w.pl->func[i].f->name, name))
			return &w.pl->func[i];
	return NULL;
}

static void test_files_of_two_processes_are_read_once(void **state)
{
	struct proc *p[2] = {child(NULL), child(NULL)};
	bool left_out[2];
	u32 images;

	build(p, 1, left_out);
	images = w.pl->nr_images;
	plan__free(w.pl);
	build(p, 2, left_out);
	assert_int_equal(w.pl->nr_procs, 2);
	assert_int_equal(w.pl->nr_images, images);
	assert_false(left_out[0] || left_out[1]);
	for (u32 i = 0; i < images; i++)
		assert_int_equal(plan__map(w.pl, 0, i)->bias, plan__map(w.pl, 1, i)->bias);
	assert_string_equal(w.pl->proc[1].language, "native");
}

static void test_a_process_that_is_added_brings_nothing_twice(void **state)
{
	struct proc *p = child(NULL), *later = child(NULL);
	u32 images, funcs, index;
	size_t sites = 0, now = 0;

	build(&p, 1, (bool[1]){0});
	images = w.pl->nr_images;
	funcs = w.pl->nr_funcs;
	for (u32 i = 0; i < images; i++)
		sites += w.pl->image[i].sites.nr;
	assert_int_equal(plan__add(w.pl, later, &index), 0);
	assert_int_equal(index, 1);
	assert_int_equal(w.pl->nr_images, images);
	assert_int_equal(w.pl->nr_funcs, funcs);
	for (u32 i = 0; i < images; i++)
		now += w.pl->image[i].sites.nr;
	assert_int_equal(now, sites);
	assert_ptr_equal(w.pl->proc[1].proc, later);
}

static void test_a_process_with_nothing_to_measure_is_none_of_the_plans(void **state)
{
	struct proc *p = child(NULL), *other = child("sleep");
	u32 funcs, index = 77;

	build(&p, 1, (bool[1]){0});
	funcs = w.pl->nr_funcs;
	assert_int_equal(plan__add(w.pl, other, &index), -ENODATA);
	assert_int_equal(index, 77);
	assert_int_equal(w.pl->nr_procs, 1);
	assert_int_equal(w.pl->nr_funcs, funcs);
	assert_int_equal(plan__add(w.pl, child(NULL), &index), 0);
	assert_int_equal(index, 1);
}

static void test_of_several_those_with_nothing_are_left_out(void **state)
{
	struct proc *p[3] = {child("sleep"), child(NULL), child("sleep")};
	bool left_out[3];

	build(p, 3, left_out);
	assert_true(left_out[0] && !left_out[1] && left_out[2]);
	assert_int_equal(w.pl->nr_procs, 1);
	assert_ptr_equal(w.pl->proc[0].proc, p[1]);
}

static void test_no_more_images_than_there_is_room_for(void **state)
{
	struct proc *p = child(NULL), *other = child("sleep");
	u32 index;

	build(&p, 1, (bool[1]){0});
	w.pl->max_images = w.pl->nr_images;
	assert_int_equal(plan__add(w.pl, other, &index), -ENODATA);
	assert_int_equal(w.pl->nr_images, w.pl->max_images);
}

static void test_a_library_that_is_loaded_later_adds_its_functions(void **state)
{
	const struct plan_func *own;
	u32 i = w.nr++, funcs, warnings;
	void *so;

	w.pid[i] = 0; /* this process itself is not to be killed */
	assert_int_equal(proc__open(getpid(), &w.proc[i]), 0);
	build(&w.proc[i], 1, (bool[1]){0});
	funcs = w.pl->nr_funcs;
	warnings = w.pl->nr_warnings;
	assert_null(func_named("td_ta_new"));
	so = dlopen(LATE_LIBRARY, RTLD_LAZY);
	if (!so)
		skip();
	assert_int_equal(proc__reload_maps(w.proc[i]), 0);
	assert_int_equal(plan__look_again(w.pl, 0), 0);
	assert_int_equal(w.pl->nr_funcs, funcs + 1);
	assert_int_equal(w.pl->nr_warnings, warnings);
	assert_non_null(func_named("td_ta_new"));
	own = func_named("plan_test_encode");
	assert_non_null(own);
	assert_string_equal(own->f->op, "encode");
	dlclose(so);
}

static void test_functions_without_room_are_counted(void **state)
{
	u32 i = w.nr++;
	void *so;

	w.pid[i] = 0;
	assert_int_equal(proc__open(getpid(), &w.proc[i]), 0);
	build(&w.proc[i], 1, (bool[1]){0});
	w.pl->max_funcs = w.pl->nr_funcs;
	so = dlopen(LATE_LIBRARY, RTLD_LAZY);
	if (!so)
		skip();
	assert_int_equal(proc__reload_maps(w.proc[i]), 0);
	assert_int_equal(plan__look_again(w.pl, 0), 0);
	assert_int_equal(w.pl->nr_funcs, w.pl->max_funcs);
	assert_int_equal(w.pl->funcs_left_out, 1);
	dlclose(so);
}

/* In a Go program that gobins.sh has built, or -1: it was not. */
static int nr_starts(const char *program, bool follow)
{
	const char *const main_probe[] = {"main.main"};
	const struct plan_opts o = {.probe = main_probe, .nr_probes = 1, .follow_go = follow};
	const char *dir = getenv("HB_GO_BIN_DIR");
	char path[PATH_MAX];
	struct plan *pl;
	int nr = 0;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", program);
	if (!dir || access(path, R_OK))
		return -1;
	assert_int_equal(plan__build_file(path, &o, &pl), 0);
	for (size_t i = 0; i < pl->image[0].sites.nr; i++) {
		const struct site *s = &pl->image[0].sites.v[i];

		if (s->role != HB_ROLE_GO)
			continue;
		/* Emulated, and the goroutine is at hand. */
		assert_int_not_equal(s->cls, HB_CLASS_STEP);
		assert_int_not_equal(s->loc[0], HB_LOC_LOST);
		assert_int_equal(s->func, SITE_NO_FUNC);
		nr++;
	}
	assert_int_equal(pl->image[0].starts, nr > 0);
	assert_int_equal(pl->nr_warnings, 0);
	plan__free(pl);
	return nr;
}

static void test_where_goroutines_are_started_is_known_in_go_programs(void **state)
{
	static const char *const programs[] = {"plain", "stripped", "pie_ext_stripped", "cgo",
					       "arm64"};
	bool any = false;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		int nr = nr_starts(programs[i], true);

		if (nr < 0)
			continue;
		assert_int_equal(nr, 1);
		assert_int_equal(nr_starts(programs[i], false), 0);
		any = true;
	}
	if (!any)
		skip();
}

/* The plan of a Go program that gobins.sh has built, with what is around codecs; NULL: it was not. */
static struct plan *plan_around(const char *program, bool rates, struct registry **around)
{
	struct plan_opts o = {.rates = rates};
	const char *dir = getenv("HB_GO_BIN_DIR");
	char path[PATH_MAX];
	struct plan *pl;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", program);
	if (!dir || access(path, R_OK))
		return NULL;
	assert_int_equal(registry__open(around), 0);
	assert_int_equal(registry__add_groups(*around), 0);
	o.registry = *around;
	assert_int_equal(plan__build_file(path, &o, &pl), 0);
	return pl;
}

static u32 nr_sites(const struct plan_image *pi, u8 role)
{
	u32 nr = 0;

	for (size_t i = 0; i < pi->sites.nr; i++)
		nr += pi->sites.v[i].role == role;
	return nr;
}

static void test_pauses_have_both_ends_where_stops_are_measured(void **state)
{
	static const char *const programs[] = {"plain", "stripped", "pie_ext_stripped", "cgo",
					       "arm64"};
	bool any = false;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct registry *around;
		struct plan *pl = plan_around(programs[i], true, &around);
		const struct plan_image *pi;

		if (!pl)
			continue;
		any = true;
		pi = &pl->image[0];
		assert_true(pi->world);
		assert_int_equal(nr_sites(pi, HB_ROLE_STOP), 1);
		assert_int_equal(nr_sites(pi, HB_ROLE_STARTED), 1);
		assert_true(pi->rates);
		for (u32 k = 0; k < HB_RATE_NR; k++)
			assert_true(pi->rate[k].vaddr >= pi->lo && pi->rate[k].vaddr < pi->hi);
		plan__free(pl);
		registry__close(around);
	}
	if (!any)
		skip();
}

static void test_without_what_is_around_codecs_neither_is_looked_for(void **state)
{
	const char *const main_probe[] = {"main.main"};
	const struct plan_opts o = {.probe = main_probe, .nr_probes = 1};
	const char *dir = getenv("HB_GO_BIN_DIR");
	char path[PATH_MAX];
	struct plan *pl;

	snprintf(path, sizeof(path), "%s/plain", dir ? dir : "");
	if (!dir || access(path, R_OK))
		skip();
	assert_int_equal(plan__build_file(path, &o, &pl), 0);
	assert_false(pl->image[0].world || pl->image[0].rates);
	assert_int_equal(nr_sites(&pl->image[0], HB_ROLE_STOP), 0);
	plan__free(pl);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		T(test_files_of_two_processes_are_read_once),
		T(test_a_process_that_is_added_brings_nothing_twice),
		T(test_a_process_with_nothing_to_measure_is_none_of_the_plans),
		T(test_of_several_those_with_nothing_are_left_out),
		T(test_no_more_images_than_there_is_room_for),
		T(test_a_library_that_is_loaded_later_adds_its_functions),
		T(test_functions_without_room_are_counted),
		T(test_where_goroutines_are_started_is_known_in_go_programs),
		T(test_pauses_have_both_ends_where_stops_are_measured),
		T(test_without_what_is_around_codecs_neither_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
