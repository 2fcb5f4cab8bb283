// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session.c - loading, starting and stopping. How sites come into the kernel's tables is in
 * session_maps.c, into processes in session_attach.c, which processes there are in session_procs.c, what
 * a probe costs in session_calib.c; return addresses are discovered in discover.c, results read in
 * snapshot.c.
 */
#include "trace/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hbprof.skel.h"
#include "sym/registry.h"
#include "trace/keeper.h"
#include "trace/rates.h"
#include "trace/requests.h"
#include "trace/sampler.h"
#include "trace/session_impl.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

/* What may be found while recording. */
#define DISCOVER_ROOM 16384 /* sites */
#define FUNC_ROOM     256 /* functions of files that are loaded, or of processes that start, later */
#define IMAGE_ROOM    256
/* PROC_PID_INIT_INO, linux/proc_ns.h: the machine's first PID namespace. */
#define FIRST_PIDNS_INO 0xEFFFFFFCU
#define MAX_TASKS	65536

void session__warn(struct session *s, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	recording__warn(s->rec, "%s", buf);
}

/* ---- loading ------------------------------------------------------------------------------ */

static int libbpf_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char buf[1024];
	int n = vsnprintf(buf, sizeof(buf), fmt, ap);

	while (n > 0 && (size_t)n < sizeof(buf) && buf[n - 1] == '\n')
		buf[--n] = 0;
	if (level == LIBBPF_WARN)
		log_info("libbpf: %s", buf);
	else
		log_debug("libbpf: %s", buf);
	return 0;
}

void session__explain_load(int err)
{
	if (err == -EPERM || err == -EACCES)
		log_err("cannot load BPF programs: %s (hbprof needs root, or CAP_BPF and "
			"CAP_PERFMON)",
			strerror(-err));
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		log_err("cannot load BPF programs: this kernel has no BTF (/sys/kernel/btf/vmlinux); "
			"it needs CONFIG_DEBUG_INFO_BTF=y");
	else
		log_err("cannot load BPF programs: %s (run with -v for the kernel's reason)",
			strerror(-err));
}

static void size_maps(struct session *s)
{
	struct hbprof_bpf *k = s->skel;
	u32 funcs = s->max_funcs + CALIB_FUNCS, images = s->max_images + 1;

	bpf_map__set_max_entries(k->maps.sites, s->max_sites);
	bpf_map__set_max_entries(k->maps.site_misses, s->max_sites);
	bpf_map__set_max_entries(k->maps.funcs, funcs);
	bpf_map__set_max_entries(k->maps.fn_stats, funcs);
	bpf_map__set_max_entries(k->maps.images, images);
	bpf_map__set_max_entries(k->maps.tasks, s->max_tasks + CALIB_TASKS);
	bpf_map__set_max_entries(k->maps.rows, s->max_rows);
	bpf_map__set_max_entries(k->maps.row_stats, s->max_rows);
	bpf_map__set_max_entries(k->maps.row_cache, funcs * HB_SIZE_CLASSES * HB_OUTCOME_NR);
	bpf_map__set_max_entries(k->maps.hists, s->max_hists);
	s->map_bytes = (u64)s->max_sites * sizeof(struct hb_site) +
		       (u64)s->max_rows * sizeof(struct hb_row) +
		       (u64)s->max_hists * sizeof(struct hb_hist) +
		       (u64)funcs * (HB_SIZE_CLASSES * HB_OUTCOME_NR * 8 +
				     libbpf_num_possible_cpus() * sizeof(struct hb_fn_stat));
}

bool session__sees_pid(pid_t pid)
{
	struct stat st, target;
	char path[64];

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PIDNS_INO)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return !stat(path, &target) && target.st_ino == st.st_ino;
}

/*
 * In a PID namespace of its own (a container), hbprof and the programs would know the same process by
 * different ids. The programs are told to use the namespace's. The kernel compares with its own
 * encoding of the device number (MKDEV, linux/kdev_t.h).
 */
static int set_pid_namespace(struct session *s)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PIDNS_INO)
		return 0;
	for (u32 i = 0; i < s->plan->nr_procs; i++) {
		pid_t pid = s->plan->proc[i].proc->pid;

		if (session__sees_pid(pid))
			continue;
		log_err("process %d is in a PID namespace inside of hbprof's own, which is not the "
			"machine's first one; run hbprof there, or outside of all of them",
			(int)pid);
		return -EXDEV;
	}
	s->skel->rodata->cfg_pidns_dev = (u64)major(st.st_dev) << 20 | minor(st.st_dev);
	s->skel->rodata->cfg_pidns_ino = st.st_ino;
	return 0;
}

