// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_order.c - sides in the order of a fact of their captures: GOMAXPROCS, versions, CPUs, payload
 * sizes, load. Where the fact is a number of all of them, it is the axis of pictures, too.
 *
 * A fact is a key of the captures' host, or one of those below, which are computed.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/compare.h"
#include "util/units.h"

/* What a capture has of a fact: a number (else NaN) and the text that is shown. */
struct fact_value {
	double number;
	char text[COMPARE_AXIS_TEXT];
	char unit[COMPARE_AXIS_TEXT]; /* what stands behind the number */
};

/* ---- computed facts ---- */

static void go_version(const struct recording *r, struct fact_value *out)
{
	for (u32 i = 0; i < r->nr_targets; i++) {
		const char *s = r->target[i].language;

		if (s && !strncmp(s, "go", 2)) {
			snprintf(out->text, sizeof(out->text), "%s", s);
			return;
		}
	}
}

static bool is_codec(const struct recording *r, const struct m_row *row)
{
	return row->func < r->nr_funcs && !r->func[row->func].kind;
}

static void payload(const struct recording *r, struct fact_value *out)
{
	struct sizes all;
	u64 p50 = M_NONE;
	int err = 0;

	sizes__init(&all);
	for (u32 i = 0; i < r->nr_rows && !err; i++)
		if (is_codec(r, &r->row[i]))
			err = sizes__add(&all, &r->row[i]);
	if (!err)
		p50 = sizes__p50(&all);
	sizes__fini(&all);
	if (p50 == M_NONE)
		return;
	out->number = (double)p50;
	format_bytes(out->text, sizeof(out->text), p50);
}

static void call_rate(const struct recording *r, struct fact_value *out)
{
	double n = 0, s = (double)r->coverage.measured_ns / 1e9;

	for (u32 i = 0; i < r->nr_rows; i++)
		n += is_codec(r, &r->row[i]) ? (double)r->row[i].count : 0;
	if (!(s > 0) || r->coverage.measured_ns == M_NONE)
		return;
	out->number = n / s;
	snprintf(out->text, sizeof(out->text), "%.3g/s", out->number);
}

static void begin_time(const struct recording *r, struct fact_value *out)
{
	time_t t = (time_t)(r->begin_wall_ns / 1000000000);
	struct tm tm;

	if (r->begin_wall_ns == M_NONE || !gmtime_r(&t, &tm) ||
	    !strftime(out->text, sizeof(out->text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	out->number = (double)r->begin_wall_ns / 1e9;
}

static const struct {
	const char *name;
	void (*get)(const struct recording *r, struct fact_value *out);
} computed[] = {
	{"go", go_version},
	{"payload", payload},
	{"calls/s", call_rate},
	{"begin", begin_time},
};

/* ---- facts of the host ---- */

static const struct {
	const char *alias, *key;
} aliases[] = {
	{"gomaxprocs", M_RUN_FACT "gomaxprocs"},
	{"cpus", "cpus_online"},
	{"cpu", "cpu_model"},
	{"quota", M_RUN_FACT "cpu_quota"},
};

static double unit_factor(const char *unit)
{
	static const char *const sizes[] = {"B", "KB", "MB", "GB", "TB"};

	for (u32 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (!strcmp(unit, sizes[i]))
			return ldexp(1, (int)(10 * i));
	return 0;
}

/* "64", "1.50 CPUs", "7.7GB": a number and its unit. "6.1.0-50" is none, and neither is "800 to 3700". */
static void parse_number(struct fact_value *v)
{
	size_t digits = strspn(v->text, "0123456789"), at = digits;
	const char *unit;

	if (digits && v->text[at] == '.' && strspn(v->text + at + 1, "0123456789"))
		at += 1 + strspn(v->text + at + 1, "0123456789");
	unit = v->text + at + (v->text[at] == ' ');
	if (!digits || strpbrk(unit, "0123456789.") || !strncmp(unit, "to ", 3))
		return;
	v->number = strtod(v->text, NULL);
	if (unit_factor(unit) > 0)
		v->number *= unit_factor(unit);
	else
		snprintf(v->unit, sizeof(v->unit), "%s", unit);
}

static void host_fact(const struct recording *r, const char *name, struct fact_value *out)
{
	const char *key = name, *s;

	for (u32 i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].alias, name))
			key = aliases[i].key;
	s = m_host__get(&r->host, key, NULL);
	if (!s || !strncmp(s, "n/a", 3))
		return;
	snprintf(out->text, sizeof(out->text), "%s", s);
	parse_number(out);
}

static void get_fact(const struct recording *r, const char *name, struct fact_value *out)
{
	*out = (struct fact_value){.number = NAN};
	for (u32 i = 0; i < sizeof(computed) / sizeof(computed[0]); i++)
		if (!strcmp(computed[i].name, name)) {
			computed[i].get(r, out);
			return;
		}
	host_fact(r, name, out);
}

/* ---- sides ---- */

static bool is_measured(const char *name)
{
	return !strcmp(name, "payload") || !strcmp(name, "calls/s") || !strcmp(name, "begin");
}

/* What is measured differs between the runs of a side, and the first one's stands for it. */
static int side_fact(const struct compare_side *side, const char *name, struct fact_value *out,
		     char *why, size_t len)
{
	struct fact_value other;

	get_fact(side->run[0].r, name, out);
	for (u32 i = 0; i < side->nr_runs; i++) {
		get_fact(side->run[i].r, name, &other);
		if (!*other.text) {
			snprintf(why, len, "%s does not tell its %s", side->run[i].file, name);
			return -ENOENT;
		}
		if (!is_measured(name) && strcmp(other.text, out->text)) {
			snprintf(why, len, "the captures of %s differ in %s: %s and %s",
				 side->label, name, out->text, other.text);
			return -EINVAL;
		}
	}
	return 0;
}

struct ordered {
	struct compare_side side;
	struct fact_value v;
	u32 at;
	bool numeric;
};

static int cmp_ordered(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;
	int d = a->numeric ? (a->v.number > b->v.number) - (a->v.number < b->v.number)
			   : strverscmp(a->v.text, b->v.text);

	return d ? d : a->at < b->at ? -1 : a->at > b->at;
}

int compare_sides__order(struct compare_side *side, u32 nr, const char *fact,
			 struct compare_axis *axis, char *why, size_t len)
{
	struct ordered v[COMPARE_MAX_SIDES];
	bool numeric = true;
	int err;

	for (u32 i = 0; i < nr; i++) {
		v[i].side = side[i];
		v[i].at = i;
		err = side_fact(&side[i], fact, &v[i].v, why, len);
		if (err)
			return err;
		numeric &= !isnan(v[i].v.number) && !strcmp(v[i].v.unit, v[0].v.unit);
	}
	for (u32 i = 0; i < nr; i++)
		v[i].numeric = numeric;
	qsort(v, nr, sizeof(v[0]), cmp_ordered);
	*axis = (struct compare_axis){.fact = fact, .numeric = numeric};
	for (u32 i = 0; i < nr; i++) {
		side[i] = v[i].side;
		axis->at[i] = v[i].v.number;
		snprintf(axis->text[i], sizeof(axis->text[i]), "%s", v[i].v.text);
	}
	axis->log = numeric && axis->at[0] > 0 && axis->at[nr - 1] >= 8 * axis->at[0];
	axis->moves = cmp_ordered(&v[0], &v[nr - 1]) && strcmp(axis->text[0], axis->text[nr - 1]);
	return 0;
}
