// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * view.c - one frame of the live view: what is measured, the table, coverage and cost, and the last
 * line, which is for messages, the filter that is being typed, or the keys.
 */
#include "report/view_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"
#include "model/text.h"
#include "report/requests_report.h"
#include "report/table.h"

#define LABEL	   10 /* columns of "coverage" and "cost" */
#define TALL	   14 /* from this height on the coverage may take two lines */
#define TALLER	   20 /* from this height on the machine has a line */
#define MAX_FIELDS 24

/* ---- parts of a line that are left out as a whole when they do not fit ---- */

struct part {
	enum pen_ink ink;
	char text[96];
};

struct parts {
	struct part v[MAX_FIELDS];
	u32 nr;
};

__attribute__((format(printf, 3, 4))) static void add_part(struct parts *ps, enum pen_ink ink,
							   const char *fmt, ...)
{
	va_list ap;

	if (ps->nr == MAX_FIELDS)
		return;
	va_start(ap, fmt);
	vsnprintf(ps->v[ps->nr].text, sizeof(ps->v[0].text), fmt, ap);
	va_end(ap);
	ps->v[ps->nr++].ink = ink;
}

/* As many as fit into some lines; each line after the first is indented as far as it. */
static void put_parts(struct pen *p, const struct parts *ps, u32 lines, u32 indent)
{
	u32 first = 0;

	for (u32 i = 0; i < ps->nr; i++) {
		u32 len = text_width(ps->v[i].text), gap = i > first ? 2 : 0;

		if (len + gap > pen_left(p) && i > first) {
			if (!--lines)
				break;
			pen_newline(p);
			pen_space(p, indent);
			first = i;
			gap = 0;
		}
		pen_ink(p, INK_DIM);
		pen_text(p, gap ? ", " : "");
		pen_ink(p, ps->v[i].ink);
		pen_text(p, ps->v[i].text);
	}
	pen_newline(p);
}

static u32 parts_lines(const struct parts *ps, u32 width, u32 indent)
{
	u32 at = indent, lines = 1;

	for (u32 i = 0; i < ps->nr; i++) {
		u32 len = text_width(ps->v[i].text);

		if (at > indent && at + 2 + len > width) {
			lines++;
			at = indent;
		}
		at += len + (at > indent ? 2 : 0);
	}
	return lines;
}

/* ---- the first two lines ---- */

