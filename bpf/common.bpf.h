/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * common.bpf.h - a hit, counters, atomics, and reading values at a call boundary: what every program
 * uses.
 *
 * Gotcha: what has a loop or is used in several places is a global function (not static, __noinline,
 * returning int), which the verifier checks once and by itself. All inlined, the program took four
 * minutes to load. Such a function takes pointers to structs, which it must check for NULL, and no
 * ctx: older kernels disagree on how that is spelled. So a hit carries a copy of the registers.
 *
 * Gotcha: the stacks of such functions, each rounded up to 32 bytes, may be 512 together along any chain
 * of calls (no_progs in shared.bpf.h says why not more on any kernel). The longest is that from
 * hb_probe() to hb_dist_add(), with 480.
 */
#ifndef HBPROF_COMMON_BPF_H
#define HBPROF_COMMON_BPF_H

/* One hit of a probe: which task, where on its stack, with which registers. */
struct hit {
	struct hb_frame_key key;
	u64 ip;
	u64 sp;	   /* SP at the function's first instruction */
	u64 depth; /* stack.hi - SP in Go, else -SP */
	u64 goid;  /* entries only; 0: not known */
	u64 now;   /* when the program began */
	u32 tid;
	u32 proc;
	u32 lang;
	u32 site;
	u64 regs[HB_REGS];
};

static __always_inline void count_n(u32 why, u64 add)
{
	u64 *n = bpf_map_lookup_elem(&drops, &why);

	if (n)
		__sync_fetch_and_add(n, add);
}

static __always_inline void count_fn_n(u32 fn, enum hb_fn_counter what, u64 add)
{
	struct hb_fn_stat *s = bpf_map_lookup_elem(&fn_stats, &fn);

	if (s)
		__sync_fetch_and_add(&s->n[what], add);
}

static __always_inline void count_fn(u32 fn, enum hb_fn_counter what)
{
	count_fn_n(fn, what, 1);
}

static __always_inline void count_exit_n(u32 fn, u32 cls, u64 add)
{
	struct hb_fn_stat *s = bpf_map_lookup_elem(&fn_stats, &fn);

	if (s)
		__sync_fetch_and_add(&s->exits[BOUNDED(cls, 7)], add);
}

/* An entry that was counted and cannot be followed. */
static __always_inline int drop_entry(u32 fn, enum hb_drop why)
{
	count_fn(fn, HB_FN_DROPPED);
	count_n(why, 1);
	return 0;
}

/* Racing CPUs retry; after 8 lost races the extreme is at most that of the winners. */
static __always_inline void lower_to(u64 *at, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)at;

		if (v >= old || __sync_val_compare_and_swap(at, old, v) == old)
			break;
	}
}

static __always_inline void raise_to(u64 *at, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)at;

		if (v <= old || __sync_val_compare_and_swap(at, old, v) == old)
			break;
	}
}

__noinline int hb_update_min(u64 *at, u64 v)
{
	if (at)
		lower_to(at, v);
	return 0;
}

__noinline int hb_update_max(u64 *at, u64 v)
{
	if (at)
		raise_to(at, v);
	return 0;
}

/* Inline: the common case is no change. */
static __always_inline void update_min(u64 *at, u64 v)
{
	if (v < *(volatile u64 *)at)
		hb_update_min(at, v);
}

static __always_inline void update_max(u64 *at, u64 v)
{
	if (v > *(volatile u64 *)at)
		hb_update_max(at, v);
}

/* Length of the C string at addr, at most 64 * (HB_SCRATCH - 1) bytes. 0 or -EFAULT, -E2BIG. */
__noinline int hb_user_strlen(u64 addr, u64 *len)
{
	u32 zero = 0;
	u8 *buf = bpf_map_lookup_elem(&scratch, &zero);
	u64 n = 0;

	if (!buf || !addr || !len)
		return -14;
	for (int i = 0; i < 64; i++) {
		long got = bpf_probe_read_user_str(buf, HB_SCRATCH, (void *)(addr + n));

		if (got <= 0)
			return -14;
		if (got < HB_SCRATCH) {
			*len = n + got - 1;
			return 0;
		}
		/* Filled: either cut, or the terminator is the buffer's last byte. The next
		 * round starts at that byte and tells. */
		n += HB_SCRATCH - 1;
	}
	return -7;
}

/* Register r (0..7) of the call boundary, as the site knows it. 0, or -1: not to be had here. */
__noinline int hb_boundary_reg(const struct hit *h, u32 r, u64 *out)
{
	u32 id = h ? h->site : 0;
	struct hb_site *s = bpf_map_lookup_elem(&sites, &id);
	s32 loc, slot;

	if (!h || !out || !s)
		return -1;
	loc = s->loc[r & (HB_LOC_NR - 1)];
	if (loc < 0)
		return -1;
	if (loc >= HB_LOC_STACK)
		return bpf_probe_read_user(
			       out, sizeof(*out),
			       (void *)(h->regs[ARCH_SP_SLOT] + 8 * (u64)(loc - HB_LOC_STACK)))
			       ? -1
			       : 0;
	slot = arch_slot(loc);
	if (slot < 0)
		return -1;
	*out = h->regs[BOUNDED(slot, 15)];
	return 0;
}

/* A payload size below HB_SIZE_UNKNOWN; that value when it cannot be read. */
static __always_inline u32 boundary_size(const struct hit *h, const struct hb_value *v)
{
	u64 x = 0;

	if (hb_boundary_reg(h, v->reg, &x))
		return HB_SIZE_UNKNOWN;
	if (v->kind == HB_VALUE_MEM) {
		if (bpf_probe_read_user(&x, sizeof(x), (void *)(x + v->off)))
			return HB_SIZE_UNKNOWN;
	} else if (v->kind == HB_VALUE_STRLEN) {
		if (hb_user_strlen(x, &x))
			return HB_SIZE_UNKNOWN;
	}
	x += (s64)v->add;
	return x < HB_SIZE_UNKNOWN ? x : HB_SIZE_UNKNOWN;
}

#endif
