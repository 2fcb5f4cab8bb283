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
	if (tgid == cfg_self_tgid)
		return HB_PROC_SELF;
	return recording ? target_index(tgid) : -1;
}

/* The bounds of g's stack. 0 when SP lies within them, or the enum hb_drop, negated less one. */
static __always_inline int go_stack(u64 g, u64 sp, u64 stack[2])
{
	if (bpf_probe_read_user(stack, 2 * sizeof(u64), (void *)g))
		return -1 - HB_DROP_READ_G;
	/* At stack.hi itself there is no room for a return address. */
	return sp < stack[0] || sp >= stack[1] ? -1 - HB_DROP_BAD_G : 0;
}

/*
 * Finds task and depth; the goroutine's id where goid_off is not 0. 0, or the enum hb_drop that
 * explains why not, negated less one. The Go check "SP within [stack.lo, stack.hi]" is what tells a
 * goroutine from a stray register: assembly may use it, then thread-local storage has g.
 */
static __always_inline int hit_task(struct pt_regs *ctx, const struct hb_site *s, u32 goid_off,
				    struct hit *h)
{
	u64 stack[2];
	int err;

	h->sp = arch_sp(ctx) + (s64)s->sp_fix;
	if (h->lang != HB_LANG_GO) {
		h->key.task = h->tid;
		h->depth = -h->sp;
		return 0;
	}
	h->key.task = arch_g(ctx);
	err = go_stack(h->key.task, h->sp, stack);
	if (err) {
		if (arch_tls_g(&h->key.task) || go_stack(h->key.task, h->sp, stack))
			return err;
	}
	h->depth = stack[1] - h->sp;
	if (goid_off &&
	    bpf_probe_read_user(&h->goid, sizeof(h->goid), (void *)(h->key.task + goid_off)))
		return -1 - HB_DROP_READ_G;
	return 0;
}

/* Another stack (sigaltstack, ucontext): depths do not compare. A C thread's matter only. */
static __always_inline bool stack_switched(const struct hit *h, const struct hb_frame *top)
{
	u64 d = h->depth - top->depth;

	return h->lang == HB_LANG_NATIVE && d > cfg_stack_span && -d > cfg_stack_span;
}

/* What an entry alone costs the call around it, by the class of its site. */
static __always_inline u64 entry_cost(u32 lang, u32 cls)
{
	return cal.tail_ns[BOUNDED(lang, 1)][BOUNDED(cls, 7)];
}

/* Has the task not been in a probe before? What is known of a thread may be an earlier one's of its id. */
static __always_inline bool is_new_task(const struct hb_task *t, const struct hit *h)
{
	struct task_struct *task;

	if (!t->hit_ns || h->lang != HB_LANG_NATIVE)
		return !t->hit_ns;
	task = bpf_get_current_task_btf();
	return task->start_time > t->hit_ns;
}

/* The entry's look-ups are done: how much more than a hot pair does the one cost that it begins? */
__noinline int hb_cold_entry(struct hb_task *t, const struct hit *h)
{
	u32 seen_ns;
	bool cold, first;

	if (!t || !h)
		return 0;
	first = is_new_task(t, h);
	seen_ns = bpf_ktime_get_ns() - h->now;
	t->cold.in_ns = t->cold.total_ns = t->cold.step_ns = 0;
	/* A task's first look-ups have made the task: they took long in hot caches, too. */
	cold = !first && h->now - t->hit_ns >= HB_COLD_GAP_NS &&
	       hb_cold_at(cal.cold[BOUNDED(h->lang, 1)], seen_ns, &t->cold);
	t->hit_ns = h->now;
	if (h->proc == HB_PROC_SELF) {
		cal_seen.seen_ns = seen_ns;
	} else if (cold) {
		count_n(HB_CNT_COLD, 1);
		count_n(HB_CNT_COLD_IN, t->cold.in_ns);
		count_n(HB_CNT_COLD_TOTAL, t->cold.total_ns);
	}
	return 0;
}