/* Perf events are taken off one after the other, tens of ms each: that would be no window. */
static bool counts_rates(const struct session *s)
{
	return s->plan->opts.rates && s->kind == ATTACH_MULTI;
}

static int session__load(struct session *s, const struct session_opts *o)
{
	const struct requests_opts requests = {.on = o->requests,
					       .children = s->follow.on && !o->only_meant,
					       .follow_go = s->plan->opts.follow_go,
					       .max_conns = o->max_conns};
	int err;

	libbpf_set_print(libbpf_print);
	s->skel = hbprof_bpf__open();
	if (!s->skel) {
		err = -errno;
		session__explain_load(err);
		return err;
	}
	size_maps(s);
	sampler__prepare(s->skel, s->sample_hz);
	counters__prepare(&s->counters, s->skel, s->max_tasks + CALIB_TASKS);
	rates__prepare(s->skel, counts_rates(s), attach_prog_type(s->kind));
	requests__prepare(s->skel, &requests);
	follow__prepare(s->skel, s->follow.on, o->meant);
	if (!s->follow.on && s->plan->nr_procs == 1)
		s->skel->rodata->cfg_tgid = s->plan->proc[0].proc->pid;
	err = set_pid_namespace(s);
	if (err)
		return err;
	s->skel->rodata->cfg_self_tgid = getpid();
	s->skel->rodata->cfg_nr_rows = s->max_rows;
	s->skel->rodata->cfg_nr_hists = s->max_hists;
	bpf_program__set_expected_attach_type(s->skel->progs.hb_probe, attach_prog_type(s->kind));
	err = hbprof_bpf__load(s->skel);
	if (err)
		session__explain_load(err);
	else
		err = counters__install(&s->counters, s->skel);
	return err;
}

/* ---- filling the maps --------------------------------------------------------------------- */

int session__put_func(struct session *s, u32 id, const struct hb_func *f)
{
	return bpf_map_update_elem(bpf_map__fd(s->skel->maps.funcs), &id, f, BPF_ANY) ? -errno : 0;
}

/* hb_func.tails: of more than 64 functions, several share a bit. */
static u64 tail_mask(const struct plan_func *pf)
{
	u64 mask = 0;

	if (!pf->tails)
		return 0;
	if (pf->tails_indirect)
		return ~0ULL;
	for (u32 i = 0; i < pf->nr_tails_direct; i++)
		mask |= 1ULL << (pf->tails_direct[i] & 63);
	return mask;
}

int session__put_funcs(struct session *s, u32 first)
{
	int err = 0;

	for (u32 i = first; i < s->plan->nr_funcs && !err; i++) {
		const struct plan_func *pf = &s->plan->func[i];
		struct hb_func f = {.group = pf->group,
				    .lang = pf->f->lang,
				    .err_kind = pf->f->err_kind,
				    .image = pf->image,
				    .ra_words = pf->ra_words,
				    .size_in = pf->f->size_in,
				    .size_out = pf->f->size_out,
				    .err = pf->f->err};

		if (pf->f->traits & REGISTRY_HANDLER)
			f.flags |= HB_FUNC_HANDLER;
		if (pf->exit_ret)
			f.flags |= HB_FUNC_EXIT_RET;
		f.tails = tail_mask(pf);
		err = session__put_func(s, i, &f);
	}
	return err;
}

static int put_calib_funcs(struct session *s)
{
	int err = 0;

	for (u32 i = 0; i < CALIB_FUNCS && !err; i++) {
		struct hb_func f = {.group = PLAN_GROUP_CALIB,
				    .lang = i / CALIB_LANG_FUNCS,
				    .flags = HB_FUNC_RAW,
				    .tails = CALIB_IS_TAIL(i) ? ~0ULL : 0,
				    .ra_words = HB_RA_NOWHERE,
				    .image = s->max_images};

		err = session__put_func(s, s->max_funcs + i, &f);
	}
	return err;
}

