// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codec.bpf.c - one program for every probe: a call begins (entry), has returned (return site), is
 * about to return (ret), or a Go panic was recovered. It keeps the open calls of each task, and puts
 * each finished call, corrected for the probe's own time, into its row.
 *
 * What lies inside a measured interval: t0 is taken as the last act of the entry, `now` as the first
 * of the exit. So the interval holds the way out of the entry's trap, the call, and the way into
 * the exit's trap: the calibrated `in_ns`, which depends on the entry's instruction class, and on how
 * much of that way is in the caches: see struct hb_cold.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>

#include "maps.bpf.h"
#include "arch.bpf.h"
#include "common.bpf.h"
#include "task.bpf.h"
#include "undo.bpf.h"
#include "row.bpf.h"
#include "counters.bpf.h"
#include "reqcall.bpf.h"
#include "pause.bpf.h"
#include "reqgo.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* First call from this return address: remember it and tell user space, once. */
__noinline int hb_ra_request(const struct hb_ra_key *k, const struct hit *h, u64 ra, u32 fn)
{
	u32 requested = HB_RA_REQUESTED;
	struct hb_ra_key key;
	struct hb_event *e;
	long err;

	if (!k || !h)
		return 0;
	key = *k;
	err = bpf_map_update_elem(&ras, &key, &requested, BPF_NOEXIST);
	if (err) {
		if (err != -17) /* EEXIST: another CPU has just asked */
			count_n(HB_DROP_RAS_FULL, 1);
		return 0;
	}
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		count_n(HB_DROP_EVENT_LOST, 1);
		bpf_map_delete_elem(&ras, &key);
		return 0;
	}
	e->key = key;
	e->ra = ra;
	e->tgid = h->key.tgid;
	e->func = fn;
	e->proc = h->proc;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Will the return to ra be seen? */
static __always_inline bool ra_attached(const struct hb_site *s, const struct hb_func *f,
					const struct hit *h, u64 ra, u32 fn)
{
	u64 tag = ra | (u64)h->proc << 48;
	u32 slot = (u32)((tag * 0x9e3779b97f4a7c15ULL) >> 52) & (HB_RA_CACHE - 1);
	u64 *cached = bpf_map_lookup_elem(&ra_cache, &slot);
	u32 id = f->image;
	struct hb_image *im;
	struct hb_ra_key key = {};
	u32 *state;

	/* An empty slot is 0, and so may be the word where a return address would be. */
	if (cached && tag && *(volatile u64 *)cached == tag)
		return true;
	im = bpf_map_lookup_elem(&images, &id);
	if (!im)
		return false;
	key.where = ra - (h->ip - s->vaddr);
	key.owner = id;
	key.space = HB_RA_IMAGE;
	if (key.where < im->lo || key.where >= im->hi) {
		key.where = ra;
		key.owner = h->proc;
		key.space = HB_RA_PROCESS;
	}
	state = bpf_map_lookup_elem(&ras, &key);
	if (!state) {
		hb_ra_request(&key, h, ra, fn);
		return false;
	}
	if (*state != HB_RA_ATTACHED)
		return false;
	if (cached)
		*(volatile u64 *)cached = tag;
	return true;
}

static __always_inline struct hb_task *task_get(const struct hit *h)
{
	struct hb_task *t = bpf_map_lookup_elem(&tasks, &h->key);

	if (t || bpf_map_update_elem(&tasks, &h->key, &empty_task, BPF_NOEXIST))
		return t;
	__sync_fetch_and_add(&nr_tasks, 1);
	return bpf_map_lookup_elem(&tasks, &h->key);
}

/* A size known only to a nested call, as that of the outer one, which may see it shifted. */
static __always_inline u32 handed_up(const struct hb_frame *outer, u32 size)
{
	u32 fn = outer->func;
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &fn);
	u64 x = size;

	if (f && (outer->flags & HB_FRAME_OWNS))
		x += (s64)f->size_in.add;
	return x < HB_SIZE_UNKNOWN ? x : HB_SIZE_UNKNOWN;
}

