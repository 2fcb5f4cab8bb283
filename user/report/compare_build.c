// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compare_build.c - which rows of the recordings are the same, and their calls interval by interval.
 * Nothing is judged here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/bias.h"
#include "report/compare.h"
#include "util/array.h"

#define MAX_BLOCKS	 512
#define MIN_BLOCKS	 16
#define MAX_TOTAL_BLOCKS (32u << 20) /* of all samples: a foreign capture may have any number */

/* ---- keys ---- */

static const char *known(const char *s)
{
	return s ? s : "n/a";
}

static int cmp_key(const void *pa, const void *pb)
{
	const struct compare_key *a = pa, *b = pb;
	int c = strcmp(a->codec, b->codec);

	c = c ? c : strcmp(a->op, b->op);
	c = c ? c : strcmp(a->name, b->name);
	c = c ? c : a->outcome - b->outcome;
	/* All sizes together come before each of them. */
	return c ? c : (u8)(a->size_class + 1) - (u8)(b->size_class + 1);
}

static struct compare_key key_of(const struct recording *r, const struct m_row *row, u8 size_class)
{
	const struct m_func *f = &r->func[row->func];

	return (struct compare_key){known(f->codec), known(f->op), known(f->name), row->outcome,
				    size_class};
}

static bool wanted(const struct compare_opts *o, const char *codec)
{
	for (u32 i = 0; i < o->nr_codecs; i++)
		if (!strcasecmp(o->codec[i], codec))
			return true;
	return !o->nr_codecs;
}

static bool counted(const struct compare *c, const struct recording *r, const struct m_row *row)
{
	return !row->overflow && row->count && wanted(c->opts, known(r->func[row->func].codec));
}

static const struct compare_run *run_at(const struct compare *c, u32 run)
{
	u32 side = c->nr_sides - 1;

	while (c->first_run[side] > run)
		side--;
	return &c->side[side].run[run - c->first_run[side]];
}

static size_t collect_keys(const struct compare *c, struct compare_key *key)
{
	size_t n = 0;

	for (u32 i = 0; i < c->nr_runs; i++) {
		const struct recording *r = run_at(c, i)->r;

		for (u32 k = 0; k < r->nr_rows; k++) {
			if (!counted(c, r, &r->row[k]))
				continue;
			key[n++] = key_of(r, &r->row[k], KEY_ANY_SIZE);
			if (c->opts->by_size && r->row[k].size_class)
				key[n++] = key_of(r, &r->row[k], r->row[k].size_class);
		}
	}
	return n;
}

static int build_rows(struct compare *c)
{
	struct compare_key *key;
	size_t n = 0;
	int err = -ENOMEM;

	for (u32 i = 0; i < c->nr_runs; i++)
		n += 2 * (size_t)run_at(c, i)->r->nr_rows;
	key = array_alloc(n, sizeof(*key));
	if (!key)
		return -ENOMEM;
	n = collect_keys(c, key);
	qsort(key, n, sizeof(*key), cmp_key);
	c->row = array_alloc(n, sizeof(*c->row));
	if (!c->row)
		goto out;
	for (size_t i = 0; i < n; i++) {
		struct compare_row *row = &c->row[c->nr_rows];

		if (i && !cmp_key(&key[i - 1], &key[i]))
			continue;
		c->nr_rows++;
		row->key = key[i];
		row->sample = array_alloc(c->nr_runs, sizeof(*row->sample));
		row->cell = array_alloc((size_t)c->nr_metrics * c->nr_sides, sizeof(*row->cell));
		row->in = array_alloc(c->nr_sides, sizeof(*row->in));
		if (!row->sample || !row->cell || !row->in)
			goto out;
		for (u32 k = 0; k < c->nr_runs; k++)
			sample__init(&row->sample[k]);
	}
	err = 0;
out:
	free(key);
	return err;
}

/* ---- samples ---- */

static struct compare_row *find_row(const struct compare *c, struct compare_key key)
{
	/* The key is a row's first member. */
	return bsearch(&key, c->row, c->nr_rows, sizeof(*c->row), cmp_key);
}

/* What the probe added to this function's calls, and which of them it lost. */
static void note_probe(struct sample *s, const struct bias *v, u32 nr, const struct m_func *f)
{
	const struct bias *b = bias_find(v, nr, f);
	double entries = (double)f->n[HB_FN_ENTRIES], lost;
	bool first = s->func == NULL;

	lost = (double)f->n[HB_FN_UNKNOWN] + (double)f->n[HB_FN_DROPPED];
	lost = entries > 0 ? lost / entries : 0;
	s->lost = lost > s->lost ? lost : s->lost;
	s->calibrated = (first || s->calibrated) && b && b->calibrated;
	if (!b || !b->calibrated)
		return;
	if (b->in_ns > s->bias_ns)
		s->bias_ns = b->in_ns;
	if (b->uncertainty_ns > s->uncertainty_ns)
		s->uncertainty_ns = b->uncertainty_ns;
	if ((double)bias_resolution_ns(b) > s->resolution_ns)
		s->resolution_ns = (double)bias_resolution_ns(b);
}

