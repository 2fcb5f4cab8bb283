// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jansson.c - calls of jansson, for codecs_work.c. */
#include <jansson.h>

#include "../codecs_work.h"

static struct {
	const struct work_doc *doc;
	json_t *value, *bad;
	char out[DOC_TEXT_MAX];
} my;

const char *const work_codec = "jansson";

const void *work_init(const struct work_doc *d)
{
	my.doc = d;
	my.value = json_loadb(d->json, d->json_len, 0, NULL);
	my.bad = json_string("not a document");
	return (const void *)json_loads;
}

static void parsed(struct work_call *c, json_t *j, size_t len)
{
	c->size = len;
	c->failed = !j;
	if (j && !json_equal(j, my.value))
		truth_die("jansson has decoded something else");
	json_decref(j);
}

static void loads(struct work_call *c)
{
	json_t *j;

	c->start_ns = truth_now();
	j = json_loads(my.doc->json, 0, NULL);
	c->end_ns = truth_now();
	parsed(c, j, my.doc->json_len);
}

static void loads_spoilt(struct work_call *c)
{
	json_t *j;

	c->start_ns = truth_now();
	j = json_loads(my.doc->spoilt, 0, NULL);
	c->end_ns = truth_now();
	parsed(c, j, my.doc->spoilt_len);
}

static void loadb(struct work_call *c)
{
	json_t *j;

	c->start_ns = truth_now();
	j = json_loadb(my.doc->json, my.doc->json_len, 0, NULL);
	c->end_ns = truth_now();
	parsed(c, j, my.doc->json_len);
}

static void loadb_spoilt(struct work_call *c)
{
	json_t *j;

	c->start_ns = truth_now();
	j = json_loadb(my.doc->spoilt, my.doc->spoilt_len, 0, NULL);
	c->end_ns = truth_now();
	parsed(c, j, my.doc->spoilt_len);
}

static void dump(struct work_call *c, const json_t *j)
{
	char *s;

	c->start_ns = truth_now();
	s = json_dumps(j, JSON_COMPACT);
	c->end_ns = truth_now();
	c->failed = !s;
	c->size = s ? strlen(s) : 0;
	if (s && strcmp(s, my.doc->json))
		truth_die("jansson has encoded something else");
	free(s);
}

static void dumps(struct work_call *c)
{
	dump(c, my.value);
}

static void dumps_bad(struct work_call *c)
{
	dump(c, my.bad);
}

static void dumpb(struct work_call *c)
{
	c->start_ns = truth_now();
	c->size = json_dumpb(my.value, my.out, sizeof(my.out), JSON_COMPACT);
	c->end_ns = truth_now();
	c->failed = !c->size;
}

const struct work_mode work_modes[] = {
	{"loads", "decode", {{"json_loads", WORK_ONCE}}, loads, loads_spoilt},
	{"loadb", "decode", {{"json_loadb", WORK_ONCE}}, loadb, loadb_spoilt},
	{"dumps",
	 "encode",
	 {{"json_dumps", WORK_ONCE}, {"json_dump_callback", WORK_ONCE}},
	 dumps,
	 dumps_bad},
	{"dumpb",
	 "encode",
	 {{"json_dumpb", WORK_ONCE}, {"json_dump_callback", WORK_ONCE}},
	 dumpb,
	 NULL},
	{NULL, NULL, {{NULL, WORK_ONCE}}, NULL, NULL},
};
