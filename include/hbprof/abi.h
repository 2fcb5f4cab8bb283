/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * abi.h - the contract between the BPF programs and the user side: map keys and values, roles,
 * counters, events. Times are ns of CLOCK_MONOTONIC, sizes bytes. Nothing here is ever written to
 * a file: the capture has a model of its own (user/model/).
 *
 * vaddr is a link-time address inside an image; addr is a run-time address in a process.
 */
#ifndef HBPROF_ABI_H
#define HBPROF_ABI_H

#include <hbprof/hist.h>
#include <hbprof/types.h>

#define HB_FRAME_DEPTH	16    /* probed calls nested in one task that are kept apart */
#define HB_MAX_FUNCS	65535 /* function ids are u16; the last one means "none" */
#define HB_FUNC_NONE	0xffff
#define HB_MAX_GROUPS	64 /* (codec, operation) pairs of a session: one bit each */
#define HB_SIZE_CLASSES 32
#define HB_SIZE_SUB	16 /* buckets inside one size class, for the size median */
#define HB_SIZE_UNKNOWN 0xffffffffu
#define HB_ROW_OVERFLOW 0 /* row 0 takes the calls that found no free row */
#define HB_RA_CACHE	4096

/* Size class: 0 size unknown or not applicable, 1 empty, c >= 2: sizes in [2^(c-2), 2^(c-1)). */
static inline __attribute__((always_inline)) u32 hb_size_class(u32 size)
{
	u32 c;

	if (size == HB_SIZE_UNKNOWN)
		return 0;
	if (!size)
		return 1;
	c = hb_msb(size) + 2;
	return c < HB_SIZE_CLASSES ? c : HB_SIZE_CLASSES - 1;
}

/* The bucket within a size class: 16 equal parts of the octave. */
static inline __attribute__((always_inline)) u32 hb_size_sub(u32 size)
{
	u32 m = hb_msb(size);

	return (m >= 4 ? size >> (m - 4) : size << (4 - m)) & (HB_SIZE_SUB - 1);
}

#define HB_MAX_PROCS 4096   /* targets at once */
#define HB_HOT_PROCS 256    /* a power of two */
#define HB_PROC_SELF 0xfffe /* row_key.proc of hbprof's own calibration */

enum hb_lang {
	HB_LANG_NATIVE, /* C, C++, Rust: a task is a thread */
	HB_LANG_GO,	/* a task is a goroutine */
	HB_LANG_NR,
};

/*
 * What a probe at an offset does. One offset may carry several roles: each is a site of its own
 * with its own cookie, and the exits run before the entries (see trace/attach.h).
 */
enum hb_role {
	HB_ROLE_ENTRY,	 /* a call of `func` begins */
	HB_ROLE_RETSITE, /* the call that pushed the return address ip + ra_delta has ended */
	HB_ROLE_RET,	 /* `func` is about to return, or to leave by a jump out of it */
	HB_ROLE_RECOVER, /* Go's runtime.recovery: frames deeper than the recovering one are dead */
	HB_ROLE_LONGJMP, /* C's longjmp: frames deeper than the one that called setjmp are dead */
	HB_ROLE_CATCH,	 /* C++'s __cxa_begin_catch: frames deeper than its caller are dead */
	HB_ROLE_PANIC, /* Go's runtime.gopanic and Goexit: every open call will die or be recovered */
	HB_ROLE_STOP,	 /* Go's runtime begins to stop the world: see bpf/pause.bpf.h */
	HB_ROLE_STARTED, /* ... and has let it go on */
	HB_ROLE_GO,	 /* Go's runtime.newproc1 has made a goroutine, which does not run yet */
	HB_ROLE_LOADED,	 /* the dynamic linker has mapped libraries, or is about to unmap some */
	HB_ROLE_SWITCH,	 /* C's swapcontext and setcontext: the thread goes on on another stack */
};

