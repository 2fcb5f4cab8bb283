// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view_foot.c - the lines below the table of the live view: the machine, requests, coverage, cost. Which of
 * them there is room for is decided in view.c.
 */
#include "report/view_impl.h"

#include <stdio.h>
#include <string.h>

#include "model/request.h"
#include "model/text.h"
#include "report/requests_report.h"
#include "report/table.h"

/* ---- the machine ---- */

/* A fact as "what value", or the value alone; not one that is not there, as in captures of tests. */
static void add_fact(struct parts *ps, const struct m_host *h, const char *key, const char *what,
		     const char *unit)
{
	const char *value = m_host__get(h, key, NULL);
	bool known = value && strncmp(value, "n/a", 3) != 0;
	struct strbuf b;

	if (!value)
		return;
	strbuf__init(&b, sizeof(ps->v[0].text));
	text_add_escaped(&b, value);
	parts__add(ps, INK_PLAIN, "%s%s%s", what, b.s ? b.s : "", known ? unit : "");
	strbuf__fini(&b);
}

/* "Linux 6.1.0-18": how it was built is for the page of the machine. */
static void add_kernel(struct parts *ps, const struct m_host *h)
{
	const char *value = m_host__get(h, "kernel", NULL);

	if (value)
		parts__add(ps, INK_PLAIN, "Linux %.*s", (int)strcspn(value, " "), value);
}

/* "AMD EPYC Genoa (Zen 4)" where the CPU calls itself an AMD EPYC; else what it calls itself. */
static void add_cpu(struct parts *ps, const struct m_host *h)
{
	const char *model = m_host__get(h, "cpu_model", NULL);
	const char *generation = m_host__get(h, "cpu_generation", "");
	char text[sizeof(ps->v[0].text)];
	struct strbuf b;

	if (!model)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(generation, ","), generation);
	strbuf__init(&b, sizeof(text));
	text_add_escaped(&b, strncmp(text, model, strlen(model)) ? model : text);
	parts__add(ps, INK_PLAIN, "%s", b.s ? b.s : "n/a");
	strbuf__fini(&b);
}

void view_put_host(const struct live_view *v, struct pen *p)
{
	const struct m_host *h = &v->now->host;
	struct parts ps = {0};

	add_cpu(&ps, h);
	add_fact(&ps, h, "cpus_online", "", " CPUs");
	add_fact(&ps, h, "virtualization", "virtualization ", "");
	add_kernel(&ps, h);
	add_fact(&ps, h, "governor", "governor ", "");
	add_fact(&ps, h, "frequency_mhz", "frequency ", " MHz");
	if (!ps.nr)
		parts__add(&ps, INK_PLAIN, "n/a");
	pen_ink(p, INK_DIM);
	pen_field(p, "machine", VIEW_LABEL, PEN_LEFT);
	parts__put(&ps, p, 1, VIEW_LABEL);
}

/* ---- coverage, cost ---- */

void view_coverage_parts(const struct live_view *v, struct parts *ps)
{
	const u64 *n = v->whole.rec.coverage.n, *all = v->now->coverage.n;
	u64 ended = all[HB_FN_EXITS] + all[HB_FN_ABANDONED] + all[HB_FN_UNKNOWN] +
		    all[HB_FN_DROPPED];
	struct balance b;
	char buf[CELL];

	balance__of(&b, n, M_NONE);
	parts__add(ps, b.lost ? INK_BAD : INK_PLAIN, "%s lost", cell_count(buf, b.lost));
	parts__add(ps, INK_PLAIN, "entries %s", cell_count(buf, n[HB_FN_ENTRIES]));
	parts__add(ps, INK_PLAIN, "exits %s", cell_count(buf, n[HB_FN_EXITS]));
	parts__add(ps, INK_PLAIN, "open now %s",
		   cell_count(buf, all[HB_FN_ENTRIES] > ended ? all[HB_FN_ENTRIES] - ended : 0));
	parts__add(ps, INK_PLAIN, "abandoned %s", cell_count(buf, n[HB_FN_ABANDONED]));
	parts__add(ps, n[HB_FN_UNKNOWN] ? INK_WARN : INK_PLAIN, "return site unknown %s",
		   cell_count(buf, n[HB_FN_UNKNOWN]));
	parts__add(ps, n[HB_FN_DROPPED] ? INK_BAD : INK_PLAIN, "dropped %s",
		   cell_count(buf, n[HB_FN_DROPPED]));
	for (u32 i = 0; i < HB_DROP_NR; i++)
		if (v->whole.rec.coverage.drop[i])
			parts__add(ps, INK_WARN, "%s %s", hb_drop_names[i],
				   cell_count(buf, v->whole.rec.coverage.drop[i]));
}

