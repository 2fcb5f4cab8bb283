// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* json_c.c - calls of json-c, for codecs_work.c. */
#include <json-c/json.h>

#include "../codecs_work.h"

static struct {
	const struct work_doc *doc;
	struct json_object *value;
} my;

const char *const work_codec = "json-c";

const void *work_init(const struct work_doc *d)
{
	my.doc = d;
	my.value = json_tokener_parse(d->json);
	return (const void *)json_tokener_parse;
}

static void parse(struct work_call *c, const char *text, size_t len)
{
	struct json_object *o;

	c->start_ns = truth_now();
	o = json_tokener_parse(text);
	c->end_ns = truth_now();
	c->size = len;
	c->failed = !o;
	if (o && !json_object_equal(o, my.value))
		truth_die("json-c has decoded something else");
	json_object_put(o);
}

static void parse_good(struct work_call *c)
{
	parse(c, my.doc->json, my.doc->json_len);
}

static void parse_spoilt(struct work_call *c)
{
	parse(c, my.doc->spoilt, my.doc->spoilt_len);
}

static void parse_ex(struct work_call *c)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;

	c->start_ns = truth_now();
	o = json_tokener_parse_ex(tok, my.doc->json, (int)my.doc->json_len);
	c->end_ns = truth_now();
	c->size = my.doc->json_len;
	c->failed = !o;
	json_object_put(o);
	json_tokener_free(tok);
}

static void print(struct work_call *c)
{
	const char *s;

	c->start_ns = truth_now();
	s = json_object_to_json_string_ext(my.value, JSON_C_TO_STRING_PLAIN);
	c->end_ns = truth_now();
	c->failed = !s;
	c->size = s ? strlen(s) : 0;
	if (s && strcmp(s, my.doc->json))
		truth_die("json-c has encoded something else");
}

const struct work_mode work_modes[] = {
	{"parse",
	 "decode",
	 {{"json_tokener_parse", WORK_ONCE},
	  {"json_tokener_parse_verbose", WORK_ONCE},
	  {"json_tokener_parse_ex", WORK_ONCE}},
	 parse_good,
	 parse_spoilt},
	{"parse_ex", "decode", {{"json_tokener_parse_ex", WORK_ONCE}}, parse_ex, NULL},
	{"print", "encode", {{"json_object_to_json_string_length", WORK_ONCE}}, print, NULL},
	{NULL, NULL, {{NULL, WORK_ONCE}}, NULL, NULL},
};
