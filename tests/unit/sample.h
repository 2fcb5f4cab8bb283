/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample.h - a recording built by hand for the tests of captures and reports: two processes, Go and
 * C, nested codecs, failed calls, intervals, names that are not UTF-8. Its samples come from fixed
 * arithmetic, so every figure in it can be computed again.
 */
#ifndef HBPROF_TEST_SAMPLE_H
#define HBPROF_TEST_SAMPLE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "report/report.h"
#include "util/array.h"

#define SAMPLE_SECOND 1000000000ULL

static inline void *sample_array(u32 nr, size_t size)
{
	void *v = array_alloc(nr, size);

	assert(v);
	return v;
}

/* Adds n calls of ns each. */
static inline void sample_add(struct m_dist *d, u64 ns, u64 n)
{
	struct m_bucket b = {hb_hist_bucket(ns), n};
	struct m_dist one = {n, ns * n, ns, ns, &b, 1};
	int err = m_dist__merge(d, &one);

	assert(!err);
	(void)err;
}

static inline struct m_row *sample_row(struct recording *r, u32 func, u32 target, u32 size,
				       u8 outcome)
{
	struct m_row *row;

	r->row = reallocarray(r->row, r->nr_rows + 1, sizeof(*r->row));
	assert(r->row);
	row = &r->row[r->nr_rows++];
	*row = (struct m_row){.func = func,
			      .target = target,
			      .size_class = (u8)hb_size_class(size),
			      .outcome = outcome,
			      .measured_ns = 30 * SAMPLE_SECOND,
			      .raw_min_ns = M_NONE,
			      .size_min = M_NONE};
	for (u32 i = 0; i < HB_DIST_NR; i++)
		m_dist__init(&row->dist[i]);
	return row;
}

/* n calls of ns with a payload of size bytes; exc: of that time, without probed calls inside. */
static inline void sample_calls(struct m_row *row, u64 ns, u64 exc, u32 size, u64 n)
{
	row->count += n;
	row->raw_sum_ns += (ns + 600) * n;
	row->raw_min_ns = ns + 600 < row->raw_min_ns ? ns + 600 : row->raw_min_ns;
	row->raw_max_ns = ns + 600 > row->raw_max_ns ? ns + 600 : row->raw_max_ns;
	if (exc == ns) {
		sample_add(&row->dist[HB_DIST_LEAF], ns, n);
	} else {
		sample_add(&row->dist[HB_DIST_OUTER], ns, n);
		sample_add(&row->dist[HB_DIST_OUTER_EXC], exc, n);
	}
	if (size == HB_SIZE_UNKNOWN)
		return;
	row->size_sum += size * n;
	row->size_min = size < row->size_min ? size : row->size_min;
	row->size_max = size > row->size_max ? size : row->size_max;
	row->size_sub[hb_size_sub(size)] += n;
}

static inline void sample_targets(struct recording *r)
{
	r->nr_targets = 2;
	r->target = sample_array(2, sizeof(*r->target));
	r->target[0] = (struct m_target){
		.pid = 4242,
		.start_time = 123456,
		.exe = strdup("/srv/app/server"),
		.cmdline =
			strdup("./server -listen :8080 -name \x1b[31mred\xff -text \xe2\x82\xac"),
		.build_id = strdup("5f1d8a"),
		.language = strdup("go1.26.8"),
		.cpu_ns = 40 * SAMPLE_SECOND,
		.rss_bytes = 64u << 20,
		.begin_mono_ns = M_NONE,
		.end_mono_ns = M_NONE,
		.unmeasured_ns = M_NONE,
	};
	r->target[1] = (struct m_target){
		.pid = 4300,
		.start_time = (1ULL << 53) + 1,
		.comm = strdup("cgw"),
		.exe = strdup("/usr/bin/cgw"),
		.cmdline = strdup("cgw"),
		.language = strdup("native"),
		.cpu_ns = M_NONE,
		.rss_bytes = M_NONE,
		.begin_mono_ns = 8 * SAMPLE_SECOND,
		.end_mono_ns = 9 * SAMPLE_SECOND,
		.unmeasured_ns = 12000000,
		.end = strdup("exited"),
	};
	r->nr_images = 2;
	r->image = sample_array(2, sizeof(*r->image));
	r->image[0] = (struct m_image){strdup("/srv/app/server"), strdup("5f1d8a")};
	r->image[1] = (struct m_image){strdup("/usr/lib/libcjson.so.1"), NULL};
}

static inline struct m_func sample_func(const char *name, const char *codec, const char *op)
{
	return (struct m_func){
		.name = strdup(name), .codec = strdup(codec), .op = strdup(op), .vaddr = 0x4a1230};
}

