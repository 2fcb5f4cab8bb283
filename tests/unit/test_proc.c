// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_proc.c - /proc/PID, over this process and children that the tests make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "target/proc.h"
#include "util/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* cmocka prints no reason of its own. */
#define skip_because(why)                \
	do {                             \
		print_message(why "\n"); \
		skip();                  \
	} while (0)

/* ---- children ---- */

/* A child that runs setup(arg), says so, and sleeps until it is killed. */
static pid_t child_doing(void (*setup)(void *arg), void *arg)
{
	char done = 0;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setup)
			setup(arg);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &done, 1), 1);
	close(ends[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Kills it and leaves it unwaited for. */
static void make_zombie(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static struct proc *open_proc(pid_t pid)
{
	struct proc *p = NULL;

	assert_int_equal(proc__open(pid, &p), 0);
	assert_non_null(p);
	return p;
}

/* ---- identity ---- */

static void test_this_process_is_read(void **state)
{
	struct proc *p = open_proc(getpid());
	char exe[PATH_MAX] = "";

	assert_int_equal(p->pid, getpid());
	assert_false(p->kthread);
	assert_true(p->start_time > 0);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_string_equal(p->exe, exe);
	assert_non_null(strstr(p->cmdline, "test_proc"));
	assert_true(proc__alive(p));
	assert_int_equal(proc__tracer(p), 0);
	proc__close(p);
	proc__close(NULL);
}

static void set_name(void *name)
{
	prctl(PR_SET_NAME, name);
}

static void test_names_with_spaces_parentheses_and_newlines_are_read(void **state)
{
	static const char *names[] = {"a b", ") R 1 2 3", "((", "x) Z", "a\nTgid:\t1", "", "\n"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pid_t pid = child_doing(set_name, (void *)names[i]);
		struct proc *p = open_proc(pid);

		assert_string_equal(p->comm, names[i]);
		assert_int_equal(p->pid, pid);
		assert_true(proc__alive(p));
		proc__close(p);
		end_child(pid);
	}
}

static void test_arguments_are_joined_by_spaces(void **state)
{
	struct proc *p = NULL;
	int ends[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execl("/bin/sleep", "a name", "1000", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	/* End of file: the exec has closed the child's end. */
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	p = open_proc(pid);
	assert_string_equal(p->cmdline, "a name 1000");
	assert_string_equal(p->comm, "sleep");
	proc__close(p);
	end_child(pid);
}

static void test_a_process_that_has_ended_is_gone(void **state)
{
	pid_t pid = child_doing(NULL, NULL);
	struct proc *p = open_proc(pid), *again = NULL;
	u64 cpu, rss;
	u32 nr_maps = p->nr_maps;

	assert_true(proc__alive(p));
	make_zombie(pid);
	assert_false(proc__alive(p));
	assert_int_equal(proc__open(pid, &again), -ESRCH);
	assert_int_equal(proc__reload_maps(p), -ESRCH);
	assert_int_equal(proc__usage(p, &cpu, &rss), -ESRCH);
	assert_int_equal(proc__tracer(p), -ESRCH);
	assert_int_equal(proc__open_exe(p), -ESRCH);
	assert_int_equal(proc__open_map(p, proc__map_at(p, (u64)(uintptr_t)make_zombie)), -ESRCH);
	/* What was read stays. */
	assert_int_equal(p->nr_maps, nr_maps);

	waitpid(pid, NULL, 0);
	assert_false(proc__alive(p));
	assert_int_equal(proc__open(pid, &again), -ESRCH);
	assert_int_equal(proc__reload_maps(p), -ESRCH);
	assert_null(again);
	proc__close(p);
}

static void test_another_process_with_the_pid_is_not_taken_for_the_old_one(void **state)
{
	struct proc *p = open_proc(getpid());
	u64 cpu, rss;

	p->start_time--;
	assert_false(proc__alive(p));
	assert_int_equal(proc__reload_maps(p), -ESRCH);
	assert_int_equal(proc__usage(p, &cpu, &rss), -ESRCH);
	assert_int_equal(proc__open_exe(p), -ESRCH);
	p->start_time++;
	assert_true(proc__alive(p));
	proc__close(p);
}

static void test_numbers_that_are_no_pid_are_no_process(void **state)
{
	struct proc *p = NULL;

	assert_int_equal(proc__open(0, &p), -ESRCH);
	assert_int_equal(proc__open(-1, &p), -ESRCH);
	assert_int_equal(proc__open(INT_MAX, &p), -ESRCH);
	assert_null(p);
}

struct thread {
	pthread_mutex_t hold;
	pthread_t id;
	pid_t tid;
	int ends[2];
};

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	t->tid = (pid_t)syscall(SYS_gettid);
	if (write(t->ends[1], "x", 1) != 1)
		abort();
	pthread_mutex_lock(&t->hold);
	pthread_mutex_unlock(&t->hold);
	return NULL;
}

static void test_a_thread_that_is_not_the_first_is_not_a_process(void **state)
{
	struct thread t = {.hold = PTHREAD_MUTEX_INITIALIZER};
	struct proc *p = NULL;
	char c;

	assert_int_equal(pipe(t.ends), 0);
	pthread_mutex_lock(&t.hold);
	assert_int_equal(pthread_create(&t.id, NULL, thread_run, &t), 0);
	assert_int_equal(read(t.ends[0], &c, 1), 1);
	assert_int_equal(proc__open(t.tid, &p), -EINVAL);
	assert_null(p);
	pthread_mutex_unlock(&t.hold);
	pthread_join(t.id, NULL);
	close(t.ends[0]);
	close(t.ends[1]);
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void test_a_process_whose_first_thread_has_ended_is_alive(void **state)
{
	struct proc *p;
	pid_t pid = fork();
	char c = 0;

	if (!pid) {
		pthread_t id;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&id, NULL, sleep_for_ever, NULL))
			_exit(1);
		syscall(SYS_exit, 0); /* of this thread only */
	}
	while (c != 'Z') {
		char path[64], *text, *at;
		size_t len;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		assert_int_equal(fs_read_file(path, 4096, &text, &len), 0);
		at = strrchr(text, ')');
		assert_non_null(at);
		c = at[2];
		free(text);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	p = open_proc(pid);
	assert_true(proc__alive(p));
	assert_false(p->kthread);
	end_child(pid);
	assert_false(proc__alive(p));
	proc__close(p);
}

static void test_a_kernel_thread_is_told_from_a_process(void **state)
{
	struct proc *p = NULL;
	char *comm;
	size_t len;
	bool kthreadd;

	if (fs_read_file("/proc/2/comm", 100, &comm, &len))
		skip_because("no kernel threads in this pid namespace");
	kthreadd = !strcmp(comm, "kthreadd\n");
	free(comm);
	if (!kthreadd)
		skip_because("pid 2 is no kernel thread in this pid namespace");
	assert_int_equal(proc__open(2, &p), 0);
	assert_true(p->kthread);
	assert_string_equal(p->comm, "kthreadd");
	assert_string_equal(p->exe, "");
	assert_string_equal(p->cmdline, "");
	assert_int_equal(p->nr_maps, 0);
	assert_null(proc__map_at(p, 0x1000));
	assert_true(proc__alive(p));
	proc__close(p);
}

/* ---- usage, tracer ---- */

static u64 cpu_of_this_process_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void test_usage_counts_what_was_used(void **state)
{
	const size_t size = 32 << 20;
	struct proc *p = open_proc(getpid());
	u64 cpu0, cpu1, rss0, rss1, from, used;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(proc__usage(p, &cpu0, &rss0), 0);
	from = cpu_of_this_process_ns();
	do {
		memset(memory, 1, size);
		used = cpu_of_this_process_ns() - from;
	} while (used < 200000000);
	assert_int_equal(proc__usage(p, &cpu1, &rss1), 0);
	used = cpu_of_this_process_ns() - from;
	/* Two ticks of 10 ms each way: user and system time are cut one by one. */
	assert_true(cpu1 - cpu0 + 40000000 > used);
	assert_true(cpu1 - cpu0 < used + 40000000);
	assert_true(rss1 > rss0 + size / 2 && rss1 < rss0 + 2 * size);
	munmap(memory, size);
	proc__close(p);
}

static void be_traced(void *arg)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static void test_the_debugger_is_named(void **state)
{
	pid_t pid = child_doing(be_traced, NULL);
	struct proc *p = open_proc(pid);

	assert_int_equal(proc__tracer(p), getpid());
	proc__close(p);
	end_child(pid);
}

/* ---- mappings ---- */

static int a_variable_in_data = 1;

static void test_addresses_are_found_in_their_mappings(void **state)
{
	struct proc *p = open_proc(getpid());
	const struct proc_map *m;
	struct stat st;

	m = proc__map_at(p, (u64)(uintptr_t)test_addresses_are_found_in_their_mappings);
	assert_non_null(m);
	assert_true(m->exec && !m->write);
	assert_string_equal(m->path, p->exe);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(m->ino, st.st_ino);
	assert_ptr_equal(proc__map_at(p, m->begin), m);
	assert_ptr_equal(proc__map_at(p, m->end - 1), m);
	assert_ptr_not_equal(proc__map_at(p, m->end), m);
	m = proc__map_at(p, (u64)(uintptr_t)&a_variable_in_data);
	assert_non_null(m);
	assert_true(!m->exec && m->write);
	assert_null(proc__map_at(p, 0));
	assert_null(proc__map_at(p, 0x7ffffffffffff000));
	for (u32 i = 1; i < p->nr_maps; i++)
		assert_true(p->map[i - 1].end <= p->map[i].begin);
	proc__close(p);
}

struct folder {
	char dir[64], path[200];
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/hbprof-proc-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	/* A newline and spaces, as maps has to escape the one and to end in the others. */
	snprintf(f->path, sizeof(f->path), "%s/a\nb c", f->dir);
	*state = f;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;

	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

/* Two pages "11..22..", the second mapped: its address. */
static char *map_second_page(const char *path)
{
	size_t page = (size_t)getpagesize();
	char *text = malloc(2 * page);
	char *at;
	int fd;

	memset(text, '1', page);
	memset(text + page, '2', page);
	assert_int_equal(fs_replace_file(path, text, 2 * page), 0);
	free(text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)page);
	assert_true(at != MAP_FAILED);
	close(fd);
	return at;
}

static ino_t inode_of_fd(int fd)
{
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return st.st_ino;
}

static void test_new_mappings_are_seen_after_a_reload(void **state)
{
	struct folder *f = *state;
	struct proc *p = open_proc(getpid());
	char *at = map_second_page(f->path);
	const struct proc_map *m;
	struct stat st;
	char escaped[200];

	assert_int_equal(proc__reload_maps(p), 0);
	m = proc__map_at(p, (u64)(uintptr_t)at);
	assert_non_null(m);
	assert_int_equal(m->off, getpagesize());
	assert_true(m->exec);
	snprintf(escaped, sizeof(escaped), "%s/a\\012b c", f->dir);
	assert_string_equal(m->path, escaped);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(inode_of_fd(proc__open_map(p, m)), st.st_ino);
	munmap(at, (size_t)getpagesize());
	proc__close(p);
}

/* Two that never sleep share one CPU, so each waits for the other. */
static void test_a_process_that_waits_for_a_cpu_has_waited(void **state)
{
	cpu_set_t cpus, one;
	u64 ns = 0, before;
	struct proc *p;
	pid_t child[2];

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &cpus))
			CPU_SET(i, &one);
	for (int i = 0; i < 2; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i])
			continue;
		if (sched_setaffinity(0, sizeof(one), &one))
			_exit(1);
		for (;;)
			__asm__ volatile("");
	}
	p = open_proc(child[0]);
	assert_int_equal(proc__waited(p, &before), 0);
	if (access("/proc/self/schedstat", R_OK))
		assert_int_equal(before, 0);
	else
		for (int i = 0; i < 1000 && ns <= before; i++) {
			usleep(10000);
			assert_int_equal(proc__waited(p, &ns), 0);
		}
	for (int i = 0; i < 2; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	assert_true(ns > before || access("/proc/self/schedstat", R_OK));
	assert_int_equal(proc__waited(p, &ns), -ESRCH);
	proc__close(p);
}

static void test_mapped_code_and_its_first_run_change_the_stamp(void **state)
{
	struct proc_stamp before, mapped, touched, unmapped;
	struct proc *p = open_proc(getpid());
	struct folder *f = *state;
	char *at;

	assert_int_equal(proc__stamp(p, &before), 0);
	assert_true(before.code_bytes > 0 && before.faults > 0);
	at = map_second_page(f->path);
	assert_int_equal(proc__stamp(p, &mapped), 0);
	assert_int_equal(mapped.code_bytes, before.code_bytes + (u64)getpagesize());
	(void)*(volatile char *)at;
	assert_int_equal(proc__stamp(p, &touched), 0);
	assert_true(touched.faults > mapped.faults);
	munmap(at, (size_t)getpagesize());
	assert_int_equal(proc__stamp(p, &unmapped), 0);
	assert_int_equal(unmapped.code_bytes, before.code_bytes);
	proc__close(p);
}

static void test_a_deleted_and_replaced_file_is_opened_through_its_mapping(void **state)
{
	struct folder *f = *state;
	char *at = map_second_page(f->path);
	struct proc *p = open_proc(getpid());
	const struct proc_map *m = proc__map_at(p, (u64)(uintptr_t)at);
	struct stat st;
	int fd;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(fs_replace_file(f->path, "other", 5), 0);
	fd = proc__open_map(p, m);
	if (fd == -ESTALE) { /* no capability for map_files: then at least not the wrong file */
		assert_int_not_equal(geteuid(), 0);
	} else {
		assert_int_equal(inode_of_fd(fd), st.st_ino);
	}
	munmap(at, (size_t)getpagesize());
	proc__close(p);
}

static void test_without_map_files_the_path_must_lead_to_the_mapped_file(void **state)
{
	struct folder *f = *state;
	char *at = map_second_page(f->path);
	struct proc *p = open_proc(getpid());
	struct proc_map m = *proc__map_at(p, (u64)(uintptr_t)at);
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	if (st.st_dev != m.dev)
		skip_because(
			"/tmp is on a file system whose maps name another device (see proc.h)");
	/* As a mapping that was split since it was read: no entry of this name is there. */
	m.end += 0x1000;
	assert_int_equal(inode_of_fd(proc__open_map(p, &m)), st.st_ino);
	m.ino++;
	assert_int_equal(proc__open_map(p, &m), -ESTALE);
	m.ino--;
	m.dev++;
	assert_int_equal(proc__open_map(p, &m), -ESTALE);
	m.dev--;
	unlink(f->path);
	assert_int_equal(proc__open_map(p, &m), -ENOENT);
	munmap(at, (size_t)getpagesize());
	proc__close(p);
}

static void test_memory_and_devices_have_no_file_to_open(void **state)
{
	size_t page = (size_t)getpagesize();
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	/* A private mapping of /dev/zero is memory; a shared one is a file without a name. */
	char *device = mmap(NULL, page, PROT_READ, MAP_SHARED, zero, 0);
	char *memory = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct proc *p = open_proc(getpid());
	struct proc_map null_device = {.dev = makedev(0, 5), .ino = 1, .path = "/dev/null"};
	const struct proc_map *m;
	struct stat st;

	m = proc__map_at(p, (u64)(uintptr_t)memory);
	assert_non_null(m);
	assert_int_equal(proc__open_map(p, m), -ENOENT);
	assert_non_null(proc__map_at(p, (u64)(uintptr_t)device));
	assert_int_equal(stat("/dev/null", &st), 0);
	null_device.dev = st.st_dev;
	null_device.ino = st.st_ino;
	assert_int_equal(proc__open_map(p, &null_device), -ENOEXEC);
	munmap(device, page);
	munmap(memory, page);
	close(zero);
	proc__close(p);
}

static void test_many_mappings_are_all_read(void **state)
{
	const size_t nr = 5000, page = (size_t)getpagesize();
	char *all = mmap(NULL, nr * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct proc *p;

	assert_true(all != MAP_FAILED);
	/* Every second page with other rights: one mapping each. */
	for (size_t i = 0; i < nr; i += 2)
		assert_int_equal(mprotect(all + i * page, page, PROT_READ | PROT_WRITE), 0);
	p = open_proc(getpid());
	assert_true(p->nr_maps >= nr);
	for (size_t i = 0; i < nr; i++) {
		const struct proc_map *m = proc__map_at(p, (u64)(uintptr_t)(all + i * page));

		assert_non_null(m);
		assert_int_equal(m->write, i % 2 == 0);
	}
	munmap(all, nr * page);
	proc__close(p);
}

/* ---- a deleted executable ---- */

static void copy_file(const char *from, const char *to)
{
	char *bytes;
	size_t len;

	assert_int_equal(fs_read_file(from, 256 << 20, &bytes, &len), 0);
	assert_int_equal(fs_replace_file(to, bytes, len), 0);
	assert_int_equal(chmod(to, 0755), 0);
	free(bytes);
}

static void test_a_deleted_executable_is_still_opened(void **state)
{
	struct folder *f = *state;
	const struct proc_map *m = NULL;
	char expected[256], c;
	struct proc *p;
	struct stat st;
	int ends[2], fd;
	pid_t pid;

	copy_file("/bin/sleep", f->path);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execl(f->path, "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	unlink(f->path);

	p = open_proc(pid);
	snprintf(expected, sizeof(expected), "%s (deleted)", f->path);
	assert_string_equal(p->exe, expected);
	assert_int_equal(inode_of_fd(proc__open_exe(p)), st.st_ino);
	for (u32 i = 0; i < p->nr_maps && !m; i++) {
		if (p->map[i].exec && p->map[i].ino == st.st_ino)
			m = &p->map[i];
	}
	assert_non_null(m);
	fd = proc__open_map(p, m);
	if (fd >= 0)
		assert_int_equal(inode_of_fd(fd), st.st_ino);
	else
		assert_int_not_equal(geteuid(), 0);
	proc__close(p);
	end_child(pid);
}

#define in_folder(t) cmocka_unit_test_setup_teardown(t, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_process_is_read),
		cmocka_unit_test(test_names_with_spaces_parentheses_and_newlines_are_read),
		cmocka_unit_test(test_arguments_are_joined_by_spaces),
		cmocka_unit_test(test_a_process_that_has_ended_is_gone),
		cmocka_unit_test(test_another_process_with_the_pid_is_not_taken_for_the_old_one),
		cmocka_unit_test(test_numbers_that_are_no_pid_are_no_process),
		cmocka_unit_test(test_a_thread_that_is_not_the_first_is_not_a_process),
		cmocka_unit_test(test_a_process_whose_first_thread_has_ended_is_alive),
		cmocka_unit_test(test_a_kernel_thread_is_told_from_a_process),
		cmocka_unit_test(test_usage_counts_what_was_used),
		cmocka_unit_test(test_a_process_that_waits_for_a_cpu_has_waited),
		cmocka_unit_test(test_the_debugger_is_named),
		cmocka_unit_test(test_addresses_are_found_in_their_mappings),
		in_folder(test_new_mappings_are_seen_after_a_reload),
		in_folder(test_mapped_code_and_its_first_run_change_the_stamp),
		in_folder(test_a_deleted_and_replaced_file_is_opened_through_its_mapping),
		in_folder(test_without_map_files_the_path_must_lead_to_the_mapped_file),
		cmocka_unit_test(test_memory_and_devices_have_no_file_to_open),
		cmocka_unit_test(test_many_mappings_are_all_read),
		in_folder(test_a_deleted_executable_is_still_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
