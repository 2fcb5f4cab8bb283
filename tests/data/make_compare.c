// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * make_compare.c - writes captures for the tests of `hbprof compare` and `hbprof merge` into a folder:
 * drawn from known distributions with fixed seeds, see tests/unit/compare_sim.h.
 *
 *   base.hbp fast.hbp slow.hbp   one program; P50 37 % lower, and 20 % higher
 *   run1..run6.hbp               runs of base, run4..6 of one that is 20 % slower; levels differ
 *   short.hbp other.hbp          3 s; another codec
 *   sizes.hbp emulated.hbp odd.hbp   other payload sizes; an emulated CPU; names that are markup
 *   counted1.hbp counted2.hbp    with counters: 3,000 instructions a call, and 3,300
 *   procs1.hbp procs2.hbp procs8.hbp   GOMAXPROCS 1, 2 and 8
 *   part1.hbp part2.hbp          two recordings of base's process, one after the other
 */
#include "capture/capture.h"
#include "tests/unit/compare_sim.h"

static const struct sim_model base = {"", 8000, 0.4, 0.5, 0.03, 0, 0.1, 0.1};

static int save(const char *dir, const char *name, struct recording *r)
{
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s/%s.hbp", dir, name);
	err = capture__write(r, path);
	if (err)
		fprintf(stderr, "cannot write %s: %s\n", path, strerror(-err));
	recording__free(r);
	return err;
}

/* Three functions; begin: seconds after the first recording. */
static struct recording *make(u64 seed, double factor, u32 seconds, u64 begin)
{
	struct recording *r = sim_new(3, seconds);
	struct sim_rng rng = {seed * 2654435761u + 12345};
	struct sim_model m = base;

	for (u32 i = 0; i < 3; i++) {
		m.median_ns = base.median_ns * factor * (i == 1 ? 3 : 1);
		sim_fill(&rng, r, i, &m, i == 2 ? 300 : 20000);
	}
	r->begin_wall_ns += begin * 1000000000u;
	r->begin_mono_ns += begin * 1000000000u;
	r->end_mono_ns += begin * 1000000000u;
	for (u32 i = 0; i < r->nr_intervals; i++) {
		r->interval[i].begin_mono_ns += begin * 1000000000u;
		r->interval[i].end_mono_ns += begin * 1000000000u;
	}
	r->cal[0].mono_ns = r->begin_mono_ns;
	return r;
}

static void set_fact(struct recording *r, const char *key, const char *value)
{
	for (u32 i = 0; i < r->host.nr_facts; i++) {
		if (strcmp(r->host.fact[i].key, key))
			continue;
		free(r->host.fact[i].value);
		r->host.fact[i].value = strdup(value);
		return;
	}
	m_host__add(&r->host, key, value);
}

static void rename_func(struct m_func *f, const char *name, const char *codec)
{
	free(f->name);
	free(f->codec);
	f->name = strdup(name);
	f->codec = strdup(codec);
}

static int make_machines(const char *dir)
{
	struct recording *fast = make(2, 0.63, 60, 1000), *slow = make(3, 1.2, 60, 2000);
	int err;

	set_fact(fast, "cpu_model", "Other CPU");
	set_fact(fast, "arch", "aarch64");
	set_fact(fast, "smt", "off");
	fast->func[0].library_version = strdup("v2.9.0");
	err = save(dir, "base", make(1, 1, 60, 0));
	err |= save(dir, "fast", fast);
	return err | save(dir, "slow", slow);
}

static int make_runs(const char *dir)
{
	/* Each run is as a whole some percent off: what one run cannot know. */
	static const double level[6] = {1.00, 1.04, 0.97, 1.22, 1.17, 1.21};
	char name[16];
	int err = 0;

	for (u32 i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "run%u", i + 1);
		err |= save(dir, name, make(20 + i, level[i], 60, 100 * i + 5000));
	}
	return err;
}

