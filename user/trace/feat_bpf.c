// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * feat_bpf.c - does it work? A program is loaded, attached to a function of hbprof's own, and the
 * function is called. What settings and capabilities promise is in the other feat_*.c.
 */
#include "trace/feat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "feat.skel.h"
#include "target/proc.h"
#include "trace/budget.h"

#define NOT_TRIED 1
#define COOKIE	  0x6862ULL
#define CALLS	  10
#define MAX_LINKS 100000 /* looked at; ids are given anew all the time */

/* Since Linux 6.6 (enum bpf_link_type, enum bpf_perf_event_type of linux/bpf.h); before, links of perf
 * events do not tell their kind. */
#define LINK_PERF_EVENT	  7
#define LINK_UPROBE_MULTI 12
#define PERF_UPROBE	  1
#define PERF_URETPROBE	  2

/* What is probed. */
__attribute__((noinline, noclone)) static void feat_nothing(void)
{
	asm volatile("");
}

static int silent(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int attach_prog(struct attach *a, enum attach_kind kind, const struct bpf_program *prog,
		       const struct proc *self, int exe)
{
	const struct proc_map *m = proc__map_at(self, (uintptr_t)feat_nothing);
	struct attach_probe p = {.cookie = COOKIE};
	size_t refused;
	int err;

	if (!m)
		return -ENOENT;
	p.off = (uintptr_t)feat_nothing - m->begin + m->off;
	attach__init(a, kind, bpf_program__fd(prog));
	err = attach__add(a, exe, getpid(), &p, 1, &refused);
	/* The kernel without such links refuses by what it says of an instruction, too. */
	return !err && refused ? -EOPNOTSUPP : err;
}

static int on_event(void *arg, void *data, size_t size)
{
	u64 cookie;

	if (size < sizeof(cookie))
		return 0;
	memcpy(&cookie, data, sizeof(cookie));
	*(u32 *)arg += cookie == COOKIE;
	return 0;
}

/* Calls the probed function with one program on it. */
static int call_probed(enum attach_kind kind, const struct bpf_program *prog,
		       const struct proc *self, int exe)
{
	struct attach a;
	int err = attach_prog(&a, kind, prog, self, exe);

	for (u32 i = 0; !err && i < CALLS; i++)
		feat_nothing();
	attach__fini(&a);
	return err;
}

static int try_event(enum attach_kind kind, struct feat_bpf *skel, const struct proc *self, int exe)
{
	struct ring_buffer *ring;
	u32 seen = 0;
	int err;

	ring = ring_buffer__new(bpf_map__fd(skel->maps.feat_events), on_event, &seen, NULL);
	if (!ring)
		return -errno;
	err = call_probed(kind, skel->progs.hb_feat_event, self, exe);
	if (!err)
		err = ring_buffer__consume(ring);
	ring_buffer__free(ring);
	if (err < 0)
		return err;
	return seen == CALLS ? 0 : -ENODATA;
}

/* -EINVAL: a kernel without them. */
static int try_ringbuf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "hb_feat", 0, 0, 4096, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Without a ring buffer the other program can still be tried. */
static struct feat_bpf *load(struct feat_tried *t)
{
	u32 type = attach_prog_type(t->kind);
	struct feat_bpf *skel = feat_bpf__open();

	if (!skel) {
		t->load = -errno;
		return NULL;
	}
	t->ringbuf = try_ringbuf();
	bpf_map__set_autocreate(skel->maps.feat_events, !t->ringbuf);
	bpf_program__set_autoload(skel->progs.hb_feat_event, !t->ringbuf);
	bpf_program__set_expected_attach_type(skel->progs.hb_feat_hit, type);
	bpf_program__set_expected_attach_type(skel->progs.hb_feat_event, type);
	t->load = feat_bpf__load(skel);
	if (!t->load)
		return skel;
	feat_bpf__destroy(skel);
	return NULL;
}

void feat__try(struct feat_tried *t)
{
	struct feat_bpf *skel;
	struct proc *self = NULL;
	int exe = -1;

	*t = (struct feat_tried){.ringbuf = NOT_TRIED,
				 .load = NOT_TRIED,
				 .attach = NOT_TRIED,
				 .hit = NOT_TRIED,
				 .event = NOT_TRIED};
	libbpf_set_print(silent); /* what it would say is in the items */
	/* Without a way to attach, loading is still tried. */
	t->choose = attach__choose(&t->kind);
	skel = load(t);
	if (!skel)
		return;
	t->attach = t->choose ? t->choose : proc__open(getpid(), &self);
	if (t->attach)
		goto out;
	exe = proc__open_exe(self);
	t->attach = exe < 0 ? exe : call_probed(t->kind, skel->progs.hb_feat_hit, self, exe);
	if (t->attach)
		goto out;
	t->hit = skel->bss->feat_hits == CALLS && skel->bss->feat_cookie == COOKIE ? 0 : -ENODATA;
	if (!t->ringbuf)
		t->event = try_event(t->kind, skel, self, exe);
out:
	if (exe >= 0)
		close(exe);
	proc__close(self);
	feat_bpf__destroy(skel);
}

/* ---- items ---- */

static bool not_permitted(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* A missing capability has an item of its own, which fails: here it is only not known. */
static void denied(const struct feat_env *env, struct feat_item *it)
{
	bool may = feat_env__can(env, FEAT_CAP_SYS_ADMIN) ||
		   (feat_env__can(env, FEAT_CAP_BPF) && feat_env__can(env, FEAT_CAP_PERFMON));

	if (!may) {
		feat_set(it, FEAT_UNKNOWN, "not tried: this user may not");
		it->as_root = true;
		return;
	}
	feat_set(it, FEAT_FAIL, "not permitted, in spite of the capabilities");
	feat_remedy(it, "outside of a container: see lockdown above; inside of one: run hbprof "
			"outside, or docker run --privileged --pid=host");
}

void feat_load(const struct feat_env *env, struct feat_item *it)
{
	int err = env->tried->load;

	if (!err) {
		feat_set(it, FEAT_OK, "a small program was loaded");
	} else if (not_permitted(err)) {
		denied(env, it);
	} else if (err == -ENOSYS) {
		feat_set(it, FEAT_FAIL, "no bpf() in this kernel");
		feat_remedy(it, "a kernel with CONFIG_BPF_SYSCALL=y");
	} else {
		feat_set(it, FEAT_FAIL, "a small program cannot be loaded: %s", strerror(-err));
		feat_remedy(it, "see kernel and btf above; CONFIG_BPF_SYSCALL=y, CONFIG_UPROBES=y, "
				"CONFIG_BPF_EVENTS=y");
	}
}

void feat_uprobe_multi(const struct feat_env *env, struct feat_item *it)
{
	const struct feat_tried *t = env->tried;

	if (t->load) {
		feat_set(it, FEAT_UNKNOWN, "not tried: no program was loaded");
		it->as_root = not_permitted(t->load);
	} else if (not_permitted(t->attach)) {
		denied(env, it);
	} else if (t->attach) {
		feat_set(it, FEAT_FAIL, "cannot attach: %s", strerror(-t->attach));
		feat_remedy(it, "Linux 6.6 or later (5.15: with perf events) with CONFIG_UPROBES=y "
				"and CONFIG_BPF_EVENTS=y");
	} else if (t->hit) {
		feat_set(it, FEAT_FAIL, "attached, but calls of the probed function are not seen");
		feat_remedy(it, "run hbprof outside of a container, not in an emulator of system "
				"calls (gVisor)");
	} else if (t->kind == ATTACH_PERF) {
		feat_set(it, FEAT_WARN,
			 "not in this kernel; with a perf event for each probe, each call was "
			 "seen. Taking one off takes tens of ms: %u are used at most",
			 BUDGET_DEFAULT);
		feat_remedy(it, "Linux 6.6 or later; or choose yourself with --max-sites");
	} else {
		feat_set(it, FEAT_OK,
			 "a function of hbprof's own was probed and called; each call "
			 "was seen");
	}
}

void feat_ringbuf(const struct feat_env *env, struct feat_item *it)
{
	const struct feat_tried *t = env->tried;

	if (!t->event) {
		feat_set(it, FEAT_OK, "messages arrive");
	} else if (t->event == NOT_TRIED && (!t->ringbuf || not_permitted(t->ringbuf))) {
		feat_set(it, FEAT_UNKNOWN, "not tried: nothing was probed");
		it->as_root = not_permitted(t->load) || not_permitted(t->ringbuf);
	} else if (t->event == NOT_TRIED) {
		feat_set(it, FEAT_FAIL, "none can be made: %s", strerror(-t->ringbuf));
		feat_remedy(it, "Linux 5.8 or later, on a machine with memory to spare");
	} else {
		feat_set(it, FEAT_FAIL, "messages do not arrive: %s", strerror(-t->event));
	}
}

/* ---- other tracers ---- */

/* struct bpf_link_info of linux/bpf.h, as far as it is read. */
struct link_info {
	u32 type, id, prog_id, pad;
	u32 perf_type; /* the union begins at 16 */
	u8 rest[108];
};

/* True: a link with uprobes. */
static bool link_is_uprobe(u32 id)
{
	struct link_info info = {0};
	u32 len = sizeof(info);
	int fd = bpf_link_get_fd_by_id(id), err;

	if (fd < 0)
		return false; /* gone meanwhile */
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (err)
		return false;
	return info.type == LINK_UPROBE_MULTI ||
	       (info.type == LINK_PERF_EVENT &&
		(info.perf_type == PERF_UPROBE || info.perf_type == PERF_URETPROBE));
}

void feat_links(const struct feat_env *env, struct feat_item *it)
{
	u32 id = 0, uprobes = 0, seen = 0;

	errno = 0;
	for (; seen < MAX_LINKS && !bpf_link_get_next_id(id, &id); seen++)
		uprobes += link_is_uprobe(id);
	if (errno == EPERM || errno == EACCES) {
		feat_set(it, FEAT_UNKNOWN, "listing them needs CAP_SYS_ADMIN");
		it->as_root = true;
	} else if (seen < MAX_LINKS && errno != ENOENT) {
		feat_set(it, FEAT_UNKNOWN, "they cannot be listed: %s", strerror(errno));
	} else if (!uprobes) {
		feat_set(it, FEAT_OK, "none of %u is a uprobe", seen);
	} else {
		feat_set(it, FEAT_WARN,
			 "%u with uprobes: where they are in measured code, their time "
			 "is measured as the program's",
			 uprobes);
		feat_remedy(it, "end the other tracer, or another hbprof; bpftool link names them");
	}
}
