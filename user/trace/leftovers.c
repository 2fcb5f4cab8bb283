// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leftovers.c - the calls that are still open when the probes are off.
 */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/snapshot_impl.h"
#include "hbprof.skel.h"

static void count_in_flight(struct session *s, const struct hb_task *t)
{
	for (u32 i = 0; i < t->nr && i < HB_FRAME_DEPTH; i++) {
		const struct hb_frame *f = &t->frame[i];

		if (f->func < s->rec->nr_funcs && !(f->flags & HB_FRAME_UNKNOWN))
			s->rec->func[f->func].in_flight_end++;
		if (f->pending && f->nested_func < s->rec->nr_funcs)
			s->rec->func[f->nested_func].in_flight_end += f->pending;
	}
}

int session__fill_in_flight(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.tasks);
	struct hb_frame_key key, next;
	struct hb_task t;
	void *prev = NULL;

	while (!bpf_map_get_next_key(fd, prev, &next)) {
		if (!bpf_map_lookup_elem(fd, &next, &t))
			count_in_flight(s, &t);
		key = next;
		prev = &key;
	}
	return errno == ENOENT ? 0 : -errno;
}