int session__put_images(struct session *s, u32 first)
{
	int fd = bpf_map__fd(s->skel->maps.images);

	for (u32 i = first; i < s->plan->nr_images; i++) {
		const struct plan_image *pi = &s->plan->image[i];
		struct hb_image im = {.goid_off = pi->layout.goid_off,
				      .panic_off = pi->layout.panic_off,
				      .panic_sp_off = pi->layout.panic_sp_off,
				      .sigcode_off = pi->layout.sigcode_off,
				      .scan_off = pi->layout.scan_off,
				      .seq_off = pi->layout.seq_off,
				      .m_off = pi->layout.m_off,
				      .curg_off = pi->layout.curg_off,
				      .lo = pi->lo,
				      .hi = pi->hi};

		if (bpf_map_update_elem(fd, &i, &im, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int put_self_image(struct session *s)
{
	struct hb_image self = {.goid_off = CALIB_GOID_OFF,
				.scan_off = CALIB_SCAN_OFF,
				.seq_off = CALIB_SCAN_OFF + 1,
				.hi = ~0ULL >> 16};
	u32 id = s->max_images;

	return bpf_map_update_elem(bpf_map__fd(s->skel->maps.images), &id, &self, BPF_ANY) ? -errno
											   : 0;
}

/* The overflow row is no one's, so no call initializes it. */
static int put_overflow_row(struct session *s)
{
	struct hb_row row = {.raw_min_ns = M_NONE, .size_min = M_NONE};
	u32 i = HB_ROW_OVERFLOW;

	for (u32 k = 0; k < HB_DIST_NR; k++)
		row.dist[k].min_ns = M_NONE;
	return bpf_map_update_elem(bpf_map__fd(s->skel->maps.row_stats), &i, &row, BPF_ANY) ? -errno
											    : 0;
}

/* ---- life --------------------------------------------------------------------------------- */

static int session__sizes(struct session *s, const struct session_opts *o)
{
	u32 sites = CALIB_SITES, procs = s->plan->nr_procs + o->follow, funcs = s->plan->nr_funcs;

	for (u32 i = 0; i < s->plan->nr_images; i++)
		sites += s->plan->image[i].sites.nr;
	/* What is followed may have functions that are not known yet. */
	if (o->follow && funcs < 8)
		funcs = 8;
	/* A file may be loaded late in any case. */
	s->max_funcs = s->plan->nr_funcs + FUNC_ROOM;
	s->max_images = s->plan->nr_images + IMAGE_ROOM;
	s->plan->max_funcs = s->max_funcs;
	s->plan->max_images = s->max_images;
	s->max_sites = sites + DISCOVER_ROOM;
	s->max_tasks = o->max_tasks ? o->max_tasks : MAX_TASKS;
	s->max_rows = o->max_rows ? o->max_rows : 64 + 16 * funcs * (procs < 8 ? procs : 8);
	if (!o->max_rows && s->max_rows > 2048)
		s->max_rows = 2048;
	/* Calibration rows come first and must all fit. */
	s->max_rows += CALIB_FUNCS + 1;
	s->max_hists = s->max_rows + s->max_rows / 2;
	s->site = array_alloc(s->max_sites, sizeof(*s->site));
	s->given = array_alloc(s->max_images, sizeof(*s->given));
	s->cut_abandoned = array_alloc(s->max_funcs, sizeof(*s->cut_abandoned));
	s->cut_in_flight = array_alloc(s->max_funcs, sizeof(*s->cut_in_flight));
	return s->site && s->given && s->cut_abandoned && s->cut_in_flight ? 0 : -ENOMEM;
}

static int on_event(void *arg, void *data, size_t size)
{
	struct session *s = arg;
	const struct hb_event *e = data;

	if (size < sizeof(*e))
		return 0;
	if (e->func == HB_FUNC_NONE) {
		if (e->proc < s->nr_procs)
			mapped__told(s, e->proc, e->ra);
		return 0;
	}
	if (array_grow((void **)&s->pending, s->nr_pending, &s->cap_pending, sizeof(*s->pending)))
		return -ENOMEM;
	memcpy(&s->pending[s->nr_pending++], e, sizeof(*e));
	return 0;
}

static void say_no_hits(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PIDNS_INO)
		log_err("the calibration's own probes are not hit: hbprof runs in a PID namespace of "
			"its own and /proc is another one's? Run it outside, where it can also "
			"measure what is inside");
	else
		log_err("the calibration's own probes are not hit; nothing could be measured");
}

static int fill_maps(struct session *s)
{
	int err = session__put_images(s, 0);

	if (!err)
		err = put_self_image(s);
	if (!err)
		err = session__put_funcs(s, 0);
	if (!err)
		err = put_calib_funcs(s);
	return err ? err : put_overflow_row(s);
}

int session__open(struct plan *plan, const struct session_opts *o, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	u64 t0 = mono_ns(), loaded;
	char load_time[16], rest_time[16];
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->sample_hz = o->sample_hz;
	attach__init(&s->self, ATTACH_MULTI, -1);
	follow__init(&s->follow, false);
	if (keeper__start(&s->keeper))
		log_debug("links are held by this process alone");
	s->ends = epoll_create1(EPOLL_CLOEXEC);
	if (s->ends < 0) {
		err = -errno;
		goto out;
	}
	s->rec = recording__new();
	err = s->rec ? session__choose(s, o->max_sites) : -ENOMEM;
	if (err)
		goto out;
	follow__init(&s->follow, o->follow);
	err = session__sizes(s, o);
	if (!err)
		err = session__open_counters(s, o->counters, o->sched);
	if (!err)
		err = session__load(s, o);
	if (!err)
		err = fill_maps(s);
	if (err)
		goto out;
	loaded = mono_ns();
	attach__init(&s->self, s->kind, bpf_program__fd(s->skel->progs.hb_probe));
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.events), on_event, s, NULL);
	if (!s->ring) {
		err = -errno;
		goto out;
	}
	if (s->sample_hz)
		err = sampler__new(s->skel, plan, s->ring, s->sample_hz, &s->sampler);
	if (!err && o->requests)
		err = requests__new(s->skel, plan, &s->requests);
	if (!err && counts_rates(s))
		err = rates__new(s, &s->rates);
	if (err)
		goto out;
	err = cover__init(s, o->functions);
	if (!err)
		err = session__calibrate(s);
	if (!err) {
		/* What was kept for the calibration and is not needed is no one's. */
		s->skel->data->row_limit = s->skel->bss->next_row + 1 + s->max_rows -
					   (CALIB_FUNCS + 1);
	}
	if (err == -ENODATA)
		say_no_hits();
	if (!err && s->follow.on)
		err = follow__start(s, o->meant, o->only_meant);
	for (u32 i = 0; i < plan->nr_procs && !err; i++)
		err = session__add_proc(s);
	for (u32 i = 0; i < plan->nr_warnings && !err; i++)
		session__warn(s, "%s", plan->warning[i]);
	if (!err)
		log_debug("programs loaded in %s, calibrated in %s",
			  format_ns(load_time, sizeof(load_time), loaded - t0),
			  format_ns(rest_time, sizeof(rest_time), mono_ns() - loaded));
out:
	if (err)
		session__close(s);
	else
		*out = s;
	return err;
}

int session__start(struct session *s)
{
	int err = s->sampler ? sampler__start(s->sampler, s->rec) : 0;

	s->begin_wall_ns = wall_ns();
	session__mark_own_cpu(s);
	requests__start(s->requests, s->rec);
	s->begin_mono_ns = s->prev_mono_ns = mono_ns();
	for (u32 i = 0; i < s->nr_procs && !err; i++)
		err = session__begin_proc(s, i);
	requests__look(s->requests);
	rates__start(s->rates);
	if (!err)
		__atomic_store_n(&s->skel->bss->recording, true, __ATOMIC_SEQ_CST);
	return err;
}

int session__poll_fd(const struct session *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

int session__rates_fd(const struct session *s)
{
	return rates__fd(s->rates);
}

int session__rates(struct session *s)
{
	return rates__tick(s->rates);
}

void session__close(struct session *s)
{
	if (!s)
		return;
	session__detach(s);
	attach__fini(&s->bystanders.links);
	attach__fini(&s->self);
	keeper__stop(s->keeper);
	ring_buffer__free(s->ring);
	sampler__free(s->sampler);
	counters__close(&s->counters);
	rates__free(s->rates);
	requests__free(s->requests);
	hbprof_bpf__destroy(s->skel);
	recording__free(s->rec);
	cover__fini(s);
	free(s->site);
	free(s->given);
	free(s->cut_abandoned);
	free(s->cut_in_flight);
	follow__fini(&s->follow);
	free(s->pending);
	session__free_procs(s);
	free(s->prev);
	free(s);
}
