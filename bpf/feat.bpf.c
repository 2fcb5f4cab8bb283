// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * feat.bpf.c - the least that hbprof needs of a kernel, for `hbprof check`: a probe on a function of
 * hbprof's own, its cookie, and a message to user space. An object and a skeleton of its own: it is to
 * load where the real programs do not, and its two programs one without the other.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the least: one page */
} feat_events SEC(".maps");

u64 feat_hits, feat_cookie;

SEC("uprobe")
int hb_feat_hit(void *ctx)
{
	feat_cookie = bpf_get_attach_cookie(ctx);
	__sync_fetch_and_add(&feat_hits, 1);
	return 0;
}

SEC("uprobe")
int hb_feat_event(void *ctx)
{
	u64 *e = bpf_ringbuf_reserve(&feat_events, sizeof(*e), 0);

	if (!e)
		return 0;
	*e = bpf_get_attach_cookie(ctx);
	bpf_ringbuf_submit(e, 0);
	return 0;
}
