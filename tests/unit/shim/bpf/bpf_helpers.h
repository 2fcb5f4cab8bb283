/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_helpers.h (shim) - stands in for libbpf's header of that name, to compile bpf/ on the host.
 *
 * A map keeps the shape that it has for the kernel (a struct of typed pointers), so that bpf_host.c
 * can read its type and sizes from it; its address is what the helpers know it by. The helpers are
 * real functions, over the maps, the clock and the user memory of bpf_kernel.c.
 *
 * Signatures and results: include/uapi/linux/bpf.h.
 */
#ifndef SHIM_BPF_HELPERS_H
#define SHIM_BPF_HELPERS_H

#define SEC(name)
#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name

/* <sys/cdefs.h> has one of its own; it means the same. */
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

long bpf_tail_call(void *ctx, void *prog_array_map, __u32 index);
void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
void *bpf_ringbuf_reserve(void *ringbuf, __u64 size, __u64 flags);
void bpf_ringbuf_submit(void *data, __u64 flags);
long bpf_probe_read_user(void *dst, __u32 size, const void *unsafe_ptr);
long bpf_probe_read_kernel(void *dst, __u32 size, const void *unsafe_ptr);
long bpf_probe_read_user_str(void *dst, __u32 size, const void *unsafe_ptr);
__u64 bpf_ktime_get_ns(void);
__u64 bpf_get_current_pid_tgid(void);
long bpf_get_current_comm(void *buf, __u32 size);
struct bpf_pidns_info;
long bpf_get_ns_current_pid_tgid(__u64 dev, __u64 ino, struct bpf_pidns_info *ns, __u32 size);
__u64 bpf_get_attach_cookie(void *ctx);
__u64 bpf_get_current_task(void);
struct task_struct *bpf_get_current_task_btf(void);
__u32 bpf_get_smp_processor_id(void);
struct bpf_perf_event_value;
long bpf_perf_event_read_value(void *map, __u64 flags, struct bpf_perf_event_value *buf,
			       __u32 buf_size);
long bpf_task_pt_regs(struct task_struct *task);

#endif
