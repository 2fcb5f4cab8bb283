// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * others.c - breakpoints in the code of planned functions, whose they are, and what is said of it. The
 * breakpoints come first: they are few, and only where there is one it matters who has set it.
 */
#include "trace/others.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "model/model.h"
#include "target/proc.h"
#include "trace/others_impl.h"
#include "trace/plan.h"
#include "util/array.h"
#include "util/fsutil.h"
#include "util/log.h"

#define MAX_CODE   65536 /* bytes of a function that are looked at */
#define MIN_CODE   16	 /* of one whose size is not known */
#define MAX_BREAKS 4096
#define MAX_OTHERS 64
#define MAX_COMM   4096

/* ---- who ---------------------------------------------------------------------------------- */

static struct other *other__get(struct others_scan *s, enum other_kind kind, const char *who)
{
	struct others *o = s->out;
	struct other *v;

	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].kind == kind && !strcmp(o->v[i].who, who))
			return &o->v[i];
	if (o->nr >= MAX_OTHERS) {
		o->cut = true;
		return NULL;
	}
	if (array_grow((void **)&o->v, o->nr, &o->cap, sizeof(*o->v))) {
		s->err = -ENOMEM;
		return NULL;
	}
	v = &o->v[o->nr++];
	*v = (struct other){.kind = kind};
	snprintf(v->who, sizeof(v->who), "%s", who);
	return v;
}

static void note_func(struct others_scan *s, enum other_kind kind, const char *who, u32 func)
{
	struct other *v = other__get(s, kind, who);

	if (!v || func >= PLAN_MAX_FUNCS || v->has[func / 8] & 1 << func % 8)
		return;
	v->has[func / 8] |= (u8)(1 << func % 8);
	if (!v->nr_funcs++)
		snprintf(v->func, sizeof(v->func), "%s", s->pl->func[func].f->name);
}

void others__name_process(pid_t pid, char *buf, size_t len)
{
	char path[64], *s = NULL;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (fs_read_file(path, MAX_COMM, &s, &n)) {
		snprintf(buf, len, "process %d", (int)pid);
		return;
	}
	s[strcspn(s, "\n")] = '\0';
	snprintf(buf, len, "%s, process %d", s, (int)pid);
	free(s);
}

/* ---- breakpoints -------------------------------------------------------------------------- */

static void note_break(struct others_scan *s, u32 image, u32 func, u64 off)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->brk[i].image == image && s->brk[i].off == off)
			return;
	if (s->nr >= MAX_BREAKS || s->err)
		return;
	if (array_grow((void **)&s->brk, s->nr, &s->cap, sizeof(*s->brk)))
		s->err = -ENOMEM;
	else
		s->brk[s->nr++] = (struct other_break){.image = image, .func = func, .off = off};
}

/* A byte that is a breakpoint's in memory and not in the file. */
static void compare_code(struct others_scan *s, u32 func, const u8 *file, const u8 *memory,
			 size_t len, u64 off)
{
	u32 image = s->pl->func[func].image;
	const struct insn_ops *ops = s->pl->image[image].ops;
	size_t n = ops->breakpoint_len;

	if (!memcmp(file, memory, len))
		return;
	for (size_t i = 0; n && i + n <= len; i += n)
		if (memcmp(file + i, memory + i, n) && !memcmp(memory + i, ops->breakpoint, n))
			note_break(s, image, func, off + i);
}

/* False: the memory cannot be read. */
static bool scan_func(struct others_scan *s, u32 proc, u32 func, u8 *memory)
{
	const struct plan_func *pf = &s->pl->func[func];
	const struct plan_image *pi = &s->pl->image[pf->image];
	const struct plan_map *map = plan__map(s->pl, proc, pf->image);
	size_t len = pf->f->size > MAX_CODE ? MAX_CODE : pf->f->size ? pf->f->size : MIN_CODE;
	struct iovec local = {.iov_base = memory, .iov_len = len}, remote;
	const u8 *file;
	ssize_t got;
	u64 off;

	if (!map || image__off(pi->im, pf->f->vaddr, &off))
		return true;
	remote = (struct iovec){.iov_base = (void *)(uintptr_t)(pf->f->vaddr + map->bias),
				.iov_len = len};
	got = process_vm_readv(s->pl->proc[proc].proc->pid, &local, 1, &remote, 1, 0);
	if (got < 0)
		return errno == EFAULT; /* unmapped meanwhile */
	file = image__bytes(pi->im, off, (u64)got);
	if (file)
		compare_code(s, func, file, memory, (size_t)got, off);
	return true;
}

