/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_model.h - what should be measured of a program, reckoned from its true call stacks: the
 * reference that the handlers are compared with. It knows of no map, depth comparison or leftover:
 * who called whom, and when, is given. From bpf/ it takes only what is decided there: 16 calls are
 * followed, a recursive call has no frame of its own, a return at a shared site counts as that of a
 * recursive call if one is open.
 */
#ifndef HBPROF_TESTS_BPF_MODEL_H
#define HBPROF_TESTS_BPF_MODEL_H

#include "bpf_world.h"

#define MODEL_ACTS 64

enum act_kind {
	ACT_PLAIN,   /* of a function that is not probed */
	ACT_FRAME,   /* followed */
	ACT_NESTED,  /* recursion: counted in the call of its group around it */
	ACT_DROPPED, /* seen, and not followed */
	ACT_DONE,    /* followed up to a jump out of it, whose target runs in its place */
};

/* A function that has been called and has not returned. */
struct act {
	u16 func;
	enum act_kind kind;
	bool unknown; /* its return cannot be seen */
	bool owns;    /* the outermost of its group */
	bool tail;    /* runs in the place of the one before: same depth, same return address */
	u64 depth, ra;
	u64 frame_size; /* its own calls are all that much further in */
	u64 t0_ns, child_ns, probe_ns;
	u32 tid, payload, nested, pending;
};

struct prog {
	struct w_task *t;
	struct act act[MODEL_ACTS]; /* the outermost first */
	u32 nr;
	bool dirty; /* there may be leftovers that no entry has looked at yet */
};

void model__reset(void);
/* act[nr - 1] has just been entered; `known`: its return will be seen. Registers as in w.reg. */
void model__enter(struct prog *p, bool known, bool dropped);
/* act[nr - 1] has passed its RET probe. */
void model__own_return(struct prog *p);
/* The return site of act[nr - 1] has been passed, or there is none. Takes what has returned off. */
void model__return(struct prog *p, const struct w_site *site);
/* Everything but the outermost `keep` has been left without a return. */
void model__unwind(struct prog *p, u32 keep);
/* How many calls of p are followed at this moment. */
u32 model__followed(const struct prog *p);
const struct act *model__innermost(const struct prog *p); /* of those; or NULL */
void model__compare(void);

#endif
