// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session.c - loading, attaching, starting and stopping. How sites come into the kernel's tables is in
 * session_maps.c, what a probe costs in session_calib.c; return addresses are discovered in
 * discover.c, results read in snapshot.c.
 */
#include "trace/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hbprof.skel.h"
#include "trace/sampler.h"
#include "trace/session_impl.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/units.h"

#define DISCOVER_ROOM 16384 /* sites that may be found while recording */
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
	u32 funcs = s->nr_funcs + CALIB_FUNCS, images = s->self_image + 1;

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

/*
 * In a PID namespace of its own (a container), hbprof and the programs would know the same process by
 * different ids. The programs are told to use the namespace's. The kernel compares with its own
 * encoding of the device number (MKDEV, linux/kdev_t.h).
 */
static int set_pid_namespace(struct session *s)
{
	struct stat st, target;
	char path[64];

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PIDNS_INO)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)s->plan->proc->pid);
	if (stat(path, &target) || target.st_ino != st.st_ino) {
		log_err("process %d is in a PID namespace inside of hbprof's own, which is not the "
			"machine's first one; run hbprof there, or outside of all of them",
			(int)s->plan->proc->pid);
		return -EXDEV;
	}
	s->skel->rodata->cfg_pidns_dev = (u64)major(st.st_dev) << 20 | minor(st.st_dev);
	s->skel->rodata->cfg_pidns_ino = st.st_ino;
	return 0;
}

static int session__load(struct session *s)
{
	int err;

	libbpf_set_print(libbpf_print);
	s->skel = hbprof_bpf__open();
	if (!s->skel) {
		err = -errno;
		session__explain_load(err);
		return err;
	}
	size_maps(s);
	sampler__prepare(s->skel, s->plan, s->sample_hz);
	s->skel->rodata->cfg_tgid = s->plan->proc->pid;
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
	return err;
}

/* ---- filling the maps --------------------------------------------------------------------- */

static int put_func(struct session *s, u32 id, const struct hb_func *f)
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

static int put_funcs(struct session *s)
{
	int err = 0;

	for (u32 i = 0; i < s->nr_funcs && !err; i++) {
		const struct plan_func *pf = &s->plan->func[i];
		struct hb_func f = {.group = pf->group,
				    .lang = pf->f->lang,
				    .err_kind = pf->f->err_kind,
				    .image = pf->image,
				    .size_in = pf->f->size_in,
				    .size_out = pf->f->size_out,
				    .err = pf->f->err};

		if (pf->exit_ret)
			f.flags |= HB_FUNC_EXIT_RET;
		f.tails = tail_mask(pf);
		err = put_func(s, i, &f);
	}
	for (u32 i = 0; i < CALIB_FUNCS && !err; i++) {
		struct hb_func f = {.group = PLAN_GROUP_CALIB,
				    .lang = i / CALIB_LANG_FUNCS,
				    .flags = HB_FUNC_RAW,
				    .tails = CALIB_IS_TAIL(i) ? ~0ULL : 0,
				    .image = s->self_image};

		err = put_func(s, s->nr_funcs + i, &f);
	}
	return err;
}

static int put_images(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.images);
	struct hb_image self = {.goid_off = 16, .hi = ~0ULL >> 16};
	u32 self_id = s->self_image;

	for (u32 i = 0; i < s->plan->nr_images; i++) {
		const struct plan_image *pi = &s->plan->image[i];
		struct hb_image im = {.goid_off = pi->layout.goid_off,
				      .panic_off = pi->layout.panic_off,
				      .panic_sp_off = pi->layout.panic_sp_off,
				      .sigcode_off = pi->layout.sigcode_off,
				      .lo = pi->lo,
				      .hi = pi->hi};

		if (bpf_map_update_elem(fd, &i, &im, BPF_ANY))
			return -errno;
	}
	return bpf_map_update_elem(fd, &self_id, &self, BPF_ANY) ? -errno : 0;
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

/* ---- verifying and attaching -------------------------------------------------------------- */

