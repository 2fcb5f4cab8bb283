// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * discover.c - return addresses that no site was placed for: calls through function values,
 * interfaces, reflection, and from libraries that were loaded later. The BPF side asks for
 * each once; here the code behind it is looked at, a site is probed, and only then is the address
 * marked as attached, so that a call is followed only if its return will be seen.
 *
 * Links cannot be extended, so what came in one go is attached in one link per image.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"
#include "util/log.h"

/* One address on its way to a probe. */
struct wanted {
	struct hb_event ev;
	u32 image;
	u64 ra; /* vaddr in image */
	u32 id; /* its site, when done is false */
	bool done;
	struct site site;
};

static const char *func_name(const struct session *s, const struct wanted *w)
{
	return s->plan->func[w->ev.func].f->name;
}

static void refuse(struct session *s, struct wanted *w, const char *why)
{
	log_debug("return address %#llx of %s: %s", w->ev.ra, func_name(s, w), why);
	session__ra_set(s, &w->ev.key, HB_RA_REFUSED);
	s->ras_refused++;
	w->done = true;
}

/*
 * Code without a file has nothing to probe at the caller's, so the callee's returns are probed, and
 * the function asks no more. The address is left for other functions to ask about: where another
 * tracer has return probes (the mapping that the kernel makes for these), all of their functions come
 * with that one address. A function whose returns cannot be probed keeps it refused; for an interval
 * only, where others may meet it.
 */
static void no_file(struct session *s, struct wanted *w, const struct proc_map *m)
{
	bool uprobes = !strcmp(m->path, "[uprobes]");
	const char *why = uprobes ? "has a return probe of another tracer (bpftrace? perf?)"
				  : "is called from code without a file (JIT)";
	int err = session__switch_to_ret(s, w->ev.func, why);

	if (!err) {
		bpf_map_delete_elem(bpf_map__fd(s->skel->maps.ras), &w->ev.key);
		w->done = true;
		return;
	}
	refuse(s, w, "no file behind it");
	if (uprobes)
		mapped__ask_again(s, &w->ev.key);
	session__warn(s,
		      "%s %s, and its returns cannot be probed: those calls are counted as 'return "
		      "site not known'",
		      func_name(s, w), why);
}

/* An image that this process has without a site so far, and others perhaps with some. */
static int attach_known(struct session *s, struct wanted *w)
{
	struct plan_map *map = plan__map(s->plan, w->ev.proc, w->image);

	return map->probed ? 0 : session__attach_image(s, w->ev.proc, map);
}

/* Which image, and where in it. */
static void locate(struct session *s, struct wanted *w)
{
	const struct proc_map *m;
	u32 images = s->plan->nr_images;
	int err;

	if (w->ev.key.space == HB_RA_IMAGE) {
		w->image = w->ev.key.owner;
		w->ra = w->ev.key.where;
		return;
	}
	m = proc__map_at(s->plan->proc[w->ev.proc].proc, w->ev.ra);
	if (!m) {
		refuse(s, w, "not mapped any more");
		return;
	}
	if (!m->ino) {
		no_file(s, w, m);
		return;
	}
	err = plan__image_of(s->plan, w->ev.proc, m, &w->image);
	if (err == -ENOEXEC || err == -ENOENT) {
		/* JIT code in shared memory or a memfd: a file, but not one with code to probe. */
		no_file(s, w, m);
		return;
	}
	if (err) {
		refuse(s, w, strerror(-err));
		return;
	}
	w->ra = w->ev.ra - plan__map(s->plan, w->ev.proc, w->image)->bias;
	err = session__put_images(s, images);
	if (!err)
		err = attach_known(s, w);
	if (err)
		refuse(s, w, strerror(-err));
}

/* A file that is mapped again, or in another process too, has its sites already: those before `known` are
 * attached. */
static bool is_probed(const struct session *s, const struct wanted *w, u32 known)
{
	for (u32 i = 0; i < known; i++) {
		const struct session_site *ss = &s->site[i];

		if (ss->site.role == HB_ROLE_RETSITE && ss->image == w->image &&
		    ss->site.ra == w->ra && !ss->refused && !ss->off)
			return true;
	}
	return false;
}

