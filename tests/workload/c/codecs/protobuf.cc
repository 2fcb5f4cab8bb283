// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// protobuf.cc - calls of Protocol Buffers' C++ library, for codecs_work.c; payload.pb.h is generated.
#include "payload.pb.h"

#include "../codecs_work.h"

namespace
{

google::protobuf::Message *value, *fresh;
std::string bytes, spoilt;

int64_t number(const doc *d, const char *key)
{
	return doc_find(d, key)->number;
}

google::protobuf::Message *make_heartbeat(const doc *d)
{
	auto *h = new payload::Heartbeat;

	h->set_node(doc_find(d, "node")->text);
	h->set_token(doc_find(d, "token")->text);
	h->set_seq(number(d, "seq"));
	h->set_time(number(d, "time"));
	h->set_alive(doc_find(d, "alive")->type == DOC_TRUE);
	return h;
}

google::protobuf::Message *make_order(const doc *d)
{
	auto *o = new payload::Order;

	o->set_id(number(d, "id"));
	o->set_customer(doc_find(d, "customer")->text);
	o->set_currency(doc_find(d, "currency")->text);
	for (const doc *c = doc_find(d, "lines")->child; c; c = c->next) {
		payload::Line *l = o->add_lines();

		l->set_sku(doc_find(c, "sku")->text);
		l->set_title(doc_find(c, "title")->text);
		l->set_quantity(number(c, "quantity"));
		l->set_cents(number(c, "cents"));
		for (const doc *t = doc_find(c, "tags")->child; t; t = t->next)
			l->add_tags(t->text);
	}
	return o;
}

void fill_device(payload::Device *v, const doc *d)
{
	v->set_id(number(d, "id"));
	v->set_name(doc_find(d, "name")->text);
	v->set_kind(doc_find(d, "kind")->text);
	for (const doc *c = doc_find(d, "readings")->child; c; c = c->next)
		v->add_readings(c->number);
	for (const doc *c = doc_find(d, "children")->child; c; c = c->next)
		fill_device(v->add_children(), c);
}

// By the first fields.
google::protobuf::Message *make(const doc *d)
{
	if (!strcmp(d->child->key, "node"))
		return make_heartbeat(d);
	if (!strcmp(d->child->key, "a")) {
		auto *t = new payload::Tiny;

		t->set_a(number(d, "a"));
		return t;
	}
	if (!strcmp(d->child->next->key, "customer"))
		return make_order(d);
	auto *v = new payload::Device;

	fill_device(v, d);
	return v;
}

void serialize(work_call *c)
{
	std::string out;

	c->start_ns = truth_now();
	bool good = value->SerializeToString(&out);
	c->end_ns = truth_now();
	c->size = out.size();
	c->failed = !good || out != bytes;
}

void serialize_array(work_call *c)
{
	static char out[DOC_TEXT_MAX];

	c->start_ns = truth_now();
	bool good = value->SerializeToArray(out, sizeof(out));
	c->end_ns = truth_now();
	c->size = bytes.size();
	c->failed = !good;
}

void as_string(work_call *c)
{
	c->start_ns = truth_now();
	std::string out = value->SerializeAsString();
	c->end_ns = truth_now();
	c->size = out.size();
	c->failed = out != bytes;
}

void parse_text(work_call *c, const std::string &text)
{
	c->start_ns = truth_now();
	bool good = fresh->ParseFromString(text);
	c->end_ns = truth_now();
	c->size = text.size();
	c->failed = !good;
	if (good && fresh->ByteSizeLong() != bytes.size())
		truth_die("protobuf has decoded something else");
}

void parse(work_call *c)
{
	parse_text(c, bytes);
}

void parse_spoilt(work_call *c)
{
	parse_text(c, spoilt);
}

void parse_array(work_call *c)
{
	c->start_ns = truth_now();
	bool good = fresh->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
	c->end_ns = truth_now();
	c->size = bytes.size();
	c->failed = !good;
}

} // namespace

const char *const work_codec = "protobuf_C++";

const void *work_init(const work_doc *d)
{
	value = make(d->doc);
	fresh = value->New();
	value->SerializeToString(&bytes);
	spoilt = bytes.substr(0, bytes.size() - bytes.size() / 3);
	return reinterpret_cast<const void *>(&google::protobuf::ShutdownProtobufLibrary);
}

#define NAME(f) "google::protobuf::MessageLite::" f "..."

const work_mode work_modes[] = {
	{"string", "encode", {{NAME("SerializeToString"), WORK_ONCE}}, serialize, nullptr},
	{"array", "encode", {{NAME("SerializeToArray"), WORK_ONCE}}, serialize_array, nullptr},
	{"asstring", "encode", {{NAME("SerializeAsString"), WORK_ONCE}}, as_string, nullptr},
	{"parse", "decode", {{NAME("ParseFromString"), WORK_ONCE}}, parse, parse_spoilt},
	{"parsearray", "decode", {{NAME("ParseFromArray"), WORK_ONCE}}, parse_array, nullptr},
	{nullptr, nullptr, {{nullptr, WORK_ONCE}}, nullptr, nullptr},
};
