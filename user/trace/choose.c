// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* choose.c - which way of attaching a session takes, how many probes that allows, and what is left out. */
#include <errno.h>

#include "trace/budget.h"
#include "trace/plan_impl.h"
#include "trace/session_impl.h"
#include "util/log.h"

#define SAMPLES_SINCE (6 << 8 | 1) /* as running_kernel() has it */

static void warn_left_out(struct session *s, const struct budget *b)
{
	if (b->funcs_left)
		session__warn(s,
			      "%u of %u functions are not measured: %u sites are probed at most "
			      "(--max-sites)",
			      b->funcs_left, s->plan->nr_funcs, s->max_probes);
	if (b->sites_left)
		session__warn(s,
			      "%u return sites of direct calls are not probed before a call from "
			      "them is seen, which is counted as 'return site not known': %u sites "
			      "are probed at most (--max-sites)",
			      b->sites_left, s->max_probes);
}

/* The sampling program reads a map that a perf event's may not read before: bpf/stack.bpf.c. */
static void choose_samples(struct session *s)
{
	u32 kernel = running_kernel();

	if (!s->sample_hz || !kernel || kernel >= SAMPLES_SINCE)
		return;
	s->sample_hz = 0;
	session__warn(s, "no CPU samples: they need Linux 6.1 or later");
}

int session__choose(struct session *s, u32 max_sites)
{
	struct budget b = {0};
	int err = attach__choose(&s->kind);

	if (err == -EOPNOTSUPP)
		log_err("this kernel has neither uprobe_multi links nor cookies for perf events; "
			"hbprof needs Linux 5.15 or later");
	else if (err)
		session__explain_load(err);
	if (err)
		return err;
	choose_samples(s);
	if (s->plan->opts.rates && s->kind == ATTACH_PERF)
		session__warn(s, "gopark and mcall are not counted (--sched-rates): that needs "
				 "uprobe_multi links, Linux 6.6 or later");
	log_info("probes are attached by %s", attach_kind_names[s->kind]);
	s->max_probes = max_sites;
	if (!max_sites && s->kind == ATTACH_PERF)
		s->max_probes = BUDGET_DEFAULT;
	/* Each process has probes of its own. */
	if (s->max_probes && s->plan->nr_procs)
		err = budget__apply(s->plan, s->max_probes / s->plan->nr_procs, &b);
	warn_left_out(s, &b);
	return err;
}
