/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.bpf.h - what a call did beside taking time: counters read at its entry and at its exit, their
 * difference added to the call's row. Which counters there are is decided before load (cfg_ctr_kind);
 * without any (cfg_nr_ctrs 0) nothing of this is left in the program. Frames are codec.bpf.c's.
 *
 * Hardware events count per CPU, whatever runs there, in user mode only: so they leave out the kernel,
 * and this program with it. A difference belongs to the call if the thread did not leave the CPU
 * (its context switches are the same, and so is the CPU) and, in Go, the goroutine did not leave the
 * thread. With time accounting, sched.bpf.c makes the thread's own counters of them (struct hb_thread), and
 * the thread may leave the CPU. g.trackingSeq (u8) counts the times that a goroutine stops running (casgstatus(), Go 1.20 to
 * 1.26, runtime/proc.go), but for when the garbage collector stops it to scan its stack
 * (casGToPreemptScan()): then g.gcscandone becomes true. It becomes false when a collection begins,
 * which stops the world and so counts.
 *
 * Counters of the thread (page faults, context switches, its time off the CPU) go on with it: only the
 * goroutine's leaving spoils those.
 */
#ifndef HBPROF_COUNTERS_BPF_H
#define HBPROF_COUNTERS_BPF_H

#include "event.bpf.h"

#define CTR_MAX_RAW \
	(1ULL << 40) /* ns, of a call whose counters are looked at: keeps products small */

static const struct hb_ctr_task empty_ctr_task;
static const struct hb_thread empty_thread;

/* The calibration's calls are nobody's. */
static __always_inline void count_ctr_lost(const struct hit *h, u32 why)
{
	u64 *n = bpf_map_lookup_elem(&ctr_lost, &why);

	if (n && h->proc != HB_PROC_SELF)
		__sync_fetch_and_add(n, 1);
}

static __always_inline u64 task_switches(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->nvcsw + task->nivcsw;
}

static __always_inline u64 task_faults(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->min_flt + task->maj_flt;
}

/* What changes when the goroutine stops running. 0, or -1: it cannot be known. */
static __always_inline int go_stops(struct hb_ctr_task *t, const struct hit *h, u32 image,
				    u32 *stops)
{
	struct hb_image *im = bpf_map_lookup_elem(&images, &image);
	u8 *g = (u8 *)t->scratch;

	if (!im || !im->seq_off ||
	    bpf_probe_read_user(g, HB_STOPS_BYTES, (void *)(h->key.task + im->scan_off)))
		return -1;
	*stops = (u32)g[0] << 8 | g[BOUNDED(im->seq_off - im->scan_off, 15)];
	return 0;
}

/* Linux 6.1 takes no key that a pointer argument of a global function leads to: so keys are copies. */
static __always_inline struct hb_ctr_task *ctr_task_get(const struct hit *h)
{
	struct hb_frame_key key = h->key;
	struct hb_ctr_task *t = bpf_map_lookup_elem(&ctr_tasks, &key);

	if (t || bpf_map_update_elem(&ctr_tasks, &key, &empty_ctr_task, BPF_NOEXIST))
		return t;
	return bpf_map_lookup_elem(&ctr_tasks, &key);
}

/* The thread's entry in `threads`, made at its first call. */
static __always_inline struct hb_thread *thread_get(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 pid = task->pid;
	struct hb_thread *t = bpf_map_lookup_elem(&threads, &pid);

	if (t || bpf_map_update_elem(&threads, &pid, &empty_thread, BPF_NOEXIST))
		return t;
	__sync_fetch_and_or(&thread_bits[BOUNDED(pid >> 6, 1023)], 1ULL << (pid & 63));
	t = bpf_map_lookup_elem(&threads, &pid);
	if (t)
		t->born = (u32)bpf_ktime_get_ns() | 1;
	return t;
}

/*
 * What sched.bpf.c knows of the thread, for a call's frame, whose values become less by what the events
 * had counted without the thread. Read at once: of a pointer that is carried on, clang makes what the
 * verifier does not follow.
 */
static __always_inline void thread_read(struct hb_off_cpu *o, struct hb_ctr_frame *c)
{
	struct hb_thread *t = cfg_sched ? thread_get() : NULL;

	o->waiting_ns = o->blocked_ns = o->born = o->gaps = 0;
	if (!t)
		return;
	o->born = t->born;
	o->gaps = t->gaps;
	o->waiting_ns = t->waiting_ns;
	o->blocked_ns = t->blocked_ns;
	if (!cfg_ctr_own)
		return;
	EACH_CTR(i)
	{
		if (cfg_ctr_kind[i] != HB_CTR_PERF)
			continue;
		c->v[i] += t->own[i];
		c->lag[i] += t->own_lag[i];
	}
}