/*
 * A call inside a call of the same codec and operation, which is on top: it is counted there and
 * needs no frame, so recursion of any depth costs one. Its depth is kept, as long as there is room:
 * by it the return is known. A payload size that only it knows goes up.
 */
static __always_inline int nested_entry(const struct hb_site *s, const struct hb_func *f, u32 fn,
					const struct hit *h, struct hb_task *t,
					struct hb_frame *top, bool attached)
{
	u32 rel = h->depth - top->depth;
	struct hb_nested *in = &top->in[BOUNDED(top->kept - 1, 7)];

	count_fn(fn, HB_FN_NESTED);
	if (top->size == HB_SIZE_UNKNOWN && f->size_in.kind != HB_VALUE_NONE) {
		u32 size = boundary_size(h, &f->size_in);

		if (size != HB_SIZE_UNKNOWN)
			top->size = handed_up(top, size);
	}
	if (!attached) {
		count_fn(fn, HB_FN_UNKNOWN);
		top->probe_ns += entry_cost(h->lang, s->cls);
		return 0;
	}
	top->probe_ns += t->cold.total_ns;
	top->nested++;
	if (top->kept && in->at == rel && !(f->flags & HB_FUNC_EXIT_RET)) {
		/* A tail call, or hb_trim_nested() would have taken that one off. */
		in->nr++;
		in->last = fn;
	} else if (top->kept < HB_NESTED_KEPT) {
		in = &top->in[BOUNDED(top->kept, 7)];
		in->at = rel;
		in->nr = 1;
		in->first = fn;
		in->last = fn;
		top->kept++;
	} else {
		top->beyond++;
		top->beyond_func = fn;
	}
	return 0;
}

static __always_inline void frame_push(const struct hb_site *s, const struct hb_func *f, u32 fn,
				       const struct hit *h, struct hb_task *t, u64 ra,
				       bool attached)
{
	u64 bit = 1ULL << (f->group & 63);
	struct hb_frame *fr = frame_at(t, t->nr);
	u32 flags = t->active & bit ? HB_FRAME_NESTED : HB_FRAME_OWNS;

	if (flags & HB_FRAME_NESTED)
		count_fn(fn, HB_FN_NESTED);
	if (!attached) {
		/* It stays on the stack as long as the call does: what it calls is nested. */
		flags |= HB_FRAME_UNKNOWN;
		count_fn(fn, HB_FN_UNKNOWN);
	}
	fr->depth = h->depth;
	fr->ra = ra;
	fr->child_ns = 0;
	fr->probe_ns = 0;
	fr->func = fn;
	fr->flags = flags;
	fr->tid = h->tid;
	fr->size = HB_SIZE_UNKNOWN;
	if (f->size_in.kind != HB_VALUE_NONE)
		fr->size = boundary_size(h, &f->size_in);
	fr->nested = 0;
	fr->kept = 0;
	fr->ra_words = f->ra_words;
	fr->beyond = 0;
	fr->again = 0;
	fr->dying_at = 0;
	fr->cold_in_ns = t->cold.in_ns;
	fr->cold_total_ns = t->cold.total_ns;
	fr->cold_step_ns = t->cold.step_ns;
	if (cfg_requests)
		fr->codec_ns = fr->codec_calls = 0;
	fr->proc = h->proc;
	fr->cls = s->cls;
	fr->group = f->group;
	fr->lang = h->lang;
	t->active |= bit;
	if (cfg_nr_ctrs)
		hb_ctr_begin(h, t->nr, f->image);
	t->nr++;
	fr->t0_ns = bpf_ktime_get_ns();
}

