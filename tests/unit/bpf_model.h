/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_model.h - what should be measured of a program, reckoned from its true call stacks: the
 * reference that the handlers are compared with. It knows of no map, depth comparison or leftover:
 * who called whom, and when, is given. From bpf/ it takes only what is decided there: 16 calls are
 * followed; a recursive call has no frame of its own; beyond 8 depths of such calls, any return to a
 * site that may be theirs counts as one's; what hits cost that are no whole call.
 */
#ifndef HBPROF_TESTS_BPF_MODEL_H
#define HBPROF_TESTS_BPF_MODEL_H

#include "bpf_world.h"

#define MODEL_ACTS 64

enum act_kind {
	ACT_PLAIN,   /* of a function that is not probed */
	ACT_FRAME,   /* followed */
	ACT_NESTED,  /* recursion: counted in the call of its group around it */
	ACT_AGAIN,   /* a chain of tail calls has come back to it: counted in its frame */
	ACT_PANIC,   /* runtime.gopanic: runs deferred functions, and does not return */
	ACT_DROPPED, /* seen, and not followed */
	ACT_DONE,    /* followed up to a jump out of it, whose target runs in its place */
};

/* A function that has been called and has not returned. */
struct act {
	u16 func;
	enum act_kind kind;
	bool unknown; /* its return cannot be seen */
	bool owns;    /* the outermost of its group */
	bool kept;    /* nested, and of a depth that is kept */
	bool dying;   /* a panic has passed through it, be it recovered or not */
	bool hidden;  /* another tool has replaced its return address */
	bool tail;    /* runs in the place of the one before: same depth, same return address */
	u64 depth, ra;
	u64 frame_size; /* its own calls are all that much further in */
	u64 t0_ns, child_ns, probe_ns;
	u32 tid, payload, nested, again;
	u32 beyond; /* calls nested in it that are deeper than what is kept */
};

struct prog {
	struct w_task *t;
	struct act act[MODEL_ACTS]; /* the outermost first */
	u32 nr;
	bool dirty; /* there may be leftovers that no entry has looked at yet */
};

/* How often what is rare has happened. */
enum {
	MODEL_BEYOND,	   /* a recursive call beyond the depths that are kept */
	MODEL_JOINED,	   /* one that is a tail call of another */
	MODEL_NESTED_TAIL, /* an exit that has ended followed calls, and such as have no frame */
	MODEL_AGAIN,	   /* a chain of tail calls that comes back */
	MODEL_DYING,	   /* a deferred function's call in a panic, of a codec that is dying */
	MODEL_REVIVED,	   /* a call that a panic has passed through, and that has returned */
	MODEL_RARE
};
extern u32 model__seen[MODEL_RARE];

void model__reset(void);
/* May act[nr - 1], or what it runs in the place of, jump to func, and be seen to be alive then? */
bool model__may_jump(const struct prog *p, u16 func);
/* act[nr - 1] has just been entered; `known`: its return will be seen. Registers as in w.reg. */
void model__enter(struct prog *p, bool known, bool dropped);
/* act[nr - 1] has passed its RET probe. */
void model__own_return(struct prog *p);
/* The return site of act[nr - 1] has been passed, or there is none. Takes what has returned off. */
void model__return(struct prog *p, const struct w_site *site);
/*
 * Everything but the outermost `keep` has been left without a return. `site_lang` < 0: unseen; else a
 * probe of that language and class 0 has seen it, and that the stack ends at `depth`.
 */
void model__unwind(struct prog *p, u32 keep, int site_lang, u64 depth);
/* A panic's probe of class 0 was hit at that depth. */
void model__panic(struct prog *p, u64 depth);
/* How many calls of p are followed at this moment. */
u32 model__followed(const struct prog *p);
const struct act *model__innermost(const struct prog *p); /* of those; or NULL */
bool model__is_dying(const struct prog *p, u32 i);
void model__compare(void);

#endif
