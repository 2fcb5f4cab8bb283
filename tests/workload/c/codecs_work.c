// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codecs_work.c - the run of a program that calls one library's codec: modes, entries, the protocol.
 * Mode NAME calls one function; mode NAMEerr fails in every third call. The calls are in codecs/.
 *
 * What is set up before READY may call the codec: these are for attaching to.
 */
#include <dlfcn.h>
#include <limits.h>

#include "codecs_work.h"

#define MODES_MAX 16
#define SETTLE_US 200000 /* a profiler may learn return addresses by the first call */

static struct {
	struct work_doc doc;
	const struct work_mode *mode;
	bool errs;
	struct truth_func *func[4];
	int entries[4];
	int nr_funcs;
} work;

static int entries_of(enum work_entries e)
{
	switch (e) {
	case WORK_PER_VALUE:
		return doc_items(work.doc.doc, false);
	case WORK_PER_ITEM:
		return doc_items(work.doc.doc, true);
	case WORK_PER_OBJECT:
		return doc_objects(work.doc.doc);
	case WORK_ONCE:
		break;
	}
	return 1;
}

/* The version is what the file's name ends in; n/a without a library. */
static void print_version(const void *function)
{
	char path[PATH_MAX];
	const char *at = NULL;
	Dl_info info;

	if (function && dladdr(function, &info) && realpath(info.dli_fname, path))
		at = strstr(path, ".so.");
	printf("LIBRARY %s %s\n", work_codec, at ? at + 4 : "n/a");
}

static uint64_t step(struct truth *t, int i)
{
	bool failing = work.errs && i % 3 == 2;
	struct work_call c = {0};

	if (i == 1)
		usleep(SETTLE_US);
	for (int f = 0; f < work.nr_funcs; f++)
		for (int k = 0; k < work.entries[f]; k++)
			truth_enter(work.func[f]);
	(failing ? work.mode->fail : work.mode->call)(&c);
	if (c.failed != failing)
		truth_die("%s: a call %s", work.mode->name, failing ? "did not fail" : "failed");
	truth_return(work.func[0], c.end_ns - c.start_ns, c.size, c.failed);
	return c.size;
}

/* A call that fails may end before it reaches the inner functions: only the outermost one is known. */
static void add_funcs(struct truth *t)
{
	for (const struct work_func *f = work.mode->func; f->name; f++) {
		int n = work.nr_funcs++;

		work.func[n] = truth_func_new(t, work_codec, work.mode->op, f->name);
		work.entries[n] = entries_of(f->entries);
		if (!work.errs)
			continue;
		if (work.entries[n] > 1)
			truth_die("%s fails inside of a recursion: use another -size",
				  work.mode->name);
		break;
	}
}

static void choose_mode(const char *name)
{
	for (work.mode = work_modes; work.mode->name; work.mode++) {
		size_t len = strlen(work.mode->name);

		if (strncmp(name, work.mode->name, len))
			continue;
		work.errs = work.mode->fail && !strcmp(name + len, "err");
		if (work.errs || !name[len])
			return;
	}
	truth_die("no mode %s", name);
}

static void make_doc(const char *size)
{
	struct work_doc *d = &work.doc;

	d->doc = doc_of_size(size);
	d->json_len = doc_json(d->doc, d->json, 0);
	d->spoilt_len = d->json_len - d->json_len / 3;
	memcpy(d->spoilt, d->json, d->spoilt_len);
}

int main(int argc, char **argv)
{
	static char names[2 * MODES_MAX][64];
	static const char *list[2 * MODES_MAX + 1];
	static struct truth t;
	const void *function;
	int n = 0;

	for (const struct work_mode *m = work_modes; m->name && n < 2 * MODES_MAX - 1; m++) {
		if (work_usable && !work_usable(m))
			continue;
		snprintf(names[n++], sizeof(names[0]), "%s", m->name);
		if (m->fail)
			snprintf(names[n++], sizeof(names[0]), "%serr", m->name);
	}
	for (int i = 0; i < n; i++)
		list[i] = names[i];
	if (argc == 2 && !strcmp(argv[1], "-modes")) {
		for (int i = 0; i < n; i++)
			puts(list[i]);
		return 0;
	}
	truth_init(&t, argc, argv, list);
	make_doc(t.opt.size);
	choose_mode(t.opt.mode);
	function = work_init(&work.doc);
	add_funcs(&t);
	print_version(function);
	truth_start(&t);
	truth_run(&t, 1, step);
	truth_finish(&t);
	return 0;
}
