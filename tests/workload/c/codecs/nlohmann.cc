// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// nlohmann.cc - calls of nlohmann/json, for codecs_work.c.
#include <nlohmann/json.hpp>

#include "../codecs_work.h"

namespace
{

using json = nlohmann::ordered_json;

std::string text, spoilt;
json value;

void parse_text(work_call *c, const std::string &s)
{
	c->start_ns = truth_now();
	json j = json::parse(s, nullptr, false);
	c->end_ns = truth_now();
	c->size = s.size();
	c->failed = j.is_discarded();
	if (!c->failed && j != value)
		truth_die("nlohmann/json has decoded something else");
}

void parse(work_call *c)
{
	parse_text(c, text);
}

void parse_spoilt(work_call *c)
{
	parse_text(c, spoilt);
}

void dump(work_call *c)
{
	c->start_ns = truth_now();
	std::string s = value.dump();
	c->end_ns = truth_now();
	c->size = s.size();
	c->failed = s != text;
}

} // namespace

const char *const work_codec = "nlohmann/json";

const void *work_init(const work_doc *d)
{
	text.assign(d->json, d->json_len);
	spoilt.assign(d->spoilt, d->spoilt_len);
	value = json::parse(text);
	return nullptr;
}

#define STRING(s)  #s
#define NAME_OF(s) STRING(s)
#define NAMESPACE  NAME_OF(NLOHMANN_JSON_NAMESPACE)

const work_mode work_modes[] = {
	{"parse",
	 "decode",
	 {{NAMESPACE "::detail::parser<...>::parse(...", WORK_ONCE}},
	 parse,
	 parse_spoilt},
	{"dump",
	 "encode",
	 {{NAMESPACE "::basic_json<...>::dump(...", WORK_ONCE},
	  {NAMESPACE "::detail::serializer<...>::dump(...", WORK_PER_VALUE}},
	 dump,
	 nullptr},
	{nullptr, nullptr, {{nullptr, WORK_ONCE}}, nullptr, nullptr},
};