/* "0:07", "12:34", "1:00:00" */
static void clock_text(char buf[CELL], u64 ns)
{
	u64 s = ns / 1000000000;

	if (s < 3600)
		snprintf(buf, CELL, "%llu:%02llu", s / 60, s % 60);
	else
		snprintf(buf, CELL, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

/* Of the last interval. Rates of processes that were there for a part of it do not add up. */
static double all_calls_per_s(const struct live_view *v)
{
	const struct recording *r = &v->recent.rec;
	double calls = 0;

	for (u32 i = 0; i < v->part.nr; i++)
		calls += (double)v->part.v[i].calls;
	return r->end_mono_ns > r->begin_mono_ns
		       ? calls * 1e9 / (double)(r->end_mono_ns - r->begin_mono_ns)
		       : 0;
}

/* The command line without the folders of the program: the arguments tell programs apart. */
static const char *short_command(const char *cmdline)
{
	const char *name = cmdline;

	for (const char *s = cmdline; s && *s && *s != ' '; s++)
		if (*s == '/')
			name = s + 1;
	return name;
}

static void put_header(struct live_view *v, struct pen *p)
{
	const struct recording *r = v->now;
	char right[2 * CELL + 16], rate[CELL], time[CELL];
	u32 len;

	clock_text(time, r->end_mono_ns - r->begin_mono_ns);
	snprintf(right, sizeof(right), "%s   %s calls/s", time,
		 v->part.nr ? cell_rate(rate, all_calls_per_s(v)) : "0");
	len = text_width(right);
	pen_ink(p, INK_BOLD);
	pen_text(p, "hbprof ");
	if (r->nr_targets == 1 && pen_left(p) > len + 12) {
		snprintf(rate, sizeof(rate), "%u ", r->target[0].pid);
		pen_text(p, rate);
		pen_ink(p, INK_PLAIN);
		pen_name(p, short_command(r->target[0].cmdline), pen_left(p) - len - 2);
	} else if (r->nr_targets > 1 && pen_left(p) > len + 16) {
		snprintf(rate, sizeof(rate), "%u processes", r->nr_targets);
		pen_text(p, rate);
	}
	pen_ink(p, INK_BOLD);
	pen_space(p, pen_left(p) > len ? pen_left(p) - len : 0);
	pen_text(p, right);
	pen_newline(p);
}

static void add_filter(struct parts *ps, const struct live_view *v)
{
	struct strbuf b;

	strbuf__init(&b, sizeof(ps->v[0].text));
	text_add_escaped(&b, v->st.filter);
	add_part(ps, INK_WARN, "%u of %u rows match \"%s\"", view_matching(v), v->all.nr,
		 b.s ? b.s : "");
	strbuf__fini(&b);
}

/* What is shown, and what the keys have changed. */
static void add_shown(struct parts *ps, const struct live_view *v)
{
	const struct recording *r = &view_scope(v)->rec;
	char buf[CELL];

	cell_ns(buf, r->end_mono_ns - r->begin_mono_ns);
	if (v->st.recent)
		add_part(ps, INK_SORT, "the last %s alone", buf);
	else if (v->base)
		add_part(ps, INK_SORT, "%s since the reset", buf);
	else
		add_part(ps, INK_DIM, "since the start");
	if (*v->st.filter)
		add_filter(ps, v);
	if (v->extra_shown < v->extra.nr)
		add_part(ps, INK_DIM, "columns %u-%u of %u", v->extra_first + 1,
			 v->extra_first + v->extra_shown, v->extra.nr);
	add_part(ps, INK_DIM, "sorted by %s%s", view_col_title(v, v->st.sort),
		 v->st.reverse ? " (reversed)" : "");
}

/* The table must be there: it counts lines. */
static void put_status(struct live_view *v, struct pen *p)
{
	struct parts ps = {0};

	if (v->st.paused)
		add_part(&ps, INK_WARN, "PAUSED");
	if (!v->st.page)
		add_shown(&ps, v);
	if (v->lines > v->body)
		add_part(&ps, INK_DIM, "lines %u-%u of %u", v->st.top + 1, v->st.top + v->body,
			 v->lines);
	if (!v->st.page && v->now->nr_targets > 1)
		add_part(&ps, INK_DIM,
			 v->st.by_process ? "a row for each process" : "processes together");
	put_parts(p, &ps, 1, 0);
}

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
	add_part(ps, INK_PLAIN, "%s%s%s", what, b.s ? b.s : "", known ? unit : "");
	strbuf__fini(&b);
}

/* "Linux 6.1.0-18": how it was built is for the page of the machine. */
static void add_kernel(struct parts *ps, const struct m_host *h)
{
	const char *value = m_host__get(h, "kernel", NULL);

	if (value)
		add_part(ps, INK_PLAIN, "Linux %.*s", (int)strcspn(value, " "), value);
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
	add_part(ps, INK_PLAIN, "%s", b.s ? b.s : "n/a");
	strbuf__fini(&b);
}

static void put_host(const struct live_view *v, struct pen *p)
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
		add_part(&ps, INK_PLAIN, "n/a");
	pen_ink(p, INK_DIM);
	pen_field(p, "machine", LABEL, PEN_LEFT);
	put_parts(p, &ps, 1, LABEL);
}

/* ---- coverage, cost ---- */

static void coverage_parts(const struct live_view *v, struct parts *ps)
{
	const u64 *n = v->whole.rec.coverage.n, *all = v->now->coverage.n;
	u64 ended = all[HB_FN_EXITS] + all[HB_FN_ABANDONED] + all[HB_FN_UNKNOWN] +
		    all[HB_FN_DROPPED];
	struct balance b;
	char buf[CELL];

	balance__of(&b, n, M_NONE);
	add_part(ps, b.lost ? INK_BAD : INK_PLAIN, "%s lost", cell_count(buf, b.lost));
	add_part(ps, INK_PLAIN, "entries %s", cell_count(buf, n[HB_FN_ENTRIES]));
	add_part(ps, INK_PLAIN, "exits %s", cell_count(buf, n[HB_FN_EXITS]));
	add_part(ps, INK_PLAIN, "open now %s",
		 cell_count(buf, all[HB_FN_ENTRIES] > ended ? all[HB_FN_ENTRIES] - ended : 0));
	add_part(ps, INK_PLAIN, "abandoned %s", cell_count(buf, n[HB_FN_ABANDONED]));
	add_part(ps, n[HB_FN_UNKNOWN] ? INK_WARN : INK_PLAIN, "return site unknown %s",
		 cell_count(buf, n[HB_FN_UNKNOWN]));
	add_part(ps, n[HB_FN_DROPPED] ? INK_BAD : INK_PLAIN, "dropped %s",
		 cell_count(buf, n[HB_FN_DROPPED]));
	for (u32 i = 0; i < HB_DROP_NR; i++)
		if (v->whole.rec.coverage.drop[i])
			add_part(ps, INK_WARN, "%s %s", hb_drop_names[i],
				 cell_count(buf, v->whole.rec.coverage.drop[i]));
}