/*
 * The events' values less those in the frame. So after thread_read() the frame of a call that begins holds
 * what its thread has had so far; that of one that ends, what it has had more.
 */
static __always_inline void events_read(struct hb_ctr_task *t, struct hb_ctr_frame *c)
{
	struct bpf_perf_event_value *v = (void *)t->scratch;

	EACH_CTR(i)
	{
		u32 lag = 0;

		if (cfg_ctr_kind[i] != HB_CTR_PERF)
			continue;
		if (event_read(i, v, &lag))
			c->unread |= 1 << i;
		c->v[i] = v->counter - c->v[i];
		c->lag[i] = lag - c->lag[i];
	}
}

static __always_inline u64 off_cpu(const struct hb_off_cpu *o, u32 kind)
{
	if (kind == HB_CTR_WAITING)
		return o->waiting_ns;
	return kind == HB_CTR_BLOCKED ? o->blocked_ns : o->waiting_ns + o->blocked_ns;
}

static __always_inline void frame_clear(struct hb_ctr_frame *c)
{
	c->unread = 0;
	EACH_CTR(i)
	{
		if (cfg_ctr_kind[i] == HB_CTR_PERF)
			c->v[i] = c->lag[i] = 0;
	}
}

/* A call begins, and gets the frame of this index. Without room it will be one without counters. */
__noinline int hb_ctr_begin(const struct hit *h, u32 level, u32 image)
{
	struct hb_ctr_frame *c;
	struct hb_ctr_task *t;

	if (!cfg_nr_ctrs || !h)
		return 0;
	t = ctr_task_get(h);
	if (!t)
		return 0;
	c = &t->frame[BOUNDED(level, 15)];
	frame_clear(c);
	c->state = HB_CTR_STATE_OK;
	if (h->lang == HB_LANG_GO && go_stops(t, h, image, &c->stops))
		c->state = HB_CTR_STATE_UNVETTED;
	c->cpu = bpf_get_smp_processor_id();
	/* First: what runs here while the events are read is to be seen. */
	c->switches = task_switches();
	thread_read(&t->off, c);
	c->born = t->off.born;
	c->gaps = t->off.gaps;
	events_read(t, c);
	c->torn = c->switches != task_switches();
	EACH_CTR(i)
	{
		u32 kind = cfg_ctr_kind[i];

		if (kind == HB_CTR_FAULTS)
			c->v[i] = task_faults();
		else if (kind == HB_CTR_SWITCHES)
			c->v[i] = c->switches;
		else if (kind >= HB_CTR_ON_CPU)
			c->v[i] = off_cpu(&t->off, kind);
	}
	return 0;
}

/* Why nothing of this call counts; HB_CTR_LOST_NR: it does. */
static __always_inline u32 call_lost(struct hb_ctr_task *t, const struct hb_ctr_frame *c,
				     const struct hit *h, const struct hb_frame *fr)
{
	u32 stops = 0, fn = fr->func;
	struct hb_func *f = bpf_map_lookup_elem(&funcs, &fn);

	if (c->state == HB_CTR_STATE_NONE || !f)
		return HB_CTR_LOST_ROOM;
	if (fr->tid != h->tid)
		return HB_CTR_LOST_THREAD;
	if (fr->lang != HB_LANG_GO)
		return HB_CTR_LOST_NR;
	if (c->state == HB_CTR_STATE_UNVETTED || go_stops(t, h, f->image, &stops))
		return HB_CTR_LOST_UNVETTED;
	return stops != c->stops ? HB_CTR_LOST_GOROUTINE : HB_CTR_LOST_NR;
}

/*
 * The events' differences in place of their values. None is read after it is known whether the thread has
 * left the CPU. True: what they have counted may be another thread's; where switches are followed, only if
 * there was one while the events were being read.
 */
static __always_inline bool events_end(struct hb_ctr_task *t, struct hb_ctr_frame *c)
{
	u64 switches = cfg_ctr_own ? task_switches() : c->switches;

	thread_read(&t->off, c);
	events_read(t, c);
	if (switches != task_switches())
		return true;
	if (cfg_ctr_own)
		return c->torn;
	return c->cpu != bpf_get_smp_processor_id();
}

static __always_inline void ctr_add(struct hb_ctr_sum *s, u64 v)
{
	__sync_fetch_and_add(&s->n, 1);
	__sync_fetch_and_add(&s->sum, v);
	raise_to(&s->max, v);
	raise_to(&s->not_min, ~v);
}

