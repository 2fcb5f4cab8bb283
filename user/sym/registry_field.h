/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registry_field.h - checked values of a registry file. Functions return 0, -ENOMEM, or -EINVAL with
 * a message logged: file, line, key, and what is expected there.
 */
#ifndef HBPROF_REGISTRY_FIELD_H
#define HBPROF_REGISTRY_FIELD_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include <hbprof/types.h>

struct registry_library;

/* What is being read. */
struct reader {
	const char *file;
	struct registry_library *library;
};

/* A member of an object, and what reads it into the struct that is filled. */
struct field {
	const char *key;
	int (*read)(struct reader *rd, const cJSON *v, void *into);
	bool must;
};

#define MUST(k, fn)                                    \
	{                                              \
		.key = (k), .read = (fn), .must = true \
	}
#define MAY(k, fn)                        \
	{                                 \
		.key = (k), .read = (fn), \
	}
#define NR(a) (sizeof(a) / sizeof((a)[0]))

int complain(const struct reader *rd, const cJSON *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Unknown keys, repeated ones and missing ones are errors. */
int read_object(struct reader *rd, const cJSON *o, const struct field *f, size_t nr, void *into);
/* A copy of a string of 1 to 256 bytes without control characters. */
int read_text(struct reader *rd, const cJSON *v, char **out);
int read_number(struct reader *rd, const cJSON *v, int min, int max, int *out);
/* One of the words: its index. */
int read_choice(struct reader *rd, const cJSON *v, const char *const *words, size_t nr, u32 *out);
/* A range of versions, see verrange.h. */
int read_versions(struct reader *rd, const cJSON *v, char **out);

#endif
