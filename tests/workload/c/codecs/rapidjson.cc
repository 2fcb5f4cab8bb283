// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// rapidjson.cc - calls of RapidJSON, for codecs_work.c.
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "../codecs_work.h"

namespace
{

const work_doc *mine;
rapidjson::Document value;

void parse_text(work_call *c, const char *s, size_t len)
{
	rapidjson::Document d;

	c->start_ns = truth_now();
	d.Parse(s);
	c->end_ns = truth_now();
	c->size = len;
	c->failed = d.HasParseError();
	if (!c->failed && d != value)
		truth_die("RapidJSON has decoded something else");
}

void parse(work_call *c)
{
	parse_text(c, mine->json, mine->json_len);
}

void write(work_call *c)
{
	rapidjson::StringBuffer out;
	rapidjson::Writer<rapidjson::StringBuffer> w(out);

	c->start_ns = truth_now();
	value.Accept(w);
	c->end_ns = truth_now();
	c->size = out.GetSize();
	c->failed = strcmp(out.GetString(), mine->json) != 0;
}

} // namespace

const char *const work_codec = "RapidJSON";

const void *work_init(const work_doc *d)
{
	mine = d;
	value.Parse(d->json);
	return nullptr;
}

const work_mode work_modes[] = {
	{"parse",
	 "decode",
	 {{"...rapidjson::GenericReader<...>::ParseValue<...", WORK_PER_VALUE}},
	 parse,
	 nullptr},
	{"accept",
	 "encode",
	 {{"...rapidjson::GenericValue<...>::Accept<...", WORK_PER_VALUE}},
	 write,
	 nullptr},
	{nullptr, nullptr, {{nullptr, WORK_ONCE}}, nullptr, nullptr},
};