/* An entry that cannot be followed, inside a call that is: its cost is known all the same. */
static __always_inline int drop_inside(struct hb_task *t, const struct hb_site *s,
				       const struct hit *h, u32 fn, enum hb_drop why)
{
	frame_at(t, t->nr - 1)->probe_ns += entry_cost(h->lang, s->cls);
	return drop_entry(fn, why);
}

/* A chain of tail calls has come back to the function of frame i. */
static __always_inline int entry_again(struct hb_task *t, const struct hb_site *s,
				       const struct hit *h, u32 fn, u32 i)
{
	struct hb_frame *f = frame_at(t, i);

	count_fn(fn, HB_FN_NESTED);
	/* As of the first time: the return address may have become known since. */
	if (f->flags & HB_FRAME_UNKNOWN)
		count_fn(fn, HB_FN_UNKNOWN);
	else
		f->again++;
	frame_at(t, t->nr - 1)->probe_ns += entry_cost(h->lang, s->cls);
	return 0;
}

static __always_inline int on_entry(struct pt_regs *ctx, const struct hb_site *s, struct hit *h)
{
	u32 fn = s->func, image = s->image;
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &fn);
	struct hb_image *im = bpf_map_lookup_elem(&images, &image);
	struct hb_frame *top;
	struct hb_task *t;
	bool attached = true;
	u64 ra = 0;
	int err;

	if (!f || !im)
		return 0;
	if ((s->flags & HB_SITE_TAKEN) && arch_taken(ctx))
		return 0;
	count_fn(fn, HB_FN_ENTRIES);
	err = hit_task(ctx, s, im->goid_off, h);
	if (err)
		return drop_entry(fn, -1 - err);
	if (arch_ra(ctx, h->sp, &ra))
		return drop_entry(fn, HB_DROP_READ_RA);
	if (!(f->flags & HB_FUNC_EXIT_RET))
		attached = ra_attached(s, f, h, ra, fn);
	t = task_get(h);
	if (!t)
		return drop_entry(fn, HB_DROP_FRAMES_FULL);
	hb_cold_entry(t, h);
	if (f->size_in.kind != HB_VALUE_NONE)
		arch_regs(ctx, h->regs);
	if (t->goid != h->goid) {
		/* Another goroutine than the frames', or a new entry. If there was one before, this
		 * one began while recording: nothing of it was in flight at the start. */
		hb_evict_deeper(t, 0);
		if (t->goid)
			t->min_depth = 0;
		t->goid = h->goid;
	}
	if (t->nr) {
		int found = hb_evict_entry(t, h, ra, fn);

		if (found == EVICT_OTHER_STACK)
			return drop_inside(t, s, h, fn, HB_DROP_STACK_SWITCH);
		if (found >= EVICT_AGAIN)
			return entry_again(t, s, h, fn, found - EVICT_AGAIN);
		hb_trim_nested(t, h->depth, fn);
	}
	if (h->depth < t->min_depth)
		t->min_depth = h->depth;
	if (t->nr) {
		top = frame_at(t, t->nr - 1);
		if (top->group == f->group && top->depth < h->depth &&
		    !(top->flags & HB_FRAME_DYING))
			return nested_entry(s, f, fn, h, t, top, attached);
		if (t->nr >= HB_FRAME_DEPTH)
			return drop_inside(t, s, h, fn, HB_DROP_FRAMES_DEEP);
	}
	frame_push(s, f, fn, h, t, ra, attached);
	return 0;
}

/* Did the call fail? Sets *outcome; false: it is not known. */
static __always_inline bool call_outcome(const struct hit *h, const struct hb_func *f, u32 *outcome)
{
	bool failed;
	u64 x = 0;

	*outcome = HB_OUTCOME_OK;
	if (f->err_kind == HB_ERR_NONE)
		return true;
	if (hb_boundary_reg(h, f->err.reg, &x))
		return false;
	if (f->err_kind == HB_ERR_NONZERO)
		failed = x != 0;
	else if (f->err_kind == HB_ERR_ZERO)
		failed = x == 0;
	else if (f->err_kind == HB_ERR_ZERO32)
		failed = (u32)x == 0;
	else
		failed = (s32)x < 0;
	if (failed)
		*outcome = HB_OUTCOME_ERROR;
	return true;
}