/* What was subtracted of most calls: "push+branch 613ns +-9ns a call subtracted, 400ns more of cold ones". */
static void add_bias(struct parts *ps, const struct live_view *v)
{
	const struct m_coverage *c = &v->whole.rec.coverage;
	const struct bias *b = v->bias;
	char in[CELL], unc[CELL];

	if (!v->nr_biases || !b->calibrated)
		return;
	cell_ns(in, b->in_ns);
	parts__add(ps, INK_PLAIN, "%s+%s %s +-%s a call subtracted", hb_class_names[b->entry],
		   b->exit < HB_CLASS_NR ? hb_class_names[b->exit] : "no exit site", in,
		   cell_ns(unc, b->uncertainty_ns));
	if (c->cold != M_NONE && c->cold && c->cold >= c->n[HB_FN_ENTRIES] / 100)
		parts__add(ps, INK_PLAIN, "%s more of cold ones",
			   cell_ns(in, c->cold_in_ns / c->cold));
}

void view_put_cost(const struct live_view *v, struct pen *p)
{
	const struct recording *r = &v->whole.rec;
	const struct m_cost *c = &r->cost;
	u64 wall = r->coverage.wall_ns;
	struct parts ps = {0};
	char buf[CELL];

	if (c->probe_ns == M_NONE)
		parts__add(&ps, INK_PLAIN, "to the target n/a (not calibrated)");
	else
		parts__add(&ps, INK_PLAIN, "to the target %s of one CPU",
			   cell_pct(buf, pct_of(c->probe_ns, wall)));
	if (c->probe_ns != M_NONE)
		parts__add(&ps, INK_PLAIN, "%s of its CPU time",
			   cell_pct(buf, cpu_share(r, c->probe_ns, targets_cpu_ns(r))));
	add_bias(&ps, v);
	parts__add(&ps, INK_PLAIN, "hbprof itself %s of one CPU",
		   cell_pct(buf, pct_of(c->hbprof_cpu_ns, wall)));
	parts__add(&ps, INK_PLAIN, "resident %s", cell_bytes(buf, c->rss_bytes));
	parts__add(&ps, INK_PLAIN, "kernel maps %s", cell_bytes(buf, c->kernel_map_bytes));
	pen_ink(p, INK_DIM);
	pen_field(p, "cost", VIEW_LABEL, PEN_LEFT);
	parts__put(&ps, p, 1, VIEW_LABEL);
}

/* ---- requests ---- */

/* A row in a few words: "port 8080 1,234 (411/s) P50 62us P99 1.1ms in codecs 10.5%". */
static void add_request(struct parts *ps, const struct recording *r, const struct m_request *q)
{
	char where[40], n[CELL], rate[CELL], p50[CELL], p99[CELL], share[CELL], pct[CELL];
	char stopped[CELL + 16] = "";

	if (q->side != HB_REQ_HANDLER)
		snprintf(where, sizeof(where), "%s%u",
			 q->side == HB_REQ_CLIENT ? "to port " : "port ", q->port);
	else
		snprintf(where, sizeof(where), "%s",
			 q->func < r->nr_funcs ? name_short(r->func[q->func].name) : "handler");
	if (q->stopped && q->stopped != M_NONE)
		snprintf(stopped, sizeof(stopped), " stopped %s", cell_pct(pct, stopped_pct(q)));
	parts__add(ps, INK_PLAIN, "%s %s (%s/s) P50 %s P99 %s in codecs %s%s", where,
		   cell_count(n, q->latency.count), cell_rate(rate, requests_per_s(r, q)),
		   cell_ns(p50, dist_quantile(&q->latency, DIST_P50)),
		   cell_ns(p99, dist_quantile(&q->latency, DIST_P99)),
		   cell_pct(share, codec_share_pct(r, m_request__share(q))), stopped);
}

/* All since the start, whatever the table shows: those with most requests, as many as fit. */
void view_put_requests(const struct live_view *v, struct pen *p)
{
	const struct m_requests *q = v->now->requests;
	bool shown[HB_REQ_ROWS] = {0};
	struct parts ps = {0};

	for (u32 k = 0; k < q->nr_rows && k < PARTS_MAX; k++) {
		u32 best = q->nr_rows;

		for (u32 i = 0; i < q->nr_rows && i < HB_REQ_ROWS; i++)
			if (!shown[i] && !q->row[i].overflow &&
			    (best == q->nr_rows ||
			     q->row[i].latency.count > q->row[best].latency.count))
				best = i;
		if (best == q->nr_rows)
			break;
		shown[best] = true;
		add_request(&ps, v->now, &q->row[best]);
	}
	if (!ps.nr)
		parts__add(&ps, INK_PLAIN, "none has been answered on a TCP connection yet");
	pen_ink(p, INK_DIM);
	pen_field(p, "requests", VIEW_LABEL, PEN_LEFT);
	parts__put(&ps, p, 1, VIEW_LABEL);
}
