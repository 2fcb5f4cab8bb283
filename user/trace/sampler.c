// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sampler.c - what comes from the ring buffer becomes a stack of functions at once, while the process
 * and its mappings are there: that bounds the number of different stacks, too. Names come at the end.
 * The events themselves are in perfev.c.
 */
#include "trace/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hbprof.skel.h"
#include "model/stackagg.h"
#include "sym/frames.h"
#include "sym/kallsyms.h"
#include "trace/perfev.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define RING_PER_CPU (64u << 10)
#define RING_MIN     (256u << 10)
#define RING_MAX     (8u << 20)
#define RELOAD_EVERY 1000000000ULL /* ns between two looks at the mappings for an unknown address */
#define MAX_USER     (HB_STACK_USER + 1) /* and a hidden one */
#define MAX_STACK    (MAX_USER + HB_STACK_KERNEL)

/* What is known of one process of the plan. */
struct sampled {
	struct frame_maps maps; /* while another one is looked at */
	u64 reloaded_ns;	/* when its mappings were read last */
	bool gone;		/* they cannot be read any more */
};

struct sampler {
	struct hbprof_bpf *skel;
	struct plan *plan;
	struct perfev ev;
	u32 hz;
	u32 depth; /* that the kernel gives at most */
	struct frames frames;
	struct stackagg agg;
	u64 truncated;
	struct sampled *proc;
	u32 nr_procs, now; /* now: the one that frames looks at */
	size_t cap_procs;
	u32 nr_known; /* images of the plan that frames knows */
};

/* ---- programs and maps --------------------------------------------------------------------- */

static u32 ring_bytes(void)
{
	u64 want = (u64)RING_PER_CPU * (u64)libbpf_num_possible_cpus();
	u32 size = RING_MIN;

	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

void sampler__prepare(struct hbprof_bpf *k, u32 hz)
{
	if (!hz) {
		bpf_program__set_autoload(k->progs.hb_sample, false);
		bpf_map__set_autocreate(k->maps.samples, false);
		bpf_map__set_autocreate(k->maps.sample_buf, false);
		return;
	}
	bpf_map__set_max_entries(k->maps.samples, ring_bytes());
	k->rodata->cfg_wake_bytes = ring_bytes() / 2;
}

/* kernel.perf_event_max_stack cuts deeper stacks; it is 127 unless someone has changed it. */
static u32 kernel_depth(void)
{
	u64 n = perfev_sysctl("perf_event_max_stack");

	return n && n < HB_STACK_USER ? (u32)n : HB_STACK_USER;
}

/* ---- from samples to stacks ----------------------------------------------------------------- */

static void reload_maps(struct sampler *s)
{
	struct sampled *sp = &s->proc[s->now];
	struct proc *p = s->plan->proc[s->now].proc;
	u64 now = mono_ns();

	if (sp->gone || (sp->reloaded_ns && now - sp->reloaded_ns < RELOAD_EVERY))
		return;
	sp->reloaded_ns = now;
	if (proc__reload_maps(p))
		sp->gone = true;
	else if (frames__update(&s->frames, p))
		log_debug("out of memory for the mappings of the process");
}

/* Images that the plan has opened: their functions need not be read again. */
static int know_images(struct sampler *s)
{
	int err = 0;

	for (; s->nr_known < s->plan->nr_images && !err; s->nr_known++) {
		const struct plan_image *pi = &s->plan->image[s->nr_known];

		err = frames__know(&s->frames, pi->path, pi->map_dev, pi->map_ino, pi->im,
				   pi->syms);
	}
	return err;
}

int sampler__add_proc(struct sampler *s)
{
	u32 i = s->nr_procs;
	int err = know_images(s);

	if (err || array_grow((void **)&s->proc, i, &s->cap_procs, sizeof(*s->proc)))
		return -ENOMEM;
	s->proc[s->nr_procs++] = (struct sampled){0};
	if (i) {
		frames__swap(&s->frames, &s->proc[s->now].maps);
		s->now = i;
	}
	reload_maps(s);
	return 0;
}

static void look_at(struct sampler *s, u32 proc)
{
	if (proc == s->now)
		return;
	frames__swap(&s->frames, &s->proc[s->now].maps);
	frames__swap(&s->frames, &s->proc[proc].maps);
	s->now = proc;
}

static u64 user_key(struct sampler *s, u64 addr)
{
	u64 key = frames__key(&s->frames, addr);

	if (key)
		return key;
	reload_maps(s); /* dlopen(), perhaps */
	return frames__key(&s->frames, addr);
}

/* Is the innermost function one without a frame, so that the next frame is its caller's caller? */
static bool hides_caller(struct sampler *s, const struct hb_sample *e)
{
	if (e->nr_user > 1 && e->ip[1] == e->top)
		return false;
	return frames__called_from(&s->frames, e->ip[0], e->top);
}

/*
 * The user frames of a sample as keys, innermost first, up to the first address that no code is at:
 * there the frame pointer was something else. *cut: more frames were there, or should have been.
 */
static u32 user_keys(struct sampler *s, const struct hb_sample *e, u64 *key, bool *cut)
{
	u32 nr = 0, taken = 0;

	for (; taken < e->nr_user; taken++) {
		key[nr] = user_key(s, e->ip[taken] - (taken > 0));
		if (!key[nr])
			break;
		nr++;
		if (!taken && hides_caller(s, e))
			key[nr++] = user_key(s, e->top - 1);
	}
	*cut = taken < e->nr_user || !nr || taken >= s->depth ||
	       !frames__is_root(&s->frames, key[nr - 1], nr > 1 ? key[nr - 2] : 0);
	if (!nr && !e->nr_kernel)
		key[nr++] = FRAMES_UNKNOWN;
	return nr;
}

static int add_sample(struct sampler *s, const struct hb_sample *e)
{
	u32 func = e->func < s->plan->nr_funcs ? e->func : M_NO_FUNC, nr = 0, users;
	u64 user[MAX_USER], stack[MAX_STACK];
	const u64 *kernel = e->ip + e->nr_user;
	bool cut;
	int err;

	if (e->proc >= s->nr_procs)
		return 0;
	look_at(s, e->proc);
	users = user_keys(s, e, user, &cut);
	while (users)
		stack[nr++] = user[--users];
	for (u32 i = e->nr_kernel; i-- > 0;)
		stack[nr++] = kernel[i] - (i > 0);
	err = stackagg__add(&s->agg, stack, nr, func, e->proc, 1);
	if (!err)
		s->truncated += cut || e->nr_kernel >= HB_STACK_KERNEL;
	return err;
}

static int on_sample(void *arg, void *data, size_t size)
{
	const struct hb_sample *e = data;

	if (size < HB_SAMPLE_BYTES(0) || e->nr_user > HB_STACK_USER ||
	    e->nr_kernel > HB_STACK_KERNEL ||
	    size < HB_SAMPLE_BYTES((size_t)e->nr_user + e->nr_kernel))
		return 0;
	return add_sample(arg, e);
}

/* ---- life ----------------------------------------------------------------------------------- */

int sampler__new(struct hbprof_bpf *skel, struct plan *plan, struct ring_buffer *ring, u32 hz,
		 struct sampler **out)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->skel = skel;
	s->plan = plan;
	s->hz = hz;
	s->depth = kernel_depth();
	frames__init(&s->frames);
	stackagg__init(&s->agg, NULL);
	perfev__init(&s->ev);
	err = ring_buffer__add(ring, bpf_map__fd(skel->maps.samples), on_sample, s);
	if (err)
		sampler__free(s);
	else
		*out = s;
	return err;
}

