// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session_maps.c - sites and return addresses, as the kernel's tables hold them and as user space
 * remembers them. Functions and images, which are put there once, are session.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/session_impl.h"
#include "hbprof.skel.h"
#include "util/array.h"

int map_put_batch(const struct bpf_map *map, const void *keys, const void *values, u32 nr)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	u32 done = nr;

	if (!nr || !bpf_map_update_batch(bpf_map__fd(map), keys, values, &done, &opts))
		return 0;
	return -errno;
}

int session__site_put(struct session *s, const struct hb_site *hs, const struct session_site *ss,
		      u32 *id)
{
	if (s->nr_sites >= s->max_sites)
		return -ENOSPC;
	*id = s->nr_sites;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.sites), id, hs, BPF_ANY))
		return -errno;
	s->site[s->nr_sites++] = *ss;
	return 0;
}

static void site_to_kernel(u32 image, const struct site *site, struct hb_site *hs)
{
	*hs = (struct hb_site){.vaddr = site->vaddr,
			       .sp_fix = site->sp_fix,
			       .func = site->func == SITE_NO_FUNC ? HB_FUNC_NONE : site->func,
			       .image = image,
			       .cls = site->cls,
			       .flags = site->flags};
	if (site->role == HB_ROLE_RETSITE) {
		hs->ra_delta = (s64)(site->ra - site->vaddr);
		if (!(site->flags & HB_SITE_PURE))
			hs->func = HB_FUNC_NONE;
	}
	memcpy(hs->loc, site->loc, sizeof(hs->loc));
}

static struct session_site site_to_remember(struct session *s, u32 image, const struct site *site)
{
	return (struct session_site){
		.site = *site, .image = image, .group = cover__group(s, image, site)};
}

int session__site_guard(struct session *s, u32 id, bool on)
{
	struct session_site *ss = &s->site[id];
	struct hb_site hs;

	site_to_kernel(ss->image, &ss->site, &hs);
	if (on) {
		hs.flags |= HB_SITE_GUARD;
		hs.callee = ss->site.func;
	}
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.sites), &id, &hs, BPF_ANY))
		return -errno;
	ss->guard = on;
	return 0;
}

int session__site_add(struct session *s, u32 image, const struct site *site, u32 *id)
{
	struct session_site ss = site_to_remember(s, image, site);
	struct hb_site hs;

	site_to_kernel(image, site, &hs);
	return session__site_put(s, &hs, &ss, id);
}

int session__sites_add(struct session *s, u32 image, const struct site_list *l, u32 *ids)
{
	struct hb_site *hs;
	int err;

	if (l->nr > s->max_sites - s->nr_sites)
		return -ENOSPC;
	hs = array_alloc(l->nr, sizeof(*hs));
	if (!hs)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		site_to_kernel(image, &l->v[i], &hs[i]);
		ids[i] = s->nr_sites + i;
	}
	err = map_put_batch(s->skel->maps.sites, ids, hs, l->nr);
	for (size_t i = 0; i < l->nr && !err; i++)
		s->site[s->nr_sites++] = site_to_remember(s, image, &l->v[i]);
	free(hs);
	return err;
}

int session__ra_forget(struct session *s, u32 id)
{
	const struct session_site *ss = &s->site[id];
	struct hb_ra_key key = {.where = ss->site.ra, .owner = ss->image, .space = HB_RA_IMAGE};
	int fd = bpf_map__fd(s->skel->maps.ras);

	if (bpf_map_delete_elem(fd, &key) && errno != ENOENT)
		return -errno;
	for (u32 i = 0; i < s->nr_procs; i++) {
		const struct plan_map *map = plan__map(s->plan, i, ss->image);

		if (!map)
			continue;
		key = (struct hb_ra_key){
			.where = ss->site.ra + map->bias, .owner = i, .space = HB_RA_PROCESS};
		if (bpf_map_delete_elem(fd, &key) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int session__ra_set(struct session *s, const struct hb_ra_key *key, u32 state)
{
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.ras), key, &state, BPF_ANY))
		return -errno;
	return mapped__add_ra(s, key);
}
