// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// simdjson.cc - calls of simdjson, for codecs_work.c: with the kernel that it chooses for this CPU, and with
// each of those that the CPU can run.
#include <simdjson.h>

#include "../codecs_work.h"

namespace
{

simdjson::dom::parser parser;
simdjson::padded_string text, spoilt;
size_t fields;

void parse_by(simdjson::dom::parser &p, work_call *c, const simdjson::padded_string &s)
{
	simdjson::dom::element e;

	c->start_ns = truth_now();
	simdjson::error_code err = p.parse(s).get(e);
	c->end_ns = truth_now();
	c->size = s.size();
	c->failed = err != simdjson::SUCCESS;
	if (!err && simdjson::dom::object(e).size() != fields)
		truth_die("simdjson has decoded something else");
}

void parse(work_call *c)
{
	parse_by(parser, c, text);
}

void parse_spoilt(work_call *c)
{
	parse_by(parser, c, spoilt);
}

enum kernel { ICELAKE, HASWELL, WESTMERE, FALLBACK, KERNELS };

const char *const kernel_names[KERNELS] = {"icelake", "haswell", "westmere", "fallback"};

const simdjson::implementation *implementation(kernel k)
{
	return simdjson::get_available_implementations()[kernel_names[k]];
}

// A parser keeps the kernel that was active when it first needed memory.
template <kernel K> simdjson::dom::parser &parser_of()
{
	static simdjson::dom::parser *p = [] {
		auto *made = new simdjson::dom::parser;
		const simdjson::implementation *before = simdjson::get_active_implementation();

		simdjson::get_active_implementation() = implementation(K);
		if (made->allocate(DOC_TEXT_MAX))
			truth_die("out of memory");
		simdjson::get_active_implementation() = before;
		return made;
	}();

	return *p;
}

template <kernel K> void parse_kernel(work_call *c)
{
	parse_by(parser_of<K>(), c, text);
}

template <kernel K> void parse_kernel_spoilt(work_call *c)
{
	parse_by(parser_of<K>(), c, spoilt);
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

bool work_usable(const work_mode *m)
{
	for (int k = 0; k < KERNELS; k++) {
		const simdjson::implementation *i = implementation(static_cast<kernel>(k));

		if (!strcmp(m->name, kernel_names[k]))
			return i && i->supported_by_runtime_system();
	}
	return true;
}

#define FUNCTIONS(kernel)                                                                  \
	{                                                                                  \
		{"simdjson::" kernel "::dom_parser_implementation::parse(...", WORK_ONCE}, \
			{"simdjson::" kernel "::dom_parser_implementation::stage1(...",    \
			 WORK_ONCE},                                                       \
	}
#define MODE(name, K)                                                                    \
	{                                                                                \
		name, "decode", FUNCTIONS(name), parse_kernel<K>, parse_kernel_spoilt<K> \
	}

const work_mode work_modes[] = {
	{"parse", "decode", FUNCTIONS("..."), parse, parse_spoilt},
	MODE("icelake", ICELAKE),
	MODE("haswell", HASWELL),
	MODE("westmere", WESTMERE),
	MODE("fallback", FALLBACK),
	{nullptr, nullptr, {{nullptr, WORK_ONCE}}, nullptr, nullptr},
};
