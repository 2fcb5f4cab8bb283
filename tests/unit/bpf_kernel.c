/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_kernel.c - maps, clock, current task and planted faults for BPF programs compiled on the host.
 * User memory is in bpf_usermem.c.
 *
 * Results of the map helpers as in kernel/bpf/hashtab.c and arraymap.c of Linux 6.1.
 */
#include "bpf_kernel.h"
#include <bpf/bpf_helpers.h>

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_kernel_impl.h"

#define MAX_MAPS     32
#define MAX_FAULTS   8
#define HASH_BUCKETS 1024
#define RING_HEADER  8 /* BPF_RINGBUF_HDR_SZ */

struct elem {
	struct elem *next;
	void *key;
	void *value;
};

struct record {
	struct record *next;
	struct kernel_map_state *ring;
	u32 size;
	bool submitted;
	u64 data[];
};

struct kernel_map_state {
	struct kernel_map def;
	void **slots;	      /* arrays: [cpu * max_entries + index], made on first use */
	struct elem **bucket; /* hashes */
	struct record *first; /* rings, oldest first */
	u64 used_bytes;
	u32 nr;
};

struct fault {
	enum kernel_helper helper;
	const void *map;
	u32 skip, times;
	int err;
};

struct kernel kernel;
static struct kernel_map_state maps[MAX_MAPS];
static u32 nr_maps;
static struct fault faults[MAX_FAULTS];
static u32 nr_faults;

void kernel__die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static void *zalloc(u64 size)
{
	void *p = calloc(1, size);

	if (!p)
		kernel__die("out of memory");
	return p;
}

/* ---- faults ---- */

void kernel__plant(enum kernel_helper helper, const void *map, u32 skip, u32 times, int err)
{
	u32 i = 0;

	while (i < nr_faults && faults[i].times)
		i++;
	if (i == MAX_FAULTS)
		kernel__die("too many planted faults");
	if (i == nr_faults)
		nr_faults++;
	faults[i] = (struct fault){helper, map, skip, times, err};
}

int kernel__fault(enum kernel_helper helper, const void *map)
{
	for (u32 i = 0; i < nr_faults; i++) {
		struct fault *f = &faults[i];

		if (f->helper != helper || (f->map && f->map != map) || !f->times)
			continue;
		if (f->skip) {
			f->skip--;
			continue;
		}
		f->times--;
		return f->err;
	}
	return 0;
}

/* ---- maps ---- */

