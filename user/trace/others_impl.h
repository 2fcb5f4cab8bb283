/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* others_impl.h - what others*.c share. */
#ifndef HBPROF_OTHERS_IMPL_H
#define HBPROF_OTHERS_IMPL_H

#include "trace/others.h"

/* A breakpoint that stands in the code of a planned function, in some process. */
struct other_break {
	u32 image, func;
	u64 off; /* in the file */
	bool explained;
};

struct others_scan {
	const struct plan *pl;
	struct others *out;
	struct other_break *brk;
	size_t nr, cap;
	int err; /* the first one */
};

/* "bpftrace, process 99" */
void others__name_process(pid_t pid, char *buf, size_t len);
/* A probe that somebody has on a file: noted if its breakpoint stands. path is as its owner sees it. */
void others__probe(struct others_scan *s, const char *path, u64 off, const char *who);
/* others_bpf.c: the kernel's BPF links, and perf events with a program. */
void others__scan_bpf(struct others_scan *s);
/* others_events.c: uprobe_events of tracefs below root; the text of one line, NULL who: no probe. */
void others__scan_events(struct others_scan *s, const char *root);
bool uprobe_event_parse(const char *line, char *name, size_t name_len, char *path, size_t path_len,
			u64 *off);

#endif
