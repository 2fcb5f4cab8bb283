/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - from a process to what will be probed: the images with codec functions in them, the
 * functions, and their sites. No BPF yet: a plan can be printed and tested without any privilege but
 * that of reading the process.
 */
#ifndef HBPROF_PLAN_H
#define HBPROF_PLAN_H

#include <hbprof/req.h>

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

extern const char *const hb_rate_names[HB_RATE_NR]; /* functions of the Go runtime */

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
	u8 exit_by;	/* enum plan_exit */
	bool later;	/* what is looked for may come with a process that is added later */
	bool rates;	/* how often goroutines give up their thread will be counted now and then */
	bool follow_go; /* goroutines that are started are followed, see plan_starts.c */
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
	struct site rate[HB_RATE_NR]; /* entries, by enum hb_rate */
	struct site_list sites; /* in this image; its calls of other images' functions among them */
	u32 refused;		/* call sites that cannot be probed */
	/* What has been done with it, once for all processes. */
	bool gathered; /* functions were looked for */
	bool searched; /* calls of its own functions were */
	u32 *lib;      /* images that calls of the functions of were looked for, too */
	u32 nr_libs;
	size_t cap_libs;
	bool undoers; /* what undoes stacks has its sites */
	bool rates;   /* rate[] is filled in */
	bool world;   /* so have begin and end of the Go runtime's stops of the world */
	bool starts;  /* the start of goroutines has */
};

/* An image as one process has it mapped. */
struct plan_map {
	u32 image;
	u64 bias;    /* run-time address - vaddr */
	bool probed; /* the session's: its sites are probed in this process */
};

/* A process of the plan. Its index is that of its rows and return addresses in the kernel. */
struct plan_proc {
	struct proc *proc; /* not owned, outlives the plan's use */
	struct plan_map *map;
	u32 nr_maps;
	size_t cap_maps;
	char *language; /* "go1.26.8", "native" */
};

struct plan_func {
	struct func *f; /* in plan.list, at `at` */
	u32 at;
	u32 image;
	u8 group;
	u8 entry_class;
	bool exit_ret; /* exits are seen at its returns */
	bool tails;    /* it may leave by a jump */
	u16 ra_words;  /* as hb_func.ra_words */
	/* With tails: the planned functions that may run in its place then, by rising index: its direct
	 * jumps lead there, those of what these lead to, and so on, through import slots too. Any
	 * other may as well if tails_indirect: there is an indirect jump or code that cannot be
	 * followed on the way, or there are too many. */
	u32 *tails_direct;
	u32 nr_tails_direct;
	bool tails_indirect;
};

struct plan {
	struct plan_opts opts; /* registry, probe: the caller's, to outlive the plan */
	struct plan_proc *proc;
	u32 nr_procs;
	size_t cap_procs;
	const struct registry *registry;
	struct registry *own_registry; /* NULL, or the same */
	struct registry_alt *alt;      /* registry__size(): what became of each of its entries */
	u32 *probe_hits;	       /* by opts.probe: functions found */
	bool *probe_unsupported;
	struct plan_image *image;
	u32 nr_images;
	size_t cap_images;
	struct func_list list;
	struct plan_func *func; /* those that can be probed */
	u32 nr_funcs;
	size_t cap_funcs;
	/* What the kernel's tables hold, once they have been made; 0: no limit. */
	u32 max_funcs, max_images;
	u32 funcs_left_out; /* for want of room there */
	char **warning;
	u32 nr_warnings;
	size_t cap_warnings;
};

/*
 * 0, or -errno with a message logged: -ENOENT: no codec found and no --probe matched (what was looked
 * for and seen is said), -EINVAL: a bad --probe, -ESRCH: the process ended.
 */
int plan__build(struct proc *p, const struct plan_opts *o, struct plan **out);
/*
 * The same for several. One in which nothing is to be measured is left out of the plan: *left_out[i]
 * says so. -ENOENT: all of them.
 */
int plan__build_many(struct proc *const *p, u32 nr, const struct plan_opts *o, bool *left_out,
		     struct plan **out);
/* The same for a file, with the addresses that it was linked for: nothing to attach to, and calls from
 * other files are not known. -EIO and others: it cannot be read, with a message
 * logged. */
int plan__build_file(const char *path, const struct plan_opts *o, struct plan **out);
void plan__free(struct plan *pl);

/*
 * Adds a process. Files that the plan knows are not read again; functions of others, and sites in any,
 * are appended to those that are there. 0 with its index; -ENODATA: nothing in it is to be measured,
 * and the plan has no such process; -ESRCH and others: likewise.
 */
int plan__add(struct plan *pl, struct proc *p, u32 *index);
/* Takes back the process that was added last; what came with it stays. */
void plan__drop_last(struct plan *pl);
/* Looks at what a process has mapped since: proc__reload_maps() comes first. The same growth. 0 or -ENOMEM. */
int plan__look_again(struct plan *pl, u32 index);

/* Index of the image that a file mapping of the process belongs to, opened on first use; where it is
 * mapped is remembered. */
int plan__image_of(struct plan *pl, u32 proc, const struct proc_map *m, u32 *image);
/* How a process has an image mapped; NULL: it has not. */
struct plan_map *plan__map(const struct plan *pl, u32 proc, u32 image);
/* What a site of this function must leave readable. */
struct site_want plan__want(const struct func *f);
/* The code around vaddr: its function where the bounds are known, else what follows vaddr. False:
 * there is none. */
bool plan__code_at(const struct plan_image *pi, u64 vaddr, struct code *out, bool *bounded);
/* RET sites for a function that was planned with return sites. Appends to out. 0 or -errno. */
int plan__ret_sites(const struct plan *pl, u32 func, struct site_list *out);

#endif
