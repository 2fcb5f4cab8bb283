/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_kernel.h - what the kernel is to a BPF program, for programs compiled on the host: maps, user
 * memory, the clock, the current task, and the ways in which each helper can fail.
 *
 * It owns no test and no knowledge of hbprof's maps. A mistake of the program that the verifier or
 * the kernel would catch (an unknown map, a record reserved and never submitted) ends the process
 * with a message; stale pointers and overruns are AddressSanitizer's: every element of a map is an
 * allocation of its own.
 */
#ifndef HBPROF_TESTS_BPF_KERNEL_H
#define HBPROF_TESTS_BPF_KERNEL_H

#include "vmlinux.h"

#define KERNEL_CPUS   4
#define KERNEL_EVENTS 64

enum kernel_helper {
	KERNEL_LOOKUP,
	KERNEL_UPDATE,
	KERNEL_DELETE,
	KERNEL_RESERVE,
	KERNEL_READ_USER,
	KERNEL_READ_USER_STR,
	KERNEL_READ_EVENT,
	KERNEL_READ_KERNEL,
};

/* A map as declared; max_entries may be changed before the first use of the map. */
struct kernel_map {
	void *id; /* its address in the program */
	const char *name;
	u32 type; /* enum bpf_map_type */
	u32 max_entries;
	u32 key_size;
	u32 value_size;
};

struct kernel {
	u64 now_ns;	/* the clock */
	u64 clock_step; /* each reading adds this first */
	u64 pid_tgid;
	const char *comm; /* NULL: "" */
	u64 pidns_ino;	  /* of the running process's PID namespace */
	u32 pidns_shift;  /* what its ids are less there */
	u64 cookie;
	struct task_struct task;
	struct bpf_perf_event_value event[KERNEL_EVENTS]; /* by index in their map */
	struct pt_regs user; /* the task's user registers, where it is in a system call */
	u32 cpu;
	u64 nr_clock_reads;
	void (*interrupt)(void); /* called once, when an event is about to be read */
};
extern struct kernel kernel;

/* Forgets everything and takes a new set of maps (copied). */
void kernel__reset(const struct kernel_map *maps, u32 nr);
/* Frees everything; dies when a planted fault was not met or a record was not submitted. */
void kernel__check_out(void);

/* ---- maps ---- */
void kernel__map_resize(const void *map, u32 max_entries);
/* The value, made if the map is an array and it lies within; NULL if there is none. */
void *kernel__map_at(const void *map, u32 cpu, const void *key);
/* Like bpf(BPF_MAP_UPDATE_ELEM, BPF_ANY); dies when that fails. */
void kernel__map_set(const void *map, const void *key, const void *value);
u32 kernel__map_nr(const void *map);
/* Visits a hash map's elements in no order. */
void kernel__map_each(const void *map, void (*visit)(const void *key, void *value, void *arg),
		      void *arg);
/* The oldest record of a ring buffer, or -1. */
int kernel__ring_take(const void *map, void *out, u32 size);

/* ---- user memory: anything outside the added ranges faults ---- */
void kernel__user_add(u64 addr, u64 len);
void kernel__user_remove(u64 addr);
void kernel__user_write(u64 addr, const void *from, u64 len); /* dies outside the ranges */
void kernel__user_write64(u64 addr, u64 value);
u64 kernel__user_read64(u64 addr);

/* ---- faults ---- */
/*
 * Lets `skip` calls of the helper on this map (NULL: any; user reads have none) pass, then makes
 * `times` of them fail: lookups and reservations with NULL, the others with err (< 0).
 */
void kernel__plant(enum kernel_helper helper, const void *map, u32 skip, u32 times, int err);

#endif