static void scan_proc(struct others_scan *s, u32 proc, u8 *memory)
{
	const struct proc *p = s->pl->proc[proc].proc;
	pid_t tracer = proc__tracer(p);
	char who[96];

	if (!proc__alive(p)) {
		s->out->blind++;
		return;
	}
	/* hbprof itself holds a command that it starts. */
	if (tracer > 0 && tracer != getpid()) {
		others__name_process(tracer, who, sizeof(who));
		other__get(s, OTHER_DEBUGGER, who);
	}
	for (u32 i = 0; i < p->nr_maps; i++)
		if (strstr(p->map[i].path, "/libmcount"))
			other__get(s, OTHER_MCOUNT, "uftrace");
	for (u32 i = 0; i < s->pl->nr_funcs; i++) {
		if (scan_func(s, proc, i, memory))
			continue;
		s->out->blind++;
		return;
	}
}

/* ---- whose -------------------------------------------------------------------------------- */

/* The image that is this file: by what it is, or, from another mount namespace, by its name. */
static bool same_file(const struct plan_image *pi, const char *path, const struct stat *st)
{
	if (st)
		return st->st_dev == pi->im->dev && st->st_ino == pi->im->ino;
	return pi->path && !strcmp(pi->path, path);
}

void others__probe(struct others_scan *s, const char *path, u64 off, const char *who)
{
	struct stat st;
	bool there = !stat(path, &st);

	for (size_t i = 0; i < s->nr; i++) {
		if (s->brk[i].off != off ||
		    !same_file(&s->pl->image[s->brk[i].image], path, there ? &st : NULL))
			continue;
		s->brk[i].explained = true;
		note_func(s, OTHER_PROBES, who, s->brk[i].func);
	}
}

int others__look(const struct plan *pl, struct others *o)
{
	struct others_scan s = {.pl = pl, .out = o};
	u8 *memory = malloc(MAX_CODE);
	bool debugged = false;

	if (!memory)
		return -ENOMEM;
	for (u32 i = 0; i < pl->nr_procs && !s.err; i++)
		scan_proc(&s, i, memory);
	free(memory);
	if (s.nr) {
		others__scan_bpf(&s);
		others__scan_events(&s, "");
	}
	for (size_t i = 0; i < o->nr; i++)
		debugged |= o->v[i].kind == OTHER_DEBUGGER;
	/* A debugger's breakpoints are no secret: it is told of. */
	for (size_t i = 0; i < s.nr && !debugged; i++)
		if (!s.brk[i].explained)
			note_func(&s, OTHER_BREAKS, "somebody unknown", s.brk[i].func);
	free(s.brk);
	return s.err;
}

void others__fini(struct others *o)
{
	free(o->v);
	*o = (struct others){0};
}

/* ---- what is said ------------------------------------------------------------------------- */

static void sentence(const struct other *v, const char *when, char *buf, size_t len)
{
	char where[192] = "";

	if (v->nr_funcs == 1)
		snprintf(where, sizeof(where), "%s", v->func);
	else if (v->nr_funcs)
		snprintf(where, sizeof(where), "%s and %u other function%s", v->func,
			 v->nr_funcs - 1, v->nr_funcs == 2 ? "" : "s");
	switch ((enum other_kind)v->kind) {
	case OTHER_PROBES:
		snprintf(buf, len,
			 "another tracer (%s) probes the measured code too%s: %s; its time is in "
			 "the latencies",
			 v->who, when, where);
		break;
	case OTHER_BREAKS:
		snprintf(buf, len,
			 "breakpoints of %s (a debugger? a tracer?) stand in the measured code%s: "
			 "%s; their time is in the latencies",
			 v->who, when, where);
		break;
	case OTHER_DEBUGGER:
		snprintf(buf, len,
			 "a debugger (%s) is attached to the measured process%s: its stops are in "
			 "the latencies",
			 v->who, when);
		break;
	case OTHER_MCOUNT:
		snprintf(buf, len,
			 "%s records the measured process%s: its time is in the latencies", v->who,
			 when);
		break;
	}
}

static const struct other *find(const struct others *o, const struct other *v)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].kind == v->kind && !strcmp(o->v[i].who, v->who))
			return &o->v[i];
	return NULL;
}

static int tell(const struct other *v, const char *when, struct recording *r)
{
	char text[512];

	sentence(v, when, text, sizeof(text));
	return recording__warn(r, "%s", text);
}

int others__tell(const struct others *before, const struct others *after, struct recording *r)
{
	int err = 0;

	for (size_t i = 0; i < before->nr && !err; i++) {
		bool gone = !after->blind && !find(after, &before->v[i]);

		err = tell(&before->v[i], gone ? " (not until the end)" : "", r);
	}
	for (size_t i = 0; i < after->nr && !err; i++)
		if (!find(before, &after->v[i]))
			err = tell(&after->v[i], " (not from the start)", r);
	return err;
}

void others__log(const struct others *now)
{
	char text[512];

	for (size_t i = 0; i < now->nr; i++) {
		sentence(&now->v[i], "", text, sizeof(text));
		log_warn("%s", text);
	}
}