/* What a call of the codec row ends with: its size and outcome, and the row they select. The row's index
 * + 1. */
static __always_inline int call_record(const struct hit *h, const struct hb_func *f, u32 fn,
				       struct sample *sm)
{
	u32 outcome;
	struct hb_row *r;
	u32 i;

	if (f->size_out.kind != HB_VALUE_NONE)
		sm->size = boundary_size(h, &f->size_out);
	if (!call_outcome(h, f, &outcome))
		count_fn(fn, HB_FN_ERR_LOST);
	if (sm->size == HB_SIZE_UNKNOWN &&
	    (f->size_out.kind != HB_VALUE_NONE || f->size_in.kind != HB_VALUE_NONE))
		count_fn(fn, HB_FN_SIZE_LOST);
	i = row_get(fn, h->proc, hb_size_class(sm->size), outcome);
	r = row_at(i);
	if (!r)
		return 0;
	row_add(r, sm);
	return i + 1;
}

/*
 * Time of an ended call goes to the enclosing one, and with it what its probes cost there: a pair, or
 * for a tail call its entry alone, as both calls end at the same exit.
 */
static __always_inline void frame_hand_up(struct hb_frame *up, const struct hb_frame *fr,
					  const struct sample *sm, u32 cost_ns)
{
	up->child_ns += sm->inc_ns;
	up->probe_ns += fr->probe_ns + cost_ns;
	/* Not where fr is a call that a deferred function has made in a panic of up's. */
	if (up->group == fr->group && (fr->flags & HB_FRAME_NESTED) &&
	    up->size == HB_SIZE_UNKNOWN && sm->size != HB_SIZE_UNKNOWN)
		up->size = handed_up(up, sm->size);
}

/* Its call has ended, and its time is not to be used. */
static __always_inline int frame_drop(struct hb_task *t, const struct hb_frame *fr,
				      enum hb_drop why)
{
	u64 calls = 1 + (u64)fr->again;

	frame_bequeath(t, fr);
	count_fn_n(fr->func, HB_FN_DROPPED, calls);
	count_n(why, calls);
	return 0;
}

/* What the probes of a frame cost the call around it: of a tail call the entry alone, as both calls end at
 * the same exit. */
static __always_inline u32 end_cost(const struct hb_frame *f, const struct hit *h, u32 exit_class,
				    bool tail)
{
	return tail ? entry_cost(h->lang, f->cls) : pair_cost(f, h->lang, exit_class);
}

/* The top frame's call has ended at h->now: correct it, hand its time up, record it; cost_ns: see
 * end_cost(). The index of its row + 1, if it has one. */