/* What was subtracted of most calls: "branch+push 613ns +-9ns inside each call". */
static void add_bias(struct parts *ps, const struct live_view *v)
{
	const struct bias *b = v->bias;
	char in[CELL], unc[CELL];

	if (!v->nr_biases || !b->calibrated)
		return;
	cell_ns(in, b->in_ns);
	add_part(ps, INK_PLAIN, "%s+%s %s +-%s a call subtracted", hb_class_names[b->entry],
		 b->exit < HB_CLASS_NR ? hb_class_names[b->exit] : "no exit site", in,
		 cell_ns(unc, b->uncertainty_ns));
}

static void put_cost(const struct live_view *v, struct pen *p)
{
	const struct recording *r = &v->whole.rec;
	const struct m_cost *c = &r->cost;
	u64 wall = r->coverage.wall_ns;
	struct parts ps = {0};
	char buf[CELL];

	if (c->probe_ns == M_NONE)
		add_part(&ps, INK_PLAIN, "to the target n/a (not calibrated)");
	else
		add_part(&ps, INK_PLAIN, "to the target %s of one CPU",
			 cell_pct(buf, pct_of(c->probe_ns, wall)));
	if (c->probe_ns != M_NONE)
		add_part(&ps, INK_PLAIN, "%s of its CPU time",
			 cell_pct(buf, cpu_share(r, c->probe_ns, targets_cpu_ns(r))));
	add_bias(&ps, v);
	add_part(&ps, INK_PLAIN, "hbprof itself %s of one CPU",
		 cell_pct(buf, pct_of(c->hbprof_cpu_ns, wall)));
	add_part(&ps, INK_PLAIN, "resident %s", cell_bytes(buf, c->rss_bytes));
	add_part(&ps, INK_PLAIN, "kernel maps %s", cell_bytes(buf, c->kernel_map_bytes));
	pen_ink(p, INK_DIM);
	pen_field(p, "cost", LABEL, PEN_LEFT);
	put_parts(p, &ps, 1, LABEL);
}

/* ---- requests ---- */

/* A row in a few words: "port 8080 1,234 (411/s) P50 62us P99 1.1ms in codecs 10.5%". */
static void add_request(struct parts *ps, const struct recording *r, const struct m_request *q)
{
	char where[40], n[CELL], rate[CELL], p50[CELL], p99[CELL], share[CELL];

	if (q->side != HB_REQ_HANDLER)
		snprintf(where, sizeof(where), "%s%u",
			 q->side == HB_REQ_CLIENT ? "to port " : "port ", q->port);
	else
		snprintf(where, sizeof(where), "%s",
			 q->func < r->nr_funcs ? name_short(r->func[q->func].name) : "handler");
	add_part(ps, INK_PLAIN, "%s %s (%s/s) P50 %s P99 %s in codecs %s", where,
		 cell_count(n, q->latency.count), cell_rate(rate, requests_per_s(r, q)),
		 cell_ns(p50, dist_quantile(&q->latency, DIST_P50)),
		 cell_ns(p99, dist_quantile(&q->latency, DIST_P99)),
		 cell_pct(share, codec_share_pct(r, m_request__share(q))));
}

/* All since the start, whatever the table shows: those with most requests, as many as fit. */
static void put_requests(const struct live_view *v, struct pen *p)
{
	const struct m_requests *q = v->now->requests;
	bool shown[HB_REQ_ROWS] = {0};
	struct parts ps = {0};

	for (u32 k = 0; k < q->nr_rows && k < MAX_FIELDS; k++) {
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
		add_part(&ps, INK_PLAIN, "none has been answered on a TCP connection yet");
	pen_ink(p, INK_DIM);
	pen_field(p, "requests", LABEL, PEN_LEFT);
	put_parts(p, &ps, 1, LABEL);
}

/* ---- the last line ---- */

static void put_keys(struct pen *p)
{
	static const struct {
		const char *key, *what;
	} keys[] = {
		{"q", "quit"},	    {"h", "help"},	{"m", "machine"}, {"c", "counters"},
		{"< >", "sort"},    {"/", "filter"},	{"p", "pause"},	  {"i", "interval"},
		{"s", "sizes"},	    {"b", "processes"}, {"r", "reverse"}, {"z", "zero"},
		{"e", "exclusive"},
	};

	for (u32 i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strlen(keys[i].key) + strlen(keys[i].what) + 3 > pen_left(p) && i)
			break;
		pen_space(p, i ? 2 : 0);
		pen_ink(p, INK_BOLD);
		pen_text(p, keys[i].key);
		pen_ink(p, INK_DIM);
		pen_space(p, 1);
		pen_text(p, keys[i].what);
	}
	pen_newline(p);
}