/* How the kernel executes the probed instruction: this decides the cost and so the bias. */
enum hb_class {
	HB_CLASS_BRANCH, /* jcc, jmp rel; arm64: every simulated instruction */
	HB_CLASS_PUSH,	 /* push reg: emulated, with a store to the user's stack */
	HB_CLASS_CALL,	 /* call rel32: emulated, with a store to the user's stack */
	HB_CLASS_NOP,
	HB_CLASS_STEP, /* single-stepped out of line */
	HB_CLASS_NR,
};
#define HB_CLASS_DIM  8 /* a power of two, so that an index can be masked */

#define HB_SITE_TAKEN 0x01 /* drop the hit when the conditional branch at the site is taken */
#define HB_SITE_PURE  0x02 /* return site that only the return of `func` can reach */
#define HB_SITE_GUARD \
	0x04 /* return site of `callee`, whose own probes are off: hb_fn_stat.outside */

/* Where a register of the call boundary lives at the site: see struct hb_site.loc. */
#define HB_LOC_LOST  (-1)
#define HB_LOC_STACK 64 /* + n: in memory at SP + 8 n */
#define HB_LOC_NR    8	/* registers tracked: numbers 0..7 of the architecture */

/* A site, indexed by the low 32 bits of its attach cookie; see HB_COOKIE. */
struct hb_site {
	u64 vaddr;  /* of the site; ip - vaddr is the image's load bias */
	s32 sp_fix; /* SP at the site + sp_fix = SP at the function's first instruction. LOADED: the
			 site + sp_fix has the dynamic linker's r_state (link.h); 0: not known */
	s32 ra_delta; /* RETSITE: return address - site address */
	u16 func;     /* ENTRY, RET: the function. RETSITE: the only possible callee or NONE */
	u16 image;
	u8 cls;		    /* enum hb_class */
	u8 flags;	    /* HB_SITE_* */
	u16 callee;	    /* GUARD only */
	s16 loc[HB_LOC_NR]; /* register r of the call boundary: a register 0..31, a slot, or LOST */
	u64 pad2[3];
};

/* Role and language decide what a handler does first, before it looks anything up. */
#define HB_COOKIE(site, role, lang) ((u64)(site) | (u64)(role) << 32 | (u64)(lang) << 40)

/* How to read a value at a call boundary. */
enum hb_value_kind {
	HB_VALUE_NONE,
	HB_VALUE_REG,	 /* the register */
	HB_VALUE_MEM,	 /* u64 at [register + off] */
	HB_VALUE_STRLEN, /* length of the C string that the register points to */
};

struct hb_value {
	u8 kind;
	u8 reg; /* 0..7, the architecture's number */
	s16 off;
	s32 add; /* added to the value read */
};

enum hb_err_kind {
	HB_ERR_NONE,	/* this function cannot show an error */
	HB_ERR_NONZERO, /* the value is not 0: Go's error interface */
	HB_ERR_ZERO,	/* the value is 0: a NULL pointer */
	HB_ERR_ZERO32,	/* the value as u32 is 0: a boolean int */
	HB_ERR_NEGATIVE /* the value as s32 is < 0 */
};

#define HB_RA_NOWHERE	 0xffff /* hb_func.ra_words: not known where */

#define HB_FUNC_EXIT_RET 0x01 /* exits are seen at its returns, not at return sites */
#define HB_FUNC_HANDLER	 0x02 /* each call of it is a request, see req.h */
#define HB_FUNC_RAW	 0x04 /* calibration: nothing is subtracted */

struct hb_func {
	u8 group; /* (codec, operation), < HB_MAX_GROUPS */
	u8 lang;  /* enum hb_lang */
	u8 flags; /* HB_FUNC_* */
	u8 err_kind;
	u16 image;
	u16 ra_words;		  /* its return address is kept so many words below its entry SP */
	struct hb_value size_in;  /* payload size at entry */
	struct hb_value size_out; /* payload size at exit; where there is one it counts */
	struct hb_value err;	  /* at exit */
	u64 tails; /* bit f % 64 of each function f that one of its jumps out may lead to */
};