u8 session__site_lang(const struct session *s, u32 image, const struct site *site)
{
	if (site->role == HB_ROLE_LONGJMP || site->role == HB_ROLE_CATCH)
		return HB_LANG_NATIVE;
	if (site->func != SITE_NO_FUNC && site->role != HB_ROLE_RECOVER &&
	    site->role != HB_ROLE_PANIC)
		return s->plan->func[site->func].f->lang;
	return s->plan->image[image].build ? HB_LANG_GO : HB_LANG_NATIVE;
}

/* May one more be probed, after n that are about to be? */
static bool room_for_probe(struct session *s, size_t n)
{
	if (!s->max_probes || s->nr_probes + n < s->max_probes)
		return true;
	if (!s->said_full)
		session__warn(s,
			      "%u sites are probed and no more (--max-sites): calls from return "
			      "sites found later are counted as 'return site not known'",
			      s->max_probes);
	s->said_full = true;
	return false;
}

int session__probe(struct session *s, u32 image, const u32 *ids, const struct site *sites,
		   size_t nr)
{
	struct plan_image *pi = &s->plan->image[image];
	struct attach_probe *p = array_alloc(nr, sizeof(*p));
	size_t refused = 0, n = 0;
	u32 *id_of = array_alloc(nr, sizeof(*id_of));
	struct code_page *page = calloc(1, sizeof(*page));
	int err = -ENOMEM;

	if (!p || !id_of || !page)
		goto out;
	if (!image__unchanged(pi->im)) {
		log_err("%s has changed since the process mapped it; it is not probed", pi->path);
		err = -ESTALE;
		goto out;
	}
	for (size_t i = 0; i < nr; i++) {
		u64 off;

		if (!room_for_probe(s, n) || !session__site_intact(s, image, &sites[i], page) ||
		    image__off(pi->im, sites[i].vaddr, &off)) {
			s->site[ids[i]].refused = s->site[ids[i]].differs = true;
			s->sites_refused++;
			continue;
		}
		id_of[n] = ids[i];
		p[n].off = off;
		p[n++].cookie = HB_COOKIE(ids[i], sites[i].role,
					  session__site_lang(s, image, &sites[i]));
	}
	err = n ? attach__add(&s->target, pi->im->fd, s->plan->proc->pid, p, n, &refused) : 0;
	if (err)
		goto out;
	s->nr_probes += n - refused;
	for (size_t i = 0; i < n; i++) {
		if (p[i].refused)
			s->site[id_of[i]].refused = true;
	}
	s->sites_refused += refused;
out:
	free(p);
	free(id_of);
	free(page);
	return err;
}

