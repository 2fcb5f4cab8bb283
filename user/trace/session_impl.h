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
/* The language of the task that hits a site. */
u8 session__site_lang(const struct session *s, u32 image, const struct site *site);
/* Probes hbprof's own functions and measures them for the first time. 0 or -errno: -ENODATA: they are
 * not hit. */
int session__calibrate(struct session *s);
/* Is the code at the site still what was decoded, in the file and in the target's memory? Pages are
 * read through *p (verify.c), so it is to be young: one for the sites of one attach. */
bool session__site_intact(const struct session *s, u32 image, const struct site *site,
			  struct code_page *p);
/* Marks a return address (vaddr in an image) as attached or refused. */
int session__ra_set(struct session *s, const struct hb_ra_key *key, u32 state);
/* Probes sites of one image; refused ones are marked in s->site[]. */
int session__probe(struct session *s, u32 image, const u32 *ids, const struct site *sites,
		   size_t nr);
/* Describes the process in s->rec, while it is there to be described. */
int session__describe_target(struct session *s);
/* From here on hbprof's own CPU time counts as cost of the measurement. */
void session__mark_own_cpu(struct session *s);
/* An exit of this class has been found in code of a language: its cost is kept up to date. */
void session__exit_used(struct session *s, u8 lang, u8 cls);
/* Exits of a plan's function are from now on seen at its returns; why becomes part of a sentence with
 * the function as its subject. 0, or -errno: it stays as it was. */
int session__switch_to_ret(struct session *s, u32 func, const char *why);
void session__warn(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
