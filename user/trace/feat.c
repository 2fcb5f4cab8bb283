// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* feat.c - the table of checks. The checks are in feat_*.c, printing them is for cmd/check.c. */
#include "trace/feat.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

/* In the order that they are shown: what stops a measurement first. */
static const struct {
	const char *name, *need;
	feat_fn *fn;
} checks[] = {
	{"kernel", "probes that tell which one was hit", feat_kernel},
	{"btf", "BPF programs that fit this kernel", feat_btf},
	{"user_namespace", "capabilities that count", feat_user_ns},
	{"pid_namespace", "processes outside of this container", feat_pid_ns},
	{"cap_bpf", "loading BPF programs", feat_cap_bpf},
	{"cap_perfmon", "attaching probes", feat_cap_perfmon},
	{"cap_sys_ptrace", "processes of other users", feat_cap_ptrace},
	{"cap_dac_read_search", "program files that this user may not read", feat_cap_dac},
	{"cap_checkpoint_restore", "programs whose file was deleted or replaced", feat_cap_ckpt},
	{"seccomp", "bpf() and perf_event_open()", feat_seccomp},
	{"lockdown", "BPF helpers that read kernel memory", feat_lockdown},
	{"bpf_load", "everything", feat_load},
	{"uprobe_multi", "attaching probes, many at a time", feat_uprobe_multi},
	{"ring_buffer", "return addresses found while measuring", feat_ringbuf},
	{"bpf_jit", "cheap probes", feat_jit},
	{"memlock", "BPF maps", feat_memlock},
	{"unprivileged_bpf", "nothing, if CAP_BPF is there", feat_unprivileged},
	{"yama", "comparing the code in the target's memory", feat_yama},
	{"tracefs", "seeing the probes of other tracers", feat_tracefs},
	{"uprobe_events", "probes that others have set", feat_uprobe_events},
	{"bpf_links", "probes that others have set", feat_links},
	{"kernel_symbols", "names of kernel functions in stacks", feat_kernel_symbols},
	{"perf_event_paranoid", "hardware counters", feat_paranoid},
	{"cycles", "cycles per call; not latency", feat_cycles},
	{"instructions", "instructions per call; not latency", feat_instructions},
	{"cache_references", "cache references per call; not latency", feat_cache_refs},
	{"cache_misses", "cache misses per call; not latency", feat_cache_misses},
	{"branch_misses", "branch misses per call; not latency", feat_branch_misses},
	{"clock", "cheap and exact times", feat_clock},
	{"virtualization", "cheap probes and hardware counters", feat_guest},
	{"cpus", "hbprof beside the target", feat_cpus},
};

#define NR_CHECKS (sizeof(checks) / sizeof(checks[0]))

const char *const feat_result_names[FEAT_RESULT_NR] = {"ok", "warn", "fail", "unknown"};

int feat__check(struct feat_item **out, size_t *nr)
{
	struct feat_item *v = array_alloc(NR_CHECKS, sizeof(*v));
	struct feat_tried tried;
	struct feat_env env;

	if (!v)
		return -ENOMEM;
	feat_env__init(&env, "");
	feat__try(&tried);
	env.tried = &tried;
	for (size_t i = 0; i < NR_CHECKS; i++) {
		v[i].name = checks[i].name;
		v[i].need = checks[i].need;
		checks[i].fn(&env, &v[i]);
	}
	*out = v;
	*nr = NR_CHECKS;
	return 0;
}