static inline void sample_funcs(struct recording *r)
{
	struct m_func *f;

	r->nr_funcs = 3;
	r->func = f = sample_array(3, sizeof(*r->func));
	f[0] = sample_func("encoding/json.Marshal", "encoding/json", "encode");
	f[0].lang = HB_LANG_GO;
	f[0].entry_class = HB_CLASS_PUSH;
	f[0].exit_sites[HB_CLASS_BRANCH] = 7;
	f[0].exit_sites[HB_CLASS_STEP] = 1;
	f[0].has_size = f[0].has_err = true;
	f[1] = sample_func("github.com/fxamacker/cbor/v2.(*decMode).Unmarshal", "fxamacker/cbor",
			   "decode");
	f[1].library = strdup("github.com/fxamacker/cbor/v2");
	f[1].library_version = strdup("v2.10.0");
	f[1].note = strdup("contains I/O wait");
	f[1].lang = HB_LANG_GO;
	f[1].entry_class = HB_CLASS_PUSH;
	f[1].exit_sites[HB_CLASS_BRANCH] = 2;
	f[1].has_size = f[1].has_err = true;
	f[2] = sample_func("cJSON_Parse", "cJSON", "decode");
	f[2].library = strdup("libcjson.so.1");
	f[2].image = 1;
	f[2].vaddr = 0xffffffff81000010;
	f[2].lang = HB_LANG_NATIVE;
	f[2].exit_mode = M_EXIT_RET;
	f[2].entry_class = HB_CLASS_BRANCH;
	f[2].exit_sites[HB_CLASS_STEP] = 2;
}

static inline void sample_rows(struct recording *r)
{
	struct m_row *row;

	row = sample_row(r, 0, 0, 139, HB_OUTCOME_OK);
	for (u32 i = 0; i < 1000; i++) /* 1..20.98 us */
		sample_calls(row, 1000 + i * 20, 1000 + i * 20, 139, 100);
	row = sample_row(r, 0, 0, 1500, HB_OUTCOME_OK);
	for (u32 i = 0; i < 1000; i++)
		sample_calls(row, 9000 + i * 90, 5000 + i * 60, 1100 + i % 900, 1);
	sample_calls(row, 1234567, 1000000, 1200, 1);
	row->nested = 3003;
	row = sample_row(r, 0, 0, HB_SIZE_UNKNOWN, HB_OUTCOME_ERROR);
	sample_calls(row, 350, 350, HB_SIZE_UNKNOWN, 20);
	row = sample_row(r, 1, 0, 0, HB_OUTCOME_OK);
	sample_calls(row, 90, 90, 0, 60);
	row = sample_row(r, 2, 1, HB_SIZE_UNKNOWN, HB_OUTCOME_OK);
	sample_calls(row, 5000000, 5000000, HB_SIZE_UNKNOWN, 1);
}

/* Entries that end in every way there is; the identity holds for each function. */
static inline void sample_counters(struct recording *r)
{
	u64 *n = r->func[0].n;
	u64 exits[3] = {100000 + 1001 + 20 + 3003, 60, 1};

	for (u32 i = 0; i < 3; i++)
		r->func[i].n[HB_FN_ENTRIES] = r->func[i].n[HB_FN_EXITS] = exits[i];
	r->func[0].exits_by[HB_CLASS_BRANCH] = exits[0] - 9;
	r->func[0].exits_by[HB_CLASS_STEP] = 9;
	r->func[1].exits_by[HB_CLASS_BRANCH] = exits[1];
	r->func[2].exits_by[HB_CLASS_STEP] = exits[2];
	n[HB_FN_ABANDONED] = 3;
	n[HB_FN_UNKNOWN] = 5;
	n[HB_FN_DROPPED] = 2;
	n[HB_FN_UNSEEN] =
		3; /* the returns of these two, and of one that was in flight at the start */
	n[HB_FN_NESTED] = 3003;
	n[HB_FN_MIGRATED] = 77;
	r->func[0].in_flight_end = 4;
	n[HB_FN_ENTRIES] += 3 + 5 + 2 + 4;
	for (u32 i = 0; i < 3; i++)
		for (u32 k = 0; k < HB_FN_NR; k++)
			r->coverage.n[k] += r->func[i].n[k];
	r->coverage.in_flight_start = 1;
	r->coverage.in_flight_end = 4;
	r->coverage.unmatched = 12;
	r->coverage.drop[HB_DROP_FRAMES_FULL] = 2;
	r->coverage.balanced = true;
	r->coverage.measured_ns = r->coverage.wall_ns = 30 * SAMPLE_SECOND;
	r->coverage.sites = 15;
	r->coverage.links = 1;
	r->coverage.ras_discovered = 2;
}

