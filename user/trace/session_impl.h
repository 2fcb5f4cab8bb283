/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session_impl.h - what session*.c, discover.c, mapped.c and snapshot.c share. */
#ifndef HBPROF_SESSION_IMPL_H
#define HBPROF_SESSION_IMPL_H

#include <sys/types.h>

#include "trace/session.h"

struct bpf_map;

/* What was last read to verify sites, from the file and from the target's memory. Zeros: nothing. */
struct code_page {
	const struct plan_image *image;
	u64 vaddr;
	ssize_t nr_file, nr_memory;
	bool unreadable; /* the memory, by whatever is not its being unmapped */
	u8 file[4096 + SITE_BYTES], memory[4096 + SITE_BYTES];
};

/* How probes are attached here, and how many: what is beyond is taken out of the plan (choose.c). */
int session__choose(struct session *s, u32 max_sites);
/* Opens the counters of a list and describes them in s->rec (session_counters.c). 0 or -errno. */
int session__open_counters(struct session *s, const char *list, bool sched);
/* What a pair of probes counts, as the calibration's calls show it: subtracted from now on. 0 or -errno. */
int session__counter_bias(struct session *s);
/* Says why no program can be loaded. */
void session__explain_load(int err);
/* Gives a site to the kernel's table; *id is its index. 0 or -ENOSPC, -errno. */
int session__site_add(struct session *s, u32 image, const struct site *site, u32 *id);
/* The same for a whole list; ids[] are its indices. */
int session__sites_add(struct session *s, u32 image, const struct site_list *l, u32 *ids);
/* The same for one that is not the plan's. */
int session__site_put(struct session *s, const struct hb_site *hs, const struct session_site *ss,
		      u32 *id);
/* Many elements in one system call; 8,000 sites take 8 ms one by one. 0 or -errno. */
int map_put_batch(const struct bpf_map *map, const void *keys, const void *values, u32 nr);
/* Makes a return site a guard of its callee, or the end of that. 0 or -errno. */
int session__site_guard(struct session *s, u32 id, bool on);
/* A return address is not known any more, in no process: a call from there asks again. */
int session__ra_forget(struct session *s, u32 id);
/* The language of the task that hits a site. */
u8 session__site_lang(const struct session *s, u32 image, const struct site *site);
/* Probes hbprof's own functions and measures them for the first time. 0 or -errno: -ENODATA: they are
 * not hit. */
int session__calibrate(struct session *s);
/* Is the code at the site still what was decoded, in the file and in the target's memory? Pages are
 * read through *p (verify.c), so it is to be young: one for the sites of one attach. */
bool session__site_intact(const struct session *s, u32 proc, u32 image, const struct site *site,
			  struct code_page *p);
/* Marks a return address (vaddr in an image) as attached or refused. */
int session__ra_set(struct session *s, const struct hb_ra_key *key, u32 state);
/* Probes sites of one image in all processes that have those it had before; refused ones are marked in
 * s->site[]. */
int session__probe(struct session *s, u32 image, const u32 *ids, size_t nr);
/* All sites of an image, known and new ones, into one process, and what returns to them. */
int session__attach_image(struct session *s, u32 proc, struct plan_map *map);
/* The same for all images that it has mapped. -ESRCH: it has ended, -ENOSPC: too many probes, -ESTALE: what
 * is in its memory is other code. */
int session__attach_proc(struct session *s, u32 proc);
/* Looks at what a process has loaded since, and measures that as well. 0 or -errno. */
int session__grow(struct session *s, u32 proc);
/* Measures what probes cost whose classes the plan did not have before. 0 or -errno. */
int session__calibrate_new(struct session *s);
/* The next process of the plan becomes one of the session, and a target of the recording. */
int session__add_proc(struct session *s);
/* The same for one that the plan does not have yet. -ENODATA: nothing in it is to be measured. *proc is set
 * if it is one of the session's, with an error or not. */
int session__plan_proc(struct session *s, struct proc *p, u32 *proc);
/* From here on its calls count, if it is recorded. */
int session__begin_proc(struct session *s, u32 proc);
/* They count no more, and its probes are taken off. why: for the report, "exited". */
void session__end_proc(struct session *s, u32 proc, const char *why);
/* Calls of a process id that were open when it ended or ran another program: counted, and forgotten. 0 or
 * -errno. */
int session__cut_tasks(struct session *s, pid_t pid);
/* Says why a process is none that is measured, and ends it. */
void session__not_measured(struct session *s, u32 proc, int err);
bool session__proc_ended(const struct session *s, u32 proc);
/* Ends those that have ended without a word. */
void session__look_for_ends(struct session *s);
/* How long it has been measured. */
u64 session__proc_ns(const struct session *s, u32 proc, u64 now);
/* Takes the probes off all processes. */
void session__detach(struct session *s);
void session__free_procs(struct session *s);
/* Is the process one whose id in the programs is that in hbprof's own PID namespace? */
bool session__sees_pid(pid_t pid);
/* Functions and images of the plan into the kernel's tables, from an index on. */
int session__put_funcs(struct session *s, u32 first);
int session__put_images(struct session *s, u32 first);
int session__put_func(struct session *s, u32 id, const struct hb_func *f);
/* Reads what CPU time a process has used, while it is there. */
void session__note_usage(struct session *s, u32 proc);
/* From here on hbprof's own CPU time counts as cost of the measurement. */
void session__mark_own_cpu(struct session *s);
/* An exit of this class has been found in code of a language: its cost is kept up to date. */
void session__exit_used(struct session *s, u8 lang, u8 cls);
/* Exits of a plan's function are from now on seen at its returns; why becomes part of a sentence with
 * the function as its subject. 0, or -errno: it stays as it was. */
int session__switch_to_ret(struct session *s, u32 func, const char *why);
void session__warn(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