static void put_edit(const struct live_view *v, struct pen *p)
{
	pen_ink(p, INK_BOLD);
	pen_text(p, "show rows with: ");
	pen_ink(p, INK_PLAIN);
	pen_name(p, v->st.filter, pen_left(p) ? pen_left(p) - 1 : 0);
	pen_ink(p, INK_TITLE);
	pen_text(p, p->look->style == VIEW_PLAIN ? "_" : " ");
	pen_ink(p, INK_DIM);
	if (pen_left(p) > 28)
		pen_text(p, "  Enter keeps, Esc drops it");
	pen_newline(p);
}

static void put_last(const struct live_view *v, struct pen *p)
{
	char more[64] = "";
	u32 len;

	if (v->st.editing) {
		put_edit(v, p);
	} else if (v->message) {
		if (v->nr_messages > 1)
			snprintf(more, sizeof(more), " (%u messages; all follow at the end)",
				 v->nr_messages);
		len = text_width(more) * 2 < pen_left(p) ? text_width(more) : 0;
		pen_ink(p, v->message_bad ? INK_BAD : INK_BOLD);
		pen_name(p, v->message, pen_left(p) - len);
		pen_text(p, len ? more : "");
		pen_newline(p);
	} else {
		put_keys(p);
	}
}

/* ---- a frame ---- */

/* Which parts there is room for, and how many lines are left for the table. */
struct plan_of_lines {
	bool header, host, status, requests, coverage, cost, last;
	u32 coverage_lines, body;
};

static void plan_lines(struct plan_of_lines *pl, const struct live_view *v,
		       const struct parts *coverage, const struct view_look *look)
{
	u32 left = look->height > 1 ? look->height - 1 : 0; /* without the titles */
	u32 wrapped = parts_lines(coverage, look->width, LABEL);
	bool foot = v->st.page != VIEW_ABOUT; /* that page says it all */

	*pl = (struct plan_of_lines){0};
	pl->header = left >= 2 && left--;
	pl->last = left >= 3 && left--;
	pl->coverage = foot && left >= 3 && left--;
	pl->cost = foot && left >= 4 && left--;
	pl->requests = foot && v->now->requests && left >= 4 && left--;
	pl->status = left >= 4 && left--;
	pl->coverage_lines = 1;
	if (pl->coverage && look->height >= TALL && wrapped > 1) {
		pl->coverage_lines = 2;
		left--;
	}
	pl->host = foot && look->height >= TALLER && left--;
	pl->body = left;
}

/* The status says which lines are shown, which is known behind the table: so it is laid out first
 * into a text of its own. */
static int put_table(struct live_view *v, struct pen *p, const struct plan_of_lines *pl)
{
	struct strbuf text;
	struct pen q = {.out = &text, .look = p->look};
	int err = 0;

	strbuf__init(&text, VIEW_FRAME);
	if (v->st.page)
		err = view_page(v, &q, pl->body + 1);
	else
		err = view_table(v, &q, pl->body);
	if (!err)
		err = text.err;
	if (!err && pl->status)
		put_status(v, p);
	if (!err && text.s)
		strbuf__add(p->out, text.s, text.len);
	strbuf__fini(&text);
	return err;
}

int view__frame(struct live_view *v, const struct view_look *look, struct strbuf *out)
{
	struct pen p = {.out = out, .look = look};
	struct parts coverage = {0};
	struct plan_of_lines pl;
	int err;

	if (!v->now || !look->height || !look->width)
		return out->err;
	coverage_parts(v, &coverage);
	plan_lines(&pl, v, &coverage, look);
	if (pl.header)
		put_header(v, &p);
	err = put_table(v, &p, &pl);
	if (err)
		return err;
	if (pl.host)
		put_host(v, &p);
	if (pl.requests)
		put_requests(v, &p);
	if (pl.coverage) {
		pen_ink(&p, INK_DIM);
		pen_field(&p, "coverage", LABEL, PEN_LEFT);
		put_parts(&p, &coverage, pl.coverage_lines, LABEL);
	}
	if (pl.cost)
		put_cost(v, &p);
	if (pl.last)
		put_last(v, &p);
	return out->err;
}
