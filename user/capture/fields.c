// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fields.c - the tables of fields.h. A new key needs a line here and one in docs/capture.md. */
#include "capture/fields.h"

#include <limits.h>

#include "model/request.h"

#define STR(s, m)                                                \
	{                                                        \
		FIELD_STR, #m, offsetof(struct s, m), 0, NULL, 0 \
	}
#define U64(s, m)                                                \
	{                                                        \
		FIELD_U64, #m, offsetof(struct s, m), 0, NULL, 0 \
	}
#define COUNT(s, m)                                                \
	{                                                          \
		FIELD_COUNT, #m, offsetof(struct s, m), 0, NULL, 0 \
	}
#define U32(s, m, most)                                             \
	{                                                           \
		FIELD_U32, #m, offsetof(struct s, m), 0, NULL, most \
	}
#define U8(s, m, most)                                             \
	{                                                          \
		FIELD_U8, #m, offsetof(struct s, m), 0, NULL, most \
	}
#define BOOL(s, m)                                                \
	{                                                         \
		FIELD_BOOL, #m, offsetof(struct s, m), 0, NULL, 0 \
	}
#define ENUM(s, m, names, n)                                       \
	{                                                          \
		FIELD_ENUM, #m, offsetof(struct s, m), n, names, 0 \
	}
#define COUNTS(s, m, key, names, n)                                   \
	{                                                             \
		FIELD_COUNTS, key, offsetof(struct s, m), n, names, 0 \
	}
#define DIST(s, d, key)                                                  \
	{                                                                \
		FIELD_DIST, key, offsetof(struct s, dist[d]), 0, NULL, 0 \
	}
#define END                                    \
	{                                      \
		FIELD_END, NULL, 0, 0, NULL, 0 \
	}

const struct field recording_fields[] = {
	STR(recording, attach),
	U64(recording, begin_wall_ns),
	U64(recording, begin_mono_ns),
	U64(recording, end_mono_ns),
	STR(recording, stop_reason),
	STR(recording, codecs),
	END,
};

const struct field span_fields[] = {
	U64(m_span, begin_wall_ns),
	U64(m_span, len_ns),
	END,
};

const struct field target_fields[] = {
	U32(m_target, pid, INT_MAX), U64(m_target, start_time),
	STR(m_target, comm),	     STR(m_target, exe),
	STR(m_target, cmdline),	     STR(m_target, build_id),
	STR(m_target, language),     U64(m_target, cpu_ns),
	U64(m_target, rss_bytes),    U64(m_target, begin_mono_ns),
	U64(m_target, end_mono_ns),  U64(m_target, unmeasured_ns),
	STR(m_target, end),	     END,
};

const struct field image_fields[] = {
	STR(m_image, path),
	STR(m_image, build_id),
	END,
};

const struct field func_fields[] = {
	STR(m_func, name),
	STR(m_func, codec),
	STR(m_func, op),
	STR(m_func, library),
	STR(m_func, library_version),
	STR(m_func, note),
	STR(m_func, kind),
	U32(m_func, image, UINT_MAX),
	U64(m_func, vaddr),
	ENUM(m_func, lang, hb_lang_names, HB_LANG_NR),
	ENUM(m_func, exit_mode, m_exit_mode_names, M_EXIT_NR),
	ENUM(m_func, entry_class, hb_class_names, HB_CLASS_NR),
	{FIELD_U32S, "exit_sites", offsetof(struct m_func, exit_sites), HB_CLASS_NR, hb_class_names,
	 0},
	BOOL(m_func, has_size),
	BOOL(m_func, has_err),
	COUNTS(m_func, n, "counters", hb_fn_counter_names, HB_FN_NR),
	COUNTS(m_func, exits_by, "exits_by", hb_class_names, HB_CLASS_NR),
	U64(m_func, in_flight_end),
	U64(m_func, off_ns),
	END,
};

const struct field row_fields[] = {
	U8(m_row, size_class, HB_SIZE_CLASSES - 1),
	ENUM(m_row, outcome, hb_outcome_names, HB_OUTCOME_NR),
	COUNT(m_row, count),
	U64(m_row, measured_ns),
	U64(m_row, raw_sum_ns),
	U64(m_row, raw_min_ns),
	U64(m_row, raw_max_ns),
	COUNT(m_row, nested),
	U64(m_row, size_sum),
	U64(m_row, size_min),
	U64(m_row, size_max),
	{FIELD_SUBS, "size_sub", offsetof(struct m_row, size_sub), HB_SIZE_SUB, NULL, 0},
	DIST(m_row, HB_DIST_LEAF, "leaf"),
	DIST(m_row, HB_DIST_OUTER, "outer"),
	DIST(m_row, HB_DIST_OUTER_EXC, "outer_exc"),
	END,
};