static bool is_array(const struct kernel_map_state *m)
{
	return m->def.type == BPF_MAP_TYPE_ARRAY || m->def.type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static struct kernel_map_state *map_of(const void *id)
{
	for (u32 i = 0; i < nr_maps; i++)
		if (maps[i].def.id == id)
			return &maps[i];
	kernel__die("a helper was called with %p, which is no map", id);
	return NULL;
}

static void elem_free(struct elem *e)
{
	free(e->key);
	free(e->value);
	free(e);
}

static void map_clear(struct kernel_map_state *m)
{
	if (m->slots)
		for (u64 i = 0; i < (u64)m->def.max_entries * KERNEL_CPUS; i++)
			free(m->slots[i]);
	free(m->slots);
	for (u32 i = 0; m->bucket && i < HASH_BUCKETS; i++) {
		while (m->bucket[i]) {
			struct elem *e = m->bucket[i];

			m->bucket[i] = e->next;
			elem_free(e);
		}
	}
	free(m->bucket);
	while (m->first) {
		struct record *r = m->first;

		m->first = r->next;
		free(r);
	}
	m->slots = NULL;
	m->bucket = NULL;
	m->used_bytes = 0;
	m->nr = 0;
}

void kernel__reset(const struct kernel_map *defs, u32 nr)
{
	if (nr > MAX_MAPS)
		kernel__die("%u maps are too many", nr);
	for (u32 i = 0; i < nr_maps; i++)
		map_clear(&maps[i]);
	kernel__user_clear();
	memset(maps, 0, sizeof(maps));
	memset(&kernel, 0, sizeof(kernel));
	nr_faults = 0;
	nr_maps = nr;
	for (u32 i = 0; i < nr; i++)
		maps[i].def = defs[i];
}

void kernel__check_out(void)
{
	for (u32 i = 0; i < nr_faults; i++)
		if (faults[i].times)
			kernel__die("a planted fault of helper %d was not met", faults[i].helper);
	for (u32 i = 0; i < nr_maps; i++)
		for (struct record *r = maps[i].first; r; r = r->next)
			if (!r->submitted)
				kernel__die("a record was reserved and never submitted");
	kernel__reset(NULL, 0);
}

void kernel__map_resize(const void *map, u32 max_entries)
{
	struct kernel_map_state *m = map_of(map);

	if (m->slots || m->bucket || m->first)
		kernel__die("%s is in use already", m->def.name);
	m->def.max_entries = max_entries;
}

static void *array_at(struct kernel_map_state *m, u32 cpu, u32 i)
{
	void **slot;

	if (i >= m->def.max_entries)
		return NULL;
	if (!m->slots)
		m->slots = zalloc((u64)m->def.max_entries * KERNEL_CPUS * sizeof(*m->slots));
	if (m->def.type == BPF_MAP_TYPE_ARRAY)
		cpu = 0;
	slot = &m->slots[(u64)cpu * m->def.max_entries + i];
	if (!*slot)
		*slot = zalloc(m->def.value_size);
	return *slot;
}

/* Where the pointer to the element is, or where it would be put. */
static struct elem **hash_at(struct kernel_map_state *m, const void *key)
{
	const u8 *b = key;
	struct elem **at;
	u32 h = 2166136261u;

	for (u32 i = 0; i < m->def.key_size; i++)
		h = (h ^ b[i]) * 16777619u;
	if (!m->bucket)
		m->bucket = zalloc(HASH_BUCKETS * sizeof(*m->bucket));
	at = &m->bucket[(h ^ h >> 16) % HASH_BUCKETS];
	while (*at && memcmp((*at)->key, key, m->def.key_size))
		at = &(*at)->next;
	return at;
}

void *kernel__map_at(const void *map, u32 cpu, const void *key)
{
	struct kernel_map_state *m = map_of(map);
	struct elem *e;
	u32 i;

	if (is_array(m)) {
		memcpy(&i, key, sizeof(i));
		return array_at(m, cpu, i);
	}
	e = *hash_at(m, key);
	return e ? e->value : NULL;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	if (kernel__fault(KERNEL_LOOKUP, map))
		return NULL;
	return kernel__map_at(map, kernel.cpu, key);
}

/* An update is a new element in place of the old one: pointers to that one are stale. */
static long hash_update(struct kernel_map_state *m, const void *key, const void *value, u64 flags)
{
	struct elem **at = hash_at(m, key);
	struct elem *e;

	if (*at && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!*at && flags == BPF_EXIST)
		return -ENOENT;
	if (!*at && m->nr >= m->def.max_entries)
		return -E2BIG;
	e = zalloc(sizeof(*e));
	e->key = zalloc(m->def.key_size);
	e->value = zalloc(m->def.value_size);
	memcpy(e->key, key, m->def.key_size);
	memcpy(e->value, value, m->def.value_size);
	if (*at) {
		e->next = (*at)->next;
		elem_free(*at);
	} else {
		m->nr++;
	}
	*at = e;
	return 0;
}

static long map_update(struct kernel_map_state *m, const void *key, const void *value, u64 flags)
{
	void *old;
	u32 i;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (!is_array(m))
		return hash_update(m, key, value, flags);
	memcpy(&i, key, sizeof(i));
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	old = array_at(m, kernel.cpu, i);
	if (!old)
		return -E2BIG;
	memcpy(old, value, m->def.value_size);
	return 0;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	int err = kernel__fault(KERNEL_UPDATE, map);

	return err ? err : map_update(map_of(map), key, value, flags);
}

void kernel__map_set(const void *map, const void *key, const void *value)
{
	struct kernel_map_state *m = map_of(map);
	long err = map_update(m, key, value, BPF_ANY);

	if (err)
		kernel__die("cannot set an element of %s: %ld", m->def.name, err);
}

long bpf_map_delete_elem(void *map, const void *key)
{
	struct kernel_map_state *m = map_of(map);
	int err = kernel__fault(KERNEL_DELETE, map);
	struct elem **at, *e;

	if (err)
		return err;
	if (is_array(m))
		return -EINVAL;
	at = hash_at(m, key);
	e = *at;
	if (!e)
		return -ENOENT;
	*at = e->next;
	elem_free(e);
	m->nr--;
	return 0;
}

u32 kernel__map_nr(const void *map)
{
	return map_of(map)->nr;
}

void kernel__map_each(const void *map, void (*visit)(const void *key, void *value, void *arg),
		      void *arg)
{
	struct kernel_map_state *m = map_of(map);

	for (u32 i = 0; m->bucket && i < HASH_BUCKETS; i++)
		for (struct elem *e = m->bucket[i]; e; e = e->next)
			visit(e->key, e->value, arg);
}

/* ---- ring buffer ---- */

static u64 record_room(u32 size)
{
	return (size + RING_HEADER + 7ULL) & ~7ULL;
}

void *bpf_ringbuf_reserve(void *ringbuf, __u64 size, __u64 flags)
{
	struct kernel_map_state *m = map_of(ringbuf);
	struct record *r, **at;

	if (flags || m->def.type != BPF_MAP_TYPE_RINGBUF)
		kernel__die("bpf_ringbuf_reserve: bad arguments");
	if (kernel__fault(KERNEL_RESERVE, ringbuf) ||
	    record_room(size) > m->def.max_entries - m->used_bytes)
		return NULL;
	r = zalloc(sizeof(*r) + size);
	r->ring = m;
	r->size = size;
	/* The kernel hands out what was in the ring before. */
	memset(r->data, 0xa5, size);
	for (at = &m->first; *at;)
		at = &(*at)->next;
	*at = r;
	m->used_bytes += record_room(size);
	m->nr++;
	return r->data;
}

void bpf_ringbuf_submit(void *data, __u64 flags)
{
	struct record *r = (struct record *)((u8 *)data - offsetof(struct record, data));

	if (r->submitted)
		kernel__die("a record was submitted twice");
	r->submitted = true;
}

int kernel__ring_take(const void *map, void *out, u32 size)
{
	struct kernel_map_state *m = map_of(map);
	struct record *r = m->first;

	if (!r || !r->submitted)
		return -1;
	if (r->size != size)
		kernel__die("a record of %u bytes was taken as one of %u", r->size, size);
	memcpy(out, r->data, size);
	m->first = r->next;
	m->used_bytes -= record_room(size);
	m->nr--;
	free(r);
	return 0;
}

/* ---- clock and current task ---- */

__u64 bpf_ktime_get_ns(void)
{
	kernel.nr_clock_reads++;
	kernel.now_ns += kernel.clock_step;
	return kernel.now_ns;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return kernel.pid_tgid;
}

long bpf_get_current_comm(void *buf, __u32 size)
{
	memset(buf, 0, size);
	if (kernel.comm)
		memcpy(buf, kernel.comm, strnlen(kernel.comm, size - 1));
	return 0;
}

/* The namespace is told by its number alone; its ids are the others less a constant. */
long bpf_get_ns_current_pid_tgid(__u64 dev, __u64 ino, struct bpf_pidns_info *ns, __u32 size)
{
	if (ino != kernel.pidns_ino)
		return -22;
	ns->pid = (u32)kernel.pid_tgid - kernel.pidns_shift;
	ns->tgid = (u32)(kernel.pid_tgid >> 32) - kernel.pidns_shift;
	return 0;
}

__u64 bpf_get_attach_cookie(void *ctx)
{
	return kernel.cookie;
}

__u64 bpf_get_current_task(void)
{
	return (__u64)&kernel.task;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return &kernel.task;
}

__u32 bpf_get_smp_processor_id(void)
{
	return kernel.cpu;
}

long bpf_perf_event_read_value(void *map, __u64 flags, struct bpf_perf_event_value *buf,
			       __u32 buf_size)
{
	int err = kernel__fault(KERNEL_READ_EVENT, map);
	void (*interrupt)(void) = kernel.interrupt;

	kernel.interrupt = NULL;
	if (interrupt)
		interrupt();
	if (map_of(map)->def.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY || buf_size != sizeof(*buf))
		kernel__die("bpf_perf_event_read_value: bad arguments");
	memset(buf, 0, sizeof(*buf));
	if (!err && flags >= map_of(map)->def.max_entries)
		err = -E2BIG;
	if (!err)
		*buf = kernel.event[flags];
	return err;
}

long bpf_task_pt_regs(struct task_struct *task)
{
	return task == &kernel.task ? (long)&kernel.user : 0;
}

/* Kernel memory is the test's own: what it points to is there. */
long bpf_probe_read_kernel(void *dst, __u32 size, const void *unsafe_ptr)
{
	int err = kernel__fault(KERNEL_READ_KERNEL, NULL);

	if (err || !unsafe_ptr) {
		memset(dst, 0, size);
		return err ? err : -EFAULT;
	}
	memcpy(dst, unsafe_ptr, size);
	return 0;
}

/* Nothing is ever in such a map: the caller goes on. */
long bpf_tail_call(void *ctx, void *prog_array_map, __u32 index)
{
	return -2;
}
