/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostfile.h - the few ways in which facts of the machine are read: the first line of a file below
 * a root folder, a list of CPUs, a key of /proc/cpuinfo. Used by the host_*.c files only.
 *
 * What is read may lie or be absent; every reader says so by NULL, 0 or false.
 */
#ifndef HBPROF_HOSTFILE_H
#define HBPROF_HOSTFILE_H

#include <stdbool.h>

#include <hbprof/types.h>

#define HOST_MAX_CPUS 8192
#define HOST_CPU_HOLES \
	64 /* numbers of CPUs that are not there, in a row, before one stops looking */
#define HOST_CPU_DIR "/sys/devices/system/cpu"

struct host {
	const char *root; /* "" or, in tests, a folder */
	char *cpuinfo;	  /* /proc/cpuinfo; NULL: not readable */
	bool guest;
};

/* A fact in the making; what does not fit is cut. */
struct text {
	char s[512];
};

void text_set(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_append(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads what all facts share. host__close() in any case. */
void host__open(struct host *h, const char *root);
void host__close(struct host *h);

/* The whole file below root, malloced; NULL: not there. */
char *host__text(const struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its first line without blanks at the end; NULL: not there or empty. */
char *host__line(const struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its first line as a decimal number; false: it is none. */
bool host__u64(const struct host *h, u64 *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool host__exists(const struct host *h, const char *path);

/* How many CPUs a list such as "0-3,8" names, and the first; 0: not such a list. */
u32 cpulist_count(const char *s, u32 *first);

/* The value of the first "key : value" line of /proc/cpuinfo at or behind *at, which is moved on;
 * NULL at: from the start. False: none. */
bool cpuinfo_next(const struct host *h, const char **at, const char *key, char *out, size_t len);
bool cpuinfo_value(const struct host *h, const char *key, char *out, size_t len);
bool cpuinfo_has_flag(const struct host *h, const char *flag);

/* ---- the facts, by file ---- */

/* host_cpu.c */
void fact_cpu_model(const struct host *h, struct text *t);
void fact_cpu_generation(const struct host *h, struct text *t);
void fact_cores(const struct host *h, struct text *t);
void fact_sockets(const struct host *h, struct text *t);
void fact_smt(const struct host *h, struct text *t);
void fact_caches(const struct host *h, struct text *t);
/* host_freq.c: the limits that are set, and what the CPUs run at now */
void fact_governor(const struct host *h, struct text *t);
void fact_frequency(const struct host *h, struct text *t);
void host__frequency_now(const struct host *h, struct text *t);
/* host_virt.c */
bool host__is_guest(const struct host *h);
void fact_virtualization(const struct host *h, struct text *t);

/* host_names.c: NULL: not known. */
const char *x86_generation(const char *vendor, const char *brand, u32 family, u32 model,
			   u32 stepping);
const char *arm_core_name(u32 implementer, u32 part);

#endif
