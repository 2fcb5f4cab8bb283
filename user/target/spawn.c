// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * spawn.c - ptrace(2): the child stops at its exec (PTRACE_O_TRACEEXEC), gets a breakpoint at the entry
 * point that the kernel has told it by AT_ENTRY (fs/binfmt_elf.c: of the executable itself, also where
 * the dynamic linker runs first; relocated), and is stopped there again, where the byte is put back. A
 * script is its interpreter.
 */
#include "target/spawn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/fsutil.h"
#include "util/log.h"

#define AUXV_MAX_BYTES 65536

#if defined(__x86_64__)
#define BREAKPOINT	0xccULL /* int3 */
#define BREAKPOINT_MASK 0xffULL
#define AFTER_IT	1 /* bytes from it to where the program counter stands then */
#define PC(regs)	((regs).rip)
typedef struct user_regs_struct held_regs;
#elif defined(__aarch64__)
#define BREAKPOINT	0xd4200000ULL /* brk #0 */
#define BREAKPOINT_MASK 0xffffffffULL
#define AFTER_IT	0
#define PC(regs)	((regs).pc)
typedef struct user_regs_struct held_regs;
#else
#error "which instruction is a breakpoint?"
#endif

/* ---- the child ---------------------------------------------------------------------------- */

static int become(const struct spawn_user *u)
{
	if (!u)
		return 0;
	return initgroups(u->name, u->gid) || setgid(u->gid) || setuid(u->uid) ? -errno : 0;
}

/* An exec that fails is told through the pipe, which one that succeeds closes. */
static void __attribute__((noreturn))
child_main(char *const *argv, const struct spawn_user *user, int tell)
{
	int err = become(user);

	if (!err && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		err = -errno;
	if (!err) {
		raise(SIGSTOP); /* until the parent has set what it wants to see */
		execvp(argv[0], argv);
		err = errno; /* positive: of the exec */
	}
	while (write(tell, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* ---- the parent --------------------------------------------------------------------------- */

static int wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return WIFSTOPPED(*status) ? 0 : -ECHILD;
}

static int go_on(pid_t pid, int sig)
{
	return ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig) ? -errno : 0;
}

/* Until it stops with this event (PTRACE_EVENT_* or 0) and signal; other signals are delivered to it. */
static int run_to(pid_t pid, int event, int sig, int *status)
{
	int err, pass = 0;

	for (;;) {
		err = go_on(pid, pass);
		if (!err)
			err = wait_for(pid, status);
		if (err)
			return err;
		if (*status >> 16 == event && WSTOPSIG(*status) == sig)
			return 0;
		pass = *status >> 16 ? 0 : WSTOPSIG(*status);
	}
}

static int read_entry(pid_t pid, u64 *entry)
{
	char path[32], *text;
	Elf64_auxv_t v;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	err = fs_read_file(path, AUXV_MAX_BYTES, &text, &len);
	if (err)
		return err;
	err = -ENOEXEC;
	for (size_t at = 0; at + sizeof(v) <= len; at += sizeof(v)) {
		memcpy(&v, text + at, sizeof(v));
		if (v.a_type != AT_ENTRY)
			continue;
		*entry = v.a_un.a_val;
		err = 0;
		break;
	}
	free(text);
	return err;
}

static int peek(pid_t pid, u64 addr, u64 *out)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)addr, NULL);
	if (errno)
		return -errno;
	*out = (u64)word;
	return 0;
}

static int poke(pid_t pid, u64 addr, u64 word)
{
	return ptrace(PTRACE_POKETEXT, pid, (void *)(uintptr_t)addr, (void *)(uintptr_t)word)
		       ? -errno
		       : 0;
}

/* Is it stopped at the breakpoint? Then its program counter is put back there. */
static int back_to(pid_t pid, u64 entry, bool *there)
{
	held_regs regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	*there = PC(regs) == entry + AFTER_IT;
	PC(regs) = entry;
	if (*there && ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	return 0;
}

static int run_to_entry(pid_t pid)
{
	bool there = false;
	u64 entry, word = 0;
	int status, err = read_entry(pid, &entry);

	if (!err)
		err = peek(pid, entry, &word);
	if (!err)
		err = poke(pid, entry, (word & ~BREAKPOINT_MASK) | BREAKPOINT);
	while (!err && !there) {
		err = run_to(pid, 0, SIGTRAP, &status);
		if (!err)
			err = back_to(pid, entry, &there);
	}
	return err ? err : poke(pid, entry, word);
}

static int hold(pid_t pid)
{
	const long what = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, err = wait_for(pid, &status);

	if (!err && ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)what))
		err = -errno;
	if (!err)
		err = run_to(pid, PTRACE_EVENT_EXEC, SIGTRAP, &status);
	return err ? err : run_to_entry(pid);
}

int spawn__held(char *const *argv, const struct spawn_user *user, struct spawned *out,
		bool *from_exec)
{
	int tell[2], told = 0, err;
	ssize_t n;

	*from_exec = false;
	if (pipe2(tell, O_CLOEXEC))
		return -errno;
	out->pid = fork();
	if (out->pid < 0) {
		err = -errno;
		out->pid = 0;
		close(tell[0]);
		close(tell[1]);
		return err;
	}
	if (!out->pid)
		child_main(argv, user, tell[1]);
	close(tell[1]);
	out->held = true;
	err = hold(out->pid);
	do
		n = err ? read(tell[0], &told, sizeof(told)) : 0;
	while (n < 0 && errno == EINTR);
	close(tell[0]);
	if (!err)
		return 0;
	if (n == sizeof(told)) {
		*from_exec = told > 0;
		err = told > 0 ? -told : told;
	}
	spawn__kill(out);
	return err;
}

int spawn__release(struct spawned *s)
{
	if (!s->held)
		return 0;
	s->held = false;
	return ptrace(PTRACE_DETACH, s->pid, NULL, NULL) ? -errno : 0;
}

int spawn__wait(struct spawned *s)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(s->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	s->pid = 0;
	if (got < 0)
		return 1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void spawn__kill(struct spawned *s)
{
	if (!s->pid || !s->held)
		return;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, __WALL);
	*s = (struct spawned){0};
}
