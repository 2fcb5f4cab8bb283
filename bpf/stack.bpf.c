// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack.bpf.c - CPU samples of the traced process: one program on a perf event of each CPU. A sample
 * is the user stack, the kernel stack, and the codec call that the task is in, which codec.bpf.c keeps.
 * What the addresses are called is user space's business (trace/sampler.c).
 *
 * With hardware events this runs in an NMI: it takes no lock, and reads what the interrupted code of
 * this CPU, codec.bpf.c perhaps, is just changing. So an open call is believed only if its return
 * address stands on the stack. Reading the map needs Linux 6.1: before, programs of perf events were
 * not let near maps that allocate (kernel/bpf/verifier.c).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <hbprof/abi.h>

#include "shared.bpf.h"
#include "arch.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* struct hb_sample, as long as it is. Sized by CPUs before load. A full ring is samples_lost. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 * 1024);
} samples SEC(".maps");

/* Where a sample is put together: there is no room for it on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hb_sample);
} sample_buf SEC(".maps");

/* Known before load. */
const volatile u64
	cfg_wake_bytes; /* wakes user space when so much waits; else it looks each second */
const volatile u64 cfg_alt_span = 8ULL << 20; /* depths further apart are of two stacks */

u64 samples_lost; /* of the traced processes */

struct open_call {
	u64 t0_ns;
	u32 func;
	u32 pad;
};

/* A place on a task's stack: depth is hi - SP; 0: not on that stack. */
struct place {
	u64 hi;
	u64 depth;
	u64 goid;
};

static __always_inline bool call_open(const struct hb_frame *f, const struct place *at)
{
	u64 ra = 0, out = f->depth - at->depth;

	/* Further in than SP: it has returned, and its probe is about to be hit. */
	if (at->depth && f->depth > at->depth && out < cfg_alt_span)
		return false;
	if (!arch_ra_known(f))
		return true;
	return !bpf_probe_read_user(&ra, sizeof(ra), (void *)arch_ra_addr(f, at->hi - f->depth)) &&
	       arch_ra_plain(ra) == f->ra;
}

/*
 * The innermost open call of a task, if it began later than *best: of a Go program's goroutine and
 * its thread, which may run C code that is measured, too, it is the last to begin that is innermost.
 */
__noinline int hb_innermost(struct hb_task *t, const struct place *at, struct open_call *best)
{
	if (!t || !at || !best || (t->goid && at->goid && t->goid != at->goid))
		return 0;
	for (u32 i = 0; i < HB_FRAME_DEPTH; i++) {
		u32 n = t->nr - 1 - i;
		const struct hb_frame *f;

		if (n >= HB_FRAME_DEPTH)
			break;
		f = &t->frame[BOUNDED(n, 15)];
		if (!call_open(f, at))
			continue;
		if (f->t0_ns >= best->t0_ns) {
			best->t0_ns = f->t0_ns;
			best->func = f->func;
		}
		break;
	}
	return 0;
}

static __always_inline void call_of_goroutine(u32 tgid, const struct hb_proc *p, u64 g, u64 sp,
					      struct open_call *best)
{
	struct hb_frame_key key = {.tgid = tgid, .task = g};
	struct hb_task *t = bpf_map_lookup_elem(&tasks, &key);
	struct place at = {};
	u64 stack[2];

	if (!t || bpf_probe_read_user(stack, sizeof(stack), (void *)g))
		return;
	at.hi = stack[1];
	if (sp >= stack[0] && sp < stack[1])
		at.depth = at.hi - sp;
	if (p->goid_off)
		bpf_probe_read_user(&at.goid, sizeof(at.goid), (void *)(g + p->goid_off));
	hb_innermost(t, &at, best);
}

/* The g that runs: R14 in Go code, known by its stack; in C code the thread's. 0: none. */
static __always_inline u64 running_g(u64 r14, u64 sp)
{
	u64 stack[2], g = 0;

	if (r14 && !bpf_probe_read_user(stack, sizeof(stack), (void *)r14) && sp >= stack[0] &&
	    sp < stack[1])
		return r14;
	return arch_tls_g(&g) ? 0 : g;
}

/* On the thread's own stack (g0: garbage collection, growing a stack) it works for m.curg. */
static __always_inline void go_call(u32 tgid, const struct hb_proc *p, u64 r14, u64 sp,
				    struct open_call *best)
{
	u64 g = running_g(r14, sp), m = 0, curg = 0;

	if (!g)
		return;
	call_of_goroutine(tgid, p, g, sp, best);
	if (!p->curg_off || bpf_probe_read_user(&m, sizeof(m), (void *)(g + p->m_off)) ||
	    bpf_probe_read_user(&curg, sizeof(curg), (void *)(m + p->curg_off)))
		return;
	if (curg && curg != g)
		call_of_goroutine(tgid, p, curg, sp, best);
}

static __always_inline u32 codec_call(u32 tgid, u32 tid, const struct hb_proc *p, u64 r14, u64 sp)
{
	struct open_call best = {.func = HB_FUNC_NONE};
	struct hb_frame_key key = {.tgid = tgid, .task = tid};
	struct hb_task *t = bpf_map_lookup_elem(&tasks, &key);
	struct place at = {.depth = -sp};

	if (t)
		hb_innermost(t, &at, &best);
	if (p && p->go)
		go_call(tgid, p, r14, sp, &best);
	return best.func;
}

/* Of the user code. Whatever interrupts it, on x86 and arm64 its registers are at the same place, the
 * top of the task's kernel stack: those of the context are the kernel's if that was interrupted. */
static __always_inline void user_regs(u64 *sp, u64 *g, u64 *leaf_ra)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());

	*sp = arch_sp(regs);
	*g = arch_g(regs);
	if (arch_leaf_ra(regs, leaf_ra))
		*leaf_ra = 0;
}

static __always_inline u64 wakeup(void)
{
	return bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= cfg_wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* What bpf_get_stack() has written; a negative result is an error. */
static __always_inline u64 frames_in(long bytes)
{
	return bytes < 0 ? 0 : BOUNDED((u64)bytes >> 3, 127);
}

SEC("perf_event")
int hb_sample(struct pt_regs *ctx)
{
	u64 pid_tgid = current_pid_tgid();
	u32 zero = 0, tgid = pid_tgid >> 32;
	int proc = recording ? target_index(tgid) : -1;
	struct hb_sample *s;
	u64 sp, g, nr, kernel;

	if (proc < 0)
		return 0;
	s = bpf_map_lookup_elem(&sample_buf, &zero);
	if (!s)
		return 0;
	user_regs(&sp, &g, &s->top);
	nr = frames_in(bpf_get_stack(ctx, s->ip, HB_STACK_USER * 8, BPF_F_USER_STACK));
	kernel = frames_in(bpf_get_stack(ctx, &s->ip[nr], HB_STACK_KERNEL * 8, 0));
	s->proc = proc;
	s->pad = 0;
	s->func = codec_call(tgid, pid_tgid, bpf_map_lookup_elem(&procs, &tgid), g, sp);
	s->nr_user = nr;
	s->nr_kernel = kernel;
	nr = BOUNDED(nr + kernel, 255);
	if (nr > HB_STACK_USER + HB_STACK_KERNEL)
		return 0;
	if (bpf_ringbuf_output(&samples, s, HB_SAMPLE_BYTES(nr), wakeup()))
		__sync_fetch_and_add(&samples_lost, 1);
	return 0;
}
