// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* yajl.c - calls of yajl, for codecs_work.c. */
#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

#include "../codecs_work.h"

static const struct work_doc *doc;

const char *const work_codec = "yajl";

const void *work_init(const struct work_doc *d)
{
	doc = d;
	return (const void *)yajl_tree_parse;
}

static void tree(struct work_call *c, const char *text, size_t len)
{
	char message[64];
	yajl_val v;

	c->start_ns = truth_now();
	v = yajl_tree_parse(text, message, sizeof(message));
	c->end_ns = truth_now();
	c->size = len;
	c->failed = !v;
	if (v && (int)YAJL_GET_OBJECT(v)->len != doc->doc->nr_children)
		truth_die("yajl has decoded something else");
	yajl_tree_free(v);
}

static void tree_good(struct work_call *c)
{
	tree(c, doc->json, doc->json_len);
}

static void tree_spoilt(struct work_call *c)
{
	tree(c, doc->spoilt, doc->spoilt_len);
}

/* Without callbacks: it only reads. */
static void parse(struct work_call *c, const char *text, size_t len)
{
	yajl_handle h = yajl_alloc(NULL, NULL, NULL);
	yajl_status s;

	c->start_ns = truth_now();
	s = yajl_parse(h, (const unsigned char *)text, len);
	c->end_ns = truth_now();
	c->size = len;
	c->failed = s != yajl_status_ok;
	yajl_free(h);
}

static void parse_good(struct work_call *c)
{
	parse(c, doc->json, doc->json_len);
}

static void parse_bad(struct work_call *c)
{
	parse(c, "{]", 2);
}

const struct work_mode work_modes[] = {
	{"tree",
	 "decode",
	 {{"yajl_tree_parse", WORK_ONCE}, {"yajl_parse", WORK_ONCE}},
	 tree_good,
	 tree_spoilt},
	{"parse", "decode", {{"yajl_parse", WORK_ONCE}}, parse_good, parse_bad},
	{NULL, NULL, {{NULL, WORK_ONCE}}, NULL, NULL},
};