const struct field dist_fields[] = {
	COUNT(m_dist, count), U64(m_dist, sum_ns), U64(m_dist, min_ns), U64(m_dist, max_ns), END,
};

const struct field cal_fields[] = {
	U64(m_cal, mono_ns),
	ENUM(m_cal, lang, hb_lang_names, HB_LANG_NR),
	ENUM(m_cal, entry_class, hb_class_names, HB_CLASS_NR),
	ENUM(m_cal, exit_class, hb_class_names, HB_CLASS_NR),
	U32(m_cal, in_ns, UINT_MAX),
	U32(m_cal, total_ns, UINT_MAX),
	U32(m_cal, spread_in_ns, UINT_MAX),
	U32(m_cal, spread_total_ns, UINT_MAX),
	END,
};

const struct field coverage_fields[] = {
	COUNTS(m_coverage, n, "counters", hb_fn_counter_names, HB_FN_NR),
	U64(m_coverage, in_flight_start),
	U64(m_coverage, in_flight_end),
	U64(m_coverage, unmatched),
	U64(m_coverage, cold),
	U64(m_coverage, cold_in_ns),
	COUNTS(m_coverage, drop, "drops", hb_drop_names, HB_DROP_NR),
	BOOL(m_coverage, balanced),
	U64(m_coverage, measured_ns),
	U64(m_coverage, wall_ns),
	U32(m_coverage, sites, UINT_MAX),
	U32(m_coverage, sites_refused, UINT_MAX),
	U32(m_coverage, links, UINT_MAX),
	U32(m_coverage, ras_discovered, UINT_MAX),
	U32(m_coverage, ras_refused, UINT_MAX),
	END,
};

const struct field cost_fields[] = {
	U64(m_cost, hbprof_cpu_ns),
	U64(m_cost, rss_bytes),
	U64(m_cost, kernel_map_bytes),
	U64(m_cost, probe_ns),
	END,
};

const struct field stacks_fields[] = {
	STR(m_stacks, event),
	STR(m_stacks, unit),
	U32(m_stacks, frequency_hz, UINT_MAX),
	COUNT(m_stacks, samples),
	COUNT(m_stacks, lost),
	COUNT(m_stacks, truncated),
	COUNT(m_stacks, unkept),
	END,
};

const struct field counter_fields[] = {
	STR(m_counter, name),
	STR(m_counter, lack),
	U64(m_counter, bias),
	END,
};

const struct field counters_fields[] = {
	COUNTS(m_counters, lost, "lost", hb_ctr_lost_names, HB_CTR_LOST_NR),
	END,
};

const struct field requests_fields[] = {
	COUNTS(m_requests, n, "counters", hb_req_counter_names, HB_REQ_CNT_NR),
	COUNT(m_requests, open_at_end),
	U64(m_requests, probed_ns),
	STR(m_requests, follow_go),
	END,
};

const struct field request_fields[] = {
	ENUM(m_request, side, hb_req_side_names, HB_REQ_SIDE_NR),
	BOOL(m_request, children),
	U64(m_request, bytes_in),
	U64(m_request, bytes_out),
	U64(m_request, codec_ns),
	COUNT(m_request, codec_calls),
	U64(m_request, read_ns),
	U64(m_request, write_ns),
	U64(m_request, first_sum_ns),
	U64(m_request, first_max_ns),
	COUNT(m_request, waited),
	U64(m_request, waited_sum_ns),
	U64(m_request, waited_max_ns),
	COUNT(m_request, queued),
	U64(m_request, queued_sum_ns),
	U64(m_request, queued_max_ns),
	COUNT(m_request, unanswered),
	COUNT(m_request, paused),
	COUNT(m_request, tls),
	COUNT(m_request, tls_doubt),
	COUNT(m_request, parallel),
	U64(m_request, overlap_ns),
	COUNT(m_request, followed),
	COUNT(m_request, in_window),
	U64(m_request, stopped),
	{FIELD_DIST, "latency", offsetof(struct m_request, latency), 0, NULL, 0},
	END,
};

const struct field request_proc_fields[] = {
	BOOL(m_request_proc, stops_seen),
	{FIELD_DIST, "pauses", offsetof(struct m_request_proc, pauses), 0, NULL, 0},
	COUNT(m_request_proc, no_begin),
	COUNT(m_request_proc, no_end),
	COUNT(m_request_proc, no_row),
	U64(m_request_proc, voluntary),
	U64(m_request_proc, involuntary),
	COUNT(m_request_proc, windows),
	COUNT(m_request_proc, window_ns),
	COUNT(m_request_proc, gopark),
	COUNT(m_request_proc, mcall),
	COUNT(m_request_proc, window_requests),
	END,
};

const struct field request_codec_fields[] = {
	STR(m_request_codec, codec),
	STR(m_request_codec, op),
	COUNT(m_request_codec, calls),
	U64(m_request_codec, ns),
	END,
};