void sampler__free(struct sampler *s)
{
	if (!s)
		return;
	perfev__close(&s->ev);
	frames__fini(&s->frames);
	for (u32 i = 0; i < s->nr_procs; i++)
		free(s->proc[i].maps.map);
	free(s->proc);
	stackagg__fini(&s->agg);
	free(s);
}

int sampler__start(struct sampler *s, struct recording *rec)
{
	return perfev__open(&s->ev, s->skel->progs.hb_sample, s->hz, rec);
}

void sampler__stop(struct sampler *s)
{
	perfev__close(&s->ev);
}

/* ---- names ---------------------------------------------------------------------------------- */

static char *kernel_name(const char *name)
{
	char *s = NULL;

	return asprintf(&s, "%s_[k]", name ? name : "[unknown]") < 0 ? NULL : s;
}

/* Reads the kernel's names into v; without them all are unknown, and rec says why. */
static int find_kernel_names(struct kaddr *v, size_t nr, struct recording *rec)
{
	FILE *f = nr ? fopen(KALLSYMS_PATH, "re") : NULL;
	int err = f ? kallsyms__find(f, v, nr) : nr ? -errno : 0;

	if (f)
		fclose(f);
	if (err == -ENOMEM)
		return err;
	if (err == -EACCES)
		return recording__warn(rec,
				       "kernel functions in stacks have no names: the kernel "
				       "hides their addresses (sysctl kernel.kptr_restrict=1)");
	return err ? recording__warn(rec, "kernel functions in stacks have no names: %s: %s",
				     KALLSYMS_PATH, strerror(-err))
		   : 0;
}

static int cmp_addr(const void *key, const void *elem)
{
	u64 addr = *(const u64 *)key, other = ((const struct kaddr *)elem)->addr;

	return addr < other ? -1 : addr > other;
}

/* name[i]: of the i-th frame. */
static int name_frames(const struct sampler *s, char **name, struct recording *rec)
{
	struct kaddr *k = array_alloc((size_t)s->agg.nr_frames + 1, sizeof(*k));
	size_t nr = 0;
	int err;

	if (!k)
		return -ENOMEM;
	for (u32 i = 0; i < s->agg.nr_frames; i++)
		if (frame_is_kernel(s->agg.frame[i]))
			k[nr++].addr = s->agg.frame[i];
	err = find_kernel_names(k, nr, rec);
	for (u32 i = 0; i < s->agg.nr_frames && !err; i++) {
		const u64 *key = &s->agg.frame[i];

		if (frame_is_kernel(*key)) {
			const struct kaddr *at = bsearch(key, k, nr, sizeof(*k), cmp_addr);

			name[i] = kernel_name(at ? at->name : NULL);
		} else {
			name[i] = frames__name(&s->frames, *key);
		}
		err = name[i] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		free(k[i].name);
	free(k);
	return err;
}

int sampler__finish(struct sampler *s, struct recording *rec)
{
	struct m_stacks *out = &rec->stacks;
	char **name;
	int err;

	if (!s->ev.name)
		return 0;
	name = array_alloc((size_t)s->agg.nr_frames + 1, sizeof(*name));
	err = name ? name_frames(s, name, rec) : -ENOMEM;
	if (!err)
		err = stackagg__name(&s->agg, name, out);
	for (u32 i = 0; name && i < s->agg.nr_frames; i++)
		free(name[i]);
	free(name);
	if (err)
		return err;
	out->event = strdup(s->ev.name);
	out->unit = strdup("samples");
	out->frequency_hz = s->ev.hz;
	out->samples = s->agg.samples;
	out->lost = s->skel->bss->samples_lost;
	out->truncated = s->truncated;
	out->unkept = s->agg.nr_overflow;
	return out->event && out->unit ? 0 : -ENOMEM;
}
