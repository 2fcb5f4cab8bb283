/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compare_print.h - what the three forms of a comparison share: how numbers, rows and sides are
 * written, and the sentences below the rows.
 */
#ifndef HBPROF_COMPARE_PRINT_H
#define HBPROF_COMPARE_PRINT_H

#include "report/compare.h"
#include "util/strbuf.h"

#define CMP_TEXT 64

/* "n/a" for NaN. */
const char *cmp_value(char buf[CMP_TEXT], const struct metric *m, double v);
const char *cmp_ratio(char buf[CMP_TEXT], double v);
/* "0.61..0.65"; "" when there are none. */
const char *cmp_limits(char buf[CMP_TEXT], const struct compare_cell *cell);
/* "ok" is nothing: "errors", "1-2KB", "errors, 1-2KB". */
const char *cmp_label(char buf[CMP_TEXT], const struct compare_key *key);
/* Calls of a side, of all its runs. */
u64 cmp_calls(const struct compare *c, const struct compare_row *row, u32 side);
/* One sentence: what the side is: captures, duration, machine. Not escaped. */
void cmp_describe(const struct compare *c, u32 side, struct strbuf *out);
/* What must be known to read the numbers, each a label and a text. */
void cmp_notes(const struct compare *c, void (*add)(void *ctx, const char *label, const char *text),
	       void *ctx);

/* Each appends to out; errors stay there. */
void compare__table(const struct compare *c, u32 width, struct strbuf *out);
void compare__json(const struct compare *c, struct strbuf *out);
void compare__html(const struct compare *c, struct strbuf *out);
/* An inline SVG of a row: the distribution of each side, and the quantile ratios. */
/* Text with what HTML takes for markup escaped. */
void cmp_html(struct strbuf *out, const char *s);
/* compare_scale.c: with three sides or more, a picture of the ratios in their order. */
void compare__scale(const struct compare *c, const struct compare_row *row, struct strbuf *out);
void compare__plot(const struct compare *c, const struct compare_row *row, struct strbuf *out);

#endif
