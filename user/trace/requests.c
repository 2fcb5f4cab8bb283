// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * requests.c - see requests.h. The table of system calls; the ports that are listened on; attaching
 * and taking off. Rows are read in requests_read.c.
 */
#include "trace/requests.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sym/registry.h"
#include "trace/requests_impl.h"
#include "trace/switches.h"
#include "hbprof.skel.h"
#include "util/log.h"

#define PORTS_MAX 65536

/* Each moves data of a socket or makes a connection; names of tracepoints below syscalls/. */
static const struct syscall {
	const char *name;
	u32 cookie;
} syscalls[] = {
	{"read", HB_REQ_OP_READ | HB_REQ_OP_BUF},
	{"readv", HB_REQ_OP_READ | HB_REQ_OP_IOV},
	{"recvfrom", HB_REQ_OP_READ | HB_REQ_OP_BUF | HB_REQ_OP_RECV},
	{"preadv2", HB_REQ_OP_READ | HB_REQ_OP_IOV},
	{"recvmsg", HB_REQ_OP_READ | HB_REQ_OP_MSG},
	{"recvmmsg", HB_REQ_OP_READ | HB_REQ_OP_MMSG | HB_REQ_OP_RECV},
	{"write", HB_REQ_OP_WRITE | HB_REQ_OP_BUF},
	{"writev", HB_REQ_OP_WRITE | HB_REQ_OP_IOV},
	{"sendto", HB_REQ_OP_WRITE | HB_REQ_OP_BUF | HB_REQ_OP_RECV},
	{"pwritev2", HB_REQ_OP_WRITE | HB_REQ_OP_IOV},
	{"sendmsg", HB_REQ_OP_WRITE | HB_REQ_OP_MSG},
	{"sendmmsg", HB_REQ_OP_WRITE | HB_REQ_OP_MMSG},
	{"sendfile64", HB_REQ_OP_WRITE},
	{"splice", HB_REQ_OP_READ | HB_REQ_OP_SPLICE},
	{"accept", HB_REQ_OP_ACCEPT},
	{"accept4", HB_REQ_OP_ACCEPT},
	{"connect", HB_REQ_OP_CONNECT},
};

#define NR_SYSCALLS (sizeof(syscalls) / sizeof(*syscalls))

_Static_assert(2 * NR_SYSCALLS + 3 <= REQUESTS_LINKS, "room for both ends of each, and three");

/* ---- programs and maps --------------------------------------------------------------------- */

/* Serialization is what the registry calls so, and functions of the user's own that he says encode or
 * decode. */
static bool is_serialization(const struct func *f)
{
	if (f->traits & (REGISTRY_AROUND | REGISTRY_HANDLER))
		return false;
	return strcmp(f->codec, "probe") || strcmp(f->op, "call");
}

static void learn_groups(struct requests *r)
{
	u64 codecs = 0, handlers = 0;

	for (u32 i = 0; i < r->plan->nr_funcs; i++) {
		const struct plan_func *pf = &r->plan->func[i];

		if (is_serialization(pf->f))
			codecs |= 1ULL << pf->group;
		if (pf->f->traits & REGISTRY_HANDLER)
			handlers |= 1ULL << pf->group;
	}
	r->skel->bss->req_codec_groups = codecs;
	r->skel->bss->req_handler_groups = handlers;
}

/* Images of Go versions that keep g.goid at different places: then it is not read, and a goroutine is
 * its g alone. */
static void learn_go(struct requests *r)
{
	const struct plan *plan = r->plan;
	u32 off = 0;
	bool go = false, differ = false;

	for (u32 i = 0; i < plan->nr_images; i++) {
		if (!plan->image[i].build)
			continue;
		differ |= go && plan->image[i].layout.goid_off != off;
		off = plan->image[i].layout.goid_off;
		go = true;
	}
	r->skel->bss->req_goid_off = differ ? 0 : off;
	r->skel->bss->req_go = go;
}

void requests__learn(struct requests *r)
{
	if (!r)
		return;
	learn_groups(r);
	learn_go(r);
}

