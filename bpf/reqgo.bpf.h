/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reqgo.bpf.h - --follow-go: a goroutine that is started for a request belongs to that request. The probe
 * stands behind the runtime's call of newproc1(), where the new goroutine has its id and nothing can
 * have run it yet: what its starter was tied to is copied, of exchanges that are not over.
 *
 * What later reaches a goroutine that is there already, through a channel, is not seen here.
 */
#ifndef HBPROF_REQGO_BPF_H
#define HBPROF_REQGO_BPF_H

#include "reqcall.bpf.h"

static __always_inline u64 goid_of(const struct hb_image *im, u64 g)
{
	u64 goid = 0;

	if (im->goid_off)
		bpf_probe_read_user(&goid, sizeof(goid), (void *)(g + im->goid_off));
	return goid;
}

/* What the hit costs: a call that is open has it inside, or else the request. */
static __always_inline void charge_start(const struct hb_site *s, struct hb_task *t,
					 struct hb_req_conn *c)
{
	u64 ns = cal.miss_ns[HB_LANG_GO][BOUNDED(s->cls, 7)];

	if (t && t->nr)
		frame_at(t, t->nr - 1)->probe_ns += ns;
	/* Of codec calls it becomes the request's when they end. */
	if (c && !(t && t->active & req_codec_groups))
		__sync_fetch_and_add(&c->late_probe_ns, ns);
}

static const struct hb_req_task no_ties;

/* The entry of a goroutine that was made, for now that of its starter; NULL: there is no room. */
static __always_inline struct hb_req_task *copy_entry(struct hb_frame_key *key, u64 made,
						      const struct hb_req_task *from)
{
	key->task = made;
	if (bpf_map_update_elem(&req_tasks, key, from ? from : &no_ties, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&req_tasks, key);
}

/* Who reads from a connection of HTTP/2 has no one's request by that. */
static __always_inline struct hb_req_conn *given_conn(const struct hb_req_tie *tie)
{
	struct hb_req_conn *c = tied_conn(tie);

	return c && c->state != HB_REQ_MULTIPLEXED ? c : NULL;
}

/* h->key.task is the goroutine that has made `made`. What is copied: ties to exchanges that are not over, and
 * the innermost handler's call that the starter has open, or works for itself. */
static __always_inline void follow(const struct hit *h, const struct hb_image *im,
				   const struct hb_site *s, u64 made)
{
	struct hb_frame_key key = h->key;
	struct hb_task *t = bpf_map_lookup_elem(&tasks, &key);
	struct hb_req_task *rt = bpf_map_lookup_elem(&req_tasks, &key);
	struct hb_req_conn *client = NULL, *server = NULL;
	u64 goid = goid_of(im, key.task), root_t0_ns = 0;
	struct hb_frame *fr;

	if (rt && rt->goid && goid && rt->goid != goid)
		rt = NULL;
	if (rt) {
		client = given_conn(&rt->tie[HB_REQ_CLIENT]);
		server = given_conn(&rt->tie[HB_REQ_SERVER]);
	}
	charge_start(s, t, server ? server : client);
	if (t && !(t->goid && goid && t->goid != goid) && t->active & req_handler_groups) {
		fr = handler_frame(t, 0);
		root_t0_ns = fr ? fr->t0_ns : 0;
	}
	if (!server && !client && !root_t0_ns && !(rt && rt->root))
		return;
	rt = copy_entry(&key, made, rt);
	if (!rt) {
		req_count_n(HB_REQ_TASKS_FULL, 1);
		return;
	}
	rt->goid = goid_of(im, made);
	if (!client)
		rt->tie[HB_REQ_CLIENT].sk = 0;
	if (!server)
		rt->tie[HB_REQ_SERVER].sk = 0;
	if (root_t0_ns) {
		rt->root = h->key.task;
		rt->root_goid = goid;
		rt->root_t0_ns = root_t0_ns;
	}
	req_count_n(HB_REQ_INHERITED, 1);
}

/*
 * h->key.task is g0: newproc1() runs on the thread's own stack for m.curg, which has executed the go statement
 * (newproc(), newcoro(); runtime/proc.go, coro.go), or for none, as the runtime starts those of timers itself.
 * A g that is used again may have the tie of an earlier goroutine: its id tells.
 */
__noinline int hb_req_started(struct hit *h)
{
	u32 id = h ? h->site : 0, image;
	struct hb_site *s = bpf_map_lookup_elem(&sites, &id);
	struct hb_image *im;
	u64 made = 0, starter = 0;

	if (!h || !s)
		return 0;
	image = s->image;
	im = bpf_map_lookup_elem(&images, &image);
	req_count_n(HB_REQ_STARTED, 1);
	if (!im || hb_boundary_reg(h, 0, &made) || !made ||
	    g0_curg(h->key.task, im->m_off, im->curg_off, &starter)) {
		req_count_n(HB_REQ_START_UNREAD, 1);
		return 0;
	}
	h->key.task = starter;
	if (starter)
		follow(h, im, s, made);
	return 0;
}

static __always_inline int on_started(struct pt_regs *ctx, struct hit *h)
{
	arch_regs(ctx, h->regs);
	h->key.task = arch_g(ctx);
	return hb_req_started(h);
}

#endif
