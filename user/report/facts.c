// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facts.c - the head of the table report: what was measured, where, and with what error. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/table.h"

#define MAX_PARA      65536 /* of one paragraph: a command line can be long */
#define TARGETS_SHOWN 3	    /* of many processes */

static void print_title(struct view *v)
{
	const struct recording *r = v->r;
	struct strbuf b;
	char buf[CELL], when[64] = "";
	time_t t = (time_t)(r->begin_wall_ns / 1000000000);
	struct tm tm;

	strbuf__init(&b, MAX_PARA);
	strbuf__adds(&b, "hbprof ");
	add_name(&b, r->version);
	strbuf__addf(&b, ": %s recorded", cell_ns(buf, r->end_mono_ns - r->begin_mono_ns));
	if (r->begin_wall_ns != M_NONE && gmtime_r(&t, &tm) &&
	    strftime(when, sizeof(when), " from %Y-%m-%d %H:%M:%S UTC", &tm))
		strbuf__adds(&b, when);
	if (r->stop_reason) {
		strbuf__adds(&b, "; ended: ");
		add_name(&b, r->stop_reason);
	}
	strbuf__addc(&b, '\n');
	if (b.err && !v->out->err)
		v->out->err = b.err;
	else if (!b.err)
		strbuf__add(v->out, b.s, b.len);
	strbuf__fini(&b);
}

static void print_target(struct view *v, const struct m_target *t, bool first)
{
	struct strbuf b;
	char buf[CELL];

	strbuf__init(&b, MAX_PARA);
	strbuf__addf(&b, "%u ", t->pid);
	add_name(&b, t->cmdline);
	table__para_buf(v, first ? "target" : "", &b);
	strbuf__adds(&b, "exe ");
	add_name(&b, t->exe);
	strbuf__adds(&b, ", build id ");
	add_name(&b, t->build_id);
	strbuf__adds(&b, ", ");
	add_name(&b, t->language);
	strbuf__addf(&b, "; CPU time %s", cell_ns(buf, t->cpu_ns));
	strbuf__addf(&b, ", resident %s", cell_bytes(buf, t->rss_bytes));
	if (t->unmeasured_ns != M_NONE)
		strbuf__addf(&b, "; not measured for its first %s", cell_ns(buf, t->unmeasured_ns));
	if (t->end) {
		strbuf__adds(&b, "; ");
		add_name(&b, t->end);
	}
	table__para_buf(v, "", &b);
}

/* Of many processes, those behind the first ones. */
static void print_other_targets(struct view *v, u32 from)
{
	const struct recording *r = v->r;
	u32 ended = 0, unknown = 0;
	char buf[CELL];
	u64 cpu = 0;

	for (u32 i = from; i < r->nr_targets; i++) {
		u64 ns = r->target[i].cpu_ns;

		unknown += ns == M_NONE || __builtin_add_overflow(cpu, ns, &cpu);
		ended += r->target[i].end != NULL;
	}
	if (unknown)
		cpu = M_NONE;
	table__para(
		v, "",
		"and %u more processes, CPU time %s; %u of them ended (--by process: rows of each)",
		r->nr_targets - from, cell_ns(buf, cpu), ended);
}

static void print_targets(struct view *v)
{
	u32 nr = v->r->nr_targets, shown = nr > TARGETS_SHOWN + 1 ? TARGETS_SHOWN : nr;

	for (u32 i = 0; i < shown; i++)
		print_target(v, &v->r->target[i], !i);
	if (shown < nr)
		print_other_targets(v, shown);
}

/* Those of the recording's time, whose keys begin with the prefix, or, without one, the others. */
static void print_host(struct view *v, const char *title, const char *prefix)
{
	const struct m_host *h = &v->r->host;
	size_t skip = strlen(prefix);
	struct strbuf b;

	strbuf__init(&b, MAX_PARA);
	for (u32 i = 0; i < h->nr_facts; i++) {
		if (m_is_run_fact(h->fact[i].key) != (skip != 0))
			continue;
		strbuf__adds(&b, b.len ? "; " : "");
		for (const char *k = h->fact[i].key + skip; *k; k++) {
			char c[2] = {*k == '_' ? ' ' : *k, '\0'};

			add_name(&b, c);
		}
		strbuf__addc(&b, ' ');
		add_name(&b, h->fact[i].value);
	}
	if (b.len || !skip)
		table__para_buf(v, title, &b);
	strbuf__fini(&b);
}

/* "push 2, branch 31" */
static void add_classes(struct strbuf *b, const u64 nr[HB_CLASS_NR])
{
	bool any = false;

	for (u32 c = 0; c < HB_CLASS_NR; c++) {
		if (!nr[c])
			continue;
		strbuf__addf(b, "%s%s %llu", any ? ", " : "", hb_class_names[c], nr[c]);
		any = true;
	}
	if (!any)
		strbuf__adds(b, "none");
}