void requests__prepare(struct hbprof_bpf *k, const struct requests_opts *o)
{
	struct bpf_map *maps[] = {k->maps.req_conns,  k->maps.req_tasks,   k->maps.req_row_ids,
				  k->maps.req_rows,   k->maps.req_worlds,  k->maps.req_rates,
				  k->maps.req_counts, k->maps.req_children};

	k->rodata->cfg_requests = o->on;
	k->rodata->cfg_req_children = o->on && o->children;
	k->rodata->cfg_follow_go = o->on && o->follow_go;
	switches__prepare(k, o->on);
	if (o->on && o->max_conns)
		bpf_map__set_max_entries(k->maps.req_conns, o->max_conns);
	if (o->on)
		return;
	/* The hook in the codec program names these maps even where it is never run. */
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		bpf_map__set_max_entries(maps[i], 1);
	bpf_program__set_autoload(k->progs.hb_req_enter, false);
	bpf_program__set_autoload(k->progs.hb_req_exit, false);
	bpf_program__set_autoload(k->progs.hb_req_gone, false);
	bpf_program__set_autoload(k->progs.hb_req_state, false);
	bpf_program__set_autoload(k->progs.hb_req_uring, false);
	bpf_map__set_autocreate(k->maps.req_calls, false);
	bpf_map__set_autocreate(k->maps.req_ports, false);
	bpf_map__set_autocreate(k->maps.req_queue, false);
}

void requests__measured(struct requests *r, u32 pid)
{
	if (r && !bpf_map_delete_elem(bpf_map__fd(r->skel->maps.req_children), &pid))
		__atomic_fetch_sub(&r->skel->bss->nr_req_children, 1, __ATOMIC_RELAXED);
}

u64 requests__map_bytes(const struct requests *r)
{
	return r ? (u64)HB_REQ_ROWS * sizeof(struct hb_req_row) +
			       (u64)HB_MAX_PROCS *
				       (sizeof(struct hb_req_world) + sizeof(struct hb_req_rate)) +
			       (u64)bpf_map__max_entries(r->skel->maps.req_tasks) *
				       (sizeof(struct hb_frame_key) + sizeof(struct hb_req_task)) +
			       (u64)bpf_map__max_entries(r->skel->maps.req_queue) * 2 * sizeof(u64)
		 : 0;
}

int requests__new(struct hbprof_bpf *skel, const struct plan *plan, struct requests **out)
{
	struct requests *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->skel = skel;
	r->plan = plan;
	requests__learn(r);
	if (switches__new(skel, &r->switches))
		log_info("context switches of processes cannot be read on this kernel");
	*out = r;
	return 0;
}

/* ---- tracepoints ---------------------------------------------------------------------------- */

static const char *remedy(int err)
{
	if (err == -ENOENT)
		return access("/sys/kernel/tracing/events", R_OK)
			       ? " (tracefs is not mounted: mount -t tracefs tracefs "
				 "/sys/kernel/tracing)"
			       : " (this kernel has no system call tracepoints: "
				 "CONFIG_FTRACE_SYSCALLS)";
	return err == -EPERM || err == -EACCES ? " (needs root, or CAP_PERFMON and a readable "
						 "/sys/kernel/tracing)"
					       : "";
}

static int keep_link(struct requests *r, struct bpf_link *l)
{
	if (!l)
		return -errno;
	r->link[r->nr_links++] = l;
	return 0;
}

/* Both ends of a system call, the exit first: what enters then is sure to be seen leaving. What accept()
 * returns needs no entry, and servers wait in it when recording begins. */
static int attach_syscall(struct requests *r, const struct syscall *sc)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = sc->cookie);
	char enter[40], leave[40];
	int err;

	snprintf(enter, sizeof(enter), "sys_enter_%s", sc->name);
	snprintf(leave, sizeof(leave), "sys_exit_%s", sc->name);
	err = keep_link(r, bpf_program__attach_tracepoint_opts(r->skel->progs.hb_req_exit,
							       "syscalls", leave, &opts));
	if (!err && (sc->cookie & 3) != HB_REQ_OP_ACCEPT)
		err = keep_link(r, bpf_program__attach_tracepoint_opts(r->skel->progs.hb_req_enter,
								       "syscalls", enter, &opts));
	if (err)
		log_err("cannot see requests: tracepoint syscalls/%s: %s%s", enter, strerror(-err),
			remedy(err));
	return err;
}

