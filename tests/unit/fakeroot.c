// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fakeroot.c - see fakeroot.h. */
#include "fakeroot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>

char fakeroot[64];

int fakeroot__make(void **state)
{
	snprintf(fakeroot, sizeof(fakeroot), "/tmp/hbprof-root.XXXXXX");
	return mkdtemp(fakeroot) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int fakeroot__clear(void **state)
{
	return nftw(fakeroot, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fakeroot__put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", fakeroot, path);
	for (char *slash = full + strlen(fakeroot) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

void fakeroot__remove(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", fakeroot, path);
	assert_int_equal(nftw(full, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void assert_fact(const struct m_host *h, const char *key, const char *value)
{
	for (u32 i = 0; i < h->nr_facts; i++) {
		if (!strcmp(h->fact[i].key, key)) {
			assert_string_equal(h->fact[i].value, value);
			return;
		}
	}
	fail_msg("no fact %s", key);
}
