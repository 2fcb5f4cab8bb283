/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * codecs_work.h - between codecs_work.c, which has the run, and codecs/NAME.c (or .cc), which have one
 * library each: jansson and json-c have functions of the same name, so each gets a program.
 */
#ifndef CODECS_WORK_H
#define CODECS_WORK_H

#include "../lib/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How often a function is entered in one call. */
enum work_entries {
	WORK_ONCE,
	WORK_PER_VALUE,	 /* once for each value */
	WORK_PER_ITEM,	 /* once for each value and each key of an object */
	WORK_PER_OBJECT, /* once for each object */
};

/* "..." in a name stands for what templates and mangling have there. */
struct work_func {
	const char *name;
	enum work_entries entries;
};

/* What a step sets: the times around the call of the library, and what came of it. */
struct work_call {
	uint64_t start_ns, end_ns;
	size_t size;
	bool failed;
};

/* What is encoded or decoded. */
struct work_doc {
	const struct doc *doc;
	char json[DOC_TEXT_MAX];
	size_t json_len;
	char spoilt[DOC_TEXT_MAX]; /* the JSON, cut off */
	size_t spoilt_len;
};

/* One mode. The first function is the outermost one. */
struct work_mode {
	const char *name, *op;
	struct work_func func[4];
	void (*call)(struct work_call *c); /* also checks the result, and frees it */
	void (*fail)(struct work_call *c); /* one that fails; NULL: there is none */
};

/* Of codecs/NAME.c. The library is known by a function of it, for its version. */
extern const char *const work_codec;
extern const struct work_mode work_modes[];
const void *work_init(const struct work_doc *d); /* returns a function of the library, or NULL */
/* Whether this CPU has what the mode needs. Without such a function it has. */
bool work_usable(const struct work_mode *m) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