/* What the pair of a frame costs the call around it. */
static __always_inline u32 pair_cost(const struct hb_frame *f, u32 lang, u32 exit_class)
{
	u32 cold = exit_class == HB_CLASS_STEP ? f->cold_step_ns : f->cold_total_ns;

	return cold + cal.total_ns[BOUNDED(lang, 1)][BOUNDED(f->cls, 7)][BOUNDED(exit_class, 7)];
}

/* A hit that begins and ends no call costs the call around it. */
static __always_inline void charge_miss(struct hb_task *t, const struct hb_site *s,
					const struct hit *h)
{
	if (t->nr)
		frame_at(t, t->nr - 1)->probe_ns +=
			cal.miss_ns[BOUNDED(h->lang, 1)][BOUNDED(s->cls, 7)];
}

/* f has come off the stack unmeasured: what was measured inside it was inside the next one, too. */
static __always_inline void frame_bequeath(struct hb_task *t, const struct hb_frame *f)
{
	struct hb_frame *up = frame_at(t, t->nr - 1);

	if (!t->nr)
		return;
	up->child_ns += f->child_ns;
	up->probe_ns += f->probe_ns + entry_cost(f->lang, f->cls);
	if (!cfg_requests)
		return;
	__sync_fetch_and_add(&up->codec_ns, f->codec_ns);
	__sync_fetch_and_add(&up->codec_calls, f->codec_calls);
}

/* May `from` leave by a jump to `to`, and still be open then? A RET probe sees such a jump. */
static __always_inline bool may_tail(u32 from, u32 to)
{
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &from);

	return f && !(f->flags & HB_FUNC_EXIT_RET) && f->tails >> (to & 63) & 1;
}

static __always_inline void nested_abandon(struct hb_frame *f, u32 fn, u32 nr)
{
	count_fn_n(fn, HB_FN_ABANDONED, nr);
	/* Of their own entries' classes nothing is kept. */
	f->probe_ns += nr * entry_cost(f->lang, f->cls);
}

/*
 * Code runs at `depth`: recursive calls of the top frame that are deeper are dead. Where it is a call
 * of `fn` that begins (else HB_FUNC_NONE), one as deep is too, unless it may have made a tail call.
 */
__noinline int hb_trim_nested(struct hb_task *t, u64 depth, u32 fn)
{
	struct hb_frame *f;
	u64 rel;

	if (!t || !t->nr || t->nr > HB_FRAME_DEPTH)
		return 0;
	f = frame_at(t, t->nr - 1);
	rel = depth - f->depth;
	if (f->beyond && rel <= f->in[HB_NESTED_KEPT - 1].at) {
		nested_abandon(f, f->beyond_func, f->beyond);
		f->beyond = 0;
	}
	for (int i = 0; i < HB_NESTED_KEPT; i++) {
		struct hb_nested *in = &f->in[BOUNDED(f->kept - 1, 7)];

		if (!f->kept || in->at < rel)
			break;
		if (in->at == rel && (fn == HB_FUNC_NONE || may_tail(in->last, fn)))
			break;
		nested_abandon(f, in->first, 1);
		nested_abandon(f, in->last, in->nr - 1);
		f->kept--;
	}
	return 0;
}

/* Takes the top frame off; its call never returned. */
__noinline int hb_abandon_top(struct hb_task *t)
{
	struct hb_frame *f;

	if (!t || !t->nr || t->nr > HB_FRAME_DEPTH)
		return 0;
	hb_trim_nested(t, frame_at(t, t->nr - 1)->depth, HB_FUNC_NONE);
	f = frame_at(t, --t->nr);
	frame_bequeath(t, f);
	if (f->flags & HB_FRAME_OWNS)
		t->active &= ~(1ULL << (f->group & 63));
	if (!(f->flags & HB_FRAME_UNKNOWN))
		count_fn_n(f->func, HB_FN_ABANDONED, 1 + (u64)f->again);
	return 0;
}

/* Is the call of this frame still open? Its return address must stand in its slot, or that by which
 * another tool's return probe has replaced it. Where the slot is not known it is taken to be. */
static __always_inline bool frame_alive(const struct hit *h, const struct hb_frame *f)
{
	u64 ra = 0;

	if (!arch_ra_known(f))
		return true;
	if (bpf_probe_read_user(&ra, sizeof(ra), (void *)arch_ra_addr(f, frame_sp(h, f))))
		return false;
	ra = arch_ra_plain(ra);
	return ra == f->ra || ARCH_IS_TRAMPOLINE(ra);
}

