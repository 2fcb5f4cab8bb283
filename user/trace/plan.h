/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - from a process to what will be probed: the images with codec functions in them, the
 * functions, and their sites. No BPF yet: a plan can be printed and tested without any privilege but
 * that of reading the process.
 */
#ifndef HBPROF_PLAN_H
#define HBPROF_PLAN_H

#include "probe/site.h"
#include "sym/buildinfo.h"
#include "sym/func.h"
#include "sym/golayout.h"
#include "sym/symtab.h"
#include "target/image.h"
#include "target/proc.h"

#define PLAN_MAX_FUNCS	 4096
#define PLAN_GROUP_CALIB (HB_MAX_GROUPS - 1) /* kept for the calibration */

struct registry;
struct registry_alt;

/* Where the end of a call is seen. */
enum plan_exit {
	PLAN_EXIT_AUTO, /* at return sites, or at the returns where these are emulated: on arm64 */
	PLAN_EXIT_SITE, /* --exit=site: behind the calls */
	PLAN_EXIT_RET, /* --exit=ret: at the function's own returns, where these can all be probed */
};

struct plan_opts {
	const struct registry *registry; /* outlives the plan; NULL: the built-in one */
	const char *const *probe; /* --probe NAME[=OP], nr_probes of them; outlive the plan */
	size_t nr_probes;
	u8 exit_by;	 /* enum plan_exit */
	bool allow_none; /* no codec is told, but is no error: what was looked for is the result */
};

struct plan_image {
	struct image *im;
	struct symtab *syms;	 /* NULL: no function names */
	struct buildinfo *build; /* NULL: not Go */
	const struct insn_ops *ops;
	struct go_layout layout; /* zeros: not Go, or a version that is not known */
	char *path;		 /* as the process sees it */
	u64 map_dev, map_ino;	 /* as /proc/PID/maps prints them: overlays have others than stat */
	u64 lo, hi;		 /* vaddr range of its executable segments */
	u64 bias;		 /* run-time address - vaddr, in the target */
	struct site_list sites; /* in this image; its calls of other images' functions among them */
	u32 refused;		/* call sites that cannot be probed */
};

struct plan_func {
	struct func *f; /* in plan.list */
	u32 image;
	u8 group;
	u8 entry_class;
	bool exit_ret; /* exits are seen at its returns */
	bool tails;    /* it may leave by a jump */
	/* With tails: the planned functions that may run in its place then, by rising index: its direct
	 * jumps lead there, those of what these lead to, and so on, through import slots too. Any
	 * other may as well if tails_indirect: there is an indirect jump or code that cannot be
	 * followed on the way, or there are too many. */
	u32 *tails_direct;
	u32 nr_tails_direct;
	bool tails_indirect;
};

struct plan {
	struct proc *proc; /* not owned; NULL: the plan of a file */
	const struct registry *registry;
	struct registry *own_registry; /* NULL, or the same */
	const char *const *probe;      /* as in plan_opts: the caller's, to outlive the plan */
	size_t nr_probes;
	struct registry_alt *alt; /* registry__size(): what became of each of its entries */
	struct plan_image *image;
	u32 nr_images;
	size_t cap_images;
	struct func_list list;
	struct plan_func *func; /* those that can be probed */
	u32 nr_funcs;
	char **warning;
	u32 nr_warnings;
	size_t cap_warnings;
	char *language; /* "go1.26.8", "native" */
};

/*
 * 0, or -errno with a message logged: -ENOENT: no codec found and no --probe matched (what was looked
 * for and seen is said), -EINVAL: a bad --probe, -ESRCH: the process ended.
 */
int plan__build(struct proc *p, const struct plan_opts *o, struct plan **out);
/* The same for a file, with the addresses that it was linked for: nothing to attach to, and calls from
 * other files are not known. -EIO and others: it cannot be read, with a message
 * logged. */
int plan__build_file(const char *path, const struct plan_opts *o, struct plan **out);
void plan__free(struct plan *pl);

/* Index of the image that a file mapping of the process belongs to, opened on first use. */
int plan__image_of(struct plan *pl, const struct proc_map *m, u32 *image);
/* How many functions the plan would have had, had the file been mapped; *name (the caller's to free):
 * one of them. What cannot be read has none. */
u32 plan__count_funcs(const struct plan *pl, const struct proc_map *m, char **name);
/* What a site of this function must leave readable. */
struct site_want plan__want(const struct func *f);
/* The code around vaddr: its function where the bounds are known, else what follows vaddr. False:
 * there is none. */
bool plan__code_at(const struct plan_image *pi, u64 vaddr, struct code *out, bool *bounded);
/* RET sites for a function that was planned with return sites. Appends to out. 0 or -errno. */
int plan__ret_sites(const struct plan *pl, u32 func, struct site_list *out);

#endif
