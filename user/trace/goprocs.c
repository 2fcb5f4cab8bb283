// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * goprocs.c - runtime.gomaxprocs is an int32 among the data of every Go program (runtime/runtime2.go, Go
 * 1.5 to 1.26). Where it is stands in .symtab only: a stripped program does not tell.
 */
#include "trace/goprocs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "sym/elfsym.h"
#include "util/array.h"

#define VARIABLE  "runtime.gomaxprocs"
#define MAX_PROCS (1 << 20) /* what is above is not it */
#define MAX_READS 64	    /* of processes, a look */

static int add_images(struct goprocs *g, const struct plan *pl)
{
	int err = 0;

	while (g->nr_images < pl->nr_images && !err) {
		const struct plan_image *pi = &pl->image[g->nr_images];

		err = array_grow((void **)&g->vaddr, g->nr_images, &g->cap_images,
				 sizeof(*g->vaddr));
		if (err)
			break;
		g->go |= pi->build != NULL;
		g->vaddr[g->nr_images++] = pi->build ? elfsym_data(pi->im, VARIABLE, sizeof(s32))
						     : 0;
	}
	return err;
}

/* 0: not known. */
static u32 read_value(pid_t pid, u64 addr)
{
	s32 value = 0;
	struct iovec local = {.iov_base = &value, .iov_len = sizeof(value)};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)addr, .iov_len = sizeof(value)};

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof(value))
		return 0;
	return value > 0 && value < MAX_PROCS ? (u32)value : 0;
}

int goprocs__look(struct goprocs *g, const struct session *s)
{
	const struct plan *pl = s->plan;
	int err = add_images(g, pl);
	u32 reads = 0;

	for (u32 i = 0; i < pl->nr_procs && !err && reads < MAX_READS; i++) {
		const struct plan_proc *pp = &pl->proc[i];

		/* Its id may be another process's by now. */
		if (i < s->nr_procs && s->proc[i].end_mono_ns)
			continue;
		for (u32 k = 0; k < pp->nr_maps && pp->proc; k++) {
			u64 vaddr = g->vaddr[pp->map[k].image];
			u32 n;

			if (!vaddr)
				continue;
			reads++;
			n = read_value(pp->proc->pid, vaddr + pp->map[k].bias);
			if (n && (!g->least || n < g->least))
				g->least = n;
			g->most = n > g->most ? n : g->most;
		}
	}
	return err;
}

int goprocs__tell(const struct goprocs *g, struct m_host *h)
{
	char text[64];

	if (!g->go)
		return 0;
	if (!g->most)
		snprintf(text, sizeof(text), "n/a (the program has no symbol of it, or has ended)");
	else if (g->least == g->most)
		snprintf(text, sizeof(text), "%u", g->most);
	else
		snprintf(text, sizeof(text), "%u to %u", g->least, g->most);
	return m_host__add(h, M_RUN_FACT "gomaxprocs", text);
}

void goprocs__fini(struct goprocs *g)
{
	free(g->vaddr);
	*g = (struct goprocs){0};
}