/* Offsets inside the Go runtime's structs, for the version that an image was built with; 0: unknown.
 * Sources: runtime/runtime2.go, runtime/panic.go of each release; see user/sym/golayout.h. */
struct hb_image {
	u32 goid_off;	  /* g.goid, at most HB_G_PREFIX - 8 */
	u32 panic_off;	  /* g._panic; 0: recovery reads g.sigcode0 at sigcode_off */
	u32 panic_sp_off; /* _panic.sp, the frame that recovers */
	u32 sigcode_off;  /* g.sigcode0 (Go < 1.22) */
	u32 scan_off;	  /* g.gcscandone */
	u32 seq_off;	  /* g.trackingSeq, less than HB_STOPS_BYTES behind it; 0: not known */
	u32 m_off;	  /* g.m */
	u32 curg_off;	  /* m.curg; 0: not known */
	u64 lo, hi;	  /* vaddr range of the code, for return addresses inside the image */
};

#define HB_G_PREFIX 176 /* bytes of a g read on each hit: stack.lo, stack.hi, ..., goid */

/*
 * How much dearer a pair of probes is where it is not hot. A program that sleeps between its calls, or has
 * other work there, finds neither the kernel's trap nor the handler in the caches. How cold they were tells
 * the time that the entry's look-ups took, which are the same for each function: this is a knot of the curve
 * that the calibration has measured, for look-ups of at least seen_ns; the last one is of all that took longer.
 */
struct hb_cold_more {
	u32 in_ns;    /* inside the interval, above the hot pair's */
	u32 total_ns; /* as a whole */
	u32 step_ns;  /* the same, of pairs with an exit that is single-stepped */
};

struct hb_cold {
	u32 seen_ns;
	struct hb_cold_more at;	   /* here */
	struct hb_cold_more slope; /* from here to the next knot, for 1024 ns */
};
#define HB_COLD_KNOTS 5

/*
 * So soon after the task's last hit the kernel's way is hot, whatever the look-ups took: those of another
 * function find other sites and counters, which may be cold for themselves.
 */
#define HB_COLD_GAP_NS 5000

/* The curve at seen_ns; false where the pair is hot, or no curve was measured. */
static inline __attribute__((always_inline)) bool hb_cold_at(const struct hb_cold *k, u32 seen_ns,
							     struct hb_cold_more *out)
{
	const struct hb_cold *at = k;
	u32 over;

	if (!k->seen_ns || seen_ns <= k->seen_ns)
		return false;
	for (int i = 1; i < HB_COLD_KNOTS; i++)
		if (seen_ns >= k[i].seen_ns)
			at = &k[i];
	over = seen_ns - at->seen_ns;
	out->in_ns = at->at.in_ns + (over * at->slope.in_ns >> 10);
	out->total_ns = at->at.total_ns + (over * at->slope.total_ns >> 10);
	out->step_ns = at->at.step_ns + (over * at->slope.step_ns >> 10);
	return true;
}

struct hb_frame_key {
	u32 tgid;
	u32 pad;
	u64 task; /* goroutine address, or thread id */
};

#define HB_FRAME_NESTED	 0x01 /* the same group is active further out: not a call of the codec row */
#define HB_FRAME_UNKNOWN 0x02 /* its return site is not attached: already counted, never a sample */
#define HB_FRAME_OWNS	 0x04 /* sets the group's bit in hb_task.active */
#define HB_FRAME_DYING	 0x08 /* a panic is passing: what is called now is not part of it */

#define HB_NESTED_KEPT	 8 /* depths of recursive calls that a frame keeps: a power of two */

/* Open recursive calls without a frame, of one depth: several where one ended in a tail call. */
struct hb_nested {
	u32 at; /* depth, from the frame's */
	u32 nr;
	u16 first, last; /* functions; those between are taken to be of the last one */
};

