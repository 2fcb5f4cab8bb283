/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view_sample.h - readings of a live session, made of the sample: the sample as it stands at 30 s, and
 * a second later with more calls. And the frames of them that are in tests/data.
 */
#ifndef HBPROF_TEST_VIEW_SAMPLE_H
#define HBPROF_TEST_VIEW_SAMPLE_H

#include "report/view.h"
#include "tests/unit/sample.h"

static inline struct recording *view_reading(u32 second)
{
	struct recording *r = sample_recording();

	r->end_mono_ns += second * SAMPLE_SECOND;
	for (u32 i = 0; i < r->nr_rows; i++)
		r->row[i].measured_ns += second * SAMPLE_SECOND;
	r->coverage.wall_ns = r->coverage.measured_ns += second * SAMPLE_SECOND;
	r->coverage.balanced = false;
	r->coverage.in_flight_end = M_NONE;
	r->target[0].cpu_ns += second * SAMPLE_SECOND;
	r->cost.probe_ns += second * 5000000;
	r->cost.hbprof_cpu_ns += second * 3000000;
	sample_calls(&r->row[0], 2000, 2000, 139, 1500 * second);
	sample_calls(&r->row[2], 400, 400, HB_SIZE_UNKNOWN, second);
	r->func[0].n[HB_FN_ENTRIES] += 1501 * second;
	r->func[0].n[HB_FN_EXITS] += 1501 * second;
	r->coverage.n[HB_FN_ENTRIES] += 1501 * second;
	r->coverage.n[HB_FN_EXITS] += 1501 * second;
	return r;
}

/* A view with the readings of the seconds 0 to `last`. */
static inline void view_with_readings(struct live_view *v, u32 last)
{
	int err = 0;

	view__init(v);
	for (u32 i = 0; i <= last && !err; i++)
		err = view__update(v, view_reading(i));
	assert(!err);
	(void)err;
}

static inline void view_keys(struct live_view *v, const char *keys)
{
	for (; *keys; keys++)
		view__key(v, (u8)*keys);
}

/* free() it. */
static inline char *view_text(struct live_view *v, const struct view_look *look)
{
	struct strbuf b;
	int err;

	strbuf__init(&b, VIEW_FRAME);
	err = view__frame(v, look, &b);
	assert(!err);
	(void)err;
	strbuf__adds(&b, "");
	return strbuf__take(&b);
}

static const struct view_sample {
	const char *file;
	struct view_look look;
	const char *keys;
	u32 readings;
} view_samples[] = {
	{"view-60x10.txt", {60, 10, VIEW_PLAIN, false}, "", 3},
	{"view-80x24.txt", {80, 24, VIEW_PLAIN, true}, "/cbor\r>", 3},
	{"view-120x20.txt", {120, 20, VIEW_PLAIN, true}, "be", 3},
	{"view-200x20-size.txt", {200, 20, VIEW_PLAIN, true}, "s", 12},
	{"view-250x16-interval.txt", {250, 16, VIEW_PLAIN, true}, "i<<r", 40},
	{"view-80x24-machine.txt", {80, 24, VIEW_PLAIN, true}, "m", 3},
	{"view-100x12-help.txt", {100, 12, VIEW_PLAIN, false}, "h", 1},
};
#define VIEW_NR_SAMPLES (sizeof(view_samples) / sizeof(view_samples[0]))

static inline char *view_sample_text(const struct view_sample *s)
{
	struct live_view v;
	char *text;

	view_with_readings(&v, s->readings);
	for (u32 i = 0; i < 8; i++) /* the warning of the sample has been seen by now */
		if (view__update(&v, view_reading(s->readings + 1 + i)))
			assert(false);
	free(view_text(&v, &s->look)); /* keys go by what is on the screen */
	view_keys(&v, s->keys);
	text = view_text(&v, &s->look);
	view__fini(&v);
	return text;
}

#endif
