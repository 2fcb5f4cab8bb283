/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pause.bpf.h - how long the Go runtime stops the world: from the begin of stopTheWorldWithSema, when it
 * asks all goroutines to stand still, to where startTheWorldWithSema gives them leave to run (trace/plan_runtime.c
 * has the sites). How long it takes until they stand still is that function's own row. Whether a
 * request met a pause is asked in reqrow.bpf.h.
 *
 * What lies inside the interval: the way out of the trap at its begin, with the entry of
 * stopTheWorldWithSema on the same instruction, which runs behind it; that function's return site; and
 * the way into the trap at its end. So what such a pair costs is subtracted: of the return site's
 * classes that are calibrated the cheapest, as which one it was is not known here.
 */
#ifndef HBPROF_PAUSE_BPF_H
#define HBPROF_PAUSE_BPF_H

static __always_inline u64 pause_cost(u32 cls)
{
	u64 least = 0;

	for (u32 i = 0; i < HB_CLASS_NR; i++) {
		u64 ns = cal.total_ns[HB_LANG_GO][BOUNDED(cls, 7)][i];

		if (ns && (!least || ns < least))
			least = ns;
	}
	return least;
}

static __always_inline int pause_over(struct hb_req_world *world, u32 proc, u64 begin_ns,
				      u64 end_ns)
{
	struct hb_req_key key = {.proc = proc, .side = HB_REQ_PAUSES};
	u64 ns = end_ns - begin_ns, sub = pause_cost(world->cls);
	u32 row = req_row_find(&key);
	struct hb_req_row *r = row ? req_row_at(row) : NULL;

	if (r)
		req_row_add(r, ns > sub ? ns - sub : 0, 0);
	else
		__sync_fetch_and_add(&world->no_row, 1);
	return 0;
}

__noinline int hb_req_pause(const struct hit *h, u32 role)
{
	u32 proc = h ? h->proc : 0, id = h ? h->site : 0;
	struct hb_req_world *world = bpf_map_lookup_elem(&req_worlds, &proc);
	struct hb_site *s = bpf_map_lookup_elem(&sites, &id);
	u64 begin;

	if (!h || !world || !s)
		return 0;
	begin = world->begin_ns;
	if (role == HB_ROLE_STOP) {
		if (begin)
			__sync_fetch_and_add(&world->no_end, 1);
		world->cls = s->cls;
		*(volatile u64 *)&world->begin_ns = bpf_ktime_get_ns();
		return 0;
	}
	/* In this order: a request that ends now finds it one way or the other. */
	*(volatile u64 *)&world->end_ns = h->now;
	*(volatile u64 *)&world->begin_ns = 0;
	if (begin && begin <= h->now)
		return pause_over(world, proc, begin, h->now);
	__sync_fetch_and_add(&world->no_begin, 1);
	return 0;
}

#endif
