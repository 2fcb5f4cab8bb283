/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - what is counted in calls beside their time: which counters were asked for, which of them
 * this machine really counts, and the perf events of each CPU that bpf/counters.bpf.h reads.
 *
 *   counters__parse    the user's list
 *   counters__open     opens the events and finds out which of them count
 *   counters__prepare  tells the programs, before they are loaded
 *   counters__install  hands the events over to them, after
 *   counters__close    NULL and zeros are fine
 */
#ifndef HBPROF_COUNTERS_H
#define HBPROF_COUNTERS_H

#include <hbprof/abi.h>
#include <stddef.h>

struct bpf_link;
struct hbprof_bpf;

#define COUNTER_NAME 32

struct counter {
	char name[COUNTER_NAME]; /* as perf(1) spells it */
	u8 kind;		 /* enum hb_ctr_kind; becomes NONE where it is not to be had */
	u32 type;		 /* of PERF: perf_event_attr.type, config */
	u64 config;
	u32 per_us;	/* what a microsecond can hold at most */
	char lack[160]; /* why it is not to be had; "" where it is */
};

struct counters {
	struct counter v[HB_CTRS];
	u32 nr;
	int *fd; /* [counter * nr_cpus + CPU]; -1: none */
	u32 nr_cpus;
	struct bpf_link *link[2]; /* of the programs that see context switches; NULL: not asked for */
};

/* What is counted where nothing was asked for. */
#define COUNTERS_DEFAULT                                                               \
	"cycles,instructions,cache-references,cache-misses,branch-misses,page-faults," \
	"context-switches"

/* list: names with commas between, or "none". 0, or -EINVAL with a sentence in why. */
int counters__parse(struct counters *c, const char *list, char *why, size_t len);
/* Adds the three of the scheduler, unless they are there. 0, or -EINVAL as above. */
int counters__add_sched(struct counters *c, char *why, size_t len);
/* 0 or -ENOMEM. A counter that cannot be had says so in `lack`. */
int counters__open(struct counters *c);
void counters__prepare(const struct counters *c, struct hbprof_bpf *skel, u32 max_tasks);
int counters__install(struct counters *c, struct hbprof_bpf *skel);
void counters__close(struct counters *c);

/* One event on this thread over some work: does it count? Sets lack and kind. For `hbprof check`. */
void counter_try(struct counter *c);
/* The table of names, for messages and documents: the i-th, or NULL. */
const char *counter_name(u32 i);

#endif
