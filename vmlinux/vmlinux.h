/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vmlinux.h - the kernel types that the BPF programs touch, and nothing else. Written by hand: see
 * README.md here for why, and for how to add one.
 *
 * The guard's name matters: <bpf/bpf_tracing.h> takes the kernel's names of registers, not those of
 * <linux/ptrace.h>, when it is defined, and <hbprof/types.h> leaves the integer types to this file.
 *
 * Two kinds of struct:
 * - relocated (preserve_access_index): only the members in use; libbpf puts in the offsets of the
 *   running kernel at load;
 * - fixed: part of the kernel's ABI, its layout written out in full.
 * `make check-vmlinux` compares both with the BTF of the running kernel.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;

typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

/* Named in the prototypes of <bpf/bpf_helper_defs.h>. */
typedef __u16 __le16;
typedef __u16 __be16;
typedef __u32 __le32;
typedef __u32 __be32;
typedef __u64 __le64;
typedef __u64 __be64;
typedef __u16 __sum16;
typedef __u32 __wsum;

typedef long unsigned int size_t;
typedef int pid_t;

typedef _Bool bool;
enum { false = 0, true = 1 };

#ifndef NULL
#define NULL ((void *)0)
#endif

/* include/uapi/linux/bpf.h: what bpf_perf_event_read_value() fills. */
struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

/* include/uapi/linux/bpf.h: what bpf_get_ns_current_pid_tgid() fills. */
struct bpf_pidns_info {
	__u32 pid;
	__u32 tgid;
};

/* include/uapi/linux/bpf.h: the context of a raw tracepoint. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* ---- fixed: the registers of the interrupted user code, the context of a uprobe program --------- */

#if defined(__TARGET_ARCH_x86)

/* arch/x86/include/asm/ptrace.h. The selectors were longs before 6.9 and are 16 bits wide since,
 * the rest of the word being FRED's: their low half is the same in both. */
struct pt_regs {
	long unsigned int r15;
	long unsigned int r14;
	long unsigned int r13;
	long unsigned int r12;
	long unsigned int bp;
	long unsigned int bx;
	long unsigned int r11;
	long unsigned int r10;
	long unsigned int r9;
	long unsigned int r8;
	long unsigned int ax;
	long unsigned int cx;
	long unsigned int dx;
	long unsigned int si;
	long unsigned int di;
	long unsigned int orig_ax;
	long unsigned int ip;
	__u16 cs;
	long unsigned int flags;
	long unsigned int sp;
	__u16 ss;
};

#elif defined(__TARGET_ARCH_arm64)

/* arch/arm64/include/uapi/asm/ptrace.h; what <bpf/bpf_tracing.h> casts the context to. */
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

/* arch/arm64/include/asm/ptrace.h, its beginning: what follows changes between versions. */
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			u64 regs[31];
			u64 sp;
			u64 pc;
			u64 pstate;
		};
	};
	u64 orig_x0;
};

#else
#error "set __TARGET_ARCH_x86 or __TARGET_ARCH_arm64"
#endif

typedef struct {
	int counter;
} atomic_t;

/* ---- relocated ---------------------------------------------------------------------------------- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	long unsigned int fsbase; /* user space's; in Go on Linux the word below it is the g */
};
#endif

struct signal_struct {
	atomic_t live; /* threads that have not begun to end */
	long unsigned int nvcsw;  /* voluntary context switches of threads that have ended */
	long unsigned int nivcsw; /* involuntary */
};

struct inode {
	u16 i_mode;
	long unsigned int i_ino;
};

struct file {
	struct inode *f_inode;
	void *private_data; /* of a socket's: struct socket, net/socket.c */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct sock_common {
	u16 skc_family;
	u16 skc_num; /* the local port */
	__be16 skc_dport;
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;	  /* before 5.6 of 8 bits, in a bitfield */
	struct socket *sk_socket; /* NULL: closed by everybody */
};

struct socket {
	short int type;
	struct sock *sk;
};

struct ns_common {
	unsigned int inum; /* the inode number of /proc/PID/ns/... */
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;    /* of its innermost namespace; 0: the machine's first one */
	struct upid numbers[]; /* one for each level. One element up to 6.4 */
};

struct task_struct {
	unsigned int __state; /* 0: TASK_RUNNING */
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct files_struct *files;
	pid_t pid;	    /* a thread */
	pid_t tgid;	    /* a process */
	struct task_struct *group_leader; /* its first thread */
	struct pid *thread_pid;
	u64 start_time;	    /* CLOCK_MONOTONIC ns */
	u64 start_boottime; /* CLOCK_BOOTTIME ns: field 22 of /proc/PID/stat, which is in ticks */
	long unsigned int nvcsw;   /* voluntary context switches */
	long unsigned int nivcsw;  /* involuntary */
	long unsigned int min_flt; /* page faults that needed no device */
	long unsigned int maj_flt; /* that did */
#if defined(__TARGET_ARCH_x86)
	struct thread_struct thread;
#endif
};

/* What an iterator over tasks is given; NULL behind the last one. */
struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

/* ---- values of the user API: include/uapi/linux/bpf.h ------------------------------------------- */

enum bpf_map_type {
	BPF_MAP_TYPE_UNSPEC = 0,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

/* bpf_map_update_elem() */
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

/* map_flags */
enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
};

/* bpf_ringbuf_submit(), bpf_ringbuf_discard(), bpf_ringbuf_query() */
enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
};

/* bpf_get_stack() */
enum {
	BPF_F_USER_STACK = 256,
};

/* bpf_task_storage_get() */
enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#endif