static void place(struct session *s, struct wanted *w)
{
	struct plan_image *pi = &s->plan->image[w->image];
	struct site_want want = plan__want(s->plan->func[w->ev.func].f);
	struct code body;
	bool bounded;
	int err;

	if (!plan__code_at(pi, w->ra, &body, &bounded)) {
		refuse(s, w, "no code there");
		return;
	}
	err = site__return(&body, bounded, w->ra, &want, &w->site);
	/* One of its callees: they all are of one language, which the handler must know. */
	w->site.func = w->ev.func;
	if (!err)
		err = session__site_add(s, w->image, &w->site, &w->id);
	if (!err)
		s->site[w->id].found = true;
	if (err == -ENOSPC)
		session__warn(s,
			      "more than %u return addresses: the rest is counted as 'return site "
			      "not known'",
			      s->max_sites);
	if (err)
		refuse(s, w, strerror(-err));
}

static int cmp_image(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->image > y->image) - (x->image < y->image);
}

static void settle(struct session *s, struct wanted *w)
{
	if (s->site[w->id].refused) {
		refuse(s, w, "its site cannot be probed");
		return;
	}
	if (session__ra_set(s, &w->ev.key, HB_RA_ATTACHED))
		return;
	s->ras_discovered++;
	session__exit_used(s, s->plan->func[w->ev.func].f->lang, w->site.cls);
	w->done = true;
}

/* Attaches the placed ones of one image, [w, w + nr). */
static int attach_run(struct session *s, struct wanted *w, size_t nr)
{
	u32 *ids = array_alloc(nr, sizeof(*ids));
	size_t n = 0;
	int err;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (w[i].done)
			continue;
		ids[n++] = w[i].id;
	}
	err = n ? session__probe(s, w->image, ids, n) : 0;
	for (size_t i = 0; i < nr; i++) {
		if (w[i].done)
			continue;
		if (err)
			refuse(s, &w[i], strerror(-err));
		else
			settle(s, &w[i]);
	}
	free(ids);
	return err == -ENOMEM ? err : 0;
}

/* An address outside of its function's image is only as good as the mappings it is looked up in. That
 * they cannot be read is no mistake: the process may have ended. 0 or -ENOMEM. */
static int look_again(struct session *s, const struct hb_event *ev, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		bool read = ev[i].key.space != HB_RA_PROCESS || ev[i].proc >= s->nr_procs;

		for (size_t k = 0; k < i && !read; k++)
			read = ev[k].key.space == HB_RA_PROCESS && ev[k].proc == ev[i].proc;
		if (!read && mapped__reload(s, ev[i].proc) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int handle_pending(struct session *s)
{
	size_t nr = s->nr_pending, from = 0;
	struct wanted *w = array_alloc(nr, sizeof(*w));
	u32 known = s->nr_sites;
	int err = w ? look_again(s, s->pending, nr) : -ENOMEM;

	s->nr_pending = 0;
	if (err) {
		free(w);
		return err;
	}
	for (size_t i = 0; i < nr; i++) {
		w[i].ev = s->pending[i];
		if (w[i].ev.func >= s->plan->nr_funcs || w[i].ev.proc >= s->nr_procs) {
			w[i].done = true;
			continue;
		}
		locate(s, &w[i]);
		if (!w[i].done && is_probed(s, &w[i], known)) {
			session__ra_set(s, &w[i].ev.key, HB_RA_ATTACHED);
			w[i].done = true;
		}
		if (!w[i].done)
			place(s, &w[i]);
	}
	qsort(w, nr, sizeof(*w), cmp_image);
	for (size_t i = 1; i <= nr && !err; i++) {
		if (i < nr && w[i].image == w[from].image)
			continue;
		err = attach_run(s, &w[from], i - from);
		from = i;
	}
	free(w);
	return err;
}

int session__poll(struct session *s)
{
	int n = ring_buffer__consume(s->ring);

	if (n < 0)
		return n;
	n = mapped__look(s);
	if (!n && s->nr_pending)
		n = handle_pending(s);
	return n || !s->follow.nr_events ? n : follow__handle(s);
}
