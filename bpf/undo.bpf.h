/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * undo.bpf.h - what undoes a stack without passing an exit, or leaves it: Go's panics and recoveries,
 * longjmp, C++ exceptions, swapcontext. Each tells exactly which open calls are dead; what a dead frame is,
 * is in task.bpf.h.
 */
#ifndef HBPROF_UNDO_BPF_H
#define HBPROF_UNDO_BPF_H

/*
 * runtime.recovery(gp): the deferring frame at SP returns next, whatever was called below it is
 * dead. Go 1.22 and later: gp._panic.sp; before: gp.sigcode0 (runtime/panic.go).
 */
static __always_inline int on_recover(struct pt_regs *ctx, const struct hb_site *s, struct hit *h)
{
	u32 image = s->image;
	struct hb_image *im = bpf_map_lookup_elem(&images, &image);
	u64 gp = 0, hi = 0, sp = 0, panic = 0;
	struct hb_task *t;

	arch_regs(ctx, h->regs);
	if (!im || hb_boundary_reg(h, 0, &gp))
		return 0;
	h->key.task = gp;
	t = bpf_map_lookup_elem(&tasks, &h->key);
	if (!t || !t->nr)
		return 0;
	if (bpf_probe_read_user(&hi, sizeof(hi), (void *)(gp + 8)))
		return 0;
	if (im->panic_off) {
		if (bpf_probe_read_user(&panic, sizeof(panic), (void *)(gp + im->panic_off)) ||
		    bpf_probe_read_user(&sp, sizeof(sp), (void *)(panic + im->panic_sp_off)))
			return 0;
	} else if (!im->sigcode_off ||
		   bpf_probe_read_user(&sp, sizeof(sp), (void *)(gp + im->sigcode_off))) {
		return 0;
	}
	hb_evict_deeper(t, undone_to(hi - sp));
	hb_mark_living(t, undone_to(hi - sp));
	charge_miss(t, s, h);
	if (!t->nr)
		task_idle(h);
	return 0;
}

/* runtime.gopanic and runtime.Goexit: deferred functions run next, on top of calls that are over. */
static __always_inline int on_panic(struct pt_regs *ctx, const struct hb_site *s, struct hit *h)
{
	struct hb_task *t;

	if (hit_task(ctx, s, 0, h))
		return 0;
	t = bpf_map_lookup_elem(&tasks, &h->key);
	if (!t)
		return 0;
	hb_evict_deeper(t, h->depth);
	charge_miss(t, s, h);
	return hb_mark_dying(t, h->depth);
}

/* C and C++: a stack is about to be, or has just been, undone down to a known SP. */
static __always_inline int on_undone(struct pt_regs *ctx, const struct hb_site *s, struct hit *h,
				     u32 role)
{
	u64 sp, buf = 0;
	struct hb_task *t;

	h->key.task = h->tid;
	t = bpf_map_lookup_elem(&tasks, &h->key);
	if (!t || !t->nr)
		return 0;
	h->sp = arch_sp(ctx) + (s64)s->sp_fix;
	sp = h->sp + ARCH_RET_SP; /* of the caller, after this call has returned */
	if (role == HB_ROLE_LONGJMP) {
		arch_regs(ctx, h->regs);
		if (hb_boundary_reg(h, ARCH_ARG1, &buf) ||
		    arch_jmpbuf_sp(buf, h->sp, cfg_stack_span, &sp))
			return 0;
	}
	/* Another stack's frames are none of its business. */
	h->depth = -sp;
	if (stack_switched(h, frame_at(t, t->nr - 1)))
		return 0;
	hb_evict_deeper(t, undone_to(-sp));
	charge_miss(t, s, h);
	if (!t->nr)
		task_idle(h);
	return 0;
}

/*
 * The thread goes on on another stack (swapcontext, setcontext). Whether its open calls will go on one day is
 * not known, and what runs meanwhile is not inside of them: so they are left for dead.
 */
static __always_inline int on_switch(struct hit *h)
{
	struct hb_task *t;

	h->key.task = h->tid;
	t = bpf_map_lookup_elem(&tasks, &h->key);
	if (!t || !t->nr)
		return 0;
	hb_evict_deeper(t, 0);
	task_idle(h);
	return 0;
}

#endif
