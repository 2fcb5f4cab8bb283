/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task.bpf.h - which task a hit belongs to, and the frames of the calls it has open.
 *
 * A task is a goroutine (Go) or a thread. Its frames are ordered: each deeper than the one before,
 * or equally deep (a tail call). Only the task itself touches them, so they need no lock: a thread
 * runs one probe at a time, and a goroutine is on one thread at a time.
 *
 * Gotcha: a frame may be a leftover. A panic, Goexit, C++ exception or longjmp leaves a function
 * without passing a probe. A leftover is found by depth (anything at least as deep as a new call is
 * dead), by the goroutine's id (a g struct is used again), by its return address no longer standing
 * in its stack slot, and exactly by probes on what undoes stacks: runtime.recovery, longjmp and
 * __cxa_begin_catch.
 */
#ifndef HBPROF_TASK_BPF_H
#define HBPROF_TASK_BPF_H

static const struct hb_task empty_task = {.min_depth = ~0ULL};

static __always_inline struct hb_frame *frame_at(struct hb_task *t, u32 i)
{
	return &t->frame[BOUNDED(i, 15)];
}

static __always_inline u64 frame_sp(const struct hit *h, const struct hb_frame *f)
{
	return h->sp + h->depth - f->depth;
}

/* The process index, or -1 when this process is not traced or nothing is recorded. */
static __always_inline int hit_proc(u32 tgid)
{
	u32 *p;

	if (tgid == cfg_self_tgid)
		return HB_PROC_SELF;
	if (!recording)
		return -1;
	if (cfg_tgid)
		return tgid == cfg_tgid ? 0 : -1;
	p = bpf_map_lookup_elem(&procs, &tgid);
	return p ? (int)(*p & 0x7fff) : -1;
}

/*
 * Finds task and depth; the goroutine's id where goid_off is not 0. 0, or the enum hb_drop that explains why not, negated less one. The Go
 * check "SP within [stack.lo, stack.hi]" is what tells a goroutine from a stray R14.
 */
static __always_inline int hit_task(struct pt_regs *ctx, const struct hb_site *s, u32 goid_off,
				    struct hit *h)
{
	h->sp = arch_sp(ctx) + (s64)s->sp_fix;
	if (h->lang == HB_LANG_GO) {
		u64 stack[2];

		h->key.task = arch_g(ctx);
		if (bpf_probe_read_user(stack, sizeof(stack), (void *)h->key.task))
			return -1 - HB_DROP_READ_G;
		/* At stack.hi itself there is no room for a return address. */
		if (h->sp < stack[0] || h->sp >= stack[1])
			return -1 - HB_DROP_BAD_G;
		h->depth = stack[1] - h->sp;
		if (goid_off && bpf_probe_read_user(&h->goid, sizeof(h->goid),
						    (void *)(h->key.task + goid_off)))
			return -1 - HB_DROP_READ_G;
	} else {
		h->key.task = h->tid;
		h->depth = -h->sp;
	}
	return 0;
}

/* Another stack (sigaltstack, ucontext): depths do not compare. A C thread's matter only. */
static __always_inline bool stack_switched(const struct hit *h, const struct hb_frame *top)
{
	u64 d = h->depth - top->depth;

	return h->lang == HB_LANG_NATIVE && d > cfg_stack_span && -d > cfg_stack_span;
}

/* f has come off the stack unmeasured: what was measured inside it was inside the next one, too. */
static __always_inline void frame_bequeath(struct hb_task *t, const struct hb_frame *f)
{
	struct hb_frame *up = frame_at(t, t->nr - 1);

	if (!t->nr)
		return;
	up->child_ns += f->child_ns;
	up->probe_ns += f->probe_ns;
}

/* Takes the top frame off; its call never returned. */
__noinline int hb_abandon_top(struct hb_task *t)
{
	struct hb_frame *f;

	if (!t || !t->nr || t->nr > HB_FRAME_DEPTH)
		return 0;
	f = frame_at(t, --t->nr);
	frame_bequeath(t, f);
	if (f->flags & HB_FRAME_OWNS)
		t->active &= ~(1ULL << (f->group & 63));
	if (!(f->flags & HB_FRAME_UNKNOWN))
		count_fn(f->func, HB_FN_ABANDONED);
	if (f->pending)
		count_fn_n(f->nested_func, HB_FN_ABANDONED, f->pending);
	return 0;
}

/* Is the call of this frame still open? Its return address must stand in its slot. */
static __always_inline bool frame_alive(const struct hit *h, const struct hb_frame *f)
{
	u64 ra = 0;

	return !bpf_probe_read_user(&ra, sizeof(ra), (void *)frame_sp(h, f)) && ra == f->ra;
}

/*
 * Removes leftovers before a call of `fn` at h->depth with return address ra is pushed: frames
 * deeper than it; frames as deep, unless they made a tail call to it (same return address, another
 * function, one that has tail jumps); and less deep ones that are not alive. A chain of tail calls
 * that holds `fn` already is not continued by it: its end was not seen, and this is a new one.
 * Depths do not compare with those of another stack: a call there is left alone as long as it is
 * alive, and the result is 1; else 0.
 */
__noinline int hb_evict_entry(struct hb_task *t, const struct hit *h, u64 ra, u32 fn)
{
	u32 dead = HB_FRAME_DEPTH; /* frames from this place on are dead in any case */

	for (u32 i = 0; t && h && i < HB_FRAME_DEPTH && i < t->nr; i++) {
		struct hb_frame *f = frame_at(t, i);

		if (f->depth == h->depth && f->ra == ra && f->func == fn) {
			dead = i;
			break;
		}
	}
	for (int i = 0; t && h && i < HB_FRAME_DEPTH; i++) {
		u32 n = t->nr;
		struct hb_frame *f;

		if (!n || n > HB_FRAME_DEPTH)
			break;
		f = frame_at(t, n - 1);
		if (n > dead) {
			/* abandoned below */
		} else if (stack_switched(h, f)) {
			if (frame_alive(h, f))
				return 1;
		} else if (f->depth < h->depth) {
			if (frame_alive(h, f))
				break;
		} else if (f->depth == h->depth && f->ra == ra && (f->flags & HB_FRAME_TAILS)) {
			break;
		}
		hb_abandon_top(t);
	}
	return 0;
}

/* Removes the frames deeper than `depth`: code runs above them, so they are dead. */
__noinline int hb_evict_deeper(struct hb_task *t, u64 depth)
{
	for (int i = 0; t && i < HB_FRAME_DEPTH; i++) {
		u32 n = t->nr;

		if (!n || n > HB_FRAME_DEPTH || frame_at(t, n - 1)->depth <= depth)
			break;
		hb_abandon_top(t);
	}
	return 0;
}

/* A task without frames is kept (see the map), but not when the map is filling. */
static __always_inline void task_idle(const struct hit *h)
{
	if (tight && !bpf_map_delete_elem(&tasks, &h->key))
		__sync_fetch_and_add(&nr_tasks, -1);
}

#endif
