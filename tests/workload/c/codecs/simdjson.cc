// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// simdjson.cc - calls of simdjson, for codecs_work.c.
#include <simdjson.h>

#include "../codecs_work.h"

namespace
{

simdjson::dom::parser parser;
simdjson::padded_string text, spoilt;
size_t fields;

void parse_text(work_call *c, const simdjson::padded_string &s)
{
	simdjson::dom::element e;

	c->start_ns = truth_now();
	simdjson::error_code err = parser.parse(s).get(e);
	c->end_ns = truth_now();
	c->size = s.size();
	c->failed = err != simdjson::SUCCESS;
	if (!err && simdjson::dom::object(e).size() != fields)
		truth_die("simdjson has decoded something else");
}

void parse(work_call *c)
{
	parse_text(c, text);
}

void parse_spoilt(work_call *c)
{
	parse_text(c, spoilt);
}

} // namespace

const char *const work_codec = "simdjson";

const void *work_init(const work_doc *d)
{
	work_call c;

	text = simdjson::padded_string(d->json, d->json_len);
	spoilt = simdjson::padded_string(d->spoilt, d->spoilt_len);
	fields = static_cast<size_t>(d->doc->nr_children);
	parse(&c); // allocates what later documents of this size need
	return reinterpret_cast<const void *>(&simdjson::get_active_implementation);
}

// Of the kernel that is right for this CPU.
#define KERNEL(f) "simdjson::...::dom_parser_implementation::" f "(..."

const work_mode work_modes[] = {
	{"parse",
	 "decode",
	 {{KERNEL("parse"), WORK_ONCE}, {KERNEL("stage1"), WORK_ONCE}},
	 parse,
	 parse_spoilt},
	{nullptr, nullptr, {{nullptr, WORK_ONCE}}, nullptr, nullptr},
};
