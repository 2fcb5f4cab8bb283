// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kallsyms.c - the lines "ADDRESS TYPE NAME[\t[MODULE]]". They are sorted but for modules and
 * BPF programs, which come last.
 */
#include "sym/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define MAX_LINE 1024 /* KSYM_NAME_LEN is 512 since Linux 6.1 */

struct line {
	u64 addr;
	char *name; /* and, behind a tab, the module */
};

/* The next function. 1, 0 at the end, -EIO. */
static int next_func(FILE *f, char buf[MAX_LINE], struct line *out)
{
	while (fgets(buf, MAX_LINE, f)) {
		char *end, type;
		size_t len = strlen(buf);

		if (len && buf[len - 1] == '\n')
			buf[len - 1] = '\0';
		out->addr = strtoull(buf, &end, 16);
		if (end == buf || *end != ' ' || !end[1] || end[2] != ' ' || !end[3])
			continue;
		type = end[1];
		if (type != 't' && type != 'T' && type != 'w' && type != 'W')
			continue;
		out->name = end + 3;
		return 1;
	}
	return ferror(f) ? -EIO : 0;
}

static int cmp_kaddr(const void *a, const void *b)
{
	const struct kaddr *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The first of v whose address is at or above addr. */
static size_t first_from(const struct kaddr *v, size_t nr, u64 addr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * A function at `start` is nearer to all addresses from it on than whatever starts below. Only the
 * first of them is told: settle() tells the others. Of several names of one address the first stays:
 * the kernel sorts the better ones first.
 */
static int find_nearest(FILE *f, struct kaddr *v, size_t nr)
{
	char buf[MAX_LINE];
	struct line l;
	bool any = false;
	int err;

	while ((err = next_func(f, buf, &l)) > 0) {
		size_t i = first_from(v, nr, l.addr);
		char *name;

		any |= l.addr != 0;
		if (i >= nr || l.addr <= v[i].start)
			continue;
		name = realloc(v[i].name, strlen(l.name) + 1);
		if (!name)
			return -ENOMEM;
		v[i].name = strcpy(name, l.name);
		v[i].start = l.addr;
	}
	if (err)
		return err;
	return any ? 0 : -EACCES;
}

static int settle(struct kaddr *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (v[i].start >= v[i - 1].start || !v[i - 1].name)
			continue;
		free(v[i].name);
		v[i].start = v[i - 1].start;
		v[i].name = strdup(v[i - 1].name);
		if (!v[i].name)
			return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		char *tab = v[i].name ? strchr(v[i].name, '\t') : NULL;

		if (tab)
			*tab = ' ';
	}
	return 0;
}

int kallsyms__find(FILE *f, struct kaddr *v, size_t nr)
{
	int err;

	for (size_t i = 0; i < nr; i++) {
		v[i].start = 0;
		v[i].name = NULL;
	}
	qsort(v, nr, sizeof(*v), cmp_kaddr);
	err = find_nearest(f, v, nr);
	if (!err)
		err = settle(v, nr);
	for (size_t i = 0; err && i < nr; i++) {
		free(v[i].name);
		v[i].name = NULL;
	}
	return err;
}