/* A call in flight. */
struct hb_frame {
	u64 depth; /* grows with nesting: Go stack.hi - SP, others -SP */
	u64 ra;	   /* return address, run-time */
	u64 t0_ns;
	u64 child_ns; /* corrected inclusive time of the probed calls inside */
	u64 probe_ns; /* what all other hits inside cost, as seen from here */
	u16 func;
	u16 flags;
	u32 tid;
	u32 size;
	u32 nested;	 /* recursive entries counted inside, without a frame of their own */
	u32 beyond;	 /* of the open ones, those too many for `in`, which are all deeper */
	u32 again;	 /* times that a chain of tail calls came back to this function */
	u32 dying_at;	 /* depth of the panic that it dies of, from this frame's */
	u16 beyond_func; /* the last of them */
	u16 proc;
	u8 cls; /* of the entry site */
	u8 group;
	u8 lang;
	u8 kept;			     /* of `in` */
	struct hb_nested in[HB_NESTED_KEPT]; /* the open ones, the outermost first */
	u32 codec_calls;		     /* as codec_ns, with requests only */
	u64 codec_ns;	/* in the outermost codec calls inside that have ended */
	u16 ra_words;	/* of the function */
	u16 cold_in_ns; /* as its entry found the caches cold: see struct hb_cold */
	u16 cold_total_ns;
	u16 cold_step_ns;
	u32 cost_ns; /* of its pair, when it has ended: see end_cost() in codec.bpf.c */
	u32 pad;
};

/* What a task has in flight. */
struct hb_task {
	u64 goid;      /* of the frames' goroutine: a g struct is used again */
	u64 active;    /* bit per group with a frame */
	u64 min_depth; /* of all calls seen; a return from further out was in flight at the start */
	u64 hit_ns;    /* when it last passed a probe; 0: it has passed none */
	u32 nr;
	struct hb_cold_more cold; /* of its last entry */
	struct hb_frame frame[HB_FRAME_DEPTH];
};

/* Counters of a function. The identity: ENTRIES = EXITS + ABANDONED + UNKNOWN + DROPPED + what is
 * still in the frames map. */
enum hb_fn_counter {
	HB_FN_ENTRIES,
	HB_FN_EXITS,	 /* not used in the kernel: the sum of hb_fn_stat.exits */
	HB_FN_ABANDONED, /* never returned: panic, Goexit, exception, longjmp */
	HB_FN_UNKNOWN,	 /* return site not attached at the time of the call */
	HB_FN_DROPPED,	 /* entered, but no frame could be kept: see enum hb_drop */
	HB_FN_UNSEEN, /* exits without an entry: in flight when recording began, or dropped then */
	HB_FN_NESTED, /* entries inside a call of the same group */
	HB_FN_MIGRATED,	 /* calls that ended on another thread than they began */
	HB_FN_SIZE_LOST, /* calls whose payload size could not be read */
	HB_FN_ERR_LOST,	 /* calls of which it is not known whether they failed */
	HB_FN_CLAMPED,	 /* calls shorter than the probe's own cost: counted as 0 ns */
	HB_FN_NR,
};

struct hb_fn_stat {
	u64 n[HB_FN_NR];
	u64 exits[HB_CLASS_DIM]; /* by the class of the exit's site */
	u64 outside; /* returns, perhaps of it, outside of its group's calls: HB_SITE_GUARD */
};

