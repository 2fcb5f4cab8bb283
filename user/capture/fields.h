/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fields.h - which key of a capture is which member of the model: one table per struct, used by
 * the writer and by the reader, so that they cannot disagree. docs/capture.md explains the keys.
 */
#ifndef HBPROF_FIELDS_H
#define HBPROF_FIELDS_H

#include "model/model.h"

enum field_type {
	FIELD_END,
	FIELD_STR,    /* char *; NULL is left out */
	FIELD_U64,    /* u64, a decimal string; M_NONE is null */
	FIELD_COUNT,  /* u64, a decimal string, at most FIELD_COUNT_MAX */
	FIELD_U32,    /* u32, a number, at most max */
	FIELD_U8,     /* u8, a number, at most max */
	FIELD_BOOL,   /* bool */
	FIELD_ENUM,   /* u8, one of nr names */
	FIELD_COUNTS, /* u64[nr], an object of FIELD_COUNTs by name */
	FIELD_U32S,   /* u32[nr], an object of numbers by name */
	FIELD_SUBS,   /* u64[HB_SIZE_SUB], packed varints; left out when all are 0 */
	FIELD_DIST,   /* struct m_dist, an object; left out when empty */
};

/* More of anything than 2^63 - 1 was never counted: such a number is damage. */
#define FIELD_COUNT_MAX (~0ULL >> 1)

struct field {
	enum field_type type;
	const char *key;
	size_t off;
	u32 nr;			  /* ENUM, COUNTS, U32S */
	const char *const *names; /* of those */
	u32 max;		  /* U32, U8 */
};

extern const struct field recording_fields[], target_fields[], image_fields[], func_fields[],
	row_fields[], dist_fields[], cal_fields[], coverage_fields[], cost_fields[],
	stacks_fields[], counter_fields[], counters_fields[], requests_fields[], request_fields[],
	request_codec_fields[], request_proc_fields[], span_fields[];

/* Set apart in rows, as the overflow row has neither. */
#define KEY_MERGED	 "merged"
#define KEY_ROW_FUNC	 "func"
#define KEY_ROW_TARGET	 "target"
#define KEY_ROW_OVERFLOW "overflow"
#define KEY_ROW_CTR	 "ctr"
#define KEY_COUNTERS	 "counters"
#define KEY_LIST	 "list"
#define KEY_CTRS	 "ctrs"
#define KEY_NR_CTRS	 "nr_ctrs"
#define KEY_REQUESTS	 "requests"
#define KEY_BUCKET_CODEC "bucket_codec_ns"
#define KEY_PORT	 "port"
#define KEY_CODECS	 "codecs"
#define KEY_PROCESSES	 "processes"
#define KEY_STACKS	 "stacks"
#define KEY_NAMES	 "names"
#define KEY_NR_STACKS	 "nr_stacks"
#define KEY_FOLDED	 "folded"
#define KEY_BUCKETS	 "buckets"
#define KEY_NR_BUCKETS	 "nr_buckets"

#endif