static inline void sample_intervals(struct recording *r)
{
	struct m_interval *iv;

	r->nr_intervals = 2;
	r->interval = iv = sample_array(2, sizeof(*iv));
	iv[0].begin_mono_ns = 7 * SAMPLE_SECOND;
	iv[0].end_mono_ns = iv[1].begin_mono_ns = 8 * SAMPLE_SECOND;
	iv[1].end_mono_ns = 9 * SAMPLE_SECOND;
	iv[1].nr_deltas = 2;
	iv[1].delta = sample_array(2, sizeof(*iv[1].delta));
	iv[1].delta[0] = (struct m_delta){
		1, HB_DIST_OUTER, 7, 70000, sample_array(2, sizeof(struct m_bucket)), 2};
	iv[1].delta[0].bucket[0] = (struct m_bucket){hb_hist_bucket(9000), 3};
	iv[1].delta[0].bucket[1] = (struct m_bucket){hb_hist_bucket(11000), 4};
	iv[1].delta[1] = (struct m_delta){3, HB_DIST_LEAF, 1, 90, NULL, 0};
}

/* Three stacks of the Go process: in Marshal, in the kernel on its behalf, and outside; and one that
 * found no room. Not part of sample_recording(): the reports in tests/data have none. */
static inline void sample_stacks(struct recording *r)
{
	static const char *const names[] = {"encoding/json.Marshal", "main.main",
					    "memcpy_\xff[k]_[k]", "runtime.goexit"};
	static const u32 frames[] = {3, 1, 0, 3, 1, 0, 2, 3, 1};
	static const struct m_stack stacks[] = {
		{70, 0, 0, 0, 3}, {20, 0, 0, 3, 4}, {9, M_NO_FUNC, 0, 7, 2}, {1, 1, 0, 9, 0}};
	struct m_stacks *s = &r->stacks;

	*s = (struct m_stacks){.event = strdup("cpu-clock"),
			       .unit = strdup("samples"),
			       .frequency_hz = 99,
			       .samples = 100,
			       .lost = 3,
			       .truncated = 10,
			       .unkept = 1,
			       .nr_names = 4,
			       .nr_frames = 9,
			       .nr_stacks = 4};
	s->name = sample_array(4, sizeof(*s->name));
	for (u32 i = 0; i < 4; i++)
		s->name[i] = strdup(names[i]);
	s->frame = sample_array(9, sizeof(*s->frame));
	memcpy(s->frame, frames, sizeof(frames));
	s->stack = sample_array(4, sizeof(*s->stack));
	memcpy(s->stack, stacks, sizeof(stacks));
}

static inline struct recording *sample_recording(void)
{
	struct recording *r = recording__new();

	assert(r);
	r->version = strdup("0.1.0");
	r->attach = strdup("uprobe_multi");
	r->begin_wall_ns = 1767225600ULL * SAMPLE_SECOND + 123456789;
	r->begin_mono_ns = 7 * SAMPLE_SECOND;
	r->end_mono_ns = 37 * SAMPLE_SECOND;
	r->stop_reason = strdup("duration");
	m_host__add(&r->host, "cpu_model", "AMD EPYC 7B13");
	m_host__add(&r->host, "arch", "x86_64");
	m_host__add(&r->host, "governor", "n/a (a guest does not set the frequency)");
	sample_targets(r);
	sample_funcs(r);
	sample_rows(r);
	sample_counters(r);
	sample_intervals(r);
	r->nr_cals = 3;
	r->cal = sample_array(3, sizeof(*r->cal));
	r->cal[0] = (struct m_cal){
		7 * SAMPLE_SECOND, HB_LANG_GO, HB_CLASS_PUSH, HB_CLASS_BRANCH, 590, 1210, 4, 9};
	r->cal[1] = (struct m_cal){
		7 * SAMPLE_SECOND, HB_LANG_GO, HB_CLASS_PUSH, HB_CLASS_STEP, 590, 22000, 4, 900};
	r->cal[2] = (struct m_cal){
		17 * SAMPLE_SECOND, HB_LANG_GO, HB_CLASS_PUSH, HB_CLASS_BRANCH, 613, 1250, 6, 9};
	recording__warn(r, "child %d was not measured for its first %s", 4300, "12.3ms");
	r->cost.hbprof_cpu_ns = 120000000;
	r->cost.rss_bytes = 23u << 20;
	r->cost.probe_ns = 130000000;
	return r;
}

/* Its reports, as they stand in tests/data. */
static const struct {
	const char *file;
	struct report_opts opts;
} sample_reports[] = {
	{"report-80.txt", {.width = 80}},
	{"report-120.txt", {.width = 120}},
	{"report-200.txt", {.width = 200}},
	{"report-wide.txt", {.wide = true}},
	{"report-size.txt", {.width = 120, .by = REPORT_BY_SIZE}},
	{"report-process.txt", {.width = 120, .by = REPORT_BY_PROCESS}},
	{"report.json", {.format = REPORT_JSON}},
};
#define SAMPLE_NR_REPORTS (sizeof(sample_reports) / sizeof(sample_reports[0]))

#endif
