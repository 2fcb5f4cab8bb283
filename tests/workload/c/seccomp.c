// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * seccomp.c - a filter as a sandboxed service has it. The kernel's uprobe and uretprobe system
 * calls (6.11 and later) are not on it, as they are on nobody's.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "../lib/truth.h"
#include "hostile.h"

#if defined(__x86_64__)
#define ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_HERE AUDIT_ARCH_AARCH64
#else
#error "seccomp.c knows x86-64 and arm64"
#endif

#define ALLOW(nr)                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offsetof(struct seccomp_data, field))

void seccomp_strict(void)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_HERE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(read),
		ALLOW(write),
		ALLOW(futex),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(getpid),
		ALLOW(rt_sigreturn),
		ALLOW(restart_syscall),
		ALLOW(clock_gettime),	/* where there is no vDSO */
		ALLOW(clock_nanosleep), /* -rate */
		ALLOW(newfstatat),	/* stdio, at its first write */
		ALLOW(fstat),
		ALLOW(brk),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		truth_die("cannot install a seccomp filter: %s", strerror(errno));
}
