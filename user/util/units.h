/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* units.h - numbers as people write and read them. */
#ifndef HBPROF_UNITS_H
#define HBPROF_UNITS_H

#include <hbprof/types.h>

/* "10s", "500ms", "1.5m", "1h", "250us", "100ns" to ns (what is below one is cut). -EINVAL: no
 * number, a sign, no or unknown unit, trailing text; -ERANGE. */
int parse_duration_ns(const char *s, u64 *ns);
/* A non-negative decimal integer up to max. -EINVAL, -ERANGE. */
int parse_u64(const char *s, u64 max, u64 *out);
/* Three significant digits with a unit: "950ns", "1.23us", "12.3ms", "4.56s"; from 1000 s on minutes
 * and hours: "16.7m", "2.78h". Rounding carries: never "1000us". buf of >= 16. */
const char *format_ns(char *buf, size_t len, u64 ns);
/* "139B", "1.17KB", "8.76KB", "2.00MB": powers of 1024. buf of >= 16. */
const char *format_bytes(char *buf, size_t len, u64 bytes);
/* With thousands separators: "1,234,567". buf of >= 32. */
const char *format_count(char *buf, size_t len, u64 n);

#endif
