/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_usermem.c - the memory of the traced process, for BPF programs compiled on the host: ranges of
 * bytes at addresses that the test chooses. Everything else faults, as unmapped pages do.
 *
 * A failed read clears the destination; a string is cut at the buffer's end and is terminated, and
 * the result counts the terminator: bpf_probe_read_user() and _str() in kernel/trace/bpf_trace.c.
 */
#include "bpf_kernel.h"
#include <bpf/bpf_helpers.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_kernel_impl.h"

struct range {
	u64 addr, len;
	u8 *bytes;
};

static struct range *ranges;
static u32 nr_ranges;

void kernel__user_clear(void)
{
	for (u32 i = 0; i < nr_ranges; i++)
		free(ranges[i].bytes);
	free(ranges);
	ranges = NULL;
	nr_ranges = 0;
}

/* The byte at addr, and how many follow in the same range. */
static u8 *user_at(u64 addr, u64 *left)
{
	for (u32 i = 0; i < nr_ranges; i++) {
		struct range *r = &ranges[i];

		if (addr >= r->addr && addr - r->addr < r->len) {
			*left = r->len - (addr - r->addr);
			return r->bytes + (addr - r->addr);
		}
	}
	return NULL;
}

void kernel__user_add(u64 addr, u64 len)
{
	for (u32 i = 0; i < nr_ranges; i++)
		if (addr < ranges[i].addr + ranges[i].len && ranges[i].addr < addr + len)
			kernel__die("user memory at %#llx is there already", addr);
	ranges = realloc(ranges, (nr_ranges + 1) * sizeof(*ranges));
	if (!ranges)
		kernel__die("out of memory");
	ranges[nr_ranges] = (struct range){addr, len, calloc(1, len)};
	if (!ranges[nr_ranges++].bytes)
		kernel__die("out of memory");
}

void kernel__user_remove(u64 addr)
{
	for (u32 i = 0; i < nr_ranges; i++) {
		if (ranges[i].addr == addr) {
			free(ranges[i].bytes);
			ranges[i] = ranges[--nr_ranges];
			return;
		}
	}
	kernel__die("no user memory begins at %#llx", addr);
}

static int user_read(u8 *to, u64 addr, u64 len)
{
	while (len) {
		u64 n;
		const u8 *from = user_at(addr, &n);

		if (!from)
			return -EFAULT;
		n = n < len ? n : len;
		memcpy(to, from, n);
		to += n;
		addr += n;
		len -= n;
	}
	return 0;
}

void kernel__user_write(u64 addr, const void *from, u64 len)
{
	u64 left;
	u8 *to = user_at(addr, &left);

	if (!len)
		return;
	if (!to || left < len)
		kernel__die("a test wrote %llu bytes to %#llx, where there is no memory", len,
			    addr);
	memcpy(to, from, len);
}

void kernel__user_write64(u64 addr, u64 value)
{
	kernel__user_write(addr, &value, sizeof(value));
}

u64 kernel__user_read64(u64 addr)
{
	u64 value;

	if (user_read((u8 *)&value, addr, sizeof(value)))
		kernel__die("a test read at %#llx, where there is no memory", addr);
	return value;
}

long bpf_probe_read_user(void *dst, __u32 size, const void *unsafe_ptr)
{
	int err = kernel__fault(KERNEL_READ_USER, NULL);

	if (!err)
		err = user_read(dst, (u64)unsafe_ptr, size);
	if (err)
		memset(dst, 0, size);
	return err;
}

long bpf_probe_read_user_str(void *dst, __u32 size, const void *unsafe_ptr)
{
	int err = kernel__fault(KERNEL_READ_USER_STR, NULL);
	u64 addr = (u64)unsafe_ptr;
	u8 *to = dst;

	for (u32 i = 0; !err && i < size; i++) {
		err = user_read(to + i, addr + i, 1);
		if (!err && !to[i])
			return i + 1;
	}
	if (err) {
		memset(dst, 0, size);
		return err;
	}
	to[size - 1] = 0;
	return size;
}
