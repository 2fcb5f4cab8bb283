// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verrange.c - compares versions, number by number. */
#include "sym/verrange.h"

#include <ctype.h>
#include <string.h>

#define DIGITS	 "0123456789"
#define TERM_MAX 128

static const char *skip_prefix(const char *v)
{
	if (!strncmp(v, "go", 2))
		return v + 2;
	return *v == 'v' ? v + 1 : v;
}

/* Numbers of any length, as text: without leading zeros the longer one is the larger. */
static int cmp_number(const char **a, const char **b)
{
	size_t la, lb;
	int c;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	la = strspn(*a, DIGITS);
	lb = strspn(*b, DIGITS);
	c = la != lb ? (la < lb ? -1 : 1) : strncmp(*a, *b, la);
	*a += la;
	*b += lb;
	return c;
}

/* A dot is followed by one more number; everything else ends them. */
static bool more_numbers(const char *v)
{
	return v[0] == '.' && isdigit((unsigned char)v[1]);
}

static bool is_release(const char *rest)
{
	return !*rest || *rest == '+';
}

int version_cmp(const char *a, const char *b)
{
	int c;

	a = skip_prefix(a);
	b = skip_prefix(b);
	for (;;) {
		c = cmp_number(&a, &b);
		if (c || (!more_numbers(a) && !more_numbers(b)))
			break;
		a += more_numbers(a);
		b += more_numbers(b);
	}
	if (c)
		return c;
	if (is_release(a) || is_release(b))
		return is_release(a) - is_release(b);
	return strcmp(a, b);
}

struct term {
	bool less, greater, equal; /* than the version, or equal to it, is in the range */
	char version[TERM_MAX];
};

/* Takes the first comparison off *range. False: there is none, or it is none. */
static bool take_term(const char **range, struct term *t)
{
	const char *p = *range + strspn(*range, " ");
	size_t len;

	*t = (struct term){.less = *p == '<', .greater = *p == '>'};
	p += t->less || t->greater;
	t->equal = *p == '=';
	p += t->equal;
	len = strcspn(p, " ");
	if (!(t->less || t->greater || t->equal) || len >= sizeof(t->version) ||
	    !isdigit((unsigned char)*skip_prefix(p)))
		return false;
	memcpy(t->version, p, len);
	*range = p + len;
	return true;
}

static bool at_end(const char *range)
{
	return !range[strspn(range, " ")];
}

bool version_range_valid(const char *range)
{
	struct term t;

	do {
		if (!take_term(&range, &t))
			return false;
	} while (!at_end(range));
	return true;
}

bool version_in_range(const char *version, const char *range)
{
	struct term t;

	while (!at_end(range) && take_term(&range, &t)) {
		int c = version_cmp(version, t.version);

		if (c < 0 ? !t.less : c > 0 ? !t.greater : !t.equal)
			return false;
	}
	return true;
}