__noinline int hb_frame_close(struct hb_task *t, const struct hit *h, u32 exit_class, u32 cost_ns)
{
	struct hb_frame *fr;
	struct sample sm = {};
	struct hb_func *f;
	u64 sub, lang, cls;
	u32 fn;

	if (!t || !h || !t->nr || t->nr > HB_FRAME_DEPTH)
		return 0;
	fr = frame_at(t, --t->nr);
	fn = fr->func;
	cls = BOUNDED(fr->cls, 7);
	lang = BOUNDED(h->lang, 1);
	f = bpf_map_lookup_elem(&funcs, &fn);
	if (fr->flags & HB_FRAME_OWNS)
		t->active &= ~(1ULL << (fr->group & 63));
	if (!f || (fr->flags & HB_FRAME_UNKNOWN)) {
		frame_bequeath(t, fr);
		return 0;
	}
	if (h->now < fr->t0_ns)
		return frame_drop(t, fr, HB_DROP_CLOCK_BACK);
	if (cfg_rates && !(f->flags & HB_FUNC_RAW) && in_window(fr->t0_ns, h->now))
		return frame_drop(t, fr, HB_DROP_WINDOW);
	count_exit_n(fn, exit_class, 1 + (u64)fr->again);
	if (fr->tid != h->tid)
		count_fn(fn, HB_FN_MIGRATED);
	sm.raw_ns = h->now - fr->t0_ns;
	sub = f->flags & HB_FUNC_RAW ? 0 : cal.in_ns[lang][cls] + fr->cold_in_ns + fr->probe_ns;
	sm.inc_ns = sm.raw_ns > sub ? sm.raw_ns - sub : 0;
	if (sm.raw_ns < sub)
		count_fn(fn, HB_FN_CLAMPED);
	sm.exc_ns = sm.inc_ns > fr->child_ns ? sm.inc_ns - fr->child_ns : 0;
	sm.has_children = fr->child_ns || fr->probe_ns;
	sm.nested = fr->nested;
	sm.size = fr->size;
	if (t->nr)
		frame_hand_up(frame_at(t, t->nr - 1), fr, &sm, cost_ns);
	fr->child_ns = sm.inc_ns; /* of the call that is over: see hb_ctr_end(), hb_req_closed() */
	return fr->flags & HB_FRAME_OWNS ? call_record(h, f, fn, &sm) : 0;
}

/* Does the frame's call end at this hit? */
static __always_inline bool frame_ends(const struct hb_frame *f, const struct hit *h, u64 ra,
				       u32 role, u32 fn)
{
	return f->depth == h->depth && (role == HB_ROLE_RET ? f->func == fn : f->ra == ra);
}

/* Closes every frame that ends at this hit; the number of them. */
__noinline int hb_close_all(struct hb_task *t, const struct hit *h, u64 ra, u32 role)
{
	u32 id = h ? h->site : 0;
	struct hb_site *s = bpf_map_lookup_elem(&sites, &id);
	int closed = 0, row;

	for (int i = 0; t && h && s && i < HB_FRAME_DEPTH; i++) {
		u32 n = t->nr;
		struct hb_frame *fr;
		bool more;

		if (!n || n > HB_FRAME_DEPTH ||
		    !frame_ends(frame_at(t, n - 1), h, ra, role, s->func))
			break;
		more = n > 1 && frame_ends(frame_at(t, n - 2), h, ra, role, s->func);
		fr = frame_at(t, n - 1);
		fr->cost_ns = end_cost(fr, h, s->cls, more);
		row = hb_frame_close(t, h, s->cls, fr->cost_ns);
		if (cfg_nr_ctrs && row)
			hb_ctr_end(t, h, row - 1);
		if (h->proc == HB_PROC_SELF)
			cal_seen.raw_ns = h->now - frame_at(t, t->nr)->t0_ns;
		else if (cfg_requests && hb_req_closed(t, h))
			hb_req_tied(t, h);
		closed++;
		if (role == HB_ROLE_RET)
			break;
	}
	return closed;
}

/* Are calls of this function followed by exits of this role? */
static __always_inline bool exit_counts(const struct hb_func *f, u32 role)
{
	return !!(f->flags & HB_FUNC_EXIT_RET) == (role == HB_ROLE_RET);
}

static __always_inline void count_miss(const struct hb_site *s, const struct hit *h)
{
	u32 id = h->site;
	u64 *n;

	/* The calibration passes such a site on purpose; that is no cost of the target's. */
	if (h->proc == HB_PROC_SELF)
		return;
	count_n(HB_CNT_UNMATCHED + BOUNDED(s->cls, 7), 1);
	if ((s->flags & (HB_SITE_PURE | HB_SITE_GUARD)) == HB_SITE_PURE)
		return;
	n = bpf_map_lookup_elem(&site_misses, &id);
	if (n)
		__sync_fetch_and_add(n, 1);
}

/*
 * A return that ends no open call of this task. Where only the return of `fn` leads to the site, and
 * from further out than any call seen, that call was in flight when recording began. A function that
 * is now followed by its returns passes its return sites in vain.
 */
