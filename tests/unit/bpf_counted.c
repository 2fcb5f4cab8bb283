/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_counted.c - see bpf_counted.h. */
#include "bpf_counted.h"

void wc_count(void)
{
	cfg_nr_ctrs = NR;
	cfg_ctr_kind[CYCLES] = cfg_ctr_kind[INSTRUCTIONS] = HB_CTR_PERF;
	cfg_ctr_kind[FAULTS] = HB_CTR_FAULTS;
	cfg_ctr_kind[SWITCHES] = HB_CTR_SWITCHES;
	cfg_ctr_kind[CLOCK] = HB_CTR_CLOCK;
	cfg_ctr_per_us[CYCLES] = 4000;
	cfg_ctr_per_us[INSTRUCTIONS] = 32000;
	kernel__map_resize(HOST_MAP(CTR_EVENTS), NR * KERNEL_CPUS);
	kernel__map_resize(HOST_MAP(CTR_TASKS), 16);
}

void wc_count_time(void)
{
	wc_count();
	cfg_nr_ctrs = BLOCKED + 1;
	cfg_ctr_kind[ON_CPU] = HB_CTR_ON_CPU;
	cfg_ctr_kind[WAITING] = HB_CTR_WAITING;
	cfg_ctr_kind[BLOCKED] = HB_CTR_BLOCKED;
	cfg_sched = cfg_ctr_own = true;
	kernel__map_resize(HOST_MAP(THREADS), 8);
	kernel.task.pid = 7;
}

struct bpf_perf_event_value *wc_event(u32 ctr)
{
	return &kernel.event[ctr * KERNEL_CPUS + kernel.cpu];
}

void wc_work(u64 ns, u64 cycles, u64 instructions)
{
	w_pass(ns);
	wc_event(CYCLES)->counter += cycles;
	wc_event(INSTRUCTIONS)->counter += instructions;
	for (u32 i = CYCLES; i <= INSTRUCTIONS; i++) {
		wc_event(i)->enabled += ns;
		wc_event(i)->running += ns;
	}
}

u64 wc_lost(enum hb_ctr_lost why)
{
	u32 key = why;
	u64 n = 0;

	for (u32 cpu = 0; cpu < KERNEL_CPUS; cpu++)
		n += *(u64 *)kernel__map_at(HOST_MAP(CTR_LOST), cpu, &key);
	return n;
}

u64 wc_all_lost(void)
{
	u64 n = 0;

	for (u32 i = 0; i < HB_CTR_LOST_NR; i++)
		n += wc_lost(i);
	return n;
}

void wc_check(u16 f, u32 ctr, u64 n, u64 sum, u64 min, u64 max)
{
	const struct hb_ctr_sum *c = &w_plain(f)->ctr[ctr];

	assert_int_equal(c->n, n);
	assert_int_equal(c->sum, sum);
	assert_int_equal(c->max, max);
	assert_int_equal(~c->not_min, n ? min : ~0ULL);
}

void wc_call_of(u16 f, u64 ra, void (*in_between)(void))
{
	w_call(f, WC_D1, ra);
	wc_work(500, 1000, 2000);
	if (in_between)
		in_between();
	wc_work(500, 1000, 2000);
	w_ret(f, WC_D1, ra);
}