__noinline int hb_ctr_add(struct hb_ctr_sum *s, u64 v)
{
	if (s)
		ctr_add(s, v);
	return 0;
}

/* The call's value of an event, less the probes' own part, or the reason against it. */
static __always_inline u32 event_value(const struct hb_ctr_frame *c, u32 i, u64 raw_ns, u64 bias,
				       u64 *v)
{
	*v = c->v[i];
	if (c->unread & 1 << i)
		return HB_CTR_LOST_READ;
	if (c->lag[i])
		return HB_CTR_LOST_LAG;
	/* More than the time can hold, and a microsecond for what the clock may be off by. */
	if (raw_ns > CTR_MAX_RAW || *v > (raw_ns + 1000) * cfg_ctr_per_us[i] / 1000)
		return HB_CTR_LOST_ABSURD;
	*v = *v > bias ? *v - bias : 0;
	return HB_CTR_LOST_NR;
}

__noinline int hb_ctr_event(struct hb_row *r, const struct hit *h, const struct hb_frame *fr,
			    const struct hb_ctr_frame *c, u32 i)
{
	u32 why;
	u64 v;

	if (!r || !h || !fr || !c || i >= HB_CTRS)
		return 0;
	why = event_value(c, i, h->now - fr->t0_ns,
			  ctr_bias.v[BOUNDED(fr->lang, 1)][BOUNDED(fr->cls, 7)][i], &v);
	/* In place: a call more would be too deep for the stack. */
	if (why == HB_CTR_LOST_NR)
		ctr_add(&r->ctr[i], v);
	else
		count_ctr_lost(h, why);
	return 0;
}

/* Of the thread's time in the call. Another entry than at the beginning has lost some of it. */
static __always_inline void add_time(struct hb_row *r, const struct hit *h, u32 i,
				     const struct hb_ctr_frame *c, const struct hb_off_cpu *now,
				     u64 inc_ns)
{
	u64 off = off_cpu(now, cfg_ctr_kind[i]);

	if (!c->born || c->born != now->born || off < c->v[i]) {
		count_ctr_lost(h, HB_CTR_LOST_READ);
		return;
	}
	off -= c->v[i];
	if (cfg_ctr_kind[i] == HB_CTR_ON_CPU)
		off = inc_ns > off ? inc_ns - off : 0;
	hb_ctr_add(&r->ctr[i], off);
}

/*
 * The call of the frame that has just been taken off, whose inclusive time is in its child_ns, was put
 * into that row.
 */
__noinline int hb_ctr_end(struct hb_task *task, const struct hit *h, u32 row)
{
	struct hb_row *r = row_at(row);
	const struct hb_frame *fr;
	struct hb_frame_key key;
	struct hb_ctr_frame *c;
	struct hb_ctr_task *t;
	bool moved, spoilt = false;
	u32 why;

	if (!cfg_nr_ctrs || !r || !h || !task)
		return 0;
	key = h->key;
	t = bpf_map_lookup_elem(&ctr_tasks, &key);
	if (!t) {
		count_ctr_lost(h, HB_CTR_LOST_ROOM);
		return 0;
	}
	fr = frame_at(task, task->nr);
	c = &t->frame[BOUNDED(task->nr, 15)];
	moved = events_end(t, c);
	why = call_lost(t, c, h, fr);
	if (why != HB_CTR_LOST_NR) {
		count_ctr_lost(h, why);
		return 0;
	}
	/* Another entry of the thread than at the beginning knows nothing of some of the call. */
	if (cfg_ctr_own && (!c->born || c->born != t->off.born || c->gaps != t->off.gaps))
		c->unread = ~0;
	EACH_CTR(i)
	{
		u32 kind = cfg_ctr_kind[i];

		if (kind == HB_CTR_FAULTS)
			hb_ctr_add(&r->ctr[i], task_faults() - c->v[i]);
		else if (kind == HB_CTR_SWITCHES)
			hb_ctr_add(&r->ctr[i], task_switches() - c->v[i]);
		else if (kind >= HB_CTR_ON_CPU)
			add_time(r, h, i, c, &t->off, fr->child_ns);
		else if (kind != HB_CTR_NONE && moved)
			spoilt = true;
		else if (kind == HB_CTR_CLOCK)
			hb_ctr_add(&r->ctr[i], fr->child_ns);
		else if (kind == HB_CTR_PERF)
			hb_ctr_event(r, h, fr, c, i);
	}
	if (spoilt)
		count_ctr_lost(h, HB_CTR_LOST_SWITCH);
	return 0;
}

#endif