static __always_inline int exit_unmatched(const struct hb_site *s, u32 role, struct hb_task *t,
					  const struct hit *h, bool other_stack)
{
	/* Of a function whose entry is not probed, no return says when its call began. */
	u32 fn = other_stack || (s->flags & HB_SITE_GUARD) ? HB_FUNC_NONE : s->func;
	struct hb_func *f = fn == HB_FUNC_NONE ? NULL : bpf_map_lookup_elem(&funcs, &fn);

	if (t)
		charge_miss(t, s, h);
	if (!f || !exit_counts(f, role) || (t && h->depth >= t->min_depth)) {
		count_miss(s, h);
		return 0;
	}
	count_fn(fn, HB_FN_UNSEEN);
	if (t)
		t->min_depth = h->depth;
	return 0;
}

static __always_inline bool follows_by_ret(u32 fn)
{
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &fn);

	return f && (f->flags & HB_FUNC_EXIT_RET);
}

/* May a return at a site of `fn` be that of a call nested in this frame? */
static __always_inline bool nested_in(const struct hb_frame *top, u32 fn, u32 role)
{
	struct hb_func *f;

	if (fn == HB_FUNC_NONE)
		return true;
	f = bpf_map_lookup_elem(&funcs, &fn);
	return f && f->group == top->group && exit_counts(f, role);
}

/*
 * Ends the recursive calls of the top frame that return here: those of this depth, whatever leads
 * here, or one of those beyond the ones whose depths are kept. `closed`: the exit has ended a call
 * with a frame, which the recursive ones made as a tail call. 0: there are none.
 */
__noinline int hb_nested_exit(struct hb_task *t, const struct hit *h, u32 role, u32 closed)
{
	u32 id = h ? h->site : 0, nr = 1, fn, last = HB_FUNC_NONE;
	struct hb_site *s = bpf_map_lookup_elem(&sites, &id);
	struct hb_frame *top;
	struct hb_nested *in;

	if (!t || !h || !s || !t->nr || t->nr > HB_FRAME_DEPTH)
		return 0;
	top = frame_at(t, t->nr - 1);
	in = &top->in[BOUNDED(top->kept - 1, 7)];
	if (in->at == h->depth - top->depth) {
		fn = in->first;
		last = in->last;
		nr = in->nr;
		if (role == HB_ROLE_RET ? fn != s->func : follows_by_ret(fn))
			return 0;
		top->kept--;
	} else {
		fn = s->func != HB_FUNC_NONE ? s->func : top->beyond_func;
		if (!top->beyond || closed || !nested_in(top, s->func, role))
			return 0;
		top->beyond--;
	}
	/* Tail calls share an exit. */
	top->probe_ns += (u64)(closed ? nr : nr - 1) * entry_cost(h->lang, top->cls);
	if (!closed)
		top->probe_ns += cal.nested_ns[BOUNDED(h->lang, 1)][BOUNDED(s->cls, 7)];
	count_exit_n(fn, s->cls, 1);
	if (nr > 1)
		count_exit_n(last, s->cls, nr - 1);
	return 1;
}

/* Is this an exit of recursive calls of the top frame? It has closed other frames, if `closed`. */
static __always_inline bool nested_ends(struct hb_task *t, const struct hit *h, u32 role,
					u32 closed)
{
	struct hb_frame *top = frame_at(t, t->nr - 1);

	if (!t->nr || top->depth >= h->depth || !top->kept || (closed && role == HB_ROLE_RET))
		return false;
	return hb_nested_exit(t, h, role, closed);
}

/*
 * The probes of `callee` are off, as all its calls were inside of others of its group. Here one may
 * have returned that was not: no such call is open, now that those that end here have been closed.
 */