static u32 blocks_of(const struct compare *c, const struct recording *r)
{
	size_t samples = (size_t)c->nr_rows * c->nr_runs;
	size_t most = samples ? MAX_TOTAL_BLOCKS / samples : MAX_BLOCKS;

	/* Beside each stand the counters of its calls. */
	if (r->counters.nr)
		most /= 4;

	most = most > MAX_BLOCKS ? MAX_BLOCKS : most < MIN_BLOCKS ? MIN_BLOCKS : most;
	return r->nr_intervals < most ? r->nr_intervals : (u32)most;
}

/* Longer blocks where there are too many intervals. */
static u32 block_of(const struct recording *r, u32 interval, u32 nr_blocks)
{
	return (u32)((u64)interval * nr_blocks / r->nr_intervals);
}

static int sample__start(struct sample *s, const struct recording *r, u32 nr_blocks)
{
	s->block = array_alloc(nr_blocks, sizeof(*s->block));
	if (!s->block)
		return -ENOMEM;
	s->nr_blocks = nr_blocks;
	s->counters = &r->counters;
	if (r->counters.nr) {
		s->ctr_block = array_alloc((size_t)nr_blocks * r->counters.nr,
					   sizeof(*s->ctr_block));
		if (!s->ctr_block)
			return -ENOMEM;
	}
	for (u32 i = 0; i < nr_blocks; i++)
		m_dist__init(&s->block[i].dist);
	for (u32 i = 0; i < r->nr_intervals; i++) {
		const struct m_interval *iv = &r->interval[i];

		s->block[block_of(r, i, nr_blocks)].seconds +=
			(double)(iv->end_mono_ns - iv->begin_mono_ns) / 1e9;
	}
	return 0;
}

/* The samples of a recording's row: of all sizes and, by size, of its own. */
static void samples_of(const struct compare *c, u32 run, const struct m_row *row,
		       struct sample *out[2])
{
	const struct recording *r = run_at(c, run)->r;

	out[0] = out[1] = NULL;
	if (!counted(c, r, row))
		return;
	out[0] = &find_row(c, key_of(r, row, KEY_ANY_SIZE))->sample[run];
	if (c->opts->by_size && row->size_class)
		out[1] = &find_row(c, key_of(r, row, row->size_class))->sample[run];
}

static int add_rows(struct compare *c, u32 run, struct sample *(*of)[2], const struct bias *bias,
		    u32 nr_biases)
{
	const struct recording *r = run_at(c, run)->r;
	u32 nr_blocks = blocks_of(c, r);
	int err = 0;

	for (u32 i = 0; !err && i < r->nr_rows; i++) {
		samples_of(c, run, &r->row[i], of[i]);
		for (u32 k = 0; !err && k < 2; k++) {
			struct sample *s = of[i][k];

			if (!s)
				continue;
			if (!s->func)
				err = sample__start(s, r, nr_blocks);
			note_probe(s, bias, nr_biases, &r->func[r->row[i].func]);
			if (!err)
				err = sample__add_row(s, &r->row[i], &r->func[r->row[i].func]);
		}
	}
	return err;
}

static int add_deltas(const struct recording *r, u32 interval, struct sample *(*of)[2])
{
	const struct m_interval *iv = &r->interval[interval];
	int err = 0;

	for (u32 i = 0; !err && i < iv->nr_deltas; i++) {
		const struct m_delta *d = &iv->delta[i];
		struct m_dist part = {d->count, d->sum_ns, M_NONE, 0, d->bucket, d->nr_buckets};

		if (d->dist == HB_DIST_OUTER_EXC)
			continue;
		for (u32 k = 0; !err && k < 2; k++) {
			struct sample *s = of[d->row][k];

			if (s)
				err = m_dist__merge(
					&s->block[block_of(r, interval, s->nr_blocks)].dist, &part);
		}
	}
	return err;
}

static void add_ctr_deltas(const struct recording *r, u32 interval, struct sample *(*of)[2])
{
	const struct m_interval *iv = &r->interval[interval];

	for (u32 i = 0; i < iv->nr_ctrs; i++) {
		const struct m_ctr_delta *d = &iv->ctr[i];

		for (u32 k = 0; k < 2; k++) {
			struct sample *s = of[d->row][k];
			struct sample_ctr *b;

			if (!s)
				continue;
			b = &s->ctr_block[block_of(r, interval, s->nr_blocks) * r->counters.nr +
					  d->ctr];
			b->calls += d->calls;
			b->sum += d->sum;
		}
	}
}