/* A kernel without io_uring lacks the tracepoint. */
static void attach_uring(struct requests *r)
{
	struct bpf_link *l = bpf_program__attach_tracepoint(r->skel->progs.hb_req_uring, "syscalls",
							    "sys_exit_io_uring_setup");

	if (l)
		r->link[r->nr_links++] = l;
}

static int attach_raw(struct requests *r, const struct bpf_program *prog, const char *name)
{
	int err = keep_link(r, bpf_program__attach_raw_tracepoint(prog, name));

	if (err)
		log_err("cannot see requests: raw tracepoint %s: %s", name, strerror(-err));
	return err;
}

/* What ends a connection comes before what begins one. */
int requests__attach(struct requests *r)
{
	int err = attach_raw(r, r->skel->progs.hb_req_gone, "tcp_destroy_sock");

	if (!err)
		err = attach_raw(r, r->skel->progs.hb_req_state, "inet_sock_set_state");
	for (size_t i = 0; i < NR_SYSCALLS && !err; i++)
		err = attach_syscall(r, &syscalls[i]);
	if (!err)
		attach_uring(r);
	return err;
}

static void *close_link(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

/* Each waits for a grace period of the kernel, and all of them can do so at once. */
void requests__stop(struct requests *r)
{
	pthread_t thread[REQUESTS_LINKS];
	bool started[REQUESTS_LINKS];

	if (!r)
		return;
	for (u32 i = 0; i < r->nr_links; i++) {
		started[i] = !pthread_create(&thread[i], NULL, close_link, r->link[i]);
		if (!started[i])
			bpf_link__destroy(r->link[i]);
	}
	for (u32 i = 0; i < r->nr_links; i++)
		if (started[i])
			pthread_join(thread[i], NULL);
	r->nr_links = 0;
}

void requests__free(struct requests *r)
{
	requests__stop(r);
	if (r)
		switches__free(r->switches);
	free(r);
}

void requests__look(struct requests *r)
{
	if (r)
		switches__look(r->switches, r->plan->nr_procs);
}

void requests__end_proc(struct requests *r, u32 proc)
{
	if (r)
		switches__end(r->switches, proc);
}

/* ---- ports ---------------------------------------------------------------------------------- */

/* Lines of /proc/PID/net/tcp: "  0: 0100007F:1F90 00000000:0000 0A ...", the state 0A is listening
 * (net/ipv4/tcp_ipv4.c). The file is of the process's network namespace. */
static void read_ports(struct requests *r, int pid, const char *file)
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		unsigned int port, state;
		u32 one = 1;

		if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &port, &state) !=
			    2 ||
		    state != 10 || port >= PORTS_MAX)
			continue;
		bpf_map_update_elem(bpf_map__fd(r->skel->maps.req_ports), &port, &one, BPF_ANY);
	}
	fclose(f);
}

/* Its transfers are no system calls of their own: none of them passes a tracepoint. */
static bool uses_io_uring(int pid)
{
	char path[64], link[64];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = !strcmp(link, "anon_inode:[io_uring]");
	}
	closedir(d);
	return found;
}

void requests__start(struct requests *r, struct recording *rec)
{
	for (u32 i = 0; r && i < r->plan->nr_procs; i++) {
		int pid = (int)r->plan->proc[i].proc->pid;

		if (uses_io_uring(pid)) {
			r->said_uring = true;
			recording__warn(
				rec,
				"process %d uses io_uring: what it reads and writes by it is "
				"not seen, and requests served so are missing",
				pid);
		}
		read_ports(r, pid, "tcp");
		read_ports(r, pid, "tcp6");
	}
}