static __always_inline void guard_exit(const struct hb_site *s, const struct hb_task *t)
{
	u32 fn = s->callee;
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &fn);
	struct hb_fn_stat *n = bpf_map_lookup_elem(&fn_stats, &fn);

	if (f && n && !(t && t->active >> (f->group & 63) & 1))
		__sync_fetch_and_add(&n->outside, 1);
}

/* ... of a task with open calls. */
static __always_inline int exit_open(struct pt_regs *ctx, const struct hb_site *s, struct hit *h,
				     u32 role, struct hb_task *t)
{
	u64 ra = h->ip + (s64)s->ra_delta;
	int closed;

	arch_regs(ctx, h->regs);
	t->hit_ns = h->now;
	hb_evict_deeper(t, h->depth);
	closed = hb_close_all(t, h, ra, role);
	if (!nested_ends(t, h, role, closed) && !closed)
		exit_unmatched(s, role, t, h, false);
	if (s->flags & HB_SITE_GUARD)
		guard_exit(s, t);
	if (!t->nr)
		task_idle(h);
	return 0;
}

static __always_inline int on_exit(struct pt_regs *ctx, const struct hb_site *s, struct hit *h,
				   u32 role)
{
	struct hb_task *t;
	int err;

	err = hit_task(ctx, s, 0, h);
	if (err) {
		count_n(-1 - err, 1);
		return 0;
	}
	t = bpf_map_lookup_elem(&tasks, &h->key);
	if (t && t->nr && !stack_switched(h, frame_at(t, t->nr - 1)))
		return exit_open(ctx, s, h, role, t);
	exit_unmatched(s, role, t, h, t && t->nr);
	if (s->flags & HB_SITE_GUARD)
		guard_exit(s, NULL);
	return 0;
}

/* A lost event loses nothing: user space looks each second anyway. */
static __always_inline int on_loaded(const struct hb_site *s, const struct hit *h)
{
	struct hb_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	u32 state;

	if (!e)
		return 0;
	if (!s->sp_fix ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(h->ip + (s64)s->sp_fix)))
		state = ~0U;
	e->key = (struct hb_ra_key){0};
	e->ra = state;
	e->tgid = h->key.tgid;
	e->func = HB_FUNC_NONE;
	e->proc = h->proc;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("uprobe")
int hb_probe(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u32 role = cookie >> 32 & 0xff;
	u64 now = bpf_ktime_get_ns();
	u64 pid_tgid = current_pid_tgid();
	struct hit h = {};
	struct hb_site *s;
	int proc;

	h.key.tgid = pid_tgid >> 32;
	proc = hit_proc(h.key.tgid);
	if (proc < 0)
		return 0;
	h.tid = pid_tgid;
	h.site = cookie;
	h.lang = cookie >> 40 & 0xff;
	h.now = now;
	h.proc = proc;
	h.ip = arch_ip(ctx);
	s = bpf_map_lookup_elem(&sites, &h.site);
	if (!s) {
		count_n(HB_DROP_NO_SITE, 1);
		bpf_tail_call(ctx, &no_progs, 0); /* leads nowhere: see no_progs */
		return 0;
	}
	if (role == HB_ROLE_ENTRY)
		return on_entry(ctx, s, &h);
	if (role == HB_ROLE_RECOVER)
		return on_recover(ctx, s, &h);
	if (role == HB_ROLE_PANIC)
		return on_panic(ctx, s, &h);
	if (role == HB_ROLE_LOADED)
		return on_loaded(s, &h);
	if (role == HB_ROLE_LONGJMP || role == HB_ROLE_CATCH)
		return on_undone(ctx, s, &h, role);
	if (role == HB_ROLE_STOP || role == HB_ROLE_STARTED)
		return cfg_requests ? hb_req_pause(&h, role) : 0;
	if (cfg_follow_go && role == HB_ROLE_GO)
		return on_started(ctx, &h);
	if (role == HB_ROLE_SWITCH)
		return on_switch(&h);
	return on_exit(ctx, s, &h, role);
}
