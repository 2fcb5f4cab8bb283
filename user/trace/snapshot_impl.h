/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* snapshot_impl.h - what snapshot.c and the files that read parts of the result for it share. */
#ifndef HBPROF_SNAPSHOT_IMPL_H
#define HBPROF_SNAPSHOT_IMPL_H

#include "trace/session_impl.h"

/* All rows in order of their index: a row keeps its place as more are added. The caller's; 0 or -errno. */
int rows__read(struct session *s, struct m_row **out, u32 *nr);
void rows__free(struct m_row *v, u32 nr);
/* Of the same function, process, size class and outcome? */
bool row_same(const struct m_row *a, const struct m_row *b);

/* Ends an interval; takes over the rows on success. 0 or -ENOMEM. */
int session__add_interval(struct session *s, struct m_row *rows, u32 nr, u64 now);

/* The counters of a function, over all CPUs. 0 or -errno. */
int session__fn_stat(struct session *s, u32 func, struct hb_fn_stat *sum);
/* Each fills its part of rec. 0 or -errno. */
int session__fill_funcs(struct session *s, struct recording *rec);
int session__fill_images(struct session *s, struct recording *rec);
int session__fill_drops(struct session *s, struct recording *rec);
int session__fill_counters(struct session *s, struct recording *rec);
/* After the three above, and after what is in flight is known. */
void session__sum_coverage(struct session *s, struct recording *rec, u64 end_mono_ns);
void session__fill_cost(struct session *s, struct recording *rec);
/* Once the probes are off: adds the calls that are still open to the functions of s->rec, as in flight,
 * or as abandoned where their task has ended. 0 or -errno. */
int session__count_leftovers(struct session *s);

char *dup_or_null(const char *s);

#endif
