/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_world_impl.h - what bpf_world.c and bpf_world_check.c need of each other. */
#ifndef HBPROF_TESTS_BPF_WORLD_IMPL_H
#define HBPROF_TESTS_BPF_WORLD_IMPL_H

#include "bpf_world.h"

extern struct w_func w_funcs[W_FUNCS];
extern u32 w_nr_funcs;

/* What must hold of the current task's frames after any hit. */
void w_check_frames(void);

#endif