/* Entries first: of two probes at one offset the later one fires first, and exits must. */
static int site_order(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int ex = x->role != HB_ROLE_ENTRY, ey = y->role != HB_ROLE_ENTRY;

	return ex != ey ? ex - ey : (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static void warn_refused(struct session *s, const struct site *site, bool differs)
{
	if (site->role == HB_ROLE_ENTRY && differs)
		session__warn(
			s,
			"%s is not measured: its code in memory differs from that in %s (changed "
			"by the process itself, or by another tool?)",
			s->plan->func[site->func].f->name,
			s->plan->image[s->plan->func[site->func].image].path);
	else if (site->role == HB_ROLE_ENTRY)
		session__warn(s, "%s is not measured: the kernel refused the probe on its entry",
			      s->plan->func[site->func].f->name);
	else if (site->role == HB_ROLE_RET)
		session__warn(s,
			      "%s: a return of it cannot be probed; calls that end there count as "
			      "abandoned",
			      s->plan->func[site->func].f->name);
}

/* The keys under which a function's entry looks up that return address: one inside the function's own
 * image, or anywhere in the process. Their number. */
static u32 ra_keys(const struct session *s, u32 image, const struct site *site,
		   struct hb_ra_key key[2])
{
	key[0] = (struct hb_ra_key){.where = site->ra, .owner = image, .space = HB_RA_IMAGE};
	if (s->plan->func[site->func].image == image)
		return 1;
	/* The only process that is measured has index 0. */
	key[1] = (struct hb_ra_key){.where = site->ra + s->plan->image[image].bias,
				    .space = HB_RA_PROCESS};
	return 2;
}

/* After the attach: return addresses with a probe are known; functions without an entry are said. */
static int settle_sites(struct session *s, u32 image, const u32 *ids)
{
	const struct site_list *l = &s->plan->image[image].sites;
	struct hb_ra_key *key = array_alloc(l->nr, 2 * sizeof(*key));
	u32 *state = array_alloc(l->nr, 2 * sizeof(*state)), nr = 0;
	int err = -ENOMEM;

	if (!key || !state)
		goto out;
	for (size_t i = 0; i < l->nr; i++) {
		bool refused = s->site[ids[i]].refused;

		if (l->v[i].role == HB_ROLE_RETSITE) {
			u32 end = nr + ra_keys(s, image, &l->v[i], &key[nr]);

			while (nr < end)
				state[nr++] = refused ? HB_RA_REFUSED : HB_RA_ATTACHED;
		} else if (refused) {
			warn_refused(s, &l->v[i], s->site[ids[i]].differs);
		}
	}
	err = map_put_batch(s->skel->maps.ras, key, state, nr);
	for (u32 i = 0; i < nr && !err; i++)
		err = mapped__add_ra(s, &key[i]);
out:
	free(key);
	free(state);
	return err;
}

static int attach_image(struct session *s, u32 image)
{
	struct site_list *l = &s->plan->image[image].sites;
	u32 *ids;
	int err = 0;

	if (!l->nr)
		return 0;
	qsort(l->v, l->nr, sizeof(*l->v), site_order);
	ids = array_alloc(l->nr, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	err = session__sites_add(s, image, l, ids);
	if (!err)
		err = session__probe(s, image, ids, l->v, l->nr);
	if (!err)
		err = settle_sites(s, image, ids);
	free(ids);
	return err;
}

/* -ENODATA, with the reasons, if not one function's calls will be seen. */
static int check_entries(const struct session *s)
{
	for (u32 i = 0; i < s->nr_sites; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->role == HB_ROLE_ENTRY && ss->func != SITE_NO_FUNC && !ss->refused)
			return 0;
	}
	for (u32 i = 0; i < s->rec->nr_warnings; i++)
		log_err("%s", s->rec->warning[i]);
	return -ENODATA;
}

int session__attach(struct session *s)
{
	u64 t0 = mono_ns();
	u32 before = s->nr_sites;
	char took[16];
	int err = 0;

	for (u32 i = 0; i < s->plan->nr_images && !err; i++)
		err = attach_image(s, i);
	if (!err)
		err = check_entries(s);
	if (!err)
		log_info("attached %u sites in %s", s->nr_sites - before - s->sites_refused,
			 format_ns(took, sizeof(took), mono_ns() - t0));
	if (err && !proc__alive(s->plan->proc))
		err = -ESRCH;
	if (err == -ESRCH)
		log_err("process %d ended while it was being attached to", (int)s->plan->proc->pid);
	else if (err && err != -ENODATA)
		log_err("cannot attach to process %d: %s", (int)s->plan->proc->pid, strerror(-err));
	return err;
}

int session__switch_to_ret(struct session *s, u32 func, const char *why)
{
	struct plan_func *pf = &s->plan->func[func];
	struct site_list l;
	struct hb_func f;
	u32 *ids = NULL;
	int err;

	if (pf->exit_ret)
		return 0;
	site_list__init(&l);
	err = plan__ret_sites(s->plan, func, &l);
	if (err)
		goto out;
	ids = array_alloc(l.nr, sizeof(*ids));
	if (!ids) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < l.nr && !err; i++)
		err = session__site_add(s, pf->image, &l.v[i], &ids[i]);
	if (!err)
		err = session__probe(s, pf->image, ids, l.v, l.nr);
	for (size_t i = 0; i < l.nr && !err; i++)
		err = s->site[ids[i]].refused ? -ENOTSUP : 0;
	if (!err)
		err = bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.funcs), &func, &f) ? -errno : 0;
	if (!err) {
		f.flags |= HB_FUNC_EXIT_RET;
		err = put_func(s, func, &f);
	}
	if (!err) {
		pf->exit_ret = true;
		session__warn(s, "%s %s; its returns are probed instead of its return sites",
			      pf->f->name, why);
	}
