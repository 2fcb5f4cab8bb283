/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.h - the parts of the report for people, each appended to one text: what was measured
 * (facts.c), the rows (table.c), what was not seen and what it cost (coverage.c).
 */
#ifndef HBPROF_TABLE_H
#define HBPROF_TABLE_H

#include "report/bias.h"
#include "report/report.h"
#include "util/strbuf.h"

struct view {
	const struct recording *r;
	const struct report_opts *opts;
	struct groups groups;
	struct bias *bias; /* by calls */
	u32 nr_biases;
	struct strbuf *out;
};

void table__facts(struct view *v);
void table__rows(struct view *v);
/* What was counted in the calls (counted.c); nothing where nothing was asked for. */
void table__counters(struct view *v);
/* The same without the table itself: in how many calls they were counted, what was not, and why. */
void table__counters_notes(struct view *v);
/* On the CPU, waiting, blocked (timesplit.c); nothing where that was not counted. */
void table__time(struct view *v);
void table__time_notes(struct view *v);
void table__coverage(struct view *v);

/* ---- numbers as they stand in cells and sentences; "n/a" for M_NONE and NaN ---- */

#define CELL 32

const char *cell_ns(char buf[CELL], u64 ns);
const char *cell_count(char buf[CELL], u64 n);
const char *cell_bytes(char buf[CELL], u64 bytes);
const char *cell_rate(char buf[CELL], double per_s);
const char *cell_pct(char buf[CELL], double pct);
/* "size n/a", "empty", "128-255B", "1-2KB" */
const char *cell_size_class(char buf[CELL], u32 size_class);

/* part of whole in percent, NaN when either is not known or whole is 0. */
double pct_of(u64 part, u64 whole);

/* CPU time of all targets; M_NONE when one is not known. */
/* A process's CPU time comes in clock ticks of 10 ms (proc(5), stat): in shorter recordings a share of it
 * is NaN, "n/a". part in per cent of cpu_ns. */
#define SHARES_MIN_NS 100000000ull
bool too_short_for_shares(const struct recording *r);
double cpu_share(const struct recording *r, u64 part, u64 cpu_ns);
u64 targets_cpu_ns(const struct recording *r);

/* A paragraph of printf-formatted text, fitted to the view's width. */
void table__para(struct view *v, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of a text, which is empty afterwards. One that was too long is shown as far as it fits. */
void table__para_buf(struct view *v, const char *label, struct strbuf *b);
/* Appends s to a text that will be a paragraph: escaped, "n/a" for NULL. */
void add_name(struct strbuf *b, const char *s);
/* Width for running text: the terminal's, at most 100. */
u32 para_width(const struct report_opts *opts);

#endif
