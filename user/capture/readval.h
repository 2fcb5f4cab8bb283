/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * readval.h - values out of a parsed capture, none of them believed. The first thing that is wrong
 * is said in a sentence and kept; after it every function here does nothing, so that a caller checks
 * once per object.
 */
#ifndef HBPROF_READVAL_H
#define HBPROF_READVAL_H

#include <cjson/cJSON.h>

#include "capture/fields.h"

struct readval {
	const char *name; /* of the file */
	char *err;	  /* the sentence */
	size_t errlen;
	char where[48]; /* "rows[3]": the object that is being read */
	int rc;		/* 0 or -errno */
};

void readval__fail(struct readval *rd, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void readval__at(struct readval *rd, const char *section, u32 i);

/* A member, or NULL after failing. */
const cJSON *readval__object(struct readval *rd, const cJSON *parent, const char *key);
const cJSON *readval__array(struct readval *rd, const cJSON *parent, const char *key, u64 max);
u64 readval__u64(struct readval *rd, const cJSON *obj, const char *key, u64 max);
/* The same; absent and null are M_NONE. */
u64 readval__u64_or_none(struct readval *rd, const cJSON *obj, const char *key);
/* A malloced copy; NULL when absent, null or failed. */
char *readval__str(struct readval *rd, const cJSON *obj, const char *key);
/* All members of a table. What it allocates belongs to obj, on failure too. */
void readval__fields(struct readval *rd, const struct field *f, const cJSON *from, void *obj);

#endif
