// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* listcost.c - see listcost.h. Costs in ns are what a recording has left (capture/calstore.h). */
#include "cmd/listcost.h"

#include <stdio.h>
#include <time.h>

#include "capture/calstore.h"

struct ends listcost__ends(const struct plan *pl, u32 func)
{
	u8 role = pl->func[func].exit_ret ? HB_ROLE_RET : HB_ROLE_RETSITE;
	struct ends e = {0};

	for (u32 i = 0; i < pl->nr_images; i++) {
		const struct site_list *l = &pl->image[i].sites;

		for (size_t k = 0; k < l->nr; k++) {
			if (l->v[k].role != role || l->v[k].func != func ||
			    l->v[k].cls >= HB_CLASS_NR)
				continue;
			e.nr++;
			e.by_class[l->v[k].cls]++;
		}
	}
	return e;
}

const char *listcost__word(const struct plan_func *pf, const struct ends *e)
{
	u32 step = e->by_class[HB_CLASS_STEP];

	if (pf->entry_class == HB_CLASS_STEP)
		return step == e->nr && e->nr ? "high" : "raised";
	return !step ? "low" : step == e->nr ? "raised" : "low to raised";
}

struct cost_ns listcost__of(const struct listview *v, const struct plan_func *pf,
			    const struct ends *e)
{
	struct cost_ns cost = {.min = ~0u};

	for (u8 x = 0; v->cal && x < HB_CLASS_NR; x++) {
		const struct m_cal *c;

		if (!e->by_class[x])
			continue;
		c = calstore__pair(v->cal, pf->f->lang, pf->entry_class, x);
		if (!c)
			return (struct cost_ns){0};
		if (c->total_ns < cost.min)
			cost.min = c->total_ns;
		if (c->total_ns > cost.max)
			cost.max = c->total_ns;
		if (!cost.wall_ns || c->mono_ns < cost.wall_ns)
			cost.wall_ns = c->mono_ns;
	}
	return cost;
}

void listcost__format(const struct cost_ns *c, char *buf, size_t len)
{
	if (!c->wall_ns)
		snprintf(buf, len, "n/a");
	else if (c->min == c->max)
		snprintf(buf, len, "%u", c->min);
	else
		snprintf(buf, len, "%u to %u", c->min, c->max);
}

static void format_date(u64 wall_ns, char *buf, size_t len)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M UTC", &tm))
		snprintf(buf, len, "n/a");
}

void listcost__json(struct jsonw *w, const struct cost_ns *c)
{
	char date[32];

	if (!c->wall_ns) {
		jsonw__null(w, "cost_ns");
		return;
	}
	format_date(c->wall_ns, date, sizeof(date));
	jsonw__object(w, "cost_ns");
	jsonw__u64(w, "min", c->min);
	jsonw__u64(w, "max", c->max);
	jsonw__str(w, "measured", date);
	jsonw__end_object(w);
}

void listcost__explain(const struct listview *v, struct strbuf *out)
{
	u64 oldest = 0;
	char date[32];

	for (u32 i = 0; i < v->plan->nr_funcs; i++) {
		struct ends e = listcost__ends(v->plan, i);
		struct cost_ns c = listcost__of(v, &v->plan->func[i], &e);

		if (c.wall_ns && (!oldest || c.wall_ns < oldest))
			oldest = c.wall_ns;
	}
	if (!v->cal) {
		strbuf__addf(out, "Cost in ns: n/a (%s); a recording measures it.\n", v->cal_why);
		return;
	}
	if (!oldest) {
		strbuf__adds(out, "Cost in ns: n/a (no recording on this host has probed such "
				  "instructions yet).\n");
		return;
	}
	format_date(oldest, date, sizeof(date));
	strbuf__addf(
		out,
		"Cost in ns: by recordings on this host, the oldest of %s; n/a where it is not "
		"known what a call returns to, or none has probed such instructions.\n",
		date);
}
