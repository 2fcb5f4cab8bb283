/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calib.h - what a probe costs here and now: measured on do-nothing functions of hbprof's own, with
 * the same instruction class at the site, the same handler and the same kind of task as the target's.
 *
 * in: the part of a probe pair that lies inside the measured interval. It is the median of what the
 * BPF program itself measures for a call that does nothing. total: what a whole pair adds to the code
 * around it, timed from outside, less the same loop before any probe was there.
 */
#ifndef HBPROF_CALIB_H
#define HBPROF_CALIB_H

#include <hbprof/abi.h>
#include <hbprof/types.h>

#define CALIB_BATCHES 15 /* of a renewal; a start takes four times as many */

/* Calibration functions of a language: one for each entry class, one that calls another, one that
 * ends in a jump to another, one with an exit site inside that ends nothing. */
#define CALIB_LANG_FUNCS (HB_CLASS_NR + 3)
#define CALIB_FUNCS	 (HB_LANG_NR * CALIB_LANG_FUNCS)
#define CALIB_IS_TAIL(f) ((f) % CALIB_LANG_FUNCS == HB_CLASS_NR + 1)
/* Sites: an entry for each function, an exit for each class and lang, two exits inside. */
#define CALIB_SITES (CALIB_FUNCS + HB_LANG_NR * (HB_CLASS_NR + 2))

/* Where what it shows the handlers as a g has what an image's layout tells of a real one. */
#define CALIB_GOID_OFF 16
#define CALIB_SCAN_OFF 24

/* How cold its calls are to find the caches: hot,
 * and four more. */
#define CALIB_LEVELS 5
#define CALIB_SLEEPS 6 /* calls of a level in a renewal; a start takes twice as many */

/* Tasks that its calls are of: the thread that calibrates, and one goroutine. */
#define CALIB_TASKS HB_LANG_NR

/* A site of the calibration, in hbprof's own memory. */
struct calib_site {
	const void *at, *ra; /* run-time addresses; ra: exits only */
	u32 func;	     /* entries: 0..CALIB_FUNCS - 1; exits: HB_FUNC_NONE */
	u8 role, cls, lang;
	s32 sp_fix;
};

/* One result. */
struct calib_result {
	u8 lang, entry_class, exit_class;
	u32 in_ns, total_ns, spread_in_ns, spread_total_ns;
};

struct calib {
	bool used[HB_LANG_NR][HB_CLASS_NR][HB_CLASS_NR]; /* pairs to measure */
	u32 base_ps[HB_CLASS_NR][HB_CLASS_NR];		 /* an unprobed turn, ps */
	/* Reads the BPF side's histogram so far of calibration function f. */
	int (*read_hist)(void *arg, u32 func, enum hb_dist dist, struct hb_hist *out);
	void *arg;
	const volatile struct hb_cal_seen *seen; /* what the BPF side writes at each of its calls */
	u32 cold_base_ns[HB_LANG_NR][CALIB_LEVELS]; /* of one unprobed call, by coldness */
};

/* Fills site[CALIB_SITES]. */
void calib__sites(struct calib_site *site);
/* Times the loops unprobed; call it before anything is attached. */
void calib__baseline(struct calib *c);
/*
 * Measures every used pair and writes the constants. *out receives up to max results. 0, or -errno
 * of read_hist; -ENODATA: the probes were not hit.
 */
int calib__run(struct calib *c, u32 batches, struct hb_cal *cal, struct calib_result *out, u32 max,
	       u32 *nr_out);

/* ---- calib_cold.c: pairs of probes that are not hot, see struct hb_cold ---- */

/* One call: what its entry's look-ups took, what was measured of it, what it took from outside. */
struct calib_cold {
	u32 seen_ns, in_ns, total_ns;
};

/* Calls that are hot, and such that are more or less cold, in any order. They are sorted. */
struct calib_calls {
	struct calib_cold *hot, *cold;
	u32 nr_hot, nr_cold;
};

/* One unprobed call of each coldness: before anything is attached. It sleeps for some ms. */
void calib__cold_baseline(struct calib *c);
/* Measures the curves of the languages that are used: `calls` calls of each coldness. */
void calib__cold(struct calib *c, u32 calls, struct hb_cal *cal);
/* The curve through calls; `step`: those with an exit that is stepped, NULL: there are none. It rises, or is flat. */
void calib_curve(struct calib_calls *branch, struct calib_calls *step,
		 struct hb_cold out[HB_COLD_KNOTS]);
/* ns of n calls of the function that curves are made of, in calib.c; step: with an exit that is. */
u64 calib_call(u32 lang, bool step, u32 n);
bool calib_lang_used(const struct calib *c, u32 lang);

#endif
