// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verify.c - is the code at a site still what was decoded? A probe on a stale offset would end the
 * target. Sites come by address, many to a page, so a page is read once for all of them: two system
 * calls for each of 8,000 sites took as long as attaching them.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/session_impl.h"

#define PAGE 4096

static void page_read(const struct session *s, u32 proc, u32 image, u64 vaddr, struct code_page *p)
{
	const struct plan_image *pi = &s->plan->image[image];
	const struct plan_map *map = plan__map(s->plan, proc, image);
	/* Up to the end of its page, and on, as an instruction may lie across it. */
	size_t len = PAGE - vaddr % PAGE + SITE_BYTES;
	struct iovec local = {.iov_base = p->memory, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)(vaddr + map->bias), .iov_len = len};
	u64 off;

	p->image = pi;
	p->vaddr = vaddr;
	p->nr_file = p->nr_memory = 0;
	if (image__off(pi->im, vaddr, &off))
		return;
	p->nr_file = pread(pi->im->fd, p->file, len, (off_t)off);
	p->nr_memory = process_vm_readv(s->plan->proc[proc].proc->pid, &local, 1, &remote, 1, 0);
	p->unreadable = p->nr_memory < 0 && errno != EFAULT;
}

bool session__site_intact(const struct session *s, u32 proc, u32 image, const struct site *site,
			  struct code_page *p)
{
	const struct plan_image *pi = &s->plan->image[image];
	const u8 *memory;
	size_t brk_len;
	u64 at;

	if (p->image != pi || site->vaddr < p->vaddr || site->vaddr / PAGE != p->vaddr / PAGE)
		page_read(s, proc, image, site->vaddr, p);
	at = site->vaddr - p->vaddr;
	if (p->nr_file < (ssize_t)(at + site->len) ||
	    memcmp(p->file + at, site->bytes, site->len) != 0)
		return false;
	if (p->unreadable)
		return true; /* not permitted, or the process is gone: the file was compared */
	/* A library may be unloaded before it is probed: the file was compared, and it may come again. */
	if (p->nr_memory < 0)
		return true;
	if (p->nr_memory < (ssize_t)(at + site->len))
		return false; /* it ends before this code does */
	/* In memory a breakpoint of another tracer may stand in its place. */
	memory = p->memory + at;
	brk_len = pi->ops->breakpoint_len;
	return !memcmp(memory + brk_len, site->bytes + brk_len, site->len - brk_len) &&
	       (!memcmp(memory, site->bytes, brk_len) ||
		!memcmp(memory, pi->ops->breakpoint, brk_len));
}