static int make_others(const char *dir)
{
	struct recording *sizes = make(5, 1, 60, 3000), *other = make(6, 1, 60, 3100);
	struct recording *emulated = make(7, 1, 60, 3200), *odd = make(8, 1, 60, 3300);
	int err;

	for (u32 i = 0; i < 3; i++) {
		char name[64];

		sizes->row[i].size_class = 13;
		snprintf(name, sizeof(name), "other.org/wire.Pack%u", i);
		rename_func(&other->func[i], name, "wire");
		if (!i)
			rename_func(&odd->func[i], "<script>alert('\"&\x1b[31m\xff\")</script>",
				    "<b>&amp;\"'");
	}
	set_fact(emulated, "virtualization", "QEMU TCG (QEMU)");
	err = save(dir, "sizes", sizes);
	err |= save(dir, "other", other);
	err |= save(dir, "emulated", emulated);
	err |= save(dir, "odd", odd);
	err |= save(dir, "short", make(9, 1, 3, 3400));
	err |= save(dir, "part1", make(10, 1, 20, 3500));
	return err | save(dir, "part2", make(11, 1, 30, 3600));
}

/* A counter of every call of the first two functions; in the intervals, too. */
static void add_counter(struct recording *r, const char *name, u64 per_call)
{
	u32 at = r->counters.nr++;

	r->counters.v[at] = (struct m_counter){.name = strdup(name), .bias = M_NONE};
	for (u32 i = 0; i < 3; i++)
		m_ctr__init(&r->row[i].ctr[at]);
	for (u32 i = 0; i < 2; i++) {
		u64 n = r->row[i].count;

		r->row[i].ctr[at] = (struct m_ctr){n, n * per_call, per_call, per_call};
	}
}

static void add_counter_deltas(struct recording *r)
{
	for (u32 i = 0; i < r->nr_intervals; i++) {
		struct m_interval *iv = &r->interval[i];

		iv->ctr = (struct m_ctr_delta *)array_alloc(2 * r->counters.nr, sizeof(*iv->ctr));
		for (u32 k = 0; k < iv->nr_deltas; k++) {
			const struct m_delta *d = &iv->delta[k];

			for (u32 c = 0; c < r->counters.nr && d->row < 2; c++)
				iv->ctr[iv->nr_ctrs++] =
					(struct m_ctr_delta){d->row, (u8)c, d->count,
							     d->count * r->row[d->row].ctr[c].min};
		}
	}
}

static int make_counted(const char *dir)
{
	static const char *const names[] = {"counted1", "counted2"};
	int err = 0;

	for (u32 i = 0; i < 2; i++) {
		struct recording *r = make(30 + i, 1, 30, 4000 + 100 * i);

		add_counter(r, "cycles", 2000);
		add_counter(r, "instructions", i ? 3300 : 3000);
		add_counter(r, "cache-misses", 7);
		add_counter(r, "on-cpu", 7500);
		add_counter(r, "r1a8", 4);
		add_counter_deltas(r);
		r->counters.v[r->counters.nr++] = (struct m_counter){
			.name = strdup("branches"), .lack = strdup("not here"), .bias = M_NONE};
		for (u32 k = 0; k < 3; k++)
			m_ctr__init(&r->row[k].ctr[r->counters.nr - 1]);
		err |= save(dir, names[i], r);
	}
	return err;
}

static int make_procs(const char *dir)
{
	static const char *const procs[] = {"1", "2", "8"};
	char name[16];
	int err = 0;

	for (u32 i = 0; i < 3; i++) {
		struct recording *r = make(40 + i, 1 + 0.2 * i, 30, 6000 + 100 * i);

		set_fact(r, "run_gomaxprocs", procs[i]);
		snprintf(name, sizeof(name), "procs%s", procs[i]);
		err |= save(dir, name, r);
	}
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return make_machines(argv[1]) || make_runs(argv[1]) || make_others(argv[1]) ||
	       make_counted(argv[1]) || make_procs(argv[1]);
}