/* Why a hit was not used. */
enum hb_drop {
	HB_DROP_NO_SITE,      /* the cookie names no site */
	HB_DROP_READ_G,	      /* the goroutine could not be read */
	HB_DROP_BAD_G,	      /* SP lies outside the goroutine's stack */
	HB_DROP_READ_RA,      /* the return address could not be read */
	HB_DROP_FRAMES_FULL,  /* no room for another task in flight */
	HB_DROP_FRAMES_DEEP,  /* more than HB_FRAME_DEPTH probed calls nested */
	HB_DROP_STACK_SWITCH, /* the thread runs on another stack than its open calls */
	HB_DROP_CLOCK_BACK,   /* the clock went backwards within a call */
	HB_DROP_ROWS_FULL,    /* a sample went to the overflow row */
	HB_DROP_HISTS_FULL,   /* a sample was counted, but found no histogram */
	HB_DROP_RAS_FULL,     /* no room to remember another return address */
	HB_DROP_WINDOW,	      /* other functions were counted meanwhile: see hb_rate_window */
	HB_DROP_EVENT_LOST,   /* ring buffer full: a return address is asked for again later */
	HB_DROP_NR,
	HB_CNT_UNMATCHED =
		HB_DROP_NR, /* not a loss: hits of exit sites that ended no call, by class */
	/* Nor these: entries that found the caches cold, and what was subtracted for it, inside of the
	 * intervals and as a whole, ns. */
	HB_CNT_COLD = HB_CNT_UNMATCHED + HB_CLASS_DIM,
	HB_CNT_COLD_IN,
	HB_CNT_COLD_TOTAL,
	HB_CNT_NR,
};

#define HB_STOPS_BYTES 16 /* of a g, read to see whether it has stopped running: a power of two */

/* ---- counters of calls: see bpf/counters.bpf.h ---- */

#define HB_CTRS 14 /* of one session */

/* Where the value of a counter comes from. */
enum hb_ctr_kind {
	HB_CTR_NONE,	 /* asked for, and not to be had here */
	HB_CTR_PERF,	 /* an event of each CPU, which counts what runs in user mode there */
	HB_CTR_FAULTS,	 /* of the thread: task_struct.min_flt + maj_flt */
	HB_CTR_SWITCHES, /* of the thread: task_struct.nvcsw + nivcsw */
	HB_CTR_CLOCK, /* time by the clock, of calls during which the thread did not leave its CPU */
	/* Of the thread's time: see bpf/sched.bpf.c. */
	HB_CTR_ON_CPU,
	HB_CTR_WAITING, /* for a CPU */
	HB_CTR_BLOCKED,
};

/* The counters' values when a call began. */
struct hb_ctr_frame {
	u64 v[HB_CTRS];
	u32 lag[HB_CTRS]; /* ns for which the event was not on the hardware, the low half */
	u64 switches;	  /* of the thread */
	u32 stops;	  /* of the goroutine: what changes when it stops running */
	u32 cpu;
	u32 state;  /* enum hb_ctr_state */
	u32 born;   /* hb_thread.born; 0: there was none */
	u32 gaps;   /* hb_thread.gaps */
	u16 unread; /* bit per counter whose event could not be read */
	u16 torn;   /* the thread left the CPU while they were read */
};

enum hb_ctr_state {
	HB_CTR_STATE_NONE,     /* nothing could be read */
	HB_CTR_STATE_UNVETTED, /* whether the goroutine left its thread will not be known */
	HB_CTR_STATE_OK,
};

/*
 * A thread that has been in a measured call, by its id in the machine's first PID namespace. `own` makes
 * counters of the thread of those of CPUs: while it is on a CPU, what that CPU's event had counted less
 * what the thread has had until then; while it is on none, what it has had.
 */
struct hb_thread {
	u64 out_ns;		    /* since when it is not on a CPU; 0: it is */
	u64 wake_ns;		    /* since when it could be; 0: since out_ns, or not yet */
	u64 waiting_ns, blocked_ns; /* so far */
	u32 blocked;		    /* since out_ns */
	u32 born;		    /* when this entry was made, the low half of ns; not 0 */
	u64 own[HB_CTRS];	    /* with cfg_ctr_own only */
	u32 own_lag[HB_CTRS];	    /* as own, of hb_ctr_frame.lag */
	u32 gaps;		    /* switches at which an event could not be read */
	u32 pad;
};

/* What a thread was off the CPU, so far. */
struct hb_off_cpu {
	u64 waiting_ns, blocked_ns;
	u32 born; /* hb_thread.born; 0: nothing is known */
	u32 gaps; /* hb_thread.gaps */
};

