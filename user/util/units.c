// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * units.c - numbers as people write and read them. All of it in integers: a double loses the last
 * digits of a count and rounds 999.96us to "1000us".
 */
#include "util/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	u64 size;  /* of one, in the smallest unit */
	u64 limit; /* from so many on the next unit is used; 0: the last one */
};

static const struct unit time_units[] = {
	{"ns", 1, 1000},	 {"us", 1000, 1000},	 {"ms", 1000000, 1000},
	{"s", 1000000000, 1000}, {"m", 60000000000, 60}, {"h", 3600000000000, 0},
};
#define NR_TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

static const struct unit byte_units[] = {
	{"B", 1, 1024},		  {"KB", 1ull << 10, 1024}, {"MB", 1ull << 20, 1024},
	{"GB", 1ull << 30, 1024}, {"TB", 1ull << 40, 1024}, {"PB", 1ull << 50, 1024},
	{"EB", 1ull << 60, 0},
};

/* ---- reading ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at *s, at least one; moves *s behind them. */
static int parse_digits(const char **s, u64 *out)
{
	u64 v = 0;

	if (!is_digit(**s))
		return -EINVAL;
	for (; is_digit(**s); (*s)++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (u64)(**s - '0'), &v)) {
			/* The rest decides between a number too large and no number at all. */
			while (is_digit(**s))
				(*s)++;
			*out = UINT64_MAX;
			return -ERANGE;
		}
	}
	*out = v;
	return 0;
}

int parse_u64(const char *s, u64 max, u64 *out)
{
	u64 v;
	int err;

	err = parse_digits(&s, &v);
	if (err == -EINVAL || *s)
		return -EINVAL;
	if (err)
		return err;
	if (v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

static const struct unit *time_unit(const char *name)
{
	for (size_t i = 0; i < NR_TIME_UNITS; i++) {
		if (!strcmp(time_units[i].name, name))
			return &time_units[i];
	}
	return NULL;
}

/* ".25": its digits as a fraction of size. Digits below a nanosecond of an hour are read past. */
static int parse_fraction(const char **s, const char **digits, size_t *nr)
{
	*digits = NULL;
	*nr = 0;
	if (**s != '.')
		return 0;
	(*s)++;
	*digits = *s;
	*nr = strspn(*s, "0123456789");
	*s += *nr;
	return *nr ? 0 : -EINVAL;
}

static u64 fraction_of(u64 size, const char *digits, size_t nr)
{
	u64 sum = 0, place = size;

	/* From the last digit: sum is what stands right of it, in units of size. */
	if (nr > 12)
		nr = 12;
	while (nr--)
		sum = (place * (u64)(digits[nr] - '0') + sum) / 10;
	return sum;
}

int parse_duration_ns(const char *s, u64 *ns)
{
	const struct unit *unit;
	const char *digits;
	u64 whole, sum;
	size_t nr;
	int err, bad;

	err = parse_digits(&s, &whole);
	if (err == -EINVAL)
		return err;
	bad = parse_fraction(&s, &digits, &nr);
	if (bad)
		return bad;
	unit = time_unit(s);
	if (!unit)
		return -EINVAL;
	if (err || __builtin_mul_overflow(whole, unit->size, &sum) ||
	    __builtin_add_overflow(sum, fraction_of(unit->size, digits, nr), &sum))
		return -ERANGE;
	*ns = sum;
	return 0;
}

/* ---- writing ---- */

/* v * mul / size, rounded to the nearest. In 128 bits, for 9 EB * 100. */
static u64 scaled(u64 v, u64 mul, u64 size)
{
	return (u64)(((unsigned __int128)v * mul + size / 2) / size);
}

/* Three significant digits of v in this unit, or false where rounding carries it into the next. */
static bool format_in(char *buf, size_t len, u64 v, const struct unit *u)
{
	u64 n;

	if (u->size == 1) {
		if (v >= u->limit)
			return false;
		snprintf(buf, len, "%llu%s", v, u->name);
		return true;
	}
	if (v / u->size < 10 && (n = scaled(v, 100, u->size)) < 1000) {
		snprintf(buf, len, "%llu.%02llu%s", n / 100, n % 100, u->name);
		return true;
	}
	if (v / u->size < 100 && (n = scaled(v, 10, u->size)) < 1000) {
		if (u->limit && n >= 10 * u->limit)
			return false;
		snprintf(buf, len, "%llu.%llu%s", n / 10, n % 10, u->name);
		return true;
	}
	n = scaled(v, 1, u->size);
	if (u->limit && n >= u->limit)
		return false;
	snprintf(buf, len, "%llu%s", n, u->name);
	return true;
}

const char *format_ns(char *buf, size_t len, u64 ns)
{
	const struct unit *u = time_units;

	while (!format_in(buf, len, ns, u))
		u++;
	return buf;
}

const char *format_bytes(char *buf, size_t len, u64 bytes)
{
	const struct unit *u = byte_units;

	while (!format_in(buf, len, bytes, u))
		u++;
	return buf;
}

const char *format_count(char *buf, size_t len, u64 n)
{
	char digits[24];
	size_t nr, at = 0;

	nr = (size_t)snprintf(digits, sizeof(digits), "%llu", n);
	for (size_t i = 0; i < nr && at + 1 < len; i++) {
		if (i && (nr - i) % 3 == 0 && at + 2 < len)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	if (len)
		buf[at] = '\0';
	return buf;
}