static int add_run(struct compare *c, u32 run)
{
	const struct recording *r = run_at(c, run)->r;
	struct sample *(*of)[2] = array_alloc(r->nr_rows, sizeof(*of));
	struct groups groups = {0};
	struct bias *bias = NULL;
	u32 nr_biases = 0;
	int err = -ENOMEM;

	if (!of)
		goto out;
	err = groups__build(&groups, r, true);
	if (!err)
		err = bias_list(r, &groups, &bias, &nr_biases);
	if (!err)
		err = add_rows(c, run, of, bias, nr_biases);
	for (u32 i = 0; !err && i < r->nr_intervals; i++) {
		err = add_deltas(r, i, of);
		add_ctr_deltas(r, i, of);
	}
	for (u32 i = 0; !err && i < c->nr_rows; i++)
		if (c->row[i].sample[run].func)
			err = sample__finish(&c->row[i].sample[run], r);
out:
	free(bias);
	groups__fini(&groups);
	free(of);
	return err;
}

/* ---- order ---- */

static void weigh(struct compare *c)
{
	for (u32 i = 0; i < c->nr_rows; i++) {
		struct compare_row *row = &c->row[i];
		u32 run = 0, in = 0;

		for (u32 s = 0; s < c->nr_sides; s++) {
			for (u32 k = 0; k < c->side[s].nr_runs; k++, run++) {
				row->in[s] |= row->sample[run].func != NULL;
				row->weight += (double)row->sample[run].dist.sum_ns;
			}
			in += row->in[s];
		}
		c->nr_common += row->in[0] && in > 1;
		row->missing = row->in[0] && in > 1 ? c->nr_sides - in : c->nr_sides;
		/* A size class stays with its function. */
		if (row->key.size_class != KEY_ANY_SIZE) {
			row->missing = row[-1].missing;
			row->weight = row[-1].weight;
		}
	}
}

/* Rows that can be compared come first. */
static int cmp_rows(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;

	if (a->missing != b->missing)
		return a->missing < b->missing ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return cmp_key(&a->key, &b->key);
}

/* Was it counted in every run? */
static bool counted_everywhere(const struct compare *c, const struct metric *m)
{
	for (u32 i = 0; i < c->nr_runs; i++) {
		const struct m_counters *list = &run_at(c, i)->r->counters;

		if (m_counters__find(list, m->over) < 0 ||
		    (m->under && m_counters__find(list, m->under) < 0))
			return false;
	}
	return true;
}

static bool shown_unasked(const struct compare *c, const struct metric *m)
{
	return m->kind == METRIC_COUNTER ? !m->asked_only && counted_everywhere(c, m)
					 : !m->asked_only;
}

static void choose_metrics(struct compare *c)
{
	for (u32 i = 0; i < c->opts->nr_metrics; i++)
		c->metric[c->nr_metrics++] = c->opts->metric[i];
	for (u32 i = 0; !c->opts->nr_metrics && i < compare_nr_metrics; i++)
		if (shown_unasked(c, &compare_metrics[i]))
			c->metric[c->nr_metrics++] = &compare_metrics[i];
}

int compare__build(struct compare *c, const struct compare_side *side, u32 nr_sides,
		   const struct compare_opts *opts)
{
	int err;

	*c = (struct compare){.side = side, .nr_sides = nr_sides, .opts = opts};
	for (u32 i = 0; i < nr_sides; i++) {
		c->first_run[i] = c->nr_runs;
		c->nr_runs += side[i].nr_runs;
	}
	choose_metrics(c);
	err = build_rows(c);
	for (u32 i = 0; !err && i < c->nr_runs; i++)
		err = add_run(c, i);
	if (!err) {
		weigh(c);
		qsort(c->row, c->nr_rows, sizeof(*c->row), cmp_rows);
		err = compare__warn_headers(c);
	}
	if (!err)
		err = compare__judge(c);
	if (err)
		compare__fini(c);
	return err;
}

void compare__fini(struct compare *c)
{
	for (u32 i = 0; c->row && i < c->nr_rows; i++) {
		for (u32 k = 0; c->row[i].sample && k < c->nr_runs; k++)
			sample__fini(&c->row[i].sample[k]);
		free(c->row[i].sample);
		free(c->row[i].cell);
		free(c->row[i].in);
	}
	for (u32 i = 0; i < c->nr_warnings; i++)
		free(c->warning[i]);
	for (u32 i = 0; i < COMPARE_MAX_SIDES; i++)
		free(c->forbid[i]);
	free(c->warning);
	free(c->row);
	*c = (struct compare){0};
}
