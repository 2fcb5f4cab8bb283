/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * feat.h - what this machine can do, for `hbprof check`: one item for each thing that measuring needs
 * or that changes what it can show. Nothing is changed but for a moment: a probe on a function of
 * hbprof's own. Works for any user; what only root could have tried is FEAT_UNKNOWN.
 */
#ifndef HBPROF_FEAT_H
#define HBPROF_FEAT_H

#include <hbprof/types.h>
#include <stddef.h>

#include "trace/attach.h"

enum feat_result {
	FEAT_OK,
	FEAT_WARN,    /* hbprof measures; something is lost, or costs more */
	FEAT_FAIL,    /* hbprof cannot measure here, as this user */
	FEAT_UNKNOWN, /* could not be told */
	FEAT_RESULT_NR,
};

extern const char *const feat_result_names[FEAT_RESULT_NR];

struct feat_item {
	const char *name, *need; /* "uprobe_multi"; what it is needed for */
	enum feat_result result;
	bool as_root;	  /* root would not have it, or could have told */
	char detail[256]; /* what was found */
	char remedy[256]; /* what to do about it; "" where there is nothing, or nothing to do */
};

/* Capabilities, by their numbers in linux/capability.h. */
enum feat_cap {
	FEAT_CAP_DAC_READ_SEARCH = 2,
	FEAT_CAP_SYS_PTRACE = 19,
	FEAT_CAP_SYS_ADMIN = 21,
	FEAT_CAP_PERFMON = 38,
	FEAT_CAP_BPF = 39,
	FEAT_CAP_CHECKPOINT_RESTORE = 40,
};

/* What the checks look at. */
struct feat_env {
	const char *root; /* before "/proc" and "/sys"; "" but in tests */
	u32 uid;	  /* effective */
	u64 caps;	  /* effective set */
	bool caps_known;
	struct feat_tried *tried; /* what was tried; NULL in tests */
};

/* One outcome of loading and attaching: 0, -errno, or 1: not tried. */
struct feat_tried {
	int choose, ringbuf, load, attach, hit, event;
	enum attach_kind kind; /* if choose is 0 */
};

/* Items of this machine, in order. *out is malloced. 0 or -ENOMEM. */
int feat__check(struct feat_item **out, size_t *nr);

/* Reads uid and capabilities from root + "/proc/self/status". */
void feat_env__init(struct feat_env *env, const char *root);
bool feat_env__can(const struct feat_env *env, enum feat_cap cap);
/* The checks that only read files and feat_env (feat_conf.c, feat_caps.c), and those that try. */
typedef void feat_fn(const struct feat_env *env, struct feat_item *it);

feat_fn feat_kernel, feat_btf, feat_lockdown, feat_unprivileged, feat_paranoid, feat_tracefs;
feat_fn feat_memlock, feat_jit, feat_pid_ns, feat_seccomp, feat_clock, feat_guest, feat_cpus;
feat_fn feat_uprobe_events, feat_kernel_symbols;
feat_fn feat_user_ns, feat_cap_bpf, feat_cap_perfmon, feat_cap_ptrace, feat_cap_dac, feat_cap_ckpt;
feat_fn feat_yama;
feat_fn feat_load, feat_uprobe_multi, feat_ringbuf, feat_links;
feat_fn feat_cycles, feat_instructions, feat_cache_refs, feat_cache_misses, feat_branch_misses;

/* Loads and attaches, and notes how far it came. */
void feat__try(struct feat_tried *t);

void feat_set(struct feat_item *it, enum feat_result result, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void feat_remedy(struct feat_item *it, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The first line of a file below root, cut to the buffer. 0 or -errno. */
int feat_line(const struct feat_env *env, const char *path, char *buf, size_t len);
/* "key:\tvalue" of /proc/self/status. False: no such line. */
bool feat_status(const struct feat_env *env, const char *key, char *buf, size_t len);

#endif