static void print_sites(struct view *v)
{
	const struct recording *r = v->r;
	const struct m_coverage *c = &r->coverage;
	u64 entry[HB_CLASS_NR] = {0}, exits[HB_CLASS_NR] = {0};
	u32 rets = 0;
	struct strbuf b;

	for (u32 i = 0; i < r->nr_funcs; i++) {
		entry[r->func[i].entry_class]++;
		rets += r->func[i].exit_mode == M_EXIT_RET;
		for (u32 k = 0; k < HB_CLASS_NR; k++)
			exits[k] += r->func[i].exit_sites[k];
	}
	strbuf__init(&b, MAX_PARA);
	add_name(&b, r->attach);
	strbuf__addf(&b, ": %u site%s in %u function%s, %u link%s; entries: ", c->sites,
		     c->sites == 1 ? "" : "s", r->nr_funcs, r->nr_funcs == 1 ? "" : "s", c->links,
		     c->links == 1 ? "" : "s");
	add_classes(&b, entry);
	strbuf__adds(&b, "; exits: ");
	add_classes(&b, exits);
	strbuf__addf(&b, "; %u refused; return addresses discovered %u, refused %u",
		     c->sites_refused, c->ras_discovered, c->ras_refused);
	if (rets)
		strbuf__addf(&b, "; %u function%s probed at %s returns", rets, rets == 1 ? "" : "s",
			     rets == 1 ? "its" : "their");
	table__para_buf(v, "probes", &b);
}

static void add_left_out(struct view *v, const struct m_func *f, struct strbuf *b)
{
	char off[CELL], all[CELL], nr[CELL];

	add_name(b, f->name);
	strbuf__addf(b, " was not probed for %s of %s", cell_ns(off, f->off_ns),
		     cell_ns(all, v->r->coverage.measured_ns));
	if (f->n[HB_FN_NESTED] != f->n[HB_FN_ENTRIES]) {
		strbuf__adds(b, ", and was called on its own later: see the warnings");
		return;
	}
	strbuf__addf(b, ": all %s calls of it that were seen were inside of others of ",
		     cell_count(nr, f->n[HB_FN_NESTED]));
	add_name(b, f->codec);
	strbuf__addc(b, ' ');
	add_name(b, f->op);
	strbuf__adds(b, ", whose times they are part of (--functions probes all)");
}

/* Functions that were not probed all the time. */
static void print_left_out(struct view *v)
{
	bool first = true;

	for (u32 i = 0; i < v->r->nr_funcs; i++) {
		const struct m_func *f = &v->r->func[i];
		struct strbuf b;

		if (!f->off_ns || f->off_ns == M_NONE)
			continue;
		strbuf__init(&b, MAX_PARA);
		add_left_out(v, f, &b);
		table__para_buf(v, first ? "left out" : "", &b);
		strbuf__fini(&b);
		first = false;
	}
}

static void print_bias(struct view *v, const struct bias *p, bool first)
{
	const char *exit = p->exit < HB_CLASS_NR ? hb_class_names[p->exit] : "no exit site";
	char in[CELL], unc[CELL], tot[CELL], calls[CELL];

	cell_count(calls, p->calls);
	if (!p->calibrated) {
		table__para(v, first ? "probe cost" : "",
			    "%s %s+%s (calls: %s): n/a (not calibrated): the times contain it",
			    hb_lang_names[p->lang], hb_class_names[p->entry], exit, calls);
		return;
	}
	cell_ns(in, p->in_ns);
	table__para(
		v, first ? "probe cost" : "",
		"%s %s+%s (calls: %s): %s +-%s inside each call, subtracted call by call with the "
		"calibration of that time (%u in all); a pair costs the caller around it %s",
		hb_lang_names[p->lang], hb_class_names[p->entry], exit, calls, in,
		cell_ns(unc, p->uncertainty_ns), p->nr_cals,
		p->pair ? cell_ns(tot, p->total_ns) : "n/a (this pair was not calibrated)");
}

/* What was subtracted beside the figure of hot pairs, where it matters. */
static void print_cold(struct view *v)
{
	const struct m_coverage *c = &v->r->coverage;
	char calls[CELL], pct[CELL], more[CELL];

	if (c->cold == M_NONE || c->cold < c->n[HB_FN_ENTRIES] / 100 || !c->cold)
		return;
	table__para(v, "",
		    "%s entries (%s) found the caches cold, where a pair costs more: %s more "
		    "inside each of those calls on average, subtracted by what the entry's "
		    "look-ups took",
		    cell_count(calls, c->cold), cell_pct(pct, pct_of(c->cold, c->n[HB_FN_ENTRIES])),
		    cell_ns(more, c->cold_in_ns / c->cold));
}

static void print_versions(struct view *v)
{
	const struct recording *r = v->r;
	struct strbuf b;
	u32 j;

	strbuf__init(&b, MAX_PARA);
	for (u32 i = 0; i < r->nr_funcs; i++) {
		const struct m_func *f = &r->func[i], *o;

		if (!f->library_version)
			continue;
		for (j = 0; j < i && j < 256; j++) {
			o = &r->func[j];
			if (o->library_version && !strcmp(o->library_version, f->library_version) &&
			    !strcmp(o->library ? o->library : "", f->library ? f->library : ""))
				break;
		}
		if (j < i || i >= 256)
			continue;
		strbuf__adds(&b, b.len ? ", " : "");
		add_name(&b, f->library ? f->library : f->codec);
		strbuf__addc(&b, ' ');
		add_name(&b, f->library_version);
	}
	if (b.len)
		table__para_buf(v, "libraries", &b);
}

void table__facts(struct view *v)
{
	print_title(v);
	print_targets(v);
	print_host(v, "host", "");
	print_host(v, "meanwhile", M_RUN_FACT);
	print_versions(v);
	print_sites(v);
	print_left_out(v);
	/* The most used first. Pairs of functions that were not called tell nobody anything. */
	for (u32 i = 0; i < v->nr_biases && (!i || v->bias[i].calls); i++)
		print_bias(v, &v->bias[i], !i);
	print_cold(v);
}
