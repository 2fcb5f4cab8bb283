// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan_late.c - would the plan have functions of a file that was not mapped when it was made? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/plan_impl.h"
#include "util/log.h"

static int find_funcs(const struct plan *pl, const struct plan_image *pi, struct func_list *l)
{
	struct registry_report rep = {0};
	int err = registry__match(pl->registry, pi->im, pi->syms, pi->build, l, &rep);

	for (size_t i = 0; i < pl->nr_probes && (!err || err == -ENOTSUP); i++) {
		u32 nr;

		err = registry__probe(pi->im, pi->syms, pl->probe[i], l, &nr);
		if (err == -EINVAL)
			err = 0; /* a name of no function here */
	}
	return err == -ENOTSUP ? 0 : err;
}

u32 plan__count_funcs(const struct plan *pl, const struct proc_map *m, char **name)
{
	struct plan_image pi = {0};
	struct func_list l;
	u32 nr = 0;
	int err;

	func_list__init(&l);
	err = plan_image__load(pl->proc, m, &pi);
	if (!err && pi.syms && pi.ops)
		err = find_funcs(pl, &pi, &l);
	if (err)
		log_debug("%s: not looked at: %s", m->path, strerror(-err));
	if (!err && l.nr) {
		nr = (u32)l.nr;
		*name = strdup(l.v[0].name);
	}
	func_list__fini(&l);
	plan_image__fini(&pi);
	return nr;
}