struct hb_ctr_task {
	/* Where helpers write, and what is carried along: the programs' stack is short. */
	u64 scratch[3];
	struct hb_off_cpu off;
	struct hb_ctr_frame frame[HB_FRAME_DEPTH]; /* of hb_task.frame, by index */
};

/* One counter in the calls of a row. All 0 while empty. */
struct hb_ctr_sum {
	u64 n; /* calls that have it */
	u64 sum;
	u64 max;
	u64 not_min; /* ~ of the least: so that it, too, begins as 0 */
};

/* Why a call of a row has no value of a counter; the first reason that applies. The first ones are of a
 * call as a whole, those from LAG on of one counter in it. */
enum hb_ctr_lost {
	HB_CTR_LOST_ROOM,      /* no room to keep what was read at the entry */
	HB_CTR_LOST_THREAD,    /* it ended on another thread */
	HB_CTR_LOST_UNVETTED,  /* of a Go version that is not known */
	HB_CTR_LOST_GOROUTINE, /* its goroutine left the thread for a while */
	HB_CTR_LOST_SWITCH,    /* its thread left the CPU: counters of a CPU went on, unseen */
	HB_CTR_LOST_LAG,       /* the event was not on the hardware all the time */
	HB_CTR_LOST_READ,      /* the event could not be read */
	HB_CTR_LOST_ABSURD,    /* more than that time can hold */
	HB_CTR_LOST_NR,
};

enum hb_outcome { HB_OUTCOME_OK, HB_OUTCOME_ERROR, HB_OUTCOME_NR };

/* A row of the result, allocated on first use. */
struct hb_row_key {
	u16 func;
	u16 proc; /* index of the traced process (tgid, start time) */
	u8 size_class;
	u8 outcome; /* enum hb_outcome */
	u16 pad;
};

/* The three distributions of a row. Inclusive = LEAF + OUTER; exclusive = LEAF + OUTER_EXC: a call
 * without probed calls inside costs one histogram update, not two. */
enum hb_dist { HB_DIST_LEAF, HB_DIST_OUTER, HB_DIST_OUTER_EXC, HB_DIST_NR };

struct hb_dist_sum {
	u64 count;
	u64 sum_ns;
	u64 min_ns; /* ~0 while empty */
	u64 max_ns;
	u32 hist; /* index into the histograms + 1; 0: none yet */
	u32 pad;
};

struct hb_row {
	struct hb_row_key key;
	u64 raw_sum_ns; /* before any correction */
	u64 raw_min_ns;
	u64 raw_max_ns;
	u64 nested; /* recursive entries inside these calls */
	u64 size_sum;
	u64 size_min; /* ~0 while empty */
	u64 size_max;
	u64 size_sub[HB_SIZE_SUB];
	struct hb_dist_sum dist[HB_DIST_NR];
	struct hb_ctr_sum ctr[HB_CTRS];
};

struct hb_hist {
	u64 n[HB_HIST_BUCKETS];
};

/* Known return addresses. */
enum hb_ra_space {
	HB_RA_IMAGE,  /* owner: image, where: vaddr */
	HB_RA_PROCESS /* owner: process index, where: addr */
};

enum hb_ra_state { HB_RA_REQUESTED = 1, HB_RA_ATTACHED, HB_RA_REFUSED };

struct hb_ra_key {
	u64 where;
	u32 owner;
	u32 space; /* enum hb_ra_space */
};

/* To user space: a call came from a return address that has no site. Sent once per address. Or the process
 * maps other libraries than before. */
struct hb_event {
	struct hb_ra_key key;
	u64 ra; /* run-time address; of libraries the dynamic linker's r_state, ~0U: not known */
	u32 tgid;
	u16 func; /* HB_FUNC_NONE: libraries */
	u16 proc;
};

