/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_world.h - a traced program to run the BPF handlers on: its images, functions, return
 * addresses, goroutines, threads and stacks. A test says what the program does (w_call, w_ret, ...);
 * each probe it would pass becomes a real call of hb_probe() with registers, cookie and memory as the
 * kernel would have them.
 *
 * Depth is what bpf/ calls so: the distance from the upper end of the stack to the return address of
 * a call. Times are ns of the fake clock, which stands still between w_pass() calls unless
 * kernel.clock_step says otherwise.
 *
 * After every hit the world checks the order of the frames and the active bits of all groups, and
 * w_fini() checks the identity of the counters: what a test need not repeat.
 */
#ifndef HBPROF_TESTS_BPF_WORLD_H
#define HBPROF_TESTS_BPF_WORLD_H

#include "vmlinux.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <hbprof/abi.h>

#include "bpf_host.h"

#define W_TGID	     4711
#define W_SELF	     99 /* the profiler itself */
#define W_FUNCS	     128
#define W_FUNC_TAILS 0x80 /* in w_func.f.flags: it may jump to every function */
#define W_ROWS	     512
#define W_HISTS	     1536
#define W_STACK	     (256ULL << 10)
/* The code of every image, as link-time addresses. */
#define W_CODE	   0x10000ULL
#define W_CODE_END 0x4000000ULL
#define W_ANY	   HB_FUNC_NONE

/* Of W_GO only: where in a g it stands whether, and how often, it stopped running. */
#define W_SCAN_OFF 96
#define W_SEQ_OFF  105

/* The images; every world has them. W_GO is as Go 1.22 and later, W_GO_OLD as before. */
enum { W_GO, W_GO_OLD, W_NATIVE, W_IMAGES };

/* Registers by the architecture's number, as in struct hb_site.loc. */
enum { W_AX, W_CX, W_DX, W_BX, W_SP, W_BP, W_SI, W_DI };

/* A goroutine or a thread. */
struct w_task {
	bool go;
	u32 tgid, tid;
	u64 g, goid; /* the g struct's address */
	u64 lo, hi;  /* of the stack it runs on */
	u64 slide;   /* of its process: added to every address inside an image */
};

struct w_func {
	struct hb_func f; /* lang and image are set by `go` and `image` */
	u8 image;
	u8 cls, ret_cls; /* of the entry, and of the RET probe */
	bool jbe;	 /* the entry is the jbe of the stack check */
	s32 sp_fix;	 /* of both */
	s16 lost;	 /* bit r: register r cannot be had at the entry */
	/* filled in by the world */
	u64 vaddr;
	u32 entry_site, ret_site;
};

/* A return site. */
struct w_site {
	u16 func; /* pure; W_ANY: shared */
	u8 cls;
	s32 delta; /* return address - site */
	s16 lost;
	s16 moved, to; /* 1 + a register, and where its value is, as in hb_site.loc */
};

struct world {
	struct w_task *cur;
	u64 reg[16];	      /* at the next hits; SP, and a goroutine's g, are the world's */
	u32 recover;	      /* the image whose runtime.recovery is hit; by default W_GO */
	u64 tls_g;	      /* in thread-local storage otherwise: w_in_c() */
	bool m_lost, no_curg; /* w_start(): g0 has no m, m no goroutine */
	bool g_lost;	      /* R14 is reg[14] in Go, too; thread-local storage has g */
	bool counts_by_group; /* w_fini() sums the identity by group: see there */
};
extern struct world w;

/* cmocka's setup and teardown of each test */
int w_init(void **state);
int w_fini(void **state);

/* ---- making the program ---- */
u16 w_func(struct w_func spec);
#define W_FUNC(...) w_func((struct w_func){__VA_ARGS__})
void w_set_cal(void); /* costs that differ by class; of misses none */
u64 w_addr(u32 image, u64 vaddr);
u64 w_ra_unknown(u32 image);		  /* a return address without a site */
u64 w_ra_foreign(void);			  /* one outside every image */
u64 w_ra(u16 func);			  /* one with an attached, pure return site */
u64 w_ra_with(u16 func, struct w_site s); /* one in func's image with such a site */
u32 w_attach(u64 ra, struct w_site s);	  /* a site for it, and the state that says so */
void w_set_state(u64 ra, enum hb_ra_state state);
struct w_task *w_thread(u32 tid); /* each has a stack far from the others' */
struct w_task *w_go(u64 goid);
struct w_func *w_func_at(u16 func);
u32 w_nr(void);				/* functions */
const struct w_site *w_site_of(u64 ra); /* or NULL */

/* ---- what it does; of the current task where none is named ---- */
void w_run(struct w_task *t);
void w_pass(u64 ns);
void w_call(u16 func, u64 depth, u64 ra);	 /* pushes ra and enters func */
void w_enter(u16 func, u64 depth);		 /* a jump to func: the slot stays as it is */
void w_grow(u16 func, u64 depth, u64 ra);	 /* the stack check's branch is taken */
void w_ret(u16 func, u64 depth, u64 ra);	 /* passes func's RET probe and the return site */
void w_jump_out(u16 func, u64 depth);		 /* passes func's RET probe only */
void w_site_hit(u64 ra, u64 depth);		 /* another path comes by the return site of ra */
void w_ran(u16 func, u64 depth, u64 ra, u64 ns); /* a whole call of that length */
void w_push(u64 depth, u64 value);		 /* what stands in the slot of that depth */
void w_clobber(u64 from, u64 to); /* overwrites the slots of these depths, `from` included */
void w_panic(u64 depth);	  /* runtime.gopanic or Goexit, called at depth */
void w_recover(u64 depth);	  /* runtime.recovery: the frame that calls at depth + 8 returns */
void w_in_c(
	const struct w_task *by); /* C code runs that this goroutine has called; NULL: none has */
void w_start(const struct w_task *child); /* the go statement: child was made, and has not run */
void w_longjmp(u64 depth, u64 to, u64 guard); /* called at depth; whose setjmp's SP is at `to` */
void w_catch(u64 depth);		      /* __cxa_begin_catch, called at depth */
void w_loaded(s32 fix); /* the dynamic linker's word; r_state is `fix` behind the place of it */
void w_swapped(void);	/* swapcontext, on its new stack */
void w_move_stack(struct w_task *t, u64 size);
void w_switch_stack(struct w_task *t, u64 hi); /* of a thread: to memory that is there */
void w_reuse_g(struct w_task *t, u64 goid);
void w_hit(u32 site, enum hb_role role, enum hb_lang lang, u64 ip, u64 sp);

/* ---- what was measured ---- */
u64 w_n(u16 func, enum hb_fn_counter what);
u64 w_exits(u16 func, u32 cls);
u64 w_drop(u32 why);
struct hb_row *w_row(u16 func, u32 proc, u32 size_class, enum hb_outcome outcome); /* or NULL */
struct hb_row *w_plain(u16 func); /* of process 0, without size, not failed */
struct hb_row *w_overflow(void);
u64 w_samples(u16 func);			   /* calls in all rows of the function */
u64 w_bucket(const struct hb_dist_sum *d, u64 ns); /* calls in the bucket of that latency */
void w_check_dist(u16 func, enum hb_dist d, u64 count, u64 sum, u64 min, u64 max); /* plain row */
u32 w_frames(const struct w_task *t);
struct hb_task *w_frames_of(const struct w_task *t); /* or NULL */
u64 w_in_flight(u16 func); /* frames and nested calls not yet counted, as w_fini() sees it */
int w_event(struct hb_event *e);

#endif