out:
	free(ids);
	site_list__fini(&l);
	return err;
}

/* ---- life --------------------------------------------------------------------------------- */

static void session__sizes(struct session *s, const struct session_opts *o)
{
	u32 sites = CALIB_SITES;

	for (u32 i = 0; i < s->plan->nr_images; i++)
		sites += s->plan->image[i].sites.nr;
	s->nr_funcs = s->plan->nr_funcs;
	s->self_image = s->plan->nr_images;
	s->max_sites = sites + DISCOVER_ROOM;
	s->max_tasks = o->max_tasks ? o->max_tasks : MAX_TASKS;
	s->max_rows = o->max_rows ? o->max_rows : 64 + 16 * s->nr_funcs;
	if (!o->max_rows && s->max_rows > 2048)
		s->max_rows = 2048;
	/* Calibration rows come first and must all fit. */
	s->max_rows += CALIB_FUNCS + 1;
	s->max_hists = s->max_rows + s->max_rows / 2;
}

static int on_event(void *arg, void *data, size_t size)
{
	struct session *s = arg;

	if (size < sizeof(struct hb_event))
		return 0;
	if (array_grow((void **)&s->pending, s->nr_pending, &s->cap_pending, sizeof(*s->pending)))
		return -ENOMEM;
	memcpy(&s->pending[s->nr_pending++], data, sizeof(struct hb_event));
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
	attach__init(&s->target, ATTACH_MULTI, -1);
	attach__init(&s->self, ATTACH_MULTI, -1);
	s->rec = recording__new();
	err = s->rec ? session__choose(s, o->max_sites) : -ENOMEM;
	if (err)
		goto out;
	session__sizes(s, o);
	s->site = array_alloc(s->max_sites, sizeof(*s->site));
	err = s->site ? session__load(s) : -ENOMEM;
	if (!err)
		err = put_images(s);
	if (!err)
		err = put_funcs(s);
	if (!err)
		err = put_overflow_row(s);
	if (err)
		goto out;
	loaded = mono_ns();
	attach__init(&s->target, s->kind, bpf_program__fd(s->skel->progs.hb_probe));
	attach__init(&s->self, s->kind, bpf_program__fd(s->skel->progs.hb_probe));
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.events), on_event, s, NULL);
	if (!s->ring) {
		err = -errno;
		goto out;
	}
	if (s->sample_hz)
		err = sampler__new(s->skel, plan, s->ring, s->sample_hz, &s->sampler);
	if (err)
		goto out;
	err = session__calibrate(s);
	if (!err) {
		/* What was kept for the calibration and is not needed is no one's. */
		s->skel->data->row_limit = s->skel->bss->next_row + 1 + s->max_rows -
					   (CALIB_FUNCS + 1);
		err = session__describe_target(s);
	}
	if (!err)
		err = mapped__init(s);
	if (err == -ENODATA)
		say_no_hits();
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
	u64 rss;

	if (err)
		return err;

	s->begin_wall_ns = wall_ns();
	if (proc__usage(s->plan->proc, &s->cpu_begin_ns, &rss))
		s->cpu_begin_ns = M_NONE;
	session__mark_own_cpu(s);
	s->begin_mono_ns = s->prev_mono_ns = mono_ns();
	__atomic_store_n(&s->skel->bss->recording, true, __ATOMIC_SEQ_CST);
	return 0;
}

int session__poll_fd(const struct session *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

void session__close(struct session *s)
{
	if (!s)
		return;
	attach__fini(&s->target);
	attach__fini(&s->self);
	ring_buffer__free(s->ring);
	sampler__free(s->sampler);
	hbprof_bpf__destroy(s->skel);
	recording__free(s->rec);
	free(s->site);
	free(s->pending);
	mapped__fini(&s->mapped);
	free(s->prev);
	free(s);
}