/* A process that is measured: the value of `procs`. The offsets are of the Go runtime in it, for samples;
 * 0: not known. */
struct hb_proc {
	u32 index;
	u16 go; /* it has Go code */
	u16 goid_off, m_off, curg_off;
};

/* To user space: what became of a process that is followed. */
enum hb_proc_what {
	HB_PROC_FORK, /* a followed process has made another one, with memory of its own */
	HB_PROC_EXEC, /* a process runs another program: a followed one, or any if all are asked for */
};

struct hb_proc_event {
	u64 mono_ns;
	u32 what; /* enum hb_proc_what */
	u32 tgid;
	u32 parent;    /* FORK */
	u32 followed;  /* 1: it is followed, and perhaps ended when this is read */
	char comm[16]; /* the new program's, or of a fork its parent's; cut to 15 bytes */
};

/* One CPU sample of a traced process, as long as its stacks are: ip[] holds the user frames, then the
 * kernel's, innermost first. The kernel gives at most kernel.perf_event_max_stack (127) of each. */
#define HB_STACK_USER	127
#define HB_STACK_KERNEL 64

struct hb_sample {
	u16 proc; /* process index */
	u16 pad;
	u16 func;     /* of the innermost open codec call; HB_FUNC_NONE: in none */
	u8 nr_user;   /* HB_STACK_USER: perhaps cut there */
	u8 nr_kernel; /* HB_STACK_KERNEL: perhaps cut there */
	u64 top;      /* where a leaf without a frame returns to: x86: the word at SP, arm64: X30 */
	u64 ip[1 + HB_STACK_USER + HB_STACK_KERNEL]; /* 1: a power of two bounds the first index */
};
#define HB_SAMPLE_BYTES(nr) (16 + 8 * (nr)) /* of a record with so many frames */

/* Calibrated cost of a probe, ns. Written by user space every few seconds, read per call. */
struct hb_cal {
	u32 in_ns[HB_LANG_NR][HB_CLASS_DIM]; /* inside the interval, by the entry's class */
	u32 total_ns[HB_LANG_NR][HB_CLASS_DIM][HB_CLASS_DIM]; /* of a pair: [entry][exit] */
	u32 nested_ns[HB_LANG_NR]
		     [HB_CLASS_DIM]; /* of a recursive pair without a frame, by the exit */
	u32 tail_ns[HB_LANG_NR][HB_CLASS_DIM]; /* of an entry alone: a tail call shares its exit */
	u32 miss_ns[HB_LANG_NR][HB_CLASS_DIM]; /* of a hit of an exit site that ends no call */
	struct hb_cold cold[HB_LANG_NR][HB_COLD_KNOTS]; /* ascending; [0] is the hot pair */
};

/* Of the calibration's last call: what its entry's look-ups took, and what was measured of it. */
struct hb_cal_seen {
	u32 seen_ns;
	u32 raw_ns;
};

/* The last window in which functions of the Go runtime were counted (trace/rates.c): times of the probes around those of counting, as the probes slow down what
 * is measured. */
struct hb_rate_window {
	u64 probed_ns, on_ns, off_ns, clean_ns; /* ~0: not yet; probed_ns 0: there was none */
};

/* What a pair of probes itself counts in a call, by language and the class of the entry. Written once. */
struct hb_ctr_bias {
	u32 v[HB_LANG_NR][HB_CLASS_DIM][HB_CTRS];
};

_Static_assert(sizeof(struct hb_site) == 64, "one cache line");
_Static_assert(sizeof(struct hb_func) == 40, "no padding");
_Static_assert(sizeof(struct hb_frame_key) == 16, "hash keys must have no padding");
_Static_assert(sizeof(struct hb_row_key) == 8, "hash keys must have no padding");
_Static_assert(__builtin_offsetof(struct hb_sample, ip) == HB_SAMPLE_BYTES(0),
	       "frames follow the head");
_Static_assert(sizeof(struct hb_ra_key) == 16, "hash keys must have no padding");

#endif