/* The greatest depth of what is still open when the stack is undone down to where code of that depth
 * (by its SP) goes on: all that it has called is dead. */
static __always_inline u64 undone_to(u64 depth)
{
	return ARCH_CALLEE_DEPTH ? depth : depth - 1;
}

#define EVICT_OTHER_STACK 1 /* an open call is on another stack, to which depths do not compare */
#define EVICT_AGAIN	  2 /* + i: a tail call back to the function of frame i */

/*
 * Removes leftovers before a call of `fn` at h->depth with return address ra is pushed: frames
 * deeper than it; frames as deep, unless they may have made a tail call to it (same return address,
 * and a jump that leads there); and less deep ones that are not alive. 0, or one of the above.
 *
 * A chain of tail calls may come back to a function that it holds. Where the chain's end cannot be
 * seen (its return address is not attached), that is a new call from the same place instead.
 */
__noinline int hb_evict_entry(struct hb_task *t, const struct hit *h, u64 ra, u32 fn)
{
	u32 same = HB_FRAME_DEPTH; /* the frame of fn in the chain */
	bool back = false;	   /* one that the chain came back to may jump to fn */

	for (u32 i = 0; t && h && i < HB_FRAME_DEPTH && i < t->nr; i++) {
		struct hb_frame *f = frame_at(t, i);

		if (f->depth != h->depth || f->ra != ra)
			continue;
		if (f->func == fn)
			same = i;
		if (f->again && may_tail(f->func, fn))
			back = true;
	}
	for (int i = 0; t && h && i < HB_FRAME_DEPTH; i++) {
		u32 n = t->nr;
		struct hb_frame *f;

		if (!n || n > HB_FRAME_DEPTH)
			break;
		f = frame_at(t, n - 1);
		if (stack_switched(h, f)) {
			if (frame_alive(h, f))
				return EVICT_OTHER_STACK;
		} else if (f->depth < h->depth) {
			if (frame_alive(h, f))
				break;
		} else if (f->depth == h->depth && f->ra == ra && (back || may_tail(f->func, fn))) {
			if (same >= n)
				break;
			if (!(f->flags & HB_FRAME_UNKNOWN))
				return EVICT_AGAIN + same;
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
	return hb_trim_nested(t, depth, HB_FUNC_NONE);
}

/*
 * A panic, which began at `depth`, passes through the open calls. What deferred functions call is not
 * part of any of them. A call that is dying already may do so of the earlier panic only.
 */
__noinline int hb_mark_dying(struct hb_task *t, u64 depth)
{
	for (u32 i = 0; t && i < HB_FRAME_DEPTH && i < t->nr; i++) {
		struct hb_frame *f = frame_at(t, i);

		if (!(f->flags & HB_FRAME_DYING))
			f->dying_at = depth - f->depth;
		f->flags |= HB_FRAME_DYING;
	}
	if (t)
		t->active = 0;
	return 0;
}

/* The function at `depth` has recovered: panics deeper than it are over, and calls that are left of
 * those go on. */
__noinline int hb_mark_living(struct hb_task *t, u64 depth)
{
	for (u32 i = 0; t && i < HB_FRAME_DEPTH && i < t->nr; i++) {
		struct hb_frame *f = frame_at(t, i);

		if (f->dying_at > depth - f->depth)
			f->flags &= ~HB_FRAME_DYING;
		if ((f->flags & (HB_FRAME_OWNS | HB_FRAME_DYING)) == HB_FRAME_OWNS)
			t->active |= 1ULL << (f->group & 63);
	}
	return 0;
}

/* A task without frames is kept (see the map), but not when the map is filling. */
static __always_inline void task_idle(const struct hit *h)
{
	if (!tight || h->proc == HB_PROC_SELF || bpf_map_delete_elem(&tasks, &h->key))
		return;
	__sync_fetch_and_add(&nr_tasks, -1);
	if (cfg_nr_ctrs)
		bpf_map_delete_elem(&ctr_tasks, &h->key);
}

#endif
